"""Verdicts on a paper's claims: a function of measured tables judges each, and gives the numbers behind it. Pure.

A study measures each of its *settings* in several *repeats*, each with a seed of its own. If results vary from repeat
to repeat, the repeats decide together: by the share of them in which something holds, or by the difference of two
means, with its interval. An outcome is True, False, or None. None is *open*: the interval leaves both possible, as with
a difference that is not significant.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from typing import Any, Final, Literal

from linklab.errors import MeasurementError
from linklab.published import Claim, Threshold
from linklab.study.table import StudyTable, Values

CONFIDENCE: Final = 0.95
"""Confidence level of all intervals."""
_RELATIVE_TOLERANCE: Final = 1e-6
"""Values that differ by less than this are equal apart from rounding: a lab's times are whole nanoseconds."""

Outcome = bool | None
Verdict = Literal[
    "reproduced",
    "not reproduced",
    "open",
    "the paper's own numbers agree",
    "the paper's own numbers disagree",
    "decided by construction",
    "not testable here",
]
"""*Open*: what was measured leaves both possible. *The paper's own numbers agree*, or *disagree*: its text stands
beside its own tables, and nothing measured here. *Decided by construction*: an emulation, or arithmetic, cannot come
out otherwise. *Not testable here*: nothing that is at hand can judge the claim."""
_RELATIONS: Final[Mapping[str, Callable[[float, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "within": lambda number, limits: limits[0] <= number < limits[1],
}
_ALMOST_ALL_SHARE: Final = 0.9
"""A claim about almost all settings holds if it holds in at least this share of them. The number is our choice."""
_PAPERS_HARDWARE: Final = "the paper's own hardware"
"""Whose numbers they are, if they are those that the paper printed."""
Repeats = Values | Sequence[float]
"""The values of all repeats of one quantity: a table's, or computed ones."""
Tables = Mapping[str, StudyTable]
"""The tables of the studies that a page needs, by the study's name; `compared` names a second table of a study."""


@dataclass(frozen=True)
class Finding:
    """What measured tables say of a claim: whether it ``holds`` (None: open), and ``because`` of which numbers.
    ``papers_own`` is True if all of these are numbers that the paper printed.

    Raises MeasurementError if ``because`` has no number.
    """

    holds: Outcome
    because: str
    papers_own: bool = False

    def __post_init__(self) -> None:
        if not any(letter.isdigit() for letter in self.because):
            raise MeasurementError(f"a finding gives no number ({self.because!r}): say what was measured")


Judge = Callable[[Tables], Finding]
"""Judges a claim by tables. Pure. Raises MeasurementError if they lack what it needs."""


@dataclass(frozen=True)
class Claims:
    """What a study claims, with a judge, by its claim's id, for each claim that can be judged.

    ``printed`` are tables of the numbers that the paper printed of its own hardware, by the study's name.
    """

    claims: tuple[Claim, ...] = ()
    judges: Mapping[str, Judge] = field(default_factory=dict)
    printed: Tables = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, its verdict, and the reason with its numbers."""

    claim: Claim
    verdict: Verdict
    because: str


def compared(study: str) -> str:
    """Return the name of a study's second table among `Tables`.

    `Tables` can hold two tables of a study: one measured in Linklab, and one of hardware. A judge of a claim about
    hardware finds the hardware's table under the study's name, and Linklab's under this name. All other judges, grids
    and figures find Linklab's under the study's name, and the hardware's, if it is given, under this name.
    """
    return f"{study} compared"


Numbers = Mapping[str, float]
"""The numbers that decide a claim, of one repeat or as means over the repeats, by the name of what was measured."""
Quantity = Callable[[Tables], Sequence[Numbers] | Numbers]
"""Takes from tables the numbers that a threshold is applied to: one mapping for each repeat, or one of means."""


def numbered(values: Mapping[str, Values], number: Callable[[str, float], float] | None = None) -> list[Numbers]:
    """Return for each repeat the values of several quantities by their names, or what ``number`` makes of each.

    Raises MeasurementError if the quantities do not have the same number of repeats.
    """
    return [
        {name: it if number is None else number(name, it) for name, it in zip(values, each, strict=True)}
        for each in by_repeat(list(values.values()))
    ]


def decided(by: Threshold, repeats: Sequence[Numbers]) -> tuple[ShareOfRuns, str]:
    """Return in how many repeats a threshold holds, and a text with the number that decides.

    With "each" every number counts as a run of its own, and the text has the share of each name where these differ;
    otherwise a repeat holds if enough of its numbers do.
    """
    measured = _by_name(repeats)
    if by.of == "each":
        kept = {name: [_holds(by, it) for it in values] for name, values in measured.items()}
        found = share(chain.from_iterable(kept.values()), *measured.values(), what="runs")
        if len({sum(it) / len(it) for it in kept.values()}) == 1:
            return found, _told(by, repeats)
        by_name = ", ".join(f"{sum(it)} of {len(it)} with {name}" for name, it in kept.items())
        return found, f"{by_name}; {_told(by, repeats)}"
    outcomes = [_holds_in_enough(by, [_holds(by, it) for it in numbers.values()]) for numbers in repeats]
    return share(outcomes, *measured.values()), _told(by, repeats)


def _by_name(repeats: Sequence[Numbers]) -> dict[str, list[float]]:
    """Return the numbers of each name, from the repeats that have it."""
    names = dict.fromkeys(chain.from_iterable(repeats))
    return {name: [numbers[name] for numbers in repeats if name in numbers] for name in names}


def by_thresholds(thresholds: Sequence[Threshold], quantities: Mapping[str, Quantity], tables: Tables) -> Finding:
    """Judge a claim that holds if all of its thresholds hold.

    A threshold's ``of`` says for what its relation has to hold. If the quantity gives a mapping for each repeat:

    - "all", "most", "any": for all numbers of a repeat, for nine in ten, or for one; in more than half of the repeats.
    - "each": for more than half of the runs, of which each number is one. The shares of the numbers' names are told
      apart, and decide by their mean.
    - "apart": for each number's name, by itself, in more than half of the repeats.

    If the quantity gives one mapping, of means, its numbers are the settings: "all", "most" or "any" of them.
    """
    outcomes: list[Outcome] = []
    words = []
    for by in thresholds:
        numbers = quantities[by.quantity](tables)
        if by.of == "apart":
            assert not isinstance(numbers, Mapping)
            for name, of_repeats in _by_name(numbers).items():
                values = Values(tuple(of_repeats))
                found = share((_holds(by, it) for it in values.values), values.values)
                outcomes.append(found.holds)
                told = by.tells.format(mean=values.mean, low=values.low, high=values.high)
                words.append(f"{name}: {found}{told}")
        elif isinstance(numbers, Mapping):
            kept = [_holds(by, it) for it in numbers.values()]
            outcomes.append(_holds_in_enough(by, kept))
            counted = f"{sum(kept)} of {len(kept)} settings; " if len(kept) > 1 else ""
            words.append(counted + _told(by, [numbers]))
        else:
            found, told = decided(by, numbers)
            outcomes.append(found.holds)
            words.append(f"{found}; {told}")
    return Finding(every(outcomes), "; ".join(words))


def _holds(by: Threshold, number: float) -> bool:
    """Return whether a number has the threshold's relation to it."""
    return bool(_RELATIONS[by.relation](number, by.threshold))


def _holds_in_enough(by: Threshold, outcomes: Sequence[bool]) -> bool:
    """Return whether a threshold holds for as many of the numbers as its ``of`` asks for."""
    if by.of == "any":
        return any(outcomes)
    return sum(outcomes) >= (_ALMOST_ALL_SHARE if by.of == "most" else 1) * len(outcomes)


def _told(by: Threshold, repeats: Sequence[Numbers]) -> str:
    """Return a text with the number that decides.

    If all or most have to hold, that is the worst one: for "all < 5" the largest, for "all > 5" the smallest. Otherwise
    it is the best one: for "any < 5" the smallest.
    """
    sign = 1 if (by.of in ("all", "most")) == by.relation.startswith("<") else -1
    each = ((number, name) for numbers in repeats for name, number in numbers.items())
    number, name = max(each, key=lambda it: (sign * it[0], it[1]))
    return by.tells.format(number, name, abs(number))


class _TablesByStudy(dict[str, StudyTable]):
    """Tables by study name. Looking up one that is missing raises MeasurementError with its name."""

    def __missing__(self, name: str) -> StudyTable:
        raise MeasurementError(f"there is no table of study {name}: linklab study run {name}")


def both(ours: Tables, hardware: Tables | None) -> Tables:
    """Return our tables by study name, and the hardware's by `compared`.

    Looking up a table that is missing raises MeasurementError with its name.
    """
    return _TablesByStudy({**ours, **{compared(name): table for name, table in (hardware or {}).items()}})


def judged(
    argued: Claims, tables: Tables, hardware: Tables | None = None, *, partial: bool = False
) -> tuple[JudgedClaim, ...]:
    """Return each claim with its verdict, in order.

    - A claim about hardware is judged by the tables of ``hardware``, if they are given, else by the numbers that the
      paper ``printed`` of its own. If these lack what the judge needs, the claim is "not testable here".
    - A claim about Mininet is judged by our ``tables``.
    - A claim about either is judged by our tables too; what the hardware's say of it stands in the reason.
    - If our tables lack points, or if ``partial`` is set (tables of one's own levels lack much), a claim that needs
      what they lack is "not testable here"; otherwise what they lack raises MeasurementError.

    Raises MeasurementError also for a claim that can be judged and has no judge, and for a judge that belongs to no
    claim.
    """
    partial = partial or any(table.missing for table in tables.values())
    # a complete table refuses a number of which a point is missing, so no verdict rests on some of its points
    tables = {name: replace(table, complete=True) for name, table in tables.items()}
    known = {claim.id for claim in argued.claims}
    if unknown := [name for name in argued.judges if name not in known]:
        raise MeasurementError(f"these judges belong to no claim: {', '.join(unknown)}")
    real = _Hardware(hardware, "the hardware's") if hardware else _Hardware(argued.printed, _PAPERS_HARDWARE)
    return tuple(_judge(claim, argued.judges.get(claim.id), tables, real, partial) for claim in argued.claims)


@dataclass(frozen=True)
class _Hardware:
    """Tables of hardware, and whose numbers they have."""

    tables: Tables
    whose: str


def _judge(claim: Claim, judge: Judge | None, tables: Tables, hardware: _Hardware, partial: bool) -> JudgedClaim:
    if claim.not_testable:
        return JudgedClaim(claim, "not testable here", claim.not_testable)
    if claim.about == "hardware":
        return _judge_hardware(claim, judge, tables, hardware)
    if judge is None:
        raise MeasurementError(f"claim {claim.id} has no judge: give one, or say why it is not testable")
    try:
        finding = judge(both(tables, hardware.tables))
    except MeasurementError as lacking:
        if not partial:
            raise
        return JudgedClaim(claim, "not testable here", str(lacking))
    because = finding.because + _by_hardware(claim, judge, tables, hardware)
    if claim.by_construction:
        return JudgedClaim(claim, "decided by construction", f"{claim.by_construction}; {because}")
    return JudgedClaim(claim, _verdict(finding), because)


def _by_hardware(claim: Claim, judge: Judge, tables: Tables, hardware: _Hardware) -> str:
    """Return what the hardware's tables say of a claim that both can show; an empty string if there is none.

    If tables that somebody gave do not suffice, the text says so. It does not for the paper's own numbers: a paper
    never prints them all.
    """
    if claim.about != "either" or not hardware.tables:
        return ""
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return "" if hardware.whose == _PAPERS_HARDWARE else f"; {hardware.whose} numbers do not suffice: {lacking}"
    return f"; by {hardware.whose} numbers {_verdict(finding)}: {finding.because}"


def _judge_hardware(claim: Claim, judge: Judge | None, tables: Tables, hardware: _Hardware) -> JudgedClaim:
    if judge is None or not hardware.tables:
        # the reason then says what would show it
        return JudgedClaim(claim, "not testable here", claim.test)
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return JudgedClaim(claim, "not testable here", f"{hardware.whose} numbers do not suffice: {lacking}")
    return JudgedClaim(claim, _verdict(finding), f"by {hardware.whose} numbers: {finding.because}")


def _verdict(finding: Finding) -> Verdict:
    if finding.holds is None:
        return "open"
    if finding.papers_own:
        return "the paper's own numbers agree" if finding.holds else "the paper's own numbers disagree"
    return "reproduced" if finding.holds else "not reproduced"


@dataclass(frozen=True)
class ShareOfRuns:
    """In how many repeats something holds: in ``hits`` of ``count``. ``what`` is their name in texts.

    ``chance`` is True if the measured values differ between repeats. The outcome is whether it holds in more than half
    of all possible repeats.
    """

    hits: int
    count: int
    chance: bool
    what: str = "repeats"

    @property
    def interval(self) -> tuple[float, float]:
        """The Clopper-Pearson interval (exact) of the share of all possible repeats in which it holds."""
        from scipy import stats  # type: ignore[import-untyped]  # it takes half a second to load

        found = stats.binomtest(self.hits, self.count).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    @property
    def holds(self) -> Outcome:
        """The outcome: by the share itself if results do not vary by chance, else by its interval."""
        return outcome(*self.interval, 0.5) if self.chance else 2 * self.hits > self.count

    def __str__(self) -> str:
        if not self.chance:
            return f"{self.hits} of {self.count} {self.what}, alike with every seed"
        low, high = self.interval
        return f"{self.hits} of {self.count} {self.what} (95 % interval {100 * low:.0f} to {100 * high:.0f} %)"


@dataclass(frozen=True)
class MeanDifference:
    """By how much one mean exceeds another, with the interval of Welch's t test. Its outcome is whether it does."""

    mean: float
    low: float
    high: float

    @property
    def holds(self) -> Outcome:
        """The outcome."""
        return outcome(self.low, self.high, 0)

    def __str__(self) -> str:
        return f"{self.mean:+.2f} (95 % interval {self.low:+.2f} to {self.high:+.2f})"


def outcome(low: float, high: float, bound: float) -> Outcome:
    """Return True if the interval is above the bound, False if all of it is at or below the bound, else None."""
    return True if low > bound else False if high <= bound else None


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a claim that holds if all of its parts hold."""
    found = list(outcomes)
    return False if False in found else None if None in found else True


def _numbers(repeats: Repeats) -> Sequence[float]:
    return repeats.values if isinstance(repeats, Values) else repeats


def share(outcomes: Iterable[bool], *measured: Repeats, what: str = "repeats") -> ShareOfRuns:
    """Return in how many repeats something holds.

    ``measured`` has for each setting the values of its repeats. If these are equal in every setting, results do not
    vary by chance; with a single repeat we assume that they do. With equally many repeats of several settings the
    interval is that of the mean of their shares: however these differ, it is wider than it need be, and never narrower
    (W. Hoeffding, 1956).
    """
    found = list(outcomes)
    alike = all(len(values) > 1 and _are_equal(min(values), max(values)) for values in map(_numbers, measured))
    return ShareOfRuns(sum(found), len(found), not alike, what)


def _are_equal(low: float, high: float) -> bool:
    return math.isclose(low, high, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_RELATIVE_TOLERANCE**2)


def difference(first: Repeats, second: Repeats) -> MeanDifference:
    """Return by how much the mean of `first` exceeds that of `second`.

    Raises MeasurementError for fewer than two repeats of either.
    """
    first, second = _numbers(first), _numbers(second)
    if (least := min(len(first), len(second))) < 2:
        raise MeasurementError(f"Welch's t test is over two repeats or more: {least} is there")
    from scipy import stats

    mean = fmean(first) - fmean(second)
    if len(set(first)) == len(set(second)) == 1:
        # Welch's test needs a variance
        return MeanDifference(mean, mean, mean)
    found = stats.ttest_ind(first, second, equal_var=False).confidence_interval(CONFIDENCE)
    return MeanDifference(mean, float(found.low), float(found.high))


def by_repeat(each: Sequence[Values]) -> list[tuple[float, ...]]:
    """Return for each repeat the values of several quantities.

    Raises MeasurementError if the quantities do not have the same number of repeats.
    """
    if len({values.count for values in each}) > 1:
        raise MeasurementError(
            f"the quantities do not have the same number of repeats ({', '.join(values.what for values in each)})"
        )
    return list(zip(*(values.values for values in each), strict=True))
