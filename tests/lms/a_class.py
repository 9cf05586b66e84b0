"""The graded class that the exported samples are of, as ``linklab grade`` writes it."""

from __future__ import annotations

from pathlib import Path

from linklab.grade import Check
from linklab.grading.grades import ClassGrade, LabGrade, StudentGrade, to_json
from linklab.grading.kit import KitLab, LabCell
from linklab.grading.model import Judged
from linklab.report.model import Graded

EXPORTS = Path(__file__).with_name("exports")
UDP = KitLab("03-udp-bandwidth", "Lab 03: UDP bandwidth", (LabCell("check-rate", "check", "code", "", "", 10),), {})
TCP = KitLab("04-tcp", "Lab 04: TCP, shared", (LabCell("check-tcp", "check", "code", "", "", 20),), {})
UDP_POINTS = {
    "ada": 10.0, "juergen": 7.5, "bob": 0.0, "eve": 9.0, "kim1": 4.0, "kim2": 5.0, "dan": 6.0, "fay": 3.0, "gus": 8.0
}  # fmt: skip
TCP_POINTS = {"ada": 20.0, "juergen": 12.25, "bob": 15.0}
EVERYBODY = (*UDP_POINTS, "cyd")
ROWS = ("ada", "juergen", "bob", "eve", "kim1", "kim2", "cyd", "dan", "fay", "hal")
"""Who is in the samples, in their order."""
PARTICIPANTS = {name: str(9001 + number) for number, name in enumerate(ROWS)}
CANVAS = {name: str(101 + number) for number, name in enumerate(ROWS)}


def lab_grade(lab: KitLab, points: float | None, open_points: float = 0.0) -> LabGrade:
    """A lab with so many points; None for a lab that was not handed in."""
    if points is None:
        return LabGrade("not handed in")
    most = lab.max_points
    check = Check.passing("the rate", "10 Mbit/s") if points else Check.failing("the rate", "it is 1 Mbit/s", "look")
    cells = [Graded("check-rate", "check", "Lab 03, the rate", check.outcome, points, most - open_points, (check,))]
    if open_points:
        cells.append(Graded("reflect", "free text", "why", "answered", 0.0, open_points))
    return LabGrade("judged", Judged(lab.name, "course", tuple(cells), wall_s=12.4))


def a_student(name: str, udp: float | None, tcp: float | None = None, **more: object) -> StudentGrade:
    """A student with points for the two labs; two of the second's still wait for bob."""
    labs = {UDP.name: lab_grade(UDP, udp), TCP.name: lab_grade(TCP, tcp, 2.0 if name.startswith("bob") else 0.0)}
    return StudentGrade(name, f"{name}.html", "course", labs, **more)  # type: ignore[arg-type]


def a_class(ending: str = "", *, numbers: bool = False) -> tuple[StudentGrade, ...]:
    """All of the class, by login or, with an ending, by e-mail; with the numbers that Moodle and Canvas have."""
    return tuple(
        a_student(
            name + ending,
            UDP_POINTS.get(name),
            TCP_POINTS.get(name),
            known_as=(("moodle", PARTICIPANTS[name]), ("canvas", CANVAS[name])) if numbers and name in ROWS else (),
        )
        for name in EVERYBODY
    )


def write(folder: Path, *students: StudentGrade) -> Path:
    """Write the folder of a graded class as far as its grades are concerned."""
    folder.mkdir(parents=True, exist_ok=True)
    grades = ClassGrade({lab.name: lab for lab in (UDP, TCP)}, students or a_class(), "2026-11-04 12:00 UTC", "0.1.0")
    (folder / "grades.json").write_text(to_json(grades), "utf-8")
    return folder
