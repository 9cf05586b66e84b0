"""Runs of a student's congestion controller, `controller.py`, over Linklab's own sender and receiver.

    from linklab.programs import congestion

    trace = congestion.PUBLIC[0]
    (flow,) = congestion.run("controller.py", trace)
    flow.throughput_mbps, flow.delay_p95_ms, congestion.score(flow, trace)

The controller is a class `Controller` with four methods: `on_acknowledgement`, `on_loss`, `on_timeout` and `may_fly`.
Linklab's sender (`transport`) asks it, confined, on a host of a lab of its own on virtual time, whose link follows the
trace. What became of the packets the lab's kernel has noted (`runs`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from linklab.network.traces import Bound, Trace, generated, omniscient
from linklab.programs.congestion import path, runs
from linklab.programs.congestion.runs import ControlledFlow
from linklab.programs.place import LabPlace
from linklab.programs.scenes import play_with_retry
from linklab.programs.submission import read

__all__ = ["PUBLIC", "SECONDS", "ControlledFlow", "bound", "played", "run", "score"]

SECONDS: Final = 20
"""How long a controller runs on a trace in a contest."""
PUBLIC: Final = tuple(generated(kind, 1, SECONDS) for kind in ("cellular", "satellite", "wireless"))
"""The traces that students have."""
_STALL_CPU_S: Final = 30.0
"""A run that has cost a lab so much computing makes no progress: ordinary ones cost 2 to 8 s."""


def run(file: str | Path, trace: Trace, *, seconds: float = SECONDS, copies: int = 1) -> tuple[ControlledFlow, ...]:
    """Run a controller for so many seconds, and so many copies of it side by side; return what each did.

    Raises ProgramError where there is no program, and LabError where no lab is.
    """
    program = read(Path(file))
    (flows,) = played(program.files[program.name], [trace], seconds, copies)
    return flows


def played(
    controller: bytes, traces: Sequence[Trace], seconds: float = SECONDS, copies: int = 1
) -> Iterator[tuple[ControlledFlow, ...]]:
    """Run a controller's text on one trace after the other in one lab; yield what each copy did. Raises LabError."""
    with closing(LabPlace(runs.transport_program(), path.path_of(copies), stall_cpu_s=_STALL_CPU_S)) as place:
        for trace in traces:
            record = play_with_retry(place.play, runs.scene(controller, trace, seconds, copies))
            yield runs.flows_of(record, seconds, copies)


def bound(trace: Trace, seconds: float = SECONDS) -> Bound:
    """Return what no sender can exceed on this path: that of a sender that knows the trace."""
    return omniscient(trace, path.RTT_MS, 0, 1000 * seconds)


def score(flow: ControlledFlow, trace: Trace) -> float:
    """Return how good a flow was, relative to a sender that knows the trace (`Bound.score`); -inf after trouble."""
    if flow.trouble:
        return -math.inf
    return bound(trace, flow.seconds).score(flow.throughput_mbps, flow.delay_p95_ms)
