"""Run OpenFlow controllers inside a lab: any command line that starts one, or a Controller class of Mininet's."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mininet.net import Mininet
from mininet.node import Controller, OVSSwitch

from linklab.errors import LabError
from linklab.guest.listening import listening

_LISTENS_AFTER_S, _CONNECTED_AFTER_S, _STEP_S = 30.0, 30.0, 0.1
_USUAL_PORTS = (6653, 6633)
_LAST_LINES = 3


class CommandController(Controller):
    """A controller that a command line starts. It chooses its port; what it prints goes where Mininet's do."""

    def __init__(self, name: str, command_line: str, **params: Any) -> None:
        super().__init__(name, **params)
        self.command_line = command_line

    def checkListening(self) -> None:
        """Do nothing: the port is known only when the controller listens."""

    def start(self) -> None:
        """Start the controller in the lab's folder, and wait for its port. Raises `LabError` with its last words."""
        before = set(listening("self"))
        with log_of(self).open("wb") as log:
            self.process = self.popen(
                ["/bin/sh", "-c", self.command_line], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + _LISTENS_AFTER_S
        while not (ports := {port for _, port in set(listening("self")) - before}):
            if self.process.poll() is not None:
                raise LabError(f"the controller {self.command_line!r} ended at once: {last_words(self)}")
            if time.monotonic() >= deadline:
                raise LabError(
                    f"the controller {self.command_line!r} listens on no port after {_LISTENS_AFTER_S:g} s: "
                    + last_words(self)
                )
            time.sleep(_STEP_S)
        self.port = next((port for port in _USUAL_PORTS if port in ports), min(ports))

    def stop(self, *args: Any, **params: Any) -> None:
        """End the controller."""
        self.process.terminate()
        self.process.wait()
        super(Controller, self).stop(*args, **params)


def log_of(controller: Controller) -> Path:
    """Return the file of the lab with all that a controller prints, as Mininet names it."""
    return Path("/tmp", f"{controller.name}.log")


def last_words(controller: Controller) -> str:
    """Return the end of what a controller has printed, as one line."""
    try:
        said = log_of(controller).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        said = []
    return " | ".join([line.strip() for line in said if line.strip()][-_LAST_LINES:]) or "it printed nothing"


def await_connected(net: Mininet, pause: Callable[[float], object]) -> None:
    """Wait until each switch of Open vSwitch has its controller, at most for half a minute of the lab's time.

    Raises `LabError` with the first switch that has none, and the controller's last words.
    """
    waiting = [switch for switch in net.switches if isinstance(switch, OVSSwitch)]
    deadline = time.monotonic() + _CONNECTED_AFTER_S
    while waiting := [switch for switch in waiting if not switch.connected()]:
        if time.monotonic() >= deadline:
            said = " | ".join(f"{controller.name}: {last_words(controller)}" for controller in net.controllers)
            raise LabError(f"{waiting[0].name} has no connection to its controller; {said}")
        pause(_STEP_S)
