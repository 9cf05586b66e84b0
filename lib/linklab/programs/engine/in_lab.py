"""Scenes on the hosts of a running lab. These functions run inside it; the notebook asks for them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import platform
import selectors
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab.guest import boot, init, lab_api, limits
from linklab.guest.request_loop import RequestLoop
from linklab.programs.engine import fork_server, program, scene
from linklab.programs.engine.program import Stage
from linklab.runtime import bwrap

if TYPE_CHECKING:  # Mininet, which the notebook need not have
    from linklab.guest.header_tap import HeaderTap

_ROOT = Path("/run/trial")
_CGROUPS = _ROOT / "cgroups"
_SCRATCH = _ROOT / "scratch"
_NOSUID = 2
_TAP_BYTES = 1 << 25
"""Memory for what taps note: 246,000 packets."""
Poll = Callable[[Iterable[int], float | None], list[int]]
"""Waits until one of the descriptors is readable; `linklab.guest.request_loop.RequestLoop.poll`."""


def prepare(loop: RequestLoop, hosts: list[str], files: dict[str, str], packages: bool) -> str:
    """Set the stage on these hosts; return the version of the Python that runs programs there.

    From now on each program finds `files` (path: base64), and the installed `packages` where it needs such.
    """
    if "stage" not in loop.state:
        _mount()
    number = loop.state["stages"] = loop.state.get("stages", 0) + 1
    folder = _ROOT / f"files{number}"
    folder.mkdir()
    program.unpack(folder, files)
    from linklab.guest.namespace import Namespace, namespace_of  # Mininet, which the notebook need not have

    own: dict[str, Namespace] = {}

    def entered(host: str) -> AbstractContextManager[Any]:
        if host in lab_api.network(loop):
            return namespace_of(lab_api.node(loop, host)).entered()
        if host not in own:
            own[host] = Namespace.new()
            with own[host].entered():
                program.prepare_host()
        return own[host].entered()

    loop.state["stage"] = Stage(
        files=folder,
        scratch=_SCRATCH,
        python=sys.executable,
        server=fork_server.start(sys.executable, program.environment(packages), _modules(files)),
        packages=Path(init.PACKAGES) if packages else None,
        cgroups=_CGROUPS,
        entered=entered,
    )
    for host in hosts:
        with entered(host):
            program.prepare_host()
    return platform.python_version()


def _modules(files: Iterable[str]) -> set[str]:
    """Return the names by which files in a program's folder can be imported."""
    return {name.partition("/")[0].removesuffix(".py") for name in files}


def _mount() -> None:
    _ROOT.mkdir(mode=0o755)
    boot.mount("trial", str(_ROOT), "tmpfs", _NOSUID, "size=48m,mode=755")
    _SCRATCH.mkdir()
    _CGROUPS.mkdir()
    boot.mount("trial", str(_CGROUPS), "cgroup2")
    (_CGROUPS / "cgroup.subtree_control").write_text("+pids +memory")


OUTPUT_BYTES = 1_000_000
"""How much is kept of what a confined program prints."""
_KEEP = f'dd of="$log" bs=64k iflag=count_bytes count={OUTPUT_BYTES} status=none; cat > /dev/null'
_PRINTED = f'set -o pipefail; log=$1; shift; "$@" 2>&1 | {{ {_KEEP}; }}'
"""Nobody need read what a program prints, which may be more than the lab's memory holds."""


def confined_words(loop: RequestLoop, folder: str, files: dict[str, str], words: list[str], log: str) -> list[str]:
    """Write `files` (path: base64) into a folder of the lab, and return the words that run a program there, confined.

    The program may write this folder alone, is not root, and has the network of the node on which it is started. The
    first `OUTPUT_BYTES` that it prints are in the file `log`.
    """
    place, user = Path(folder), str(limits.nobody())
    Path(log).write_bytes(b"")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    program.unpack(place, files)
    for path in (place, *place.rglob("*")):
        os.chown(path, int(user), int(user))
    environment = [word for pair in bwrap.program_environment().items() for word in ("--setenv", *pair)]
    given = {"PYTHONPATH": bwrap.HOME, "EVENTLET_NO_GREENDNS": "yes"}
    environment += [word for pair in given.items() for word in ("--setenv", *pair)]
    sandbox = bwrap.for_program(place, "/usr/bin/python3", more=["--clearenv", *environment])
    bounds = limits.ProgramLimits()
    limited = [
        "prlimit",
        f"--nofile={bounds.open_files}",
        f"--fsize={bounds.file_mb * 2**20}",
        f"--cpu={bounds.cpu_s}",
        f"--nproc={bounds.processes}",
        f"--data={bounds.memory_mb * 2**20}",
    ]
    limited = ["bash", "-c", _PRINTED, "confined", log, *limited]
    return [*limited, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *sandbox, *words]


def play(loop: RequestLoop, plan: dict[str, Any]) -> dict[str, Any]:
    """Play a scene and return its record.

    Where the plan has ``tapped``, hosts with an interface each, the record has under that name what
    `linklab.guest.header_tap` noted at these meanwhile: tap ``2 n`` what left the nth, ``2 n + 1`` what entered it.
    Where it has ``varying``, the scene begins at a whole second of the lab's clock, and a second later a host's
    interface begins to follow a trace, at ``varying_from_ns`` of the record: what was played before moves no digit.
    """
    with contextlib.ExitStack() as stack:
        added: dict[str, Any] = {}
        if "tapped" in plan:
            tap = stack.enter_context(_tapped(loop, plan["tapped"]))
        if "varying" in plan:
            added["varying_from_ns"] = stack.enter_context(_varied(loop, plan["varying"]))
        record = _play(loop, plan)
        if "tapped" in plan:
            tap.stop()
            packer = zlib.compressobj(1)
            packed = [*map(packer.compress, tap.noted()), packer.flush()]
            added["tapped"] = base64.b64encode(b"".join(packed)).decode()
        return record | added


@contextlib.contextmanager
def _tapped(loop: RequestLoop, interfaces: list[list[str]]) -> Iterator[HeaderTap]:
    from linklab.guest.header_tap import HeaderTap
    from linklab.guest.namespace import namespace_of

    places = [(namespace_of(lab_api.node(loop, host)), interface, True) for host, interface in interfaces]
    with contextlib.closing(HeaderTap(places, _TAP_BYTES)) as tap:
        yield tap


@contextlib.contextmanager
def _varied(loop: RequestLoop, wish: dict[str, Any]) -> Iterator[int]:
    """Let a link follow a trace from the next whole second on, and yield that in ns of the lab's clock."""
    from linklab.guest.namespace import namespace_of
    from linklab.guest.varying import VaryingLink

    there = namespace_of(lab_api.node(loop, wish["host"]))
    with there.entered():
        link = VaryingLink(wish["interface"], wish["opportunities_ms"], wish["delay_ns"], wish["queue_packets"])
        time.sleep(1 - time.monotonic() % 1)
        from_ns = (time.monotonic_ns() // 10**9 + 1) * 10**9
        link.begin(from_ns)
    try:
        yield from_ns
    finally:
        with there.entered():
            link.end()


def _play(loop: RequestLoop, plan: dict[str, Any]) -> dict[str, Any]:
    def run(main: Coroutine[Any, Any, None]) -> None:
        selector = _Selector(loop.poll)
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
            try:
                runner.run(main)
            finally:
                selector.poll = None  # tasks that are cancelled wait for nobody

    loop.begin("scene")
    with _first_in_line():
        return scene.play(loop.state["stage"], plan, run, loop.emit)


class _Selector(selectors.EpollSelector):
    """Waits by ``poll``, which also listens to the notebook and raises KeyboardInterrupt where that asks to stop."""

    def __init__(self, poll: Poll) -> None:
        super().__init__()
        self.poll: Poll | None = poll

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As EpollSelector's."""
        if self.poll is None:
            return super().select(timeout)
        # poll(2) counts in whole ms and would come back too early, again and again
        self.poll([self.fileno()], None if timeout is None else max(0.0, timeout) + 0.0005 * (timeout > 0))
        return super().select(0)


@contextlib.contextmanager
def _first_in_line() -> Iterator[None]:
    """Give this process the processor whenever it wants it.

    On virtual time the clock stands still while a program computes, and takes the processor from nobody. So a program
    in a loop that asks the kernel for something can be ended from here; one that only computes ends with the whole lab.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)
