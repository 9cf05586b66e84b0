"""Figures of datagrams: what arrives of each rate that was sent, and when the packets of a train arrived."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Protocol

from linklab.errors import MeasurementError
from linklab.show.chart import BLUE, SMALL_POINTS, VERMILLION, WIDTH_INCHES, label_axes, level

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_HEIGHT_INCHES = 3.4
_HEADROOM = 1.06


class Sent(Protocol):
    """What was measured at one rate: `linklab.measure.UdpResult` is one."""

    @property
    def sent_mbps(self) -> float:
        """Payload as it was sent."""
        ...

    @property
    def loss_percent(self) -> float:
        """The share of packets that did not arrive."""
        ...


def sweep(results: Sequence[Sent], ceiling_mbps: float | None = None) -> Drawing:
    """What arrived of each rate that was sent, in Mbit/s of payload over the time of sending.

    The thin line is "all arrives"; `ceiling_mbps` draws what theory says the path carries. The loss stands at each
    point where there was one. The figure carries all of it in words as ``alt_text``. Raises MeasurementError for no
    results.
    """
    from linklab.show.figure import Drawing

    if not results:
        raise MeasurementError("there is nothing to draw: measure at one rate at least")
    points = sorted((it.sent_mbps, it.sent_mbps * (1 - it.loss_percent / 100), it.loss_percent) for it in results)
    words = "; ".join(f"{sent:.1f} sent, {arrived:.2f} arrived, {loss:.2f} % lost" for sent, arrived, loss in points)
    figure = Drawing(
        WIDTH_INCHES, _HEIGHT_INCHES, f"What arrives of what is sent, in Mbit/s: {words}.", "Sent, arrived"
    )
    axes = figure.add_axes((0.085, 0.155, 0.895, 0.80))
    most = _HEADROOM * points[-1][0]
    axes.plot([0, most], [0, most], color="#999999", linewidth=1, linestyle=(0, (4, 3)))
    if ceiling_mbps is not None:
        level(axes, ceiling_mbps, f"theory: {ceiling_mbps:.2f} Mbit/s", below=True)
    axes.plot([sent for sent, _, _ in points], [arrived for _, arrived, _ in points], color=BLUE, linewidth=2)
    for sent, arrived, loss in points:
        colour, marker = (VERMILLION, "X") if loss else (BLUE, "o")
        axes.plot([sent], [arrived], color=colour, marker=marker, markersize=8)
        if loss:
            axes.annotate(
                f"{loss:.1f} %\nlost",
                (sent, arrived),
                (0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL_POINTS,
            )
    lowest = 0.9 * points[0][0]
    axes.set(xlim=(lowest, most), ylim=(lowest, most))
    label_axes(axes, "sent (Mbit/s of payload); the dashed line is where all arrives", "arrived (Mbit/s)", grid="both")
    return figure


def arrivals(arrival_s: Sequence[float]) -> Drawing:
    """When each packet of a train arrived, in ms since the first one; times in seconds, in order.

    The figure carries the middle gap in words as ``alt_text``. Raises MeasurementError for fewer than two.
    """
    from linklab.show.figure import Drawing

    if len(arrival_s) < 2:
        raise MeasurementError(f"{len(arrival_s)} packets make no train: send it again, or a longer one")
    times_ms = [1000 * (time_s - arrival_s[0]) for time_s in arrival_s]
    gap_ms = median(late - early for early, late in pairwise(times_ms))
    words = f"Arrival of {len(times_ms)} packets within {times_ms[-1]:.2f} ms; the middle gap is {gap_ms:.3f} ms."
    figure = Drawing(WIDTH_INCHES, _HEIGHT_INCHES, words, "A packet train")
    axes = figure.add_axes((0.085, 0.155, 0.895, 0.80))
    axes.plot(times_ms, range(1, len(times_ms) + 1), color=BLUE, marker="o", markersize=5, linewidth=0.8)
    axes.set(xlim=(-0.02 * times_ms[-1], 1.03 * times_ms[-1]), ylim=(0, 1.05 * len(times_ms)))
    label_axes(axes, "ms since the first packet arrived", "packets that have arrived", grid="both")
    return figure
