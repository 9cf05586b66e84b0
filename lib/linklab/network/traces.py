"""Traces of links whose capacity changes: mahimahi's files, a generator with a seed, and what a trace makes possible.

A trace is a list of instants in whole ms. At each one up to 1500 bytes of IP packets may leave the link; what does not
use its instant loses it. A link repeats a trace when its last instant has come (Netravali et al., "Mahimahi: Accurate
Record-and-Replay for HTTP", USENIX ATC 2015). Only `read_trace` and `write_trace` touch a file; all else is pure.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import MeasurementError, quoted
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

OPPORTUNITY_BYTES: Final = ETHERNET_MTU_BYTES
"""Bytes of IP packets, headers included, that may leave at one instant of a trace."""
LONGEST_S: Final = 3600


@dataclass(frozen=True, repr=False)
class Trace:
    """A link's capacity: the instants, in ms since its start, at which one packet of 1500 bytes may leave.

    The same instant several times lets several packets go. After ``period_ms``, the last instant, all begins anew.
    Raises MeasurementError without any instant, for instants that are no whole numbers from 0 on or do not ascend, and
    where the last one is 0.
    """

    name: str
    opportunities_ms: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "opportunities_ms", tuple(self.opportunities_ms))
        before_ms = 0
        for number, at_ms in enumerate(self.opportunities_ms, 1):
            if type(at_ms) is not int or at_ms < 0:
                raise MeasurementError(
                    f"instant {number} of the trace {self.name} is {quoted(at_ms)}: give whole milliseconds from 0 on"
                )
            if at_ms < before_ms:
                raise MeasurementError(
                    f"instant {number} of the trace {self.name} is {at_ms} ms, after {before_ms} ms: instants ascend"
                )
            before_ms = at_ms
        if not self.opportunities_ms:
            raise MeasurementError(f"the trace {self.name} is empty: give the instants at which packets may leave")
        if not before_ms:
            raise MeasurementError(f"the trace {self.name} ends at 0 ms: give at least one instant after 0")

    def __repr__(self) -> str:
        return f"Trace({self.name!r}, {len(self.opportunities_ms)} packets in {self.period_ms} ms)"

    @property
    def period_ms(self) -> int:
        """After how long the trace begins anew: its last instant."""
        return self.opportunities_ms[-1]

    @property
    def mean_mbps(self) -> float:
        """The mean capacity over one period, in Mbit/s of IP packets."""
        return len(self.opportunities_ms) * OPPORTUNITY_BYTES * BITS_PER_BYTE / self.period_ms / 1000

    def before(self, at_ms: float) -> int:
        """Return how many packets may have left before an instant, which may lie in any repetition."""
        whole = max(0, math.ceil(at_ms / self.period_ms) - 1)
        return whole * len(self.opportunities_ms) + bisect_left(self.opportunities_ms, at_ms - whole * self.period_ms)

    def until(self, end_ms: float) -> list[int]:
        """Return the instants before `end_ms`, those of repetitions too."""
        every = self.opportunities_ms
        return [every[n % len(every)] + n // len(every) * self.period_ms for n in range(self.before(end_ms))]


def read_trace(path: str | Path) -> Trace:
    """Read a trace in mahimahi's format: one instant in ms a line. Its name is the file's.

    Raises MeasurementError for a file that cannot be read or holds anything else.
    """
    file = Path(path)
    try:
        lines = file.read_text("ascii").split("\n")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is no text"
        raise MeasurementError(f"the trace {file} cannot be read: {why}") from None
    instants_ms = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text and number == len(lines):
            break
        if not text.isdigit():
            raise MeasurementError(f"line {number} of the trace {file} is {quoted(text)}: write whole milliseconds")
        instants_ms.append(int(text))
    return Trace(file.name, tuple(instants_ms))


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace as a file in mahimahi's format. Raises MeasurementError where it cannot be written."""
    try:
        Path(path).write_text("".join(f"{at_ms}\n" for at_ms in trace.opportunities_ms), "ascii")
    except OSError as failure:
        raise MeasurementError(f"the trace {path} cannot be written: {failure.strerror}") from None


def generated(kind: str, seed: int, seconds: int) -> Trace:
    """Return a trace of so many seconds from one of the models in `KINDS`. Equal arguments give equal traces.

    The last instant is the end, so that the trace repeats after exactly `seconds`. The models add, multiply and compare
    random numbers and do nothing else, so that no machine's mathematical library moves an instant. Raises
    MeasurementError for another kind, and for seconds that are no whole number from 1 to 3600.
    """
    if kind not in KINDS:
        raise MeasurementError(f"{quoted(kind)} is no kind of trace: choose one of {', '.join(KINDS)}")
    if type(seconds) is not int or not 1 <= seconds <= LONGEST_S:
        raise MeasurementError(f"seconds is {quoted(seconds)}: choose a whole number from 1 to {LONGEST_S}")
    end_ms = 1000 * seconds
    rng = random.Random(f"{kind} {seed}")
    instants_ms = [at_ms for at_ms in KINDS[kind](rng, end_ms) if at_ms < end_ms]
    return Trace(f"{kind}-{seed}", (*instants_ms, end_ms))


def _steady(rng: random.Random, end_ms: int) -> Iterator[int]:
    """One rate throughout, 250 to 750 packets a second (3 to 9 Mbit/s), at even distances."""
    packets_per_s = 250 + int(501 * rng.random())
    return _evenly(packets_per_s, 0, end_ms)


def _cellular(rng: random.Random, end_ms: int) -> Iterator[int]:
    """A phone in a moving car, as Sprout's authors model it.

    Packets leave as a Poisson process. Its rate wanders as Brownian motion does, by 200 packets a second for the root
    of a second, between 0 and 1000 a second; at 0 it stays for 1 s in the mean (Winstein, Sivaraman and Balakrishnan,
    "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013, section 3.1). As
    there the rate moves every 20 ms. Ours is that it begins between 250 and 750, that it leaves 0 for 100 (else it
    would fall back at once as a rule), and that ten trials in each ms, of which each succeeds with a tenth of the rate,
    stand for the Poisson process.
    """
    packets_per_s = 250 + 500 * rng.random()
    for tick_ms in range(0, end_ms, _TICK_MS):
        if packets_per_s > 0:
            # the sum of twelve is normal enough; 28.284 is 200 times the root of 0.02 s
            step = 28.284271247461902 * (sum(rng.random() for _ in range(12)) - 6)
            packets_per_s = min(_MOST_PER_S, max(0.0, packets_per_s + step))
        elif rng.random() < _TICK_MS / 1000 / _OUTAGE_S:
            packets_per_s = 100.0
        chance = packets_per_s / 1000 / _TRIALS
        for at_ms in range(tick_ms, tick_ms + _TICK_MS):
            for _ in range(_TRIALS):
                if rng.random() < chance:
                    yield at_ms


def _satellite(rng: random.Random, end_ms: int) -> Iterator[int]:
    """A dish at low satellites: every 15 s its link is set up anew.

    The 15 s are measured (Mohan et al., "A Multifaceted Look at Starlink Performance", WWW 2024). Ours is that each
    time brings another rate, that the first one comes at any instant of the first 15 s, that none of them lets a packet
    go for 200 to 500 ms, and that rates are 250 to 750 packets a second, at even distances.
    """
    from_ms, to_ms = 0, 1000 + int(14_000 * rng.random())
    while from_ms < end_ms:
        packets_per_s = 250 + int(501 * rng.random())
        gap_ms = 200 + int(301 * rng.random())
        yield from _evenly(packets_per_s, from_ms, to_ms)
        from_ms, to_ms = to_ms + gap_ms, to_ms + _RECONFIGURED_MS


def _wireless(rng: random.Random, end_ms: int) -> Iterator[int]:
    """A radio channel that many share: packets leave in bursts, and the channel is good or bad.

    The two states and their random change are those of Gilbert ("Capacity of a Burst-Noise Channel", 1960) and Elliott
    (1963). Ours are the numbers: good lasts 2 s in the mean and bad 0.3 s; a turn comes every 4 to 16 ms and lets 2 to
    8 packets go, in a bad state 1.
    """
    at_ms, good = 0, True
    while at_ms < end_ms:
        turn_ms = 4 + int(13 * rng.random())
        if rng.random() < turn_ms / (_GOOD_MS if good else _BAD_MS):
            good = not good
        at_ms += turn_ms
        yield from [at_ms] * (2 + int(7 * rng.random()) if good else 1)


def _evenly(packets_per_s: int, from_ms: int, to_ms: int) -> Iterator[int]:
    for number in range(1, (to_ms - from_ms) * packets_per_s // 1000 + 1):
        yield from_ms + number * 1000 // packets_per_s


_TICK_MS: Final = 20
_MOST_PER_S: Final = 1000.0
_OUTAGE_S: Final = 1.0
_TRIALS: Final = 10
_RECONFIGURED_MS: Final = 15_000
_GOOD_MS: Final = 2000
_BAD_MS: Final = 300
KINDS: Final[Mapping[str, Callable[[random.Random, int], Iterator[int]]]] = {
    "steady": _steady,
    "cellular": _cellular,
    "satellite": _satellite,
    "wireless": _wireless,
}
"""The models of `generated`, by name. None of them is a recording of a real network."""


def capacity_bytes(trace: Trace, from_ms: float, to_ms: float) -> int:
    """Return how many bytes of IP packets may leave at instants from `from_ms` on and before `to_ms`."""
    return OPPORTUNITY_BYTES * (trace.before(to_ms) - trace.before(from_ms))


def capacity_mbps(trace: Trace, from_ms: float, to_ms: float) -> float:
    """Return the mean capacity between two instants, in Mbit/s of IP packets."""
    return capacity_bytes(trace, from_ms, to_ms) * BITS_PER_BYTE / (to_ms - from_ms) / 1000


@dataclass(frozen=True)
class Bound:
    """What no sender can exceed: `throughput_mbps` of IP packets, at a one-way delay of `delay_ms` or more."""

    throughput_mbps: float
    delay_ms: float

    def score(self, throughput_mbps: float, delay_ms: float) -> float:
        """Return the logarithm to base 2 of throughput over delay, relative to this bound.

        It is below 0: -1 is half as good as can be, -2 a quarter. It is -inf where nothing arrived.
        """
        if not throughput_mbps:
            return -math.inf
        return math.log2(throughput_mbps / delay_ms / (self.throughput_mbps / self.delay_ms))


Deliveries = Sequence[tuple[float, float]]
"""Packets of 1500 bytes that arrived: when each was sent, and when it arrived, in seconds since the trace began."""


def throughput_mbps(deliveries: Deliveries, seconds: float) -> float:
    """Return the rate of the packets that arrived in the first ``seconds``, in Mbit/s of IP packets."""
    arrived = sum(arrived_s <= seconds for _, arrived_s in deliveries)
    return arrived * OPPORTUNITY_BYTES * BITS_PER_BYTE / seconds / 1e6


def delay_p95_ms(deliveries: Deliveries) -> float:
    """Return the delay that 95 % of the packets did not exceed; nan where none arrived."""
    delays_s = sorted(arrived_s - sent_s for sent_s, arrived_s in deliveries)
    return 1000 * delays_s[math.ceil(0.95 * len(delays_s)) - 1] if delays_s else math.nan


def omniscient(trace: Trace, rtt_ms: float, from_ms: float = 0, to_ms: float | None = None) -> Bound:
    """Return throughput and 95th percentile of the one-way delay of a sender that knows the trace.

    It sends each packet so that it comes to the link at the instant at which it may leave. All capacity is used, no
    packet waits, and each one takes half of `rtt_ms`, the round trip of the path while nothing waits. No sender has a
    higher throughput or a lower percentile. The throughput is that from `from_ms` to `to_ms`; without
    `to_ms` it is the mean of all time.
    """
    return Bound(trace.mean_mbps if to_ms is None else capacity_mbps(trace, from_ms, to_ms), rtt_ms / 2)
