"""The network and the clocks when a run begins, and what has changed when it is over: one request each."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from typing import Any

from linklab import __version__
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure.results import Origin, QueueCounters
from linklab.network import NetworkState


class RunSnapshot:
    """The state of a lab when a run begins; `finish` returns what the run's results have in common."""

    def __init__(self, lab: Lab, record: Sequence[str] | None = None) -> None:
        """Read the network back, and begin to record these interfaces, all where none is named.

        Raises LabError where the lab is gone, or cannot record.
        """
        self._lab, self._records = lab, record is not None
        self._started_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self._seen = lab.process.call(lab_api.counters, True, record)
        self.network = NetworkState.from_json(self._seen["state"])
        self.span_s = self._seen["now_s"], self._seen["now_s"]
        """When it began and when it ended, by the lab's clock."""
        self._wall_s = time.monotonic()

    def finish(self, reordered: int) -> Origin:
        """Return where the results come from, the tool left open; `reordered` packets were told of by the tools."""
        seen = self._lab.process.call(lab_api.counters, False, "end" if self._records else None)
        self.span_s = self._seen["now_s"], seen["now_s"]
        return Origin(
            tool="",
            kernel=self._lab.process.kernel_release,
            network=self.network,
            linklab=__version__,
            started_at=self._started_at,
            virtual_s=seen["now_s"] - self._seen["now_s"],
            wall_s=time.monotonic() - self._wall_s,
            seed=self._lab.seed,
            queues=changes(self._seen["queues"], seen["queues"]),
            reordered_packets=seen["reorderings"] - self._seen["reorderings"] + reordered,
        )


def changes(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[QueueCounters, ...]:
    """Return what each interface's counters rose by. One that was shaped anew meanwhile counts from its begin. Pure."""
    known = {(row["node"], row["interface"]): row for row in before}
    found = []
    for row in after:
        old = known.get((row["node"], row["interface"]), {})
        if any(row[name] < old.get(name, 0) for name in _RISING):
            old = {}
        found.append(QueueCounters(**{**row, **{name: row[name] - old.get(name, 0) for name in _RISING}}))
    return tuple(found)


_RISING = ("sent_packets", "sent_bytes", "dropped_packets", "overlimits")
