"""``linklab shell``: a command line on a host of the lab that runs in this folder, or of one started for it."""

from __future__ import annotations

import contextlib
import readline  # noqa: F401 - gives input() its history and line editing
import sys
from pathlib import Path

from linklab import lab
from linklab.errors import LabError
from linklab.guest.lab_api import ROOT
from linklab.network import by_name
from linklab.runtime.attach import Visit, running_labs

DEFAULT_NETWORK = "course"
_HELP = """Commands run on {host}. `on HOST` goes to another: {hosts} (root is the lab itself).
Ctrl-C ends a command, a & behind it leaves it running, Ctrl-D ends the shell."""


def shell(host: str | None, network: str | None) -> int:
    """Visit the newest lab that a notebook of this folder runs, or start `network` where none runs or one is named.

    The commands come from standard input, line by line; a prompt is shown on a terminal only. Raises `LabError`.
    """
    labs = {} if network else running_labs(Path.cwd())
    if labs:
        name, address = list(labs.items())[-1]
        more = f", the newest of {len(labs)} labs that run in this folder" if len(labs) > 1 else ""
        print(f"This is {name}{more}; it goes on when you leave.", file=sys.stderr)
        with contextlib.closing(Visit(address)) as visit:
            return _converse(name, host, visit)
    with lab.start(by_name(network or DEFAULT_NETWORK)) as running:
        print(f"This is a new lab, {running.name}; it ends with the shell.", file=sys.stderr)
        with contextlib.closing(Visit(running.listener.address)) as visit:
            return _converse(running.name, host, visit)


def _converse(name: str, host: str | None, visit: Visit) -> int:
    hosts = list(dict.fromkeys([ROOT, *visit.nodes]))
    host = host or visit.nodes[0]
    if host not in hosts:
        raise LabError(f"there is no {host!r} in {name}: choose one of {', '.join(hosts)}")
    if sys.stdin.isatty():
        print(_HELP.format(host=host, hosts=", ".join(hosts)))
    while True:
        try:
            line = input(f"{host}# " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return 0
        except KeyboardInterrupt:
            print()
            continue
        words = line.split()
        if line in ("exit", "logout"):
            return 0
        if words[:1] == ["on"] and len(words) == 2:
            if words[1] in hosts:
                host = words[1]
            else:
                print(f"there is no {words[1]!r} here: choose one of {', '.join(hosts)}", file=sys.stderr)
        elif line:
            _run(visit, host, line)


def _run(visit: Visit, host: str, line: str) -> None:
    try:
        visit.run(host, line, _show)
    except RuntimeError as error:
        print(error, file=sys.stderr)


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
