"""``linklab kernel build | status | path | clean``."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from linklab import options
from linklab.errors import LabError
from linklab.runtime.kernel.build import background_log, build_kernel, build_lock
from linklab.runtime.kernel.config import PATCHES
from linklab.runtime.kernel.find import Record, Status, build_is_running, cache_folder, find_kernel, kernel_of
from linklab.signals import interrupted_once

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_PLAIN_STEP = 0.05
_INTERRUPTED = 130  # the shell's status for a program ended by SIGINT


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``kernel`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("kernel", help="build the kernel for virtual time, or tell about it")
    actions = parser.add_subparsers(dest="kernel_action", required=True, metavar="ACTION")
    build = actions.add_parser("build", help="build it (goes on where an earlier build was stopped)")
    build.add_argument("--jobs", type=options.count, metavar="N", help="compilers at once (default: one per CPU)")
    build.add_argument("--keep", action="store_true", help="keep source and objects (0.9 GB)")
    build.add_argument("--background", action="store_true", help="at low priority; leave at once if a build runs")
    build.add_argument("--source", metavar="PACKAGE", help="insist on a source package, as linux-source-6.12")
    actions.add_parser("status", help="what is built, and how far a running build is")
    actions.add_parser("path", help="print the kernel's path")
    actions.add_parser("clean", help="remove all built kernels and all that unfinished builds kept")


def run(arguments: argparse.Namespace) -> int:
    """Does what the command line asks; gives the exit status. Raises `LabError` for the caller to print."""
    action = arguments.kernel_action
    if action == "build":
        return _build(arguments)
    if action == "status":
        return _status()
    if action == "path":
        print(find_kernel("virtual").path)
        return 0
    return _clean()


def _build(arguments: argparse.Namespace) -> int:
    if arguments.background and build_is_running(cache_folder()):
        print("a build of the kernel runs already: linklab kernel status tells how far it is")
        return 0
    if arguments.jobs is not None:
        options.refuse_jobs(arguments.jobs, "compilers")
    reporter = BarReporter if sys.stdout.isatty() and not arguments.background else PlainReporter
    try:
        with interrupted_once(), reporter() as reports:
            path = build_kernel(
                reports.progress,
                arguments.jobs,
                arguments.background,
                keep=arguments.keep,
                source=arguments.source,
                say=reports.say,
            )
    except KeyboardInterrupt:
        print("stopped; linklab kernel build goes on from here")
        return _INTERRUPTED
    print(path)
    return 0


class PlainReporter:
    """One line per five percent and per stage, for logs and pipes."""

    def __init__(self) -> None:
        self._shown = ("", -1.0)

    def __enter__(self) -> PlainReporter:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def progress(self, message: str, fraction: float) -> None:
        if message != self._shown[0] or fraction >= self._shown[1] + _PLAIN_STEP:
            self._shown = (message, fraction)
            print(f"{fraction:4.0%}  {message}", flush=True)

    def say(self, line: str) -> None:
        print(line, flush=True)


class BarReporter:
    """A bar that moves, for a terminal."""

    def __init__(self) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=Console(),
        )
        self._task = self._bar.add_task("kernel", total=1.0)

    def __enter__(self) -> BarReporter:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def progress(self, message: str, fraction: float) -> None:
        self._bar.update(self._task, description=message, completed=fraction)

    def say(self, line: str) -> None:
        self._bar.console.print(line)


def _status() -> int:
    folder = cache_folder()
    running = build_is_running(folder)
    if running:
        status = Status.read(folder)
        doing = f": {status.fraction:.0%}, {status.message} (process {status.pid})" if status else ""
        print(f"a build runs{doing}")
        print(f"log: {folder / 'build.log'}")
    elif any((folder / "work").glob("*/begun.json")):
        print("a build was begun and stopped: linklab kernel build goes on with it")
        print(f"log: {folder / 'build.log'}")
    if not running and background_log().is_file():
        lines = background_log().read_text("utf-8").splitlines()
        if lines:
            print(f"the last build in the background said: {lines[-1]}")
    for path in sorted(folder.glob("*/kernel.json")):
        if record := Record.read(path):
            way = "seccomp" if record.seccomp else "ptrace"
            patches = kernel_of(path.parent / "linux", record).patches
            without = [f"{name}.patch" for name in PATCHES if name not in patches]
            lacks = f", without {' and '.join(without)}" if without else ""
            print(
                f"built: Linux {record.kernel_version} from {record.source} {record.source_version}, {way}{lacks}, "
                f"{record.size_bytes / 1e6:.1f} MB, {record.built_at}, {path.parent / 'linux'}"
            )
    try:
        kernel = find_kernel("virtual")
    except LabError as error:
        print(error)
        return 1
    print(f"virtual time: Linux {kernel.version}, {kernel.path}{f', {kernel.lacks}' if kernel.lacks else ''}")
    return 0


def _clean() -> int:
    folder = cache_folder()
    if not folder.is_dir():
        return 0
    with build_lock(folder) as lock:
        if lock is None:
            raise LabError("a build of the kernel runs: end it first (linklab kernel status names its process)")
        shutil.rmtree(folder, ignore_errors=True)
    return 0
