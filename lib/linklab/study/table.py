"""A study's table: each row has one value, and the levels at which it was measured. It is written to CSV and read back,
or made from a researcher's own numbers and captures.

Levels have the types that the study gives them, so 1 and 1.0 are one level, however a file writes them.
"""

from __future__ import annotations

import csv
import functools
import hashlib
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

from linklab.errors import MeasurementError
from linklab.files import write_whole
from linklab.study.declare import COLUMNS, Level, Measured, Point, Study, in_one_line, refuse_rows

_EXACT: Final = 1e-9
"""Values that differ relatively by less than this are equal apart from rounding."""
_LARGEST: Final = 2**31


@dataclass(frozen=True)
class Missing:
    """A point without a result, and the reason in one line."""

    point: Point
    reason: str


@dataclass(frozen=True)
class Values:
    """The values of all repeats of one quantity; ``what`` names it in errors."""

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
        """The value that all repeats have. Raises MeasurementError if they differ by more than rounding."""
        if not math.isclose(self.low, self.high, rel_tol=_EXACT, abs_tol=_EXACT):
            raise MeasurementError(
                f"{self.what}: repeats differ, {self.low:g} to {self.high:g}: use mean, low and high of them"
            )
        return self.values[0]


Wanted = Level | tuple[Level, ...]
"""A level to look up, or several of one factor."""


@dataclass(frozen=True, eq=False)
class StudyTable:
    """The values that a study measured. ``frame`` has the columns factors..., repeat, of, number, metric, value, unit,
    in the study's order; ``about`` has date, versions, seeds, durations, networks (NAME.json and NAME.run.json).

    ``missing`` are points that were asked for and have no rows; ``files`` are those that hold the table.
    ``complete``: a look-up is refused if one of the points it needs is missing, so that no verdict rests on a part.

    Levels in look-ups may be texts, as from a terminal. All look-ups raise MeasurementError for an unknown factor, if
    no row fits (with the command that measures it), and if a factor that is not named has several levels.
    """

    study: Study
    frame: pandas.DataFrame
    about: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    files: tuple[Path, ...] = ()
    complete: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self.frame.to_dict("records"):
            yield {
                **{str(name): it for name, it in row.items()},
                "number": None if pandas.isna(row["number"]) else int(row["number"]),
            }

    def lookup(self, metric: str, *, of: str = "", number: int | None = None, **levels: Wanted) -> Values:
        """Return the values of a metric in all repeats at the given levels; ``repeat=2`` takes one repeat.

        Raises MeasurementError if a repeat has two values.
        """
        rows, what = self._rows(metric, of, levels, number=number)
        if rows["repeat"].duplicated().any():
            raise MeasurementError(f"{what}: a repeat is there twice: remove one of its rows")
        return Values(tuple(map(float, rows["value"])), what)

    def each(self, metric: str, *factors: str, of: str = "", **levels: Wanted) -> dict[tuple[Any, ...], Values]:
        """Return the values of a metric in all repeats at the given levels, by the levels of `factors`."""
        rows, what = self._rows(metric, of, levels, factors)
        groups: Any = rows.groupby(list(factors), sort=False, dropna=False) if factors else [((), rows)]
        return {tuple(key): Values(tuple(map(float, it["value"])), f"{what}, {key}") for key, it in groups}

    def wide(self, *factors: str, **levels: Wanted) -> pandas.DataFrame:
        """Return a row for each repeat at the given levels and each combination of `factors`, with a column for each
        metric that is no series.
        """
        self._refuse_missing(self._missing_at(levels))
        rows = self._chosen(self.frame[self.frame["number"].isna()], levels)
        at = " ".join(f"{name}={level}" for name, level in levels.items())
        if rows.empty:
            raise MeasurementError(f"the table of study {self.study.name} has no run with {at}: {self.study.command}")
        self._refuse_several(rows, {*levels, *factors}, f"runs with {at}")
        keys = ["repeat", "of", *factors]
        return rows.pivot_table("value", keys, "metric", aggfunc="first", sort=False).reset_index()

    def series(self, metric: str, *, of: str = "", **levels: Wanted) -> pandas.DataFrame:
        """Return a numbered metric as a frame of ``number``, ``mean``, ``low`` and ``high`` over repeats."""
        rows, _ = self._rows(metric, of, levels, ("number",))
        grouped = rows.groupby(rows["number"].astype(int), sort=True)["value"]
        return grouped.agg(mean="mean", low="min", high="max").reset_index()

    def select(self, **levels: Wanted) -> StudyTable:
        """Return the part of the table with the given levels; several levels of one factor are a tuple."""
        return replace(self, frame=self._chosen(self.frame, levels), missing=self._missing_at(levels))

    def levels(self, factor: str) -> tuple[Level, ...]:
        """Return the levels of a factor that the table has, in its order."""
        self.study.levels_of(factor)
        there = tuple(dict.fromkeys(self.frame[factor]))
        self._refuse_missing([it for it in self.missing if it.point[factor] not in there])
        return there

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
        """A digest of the table: it tells two tables apart."""
        return digest(self.csv)

    @functools.cached_property
    def _by_metric(self) -> dict[str, pandas.DataFrame]:
        return {str(metric): rows for metric, rows in self.frame.groupby("metric", sort=False)}

    def _rows(
        self, metric: str, of: str, levels: Mapping[str, Wanted], by: Sequence[str] = (), number: int | None = None
    ) -> tuple[pandas.DataFrame, str]:
        """Return the rows of a metric, and its name for people. Rows of a series are among them only if `number` is
        given, or if the rows are grouped `by` ``number``.
        """
        self._refuse_missing(self._missing_at(levels))
        rows = self._chosen(self._by_metric.get(metric, self.frame[:0]), {"of": of, **levels})
        if "number" in by:
            rows = rows[rows["number"].notna()]
        else:
            rows = rows[rows["number"].isna()] if number is None else rows[(rows["number"] == number).fillna(False)]
        at = " ".join(f"{name}={level}" for name, level in levels.items())
        what = ("the series of " if "number" in by else "") + metric
        what += (f" of {of}" if of else "") + (f" at {at}" if at else "")
        what += "" if number is None else f", number {number}"
        if rows.empty:
            raise MeasurementError(f"the table of study {self.study.name} has no {what}: {self.study.command}")
        self._refuse_several(rows, {*levels, *by}, what)
        return rows, what

    def _refuse_several(self, rows: pandas.DataFrame, named: set[str], what: str) -> None:
        for factor in self.study.factors:
            if factor not in named and len(there := rows[factor].unique()) > 1:
                raise MeasurementError(f"{what}: say which {factor}: {', '.join(map(str, there))}")

    def _chosen(self, rows: pandas.DataFrame, levels: Mapping[str, Wanted]) -> pandas.DataFrame:
        for name, wanted in levels.items():
            each = self._typed(name, wanted)
            rows = rows[rows[name] == each[0]] if len(each) == 1 else rows[rows[name].isin(each)]
        return rows

    def _typed(self, name: str, wanted: Wanted) -> list[Level]:
        """Return the levels to look up, with the types of their factor's levels."""
        each = wanted if isinstance(wanted, tuple) else (wanted,)
        if name in ("of", "repeat"):
            return list(each)
        return [as_level(self.study.levels_of(name), it) if isinstance(it, str) else it for it in each]

    def _missing_at(self, levels: Mapping[str, Wanted]) -> tuple[Missing, ...]:
        if not self.missing:
            return ()
        wanted = {factor: self._typed(factor, level) for factor, level in levels.items() if factor != "of"}
        return tuple(
            it
            for it in self.missing
            if all((it.point.repeat if name == "repeat" else it.point[name]) in each for name, each in wanted.items())
        )

    def _refuse_missing(self, missing: Sequence[Missing]) -> None:
        if self.complete and missing:
            raise MeasurementError(
                f"{len(missing)} of the points that it needs are missing in the table of study {self.study.name} "
                f"({missing[0].point}): {self.study.command}"
            )


def digest(content: str | bytes) -> str:
    """Return the first 16 digits of SHA-256: enough to tell two versions apart."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]


def as_level(known: Sequence[Level], text: str) -> Level:
    """Return a text as a level of a factor: the known level that is written so; else a number, if one of the known
    levels is a number and the text can be read as one; else the text.
    """
    for level in known:
        if str(level) == text:
            return level
    if all(isinstance(level, str) for level in known):
        return text
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def named_level(study: Study, factor: str, text: str) -> Level:
    """Return the level that a person wrote. Raises MeasurementError for an unknown factor, an empty text, and a text
    that is no number if all levels of the factor are numbers.
    """
    known = study.levels_of(factor)
    level = as_level(known, text)
    names = ", ".join(map(str, known))
    if not text:
        raise MeasurementError(f"{factor} is '': its levels are like {names}")
    if isinstance(level, str) and not any(isinstance(it, str) for it in known):
        raise MeasurementError(f"{factor} is {text!r}, which is no number: its levels are like {names}")
    return level


def table_of(
    study: Study, points: Mapping[Point, Iterable[Measured]], about: Mapping[str, Any] | None = None
) -> StudyTable:
    """Return the table of what was measured at points. Pure."""
    units = {metric.name: metric.unit for metric in study.metrics}
    rows = [
        (*dict(point.levels).values(), point.repeat, row.of, row.number, row.metric, row.value, units[row.metric])
        for point, measured in points.items()
        for row in measured
    ]
    frame = pandas.DataFrame(rows, columns=[*study.factors, *COLUMNS], dtype=object)  # a factor may mix types
    typed = frame.astype({"repeat": "int64", "number": "Int64", "value": "float64"})
    return StudyTable(study, typed, about or {})


def table_of_values(
    study: Study,
    runs: Iterable[tuple[Mapping[str, Level], Mapping[str, float]]],
    about: Mapping[str, Any] | None = None,
) -> StudyTable:
    """Return the table of values that were measured once: for each run its levels, and its values by their metrics."""
    points: dict[Point, list[Measured]] = {}
    for levels, values in runs:
        point = Point(study.name, tuple((factor, levels[factor]) for factor in study.factors))
        points.setdefault(point, []).extend(Measured(metric, value) for metric, value in values.items())
    return table_of(study, points, about)


def _read(path: Path) -> pandas.DataFrame:
    return pandas.read_csv(path, dtype=str, keep_default_na=False, index_col=False, encoding="utf-8-sig")


def _typed_frame(study: Study, texts: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows of a CSV file with their types. Raises MeasurementError, which names the row, for the first wrong
    level, metric, unit, repeat, number or value, and for a row that is there twice.
    """
    units = {metric.name: metric.unit for metric in study.metrics}
    numbers = texts[["repeat", "number", "value"]].apply(pandas.to_numeric, errors="coerce")
    whole = numbers.where((numbers % 1 == 0) & (numbers < _LARGEST))
    no_metric = f"{{!r}} is no metric of study {study.name}: {', '.join(units)}"
    meant = texts.assign(meant=texts["metric"].map(units))
    checks = (
        (~texts["metric"].isin(units), no_metric, "metric"),
        (meant["meant"] != texts["unit"], "the unit of {} is {!r} and not {!r}", "metric", "meant", "unit"),
        (~numbers["value"].abs().lt(math.inf), "value is {!r}, which is no finite number", "value"),
        (~whole["repeat"].ge(1), "repeat is {!r}, which is no whole number above 0 or far too large", "repeat"),
        (~whole["number"].ge(0) & (texts["number"] != ""), "number is {!r}, which is no whole number", "number"),
    )
    for wrong, says, *names in checks:
        if wrong.any():
            row: Any = wrong.idxmax()  # the first
            raise MeasurementError(f"row {row + 2}: {says.format(*(meant.at[row, name] for name in names))}")
    frame = texts.astype(object)
    for factor in study.factors:
        levels: dict[str, Level] = {}
        for text in texts[factor].unique():
            try:
                levels[text] = named_level(study, factor, text)
            except MeasurementError as wrong:
                row = (texts[factor] == text).idxmax()
                raise MeasurementError(f"row {row + 2}: {wrong}") from None
        frame[factor] = pandas.Series([levels[text] for text in texts[factor]], frame.index, dtype=object)
    frame["repeat"], frame["number"] = whole["repeat"].astype("int64"), whole["number"].astype("Int64")
    frame["value"] = texts["value"].astype("float64")  # with all digits, which to_numeric does not promise
    frame = frame[[*study.factors, *COLUMNS]]
    keys = frame.drop(columns=["value", "unit"])
    if (again := keys.duplicated()).any():
        row = again.idxmax()
        first = (keys.astype(str) == keys.astype(str).loc[row]).all(axis="columns").idxmax()
        raise MeasurementError(f"row {row + 2}: the same as row {first + 2}: give it another repeat")
    return frame


def read_table(study: Study, folder: Path) -> StudyTable:
    """Return the table of a study that a run has written to `folder`, or to the folder NAME in it.

    The file is NAME.csv or NAME.csv.xz; NAME.json and NAME.run.json describe it. Any level in the file is accepted;
    ``missing`` are the study's points without a row. Raises MeasurementError if the file is missing, belongs to another
    study, or is damaged.
    """
    places = [at / f"{study.name}{ending}" for at in (folder / study.name, folder) for ending in (".csv", ".csv.xz")]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise MeasurementError(f"{folder} has no table {study.name}.csv: {study.command}")
    about: dict[str, Any] = {}
    try:
        texts = _read(path)
        if list(texts.columns) != [*study.factors, *COLUMNS]:
            raise MeasurementError(f"it has not the columns of study {study.name}")
        frame = _typed_frame(study, texts)
        for ending in (".json", ".run.json"):
            if (beside := path.with_name(study.name + ending)).exists():
                about |= json.loads(beside.read_text("utf-8"))
    except (ValueError, OSError, EOFError, lzma.LZMAError, MeasurementError) as wrong:
        raise MeasurementError(
            f"{path} is damaged ({' '.join(str(wrong).split())}): remove it, then {study.command}"
        ) from None
    there = set(frame[[*study.factors, "repeat"]].drop_duplicates().itertuples(index=False, name=None))
    missing = (it for it in study.points() if (*(level for _, level in it.levels), it.repeat) not in there)
    return StudyTable(study, frame, about, tuple(Missing(point, "not measured") for point in missing), (path,))


def keep(table: StudyTable, folder: Path) -> Path:
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


def template(study: Study) -> str:
    """Return a CSV for a researcher's own numbers: a row for each point and metric, with an empty value. Rows that stay
    empty are left out when the file is read.
    """
    rows = (
        (*(level for _, level in point.levels), point.repeat, "", "", metric.name, "", metric.unit)
        for point in study.points()
        for metric in study.metrics
    )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([(*study.factors, *COLUMNS), *rows])
    return text.getvalue()


def read_own(studies: Sequence[Study], given: str) -> StudyTable:
    """Return the table of a CSV file that a researcher wrote, ``"mine.csv"`` or ``"STUDY=mine.csv"``.

    The file's columns, in any order, tell which study it is. Any level is accepted. Raises MeasurementError in one
    line for a file that cannot be read, and, with its number, for a row that is wrong.
    """
    name, equals, path = given.partition("=")
    if not equals:
        name, path = "", given
    study, frame = _own_rows(studies, name, Path(path))
    if frame.empty:
        raise MeasurementError(f"{path} has no row with a value")
    return StudyTable(study, frame, {"from": path}, (), (Path(path),))


def _own_rows(studies: Sequence[Study], name: str, path: Path) -> tuple[Study, pandas.DataFrame]:
    try:
        texts = _read(path)
    except pandas.errors.EmptyDataError:
        texts = pandas.DataFrame()
    except (OSError, ValueError) as error:
        raise MeasurementError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    study = _study_of(studies, name, path, list(texts.columns))
    try:
        texts = texts.apply(lambda column: column.str.strip())
        return study, _typed_frame(study, texts[texts["value"] != ""])
    except MeasurementError as wrong:
        raise MeasurementError(f"{path}, {wrong}") from None


def _study_of(studies: Sequence[Study], name: str, path: Path, columns: list[str]) -> Study:
    fitting = [study for study in studies if sorted((*study.factors, *COLUMNS)) == sorted(columns)]
    if name:
        fitting = [study for study in fitting if study.name == name]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(study.name for study in fitting or studies)
    if fitting:
        raise MeasurementError(f"{path} may belong to {names}: write --beside {fitting[0].name}={path}")
    study = next((each for each in studies if each.name == name), studies[0])
    raise MeasurementError(
        f"{path} has the columns {','.join(columns) or '(none)'} and not those of {names}: "
        f"{','.join((*study.factors, *COLUMNS))}; linklab study template {study.name}"
    )


def import_captures(study: Study, settings: Mapping[str, Sequence[str]], sent: Path, received: Path) -> StudyTable:
    """Return the table of one point, computed from a pair of captures (pcap or pcapng) of a researcher's own test.

    `settings` names a level of each factor that has several. Raises MeasurementError if the study cannot read
    captures, if a level is missing, or if a file cannot be read.
    """
    if study.from_captures is None:
        raise MeasurementError(f"study {study.name} does not say how to read captures: give its numbers as CSV")
    given = {factor: named_level(study, factor, texts[0]) for factor, texts in settings.items() if len(texts) == 1}
    for factor, known in study.factors.items():
        if factor not in given and len(known) > 1:
            raise MeasurementError(f"say which {factor} the captures are of: --set {factor}=LEVEL, one of them")
    levels = {factor: given.get(factor, known[0]) for factor, known in study.factors.items()}
    point = Point(study.name, tuple(levels.items()))
    for path in (sent, received):
        if not path.is_file():
            raise MeasurementError(f"{path} is not there: say the file of a capture")
    with in_one_line(f"study {study.name}: its from_captures failed"):
        measured = study.from_captures(point, sent, received)
    refuse_rows(measured, tuple(study.metrics))
    return table_of(study, {point: measured}, {"from": f"{sent}, {received}"})


def add_to_csv(table: StudyTable, path: Path) -> int:
    """Append a table of one point to a CSV file, as one more repeat; return the number of that repeat.

    Raises MeasurementError if the file is no table of the study, or cannot be read or written.
    """
    try:
        text = path.read_bytes().decode() if path.exists() else ""
        columns, repeat = [*table.study.factors, *COLUMNS], 1
        if text.removeprefix("\ufeff").strip():
            columns = list(_read(path).columns)
            mine = {factor: table.frame[factor].iloc[0] for factor in table.study.factors}
            there = StudyTable(table.study, _own_rows([table.study], "", path)[1]).select(**mine).frame["repeat"]
            repeat = 1 if there.empty else 1 + int(there.max())
        else:
            text = ",".join(columns)
        end = "\r\n" if "\r\n" in text else "\n"
        rows = table.frame.assign(repeat=repeat)[columns].to_csv(index=False, header=False, lineterminator=end)
        write_whole(path, text + ("" if text.endswith("\n") else end) + rows)
    except (OSError, UnicodeError) as error:
        raise MeasurementError(f"{path} cannot be read or written: {error}") from None
    return repeat
