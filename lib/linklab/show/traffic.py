"""What links carried while something was measured: how much each interface sent, and what waited in its queue."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.measure.runner import Progress
from linklab.show.chart import add_lines, label_axes, legend, panels, spans, stairs

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

MOST_LINES: Final = 4
_LEAST_SHARE: Final = 0.05
"""An interface that sent less than that share of the busiest one's bytes is left out: acknowledgements, pings."""


@dataclass(frozen=True)
class LinkLoad:
    """What one interface sent from `start_s` to `end_s`, and what its queue held at the end."""

    start_s: float
    end_s: float
    rate_mbps: float
    queue_packets: int


class Traffic:
    """The loads of all shaped interfaces in one or several runs, one after the other on one time axis."""

    def __init__(self) -> None:
        self._loads: defaultdict[str, list[LinkLoad]] = defaultdict(list)
        self._bytes: defaultdict[str, int] = defaultdict(int)
        self._begin_s = 0.0
        self._before: Progress | None = None

    def add(self, progress: Progress) -> None:
        """Add what the queues counted since the last call. A progress of 0 s begins a run."""
        before, self._before = self._before, progress
        if before is None or progress.done_s <= before.done_s:
            self._begin_s += before.done_s if before is not None else 0.0
            return
        counted = {queue.interface: queue.sent_bytes for queue in before.queues}
        start_s, end_s = self._begin_s + before.done_s, self._begin_s + progress.done_s
        for queue in progress.queues:
            if queue.interface in counted:
                sent_bytes = max(0, queue.sent_bytes - counted[queue.interface])  # a new shaper counts from 0
                rate_mbps = sent_bytes * 8 / (end_s - start_s) / 1e6
                self._loads[queue.interface].append(LinkLoad(start_s, end_s, rate_mbps, queue.backlog_packets))
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
        spent = {name: [(load.start_s, load.end_s) for load in it] for name, it in loads.items()}
        rates = {name: stairs(spent[name], (load.rate_mbps for load in it)) for name, it in loads.items()}
        queues = {name: stairs(spent[name], (float(load.queue_packets) for load in it)) for name, it in loads.items()}
        words = f"What the links carried, in Mbit/s: {spans(rates)}. "
        words += f"Packets in their queues and in flight: {spans(queues)}."
        figure, (above, below) = panels(words, 2, title="What the links carried", height_inches=4.4)
        last_s = max(it[-1].end_s for it in loads.values())
        for axes, curves, label in ((above, rates, "sent (Mbit/s)"), (below, queues, "waiting + in flight (packets)")):
            add_lines(axes, curves)
            highest = max(value for _, values in curves.values() for value in values)
            axes.set(xlim=(0, last_s), ylim=(0, 1.15 * highest or 1))
            label_axes(axes, "" if axes is above else "seconds of the lab's time", label)
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
