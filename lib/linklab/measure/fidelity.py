"""What was seen of the machine and the network while a measurement ran, and what the machine is.

On virtual time the machine's load cannot change a digit; in real time it can, and `linklab.measure.gate` judges it.
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.network import NetworkState


@dataclass(frozen=True)
class Machine:
    """The machine that a lab ran on: `cores` that this process may use, and the load average over one minute (`man
    5 proc`) when the measurement began and when it ended."""

    cores: int
    load_begin: float
    load_end: float


@dataclass(frozen=True)
class QueueCounters:
    """What one shaped interface's queue did during the run, in frames.

    `dropped_packets` found it full or were lost on purpose (loss_percent). `overlimits` counts how often the shaper
    held back; `backlog_packets` is what was in the queue at the end.
    """

    node: str
    interface: str
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    overlimits: int
    backlog_packets: int


@dataclass(frozen=True)
class Fidelity:
    """What can spoil a measurement, as seen during it.

    `load_per_core` is the larger of the load averages at begin and end, per core. `busy_percent` is the share of
    the cores' time that was used, by the lab too, and `steal_percent` what a hypervisor took away (both from
    /proc/stat, over the run). `timer_late_*_ms` says how much later than asked a sleeper of 2 ms in the lab woke
    up, ten times a second, `timer_count` times in all; the largest is of all waits in the lab, none longer than 10
    ms. On virtual time all timers are exact by construction: the count is 0, and so are the latenesses.
    `reordered_packets` are UDP's out of order, and how often TCP noticed reordering. `virtual_s` is how long it
    took by the lab's clock, `wall_s` on the wall. `ran_percent` and `waited_percent` are the
    shares of that in which a guest computed, and in which it could have and something else had its core
    (/proc/PID/schedstat); 0 for native labs, whose processes are many.
    """

    clock: str
    load_per_core: float
    busy_percent: float
    steal_percent: float
    timer_late_median_ms: float
    timer_late_p95_ms: float
    timer_late_max_ms: float
    timer_count: int
    reordered_packets: int
    queues: tuple[QueueCounters, ...]
    virtual_s: float
    wall_s: float
    ran_percent: float = 0.0
    waited_percent: float = 0.0

    def queue(self, node: str, interface: str | None = None) -> QueueCounters | None:
        """The counters of an interface, or of a node's first shaped one; None if there is none."""
        return next((q for q in self.queues if q.node == node and interface in (None, q.interface)), None)


@dataclass(frozen=True)
class Surroundings:
    """What all results of one run have in common, for their `Origin` and `Fidelity`."""

    network: NetworkState
    machine: Machine
    started_at: str
    fidelity: Fidelity
