"""The graded class that the exported samples are of, as ``linklab grade`` writes it."""

from __future__ import annotations

from pathlib import Path

from linklab.grade import Check
from linklab.grading.grades import ClassGrade, GradedLab, StudentGrade, to_json
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded

EXPORTS = Path(__file__).with_name("exports")
UDP = GradedLab("03-udp-bandwidth", "Lab 03: UDP bandwidth", 10)
TCP = GradedLab("04-tcp", "Lab 04: TCP, shared", 20)
NAMES = {
    "ada": "Ada King", "juergen": "Jürgen Müller", "bob": 'Bob "Bobby" O\'Neil', "eve": "Eve Ray", "kim1": "Kim Lee",
    "kim2": "Kim Lee", "cyd": "Cyd Smith", "dan": "Dan Ott", "fay": "Fay Ames", "hal": "Hal Hall",
}  # fmt: skip
"""Who is in the samples, in their order."""
POINTS: dict[str, tuple[float | None, float | None]] = {
    "ada": (10.0, 20.0), "juergen": (7.5, 12.25), "bob": (0.0, 15.0), "eve": (9.0, None), "kim1": (4.0, None),
    "kim2": (5.0, None), "dan": (6.0, None), "fay": (3.0, None), "gus": (8.0, None), "cyd": (None, None),
}  # fmt: skip
NUMBERS = {name: (("moodle", str(9001 + number)), ("canvas", str(101 + number))) for number, name in enumerate(NAMES)}


def lab_grade(lab: GradedLab, points: float | None, open_points: float = 0.0) -> Verdict:
    """A lab with so many points; None for a lab that was not handed in."""
    if points is None:
        return Verdict(lab.name, "not handed in")
    check = Check.passing("the rate", "10 Mbit/s") if points else Check.failing("the rate", "it is 1 Mbit/s", "look")
    most = lab.max_points - open_points
    cells = [Graded("check-rate", "check", "Lab 03, the rate", check.outcome, points, most, (check,))]
    if open_points:
        cells.append(Graded("reflect", "free text", "why", "answered", 0.0, open_points))
    return Verdict(lab.name, "judged", "course", tuple(cells), wall_s=12.4)


def a_student(name: str, udp: float | None, tcp: float | None = None, **more: object) -> StudentGrade:
    """A student with points for the two labs; two of the second's still wait for bob."""
    labs = {UDP.name: lab_grade(UDP, udp), TCP.name: lab_grade(TCP, tcp, 2.0 if name.startswith("bob") else 0.0)}
    return StudentGrade(name, f"{name}.html", "course", labs, **more)  # type: ignore[arg-type]


def a_class(ending: str = "", *, numbers: bool = False) -> tuple[StudentGrade, ...]:
    """All of the class, by login or, with an ending, by e-mail; with the numbers that Moodle and Canvas have."""
    known = NUMBERS if numbers else {}
    return tuple(a_student(name + ending, *points, known_as=known.get(name, ())) for name, points in POINTS.items())


def write(folder: Path, *students: StudentGrade) -> Path:
    """Write the folder of a graded class: grades and pages."""
    (folder / "feedback").mkdir(parents=True, exist_ok=True)
    students = students or a_class()
    for one in students:
        (folder / "feedback" / one.page).write_text(f"for {one.student} alone")
    grades = ClassGrade("0.1.0", "2026-11-04 12:00 UTC", {lab.name: lab for lab in (UDP, TCP)}, students)
    (folder / "grades.json").write_text(to_json(grades), "utf-8")
    return folder
