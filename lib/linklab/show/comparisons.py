"""Numbers next to each other: predicted, theory and measured as a table and as dots, and fair shares as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis import Comparison, clamp, jain_index
from linklab.errors import MeasurementError
from linklab.show.chart import (
    BLACK,
    BLUE,
    BLUISH_GREEN,
    GREY,
    PREDICTED,
    SMALL_POINTS,
    chart,
    label_axes,
    legend,
    panels,
)
from linklab.show.tables import Table, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_ROW_INCHES: Final = 0.44
_LEAST_PERCENT, _MOST_PERCENT = 40.0, 180.0
_MARKS: Final[Mapping[str, tuple[dict[str, Any], float]]] = {
    "predicted": ({"marker": "D", "color": PREDICTED, "markerfacecolor": "white", "markeredgewidth": 1.8}, -0.24),
    "measured": ({"marker": "o", "color": BLUE}, 0.24),
}
"""Style of each kind of number, and its place in its row: none hides another."""


def comparison(rows: Sequence[Comparison], title: str = "") -> Table:
    """Return a table: quantity, unit, predicted, theory, its interval where it has one, report, measured, remark."""
    with_interval = any(row.interval is not None for row in rows)
    elsewhere = any(row.report_theory is not None for row in rows)
    headings = ["quantity", "unit", "predicted", "theory", *(["expected"] if with_interval else [])]
    # another network than the one measured here is named
    headings += ["report (course network)" if elsewhere else "report", "measured", "remark"]
    cells = []
    for row in rows:
        interval = None if row.interval is None else f"{row.interval[0]:.4g} to {row.interval[1]:.4g}"
        theory = [row.theory_value, *([interval] if with_interval else [])]
        cells.append([row.quantity, row.unit, row.predicted, *theory, row.report, row.measured, row.remark or None])
    return table(headings, cells, title)


def compared(rows: Sequence[Comparison], title: str = "Compared with theory") -> Drawing:
    """Return a figure of what was predicted and measured in percent of theory, so that ms and Mbit/s share an axis.

    What lies beyond the axis stands at its edge with its number. Raises MeasurementError for no rows, or a row whose
    theory is missing or 0.
    """
    from matplotlib.lines import Line2D

    if not rows:
        raise MeasurementError("there is nothing to compare: give one row at least")
    for row in rows:
        if not row.theory_value:
            raise MeasurementError(f"{row.quantity} has no value by theory to compare with: give theory=")
    figure, axes = chart(
        " ".join(map(_in_words, rows)),
        x="percent of what theory says",
        y="",
        title=title,
        height_inches=1.05 + len(rows) * _ROW_INCHES,
        grid="x",
    )
    percents = {
        kind: {number: 100 * value / (row.theory_value or 1.0) for number, row in enumerate(rows)
               if (value := getattr(row, kind)) is not None}
        for kind in _MARKS
    }  # fmt: skip
    found = [100.0, *(percent for values in percents.values() for percent in values.values())]
    low, high = clamp(min(found), _LEAST_PERCENT, 97), clamp(max(found), 103, _MOST_PERCENT)
    room = 0.08 * (high - low)
    axes.set(xlim=(low - room, high + room), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), [f"{row.quantity}, {row.theory_value:.4g} {row.unit}" for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.axvline(100, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
    for kind, (style, place) in _MARKS.items():
        for number, percent in percents[kind].items():
            _draw_mark(axes, percent, number + place, style)
    shown = [Line2D([], [], linestyle="", label=kind, **style) for kind, (style, _) in _MARKS.items() if percents[kind]]
    legend(axes, 4, handles=shown)
    return figure


def _draw_mark(axes: Axes, percent: float, y: float, style: Mapping[str, Any]) -> None:
    """Draw a mark, or where it lies beyond the axis one at the edge with its number."""
    low, high = axes.get_xlim()
    inner = 0.04 * (high - low)
    x = percent if low <= percent <= high else high - inner if percent > high else low + inner
    axes.plot(x, y, linestyle="", **style)
    if x != percent:
        left = percent > high
        text = f"{percent:.3g} % \u2192" if left else f"\u2190 {percent:.3g} %"
        place: dict[str, Any] = {"textcoords": "offset points", "ha": "right" if left else "left", "va": "center"}
        axes.annotate(text, (x, y), (-8 if left else 8, 0), fontsize=SMALL_POINTS, color=GREY, **place)


def _in_words(row: Comparison) -> str:
    numbers = {"theory": row.theory_value, "predicted": row.predicted, "measured": row.measured}
    said = ", ".join(f"{name} {value:.4g}" for name, value in numbers.items() if value is not None)
    return f"{row.quantity} in {row.unit}: {said}."


def fairness(hosts: Mapping[str, Sequence[float]]) -> Drawing:
    """Return a figure of the Mbit/s of each connection and of each host, the equal share, and Jain's index.

    ``hosts`` has the throughputs of each host's or pair's connections: ``{"h1-h4": [6.04, 7.88], "h2-h5": [7.48]}``.
    Raises MeasurementError where Jain's index is not defined.
    """
    connections = {
        f"{name}, {number}" if len(rates) > 1 else name: rate
        for name, rates in hosts.items()
        for number, rate in enumerate(rates, 1)
    }
    whole = {name: fsum(rates) for name, rates in hosts.items()}
    bars = [("connection", connections, BLUE), ("host", whole, BLUISH_GREEN)]
    words = " ".join(
        f"Throughput per {kind} in Mbit/s: {', '.join(f'{name} {rate:.2f}' for name, rate in values.items())}; "
        f"Jain's index {jain_index([*values.values()]):.3f}."
        for kind, values, _ in bars
    )
    figure, each = panels(words, 1, len(bars), title="Fairness", height_inches=1 + len(connections) * 0.34)
    for axes, (kind, values, colour) in zip(each, bars, strict=True):
        _draw_bars(axes, kind, values, colour)
        axes.set_ylim(len(connections) - 0.5, -0.5)
    return figure


def _draw_bars(axes: Axes, kind: str, values: Mapping[str, float], colour: str) -> None:
    rates = list(values.values())
    equal = fmean(rates)
    bars = axes.barh(range(len(rates)), rates, height=0.62, color=colour, tick_label=list(values))
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    axes.bar_label(bars, fmt="%.2f", padding=4, fontsize=SMALL_POINTS, bbox=behind)
    axes.axvline(equal, color=BLACK, linewidth=1.2, linestyle=(0, (3, 2)))
    axes.set_xlim(0, 1.25 * max(rates))
    axes.tick_params(axis="y", length=0)
    label_axes(axes, f"Mbit/s per {kind} (dashed: all equal, {equal:.2f})", "", grid="x")
    axes.xaxis.label.set_fontsize(SMALL_POINTS)
    axes.set_title(f"per {kind}: Jain's index {jain_index(rates):.3f}", fontsize=10, weight="bold", loc="left")
