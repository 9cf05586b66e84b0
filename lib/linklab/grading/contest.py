"""Judges a class's congestion controllers on traces: each in a lab of its own, confined, with the same digits anywhere.

A guest serves one controller alone: a program that knows a fault of the guest's kernel may become it. What a controller
does wrong (it crashes, loops, hoards, floods) is a line in the table, and no other controller hears of it. Each result
is written as soon as it is there, so the same command once more goes on where it ended.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from linklab import __version__, schema
from linklab.dask_run import Cluster, WorkerPlace
from linklab.digests import linklab_digest
from linklab.errors import LinklabError, MeasurementError
from linklab.files import write_whole
from linklab.grading.bounded import WorkBounds, WorkFailed, run_bounded
from linklab.grading.grades import spreadsheet
from linklab.grading.names import cleaned, folder_of
from linklab.grading.pages import leaderboard
from linklab.grading.recognise import newest_program
from linklab.grading.submissions import Submission, collect, opened
from linklab.network.traces import Trace, read_trace
from linklab.programs import congestion
from linklab.programs.submission import ProgramError, read

CONTROLLER: Final = "controller.py"
NAME: Final = "NAME"
"""The constant in a controller's file that says what the leaderboard calls it."""
NOT_JUDGED: Final = "not judged: "
"""What trouble begins with that is none of the controller's."""
_LONGEST_NAME: Final = 40
_DIGITS: Final = 3
"""Decimal digits of a score that are shown, and by which two controllers are equally good."""
_BOUNDS: Final = WorkBounds(cpu_s=600)


@dataclass(frozen=True)
class TraceScore:
    """How a controller did on one trace."""

    trace: str
    score: float
    throughput_mbps: float
    delay_p95_ms: float


@dataclass(frozen=True)
class Contestant:
    """A controller: whose it is, what the leaderboard calls it, its text, or why there is none."""

    student: str
    name: str
    text: bytes = b""
    trouble: str = ""


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard. Who had trouble has no score, no rank, and a line that says what happened."""

    student: str
    name: str
    scores: tuple[TraceScore, ...] = ()
    trouble: str = ""

    @property
    def score(self) -> float | None:
        """The mean over all traces; None where there was trouble."""
        return None if self.trouble else round(sum(one.score for one in self.scores) / len(self.scores), _DIGITS)


Tell = Callable[[str], None]


def judged(entry: Contestant, traces: Sequence[Trace]) -> Standing:
    """Run a controller on all traces in a lab of its own, up to the first one that goes wrong.

    Raises LabError where no lab can run.
    """
    scores, trouble = [], entry.trouble
    for trace, (flow,) in zip(traces, congestion.played(entry.text, traces) if not trouble else (), strict=False):
        value = congestion.score(flow, trace)
        if not math.isfinite(value):
            trouble = f"{trace.name}: {cleaned(flow.trouble, 200) or 'no packet arrived'}"
            break
        numbers = (value, flow.throughput_mbps, flow.delay_p95_ms)
        scores.append(TraceScore(trace.name, *(round(number, _DIGITS) for number in numbers)))
    return Standing(entry.student, entry.name, tuple(scores), trouble)


def entry_of(student: str, file: Path) -> Contestant:
    """Read a controller; nothing of it is run. Only this one file counts: a module beside it does not come along."""
    try:
        program = read(file)
    except ProgramError as error:
        return Contestant(student, _plain_name(""), trouble=cleaned(str(error).removeprefix(f"{file} "), 200))
    text = program.files[program.name]
    return Contestant(student, _plain_name(_name_in(text)), text)


def _name_in(text: bytes) -> str:
    """Return what the file says its name is: the text of the last constant `NAME` in it."""
    assigned = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    names = [node.value for node in assigned if [ast.unparse(target) for target in node.targets] == [NAME]]
    return next((str(name.value) for name in reversed(names) if isinstance(name, ast.Constant)), "")


def _plain_name(name: str) -> str:
    return cleaned(name, _LONGEST_NAME) or "(no name)"


def entries(
    downloads: Sequence[Path], students: Mapping[str, Sequence[str]] | None, pattern: str
) -> tuple[list[Contestant], tuple[str, ...]]:
    """Return the controller of each student in what a platform exported, also where there is none, and a line for each
    submission that nobody gets.

    Raises LinklabError as `linklab.grading.submissions.collect`.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        collected = collect(downloads, place, students, pattern)
        everybody = list(collected.submissions.values())
        found = run_bounded(partial(_entry, place=place), everybody, jobs=1)
    read_entries = [
        Contestant(one.student, _plain_name(""), trouble=came.why) if isinstance(came, WorkFailed) else came
        for one, came in zip(everybody, found, strict=True)
    ]
    return read_entries, collected.unmatched


def _entry(one: Submission, place: Path) -> Contestant:
    """Read what one student handed in, in a process of its own: the files may be anything."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        files = opened(one, Path(name)).files
        best = newest_program(CONTROLLER, "", files, [])
        if best is None:
            return Contestant(one.student, _plain_name(""), trouble=f"no {CONTROLLER} was handed in")
        file = Path(name) / CONTROLLER
        if best.path != file:
            shutil.copy(best.path, file)
        return entry_of(one.student, file)


def read_traces(folder: Path) -> list[Trace]:
    """Return the traces in a folder, in the order of their names. Raises MeasurementError where there are none."""
    traces = [read_trace(path) for path in sorted(folder.iterdir()) if path.is_file()] if folder.is_dir() else []
    if not traces:
        raise MeasurementError(f"{folder} holds no trace: make some (docs/contest.md), one file each")
    return traces


def judge_all(
    wanted: Sequence[Contestant], traces: Sequence[Trace], folder: Path, jobs: int, cluster: Cluster | None, tell: Tell
) -> list[Standing]:
    """Judge all controllers, ``jobs`` at once or on a cluster's workers; return their standings, in the same order.

    What the folder has of an earlier run counts, where controller, traces and Linklab are still the same. What this
    machine or a worker is to blame for (no lab runs there) is trouble too, and is tried again by the next run.
    """
    files = {entry.student: folder / f"{folder_of(entry.student)}.json" for entry in wanted}
    keys = {entry.student: _key(entry, traces) for entry in wanted}
    before = {entry.student: _kept(files[entry.student], keys[entry.student]) for entry in wanted}
    found = {student: standing for student, standing in before.items() if standing is not None}
    waiting = [entry for entry in wanted if entry.student not in found]
    folder.mkdir(parents=True, exist_ok=True)
    total = len(wanted)
    tell(f"{total} controllers, {len(found)} judged before, {len(traces)} traces")

    def done(entry: Contestant, outcome: Standing | WorkFailed | LinklabError) -> None:
        if isinstance(outcome, Standing):
            found[entry.student] = outcome
            kept = {"key": keys[entry.student], "standing": schema.dump(outcome)}
            write_whole(files[entry.student], json.dumps(kept).encode(), 0o600)
        else:
            why = outcome.why if isinstance(outcome, WorkFailed) else str(outcome)
            found[entry.student] = Standing(entry.student, entry.name, trouble=f"{NOT_JUDGED}{cleaned(why, 200)}")
        one = found[entry.student]
        how = one.trouble or f"{one.score:.{_DIGITS}f}"
        tell(f"{len(found)}/{total} {entry.student}: {how}")

    if cluster is not None:
        tasks = ((entry, (entry, tuple(traces))) for entry in waiting)
        for entry, outcome in cluster.run(_judged_on_worker, tasks):
            done(entry, outcome)
    else:
        run_bounded(partial(judged, traces=traces), waiting, jobs=jobs, bounds=_BOUNDS, done=done)
    return [found[entry.student] for entry in wanted]


def _judged_on_worker(entry: Contestant, traces: Sequence[Trace], place: WorkerPlace) -> Standing:
    """Judge on a worker of a cluster. A worker that is lost meanwhile costs its time, and another one judges."""
    return judged(entry, traces)


def _key(entry: Contestant, traces: Sequence[Trace]) -> str:
    """Return a digest of all that a standing rests on."""
    parts = [entry.text, entry.name.encode(), entry.trouble.encode(), linklab_digest()]
    parts += [json.dumps([trace.name, trace.opportunities_ms]).encode() for trace in traces]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _kept(file: Path, key: str) -> Standing | None:
    """Return the standing that an earlier run has left, if it is still one on this."""
    try:
        kept = json.loads(file.read_bytes())
        return schema.load(Standing, kept["standing"], "this standing") if kept["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError, LinklabError):
        return None


@dataclass(frozen=True)
class RankedStanding:
    """A standing with its rank: equal scores share one. Empty where there was trouble."""

    rank: str
    standing: Standing


def ranked(standings: Iterable[Standing]) -> list[RankedStanding]:
    """Return all in the order of the leaderboard: the best first, then by name, and whoever had trouble last."""
    rows: list[RankedStanding] = []
    best = sorted(standings, key=lambda one: (one.score is None, -(one.score or 0.0), one.name, one.student))
    for number, one in enumerate(best, 1):
        ties = bool(rows) and one.score is not None and rows[-1].standing.score == one.score
        rank = rows[-1].rank if ties else str(number) if one.score is not None else ""
        rows.append(RankedStanding(rank, one))
    return rows


def write_results(rows: Sequence[RankedStanding], traces: Sequence[Trace], output: Path) -> None:
    """Write ``contest.csv``, for the instructor, and ``index.html``, where all have the names that they chose."""
    heads = [f"{trace.name} {what}" for trace in traces for what in ("score", "Mbit/s", "p95 delay ms")]
    table = [["rank", "name", "student", "score", *heads, "trouble"]]
    for row in rows:
        one = row.standing
        cells: list[str] = []
        for number in range(len(traces)):
            each = one.scores[number] if number < len(one.scores) else None
            cells += (
                [_text(each.score), _text(each.throughput_mbps), _text(each.delay_p95_ms)] if each else ["", "", ""]
            )
        table.append([row.rank, one.name, one.student, _text(one.score), *cells, one.trouble])
    write_whole(output / "contest.csv", spreadsheet(table).encode(), 0o600)
    bounds = [congestion.bound(trace) for trace in traces]
    page = leaderboard(
        rows, [*zip([trace.name for trace in traces], bounds, strict=True)], congestion.SECONDS, __version__
    )
    write_whole(output / "index.html", page.encode(), 0o644)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.{_DIGITS}f}"
