"""``python -m tools.image [build | pack | wheel | lock]``: makes the lab image, and packs it.

Python's own library is all that it needs, so it runs beside the installation of Linklab's Python packages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from linklab.errors import LinklabError
from tools.image import debian, wheel
from tools.image.build import build_image, ready_image
from tools.image.pack import pack

_PLAIN_STEP = 0.05
_INTERRUPTED = 130  # the shell's status for a program ended by SIGINT


def main(words: list[str] | None = None) -> int:
    """Do what the command line asks; return the exit status. An error is one line."""
    parser = argparse.ArgumentParser(prog="python -m tools.image", description="Make the lab image, which labs boot.")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("build", help="make the image that labs of this clone boot (the default)")
    packed = actions.add_parser("pack", help="write this tree's image to one file, to carry it to other machines")
    packed.add_argument("file", type=Path, help="the file to write, linklab-image.tar.xz for instance")
    made = actions.add_parser("wheel", help="write this tree's image as a Python package, for pip to install")
    made.add_argument("folder", type=Path, help="the folder to write it into")
    lock = actions.add_parser("lock", help="pin Debian's newest packages")
    lock.add_argument("--file", type=Path, help="write this file (default: packages.lock)")
    arguments = parser.parse_args(words)
    try:
        if arguments.action == "pack":
            _pack(arguments.file)
        elif arguments.action == "wheel":
            path = wheel.make(build_image(*_told()), arguments.folder, _packing())
            print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
        elif arguments.action == "lock":
            _lock(arguments.file or Path(str(files(debian.__package__).joinpath(debian.LOCK))))
        else:
            print(ready_image(*_told()).folder)
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _told() -> tuple[Callable[[str, float], None], Callable[[str], None]]:
    """Return what shows how far the image is, one line for each five percent and each stage, and what says remarks."""
    shown = ("", -1.0)

    def progress(message: str, fraction: float) -> None:
        nonlocal shown
        if message != shown[0] or fraction >= shown[1] + _PLAIN_STEP:
            shown = (message, fraction)
            print(f"{fraction:4.0%}  {message}", file=sys.stderr, flush=True)

    return progress, lambda line: print(line, file=sys.stderr, flush=True)


def _packing() -> Callable[[float], None]:
    progress = _told()[0]
    return lambda part: progress("packing the lab image", part)


def _pack(path: Path) -> None:
    digest = pack(build_image(*_told()).folder, path.absolute(), _packing())
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256={digest}")


def _lock(path: Path) -> None:
    with TemporaryDirectory() as scratch:
        packages = debian.fetch_index(debian.newest_archive(), Path(scratch)).resolve(debian.wanted())
    debian.write_lock(packages, path)
    print(f"{path}: {len(packages)} packages, {sum(package.size for package in packages) / 1e6:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
