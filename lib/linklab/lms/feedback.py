"""What was found goes back to students where their platform shows it: comments, and their pages.

Moodle ("Upload multiple feedback files in a zip"): a file is a participant's by the number in its name,
``NAME_NUMBER_assignsubmission_file_FILE`` (``mod/assign/feedback/file/importziplib.php``). Canvas ("Submissions API",
"Submission Comments API"): ``comment[text_comment]`` of ``PUT .../submissions/:user_id`` adds a comment, and
``PUT .../comments/:id`` changes one. nbgrader: ``feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html``, from where
``nbgrader release_feedback`` takes it.
"""

from __future__ import annotations

import io
import json
import re
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grading.grades import StoredLab
from linklab.grading.names import cleaned, cleaned_lines
from linklab.lms.marks import Marks, StudentMarks, not_final

_LONGEST: Final = 300
_PATIENCE_S: Final = 60


def comment(marks: Marks, lab: str, mark: StoredLab) -> str:
    """Return what a lab's verdict says, in lines: the points, each cell that has not all of them, graders' comments."""
    lines = [f"{marks.titles[lab]}: {mark.points:g} of {marks.max_points[lab]:g} points"]
    if mark.open_points:
        lines[0] += f", {mark.open_points:g} still open"
    for cell in mark.cells:
        if cell.status == "answered":
            continue  # its points are open, which the first line says
        if cell.points < cell.max_points or cell.comment:
            name = ("Free text: " if cell.kind == "free text" else "") + cleaned(cell.title or cell.id)
            said = [cleaned_lines(text.strip(), _LONGEST) for text in (cell.reason, cell.comment) if text]
            lines.append(": ".join((f"{name}: {cell.points:g} of {cell.max_points:g}", *said)))
    return "\n".join(lines)


def _ready(marks: Marks, lab: str, provisional: bool) -> Iterator[tuple[StudentMarks, StoredLab]]:
    """Yield the students who handed a lab in, and whose points are final."""
    for one in marks.students:
        mark = one.of(lab)
        if mark.state != "not handed in" and not not_final(mark, provisional):
            yield one, mark


def _page(one: StudentMarks) -> bytes:
    if one.page is None or not one.page.is_file():
        raise LinklabError(f"there is no page of {cleaned(one.student)}: name the folder that linklab grade wrote")
    return one.page.read_bytes()


def zip_of_pages(marks: Marks, numbers: Mapping[str, str], labs: Sequence[str], provisional: bool) -> tuple[bytes, int]:
    """Return Moodle's zip file of feedback files, a page for each student with a number, and how many there are.

    Raises LinklabError where a page is missing.
    """
    out = io.BytesIO()
    written = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for lab in labs:
            for one, _ in _ready(marks, lab, provisional):
                if one.student in numbers:
                    name = re.sub(r"[^\w .@-]|_", " ", one.student).strip() or "student"
                    file = zipfile.ZipInfo(
                        f"{name}_{numbers[one.student]}_assignsubmission_file_{lab}.html", (1980, 1, 1, 0, 0, 0)
                    )
                    archive.writestr(file, _page(one), zipfile.ZIP_DEFLATED)
                    written += 1
    return out.getvalue(), written


def into_folders(folder: Path, marks: Marks, labs: Sequence[str]) -> int:
    """Write students' pages as ``nbgrader generate_feedback`` writes them; return how many.

    Raises LinklabError where a page is missing, or an id is no name of a folder.
    """
    written = 0
    for lab in labs:
        for one, _ in _ready(marks, lab, provisional=True):
            if one.student in (".", "..") or "/" in one.student:
                raise LinklabError(f"{cleaned(one.student)} is no id of nbgrader's: it cannot be a folder")
            place = folder / one.student / lab
            place.mkdir(parents=True, exist_ok=True)
            write_whole(place / f"{lab}.html", _page(one), 0o644)
            written += 1
    return written


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes to no other address: the token is for this one alone."""

    def redirect_request(self, *_: Any) -> None:
        """Return nothing, so that the redirection is an error."""


@dataclass(frozen=True)
class CanvasCourse:
    """A course of Canvas, by the address of its API, and a token of a teacher's."""

    api: str
    token: str

    @classmethod
    def at(cls, address: str, token: str) -> CanvasCourse:
        """Return the course with an address as the browser shows it. Raises LinklabError for any other, or no token."""
        found = re.fullmatch(r"(?P<host>https?://[^/?#]+)/courses/(?P<course>\d+)/?", address)
        if found is None or not (address.startswith("https:") or "//127.0.0.1:" in address):
            raise LinklabError(f"{address} is no course of Canvas: give it as https://canvas.example/courses/42")
        if not token:
            raise LinklabError("Canvas needs a token: Account, Settings, New Access Token; export it as CANVAS_TOKEN")
        return cls(f"{found['host']}/api/v1/courses/{found['course']}", token)

    def send(
        self, marks: Marks, numbers: Mapping[str, str], headings: Mapping[str, str], provisional: bool
    ) -> Iterator[str]:
        """Send comments for labs whose columns have these headings; yield a line a lab.

        A comment that is there stays one: where the lab was graded anew, it is changed. So the same command can be
        repeated, after an error too. Raises LinklabError where Canvas refuses.
        """
        for lab, heading in headings.items():
            number = re.search(r"\((\d+)\)\Z", heading)
            counts = {"sent": 0, "changed": 0, "as they were": 0}
            for one, mark in _ready(marks, lab, provisional) if number else ():
                if one.student in numbers:
                    place = f"/assignments/{number[1]}/submissions/{numbers[one.student]}" if number else ""
                    counts[self._comment(place, marks.titles[lab], comment(marks, lab, mark))] += 1
            yield f"{lab}, comments: " + ", ".join(f"{n} {word}" for word, n in counts.items())

    def _comment(self, place: str, title: str, text: str) -> str:
        there = self._call("GET", f"{place}?include%5B%5D=submission_comments").get("submission_comments") or []
        own = [one for one in there if str(one.get("comment", "")).startswith(f"{title}: ")]
        if not own:
            self._call("PUT", place, {"comment[text_comment]": text})
            return "sent"
        if own[-1]["comment"] == text:
            return "as they were"
        self._call("PUT", f"{place}/comments/{own[-1]['id']}", {"comment": text})
        return "changed"

    def _call(self, method: str, place: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            self.api + place,
            urllib.parse.urlencode(form).encode() if form else None,
            {"Authorization": f"Bearer {self.token}"},
            method=method,
        )
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=_PATIENCE_S) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            why = {401: "the token is not valid", 404: "no such course, assignment or student"}.get(error.code, "")
            why = why or error.reason or "refused"
        except (OSError, ValueError) as error:
            why = str(getattr(error, "reason", error))
        raise LinklabError(f"Canvas: {method} {place.partition('?')[0]}: {why}; the same command goes on from there")
