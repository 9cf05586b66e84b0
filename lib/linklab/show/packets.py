"""Figures of packets: what arrives of each rate, trains, the bandwidth over the first packets, and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.measure import UdpResult
from linklab.show.chart import (
    BLACK,
    BLUE,
    BLUISH_GREEN,
    GREY,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    SMALL_POINTS,
    VERMILLION,
    WIDTH_INCHES,
    Points,
    add_lines,
    blended,
    chart,
    label_axes,
    legend,
    level,
    logarithmic,
    panels,
    sketch_in_words,
    sketched,
)

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

Series = Sequence[tuple[int, float]]
"""A packet's number and a value, in order."""
Block = tuple[str, int]
"""A header or data, and its bytes."""
_LAST: Final = 20
"""As far as the first packets are shown."""
_PANEL_INCHES: Final = 2.5
_BLOCK_COLOURS: Final = {"Ethernet": SKY_BLUE, "IPv4": ORANGE, "GRE": REDDISH_PURPLE, "UDP": BLUISH_GREEN}
_DATA_COLOUR: Final = "#DDDDDD"
_DATA_INCHES: Final = 2.2
_HEADER_INCHES: Final = 0.8
_FRAME_INCHES: Final = 0.95


def sweep(results: Sequence[UdpResult], ceiling_mbps: float | None = None, sketch: Points = ()) -> Drawing:
    """Return a figure of what arrived of each rate that was sent, in Mbit/s of payload over the time of sending.

    The thin line is "all arrives"; ``ceiling_mbps`` draws what theory says the path carries. The loss stands at each
    point where there was one; ``sketch`` is what a student drew before, in Mbit/s both. Raises MeasurementError for no
    results.
    """
    if not results:
        raise MeasurementError("there is nothing to draw: measure at one rate at least")
    points = sorted((it.sent_mbps, it.sent_mbps * (1 - it.loss_percent / 100), it.loss_percent) for it in results)
    words = "; ".join(f"{sent:.1f} sent, {arrived:.2f} arrived, {loss:.2f} % lost" for sent, arrived, loss in points)
    figure, axes = chart(
        f"What arrives of what is sent, in Mbit/s: {words}.{sketch_in_words(sketch)}",
        x="sent (Mbit/s of payload); the dashed line is where all arrives",
        y="arrived (Mbit/s)",
        title="Sent, arrived",
        grid="both",
    )
    least, most = 0.9 * points[0][0], 1.06 * points[-1][0]
    axes.plot([0, most], [0, most], color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    if ceiling_mbps is not None:
        level(axes, ceiling_mbps, f"theory: {ceiling_mbps:.2f} Mbit/s", below=True)
    axes.plot([sent for sent, _, _ in points], [arrived for _, arrived, _ in points], color=BLUE, linewidth=2)
    for sent, arrived, loss in points:
        colour, marker = (VERMILLION, "X") if loss else (BLUE, "o")
        axes.plot([sent], [arrived], color=colour, marker=marker, markersize=8)
        if loss:
            above: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "bottom"}
            above["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # the dashed line passes here
            axes.annotate(f"{loss:.1f} %\nlost", (sent, arrived), (0, 7), fontsize=SMALL_POINTS, **above)
    axes.set(xlim=(least, most), ylim=(min([least, *(0.9 * y for _, y in sketch)]), most))
    sketched(axes, sketch)
    if sketch:
        legend(axes)
    return figure


def arrivals(arrival_s: Sequence[float]) -> Drawing:
    """Return a figure of when each packet of a train arrived, in ms since the first; times in seconds, in order.

    Raises MeasurementError for fewer than two.
    """
    if len(arrival_s) < 2:
        raise MeasurementError(f"{len(arrival_s)} packets make no train: send it again, or a longer one")
    times_ms = [1000 * (time_s - arrival_s[0]) for time_s in arrival_s]
    gap_ms = median(late - early for early, late in pairwise(times_ms))
    figure, axes = chart(
        f"Arrival of {len(times_ms)} packets within {times_ms[-1]:.2f} ms; the middle gap is {gap_ms:.3f} ms.",
        x="ms since the first packet arrived",
        y="packets that have arrived",
        title="A packet train",
        grid="both",
    )
    axes.plot(times_ms, range(1, len(times_ms) + 1), color=BLUE, marker="o", markersize=5, linewidth=0.8)
    axes.set(xlim=(-0.02 * times_ms[-1], 1.03 * times_ms[-1]), ylim=(0, 1.05 * len(times_ms)))
    return figure


def first_packets(bandwidths: Mapping[str, Mapping[str, Series]], link_mbps: float) -> Drawing:
    """Return a figure of bandwidth over the first packets: a panel for each key, a line for each series in it; Mbit/s.

    The dashed line is the link's rate. Raises MeasurementError for panels without a value.
    """
    shown = {
        panel: {name: [it for it in series if it[0] <= _LAST] for name, series in lines.items()}
        for panel, lines in bandwidths.items()
    }
    told = [
        f"{panel}, {name}: at most {max(value for _, value in series):.1f}"
        for panel, lines in shown.items()
        for name, series in lines.items()
        if series
    ]
    if not told:
        raise MeasurementError("there is nothing to draw: measure first")
    words = f"Bandwidth in Mbit/s over the first {_LAST} packets on a link of {link_mbps:g}: {'; '.join(told)}."
    height, title = 0.4 + _PANEL_INCHES * len(shown), "Bandwidth of the first packets"
    figure, each = panels(words, len(shown), title=title, height_inches=height)
    for axes, (panel, lines) in zip(each, shown.items(), strict=True):
        axes.set_title(panel, loc="left", fontsize=10, fontweight="bold")
        curves = {name: ([at for at, _ in it], [value for _, value in it]) for name, it in lines.items()}
        add_lines(axes, curves, markers=True)
        axes.axhline(link_mbps, color=BLACK, linewidth=1, linestyle=(0, (4, 3)))
        values = [link_mbps, *(value for _, series in curves.values() for value in series)]
        logarithmic(axes, "y", 0.9 * min(values), 1.2 * max(values))
        axes.set(xlim=(1, _LAST + 0.5), xticks=[2, *range(5, _LAST + 1, 5)])
        axes.legend(fontsize=SMALL_POINTS, frameon=False, loc="upper right", handlelength=3)
        label_axes(axes, "", "Mbit/s since the first")
    each[-1].set_xlabel("packet (the dashed line is the link's rate)")
    return figure


def frames(rows: Mapping[str, Sequence[Block]]) -> Drawing:
    """Return a figure of frames as rows of their headers and data, with bytes. Widths are not to scale.

    Equal data of equal frames ends in one line at the right, so that what one frame has more stands out at the left.
    Raises MeasurementError for no rows, or an empty one.
    """
    from matplotlib.patches import Rectangle

    from linklab.show.figure import Drawing

    if not rows or not all(rows.values()):
        raise MeasurementError("there is no frame to draw: capture some packets first")
    widths = {
        row: [_HEADER_INCHES if name in _BLOCK_COLOURS else _DATA_INCHES for name, _ in blocks]
        for row, blocks in rows.items()
    }
    widest = max(map(sum, widths.values()))
    across, height = max(WIDTH_INCHES, widest + 0.4), _FRAME_INCHES * len(rows) + 0.2
    whole = {row: f"{row}: {sum(size for _, size in blocks)} bytes" for row, blocks in rows.items()}
    told = "; ".join(
        f"{whole[row]} ({', '.join(f'{name} {size}' for name, size in blocks)})" for row, blocks in rows.items()
    )
    figure = Drawing(across, height, f"Frames from left to right. {told}.", "Frames")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0, across), ylim=(height, 0))
    for number, (row, blocks) in enumerate(rows.items()):
        top = 0.1 + _FRAME_INCHES * number
        axes.text(0.2, top + 0.14, whole[row], fontweight="bold", fontsize=10)
        left = 0.2 + widest - sum(widths[row])
        for (name, size), wide in zip(blocks, widths[row], strict=True):
            colour = blended(_BLOCK_COLOURS.get(name, _DATA_COLOUR), 0.5)
            axes.add_patch(Rectangle((left, top + 0.26), wide, 0.52, facecolor=colour, edgecolor="#1A1A1A"))
            axes.text(left + wide / 2, top + 0.52, f"{name}\n{size}", ha="center", va="center", fontsize=9)
            left += wide
    return figure
