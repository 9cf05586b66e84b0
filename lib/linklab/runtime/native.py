"""The first process of a native lab: root of this machine, between bubblewrap and a lab that is not.

bubblewrap has made a view of the host in which only the lab's folder can be written. Whoever is root could change
that view. So this process gives the lab a user namespace, in which root is an ordinary user of this machine, and below
it all the other namespaces that a lab needs. The kernel then keeps what stands outside: mounts that are read-only stay
so, the machine's settings, disks, modules and clock are out of reach, while networks, mounts and host names of the
lab's own are its root's.

Afterwards it waits, outside the lab and unseen by it, for the end of the lab or of the notebook. It is the first
process of the process namespace around the lab, so all of the lab ends when it does, also behind sudo: who starts sudo
may not end it, and sudo does not end with who started it.

Run as a script with only the standard library, by a Python that takes nothing from the environment: it is root.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_MS_NOSUID, _MS_REC, _MS_PRIVATE = 2, 0x4000, 0x40000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # of all processors alike
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC, _MOVE_MOUNT_F_EMPTY_PATH, _AT_EMPTY_PATH = 1, os.O_CLOEXEC, 4, 0x1000
_AT_FDCWD = -100
_MOUNT_ATTR_IDMAP = 0x00100000
_FIRST_ID, _IDS = 2_000_000_000, 65536
"""Users and groups of this machine that are nobody: above all that systemd gives to containers."""
_OVERFLOW_ID = 65534
_LAB_S_OWN = ("/run", "/run/linklab", "/run/linklab/fs", "/tmp", "/dev", "/dev/net", "/dev/shm")
_libc = ctypes.CDLL(None, use_errno=True)


class Ids(NamedTuple):
    """Who a native lab is on this machine: its root is `user` and `group`, none of them 0, and its other users and
    groups (`others` of them, from 1 on) are nobody.

    `lend`: files of the lab's folder that belong to this machine's root belong to the lab's root in the lab.
    """

    user: int
    group: int
    others: int
    lend: bool

    def table(self, root: int) -> str:
        """The user namespace's map (`man 7 user_namespaces`) where the lab's root is `root`."""
        return f"0 {root} 1\n" + (f"1 {_FIRST_ID + 1} {self.others}\n" if self.others else "")


def ids(folder: Path | None) -> Ids:
    """Choose who a native lab is: whoever started it, or the owner of its folder where root did.

    Where that is root as well, it is nobody, and the folder is lent to it.
    """
    others = _IDS - 1 if _has_ids() else 0
    nobody = _FIRST_ID if others else _OVERFLOW_ID
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        owner = None if folder is None else folder.stat()
        user, group = (owner.st_uid, owner.st_gid) if owner is not None else (0, 0)
        lend = folder is not None and user == 0
    else:
        lend = False
    return Ids(user or nobody, group or nobody, others, lend)


def _has_ids() -> bool:
    """Return False in a container that has few users, where the numbers of nobody cannot be had."""
    ranges = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return any(first <= _FIRST_ID and first + count >= _FIRST_ID + _IDS for first, _, count in ranges)


def closed_folders(paths: list[Path], chosen: Ids) -> list[Path]:
    """Return the folders on the way to `paths` that the lab's root may not pass through, as root's home."""
    closed: list[Path] = []
    for path in paths:
        for folder in reversed(path.parents):
            about = folder.stat()
            if about.st_uid == chosen.user:
                may = about.st_mode & stat.S_IXUSR
            elif about.st_gid == chosen.group:
                may = about.st_mode & stat.S_IXGRP
            else:
                may = about.st_mode & stat.S_IXOTH
            if not may:
                closed.append(folder)
                break
    return sorted(set(closed))


def command(chosen: Ids, folder: Path | None) -> list[str]:
    """The words that go before those of the lab's own command, behind bubblewrap's."""
    options = {"ids": chosen, "folder": None if folder is None else str(folder)}
    return [os.path.realpath(sys.executable), "-I", "-S", str(Path(__file__).resolve()), json.dumps(options)]


def main() -> NoReturn:
    """``native.py JSON COMMAND ...``, as `command` writes it. Standard input is the channel to the notebook."""
    options, words = json.loads(sys.argv[1]), sys.argv[2:]
    chosen, folder = Ids(*options["ids"]), options["folder"]
    try:
        _furnish(chosen)
        lab = _start(words, chosen, folder)
    except OSError as error:
        mend = "sudo sysctl -w user.max_user_namespaces=10000" if error.errno == errno.ENOSPC else "linklab doctor"
        sys.exit(f"a native lab cannot be confined ({error.strerror}): {mend}, or say kind='guest'")
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    ends = select.poll()
    ends.register(os.pidfd_open(lab), select.POLLIN)
    ends.register(0, select.POLLRDHUP)
    ends.poll()
    os._exit(0)


def _furnish(chosen: Ids) -> None:
    """Give the lab's root what bubblewrap made for it, and what root alone could allow itself."""
    # a disk that is mounted on this machine later must not come into the lab, where it could be written
    _check(_libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    # bubblewrap's own cover parts of the host, and the kernel gives a user namespace no more than is seen already
    for kind, where in (("proc", "/proc"), ("sysfs", "/sys")):
        _mount(kind, where)
    for place in _LAB_S_OWN:
        with suppress(FileNotFoundError):
            os.chown(place, chosen.user, chosen.group)
    for place in ("/tmp", "/dev/shm"):
        os.chmod(place, 0o1777)


def _start(words: list[str], chosen: Ids, folder: str | None) -> int:
    """Start the lab in namespaces of its own; return its process id."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with ours, theirs:
        child = os.fork()
        if child == 0:
            _become_the_lab(words, theirs)
        theirs.close()
        _await(ours)
        for name, root in (("uid_map", chosen.user), ("gid_map", chosen.group)):
            Path(f"/proc/{child}/{name}").write_text(chosen.table(root))
        if folder is not None and chosen.lend:
            _lend(folder, chosen)
        ours.send(b"!")
        lab = int(_await(ours))
        _await(ours)  # it runs
        return lab


def _await(end: socket.socket) -> bytes:
    """Return what the other side says, nothing once it has become the lab. Raise OSError with its reason where it
    cannot go on.
    """
    said = end.recv(64)
    if said[:1] == b"-":
        raise OSError(-int(said), os.strerror(-int(said)))
    return said


def _become_the_lab(words: list[str], end: socket.socket) -> NoReturn:
    """In a child: enter namespaces, be root there, and leave the command in them to a child of its own."""
    try:
        _check(_libc.unshare(_NEWUSER))
        end.send(b"!")
        end.recv(1)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        _check(_libc.unshare(_NEWNS | _NEWNET | _NEWPID | _NEWIPC | _NEWUTS))
        lab = os.fork()
        if lab:
            end.send(str(lab).encode())
            os._exit(0)
        for kind, where in (("proc", "/proc"), ("sysfs", "/sys")):
            _mount(kind, where)
        os.execv(words[0], words)
    except OSError as error:
        end.send(str(-(error.errno or 1)).encode())
    os._exit(1)


def _lend(folder: str, chosen: Ids) -> None:
    """Mount a folder over itself so that root's files in it belong to the lab's root, and all others to nobody."""
    tree = _check(
        _libc.syscall(_OPEN_TREE, _AT_FDCWD, folder.encode(), ctypes.c_uint(_OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC))
    )
    namespace = _namespace_of_root_alone(chosen)
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_IDMAP, 0, 0, namespace)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    if _libc.syscall(_MOUNT_SETATTR, tree, b"", ctypes.c_uint(_AT_EMPTY_PATH), attributes, size) != 0:
        sys.exit(
            f"the file system of {folder} cannot lend it to a native lab: give the folder to an ordinary user "
            "(chown -R 1000), or say kind='guest'"
        )
    _check(_libc.syscall(_MOVE_MOUNT, tree, b"", _AT_FDCWD, folder.encode(), ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH)))
    os.close(tree)
    os.close(namespace)


def _namespace_of_root_alone(chosen: Ids) -> int:
    """Return an open user namespace that knows no user but root, who is the lab's."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with ours, theirs:
        child = os.fork()
        if child == 0:
            try:
                _check(_libc.unshare(_NEWUSER))
                theirs.send(b"!")
                ours.close()
                theirs.recv(1)
            except OSError as error:
                theirs.send(str(-(error.errno or 1)).encode())
            os._exit(0)
        try:
            theirs.close()
            _await(ours)
            for name, root in (("uid_map", chosen.user), ("gid_map", chosen.group)):
                Path(f"/proc/{child}/{name}").write_text(f"0 {root} 1\n")
            return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            ours.close()
            os.waitpid(child, 0)


def _mount(kind: str, where: str) -> None:
    _check(_libc.mount(kind.encode(), where.encode(), kind.encode(), _MS_NOSUID, b""))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
