"""Transfers that are played with a program for reliable transport, and what the relay saw of them.

No packet is taken apart: a program may write into its datagrams what it likes. Two datagrams of the sender with the
same bytes are one packet that was sent twice.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.path import NEAR, rtt_ms, the_network
from linklab.programs.scenes import Play, play_with_retry
from linklab.programs.submission import SubmittedProgram, command

PORT: Final = 7000
RECEIVER_PORT: Final = 7001
_HEADER_BYTES_AT_MOST: Final = 64


@dataclass(frozen=True)
class TransferPlan:
    """A transfer to play: what is sent through which window on which path, and what happens to it there.

    With ``nobody`` no receiver is started. ``limit_s`` is how long each program may take.
    """

    content: bytes
    window: int = 1
    path: str = NEAR
    impairments: Impairments = field(default_factory=Impairments)
    nobody: bool = False
    limit_s: float = 300.0

    def scene(self, program: SubmittedProgram) -> dict[str, Any]:
        """Return it as `linklab.programs.engine.scene` plays it."""
        given = {"given.bin": base64.b64encode(self.content).decode()}
        relay = str(the_network().link(self.path).b.address).partition("/")[0]
        words = command(program, "send", relay, str(PORT), "given.bin", str(self.window))
        sender = {"side": "sender", "host": "sender", "words": words, "given": given, "at_s": 1.0}
        words = command(program, "receive", str(RECEIVER_PORT), "got.bin")
        receiver = {"side": "receiver", "host": "receiver", "words": words, "keep": "got.bin", "at_s": 0.0}
        return {
            "server": None,
            "datagrams": {
                "host": "relay",
                "port": PORT,
                "target": [the_network().address_of("receiver"), RECEIVER_PORT],
                "impairments": asdict(self.impairments),
            },
            "acts": [
                {"kind": "client", "limit_s": self.limit_s, **act}
                for act in ([sender] if self.nobody else [sender, receiver])
            ],
        }


@dataclass(frozen=True)
class Datagram:
    """One datagram as it arrived at the relay, and its fate there: passed, lost, twice, late or silent."""

    s: float
    size: int
    digest: str
    fate: str

    @property
    def passed(self) -> bool:
        """Whether it went on, at once or later."""
        return self.fate in ("passed", "twice", "late")


@dataclass(frozen=True)
class PlayedTransfer:
    """A transfer that was played, and the record of its scene."""

    name: str
    plan: TransferPlan
    record: dict[str, Any]

    @property
    def rtt_ms(self) -> float:
        """What both directions of its path take without a packet."""
        return rtt_ms(self.plan.path)

    @cached_property
    def up(self) -> tuple[Datagram, ...]:
        """What the sender sent, in the order of arrival."""
        return self._datagrams("up")

    @cached_property
    def down(self) -> tuple[Datagram, ...]:
        """What the receiver answered."""
        return self._datagrams("down")

    def _datagrams(self, direction: str) -> tuple[Datagram, ...]:
        notes = self.record["datagrams"]
        return tuple(Datagram(*note) for note in notes[direction]) if notes else ()

    @property
    def flooding(self) -> str:
        """The side that sent more datagrams than are noted; empty if neither did."""
        flooded = self.record["datagrams"]["flooded"] if self.record["datagrams"] else {}
        return next((side for side, way in (("sender", "up"), ("receiver", "down")) if flooded.get(way)), "")

    @property
    def programs(self) -> list[dict[str, Any]]:
        """What the record says of the sender, and of the receiver if there was one."""
        return [act["program"] for act in self.record["acts"] if "program" in act]

    @property
    def got(self) -> bytes | None:
        """What the receiver wrote to its file; None if there is none."""
        kept = self.programs[1]["kept"] if len(self.programs) > 1 else None
        return None if kept is None else base64.b64decode(kept)

    @property
    def unanswered(self) -> list[Datagram]:
        """The sender's datagrams that came to the receiver after its last answer."""
        last_s = self.down[-1].s if self.down else 0.0
        return [one for one in self.up if one.passed and one.s > last_s]

    @property
    def untouched(self) -> bool:
        """Whether the relay passed each datagram on once and in order."""
        return all(one.fate == "passed" for one in (*self.up, *self.down))

    @property
    def lost(self) -> int:
        """How many datagrams the relay lost, in both directions."""
        return sum(not one.passed for one in (*self.up, *self.down))

    @property
    def took_s(self) -> float:
        """From the sender's first datagram to its last one, as they arrived."""
        return self.up[-1].s - self.up[0].s if self.up else 0.0

    @property
    def sent_bytes(self) -> int:
        """The payload of all of the sender's datagrams, of those with the same bytes once."""
        return sum({one.digest: one.size for one in self.up}.values())

    @property
    def pause_s(self) -> float:
        """For how long the sender sent nothing, at most: between two datagrams, or before it ended by itself."""
        end_s = self.programs[0]["ended_s"] if self.programs else None
        times = [*(one.s for one in self.up), *([end_s] if end_s is not None else [])]
        return max((late - early for early, late in pairwise(times)), default=0.0)

    @property
    def repeats(self) -> int:
        """How many of the sender's datagrams had the bytes of an earlier one, or were more than the file needs.

        The latter tells of repeats that a program has written something new into: however long its headers are, of the
        file a full datagram carries its size but 64 bytes.
        """
        largest = max((one.size for one in self.up), default=0)
        full = [one for one in self.up if one.size == largest]
        needed = -(-len(self.plan.content) // max(1, largest - _HEADER_BYTES_AT_MOST)) or len(full)
        return max(len(self.up) - len({one.digest for one in self.up}), len(full) - needed)

    @property
    def mean_bytes(self) -> float:
        """The mean payload of the sender's datagrams that carry most: of at least half of the largest one."""
        largest = max((one.size for one in self.up), default=0)
        sizes = [one.size for one in self.up if 2 * one.size >= largest]
        return sum(sizes) / len(sizes) if sizes else 0.0

    @property
    def silent(self) -> list[Datagram]:
        """The sender's datagrams that were lost in the silence."""
        return [one for one in self.up if one.fate == "silent"]

    def gaps_s(self) -> list[float]:
        """The gaps between the sender's datagrams in the silence, from the first of them on."""
        return [late.s - early.s for early, late in pairwise(self.silent)]


class Transfers:
    """Plays transfers of one program, each once. ``tell`` hears what is played."""

    def __init__(self, program: SubmittedProgram, play: Play, tell: Callable[[str], None] = lambda _: None) -> None:
        self._program, self._play, self._tell = program, play, tell
        self._played: dict[str, PlayedTransfer] = {}

    def play(self, name: str, plan: TransferPlan) -> PlayedTransfer:
        """Play a transfer, or return the one of this name that was played before. Raises as `play_with_retry`."""
        if name not in self._played:
            self._tell(name)
            record = play_with_retry(self._play, plan.scene(self._program))
            self._played[name] = PlayedTransfer(name, plan, record)
        return self._played[name]
