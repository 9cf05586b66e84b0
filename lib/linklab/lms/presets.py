"""How learning platforms' tables name students and points. To add a platform's gradebook, add a preset.

Each was read in the platform's own code or manual:

- Canvas: ``lib/gradebook_exporter.rb`` and ``lib/gradebook_importer.rb`` of instructure/canvas-lms. Its importer knows
  an assignment by the number in "Name (123)", and makes a new assignment where there is none.
- Blackboard: "Work Offline with Grade Data" of its help. Its importer knows a column by the number behind "|".
- Moodle: an assignment's grading worksheet (``mod/assign/gradingtable.php``, ``mod/assign/feedback/offline``), and the
  gradebook's export as plain text (``grade/export/txt``). Headings are in the user's language: English and German here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Preset:
    """A table that a platform exports. Its headings are regular expressions, for a whole heading in any case.

    A table is of this preset if it has all headings of `known_by`. `id` is the column of students' ids, or several
    columns whose texts are joined by a blank. `points` is the heading of a lab's points, in which ``{lab}`` stands for
    the lab's name or title; the heading of a table of one assignment names no lab. `number` is the column that ends
    with the platform's own number of a student, which the names of its downloads have too: `platform` is then the name
    that the pattern of those downloads has (`linklab.grading.submissions`). What a column of points is worth stands in
    its heading (the first group of `worth_heading`), in the row that begins with `worth_row`, or in the column
    `worth_column`. Points are written over the texts in `vacant`.
    """

    platform: str
    known_by: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    points: str = ""
    number: str = ""
    worth_heading: str = ""
    worth_row: str = ""
    worth_column: str = ""
    vacant: tuple[str, ...] = ("", "-")


PRESETS: Final = (
    Preset(
        "canvas",
        known_by=("ID", "Student|LastName", "Section"),
        id=("SIS Login ID",),
        points=r"{lab} \(\d+\)",
        number="ID",
        worth_row="Points Possible",
    ),
    Preset(
        "blackboard",
        known_by=("Username", r".*\|\d+"),
        id=("Username",),
        points=r"{lab} \[Total Pts: [\d.,]+ Score\] \|\d+",
        worth_heading=r"\[Total Pts: ([\d.,]+) ",
        vacant=("", "-", "Needs Grading"),
    ),
    Preset(  # an assignment's grading worksheet
        "moodle",
        known_by=("Identifier|ID", "Full name|Vollständiger Name", "Grade|Bewertung"),
        id=("Full name|Vollständiger Name",),
        points="Grade|Bewertung",
        number="Identifier|ID",
        worth_column="Maximum Grade|Bestwertung",
    ),
    Preset(  # the gradebook as plain text
        "moodle",
        known_by=("First name|Vorname", "Last name|Surname|Nachname", r".* \((?:Real|Punkte)\)"),
        id=("First name|Vorname", "Last name|Surname|Nachname"),
        points=r"(?:[^:]*: )?{lab} \((?:Real|Punkte)\)",
    ),
)
"""The tables that are known; the first that fits counts."""
