"""Carrying out a study: points side by side, each saved when it is done, whatever is done already left out."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shlex
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from linklab.dask_run import Cluster, WorkerPlace
from linklab.errors import LabError, LinklabError, MeasurementError
from linklab.lab_group import Labs
from linklab.options import cores, free_memory_mb, refuse_jobs
from linklab.record import processor
from linklab.runtime.backends import choose, guest_memory_mb
from linklab.study import table
from linklab.study.declare import Point, Selection, Study, refuse_rows
from linklab.study.store import Finished, Store, changes, definition, definition_of, own_modules
from linklab.study.table import Missing, Table

_WALL_LIMIT_S: Final = 3600.0
_LOOK_S: Final = 1.0
"""How often a worker of a cluster looks whether the run was stopped."""
_TRIED_FIRST: Final = 3
"""So many points, far apart, are measured first: where all of them fail alike, so would the others."""

_ADDRESS: Final = re.compile("0x[0-9a-f]+")
"""What Python and ffmpeg call things by: another address in memory each time."""


def how_many(asked: int | None, points: int) -> int:
    """Return how many labs run at once: as many as asked for, else one a core; never more than there are points.

    Raises LabError for a number that is none, or more than cores and memory bear.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise LabError(f"jobs is {asked!r}: choose a whole number above 0")
        refuse_jobs(asked, "labs")
    wanted = min(asked or cores(), max(points, 1))
    fitting = max(1, int(free_memory_mb() // guest_memory_mb()))
    if asked is not None and wanted > fitting:
        raise LabError(f"{wanted} labs at once may use {wanted * guest_memory_mb()} MB: say --jobs {fitting} or less")
    return min(wanted, fitting)


@dataclass(frozen=True)
class Progress:
    """How far a study is: ``done`` of ``total`` points, ``failed`` of them. ``point`` has just ended, with a
    ``reason`` where it failed; at the start it is None, and ``done`` are those of earlier runs, ``damaged`` the
    files of points that cannot be used and are measured again.
    """

    done: int
    total: int
    failed: int
    point: Point | None = None
    reason: str = ""
    damaged: int = 0


def run(
    study: Study,
    folder: str | Path,
    *,
    jobs: int | None = None,
    only: Selection | None = None,
    again: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    cluster: Cluster | None = None,
) -> Table:
    """Measure all points of a study that `folder` has not yet, `jobs` at once (None: one a core), or on the workers of
    a `cluster`; write its table.

    Every point has a fresh lab and is saved as soon as it is measured, so a run that was interrupted, or killed, goes
    on where it ended, and its table is that of a run without a break, byte for byte. A point that fails is in the
    table's ``missing`` with the reason; the others go on, and the next run tries it again. `only` leaves out points;
    the table has them where they were measured before. `again` measures all that is asked for once more.

    Where nothing was measured yet, the first, the middle and the last point come first: if these fail with one and
    the same line, the others are not tried, and it raises MeasurementError with that line.

    Raises MeasurementError or LabError, before anything is measured, for levels that the testbed refuses, a study
    that was changed since `folder` was begun, a folder that cannot be written to, or jobs that the machine does not
    bear. At KeyboardInterrupt it ends all labs and writes the table of what is done.
    """
    asked = study.select(only or {})
    everything = study.points()
    now = definition(study)
    definitions = {point: definition_of(study, point, now) for point in everything}
    jobs = how_many(jobs, len(asked)) if cluster is None else cluster.threads
    image = _image_key()
    for each in (now, *definitions.values()):
        each["image"] = image
    store = Store(Path(folder).absolute())
    began_s = time.monotonic()
    with store.locked():
        if again:
            store.forget(definitions if set(asked) == set(everything) else {it: definitions[it] for it in asked})
        if not again or set(asked) != set(everything):
            store.refuse_change(study.name, now)
        done = store.finished(definitions)
        store.keep_definition(study.name, now)
        todo = [point for point in asked if point not in done]
        tell = on_progress or _say_nothing
        tell(Progress(len(asked) - len(todo), len(asked), 0, damaged=sum(map(store.damaged, todo))))
        work = _Work(study, store, definitions)
        try:
            work.carry_out(todo, jobs, cluster, tell, len(asked), nothing_yet=not done)
        finally:
            done = store.finished(definitions)
            missing = tuple(
                Missing(point, work.failures.get(point, "not measured")) for point in asked if point not in done
            )
            about = _about_run(jobs, time.monotonic() - began_s, done, missing)
            before = table.read_about_run(study, store.folder)
            if not todo and before.get("lab_s_of_all_points") == about["lab_s_of_all_points"]:
                about = before  # it was measured then, and not now
            written = table.write(study, store.folder, done, about)
    return replace(written, missing=missing)


class _Work:
    """The points that are measured in one run."""

    def __init__(self, study: Study, store: Store, definitions: dict[Point, dict[str, str]]) -> None:
        self._study, self._store, self._definitions = study, store, definitions
        self.failures: dict[Point, str] = {}

    def carry_out(
        self,
        todo: list[Point],
        jobs: int,
        cluster: Cluster | None,
        tell: Callable[[Progress], None],
        total: int,
        *,
        nothing_yet: bool,
    ) -> None:
        """Measure the points, some at once. At any exception all labs and threads are ended before it goes on.

        Raises MeasurementError where `nothing_yet` is measured and the points that are tried first all fail alike.
        """
        first = _far_apart(todo) if nothing_yet else []
        todo = [*first, *(point for point in todo if point not in first)]
        over = total - len(todo)
        with closing(self._in_threads(todo, jobs) if cluster is None else self._on_workers(todo, cluster)) as outcomes:
            for point, reason in outcomes:
                if reason:
                    self.failures[point] = reason
                over += 1
                tell(Progress(over, total, len(self.failures), point, reason))
                if nothing_yet and over < total:
                    self._refuse_to_go_on(first, over)

    def _in_threads(self, todo: list[Point], jobs: int) -> Generator[tuple[Point, str]]:
        """Yield each point that was measured on this machine, with the reason where it could not be."""
        with (
            TemporaryDirectory(prefix="linklab-study-") as place,
            ThreadPoolExecutor(jobs) as pool,  # left only when its threads have ended
            _ended(Labs(Path(place), _WALL_LIMIT_S, "the study")) as labs,
        ):
            futures = {pool.submit(self._measure, point, labs): point for point in todo}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                for future in futures:
                    future.cancel()

    def _on_workers(self, todo: list[Point], cluster: Cluster) -> Generator[tuple[Point, str]]:
        """Yield each point that was measured on a cluster, with the reason where it could not be."""
        tasks = ((point, (self._study, point, self._definitions[point])) for point in todo)
        with closing(cluster.run(_measure_on_worker, tasks, own_modules(self._study))) as outcomes:
            for point, outcome in outcomes:
                yield point, str(outcome) if isinstance(outcome, LinklabError) else self._saved(point, outcome)

    def _measure(self, point: Point, labs: Labs) -> str:
        return self._saved(point, _outcome(self._study, point, self._definitions[point], labs))

    def _saved(self, point: Point, outcome: Finished | str) -> str:
        """Save a point that was measured; return why it was not, in one line, or nothing."""
        if isinstance(outcome, str):
            return outcome
        self._store.save(point, outcome)
        return ""

    def _refuse_to_go_on(self, first: list[Point], tried: int) -> None:
        """Raise MeasurementError where all that were tried failed with the same line, the first ones among them."""
        alike = {_ADDRESS.sub("", reason) for reason in self.failures.values()}
        if len(self.failures) == tried and len(alike) == 1 and self.failures.keys() >= set(first):
            raise MeasurementError(
                f"the first {tried} points all failed alike ({self.failures[first[0]]}), so the others were not tried: "
                "mend that and run it again, or choose points that can be measured (--only FACTOR=LEVEL)"
            )


def _outcome(study: Study, point: Point, definition: dict[str, str], labs: Labs) -> Finished | str:
    """Return what was measured at a point, or in one line why it could not be."""
    began_s = time.monotonic()
    try:
        testbed = study.place(point)
        command = testbed.controller and f"cd {shlex.quote(str(Path.cwd()))} && {testbed.controller}"
        with labs.lab(testbed.network, testbed.switch, study.seed_of(point), command) as lab:
            network = lab.state().to_json()
            about = lab.info()
            for _ in range(2):  # each look acted when the tables that are kept were measured
                lab.sleep(0)
            rows = study.measurement(lab, point)
            lab_s = lab.now()
        refuse_rows(rows, tuple(study.metrics))
        return Finished(definition, tuple(rows), about, network, lab_s, time.monotonic() - began_s)
    except LinklabError as error:
        return "ended before it was done" if labs.ended else _one_line(str(error))
    except (Exception, SystemExit) as error:
        # a mistake in the measurement of one point must not cost the others
        return _one_line(f"{type(error).__name__}: {error}")


def _measure_on_worker(study: Study, point: Point, definition: dict[str, str], place: WorkerPlace) -> Finished | str:
    """Return the outcome of a point that a worker of a cluster measures. Another image, or other files that a level
    names, would give other digits.
    """
    there = definition_of(study, point, {"image": _image_key()})
    if changed := changes(definition, there):
        return f"the worker has another {' and another '.join(changed)} than this machine: install and copy the same"
    with _ended(Labs(Path(place.folder), _WALL_LIMIT_S, "the study")) as labs:
        over = threading.Event()

        def end_if_stopped() -> None:
            while not over.wait(_LOOK_S):
                if place.stopped():
                    labs.end()
                    return

        watcher = threading.Thread(target=end_if_stopped)
        watcher.start()
        try:
            return _outcome(study, point, definition, labs)
        finally:
            over.set()
            watcher.join()


def _image_key() -> str:
    image = choose().image
    return "none" if image is None else image.about.key


def _far_apart(points: list[Point]) -> list[Point]:
    """Return the first, the middle and the last of the points: what fails at one level alone does not fail in all."""
    if len(points) <= _TRIED_FIRST:
        return points
    return [points[number * (len(points) - 1) // (_TRIED_FIRST - 1)] for number in range(_TRIED_FIRST)]


@contextmanager
def _ended(labs: Labs) -> Iterator[Labs]:
    try:
        yield labs
    finally:
        labs.end()


def _say_nothing(progress: Progress) -> None:
    """For those who do not want to know."""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _about_run(jobs: int, wall_s: float, done: dict[Point, Finished], missing: tuple[Missing, ...]) -> dict[str, Any]:
    """Return what differs from run to run by nature."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "jobs": jobs,
        "wall_s": round(wall_s, 3),
        "lab_s_of_all_points": round(sum(finished.lab_s for finished in done.values()), 3),
        "wall_s_of_all_points": round(sum(finished.wall_s for finished in done.values()), 3),
        "load": list(os.getloadavg()),
        "machine": {
            "processor": processor(),
            "cores": cores(),
            "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000,
            "kernel": platform.release(),
        },
        "missing": [{"point": str(each.point), "reason": each.reason} for each in missing],
    }
