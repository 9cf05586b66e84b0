"""Results: immutable values with units in their names. All have one JSON form, which loads again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.recordings import Recording
from linklab.network import NetworkState

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]
COLUMNS: Final = [
    *("measurement", "flow", "source", "destination", "stream", "start_s", "end_s", "throughput_mbps"),
    *("lost_packets", "jitter_ms", "packet", "rtt_ms"),
]
"""The columns of every table of results; a tool may add some."""
UNITS: Final = {"ms": "ms", "mbps": "Mbit/s", "percent": "%", "packets": "packets", "segments": "segments"}
"""Units of quantities by the last word of their names: "throughput_mbps"."""
VERSION: Final = 1
"""Version of the JSON form of results and runs."""
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

    KIND: ClassVar[str]
    """The result's name in its JSON form."""
    QUANTITY: ClassVar[str]
    """The field or property by which repeats are compared, its unit at the end."""

    flow: Flow
    origin: Origin
    interrupted: bool = field(default=False, kw_only=True)

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

    def rows(self) -> list[Row]:
        """Return this result's rows for `to_dataframe`, without the columns that rows of all tools have."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data, with its kind and the version of its form; `load_result` reads them."""
        return {"measurement": self.KIND, "version": VERSION, **schema.dump(self)}


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


def stream_rows(streams: Sequence[Stream], throughput_mbps: float, end_s: float) -> list[Row]:
    """Return a row for each interval of each stream; without intervals one row, from 0 to the end."""
    found = [{"stream": number, **vars(sample)} for number, stream in enumerate(streams) for sample in stream.samples]
    return found or [{"start_s": 0.0, "end_s": end_s, "throughput_mbps": throughput_mbps}]


def packet_rows(departure_s: Sequence[float], arrival_s: Sequence[float | None]) -> list[Row]:
    """Return a row for each packet: when it left and arrived, and its one-way delay, both None for a lost one."""
    return [
        {
            "packet": number,
            "start_s": left_s,
            "end_s": arrived_s,
            "one_way_delay_ms": None if arrived_s is None else 1000 * (arrived_s - left_s),
        }
        for number, (left_s, arrived_s) in enumerate(zip(departure_s, arrival_s, strict=True), 1)
    ]


_Kind = TypeVar("_Kind", bound=ToolResult)


@dataclass(frozen=True)
class Run:
    """The results of flows that ran together, in the flows' order.

    `start_skew_ms` is the time between the first and the last start, apart from the delays that were asked for
    (`start_s`). `interrupted`: the run was stopped, and flows without a readable result are missing in `results`.
    `recording` is there if one was asked for; the JSON form leaves it out.
    """

    KIND: ClassVar[str] = "at once"

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
    def origin(self) -> Origin | None:
        """The first result's origin; those of the others differ in the tool alone. None without results."""
        return self.results[0].origin if self.results else None

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Return the results of one kind, in their order."""
        return tuple(result for result in self.results if isinstance(result, kind))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data; `load_run` reads it."""
        results = [result.to_json() for result in self.results]
        run = {"start_skew_ms": self.start_skew_ms, "interrupted": self.interrupted}
        return {"measurement": self.KIND, "version": VERSION, "results": results, **run}


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


Results = ToolResult | Run | Iterable[ToolResult | Run]
"""A result, a run, or a list of results and runs."""


def results_in(
    given: Any, kinds: Any = ToolResult, wanted: str = "results, a run that has them, or one of a repeat's runs"
) -> list[Any]:
    """Return the results in a result, a run, or a list of these, as a list; of runs only results of these kinds.

    Raises MeasurementError, with `wanted`, for anything else.
    """
    if isinstance(given, kinds):
        return [given]
    if isinstance(given, Run):
        return [result for result in given.results if isinstance(result, kinds)]
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return [result for one in given for result in results_in(one, kinds, wanted)]
    raise MeasurementError(f"a {type(given).__name__} is no result: give {wanted}")


def to_dataframe(results: Results) -> pandas.DataFrame:
    """Return a tidy table: a row for each packet, for each interval of each stream, or what else the tool has.

    Columns: measurement, flow, source, destination, stream (from 0), start_s, end_s, throughput_mbps, lost_packets,
    jitter_ms, packet (from 1), rtt_ms; behind them those that a tool adds. What a row does not have is missing (NaN).
    Of a transfer without intervals there is one row, from 0 to its end. Raises MeasurementError for what is no result.
    """
    import pandas

    found = records(results)
    return pandas.DataFrame(found, columns=list(dict.fromkeys([*COLUMNS, *(name for row in found for name in row)])))


def records(results: Results) -> list[Row]:
    """Return the rows of `to_dataframe`, as dictionaries. Raises MeasurementError as it does."""
    empty: Row = dict.fromkeys(COLUMNS)
    return [
        {
            **empty,
            "measurement": result.KIND,
            "flow": result.flow.title,
            "source": result.flow.source,
            "destination": result.flow.destination,
            **row,
        }
        for result in results_in(results)
        for row in result.rows()
    ]
