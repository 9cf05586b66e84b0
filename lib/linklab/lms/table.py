"""A CSV file cell by cell as it is written, so that all that is not changed stays byte for byte."""

from __future__ import annotations

import codecs
import re
from typing import Final

from linklab.errors import LinklabError

_DELIMITERS: Final = ",;\t:"
"""What separates cells: Moodle offers all four (``csv_import_reader::get_delimiter_list``)."""
_MARKS: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}


class CsvTable:
    """A table's `rows`, without blanks around texts; the first row has the headings. `write` changes a cell.

    Raises LinklabError for a file that was cut or damaged, or is no text in UTF-8 or UTF-16.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
        self._encoding = _MARKS.get(self._mark, "utf-8")
        try:
            text = data[len(self._mark) :].decode(self._encoding)
        except UnicodeError:
            text = "\0"
        if "\0" in text:
            raise LinklabError(
                f"{name} is no text in UTF-8 or UTF-16: export it anew as CSV, and do not save it with a spreadsheet"
            )
        first_line = re.split(r"[\r\n]", re.sub(r'"[^"]*+"', "", text[:100_000]), maxsplit=1)[0]
        self._delimiter = max(_DELIMITERS, key=first_line.count)
        self._raw = _rows(text, self._delimiter, name)
        self.rows = [[_value(raw) for raw, _ in row] for row in self._raw]
        for number, row in enumerate(self.rows, 1):
            missing = len(self.rows[0]) - len(row)
            if missing and any(row):
                raise LinklabError(
                    f"{name}, row {number}: {len(row)} cells, and {len(self.rows[0])} in the first row; the file was "
                    "cut or edited: export it anew"
                )
            row += [""] * missing

    def places(self, pattern: str) -> list[int]:
        """Return the places of the headings that a pattern matches as a whole, in any case."""
        return [at for at, heading in enumerate(self.rows[0]) if re.fullmatch(pattern, heading, re.IGNORECASE)]

    def write(self, row: int, place: int, text: str) -> None:
        """Put a text without quotation marks into a cell, which keeps those around it."""
        raw, end = self._raw[row][place]
        quoted = raw.startswith('"') or self._delimiter in text
        self._raw[row][place] = (f'"{text}"' if quoted else text, end)

    def encoded(self) -> bytes:
        """Return the file."""
        return self._mark + "".join(raw + end for row in self._raw for raw, end in row).encode(self._encoding)


def _rows(text: str, delimiter: str, name: str) -> list[list[tuple[str, str]]]:
    """Return the rows of cells as they are written, each with what ends it."""
    cell = re.compile(rf'("[^"]*+(?:""[^"]*+)*+"|[^"{delimiter}\r\n][^{delimiter}\r\n]*+|)({delimiter}|\r\n|\n|\r|\Z)')
    rows: list[list[tuple[str, str]]] = [[]]
    at, end = 0, ""
    while at < len(text) or end == delimiter:
        found = cell.match(text, at)
        if found is None:
            raise LinklabError(
                f"{name}, row {len(rows)}: a quotation mark is not closed where its cell ends: export it anew; where "
                "somebody's text has a quotation mark behind a backslash, export without texts and feedback"
            )
        at, end = found.end(), found[2]
        rows[-1].append((found[1], end))
        if end != delimiter and at < len(text):
            rows.append([])
    return rows


def _value(raw: str) -> str:
    return (raw[1:-1].replace('""', '"') if raw.startswith('"') else raw).strip()
