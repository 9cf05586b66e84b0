"""Students' pages go back: in Moodle's zip file of feedback files, or in a folder for each student.

Moodle ("Upload multiple feedback files in a zip") gives a file to a participant by the number in its name,
``NAME_NUMBER_assignsubmission_file_FILE`` (``mod/assign/feedback/file/importziplib.php``). The folders are named
``STUDENT/LAB/LAB.html``, as ``nbgrader release_feedback`` hands them out.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LinklabError
from linklab.files import write_whole


@dataclass(frozen=True)
class FeedbackFile:
    """A student's page, as it goes back with a lab."""

    student: str
    lab: str
    content: bytes


def moodle_zip(pages: Iterable[tuple[str, FeedbackFile]]) -> bytes:
    """Return Moodle's zip file of feedback files, of pages with Moodle's numbers of the students."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, page in pages:
            name = re.sub(r"[^\w .@-]|_", " ", page.student).strip() or "student"
            archive.writestr(f"{name}_{number}_assignsubmission_file_{page.lab}.html", page.content)
    return out.getvalue()


def write_folders(folder: Path, pages: Iterable[FeedbackFile]) -> None:
    """Write a folder for each student. Raises LinklabError where an id is no name of a folder."""
    for page in pages:
        if page.student in (".", "..") or "/" in page.student:
            raise LinklabError(f"{page.student!r} cannot be a folder: give this student another id")
        path = folder / page.student / page.lab / f"{page.lab}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.content, 0o644)
