"""Round-trip times of UDP as the switches study takes them: many exchanges, both stamps of one machine, averaged.

A datagram goes to the other end and comes back, and then the next one goes. The time of all of them, from one clock,
divided by their number is the mean round trip: no two clocks need agree (the study's section 4.1).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, ClassVar, Final, Literal

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Transport
from linklab.measure.results import Origin
from linklab.measure.run import address_of
from linklab.measure.surroundings import origin_of
from linklab.measure.thin import PATIENCE_S, ThinProgram, last_words, port_of
from linklab.units import ETHERNET_MTU_BYTES, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, UDP_HEADER_BYTES

PAYLOAD_BYTES: Final = (12, ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES)
"""Room for a number, and no more than fits an MTU of 1500 bytes over IPv4: a fragment would be a packet of its own."""
_TOOL: Final = "linklab echo 1"
_COUNT: Final = (1, 100_000)
_FILE: Final = "echo.py"


@dataclass(frozen=True)
class EchoFlow:
    """`count` exchanges of datagrams of `payload_bytes`, after `warm_up` that do not count.

    `wait_s`: what has not come back then is lost. `address` is the destination's, where it has not one IPv4 address
    alone; an IPv6 address makes the exchange one of IPv6. Raises MeasurementError for a payload outside 12 to 1472
    bytes (1452 over IPv6), a count outside 1 to 100000, or a wait that is not positive.
    """

    transport: ClassVar[Transport] = "udp"

    source: str
    destination: str
    count: int = 100
    payload_bytes: int = 100
    warm_up: int = 2
    wait_s: float = 1.0
    address: str | None = None

    def __post_init__(self) -> None:
        least, most = PAYLOAD_BYTES
        payload_bytes = (least, most - (IPV6_HEADER_BYTES - IPV4_HEADER_BYTES if self.ip_version == 6 else 0))
        for name, value, (low, high) in (
            ("payload_bytes", self.payload_bytes, payload_bytes),
            ("count", self.count, _COUNT),
            ("warm_up", self.warm_up, (0, _COUNT[1])),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise MeasurementError(f"{name} is {value!r}: choose {low} to {high}")
        if not 0 < self.wait_s <= 60:
            raise MeasurementError(f"wait_s is {self.wait_s}: choose more than 0 and at most 60 s")

    @property
    def ip_version(self) -> Literal[4, 6]:
        """Return 6 if `address` is an IPv6 address, else 4."""
        return 6 if self.address and ":" in self.address else 4


@dataclass(frozen=True)
class EchoResult:
    """Round trips in ms, one for each exchange, None for one that was lost.

    `total_ms` is the time of all exchanges together, waits for lost ones included; `end_s` is when they were over, on
    the lab's clock.
    """

    KIND: ClassVar[str] = "echo"
    VERSION: ClassVar[int] = 1

    flow: EchoFlow
    origin: Origin
    rtt_ms: tuple[float | None, ...]
    total_ms: float
    end_s: float

    @property
    def lost(self) -> int:
        """How many exchanges had no answer."""
        return self.rtt_ms.count(None)

    @property
    def rtt_mean_ms(self) -> float:
        """As the study has it: the time of all, divided by their number; where some were lost, the mean of the others.

        Raises MeasurementError if all were lost.
        """
        answered = [time_ms for time_ms in self.rtt_ms if time_ms is not None]
        if not answered:
            raise MeasurementError(f"no exchange between {self.flow.source} and {self.flow.destination} was answered")
        return fmean(answered) if self.lost else self.total_ms / len(answered)

    @property
    def one_way_mean_ms(self) -> float:
        """Half of it, which is what the study calls one-way delay."""
        return self.rtt_mean_ms / 2

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `from_json` reads it."""
        return {"measurement": self.KIND, "version": self.VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> EchoResult:
        """The result that `to_json` wrote. Raises MeasurementError for another kind, version or shape of data."""
        if not isinstance(data, dict) or (data.get("measurement"), data.get("version")) != (cls.KIND, cls.VERSION):
            raise MeasurementError(f"this is no measurement of the kind {cls.KIND}, version {cls.VERSION}")
        try:
            flow, origin = EchoFlow(**data["flow"]), Origin(**data["origin"])
            rtt_ms = tuple(None if it is None else float(it) for it in data["rtt_ms"])
            result = cls(flow, origin, rtt_ms, float(data["total_ms"]), float(data["end_s"]))
        except (KeyError, TypeError, ValueError) as wrong:
            raise MeasurementError(f"this echo measurement is damaged: {wrong}") from None
        if len(rtt_ms) != flow.count:
            raise MeasurementError("this echo measurement is damaged: it has not one time for each exchange")
        return result


def echo(lab: Lab, flow: EchoFlow, *, begin_s: float = 0.0) -> EchoResult:
    """Exchanges datagrams. Lost ones are a result, and so is when none is answered.

    `begin_s` is when on the lab's clock (`Lab.now`) it begins, if that is not over yet: beside other traffic programs
    are better started before it than in its midst. Raises MeasurementError where it cannot be done or read, and
    LabError for a node that is not there. Either way, and at Ctrl-C, no program is left running.
    """
    lab[flow.source]
    address = flow.address or address_of(lab, flow.destination)
    with ThinProgram(lab, _FILE) as programs:
        port = port_of(programs.start(flow.destination, "answer", flow.ip_version), "the echo")
        words = (address, port, flow.count, flow.payload_bytes, flow.wait_s, flow.warm_up, round(begin_s * 1e9))
        client = programs.start(flow.source, "ask", *words)
        waits_s = max(0.0, begin_s - lab.now()) if begin_s else 0.0
        said = last_words(client, waits_s + (flow.count + flow.warm_up) * flow.wait_s + PATIENCE_S)
    return parse_echo(flow, origin_of(_TOOL, lab), said)


def parse_echo(flow: EchoFlow, origin: Origin, said: Any) -> EchoResult:
    """What the program printed, as a result. Pure. Raises MeasurementError for what it never says."""
    try:
        rtt_ms = tuple(None if time_ns is None else int(time_ns) / 1e6 for time_ns in said["rtts_ns"])
        result = EchoResult(flow, origin, rtt_ms, (said["end_ns"] - said["begin_ns"]) / 1e6, said["end_ns"] / 1e9)
        if len(rtt_ms) != flow.count:
            raise ValueError("not one time for each exchange")
    except (KeyError, TypeError, ValueError) as wrong:
        raise MeasurementError(
            f"the echo between {flow.source} and {flow.destination} gave no times that can be read: {wrong}"
        ) from None
    return result
