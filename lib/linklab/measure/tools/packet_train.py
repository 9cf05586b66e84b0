"""Packet trains: datagrams sent back to back, or with a chosen gap, and the time at which each one arrived.

The time of arrival is the kernel's (SO_TIMESTAMPNS), taken when the packet leaves the receiver's device: a receiver
that is busy does not move it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.addresses import address_of
from linklab.measure.flows import Transport
from linklab.measure.results import Origin
from linklab.measure.surroundings import origin_of
from linklab.measure.thin import PATIENCE_S, ThinProgram, last_words, port_of

_FILE: Final = "packet_train.py"
_TOOL: Final = "linklab train 1"
_COUNT: Final = (2, 65536)
_PAYLOAD_BYTES: Final = (12, 65507)
_LARGEST_GAP_US: Final = 10e6
_SILENCE_S: Final = 2.0
_FIRST_S: Final = 15.0


@dataclass(frozen=True)
class TrainFlow:
    """`count` datagrams of `payload_bytes`, each sent `gap_us` after the one before; 0 sends them back to back.

    A gap is kept to a plan: packet i leaves at i * `gap_us` after the first, or as soon after that as it can. Raises
    MeasurementError for a count outside 2 to 65536, a payload too small for its number (12 bytes) or larger than
    IPv4 allows, or a gap that is negative or longer than 10 s.
    """

    transport: ClassVar[Transport] = "udp"

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
    gap_s = flow.gap_us / 1e6
    silence_s = _SILENCE_S + 2 * gap_s
    with ThinProgram(lab, _FILE) as programs:
        receiver = programs.start(
            flow.destination, "receive", flow.count, flow.payload_bytes, f"{silence_s:g}", f"{_FIRST_S:g}"
        )
        port = port_of(receiver, "the receiver of the train")
        gap_ns = round(flow.gap_us * 1000)
        sender = programs.start(flow.source, "send", address, port, flow.count, flow.payload_bytes, gap_ns)
        departures_ns = last_words(sender, gap_s + PATIENCE_S)
        arrived = last_words(receiver, _FIRST_S + silence_s + PATIENCE_S, skip=1)
    return _result(flow, origin_of(_TOOL, lab), departures_ns, arrived)


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


def _refuse_outside(name: str, value: int, bounds: tuple[int, int]) -> None:
    low, high = bounds
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not math.isfinite(value) or not low <= value <= high:
        raise MeasurementError(f"{name} is {value}: choose {low} to {high}")
