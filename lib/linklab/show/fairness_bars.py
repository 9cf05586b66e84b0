"""Who gets how much of a shared link: per connection and per host, with Jain's index of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.analysis import jain_index
from linklab.show.chart import BLACK, BLUE, BLUISH_GREEN, SMALL_POINTS, WIDTH_INCHES, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_ROW_INCHES: Final = 0.34
_FOOT_INCHES: Final = 0.62
_HEAD_INCHES: Final = 0.36
_ROOM: Final = 1.25


def fairness(hosts: Mapping[str, Sequence[float]], title: str = "Fairness") -> Drawing:
    """Throughput in Mbit/s of each connection and of each host, the equal share as a line, and Jain's index.

    ``hosts`` has the throughputs of each host's or pair's connections: ``{"h1-h4": [6.04, 7.88], "h2-h5": [7.48]}``.
    Where all have one connection the two would be the same, and only one panel is drawn. The figure carries all of it
    in words as ``alt_text``. Raises MeasurementError where Jain's index is not defined.
    """
    from linklab.show.figure import Drawing

    connections = {
        f"{name}, {number}" if len(rates) > 1 else name: rate
        for name, rates in hosts.items()
        for number, rate in enumerate(rates, 1)
    }
    panels = [("connection", connections, BLUE)]
    if any(len(rates) > 1 for rates in hosts.values()):
        panels.append(("host", {name: sum(rates) for name, rates in hosts.items()}, BLUISH_GREEN))
    elif not connections:
        jain_index([])  # says what is missing
    rows = max(len(values) for _, values, _ in panels)
    height = _HEAD_INCHES + rows * _ROW_INCHES + _FOOT_INCHES
    words = " ".join(_in_words(kind, values) for kind, values, _ in panels)
    figure = Drawing(WIDTH_INCHES, height, words, title)
    share = 1 / len(panels)
    for number, (kind, values, colour) in enumerate(panels):
        left = number * share + _label_inches(list(values)) / WIDTH_INCHES + 0.03
        right = (number + 1) * share - 0.02
        tall = len(values) * _ROW_INCHES
        bottom = height - _HEAD_INCHES - tall
        axes = figure.add_axes((left, bottom / height, right - left, tall / height))
        _bars(axes, kind, values, colour)
    return figure


def _bars(axes: Axes, kind: str, values: Mapping[str, float], colour: str) -> None:
    names, rates = list(values), list(values.values())
    equal = sum(rates) / len(rates)
    axes.barh(range(len(rates)), rates, height=0.62, color=colour)
    for number, rate in enumerate(rates):
        axes.annotate(
            f"{rate:.2f}", (rate, number), (4, 0), textcoords="offset points", va="center", fontsize=SMALL_POINTS,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
    axes.axvline(equal, color=BLACK, linewidth=1.2, linestyle=(0, (3, 2)))
    axes.set(xlim=(0, _ROOM * max(rates)), ylim=(len(rates) - 0.5, -0.5))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    label_axes(axes, f"Mbit/s per {kind} (dashed: all equal, {equal:.2f})", "", grid="x")
    axes.xaxis.label.set_fontsize(SMALL_POINTS)
    axes.set_title(f"per {kind}: Jain's index {jain_index(rates):.3f}", fontsize=10, weight="bold", loc="left")


def _label_inches(labels: Sequence[str]) -> float:
    from linklab.show.labels import Line, size_of

    return size_of([Line(label, points=10) for label in labels])[0]


def _in_words(kind: str, values: Mapping[str, float]) -> str:
    listed = ", ".join(f"{name} {rate:.2f}" for name, rate in values.items())
    return f"Throughput per {kind} in Mbit/s: {listed}; Jain's index {jain_index(list(values.values())):.3f}."
