"""A study's table: one value a row, tidy, with the levels in the columns before it; written to files and read back."""

from __future__ import annotations

import functools
import io
import json
import lzma
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import pandas

from linklab import __version__
from linklab.errors import MeasurementError
from linklab.files import write_whole
from linklab.study.declare import COLUMNS, Level, Point, Study
from linklab.study.store import Finished, digest

Row = dict[str, Any]
_EXACT: Final = 1e-9
"""By how much, relatively, two values differ that are the same but for rounding."""


@dataclass(frozen=True)
class Missing:
    """A point without a result, and the reason in one line."""

    point: Point
    reason: str


@dataclass(frozen=True)
class Values:
    """What the repeats measured of one thing, a value each; ``what`` names it in errors."""

    values: tuple[float, ...]
    what: str = field(default="these values", compare=False)

    @property
    def count(self) -> int:
        """How many repeats there are."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean over repeats."""
        return fmean(self.values)

    @property
    def low(self) -> float:
        """The least of the repeats."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest of the repeats."""
        return max(self.values)

    @property
    def same(self) -> float:
        """The one value that all repeats agree on. Raises MeasurementError where they differ by more than rounding."""
        if not math.isclose(self.low, self.high, rel_tol=_EXACT, abs_tol=_EXACT):
            raise MeasurementError(
                f"{self.what}: repeats differ, {self.low:g} to {self.high:g}: use mean, low and high of them"
            )
        return self.values[0]


@dataclass(frozen=True, eq=False)
class Table:
    """The values that a study measured. ``frame`` has the columns factors..., repeat, of, number, metric, value, unit,
    in the study's order; ``about``: date, versions, seeds, durations, networks (NAME.json and NAME.run.json).

    ``missing`` are points that were asked for and have no rows; ``files`` is where the table was written or read.
    ``complete``: what is looked up is refused where one of its points is missing, as verdicts need.
    """

    study: Study
    frame: pandas.DataFrame
    about: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    files: tuple[Path, ...] = ()
    complete: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Row]:
        for row in self.frame.to_dict("records"):
            yield {
                **{str(name): it for name, it in row.items()},
                "number": None if pandas.isna(row["number"]) else int(row["number"]),
            }

    def where(self, metric: str, **levels: Any) -> list[Row]:
        """Return the rows of a metric at the given levels (or ``repeat``, ``of``, ``number``)."""
        return [
            row for row in self if row["metric"] == metric and all(row[name] == level for name, level in levels.items())
        ]

    def lookup(self, metric: str, *, of: str = "", number: int | None = None, **levels: Level) -> Values:
        """Return what the repeats measured of a metric at the given levels; ``repeat=2`` takes one of them.

        Levels are compared by value: ``"9018"`` from a terminal is 9018. Raises MeasurementError where no row fits,
        with the command that measures it, and where a factor that is not named has several levels among the rows.
        """
        self._refuse_missing(self._missing_at(levels))
        rows = self._at(metric, of, levels)
        rows = rows[rows["number"].isna()] if number is None else rows[(rows["number"] == number).fillna(False)]
        what = self._named(metric, of, levels) + ("" if number is None else f", number {number}")
        self._refuse_none_or_several(rows, what, levels)
        if rows["repeat"].duplicated().any():
            raise MeasurementError(f"{what}: a repeat is there twice: remove one of its rows")
        return Values(tuple(map(float, rows["value"])), what)

    def each(
        self, metric: str, *factors: str, of: str = "", **levels: Level | tuple[Level, ...]
    ) -> dict[tuple[Any, ...], Values]:
        """Return what the repeats measured of a metric that is no series at the given levels, by those of `factors`.

        Raises MeasurementError as `lookup` does: for no row, and for a factor that is not named and has several levels.
        """
        chosen = self.select(**levels)
        self._refuse_missing(chosen.missing)
        rows = chosen._at(metric, of, {})
        rows = rows[rows["number"].isna()]
        what = self._named(metric, of, levels)
        self._refuse_none_or_several(rows, what, {**levels, **dict.fromkeys(factors, "")})
        grouped: Any = (
            rows.groupby(list(factors), sort=False, dropna=False)["value"] if factors else [((), rows["value"])]
        )
        return {tuple(key): Values(tuple(map(float, values)), f"{what}, {key}") for key, values in grouped}

    def series(self, metric: str, *, of: str = "", **levels: Level) -> pandas.DataFrame:
        """Return a numbered metric as a frame of ``number``, ``mean``, ``low`` and ``high`` over repeats.

        Raises MeasurementError as `lookup` does.
        """
        self._refuse_missing(self._missing_at(levels))
        rows = self._at(metric, of, levels)
        rows = rows[rows["number"].notna()]
        self._refuse_none_or_several(rows, f"the series of {self._named(metric, of, levels)}", levels)
        grouped = rows.groupby(rows["number"].astype(int), sort=True)["value"]
        return grouped.agg(mean="mean", low="min", high="max").reset_index()

    def select(self, **levels: Level | tuple[Level, ...]) -> Table:
        """Return the table of the given levels alone; several of one factor as a tuple.

        Raises MeasurementError for a name that is no factor.
        """
        kept = pandas.Series(True, index=self.frame.index)
        for factor, wanted in levels.items():
            each = wanted if isinstance(wanted, tuple) else (wanted,)
            kept &= self._texts(factor).isin([as_compared(level) for level in each])
        return replace(self, frame=self.frame[kept], missing=self._missing_at(levels))

    def levels(self, factor: str) -> tuple[Level, ...]:
        """Return the levels of a factor that the table has, in its order. Raises MeasurementError for no factor."""
        there = set(self._texts(factor))
        self._refuse_missing([it for it in self.missing if as_compared(it.point[factor]) not in there])
        return tuple(dict.fromkeys(self.frame[factor]))

    def runs(self, *factors: str) -> list[tuple[Level, ...]]:
        """Return the combinations of levels of some factors that the table has, in its order."""
        self._refuse_missing(self.missing)
        return list(dict.fromkeys(zip(*(self.frame[factor] for factor in factors), strict=True)))

    @functools.cached_property
    def csv(self) -> str:
        """The table as CSV with a header; floats with all their digits."""
        text = io.StringIO()
        self.frame.to_csv(text, index=False, lineterminator="\n")
        return text.getvalue()

    @property
    def digest(self) -> str:
        """A digest of the table, by which another one is known."""
        return digest(self.csv)

    @functools.cached_property
    def _by_metric(self) -> dict[str, pandas.DataFrame]:
        return {str(metric): rows for metric, rows in self.frame.groupby("metric", sort=False)}

    @functools.cached_property
    def _compared(self) -> dict[str, pandas.Series[str]]:
        columns = (self.frame[name] for name in (*self.study.factors, "repeat", "of"))
        return {str(it.name): it.map({level: as_compared(level) for level in it.unique()}) for it in columns}

    def _texts(self, factor: str) -> pandas.Series[str]:
        if factor not in self._compared:
            known = ", ".join(self.study.factors)
            raise MeasurementError(f"study {self.study.name} has no factor {factor!r}: choose one of {known}")
        return self._compared[factor]

    def _at(self, metric: str, of: str, levels: Mapping[str, Level]) -> pandas.DataFrame:
        rows = self._by_metric.get(metric, self.frame[:0])
        for name, level in (("of", of), *levels.items()):
            rows = rows[self._texts(name).loc[rows.index] == as_compared(level)]
        return rows

    def _missing_at(self, levels: Mapping[str, Any]) -> tuple[Missing, ...]:
        wanted = {
            factor: {as_compared(it) for it in (level if isinstance(level, tuple) else (level,))}
            for factor, level in levels.items()
            if factor != "of"
        }
        return tuple(
            it
            for it in self.missing
            if all(
                as_compared(it.point.repeat if factor == "repeat" else it.point[factor]) in texts
                for factor, texts in wanted.items()
            )
        )

    def _refuse_missing(self, missing: Sequence[Missing]) -> None:
        if self.complete and missing:
            raise MeasurementError(
                f"{len(missing)} of the points that it needs are missing in the table of study {self.study.name} "
                f"({missing[0].point}): {self.study.command}"
            )

    def _refuse_none_or_several(self, rows: pandas.DataFrame, what: str, levels: Mapping[str, object]) -> None:
        if rows.empty:
            raise MeasurementError(f"the table of study {self.study.name} has no {what}: {self.study.command}")
        for factor in self.study.factors:
            texts = self._texts(factor).loc[rows.index]
            if factor not in levels and texts.nunique() > 1:
                there = ", ".join(map(str, dict.fromkeys(rows[factor])))
                raise MeasurementError(f"{what}: say which {factor}: {there}")

    def _named(self, metric: str, of: str, levels: Mapping[str, object]) -> str:
        at = " ".join(f"{name}={level}" for name, level in levels.items())
        return metric + (f" of {of}" if of else "") + (f" at {at}" if at else "")


def as_compared(level: object) -> str:
    """Return the text by which levels are compared: numbers by their value, whatever wrote them down."""
    try:
        number = float(str(level))
    except ValueError:
        return str(level)
    if not math.isfinite(number):
        return str(level)
    return str(int(number)) if number.is_integer() else repr(number)


def table_of(study: Study, points: Mapping[Point, Finished]) -> Table:
    """Return the table of all points that are done. Pure."""
    units = {metric.name: metric.unit for metric in study.metrics}
    rows = (
        (
            *(level for _, level in point.levels),
            point.repeat,
            row.of,
            row.number,
            row.metric,
            row.value,
            units[row.metric],
        )
        for point, finished in points.items()
        for row in finished.rows
    )
    return Table(study, _frame(study, rows))


def table_of_rows(
    study: Study, rows: Iterable[Row], about: Mapping[str, Any] | None = None, files: tuple[Path, ...] = ()
) -> Table:
    """Return the table of rows that have a value for each of its columns."""
    columns = (*study.factors, *COLUMNS)
    return Table(study, _frame(study, (tuple(row[name] for name in columns) for row in rows)), about or {}, (), files)


def table_of_values(
    study: Study,
    runs: Iterable[tuple[Mapping[str, Level], Mapping[str, float]]],
    about: Mapping[str, Any] | None = None,
) -> Table:
    """Return the table of runs that were measured once: for each its levels, and its values by their metrics."""
    units = {metric.name: metric.unit for metric in study.metrics}
    rows = (
        {**levels, "repeat": 1, "of": "", "number": None, "metric": metric, "value": value, "unit": units[metric]}
        for levels, values in runs
        for metric, value in values.items()
    )
    return table_of_rows(study, rows, about)


def _frame(study: Study, rows: Iterable[tuple[Any, ...]]) -> pandas.DataFrame:
    columns = [*study.factors, *COLUMNS]
    frame = pandas.DataFrame(list(rows), columns=columns, dtype=object)  # a factor may have texts and numbers
    return frame.astype({"repeat": "int64", "number": "Int64", "value": "float64"})


def read_table(study: Study, folder: Path) -> Table:
    """Return the table of a study that a run has written to `folder`, or to the folder NAME in it.

    The file is NAME.csv or NAME.csv.xz, and what is about it NAME.json and NAME.run.json. Any level that the file
    holds is accepted; ``missing`` are the study's points without a row. Raises MeasurementError where the file is
    missing, is another study's, or is damaged.
    """
    places = [at / f"{study.name}{ending}" for at in (folder / study.name, folder) for ending in (".csv", ".csv.xz")]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise MeasurementError(f"{folder} has no table {study.name}.csv: {study.command}")
    about: dict[str, Any] = {}
    try:
        frame = _read_frame(study, path)
        for ending in (".json", ".run.json"):
            if (beside := path.with_name(study.name + ending)).exists():
                about |= json.loads(beside.read_text("utf-8"))
    except (ValueError, KeyError, TypeError, OSError, OverflowError, EOFError, lzma.LZMAError) as wrong:
        raise MeasurementError(
            f"{path} is damaged ({' '.join(str(wrong).split())}): remove it, then {study.command}"
        ) from None
    return Table(study, frame, about, missing_points(study, frame), (path,))


def missing_points(study: Study, frame: pandas.DataFrame) -> tuple[Missing, ...]:
    """Return the study's points that a frame has no row of."""
    rows = frame[[*study.factors, "repeat"]].drop_duplicates()
    there = {tuple(map(as_compared, row)) for row in rows.itertuples(index=False, name=None)}
    return tuple(
        Missing(point, "not measured")
        for point in study.points()
        if (*(as_compared(level) for _, level in point.levels), as_compared(point.repeat)) not in there
    )


def _read_frame(study: Study, path: Path) -> pandas.DataFrame:
    texts = pandas.read_csv(path, dtype=str, keep_default_na=False)
    if list(texts.columns) != [*study.factors, *COLUMNS]:
        raise MeasurementError(f"{path} has not the columns of study {study.name}: {study.command}")
    for factor, levels in study.factors.items():
        texts[factor] = pandas.Series([level_of(levels, it) for it in texts[factor]], dtype=object)
    texts["number"] = pandas.Series([int(it) if it else None for it in texts["number"]], dtype="Int64")
    frame = texts.astype({"repeat": "int64", "value": "float64", "of": object, "metric": object, "unit": object})
    for number, value in enumerate(frame["value"], 2):
        if not math.isfinite(value):
            raise ValueError(f"line {number} has the value {value}, which is no finite number")
    return frame


def as_level(text: str) -> Level:
    """Return the number that a text is, else the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def level_of(known: Sequence[Level], text: str) -> Level:
    """Return the level that a text is, among those of a factor or another: a text where all of them are."""
    for level in known:
        if str(level) == text:
            return level
    return text if all(isinstance(level, str) for level in known) else as_level(text)


def metadata(study: Study, points: Mapping[Point, Finished]) -> dict[str, Any]:
    """Return all that does not differ from run to run: the study, versions, networks as read back. Pure."""
    networks: dict[str, Any] = {}
    used: dict[str, list[str]] = {}
    abouts: list[dict[str, str]] = []
    made_by: dict[str, str] = {}
    for point, finished in points.items():
        name = digest(json.dumps(finished.network, sort_keys=True))
        networks[name] = finished.network
        combinations = used.setdefault(name, [])
        if point.combination not in combinations:
            combinations.append(point.combination)
        if finished.about not in abouts:
            abouts.append(finished.about)
        made_by = {part: finished.definition[part] for part in ("measurement", "code", "image")}  # of one they all are
    return {
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "command": study.command,
        "factors": {factor: list(levels) for factor, levels in study.factors.items()},
        "repeats": study.repeats,
        "metrics": {metric.name: {"unit": metric.unit, "meaning": metric.meaning} for metric in study.metrics},
        "measurement": f"{study.measurement.__module__}:{study.measurement.__qualname__}",
        "linklab": __version__,
        "made_by": made_by,
        "points": len(study.points()),
        "points_done": len(points),
        "labs": abouts,
        "networks": [{"of": used[name], "read_back": network} for name, network in networks.items()],
    }


def write(
    study: Study,
    folder: Path,
    points: Mapping[Point, Finished],
    about_run: Mapping[str, Any],
) -> Table:
    """Write NAME.csv, NAME.json (what is the same in every run) and NAME.run.json (what is not)."""
    table = table_of(study, points)
    about = metadata(study, points)
    files = [folder / f"{study.name}{ending}" for ending in (".csv", ".json", ".run.json")]
    write_whole(files[0], table.csv)
    write_whole(files[1], json.dumps(about, indent=1) + "\n")
    write_whole(files[2], json.dumps(about_run, indent=1) + "\n")
    return replace(table, about=about | dict(about_run), files=tuple(files))


def read_about_run(study: Study, folder: Path) -> dict[str, Any]:
    """Return what NAME.run.json says; nothing where it is missing or damaged."""
    try:
        about = json.loads((folder / f"{study.name}.run.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def keep(table: Table, folder: Path) -> Path:
    """Write NAME.csv.xz to a folder, with NAME.json and NAME.run.json, and return where it is.

    The same table gives the same bytes. Raises MeasurementError for a folder that cannot be written to.
    """
    source = table.files[0]
    kept = folder / f"{table.study.name}.csv.xz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(lzma.compress(table.csv.encode(), preset=9))
        for ending in (".json", ".run.json"):
            about = json.loads(source.with_name(table.study.name + ending).read_text("utf-8"))
            about.get("machine", {}).pop("kernel", None)  # a name that only its owner knows
            write_whole(folder / f"{table.study.name}{ending}", json.dumps(about) + "\n")
    except OSError as error:
        raise MeasurementError(f"{error.filename} cannot be read or written: {error.strerror}") from None
    return kept
