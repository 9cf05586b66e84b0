"""Packet trains: datagrams sent back to back, or with a chosen gap, and the time at which each one arrived.

The time of arrival is the kernel's (SO_TIMESTAMPNS), taken when the packet leaves the receiver's device: a receiver
that is busy does not move it.
"""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.measure.results import Origin
from linklab.measure.run import address_of
from linklab.program import Program

_PROGRAM: Final = Path(__file__).with_name("train_program.py")
_PLACE: Final = "/tmp/linklab-train.py"
_PYTHON: Final = f"exec python3 -I -S {_PLACE}"
_TOOL: Final = "linklab train 1"
_COUNT: Final = (2, 65536)
_PAYLOAD_BYTES: Final = (12, 65507)
_LARGEST_GAP_US: Final = 10e6
_SILENCE_S: Final = 2.0
_FIRST_S: Final = 15.0
_PATIENCE_S: Final = 10.0


@dataclass(frozen=True)
class TrainFlow:
    """`count` datagrams of `payload_bytes`, each sent `gap_us` after the one before; 0 sends them back to back.

    A gap is kept to a plan: packet i leaves at i * `gap_us` after the first, or as soon after that as it can. Raises
    MeasurementError for a count outside 2 to 65536, a payload too small for its number (12 bytes) or larger than
    IPv4 allows, or a gap that is negative or longer than 10 s.
    """

    source: str
    destination: str
    count: int = 50
    payload_bytes: int = 1448
    gap_us: float = 0.0
    address: str | None = None

    def __post_init__(self) -> None:
        _refuse_outside("count", self.count, _COUNT)
        _refuse_outside("payload_bytes", self.payload_bytes, _PAYLOAD_BYTES)
        if not 0 <= self.gap_us <= _LARGEST_GAP_US:
            raise MeasurementError(f"gap_us is {self.gap_us}: choose 0 to {_LARGEST_GAP_US:g}, in microseconds")


@dataclass(frozen=True)
class TrainResult:
    """When each packet of a train left and arrived, in seconds since the first one left; by sequence number.

    `departure_s` is when the sender gave the packet to its kernel. `arrival_s` is the receiving kernel's time, None
    for a packet that did not arrive. Both ends share one clock, so arrival less departure is the one-way delay.
    `duplicates` were not counted again.
    """

    KIND: ClassVar[str] = "train"
    VERSION: ClassVar[int] = 1

    flow: TrainFlow
    origin: Origin
    departure_s: tuple[float, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int

    @property
    def payload_bytes(self) -> int:
        """What each packet carried."""
        return self.flow.payload_bytes

    @property
    def sent(self) -> int:
        """How many packets were sent."""
        return len(self.arrival_s)

    @property
    def received(self) -> int:
        """How many arrived."""
        return self.sent - self.arrival_s.count(None)

    @property
    def arrivals_s(self) -> tuple[float, ...]:
        """The times of those that arrived, in the order in which they did."""
        return tuple(sorted(time_s for time_s in self.arrival_s if time_s is not None))

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `from_json` reads it."""
        return {"measurement": self.KIND, "version": self.VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> TrainResult:
        """The result that `to_json` wrote. Raises MeasurementError for another kind, version or shape of data."""
        if not isinstance(data, dict) or (data.get("measurement"), data.get("version")) != (cls.KIND, cls.VERSION):
            raise MeasurementError(f"this is no measurement of the kind {cls.KIND}, version {cls.VERSION}")
        try:
            flow, origin = TrainFlow(**data["flow"]), Origin(**data["origin"])
            departure_s = tuple(map(float, data["departure_s"]))
            arrival_s = tuple(None if it is None else float(it) for it in data["arrival_s"])
            duplicates = int(data["duplicates"])
        except (KeyError, TypeError, ValueError) as wrong:
            raise MeasurementError(f"this train measurement is damaged: {wrong}") from None
        if not len(departure_s) == len(arrival_s) == flow.count:
            raise MeasurementError("this train measurement is damaged: it has not one time for each packet")
        return cls(flow, origin, departure_s, arrival_s, duplicates)


def train(lab: Lab, flow: TrainFlow) -> TrainResult:
    """Sends a packet train. Packets that are lost are a result, none that arrives as well.

    Raises MeasurementError where it cannot be done or read, and LabError for a node that is not there. Either way,
    and at Ctrl-C, no program is left running.
    """
    lab[flow.source]
    address = flow.address or address_of(lab, flow.destination)
    lab.write_file(_PLACE, _PROGRAM.read_bytes())
    gap_s = flow.gap_us / 1e6
    with contextlib.ExitStack() as programs:
        receiver = _started(
            programs,
            lab,
            flow.destination,
            f"{_PYTHON} receive {flow.count} {flow.payload_bytes} {_SILENCE_S + 2 * gap_s:g} {_FIRST_S:g}",
        )
        port = _port(receiver)
        words = f"send {address} {port} {flow.count} {flow.payload_bytes} {round(flow.gap_us * 1000)}"
        sender = _started(programs, lab, flow.source, f"{_PYTHON} {words}")
        departures_ns = _said(sender, flow.count * gap_s + _PATIENCE_S)
        arrived = _said(receiver, _FIRST_S + _SILENCE_S + 2 * gap_s + _PATIENCE_S, skip=1)
    return _result(flow, Origin(_TOOL, lab.clock, lab.process.kernel_release), departures_ns, arrived)


def _result(flow: TrainFlow, origin: Origin, departures_ns: Any, arrived: Any) -> TrainResult:
    """Pure. Raises MeasurementError for what the two programs never say."""
    try:
        arrivals_ns, first_ns = arrived["arrivals_ns"], departures_ns[0]
        if not len(departures_ns) == len(arrivals_ns) == flow.count:
            raise ValueError("not one time for each packet")
        return TrainResult(
            flow,
            origin,
            tuple((time_ns - first_ns) / 1e9 for time_ns in departures_ns),
            tuple(None if time_ns is None else (time_ns - first_ns) / 1e9 for time_ns in arrivals_ns),
            int(arrived["duplicates"]),
        )
    except (KeyError, IndexError, TypeError, ValueError) as wrong:
        raise MeasurementError(
            f"the train from {flow.source} to {flow.destination} gave no times that can be read: {wrong}"
        ) from None


def _started(programs: contextlib.ExitStack, lab: Lab, node: str, command: str) -> Program:
    """A program that `programs` ends."""
    program = lab[node].popen(command)
    programs.callback(_end, program)
    return program


def _end(program: Program) -> None:
    if program.returncode is None:
        with contextlib.suppress(LabError):  # the lab may have ended, and the program with it
            program.terminate()


def _port(receiver: Program) -> int:
    while "\n" not in receiver.output:
        if not receiver.read(_PATIENCE_S):
            break
    first, _, _ = receiver.output.partition("\n")
    if not first.isdigit():
        raise MeasurementError(f"the receiver of the train did not get ready: {receiver.output.strip() or 'no output'}")
    return int(first)


def _said(program: Program, patience_s: float, skip: int = 0) -> Any:
    """The JSON that a program printed, after `skip` lines. Raises MeasurementError with its own words otherwise."""
    try:
        status = program.wait(patience_s)
    except LabError:
        raise MeasurementError(f"{program.command!r} was not done after {patience_s:g} s of the lab's time") from None
    lines = program.output.splitlines()[skip:]
    if status != 0 or len(lines) != 1:
        raise MeasurementError(f"{program.command!r} failed: {lines[-1] if lines else f'exit status {status}'}")
    try:
        return json.loads(lines[0])
    except ValueError:
        raise MeasurementError(f"{program.command!r} printed {lines[0][:100]!r}, which is no JSON") from None


def _refuse_outside(name: str, value: int, bounds: tuple[int, int]) -> None:
    low, high = bounds
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not math.isfinite(value) or not low <= value <= high:
        raise MeasurementError(f"{name} is {value}: choose {low} to {high}")
