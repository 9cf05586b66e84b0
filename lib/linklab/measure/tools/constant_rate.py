"""UDP at constant bit rates: many flows that begin at one instant, and what of each arrives.

One process a machine sends all its flows, each packet at its planned instant. A planned instant is a multiple of the
gap; dithered, it is shifted by a random part of the gap, from the lab's seed, so that the rate is exact and no two
flows keep step. Without dither flows that share a full queue keep in step for ever, and who comes first gets all (S.
Floyd, V. Jacobson: "On Traffic Phase Effects in Packet-Switched Gateways", 1992).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.addresses import address_in
from linklab.measure.flows import Transport
from linklab.measure.results import Origin
from linklab.measure.surroundings import origin_of
from linklab.measure.thin import PATIENCE_S, ThinProgram, await_ready, last_words
from linklab.network import NetworkState
from linklab.program import Program

PAYLOAD_BYTES: Final = (16, 1472)
"""Room for flow and number, and no more than fits an MTU of 1500 bytes."""
_TOOL: Final = "linklab cbr 1"
_FILE: Final = "constant_rate.py"
_PORT: Final = 5600
_READY_S: Final = {"virtual": 0.5, "real": 5.0}
_DRAIN_S: Final = 2.0
_LATE_S: Final = 0.011
"""A tick of the lab's kernel and a little. A switch in user space that never rests keeps a sender from the processor
for so long; what it sends then is late, and all there."""
_LATE_SHARE: Final = 0.02
_LONGEST_S: Final = 600.0
_plans = itertools.count(1)


@dataclass(frozen=True)
class CbrFlow:
    """Datagrams of `payload_bytes` at `rate_mbps` of payload (10**6 bits a second). `dither`: see the module.

    Raises MeasurementError for a rate that is not positive, or a payload outside 16 to 1472 bytes.
    """

    transport: ClassVar[Transport] = "udp"

    source: str
    destination: str
    rate_mbps: float
    payload_bytes: int = 500
    dither: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.rate_mbps, int | float) and math.isfinite(self.rate_mbps) and self.rate_mbps > 0):
            raise MeasurementError(f"rate_mbps is {self.rate_mbps!r}: choose a number above 0")
        low, high = PAYLOAD_BYTES
        whole = isinstance(self.payload_bytes, int) and not isinstance(self.payload_bytes, bool)
        if not whole or not low <= self.payload_bytes <= high:
            raise MeasurementError(f"payload_bytes is {self.payload_bytes!r}: choose {low} to {high}")

    @property
    def gap_ns(self) -> float:
        """The time from one packet to the next."""
        return self.payload_bytes * 8e3 / self.rate_mbps

    @property
    def name(self) -> str:
        """``"h1-h2"``."""
        return f"{self.source}-{self.destination}"


@dataclass(frozen=True)
class CbrResult:
    """What came of one flow. `inside_packets` arrived in the run's window."""

    flow: CbrFlow
    sent_packets: int
    received_packets: int
    inside_packets: int
    window_s: float

    @property
    def throughput_mbps(self) -> float:
        """Payload that arrived in the window, in Mbit/s."""
        return self.inside_packets * self.flow.payload_bytes * 8e-6 / self.window_s

    @property
    def lost_packets(self) -> int:
        """Sent and never received."""
        return self.sent_packets - self.received_packets


@dataclass(frozen=True)
class CbrRun:
    """All flows of a run, in the order in which they were asked for.

    `latest_ms`: how far the latest packet left behind its planned instant, of those that were looked at.
    """

    KIND: ClassVar[str] = "cbr"
    VERSION: ClassVar[int] = 1

    results: tuple[CbrResult, ...]
    origin: Origin
    duration_s: float
    latest_ms: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `from_json` reads it."""
        return {"measurement": self.KIND, "version": self.VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> CbrRun:
        """The run that `to_json` wrote. Raises MeasurementError for another kind, version or shape of data."""
        if not isinstance(data, dict) or (data.get("measurement"), data.get("version")) != (cls.KIND, cls.VERSION):
            raise MeasurementError(f"this is no measurement of the kind {cls.KIND}, version {cls.VERSION}")
        try:
            results = tuple(CbrResult(**{**each, "flow": CbrFlow(**each["flow"])}) for each in data["results"])
            return cls(results, Origin(**data["origin"]), float(data["duration_s"]), float(data["latest_ms"]))
        except (KeyError, TypeError, ValueError) as wrong:
            raise MeasurementError(f"this cbr measurement is damaged: {wrong}") from None


class Sending:
    """Flows under way: from `begin_s` on, for `duration_s` of the lab's time. `run` waits for their end."""

    def __init__(
        self, lab: Lab, flows: Sequence[CbrFlow], begin_s: float, duration_s: float, window_s: tuple[float, float]
    ) -> None:
        self._lab, self._flows, self._window_s = lab, flows, window_s
        self.begin_s, self.duration_s = begin_s, duration_s
        self.senders: list[Program] = []
        self.counters: list[Program] = []

    @property
    def end_s(self) -> float:
        """When the last packet leaves, on the lab's clock."""
        return self.begin_s + self.duration_s

    def run(self) -> CbrRun:
        """What arrived. Raises MeasurementError where that cannot be said."""
        patience_s = max(0.0, self.end_s - self._lab.now()) + _DRAIN_S + PATIENCE_S
        sent: dict[str, int] = {}
        late_ns = 0
        for program in self.senders:
            said = last_words(program, patience_s)
            sent |= said["sent"]
            late_ns = max(late_ns, said["late_ns"])
        received: dict[str, int] = {}
        inside: dict[str, int] = {}
        for program in self.counters:
            said = last_words(program, patience_s, skip=1)
            received |= said["received"]
            inside |= said["inside"]
        allowed_s = max(_LATE_S, _LATE_SHARE * self.duration_s)
        if self._lab.clock == "virtual" and late_ns > allowed_s * 1e9:
            raise MeasurementError(
                f"a sender fell {late_ns / 1e6:.1f} ms behind its plan and kept no constant rate: ask for less at once"
            )
        length_s = self._window_s[1] - self._window_s[0]
        results = tuple(
            CbrResult(flow, sent[str(it)], received.get(str(it), 0), inside.get(str(it), 0), length_s)
            for it, flow in enumerate(self._flows)
        )
        origin = origin_of(_TOOL, self._lab)
        return CbrRun(results, origin, self.duration_s, late_ns / 1e6)


@contextlib.contextmanager
def sending(
    lab: Lab,
    flows: Sequence[CbrFlow],
    duration_s: float,
    *,
    window_s: tuple[float, float] | None = None,
) -> Iterator[Sending]:
    """Flows that begin together while the block runs; `Sending.run` in it says what arrived.

    `window_s` are the seconds, from the begin, whose arrivals count for throughput: all by default. Raises
    MeasurementError for flows that cannot be, and LabError for a node that is not there. Nothing is left running.
    """
    window = window_s or (0.0, duration_s)
    _refuse_wrong(lab, flows, duration_s, window)
    state = lab.state()
    for flow in flows:
        _refuse_fast(state, flow)
    with ThinProgram(lab, _FILE) as programs:
        begin_s = lab.now() + _READY_S[lab.clock]
        now = Sending(lab, flows, begin_s, duration_s, window)
        common = {
            "begin_ns": round(begin_s * 1e9),
            "end_ns": round((begin_s + duration_s) * 1e9),
            "over_ns": round((begin_s + duration_s + _DRAIN_S) * 1e9),
            "window_ns": [round((begin_s + edge_s) * 1e9) for edge_s in window],
            "port": _PORT,
        }
        for node in dict.fromkeys(flow.destination for flow in flows):
            now.counters.append(programs.start(node, "count", _plan(lab, common)))
        for program in now.counters:
            await_ready(program)
        for node in dict.fromkeys(flow.source for flow in flows):
            mine = [
                {
                    "flow": number,
                    "address": address_in(state, flow.destination),
                    "port": _PORT,
                    "payload_bytes": flow.payload_bytes,
                    "gap_ns": flow.gap_ns,
                    "dither": flow.dither,
                    "seed": f"{lab.seed} {number}",
                }
                for number, flow in enumerate(flows)
                if flow.source == node
            ]
            now.senders.append(programs.start(node, "send", _plan(lab, {**common, "flows": mine})))
        yield now


def cbr(
    lab: Lab,
    flows: Sequence[CbrFlow],
    duration_s: float,
    *,
    window_s: tuple[float, float] | None = None,
) -> CbrRun:
    """Sends all flows at one time, and says what of each arrived; see `sending`."""
    with sending(lab, flows, duration_s, window_s=window_s) as now:
        return now.run()


def _plan(lab: Lab, plan: dict[str, Any]) -> str:
    path = f"/tmp/linklab-cbr-{next(_plans)}.json"
    lab.write_file(path, json.dumps(plan))
    return path


def _refuse_wrong(lab: Lab, flows: Sequence[CbrFlow], duration_s: float, window_s: tuple[float, float]) -> None:
    if not flows:
        raise MeasurementError("there is no flow to send: give at least one")
    if not 0 < duration_s <= _LONGEST_S:
        raise MeasurementError(f"duration_s is {duration_s}: choose more than 0 and at most {_LONGEST_S:g} s")
    if not 0 <= window_s[0] < window_s[1] <= duration_s:
        raise MeasurementError(f"window_s is {window_s}: choose two times from 0 to {duration_s:g} s, in order")
    for flow in flows:
        for node in (flow.source, flow.destination):
            lab[node]  # raises for one that is not there
        if flow.source == flow.destination:
            raise MeasurementError(f"a flow goes from {flow.source} to itself: name two hosts")


def _refuse_fast(state: NetworkState, flow: CbrFlow) -> None:
    """Raises MeasurementError for a flow that its own link can never carry."""
    node = state.node(flow.source)
    rates = [it.shape.rate_mbps for it in node.interfaces if it.shape.rate_mbps is not None] if node else []
    if rates and flow.rate_mbps > max(rates):
        raise MeasurementError(
            f"{flow.name} is to send {flow.rate_mbps:g} Mbit/s, and {flow.source}'s link carries {max(rates):g}: "
            "choose a lower rate"
        )
