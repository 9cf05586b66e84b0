"""Supervise a lab: a small process between a notebook and its lab, which ends the lab when the notebook is gone.

It runs the lab as its child. The lifeline is a socket whose other end only the notebook holds: when the supervisor
reads its end of file, the notebook is gone, and the supervisor kills the lab. If the supervisor itself is killed, the
kernel kills the lab: each process from the supervisor down to the lab's first one has set a parent-death signal
(SIGKILL), and when the first process of the lab's PID namespace dies, the kernel kills all others in it. SIGKILL also
ends a stopped lab; Linklab stops a lab between two cells, so that its time stands still.

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
_KILL_TIMEOUT_S = 8
"""Seconds in which the lab's processes must have ended after SIGKILL."""
_LEAST_DISK_MB = 256
"""A lab that has written so much is ended where the disk of its folder has lost so much, and has less left."""
_DISK_LOOK_MS = 500
_MAX_CLAIMS_PER_CPU = 64
"""Labs on one CPU that are counted: if each CPU has so many, a further lab is pinned without a claim."""


def claim_cpu() -> socket.socket | None:
    """Pin this process and its children to the CPU that has the fewest labs. Return the socket that holds the claim,
    or None if all claims are taken.

    The claim is a name in the abstract socket namespace: the kernel frees it however the supervisor ends.
    """
    # os.urandom shuffles them: importing `random` would slow down each start
    cpus = sorted(os.sched_getaffinity(0), key=lambda _: os.urandom(4))
    for number in range(_MAX_CLAIMS_PER_CPU):
        for cpu in cpus:
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0linklab-core-{cpu}-{number}")
            except OSError:
                claim.close()
                continue
            os.sched_setaffinity(0, {cpu})
            return claim
    os.sched_setaffinity(0, {cpus[0]})
    return None


def spawn(argv: list[str], lifeline: int, environment: dict[str, str]) -> int:
    """Start the lab in a process group of its own and return its process id. The kernel kills the lab when this
    process dies.
    """
    supervisor = os.getpid()
    child = os.fork()
    if child:
        with contextlib.suppress(OSError):
            os.setpgid(child, child)  # both do it, so the group exists before either of them uses it
        return child
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:  # it died before the parent-death signal was set
        os._exit(1)
    os.setpgid(0, 0)
    os.close(lifeline)
    _detach_from_session()
    try:
        os.execvpe(argv[0], argv, {**os.environ, **environment})
    except OSError as error:
        os.write(2, f"cannot run {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _detach_from_session() -> None:
    """Keep two things out of the lab that bubblewrap does not keep out: the session's kernel keyring, and, if root
    runs the lab, file systems that are mounted later.

    The lab of an ordinary user sees the latter too, and may do there only what that user may do anyway.
    """
    libc = ctypes.CDLL(None)
    if (machine := os.uname().machine) in _SYS_KEYCTL:
        libc.syscall(_SYS_KEYCTL[machine], _KEYCTL_JOIN_SESSION_KEYRING, None)
    if os.geteuid() == 0 and libc.unshare(_CLONE_NEWNS) == 0:
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)


def main() -> None:
    """``supervisor.py LIFELINE_FD JSON``, JSON being ``{"argv": [...], "channel": fd}``.

    ``argv`` is the lab's command, ``channel`` the file descriptor of the lab's end of the channel. ``writes`` is the
    folder of this machine whose disk it may not fill, if there is one. Three more are given
    if no bubblewrap runs the lab: ``info``, the file descriptor to which the lab's process id is written; ``folder``,
    which is removed when the lab has ended; ``environment``, variables that are added to the lab's environment.
    """
    lifeline, options = int(sys.argv[1]), json.loads(sys.argv[2])
    for private_fd in (lifeline, *([options["info"]] if "info" in options else [])):
        os.set_inheritable(private_fd, False)  # the lab must not have it
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    claim = claim_cpu()
    child = spawn(options["argv"], lifeline, options.get("environment", {}))
    if "info" in options:
        os.write(options["info"], json.dumps({"child-pid": child}).encode())
        os.close(options["info"])
    os.close(options["channel"])  # with our copy of the lab's side open, the notebook would never read end of file
    lab_exit_fd = os.pidfd_open(child)
    free_mb = 0
    with contextlib.suppress(OSError, KeyError):  # there is no such folder
        free_mb = _free_mb(options["writes"])
    poller = select.poll()  # select takes no descriptor above 1023, and these have the numbers of the notebook's
    for fd in (lab_exit_fd, lifeline):
        poller.register(fd, select.POLLIN)
    while not (ended := [fd for fd, _ in poller.poll(_DISK_LOOK_MS if "writes" in options else None)]):
        if why := _fills_disk(options["writes"], free_mb, child):
            print(why, file=sys.stderr, flush=True)
            break
    if lab_exit_fd not in ended:
        _kill(child)
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_KILL_TIMEOUT_S)
    with contextlib.suppress(ChildProcessError):
        while True:  # the kernel makes this process the parent of the lab's orphans (subreaper): wait for all of them
            os.wait()
            _kill_orphans()
    if "folder" in options:
        import shutil  # only if it is needed: importing it would slow down each start

        shutil.rmtree(options["folder"], ignore_errors=True)
    if claim is not None:
        claim.close()


def _fills_disk(folder: str, free_mb: int, child: int) -> str:
    """Return what to say of a lab that fills the disk of its folder, which had `free_mb` at the start, else nothing.

    The disk is asked only once the lab has written much: one of a network may give no answer. What the lab writes
    elsewhere counts as well, and other programs fill the disk too: both must be so.
    """
    written_mb = sum(map(_written_bytes, (child, *_children(child)))) >> 20
    if written_mb >= _LEAST_DISK_MB:
        with contextlib.suppress(OSError):  # the folder is gone
            left_mb = _free_mb(folder)
            if left_mb < _LEAST_DISK_MB <= free_mb - left_mb:
                return f"it has written {written_mb} MB, and the disk of {folder} has only {left_mb} MB left"
    return ""


def _free_mb(folder: str) -> int:
    """Return how much room this user has on the disk of a folder. Raises OSError where the folder is gone."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize >> 20


def _written_bytes(pid: int) -> int:
    """Return how much a process has written, into whatever; 0 if it has ended, or the kernel does not count."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/io") as counts:
        return next(int(line.split()[1]) for line in counts if line.startswith("wchar:"))
    return 0


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _kill_orphans() -> None:
    """Kill the processes that were orphaned when the lab's first process ended.

    bubblewrap can die while it starts, for example because the notebook that reads its --info-fd was killed. Its child
    has then not yet set a parent-death signal, and would wait for ever.
    """
    for orphan in _children(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    """Return a process's children: none if it has ended, or of a kernel without CONFIG_PROC_CHILDREN."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children") as children:
        return [int(word) for word in children.read().split()]
    return []


def _give_up(*_: object) -> None:
    sys.exit("the lab did not die")


if __name__ == "__main__":
    main()
