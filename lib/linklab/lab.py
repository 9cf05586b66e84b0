"""The notebook's handle on a lab: ``lab = linklab.start(network)``, then ``lab["h1"].cmd("ping -c 3 10.0.0.3")``."""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import os
import sys
import textwrap
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from linklab import __version__, files, record, schema
from linklab.errors import LabError, LabTimeout, UnknownNode, quoted
from linklab.guest import endless, lab_api
from linklab.network import Network, NetworkState, NodeTables, expected_state
from linklab.network.model import version_of
from linklab.program import LabSeconds, Program, listeners, refuse_too_much
from linklab.runtime import attach, transport
from linklab.runtime.backends import KindName, choose, refuse_unknown
from linklab.runtime.client import WALL_LIMIT_S, LabProcess
from linklab.schema import Range, Words
from linklab.signals import Held
from linklab.units import IpVersion, SwitchName

if TYPE_CHECKING:
    from mininet.topo import Topo

_OF_THE_SYSTEM = (
    "/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/run", "/run/lock", "/var", "/home", "/opt", "/srv", "/mnt", "/media",
    "/bin", "/sbin", "/lib", "/lib64", "/root", "/boot", "/etc", "/proc", "/sys", "/usr",
)  # fmt: skip
"""Folders that many programs share, or that a lab has of its own."""
_OF_A_GUEST = ("/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/run", "/tmp", "/var", "/boot")
"""Folders that a guest has of its own, and cannot do without."""
LARGEST_FILE_BYTES = 256_000_000
"""Upper limit of a file that is read, so that a lab cannot exhaust our memory."""
_READ_BYTES, _WRITE_BYTES = 4 * 1024 * 1024, 16 * 1024 * 1024
"""A guest, whose memory is small, holds several copies of a piece. One that is written takes a beat (`RequestLoop`)."""
_SLICE_S, _LONGEST_SLICE_S = 0.2, 60.0
_LONGEST_TURN_S = 1.0
_WallSeconds = Annotated[float, Range(gt=0, le=1e9)]
_REST_S = 0.005


@dataclass(frozen=True)
class Completed:
    """A command that has ended: what it printed, and its exit status (0 means that it succeeded)."""

    output: str
    returncode: int


_SHOWN_CHARACTERS = 80
_FIRST_LINES, _LAST_LINES = 3, 3
"""Lines that an error shows of what a command without an end has printed."""
_NO_SUCH_HOST = "Temporary failure in name resolution"
"""What all programs say of a host's name, since there is nobody to ask."""


def tell_of_commands(told: Callable[[str], object]) -> None:
    """Have `told` called with each command of `Node.cmd` that begins, and again, several times a second, until it ends.

    It is told the node, the command and at what time of the lab it began; of a `Program`, since when it prints nothing.
    """
    listeners[:] = [told]


class Node:
    """A host, router or switch of a running lab, as Mininet's own: ``cmd`` and ``popen``, and what they leave out."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name = lab, name

    @property
    def address(self) -> str:
        """The node's first IPv4 address as it was built, without its prefix length: ``"10.0.0.1"``.

        Raises `LabError` for a node that has none, as a switch has not.
        """
        addresses = self.addresses
        if not addresses:
            raise LabError(f"{self.name} has no address: ask for a host or a router")
        return next(iter(addresses.values())).partition("/")[0]

    @property
    def ipv6(self) -> str:
        """The node's first IPv6 address as it was built, without its prefix length: ``"2001:db8::1"``.

        Raises `LabError` for a node that has none: only a network with IPv6 gives some.
        """
        addresses = self._addresses(6)
        if not addresses:
            raise LabError(f"{self.name} has no IPv6 address: dual_stack(network) gives one to every interface")
        return next(iter(addresses.values())).partition("/")[0]

    @property
    def addresses(self) -> dict[str, str]:
        """The IPv4 addresses that the node was built with, by interface: ``{"r1-eth0": "10.0.0.1/24"}``."""
        return self._addresses(4)

    def _addresses(self, ip_version: IpVersion) -> dict[str, str]:
        return {
            interface: address
            for node, interface, address in self.lab.addresses
            if node == self.name and version_of(address) == ip_version
        }

    @schema.checked
    def run(self, command: Words, *, timeout_s: LabSeconds | None = None, show: bool = False) -> Completed:
        """Run a command in the node's shell; return what it prints, and its exit status. The rest is as for `cmd`."""
        output, status = self._done(command, timeout_s, show, with_status=True)
        if not isinstance(status, int):
            raise LabError(f"the lab does not say how {command!r} on {self.name} ended: start it again")
        return Completed(output, status)

    @schema.checked
    def cmd(self, command: Words, *, timeout_s: LabSeconds | None = None, show: bool = False) -> str:
        """Run a command in the node's shell and return what it prints.

        `timeout_s` is in the lab's own time. `show` prints the output as it comes. Ctrl-C ends the command, not
        the lab. Raises `LabTimeout` when the time is over, with what was printed until then in the message; `LabError`
        with the first and last lines for a command that prints without an end (``ping`` without ``-c``) and has no
        `timeout_s`.
        """
        return self._done(command, timeout_s, show, with_status=False)[0]

    def _done(self, command: str, timeout_s: float | None, show: bool, with_status: bool) -> tuple[str, int | None]:
        pieces: list[str] = []
        printed = 0

        def hear(piece: object) -> None:
            nonlocal printed
            printed += len(str(piece))
            refuse_too_much(printed, f"{command!r} on {self.name}")
            pieces.append(str(piece))
            if show:
                print(piece, end="", flush=True)

        begun = f"begun at {self.lab.process.clock_s:.1f} s of the lab's time"

        def wait() -> bool:
            for told in listeners:
                told(f"{self.name}: {textwrap.shorten(command, _SHOWN_CHARACTERS, placeholder='...')}, {begun}")
            return False

        asked = self.name, command, timeout_s, with_status
        ended = self.lab.process.call(lab_api.command, *asked, on_event=hear, stop=wait)
        outcome, output = ended["outcome"], "".join(pieces)
        if outcome == "interrupted":  # else Ctrl-C was pressed, and this is not reached
            raise LabError(f"{command!r} on {self.name} was interrupted inside the lab, and not from here")
        if outcome == "timeout":
            tail = " ".join(output.split()[-20:])
            raise LabTimeout(
                f"{command!r} on {self.name} was not done after {timeout_s:g} s and was ended; it said: {tail}"
            )
        if outcome == "endless":
            lines = output.splitlines()
            shown = "\n".join([*lines[:_FIRST_LINES], "...", *lines[-_LAST_LINES:]])
            raise LabError(
                f"{endless.told(command, self.name)}, give it a time limit (timeout_s=), or start it by popen. It "
                f"printed {len(lines)} lines:\n{shown}"
            )
        if _NO_SUCH_HOST in output:
            print(
                f'{self.name}: a lab has no name service: hosts are reached by address, as lab["h4"].address',
                file=sys.stderr,
            )
        return output, ended["status"]

    def popen(self, command: str | Sequence[str]) -> Program:
        """Start a program that runs on; a string goes through a shell. Raises `LabError` where it cannot start."""
        if isinstance(command, Sequence) and not isinstance(command, str | bytes):
            for number, word in enumerate(command, 1):
                schema.given(Words, f"word {number} of the command", word, LabError)
        else:
            schema.given(Words, "the command", command, LabError)
        if not command:
            raise LabError("the command is empty: give a text, or a list of texts")
        program = Program(self.lab.process, command if isinstance(command, str) else " ".join(command))
        program.start(self.name, command)
        return program

    @schema.checked
    def wait_listening(
        self,
        port: Annotated[int, Range(ge=1, le=65535)],
        timeout_s: LabSeconds = 10.0,
        protocol: Literal["tcp", "udp"] = "tcp",
    ) -> None:
        """Wait until a program on this node listens on a port of TCP or UDP. Raises `LabTimeout` after `timeout_s`."""
        self.lab.process.call(lab_api.wait_listening, self.name, port, timeout_s, protocol)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.lab!r}>"


class Lab:
    """A running network. Use it as a context manager, or call `stop`; it also ends with its last reference, and with
    the notebook.
    """

    def __init__(
        self,
        process: LabProcess,
        name: str,
        network: Network | None = None,
        not_checked: Iterable[str] = (),
        controlled: bool = False,
    ) -> None:
        self.process, self.name = process, name
        self.network = network
        """The network as it was described; None for a Mininet Topo, which `state` reads back."""
        self.controlled = controlled
        """Whether its switches ask an OpenFlow controller."""
        self.not_checked = tuple(not_checked)
        """Lines on what Mininet makes of a Topo that cannot be read back, or is not done in a lab."""
        self._names = names_of(process)
        # The listener's threads must not hold this object: a lab whose last name is gone, as when a cell that starts
        # one is run again, ends at once.
        self.listener = attach.listen(name, partial(_nodes, process, self._names), partial(_visit, process))
        """Where `linklab shell` attaches."""
        self._end = weakref.finalize(self, _end, self.listener, process)

    @property
    def seed(self) -> int:
        """Where all random numbers of the lab come from."""
        return self.process.seed

    @property
    def kind(self) -> KindName:
        """``guest`` (user-mode Linux) or ``qemu`` (a machine played by QEMU)."""
        return self.process.kind.name

    @property
    def nodes(self) -> list[str]:
        """The names of all hosts, routers and switches there are now."""
        self._names[:] = names_of(self.process)
        return list(self._names)

    @property
    def is_of_topo(self) -> bool:
        """Whether the lab was started with a Topo of Mininet's, and not with a `Network`; the lab itself says so."""
        return self.process.call(lab_api.is_of_topo) is True

    @functools.cached_property
    def addresses(self) -> tuple[tuple[str, str, str], ...]:
        """Every address that the network was built with: node, interface, address with its prefix length."""
        state = self.state() if self.network is None else expected_state(self.network)
        return tuple(
            (node.name, interface.name, address)
            for node in state.nodes
            for interface in node.interfaces
            for address in interface.addresses
        )

    def __getitem__(self, name: str) -> Node:
        if name not in (*self._names, lab_api.ROOT) and name not in self.nodes:
            raise UnknownNode(f"there is no node {name!r} here: choose one of {', '.join(self._names)}")
        return Node(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run ``function(net, *arguments)`` inside the lab, `net` being the real Mininet object.

        What it prints is printed here; what it returns must be JSON data. Raises `LabError` with the failure.
        """
        return self.process.call(lab_api.call, function, arguments)

    @schema.checked
    def cli(self, line: Words) -> str:
        """Run one line of Mininet's command line (``"links"``, ``"net"``, ``"pingall"``); what it prints."""
        printed: list[str] = []
        characters = 0

        def hear(piece: str) -> None:
            nonlocal characters
            characters += len(piece)
            try:
                refuse_too_much(characters, repr(line))
            except LabError:
                printed.clear()  # the notebook shows what else was printed, and not so much
                raise
            printed.append(piece)

        try:
            self.process.call(lab_api.cli, line, on_print=hear)
        except BaseException:
            print("".join(printed), end="")
            raise
        return "".join(printed)

    def state(self) -> NetworkState:
        """Return the network as it is now, read back from the kernel."""
        return schema.load(NetworkState, self.process.call(lab_api.state), "the network read back")

    def tables(self) -> NodeTables:
        """Return what daemons of switches and routers know now: flow tables, and what FRR shows.

        Daemons that were asked go on a little later, so digits of what follows may move.
        """
        return schema.load(dict[str, dict[str, str]], self.process.call(lab_api.tables), "what daemons know")

    @schema.checked
    def sleep(self, seconds: LabSeconds) -> None:
        """Let `seconds` of the lab's time pass. That takes none of yours."""
        self.process.call(lab_api.sleep, seconds)

    def now(self) -> float:
        """Return the lab's own clock, in seconds since its start."""
        return self.process.call(lab_api.now)

    @schema.checked
    def read_file(self, path: Words) -> bytes:
        """Return a file of the lab, up to 256 MB. Raises `LabError`."""
        data = io.BytesIO()
        while data.tell() < LARGEST_FILE_BYTES:
            begin = data.tell()
            piece = self.process.call(lab_api.read_file, path, begin, _READ_BYTES)
            data.write(base64.b64decode(piece))
            if data.tell() < begin + _READ_BYTES:
                return data.getvalue()
        raise LabError(
            f"{path} has {LARGEST_FILE_BYTES / 1e6:.0f} MB or more: let the lab write it into its folder, and "
            "read it there"
        )

    @schema.checked
    def write_file(self, path: Words, data: bytes | str, *, executable: bool = False) -> None:
        """Write a file in the lab, and make the folders above it. Raises `LabError`."""
        raw = data.encode() if isinstance(data, str) else data
        for begin in range(0, len(raw) or 1, _WRITE_BYTES):
            piece = base64.b64encode(raw[begin : begin + _WRITE_BYTES]).decode()
            self.process.call(lab_api.write_file, path, piece, begin > 0, executable)

    @functools.cached_property
    def _tool_versions(self) -> dict[str, str]:
        return self.process.call(lab_api.tool_versions)

    def info(self) -> dict[str, str]:
        """Return what runs here: kind, kernel and seed of the lab, and the versions of the tools in it."""
        about = {"kind": self.kind, "kernel": self.process.kernel_release, "seed": str(self.seed)}
        return about | self._tool_versions

    def stop(self) -> None:
        """End the lab and everything in it. Calling it twice does no harm."""
        self._end()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        what = "running" if self.process.running else "stopped"
        return f"<lab {self.name}: {what}, {self.kind}, Linux {self.process.kernel_release}>"


def names_of(process: LabProcess) -> list[str]:
    """Return the names of the nodes there are.

    Raises `LabError` where a lab, perhaps a student's, says something else.
    """
    names = process.call(lab_api.names)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise LabError("this lab does not say which nodes it has: start it again")
    return names


def _end(listener: attach.VisitorListener, process: LabProcess) -> None:
    with Held():  # this is called once only
        listener.close()
        process.stop()


def _nodes(process: LabProcess, names: list[str]) -> list[str]:
    """Return what a visitor finds: nothing once the lab has ended."""
    return names if process.running else []


def _visit(process: LabProcess, node: str, command: str, stop: Callable[[], bool]) -> Iterator[str]:
    """Run what `linklab shell` asks for from another terminal, and yield what it prints.

    It runs in slices of the lab's time, and between two the notebook has its turn. In a command that is silent they
    become longer and rarer: nothing else keeps the lab, and this machine, from running hot.
    """
    turn_s: list[float] = []

    def long_enough() -> bool:
        """Asked first when the turn starts, then now and then: a slice of a busy lab's time may take long."""
        turn_s.append(time.monotonic())
        return turn_s[-1] - turn_s[0] > _LONGEST_TURN_S

    slice_s, rest_s = _SLICE_S, _REST_S
    process.call(lab_api.begin_command, node, command)
    running = True
    try:
        while running:
            if stop():
                running = False
                yield process.call(lab_api.end_command, node)
                return
            turn_s.clear()
            piece, running = process.call(lab_api.continue_command, node, slice_s, stop=long_enough)
            slice_s, rest_s = (
                (_SLICE_S, _REST_S) if piece else (min(2 * slice_s, _LONGEST_SLICE_S), min(2 * rest_s, _SLICE_S))
            )
            yield piece
            time.sleep(rest_s)  # a lock is no queue: without a pause this thread would have it again at once
    finally:
        if running and process.running:
            process.call(lab_api.end_command, node)


def start(
    network: Network | Topo,
    *,
    switch: SwitchName = "bridge",
    controller: str | type | Callable[..., Any] | None = None,
    folder: str | Path | None = None,
    kind: KindName | None = None,
    wall_limit_s: float = WALL_LIMIT_S,
    seed: int = 0,
    untrusted: bool = False,
    traced: bool = False,
    reads: Iterable[str | Path] = (),
) -> Lab:
    """Start a network in a lab process of its own, read it back, and return the handle on it.

    `network` is a `linklab.network.Network` or a Mininet `Topo`. `folder` is the only one the lab may write to: the
    present one unless that is your home, above it, or the system's.
    `wall_limit_s` ends a lab that computes that long in real time without an answer. What a Topo asks of Mininet that
    cannot be read back is told in one line on stderr, and stands in `Lab.not_checked`.

    `controller`, with ``switch="ovs"`` or ``"ovs-user"``, is the command line of an OpenFlow controller that runs in
    the lab (``"osken-manager learning.py"``), or a Controller class of Mininet's. What it prints is in the lab's file
    ``/tmp/c0.log``. With ``"remote"``, Mininet's own word, you start it later
    (`linklab.programs.controller.start_controller`): until then switches do nothing.

    All random numbers of a lab come from `seed`, a whole number: which packets a link loses, and the kernel's own
    (ports, sequence numbers, the hashing of fq_codel and ECMP, /dev/urandom). The same seed gives the same digits
    again, and seeds 1, 2, 3 give independent samples.

    `reads` are folders of this machine that the lab may read besides; what is written there is lost.

    `untrusted` is for code that nobody trusts: it refuses where only a container's walls confine the lab. `traced` is
    for programs that nobody trusts in a guest whose own word is believed: none can become its kernel, and their system
    calls take 1.6 times as long. The digits are the same.

    Raises `LabError` with what is missing and what mends it, or naming the first difference between the network
    asked for and the one the kernel has; `NetworkError` for a network that cannot exist.
    """
    if isinstance(network, type):
        raise LabError(
            f"{network.__name__} is a class and no network yet: start({network.__name__}()), with parentheses"
        )
    name = network.name if isinstance(network, Network) else type(network).__name__
    topology = network if isinstance(network, Network) else _as_data(network)
    process: LabProcess | None = None
    try:
        with ThreadPoolExecutor(1) as computing:
            # the routes, which take a second for hundreds of routers, are computed while the lab boots
            planned = computing.submit(expected_state, network) if isinstance(network, Network) else None
            places = _readable(reads)
            process = lab_process(
                kind, writable(folder), wall_limit_s, seed, untrusted=untrusted, traced=traced, reads=places
            )
        expected = planned.result() if planned else None
        not_checked = process.call(lab_api.build, topology, expected, switch, controller)
        lab = Lab(process, name, network if isinstance(network, Network) else None, not_checked, controller is not None)
    except BaseException:
        if process is not None:
            process.stop()
        raise
    if lab.not_checked:
        print(f"{name}: {'; '.join(lab.not_checked)}", file=sys.stderr)
    ran = {"linklab": __version__, "kind": lab.kind, "kernel": process.kernel_release, "seed": str(lab.seed)}
    record.add_to_cell({record.LAB_MIME: ran})
    return lab


def _as_data(network: object) -> Topo:
    """Return a user's Mininet Topo as data. Raises `LabError` for what is none."""
    mininet = sys.modules.get("mininet.topo")  # who has not loaded it has no Topo
    if mininet is None or not isinstance(network, mininet.Topo):
        raise LabError(f"start a Network or a Mininet Topo, not {type(network).__name__}: linklab.start(MyTopo())")
    from linklab.guest.topo import as_data

    return as_data(network)


def lab_process(
    kind: KindName | None,
    folder: Path | None,
    wall_limit_s: float,
    seed: int,
    *,
    untrusted: bool = False,
    traced: bool = False,
    reads: Iterable[Path] = (),
) -> LabProcess:
    """Start a lab process of our own, or borrow one where such are lent. Its arguments are those of `start`, and the
    folders besides `folder` that it may read.
    """
    schema.given(_WallSeconds, "wall_limit_s", wall_limit_s, LabError)
    if transport.VARIABLE in os.environ:
        refuse_unknown(kind)  # as at home
        return LabProcess.borrow(os.environ[transport.VARIABLE], wall_limit_s, seed)
    chosen = replace(choose(kind), traced=traced)
    return LabProcess.spawn(chosen, folder, wall_limit_s, untrusted=untrusted, seed=seed, reads=reads)


def writable(folder: str | Path | None) -> Path | None:
    """Return the only folder that a lab may write to; None where the present one holds too much. Raises `LabError`."""
    path = _resolved(folder or ".", "folder")
    if not path.is_dir():
        raise LabError(f"{path} is not a folder: make it first, or leave folder= away")
    homes: tuple[Path, ...] = ()
    with contextlib.suppress(LabError):  # a user without a home
        homes = (files.home(), *files.home().parents)
    too_wide = path in (*homes, *map(Path, _OF_THE_SYSTEM))
    too_wide |= any(path.is_relative_to(place) for place in ("/proc", "/sys", "/etc", "/usr", "/boot"))
    if too_wide and folder is not None:
        raise LabError(f"{path} holds more than a lab may write to: name a folder of the lab's own")
    if too_wide:
        print(
            f"{path} holds more than a lab may write to, so it has no folder of this machine. Work in a folder of your "
            "own, or say folder=",
            file=sys.stderr,
        )
        return None
    return path


def _resolved(place: object, option: str) -> Path:
    """Return the whole path of what `option` names. Raises `LabError` for what can be none."""
    if not isinstance(place, str | os.PathLike) or not isinstance(os.fspath(place), str):
        raise LabError(f"{option} is {quoted(place)}: write the path of a folder, as a text")
    try:
        path = Path(place).resolve()
        path.is_dir()  # newer Pythons say no, and do not raise, where the system refuses the name
    except FileNotFoundError:
        raise LabError(f"the current folder was removed: change to another one, or say {option}= in full") from None
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LabError(
            f"{option} is {quoted(os.fspath(place))}, which names no folder ({why}): choose another one"
        ) from None
    return path


def _readable(reads: Iterable[str | Path]) -> list[Path]:
    """Return the whole paths of the folders that a lab may read. Raises `LabError` for what can be none."""
    if isinstance(reads, str | bytes | os.PathLike) or not isinstance(reads, Iterable):
        raise LabError(f'reads is {quoted(reads)}: write a list of folders, as in reads=["data"]')
    paths = [_resolved(place, "reads") for place in reads]
    for path in paths:
        if not path.is_dir():
            raise LabError(f"{path} is not a folder: name one in reads= that is there")
        if str(path) in _OF_A_GUEST or any(path.is_relative_to(place) for place in ("/proc", "/sys")):
            raise LabError(f"{path} is the system's, and a lab has its own: name a folder below it in reads=")
    return paths
