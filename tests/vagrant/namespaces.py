"""A network, a mount and a process namespace for the trial: libvirt's bridges, its firewall rules, its daemons and the
machine itself exist in there alone and are gone with it, however the trial ends.

The way out is slirp4netns, an ordinary program that passes packets on by its own sockets: the host's forwarding and its
firewall stay as they are.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.vagrant.needs import TrialError

DEVICE = "tap0"
GATEWAY = "10.0.2.2"
NAME_SERVER = "10.0.2.3"
_READY_LIMIT_S = 20.0
# Whoever dies takes along what is below, by the kernel's hand.
_WITH_ME = ("setpriv", "--pdeathsig", "KILL")


def run_apart(words: Sequence[str]) -> int:
    """Runs Python with these arguments as process 1 of fresh namespaces, and gives its exit status.

    It gets a line on standard input once its network leads out. Ctrl-C ends it with all that runs in there.
    """
    command = [*_WITH_ME, "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
    inside = subprocess.Popen([*command, sys.executable, *words], stdin=subprocess.PIPE)
    assert inside.stdin is not None
    first = way_out = None
    try:
        first = _child_of(inside.pid)
        way_out = _lead_out(first)
        inside.stdin.write(b"\n")
        inside.stdin.flush()
        return inside.wait()
    finally:
        if inside.poll() is None:
            # unshare returns when its child has been reaped, and that is after everything else in there.
            os.kill(first or inside.pid, signal.SIGKILL)
            inside.wait()
        if way_out is not None:
            way_out.kill()
            way_out.wait()


def _child_of(pid: int) -> int:
    """The process that unshare has put into its namespaces, once it is there."""
    own = os.readlink(f"/proc/{os.getpid()}/ns/net")
    deadline = time.monotonic() + _READY_LIMIT_S
    while time.monotonic() < deadline:
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if children and os.readlink(f"/proc/{children[0]}/ns/net") != own:
                return int(children[0])
        except OSError:
            break
        time.sleep(0.05)
    raise TrialError("unshare made no namespaces: this needs root, in a container with the right to (CAP_SYS_ADMIN)")


def _lead_out(pid: int) -> subprocess.Popen[bytes]:
    """Starts slirp4netns for the network namespace of process `pid`, and waits until packets pass."""
    ready, told = os.pipe()
    words = ["slirp4netns", "--configure", "--disable-host-loopback", f"--ready-fd={told}", str(pid), DEVICE]
    program = subprocess.Popen([*_WITH_ME, *words], pass_fds=(told,), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(told)
    with os.fdopen(ready, "rb") as opened:
        if opened.read(1) != b"1":
            _, said = program.communicate()
            raise TrialError(f"slirp4netns failed: {said.decode(errors='replace').strip()}")
    return program


def work_as_child(work: Callable[[], int]) -> int:
    """As process 1: does `work` in a child and buries the orphans of these namespaces meanwhile.

    libvirt ends what it has started by asking until it is gone, and a process that nobody has reaped never is.
    """
    worker = os.fork()
    if worker == 0:
        return work()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells the worker as well
    while True:
        gone, status = os.wait()
        if gone == worker:
            return os.waitstatus_to_exitcode(status)
