"""Figures of packet sizes: bandwidth over the first packets, what a frame is made of, jitter by run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.show.chart import (
    BLACK,
    BLUISH_GREEN,
    LINES,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    SMALL_POINTS,
    WIDTH_INCHES,
    label_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

Series = Sequence[tuple[int, float]]
"""A packet's number and a value, in order."""
_PANEL_INCHES: Final = 2.5
_MARKERS: Final = ("o", "s", "D", "^")
_TICKS: Final = (5, 8, 10, 12, 15, 20, 30, 50, 100, 120, 150, 200, 300, 500, 1000)


def first_packets(panels: Mapping[str, Mapping[str, Series]], link_mbps: float, *, last: int = 20) -> Drawing:
    """Bandwidth over the first packets, one panel under another, a line for each series in it; Mbit/s, logarithmic.

    The dashed line is the link's rate. All highest values stand in words in ``alt_text``. Raises MeasurementError for
    panels without a value.
    """
    from linklab.show.figure import Drawing

    shown = {
        panel: {name: [it for it in series if it[0] <= last] for name, series in lines.items()}
        for panel, lines in panels.items()
    }
    values = [value for lines in shown.values() for series in lines.values() for _, value in series]
    if not values:
        raise MeasurementError("there is nothing to draw: measure first")
    told = "; ".join(
        f"{panel}, {name}: at most {max(value for _, value in series):.1f}"
        for panel, lines in shown.items()
        for name, series in lines.items()
        if series
    )
    height = 0.55 + _PANEL_INCHES * len(shown)
    words = f"Bandwidth in Mbit/s over the first {last} packets on a link of {link_mbps:g}: {told}."
    figure = Drawing(WIDTH_INCHES, height, words, "Bandwidth of the first packets")
    for number, (panel, lines) in enumerate(shown.items()):
        bottom = (height - 0.1 - _PANEL_INCHES * (number + 1) + 0.25) / height
        axes = figure.add_axes((0.1, bottom, 0.88, (_PANEL_INCHES - 0.55) / height))
        axes.set_title(panel, loc="left", fontsize=10, fontweight="bold")
        for position, (name, series) in enumerate(lines.items()):
            colour, dashes, _ = LINES[position % len(LINES)]
            marker = _MARKERS[position % len(_MARKERS)]
            x, y = [it[0] for it in series], [it[1] for it in series]
            axes.plot(x, y, color=colour, linestyle=dashes, marker=marker, markersize=4.5, linewidth=1.6, label=name)
        axes.axhline(link_mbps, color=BLACK, linewidth=1, linestyle=(0, (4, 3)))
        here = [value for series in lines.values() for _, value in series] or [link_mbps]
        _logarithmic(axes, min(0.9 * link_mbps, 0.9 * min(here)), 1.2 * max(*here, link_mbps))
        axes.set(xlim=(1, last + 0.5), xticks=[2, *range(5, last + 1, 5)])
        axes.legend(fontsize=SMALL_POINTS, frameon=False, loc="upper right")
        below = "packet (the dashed line is the link's rate)" if number == len(shown) - 1 else ""
        label_axes(axes, below, "Mbit/s since the first")
    return figure


def _logarithmic(axes: Axes, least: float, most: float) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    ticks = [tick for tick in _TICKS if least <= tick <= most]
    if most > 6 * least:  # the closer ones would stand in each other's way
        ticks = [tick for tick in ticks if f"{tick}"[0] in "125" and f"{tick}"[1:].strip("0") == ""]
    axes.set_yscale("log")
    axes.set_ylim(least, most)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    axes.yaxis.set_minor_locator(NullLocator())


Block = tuple[str, int]
"""A header or data, and its bytes."""
_BLOCK_COLOURS: Final = {
    "Ethernet": SKY_BLUE,
    "IPv4": ORANGE,
    "GRE": REDDISH_PURPLE,
    "UDP": BLUISH_GREEN,
}
_DATA_COLOUR: Final = "#EEEEEE"
_SHORTENED_INCHES: Final = 2.2
_HEADER_INCHES: Final = 0.8


def frames(rows: Mapping[str, Sequence[Block]]) -> Drawing:
    """Frames as rows of their headers and data, with bytes. Widths are not to scale: data would hide all headers.

    Equal data of equal frames ends in one line at the right, so that what one frame has more stands out at the left.
    Raises MeasurementError for no rows, or an empty one.
    """
    from matplotlib.patches import Rectangle

    from linklab.show.figure import Drawing

    if not rows or not all(rows.values()):
        raise MeasurementError("there is no frame to draw: capture some packets first")
    widths = {row: sum(map(_width, blocks)) for row, blocks in rows.items()}
    widest = max(widths.values())
    across, height = max(WIDTH_INCHES, widest + 0.4), 0.95 * len(rows) + 0.2
    told = "; ".join(
        f"{row}: {sum(size for _, size in blocks)} bytes ({', '.join(f'{name} {size}' for name, size in blocks)})"
        for row, blocks in rows.items()
    )
    figure = Drawing(across, height, f"Frames from left to right. {told}.", "Frames")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0, across), ylim=(0, height))
    for number, (row, blocks) in enumerate(rows.items()):
        top = height - 0.1 - 0.95 * number
        axes.text(0.2, top - 0.14, f"{row}: {sum(size for _, size in blocks)} bytes", fontweight="bold", fontsize=10)
        left = 0.2 + widest - widths[row]
        for name, size in blocks:
            wide = _width((name, size))
            colour = _BLOCK_COLOURS.get(name, _DATA_COLOUR)
            axes.add_patch(Rectangle((left, top - 0.78), wide, 0.52, facecolor=colour, edgecolor="#1A1A1A"))
            axes.text(left + wide / 2, top - 0.52, f"{name}\n{size}", ha="center", va="center", fontsize=9)
            left += wide
    return figure


def _width(block: Block) -> float:
    return _HEADER_INCHES if block[0] in _BLOCK_COLOURS else _SHORTENED_INCHES


def largest_by_run(
    runs: Sequence[str], values: Mapping[str, Sequence[float | None]], what: str, *, least: float
) -> Drawing:
    """One value of each run from several sources, on a logarithmic axis; what is below `least` stands on its line.

    None leaves a gap. Raises MeasurementError where a source has not one value for each run.
    """
    from matplotlib.ticker import FuncFormatter

    from linklab.show.figure import Drawing

    for name, given in values.items():
        if len(given) != len(runs):
            raise MeasurementError(f"{name} has {len(given)} values for {len(runs)} runs")
    told = "; ".join(
        f"{name}: {', '.join('none' if it is None else f'{it:.3g}' for it in given)}" for name, given in values.items()
    )
    figure = Drawing(WIDTH_INCHES, 3.6, f"{what}, by run ({', '.join(runs)}). {told}.", what)
    axes = figure.add_axes((0.1, 0.2, 0.88, 0.62))
    wide = 0.8 / len(values)
    most = max(it for given in values.values() for it in given if it is not None)
    for number, (name, given) in enumerate(values.items()):
        colour, _, _ = LINES[number % len(LINES)]
        marker = _MARKERS[number % len(_MARKERS)]
        x = [run + (number - (len(values) - 1) / 2) * wide for run, it in enumerate(given) if it is not None]
        y = [max(it, least) for it in given if it is not None]
        axes.vlines(x, least, y, color=colour, linewidth=1)
        axes.plot(x, y, color=colour, marker=marker, linestyle="none", markersize=6, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(least / 1.3, most * 10 ** (0.06 * math.log10(most / least)))
    axes.set_xticks(range(len(runs)), runs, fontsize=SMALL_POINTS)
    figure.legend(fontsize=SMALL_POINTS, frameon=False, loc="upper left", ncols=len(values), bbox_to_anchor=(0.08, 1))
    label_axes(axes, "run: frame in bytes, rates of link and traffic in Mbit/s", what)
    return figure
