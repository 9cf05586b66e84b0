"""What a notebook asks of a running lab: commands, processes, files, Mininet's own command line.

Each function runs inside the lab, called by the agent with its `Context`.
"""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mininet.cli import CLI
from mininet.net import Mininet
from mininet.node import Node

from linklab.emulation.names import ROOT
from linklab.emulation.readback import read_state
from linklab.errors import LabError
from linklab.runtime.agent import Context, Interrupted

_GRACE_S = 2.0


def network(context: Context) -> Mininet:
    """The running Mininet. Raises `LabError` before it is built."""
    if "net" not in context.state:
        raise LabError("this lab has no network yet")
    return context.state["net"]


def node(context: Context, name: str) -> Node:
    """A node of the network. Raises `LabError` naming those that are there."""
    net = network(context)
    if name == ROOT and ROOT not in net:  # a host of that name wins
        return _root(context)
    if name not in net:
        raise LabError(f"there is no node {name!r} here: choose one of {', '.join(sorted(net.keys()))}")
    return net[name]


def _root(context: Context) -> Node:
    """A shell in the lab's first namespace, where switches live: the guest itself, as root."""
    if "root" not in context.state:
        context.state["root"] = Node(ROOT, inNamespace=False)
    return context.state["root"]


def names(context: Context) -> list[str]:
    """The names of all nodes, hosts first."""
    net = network(context)
    return [item.name for item in (*net.hosts, *net.switches)]


def command(context: Context, name: str, text: str, timeout_s: float | None) -> dict[str, Any]:
    """Runs `text` in the node's shell, as Mininet's ``cmd``; output is emitted as it comes.

    Stopped (Ctrl-C, or `timeout_s` of the lab's time), the program gets SIGINT and its last words are waited for.
    """
    host = node(context, name)
    if host.waiting:
        raise LabError(f"{name} is still busy with {host.lastCmd!r}: run long programs with popen")
    host.sendCmd(text)
    pieces: list[str] = []
    outcome = "done"
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while host.waiting:
        try:
            left = None if deadline is None else deadline - time.monotonic()
            ready = context.poll([host.stdout.fileno()], left)
            if deadline is not None and not ready and time.monotonic() >= deadline:
                outcome = "timeout"
        except Interrupted:
            outcome = "interrupted"
        if outcome != "done":
            pieces += _end_command(context, host)
            break
        if not ready:
            continue  # the channel was readable, without an interrupt
        piece = host.monitor().replace("\r", "")
        pieces.append(piece)
        if piece:
            context.emit(piece)
    return {"output": "".join(pieces), "outcome": outcome}


def _end_command(context: Context, host: Node) -> list[str]:
    """SIGINT to what the shell runs, SIGKILL to what ignores that; its remaining output.

    Raises `LabError` where the shell itself ignores interrupts: it holds the node's namespace and must live.
    """
    host.sendInt()
    pieces, deadline = [], time.monotonic() + _GRACE_S
    while host.waiting and time.monotonic() < deadline:
        with contextlib.suppress(Interrupted):
            if context.poll([host.stdout.fileno()], deadline - time.monotonic()):
                pieces.append(host.monitor().replace("\r", ""))
    deadline = time.monotonic() + _GRACE_S
    while host.waiting and time.monotonic() < deadline:
        for pid in _descendants(host.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(Interrupted):
            if context.poll([host.stdout.fileno()], 0.1):
                pieces.append(host.monitor().replace("\r", ""))
    if host.waiting:
        raise LabError(f"the shell of {host.name} ignores every interrupt in {host.lastCmd!r}: start the lab anew")
    return pieces


def _descendants(pid: int) -> list[int]:
    """Processes below `pid`, the deepest first. /proc/PID/task/PID/children is not in every kernel."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found = list(parents.get(pid, []))
    for child in found:
        found += parents.get(child, [])
    return found[::-1]


def wait_listening(context: Context, name: str, port: int, timeout_s: float) -> None:
    """Waits until a TCP socket listens on `port` in the node. Raises `LabError` after `timeout_s` of the lab's time."""
    host, deadline = node(context, name), time.monotonic() + timeout_s
    while not _listens(host.pid, port):
        if time.monotonic() >= deadline:
            raise LabError(f"nothing on {name} listens on port {port} after {timeout_s:g} s: was the server started?")
        context.poll((), 0.01)


def _listens(pid: int, port: int) -> bool:
    """Whether /proc/PID/net/tcp or tcp6 has a socket in state LISTEN (0A) on the port."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False


def call(context: Context, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Runs a function of the notebook's with the running Mininet. Ctrl-C comes as in a terminal."""
    with _at_terminal(context) as net:
        return function(net, *arguments)


def cli(context: Context, text: str) -> None:
    """Runs one line of Mininet's own command line. Ctrl-C ends what it runs, as in a terminal."""
    nothing, keep_open = os.pipe()
    try:
        with os.fdopen(nothing) as stdin, _at_terminal(context) as net:
            _OneLine(net, stdin=stdin, stdout=sys.stdout).onecmd(text)
    finally:
        os.close(keep_open)


@contextlib.contextmanager
def _at_terminal(context: Context) -> Iterator[Mininet]:
    """The network, for code that knows of no agent. What an interrupt leaves running in the nodes' shells is ended, as
    Mininet's command line does: else the nodes could not be used.
    """
    net = network(context)
    busy = [host for host in net.values() if host.waiting]
    context.be_interruptible()
    try:
        yield net
    except KeyboardInterrupt:
        for host in net.values():
            if host.waiting and host not in busy:
                context.add_to_hang(f"{host.lastCmd!r} on {host.name} did not end")
                _end_command(context, host)
        raise


class _OneLine(CLI):
    """Mininet's command line without its loop and its terminal."""

    def run(self) -> None:
        """Nothing: lines come one by one."""

    def initReadline(self) -> None:
        """Nothing: there is no terminal."""


def state(context: Context) -> dict[str, Any]:
    """The network as it is now, read back from the kernel, as JSON."""
    return read_state(network(context)).to_json()


def sleep(context: Context, seconds: float) -> None:
    """Lets the lab's time pass."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        context.poll((), left)


def now(context: Context) -> float:
    """The lab's monotonic clock, in seconds since its start."""
    return time.monotonic()


def read_file(context: Context, path: str) -> str:
    """A file of the lab, base64. Raises `LabError` where it cannot be read."""
    try:
        return base64.b64encode(Path(path).read_bytes()).decode()
    except OSError as error:
        raise LabError(f"{path} cannot be read in the lab: {error.strerror}") from None


def write_file(context: Context, path: str, data: str, executable: bool) -> None:
    """Writes a file in the lab from base64. Raises `LabError` where it cannot be written."""
    try:
        Path(path).write_bytes(base64.b64decode(data))
        if executable:
            Path(path).chmod(0o755)
    except OSError as error:
        raise LabError(f"{path} cannot be written in the lab: {error.strerror}") from None
