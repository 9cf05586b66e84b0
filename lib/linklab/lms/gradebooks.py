"""The tables that Moodle, Canvas and Blackboard export: their headings, whose row is whose, and the points. Pure.

A student is never guessed. The platform's own number, which stands in the names of submissions, names a row. Besides,
one column serves the whole class, the one that names most of it, so that a number of one kind is not taken for one of
another; full names count as such a column. A student who is in no row or in several gets nothing and is named, and so
is everybody who claims a row that another student claims too.

Sources of the headings, each read in the platform's own code or manual:

- Canvas: ``lib/gradebook_exporter.rb`` and ``lib/gradebook_importer.rb`` of instructure/canvas-lms. The headings are
  English whatever the user's language. The importer knows an assignment by the number in "Name (123)", makes a new
  assignment where there is none, and takes "N/A" for somebody who does not have the assignment.
- Moodle: the worksheet of an assignment (``mod/assign/gradingtable.php``, ``mod/assign/feedback/offline``), and the
  gradebook's export as plain text (``grade/export/txt``, ``grade/import/csv``). The headings are in the user's
  language; English and German are known here.
- Blackboard: "Work Offline with Grade Data" of its help: a column is known by the number behind "|", and a column
  without one becomes a new one on upload.
"""

from __future__ import annotations

import codecs
import csv
import html
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grading.grades import StoredLab
from linklab.grading.names import cleaned
from linklab.lms.feedback import comment
from linklab.lms.marks import Marks, StudentMarks, not_final
from linklab.network.variants import normalised

_OWN_NUMBER: Final = "the platform's own number"
_FULL_NAME: Final = "the full name"
_DELIMITERS: Final = (",", ";", "\t", ":")
"""What separates cells: Moodle offers all four (``csv_import_reader::get_delimiter_list``)."""
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?")
_NAME: Final = "Student|Full name|Vollständiger Name"
_FIRST_NAME: Final = "First ?name|Vorname"
_LAST_NAME: Final = "Last ?name|Surname|Nachname"
_SAME: Final = 0.005
"""Points have two decimals, which is what Canvas keeps: below half of the last one two numbers are the same."""


@dataclass(frozen=True)
class Form:
    """A kind of table that a platform exports. Regular expressions match whole headings, in any case.

    `known_by` must all be there; of the first, which names students, ``--by`` can take the place. `ids` are columns
    that name a student, `number` the one that ends with the platform's own number of a student. `points` are columns
    that may take points; its groups are what the assignment may be called, and ``most`` what it is worth. `refused`
    are those of them that take no points, and why. `most` is the column, and `most_row` the row, that says what an
    assignment is worth; `lock` the column that says whether a grade can be changed; `scale` one that is there if there
    are no points. `nobody` is how rows of no student begin, `vacant` what stands where no grade is. `of_one` is True
    for the table of one assignment, whose name does not stand in it; `comments` is its column that takes a comment as
    HTML.
    """

    platform: str
    called: str
    needs: str
    known_by: tuple[str, ...]
    ids: tuple[str, ...]
    points: str
    refused: tuple[tuple[str, str], ...] = ()
    number: str = ""
    most: str = ""
    most_row: str = ""
    lock: str = ""
    scale: str = ""
    comments: str = ""
    nobody: str = ""
    vacant: tuple[str, ...] = ("", "-")
    of_one: bool = False


_MOODLE_IDS: Final = ("Username|Anmeldename", "Email address|E-Mail-Adresse", "ID number|ID-Nummer")
_MOODLE_NEEDS: Final = "a column that names students (Identifier, Email address, ID number; or name it with --by)"
FORMS: Final = (
    Form(
        "canvas", "Canvas", "the columns Student, ID and Section",
        known_by=("ID", "Student|LastName", "Section"),
        ids=("SIS Login ID", "SIS User ID", "Integration ID", "ID"),
        number="ID",
        points=r"(?P<title>.*?)(?:\s\(\d+\))?",
        refused=(
            (r"(?!.*\s\(\d+\)\Z).*",
             "has no number of an assignment at its end, so Canvas would make a new one: export it anew"),
        ),
        most_row="Points Possible",
        nobody="Points Possible|Muted|Manual Posting.*",
    ),
    Form(
        "blackboard", "Blackboard", "a column Username, and one for each assignment that ends with | and a number",
        known_by=("Username", r".*\|\d+"),
        ids=("Username", "Student ID"),
        points=r"(?P<title>.*?)\s*(?:\[Total Pts: (?:up to )?(?P<most>\d+(?:[.,]\d+)?)(?: [^\]]*)?\])?\s*\|\d+",
        refused=(
            (r".*\[Total Pts: up to .*", "is computed by Blackboard from others"),
            (r".*\[Total Pts: \S+ (?!Score\])[^\]]*\].*",
             "does not show Score: let Blackboard show Score, and export it anew"),
        ),
        vacant=("", "-", "Needs Grading"),
    ),
    Form(
        "moodle", "Moodle", _MOODLE_NEEDS,
        known_by=("Identifier|ID", "Grade|Bewertung", r"(?:Last modified|Zuletzt geändert) \((?:grade|Bewertung)\)"),
        ids=(*_MOODLE_IDS, "Identifier|ID"),
        number="Identifier|ID",
        points="Grade|Bewertung",
        most="Maximum Grade|Bestwertung",
        lock="Grade can be changed|Bewertung kann geändert werden",
        scale="Scale|Skala",
        comments="Feedback comments|Feedback als Kommentar",
        of_one=True,
    ),
    Form(
        "moodle", "Moodle", _MOODLE_NEEDS,
        known_by=("|".join(_MOODLE_IDS),),
        ids=_MOODLE_IDS,
        points=r"(?P<item>(?:[^:]*: )?(?P<title>.*?))(?: \((?:Real|Punkte)\))?",
        refused=(
            (r"Feedback: .*|.* \((?:Feedback|Percentage|Letter|Prozentsatz|Notenstufen)\)", "has no points in it"),
        ),
    ),
)  # fmt: skip
"""The tables that are known. The first that a file's headings fit is taken."""


@dataclass(frozen=True)
class PointsColumn:
    """A column that may take points; `names` are all that the assignment may be called in it.

    `max_points` is what the platform says that it is worth, if it does; `refused` is why it takes no points.
    """

    index: int
    heading: str
    names: frozenset[str]
    max_points: float | None
    refused: str


@dataclass(frozen=True)
class Gradebook:
    """A platform's table: its `rows`, the file's `name`, and how the file is written.

    `rows_by` are the rows that have a text, by the column's heading (or what else names students) and by the text.
    `who` are students for people, by row; `locked` are rows that take no grade.
    """

    form: Form
    name: str
    rows: Sequence[Sequence[str]]
    encoding: str
    dialect: Mapping[str, Any]
    columns: Sequence[PointsColumn]
    rows_by: Mapping[str, Mapping[str, Sequence[int]]]
    who: Mapping[int, str]
    locked: frozenset[int]

    def place(self, pattern: str) -> int | None:
        """Return the place of the first heading that a pattern matches; None without one, and for no pattern."""
        return _place([heading.strip() for heading in self.rows[0]], pattern)

    def column(self, *words: str) -> PointsColumn:
        """Return the column with one of these headings, or of the assignment that is called so; the first there is.

        Raises LinklabError where there is none, or several, or it takes no points.
        """
        for word in words:
            found = [one for one in self.columns if one.heading == word.strip()] or [
                one for one in self.columns if normalised(word) in one.names
            ]
            found = [one for one in found if not one.refused] or found[:1]
            if len(found) > 1:
                headings = " or ".join(sorted({repr(one.heading) for one in found}))
                raise LinklabError(
                    f"{self.name} has {len(found)} columns called {word!r}: say with --labs which, {headings}, or "
                    f"rename one in {self.form.called}"
                )
            if found and found[0].refused:
                raise LinklabError(f"{self.name}, column {found[0].heading!r} {found[0].refused}")
            if found:
                return found[0]
        there = "; ".join(repr(one.heading) for one in self.columns if not one.refused) or "none at all"
        raise LinklabError(f"{self.name} has no column {words[0]!r} for points, but {there}")


def read_gradebook(data: bytes, name: str, platform: str, by: str = "") -> Gradebook:
    """Return the gradebook that a platform exported: ``moodle``, ``canvas`` or ``blackboard``.

    ``by`` is the heading of the column that names students, where it is another one than usual. Raises LinklabError for
    a file that is another platform's, cut, damaged, or in an encoding that no platform writes.
    """
    text, encoding = _decoded(data, name)
    form, delimiter = _form_of(text, name, platform, by)
    rows = _read_rows(text, name, delimiter, form)
    header, *_ = cells = [[text.strip() for text in row] for row in rows]
    students = [row for row in range(1, len(cells)) if not _is_nobody(cells[row], form)]
    if not students:
        raise LinklabError(f"{name} lists no student: export the gradebook anew")
    places = [_place(header, pattern) for pattern in ([re.escape(by)] if by else form.ids)]
    if by and places == [None]:
        raise LinklabError(f"{name} has no column {by!r}: choose of {'; '.join(header)}")
    ids = {header[place]: {row: [cells[row][place]] for row in students} for place in places if place is not None}
    names = _names(header, cells, students)
    known = dict(ids)
    if by and re.fullmatch(_NAME, next(iter(ids)), re.IGNORECASE):
        known = {_FULL_NAME: names}
    elif not by:
        known |= {_FULL_NAME: names} if names else {}
        if (place := _place(header, form.number)) is not None:
            known[_OWN_NUMBER] = {row: re.findall(r"\d+\Z", cells[row][place]) for row in students}
    lock = _place(header, form.lock)
    locked = frozenset(row for row in students if lock is not None and cells[row][lock] in ("No", "Nein"))
    # Blackboard quotes all cells; and csv would leave a lone carriage return without quotation marks
    all_quoted = text.startswith('"') or re.search(r"\r(?!\n)", text)
    dialect = {
        "delimiter": delimiter,
        "lineterminator": "\r\n" if text.partition("\n")[0].endswith("\r") else "\n",
        "quoting": csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL,
    }
    columns = list(_columns(form, name, cells, students))
    rows_by = {label: _rows_by_text(texts) for label, texts in known.items()}
    who = {row: _who(row, names.get(row, []), [texts[row][0] for texts in ids.values()]) for row in students}
    return Gradebook(form, name, rows, encoding, dialect, columns, rows_by, who, locked)


def _decoded(data: bytes, name: str) -> tuple[str, str]:
    """A file's text and encoding: UTF-8, or UTF-16 with a byte order mark. A spreadsheet saves the machine's own."""
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        raise LinklabError(
            f"{name} is no text in UTF-8 or UTF-16: export it anew as CSV, and do not save it with a spreadsheet"
        )
    if not text.strip():
        raise LinklabError(f"{name} is empty: export it anew")
    return text, encoding


def _form_of(text: str, name: str, platform: str, by: str) -> tuple[Form, str]:
    """Return the form that the first row's headings fit, and the delimiter."""
    wanted = next(form for form in FORMS if form.platform == platform)
    for form in FORMS:
        for delimiter in _DELIMITERS:
            first_row = next(csv.reader(io.StringIO(text[:100_000], newline=""), delimiter=delimiter), [])
            header = [heading.strip() for heading in first_row]
            first, *others = form.known_by
            named = _place(header, first) is not None or _place(header, re.escape(by)) is not None
            if not named or any(_place(header, pattern) is None for pattern in others):
                continue
            if form.platform != platform:
                raise LinklabError(
                    f"{name} is an export of {form.called}, not of {wanted.called}: say --for {form.platform}"
                )
            return form, delimiter
    raise LinklabError(
        f"{name} is no gradebook of {wanted.called}: its first row needs {wanted.needs}; export it anew, as CSV"
    )


def _read_rows(text: str, name: str, delimiter: str, form: Form) -> list[list[str]]:
    """Return all rows. Raises LinklabError where a student's has not as many cells as the first one."""
    before = csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a cell may hold all that was handed in
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if rows and len(row) != len(rows[0]) and not _is_nobody(row, form):
                raise LinklabError(
                    f"{name}, line {reader.line_num}: {len(row)} cells, and {len(rows[0])} in the first line; the file "
                    "was cut or edited: export it anew"
                )
            rows.append(row)
    except csv.Error as error:
        raise LinklabError(
            f"{name}, line {reader.line_num}: a quotation mark is not closed where its cell ends ({error}): export it "
            "anew; where somebody's text has a quotation mark behind a backslash, export without texts and feedback"
        ) from None
    finally:
        csv.field_size_limit(before)
    return rows


def _is_nobody(row: Sequence[str], form: Form) -> bool:
    """Whether a row is no student's: an empty one, or one of the platform's own."""
    said = next((text.strip() for text in row if text.strip()), "")
    return not said or re.fullmatch(form.nobody, said) is not None


def _place(header: Sequence[str], pattern: str) -> int | None:
    """Return the place of the first heading that a pattern matches; None without one, and for no pattern."""
    matching = (index for index, said in enumerate(header) if re.fullmatch(pattern, said, re.IGNORECASE))
    return next(matching, None) if pattern else None


def _names(header: Sequence[str], cells: Sequence[Sequence[str]], students: Iterable[int]) -> dict[int, list[str]]:
    """Full names by row, ``King, Ada`` in both orders; nothing where the table has none."""
    full, first, last = (_place(header, pattern) for pattern in (_NAME, _FIRST_NAME, _LAST_NAME))
    if full is not None:
        said = {row: cells[row][full] for row in students}
        return {
            row: [" ".join(part.strip() for part in reversed(name.split(",", 1))), name] for row, name in said.items()
        }
    if first is not None and last is not None:
        return {row: [f"{cells[row][first]} {cells[row][last]}".strip()] for row in students}
    return {}


def _who(row: int, names: Sequence[str], ids: Sequence[str]) -> str:
    """A student for people: the name, and the first id that is there."""
    name, said = next(iter(names), ""), next(filter(None, ids), "")
    return cleaned(f"{name} ({said})" if name and said else name or said or f"row {row + 1}")


def _columns(form: Form, name: str, cells: Sequence[Sequence[str]], students: Sequence[int]) -> Iterator[PointsColumn]:
    header = cells[0]
    naming = "|".join((*form.ids, _NAME, _FIRST_NAME, _LAST_NAME))
    worth_row = next((row for row in cells if form.most_row and row[:1] == [form.most_row]), [])
    worth_column = _place(header, form.most)
    for index, heading in enumerate(header):
        found = re.fullmatch(form.points, heading, re.IGNORECASE)
        if found is None or (re.fullmatch(naming, heading, re.IGNORECASE) and not form.of_one):
            continue
        groups = found.groupdict()
        worth = groups.pop("most", None) or "".join(worth_row[index : index + 1])
        if worth_column is not None:
            several = sorted({cells[row][worth_column] for row in students})
            if len(several) > 1:
                raise LinklabError(f"{name} says that it is worth {' and '.join(several)} points: export it anew")
            worth = several[0]
        refused = next((why for pattern, why in form.refused if re.fullmatch(pattern, heading)), "")
        if not refused and "read only" in worth:
            refused = f"is read only in {form.called}"
        if _place(header, form.scale) is not None:
            refused = "is of a scale, not of points"
        names = frozenset(normalised(text) for text in groups.values() if text and text.strip())
        yield PointsColumn(index, heading, names, _number(worth), refused)


def _number(text: str) -> float | None:
    """A number as a gradebook has it, with a point or a comma; None for anything else."""
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text.strip()) else None


def _rows_by_text(texts: Mapping[int, Sequence[str]]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, said in texts.items():
        for key in _keys(said):
            rows.setdefault(key, []).append(row)
    return rows


def _keys(texts: Iterable[str]) -> set[str]:
    # signs that nobody sees are lost in a submission's name already
    return {normalised(cleaned(text)) for text in texts if text.strip()}


def _rows_of(book: Gradebook, one: StudentMarks, label: str) -> list[Sequence[int]]:
    """Return the rows that have a student's id, name or number, for each such text that stands in the table."""
    texts = one.names if label == _FULL_NAME else one.ids
    if label == _OWN_NUMBER:
        texts = one.numbers.get(book.form.platform, ())
    by_text = book.rows_by.get(label, {})
    return [by_text[key] for key in sorted(_keys(texts)) if key in by_text]


def _claimed(book: Gradebook, one: StudentMarks, label: str) -> set[int]:
    """Return the rows that have a text of a student's which no other row has."""
    return {rows[0] for rows in _rows_of(book, one, label) if len(rows) == 1}


def _best_label(book: Gradebook, students: Sequence[StudentMarks]) -> str:
    """The column that names most of the students. Raises LinklabError where two do, and not the same rows."""
    labels = [label for label in book.rows_by if label != _OWN_NUMBER]
    found = {label: [_claimed(book, one, label) for one in students] for label in labels}
    best = max(labels, key=lambda label: sum(map(bool, found[label])), default="")
    for other in labels:
        named = sum(map(bool, found[other]))
        if named == sum(map(bool, found[best])) and found[other] != found[best]:
            raise LinklabError(
                f"{book.name}: {best} and {other} both name {named} of the students, and not the same: "
                f"say which with --by (--by {best!r})"
            )
    return best


def _why_not(book: Gradebook, one: StudentMarks, label: str) -> str:
    """Return why a student has no row."""
    numbers = one.numbers.get(book.form.platform, ())
    if _is_elsewhere(book, one, label):
        return (
            f"no row of {book.name} has {book.form.called}'s own number {cleaned(' or '.join(numbers))}; if it is the "
            "right file, find students otherwise with --by"
        )
    many = max(map(len, _rows_of(book, one, label)), default=0)
    return f"{many} rows of {book.name} have that in {label}" if many else f"no row of {book.name} has that in {label}"


def _is_elsewhere(book: Gradebook, one: StudentMarks, label: str) -> bool:
    """Whether the platform has a number for a student and no row of it, so that nothing else names the student.

    Moodle's numbers are one assignment's own, so there an address or an ID still names somebody who handed in
    otherwise; a name may be a namesake's. Canvas' numbers are the same in all of it.
    """
    numbered = _OWN_NUMBER in book.rows_by and bool(one.numbers.get(book.form.platform))
    strict = book.form.platform != "moodle" or label == _FULL_NAME
    return numbered and strict and not _claimed(book, one, _OWN_NUMBER)


def _match(book: Gradebook, students: Sequence[StudentMarks]) -> tuple[dict[str, int], list[str], dict[str, str]]:
    """Return rows by student, lines on how they were found and on who was not graded, and why others have no row."""
    label = _best_label(book, students)
    claims = {
        one.student: _claimed(book, one, _OWN_NUMBER)
        | (set() if _is_elsewhere(book, one, label) else _claimed(book, one, label))
        for one in students
    }
    claimants = Counter(row for claimed in claims.values() for row in claimed)
    rows: dict[str, int] = {}
    unmatched: dict[str, str] = {}
    found_by: Counter[str] = Counter()
    for one in students:
        claimed = sorted(claims[one.student])
        if len(claimed) > 1:
            unmatched[one.student] = f"may be {' or '.join(book.who[row] for row in claimed)}"
        elif not claimed:
            unmatched[one.student] = _why_not(book, one, label)
        elif claimants[claimed[0]] > 1:
            unmatched[one.student] = f"{book.who[claimed[0]]} is another student's row as well"
        else:
            rows[one.student] = claimed[0]
            numbered = _claimed(book, one, _OWN_NUMBER)
            found_by[f"{book.form.called}'s own number" if numbered else label] += 1
    said = [f"found by {what}: {count}" for what, count in found_by.items()]
    said += [f"in {book.name}, and not graded: {who}" for row, who in book.who.items() if row not in claimants]
    return rows, said, unmatched


@dataclass(frozen=True)
class Wishes:
    """What may be done: overwrite other grades, write those that are not final, convert to the column's points.

    With ``comments`` what was found goes into the table too, where that takes comments.
    """

    replace: bool = False
    provisional: bool = False
    scale: bool = False
    comments: bool = False


def fill(
    book: Gradebook, marks: Marks, columns: Mapping[str, PointsColumn], wishes: Wishes
) -> tuple[bytes, Sequence[str], Sequence[str]]:
    """Write the points of each lab into its column, where a cell is vacant.

    Returns the file, what became of the points, and a line for each thing that somebody has to look at. A grade that
    stands there stays, unless ``wishes`` say to replace it; what is no number stays in any case. Raises LinklabError
    where a column is worth something else than the lab.
    """
    places, said, unmatched = _match(book, marks.students)
    if not places:
        raise LinklabError(
            f"{book.name} has none of the {len(marks.students)} students that were graded (the first is "
            f"{cleaned(marks.students[0].student) if marks.students else 'nobody'}): is it this class's, and if a "
            "worksheet, this assignment's? If it names them in another column, say it with --by"
        )
    handed_in = {one.student for one in marks.students for lab in columns if one.of(lab).state != "not handed in"}
    troubles = [f"not found, {cleaned(one)}: {why}" for one, why in unmatched.items() if one in handed_in]
    comma = _has_decimal_comma(book, columns.values())
    rows = [list(row) for row in book.rows]
    for lab, column in columns.items():
        factor = _factor(marks.max_points[lab], lab, column, book, wishes)
        if column.max_points is None:
            worth = f"{marks.max_points[lab]:g}"
            said.append(f"{book.name} does not say what {lab} is worth in {book.form.called}: it must be {worth}")
        counts = {"written": 0, "as they were": 0, "not handed in": 0}
        for one in marks.students:
            if one.student not in places:
                continue
            row, mark = places[one.student], one.of(lab)
            points, there = round(mark.points * factor, 2), book.rows[row][column.index].strip()
            old = _number(there)
            if mark.state == "not handed in":
                counts["not handed in"] += 1
            elif trouble := _hindrance(book, row, mark, there, points, wishes):
                troubles.append(f"not written, {cleaned(one.student)}, {lab}: {trouble}")
            elif old is not None and abs(old - points) < _SAME:
                counts["as they were"] += 1
            else:
                counts["written"] += 1
                text = f"{points:.2f}".rstrip("0").rstrip(".")
                rows[row][column.index] = text.replace(".", ",") if comma else text
                if old is not None:
                    said.append(f"replaced, {cleaned(one.student)}, {lab}: {there} by {points:g}")
        said.append(f"{lab}, into {column.heading!r}: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
        if wishes.comments:
            troubles += _write_comments(book, rows, marks, lab, places, wishes)
    out = io.StringIO()
    csv.writer(out, **book.dialect).writerows(rows)
    return out.getvalue().encode(book.encoding), said, troubles


def _write_comments(
    book: Gradebook,
    rows: Sequence[list[str]],
    marks: Marks,
    lab: str,
    places: Mapping[str, int],
    wishes: Wishes,
) -> Iterator[str]:
    """Write comments where none stand, if the table takes them; yield a line for each that differs and stays."""
    place = book.place(book.form.comments)
    if place is None:
        return
    for one in marks.students:
        row, mark = places.get(one.student), one.of(lab)
        if row is None or mark.state == "not handed in" or not_final(mark, wishes.provisional) or row in book.locked:
            continue
        said = comment(marks, lab, mark)
        text = html.escape(said, quote=False).replace("\n", "<br />")
        there = rows[row][place].strip()
        if there and there != text and not wishes.replace:
            yield f"not written, {cleaned(one.student)}, {lab}: another comment stands there, unless you say --replace"
        else:
            rows[row][place] = text


def numbers_of(book: Gradebook, marks: Marks) -> dict[str, str]:
    """Return the platform's own number of each student who has a row, as the row has it; empty where none is there."""
    place = book.place(book.form.number)
    if place is None:
        return {}
    found = {}
    for student, row in _match(book, marks.students)[0].items():
        number = re.search(r"\d+\Z", book.rows[row][place].strip())
        if number and row not in book.locked:
            found[student] = number[0]
    return found


def _has_decimal_comma(book: Gradebook, columns: Iterable[PointsColumn]) -> bool:
    """Return whether the file's points have a decimal comma.

    The columns that are to be written say it, and what they are worth; where none of these numbers is broken, the other
    grades; and last of all any other column (``4.1``, a department). Raises LinklabError where they disagree.
    """
    open_columns = [one for one in book.columns if not one.refused]
    most = book.place(book.form.most)
    written = [*(one.index for one in columns), *([most] if most is not None else [])]
    grades = [one.index for one in open_columns if one.heading.endswith(")")]  # Moodle's (Real) and Canvas' (123)
    for places in (written, grades, [one.index for one in open_columns]):
        said = [text for row in book.rows[1:] for place in places for text in row[place : place + 1]]
        marks = {mark for text in said if _number(text) is not None for mark in ",." if mark in text}
        if len(marks) > 1:
            raise LinklabError(f"{book.name} has points with a comma and with a point: export it anew")
        if marks:
            return marks == {","}
    return False


def _factor(worth: float, lab: str, column: PointsColumn, book: Gradebook, wishes: Wishes) -> float:
    """Return the factor that converts a lab's points into the column's."""
    if column.max_points is None and wishes.scale:
        raise LinklabError(
            f"{book.name} does not say how many points {column.heading!r} is worth, so nothing can be converted: "
            f"give it {worth:g} points in {book.form.called}, and leave --scale away"
        )
    if column.max_points is None or abs(column.max_points - worth) < _SAME:
        return 1.0
    if wishes.scale and worth > 0:
        return column.max_points / worth
    raise LinklabError(
        f"{lab} is worth {worth:g} points, and column {column.heading!r} of {book.name} {column.max_points:g}: "
        f"give it {worth:g} points in {book.form.called} and export it anew, or say --scale"
    )


def _hindrance(book: Gradebook, row: int, mark: StoredLab, there: str, points: float, wishes: Wishes) -> str:
    """Return why points must not be written, or nothing."""
    if early := not_final(mark, wishes.provisional):
        return early
    if row in book.locked:
        return f"{book.form.called} says that this grade cannot be changed"
    old = _number(there)
    if there not in book.form.vacant and old is None:
        return f"{cleaned(there)!r} stands there, which is no number: change it in {book.form.called}"
    if old is not None and abs(old - points) >= _SAME and not wishes.replace:
        return f"{there} stands there, and {points:g} were graded: it stays, unless you say --replace"
    return ""
