"""Results: immutable values with units in their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, TypeVar

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.events.network import CableOutage
from linklab.measure.events.reading import events_of
from linklab.measure.events.table import Events
from linklab.measure.flow_names import Congestion
from linklab.measure.flows import Flow
from linklab.measure.recordings import Recording
from linklab.network import NetworkState

UNITS: Final = {"ms": "ms", "mbps": "Mbit/s", "percent": "%", "packets": "packets", "segments": "segments"}
"""Units of quantities by the last word of their names: "throughput_mbps"."""
_NAMED: Final = 6
"""How many flows a run's `repr` names."""


def quantity_words(name: str) -> tuple[str, str]:
    """Return what a quantity is called, and its unit: ("throughput", "Mbit/s") for "throughput_mbps"."""
    what, _, unit = name.rpartition("_")
    return what.replace("_", " ").replace("rtt", "RTT"), UNITS.get(unit, unit)


def listed(parts: Sequence[str]) -> str:
    """Return the first of these texts, and how many more there are."""
    more = f"; and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return "; ".join(parts[:_NAMED]) + more


@dataclass(frozen=True)
class QueueCounters:
    """Counters of one shaped interface's queue during the run, in frames.

    `dropped_packets` found the queue full, or netem lost them on purpose (loss_percent). `overlimits` counts how often
    the shaper delayed a frame; `backlog_packets` were in the queue at the end.
    """

    node: str
    interface: str
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    overlimits: int
    backlog_packets: int


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the tool as it names itself, the lab's kernel, and what all results of a run share.

    `network` is the network as it was read back right before the run, `linklab` the version, `started_at` the machine's
    date (ISO 8601, UTC). `virtual_s` is how long the run took by the lab's clock, `wall_s` how long by the machine's,
    `seed` the seed of the lab's random numbers. What was measured elsewhere than in a lab has None for all of these.
    `queues` are the counters of all shaped interfaces; `reordered_packets` counts UDP's packets out of order, and how
    often TCP noticed reordering.
    """

    tool: str
    kernel: str
    network: NetworkState | None = None
    linklab: str | None = None
    started_at: str | None = None
    virtual_s: float | None = None
    wall_s: float | None = None
    seed: int | None = None
    queues: tuple[QueueCounters, ...] = ()
    reordered_packets: int = 0

    def queue(self, node: str, interface: str | None = None) -> QueueCounters | None:
        """Return the counters of an interface, or of a node's first shaped one; None if there is none."""
        return next((q for q in self.queues if q.node == node and interface in (None, q.interface)), None)


@dataclass(frozen=True, repr=False)
class ToolResult:
    """What was measured of one flow. Each tool has its own subclass (`linklab.measure.tools`).

    `interrupted`: the flow was stopped before its end, and the result has only what was measured until then.
    """

    QUANTITY: ClassVar[str]
    """The field or property by which repeats are compared, its unit at the end."""

    flow: Flow
    origin: Origin
    interrupted: bool = field(default=False, kw_only=True)

    @property
    def outage(self) -> CableOutage | None:
        """What was cut, where a flow cuts cables."""
        return None

    @property
    def headline(self) -> float | None:
        """The number by which repeats are compared, its `QUANTITY`; None if nothing was answered."""
        value: float | None = getattr(self, self.QUANTITY)
        return value

    def __repr__(self) -> str:
        return f"<{self.in_words}>"

    @property
    def in_words(self) -> str:
        """The flow and its headline with four digits: "ping h1-h4: RTT mean 80.35 ms"."""
        what, unit = quantity_words(self.QUANTITY)
        value = "no answer" if self.headline is None else f"{what} {self.headline:.4g} {unit}"
        return f"{self.flow.title}: {value}{', interrupted' if self.interrupted else ''}"


@dataclass(frozen=True)
class Sample:
    """One interval at the receiver, counted from its start. `lost_packets` and `jitter_ms` are UDP's."""

    start_s: float
    end_s: float
    throughput_mbps: float
    lost_packets: int | None = None
    jitter_ms: float | None = None


@dataclass(frozen=True)
class Stream:
    """One of several connections or senders of a flow, at the receiver."""

    throughput_mbps: float
    samples: tuple[Sample, ...]


_Kind = TypeVar("_Kind", bound=ToolResult)


@dataclass(frozen=True)
class Run:
    """The results of flows that ran together, in the flows' order.

    `start_skew_ms` is the time between the first and the last start, apart from the delays that were asked for
    (`start_s`). `interrupted`: the run was stopped, and flows without a readable result are missing in `results`.
    `recording` is there if one was asked for.
    """

    results: tuple[ToolResult, ...]
    start_skew_ms: float
    interrupted: bool = False
    recording: Recording | None = field(default=None, repr=False, compare=False, metadata=schema.NOT_STORED)

    def __repr__(self) -> str:
        return f"<run: {listed([result.in_words for result in self.results]) or 'nothing was measured'}>"

    def save_pcap(self, path: str | Path, *interfaces: str) -> Path:
        """Write what was recorded as a file for Wireshark; see `Recording.save_pcap`.

        Raises MeasurementError where the run was not recorded.
        """
        if self.recording is None:
            raise MeasurementError("this run was not recorded: give record=True to measure.run_together")
        return self.recording.save_pcap(path, *interfaces)

    @property
    def congestion(self) -> Congestion:
        """The congestion control of its TCP flows, by source and destination."""
        return {
            (result.flow.source, result.flow.destination): control
            for result in self.results
            if (control := getattr(result.flow, "congestion", ""))
        }

    @cached_property
    def events(self) -> Events:
        """What happened in the run, and why; see `linklab.measure.Events`. Flows are named as the picture names them.

        Raises MeasurementError where the run was not recorded.
        """
        if self.recording is None:
            raise MeasurementError("this run was not recorded: give record=True to measure.run_together")
        outages = [it.outage for it in self.results if it.outage]
        return events_of(self.recording, self.congestion, outages)

    @property
    def origin(self) -> Origin | None:
        """The first result's origin; those of the others differ in the tool alone. None without results."""
        return self.results[0].origin if self.results else None

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Return the results of one kind, in their order."""
        return tuple(result for result in self.results if isinstance(result, kind))


class MeasurementStopped(KeyboardInterrupt):
    """A measurement was stopped by Ctrl-C, and its tools were ended. `partial` has what they had measured, or is None.
    `runs` has the completed runs of a repeated measurement.

    It is a KeyboardInterrupt, so that a loop of measurements ends as well.
    """

    def __init__(self, message: str, partial: Run | None = None) -> None:
        super().__init__(message)
        self.partial = partial
        self.runs: tuple[Run, ...] = ()

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]
