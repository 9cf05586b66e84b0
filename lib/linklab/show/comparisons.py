"""Predicted, theory and measured next to each other: as a table, with the report's numbers, and as a chart of dots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis import Comparison, between
from linklab.errors import MeasurementError
from linklab.show.chart import BLACK, BLUE, GREY, PREDICTED, SMALL_POINTS, chart, legend
from linklab.show.tables import Table, table

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_ROW_INCHES: Final = 0.44
_WIDEST_PERCENT: Final = (40.0, 180.0)
_MARKS: Final[tuple[tuple[str, dict[str, Any], float], ...]] = (
    ("predicted", {"marker": "D", "color": PREDICTED, "markerfacecolor": "white", "markeredgewidth": 1.8}, -0.24),
    ("measured", {"marker": "o", "color": BLUE}, 0.24),
)
"""Name, style, and where in its row: none hides another."""


def comparison(rows: Sequence[Comparison], title: str = "") -> Table:
    """Return a table: quantity, unit, predicted, theory, its interval where it has one, report, measured, remark."""
    with_interval = any(row.interval is not None for row in rows)
    elsewhere = any(row.report_theory is not None for row in rows)
    headings = ["quantity", "unit", "predicted", "theory", *(["expected"] if with_interval else [])]
    return table(
        # another network than the one measured here is named
        [*headings, "report (course network)" if elsewhere else "report", "measured", "remark"],
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


def _interval(row: Comparison) -> str | None:
    return None if row.interval is None else f"{row.interval[0]:.4g} to {row.interval[1]:.4g}"


def compared(rows: Sequence[Comparison], title: str = "Compared with theory") -> Drawing:
    """Return a figure of what was predicted and measured in percent of theory, so that ms and Mbit/s share an axis.

    What lies beyond the axis stands at its edge with its number. Raises MeasurementError for no rows, or a row whose
    theory is missing or 0.
    """
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
    low, high = _limits(rows)
    axes.set(xlim=(low, high), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), [f"{row.quantity}, {row.theory_value:.4g} {row.unit}" for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.axvline(100, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
    for number, row in enumerate(rows):
        _row(axes, number, row, (low, high))
    legend(axes, 4, handles=list(_handles(rows)))
    return figure


def _percent(row: Comparison, value: float) -> float:
    return 100 * value / (row.theory_value or 1.0)


def _numbers(row: Comparison) -> dict[str, float | None]:
    return {"predicted": row.predicted, "measured": row.measured}


def _limits(rows: Sequence[Comparison]) -> tuple[float, float]:
    found = [100.0]
    for row in rows:
        found += [_percent(row, value) for value in _numbers(row).values() if value is not None]
    floor, ceiling = _WIDEST_PERCENT
    low, high = between(min(found), floor, 97), between(max(found), 103, ceiling)
    room = 0.08 * (high - low)
    return low - room, high + room


def _row(axes: Axes, number: int, row: Comparison, limits: tuple[float, float]) -> None:
    low, high = limits
    for name, style, place in _MARKS:
        value = _numbers(row)[name]
        if value is None:
            continue
        percent = _percent(row, value)
        inner = 0.04 * (high - low)
        if low <= percent <= high:
            axes.plot(percent, number + place, linestyle="", **style)
            continue
        beyond = percent > high
        edge = high - inner if beyond else low + inner
        axes.plot(edge, number + place, linestyle="", **style)
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


def _handles(rows: Sequence[Comparison]) -> Iterator[Artist]:
    from matplotlib.lines import Line2D

    for name, style, _ in _MARKS:
        if any(_numbers(row)[name] is not None for row in rows):
            yield Line2D([], [], linestyle="", label=name, **style)


def _in_words(row: Comparison) -> str:
    parts = [f"theory {row.theory_value:.4g}"]
    parts += [f"{name} {value:.4g}" for name, value in _numbers(row).items() if value is not None]
    return f"{row.quantity} in {row.unit}: {', '.join(parts)}."
