"""Looking around before and after a run: the machine through its counters, the network through one request each."""

from __future__ import annotations

import datetime
import math
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from linklab import __version__
from linklab.emulation import service
from linklab.lab import Lab
from linklab.measure.results import Origin
from linklab.measure.trust import Fidelity, Machine, QueueCounters
from linklab.network import NetworkState
from linklab.options import cores

_COUNTED = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""What psutil calls the processor's time by use. Guests' is in the user's already, and not counted twice."""


@dataclass(frozen=True)
class CpuTimes:
    """Seconds of all processors since boot: in all, not used, taken by a hypervisor."""

    total_s: float
    idle_s: float
    steal_s: float

    @classmethod
    def now(cls) -> CpuTimes:
        """Return the present ones; what this system does not tell apart is 0."""
        times = psutil.cpu_times()
        by_use = {use: float(getattr(times, use, 0.0)) for use in _COUNTED}
        return cls(sum(by_use.values()), by_use["idle"] + by_use["iowait"], by_use["steal"])


@dataclass(frozen=True)
class Turns:
    """How long a process has had a core since it began, and how long it could have run and had none, in seconds."""

    ran_s: float = 0.0
    waited_s: float = 0.0

    @classmethod
    def read(cls, schedstat: str) -> Turns:
        """From the text of /proc/PID/schedstat. Pure."""
        ran_ns, waited_ns = schedstat.split()[:2]
        return cls(int(ran_ns) / 1e9, int(waited_ns) / 1e9)

    @classmethod
    def of(cls, lab: Lab) -> Turns:
        """Those of a guest, whose kernel is one process; none where it is not here, or this machine counts none."""
        try:
            return cls.read(Path(f"/proc/{lab.process.group_pid}/schedstat").read_text("ascii"))
        except (FileNotFoundError, ProcessLookupError):
            return cls()


@dataclass(frozen=True)
class Surroundings:
    """What all results of one run have in common."""

    lab: Lab
    network: NetworkState
    machine: Machine
    started_at: str
    fidelity: Fidelity

    def origin(self, tool: str) -> Origin:
        """Return where a result of this tool comes from."""
        lab = self.lab
        return Origin(
            tool,
            lab.clock,
            lab.process.kernel_release,
            network=self.network,
            machine=self.machine,
            linklab=__version__,
            started_at=self.started_at,
            virtual_s=self.fidelity.virtual_s,
            wall_s=self.fidelity.wall_s,
            seed=lab.seed,
        )


class Before:
    """What there was when a run began."""

    def __init__(self, lab: Lab, record: Sequence[str] | None = None) -> None:
        """Reads the network back, and begins to record these interfaces, all where none is named.

        Raises LabError where the lab is gone, or cannot record.
        """
        self._lab, self._records = lab, record is not None
        self.started_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        seen = lab.process.call(service.counters, True, record)
        self.network = NetworkState.from_json(seen["state"])
        self._seen = seen
        self.span_s = seen["now_s"], seen["now_s"]
        """When it began and when it ended, by the lab's clock."""
        self._load = os.getloadavg()[0]
        self._turns = Turns.of(lab)
        self._times = CpuTimes.now()
        self._wall_s = time.monotonic()

    def after(self, late_ms: Sequence[float], longest_late_ms: float, reordered: int) -> Surroundings:
        """Return what has changed since. `late_ms` are the latenesses of the sleeper in the lab, then the longest of
        all; `reordered` packets were told of by the tools.
        """
        seen = self._lab.process.call(service.counters, False, "end" if self._records else None)
        self.span_s = self._seen["now_s"], seen["now_s"]
        wall_s = time.monotonic() - self._wall_s
        turns = Turns.of(self._lab)
        times = CpuTimes.now()
        machine = Machine(cores(), self._load, os.getloadavg()[0])
        passed_s = max(0.01, times.total_s - self._times.total_s)
        fidelity = Fidelity(
            clock=self._lab.clock,
            load_per_core=max(machine.load_begin, machine.load_end) / machine.cores,
            busy_percent=100 * max(0.0, 1 - (times.idle_s - self._times.idle_s) / passed_s),
            steal_percent=100 * (times.steal_s - self._times.steal_s) / passed_s,
            timer_late_median_ms=statistics.median(late_ms) if late_ms else 0.0,
            timer_late_p95_ms=percentile(late_ms, 95) if late_ms else 0.0,
            timer_late_max_ms=longest_late_ms,
            timer_count=len(late_ms),
            reordered_packets=seen["reorderings"] - self._seen["reorderings"] + reordered,
            queues=changes(self._seen["queues"], seen["queues"]),
            virtual_s=seen["now_s"] - self._seen["now_s"],
            wall_s=wall_s,
            ran_percent=100 * (turns.ran_s - self._turns.ran_s) / wall_s,
            waited_percent=100 * (turns.waited_s - self._turns.waited_s) / wall_s,
        )
        return Surroundings(self._lab, self.network, machine, self.started_at, fidelity)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` percent of the values do not exceed (the nearest rank)."""
    return sorted(values)[max(0, math.ceil(share / 100 * len(values)) - 1)]


def changes(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[QueueCounters, ...]:
    """What each interface's counters rose by. Pure. One that was shaped anew meanwhile counts from its begin."""
    known = {(row["node"], row["interface"]): row for row in before}
    found = []
    for row in after:
        old = known.get((row["node"], row["interface"]), {})
        if any(row[name] < old.get(name, 0) for name in _RISING):
            old = {}
        found.append(QueueCounters(**{**row, **{name: row[name] - old.get(name, 0) for name in _RISING}}))
    return tuple(found)


_RISING = ("sent_packets", "sent_bytes", "dropped_packets", "overlimits")
