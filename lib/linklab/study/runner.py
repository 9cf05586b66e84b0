"""Carry out a study: measure its points side by side, and save each in a file of its own as soon as it is done.

A file is there whole or not at all, whatever ends the program; the next run leaves out the points that are done. A
point counts as done only if its definition is still the same: the code of measurement and Linklab, metrics, image, and
the point's testbed.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import fcntl
import inspect
import json
import os
import platform
import re
import shlex
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from linklab import __version__, schema
from linklab.dask_run import Cluster, WorkerPlace
from linklab.digests import linklab_digest
from linklab.errors import LabError, LinklabError, MeasurementError
from linklab.files import need_room, temporary_folder, write_or_keep, write_whole
from linklab.lab_group import Labs
from linklab.options import cores, how_many
from linklab.record import processor
from linklab.runtime.backends import choose, guest_memory_mb
from linklab.study.declare import Measured, Point, Selection, Study, is_own, refuse_rows
from linklab.study.table import Missing, StudyTable, digest, table_of

_WALL_LIMIT_S: Final = 3600.0
_LOOK_S: Final = 1.0
"""How often a worker of a cluster checks whether the run was stopped."""
_TRIED_FIRST: Final = 3
"""How many points, far apart, are measured first: if all of them fail alike, the others would too."""

_ADDRESS: Final = re.compile("0x[0-9a-f]+")
"""Addresses in memory in messages of Python and ffmpeg: they differ each time."""
VERSION: Final = 3
"""Version of the form of a point's file."""
_LOCK: Final = ".linklab-study"


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is: ``done`` of ``total`` points, of which ``failed`` failed.

    ``point`` has just ended, with a ``reason`` if it failed. At the start it is None; ``done`` then counts the points
    of earlier runs, and ``damaged`` the files that cannot be read, whose points are measured again.
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
    on_progress: Callable[[StudyProgress], None] | None = None,
    cluster: Cluster | None = None,
) -> StudyTable:
    """Measure all points of a study that `folder` lacks, `jobs` at once (None: one a core) or on the workers of a
    `cluster`, and write its table.

    Every point has a fresh lab and is saved as soon as it is measured. So a run that was interrupted or killed can be
    continued, and its table is that of a run without a break, byte for byte. A point that fails is in the table's
    ``missing``, with the reason; the others go on, and the next run tries it again. `only` selects points; the table
    also has others that were measured before. `again` measures all selected points once more.

    If nothing was measured yet, the first, the middle and the last point come first: if these fail with one and the
    same line, the others are not tried, and MeasurementError is raised with that line.

    Raises MeasurementError or LabError, before anything is measured, for levels that the testbed refuses, a point whose
    definition has changed since it was measured, a folder that cannot be written to, or more jobs than the machine
    bears. KeyboardInterrupt ends all labs, and the table of the finished points is written.
    """
    asked = study.select(only or {})
    everything = study.points()
    shared = {**definition(study), "image": _image_key()}
    definitions = {point: definition_of(study, point, shared) for point in everything}
    if study.testbed is None and (jobs is not None or cluster is not None):
        raise LabError(
            f"study {study.name} measures this machine, a point after the other: leave --jobs and --dask away"
        )
    if study.testbed is None:
        jobs = 1
    elif cluster is not None:
        jobs = cluster.threads
    else:
        jobs = how_many(jobs, len(asked), "labs", guest_memory_mb())
    store = Store(Path(folder).absolute())
    began_s = time.monotonic()
    with store.locked():
        if again:
            store.forget(asked)
        done = store.finished(definitions)
        todo = [point for point in asked if point not in done]
        tell = on_progress or _say_nothing
        tell(StudyProgress(len(asked) - len(todo), len(asked), 0, damaged=sum(map(store.damaged, todo))))
        work = _Work(study, store, definitions)
        try:
            work.carry_out(todo, jobs, cluster, tell, len(asked), nothing_yet=not done)
        finally:
            done = store.finished(definitions)
            missing = tuple(
                Missing(point, work.failures.get(point, "not measured")) for point in asked if point not in done
            )
            about = _about_run(jobs, time.monotonic() - began_s, done, missing)
            before = store.about_run(study.name)
            if not todo and before.get("lab_s_of_all_points") == about["lab_s_of_all_points"]:
                about = before  # it was measured then, and not now
            table = store.write(study, done, about)
    return replace(table, missing=missing)


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
        tell: Callable[[StudyProgress], None],
        total: int,
        *,
        nothing_yet: bool,
    ) -> None:
        """Measure the points, several at once. Any exception first ends all labs and threads.

        Raises MeasurementError if there is `nothing_yet` in the folder and the points tried first all fail alike.
        """
        first = _far_apart(todo) if nothing_yet else []
        todo = [*first, *(point for point in todo if point not in first)]
        over = total - len(todo)
        with contextlib.closing(
            self._in_threads(todo, jobs) if cluster is None else self._on_workers(todo, cluster)
        ) as outcomes:
            for point, reason in outcomes:
                if reason:
                    self.failures[point] = reason
                over += 1
                tell(StudyProgress(over, total, len(self.failures), point, reason))
                if nothing_yet and over < total:
                    self._refuse_to_go_on(first, over)

    def _in_threads(self, todo: list[Point], jobs: int) -> Generator[tuple[Point, str]]:
        """Measure points on this machine; yield each that has ended, with the reason if it failed."""
        with (
            temporary_folder() as place,
            ThreadPoolExecutor(jobs) as pool,  # left only when its threads have ended
            _ended(Labs(place, _WALL_LIMIT_S)) as labs,
        ):
            futures = {pool.submit(self._measure, point, labs): point for point in todo}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                for future in futures:
                    future.cancel()

    def _on_workers(self, todo: list[Point], cluster: Cluster) -> Generator[tuple[Point, str]]:
        """Measure points on a cluster; yield each that has ended, with the reason if it failed."""
        tasks = ((point, (self._study, point, self._definitions[point])) for point in todo)
        with contextlib.closing(cluster.run(_measure_on_worker, tasks, own_modules(self._study).values())) as outcomes:
            for point, outcome in outcomes:
                yield point, str(outcome) if isinstance(outcome, LinklabError) else self._saved(point, outcome)

    def _measure(self, point: Point, labs: Labs) -> str:
        return self._saved(point, _outcome(self._study, point, self._definitions[point], labs))

    def _saved(self, point: Point, outcome: Finished | str) -> str:
        """Save a measured point and return an empty string, or return the reason why it failed."""
        if isinstance(outcome, str):
            return outcome
        self._store.save(point, outcome)
        return ""

    def _refuse_to_go_on(self, first: list[Point], tried: int) -> None:
        """Raise MeasurementError if all points so far failed with the same line, the `first` ones among them."""
        alike = {_ADDRESS.sub("", reason) for reason in self.failures.values()}
        if len(self.failures) == tried and len(alike) == 1 and self.failures.keys() >= set(first):
            raise MeasurementError(
                f"the first {tried} points all failed alike ({self.failures[first[0]]}), so the others were not tried: "
                "mend that and run it again, or choose points that can be measured (--only FACTOR=LEVEL)"
            )


def _outcome(study: Study, point: Point, definition: dict[str, str], labs: Labs) -> Finished | str:
    """Measure a point. Return what was measured, or in one line why it failed."""
    began_s = time.monotonic()
    about: dict[str, str] = {}
    network: dict[str, Any] = {}
    lab_s = 0.0
    measurement: Callable[..., Sequence[Measured]] = study.measurement
    try:
        if (testbed := study.place(point)) is None:
            rows = measurement(labs, point)
        else:
            command = testbed.controller and f"cd {shlex.quote(str(Path.cwd()))} && {testbed.controller}"
            with labs.lab(testbed.network, testbed.switch, study.seed_of(point), command) as lab:
                network = lab.state().to_json()
                about = lab.info()
                rows = measurement(lab, point)
                lab_s = lab.now()
        refuse_rows(rows, tuple(study.metrics))
        return Finished(definition, tuple(rows), about, network, lab_s, time.monotonic() - began_s)
    except LinklabError as error:
        return "ended before it was done" if labs.ended else _one_line(str(error))
    except (Exception, SystemExit) as error:
        # a mistake in the measurement of one point must not cost the others
        return _one_line(f"{type(error).__name__}: {error}")


def _measure_on_worker(study: Study, point: Point, definition: dict[str, str], place: WorkerPlace) -> Finished | str:
    """Measure a point on a worker of a cluster. A worker that has another image, or other files under the names that
    levels give, is refused: it would give other digits.
    """
    there = definition_of(study, point, {"image": _image_key()})
    if changed := changes(definition, there):
        return f"the worker has another {' and another '.join(changed)} than this machine: install and copy the same"
    with _ended(Labs(Path(place.folder), _WALL_LIMIT_S)) as labs:
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
    """Return the first, the middle and the last point: a mistake that concerns one level does not fail all three."""
    if len(points) <= _TRIED_FIRST:
        return points
    return [points[number * (len(points) - 1) // (_TRIED_FIRST - 1)] for number in range(_TRIED_FIRST)]


@contextlib.contextmanager
def _ended(labs: Labs) -> Iterator[Labs]:
    try:
        yield labs
    finally:
        labs.end()


def _say_nothing(progress: StudyProgress) -> None:
    """Ignore progress: the default of `run`."""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _metadata(study: Study, points: Mapping[Point, Finished]) -> dict[str, Any]:
    """Return what is the same in every run: the study, versions, networks as read back."""
    networks: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for point, finished in points.items():
        of, _ = networks.setdefault(json.dumps(finished.network, sort_keys=True), ([], finished.network))
        if point.combination not in of:
            of.append(point.combination)
    labs = {json.dumps(finished.about): finished.about for finished in points.values()}
    made_by = next((it.definition for it in points.values()), {})  # of one they all are
    return {
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "command": study.command,
        "factors": {factor: list(levels) for factor, levels in study.factors.items()},
        "repeats": study.repeats,
        "metrics": {metric.name: {"unit": metric.unit, "meaning": metric.meaning} for metric in study.metrics},
        "measurement": f"{study.measurement.__module__}:{study.measurement.__qualname__}",
        "linklab": __version__,
        "made_by": {part: made_by[part] for part in ("measurement", "code", "image") if part in made_by},
        "points": len(study.points()),
        "points_done": len(points),
        "labs": list(labs.values()),
        "networks": [{"of": of, "read_back": network} for of, network in networks.values()],
    }


def _about_run(jobs: int, wall_s: float, done: dict[Point, Finished], missing: tuple[Missing, ...]) -> dict[str, Any]:
    """Return what differs from run to run: date, machine, durations, failures."""
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


@dataclass(frozen=True)
class Finished:
    """A measured point. ``about`` has the lab's kind, kernel and tools; ``network`` is the network as read back.

    ``lab_s`` is the lab's clock at the end of the measurement, ``wall_s`` how long the point took by the machine's
    clock, which differs from run to run. Neither is part of the table.
    """

    definition: dict[str, str]
    rows: tuple[Measured, ...]
    about: dict[str, str]
    network: dict[str, Any]
    lab_s: float
    wall_s: float


class Store:
    """The finished points of a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder. Raises LabError, in one line, if it cannot be written to."""
        self.folder = folder
        self._points = folder / "points"
        try:
            self._points.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LabError(f"{folder} cannot be written to: {error.strerror}; say another folder (--output)") from None
        need_room(self._points)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """While the block runs, no other run writes here. Raises LabError if another one does already."""
        with (self.folder / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LabError(
                    f"another run writes to {self.folder}: wait for its end, or say another folder (--output)"
                ) from None
            yield

    def save(self, point: Point, finished: Finished) -> None:
        """Save a point. After a crash at any moment its file is there whole, or not at all."""
        body = {"version": VERSION, "point": schema.dump(point), **schema.dump(finished)}
        write_or_keep(self._file(point), json.dumps({"digest": _digest_of(body), **body}) + "\n")

    def load(self, point: Point) -> Finished | None:
        """Return what was measured at a point; None if its file is missing or damaged."""
        try:
            data = json.loads(self._file(point).read_text("utf-8"))
            whole = data.pop("digest") == _digest_of(data)
            if not whole or (data["version"], data["point"]) != (VERSION, schema.dump(point)):
                return None
            return schema.load(Finished, data, "a point's file")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, MeasurementError):
            return None

    def damaged(self, point: Point) -> bool:
        """Return True if the point has a file that cannot be used."""
        return self._file(point).exists() and self.load(point) is None

    def finished(self, points: dict[Point, dict[str, str]]) -> dict[Point, Finished]:
        """Return what was measured of these points, given with their present definitions.

        Raises MeasurementError, which names what changed, if one was measured with another definition.
        """
        found = {}
        for point, definition in points.items():
            done = self.load(point)
            if done is None:
                continue
            if changed := changes(done.definition, definition):
                raise MeasurementError(
                    f"the points of study {point.study} in {self.folder} are older than its {' and '.join(changed)}: "
                    "measure all again (--again), or say another folder (--output)"
                )
            found[point] = done
        return found

    def forget(self, points: Iterable[Point]) -> None:
        """Remove what was measured at the points."""
        for point in points:
            self._file(point).unlink(missing_ok=True)

    def about_run(self, study: str) -> dict[str, Any]:
        """Return the content of NAME.run.json; an empty dict if it is missing or damaged."""
        try:
            about = json.loads((self.folder / f"{study}.run.json").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return about if isinstance(about, dict) else {}

    def write(self, study: Study, points: Mapping[Point, Finished], about_run: Mapping[str, Any]) -> StudyTable:
        """Write NAME.csv, NAME.json (what is the same in every run) and NAME.run.json (what differs)."""
        about = _metadata(study, points)
        table = table_of(study, {point: finished.rows for point, finished in points.items()}, about | dict(about_run))
        files = tuple(self.folder / f"{study.name}{ending}" for ending in (".csv", ".json", ".run.json"))
        write_whole(files[0], table.csv)
        write_whole(files[1], json.dumps(about, indent=1) + "\n")
        write_whole(files[2], json.dumps(about_run, indent=1) + "\n")
        return replace(table, files=files)

    def _file(self, point: Point) -> Path:
        exact = digest(json.dumps([point.study, point.levels]))
        readable = re.sub(r"[^A-Za-z0-9.=]+", "-", point.combination)[:80].strip("-")
        return self._points / f"{readable}.{exact}.{point.repeat}.json"


def _digest_of(body: dict[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True))


def definition(study: Study) -> dict[str, str]:
    """Return digests of what defines all points of a study. Levels and repeats do not count: a study may grow.

    Raises MeasurementError if the measurement's source cannot be read.
    """
    metrics = [[metric.name, metric.unit] for metric in study.metrics]
    name = study.measurement.__module__
    module = None if name == "__main__" else sys.modules.get(name)
    return {
        "measurement": digest(_meaning_of(study.measurement if module is None else module)),
        "metrics": digest(json.dumps(metrics)),
        "seed": "the repeat" if study.seed is None else "of the point",
        "code": _code_digest(study),
    }


def definition_of(study: Study, point: Point, shared: dict[str, str]) -> dict[str, str]:
    """Return `shared`, the study's `definition`, and a digest of the point's network, switches and controller.

    That digest includes the files in the current folder that levels and the controller's command name.

    Raises MeasurementError if there can be no such testbed.
    """
    testbed = study.place(point)
    words = shlex.split((testbed and testbed.controller) or "")
    files = [str(point[factor]) for factor in study.files if Path(str(point[factor])).is_file()]
    programs = [digest(Path(word).read_bytes()) for word in (*files, *words) if Path(word).is_file()]
    return {**shared, "testbed": digest(" ".join([repr(testbed), *programs]))}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return which of the parts of a definition differ, by name."""
    return [part for part, value in now.items() if before.get(part) != value]


def own_modules(study: Study) -> dict[str, ModuleType]:
    """Return the author's own modules that measure a study's points, by name: those of its functions, and those that
    they import. Modules of Linklab and of libraries are left out.
    """
    todo = [study.measurement.__module__, getattr(study.testbed, "__module__", "__main__")]
    found: dict[str, ModuleType] = {}
    while todo:
        name = todo.pop()
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if (
            module is None
            or name in {*found, "__main__"}
            or not file
            or not Path(file).is_file()
            or not is_own(Path(file))
        ):
            continue
        found[name] = module
        for node in ast.walk(ast.parse(Path(file).read_bytes())):
            if isinstance(node, ast.Import):
                todo += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                todo += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def _code_digest(study: Study) -> str:
    """Return a digest of the code that makes a point, apart from the measurement's: Linklab's and the author's."""
    own = own_modules(study)
    own.pop(study.measurement.__module__, None)
    return digest(linklab_digest() + "".join(sorted(_meaning_of(module) for module in own.values())).encode())


def _meaning_of(what: ModuleType | Callable[..., Any]) -> str:
    """Return a module, or a function of a notebook, as a syntax tree, without comments and docstrings."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(what)))
    except (OSError, TypeError, SyntaxError):
        raise MeasurementError(
            f"the source of {what.__name__} cannot be read, so a change of it would go unnoticed: "
            "define it in a file or in a notebook"
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
