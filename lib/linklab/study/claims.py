"""Verdicts on a paper's claims: a function of measured tables judges each, and gives the numbers behind it. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, Literal

from linklab.errors import MeasurementError
from linklab.published import Claim, Threshold
from linklab.study.chance import Outcome, ShareOfRuns, by_repeat, every, share
from linklab.study.table import Table, Values

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
Tables = Mapping[str, Table]
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
class Judged:
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


class _Tables(dict[str, Table]):
    def __missing__(self, name: str) -> Table:
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
) -> tuple[Judged, ...]:
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


def _judge(claim: Claim, judge: Judge | None, tables: Tables, hardware: _Hardware, partial: bool) -> Judged:
    if claim.not_testable:
        return Judged(claim, "not testable here", claim.not_testable)
    if claim.about == "hardware":
        return _judge_hardware(claim, judge, tables, hardware)
    if judge is None:
        raise MeasurementError(f"claim {claim.id} has no judge: give one, or say why it is not testable")
    try:
        finding = judge(both(tables, hardware.tables))
    except MeasurementError as lacking:
        if not partial:
            raise
        return Judged(claim, "not testable here", str(lacking))
    because = finding.because + _by_hardware(claim, judge, tables, hardware)
    if claim.by_construction:
        return Judged(claim, "decided by construction", f"{claim.by_construction}; {because}")
    return Judged(claim, _verdict(finding.holds), because)


def _by_hardware(claim: Claim, judge: Judge, tables: Tables, hardware: _Hardware) -> str:
    """Return what the hardware's tables say of a claim that both can show; nothing where none was given."""
    if claim.about != "either" or not hardware.tables:
        return ""
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return "" if hardware.whose == _PRINTED else f"; {hardware.whose} numbers do not suffice: {lacking}"
    return f"; by {hardware.whose} numbers {_verdict(finding.holds)}: {finding.because}"


def _judge_hardware(claim: Claim, judge: Judge | None, tables: Tables, hardware: _Hardware) -> Judged:
    if judge is None or not hardware.tables:
        return Judged(claim, "not testable here", claim.test)
    try:
        finding = judge(both(hardware.tables, tables))
    except MeasurementError as lacking:
        return Judged(claim, "not testable here", f"{hardware.whose} numbers do not suffice: {lacking}")
    return Judged(claim, _verdict(finding.holds), f"by {hardware.whose} numbers: {finding.because}")


def _verdict(holds: Outcome) -> Verdict:
    return "open" if holds is None else "reproduced" if holds else "not reproduced"
