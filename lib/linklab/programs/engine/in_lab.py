"""Scenes on the hosts of a running lab. These functions run inside it, called by the agent."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from linklab.guest import boot, init, lab_api
from linklab.guest.request_loop import RequestInterrupted, RequestLoop
from linklab.programs.engine import program, scene
from linklab.programs.engine.program import Stage

_ROOT = Path("/run/trial")
_NOSUID = 2


def prepare(context: RequestLoop, hosts: list[str], files: dict[str, str], packages: bool) -> str:
    """Set the stage on these hosts; return the version of the Python that runs programs there.

    From now on each program finds `files` (path: base64), and the installed `packages` where it needs such.
    """
    if "stage" not in context.state:
        _mount()
    number = context.state["stages"] = context.state.get("stages", 0) + 1
    folder = _ROOT / f"files{number}"
    folder.mkdir()
    program.unpack(folder, files)
    from linklab.guest.namespace import namespace_of  # Mininet, which the notebook need not have

    def entered(host: str) -> AbstractContextManager[Any]:
        return namespace_of(lab_api.node(context, host)).entered()

    cgroups = _ROOT / "cgroups"
    context.state["stage"] = Stage(
        files=folder,
        scratch=_ROOT / "scratch",
        python=sys.executable,
        packages=Path(init.PACKAGES) if packages else None,
        cgroups=cgroups if cgroups.exists() else None,
        entered=entered,
    )
    for host in hosts:
        with entered(host):
            program.allow_every_port()
    return platform.python_version()


def _mount() -> None:
    _ROOT.mkdir(mode=0o755)
    boot.mount("trial", str(_ROOT), "tmpfs", _NOSUID, "size=48m,mode=755")
    (_ROOT / "scratch").mkdir()
    (_ROOT / "cgroups").mkdir()
    try:
        boot.mount("trial", str(_ROOT / "cgroups"), "cgroup2")
        (_ROOT / "cgroups" / "cgroup.subtree_control").write_text("+pids +memory")
    except OSError:
        # a kernel without: the limits of each process and the guest's own memory remain
        with contextlib.suppress(OSError):
            (_ROOT / "cgroups").rmdir()


def play(context: RequestLoop, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Plays scenes, up to the first that stalls."""
    with _first_in_line():
        return scene.play_all(context.state["stage"], plans, context.poll, RequestInterrupted, context.emit)


@contextlib.contextmanager
def _first_in_line() -> Iterator[None]:
    """This process gets the processor whenever it wants it.

    On virtual time the clock stands still while a program computes, and takes the processor from nobody. So a loop
    that asks the kernel for something can be ended from here; one that only computes ends with the whole lab.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)
