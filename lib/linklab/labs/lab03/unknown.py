"""A student's functions that find a bandwidth: on trains that were made up, and on networks they have not seen."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import Final

import linklab
from linklab.analysis.expectation import Expectation, udp_ceiling_mbps
from linklab.analysis.measured_paths import measured_path
from linklab.errors import LinklabError
from linklab.grade import draws
from linklab.grade.check import Check, listed
from linklab.grade.measured import measured_check, unless_busy
from linklab.grade.numbers import Mistake, Quantity, prediction_check, unreadable
from linklab.grade.real_time import STRAY_PERCENT
from linklab.grade.result import Result, guarded
from linklab.measure import Prober
from linklab.measure.trust import MISSED_PERCENT
from linklab.network import Network
from linklab.network.random_chain import random_chain
from linklab.units import AnyClock

NETWORKS: Final = 4
"""On how many networks a search is tried."""
BOTTLENECK_MBPS: Final = (5.0, 40.0)
"""Between which rates their bottlenecks lie."""
FASTEST_MBPS: Final = 100.0
ALLOWED_S: Final = 12.0
"""How much a search may send: what the path carries in that many seconds."""
TOLERANCE: Final = 0.05
_CONFIRMED: Final = 0.9
_COARSE: Final = 0.2
_WILD: Final = 2.5
"""What is wrong by more than this factor is a mistake, and no busy machine's work."""
_SEEDS: Final = 1_000_000


@dataclass(frozen=True)
class _Train:
    name: str
    rate_mbps: float
    packets: int
    payload_bytes: int
    begin_s: float
    unevenness: tuple[float, ...] = (0.0,)
    """Of one gap after the other, again and again, as a share of it; the sum is 0."""

    @property
    def arrival_s(self) -> tuple[float, ...]:
        gap_s = 8e-6 * self.payload_bytes / self.rate_mbps
        gaps = (gap_s * (1 + share) for share in islice(cycle(self.unevenness), self.packets - 1))
        return tuple(accumulate(gaps, initial=self.begin_s))


_TRAINS: Final = (
    _Train("a short train", 12.5, 9, 1448, 0.25),
    _Train("a train of small packets, late in the day", 7.3, 31, 500, 4000.5),
    _Train("a train with uneven gaps", 33.3, 41, 1448, 0.031, (-0.3, 0.3, 0.0, 0.0, -0.2, 0.2, 0.0, 0.0)),
)


@guarded
def check_train(estimate: Callable[[Sequence[float], int], object]) -> Result:
    """``estimate(arrival_s, payload_bytes)`` gives the rate of a train in Mbit/s of payload, within 2.5 %.

    It is tried on trains that were made up, of several lengths, sizes and rates.
    """
    return Result("Lab 03, the rate of a train", tuple(_train_check(estimate, train) for train in _TRAINS))


def _train_check(estimate: Callable[[Sequence[float], int], object], train: _Train) -> Check:
    arrival_s = train.arrival_s
    try:
        found = estimate(arrival_s, train.payload_bytes)
    except Exception as error:
        return _raised(f"rate of {train.name}", error, "arrival_s is a tuple of seconds, in order")
    if found is None:
        return _nothing(f"rate of {train.name}", "estimate_from_train")
    gaps, span_s, bits = train.packets - 1, arrival_s[-1] - arrival_s[0], 8e-6 * train.payload_bytes
    right = train.rate_mbps
    how = "n packets have n - 1 gaps: bits of n - 1 packets, by the time from the first to the last arrival"
    mistakes = [
        Mistake(right * train.packets / gaps, "that counts n packets", "between n packets are n - 1 gaps", 0.004),
        Mistake(bits / (arrival_s[1] - arrival_s[0]), "that is the first gap alone", "use the whole train", 0.004),
        Mistake(right / 8, "that looks like MByte/s", "a byte has 8 bits", 0.01),
        Mistake(right * 1e6, "that is in bit/s", "divide by 1,000,000", 0.03),
        Mistake(right * 1e3, "that is in kbit/s", "divide by 1000", 0.03),
        Mistake(right / 8 * 1e6, "that is in bytes a second", "times 8, by 1,000,000", 0.03),
        Mistake(gaps / span_s, "that is packets a second", "multiply by the bits of a packet, by 1,000,000", 0.03),
        Mistake(bits * gaps / arrival_s[-1], "that divides by the last time of arrival", "take off the first", 0.03),
        Mistake(bits * train.packets / arrival_s[-1], "that divides by the last time of arrival", "take off the first"),
        Mistake(bits * train.packets / gaps, "no time is in that", "divide by the time in between", 0.001),
    ]
    if train.payload_bytes != 1448:
        is_fixed = "that takes every packet for one of 1448 bytes"
        mistakes.append(Mistake(right * 1448 / train.payload_bytes, is_fixed, "use payload_bytes", 0.03))
    name = f"rate of {train.name}"
    check = prediction_check(Quantity(name, right, "Mbit/s"), found, 0.025, how, mistakes)
    return replace(check, description=name)


@guarded
def check_search(
    find: Callable[[Prober], object],
    seeds: Sequence[int] | None = None,
    clock: AnyClock = "auto",
    folder: Path | None = None,
) -> Result:
    """``find(prober)`` gives the highest rate of payload that a network carries, in Mbit/s, within 5 %.

    It is tried on four networks (`linklab.grade.draws`), or on those of `seeds` (`linklab.network.random_chain`), by
    which a network that a failed check names can be tried again. On each it may send as much as the path carries in
    12 s, and its answer must be confirmed by a probe at 90 % of it or more that lost nothing, which means
    `STRAY_PERCENT` at most. Raises LabError where no lab can be started.
    """
    tries: list[_Try] = []
    for seed in draws.seeds("an unknown network", NETWORKS, _SEEDS) if seeds is None else seeds:
        tries.append(_tried(find, seed, clock, folder))
        if tries[-1].is_hopeless:
            break
    return Result("Lab 03, an unknown network", tuple(_checks(tries)))


@dataclass(frozen=True)
class _Try:
    """What a search gave on one network, or the error that it ended with."""

    seed: int
    network: Network
    clock: str
    answer: object
    error: Exception | None
    prober: Prober

    @property
    def truth_mbps(self) -> float:
        return udp_ceiling_mbps(measured_path(self.network, "h1", "h2"))

    @property
    def name(self) -> str:
        links = sum(link.rate_mbps is not None for link in self.network.links)
        return f"bandwidth of a network of {links} links (seed {self.seed})"

    @property
    def is_hopeless(self) -> bool:
        """No number came: it would not on other networks either."""
        return self.error is not None or unreadable(Quantity("", 1, ""), self.answer) is not None


def _tried(find: Callable[[Prober], object], seed: int, clock: AnyClock, folder: Path | None) -> _Try:
    network = random_chain(seed, bottleneck_mbps=BOTTLENECK_MBPS, fastest_mbps=FASTEST_MBPS)
    with (
        tempfile.TemporaryDirectory() as made,
        linklab.start(network, clock, folder=folder or made) as lab,
    ):
        prober = Prober(lab, "h1", "h2")
        answer: object = None
        error: Exception | None = None
        try:
            answer = find(prober)
        except Exception as raised:
            error = raised
        return _Try(seed, network, lab.clock, answer, error, prober)


def _checks(tries: Sequence[_Try]) -> list[Check]:
    checks = [_to_be_tried_again(_answer_check(it), it.seed) for it in tries]
    if not any(it.is_hopeless for it in tries):
        checks += [unless_busy(check, _doubt(tries)) for check in (_confirmed_check(tries), _traffic_check(tries))]
    return checks


def _to_be_tried_again(check: Check, seed: int) -> Check:
    if check.outcome != "failed":
        return check
    return replace(check, hint=f"{check.hint}. The same network again: check_search(find_bandwidth, seeds=[{seed}])")


def _answer_check(it: _Try) -> Check:
    if it.error is not None:
        return _raised(it.name, it.error, "call find_bandwidth(prober) on a network of your own to see why")
    if it.answer is None:
        return _nothing(it.name, "find_bandwidth")
    right = it.truth_mbps
    left = 1.0 if it.clock == "virtual" else 1 - MISSED_PERCENT / 100
    low, high = (1 - TOLERANCE) * left * right, (1 + TOLERANCE) * right
    allowance = f"{100 * TOLERANCE:g} % for the search, and in real time what a quiet machine may miss"
    expected = Expectation(right, low, high, "Mbit/s", "what the path carries", "both", allowance=allowance)
    answer = it.answer if isinstance(it.answer, int | float) else 0.0
    mistakes = [
        Mistake(right / 8, "that looks like MByte/s", "multiply by 8", TOLERANCE),
        Mistake(right * 1e6, "that is in bit/s", "divide by 1,000,000", TOLERANCE),
        Mistake(right * 1e3, "that is in kbit/s", "divide by 1000", TOLERANCE),
    ]
    for probe in it.prober.probes:
        if probe.loss_percent > STRAY_PERCENT:
            reason = f"you sent at that rate, and {probe.loss_percent:.1f} % was lost"
            mistakes.append(Mistake(probe.rate_mbps, reason, "give a rate at which nothing is lost", 0.002))
        elif probe.rate_mbps > right:
            reason = "nothing was lost at that rate, because a queue swallowed what was too much"
            mistakes.append(Mistake(probe.rate_mbps, reason, "a longer probe fills it; a train tells at once", 0.002))
    if abs(answer / right - 1) <= _COARSE:
        how = "too coarse: go on until the range is narrow, with steps in proportion to the rate"
    else:
        how = "print each rate that you try and what is lost there: does the range close around the right one?"
    trouble = _doubt([it]) if right / _WILD < answer < right * _WILD else None
    check = measured_check("", it.answer, expected, inconclusive=trouble, mistakes=mistakes, how=how)
    return replace(check, description=it.name)


def _doubt(tries: Sequence[_Try]) -> str | None:
    """What spoke against the machine while the searches sent; None where nothing did."""
    return next((doubt for it in tries for doubt in it.prober.doubts), None)


def _confirmed_check(tries: Sequence[_Try]) -> Check:
    description = "each answer confirmed by a probe"
    wanted = f"a probe at {100 * _CONFIRMED:g} % of the answer or more that lost at most {STRAY_PERCENT:g} %"
    lossy = [it for it in tries if _is_lossy(it)]
    if lossy:
        reason = f"the answer is a rate at which your own probe lost packets: {listed(it.name for it in lossy)}"
        return Check.failing(description, reason, "give the highest rate at which nothing was lost", wanted)
    guessed = [it for it in tries if not _is_confirmed(it)]
    if not guessed:
        return Check.passing(description, wanted, "there is one each time")
    reason = f"no such probe: {listed(it.name for it in guessed)}"
    return Check.failing(description, reason, "send at your answer or just below: is anything lost?", wanted)


def _is_lossy(it: _Try) -> bool:
    answer = float(it.answer) if isinstance(it.answer, int | float) else 0.0
    return any(
        math.isclose(probe.rate_mbps, answer) and probe.loss_percent > STRAY_PERCENT for probe in it.prober.probes
    )


def _is_confirmed(it: _Try) -> bool:
    least = _CONFIRMED * float(it.answer) if isinstance(it.answer, int | float) else 0.0
    return any(probe.rate_mbps >= least and probe.loss_percent <= STRAY_PERCENT for probe in it.prober.probes)


def _traffic_check(tries: Sequence[_Try]) -> Check:
    description = "traffic of the search"
    wanted = f"at most what each path carries in {ALLOWED_S:g} s"
    took_s = [(it.prober.sent_bytes * 8e-6 / it.truth_mbps, it) for it in tries]
    found = ", ".join(f"{seconds:.1f} s" for seconds, _ in took_s)
    over = [f"{seconds:.0f} s ({it.prober.sent_bytes / 1e6:.1f} MB), seed {it.seed}" for seconds, it in took_s
            if seconds > ALLOWED_S]  # fmt: skip
    if not over:
        return Check.passing(description, wanted, found)
    hint = "begin near the answer, where a train shows it, and let each probe halve what is left"
    return Check.failing(description, f"it sent {listed(over)}", hint, wanted, found)


def _nothing(description: str, function: str) -> Check:
    return Check.failing(description, f"{function} gave None", "end it with return and a number", "a number in Mbit/s")


def _raised(description: str, error: Exception, hint: str) -> Check:
    """Failed, in the words of the error; a refusal of Linklab's own says all itself."""
    said = str(error) or "without a word"
    if isinstance(error, NotImplementedError):
        return Check.failing(description, "not written yet", hint, "a number in Mbit/s")
    if isinstance(error, LinklabError):
        return Check.failing(description, said, "fewer, lower or shorter probes; a train shows where to begin")
    return Check.failing(description, f"it raised {type(error).__name__}: {said}", hint, "a number in Mbit/s")
