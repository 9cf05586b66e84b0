"""The fidelity gate: whether the machine was quiet enough for a measurement to be judged. Pure.

In real time the kernel's timers delay packets (netem) and pace them (HTB), and a machine that is busy serves them
late. Each threshold below is where that could change what a lab judges; above it a measurement is inconclusive, which
is not the same as wrong. On virtual time no timer is ever late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from linklab.measure.results import AtOnce, Result


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


TIMER_MEDIAN_MS: Final = 0.5
"""A packet and its answer pass two netem timers for each link. A link of 20 ms round trip, the shortest of the course
network, is then 1 ms too long at most: 5 %, as much as a lab's checks of a delay allow."""
TIMER_P95_MS: Final = 3.0
"""HTB makes up for a late timer as long as its bucket lasts: 15 kB, which 40 Mbit/s, the course network's fastest link,
empties in 3.07 ms. What is later than that is throughput lost; for one timer in twenty that is too much."""
TIMER_MAX_MS: Final = 200.0
"""Linux takes a packet for lost that is not acknowledged 200 ms (its least RTO) later than usual: a stall as long as
that makes TCP start anew."""
STALL_PERCENT: Final = 2.0
"""The longest stall, as a share of the time of the flows: while nothing moves the links are empty, and throughput is as
much too low."""
_SHORTEST_S: Final = 1.0
"""Shorter flows count as so long: timers are looked at ten times a second, and a stall need not have met them."""
STEAL_PERCENT: Final = 5.0
"""A processor that is away for that share of the time may cost as much throughput: a lab's checks allow it."""
MISSED_PERCENT: Final = STEAL_PERCENT + STALL_PERCENT
"""What a run that counts as quiet may have missed of its time in all, and of its throughput with it."""
LOAD_PER_CORE: Final = 1.5
"""A lab computes on one core. With one and a half runnable programs per core it gets two thirds of that: what took
more of a core before is late now. The load average tells of that a minute late, so a guest that had to wait for half as
long as it ran is the same sign, if it waited for more of the time than `STEAL_PERCENT`: for its own programs alone,
which share its core, a guest waits up to a third as long as it runs."""
BUSY_PERCENT: Final = 97.0
"""Of all cores, over the run: nothing is left, and what the lab would have needed more cannot be known. The load
average says so a minute later. Only from two cores on, since a lab may well use all of one."""

_VIRTUAL = "virtual time: the lab's clock waits for the machine, so no load can change a digit"
_QUIET = "real time, and the machine was quiet"
_FIX = "run again, or measure on the virtual clock"


@dataclass(frozen=True)
class Trust:
    """Whether a measurement can be judged. `reasons` has at least one, also for why it can."""

    ok: bool
    reasons: tuple[str, ...]

    @property
    def trouble(self) -> str | None:
        """What speaks against the machine, or None where the measurement can be judged."""
        return None if self.ok else ", ".join(self.reasons)

    def __str__(self) -> str:
        if self.ok:
            return "; ".join(self.reasons)
        return f"inconclusive: the machine was busy ({', '.join(self.reasons)}); {_FIX}"

    def __bool__(self) -> bool:
        return self.ok


def verdict_on(measured: Result | AtOnce) -> Trust:
    """Return whether to trust what was measured, by any tool. ``str`` of the answer is a sentence for people.

    Without a `fidelity`, as for results of an earlier Linklab in real time, nothing can be said, and the answer is no.
    """
    seen, origin = measured.fidelity, measured.origin
    clock = seen.clock if seen is not None else origin.clock if origin is not None else None
    if clock == "virtual":
        return Trust(True, (_VIRTUAL,))
    if seen is None:
        return Trust(False, ("nothing was noted of the machine",))
    cores = origin.machine.cores if origin is not None and origin.machine is not None else None
    # what went before the flows and came after them is no time in which they can make up for a stall
    span_s = min(seen.virtual_s, max(measured.lasts_s, _SHORTEST_S)) if measured.lasts_s else seen.virtual_s
    found = [*_troubles(seen, cores, span_s), *measured.troubles]
    return Trust(not found, tuple(found) or (_QUIET,))


def _troubles(seen: Fidelity, cores: int | None, span_s: float) -> list[str]:
    stall_percent = seen.timer_late_max_ms / 10 / max(span_s, 1e-9)
    longest = f"a timer {seen.timer_late_max_ms:.0f} ms late"
    found = [
        (seen.load_per_core > LOAD_PER_CORE, f"load {seen.load_per_core:.1f} per core"),
        (seen.busy_percent > BUSY_PERCENT and cores != 1, f"processors {seen.busy_percent:.0f} % in use"),
        (seen.steal_percent > STEAL_PERCENT, f"steal {seen.steal_percent:.0f} %"),
        (
            seen.waited_percent > max(STEAL_PERCENT, (LOAD_PER_CORE - 1) * seen.ran_percent),
            f"the lab waited for its core {seen.waited_percent:.0f} % of the time",
        ),
        (seen.timer_late_median_ms > TIMER_MEDIAN_MS, f"timers {seen.timer_late_median_ms:.1f} ms late"),
        (seen.timer_late_p95_ms > TIMER_P95_MS, f"one timer in 20 more than {seen.timer_late_p95_ms:.1f} ms late"),
        (seen.timer_late_max_ms > TIMER_MAX_MS, longest),
        (stall_percent > STALL_PERCENT and seen.timer_late_max_ms <= TIMER_MAX_MS, longest),
        (seen.timer_count == 0, "no timer was looked at"),
    ]
    return [text for holds, text in found if holds]
