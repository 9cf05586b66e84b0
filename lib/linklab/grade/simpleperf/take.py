"""A scene's record, read: what programs printed, and what passed through the relay. Pure."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from linklab.measure import simpleperf_rows as rows

_TRACEBACK: Final = re.compile(r"^Traceback \(most recent call last\)|^Exception in thread|^Fatal Python error", re.M)
_ERROR_LINE: Final = re.compile(r"^(?:[\w.]+(?:Error|Exception|Interrupt|Exit|Warning|timeout))\b.*$", re.M)


@dataclass(frozen=True)
class Printed:
    """A program of a scene and what it printed."""

    record: dict[str, Any]

    @cached_property
    def out(self) -> str:
        """Its standard output."""
        return rows.clean("".join(text for _, text in self.record["out"]))

    @cached_property
    def err(self) -> str:
        """Its standard error."""
        return rows.clean("".join(text for _, text in self.record["err"]))

    @property
    def text(self) -> str:
        """Both."""
        return f"{self.out}\n{self.err}".strip()

    @property
    def status(self) -> int | None:
        """Its exit status; None if it had to be stopped."""
        status: int | None = self.record["status"]
        return status

    @property
    def ended(self) -> bool:
        """Whether it came to an end by itself."""
        return self.record["ended_s"] is not None

    @property
    def seconds(self) -> float | None:
        """How long it ran, if it came to an end."""
        return None if self.record["ended_s"] is None else self.record["ended_s"] - self.record["started_s"]

    @property
    def stopped(self) -> str:
        """Why it was stopped, or ""."""
        return str(self.record["stopped"])

    @property
    def busy(self) -> bool:
        """Whether it was computing when its scene stalled."""
        return bool(self.record.get("busy"))

    @property
    def unconfined(self) -> bool:
        """Whether the machine made no sandbox for it: it never ran, and what was printed is bubblewrap's."""
        return bool(self.record["unconfined"])

    @property
    def breaches(self) -> list[str]:
        """Which limits it met."""
        return list(self.record["breaches"])

    @cached_property
    def traceback(self) -> str:
        """The last line of a Python traceback that it printed, or ""."""
        hit = _TRACEBACK.search(self.text)
        if hit is None:
            return ""
        lines = _ERROR_LINE.findall(self.text[hit.start() :])
        return lines[-1][:160] if lines else hit[0]

    @cached_property
    def reading(self) -> rows.Reading:
        """The rows of its tables: of its output, or of its errors if it prints them there."""
        found = rows.read(self._lines("out"))
        return found if found.rows else rows.read([*self._lines("out"), *self._lines("err")])

    @cached_property
    def rows(self) -> list[rows.Row]:
        """The rows, without those that sum up several connections."""
        plain = [row for row in self.reading.rows if not row.is_sum]
        return plain or list(self.reading.rows)

    def _lines(self, stream: str) -> list[tuple[float, str]]:
        """Each line with the time at which its end was printed."""
        lines, begun = [], ""
        for at_s, text in self.record[stream]:
            *whole, begun = rows.clean(begun + text).split("\n")
            lines += [(at_s, line) for line in whole]
        if begun:
            lines.append((self.record[stream][-1][0], begun))
        return lines

    def last_words(self, limit: int = 160) -> str:
        """The last line that says something, for a message."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1][:limit] if lines else "nothing"


@dataclass(frozen=True)
class Passage:
    """A connection as the relay saw it. Times in seconds of the scene."""

    record: dict[str, Any]

    @property
    def came_s(self) -> float:
        """When the client connected."""
        return float(self.record["accepted_s"])

    @property
    def client_port(self) -> int:
        """The port it came from."""
        return int(self.record["client_port"])

    @property
    def relay_port(self) -> int:
        """The port by which the server knows it."""
        return int(self.record["relay_port"])

    @property
    def up(self) -> dict[str, Any]:
        """From client to server."""
        flow: dict[str, Any] = self.record["up"]
        return flow

    @property
    def down(self) -> dict[str, Any]:
        """From server to client."""
        flow: dict[str, Any] = self.record["down"]
        return flow

    @property
    def acknowledged(self) -> bool:
        """Whether the server said something after the client's last byte had been passed on to it."""
        return bool(self.down["bytes"] and self.down["last_s"] >= (self.up["forwarded_s"] or 0.0))

    @property
    def answered_s(self) -> float | None:
        """When the server's answer was passed on to the client."""
        answered: float | None = self.down["forwarded_s"]
        return answered

    @property
    def head(self) -> bytes:
        """What the client sent first."""
        return base64.b64decode(self.up["head"])

    @property
    def tail(self) -> bytes:
        """What the client sent last."""
        return base64.b64decode(self.up["tail"])

    @property
    def answer(self) -> bytes:
        """What the server said."""
        return base64.b64decode(self.down["head"])


@dataclass(frozen=True)
class Take:
    """A scene that was played."""

    record: dict[str, Any]

    @property
    def stalled(self) -> bool:
        """Whether it was ended because it computed without end."""
        return bool(self.record["stalled"])

    @cached_property
    def server(self) -> Printed:
        """The server (the second one, after a restart)."""
        return Printed(self.record["server"])

    @property
    def has_server(self) -> bool:
        """Whether there was one at all."""
        return self.record["server"] is not None

    @property
    def listening(self) -> list[tuple[str, int]]:
        """Where it listened, on the port that it was told."""
        return [(address, port) for address, port in self.record["listening"]]

    @property
    def alive(self) -> bool:
        """Whether the server still ran at the end."""
        return bool(self.record["alive"])

    @cached_property
    def clients(self) -> list[Printed]:
        """The clients that were started, in order."""
        return [Printed(act["program"]) for act in self.record["acts"] if "program" in act]

    @cached_property
    def client(self) -> Printed:
        """The first client."""
        return self.clients[0]

    @property
    def peers(self) -> list[list[dict[str, Any]]]:
        """What came of the peers' steps."""
        return [act.get("steps", []) for act in self.record["acts"] if act["kind"] == "peer"]

    @cached_property
    def passages(self) -> list[Passage]:
        """The connections through the relay that reached the server, in order."""
        return [Passage(one) for one in self.record["relay"] if not one["refused"]]

    @property
    def programs(self) -> list[Printed]:
        """All of them."""
        before = self.record["restarted"]["before"] if self.record["restarted"] else None
        return [Printed(one) for one in (before, self.record["server"]) if one] + self.clients
