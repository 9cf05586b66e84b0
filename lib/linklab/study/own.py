"""What a researcher brings: levels, a study file, a table of hardware's numbers, captures of a test of their own."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.files import write_whole
from linklab.study.declare import COLUMNS, Level, Measured, Point, Study, in_one_line, raised, refuse_rows
from linklab.study.store import digest
from linklab.study.table import Row, Table, as_compared, as_level, level_of, table_of_rows

_IN_FILE: Final = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)")
_LONGEST: Final = 40
_WHOLE: Final = 2**31


def selection(settings: Iterable[str], option: str) -> dict[str, list[str]]:
    """Return the levels of each factor that an option of the command line names: ``["size=1,2", "kind=a"]``.

    Raises MeasurementError for a word that names no level.
    """
    chosen: dict[str, list[str]] = {}
    for text in settings:
        factor, _, levels = text.partition("=")
        if not factor or not all(levels.split(",")):
            raise MeasurementError(
                f"{option} {text} names no level: write {option} FACTOR=LEVEL,LEVEL, as in {option} rates=10/10"
            )
        chosen.setdefault(factor, []).extend(levels.split(","))
    return chosen


def with_own_levels(study: Study, settings: Mapping[str, Sequence[str]]) -> Study:
    """Return the study with own levels of some factors, given as texts; its name says them, and its command has them.

    Raises MeasurementError for a factor it has not, a text where its levels are numbers, a file that is not there, or
    a level that the study leaves out of all its combinations.
    """
    if not settings:
        return study
    levels: dict[str, Sequence[Level]] = {
        factor: tuple(dict.fromkeys(_own_level(study, factor, text) for text in texts))
        for factor, texts in settings.items()
    }
    words = " ".join("--set " + shlex.quote(f"{factor}={','.join(texts)}") for factor, texts in settings.items())
    plain = "-".join(text for factor in study.factors for text in settings.get(factor, ()))
    short = re.sub(r"[^a-z0-9_]+", "-", plain.lower()).strip("-")[:_LONGEST]
    exact = digest(json.dumps(levels, sort_keys=True))[:6]  # the same numbers may be levels of other factors
    own = replace(
        study.with_levels(**levels), name=f"{study.name}-own-{short}-{exact}", command=f"{study.command} {words}"
    )
    points = own.points()
    for factor, given in levels.items():
        for level in given:
            if not any(point[factor] == level for point in points):
                raise MeasurementError(f"study {study.name} leaves out every combination with {factor}={level}")
    return own


def _own_level(study: Study, factor: str, text: str) -> Level:
    if factor not in study.factors:
        raise MeasurementError(f"study {study.name} has no factor {factor!r}: choose one of {', '.join(study.factors)}")
    known = study.factors[factor]
    if text in (names := {str(level): level for level in known}):
        return names[text]
    if factor in study.files:
        if not Path(text).is_file():
            raise MeasurementError(f"{factor} is {text!r}: no such file here; say one, or {', '.join(names)}")
        return text
    if all(isinstance(level, str) for level in known):
        return text
    level = as_level(text)
    if isinstance(level, str) and not any(isinstance(each, str) for each in known):
        raise MeasurementError(f"{factor} is {text!r}, which is no number: its levels are {', '.join(names)}")
    return level


def is_in_file(name: str) -> bool:
    """Whether a name is ``FILE.py:NAME``."""
    return _IN_FILE.fullmatch(name) is not None


def from_file(name: str) -> Any:
    """Return what ``FILE.py:NAME`` names: a study or a page. The files next to it can be imported there.

    Raises MeasurementError in one line where the file is not there or fails, or has no such name.
    """
    there = names_in_file(name)
    file, _, wanted = name.rpartition(":")
    if wanted not in there:
        raise MeasurementError(f"{file} has no {wanted!r}: say the name of a study or page in it")
    return there[wanted]


def names_in_file(name: str) -> Mapping[str, Any]:
    """Return all that the file of ``FILE.py:NAME`` has, by name. Raises MeasurementError as `from_file`."""
    found = _IN_FILE.fullmatch(name)
    if found is None:
        raise MeasurementError(f"{name} names nothing in a file: write FILE.py:NAME")
    path = Path(found["file"]).absolute()
    if not path.is_file():
        raise MeasurementError(f"{found['file']} is not there: say another file")
    module_name = f"study_file_{digest(str(path))}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module  # its source is looked up there
        sys.path.insert(0, str(path.parent))
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[module_name]
            raise MeasurementError(f"{found['file']} fails: {raised(error)}") from error
        finally:
            sys.path.remove(str(path.parent))
    return vars(module)


def template(study: Study) -> str:
    """Return the CSV to fill in with numbers of one's own: the columns, and a row for each point and metric, whose
    values are empty. Rows that stay empty are left out when it is read.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*study.factors, *COLUMNS])
    for point in study.points():
        for metric in study.metrics:
            levels = (level for _, level in point.levels)
            writer.writerow([*levels, point.repeat, "", "", metric.name, "", metric.unit])
    return text.getvalue()


def read_own(studies: Sequence[Study], given: str) -> Table:
    """Return the table of a CSV file that a researcher wrote, ``"mine.csv"`` or ``"STUDY=mine.csv"``.

    The study is the one whose columns the file has. Levels may be any. Raises MeasurementError in one line, with its
    number, for a row with a metric, unit, repeat, number or value that cannot be, or that is there twice.
    """
    name, equals, path = given.partition("=")
    if not equals:
        name, path = "", given
    try:
        study, rows = _own_rows(studies, name, path, Path(path).read_text("utf-8-sig"))
    except (OSError, UnicodeError, csv.Error) as error:
        raise MeasurementError(f"{path} cannot be read: {error}") from None
    if not rows:
        raise MeasurementError(f"{path} has no row with a value")
    return table_of_rows(study, rows, {"from": path}, (Path(path),))


def _own_rows(studies: Sequence[Study], name: str, path: str, text: str) -> tuple[Study, list[Row]]:
    reader = csv.DictReader(io.StringIO(text))
    study = _study_of(studies, name, path, list(reader.fieldnames or ()))
    seen: dict[tuple[object, ...], int] = {}
    rows = []
    for number, texts in enumerate(reader, 2):
        if None in texts or None in texts.values():
            raise MeasurementError(f"{path}, row {number}: it has not as many cells as there are columns")
        if not texts["value"].strip():
            continue
        try:
            row = _own_row(study, texts)
        except MeasurementError as wrong:
            raise MeasurementError(f"{path}, row {number}: {wrong}") from None
        key = (*(as_compared(row[factor]) for factor in study.factors), *(row[name] for name in COLUMNS[:4]))
        if key in seen:
            raise MeasurementError(f"{path}, row {number}: the same as row {seen[key]}: give it another repeat")
        seen[key] = number
        rows.append(row)
    return study, rows


def _study_of(studies: Sequence[Study], name: str, path: str, columns: list[str]) -> Study:
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


def _own_row(study: Study, texts: Mapping[str, str]) -> Row:
    texts = {name: text.strip() for name, text in texts.items()}
    metrics = {metric.name: metric for metric in study.metrics}
    if texts["metric"] not in metrics:
        raise MeasurementError(f"{texts['metric']!r} is no metric of study {study.name}: {', '.join(metrics)}")
    metric = metrics[texts["metric"]]
    if texts["unit"] != metric.unit:
        raise MeasurementError(f"the unit of {metric.name} is {metric.unit!r} and not {texts['unit']!r}")
    number, repeat, value = as_level(texts["number"] or "0"), as_level(texts["repeat"]), as_level(texts["value"])
    if isinstance(value, str):
        raise MeasurementError(f"value is {texts['value']!r}, which is no finite number")
    for column, whole in (("repeat", repeat), ("number", number)):
        if not isinstance(whole, int) or not (column == "repeat") <= whole < _WHOLE:
            raise MeasurementError(f"{column} is {texts[column]!r}, which is no whole number above 0 or far too large")
    levels: dict[str, Level] = {}
    for factor, known in study.factors.items():
        text = texts[factor]
        numbers_only = not any(isinstance(level, str) for level in known)
        if not text or (numbers_only and isinstance(as_level(text), str)):
            raise MeasurementError(f"{factor} is {text!r}: its levels are like {', '.join(map(str, known))}")
        levels[factor] = level_of(known, text)
    numbered = int(number) if texts["number"] else None
    return {**levels, "repeat": repeat, "of": texts["of"], "number": numbered, "metric": metric.name,
            "value": float(value), "unit": metric.unit}  # fmt: skip


def import_captures(study: Study, settings: Mapping[str, Sequence[str]], sent: Path, received: Path) -> Table:
    """Return the table of one point, measured by a pair of captures (pcap or pcapng) of a researcher's own test.

    `settings` names a level of each factor that has several. Raises MeasurementError where the study says not how to
    read captures, a level is missing, or a file cannot be read.
    """
    if study.from_captures is None:
        raise MeasurementError(f"study {study.name} does not say how to read captures: give its numbers as CSV")
    chosen = {factor: (level,) for factor, level in _one_level_each(study, settings).items()}
    point = Point(study.name, tuple((factor, level) for factor, (level,) in chosen.items()))
    for path in (sent, received):
        if not path.is_file():
            raise MeasurementError(f"{path} is not there: say the file of a capture")
    with in_one_line(f"study {study.name}: its from_captures failed"):
        measured = study.from_captures(point, sent, received)
    refuse_rows(measured, tuple(study.metrics))
    units = {metric.name: metric.unit for metric in study.metrics}
    return table_of_rows(study, [_as_row(point, row, units) for row in measured], {"from": f"{sent}, {received}"})


def _one_level_each(study: Study, settings: Mapping[str, Sequence[str]]) -> dict[str, Level]:
    given = {factor: _own_level(study, factor, texts[0]) for factor, texts in settings.items() if len(texts) == 1}
    levels: dict[str, Level] = {}
    for factor, known in study.factors.items():
        if factor not in given and len(known) > 1:
            raise MeasurementError(f"say which {factor} the captures are of: --set {factor}=LEVEL, one of them")
        levels[factor] = given.get(factor, known[0])
    _ = [_own_level(study, factor, "") for factor in settings if factor not in study.factors]
    return levels


def _as_row(point: Point, measured: Measured, units: Mapping[str, str]) -> Row:
    return {**dict(point.levels), "repeat": point.repeat, "of": measured.of, "number": measured.number,
            "metric": measured.metric, "value": measured.value, "unit": units[measured.metric]}  # fmt: skip


def add_to_csv(table: Table, path: Path) -> int:
    """Write a table of one point to a CSV file, behind all that it has already; return the repeat that it is there.

    Raises MeasurementError where the file is no table of the study, or cannot be read or written.
    """
    try:
        text = path.read_bytes().decode() if path.exists() else ""
        read = text.removeprefix("\ufeff")
        before = _own_rows([table.study], "", str(path), read)[1] if read.strip() else []
        rows = list(table)
        mine = [as_compared(rows[0][factor]) for factor in table.study.factors]
        repeats = [row["repeat"] for row in before if [as_compared(row[it]) for it in table.study.factors] == mine]
        repeat = 1 + max(repeats, default=0)
        added = io.StringIO()
        columns = next(csv.reader(io.StringIO(read))) if read.strip() else [*table.study.factors, *COLUMNS]
        writer = csv.DictWriter(added, columns, lineterminator="\r\n" if "\r\n" in text else "\n")
        if not read.strip():
            text = ""
            writer.writeheader()
        elif not text.endswith("\n"):
            added.write(writer.writer.dialect.lineterminator)
        writer.writerows({**row, "repeat": repeat} for row in rows)
        write_whole(path, text + added.getvalue())
    except (OSError, UnicodeError, csv.Error) as error:
        raise MeasurementError(f"{path} cannot be read or written: {error}") from None
    return repeat
