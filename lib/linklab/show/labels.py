"""Labels: how large they are, and where each has room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

from linklab.show.geometry import Box, Point

SMALL_POINTS: Final = 8.0
"""No text in a figure is smaller."""
NAME_POINTS: Final = 10.0
_LINE_SPACING: Final = 1.22
_POINTS_PER_INCH: Final = 72.0

Tone = Literal["plain", "quiet", "warning"]


@dataclass(frozen=True)
class Line:
    """One line of a label."""

    text: str
    tone: Tone = "plain"
    bold: bool = False
    points: float = SMALL_POINTS

    @property
    def height(self) -> float:
        """In inches, with the space to the next line."""
        return self.points * _LINE_SPACING / _POINTS_PER_INCH


@dataclass(frozen=True)
class Label:
    """Lines of text under each other, centred, and the box they have on the page."""

    lines: tuple[Line, ...]
    box: Box

    @property
    def centres(self) -> Iterator[tuple[Line, Point]]:
        """Each line with the point in its middle."""
        y = self.box.top
        for line in self.lines:
            yield line, (self.box.centre[0], y - line.height / 2)
            y -= line.height

    def shortened(self, count: int) -> Label:
        """The first lines alone, in the middle of the same place."""
        lines = self.lines[:count]
        return Label(lines, Box.around(self.box.centre, *size_of(lines)))


def name_line(name: str) -> Line:
    """A node's name, as it stands in its shape."""
    return Line(name, bold=True, points=NAME_POINTS)


def size_of(lines: Sequence[Line]) -> tuple[float, float]:
    """Width and height of lines under each other, in inches."""
    return max(_width(line) for line in lines), sum(line.height for line in lines)


@lru_cache(maxsize=4096)
def _width(line: Line) -> float:
    from matplotlib.font_manager import FontProperties

    font = FontProperties(size=line.points, weight="bold" if line.bold else "normal")
    renderer: Any = _renderer()
    return float(renderer.get_text_width_height_descent(line.text, font, False)[0]) / _DPI


_DPI: Final = 144


@lru_cache(maxsize=1)
def _renderer() -> object:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas: Any = FigureCanvasAgg(Figure(dpi=_DPI))
    renderer: object = canvas.get_renderer()
    return renderer


@dataclass
class Page:
    """What is on the page already. Labels go where they cover least of it."""

    boxes: list[Box] = field(default_factory=list)
    strokes: list[tuple[Point, Point]] = field(default_factory=list)

    def placed(self, lines: Sequence[Line], centres: Iterable[Point]) -> Label:
        """The lines at the best of the places offered: the first that is free, else the one least in the way.

        The place is taken from then on.
        """
        width, height = size_of(lines)
        offers = [Box.around(centre, width, height) for centre in centres]
        best = min(enumerate(offers), key=lambda offer: (round(self._cost(offer[1]), 6), offer[0]))[1]
        self.boxes.append(best)
        return Label(tuple(lines), best)

    def _cost(self, box: Box) -> float:
        roomy = Box(box.left - 0.07, box.bottom - 0.03, box.right + 0.07, box.top + 0.03)
        covered = sum(roomy.shared_with(other) for other in self.boxes)
        crossed = sum(roomy.length_inside(*stroke) for stroke in self.strokes)
        # Text on text cannot be read; text on a line can, if need be.
        return 20 * covered + crossed
