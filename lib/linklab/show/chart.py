"""What all charts have in common: size, lines that differ without colour too, axes, a note on a level.

Every chart is a white card with dark ink: on paper, in a light theme and in a dark one it looks the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from linklab.show.colours import BLACK, BLUE, BLUISH_GREEN, ORANGE, REDDISH_PURPLE, SKY_BLUE, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_INCHES: Final = 7.5
SMALL_POINTS: Final = 9.0
GRID: Final = "#DDDDDD"
QUIET: Final = "#595959"
LINES: Final[tuple[tuple[str, Any], ...]] = (
    (BLUE, "-"),
    (VERMILLION, (0, (6, 1.5))),
    (BLUISH_GREEN, (0, (2.5, 1))),
    (REDDISH_PURPLE, (0, (6, 1.5, 1.5, 1.5))),
    (ORANGE, (0, (1.2, 1.2))),
    (SKY_BLUE, (0, (9, 2))),
)
"""Colour and dashes of the first, second, ... line."""


def dressed(axes: Axes, horizontal: str, vertical: str, grid: str = "y") -> None:
    """Names the axes, with their units; a light grid behind the data, no frame above and to the right."""
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


def level(axes: Axes, value: float, text: str, *, below: bool = False) -> None:
    """A dotted line across the chart at a value, and at its right end what it means."""
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
