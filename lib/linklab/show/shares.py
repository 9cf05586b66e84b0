"""Who gets how much of a shared link: per connection and per host, with Jain's index of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from numbers import Real
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.analysis import jain_index
from linklab.show.chart import BLACK, BLUE, BLUISH_GREEN, SMALL_POINTS, cannot_draw, label_axes, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_ROW_INCHES: Final = 0.34
_WANTED: Final = 'the Mbit/s of each host\'s connections by its name, as {"h1-h4": [6.04, 7.88], "h2-h5": [7.48]}'


def fairness(hosts: Mapping[str, float | Sequence[float]], title: str = "Fairness") -> Drawing:
    """Return a figure of the Mbit/s of each connection and of each host, the equal share, and Jain's index.

    ``hosts`` has the throughputs of each host's or pair's connections: ``{"h1-h4": [6.04, 7.88], "h2-h5": [7.48]}``.
    Where all have one connection the two would be the same, and only one panel is drawn. Raises MeasurementError where
    Jain's index is not defined, and for what is no rates by name.
    """
    if not isinstance(hosts, Mapping):
        raise cannot_draw(hosts, _WANTED)
    rates_of = {name: _rates(given) for name, given in hosts.items()}
    connections = {
        f"{name}, {number}" if len(rates) > 1 else name: rate
        for name, rates in rates_of.items()
        for number, rate in enumerate(rates, 1)
    }
    bars = [("connection", connections, BLUE)]
    if any(len(rates) > 1 for rates in rates_of.values()):
        bars.append(("host", {name: fsum(rates) for name, rates in rates_of.items()}, BLUISH_GREEN))
    words = " ".join(_in_words(kind, values) for kind, values, _ in bars)
    height = 1 + len(connections) * _ROW_INCHES
    figure, each = panels(words, 1, len(bars), title=title, height_inches=height)
    for axes, (kind, values, colour) in zip(each, bars, strict=True):
        _bars(axes, kind, values, colour)
        axes.set_ylim(len(connections) - 0.5, -0.5)
    return figure


def _rates(given: object) -> list[float]:
    rates = []
    for rate in given if isinstance(given, Iterable) else [given]:
        if not isinstance(rate, Real):
            raise cannot_draw(rate, _WANTED)
        rates.append(float(rate))
    return rates


def _bars(axes: Axes, kind: str, values: Mapping[str, float], colour: str) -> None:
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


def _in_words(kind: str, values: Mapping[str, float]) -> str:
    index = jain_index(list(values.values()))
    listed = ", ".join(f"{name} {rate:.2f}" for name, rate in values.items())
    return f"Throughput per {kind} in Mbit/s: {listed}; Jain's index {index:.3f}."
