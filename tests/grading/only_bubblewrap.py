"""``python only_bubblewrap.py COMMAND ...``: a machine on which bubblewrap alone may make user namespaces.

That is what AppArmor makes of Ubuntu 24.04 where a profile for bubblewrap is loaded. Here a seccomp filter asks this
process about each (seccomp_unotify(2)). Standard library only.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys

ALLOWED = ("bwrap",)
_UNSHARE, _CLONE, _CLONE3, _SECCOMP = 272, 56, 435, 317  # x86-64
_NEWUSER = 0x10000000
_ALLOW, _ASK, _ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_PR_SET_NO_NEW_PRIVS, _SET_MODE_FILTER, _NEW_LISTENER = 38, 1, 8
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # of classic BPF
_libc = ctypes.CDLL(None, use_errno=True)

FILTER = (
    (_LOAD, 0, 0, 0),  # the system call's number
    (_EQUAL, 0, 1, _CLONE3),
    (_RETURN, 0, 0, _ERRNO | _ENOSYS),  # its flags lie in memory; the C library then takes clone
    (_EQUAL, 1, 0, _UNSHARE),
    (_EQUAL, 0, 3, _CLONE),
    (_LOAD, 0, 0, 16),  # its first argument, the flags
    (_ANY_BIT, 0, 1, _NEWUSER),
    (_RETURN, 0, 0, _ASK),
    (_RETURN, 0, 0, _ALLOW),
)


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _confine(ours: socket.socket) -> None:
    """In the child: set the filter and hand over the file by which it asks."""
    packed = b"".join(struct.pack("HBBI", *step) for step in FILTER)
    kept = ctypes.create_string_buffer(packed, len(packed))
    program = _Program(len(FILTER), ctypes.cast(kept, ctypes.c_void_p))
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener = _libc.syscall(_SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER, ctypes.byref(program))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    socket.send_fds(ours, [b"!"], [listener])
    os.close(listener)


def main() -> None:
    """Run the command; end with its status. Each refusal is told on standard error."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(sys.argv[1:], preexec_fn=lambda: _confine(theirs))
    listener = socket.recv_fds(ours, 1, 1)[1][0]
    ended = os.pidfd_open(process.pid)
    while ended not in (ready := select.select([listener, ended], [], [])[0]):
        if listener in ready:
            _answer(listener)
    sys.exit(process.wait())


def _answer(listener: int) -> None:
    asked = array.array("B", bytes(80))
    try:
        fcntl.ioctl(listener, _RECEIVE, asked)
        number, pid = struct.unpack_from("QI", asked)
        name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        error, go_on = (0, 1) if name in ALLOWED else (-_EPERM, 0)
        if error:
            print(f"{name} was refused a user namespace", file=sys.stderr, flush=True)
        fcntl.ioctl(listener, _SEND, array.array("B", struct.pack("QqiI", number, 0, error, go_on)))
    except FileNotFoundError:  # it has ended meanwhile
        return


if __name__ == "__main__":
    main()
