"""The helper that makes all charts: lines and levels that write their own alt text, axes, legends.

`lines` draws the most common figure and describes it in words::

    def round_trip_figure(curves: Mapping[str, Mapping[int, float]]) -> Drawing:
        series = {name: (list(it), list(it.values())) for name, it in curves.items()}
        levels = {"theory: 1.15 ms": 1.15}
        return lines("Round trips by payload", series, "UDP payload (bytes)", "round trip (ms)", levels, markers=True)

For anything else `chart` makes one pair of axes and `panels` several, with an ``alt_text`` that says in words what the
figure shows, with its numbers; `add_lines`, `level` and `legend` draw on them. Matplotlib's constrained layout places
all axes. Axes carry their units. Figures are dark ink on white, for paper and light themes; JupyterLab's dark themes
show them inverted (`linklab.show.figure`). Text and lines therefore need contrast with white alone: at least 4.5 and 3
to 1 (WCAG 2.2, 1.4.3 and 1.4.11). The colours here have it, except the pale ones, which fill areas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from linklab.errors import MeasurementError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

BLACK: Final = "#000000"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
BLUISH_GREEN: Final = "#009E73"
REDDISH_PURPLE: Final = "#CC79A7"
ORANGE: Final = "#E69F00"
SKY_BLUE: Final = "#56B4E9"
YELLOW: Final = "#F0E442"
"""The palette of Okabe and Ito, "Color Universal Design" (2008): people with any kind of colour vision tell these
apart. The last three are pale: they fill areas, and draw no line.
"""
GREY: Final = "#595959"
GRID: Final = "#DDDDDD"
BAND: Final = "#F2F2F2"

WIDTH_INCHES: Final = 7.5
HEIGHT_INCHES: Final = 3.6
SMALL_POINTS: Final = 9.0
LINES: Final[tuple[tuple[str, Any, str], ...]] = (
    ("#0067AD", "-", "o"),
    (VERMILLION, (0, (6, 1.5)), "s"),
    ("#004D3B", (0, (2.5, 1)), "^"),
    (REDDISH_PURPLE, (0, (6, 1.5, 1.5, 1.5)), "D"),
    ("#7A4B00", (0, (1.2, 1.2)), "v"),
    ("#3B1152", (0, (9, 2)), "P"),
)
"""Colour, dashes and marker of the first, second, ... line. Their greys differ too."""

_Values = TypeVar("_Values")
Curve = tuple[Sequence[float], Sequence[float]]
"""A line: its x from left to right, and y of each. A y that is not a number leaves a gap."""
Points = Sequence[tuple[float, float]]
"""A sketch: x and y, from left to right."""
PREDICTED: Final = "#7A4B00"
"""The colour of all that was predicted."""


def lines(
    lead: str,
    series: Mapping[str, Curve],
    x: str,
    y: str,
    levels: Mapping[str, float] | None = None,
    *,
    title: str = "",
    markers: bool = False,
    limits: Mapping[str, tuple[float, float | None]] | None = None,
) -> Drawing:
    """Return a figure of lines by name, with dotted levels by their texts, and with what both say in words.

    ``x`` and ``y`` label the axes, with units. ``lead`` begins the alt text, which adds the least and the most of each
    line, and each level. ``limits`` are matplotlib's (``{"xlim": (0, 10)}``); y begins at 0 unless they say otherwise.

    Raises MeasurementError for no line, a line of less than two values, or more lines than can be told apart.
    """
    if not series or any(len(at) < 2 for at, _ in series.values()):
        raise MeasurementError("there is nothing to draw: give at least one run with more than one value")
    figure, axes = chart(f"{lead}. {spans(series)}.{levels_in_words(levels or {})}", x=x, y=y, title=title)
    add_lines(axes, series, markers=markers)
    add_levels(axes, levels or {})
    axes.set(**{"ylim": (0, None), **(limits or {})})
    legend(axes)
    return figure


def add_lines(axes: Axes, series: Mapping[str, Curve], *, markers: bool = False) -> None:
    """Draw lines by name on axes. Raises MeasurementError as `told_apart`."""
    for name, curve, style in told_apart(series, markers=markers):
        axes.plot(*curve, label=name, **style)


def add_levels(axes: Axes, levels: Mapping[str, float]) -> None:
    """Draw dotted levels by their texts; of several the least has its text below."""
    for text, value in levels.items():
        level(axes, value, text, below=len(levels) > 1 and value == min(levels.values()))


def stairs(intervals: Iterable[tuple[float, float]], values: Iterable[float]) -> Curve:
    """Return a line that is level in each interval: where it begins and ends, and its value."""
    return [edge for interval in intervals for edge in interval], [value for value in values for _ in range(2)]


def spans(series: Mapping[str, Curve]) -> str:
    """Return the least and the most of each line in words; a line without a number is left out."""
    found = {name: [value for value in values if value == value] for name, (_, values) in series.items()}
    return "; ".join(f"{name}: {min(values):.4g} to {max(values):.4g}" for name, values in found.items() if values)


def levels_in_words(levels: Iterable[str]) -> str:
    """Return the texts of levels as a sentence that follows another one; empty for none."""
    texts = "; ".join(levels)
    return f" Levels: {texts}." if texts else ""


def chart(
    alt_text: str,
    *,
    x: str,
    y: str,
    title: str = "",
    height_inches: float = HEIGHT_INCHES,
    grid: Literal["x", "y", "both"] = "y",
) -> tuple[Drawing, Axes]:
    """Return a figure with one pair of axes, whose labels carry the units: ``y="throughput (Mbit/s)"``.

    ``title`` goes into the file's metadata. Raises ValueError if ``alt_text`` says nothing.
    """
    figure, (axes,) = panels(alt_text, 1, title=title, height_inches=height_inches)
    label_axes(axes, x, y, grid)
    return figure, axes


def panels(
    alt_text: str, rows: int, columns: int = 1, *, title: str = "", height_inches: float = HEIGHT_INCHES
) -> tuple[Drawing, list[Axes]]:
    """Return a figure with several axes, row by row; `label_axes` labels each. The height is that of all together.

    Raises ValueError if ``alt_text`` says nothing.
    """
    from linklab.show.figure import Drawing

    figure = Drawing(WIDTH_INCHES, height_inches, alt_text, title, constrained=True)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def label_axes(axes: Axes, x: str, y: str, grid: Literal["x", "y", "both"] = "y") -> None:
    """Label both axes, with their units; draw a light grid behind the data, and no frame above and to the right."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


def told_apart(lines: Mapping[str, _Values], *, markers: bool = False) -> Iterator[tuple[str, _Values, dict[str, Any]]]:
    """Yield each line's name, its values and a style for ``axes.plot``, ``stairs`` and others: colour, dashes, width.

    ``markers`` adds a marker, for lines of few points. Raises MeasurementError for no line, or more than can be told
    apart.
    """
    if not lines:
        raise MeasurementError("there is nothing to draw: give one line at least")
    if len(lines) > len(LINES):
        raise MeasurementError(f"{len(lines)} lines in one figure cannot be told apart: give at most {len(LINES)}")
    for (name, values), number in zip(lines.items(), style_numbers([*lines], len(LINES)), strict=True):
        colour, dashes, marker = LINES[number]
        style = {"color": colour, "linestyle": dashes, "linewidth": 1.8}
        if markers:
            style |= {"marker": marker, "markersize": 5.5, "markerfacecolor": "white", "markeredgewidth": 1.5}
        yield name, values, style


_number_of: dict[str, int] = {}


def style_numbers(names: Sequence[str], count: int) -> list[int]:
    """Return a number below ``count`` for each name: through a whole notebook what is drawn again has its colour again.

    Two of the names never have the same one: where both had it in other figures, the later one gets another. There are
    ``count`` names at most.
    """
    chosen: dict[str, int] = {}
    for name in names:
        if (number := _number_of.get(name, count)) < count and number not in chosen.values():
            chosen[name] = number
    for name in names:
        if name not in chosen:
            uses = Counter(_number_of.values())
            free = [number for number in range(count) if number not in chosen.values()]
            chosen[name] = _number_of[name] = min(free, key=lambda number: uses[number])
    return [chosen[name] for name in names]


def forget_styles() -> None:
    """Begin a notebook: no name has a colour yet, whatever this process drew before."""
    _number_of.clear()


def legend(axes: Axes, columns: int = 3, **more: Any) -> None:
    """Draw the legend above the axes, where it covers no data, in as many columns as there is room for.

    ``more`` is for matplotlib's ``legend``, as ``handles``.
    """
    figure: Any = axes.figure
    alone = len(figure.axes) == 1
    owner = figure if alone else axes
    where = {"loc": "outside upper left"} if alone else {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    room_pixels = figure.bbox.width if alone else axes.bbox.width
    for count in range(columns, 0, -1):
        drawn = owner.legend(ncols=count, frameon=False, fontsize=SMALL_POINTS, handlelength=3, **where, **more)
        if drawn.get_window_extent().width < room_pixels:
            break
        if count > 1:
            drawn.remove()


def level(axes: Axes, value: float, text: str, *, below: bool = False) -> None:
    """Draw a dotted line across the axes at a value, with a text at its right end, above or below it."""
    axes.axhline(value, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
    axes.annotate(
        text,
        (1, value),
        (0, -4 if below else 4),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="top" if below else "bottom",
        fontsize=SMALL_POINTS,
        zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85},
    )


def dots(axes: Axes, at: float, values: Sequence[float], colour: str, marker: str = "o", label: str = "") -> None:
    """Draw a mark for each run of one setting, side by side around ``at``, so that none covers another."""
    places = [at + 0.02 * (number - (len(values) - 1) / 2) for number in range(len(values))]
    axes.plot(places, values, marker, color=colour, markersize=4, markerfacecolor="white", label=label)


def sketched(axes: Axes, points: Points) -> None:
    """Draw what a student sketched before the measurement, dashed, on the axes of the measurement; nothing if empty.

    The axes grow with it, to twice their height at most. `legend` comes after it.
    """
    if not points:
        return
    low, high = axes.get_ylim()
    axes.plot(*zip(*points, strict=True), color=PREDICTED, linewidth=2, linestyle=(0, (5, 3)), label="your sketch")
    axes.set_ylim(low, max(high, min(2 * high, 1.05 * max(y for _, y in points))))


def sketch_in_words(points: Points) -> str:
    """Return the sketch for a figure's description, empty if there is none."""
    return " Your sketch: " + ", ".join(f"{y:g} at {x:g}" for x, y in points) + "." if points else ""


def logarithmic(axes: Axes, which: Literal["x", "y"], least: float, most: float) -> None:
    """Make an axis logarithmic from ``least`` to ``most``, with plain numbers: 1, 2, 5, 10 ..., or 1, 10, 100 ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}scale": "log", f"{which}lim": (least, most)})
    dense, few = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0), (1.0, 2.0, 5.0)
    steps = dense if most < 6 * least else few if most < 1000 * least else (1.0,)
    axis.set_major_locator(LogLocator(10, steps, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def blended(colour: str, share: float, other: str = "#FFFFFF") -> str:
    """Return a mixture: ``share`` of a colour, the rest another one."""
    mixed = [
        round(share * int(colour[at : at + 2], 16) + (1 - share) * int(other[at : at + 2], 16)) for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{it:02X}" for it in mixed)
