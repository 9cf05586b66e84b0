"""Reading a study's table back from the CSV file that a run has written."""

from __future__ import annotations

import csv
from pathlib import Path

from linklab.errors import MeasurementError
from linklab.study.declare import COLUMNS, Level, Study
from linklab.study.table import Row


def read_rows(study: Study, folder: Path) -> list[Row]:
    """The rows of `folder`/NAME.csv with the types that the run gave them.

    Raises MeasurementError where the file is missing, is another study's, or is damaged.
    """
    path = folder / f"{study.name}.csv"
    how = f"linklab study run {study.name.removesuffix('-short')} --output {folder}"
    if not path.exists():
        raise MeasurementError(f"{path} is not there: {how}")
    levels = {factor: {str(level): level for level in them} for factor, them in study.factors.items()}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != [*study.factors, *COLUMNS]:
                raise MeasurementError(f"{path} has not the columns of study {study.name}: {how}")
            return [_row(row, levels) for row in reader]
    except (ValueError, KeyError, TypeError) as wrong:
        raise MeasurementError(f"{path} is damaged ({wrong}): remove its folder, then {how}") from None


def _row(texts: dict[str, str], levels: dict[str, dict[str, Level]]) -> Row:
    return {
        **{factor: known[texts[factor]] for factor, known in levels.items()},
        "repeat": int(texts["repeat"]),
        "of": texts["of"],
        "number": int(texts["number"]) if texts["number"] else None,
        "metric": texts["metric"],
        "value": float(texts["value"]),
        "unit": texts["unit"],
    }
