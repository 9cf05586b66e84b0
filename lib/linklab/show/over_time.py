"""What tools measured, over time: throughput, round trips, TCP's window beside the queue, and links that change."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.analysis import LoadExpectation
from linklab.errors import MeasurementError
from linklab.measure import (
    PingResult,
    QueueResult,
    Run,
    Sample,
    SimpleperfResult,
    SocketsResult,
    TcpResult,
    UdpResult,
    VaryingResult,
)
from linklab.network import traces
from linklab.network.traces import OPPORTUNITY_BYTES, Trace, capacity_mbps, omniscient
from linklab.show.chart import (
    BLACK,
    BLUE,
    GREY,
    SKY_BLUE,
    VERMILLION,
    Curve,
    Points,
    add_levels,
    add_lines,
    chart,
    label_axes,
    legend,
    level,
    levels_in_words,
    panels,
    sketch_in_words,
    sketched,
    spans,
    stairs,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

SECONDS: Final = "seconds since the start"
TransferResult = TcpResult | UdpResult | SimpleperfResult
Transfers = TransferResult | Run | Sequence[TransferResult | Run]
"""One result of a transfer, or those of runs and lists. Of a run all other results are left out."""
Intervals = Mapping[str, Sequence[Sample]]
"""Intervals by name: of a connection, a tool or a flow."""
_TOGETHER: Final = "all together"
_LEAST_STEP_S: Final = 0.05
_WANTED: Final = "those of transfers (TcpFlow, UdpFlow, SimpleperfFlow), or a run that has them"


def throughput(
    curves: Mapping[str, Sequence[Sample] | TransferResult] | Transfers,
    *,
    ceiling_mbps: float | None = None,
    fair_mbps: float | None = None,
    duration_s: float | None = None,
    together: bool = False,
) -> Drawing:
    """Return a figure of intervals in Mbit/s over seconds, one line for each name.

    Results of transfers, or a run, have a line for each connection; of a run its transfers are drawn.

    ``ceiling_mbps`` is what theory allows (`linklab.network.goodput_ceiling_mbps`), ``fair_mbps`` the fair share of a
    line; ``duration_s`` sets the end of the time axis, so that it stands still while intervals are added; ``together``
    draws the sum as well where there are several lines. Raises MeasurementError for more lines than can be told apart,
    and for what has no intervals.
    """
    named = curves if isinstance(curves, Mapping) else _curves(curves)
    shown = {name: samples for name, given in named.items() if (samples := _samples(name, given))}
    total = {_TOGETHER: _sum(list(shown.values()))} if together and len(shown) > 1 else {}
    drawn = {**shown, **total}
    steps = {
        name: stairs(((it.start_s, it.end_s) for it in samples), (it.throughput_mbps for it in samples))
        for name, samples in drawn.items()
    }
    ceiling = {} if ceiling_mbps is None else {f"theory: at most {ceiling_mbps:.2f}": ceiling_mbps}
    fair = {} if fair_mbps is None else {f"fair share: {fair_mbps:.2f}": fair_mbps}
    means = ", ".join(f"{name} {_mean(it, it[0].start_s, it[-1].end_s):.2f}" for name, it in drawn.items())
    said = f"in Mbit/s. {spans(steps)}. Means: {means}." if drawn else "in Mbit/s. No interval yet."
    words = f"Throughput over time, {said}{levels_in_words([*ceiling, *fair])}"
    figure, axes = chart(words, x=SECONDS, y="throughput (Mbit/s)", title="Throughput")
    if shown:
        add_lines(axes, {name: steps[name] for name in shown})
    if total:
        axes.plot(*steps[_TOGETHER], color=BLACK, linewidth=1.4, label=_TOGETHER)
    # in the legend and not at the line, where words would cover the curves
    for levels, dashes in ((ceiling, (1, 2)), (fair, (5, 2, 1, 2))):
        for text, value in levels.items():
            axes.axhline(value, color=BLACK, linewidth=1, linestyle=(0, dashes), label=text)
    highest = max([*ceiling.values(), 0, *(it.throughput_mbps for samples in drawn.values() for it in samples)])
    last_s = max([duration_s or 0, *(samples[-1].end_s for samples in drawn.values())])
    axes.set(xlim=(0, last_s or 1), ylim=(0, 1.1 * highest or 1))
    if shown or ceiling:
        legend(axes)
    if not shown:
        axes.text(0.5, 0.45, "no interval yet", transform=axes.transAxes, ha="center", color=GREY)
    return figure


def _samples(name: str, given: object) -> tuple[Sample, ...]:
    samples = given.samples if isinstance(given, TransferResult) else given
    if not isinstance(samples, Sequence) or not all(isinstance(it, Sample) for it in samples):
        kind = type(given).__name__
        raise MeasurementError(f"cannot draw a {kind}: give {name} the intervals of a transfer: its .samples")
    return tuple(samples)


def _curves(results: Transfers) -> Intervals:
    curves: dict[str, Sequence[Sample]] = {}
    for result in _transfers_in(results):
        for name, samples in _connections(result):
            if samples:
                again = sum(other.partition(" (")[0] == name for other in curves)
                curves[f"{name} ({again + 1})" if again else name] = samples
    if not curves:
        raise MeasurementError("there is nothing to draw over time: measure with an interval, say one second")
    return curves


def _transfers_in(given: Transfers) -> list[TransferResult]:
    """Return the results of transfers in a result, a run, or a list of these. Raises MeasurementError for anything
    else.
    """
    if isinstance(given, TransferResult):
        return [given]
    if isinstance(given, Run):
        return [result for result in given.results if isinstance(result, TransferResult)]
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return [result for one in given for result in _transfers_in(one)]
    raise MeasurementError(f"a {type(given).__name__} is no result: give {_WANTED}")


def _connections(result: TransferResult) -> Iterator[tuple[str, tuple[Sample, ...]]]:
    name = f"{result.flow.source}-{result.flow.destination}"
    if len(result.streams) < 2:
        yield name, result.samples
        return
    for number, stream in enumerate(result.streams, 1):
        yield f"{name}, {number} of {len(result.streams)}", stream.samples


def summed(curves: Intervals) -> Intervals:
    """Return the sum of all intervals as a single line, for a figure in which they could not be told apart."""
    return {f"all {len(curves)} together": _sum([samples for samples in curves.values() if samples])}


def _sum(lines: Sequence[Sequence[Sample]]) -> tuple[Sample, ...]:
    """Return the sum over the time that all have in common, in steps where any of them has one."""
    end_s = min(samples[-1].end_s for samples in lines)
    start_s = max(samples[0].start_s for samples in lines)
    cuts = sorted({time for samples in lines for it in samples for time in (it.start_s, it.end_s)})
    # tools end their intervals a few ms apart: between those no step is to be seen
    edges = [start_s]
    for time in [*(it for it in cuts if start_s < it < end_s), end_s]:
        if time - edges[-1] > _LEAST_STEP_S:
            edges.append(time)
    return tuple(Sample(one, two, fsum(_mean(samples, one, two) for samples in lines)) for one, two in pairwise(edges))


def _mean(samples: Sequence[Sample], start_s: float, end_s: float) -> float:
    amount = fsum(it.throughput_mbps * max(0.0, min(it.end_s, end_s) - max(it.start_s, start_s)) for it in samples)
    return amount / (end_s - start_s)


@dataclass(frozen=True)
class RoundTrips:
    """One path's round trips: ``rtt_ms`` one per ping, None for one that was lost, sent every ``interval_s``.

    ``floor_ms`` is the delay of all links, forward and reverse; ``full_ms`` the round trip with the queue full, None
    where nothing fills it. ``sketch`` is what a student drew before: seconds and ms.
    """

    name: str
    rtt_ms: tuple[float | None, ...]
    interval_s: float
    floor_ms: float
    full_ms: float | None = None
    sketch: Points = ()

    @staticmethod
    def of(result: PingResult, expected: LoadExpectation) -> RoundTrips:
        """Return those of a ping next to the load that is expected on the same path."""
        name = f"{result.flow.source}-{result.flow.destination}"
        floor, full = expected.rtt_unloaded.value, expected.rtt_highest.value
        return RoundTrips(name, result.rtt_ms, result.flow.interval_s, floor, full)

    @property
    def answered_ms(self) -> list[float]:
        """The round trips of pings that were answered."""
        return [value for value in self.rtt_ms if value is not None]

    @property
    def words(self) -> str:
        """What the figure shows, for its alt text."""
        seen = self.answered_ms
        said = f"Round-trip times of {self.name}: {len(seen)} answered, {len(self.rtt_ms) - len(seen)} lost"
        if seen:
            mean = fmean(seen)
            queues = mean - self.floor_ms
            said += f", {min(seen):.1f} to {max(seen):.1f} ms, mean {mean:.1f}, of which queues make {queues:.1f}"
        full = "" if self.full_ms is None else f"; with a full queue it is {self.full_ms:.1f} ms"
        return f"{said}. The links' delays make {self.floor_ms:g} ms{full}.{sketch_in_words(self.sketch)}"


def round_trips(paths: Sequence[RoundTrips]) -> Drawing:
    """Return a figure of RTT in ms over seconds, a panel for each path; what queues add to the floor is shaded.

    Dotted lines are theory's floor and the round trip with a full queue; a lost ping is a cross on the floor's line.
    Raises MeasurementError for no path, and one with no ping.
    """
    if not paths or any(not it.rtt_ms for it in paths):
        raise MeasurementError("there are no round trips to draw: give one ping result at least")
    height = 0.5 + 2.8 * len(paths)
    words = " ".join(it.words for it in paths)
    figure, each = panels(words, len(paths), title="Round-trip times", height_inches=height)
    last_s = max((len(it.rtt_ms) - 1) * it.interval_s for it in paths) or 1.0
    for axes, it in zip(each, paths, strict=True):
        _draw_path(axes, it, last_s)
        label_axes(axes, SECONDS if it is paths[-1] else "", "RTT (ms)")
    return figure


def _draw_path(axes: Axes, it: RoundTrips, last_s: float) -> None:
    times = [number * it.interval_s for number in range(len(it.rtt_ms))]
    values = [math.nan if value is None else value for value in it.rtt_ms]
    axes.plot(times, values, color=BLUE, linewidth=1.6, marker="o", markersize=4, label=f"{it.name}: RTT")
    axes.fill_between(times, it.floor_ms, values, color=SKY_BLUE, alpha=0.35, linewidth=0, label="queueing")
    lost = [time for time, value in zip(times, it.rtt_ms, strict=True) if value is None]
    if lost:
        floor = [it.floor_ms] * len(lost)
        axes.plot(lost, floor, linestyle="", marker="X", markersize=8, color=VERMILLION, label="lost")
    level(axes, it.floor_ms, f"delays of the links alone: {it.floor_ms:g} ms", below=True)
    if it.full_ms is not None:
        level(axes, it.full_ms, f"queue full: {it.full_ms:.1f} ms")
    margin = 0.02 * last_s
    axes.set(xlim=(-margin, last_s + margin), ylim=(0, 1.18 * max([*it.answered_ms, it.floor_ms, it.full_ms or 0.0])))
    sketched(axes, it.sketch)
    legend(axes)


@dataclass(frozen=True)
class WindowTrace:
    """What one connection said of itself, and what waited in the bottleneck's queue: all over seconds.

    `threshold_segments` is None before the first loss.
    """

    at_s: tuple[float, ...]
    cwnd_segments: tuple[float, ...]
    threshold_segments: tuple[float | None, ...]
    rtt_ms: tuple[float, ...]
    queue_at_s: tuple[float, ...] = ()
    queue_packets: tuple[float, ...] = ()

    @staticmethod
    def of(run: Run) -> WindowTrace:
        """Return that of a run with a `SocketsFlow` and a `QueueFlow`, the first ones.

        Raises MeasurementError for a run without them.
        """
        sockets, queues = run.of(SocketsResult), run.of(QueueResult)
        if not sockets or not queues or not sockets[0].busiest:
            raise MeasurementError(
                "this run did not look at windows and a queue: give it a SocketsFlow and a QueueFlow"
            )
        each, queue = sockets[0].busiest, queues[0].samples
        return WindowTrace(
            tuple(it.at_s for it in each),
            tuple(it.cwnd_segments for it in each),
            tuple(it.ssthresh_segments for it in each),
            tuple(it.rtt_ms for it in each),
            tuple(it.at_s for it in queue),
            tuple(it.packets for it in queue),
        )


def windows(
    traces: Mapping[str, WindowTrace],
    *,
    full_packets: float | None = None,
    queue_packets: float | None = None,
    rtts_ms: Sequence[float] = (),
) -> Drawing:
    """Return a figure of three panels over the same seconds: congestion windows, the queue, smoothed round trips.

    A single trace has its threshold as well. Dotted lines are theory's: the window that fills path and queue, the
    queue's limit, the round trips of an empty and a full queue. Raises MeasurementError for no trace, and an empty one.
    """
    if not traces or any(not it.at_s for it in traces.values()):
        raise MeasurementError("there is nothing to draw: give one trace with a look at least")
    rows: list[tuple[str, dict[str, Curve], dict[str, float]]] = [
        ("cwnd (packets)", {name: (it.at_s, it.cwnd_segments) for name, it in traces.items()}, {}),
        ("queue (packets)", {name: (it.queue_at_s, it.queue_packets) for name, it in traces.items()}, {}),
        (
            "RTT (ms)",
            {name: (it.at_s, it.rtt_ms) for name, it in traces.items()},
            {f"{it:.1f} ms": it for it in rtts_ms},
        ),
    ]
    if full_packets:
        rows[0][2][f"path and queue full: {full_packets:.0f}"] = full_packets
    if queue_packets:
        rows[1][2][f"limit: {queue_packets:g}"] = queue_packets
    said = " ".join(f"{label}: {spans(series)}.{levels_in_words(levels)}" for label, series, levels in rows)
    words = f"Congestion window, queue and round trip over time. {said}"
    figure, each = panels(words, 3, title="Window, queue and round trip", height_inches=6.4)
    last_s = max(it.at_s[-1] for it in traces.values())
    for axes, (label, series, levels) in zip(each, rows, strict=True):
        add_lines(axes, series)
        if axes is each[0] and len(traces) == 1:
            _draw_threshold(axes, *traces.values())
        add_levels(axes, levels)
        tallest = max([1.0, *levels.values(), *(value for _, values in series.values() for value in values)])
        axes.set(xlim=(0, last_s), ylim=(0, 1.18 * tallest))
        label_axes(axes, "seconds" if axes is each[-1] else "", label)
        axes.tick_params(colors=GREY)
    for axes in each[:-1]:
        axes.tick_params(labelbottom=False)
    legend(each[0], columns=4)
    return figure


def _draw_threshold(axes: Axes, trace: WindowTrace) -> None:
    threshold = [math.nan if it is None else it for it in trace.threshold_segments]
    axes.plot(trace.at_s, threshold, color=VERMILLION, linewidth=1.4, linestyle=(0, (2, 1)), label="ssthresh")


@dataclass(frozen=True)
class LinkOverTime:
    """What one sender made of a link that follows a trace: all in seconds since the trace began.

    `deliveries` are the packets of up to 1500 bytes that crossed the link: when each came to it (or was sent), and when
    it arrived. `windows` is how many packets the sender let fly from an instant on; it may be empty. `delay_ms` is what
    a packet takes that does not wait.
    """

    trace: Trace
    seconds: float
    delay_ms: float
    deliveries: tuple[tuple[float, float], ...]
    windows: tuple[tuple[float, float], ...] = ()

    @staticmethod
    def of(run: Run) -> LinkOverTime:
        """Return that of a recorded run with a `Varying`, the first one, and one sender of TCP or UDP.

        Raises MeasurementError for a run without them.
        """
        found = run.of(VaryingResult)
        if not found or run.recording is None:
            raise MeasurementError("no link followed a trace here: record a run with a measure.Varying among its flows")
        link, began_ns = found[0], round(1e9 * found[0].began_at_s)
        hops = [it for it in run.recording.of(link.interface) if it.queued_ns >= began_ns and it.sent]
        shape = next(
            it.shape for node in run.recording.network.nodes for it in node.interfaces if it.name == link.interface
        )
        data = [it for it in hops if it.received_ns is not None and it.length_bytes > _ACKNOWLEDGEMENT_BYTES]
        deliveries = tuple(((it.queued_ns - began_ns) / 1e9, ((it.received_ns or 0) - began_ns) / 1e9) for it in data)
        busy = max((it.in_flight_bytes, it.source) for it in run.recording.tcp)[1] if run.recording.tcp else ""
        windows = tuple(
            ((it.time_ns - began_ns) / 1e9, float(it.cwnd_packets)) for it in run.recording.tcp if it.source == busy
        )
        return LinkOverTime(link.flow.trace, link.lasted_s, shape.delay_ms, deliveries, windows)

    @property
    def throughput_mbps(self) -> float:
        """The throughput of packets that arrived in the time, counted as 1500 bytes each."""
        return traces.throughput_mbps(self.deliveries, self.seconds)

    @property
    def delay_p95_ms(self) -> float:
        """The delay that 95 % of the packets did not exceed; nan where none arrived."""
        return traces.delay_p95_ms(self.deliveries)

    @property
    def score(self) -> float:
        """The logarithm (base 2) of throughput over delay, beside that of a sender that knows the trace: at most 0."""
        bound = omniscient(self.trace, 2 * self.delay_ms, 0, 1000 * self.seconds)
        return bound.score(self.throughput_mbps, self.delay_p95_ms)


_ACKNOWLEDGEMENT_BYTES: Final = 200
"""Frames up to this length carry no data of a transfer."""
_BIN_S: Final = 0.1


def varying(it: LinkOverTime) -> Drawing:
    """Return a figure of a link's capacity and what passed, the sender's window, what waited, and delays, over time."""
    count = max(1, round(it.seconds / _BIN_S))
    bins = [number * _BIN_S for number in range(count)]
    capacity = [capacity_mbps(it.trace, 1000 * at_s, 1000 * (at_s + _BIN_S)) for at_s in bins]
    passed = [0.0] * count
    for _, arrived_s in it.deliveries:
        number = int((arrived_s - it.delay_ms / 1000) / _BIN_S)
        if 0 <= number < count:
            passed[number] += OPPORTUNITY_BYTES * 8 / _BIN_S / 1e6
    came = sorted(sent_s for sent_s, _ in it.deliveries)
    left = sorted(arrived_s - it.delay_ms / 1000 for _, arrived_s in it.deliveries)
    waiting = [bisect_right(came, at_s) - bisect_right(left, at_s) for at_s in bins]
    words = (
        f"A link that follows the trace {it.trace.name} for {it.seconds:g} s: mean capacity {fmean(capacity):.3g} "
        f"Mbit/s, throughput {it.throughput_mbps:.3g} Mbit/s, at most {max(waiting)} packets waiting, 95 % of delays "
        f"at most {it.delay_p95_ms:.3g} ms."
    )
    rows = 4 if it.windows else 3
    figure, (rates, *others) = panels(words, rows, title=f"Trace {it.trace.name}", height_inches=0.5 + 1.7 * rows)
    rates.fill_between(bins, capacity, step="post", color=SKY_BLUE, alpha=0.5, linewidth=0, label="capacity")
    rates.plot(bins, passed, color=BLUE, linewidth=1.4, drawstyle="steps-post", label="passed")
    label_axes(rates, "", "rate (Mbit/s)")
    legend(rates)
    if it.windows:
        window = others.pop(0)
        window.plot(*zip(*it.windows, strict=True), color=BLACK, linewidth=1.4, drawstyle="steps-post")
        label_axes(window, "", "window (packets)")
    queue, delay = others
    queue.plot(bins, waiting, color=VERMILLION, linewidth=1.4, drawstyle="steps-post")
    label_axes(queue, "", "waiting (packets)")
    delay.plot(
        [arrived_s for _, arrived_s in it.deliveries],
        [1000 * (arrived_s - sent_s) for sent_s, arrived_s in it.deliveries],
        color=BLUE, linestyle="", marker=".", markersize=2,
    )  # fmt: skip
    level(delay, it.delay_ms, f"without waiting: {it.delay_ms:g} ms")
    label_axes(delay, SECONDS, "delay (ms)")
    for axes in figure.axes:
        axes.set(xlim=(0, it.seconds), ylim=(0, None))
    return figure
