"""The labs as a study of this machine: each solution, headless, as an instructor proves them before term."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from linklab.errors import LabError
from linklab.lab_group import Labs
from linklab.published import Claim
from linklab.study.claims import Finding, Tables
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.study.page import Grid
from tools.bench.page import bench_page

SOLUTIONS: Final = Path(__file__).parents[2] / "solutions"
TEST_CASES: Final = ("03-", "04-", "05-", "06-", "07-")
_LABS: Final = tuple(path.stem for path in sorted(SOLUTIONS.glob("[0-9][0-9]-*.ipynb")))


def measure(labs: Labs, point: Point) -> list[Measured]:
    """Run one solution."""
    name = f"{point['lab']}.ipynb"
    with TemporaryDirectory() as copies:
        words = [sys.executable, "-m", "linklab", "run", str(SOLUTIONS / name), "--output", copies]
        began_s = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True)
        wall_s = time.perf_counter() - began_s
        if done.returncode != 0:
            raise LabError(f"linklab run failed: {(done.stderr or done.stdout).strip()[-500:]}")
        told = json.loads((Path(copies) / name).read_text("utf-8"))["metadata"]["linklab"]
    return [Measured("virtual_s", told["virtual_s"]), Measured("wall_s", wall_s)]


STUDY: Final = Study(
    name="labs",
    title="Labs: every solution, headless",
    testbed=None,
    factors={"lab": _LABS},
    measurement=measure,
    metrics=(
        Metric("virtual_s", "s", "virtual time of all of a notebook's labs, from boot to end"),
        Metric("wall_s", "s", "real time, with the notebook's Python and its figures"),
    ),
    short={"lab": _LABS[:1]},
    source="what README promises",
)
CLAIMS: Final = (
    Claim("labs-pass", "All solutions pass on virtual time", "README", "either", "a row for each solution"),
)


def judge_labs(tables: Tables) -> Finding:
    """Judge whether all solutions ran to their end; the table lacks what failed."""
    found = {str(lab): it.same for (lab,), it in tables["labs"].each("virtual_s", "lab").items()}
    cases_s = sum(virtual_s for lab, virtual_s in found.items() if lab.startswith(TEST_CASES))
    because = f"{len(found)} of {len(_LABS)} notebooks; the five test cases' labs {cases_s:.0f} virtual s"
    return Finding(len(found) == len(_LABS), because)


def labs_grid(tables: Tables) -> Grid:
    """Return how long each lab took, by its own clock and by the wall's."""
    each = (tables["labs"].each(metric, "lab") for metric in ("virtual_s", "wall_s"))
    virtual, wall = ({str(lab): it.same for (lab,), it in found.items()} for found in each)
    both_s = [*((lab, virtual[lab], wall[lab]) for lab in virtual)]
    both_s.append(("all", sum(virtual.values()), sum(wall.values())))
    cells = (
        (lab, f"{virtual_s:.0f}", f"{wall_s:.1f}", f"{virtual_s / wall_s:.1f}") for lab, virtual_s, wall_s in both_s
    )
    return Grid(("lab", "virtual s", "wall s", "virtual / wall"), tuple(cells))


PAGE: Final = bench_page(
    STUDY, {"Virtual and real time of the solutions": labs_grid}, CLAIMS, {"labs-pass": judge_labs}
)
