"""What can be measured on any chart: its texts as they are rendered, and the colours in it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from linklab.show import chart

PALETTE = {
    *(chart.BLACK, chart.BLUE, chart.VERMILLION, chart.BLUISH_GREEN, chart.REDDISH_PURPLE),
    *(chart.ORANGE, chart.SKY_BLUE, chart.YELLOW, chart.GRID, chart.GREY, "#FFFFFF"),
    *(colour for colour, _, _ in chart.LINES),
}


def texts(figure: Figure) -> dict[str, Any]:
    """Boxes of all texts that are shown, in pixels, by what they say and a number."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    found: dict[str, Any] = {}
    for axes in figure.axes:
        bounds = axes.get_window_extent(renderer)
        ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        for text in axes.findobj(Text):
            assert isinstance(text, Text)
            box = text.get_window_extent(renderer)
            if not text.get_text() or not text.get_visible() or box.width == 0:
                continue
            # labels of ticks beyond the axes exist and are not drawn
            beyond = not bounds.x0 - 1 <= (box.x0 + box.x1) / 2 <= bounds.x1 + 1
            if text in ticks and text in axes.get_xticklabels() and beyond:
                continue
            level = not bounds.y0 - 1 <= (box.y0 + box.y1) / 2 <= bounds.y1 + 1
            if text in axes.get_yticklabels() and level:
                continue
            found[f"{text.get_text()}#{len(found)}"] = box
    for legend in figure.legends:
        for text in legend.get_texts():
            found[f"{text.get_text()}#{len(found)}"] = text.get_window_extent(renderer)
    return found


def words(figure: Figure) -> list[str]:
    return [name.rpartition("#")[0] for name in texts(figure)]


def collisions(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other."""
    return [
        (one, two)
        for (one, box), (two, other) in combinations(texts(figure).items(), 2)
        if min(box.x1, other.x1) - max(box.x0, other.x0) > 1 and min(box.y1, other.y1) - max(box.y0, other.y0) > 2
    ]


def cut_off(figure: Figure) -> list[str]:
    """Texts that are not wholly on the figure."""
    width, height = figure.get_size_inches() * figure.dpi
    return [
        name for name, box in texts(figure).items() if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height
    ]


def strange_colours(figure: Figure) -> set[str]:
    """Colours of lines, markers and bars that are not of the palette."""
    found = set()
    for axes in figure.axes:
        for line in axes.get_lines():
            assert isinstance(line, Line2D)
            found |= {to_hex(line.get_color()), to_hex(line.get_markerfacecolor())}
        found |= {to_hex(patch.get_facecolor()) for patch in axes.patches if isinstance(patch, Rectangle)}
    return {colour for colour in found if colour.upper() not in PALETTE}
