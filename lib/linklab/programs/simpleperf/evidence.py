"""A scene's record as data: what programs printed and how they ended, and what passed through the relay. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from linklab.measure import simpleperf_rows as rows
from linklab.programs.engine.program import BREACHES
from linklab.programs.scenes import programs_of
from linklab.programs.simpleperf.mistakes import Mistake

_TRACEBACK: Final = re.compile(r"^Traceback \(most recent call last\)|^Exception in thread|^Fatal Python error", re.M)
_FRAME: Final = re.compile(r'^ *File "(?:/home/student/)?([^"/]+\.py)", line (\d+)(?:, in (\S+))?$')
_SAID_BY_PYTHON: Final = re.compile(
    r"^\S+:\d+: [A-Za-z]*Warning: .*(?:\n[ \t]+.*)*$|^[Uu]sage: .*(?:\n[ \t]+.*)*$", re.M
)
"""A warning with the line of the program below it; how the program is used."""
_SETTLE_S: Final = 0.02
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
    def went_well(self) -> bool:
        """Whether it came to an end by itself with status 0."""
        return self.ended and self.status == 0

    @property
    def side(self) -> str:
        """What it was asked to be: "server", "client", or "program"."""
        words = self.record["words"]
        return "server" if "-s" in words else "client" if "-c" in words else "program"

    @property
    def stopped(self) -> str:
        """Why it was stopped, or ""."""
        return str(self.record["stopped"])

    @property
    def breaches(self) -> list[str]:
        """Which limits it met."""
        return list(self.record["breaches"])

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
        """The rows of its tables: of its output, or of its errors if it prints them there."""
        found = rows.read(self._lines("out"))
        return found if found.rows or found.complaint else rows.read([*self._lines("out"), *self._lines("err")])

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

    @cached_property
    def said(self) -> list[str]:
        """The lines that say something, of its output and then of its errors: no warning of Python's, no usage line."""
        lines = _SAID_BY_PYTHON.sub("", f"{self.out}\n{self.err}").splitlines()
        return [line.strip() for line in lines if line.strip() and not set(line.strip()) <= set("-=+|_*~ ")]

    def last_words(self, limit: int = 160) -> str:
        """Return the last line that says something, for a message."""
        return self.said[-1][:limit] if self.said else "nothing"


@dataclass(frozen=True)
class Connection:
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

    @cached_property
    def stream(self) -> SentStream:
        """What the client sent, taken apart."""
        return take_apart(
            base64.b64decode(self.up["head"]),
            base64.b64decode(self.up["tail"]),
            self.up["bytes"],
            self.up["arrivals"],
        )

    @property
    def carried(self) -> int:
        """Bytes of data, without the start message and the end message."""
        return self.stream.data_bytes

    @property
    def began_s(self) -> float:
        """When the first data arrived; the connection's own time where there was none."""
        least = len(self.stream.start)
        return next((at_s for at_s, so_far in self.up["arrivals"] if so_far > least), self.came_s)

    @property
    def sent_s(self) -> float:
        """When the last byte arrived from the client; when the client connected if none did."""
        last_s = self.up["last_s"]
        return self.came_s if last_s is None else float(last_s)

    @property
    def data_s(self) -> float:
        """When the last data arrived, before the end message."""
        most = len(self.stream.start) + self.carried
        return next((float(at_s) for at_s, so_far in self.up["arrivals"] if so_far >= most), self.sent_s)

    @property
    def delivered_s(self) -> float:
        """When the last byte was passed on to the server."""
        forwarded_s = self.up["forwarded_s"]
        return self.came_s if forwarded_s is None else float(forwarded_s)

    @property
    def acknowledged_s(self) -> float | None:
        """When the first of what the server said to the last byte was passed on to the client, or None.

        An answer to nothing is none. A client may have got it too late, or have been gone: see `Take.waited`.
        """
        if not self.carried or not self.down["bytes"]:
            return None
        passed_on_s = self.down["forwarded_s"]
        # what was never passed on, because the client had gone, was not held back
        held_s = 0.0 if passed_on_s is None else max(0.0, passed_on_s - self.down["last_s"])
        said_s = next((at_s for at_s, _ in self.down["arrivals"] if at_s >= self.delivered_s), None)
        return None if said_s is None else float(said_s + held_s)

    @property
    def up_text(self) -> bytes:
        """The last that the client sent, as far as it was kept."""
        return base64.b64decode(self.up["tail"])

    @property
    def greeting(self) -> bytes:
        """What the server said before the data began."""
        early = [so_far for at_s, so_far in self.down["arrivals"] if at_s < self.began_s]
        return base64.b64decode(self.down["head"])[: early[-1] if early else 0]

    @property
    def answer(self) -> bytes:
        """What the server said to the end message."""
        return base64.b64decode(self.down["head"])[len(self.greeting) :]


@dataclass(frozen=True)
class Take:
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

    def program(self, side: str) -> ProgramRun | None:
        """Return the server, or the first client; None if it was not started."""
        if side == "server":
            return self.server if self.has_server else None
        return self.client if self.clients else None

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
    def peers(self) -> list[list[dict[str, Any]]]:
        """What came of the peers' steps."""
        return [act.get("steps", []) for act in self.record["acts"] if act["kind"] == "peer"]

    @cached_property
    def tried(self) -> list[Connection]:
        """The connections that clients made to the relay, in order, with those that the server's host refused."""
        return [Connection(one) for one in self.record["relay"]]

    @cached_property
    def connections(self) -> list[Connection]:
        """Those that reached the server."""
        return [one for one in self.tried if not one.refused]

    @property
    def refused(self) -> list[Connection]:
        """Those that the server's host refused."""
        return [one for one in self.tried if one.refused]

    @cached_property
    def main(self) -> Connection:
        """The connection that carried most: a client may try first whether the server is there."""
        return max(self.connections, key=lambda one: one.carried)

    @cached_property
    def carrying(self) -> list[Connection]:
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


# --- What a client sent, taken apart
#
# Data repeats itself: a program sends the same chunk again and again. What stands before the repetition is the start
# message, what stands behind it the end message. Where data does not repeat, the sizes of the first writes, and what is
# left over of whole chunks of 1000 bytes, tell.

CHUNK_BYTES: Final = 1000
MESSAGE_BYTES: Final = 256
"""No start message is longer, and no end message."""
_LONGEST_END: Final = 1100
"""An end message may be longer only if it is filled up to a whole chunk."""
_LONGEST_PERIOD: Final = 2048
_RUN_BYTES: Final = 16
"""A repetition of so many bytes is no accident."""
_EDGE_BYTES: Final = 4
"""How many bytes of an end message may look like data: the B of BYE behind data that ends with B."""


@dataclass(frozen=True)
class SentStream:
    """The parts of what a client sent. ``chunk`` is what its data repeats, or the first bytes of it.

    ``is_sure`` is False where data does not repeat itself, so that what was taken for a message may be data.
    """

    start: bytes
    end: bytes
    chunk: bytes
    total_bytes: int
    is_sure: bool = True

    @property
    def data_bytes(self) -> int:
        """Bytes of data, without start and end."""
        return max(0, self.total_bytes - len(self.start) - len(self.end))

    def again(self, size: int) -> bytes:
        """Return so many bytes of data, as the client would send them."""
        return (self.chunk * (size // max(1, len(self.chunk)) + 1))[:size]


def take_apart(head: bytes, tail: bytes, total: int, arrivals: Sequence[tuple[float, int]]) -> SentStream:
    """Return the parts of a stream, from its first and last bytes, its size, and when how much of it had arrived."""
    found = min(((_repeats_from(head, period), period) for period in _periods(head)), default=None)
    if found is None or found[0] > MESSAGE_BYTES:
        start = _start_by_arrival(head, arrivals)
        rest = (total - len(start)) % CHUNK_BYTES
        end = tail[-rest:] if 0 < rest <= MESSAGE_BYTES else b""
        return SentStream(start, end, head[len(start) : len(start) + CHUNK_BYTES], total, is_sure=False)
    first, period = found
    pattern = head[first : first + period]
    end = _end(pattern, tail, total - first)
    return SentStream(head[:first], end, head[first : first + CHUNK_BYTES], total)


def _periods(head: bytes) -> list[int]:
    """Distances at which what stands in the middle of the first bytes comes again; that of whole chunks with them."""
    middle = len(head) // 2
    probe = head[middle : middle + _RUN_BYTES]
    if len(probe) < _RUN_BYTES:
        return []
    behind = head.find(probe, middle + 1)
    before = head.rfind(probe, 0, middle + _RUN_BYTES - 1)
    distances = {behind - middle if behind > 0 else 0, middle - before if before >= 0 else 0, CHUNK_BYTES}
    return sorted(period for period in distances if 0 < period <= _LONGEST_PERIOD and _holds(head, middle, period))


def _holds(head: bytes, middle: int, period: int) -> bool:
    """Whether the middle repeats at this distance, before it or behind it."""
    probe = head[middle : middle + _RUN_BYTES]
    return head.startswith(probe, middle + period) or (middle >= period and head.startswith(probe, middle - period))


def _repeats_from(head: bytes, period: int) -> int:
    """Where the repetition begins."""
    first = max(0, min(len(head) // 2, len(head) - period - 1))
    while first > 0 and head[first - 1] == head[first - 1 + period]:
        first -= 1
    return first


def _end(pattern: bytes, tail: bytes, total: int) -> bytes:
    """What stands behind the data, which repeats the pattern; ``total`` are the bytes from the data's beginning on."""
    place = total - len(tail)
    expected = [pattern[(place + number) % len(pattern)] for number in range(len(tail))]
    behind = _behind(tail, [byte == other for byte, other in zip(tail, expected, strict=True)])
    if behind is None:
        # a write that was cut short shifts the pattern: then what repeats from byte to byte tells
        period = len(pattern)
        again = [number >= period and tail[number] == tail[number - period] for number in range(len(tail))]
        behind = _behind(tail, again)
    rest = total % CHUNK_BYTES
    if behind is None:
        return tail[-rest:] if 0 < rest <= MESSAGE_BYTES else b""
    end = tail[behind:]
    # the end message itself may begin as the data goes on
    if len(end) < rest <= len(end) + _EDGE_BYTES:
        end = tail[-rest:]
    return end if len(end) <= _LONGEST_END else b""


def _behind(tail: bytes, fits: Sequence[bool]) -> int | None:
    """Where the last run of bytes that fit ends, if it is no accident."""
    run = 0
    for place in range(len(tail) - 1, -1, -1):
        run = run + 1 if fits[place] else 0
        if run == _RUN_BYTES:
            behind = place + _RUN_BYTES
            while behind < len(tail) and fits[behind]:
                behind += 1
            return behind
    return None


def _start_by_arrival(head: bytes, arrivals: Sequence[tuple[float, int]]) -> bytes:
    """A first write that is short, and comes alone."""
    if len(arrivals) > 1 and 0 < arrivals[0][1] <= MESSAGE_BYTES:
        return head[: arrivals[0][1]]
    return b""


# --- Why a program cannot be judged further


@dataclass(frozen=True)
class Trouble:
    """Why a program cannot be judged further: the mistake, what was seen, and the program's own lines."""

    mistake: Mistake
    reason: str
    quotes: tuple[str, ...] = ()


_BREACHES: Final = {
    "cpu": Mistake.ENDLESS,
    "killed": Mistake.ENDLESS,
    "memory": Mistake.MEMORY,
    "processes": Mistake.PROCESSES,
    "output": Mistake.OUTPUT,
    "deleted": Mistake.DELETES,
    "changed": Mistake.DELETES,
    "outside": Mistake.OUTSIDE,
}
"""The mistake behind a limit that a program met, by the name in its record."""
_LIMITS_SAID: Final = (
    (re.compile(r"Too many open files"), Mistake.FILES, "it was held at 128 open sockets and files"),
    (re.compile(r"Read-only file system: '([^'\n]{0,200})'"), Mistake.OUTSIDE, "it was kept from writing {}"),
    (
        re.compile(r"(?:FileNotFound|Permission)Error.{0,200}: '(/[^'\n]{0,200})'"),
        Mistake.OUTSIDE,
        "it was kept from {}",
    ),
    (
        re.compile(
            r"can't start new thread|_fork_exec.{0,400}Resource temporarily|os\.fork\(.{0,400}Resource temporarily",
            re.S,
        ),
        Mistake.PROCESSES,
        "it was held at 64 processes and threads",
    ),
    (re.compile(r"MemoryError|Cannot allocate memory"), Mistake.MEMORY, "it was kept from taking more"),
    (re.compile(r"File too large|No space left on device"), Mistake.DISK, "it was kept from writing more than 8 MB"),
)
"""What a program says itself that met a limit."""
_NO_COMMAND: Final = re.compile(
    r"^/bin/sh: (?:line )?\d+: (?:\d+: )?([\w-]+): not found$|^sh: \d+: ([\w-]+): not found$", re.M
)
ELSEWHERE: Final = (Mistake.PACKAGE, Mistake.COMMAND)
"""No fault of the program's: it may well work where it was written."""


def breach(take: Take) -> Trouble | None:
    """Return a limit that one of the programs met, or that it computed without end; None if all kept to their limits.

    It says of whom, and what for the program was stopped.
    """
    return _limit(take) or _stall(take)


def _limit(take: Take) -> Trouble | None:
    for program in take.programs:
        for name in program.breaches:
            return Trouble(_BREACHES[name], f"the {program.side}: {BREACHES[name]}")
        # who catches the error and goes on has kept to the limit
        for pattern, mistake, what in _LIMITS_SAID if program.errors or program.status not in (0, None) else ():
            hit = pattern.search(program.text)
            if hit is not None:
                line = program.text[: hit.end()].rpartition("\n")[2] + program.text[hit.end() :].partition("\n")[0]
                return Trouble(mistake, f"the {program.side}: {what.format(*hit.groups())}", (line.strip(),))
    return None


def _stall(take: Take) -> Trouble | None:
    """Return who computed on where a scene cost too much computing; None if that cannot be told."""
    if not take.stalled:
        return None
    who = " and the ".join(take.by) or "program"
    reason = f"the {who} computed without end, and was stopped"
    gone = [client.ended or client.stopped == "it did not come to an end" for client in take.clients]
    if take.by == ["server"] and gone and all(gone):
        return Trouble(Mistake.SPINS, f"{reason}; its clients had gone")
    return Trouble(Mistake.ENDLESS, reason)


def crash(program: ProgramRun) -> Trouble | None:
    """Return why a program ended that was not to end, or None if it did not, or says nothing.

    Who catches an error, says so and goes on has not ended by it.
    """
    if not program.errors and program.status in (0, None):
        return None
    missing = re.search(r"ModuleNotFoundError: (.{0,200})", program.text)
    if missing is not None:
        return Trouble(Mistake.PACKAGE, missing[1], (missing[0],))
    command = _NO_COMMAND.search(program.text)
    if command is None and "subprocess.py" in program.text:
        command = re.search(r"FileNotFoundError: .{0,200}: '([\w-]+)'", program.text)
    if command is not None:
        return Trouble(Mistake.COMMAND, f"it runs {command[1]}, which is not installed here", (command[0].strip(),))
    if program.traceback:
        return Trouble(Mistake.TRACEBACK, f"the {program.side}: {program.traceback}", program.errors[-1].quotes)
    said = program.last_words()
    if re.search(r"step \d is still to do", said):
        return Trouble(Mistake.TO_DO, f"the {program.side} said: {said}", (said,))
    return Trouble(Mistake.CRASH, f"the {program.side} ended with status {program.status} and said: {said}", (said,))


def trouble(take: Take) -> Trouble | None:
    """Return what is wrong in a take: a limit met, a client's traceback, an endless loop, a client's status, or the
    server's end.

    A client that dies may send its server into an endless loop: then the client's error comes first.
    """
    clients = [found for found in map(crash, take.clients) if found is not None]
    server = crash(take.server) if take.has_server else None
    tracebacks = [found for found in clients if found.mistake is not Mistake.CRASH]
    return _limit(take) or next(iter(tracebacks), None) or _stall(take) or next(iter(clients), server)
