"""Predicted, theory, report and measured side by side: as a table, and as a chart of dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis import Comparison, between
from linklab.errors import MeasurementError
from linklab.show.chart import BLACK, BLUE, GREY, ORANGE, SKY_BLUE, SMALL_POINTS, VERMILLION, WIDTH_INCHES, label_axes
from linklab.show.tables import Table, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_ROW_INCHES: Final = 0.44
_FOOT_INCHES: Final = 0.62
_HEAD_INCHES: Final = 0.42
_WIDEST_PERCENT: Final = (40.0, 180.0)
_MARKS: Final[tuple[tuple[str, dict[str, Any], float], ...]] = (
    ("predicted", {"marker": "D", "color": ORANGE, "markerfacecolor": "white", "markeredgewidth": 1.8}, -0.24),
    ("report", {"marker": "s", "color": VERMILLION}, 0.0),
    ("measured", {"marker": "o", "color": BLUE}, 0.24),
)
"""Name, style, and where in its row: none hides another."""
_MARK_POINTS: Final = 6.5


def comparison(rows: Sequence[Comparison], title: str = "") -> Table:
    """A table: quantity, unit, predicted, theory, its interval where it has one, report, measured, remark."""
    with_interval = any(row.interval is not None for row in rows)
    headings = ["quantity", "unit", "predicted", "theory", *(["sound from - to"] if with_interval else [])]
    return table(
        [*headings, _named("report", rows), "measured", "remark"],
        [
            [
                row.quantity,
                row.unit,
                row.predicted,
                row.theory_value,
                *([_interval(row)] if with_interval else []),
                row.report,
                row.measured,
                row.remark or None,
            ]
            for row in rows
        ],
        title,
    )


def _named(column: str, rows: Sequence[Comparison]) -> str:
    """The column's heading; the report's says so where its network is another than the one measured here."""
    other = column == "report" and any(row.report_theory is not None for row in rows)
    return "report (course network)" if other else column


def _interval(row: Comparison) -> str | None:
    return None if row.interval is None else f"{row.interval[0]:.4g} - {row.interval[1]:.4g}"


def compared(rows: Sequence[Comparison], title: str = "Beside theory") -> Drawing:
    """Each number in percent of what theory says, so that ms and Mbit/s stand in one chart; the bar is the interval.

    A report's number of another network is in percent of theory for that network.

    What lies beyond the chart stands at its edge with its number. The figure carries all numbers, in their units, as
    ``alt_text``. Raises MeasurementError for no rows, or a row whose theory is missing or 0.
    """
    from linklab.show.figure import Drawing

    if not rows:
        raise MeasurementError("there is nothing to compare: give one row at least")
    for row in rows:
        if not row.theory_value:
            raise MeasurementError(f"{row.quantity} has no value by theory to compare with: give theory=")
    height = _HEAD_INCHES + len(rows) * _ROW_INCHES + _FOOT_INCHES
    figure = Drawing(WIDTH_INCHES, height, " ".join(map(_in_words, rows)), title)
    labels = [f"{row.quantity}, {row.theory_value:.4g} {row.unit}" for row in rows]
    left = _label_inches(labels) + 0.25
    axes = figure.add_axes(
        (left / WIDTH_INCHES, _FOOT_INCHES / height, 1 - (left + 0.3) / WIDTH_INCHES, len(rows) * _ROW_INCHES / height)
    )
    low, high = _limits(rows)
    axes.set(xlim=(low, high), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), labels)
    axes.tick_params(axis="y", length=0)
    label_axes(axes, "percent of what theory says", "", grid="x")
    axes.spines["left"].set_visible(False)
    axes.axvline(100, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
    for number, row in enumerate(rows):
        _row(axes, number, row, (low, high))
    _legend(axes, rows)
    return figure


def _percent(row: Comparison, value: float, name: str = "") -> float:
    own = row.report_theory if name == "report" and row.report_theory is not None else row.theory_value
    return 100 * value / (own or 1.0)


def _numbers(row: Comparison) -> dict[str, float | None]:
    return {"predicted": row.predicted, "report": row.report, "measured": row.measured}


def _limits(rows: Sequence[Comparison]) -> tuple[float, float]:
    found = [100.0]
    for row in rows:
        found += [_percent(row, value, name) for name, value in _numbers(row).items() if value is not None]
        found += [_percent(row, value) for value in row.interval or ()]
    floor, ceiling = _WIDEST_PERCENT
    low, high = between(min(found), floor, 97), between(max(found), 103, ceiling)
    room = 0.08 * (high - low)
    return low - room, high + room


def _row(axes: Axes, number: int, row: Comparison, limits: tuple[float, float]) -> None:
    low, high = limits
    if row.interval is not None:
        start, end = (between(_percent(row, value), low, high) for value in row.interval)
        # an interval of nearly nothing is still to be seen
        end = max(end, start + 0.004 * (high - low))
        axes.barh(number, end - start, left=start, height=0.8, color=SKY_BLUE, alpha=0.4, linewidth=0)
    for name, style, place in _MARKS:
        value = _numbers(row)[name]
        if value is None:
            continue
        percent = _percent(row, value, name)
        inner = 0.04 * (high - low)
        if low <= percent <= high:
            axes.plot(percent, number + place, linestyle="", markersize=_MARK_POINTS, **style)
            continue
        beyond = percent > high
        edge = high - inner if beyond else low + inner
        axes.plot(edge, number + place, linestyle="", markersize=_MARK_POINTS, **style)
        text = f"{percent:.3g} % \u2192" if beyond else f"\u2190 {percent:.3g} %"
        axes.annotate(
            text,
            (edge, number + place),
            (-8 if beyond else 8, 0),
            textcoords="offset points",
            ha="right" if beyond else "left",
            va="center",
            fontsize=SMALL_POINTS,
            color=GREY,
        )


def _legend(axes: Axes, rows: Sequence[Comparison]) -> None:
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = [
        Line2D([], [], linestyle="", markersize=_MARK_POINTS, label=_named(name, rows), **style)
        for name, style, _ in _MARKS
        if any(_numbers(row)[name] is not None for row in rows)
    ]
    if any(row.interval is not None for row in rows):
        handles.append(Patch(facecolor=SKY_BLUE, alpha=0.4, linewidth=0, label="sound by theory"))
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.02, 1),
        ncols=len(handles) or 1,
        columnspacing=1.4,
        frameon=False,
        fontsize=SMALL_POINTS,
        borderaxespad=0.3,
    )


def _label_inches(labels: Sequence[str]) -> float:
    from linklab.show.labels import Line, size_of

    return size_of([Line(label, points=10) for label in labels])[0]


def _in_words(row: Comparison) -> str:
    parts = [f"theory {row.theory_value:.4g}"]
    if row.interval is not None:
        parts[0] += f" ({row.interval[0]:.4g} to {row.interval[1]:.4g})"
    parts += [f"{_named(name, [row])} {value:.4g}" for name, value in _numbers(row).items() if value is not None]
    return f"{row.quantity} in {row.unit}: {', '.join(parts)}."
