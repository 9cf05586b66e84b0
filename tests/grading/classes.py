"""Graded classes as data, for tests of what is written of them."""

from __future__ import annotations

from linklab.grade import Check
from linklab.grading.grades import ClassGrade, GradedLab, StudentGrade
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded, Kind, Status

LAB = GradedLab("03-a-lab", "Lab 03: A <lab>", 6)
GOOD = Check.passing("the rate", "10 Mbit/s")
EVIL = "</script></style><script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[31m{{ 7*7 }}\u202e"


def bad(mbps: int = 1) -> Check:
    """A check that failed."""
    return Check.failing("the rate", f"it is {mbps} Mbit/s", f"look at {EVIL}", "10 Mbit/s", f"{mbps} Mbit/s")


def cell(name: str, status: Status, points: float, *checks: Check) -> Graded:
    """A graded cell."""
    kind: Kind = "free text" if name.startswith("reflect") else "check"
    return Graded(name, kind, name, status, points if status == "passed" else 0.0, points, checks)


def judged(rate: Check | None, *, text: Status = "answered", ended: str = "", notes: tuple[str, ...] = ()) -> Verdict:
    """A verdict in which the first check came out as given; the notes are for the instructor."""
    first = cell("check-rate", rate.outcome if rate else "not run", 2, *([rate] if rate else []))
    cells = (first, cell("check-queue", "passed", 3, GOOD), cell("reflect-why", text, 1))
    return Verdict(LAB.name, "judged", "course", cells, ended, for_the_instructor=notes, wall_s=12.5, virtual_s=60)


def student(name: str, one: Verdict | None, *, page: str = "x.html", **more: object) -> StudentGrade:
    """A student with one lab."""
    labs = {LAB.name: one or Verdict(LAB.name, "not handed in")}
    return StudentGrade(name, page, "course", labs, handed_in=one is not None, **more)  # type: ignore[arg-type]


def graded(*students: StudentGrade, **more: object) -> ClassGrade:
    """A class."""
    return ClassGrade("0.1.0", "2026-05-04 12:34 UTC", {LAB.name: LAB}, students, **more)  # type: ignore[arg-type]


BUSY = Check("the rate", "inconclusive", "the machine was busy", "run it again")


def a_class() -> ClassGrade:
    """A class in which everything happens, and everybody writes what does harm."""
    return graded(
        student("ada", judged(GOOD), page="ada.html"),
        student(EVIL, judged(bad(1), ended=f"ended {EVIL}", notes=(f"tried {EVIL}",)), page="evil.html"),
        student("=cmd|'/c calc'!A1", judged(bad(2)), page="formula.html", notes=(f"note {EVIL}",)),
        student("bob", judged(BUSY, text="not answered"), page="bob.html"),
        student("cyd", None, page="cyd.html"),
        unmatched=(f"{EVIL}: nobody",),
    )
