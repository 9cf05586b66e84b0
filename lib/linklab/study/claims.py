"""Verdicts on a paper's claims: a function of measured tables judges each, and gives the numbers behind it. Pure.

Where chance has a hand, repeats decide: by the share of runs in which something holds, or by the difference of two
means, with its interval. An outcome is True, False, or None: *open*, where the interval leaves both possible. Not
significant is open.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import Any, Final, Literal

from linklab.errors import MeasurementError
from linklab.published import Claim, Threshold
from linklab.study.table import StudyTable, Values

CONFIDENCE: Final = 0.95
"""Of all intervals."""
_EXACT: Final = 1e-6
"""By how much, relatively, values differ that are the same but for rounding: a lab's times are whole nanoseconds."""

Outcome = bool | None
Verdict = Literal["reproduced", "not reproduced", "open", "decided by construction", "not testable here"]
"""Open: what was measured leaves both possible."""
_RELATIONS: Final[Mapping[str, Callable[[float, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "within": lambda number, limits: limits[0] <= number < limits[1],
}
_MOST: Final = 0.9
"""Of settings: what "almost all" are, an allowance."""
_PRINTED: Final = "the paper's own hardware"
Tables = Mapping[str, StudyTable]
"""The tables of the studies that a page needs, by the study's name; see `compared` for a second one of a study."""


@dataclass(frozen=True)
class Finding:
    """What measured tables say of a claim: whether it ``holds``, None where that is open.

    Raises MeasurementError where ``because`` has no number.
    """

    holds: Outcome
    because: str

    def __post_init__(self) -> None:
        if not any(letter.isdigit() for letter in self.because):
            raise MeasurementError(f"a finding gives no number ({self.because!r}): say what was measured")


Judge = Callable[[Tables], Finding]
"""Judges a claim by tables. Pure. Raises MeasurementError where they lack what it needs."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, its verdict, and the reason with its numbers."""

    claim: Claim
    verdict: Verdict
    because: str


def compared(study: str) -> str:
    """Return the name of a study's second table among `Tables`, which is the other one of ours and the hardware's.

    A judge of a claim about hardware finds the hardware's table under the study's name and ours under this one; other
    judges, grids and figures find ours under the study's name and the hardware's, if it is given, under this one.
    """
    return f"{study} compared"


Numbers = Mapping[str, float]
"""What decides on a claim in one repeat, by what each number is of."""
Quantity = Callable[[Tables], Sequence[Numbers] | Numbers]
"""What thresholds are asked of: the numbers of each repeat, or of all settings by their means."""


def numbered(values: Mapping[str, Values], number: Callable[[str, float], float] | None = None) -> list[Numbers]:
    """Return for each repeat what it measured of several things, by their names, or what ``number`` makes of each.

    Raises MeasurementError where not each of them has all repeats.
    """
    return [
        {name: it if number is None else number(name, it) for name, it in zip(values, each, strict=True)}
        for each in by_repeat(list(values.values()))
    ]


def decided(by: Threshold, repeats: Sequence[Numbers]) -> tuple[ShareOfRuns, str]:
    """Return in how many repeats, or runs, the threshold's relation holds, and which number decides, in words."""
    outcomes = [[_holds(by, it) for it in numbers.values()] for numbers in repeats]
    found = chain.from_iterable(outcomes) if by.of == "each" else (_enough(by, each) for each in outcomes)
    measured = ([numbers[name] for numbers in repeats if name in numbers] for name in repeats[0])
    return share(found, *measured, what="runs" if by.of == "each" else "repeats"), _told(by, repeats)


def by_thresholds(thresholds: Sequence[Threshold], quantities: Mapping[str, Quantity], tables: Tables) -> Finding:
    """Judge a claim that holds where all of its thresholds are kept: in most repeats, or in one set of settings."""
    outcomes: list[Outcome] = []
    words = []
    for by in thresholds:
        numbers = quantities[by.quantity](tables)
        if by.of == "apart":
            assert not isinstance(numbers, Mapping)
            for name in numbers[0]:
                values = Values(tuple(repeat[name] for repeat in numbers))
                found = share((_holds(by, it) for it in values.values), values.values)
                outcomes.append(found.holds)
                told = by.tells.format(mean=values.mean, low=values.low, high=values.high)
                words.append(f"{name}: {found}{told}")
        elif isinstance(numbers, Mapping):
            kept = [_holds(by, it) for it in numbers.values()]
            outcomes.append(_enough(by, kept))
            counted = f"{sum(kept)} of {len(kept)} settings; " if len(kept) > 1 else ""
            words.append(counted + _told(by, [numbers]))
        else:
            found, told = decided(by, numbers)
            outcomes.append(found.holds)
            words.append(f"{found}; {told}")
    return Finding(every(outcomes), "; ".join(words))


def _holds(by: Threshold, number: float) -> bool:
    return bool(_RELATIONS[by.relation](number, by.threshold))


def _enough(by: Threshold, outcomes: Sequence[bool]) -> bool:
    return any(outcomes) if by.of == "any" else sum(outcomes) >= (_MOST if by.of == "most" else 1) * len(outcomes)


def _told(by: Threshold, repeats: Sequence[Numbers]) -> str:
    """Return the number that decides, in words: the worst, or the best where not all have to hold."""
    sign = 1 if (by.of in ("all", "most")) == by.relation.startswith("<") else -1
    each = ((number, name) for numbers in repeats for name, number in numbers.items())
    number, name = max(each, key=lambda it: (sign * it[0], it[1]))
    return by.tells.format(number, name, abs(number))


class _Tables(dict[str, StudyTable]):
    def __missing__(self, name: str) -> StudyTable:
        raise MeasurementError(f"there is no table of study {name}: linklab study run {name}")


def both(ours: Tables, hardware: Tables | None) -> Tables:
    """Return our tables by study name, and the hardware's as `compared`; one that is missing is named in the error."""
    return _Tables({**ours, **{compared(name): table for name, table in (hardware or {}).items()}})


def judged(
    claims: Iterable[Claim],
    judges: Mapping[str, Judge],
    tables: Tables,
    hardware: Tables | None = None,
    *,
    printed: Tables | None = None,
    partial: bool = False,
) -> tuple[JudgedClaim, ...]:
    """Return each claim with its verdict, in order.

    A claim about hardware is judged by the hardware's tables, where they are given, else by the numbers that the paper
    ``printed`` of its own; where these lack what it needs it is not testable here. A claim about either is judged by
    our tables; what the hardware's say of it stands in the reason.
    Not testable here is a claim on points that are missing in our tables, and, with `partial`, on what else they
    lack, as those of own levels do.
    Raises MeasurementError for a claim that can be judged and has no judge, a judge of no claim, and, unless
    `partial` or where points are missing, where our tables lack what a judge needs.
    """
    partial = partial or any(table.missing for table in tables.values())
    tables = {name: replace(table, complete=True) for name, table in tables.items()}
    claims = tuple(claims)
    known = {claim.id for claim in claims}
    if unknown := [name for name in judges if name not in known]:
        raise MeasurementError(f"judges of no claim: {', '.join(unknown)}")
    real = _Hardware(hardware, "the hardware's") if hardware else _Hardware(printed or {}, _PRINTED)
    return tuple(_judge(claim, judges.get(claim.id), tables, real, partial) for claim in claims)


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
    return JudgedClaim(claim, _verdict(finding.holds), because)


def _by_hardware(claim: Claim, judge: Judge, tables: Tables, hardware: _Hardware) -> str:
    """Return what the hardware's tables say of a claim that both can show; nothing where none was given."""
    if claim.about != "either" or not hardware.tables:
        return ""
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return "" if hardware.whose == _PRINTED else f"; {hardware.whose} numbers do not suffice: {lacking}"
    return f"; by {hardware.whose} numbers {_verdict(finding.holds)}: {finding.because}"


def _judge_hardware(claim: Claim, judge: Judge | None, tables: Tables, hardware: _Hardware) -> JudgedClaim:
    if judge is None or not hardware.tables:
        return JudgedClaim(claim, "not testable here", claim.test)
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return JudgedClaim(claim, "not testable here", f"{hardware.whose} numbers do not suffice: {lacking}")
    return JudgedClaim(claim, _verdict(finding.holds), f"by {hardware.whose} numbers: {finding.because}")


def _verdict(holds: Outcome) -> Verdict:
    return "open" if holds is None else "reproduced" if holds else "not reproduced"


@dataclass(frozen=True)
class ShareOfRuns:
    """In how many repeats (``what``) something holds. ``chance``: they differ in what they measured, and not in their
    seeds alone.

    Its outcome is whether it holds in more than half of all that there could be.
    """

    hits: int
    count: int
    chance: bool
    what: str = "repeats"

    @property
    def interval(self) -> tuple[float, float]:
        """The share of all that there could be, least and largest, by Clopper and Pearson (exact)."""
        from scipy import stats  # type: ignore[import-untyped]  # it takes half a second to load

        found = stats.binomtest(self.hits, self.count).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    @property
    def holds(self) -> Outcome:
        """The outcome: of the share itself where chance has no hand, else of its interval."""
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
    """Return whether a value is above a bound, by its interval."""
    return True if low > bound else False if high <= bound else None


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a claim that holds where all of its parts do."""
    found = list(outcomes)
    return False if False in found else None if None in found else True


def share(outcomes: Iterable[bool], *measured: Sequence[float], what: str = "repeats") -> ShareOfRuns:
    """Return in how many repeats something holds. ``measured``: of each setting what its repeats measured, which says
    whether chance has a hand; one repeat does not say it. Several settings counted together make the interval wider
    than it need be, and never narrower (W. Hoeffding, 1956).
    """
    found = list(outcomes)
    alike = all(len(values) > 1 and math.isclose(min(values), max(values), rel_tol=_EXACT, abs_tol=_EXACT**2)
                for values in measured)  # fmt: skip
    return ShareOfRuns(sum(found), len(found), not alike, what)


def difference(more: Sequence[float], fewer: Sequence[float]) -> MeanDifference:
    """Return by how much the mean of `more` exceeds that of `fewer`.

    Raises MeasurementError for fewer than two repeats of either.
    """
    if (least := min(len(more), len(fewer))) < 2:
        raise MeasurementError(f"Welch's t test is over two repeats or more: {least} is there")
    from scipy import stats

    mean = fmean(more) - fmean(fewer)
    if len(set(more)) == len(set(fewer)) == 1:
        return MeanDifference(mean, mean, mean)
    found = stats.ttest_ind(more, fewer, equal_var=False).confidence_interval(CONFIDENCE)
    return MeanDifference(mean, float(found.low), float(found.high))


def by_repeat(each: Sequence[Values]) -> list[tuple[float, ...]]:
    """Return for each repeat what it measured of several things.

    Raises MeasurementError where not each of them has all repeats.
    """
    if len({values.count for values in each}) > 1:
        raise MeasurementError(f"not everything has all repeats ({', '.join(values.what for values in each)})")
    return list(zip(*(values.values for values in each), strict=True))
