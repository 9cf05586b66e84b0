"""What links carried while something was measured: how much each interface sent, and what waited in its queue."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from linklab.measure import Flow
from linklab.measure.runner import Progress
from linklab.show.chart import BAND, SMALL_POINTS, Curve, add_lines, label_axes, legend, panels, stairs
from linklab.show.chart import spans as in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

MOST_LINES: Final = 4
_MOST_NAMES: Final = 24
"""Runs whose names fit below their bands; of more runs only every second, third ... is named."""
_LETTERS: Final = 90
"""Letters that fit below the axis."""
_LEAST_SHARE: Final = 0.05
"""An interface that sent less than that share of the busiest one's bytes is left out: acknowledgements, pings."""


@dataclass(frozen=True)
class LinkLoad:
    """What one interface sent from `start_s` to `end_s` of a run, and what its queue held at the end."""

    run: int
    start_s: float
    end_s: float
    rate_mbps: float
    queue_packets: int


class Traffic:
    """The loads of all shaped interfaces in one or several runs: a band for each run, with its name."""

    def __init__(self) -> None:
        self._loads: defaultdict[str, list[LinkLoad]] = defaultdict(list)
        self._bytes: defaultdict[str, int] = defaultdict(int)
        self._runs: list[tuple[Flow, ...]] = []
        self._begins_s = [0.0]
        self._before: Progress | None = None

    def add(self, progress: Progress) -> None:
        """Add what the queues counted since the last call. A progress of 0 s begins a run."""
        before, self._before = self._before, progress
        if before is None or progress.done_s <= before.done_s:
            self._runs.append(progress.flows)
            self._begins_s.append(self._begins_s[-1])
            return
        self._begins_s[-1] += progress.done_s - before.done_s
        counted = {queue.interface: queue.sent_bytes for queue in before.queues}
        begin_s, run = self._begins_s[-2], len(self._runs) - 1
        start_s, end_s = begin_s + before.done_s, begin_s + progress.done_s
        for queue in progress.queues:
            if queue.interface in counted:
                sent_bytes = max(0, queue.sent_bytes - counted[queue.interface])  # a new shaper counts from 0
                rate_mbps = sent_bytes * 8 / (end_s - start_s) / 1e6
                self._loads[queue.interface].append(LinkLoad(run, start_s, end_s, rate_mbps, queue.backlog_packets))
                self._bytes[queue.interface] += sent_bytes

    @property
    def busiest(self) -> tuple[str, ...]:
        """The interfaces that carried most, at most `MOST_LINES`, the busiest first; none if nothing was sent."""
        order = sorted(self._bytes, key=lambda name: -self._bytes[name])[:MOST_LINES]
        return tuple(name for name in order if self._bytes[name] > _LEAST_SHARE * self._bytes[order[0]])

    def figure(self) -> Drawing:
        """Return a figure of two panels: what the busiest interfaces sent, and what waited in their queues.

        Raises MeasurementError if no interface has sent anything.
        """
        loads = {self._name(name): self._loads[name] for name in self.busiest}
        rates = {name: _stairs(it, [load.rate_mbps for load in it]) for name, it in loads.items()}
        queues = {name: _stairs(it, [load.queue_packets for load in it]) for name, it in loads.items()}
        names = run_names(self._runs)
        bands = [(*edges, name) for edges, name in zip(pairwise(self._begins_s), names, strict=True)]
        words = f"What the links carried, in Mbit/s: {in_words(rates)}. "
        words += f"Packets in their queues and in flight: {in_words(queues)}."
        if len(bands) > 1:
            runs = "; ".join(f"{name}, {end - begin:.0f} s" for begin, end, name in bands)
            words += f" {len(bands)} runs, one after the other: {runs}."
        longest = max(map(len, names))
        turned = longest > _LETTERS / min(len(bands), _MOST_NAMES) - 1
        height = 4.4 + (0.08 * longest if turned else 0)
        figure, (above, below) = panels(words, 2, title="What the links carried", height_inches=height)
        labels = ("sent\n(Mbit/s)", "waiting + in flight\n(packets)")
        for axes, curves, label in zip((above, below), (rates, queues), labels, strict=True):
            add_lines(axes, curves)
            highest = max(value for _, values in curves.values() for value in values if value == value)
            axes.set(xlim=(0, bands[-1][1]), ylim=(0, 1.15 * highest or 1))
            label_axes(axes, "" if axes is above else "seconds of the lab's time", label)
            if len(bands) > 1:
                _draw_bands(axes, bands, 90 if turned else 0)
        above.tick_params(labelbottom=False)
        legend(above, columns=MOST_LINES)
        return figure

    def _name(self, interface: str) -> str:
        """Return "r1 to r2" for the interface r1-eth2 whose cable leads to r2; several cables keep their interface."""
        assert self._before is not None
        ends = {
            it.name: (node.name, it.peer[0]) for node in self._before.network.nodes for it in node.interfaces if it.peer
        }
        if interface not in ends or list(ends.values()).count(ends[interface]) > 1:
            return interface
        return "{} to {}".format(*ends[interface])


def _stairs(loads: Sequence[LinkLoad], values: Sequence[float]) -> Curve:
    """Return a line that is level in each interval, with a gap between two runs."""
    at_s, level = stairs(((it.start_s, it.end_s) for it in loads), values)
    ends = [2 * number for number, (one, two) in enumerate(pairwise(loads), 1) if one.run != two.run]
    for place in reversed(ends):
        at_s = [*at_s[:place], at_s[place], *at_s[place:]]
        level = [*level[:place], math.nan, *level[place:]]
    return at_s, level


_Band = tuple[float, float, str]
"""Where a run begins and ends on the axis, and its name."""


def _draw_bands(axes: Axes, bands: Sequence[_Band], rotation: int) -> None:
    """Shade every second run, and write each run's name and length below the axis in place of its seconds."""
    for begin_s, end_s, _ in bands[1::2]:
        axes.axvspan(begin_s, end_s, color=BAND, zorder=0)
    named = bands[:: -(-len(bands) // _MOST_NAMES)]
    names = [f"{name}\n{end_s - begin_s:.0f} s" for begin_s, end_s, name in named]
    axes.set_xticks([(begin_s + end_s) / 2 for begin_s, end_s, _ in named], names, fontsize=SMALL_POINTS)
    axes.tick_params(axis="x", length=0, rotation=rotation)
    if axes.get_xlabel():
        axes.set_xlabel("runs, one after the other, and their seconds of the lab's time")


def run_names(runs: Sequence[Sequence[Flow]]) -> list[str]:
    """Return what tells each of several runs from the others: flows that not all have, what else was asked; its number
    where that is nothing.
    """
    asked = [dict(it for flow in flows for it in _asked(flow)) for flows in runs]
    everywhere = set(asked[0]).intersection(*asked)
    changed = {key for key in everywhere if any(it[key] != asked[0][key] for it in asked)}
    names = []
    for mine in asked:
        told = [word for key, word in mine.items() if key in changed or (key == word and key not in everywhere)]
        names.append(", ".join(dict.fromkeys(told)))
    return [
        name if name and names.count(name) == 1 else f"run {number}{name and ': '}{name}"
        for number, name in enumerate(names, 1)
    ]


def _asked(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield what a flow asks for, each with a key by which other runs have it: its title, and its fields by name."""
    yield flow.title, flow.title
    for field in fields(flow):
        value = getattr(flow, field.name)
        yield f"{flow.title} {field.name}", f"{field.name}={f'{value:g}' if isinstance(value, float) else value}"
