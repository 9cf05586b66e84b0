"""Round-trip times over time, and how much of each a queue makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.analysis import LoadExpectation
from linklab.errors import MeasurementError
from linklab.measure import PingResult
from linklab.show.chart import BLUE, SKY_BLUE, SMALL_POINTS, VERMILLION, WIDTH_INCHES, label_axes, level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_PANEL_INCHES: Final = 2.5
_FOOT_INCHES: Final = 0.55
_HEAD_INCHES: Final = 0.35


@dataclass(frozen=True)
class RoundTrips:
    """One path's round trips: ``rtt_ms`` one per ping, None for one that was lost, sent every ``interval_s``.

    ``floor_ms`` is the delay of all links, there and back; ``full_ms`` the round trip with the queue full, None where
    nothing fills it.
    """

    name: str
    rtt_ms: tuple[float | None, ...]
    interval_s: float
    floor_ms: float
    full_ms: float | None = None

    @staticmethod
    def of(result: PingResult, expected: LoadExpectation) -> RoundTrips:
        """Those of a ping beside the load that is expected on the same path."""
        name = f"{result.flow.source}-{result.flow.destination}"
        floor, full = expected.rtt_unloaded.value, expected.rtt_highest.value
        return RoundTrips(name, result.rtt_ms, result.flow.interval_s, floor, full)


def round_trips(paths: Sequence[RoundTrips]) -> Drawing:
    """RTT in ms over seconds, a panel for each path; the part above the floor, which queues make, is shaded.

    Dotted lines are theory's floor and the round trip with a full queue; a lost ping is a cross on the floor line. The
    figure carries all of it in words as ``alt_text``. Raises MeasurementError for no path, or one with no ping.
    """
    from linklab.show.figure import Drawing

    if not paths or any(not it.rtt_ms for it in paths):
        raise MeasurementError("there are no round trips to draw: give one ping result at least")
    height = _FOOT_INCHES + len(paths) * (_PANEL_INCHES + _HEAD_INCHES)
    figure = Drawing(WIDTH_INCHES, height, " ".join(map(_in_words, paths)), "Round-trip times")
    last_s = max((len(it.rtt_ms) - 1) * it.interval_s for it in paths) or 1.0
    for number, it in enumerate(paths):
        bottom = height - (number + 1) * (_PANEL_INCHES + _HEAD_INCHES)
        axes = figure.add_axes((0.085, bottom / height, 0.895, _PANEL_INCHES / height))
        _panel(axes, it, last_s)
        is_last = number == len(paths) - 1
        label_axes(axes, "seconds since the start" if is_last else "", "RTT (ms)")
        if not is_last:
            axes.tick_params(labelbottom=False)
    return figure


def _panel(axes: Axes, it: RoundTrips, last_s: float) -> None:
    seen = [value for value in it.rtt_ms if value is not None]
    top = max([*seen, it.floor_ms, it.full_ms or 0.0])
    times = [number * it.interval_s for number in range(len(it.rtt_ms))]
    # matplotlib leaves a gap where a value is not a number
    values = [float("nan") if value is None else value for value in it.rtt_ms]
    axes.fill_between(times, [it.floor_ms] * len(times), values, color=SKY_BLUE, alpha=0.35, linewidth=0)
    axes.plot(times, values, color=BLUE, linewidth=1.6, marker="o", markersize=4, label=f"{it.name}: RTT")
    lost = [time for time, value in zip(times, it.rtt_ms, strict=True) if value is None]
    if lost:
        axes.plot(
            lost, [it.floor_ms] * len(lost), linestyle="", marker="X", markersize=8, color=VERMILLION, label="lost"
        )
    level(axes, it.floor_ms, f"delays of the links alone: {it.floor_ms:g} ms", below=True)
    if it.full_ms is not None:
        level(axes, it.full_ms, f"queue full: {it.full_ms:.1f} ms")
    axes.fill_between([], [], [], color=SKY_BLUE, alpha=0.35, linewidth=0, label="queueing")
    margin = 0.02 * last_s
    axes.set(xlim=(-margin, last_s + margin), ylim=(0, 1.18 * top))
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=SMALL_POINTS, borderaxespad=0.2
    )


def _in_words(it: RoundTrips) -> str:
    seen = [value for value in it.rtt_ms if value is not None]
    lost = len(it.rtt_ms) - len(seen)
    said = f"Round-trip times of {it.name}: {len(seen)} answered, {lost} lost"
    if seen:
        mean = sum(seen) / len(seen)
        said += (
            f", {min(seen):.1f} to {max(seen):.1f} ms, mean {mean:.1f}, of which queues make {mean - it.floor_ms:.1f}"
        )
    said += f". The links' delays make {it.floor_ms:g} ms"
    return f"{said}; with a full queue it is {it.full_ms:.1f} ms." if it.full_ms is not None else f"{said}."
