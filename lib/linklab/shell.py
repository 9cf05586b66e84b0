"""``linklab shell``: a command line on a host of a running lab, or of one started for it."""

from __future__ import annotations

import contextlib
import readline  # noqa: F401 - gives input() its history and line editing
import sys
from collections.abc import Callable, Iterator

from linklab import lab
from linklab.emulation.names import ROOT
from linklab.errors import LabError
from linklab.network import by_name
from linklab.runtime.door import Visit, running_labs
from linklab.runtime.kinds import Clock

Runner = Callable[[str, str], Iterator[str]]
_HELP = "Type commands for {host}; `on HOST` changes the host ({hosts}); Ctrl-C ends a command, Ctrl-D the shell."


def shell(host: str | None, network: str | None, clock: Clock | None) -> int:
    """Visits the one running lab, or starts `network` where none runs or one is named. Raises `LabError`."""
    labs = {} if network else running_labs()
    if len(labs) > 1:
        print("Several labs run; this is the newest: " + list(labs)[-1], file=sys.stderr)
    if labs:
        name, address = list(labs.items())[-1]
        with contextlib.closing(_visit(address)) as visit:
            return _converse(name, host, visit.nodes, visit.run)
    with lab.start(by_name(network or "course"), clock or "auto") as running:

        def run(node: str, command: str) -> Iterator[str]:
            running[node].cmd(command, show=True)
            yield ""

        return _converse(running.name, host, running.nodes, run)


def _visit(address: str) -> Visit:
    try:
        return Visit(address)
    except OSError:
        raise LabError("the lab has just ended: start it again in the notebook") from None


def _converse(name: str, host: str | None, nodes: list[str], run: Runner) -> int:
    hosts = [ROOT, *nodes]
    host = host or nodes[0]
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
        if line in ("exit", "logout"):
            return 0
        if line.startswith("on ") and len(line.split()) == 2:
            wish = line.split()[1]
            if wish in hosts:
                host = wish
            else:
                print(f"there is no {wish!r} here: choose one of {', '.join(hosts)}", file=sys.stderr)
        elif line:
            _run(run, host, line)


def _run(run: Runner, host: str, line: str) -> None:
    try:
        for text in run(host, line):
            sys.stdout.write(text)
            sys.stdout.flush()
    except KeyboardInterrupt:
        print()
    except (LabError, RuntimeError) as error:
        print(error, file=sys.stderr)
