"""Every solution on many students' networks, and on many seeds: ``make networks``, ``python -m tools.networks``.

Honest work has to pass on each network that ``linklab release`` can hand out. This runs the cells of each solution in a
plain process, without a kernel and without drawing, keeps in a folder what each check was called with and what it
said, and ends with the checks that failed and with how near each measured number came to the ends of its interval.
What lies in the folder is not run again, so a run can be stopped and continued. ``--again`` judges all that lies there
by today's checks, which takes seconds; ``--keep`` writes the answers that came nearest, for tests/labs/recorded.py.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import linecache
import lzma
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import linklab
from linklab import cli, labs, options
from linklab.classroom.validate import notebooks_of
from linklab.course import FILE, read_variant, using, write_variant
from linklab.grade import Result, seeding, values
from linklab.network import COURSE, Network
from linklab.network.variants import RATES_MBPS, variants
from linklab.notebooks.starters import SUFFIX

ROOT: Final = Path(__file__).parents[1]
SECRET: Final = b"the secret of no course"
STUDENTS: Final = 2500
"""Ids enough that each of the 307 shapes of a network is among their networks."""
MEASURING: Final = ("03", "04", "05", "06", "07", "11", "12", "13")
"""Labs whose measurements depend on the student's network."""
_LIMIT_S: Final = 1800
_KEPT: Final = 12
_NUMBER: Final = r"(-?[\d.]+(?:e[-+]?\d+)?)"
_INTERVAL: Final = re.compile(rf"^{_NUMBER} to {_NUMBER}\b")
_FOUND: Final = re.compile(rf"^{_NUMBER}(?!\S)")


class Run(NamedTuple):
    """One solution on one network with one seed; no ``student`` is the plain course network."""

    lab: str
    student: str
    seed: int

    @property
    def name(self) -> str:
        """The name of the file that keeps it."""
        return f"{self.lab}.{self.student or 'plain'}.{self.seed}.json.xz"


class Said(NamedTuple):
    """What one check said, and of whom."""

    run: Run
    check: str
    description: str
    outcome: str
    expected: str
    found: str
    reason: str


# --- Which networks


@functools.cache
def networks() -> dict[str, Network]:
    """One network of each shape, by a student's id: each is as far as can be from all before it, extremes first."""
    shapes: dict[tuple[float, ...], tuple[str, Network]] = {}
    for student, network in variants((f"student-{number}" for number in range(STUDENTS)), SECRET).items():
        shapes.setdefault(_shape(network), (student, network))
    ranges = [max(one) - min(one) for one in zip(*shapes, strict=True)]
    plain = _shape(COURSE)
    distance = {shape: _distance(shape, plain, ranges) for shape in shapes}
    found = {}
    while distance:
        farthest = max(distance, key=lambda shape: distance[shape])
        del distance[farthest]
        for shape in distance:
            distance[shape] = min(distance[shape], _distance(shape, farthest, ranges))
        student, network = shapes[farthest]
        found[student] = network
    return found


def _shape(network: Network) -> tuple[float, ...]:
    links = [network.link(name) for name in RATES_MBPS]
    return tuple(float(number or 0) for link in links for number in (link.rate_mbps, link.delay_ms, link.queue_packets))


def _distance(one: Sequence[float], two: Sequence[float], ranges: Sequence[float]) -> float:
    return sum(((a - b) / width) ** 2 for a, b, width in zip(one, two, ranges, strict=True))


def planned(labs: Sequence[str], count: int | None, seeds: int) -> list[Run]:
    """All runs, those that say most first. ``count`` networks, or 200 of `MEASURING` labs and 50 of others."""
    found = [
        (number, Run(lab, student, 0))
        for lab in labs
        for number, student in enumerate(list(networks())[: count or (200 if lab[:2] in MEASURING else 50)])
    ]
    found += [(seed, Run(lab, "", seed)) for lab in labs for seed in range(seeds)]
    return [run for _, run in sorted(found, key=lambda each: each[0])]


# --- A run


def carry_out(run: Run, folder: Path) -> None:
    """Run a solution's cells in this process, in a folder of its own, and keep what its checks were given and said."""
    (notebook,) = notebooks_of(ROOT, [run.lab])
    calls: list[dict[str, Any]] = []
    errors: dict[str, str] = {}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="linklab-networks-") as place:
        os.chdir(place)
        for recipe in notebook.parent.glob(f"*{SUFFIX}"):
            shutil.copy(recipe.with_suffix(""), place)
        if run.student:
            write_variant(networks()[run.student], Path(place))
        _prepare(run, calls)
        names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_, **__: None}
        said = io.StringIO()
        with seeding.of_submission(run.name.encode()), redirect_stdout(said), redirect_stderr(said):
            for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
                if cell["cell_type"] != "code":
                    continue
                source = "".join(cell["source"])
                # a function of a cell goes into a lab as its text, which is looked for here
                linecache.cache[cell["id"]] = len(source), None, source.splitlines(keepends=True), cell["id"]
                try:
                    exec(compile(source, cell["id"], "exec"), names)
                except Exception:
                    errors[cell["id"]] = traceback.format_exc(limit=-2)
        told = {
            "linklab": linklab.__version__,
            "network": Path(place, FILE).read_text("utf-8") if run.student else "",
            "seconds": round(time.monotonic() - began_s, 1),
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
            "errors": errors,
            "calls": calls,
        }
        os.chdir(ROOT)
    draft = folder / f".{run.name}.{os.getpid()}"
    with lzma.open(draft, "wt", encoding="utf-8", preset=1) as file:
        json.dump(told, file)
    draft.rename(folder / run.name)


def _prepare(run: Run, calls: list[dict[str, Any]]) -> None:
    """The seed of labs that name none, and checks that keep what they were called with and let the next cell run."""
    keywords = linklab.start.__kwdefaults__
    assert keywords is not None
    keywords["seed"] = run.seed
    module = labs.load(f"lab{run.lab[:2]}")
    for name in (name for name in dir(module) if name.startswith("check_")):
        setattr(module, name, _kept(name, getattr(module, name), calls))
    Result.require = lambda self: self  # type: ignore[method-assign]


def _kept(name: str, check: Callable[..., Result], calls: list[dict[str, Any]]) -> Callable[..., Result]:
    def called(*positional: object, **named: object) -> Result:
        result = check(*positional, **named)
        told: dict[str, Any] = {"check": name, "said": _said(result)}
        given = {"positional": values.write(list(positional)), "named": values.write(named)}
        if not any(_is_tried(text) for text in given.values()):
            told |= given
        calls.append(told)
        return result

    return called


def _is_tried(written: str) -> bool:
    """Whether a function, a lab or a program is among the values: a check that tries it cannot do so elsewhere."""
    given = json.loads(written)
    every = given if isinstance(given, list) else [value for _, value in given["items"]]
    return '{"$":"foreign"' in written or any(isinstance(it, str) and it.endswith(".py") for it in every)


def _said(result: Result) -> list[list[str]]:
    return [[it.description, it.outcome, it.expected, it.found, it.reason] for it in result.checks]


def carry_out_all(runs: Sequence[Run], folder: Path, jobs: int) -> None:
    """Run what is not in the folder yet, each in a process of its own, forked off this one, which has all modules."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [run for run in runs if not (folder / run.name).exists()]
    print(f"{len(runs)} runs, {len(runs) - len(waiting)} of them are there, {jobs} at once", flush=True)
    for name in {f"lab{run.lab[:2]}" for run in waiting}:
        labs.load(name)
    running: dict[int, Run] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            run = waiting.pop(0)
            pid = os.fork()
            if not pid:
                _child(run, folder)
            running[pid] = run
        pid, status = os.wait()
        ended = running.pop(pid)
        bad = [it for it in said_of(folder, ended) if it.outcome != "passed"] if not status else []
        verdict = f"ended with {status}" if status else "; ".join(map(_line, bad)) or "passed"
        print(f"{ended.name}: {verdict}", flush=True)


def _child(run: Run, folder: Path) -> NoReturn:
    try:
        signal.alarm(_LIMIT_S)
        carry_out(run, folder)
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            traceback.print_exc()
        os._exit(1)
    os._exit(0)


# --- What came of it


def said_of(folder: Path, run: Run, *, again: bool = False) -> Iterator[Said]:
    """What the checks of a run said then, or say ``again`` of the same answers; a cell that broke is a failed check."""
    told = _told(folder, run)
    for cell, error in told["errors"].items():
        yield Said(run, cell, "the cell itself", "failed", "", "", error.strip().splitlines()[-1])
    for call in told["calls"]:
        said = _judged(run, told["network"], call) if again and "positional" in call else call["said"]
        for each in said:
            yield Said(run, call["check"], *each)


def _told(folder: Path, run: Run) -> dict[str, Any]:
    with lzma.open(folder / run.name, "rt", encoding="utf-8") as file:
        told: dict[str, Any] = json.load(file)
    return told


def _judged(run: Run, network: str, call: Mapping[str, str]) -> list[list[str]]:
    module = labs.load(f"lab{run.lab[:2]}")
    positional: Any = values.read(call["positional"])
    named: Any = values.read(call["named"])
    with using(network_of(network)):
        return _said(getattr(module, call["check"])(*positional, **named))


@functools.cache
def network_of(text: str) -> Network:
    """The network whose variant file has this text; the plain course network for none."""
    if not text:
        return COURSE
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, FILE)
        path.write_text(text, "utf-8")
        return read_variant(path)


def margins(said: Said) -> tuple[float, float] | None:
    """How far a number is above the low end of its interval, and below the high one, in percent of the interval."""
    interval, found = _INTERVAL.match(said.expected), _FOUND.match(said.found)
    if interval is None or found is None or interval[1] == interval[2]:
        return None
    low, high, number = float(interval[1]), float(interval[2]), float(found[1])
    return 100 * (number - low) / (high - low), 100 * (high - number) / (high - low)


def narrowest(every: Iterable[Said]) -> list[tuple[float, str, Said]]:
    """The run that came nearest to each end of each number's interval: how near, which end, and what was said."""
    found: dict[tuple[str, str, str], tuple[float, str, Said]] = {}
    for said in every:
        for end, margin in zip(("low", "high"), margins(said) or (), strict=False):
            key = (said.run.lab, re.sub(r"\d{2,}|run \d", "N", said.description), end)
            if key not in found or margin < found[key][0]:
                found[key] = margin, end, said
    return sorted(found.values(), key=lambda each: each[0])


def keep(folder: Path, every: Iterable[Said], file: Path) -> None:
    """Write of each of the dozen networks that came nearest the call that did, as tests/labs/recorded.py reads it."""
    found: dict[str, str] = {}
    for _, said in sorted(((min(near), said) for said in every if (near := margins(said))), key=lambda each: each[0]):
        told = _told(folder, said.run)
        call = next((it for it in told["calls"] if it["check"] == said.check and "positional" in it), None)
        if call is None or said.run.student in found or not said.run.student:
            continue
        lab = f"lab{said.run.lab[:2]}"
        found[said.run.student] = json.dumps(
            [lab, said.check, call["positional"], call["named"], told["network"], "passed"]
        )
        if len(found) == _KEPT:
            break
    with lzma.open(file, "wt", encoding="utf-8") as written:
        written.writelines(f"{line}\n" for line in found.values())


def report(every: Sequence[Said]) -> int:
    """Say what failed, and of each measured number the narrowest runs. Returns how many runs failed."""
    runs = sorted({said.run for said in every})
    bad = [said for said in every if said.outcome != "passed"]
    for said in bad:
        print(f"{said.run.name}: {_line(said)}")
    print("\nlab  end     of the interval  check, and where it was nearest")
    for margin, end, said in narrowest(every):
        where = f"{said.found} of {said.expected} ({said.run.student or 'plain'}, seed {said.run.seed})"
        print(f"{said.run.lab[:2]}   {end:4} {margin:8.1f} %  {said.description}: {where}")
    print(f"\n{'lab':25} networks  seeds  failed")
    for lab in sorted({run.lab for run in runs}):
        mine = [run for run in runs if run.lab == lab]
        failed = len({said.run for said in bad if said.run.lab == lab})
        plain = sum(not run.student for run in mine)
        print(f"{lab:25} {len(mine) - plain:8} {plain:6} {failed:7}")
    failed = len({said.run for said in bad})
    print(f"{len(runs)} runs, {failed} FAILED")
    return failed


def _run_of(path: Path) -> Run:
    lab, student, seed, *_ = path.name.split(".")
    return Run(lab, "" if student == "plain" else student, int(seed))


def _line(said: Said) -> str:
    return f"{said.check}, {said.description}: {said.outcome}, {said.reason} (expected {said.expected})"


def main(arguments: Sequence[str]) -> int:
    """Run, and report. Raises LinklabError for a lab that is not there."""
    parser = argparse.ArgumentParser(prog="python -m tools.networks", description=__doc__)
    parser.add_argument("labs", nargs="*", metavar="LAB", help="numbers or names, as 03 (default: all)")
    parser.add_argument("--into", type=Path, default=Path("build/networks"), help="default: %(default)s")
    parser.add_argument("--networks", type=int, metavar="N", help="default: 200, of labs that need fewer 50")
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="on the plain network; default: %(default)s")
    parser.add_argument("--jobs", type=options.count, default=options.cores(), help="at once; default: one a core")
    parser.add_argument("--report", action="store_true", help="run nothing, say what came of what was run")
    parser.add_argument("--again", action="store_true", help="the same, and judge it by the checks as they are now")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write a dozen answers that came nearest, as kept")
    given = parser.parse_args(arguments)
    folder = given.into.absolute()
    if not (given.report or given.again or given.keep):
        chosen = [path.stem for path in notebooks_of(ROOT, given.labs)]
        carry_out_all(planned(chosen, given.networks, given.seeds), folder, given.jobs)
    runs = sorted(_run_of(path) for path in folder.glob("[0-9]*.json.xz"))
    every = [said for run in runs for said in said_of(folder, run, again=given.again)]
    if given.keep:
        keep(folder, every, given.keep)
    return 1 if report(every) else 0


if __name__ == "__main__":
    sys.exit(cli.answered(lambda: main(sys.argv[1:])))
