"""``linklab image build | pack | wheel | status | path | lock | clean``."""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import options
from linklab.errors import LabError
from linklab.runtime.image import debian, file, tree, wheel
from linklab.runtime.image.build import background_log, build_image
from linklab.runtime.image.find import cache_folder, find_image, finished_images
from linklab.runtime.kernel.build import build_lock
from linklab.runtime.kernel.cli import BarReporter, PlainReporter
from linklab.runtime.kernel.find import Status, build_is_running
from linklab.signals import interrupted_once

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_INTERRUPTED = 130  # the shell's status for a program ended by SIGINT


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``image`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("image", help="build the image that labs boot, or tell about it")
    actions = parser.add_subparsers(dest="image_action", required=True, metavar="ACTION")
    build = actions.add_parser("build", help="build it, and the lab kernel before it (goes on where one was stopped)")
    build.add_argument("--jobs", type=options.count, metavar="N", help="compilers of the kernel at once")
    build.add_argument("--keep", action="store_true", help="keep the fetched packages (140 MB)")
    build.add_argument("--background", action="store_true", help="at low priority; leave at once if a build runs")
    pack = actions.add_parser("pack", help="write the image to one file, to carry it to other machines")
    pack.add_argument("file", type=Path, help=f"the file to write, linklab-image{file.SUFFIX} for instance")
    made = actions.add_parser("wheel", help="write the image as a Python package, for pip to install")
    made.add_argument("folder", type=Path, help="the folder to write it into")
    actions.add_parser("status", help="which images there are, and how far a running build is")
    actions.add_parser("path", help="print the image's folder")
    lock = actions.add_parser("lock", help="pin the newest packages of Debian for what packages.txt wants")
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


def _reporter(background: bool) -> BarReporter | PlainReporter:
    return BarReporter() if sys.stdout.isatty() and not background else PlainReporter()


def _build(arguments: argparse.Namespace) -> int:
    if arguments.background and build_is_running(cache_folder()):
        print("a build of the lab image runs already: linklab image status tells how far it is")
        return 0
    if arguments.jobs is not None:
        options.refuse_jobs(arguments.jobs, "compilers")
    try:
        with interrupted_once(), _reporter(arguments.background) as reports:
            image = build_image(
                reports.progress,
                reports.say,
                jobs=arguments.jobs,
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
    folder = cache_folder()
    if build_is_running(folder):
        status = Status.read(folder)
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
    print(f"labs boot: {image.folder}{f', {image.kernel_lacks}' if image.kernel_lacks else ''}")
    print(f"{len(about.packages)} packages, Python {about.python}; their licences are in it, {about.licences}")
    for replaced in about.replaced:
        print(f"newer than Linklab's list of packages: {replaced}")
    return 0


def _lock(path: Path | None) -> int:
    path = path or Path(str(files(debian.__package__).joinpath(debian.LOCK)))
    wanted = debian.wanted()
    packages = debian.fetch_index(debian.archive(), cache_folder() / "apt", wanted.older).resolve(wanted)
    try:
        debian.write_lock(packages, path)
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror}): name another with --file") from error
    print(f"{path}: {len(packages)} packages, {sum(package.size for package in packages) / 1e6:.0f} MB")
    return 0


def _clean() -> int:
    folder = cache_folder()
    if not folder.is_dir():
        return 0
    with build_lock(folder) as lock:
        if lock is None:
            raise LabError("a build of the lab image runs: end it first (linklab image status names its process)")
        shutil.rmtree(folder, ignore_errors=True)
    return 0
