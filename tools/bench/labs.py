"""The labs: all solutions by one command, as an instructor proves them before term."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from linklab.errors import LabError
from tools.bench.part import Claim, Findings, Keep, Record, Say, Settings, Table, having

NAME, TITLE = "labs", "Labs: every solution, headless, in one command"
SOLUTIONS = Path(__file__).parents[2] / "solutions"
TEST_CASES = ("03-", "04-", "05-", "06-", "07-")


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for the command, and one for each notebook. Raises `LabError` where one fails, or none is there."""
    notebooks = sorted(SOLUTIONS.glob("[0-9][0-9]-*.ipynb"))
    if settings.quick:
        notebooks = [notebook for notebook in notebooks if notebook.name.startswith("00-")]
    if not notebooks:
        raise LabError(f"there are no solutions in {SOLUTIONS}: run the benchmark from a checkout of Linklab")
    say(f"{len(notebooks)} notebooks")
    copies = settings.folder / "executed"
    words = [sys.executable, "-m", "linklab", "run", *map(str, notebooks), "--output", str(copies)]
    began_s = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - began_s
    if done.returncode != 0:
        raise LabError(f"linklab run failed: {(done.stderr or done.stdout).strip()[-500:]}")
    for notebook in notebooks:
        told = json.loads((copies / notebook.name).read_text("utf-8"))["metadata"]["linklab"]
        keep({"lab": notebook.stem, "wall_s": told["wall_s"], "virtual_s": told["virtual_s"]})
    keep({"all": len(notebooks), "at_once": settings.cores, "wall_s": wall_s})


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """How long each lab took by its own clock and by the wall's. Pure."""
    labs = [record for record in records if "lab" in record]
    rows = [(record["lab"], f"{record['virtual_s']:.0f}", f"{record['wall_s']:.1f}", _ratio(record)) for record in labs]
    cases = [record for record in labs if record["lab"].startswith(TEST_CASES)]
    whole = [record for record in records if "all" in record]
    if whole:
        together = {"virtual_s": sum(record["virtual_s"] for record in labs), "wall_s": whole[0]["wall_s"]}
        at_once = f"all {whole[0]['all']}, {whole[0]['at_once']} at once"
        rows.append((at_once, f"{together['virtual_s']:.0f}", f"{together['wall_s']:.1f}", _ratio(together)))
    table = Table(
        "Virtual and wall time of the solutions",
        ("lab", "virtual s", "wall s", "virtual / wall"),
        tuple(rows),
        ("Virtual: of all of a notebook's labs, from boot to end. Wall: with the notebook's Python and its figures.",),
    )
    text = "All solutions pass on virtual time, in one command"
    met = bool(whole) and len(labs) == whole[0]["all"]
    virtual_s = sum(record["virtual_s"] for record in cases)
    numbers = f"{len(labs)} notebooks; the five test cases' labs {virtual_s:.0f} virtual s" if whole else ""
    return Findings((table,) if having(labs) else (), (Claim.judged(text, met if whole else None, numbers),))


def _ratio(record: Record) -> str:
    return f"{record['virtual_s'] / record['wall_s']:.1f}"
