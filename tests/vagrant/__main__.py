"""``python -m tests.vagrant [--suite NAME] [--arch NAME] [--folder DIR] [--steps ...]``: tries `vagrant up`."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from linklab.errors import LinklabError
from tests.vagrant import daemons
from tests.vagrant.architecture import ARCHITECTURES
from tests.vagrant.namespaces import run_apart, work_as_child
from tests.vagrant.needs import SUITES, missing
from tests.vagrant.steps import STEPS, USUAL, carry_out, remove_machine
from tests.vagrant.trial import REPOSITORY, Trial
from tests.vagrant.vagrant import Vagrant, copy_tree

_INSIDE = "LINKLAB_TRIAL_INSIDE"


def main() -> int:
    """Outside: looks at the machine and makes the namespaces. Inside: carries the trial out."""
    arguments = _parse()
    try:
        if os.environ.get(_INSIDE):
            return work_as_child(lambda: _inside(arguments))
        return _outside(arguments)
    except LinklabError as error:
        print(f"test-vagrant: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("test-vagrant: interrupted", file=sys.stderr)
        return 130


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.vagrant", description=__doc__)
    parser.add_argument(
        "--suite", choices=sorted(SUITES), default="trixie", help="Debian's release in the box (trixie)"
    )
    parser.add_argument(
        "--arch",
        choices=sorted(ARCHITECTURES),
        default="amd64",
        help="the box's processor (amd64); arm64 wants --installed",
    )
    parser.add_argument(
        "--folder", type=Path, help="keep the box there for the next time (default: a folder that goes)"
    )
    parser.add_argument("--steps", type=_steps, default=list(USUAL), help=f"of {','.join(STEPS)}")
    parser.add_argument("--installed", action="store_true", help="a box with Linklab in it, as a course may hand out")
    parser.add_argument("--emulate", action="store_true", help="without KVM even where it works")
    parser.add_argument("--keep", action="store_true", help="leave the machine on after a failure, until Ctrl-C")
    return parser.parse_args()


def _steps(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in STEPS]:
        raise argparse.ArgumentTypeError(f"no step is called {', '.join(unknown)}; there are {', '.join(STEPS)}")
    return names


def _outside(arguments: argparse.Namespace) -> int:
    folder = (
        arguments.folder.absolute()
        if arguments.folder
        else Path(tempfile.mkdtemp(prefix="linklab-vagrant-", dir="/var/tmp"))
    )
    folder.mkdir(parents=True, exist_ok=True)
    # libvirt's helpers, each with a user of its own, have sockets and leases below it.
    folder.chmod(0o755)
    # A SIGTERM leaves by the same door as Ctrl-C, which a program in a shell's background ignores unless it asks.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        if lines := list(missing(folder, ARCHITECTURES[arguments.arch])):
            print("\n".join(f"test-vagrant: {line}" for line in lines), file=sys.stderr)
            return 1
        os.environ[_INSIDE] = str(folder)
        return run_apart(["-m", "tests.vagrant", *sys.argv[1:]])
    finally:
        _remove(folder, keep_box=arguments.folder is not None)


def _remove(folder: Path, keep_box: bool) -> None:
    """Everything but the boxes and the logs of a folder that the caller named."""
    if not keep_box:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix not in (".box", ".log", ".txt"):
            path.unlink()


def _inside(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.stdin.readline()  # the way out is there
    folder = Path(os.environ.pop(_INSIDE))
    daemons.isolate(folder)
    project = folder / "linklab"
    shutil.rmtree(project, ignore_errors=True)
    copy_tree(REPOSITORY, project)
    vagrant = Vagrant(project, folder / "home", "", folder / "vagrant.log")
    architecture = ARCHITECTURES[arguments.arch]
    trial = Trial(arguments.suite, folder, vagrant, architecture, arguments.emulate, arguments.installed)
    trial.vagrant.settings["LINKLAB_BOX"] = trial.box
    with daemons.running(folder):
        try:
            carry_out(trial, arguments.steps)
        except LinklabError as error:
            if arguments.keep:
                _wait(error)
            raise
        finally:
            remove_machine(trial)
    print("the whole trial passed" if arguments.steps == list(USUAL) else "these steps passed", flush=True)
    return 0


def _wait(error: LinklabError) -> None:
    """For whoever wants to look: everything stays on."""
    where = "nsenter -m -n -p -t PID (of libvirtd: pgrep libvirtd), and the machine: virsh console 1"
    print(f"{error}\nkept; a shell in there: {where}", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    sys.exit(main())
