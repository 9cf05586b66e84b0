"""How a program writes and talks, learnt mode by mode from what passed between its own client and server. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from linklab.programs.simpleperf.evidence import Take
from linklab.programs.simpleperf.stream import CHUNK_BYTES, Stream

SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    str.upper,
    str.lower,
    lambda unit: unit[0],
    lambda unit: unit[0].lower(),
)
"""How -f may want its unit, in the order in which they are tried: KB, kb, K, k."""


@dataclass(frozen=True)
class Talk:
    """What passes on a connection: start message and greeting, data, end message and answer."""

    stream: Stream
    greeting: bytes
    answer: bytes
    waits: bool
    """Whether the client waits for the answer."""
    connections: int

    def to_json(self) -> dict[str, Any]:
        """For reading: bytes as text."""
        return {
            "start": shown(self.stream.start),
            "greeting": shown(self.greeting),
            "chunk": shown(self.stream.chunk),
            "end": shown(self.stream.end),
            "answer": shown(self.answer),
            "waits": self.waits,
            "connections": self.connections,
        }


@dataclass
class Dialect:
    """What is known so far. ``talks`` are by mode: "-t", "-n", "-i", "-P"."""

    talks: dict[str, Talk] = field(default_factory=dict)
    client_row: str = ""
    server_row: str = ""
    amount_form: str = ""
    """How ``-n`` wants its amount: "10MB", "10 MB" or "10" (in the unit of ``-f``)."""
    formats: dict[str, int | None] = field(default_factory=dict)
    """By side, "client" and "server": which of `SPELLINGS` -f takes there, or None if none; missing if not tried."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Sides and units that -f does not take there, though it takes KB."""
    refusals: dict[str, str] = field(default_factory=dict)
    """By side, what it said when it first refused -f."""

    def to_json(self) -> dict[str, Any]:
        """For reading."""
        return {
            "modes": {mode: talk.to_json() for mode, talk in self.talks.items()},
            "client_row": self.client_row,
            "server_row": self.server_row,
            "amount_form": self.amount_form,
            "format": {
                side: "not understood" if number is None else SPELLINGS[number]("KB")
                for side, number in self.formats.items()
            },
        }

    def learn(self, mode: str, take: Take) -> None:
        """Keep how this mode talks, and the last row of each side."""
        if mode not in self.talks and take.connections and take.main.carried:
            self.talks[mode] = talk(take)
        if not self.client_row and take.clients and take.client.rows:
            self.client_row = take.client.rows[-1].line
        if not self.server_row and take.has_server and take.server.rows:
            self.server_row = take.server.rows[-1].line

    def words(self, side: str, unit: str) -> list[str]:
        """Return the arguments that ask a side for a unit; none if it takes no -f."""
        number = self.formats.get(side, 0)
        return [] if number is None or (side, unit) in self.refused else ["-f", SPELLINGS[number](unit)]

    def unit(self, side: str, unit: str) -> str:
        """Return the unit in which a side prints amounts when asked for one: MB where it cannot be asked."""
        return "MB" if self.formats.get(side, 0) is None or (side, unit) in self.refused else unit


def talk(take: Take) -> Talk:
    """Return what passed on the first connection of a take."""
    one = take.main
    return Talk(one.stream, one.greeting, one.answer, take.waited(), len(take.carrying))


def shown(data: bytes) -> str:
    """Return bytes as text, cut short."""
    text = data[:CHUNK_BYTES].decode(errors="backslashreplace")
    return text if len(text) <= 40 else f"{text[:40]}... ({len(data)} bytes)"
