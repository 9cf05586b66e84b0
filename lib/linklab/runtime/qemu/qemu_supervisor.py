"""Run QEMU, and end it when the notebook is gone, which is when standard input ends.

``qemu_supervisor.py FOLDER QEMU ARGUMENT ...``: FOLDER, which holds the sockets, is removed at the end. It imports the
standard library alone, so that it starts fast.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Wait for the end of QEMU or of the notebook, whichever is first."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    die = _die_with_parent if sys.platform == "linux" else None
    qemu = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, preexec_fn=die, start_new_session=True)
    threading.Thread(target=_await_end, args=(qemu,), daemon=True).start()
    status = qemu.wait()
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    os._exit(status if status >= 0 else 1)


def _await_end(qemu: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 4096):
        pass
    # not QEMU's process alone: a child that bubblewrap has just made dies with it only once it has asked for that
    with contextlib.suppress(OSError):  # it has just ended by itself
        os.killpg(qemu.pid, signal.SIGKILL)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
