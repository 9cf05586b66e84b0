"""The tools that measure, one module each, and which of them carries out a flow or has written a result.

A new tool is one module here and one line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.results import QueueCounters, Run, ToolResult
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
_FIRST_VERSION: Final = 1


def tool_of(flow: Flow) -> Tool[Any, Any]:
    """Return the tool that carries out a flow. Raises MeasurementError for what is no flow."""
    if type(flow) not in _BY_FLOW:
        known = ", ".join(kind.__name__ for kind in _BY_FLOW)
        raise MeasurementError(f"a {type(flow).__name__} is no flow: give one of {known}")
    return _BY_FLOW[type(flow)]


def load_result(data: Any) -> ToolResult:
    """Return the result that ``to_json`` wrote, also that of an earlier version, without what was not noted then.

    Raises MeasurementError for another kind, version or shape of data.
    """
    kind = _kind_of(data, {kind: result.VERSION for kind, result in _BY_KIND.items()})
    result = schema.load(_BY_KIND[kind], data, kind)
    older = schema.load(_BeforeVersion3, data, kind).fidelity
    if older is None:
        return result
    counted = replace(result.origin, queues=older.queues, reordered_packets=older.reordered_packets)
    return replace(result, origin=counted)


def load_run(data: Any) -> Run:
    """Return the run that ``Run.to_json`` wrote. Raises MeasurementError as `load_result`."""
    kind = _kind_of(data, {Run.KIND: Run.VERSION})
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


@dataclass(frozen=True)
class _Fidelity:
    queues: tuple[QueueCounters, ...] = ()
    reordered_packets: int = 0


@dataclass(frozen=True)
class _BeforeVersion3:
    """Where results of versions 1 and 2 have the counters of queues."""

    fidelity: _Fidelity | None = None


def _kind_of(data: Any, newest: Mapping[str, int]) -> str:
    """Return what kind of measurement it is. Raises MeasurementError for none of these, and for another version."""
    head = schema.load(_Head, data, "the measurement")
    if head.measurement not in newest:
        raise MeasurementError(f"a measurement {head.measurement!r} is not read here: give {', '.join(newest)}")
    if not _FIRST_VERSION <= head.version <= newest[head.measurement]:
        raise MeasurementError(
            f"this {head.measurement} measurement has version {head.version}, and this Linklab reads {_FIRST_VERSION} "
            f"to {newest[head.measurement]}: use the Linklab that wrote it"
        )
    return head.measurement
