"""``linklab image build | pack | wheel | status | path | lock | clean``."""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib.resources import files
from pathlib import Path
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

from linklab.errors import LabError
from linklab.runtime.image import debian, file, tree, wheel
from linklab.runtime.image.build import background_log, build_image
from linklab.runtime.image.find import Image, being_built, cache_folder, find_image, finished_images
from linklab.runtime.image.running import Status, build_lock
from linklab.signals import interrupted_once

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_PLAIN_STEP = 0.05
_INTERRUPTED = 130  # the shell's status for a program ended by SIGINT


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``image`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("image", help="build the image that labs boot, or tell about it")
    actions = parser.add_subparsers(dest="image_action", required=True, metavar="ACTION")
    build = actions.add_parser("build", help="build it (goes on where one was stopped)")
    build.add_argument("--keep", action="store_true", help="keep the packages that were fetched")
    build.add_argument("--background", action="store_true", help="at low priority; leave at once if there is an image")
    pack = actions.add_parser("pack", help="write the image to one file, to carry it to other machines")
    pack.add_argument("file", type=Path, help=f"the file to write, linklab-image{file.SUFFIX} for instance")
    made = actions.add_parser("wheel", help="write the image as a Python package, for pip to install")
    made.add_argument("folder", type=Path, help="the folder to write it into")
    actions.add_parser("status", help="which images there are, and how far a running build is")
    actions.add_parser("path", help="print the image's folder")
    lock = actions.add_parser("lock", help="pin Debian's newest packages")
    lock.add_argument("--file", type=Path, help="write this file (default: packages.lock of this Linklab)")
    actions.add_parser("clean", help="remove all images, and all that unfinished builds kept")


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks; return the exit status. Raises `LabError` for the caller to print."""
    action = arguments.image_action
    if action == "build":
        return _build(arguments)
    if action == "pack":
        return _pack(arguments.file)
    if action == "wheel":
        return _wheel(arguments.folder)
    if action == "status":
        return _status()
    if action == "lock":
        return _lock(arguments.file)
    if action == "path":
        print(find_image().folder)
        return 0
    return _clean()


def _found() -> Image | None:
    try:
        return find_image()
    except LabError:
        return None


def _reporter(background: bool) -> BarReporter | PlainReporter:
    return BarReporter() if sys.stdout.isatty() and not background else PlainReporter()


def _build(arguments: argparse.Namespace) -> int:
    if arguments.background and being_built():
        print("a build of the lab image runs already: linklab image status tells how far it is")
        return 0
    if arguments.background and (found := _found()):
        print(found.folder)
        return 0
    try:
        with interrupted_once(), _reporter(arguments.background) as reports:
            image = build_image(
                reports.progress,
                reports.say,
                low_priority=arguments.background,
                keep=arguments.keep,
            )
    except KeyboardInterrupt:
        print("stopped; linklab image build goes on from here")
        return _INTERRUPTED
    print(image.folder)
    return 0


def _pack(path: Path) -> int:
    image = find_image()
    with interrupted_once(), _reporter(background=False) as reports:
        digest = file.pack(image.folder, path.absolute(), lambda part: reports.progress("packing the lab image", part))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256={digest}")
    return 0


def _wheel(folder: Path) -> int:
    image = find_image()
    with interrupted_once(), _reporter(background=False) as reports:
        path = wheel.make(image, folder, lambda part: reports.progress("packing the lab image", part))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


def _status() -> int:
    if being_built():
        status = Status.read(cache_folder())
        print(f"a build runs{f': {status.fraction:.0%}, {status.message} (process {status.pid})' if status else ''}")
    elif background_log().is_file() and (lines := background_log().read_text("utf-8").splitlines()):
        print(f"the last build in the background said: {lines[-1]}")
    for image in finished_images():
        size = f"{tree.size_bytes(image.folder) / 1e6:.0f} MB"
        print(f"there: Debian {image.about.debian}, Linux {image.about.kernel_version}, {size}, {image.folder}")
    try:
        image = find_image()
    except LabError as error:
        print(error)
        return 1
    about = image.about
    print(f"labs boot: {image.folder}")
    print(f"{len(about.packages)} packages, Python {about.python}; their licences are in it, {about.licences}")
    print(f"the names and versions of their sources: {image.folder / 'image.json'} (docs/image.md says where they are)")
    for replaced in about.replaced:
        print(f"newer than Linklab's list of packages: {replaced}")
    return 0


def _lock(path: Path | None) -> int:
    path = path or Path(str(files(debian.__package__).joinpath(debian.LOCK)))
    wanted = debian.wanted()
    base, folder = debian.archive(), cache_folder() / "apt"
    packages = debian.fetch_index(base, folder).resolve(wanted)
    try:
        debian.write_lock(packages, path)
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror}): name another with --file") from error
    print(f"{path}: {len(packages)} packages, {sum(package.size for package in packages) / 1e6:.0f} MB")
    return 0


def _clean() -> int:
    with build_lock(tree.ensure_folder(cache_folder())) as lock:
        if lock is None:
            raise LabError("a build of the lab image runs: end it first (linklab image status names its process)")
        shutil.rmtree(cache_folder(), ignore_errors=True)
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
        self._task = self._bar.add_task("lab image", total=1.0)

    def __enter__(self) -> BarReporter:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def progress(self, message: str, fraction: float) -> None:
        self._bar.update(self._task, description=message, completed=fraction)

    def say(self, line: str) -> None:
        self._bar.console.print(line)
