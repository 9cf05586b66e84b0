"""Round-trip times over time, and how much of each a queue makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.analysis import LoadExpectation
from linklab.errors import MeasurementError
from linklab.measure import PingResult
from linklab.show.chart import (
    BLUE,
    SKY_BLUE,
    VERMILLION,
    Points,
    cannot_draw,
    label_axes,
    legend,
    level,
    panels,
    sketch_in_words,
    sketched,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_PANEL_INCHES: Final = 2.8


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


def round_trips(paths: RoundTrips | Sequence[RoundTrips]) -> Drawing:
    """Return a figure of RTT in ms over seconds, a panel for each path; what queues add to the floor is shaded.

    Dotted lines are theory's floor and the round trip with a full queue; a lost ping is a cross on the floor's line.
    Raises MeasurementError for no path, one with no ping, and for what is no path.
    """
    if isinstance(paths, RoundTrips):
        paths = [paths]
    wrong = [it for it in paths if not isinstance(it, RoundTrips)] if isinstance(paths, Sequence) else [paths]
    if wrong:
        raise cannot_draw(
            wrong[0], "show.RoundTrips.of(ping_result, expected_load) of each path, or draw results with show.measured"
        )
    if not paths or any(not it.rtt_ms for it in paths):
        raise MeasurementError("there are no round trips to draw: give one ping result at least")
    words = " ".join(map(_in_words, paths))
    height = 0.5 + _PANEL_INCHES * len(paths)
    figure, each = panels(words, len(paths), title="Round-trip times", height_inches=height)
    last_s = max((len(it.rtt_ms) - 1) * it.interval_s for it in paths) or 1.0
    for axes, it in zip(each, paths, strict=True):
        _panel(axes, it, last_s)
        label_axes(axes, "seconds since the start" if it is paths[-1] else "", "RTT (ms)")
    return figure


def _panel(axes: Axes, it: RoundTrips, last_s: float) -> None:
    seen = [value for value in it.rtt_ms if value is not None]
    times = [number * it.interval_s for number in range(len(it.rtt_ms))]
    # matplotlib leaves a gap where a value is not a number
    values = [float("nan") if value is None else value for value in it.rtt_ms]
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
    top = max([*seen, it.floor_ms, it.full_ms or 0.0])
    axes.set(xlim=(-margin, last_s + margin), ylim=(0, 1.18 * top))
    sketched(axes, it.sketch)
    legend(axes)


def _in_words(it: RoundTrips) -> str:
    seen = [value for value in it.rtt_ms if value is not None]
    lost = len(it.rtt_ms) - len(seen)
    said = f"Round-trip times of {it.name}: {len(seen)} answered, {lost} lost"
    if seen:
        mean = fmean(seen)
        said += (
            f", {min(seen):.1f} to {max(seen):.1f} ms, mean {mean:.1f}, of which queues make {mean - it.floor_ms:.1f}"
        )
    said += f". The links' delays make {it.floor_ms:g} ms"
    said += f"; with a full queue it is {it.full_ms:.1f} ms." if it.full_ms is not None else "."
    return said + sketch_in_words(it.sketch)
