"""A scene's record as data: what programs printed and how they ended, and what passed through the relay. Pure.

The messages are Lab 02's: behind its data a client sends `BYE`, and the server answers `ACKNOWLEDGEMENT`.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from linklab.measure import simpleperf_rows as rows
from linklab.programs.scenes import programs_of

BYE: Final = b"BYE"
ACKNOWLEDGEMENT: Final = b"ACK: BYE"
_TRACEBACK: Final = re.compile(r"^Traceback \(most recent call last\)|^Exception in thread|^Fatal Python error", re.M)
_FRAME: Final = re.compile(r'^ *File "(?:/home/student/)?([^"/]+\.py)", line (\d+)(?:, in (\S+))?$')
_SAID_BY_PYTHON: Final = re.compile(
    r"^\S+:\d+: [A-Za-z]*Warning: .*(?:\n[ \t]+.*)*$|^[Uu]sage: .*(?:\n[ \t]+.*)*$", re.M
)
"""A warning with the line of the program below it; how the program is used."""
IDLE_S: Final = 0.25
"""A program that sends nothing for longer, though nothing is in its way, sleeps."""
_SETTLE_S: Final = 0.02
_CLOSES_S: Final = 0.5
"""A server that closes later, when the client has gone, does so because it is ended itself."""
_LINE: Final = 160


@dataclass(frozen=True)
class Error:
    """A Python traceback: the line that names the exception, and where in the program it arose, "" if unknown."""

    line: str
    place: str

    @property
    def quotes(self) -> tuple[str, ...]:
        """Both, for a report."""
        return (self.line, self.place) if self.place else (self.line,)


def _error(below: str, heading: str) -> Error:
    """Read a traceback from what stands below its heading: everything is indented but the exception itself."""
    lines = below.split("\n")[1:]
    place = ""
    for number, line in enumerate(lines):
        frame = _FRAME.match(line)
        if frame is not None:
            source = lines[number + 1].strip() if number + 1 < len(lines) else ""
            place = f"{frame[1]}, line {frame[2]}" + (f": {source}" if source else "")
        elif line.strip() and not line[0].isspace() and not _TRACEBACK.match(line):
            return Error(line[:_LINE].strip(), place[:_LINE])
    return Error(heading, place[:_LINE])


@dataclass(frozen=True)
class ProgramRun:
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
    def side(self) -> str:
        """What it was asked to be: "server", "client", or "program"."""
        words = self.record["words"]
        return "server" if "-s" in words else "client" if "-c" in words else "program"

    @property
    def stopped(self) -> str:
        """Why it was stopped, or ""."""
        return str(self.record["stopped"])

    def word_after(self, flag: str) -> str:
        """Return what it was told with a flag."""
        words: list[str] = self.record["words"]
        return words[words.index(flag) + 1]

    @cached_property
    def errors(self) -> list[Error]:
        """The Python tracebacks that it printed."""
        return [_error(self.text[hit.end() :], hit[0]) for hit in _TRACEBACK.finditer(self.text)]

    @property
    def traceback(self) -> str:
        """The line of the last one that names the exception, or ""."""
        return self.errors[-1].line if self.errors else ""

    @cached_property
    def reading(self) -> rows.Reading:
        """The rows of its tables."""
        lines, begun = [], ""
        for at_s, text in self.record["out"]:
            *whole, begun = rows.clean(begun + text).split("\n")
            lines += [(at_s, line) for line in whole]
        return rows.read([*lines, *([(self.record["out"][-1][0], begun)] if begun else [])])

    @cached_property
    def rows(self) -> list[rows.Row]:
        """The rows, without those that sum up several connections."""
        plain = [row for row in self.reading.rows if not row.is_sum]
        return plain or list(self.reading.rows)

    @cached_property
    def said(self) -> list[str]:
        """The lines that say something, of its output and then of its errors: no warning of Python's, no usage line."""
        lines = _SAID_BY_PYTHON.sub("", f"{self.out}\n{self.err}").splitlines()
        return [line.strip() for line in lines if line.strip() and not set(line.strip()) <= set("-=+|_*~ ")]

    def last_words(self) -> str:
        """Return the last line that says something, for a message."""
        return self.said[-1][:_LINE] if self.said else "nothing"


@dataclass(frozen=True)
class ConnectionRecord:
    """A connection as the relay saw it. Times in seconds of the scene."""

    record: dict[str, Any]

    @property
    def came_s(self) -> float:
        """When the client connected."""
        return float(self.record["accepted_s"])

    @property
    def refused(self) -> bool:
        """True if the server's host refused it."""
        return bool(self.record["refused"])

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
    def last_bytes(self) -> bytes:
        """The last that the client sent, as far as it was kept."""
        return base64.b64decode(self.up["tail"])

    @property
    def says_bye(self) -> bool:
        """Whether the client's last bytes are `BYE`."""
        return self.last_bytes.endswith(BYE)

    @cached_property
    def carried(self) -> int:
        """Bytes of data, without `BYE`."""
        return int(self.up["bytes"]) - len(BYE) * self.says_bye

    @property
    def began_s(self) -> float:
        """When the first data arrived; the connection's own time where there was none."""
        return float(self.up["arrivals"][0][0]) if self.up["arrivals"] else self.came_s

    @property
    def sent_s(self) -> float:
        """When the last byte arrived from the client; when the client connected if none did."""
        last_s = self.up["last_s"]
        return self.came_s if last_s is None else float(last_s)

    @property
    def data_s(self) -> float:
        """When the last data arrived, before `BYE`."""
        return next((float(at_s) for at_s, so_far in self.up["arrivals"] if so_far >= self.carried), self.sent_s)

    @property
    def idle_s(self) -> float:
        """For how long nothing came between the last data and the last byte."""
        return self.sent_s - self.data_s

    @property
    def delivered_s(self) -> float:
        """When the last byte was passed on to the server."""
        forwarded_s = self.up["forwarded_s"]
        return self.came_s if forwarded_s is None else float(forwarded_s)

    @property
    def acknowledged_s(self) -> float | None:
        """When the first of what the server said to the last byte was passed on to the client, or None.

        An answer to nothing is none. A client may have got it too late, or have been gone: see `PlayedScene.waited`.
        """
        if not self.carried or not self.down["bytes"]:
            return None
        passed_on_s = self.down["forwarded_s"]
        # what was never passed on, because the client had gone, was not held back
        held_s = 0.0 if passed_on_s is None else max(0.0, passed_on_s - self.down["last_s"])
        said_s = next((at_s for at_s, _ in self.down["arrivals"] if at_s >= self.delivered_s), None)
        return None if said_s is None else float(said_s + held_s)

    @property
    def end_s(self) -> float:
        """When the transfer was over: at the acknowledgement, or without one when the last byte was delivered."""
        return self.delivered_s if self.acknowledged_s is None else self.acknowledged_s

    @property
    def server_closes(self) -> bool:
        """Whether the server closed the connection after its answer, or soon after the client did."""
        closed_s = self.down["closed_s"]
        return closed_s is not None and closed_s <= max(self.end_s, self.up["closed_s"] or 0.0) + _CLOSES_S

    @property
    def answer(self) -> bytes:
        """What the server said."""
        return base64.b64decode(self.down["head"])


@dataclass(frozen=True)
class RunAlone:
    """A program that was run by itself with a command, and what it ``did`` with the network, "" for nothing."""

    command: tuple[str, ...]
    program: ProgramRun
    did: str


@dataclass(frozen=True)
class PlayedScene:
    """A scene that was played."""

    record: dict[str, Any]

    @property
    def stalled(self) -> bool:
        """Whether it was ended because it computed without end."""
        return bool(self.record["stalled"])

    @property
    def by(self) -> list[str]:
        """Whose programs computed when a scene stalled: "server", "client", both, or nobody's."""
        return list(self.record["by"])

    @cached_property
    def server(self) -> ProgramRun:
        """The server (the second one, after a restart)."""
        return ProgramRun(self.record["server"])

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
    def clients(self) -> list[ProgramRun]:
        """The clients that were started, in order."""
        return [ProgramRun(act["program"]) for act in self.record["acts"] if "program" in act]

    @cached_property
    def client(self) -> ProgramRun:
        """The first client."""
        return self.clients[0]

    @property
    def client_said(self) -> str:
        """The first client's last words, for a message."""
        return self.client.last_words() if self.clients else "nothing"

    @property
    def sides(self) -> tuple[tuple[str, ProgramRun], ...]:
        """Client and server by name, of a scene that has both."""
        return (("client", self.client), ("server", self.server))

    @property
    def peers(self) -> list[list[dict[str, Any]]]:
        """What came of the peers' steps."""
        return [act.get("steps", []) for act in self.record["acts"] if act["kind"] == "peer"]

    @property
    def peer_got(self) -> bytes:
        """What the first peer received in its last step."""
        steps = self.peers[0] if self.peers else []
        return base64.b64decode(steps[-1].get("data", "")) if steps else b""

    @cached_property
    def tried(self) -> list[ConnectionRecord]:
        """The connections that clients made to the relay, in order, with those that the server's host refused."""
        return [ConnectionRecord(one) for one in self.record["relay"]]

    @cached_property
    def connections(self) -> list[ConnectionRecord]:
        """Those that reached the server."""
        return [one for one in self.tried if not one.refused]

    @property
    def refused(self) -> list[ConnectionRecord]:
        """Those that the server's host refused."""
        return [one for one in self.tried if one.refused]

    @cached_property
    def main(self) -> ConnectionRecord:
        """The connection that carried most: a client may try first whether the server is there."""
        return max(self.connections, key=lambda one: one.carried)

    @cached_property
    def carrying(self) -> list[ConnectionRecord]:
        """The connections that carried data, in order."""
        return [one for one in self.connections if one.carried]

    def waited(self) -> bool:
        """Return True if the main connection was acknowledged while the first client still ran and waited.

        A client that was stopped waited until then; only what came before counts.
        """
        one, client = self.main, self.client
        if one.acknowledged_s is None or one.down["forwarded_s"] is None:
            return False
        end_s = client.record["ended_s"] if client.ended else one.up["closed_s"]
        return end_s is None or one.acknowledged_s <= end_s + _SETTLE_S

    @property
    def programs(self) -> list[ProgramRun]:
        """All of them."""
        return list(map(ProgramRun, programs_of(self.record)))

    @property
    def has_carried(self) -> bool:
        """Whether data reached the server and the client came to an end."""
        return self._came_to_its_end and bool(self.connections) and self.main.carried > 0

    @property
    def has_rows(self) -> bool:
        """Whether the client came to its end and both sides printed a row."""
        return self._came_to_its_end and bool(self.client.rows and self.server.rows)

    @property
    def _came_to_its_end(self) -> bool:
        return bool(self.listening and self.clients and self.client.ended and not self.stalled)
