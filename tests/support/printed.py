"""What tests of tools need without a lab: captured output, and a flow on its way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linklab.measure import Flow, Origin
from linklab.measure.tool import FlowT, Job, ResultT, Tool
from linklab.network import TWO_HOSTS, expected_state

_FOLDER = Path(__file__).parents[1] / "measure/captured"


def captured(name: str) -> str:
    """One file, as it came."""
    return (_FOLDER / name).read_text("utf-8")


def job(flow: Flow, **more: Any) -> Job[Any]:
    """A flow to 10.0.5.2, port 5201, on virtual time."""
    settings = {"number": 0, "address": "10.0.5.2", "port": 5201, "seed": 1, **more}
    return Job(flow, network=expected_state(TWO_HOSTS), **settings)


def parsed(
    tool: Tool[FlowT, ResultT], flow: FlowT, origin: Origin, said: str, server_said: str = "", **more: Any
) -> ResultT:
    """What a tool makes of what client and server printed."""
    return tool.parse(job(flow, stdout=said, server_stdout=server_said, **{"status": 0, **more}), origin)


def sampled(*outputs: str) -> str:
    """What the program prints that takes samples: these outputs, a tenth of a second apart."""
    taken = [{"at_ns": (1000 + at) * 10**8, "output": output} for at, output in enumerate(outputs)]
    return json.dumps({"samples": taken})
