"""Verdicts on a paper's claims: a function of measured tables judges each, and gives the numbers behind it. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Literal

from linklab.errors import MeasurementError
from linklab.published import Claim, Threshold
from linklab.study.chance import Outcome, ShareOfRuns, share
from linklab.study.table import Table

Verdict = Literal["reproduced", "not reproduced", "open", "decided by construction", "not testable here"]
"""Open: what was measured leaves both possible."""
_RELATIONS: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
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


def decided(by: Threshold, repeats: Sequence[Numbers]) -> tuple[ShareOfRuns, str]:
    """Return in how many repeats, or runs, the threshold's relation holds, and which number decides, in words.

    That is the worst one where the relation has to hold for all, else the best.
    """
    outcomes = [[_RELATIONS[by.relation](it, by.threshold) for it in numbers.values()] for numbers in repeats]
    found = chain.from_iterable(outcomes) if by.of == "each" else map({"all": all, "any": any}[by.of], outcomes)
    measured = ([numbers[name] for numbers in repeats if name in numbers] for name in repeats[0])
    shown = share(found, *measured, what="runs" if by.of == "each" else "repeats")
    sign = 1 if (by.of == "all") == by.relation.startswith("<") else -1
    each = ((number, name) for numbers in repeats for name, number in numbers.items())
    number, name = max(each, key=lambda it: (sign * it[0], it[1]))
    return shown, by.tells.format(number, name, abs(number))


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
