"""TCP's window, the queue and the round trip on one time axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.measure import QueueResult, Run, SocketsResult
from linklab.show.chart import GREY, VERMILLION, cannot_draw, label_axes, legend, level, panels, told_apart

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_INCHES: Final = 6.4
_ROOM: Final = 1.18


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
    def of(run: Run, number: int = 0) -> WindowTrace:
        """Return that of a run with a `SocketsFlow` and a `QueueFlow`: its first, or the one of that number.

        Raises MeasurementError for a run without them.
        """
        sockets, queues = run.of(SocketsResult), run.of(QueueResult)
        if len(sockets) <= number or not queues or not sockets[number].busiest:
            raise MeasurementError(
                "this run did not look at windows and a queue: give it a SocketsFlow and a QueueFlow"
            )
        each, queue = sockets[number].busiest, queues[min(number, len(queues) - 1)].samples
        return WindowTrace(
            tuple(it.at_s for it in each),
            tuple(it.cwnd_segments for it in each),
            tuple(it.ssthresh_segments for it in each),
            tuple(it.rtt_ms for it in each),
            tuple(it.at_s for it in queue),
            tuple(it.packets for it in queue),
        )


def windows(
    traces: Run | WindowTrace | Mapping[str, WindowTrace | Run],
    *,
    full_packets: float | None = None,
    queue_packets: float | None = None,
    rtts_ms: Sequence[float] = (),
) -> Drawing:
    """Return a figure of three panels over the same seconds: congestion windows, the queue, smoothed round trips.

    A single trace has its threshold as well. Dotted lines are theory's: the window that fills path and queue, the
    queue's limit, the round trips of an empty and a full queue. A run is its `WindowTrace.of`. Raises MeasurementError
    for no trace, an empty one, and for what is none.
    """
    traces = _traces(traces)
    if not traces or any(not it.at_s for it in traces.values()):
        raise MeasurementError("there is nothing to draw: give one trace with a look at least")
    words = " ".join(f"{name}: {_in_words(it)}" for name, it in traces.items())
    said = f"Congestion window, queue and round trip over time. {words}{_theory_in_words(full_packets, rtts_ms)}"
    figure, (window, queue, rtt) = panels(said, 3, title="Window, queue and round trip", height_inches=_INCHES)
    for name, trace, style in told_apart(traces):
        window.plot(trace.at_s, trace.cwnd_segments, label=name, **style)
        queue.plot(trace.queue_at_s, trace.queue_packets, label=name, **style)
        rtt.plot(trace.at_s, trace.rtt_ms, label=name, **style)
    if len(traces) == 1:
        (trace,) = traces.values()
        threshold = [math.nan if it is None else it for it in trace.threshold_segments]
        window.plot(trace.at_s, threshold, color=VERMILLION, linewidth=1.4, linestyle=(0, (2, 1)), label="ssthresh")
    last_s = max(it.at_s[-1] for it in traces.values())
    tallest = max(max(it.cwnd_segments) for it in traces.values())
    _scale(window, last_s, tallest, full_packets and (full_packets, f"path and queue full: {full_packets:.0f}"))
    waiting = max((max(it.queue_packets, default=0.0) for it in traces.values()), default=0.0)
    _scale(queue, last_s, waiting, queue_packets and (queue_packets, f"limit: {queue_packets:g}"))
    longest = max(max(it.rtt_ms) for it in traces.values())
    _scale(rtt, last_s, longest, *((it, f"{it:.1f} ms") for it in rtts_ms))
    for axes, name in ((window, "cwnd (packets)"), (queue, "queue (packets)"), (rtt, "RTT (ms)")):
        label_axes(axes, "seconds" if axes is rtt else "", name)
        if axes is not rtt:
            axes.tick_params(labelbottom=False)
        axes.tick_params(colors=GREY)
    legend(window, columns=4)
    return figure


def _traces(given: object) -> dict[str, WindowTrace]:
    if isinstance(given, Run):
        names = [result.flow.name for result in given.of(SocketsResult)] or [""]
        return {name: WindowTrace.of(given, number) for number, name in enumerate(names)}
    if isinstance(given, WindowTrace):
        return {"connection": given}
    found = given if isinstance(given, Mapping) else {"": given}
    traces = {}
    for name, it in found.items():
        trace = WindowTrace.of(it) if isinstance(it, Run) else it
        if not isinstance(trace, WindowTrace):
            raise cannot_draw(it, 'traces by name, as {"cubic": show.WindowTrace.of(run)}, or a run')
        traces[str(name)] = trace
    return traces


def _scale(axes: Any, last_s: float, most: float, *levels: tuple[float, str] | float | None) -> None:
    given = [it for it in levels if isinstance(it, tuple)]
    for value, text in given:
        level(axes, value, text, below=len(given) > 1 and value == min(it for it, _ in given))
    axes.set(xlim=(0, last_s), ylim=(0, _ROOM * max([most, 1.0, *(value for value, _ in given)])))


def _in_words(trace: WindowTrace) -> str:
    said = (
        f"the window is {min(trace.cwnd_segments):g} to {max(trace.cwnd_segments):g} packets, the round trip "
        f"{min(trace.rtt_ms):.1f} to {max(trace.rtt_ms):.1f} ms"
    )
    if trace.queue_packets:
        mean = sum(trace.queue_packets) / len(trace.queue_packets)
        said += f", in the queue up to {max(trace.queue_packets):g} packets wait, {mean:.0f} on average"
    return f"{said}."


def _theory_in_words(full_packets: float | None, rtts_ms: Sequence[float]) -> str:
    said = "" if full_packets is None else f" Path and queue are full with {full_packets:.0f} packets."
    return said + (f" Theory's round trips: {', '.join(f'{it:.1f}' for it in rtts_ms)} ms." if rtts_ms else "")
