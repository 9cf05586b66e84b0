"""A student's own OpenFlow controller: an application of os-ken that runs in the lab, confined as programs are.

`start_controller` starts it and waits for the switches, `rules` reads a switch's flow table as data.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.measure.tool import last_line
from linklab.network import flow_tables
from linklab.network.flow_tables import FlowRule
from linklab.programs.engine import in_lab
from linklab.runtime import bwrap

if TYPE_CHECKING:
    from linklab.lab import Lab
    from linklab.program import Program

PORT: Final = 6653
"""OpenFlow's TCP port, by IANA. Switches of a lab with ``controller="remote"`` try it until somebody answers."""
_FOLDER: Final = "/run/controller"
_LOG: Final = "/run/controller.log"
_SHOWS: Final = "ovs-vsctl --bare --columns=is_connected list Controller"
_CONNECTED_AFTER_S: Final = 30.0
_STEP_S: Final = 0.1
_FRAME: Final = re.compile(rf'File "{bwrap.HOME}/([^"]+)", line (\d+)')
_ERROR: Final = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration)\b.*)$", re.MULTILINE)


class RunningController:
    """A controller in a lab. ``name`` is its file's name."""

    def __init__(self, lab: Lab, program: Program, name: str) -> None:
        self._lab, self._program, self.name = lab, program, name

    @property
    def running(self) -> bool:
        """Whether its process still runs."""
        return self._program.poll() is None

    @property
    def output(self) -> str:
        """What it has printed so far, tracebacks of its handlers included: the first 1,000,000 bytes."""
        return self._lab.read_file(_LOG).decode(errors="replace")

    @property
    def problem(self) -> str:
        """The last exception that its code raised, in one line with the line of the code; empty if there is none.

        os-ken prints the exceptions of an application's handlers and goes on.
        """
        return _problem(self.output)

    def stop(self) -> None:
        """End it. What it has written into flow tables stays there."""
        if self.running:
            self._program.terminate()

    def __repr__(self) -> str:
        state = "runs" if self.running else f"ended with {self._program.returncode}"
        return f"<controller {self.name} {state}{': ' * bool(self.problem)}{self.problem}>"


def start_controller(lab: Lab, source: str | Path, name: str = "controller.py") -> RunningController:
    """Start a controller in a lab that was started with ``controller="remote"``; wait until all switches have it.

    `source` is the code as a text, or the path of its file. Only one controller can run at a time.

    Raises `LabError` with the controller's own last error where it ends at once, or where a switch does not connect.
    """
    if isinstance(source, Path):
        name, source = source.name, source.read_text()
    if not _connections(lab):
        raise LabError('no switch here looks for a controller: start the lab with switch="ovs", controller="remote"')
    if lab[lab_api.ROOT].cmd(f"ss -Hltn sport = :{PORT}").strip():
        raise LabError("a controller runs already: end it with stop() first")
    while "true" in _connections(lab):  # Open vSwitch notices the end of an earlier one some time later
        lab.sleep(_STEP_S)
    encoded = {name: base64.b64encode(source.encode()).decode()}
    words = ["/usr/bin/python3", "/usr/bin/osken-manager", "--ofp-tcp-listen-port", str(PORT), name]
    confined = lab.process.call(in_lab.confined_words, _FOLDER, encoded, words, _LOG)
    controller = RunningController(lab, lab[lab_api.ROOT].popen(confined), name)
    deadline_s = lab.now() + _CONNECTED_AFTER_S
    while "false" in _connections(lab):
        said = controller.problem or _last_words(controller.output)
        if not controller.running:
            raise LabError(f"{name} ended at once: {said}")
        if lab.now() > deadline_s:
            controller.stop()
            raise LabError(f"not all switches have a connection to {name} after {_CONNECTED_AFTER_S:g} s: {said}")
        lab.sleep(_STEP_S)
    lab.sleep(_STEP_S)  # for what it writes into the tables when a switch joins
    return controller


def rules(lab: Lab, switch: str) -> tuple[FlowRule, ...]:
    """Return a switch's flow table, the highest priority first.

    Raises `LabError` where there is no such switch of Open vSwitch.
    """
    done = lab[switch].run(f"{flow_tables.DUMP} {switch}")
    if done.returncode:
        raise LabError(f"{switch} has no flow table to read: {_last_words(done.output)}")
    return flow_tables.read_rules(done.output)


def _connections(lab: Lab) -> list[str]:
    """Return for each switch that looks for a controller whether it has one: "true" or "false"."""
    done = lab[lab_api.ROOT].run(_SHOWS)
    return done.output.split() if done.returncode == 0 else []


def _problem(output: str) -> str:
    begin = output.rfind("Traceback (most recent call last)")
    if begin < 0:
        return ""
    frames = list(_FRAME.finditer(output))  # an exception that Python ignores, as after a fork, has none
    error = _ERROR.search(output, frames[-1].end() if frames else begin)
    said = error[1].strip() if error else _last_words(output)
    return f"line {frames[-1][2]} of {frames[-1][1]}: {said}" if frames else said


def _last_words(output: str) -> str:
    return last_line(output)[:200] or "it printed nothing"
