"""Read clock and counters when a run begins and when it ends, with one request each."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from linklab import __version__, schema
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure.results import Origin, QueueCounters
from linklab.network import NetworkState


@dataclass(frozen=True)
class _Counters:
    """The lab's counters so far."""

    queues: tuple[QueueCounters, ...]
    reorderings: int
    now_s: float


class RunSnapshot:
    """What a lab has counted when a run begins; `finish` returns what the run's results have in common."""

    def __init__(
        self, lab: Lab, network: NetworkState, nodes: Sequence[str], what: str, record: Sequence[str] | None
    ) -> None:
        """Begin a run at these nodes of this network, whose random numbers follow from `what` is run. With `record`,
        begin to record these interfaces, or all if the list is empty.

        Raises LabError if the lab is gone, or cannot record.
        """
        self._lab, self._network, self._records = lab, network, record is not None
        self._started_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        counted = lab.process.call(lab_api.begin_run, nodes, what, record)
        self._before = schema.load(_Counters, counted, "what the lab counted")
        self.queues = self._before.queues
        self.span_s = self._before.now_s, self._before.now_s
        """Begin and end of the run by the lab's clock."""
        self._wall_s = time.monotonic()

    def finish(self, reordered: int) -> Origin:
        """Return the origin of the run's results, without a tool. `reordered` packets were counted by the tools."""
        counted = self._lab.process.call(lab_api.end_run, self._records)
        before, after = self._before, schema.load(_Counters, counted, "what the lab counted")
        self.span_s = before.now_s, after.now_s
        return Origin(
            tool="",
            kernel=self._lab.process.kernel_release,
            network=self._network,
            linklab=__version__,
            started_at=self._started_at,
            virtual_s=round(after.now_s - before.now_s, 9),
            wall_s=time.monotonic() - self._wall_s,
            seed=self._lab.seed,
            queues=changes(before.queues, after.queues),
            reordered_packets=after.reorderings - before.reorderings + reordered,
        )


_RISING = ("sent_packets", "sent_bytes", "dropped_packets", "overlimits")


def changes(before: Sequence[QueueCounters], after: Sequence[QueueCounters]) -> tuple[QueueCounters, ...]:
    """Return by how much each interface's counters rose; counters that a new shaper began at 0 count whole. Pure."""
    known = {(each.node, each.interface): each for each in before}
    found = []
    for each in after:
        old = known.get((each.node, each.interface))
        rises = {name: getattr(each, name) - (getattr(old, name) if old else 0) for name in _RISING}
        found.append(each if min(rises.values()) < 0 else replace(each, **rises))
    return tuple(found)
