"""The parts of the benchmark, in the order in which they run; some are studies, carried out and judged as such."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import pandas

from linklab import published
from linklab.errors import LinklabError, MeasurementError
from linklab.study import Missing, Progress, Study, run
from linklab.study.claims import Judge, Tables, judged
from linklab.study.declare import COLUMNS
from linklab.study.page import Grid
from linklab.study.table import Table as StudyTable
from linklab.study.table import read_table
from tools.bench import fidelity, labs, overhead, search, speed, starts, switches
from tools.bench.part import Claim, Findings, Keep, OwnPart, Part, Record, Say, Settings, Table, having

_MET = {"reproduced": True, "not reproduced": False}


@dataclass(frozen=True)
class StudyPart:
    """A part that carries out a study, and judges claims. ``grids`` make tables, by their titles.

    ``repeats``: the benchmark's --repeats is theirs.
    """

    name: str
    title: str
    study: Study
    claims: tuple[published.Claim, ...]
    judges: Mapping[str, Judge]
    grids: Mapping[str, Callable[[Tables], Grid]]
    repeats: bool = field(default=False)

    def measure(self, settings: Settings, say: Say, keep: Keep) -> None:
        """Carry out the study; keep the rows of all points that were measured, also after an interrupt."""
        study = self.sized(settings)
        folder = settings.folder / study.name

        def tell(progress: Progress) -> None:
            reason = f" FAILED: {progress.reason}" if progress.reason else ""
            say(f"{study.name}: {progress.done} of {progress.total} points{reason}")

        missing: tuple[Missing, ...] = ()
        try:
            missing = run(study, folder, on_progress=tell).missing
        finally:
            # what is done until an interrupt has its table, too
            if (folder / f"{study.name}.csv").exists():
                for row in read_table(study, folder):
                    keep({"study": study.name, **row})
        if missing:
            raise MeasurementError(f"{len(missing)} points failed; {missing[0].point}: {missing[0].reason}")

    def report(self, records: Sequence[Record], settings: Settings) -> Findings:
        """Return the grids, and the claims with their verdicts. Pure."""
        study = self.sized(settings)
        tables = {study.name: table_of(study, records)}
        claims, judges = self.claims, dict(self.judges)
        if settings.earlier and self.name == "fidelity":
            tables[fidelity.EARLIER] = table_of(study, settings.earlier)
            claims, judges = (*claims, fidelity.EARLIER_CLAIM), judges | {"fidelity-earlier": fidelity.judge_earlier}
        verdicts = judged(claims, judges, tables, partial=True)
        return Findings(
            tuple(table for title, grid in self.grids.items() if (table := _table(title, grid, tables))),
            tuple(
                Claim.judged(it.claim.says, _MET.get(it.verdict), it.because if it.verdict in _MET else "")
                for it in verdicts
            ),
        )

    def sized(self, settings: Settings) -> Study:
        """Return the study in the size that the settings ask for."""
        study = self.study
        sized = replace(study.short_form(), name=study.name) if settings.quick else study
        return replace(sized, repeats=settings.repeats) if self.repeats else sized


def table_of(study: Study, records: Sequence[Record]) -> StudyTable:
    """Return a study's table of the records of its rows, with the points that have none."""
    columns = [*study.factors, *COLUMNS]
    rows = [tuple(record[column] for column in columns) for record in having(records, study=study.name)]
    frame = pandas.DataFrame(rows, columns=columns, dtype=object)
    frame = frame.astype({"repeat": "int64", "number": "Int64", "value": "float64"})
    there = set(frame[[*study.factors, "repeat"]].itertuples(index=False, name=None))
    missing = (it for it in study.points() if (*dict(it.levels).values(), it.repeat) not in there)
    return StudyTable(study, frame, missing=tuple(Missing(point, "not measured") for point in missing))


def _table(title: str, grid: Callable[[Tables], Grid], tables: Tables) -> Table | None:
    """Return a grid as the benchmark's table; None where its rows were not measured."""
    try:
        made = grid(tables)
    except MeasurementError:
        return None
    return Table(title, made.columns, made.rows, (made.note,) if made.note else ()) if made.rows else None


FIDELITY = StudyPart(
    "fidelity",
    "Fidelity: RTT, TCP and UDP of the links and paths, against theory, idle and busy",
    fidelity.FIDELITY,
    fidelity.CLAIMS,
    fidelity.JUDGES,
    {
        "Against theory": fidelity.measured_grid,
        "The same three digits": fidelity.digits_grid,
    },
    repeats=True,
)
SWITCHES = StudyPart(
    "switches",
    "Switches: Linux bridge and Open vSwitch, on virtual time",
    switches.SWITCH_KINDS,
    switches.CLAIMS,
    switches.JUDGES,
    {"h1-h4 of the course network": switches.switches_grid},
)
SEARCH = StudyPart(
    "search",
    "Search: an unknown bandwidth on random networks of 2 to 6 links, on virtual time",
    search.SEARCH,
    search.CLAIMS,
    search.JUDGES,
    {"Error and traffic of each search": search.search_grid},
)
PARTS: tuple[Part, ...] = (
    FIDELITY,
    OwnPart(starts.NAME, starts.TITLE, starts.measure, starts.report),
    SWITCHES,
    OwnPart(speed.NAME, speed.TITLE, speed.measure, speed.report),
    SEARCH,
    OwnPart(labs.NAME, labs.TITLE, labs.measure, labs.report),
    OwnPart(overhead.NAME, overhead.TITLE, overhead.measure, overhead.report),
)


def refuse_other(records: Sequence[Record], settings: Settings, name: str) -> None:
    """Raise LinklabError for records of an earlier run that fidelity's of these settings cannot be compared with."""
    study = FIDELITY.sized(settings)
    rows = having(records, study=study.name)
    if not rows:
        raise LinklabError(f"{name} has no rows of study {study.name}: name a file of a run that was not interrupted")
    for column in (*study.factors, *COLUMNS):
        if any(column not in row for row in rows):
            raise LinklabError(f"{name} has rows without {column}: name a file that this Linklab's make bench wrote")
    for factor, levels in study.factors.items():
        if other := {row[factor] for row in rows} - set(levels):
            raise LinklabError(
                f"{name} has {factor}={other.pop()}, and this run has {', '.join(map(str, levels))}: compare with a "
                "run of the same form (--quick or not)"
            )
    for row_name, metric in product(fidelity.ROWS, fidelity.COMPARED):
        if not having(rows, of=row_name, metric=metric, number=0):
            raise LinklabError(f"{name} has no {metric} of {row_name}: name a file of a run that was not interrupted")


def chosen(names: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of these names, in the order of `PARTS`; all for none. Raises LinklabError for another name."""
    known = [part.name for part in PARTS]
    for name in names:
        if name not in known:
            raise LinklabError(f"the benchmark has no part {name!r}: it has {', '.join(known)}")
    return tuple(part for part in PARTS if not names or part.name in names)
