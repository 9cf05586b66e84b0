"""A judge for tests of all that stands around one: ``python pretended_judge.py FOLDER``.

It runs nothing. A check passes if the answer before it is no longer the starter's. A line ``# judge: WORD`` in a
notebook makes it misbehave: what then happens is the grader's to handle.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from linklab import record, schema
from linklab.grade import Check, Result
from linklab.grading.work import VERDICT, Work
from linklab.report.model import Graded, Status


def main() -> None:
    """Judges the work in the folder that is named last."""
    work = Work.of(Path(sys.argv[-1]))
    book = json.loads(work.assembled.read_text("utf-8"))
    told = {line.partition("# judge: ")[2].strip() for cell in book["cells"] for line in cell["source"].split("\n")}
    log = os.environ.get("PRETENDED_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{work.lab} {os.getpid()}\n")
    print('no line of progress\n{"cell": "x"}\n[]', flush=True)
    for number in (1, 2):
        print(json.dumps({"cell": number, "cells": 5, "name": "a cell"}), flush=True)
    if "crash" in told:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "raise" in told:
        raise RuntimeError("a judge's \x1b[31mmistake")
    if "hang" in told or "hang-hard" in told:
        if "hang-hard" in told:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
    cells = tuple(_cells(book))
    if "lie" in told:
        cells = tuple(Graded(each.cell_id, each.kind, each.title, "passed", 99, 99) for each in cells)
    if "full" in told:
        raise OSError(28, "No space left on device")
    verdict = replace(
        work.verdict,
        state="judged",
        cells=cells,
        ended="a cell was not done after 600 s" if "early" in told else "",
        wall_s=len(work.files) + 1.5,
        virtual_s=60,
    )
    work.judged.write_text(json.dumps(book), "utf-8")
    if "silent" not in told:
        text = "{" if "garbage" in told else json.dumps(schema.dump(verdict))
        (work.folder / VERDICT).write_text(text, "utf-8")


def _cells(book: Any) -> Any:
    answered = True
    for number, cell in enumerate(book["cells"]):
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and not marks.get("grade"):
            answered = "None" not in cell["source"] and "YOUR TURN" not in cell["source"]
        if not marks.get("grade"):
            continue
        points = float(marks["points"])
        if marks["solution"]:
            written = "Write your answer here" not in cell["source"] and bool(cell["source"].strip())
            yield Graded(cell["id"], "free text", cell["id"], "answered" if written else "not answered", 0.0, points)
            continue
        check = Check.passing("value", "20 ms")
        if not answered:
            check = Check.failing("value", f"value {number} is missing", "write it", expected="20 ms")
        status: Status = check.outcome
        result = Result(cell["id"], (check,))
        cell["outputs"] = [
            {"output_type": "display_data", "metadata": {}, "data": {record.RESULT_MIME: result.to_json()}}
        ]
        cell["execution_count"] = number
        yield Graded(cell["id"], "check", f"Lab, {cell['id']}", status, points * check.passed, points, (check,))


if __name__ == "__main__":
    main()
