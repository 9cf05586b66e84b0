"""Runs of a student's congestion controller, `controller.py`, over Linklab's own sender and receiver.

    from linklab.programs import congestion

    run = congestion.run("controller.py")
    run.flows[0].throughput_mbps, run.flows[0].delay_p95_ms

The controller is a class `Controller` with four methods: `on_acknowledgement`, `on_loss`, `on_timeout` and `may_fly`.
Linklab's sender (`transport`) asks it, confined, on a host of a lab of its own on virtual time. What became of the
packets the lab's kernel has noted (`runs`).
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

from linklab.programs.congestion import path, runs
from linklab.programs.congestion.runs import Flow
from linklab.programs.place import LabPlace
from linklab.programs.scenes import play_with_retry
from linklab.programs.submission import read

__all__ = ["Flow", "run"]

_STALL_CPU_S: Final = 30.0
"""A run that has cost a lab so much computing makes no progress: ordinary ones cost 2 to 8 s."""


def run(file: str | Path, *, seconds: float = 20.0, copies: int = 1) -> tuple[Flow, ...]:
    """Run a controller for so many seconds, and so many copies of it side by side; return what each did.

    Raises ProgramError where there is no program, and LabError where no lab is.
    """
    program = read(Path(file))
    controller = program.files[program.name]
    with closing(LabPlace(runs.transport_program(), path.path_of(copies), stall_cpu_s=_STALL_CPU_S)) as place:
        record = play_with_retry(place.play, runs.scene(controller, seconds, copies))
    return runs.flows_of(record, seconds, copies)
