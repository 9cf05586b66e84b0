"""Supervise a lab: a small process between a notebook and its lab, so that neither outlives the other.

It runs the lab as its child, and ends it when the notebook is gone, seen by the end of file on the lifeline
(a socket whose other end only the notebook holds). If the supervisor itself is killed, the lab dies with it: every
process below asks the kernel for SIGKILL at its parent's death, and the lab's own process namespace takes the
rest along. A process that is stopped (time stands still between two cells) dies of SIGKILL all the same.

Run as a script with only the standard library: it must start fast and import nothing of Linklab.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
_KEYCTL_JOIN_SESSION_KEYRING = 1
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 0x40000
_SECONDS_TO_DIE = 8
_SEATS_PER_CORE = 64


def claim_core() -> socket.socket | None:
    """Pin this process and its children to one CPU: one that no other lab has, else one that few others have.

    The claim is a name in the abstract socket namespace: the kernel frees it whatever way the supervisor ends.
    """
    cores = sorted(os.sched_getaffinity(0), key=lambda _: os.urandom(4))  # shuffled: each start would pay for `random`
    for seat in range(_SEATS_PER_CORE):
        for core in cores:
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0linklab-core-{core}-{seat}")
            except OSError:
                claim.close()
                continue
            os.sched_setaffinity(0, {core})
            return claim
    os.sched_setaffinity(0, {cores[0]})
    return None


def spawn(argv: list[str], lifeline: int, environment: dict[str, str]) -> int:
    """Start the lab in a process group of its own; it dies when this process dies."""
    supervisor = os.getpid()
    child = os.fork()
    if child:
        with contextlib.suppress(OSError):
            os.setpgid(child, child)  # the child does it too: whoever comes first, the group is there to be ended
        return child
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)
    os.setpgid(0, 0)
    os.close(lifeline)
    _keep_apart()
    try:
        os.execvpe(argv[0], argv, {**os.environ, **environment})
    except OSError as error:
        os.write(2, f"cannot run {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _keep_apart() -> None:
    """Let nothing of this session into the lab that bubblewrap knows nothing of: the session's keys, and disks that
    root mounts later (those of an ordinary user's guest are that user's to write anyway).
    """
    libc = ctypes.CDLL(None)
    if (machine := os.uname().machine) in _SYS_KEYCTL:
        libc.syscall(_SYS_KEYCTL[machine], _KEYCTL_JOIN_SESSION_KEYRING, None)
    if os.geteuid() == 0 and libc.unshare(_CLONE_NEWNS) == 0:
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)


def main() -> None:
    """``supervisor.py LIFELINE_FD JSON``, JSON being ``{"argv": [...], "channel": fd}``.

    Where no bubblewrap tells the lab's process id, and gives it a folder that ends with it, there are ``"info"``, the
    file to tell it, ``"folder"``, which is removed in the end, and what is added to the ``"environment"``.
    """
    lifeline, options = int(sys.argv[1]), json.loads(sys.argv[2])
    for kept in (lifeline, *([options["info"]] if "info" in options else [])):
        os.set_inheritable(kept, False)
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    claim = claim_core()
    child = spawn(options["argv"], lifeline, options.get("environment", {}))
    if "info" in options:
        os.write(options["info"], json.dumps({"child-pid": child}).encode())
        os.close(options["info"])
    os.close(options["channel"])  # or the notebook would never see the lab's end close
    ended = os.pidfd_open(child)
    ends = select.poll()  # select takes no file descriptor above 1023, and they have the notebook's numbers
    for end in (ended, lifeline):
        ends.register(end, select.POLLIN)
    if ended not in [end for end, _ in ends.poll()]:
        _kill(child)
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_SECONDS_TO_DIE)
    with contextlib.suppress(ChildProcessError):
        while True:  # whatever lived below the lab is handed to this process: wait for the last of it
            os.wait()
            _kill_orphans()
    if "folder" in options:
        import shutil  # only where it is needed: each start would pay for it

        shutil.rmtree(options["folder"], ignore_errors=True)
    if claim is not None:
        claim.close()


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _kill_orphans() -> None:
    """End what the lab's first process left behind.

    bubblewrap that dies while it starts, as of a notebook that was killed and reads its --info-fd no more, has not yet
    told its child to die with it, and the child waits for ever.
    """
    with contextlib.suppress(FileNotFoundError):  # a kernel without CONFIG_PROC_CHILDREN
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            orphans = children.read().split()
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(orphan), signal.SIGKILL)


def _give_up(*_: object) -> None:
    sys.exit("the lab did not die")


if __name__ == "__main__":
    main()
