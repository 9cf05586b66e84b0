"""Made classes: right, empty, broken, hostile work; as folders and zip files.

`CASES` is the one list of what students may hand in, with what must come of it. Lab 00 stands for all labs: it is the
shortest that starts a network, measures, and asks for free texts.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from linklab.notebooks.regions import MARKERS
from tests.notebooks.run_notebook import ROOT

LAB: Final = "00-start-here"
CHECKS: Final = (
    "check-network", "check-prediction-rtt", "check-prediction-throughput", "check-measured-rtt",
    "check-measured-throughput", "check-headers", "check-queue", "check-longer",
)  # fmt: skip
PREDICTED: Final = 'predicted_rtt_ms = lab00.predict("rtt", 20, sure=90)'
"""A student's own prediction: any number would do."""
TEXTS: Final = ("reflect-throughput", "reflect-queue")
Files = dict[str, bytes]


@cache
def _text(folder: str, name: str) -> str:
    return (ROOT / folder / name).read_text("utf-8")


def starter(lab: str = LAB) -> Any:
    """The notebook as students get it, as JSON data."""
    return json.loads(_text("labs", f"{lab}.ipynb"))


def solved(lab: str = LAB) -> Any:
    """The notebook of a student who has done everything right."""
    book = starter(lab)
    solution = {cell["id"]: source(cell) for cell in json.loads(_text("solutions", f"{lab}.ipynb"))["cells"]}
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            rows = solution[cell["id"]].split("\n")
            cell["source"] = "\n".join(row for row in rows if row.strip() not in MARKERS)
    return book


def source(cell: Mapping[str, Any]) -> str:
    """A cell's text."""
    return "".join(cell["source"])


def put(book: Any, **cells: str) -> Any:
    """Other texts in the place of cells, ``answer_network`` for ``answer-network``."""
    for name, text in cells.items():
        cell(book, name.replace("_", "-"))["source"] = text
    return book


def cell(book: Any, name: str) -> Any:
    """A cell by its id."""
    return next(cell for cell in book["cells"] if cell["id"] == name)


def added(book: Any, after: str, text: str, **more: Any) -> Any:
    """A cell that the student put behind another."""
    place = book["cells"].index(cell(book, after)) + 1
    new = {"cell_type": "code", "id": "5e7e5e7e", "metadata": {}, "source": text, "execution_count": 1, "outputs": []}
    book["cells"].insert(place, new | more)
    return book


def without(book: Any, *names: str) -> Any:
    """The notebook without some cells."""
    book["cells"] = [each for each in book["cells"] if each["id"] not in names]
    return book


def data(book: Any) -> bytes:
    """A notebook's file."""
    return json.dumps(book).encode()


def _one(book: Any) -> Files:
    return {f"{LAB}.ipynb": data(book)}


@dataclass(frozen=True)
class Case:
    """What a student hands in, and what must come of it.

    ``notes`` are pieces of lines that the student's page must have. ``found`` is whether a notebook is.
    """

    name: str
    files: Callable[[], Files]
    notes: tuple[str, ...] = ()
    found: bool = True


def _unread(name: str, content: Callable[[], bytes], *notes: str, file: str = f"{LAB}.ipynb") -> Case:
    return Case(name, lambda: {file: content()}, notes, found=False)


def _pasted() -> Any:
    """The starter, with outputs and marks pasted in as if all had passed."""
    book = starter()
    told = {"linklab_result": 1, "title": "x", "outcome": "passed", "checks": [{"outcome": "passed"}]}
    for each in book["cells"]:
        if each["id"] in CHECKS:
            bundle = {"application/vnd.linklab.result+json": told, "text/plain": "passed"}
            each["outputs"] = [{"output_type": "display_data", "data": bundle, "metadata": {}}]
            each["execution_count"] = 1
    return book


def _no_checks() -> Any:
    book = put(without(starter(), *CHECKS[1:]), check_network="print('passed')")
    return put(book, answer_prediction_rtt="predicted_rtt_ms = 10")


def _renamed_ids() -> Any:
    """As programs save it that give cells new names."""
    book = solved()
    for number, each in enumerate(book["cells"]):
        each["id"] = f"{number:08x}"
    return book


def _stripped() -> Any:
    """As programs save it that know neither cells' names nor metadata; a cell was added, and a text has no answer."""
    book = added(put(solved(), reflect_throughput=source(cell(starter(), "reflect-throughput"))), "ping", "mine = 1")
    book["cells"] = [{key: each[key] for key in ("cell_type", "source")} for each in book["cells"]]
    return book


MARKUP: Final = "</script></style></title><script>alert('owned')</script><img src=x onerror=alert(1)>{{ 7*7 }}\x1b[31m"

CASES: Final[tuple[Case, ...]] = (
    Case("right", lambda: _one(solved())),
    Case("right-other-name", lambda: {"my homework (2).ipynb": data(solved())}),
    Case("right-other-ids", lambda: _one(_renamed_ids())),
    Case(
        "twice", lambda: {f"old/{LAB}.ipynb": data(starter()), f"new/{LAB}.ipynb": data(solved())},
        ("came more than once: new/",),
    ),
    Case("starter", lambda: _one(starter())),
    Case("removed-answer", lambda: _one(without(solved(), "answer-prediction-rtt")),
         ("answer-prediction-rtt is missing",)),
    _unread("empty-file", lambda: b"", "is empty"),
    _unread("broken-json", lambda: data(solved())[:3000], "broken JSON"),
    _unread("not-a-notebook", lambda: b"[1, 2]", "has no cells"),
    _unread("deep-json", lambda: b"[" * 200_000, "is no notebook"),
    _unread("foreign-notebook", lambda: data({"cells": [{"cell_type": "code", "id": "a", "source": "1"}]}),
            "none of these labs"),
    _unread("nothing", lambda: b"sorry", "no notebook of a lab", file="readme.txt"),
    _unread("huge", lambda: data(added(solved(), "ping", "x = 1 #" + "x" * 21_000_000)), "is the most"),
    Case("no-checks", lambda: _one(_no_checks()), ("7 checks had been removed", "1 check has been changed")),
    Case("pasted-outputs", lambda: _one(_pasted())),
    Case("markup", lambda: _one(put(solved(), reflect_queue=MARKUP,
                                    answer_prediction_rtt=f"# {MARKUP}\n{PREDICTED}"))),
    Case("stripped", lambda: _one(_stripped()), ("known by their texts",)),
)  # fmt: skip
BY_NAME: Final = {case.name: case for case in CASES}


def program() -> bytes:
    """A finished simpleperf."""
    return _text("solutions", "simpleperf.py").encode()


def as_zip(files: Mapping[str, bytes]) -> bytes:
    """A zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in files.items():
            book.writestr(name, content)
    return out.getvalue()


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Files in a folder, with the folders that their names ask for."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def make_class(folder: Path, cases: Iterable[Case]) -> dict[str, Case]:
    """Write a class: a student a case, as a folder, a zip file, or a zip file in a folder; return the cases by id."""
    made = {}
    for number, case in enumerate(cases):
        student = f"s{number:03d}"
        files = case.files()
        if number % 3 == 0:
            write(folder / student, files)
        elif number % 3 == 1:
            write(folder, {f"{student}.zip": as_zip({f"labs/{name}": content for name, content in files.items()})})
        else:
            write(folder / student, {"handed-in.zip": as_zip(files)})
        made[student] = case
    return made
