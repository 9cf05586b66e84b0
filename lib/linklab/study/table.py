"""A study's table: one value a row, tidy, with all levels beside it; and the files that it is written to."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.study.declare import COLUMNS, Point, Study
from linklab.study.store import Finished, digest, write_whole

Row = dict[str, Any]


@dataclass(frozen=True)
class Missing:
    """A point without a result, and the reason in one line."""

    point: Point
    reason: str


class Table(list[Row]):
    """The rows, a dictionary each: the factors, then repeat, of, number, metric, value, unit. In the study's order.

    ``missing`` are the points that were asked for and have no rows; ``files`` is where it was written.
    """

    def __init__(
        self, rows: Iterable[Row] = (), missing: tuple[Missing, ...] = (), files: tuple[Path, ...] = ()
    ) -> None:
        super().__init__(rows)
        self.missing, self.files = missing, files

    def where(self, metric: str, **levels: Any) -> list[Row]:
        """The rows of a metric at the given levels (or ``repeat``, ``of``, ``number``)."""
        return [
            row for row in self if row["metric"] == metric and all(row[name] == level for name, level in levels.items())
        ]

    def to_dataframe(self) -> Any:
        """As a pandas DataFrame. Raises LabError where pandas is not installed."""
        if importlib.util.find_spec("pandas") is None:
            raise LabError("pandas is not installed: %pip install pandas, or use the table as the list of rows it is")
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame(list(self))


def rows_of(study: Study, points: Mapping[Point, Finished]) -> list[Row]:
    """The rows of all points that are done. Pure."""
    units = {metric.name: metric.unit for metric in study.metrics}
    return [
        {
            **dict(point.levels),
            "repeat": point.repeat,
            "of": row.of,
            "number": row.number,
            "metric": row.metric,
            "value": row.value,
            "unit": units[row.metric],
        }
        for point, finished in points.items()
        for row in finished.rows
    ]


def as_csv(study: Study, rows: Iterable[Row]) -> str:
    """The rows as CSV with a header; floats with all their digits. Pure."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*study.factors, *COLUMNS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def metadata(study: Study, clock: str, points: Mapping[Point, Finished]) -> dict[str, Any]:
    """All that does not differ from run to run: the study, the versions, the networks as read back. Pure."""
    networks: dict[str, Any] = {}
    used: dict[str, list[str]] = {}
    abouts: list[dict[str, str]] = []
    for point, finished in points.items():
        name = digest(json.dumps(finished.network, sort_keys=True))
        networks[name] = finished.network
        combinations = used.setdefault(name, [])
        if point.combination not in combinations:
            combinations.append(point.combination)
        if finished.about not in abouts:
            abouts.append(finished.about)
    return {
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "factors": {factor: list(levels) for factor, levels in study.factors.items()},
        "repeats": study.repeats,
        "metrics": {metric.name: {"unit": metric.unit, "meaning": metric.meaning} for metric in study.metrics},
        "measurement": f"{study.measurement.__module__}:{study.measurement.__qualname__}",
        "clock": clock,
        "points": len(study.points()),
        "points_done": len(points),
        "labs": abouts,
        "networks": [{"of": used[name], "read_back": network} for name, network in networks.items()],
    }


def write(
    study: Study,
    folder: Path,
    clock: str,
    points: Mapping[Point, Finished],
    about_run: Mapping[str, Any],
    parquet: bool,
) -> tuple[list[Row], tuple[Path, ...]]:
    """Writes NAME.csv, NAME.json (what is the same in every run), NAME.run.json (what is not) and NAME.parquet."""
    rows = rows_of(study, points)
    files = [folder / f"{study.name}{ending}" for ending in (".csv", ".json", ".run.json")]
    write_whole(files[0], as_csv(study, rows))
    write_whole(files[1], json.dumps(metadata(study, clock, points), indent=1) + "\n")
    write_whole(files[2], json.dumps(about_run, indent=1) + "\n")
    if parquet:
        files.append(folder / f"{study.name}.parquet")
        _write_parquet(files[-1], rows)
    return rows, tuple(files)


def need_parquet() -> None:
    """Raises LabError where pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise LabError(
            "Parquet needs pyarrow, which is not installed: pip install pyarrow, or take the CSV (no --parquet)"
        )


def _write_parquet(path: Path, rows: list[Row]) -> None:
    arrow: Any = importlib.import_module("pyarrow")
    writer: Any = importlib.import_module("pyarrow.parquet")
    part = path.with_name(path.name + ".unfinished")
    # a column has one type: texts and numbers among one factor's levels become texts
    columns = list(rows[0]) if rows else []
    mixed = {name for name in columns if len({isinstance(row[name], str) for row in rows if row[name] is not None}) > 1}
    plain = [{name: str(row[name]) if name in mixed else row[name] for name in columns} for row in rows]
    writer.write_table(arrow.Table.from_pylist(plain), part)
    part.replace(path)
