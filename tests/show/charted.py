"""What can be measured on any chart: its texts as they are rendered, and their contrast."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from .contrast import WHITE


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
            hidden = text in ticks and not axes.axison
            if hidden or not text.get_text() or not text.get_visible() or box.width == 0:
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


def points(figure: Figure, *, unnamed: bool = False) -> dict[str, list[tuple[float, float]]]:
    """What each line of a figure with one pair of axes goes through, by its name in the legend."""
    (axes,) = figure.axes
    lines: list[Any] = axes.get_lines()
    return {
        str(line.get_label()): [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
        for line in lines
        if unnamed or not str(line.get_label()).startswith("_")
    }


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


def ink(figure: Figure) -> Iterator[tuple[str, Any, Any, float]]:
    """Yield what carries meaning: what it is, its colour, what it lies on, and the contrast that it needs."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        shown: list[Any] = [it for it in axes.findobj(Text) if it.get_visible()]
        for text in shown:
            if text.get_text() and (axes.axison or text in axes.texts):
                (x0, y0), (x1, y1) = text.get_window_extent().get_points()
                ground = _ground(axes, ((x0 + x1) / 2, (y0 + y1) / 2), text.get_zorder())
                yield f"text {text.get_text()!r}", text.get_color(), ground, 4.5
        for line in axes.get_lines():
            assert isinstance(line, Line2D)
            points = line.get_transform().transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
            middle = points[len(points) // 2 - 1 : len(points) // 2 + 1].mean(axis=0) if len(points) else (0, 0)
            ground = _ground(axes, middle, line.get_zorder())
            if line.get_linestyle() != "None":
                yield f"line {line.get_label()}", line.get_color(), ground, 3
            if line.get_marker() != "None":
                yield f"marker {line.get_label()}", line.get_markeredgecolor(), ground, 3
        bars = [it for it in axes.containers if axes.get_xlabel().startswith("Mbit/s per")]
        yield from (("bar", patch.get_facecolor(), WHITE, 3) for bar in bars for patch in tuple(bar))


def _ground(axes: Axes, pixel: Any, above: float) -> Any:
    """Return the colour of the topmost area below an artist at a point of the figure; white where there is none."""
    found = [
        patch
        for patch in sorted(axes.patches, key=lambda patch: patch.get_zorder())
        if patch.get_zorder() < above
        and to_rgba(patch.get_facecolor())[3] == 1
        and patch.get_transform().transform_path(patch.get_path()).contains_point(pixel)
    ]
    return found[-1].get_facecolor() if found else WHITE
