"""All that a notebook can ask of a running lab.

Each function runs inside the lab, called by the agent with its `RequestLoop`. A notebook names it by the function
itself: ``process.call(lab_api.command, "h1", "ls", None)``. So both sides import this module, and it loads Mininet only
where it runs. What a function returns or emits is JSON.
"""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, TypeVar

from linklab.errors import LabError, LabTimeout, UnknownNode
from linklab.guest import endless
from linklab.guest.listening import listens

if TYPE_CHECKING:
    from mininet.net import Mininet
    from mininet.node import Node
    from mininet.topo import Topo

    from linklab.guest.recorder import Recorder
    from linklab.guest.request_loop import RequestLoop
    from linklab.network import Network, NetworkState

ROOT: Final = "root"
"""The node that is a shell in the lab's first namespace, where the switches live: the guest itself, as root."""
_GRACE_S, _INT_EACH_S, _KILL_EACH_S = 2.0, 0.5, 0.1
_CHUNK = 64 * 1024
_TICK_S = 1.0
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def looks(function: _FunctionT) -> _FunctionT:
    """Mark a function that changes nothing: no time of the lab passes for it, and it moves no digit of what comes later
    (`RequestLoop`).
    """
    function.looks = True  # type: ignore[attr-defined]
    return function


# The network


def build(
    loop: RequestLoop,
    topology: Network | Topo,
    expected: NetworkState | None,
    switch: str,
    controller: str | type | Callable[..., Any] | None,
) -> list[str]:
    """Build a network in this lab, once; see `linklab.guest.build.build_network`.

    It ends at a whole second. Importing a module takes a guest a little of its time, and other versions
    of Python and of Linklab import others: what is measured later must not depend on that, to the last digit.
    """
    from linklab.guest import build, recorder  # noqa: F401 - nothing is left to load between two measurements

    loop.begin("build")
    not_checked = build.build_network(loop, topology, expected, switch, controller)
    from linklab.guest import daemons  # noqa: F401 - only now, or it would move the timers of switches' daemons

    loop.state["of a topo"] = expected is None
    time.sleep(1 - time.monotonic() % 1)
    return not_checked


@looks
def is_of_topo(loop: RequestLoop) -> bool:
    """Return whether the network was built from a Topo of Mininet's, and not from a `Network`."""
    return bool(loop.state.get("of a topo"))


def network(loop: RequestLoop) -> Mininet:
    """Return the running Mininet. Raises `LabError` before it is built."""
    if "net" not in loop.state:
        raise LabError("this lab has no network yet")
    return loop.state["net"]


def node(loop: RequestLoop, name: str) -> Node:
    """Return a node of the network. Raises `UnknownNode` naming those that are there.

    Its shell is open: a shell that a command or a run opened first would take some of its time and random numbers.
    """
    net = network(loop)
    if name == ROOT and ROOT not in net:  # a host of that name wins
        return _root(loop)
    if name not in net:
        raise UnknownNode(f"there is no node {name!r} here: choose one of {', '.join(sorted(net.keys()))}")
    found = net[name]
    found.pid  # noqa: B018 - opens the shell (`mininet_parts`)
    return found


def _root(loop: RequestLoop) -> Node:
    if "root" not in loop.state:
        from mininet.node import Node

        loop.state["root"] = Node(ROOT, inNamespace=False)
    return loop.state["root"]


@looks
def names(loop: RequestLoop) -> list[str]:
    """Return the names of all nodes, hosts first."""
    net = network(loop)
    return [item.name for item in (*net.hosts, *net.switches)]


@looks
def state(loop: RequestLoop) -> dict[str, Any]:
    """Return the network as it is now, read back from the kernel, as JSON."""
    from linklab.guest.readback import read_state

    return read_state(network(loop)).to_json()


@looks
def tables(loop: RequestLoop) -> dict[str, dict[str, str]]:
    """Return what the daemons of switches and routers know, by node; see `linklab.guest.daemons`.

    Of a switch it has its ``flows``, of a router what FRR shows: ``ip route`` and others.
    """
    from mininet.node import OVSSwitch

    from linklab.guest import daemons

    net = network(loop)
    flows = daemons.flow_tables([it.name for it in net.switches if isinstance(it, OVSSwitch)])
    return {name: {"flows": text} for name, text in flows.items()} | daemons.routing([it.name for it in net.hosts])


def begin_run(loop: RequestLoop, nodes: Sequence[str], what: str, record: Sequence[str] | None) -> dict[str, Any]:
    """Begin a run of a measurement at these nodes; its random numbers follow from `what` is run (`RequestLoop.begin`).

    Return what the network's interfaces have counted; see `linklab.guest.readback.read_counters`. A recording begins in
    the same request, at the same instant: a request of its own would move all that comes after by a beat, and with it
    the digits. `record` names the interfaces, none for all.
    """
    from linklab.guest.readback import read_counters

    for name in nodes:
        node(loop, name)
    loop.begin(what)
    found = read_counters(network(loop))
    if record is not None:
        begin_recording(loop, record)
    return found


def end_run(loop: RequestLoop, recorded: bool) -> dict[str, Any]:
    """Return what the network's interfaces have counted when a run is over, and end its recording."""
    from linklab.guest.readback import read_counters

    if recorded:
        _recorder(loop).stop()
    return read_counters(network(loop))


def begin_recording(loop: RequestLoop, interfaces: Sequence[str]) -> None:
    """Start to record what happens to packets at these interfaces, or at all if none is named. Raises `LabError`."""
    from linklab.guest.recorder import Recorder

    loop.state["recorder"] = Recorder(network(loop), interfaces)


def recorded(loop: RequestLoop) -> dict[str, Any]:
    """End the recording and return what it has; see `linklab.guest.recorder.Recorder.data`. Raises `LabError`."""
    try:
        return _recorder(loop).data()
    finally:
        drop_recording(loop)


def drop_recording(loop: RequestLoop) -> None:
    """End a recording, if there is one, and forget it."""
    recorder = loop.state.pop("recorder", None)
    if recorder is not None:
        recorder.close()


def _recorder(loop: RequestLoop) -> Recorder:
    recorder: Recorder | None = loop.state.get("recorder")
    if recorder is None:
        raise LabError("this lab records nothing")
    return recorder


# Commands in a node's shell


class CommandEnd(TypedDict):
    """How a command ended, and its exit status where it is done and was asked for that."""

    outcome: Literal["done", "interrupted", "timeout", "endless"]
    status: int | None


def command(
    loop: RequestLoop,
    name: str,
    text: str,
    timeout_s: float | None,
    with_status: bool,
) -> CommandEnd:
    """Run `text` in the node's shell, as Mininet's ``cmd``, and say how that ended. Output is emitted as it comes.

    Stopped (Ctrl-C, `timeout_s` of the lab's time, or without that because it prints without an end), the program gets
    SIGINT and its last words are waited for. Where the shell ends with it (``exit``), the node gets another one.
    """
    host = _idle(loop, name)
    loop.begin(f"{name} {text}")
    deadline = _deadline(timeout_s)
    host.sendCmd(text)
    outcome: Literal["done", "interrupted", "timeout", "endless"] = "done"
    printed = 0
    while host.waiting:
        try:
            left = None if deadline is None else deadline - time.monotonic()
            piece = _next_piece(loop, host, left)
            if deadline is not None and piece is None and time.monotonic() >= deadline:
                outcome = "timeout"
        except KeyboardInterrupt:
            outcome = "interrupted"
        if outcome != "done":
            for piece in _end_command(loop, host):
                loop.emit(piece)
            break
        if piece:  # else the channel was readable, without an interrupt
            loop.emit(piece)
            printed += len(piece)
            if deadline is None and endless.is_endless(text, printed):
                outcome = "endless"
                for piece in _end_command(loop, host):
                    loop.emit(piece)
    status = None
    if outcome == "done" and with_status:
        status = host.status  # of a shell that ended with it
        if status is None:
            status = int(host.cmd("echo $?").split()[-1])  # what runs in the background may print before
    return {"outcome": outcome, "status": status}


def begin_command(loop: RequestLoop, name: str, text: str) -> None:
    """Start `text` in the node's shell, for `continue_command`: others may ask the lab meanwhile."""
    host = _idle(loop, name)
    loop.begin(f"{name} {text}")
    host.sendCmd(text)


def continue_command(loop: RequestLoop, name: str, limit_s: float) -> tuple[str, bool]:
    """Wait for output of the command in the node's shell, at most `limit_s` of the lab's time or until this is
    interrupted; what it printed, and whether it still runs.
    """
    host = node(loop, name)
    with contextlib.suppress(KeyboardInterrupt):
        if host.waiting:
            return _next_piece(loop, host, limit_s) or "", host.waiting
    return "", host.waiting


def end_command(loop: RequestLoop, name: str) -> str:
    """End the command in the node's shell; return its last words."""
    host = node(loop, name)
    return "".join(_end_command(loop, host)) if host.waiting else ""


def _deadline(timeout_s: float | None) -> float | None:
    """Return the lab's time at which the limit is over; None for no limit."""
    return None if timeout_s is None else time.monotonic() + timeout_s


def _idle(loop: RequestLoop, name: str) -> Node:
    host = node(loop, name)
    if host.waiting:
        raise LabError(_busy(host))
    return host


def _busy(host: Node) -> str:
    """Return why the node takes no command."""
    return (
        f"{host.name} is still busy with {host.lastCmd!r}, perhaps in a linklab shell: end it, or run long programs "
        "with popen"
    )


def _next_piece(loop: RequestLoop, host: Node, limit_s: float | None) -> str | None:
    """Wait for output of the node's shell, or its end; None where neither came for so long."""
    return _piece(host) if loop.poll([host.stdout.fileno(), host.shell_ended], limit_s) else None


def _piece(host: Node) -> str:
    """Return what the node's shell has printed, when there is something to read."""
    # Mininet waits for a process id behind each \x01, and only what ends with & has one
    return str(host.monitor(findPid=host.lastCmd.endswith("&"))).replace("\r", "")


def _end_command(loop: RequestLoop, host: Node) -> list[str]:
    """Send SIGINT to what the shell runs, SIGKILL to what ignores that; return its remaining output.

    A shell that itself ignores interrupts is replaced.
    """
    from linklab import process_tree  # psutil, which few labs need
    from linklab.guest import node_shell

    def kill() -> None:
        # the shell waits for the newest: what it runs in the background since earlier commands is none of this one
        process_tree.kill_newest(host.pid)
        host.sendInt()

    pieces = []
    # a shell's loop goes on where its child has just ended by itself
    for end, each_s in ((host.sendInt, _INT_EACH_S), (kill, _KILL_EACH_S)):
        start_s, given = time.monotonic(), 0
        while host.waiting and (passed_s := time.monotonic() - start_s) < _GRACE_S:
            if passed_s >= given * each_s:
                end()
                given += 1
            with contextlib.suppress(KeyboardInterrupt):
                pieces.append(_next_piece(loop, host, max(0.0, given * each_s - passed_s)) or "")
    if host.waiting or not _in_step(loop, host):
        node_shell.renew(host)
    return pieces


def _in_step(loop: RequestLoop, host: Node) -> bool:
    """Return whether the node's shell answers a word.

    Ctrl-C that meets it at its prompt makes it write another prompt, and code that is interrupted while it reads may
    have lost one.
    """
    from linklab.guest import node_shell

    return node_shell.in_step(host, lambda limit_s: loop.poll([host.stdout.fileno(), host.shell_ended], limit_s))


def wait_listening(loop: RequestLoop, name: str, port: int, timeout_s: float, protocol: str) -> None:
    """Wait until a socket of the protocol listens on `port` in the node, at most `timeout_s` of the lab's time.

    Raises `LabTimeout`.
    """
    host, deadline = node(loop, name), _deadline(timeout_s)
    while not listens(host.pid, port, protocol):
        if deadline is not None and time.monotonic() >= deadline:
            other = "udp" if protocol == "tcp" else "tcp"
            hint = f"a {other.upper()} server does: say protocol={other!r}"
            raise LabTimeout(
                f"nothing on {name} listens on {protocol.upper()} port {port} after {timeout_s:g} s: "
                + (hint if listens(host.pid, port, other) else "was the server started?")
            )
        loop.poll((), 0.01)


# Mininet itself


def call(loop: RequestLoop, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run a function of the notebook's with the running Mininet. Ctrl-C comes as in a terminal."""
    loop.begin(f"call {getattr(function, '__name__', '')}")
    with _at_terminal(loop) as net:
        loop.take_turns()
        return function(net, *arguments)


def cli(loop: RequestLoop, text: str) -> None:
    """Run one line of Mininet's own command line. Ctrl-C ends what it runs, as in a terminal."""
    from mininet.cli import CLI
    from mininet.log import output

    class OneLine(CLI):
        """Mininet's command line without its loop and its terminal."""

        def run(self) -> None:
            """Do nothing: lines come one by one."""

        def initReadline(self) -> None:
            """Do nothing: there is no terminal."""

        def waitForNode(self, node: Node) -> None:
            """Wait for what a node runs, as `command` does, and show what it prints, also what an interrupt leaves."""
            printed = 0
            try:
                while node.waiting:
                    piece = _next_piece(loop, node, None) or ""
                    output(piece)
                    loop.emit(None)  # at a beat, as in `command`: a terminal hands on one line after the other
                    printed += len(piece)
                    if endless.is_endless(node.lastCmd, printed):
                        loop.be_uninterruptible()
                        output("".join(_end_command(loop, node)))
                        raise LabError(endless.told(node.lastCmd, node.name))
            except KeyboardInterrupt:
                loop.be_uninterruptible()
                output("".join(_end_command(loop, node)))

    loop.begin(f"cli {text}")
    nothing, keep_open = os.pipe()
    try:
        with os.fdopen(nothing) as stdin, _at_terminal(loop) as net:
            OneLine(net, stdin=stdin, stdout=sys.stdout).onecmd(text)
    finally:
        os.close(keep_open)


@contextlib.contextmanager
def _at_terminal(loop: RequestLoop) -> Iterator[Mininet]:
    """Give the network to code that knows nothing of the agent, with Ctrl-C as in a terminal. Whatever an interrupt
    leaves running in the nodes' shells is ended, or the nodes could not be used.
    """
    net = network(loop)
    busy = [host for host in net.values() if host.waiting]
    loop.be_interruptible()
    try:
        yield net
    except KeyboardInterrupt:
        loop.be_uninterruptible()
        for host in net.values():
            if host in busy or not getattr(host, "has_shell", True):
                continue
            if host.waiting:
                loop.add_to_hang(f"{host.lastCmd!r} on {host.name} did not end")
            # it may be interrupted after it has given a command, and before it has noted that
            elif _in_step(loop, host):
                continue
            _end_command(loop, host)
        raise
    except AssertionError:  # Mininet's, where a node has a command already
        if busy:
            raise LabError(_busy(busy[0])) from None
        raise


# Programs that run on while the notebook does something else


@dataclass
class _Program:
    process: subprocess.Popen[bytes]
    open_fds: list[int] = field(default_factory=list)
    unread: list[bytes] = field(default_factory=list)


class Heard(TypedDict):
    """What a program has printed since it was last asked, and its exit status once it has ended."""

    output: str
    status: int | None


def start_program(loop: RequestLoop, number: int, name: str, words: str | list[str], of_run: bool) -> None:
    """Start a program on a node and keep its output. The notebook chooses its number, so it can end a program even if
    it was interrupted before it heard that the program was started. A string goes through the shell. One that is part
    of a run has the run's random numbers.
    """
    host = node(loop, name)
    argv = ["/bin/sh", "-c", words] if isinstance(words, str) else words
    if not of_run:
        loop.begin(" ".join((name, *argv)))
    try:
        process = host.popen(argv, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise LabError(f"{argv[0]} cannot be started on {name}: {error.strerror}") from None
    os.set_blocking(process.stdout.fileno(), False)
    _programs(loop)[number] = _Program(process, [process.stdout.fileno()])


def _programs(loop: RequestLoop) -> dict[int, _Program]:
    table: dict[int, _Program] = loop.state.setdefault("programs", {})
    return table


def read_program(loop: RequestLoop, number: int, timeout_s: float | None, until: Literal["output", "end"]) -> Heard:
    """Wait for output, or for the end, at most `timeout_s` of the lab's time."""
    program = _programs(loop).get(number)
    if program is None:  # interrupted before it was started
        return {"output": "", "status": -signal.SIGKILL}
    deadline = _deadline(timeout_s)
    while program.open_fds:
        left = None if deadline is None else deadline - time.monotonic()
        piece = _read(program)
        if piece:
            program.unread.append(piece)  # not lost where this is interrupted
            if until == "output":
                break
            continue
        if not program.open_fds or (left is not None and left <= 0):
            break
        loop.poll(program.open_fds, left)
    status = None if program.open_fds else _status(loop, program, deadline)
    pieces, program.unread = program.unread, []
    return {"output": b"".join(pieces).decode(errors="replace"), "status": status}


def _read(program: _Program) -> bytes:
    """Return what the program has printed by now; close the pipe at its end."""
    try:
        data = os.read(program.open_fds[0], _CHUNK)
    except BlockingIOError:
        return b""
    if not data:
        program.open_fds.clear()
        assert program.process.stdout is not None
        program.process.stdout.close()
    return data


def _status(loop: RequestLoop, program: _Program, deadline: float | None) -> int | None:
    """Return the exit status: the program may close its output a moment before it ends."""
    ended = os.pidfd_open(program.process.pid) if program.process.poll() is None else None
    if ended is not None:
        with contextlib.closing(os.fdopen(ended, "rb", buffering=0)):
            loop.poll([ended], None if deadline is None else deadline - time.monotonic())
    return program.process.poll()


def signal_program(loop: RequestLoop, number: int, sign: int) -> None:
    """Send a signal to the program and whatever it started."""
    program = _programs(loop).get(number)
    if program is not None and program.process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.Signals(sign))


class News(TypedDict):
    """The output and exit statuses of followed programs since the last `News`, by the program's number as text.

    ``done_s`` counts from when they were first followed. ``queues`` has the counters of all shaped interfaces, if they
    are watched.
    """

    done_s: float
    said: dict[str, str]
    statuses: dict[str, int]
    queues: list[dict[str, Any]] | None


def follow_programs(
    loop: RequestLoop, numbers: list[int], limit_s: float, watched: bool
) -> Literal["done", "timeout", "interrupted"]:
    """Wait until these programs have ended, at most `limit_s` of the lab's time, and say how that ended.

    Each second of the lab's time, and once more in the end, it emits `News`.
    """
    from linklab.guest.readback import read_queues

    said: dict[int, str] = {}
    statuses: dict[int, int | None] = dict.fromkeys(numbers)
    start_s = time.monotonic()
    end_s, due_s = start_s + limit_s, start_s + _TICK_S

    def tell(now_s: float) -> None:
        news: News = {
            "done_s": now_s - start_s,
            "said": {str(number): text for number, text in said.items()},
            "statuses": {str(number): status for number, status in statuses.items() if status is not None},
            "queues": read_queues(network(loop)) if watched else None,
        }
        said.clear()
        loop.emit(news)

    outcome: Literal["done", "timeout", "interrupted"] = "done"
    try:
        while running := [number for number in numbers if statuses[number] is None]:
            now_s = time.monotonic()
            if now_s >= end_s:
                outcome = "timeout"
                break
            if now_s >= due_s:
                tell(now_s)  # each look at the clock moves it on
                due_s += _TICK_S
                continue
            wake_s = min(due_s, end_s)
            fds = {fd: number for number in running for fd in _programs(loop)[number].open_fds}
            ready = loop.poll(fds, max(0.0, wake_s - time.monotonic()))
            # one that has closed its output but still runs is looked at each time
            for number in sorted({*(fds[fd] for fd in ready), *(set(running) - set(fds.values()))}):
                heard = read_program(loop, number, 0.0, "output")
                statuses[number] = heard["status"]
                if heard["output"]:
                    said[number] = said.get(number, "") + heard["output"]
    except KeyboardInterrupt:
        outcome = "interrupted"
    tell(time.monotonic())
    return outcome


# Somebody's script in the foreground (`linklab mininet`)


def start_foreground(loop: RequestLoop, words: list[str], folder: str, together: bool) -> int | None:
    """Start the foreground program of this lab, and let it run as `continue_foreground` does."""
    from linklab.guest import foreground

    loop.begin(" ".join(("script", *words)))
    foreground.start(loop, words, folder, together)
    return foreground.go_on(loop, None, False)


def continue_foreground(loop: RequestLoop, line: str | None, interrupt: bool) -> int | None:
    """Let the foreground program run until it asks for a line or ends; see `linklab.guest.foreground`."""
    from linklab.guest import foreground

    return foreground.go_on(loop, line, interrupt)


# Time, files, versions


def sleep(loop: RequestLoop, seconds: float) -> None:
    """Let the lab's time pass."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        loop.poll((), left)


@looks
def now(loop: RequestLoop) -> float:
    """Return the lab's monotonic clock, in seconds since its start, as it was when the lab last answered."""
    return loop.clock_s


def set_start(loop: RequestLoop, path: str, margin_s: float) -> None:
    """Write into a file when the programs that wait for it are to start: so long from now, in nanoseconds."""
    Path(path).write_text(str(round((time.monotonic() + margin_s) * 1e9)))


@looks
def read_file(loop: RequestLoop, path: str, offset: int, size: int) -> str:
    """Return a piece of a file of the lab, base64; a shorter one is the last.

    Raises `LabError` where it cannot be read.
    """
    try:
        # unbuffered, as Python's other files ask whether they are a terminal, which takes time
        with open(path, "rb", buffering=0) as file:
            if offset:
                file.seek(offset)
            piece = b""
            while len(piece) < size and (more := file.read(size - len(piece))):
                piece += more
    except OSError as error:
        raise LabError(f"{path} cannot be read in the lab: {error.strerror}") from None
    return base64.b64encode(piece).decode()


def write_file(loop: RequestLoop, path: str, piece: str, append: bool, executable: bool) -> None:
    """Write a file of the lab, or a further piece of it, in base64; make the folders above. Raises `LabError`."""
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab" if append else "wb") as out:
            out.write(base64.b64decode(piece))
        if executable:
            file.chmod(0o755)
    except OSError as error:
        raise LabError(f"{path} cannot be written in the lab: {error.strerror}") from None


def remove_file(loop: RequestLoop, path: str) -> None:
    """Remove a file of the lab, if it is there."""
    Path(path).unlink(missing_ok=True)


_TOOLS: Final = {"iperf3": ["iperf3", "--version"], "iproute2": ["ip", "-V"], "ping": ["ping", "-V"]}


@looks
def tool_versions(loop: RequestLoop) -> dict[str, str]:
    """Return the version line of each tool, for the metadata of measurements; ``missing`` for an absent tool."""
    from mininet.net import VERSION

    found = {"mininet": VERSION, "python": sys.version.split()[0]}
    for name, words in _TOOLS.items():
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        except OSError:
            found[name] = "missing"
            continue
        said = (done.stdout or done.stderr).splitlines()
        found[name] = said[0] if said else "unknown"
    return found
