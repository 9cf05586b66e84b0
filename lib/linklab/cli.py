"""The command line: ``linklab doctor | up | shell | mininet | run | check | report | release | ...``."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from rich.console import Console
from rich.table import Table

from linklab import __version__, carried_labs
from linklab.errors import LinklabError
from linklab.files import FULL, present_folder
from linklab.runtime.backends import need_system
from linklab.settings import hand_on_image
from linklab.signals import INTERRUPTED, INTERRUPTED_LINE, raise_interrupts

PORT = 8888


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    arguments = make_parser(words[0] if words else None).parse_args(words)
    return answered(lambda: _carried_out(arguments))


def answered(command: Callable[[], int]) -> int:
    """Run a command; return its exit status. A user's mistake is one line on standard error, and so is Ctrl-C."""
    try:
        raise_interrupts()
        status = command()
        sys.stdout.flush()  # here, where a reader that has gone is no error
        return status
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # the reader (head, less) has gone; Python must not write to it once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if present_folder() is None:
            told = "the current folder was removed: change to another one"
        else:
            told = f"{error.strerror or error}: {error.filename or 'the system refused'}"
            told += ": free some space, and give the same command again" if error.errno in FULL else ""
        print(f"linklab: {told}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(INTERRUPTED_LINE, end="", file=sys.stderr)
        return INTERRUPTED


def _carried_out(arguments: argparse.Namespace) -> int:
    if arguments.run is not _doctor:  # which reports a wrong setting with all else
        hand_on_image(getattr(arguments, "root", None))
    status: int = arguments.run(arguments)
    return status


class Parser(argparse.ArgumentParser):
    """An argument parser that tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words of a command, and where they are explained; status 2."""
        self.exit(2, f"linklab: {message}; {self.prog} --help explains\n")


_COMMANDS: Final = {
    "run": "linklab.headless.cli",
    "image": "linklab.runtime.image.cli",
    "notebooks": "linklab.notebooks.build",
    "check": "linklab.programs.cli",
    "report": "linklab.report.cli",
    "release": "linklab.classroom.release",
    "validate": "linklab.classroom.validate",
    "grade": "linklab.grading.cli",
    "contest": "linklab.grading.contest_cli",
    "by-hand": "linklab.grading.by_hand_page",
    "export": "linklab.lms.cli",
    "study": "linklab.study.cli",
}
"""The module of each command, with ``add_parser`` and ``run``. A command loads its own module alone: what one of them
needs, such as pandas, takes longer than many a command.
"""


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, or of one that is known by its first word."""
    parser = Parser(prog="linklab", description="A teaching lab kit on network performance.")
    parser.add_argument("--version", action="version", version=f"linklab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    doctor = commands.add_parser("doctor", help="try what works on this machine, and what mends what does not")
    doctor.set_defaults(run=_doctor)
    up = commands.add_parser("up", help="open the labs in JupyterLab")
    up.add_argument(
        "--port", type=int, default=os.environ.get("LINKLAB_PORT", PORT), help=f"default: LINKLAB_PORT, or else {PORT}"
    )
    up.add_argument(
        "--folder", type=Path, help=f"the folder to open (default: in a clone labs, else {carried_labs.FOLDER})"
    )
    up.add_argument("--no-browser", action="store_true", help="only print the address")
    up.set_defaults(run=_up)
    shell = commands.add_parser("shell", help="a command line on a host of this folder's running lab, or of a new one")
    shell.add_argument("host", nargs="?", help="h1, r2, ...; root is the lab itself (default: the first host)")
    shell.add_argument("--network", metavar="NAME", help="start this network of the catalogue: course, two-hosts")
    shell.set_defaults(run=_shell)
    mininet = commands.add_parser("mininet", help="run a Mininet script as it is, or mn, in a lab")
    mininet.add_argument("--seed", type=int, default=0, help="another one, other losses (default: 0)")
    mininet.add_argument("script", help="a Python script, mn, or another program")
    mininet.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    mininet.set_defaults(run=_mininet)
    known = command == "--version" or command in commands.choices or command in _COMMANDS
    for name, place in _COMMANDS.items():
        if name == command or not known:
            module = importlib.import_module(place)
            module.add_parser(commands)
            commands.choices[name].set_defaults(run=module.run)
    return parser


def _doctor(arguments: argparse.Namespace) -> int:
    from linklab import doctor

    console = Console()
    with console.status("trying what labs need ..."):
        findings = list(doctor.examine())
    well = all(finding.works or not finding.needed for finding in findings)
    table = Table("", "what", "what was found", "what mends it", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for finding in findings:
        mark = "[green]works[/]" if finding.works else ("[red]FAILS[/]" if finding.needed else "[yellow]no[/]")
        table.add_row(mark, finding.what, finding.detail, finding.fix)
    console.print(table)
    print("Labs work on this machine." if well else "Labs do not work here yet: do what the last column says.")
    return 0 if well else 1


def _up(arguments: argparse.Namespace) -> int:
    from linklab import jupyter

    need_system()
    folder, ours = carried_labs.folder_for(arguments.folder)
    if ours:
        for line in carried_labs.lay(folder, carried_labs.carried()).lines(folder):
            print(line)
        _fetch_image()
    return jupyter.up(folder.resolve(), arguments.port, browser=not arguments.no_browser)


def _fetch_image() -> None:
    """Start to unpack or fetch the lab image while the page opens. If that fails, the first lab says so."""
    words = [sys.executable, "-m", "linklab", "image", "path"]
    quiet = subprocess.DEVNULL
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)


def _shell(arguments: argparse.Namespace) -> int:
    need_system(linux=True)
    from linklab.shell import shell

    return shell(arguments.host, arguments.network)


def _mininet(arguments: argparse.Namespace) -> int:
    need_system()
    from linklab.mininet_script import run

    return run([arguments.script, *arguments.arguments], arguments.seed)
