"""``linklab grade``'s own steps with the pretended judge, as a process: SOURCE OUTPUT ROOT LAB."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from linklab.grading.grade import grade
from linklab.grading.judges import ClassProgress, Crew, Verdicts
from linklab.grading.kit import read_kit
from linklab.grading.student_work import Order
from linklab.grading.work import Work


def main() -> int:
    """Grades, and gives the status that the command would."""
    source, output, root = map(Path, sys.argv[1:4])
    crews = []

    def judge(works: Sequence[Work]) -> Verdicts:
        command = (sys.executable, str(Path(__file__).with_name("pretended_judge.py")))
        with ClassProgress(len(works)) as watcher:
            crews.append(Crew(2, watcher, command))
            return crews[0].run(works)

    kit = read_kit(root)
    grade([source], output, Order(kit, kit.chosen(sys.argv[4:])), judge, print)
    return 130 if crews[0].interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
