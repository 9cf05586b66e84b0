"""A table as a learning platform exports it: read into cells, and written back with nothing but some cells changed.

Python's csv forgets which fields were quoted, how lines ended and what stood before the first of them. Here each cell
keeps its place in the text, so all that is not replaced is the same bytes as before. Pure.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError

DELIMITERS: Final = (",", ";", "\t", ":")
"""What separates cells: Moodle offers all four (``csv_import_reader::get_delimiter_list``)."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Cell:
    """A cell: what it says, and where it stands in the table's text, quotation marks included."""

    text: str
    start: int
    end: int
    quoted: bool


@dataclass(frozen=True)
class Table:
    """A table of ``rows``, each of cells; `name` is the file's, for messages."""

    name: str
    text: str
    mark: bytes
    encoding: str
    delimiter: str
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def header(self) -> tuple[str, ...]:
        """What the first row says, without blanks around it."""
        return tuple(cell.text.strip() for cell in self.rows[0])

    def at(self, row: int, column: int) -> str:
        """Return what a cell says, without blanks around it."""
        return self.rows[row][column].text.strip()

    def with_cells(self, numbers: Mapping[tuple[int, int], str]) -> bytes:
        """Return the file with other numbers in some cells, by row and column; all else is the same bytes."""
        parts, done = [], 0
        for row, column in sorted(numbers):
            cell, number = self.rows[row][column], numbers[row, column]
            quoted = cell.quoted or self.delimiter in number  # a decimal comma
            parts += [self.text[done : cell.start], f'"{number}"' if quoted else number]
            done = cell.end
        return self.mark + "".join((*parts, self.text[done:])).encode(self.encoding)


def decoded(data: bytes, name: str) -> tuple[str, bytes, str]:
    """Return a file's text, the byte order mark before it, and its encoding: UTF-8, or UTF-16 with such a mark.

    Raises LinklabError for any other: who saves an export with a spreadsheet gets the machine's own encoding.
    """
    mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        raise LinklabError(
            f"{name} is no text in UTF-8 or UTF-16: export it anew as CSV, and do not save it with a spreadsheet"
        )
    if not text.strip():
        raise LinklabError(f"{name} is empty: export it anew")
    return text, mark, encoding


def first_row(text: str, delimiter: str) -> tuple[str, ...]:
    """Return what the first row says if that separates cells; nothing where it cannot be read so."""
    try:
        return tuple(cell.text.strip() for cell in _row(text, 0, delimiter, 1)[0])
    except LinklabError:
        return ()


def read_table(data: bytes, name: str, delimiter: str) -> Table:
    """Return the table in a file's bytes, without empty lines.

    Raises LinklabError, with the line, for a quotation mark that is not closed: the file was cut, or edited.
    """
    text, mark, encoding = decoded(data, name)
    rows, place, line = [], 0, 1
    while place < len(text):
        try:
            row, after = _row(text, place, delimiter, line)
        except LinklabError as error:
            raise LinklabError(f"{name}, {error}") from None
        if len(row) > 1 or row[0].text.strip():
            rows.append(row)
        line += len(_LINE_END.findall(text, place, after))
        place = after
    return Table(name, text, mark, encoding, delimiter, tuple(rows))


def _row(text: str, place: int, delimiter: str, line: int) -> tuple[tuple[Cell, ...], int]:
    """The row that begins at a place, and where the next one begins."""
    quoted, of_php, plain = _patterns(delimiter)
    cells = []
    while True:
        if found := quoted.match(text, place) or of_php.match(text, place):
            start = place + found[0].index('"')
            cells.append(Cell(found[1].replace('""', '"'), start, start + len(found[1]) + 2, True))
        else:
            found = plain.match(text, place)
            assert found is not None, "it matches nothing as well"
            if found[0].lstrip(" ").startswith('"'):
                raise LinklabError(f"line {line}: a quotation mark is not closed where the cell ends: export it anew")
            cells.append(Cell(found[0], place, found.end(), False))
        place = found.end()
        if text[place : place + 1] != delimiter:
            break
        place += 1
    ended = _LINE_END.match(text, place)
    return tuple(cells), ended.end() if ended else place


def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What matches a cell in quotation marks, one of Moodle's, and one without.

    PHP's fputcsv, which Moodle writes with, does not double a quotation mark behind backslashes.
    """
    mark = re.escape(delimiter)
    return (
        re.compile(rf' *"((?:[^"]|"")*)" *(?={mark}|\r|\n|\Z)'),
        re.compile(rf' *"((?:\\++"|\\++|[^"\\]|"")*)" *(?={mark}|\r|\n|\Z)'),
        re.compile(rf"[^{mark}\r\n]*"),
    )
