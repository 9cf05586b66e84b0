"""The tools that measure, one module each, and which of them carries out a flow or has written a result.

A new tool is one module here and one line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.results import VERSION, Run, ToolResult
from linklab.measure.tool import Tool
from linklab.measure.tools.constant_rate import CONSTANT_RATE
from linklab.measure.tools.cut import CUTS
from linklab.measure.tools.echo import ECHO
from linklab.measure.tools.iperf3 import TCP, UDP
from linklab.measure.tools.packet_train import PACKET_TRAIN
from linklab.measure.tools.pages import PAGES
from linklab.measure.tools.ping import PING
from linklab.measure.tools.queues import QUEUES
from linklab.measure.tools.simpleperf import SIMPLEPERF
from linklab.measure.tools.sockets import SOCKETS
from linklab.measure.tools.video import VIDEO

TOOLS: Final[tuple[Tool[Any, Any], ...]] = (
    PING,
    TCP,
    UDP,
    SIMPLEPERF,
    PACKET_TRAIN,
    ECHO,
    CONSTANT_RATE,
    VIDEO,
    SOCKETS,
    QUEUES,
    PAGES,
    CUTS,
)
_BY_FLOW: Final[Mapping[type, Tool[Any, Any]]] = {tool.flow: tool for tool in TOOLS}
_BY_KIND: Final[Mapping[str, type[ToolResult]]] = {tool.result.KIND: tool.result for tool in TOOLS}


def tool_of(flow: Flow) -> Tool[Any, Any]:
    """Return the tool that carries out a flow. Raises MeasurementError for what is no flow."""
    if type(flow) not in _BY_FLOW:
        known = ", ".join(kind.__name__ for kind in _BY_FLOW)
        raise MeasurementError(f"a {type(flow).__name__} is no flow: give one of {known}")
    return _BY_FLOW[type(flow)]


def load_result(data: Any) -> ToolResult:
    """Return the result that ``to_json`` wrote.

    Raises MeasurementError for another kind, version or shape of data.
    """
    kind = _kind_of(data, _BY_KIND)
    return schema.load(_BY_KIND[kind], data, kind)


def load_run(data: Any) -> Run:
    """Return the run that ``Run.to_json`` wrote. Raises MeasurementError as `load_result`."""
    kind = _kind_of(data, [Run.KIND])
    stored = schema.load(_StoredRun, data, kind)
    return Run(tuple(map(load_result, stored.results)), stored.start_skew_ms, stored.interrupted)


@dataclass(frozen=True)
class _Head:
    """What the JSON form of each measurement has."""

    measurement: str
    version: int


@dataclass(frozen=True)
class _StoredRun:
    results: tuple[dict[str, Any], ...]
    start_skew_ms: float
    interrupted: bool


def _kind_of(data: Any, known: Collection[str]) -> str:
    """Return what kind of measurement it is. Raises MeasurementError for none of these, and for another version."""
    head = schema.load(_Head, data, "the measurement")
    if head.measurement not in known:
        raise MeasurementError(f"a measurement {head.measurement!r} is not read here: give {', '.join(known)}")
    if head.version != VERSION:
        raise MeasurementError(
            f"this {head.measurement} measurement has version {head.version}, and this Linklab reads {VERSION}: "
            "use the Linklab that wrote it"
        )
    return head.measurement
