"""Made submissions that are damaged on purpose, graded as a class: ``python -m tests.support.fuzzer 100000 [SEED]``.

Each submission comes from its seed alone: a notebook, attachments, a variant's file, programs and archives with odd
names, then changed at a few places. A pretended judge leaves a notebook with changed outputs (widgets, HTML, pictures).
No submission may end the run. The command prints counts, and the seeds of submissions whose process had to be ended.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from linklab.grading.grade import grade
from linklab.grading.judges import Verdicts
from linklab.grading.kit import Kit, KitLab, read_kit
from linklab.grading.outputs import Outputs
from linklab.grading.student_work import Order
from linklab.grading.work import Work, unjudged
from tests.grading.made_class import LAB, as_zip, solved, write
from tests.notebooks.run_notebook import ROOT

_CLASS: Final = 500
_CELLS: Final = (
    "answer-network", "check-network", "answer-prediction-rtt", "check-prediction-rtt", "reflect-queue",
)  # fmt: skip
_DEEP: Final[Any] = json.loads("[" * 300 + "]" * 300)
_ODD: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 2**70, 1e308, float("nan"), "", "\ud800", "\x00\x1b[2J\u202e", "x" * 5000, [], {}, [[]], _DEEP,
    {"": {"": ""}}, ["\udfff", 3], "</script><svg onload=1>", "[" * 3000, "<b id=1>" * 300, "> " * 800,
    "\U0001d518" * 200,
)  # fmt: skip
_NAMES: Final = (
    "x.ipynb", "simpleperf.py", "linklab-variant.json", "a.py", "漢" * 100 + ".py", "x" * 300 + ".py", "", ".", "..",
    "../x.ipynb", "/etc/x", "C:\\x.py", "\x1b[2J.ipynb", "a/" * 60 + "x.ipynb", "lab20/rules.py", "x.zip", "x.tar.gz",
    "x.ipynb (1).txt", "\u202e.py", "con.py", "a\nb.py", "x.rar", "a//b.ipynb", "-.ipynb", "\ud800.py",
)  # fmt: skip


def small_kit(kit: Kit) -> Kit:
    """Return a kit of one lab with a few cells, so that a hundred thousand notebooks take an hour."""
    lab = kit.labs[LAB]
    parts = tuple(part for part in lab.parts if part.cell_id in _CELLS)
    book = {**lab.book, "cells": [cell for cell in lab.book["cells"] if cell["id"] in _CELLS]}
    return replace(kit, labs={LAB: KitLab(LAB, lab.title, parts, book)})


def submission(seed: int) -> dict[str, bytes]:
    """Return the files of the damaged submission of a seed, by names that a file system takes."""
    chance = random.Random(seed)
    files = {"x.ipynb": _notebook(chance), "simpleperf.py": b"print(1)\n"}
    if chance.random() < 0.3:
        files["linklab-variant.json"] = _data(chance, {"format": 1, "name": "n", "links": {}, "subnets": {}})
    if chance.random() < 0.5:
        return files
    files |= {chance.choice(_NAMES): chance.choice(list(files.values())) for _ in range(chance.randrange(6))}
    packed = _packed(chance, files)
    return {f"work.{chance.choice(('zip', 'zip', 'zip', 'tar.gz'))}": packed, **_some(chance, files)}


def _some(chance: random.Random, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {"x.ipynb": files["x.ipynb"]} if chance.random() < 0.5 else {}


def _packed(chance: random.Random, files: Mapping[str, bytes]) -> bytes:
    try:
        data = as_zip(files)
        data = as_zip({"inner.zip": data, "x.tar": data}) if chance.random() < 0.1 else data
    except (ValueError, IndexError):  # Python's own writers refuse some names
        data = as_zip({"x.ipynb": files["x.ipynb"]})
    return _bytes(chance, data) if chance.random() < 0.4 else data


def _notebook(chance: random.Random) -> bytes:
    book = solved()
    book["cells"] = [cell for cell in book["cells"] if cell["id"] in _CELLS]
    book["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"a": {"state": {}}}}}
    book["cells"][-1]["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    if chance.random() < 0.3:
        book["cells"].append(
            {"cell_type": "markdown", "id": "5e7e5e7e", "metadata": {}, "source": "![a](attachment:a.png)"}
        )
    return _data(chance, book)


def _data(chance: random.Random, data: Any) -> bytes:
    """Return data as JSON with odd values at some places, and perhaps with some bytes changed."""
    for _ in range(chance.choice((0, 1, 1, 1, 3))):
        data = _changed(chance, data)
    raw = json.dumps(data).encode(errors="surrogatepass")
    if chance.random() < 0.05:
        raw = raw.replace(b"null", b"[" * 50_000, 1) if b"null" in raw else b"[" * 99_000
    return _bytes(chance, raw) if chance.random() < 0.1 else raw


def _changed(chance: random.Random, data: Any) -> Any:
    if isinstance(data, dict | list) and data and chance.random() < 0.9:
        key = chance.choice(list(data)) if isinstance(data, dict) else chance.randrange(len(data))
        made: Any = data.copy()
        if isinstance(made, dict) and chance.random() < 0.1:
            made[str(chance.choice(_ODD))[:50]] = made.pop(key)
        else:
            made[key] = _changed(chance, data[key])
        return made
    return chance.choice(_ODD)


def _bytes(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 20))):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                changed[at : at + chance.choice((1, 1, 30, 10**6))] = b""
            case 2:
                changed[at:at] = changed[chance.randrange(len(changed) + 1) :][:200]
            case _:
                changed[at : at + 4] = chance.choice((bytes(4), b"\xff" * 4, b"PK\3\4", b"PK\1\2"))
    return bytes(changed)


_SHOWN: Final[tuple[dict[str, Any], ...]] = (
    {"text/html": "<table><tr><td>1</table>", "text/plain": "1"},
    {"image/png": "iVBORw0KGgo=", "text/html": "<img alt='a'>"},
    {"image/svg+xml": "<svg/>", "text/plain": "Network: a"},
    {"text/markdown": "# a", "application/json": {"a": [1]}},
    {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/html": 5, "text/plain": "Box()"},
    {"application/vnd.linklab.result+json": {"title": "t", "checks": [{"outcome": "failed", "points": 1}]}},
)
_OUTPUTS: Final[tuple[dict[str, Any], ...]] = (
    {"output_type": "stream", "name": "stdout", "text": "x\n"},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
    *({"output_type": "display_data", "metadata": {"image/png": {"width": 9}}, "data": data} for data in _SHOWN),
)


def judged_notebook(seed: int, notebook: Path) -> bytes:
    """Return the notebook that a judge might leave: changed outputs, as far as the judge takes them in."""
    chance = random.Random(-seed)
    book = json.loads(notebook.read_text("utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            outputs = [chance.choice(_OUTPUTS) for _ in range(chance.randrange(4))]
            outputs = [_changed(chance, it) if chance.random() < 0.6 else it for it in outputs]
            cell["outputs"] = Outputs(2_000_000).kept(outputs)
    return _data(chance, book) if chance.random() < 0.1 else json.dumps(book).encode()


def graded(kit: Kit, seeds: Sequence[int], folder: Path) -> Counter[str]:
    """Grade the submissions of these seeds as one class, in a new folder; count what became of them."""
    source, output, labs = folder / "in", folder / "out", small_kit(kit).labs
    for seed in seeds:
        write(source / f"s{seed}", submission(seed) or {"x.ipynb": b""})

    def judge(works: Sequence[Work]) -> Verdicts:
        found = {}
        for work in works:
            work.judged.write_bytes(judged_notebook(int(work.student[1:]), work.assembled))
            found[work.student, LAB] = replace(work.verdict, state="judged", cells=unjudged(labs[LAB], {}))
        return found

    said: list[str] = []
    grades = grade([source], output, Order(small_kit(kit), (LAB,)), judge, said.append)
    counts: Counter[str] = Counter()
    told = {line.partition(":")[0]: line for line in said}
    for one in grades.students:
        trouble = one.labs[LAB].ended or told.get(one.student, "")
        counts[one.labs[LAB].state + (", page without notebooks" if one.student in told else "")] += 1
        if trouble:
            print(f"seed {one.student[1:]}: {trouble}", flush=True)
        assert (output / "feedback" / one.page).is_file(), one.student
    assert len(grades.students) == len(seeds)
    assert (output / "grades.csv").read_text("utf-8").count("\n") == len(seeds) + 1
    return counts


def main() -> None:
    """Grade as many as the first word says, from the seed on that the second says."""
    number, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    kit, counts = read_kit(ROOT), Counter[str]()
    for begin in range(first, first + number, _CLASS):
        seeds = range(begin, min(begin + _CLASS, first + number))
        with tempfile.TemporaryDirectory(prefix="linklab-fuzzer-") as folder:
            try:
                counts += graded(kit, seeds, Path(folder))
            except Exception as error:  # what must not be: it is counted, and the others go on
                counts["in a class whose run ended"] += len(seeds)
                print(f"seeds {seeds.start} to {seeds.stop - 1} ended the run: {error!r}", flush=True)
        print(f"{sum(counts.values())} submissions: {dict(counts)}", flush=True)


if __name__ == "__main__":
    main()
