"""Tables that were measured, for tests without labs: tests/studies/data says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas

from linklab.study import study_by_name
from linklab.study.claims import Claims, JudgedClaim, judged
from linklab.study.table import StudyTable, read_table
from studies.mtu.judges import CLAIMS as MTU_CLAIMS
from studies.video.judges import CLAIMS as VIDEO_CLAIMS
from studies.video.study import VIDEO

DATA = Path(__file__).with_name("data")
PRINTED: Mapping[str, StudyTable] = {**MTU_CLAIMS.printed, **VIDEO_CLAIMS.printed}


def alone(argued: Claims, claim: str) -> Claims:
    """One claim of several, with its judge."""
    return Claims(tuple(it for it in argued.claims if it.id == claim), {claim: argued.judges[claim]})


@cache
def short(study: str) -> StudyTable:
    """The table of a study's short form, with every repeat twice: nothing is left to chance."""
    return repeated(read_table(study_by_name(study).short_form(), DATA), 2)


@cache
def busy_film() -> StudyTable:
    """A film of 13 Mbit/s, and then a still second, over links of 1000, 10 and 100 Mbit/s."""
    return repeated(read_table(VIDEO, DATA), 2)  # its levels are others than the study's


@cache
def far_controller() -> StudyTable:
    """Paced packets at 100/100, behind a controller that is 5 ms away."""
    return repeated(read_table(study_by_name("mtu"), DATA), 2)  # its levels are others than the study's


def on(claim: str, table: StudyTable, hardware: StudyTable | None = None, *, partial: bool = False) -> JudgedClaim:
    """Judge one claim alone; its name begins with its study's."""
    study = claim.partition("-")[0]
    beside = {study: hardware} if hardware is not None else None
    asked = alone({"mtu": MTU_CLAIMS, "video": VIDEO_CLAIMS}[study], claim)
    (found,) = judged(asked, {study: table}, beside, partial=partial)
    return found


def changed(table: StudyTable, factor: float, **levels: Any) -> StudyTable:
    """The table with one metric's values at some levels (or ``repeat``) times a factor: what was never measured."""
    frame = table.frame.copy()
    chosen = frame["value"].notna()
    for column, level in levels.items():
        chosen &= frame[column] == level
    assert chosen.any()
    frame.loc[chosen, "value"] *= factor
    return replace(table, frame=frame)


def repeated(table: StudyTable, count: int) -> StudyTable:
    """The table with its first repeat so many times."""
    once = table.frame[table.frame["repeat"] == 1]
    copies: Sequence[pandas.DataFrame] = [once.assign(repeat=number + 1) for number in range(count)]
    return replace(table, frame=pandas.concat(copies, ignore_index=True), missing=())


def rows_of(table: StudyTable, metric: str, **levels: Any) -> list[dict[str, Any]]:
    """The rows of a metric at the given levels."""
    return [row for row in table.select(**levels) if row["metric"] == metric]
