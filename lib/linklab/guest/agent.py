"""Split a lab's first process in two: process 1, and the agent, which makes the lab ready and serves it.

The process splits before it loads anything large: each page of memory to which one of them writes afterwards is copied.
"""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

_RB_POWER_OFF = 0x4321FEDC


def main(options: dict[str, Any]) -> None:
    """Make the lab ready and serve it. `linklab.runtime.user_mode` writes the `options`."""
    become_init(_RB_POWER_OFF)
    _serve(options)


def become_init(reboot: int) -> None:
    """Split process 1 in two: the parent reaps orphans, and ends the lab when the child, the agent, ends.

    A guest ends by reboot(2) with the command ``reboot``.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        return
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    os.closerange(0, 2)  # only the agent may hold the channel open
    while os.wait()[0] != child:
        pass
    ctypes.CDLL(None).reboot(reboot)
    os._exit(0)


def _serve(options: dict[str, Any]) -> None:
    from linklab.guest import boot
    from linklab.guest.channel import Channel
    from linklab.guest.request_loop import RequestLoop, serve, wait_until_mature

    packages = options["packages"], options["packages_inside"]
    boot.boot_guest(options["folder"], options["reads"], options["layers"], options["library"], packages)
    line = os.open("/dev/linklab", os.O_RDWR | os.O_CLOEXEC)
    boot.exact_timers()
    boot.set_date()
    wait_until_mature()
    serve(RequestLoop(Channel(line, line, spin=True), int(options["seed"])))
