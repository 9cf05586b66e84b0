"""Tables that were measured, for tests without labs: tests/study/data says how."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas

from linklab.published import mtu, video
from linklab.published.mtu import ROWS as MTU_ROWS
from linklab.published.video import ROWS as VIDEO_ROWS
from linklab.study import study_by_name
from linklab.study.claims import Judged, judged
from linklab.study.mtu.claims import JUDGES as MTU_JUDGES
from linklab.study.mtu.runs import MTU
from linklab.study.table import Table, read_table
from linklab.study.video.claims import JUDGES as VIDEO_JUDGES
from linklab.study.video.runs import VIDEO

DATA = Path(__file__).with_name("data")
CLAIMS = {"mtu": (mtu.CLAIMS, MTU_JUDGES), "video": (video.CLAIMS, VIDEO_JUDGES)}
"""What each study claims, and who judges it."""


@cache
def short(study: str) -> Table:
    """The table of a study's short form."""
    return read_table(study_by_name(study).short_form(), DATA)


@cache
def busy_film() -> Table:
    """A film of 13 Mbit/s over links of 10 and 100 Mbit/s."""
    return replace(read_table(VIDEO, DATA), missing=())  # its levels are others than the study's


def on(claim: str, table: Table, hardware: Table | None = None, *, partial: bool = False) -> Judged:
    """Judge one claim alone; its name begins with its study's."""
    study = claim.partition("-")[0]
    claims, judges = CLAIMS[study]
    beside = {study: hardware} if hardware is not None else None
    asked = [each for each in claims if each.id == claim]
    (found,) = judged(asked, {claim: judges[claim]}, {study: table}, beside, partial=partial)
    return found


def changed(table: Table, factor: float, **levels: Any) -> Table:
    """The table with one metric's values at some levels (or ``repeat``) times a factor: what was never measured."""
    frame = table.frame.copy()
    chosen = frame["value"].notna()
    for column, level in levels.items():
        chosen &= frame[column] == level
    assert chosen.any()
    frame.loc[chosen, "value"] *= factor
    return replace(table, frame=frame)


def twice(table: Table) -> Table:
    """The table with every repeat a second time, as repeat 2."""
    return replace(table, frame=pandas.concat([table.frame, table.frame.assign(repeat=2)], ignore_index=True))


def real_mtu() -> Table:
    """The MTU study's own real network, as a researcher's table."""
    rows: list[tuple[Any, ...]] = []
    for row in MTU_ROWS:
        if row.platform == "real":
            name, _, unit = row.quantity.rpartition("_")
            levels = ("real", row.frame_bytes, f"{row.link_mbps}/{row.traffic_mbps}", "gt", "Catalyst 3560", 1000)
            for which, value in (("mean", row.mean), ("min", row.minimum), ("max", row.maximum)):
                rows.append((*levels, 1, "", None, f"{name}_{which}_{unit}", value, row.unit))
    return _table(MTU, rows)


def real_video() -> Table:
    """The multimedia study's own real network, as a researcher's table."""
    rows: list[tuple[Any, ...]] = []
    for row in VIDEO_ROWS:
        if row.platform == "real":
            levels = (row.link_mbps, "VLC", "none", "Catalyst 3560", "theirs", 50)
            for which in ("mean", "minimum", "maximum"):
                value = getattr(row, which).value
                rows.append((*levels, 1, "", None, f"{row.quantity}_{which}", value, row.unit))
    return _table(VIDEO, rows)


def _table(study: Any, rows: list[tuple[Any, ...]]) -> Table:
    columns = [*study.factors, "repeat", "of", "number", "metric", "value", "unit"]
    frame = pandas.DataFrame(rows, columns=columns, dtype=object)
    return Table(study, frame.astype({"repeat": "int64", "number": "Int64", "value": "float64"}))
