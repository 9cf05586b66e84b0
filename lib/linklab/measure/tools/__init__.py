"""The tools that measure, one module each, and which of them carries out a flow or has written a result.

A new tool is one module here and one line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.measure.codec import rebuilt
from linklab.measure.flows import Flow
from linklab.measure.results import Result, Run
from linklab.measure.tool import Tool
from linklab.measure.tools.constant_rate import CONSTANT_RATE
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
)
_BY_FLOW: Final[Mapping[type, Tool[Any, Any]]] = {tool.flow: tool for tool in TOOLS}
_BY_KIND: Final[Mapping[str, type[Result]]] = {tool.result.KIND: tool.result for tool in TOOLS}
_FIRST_VERSION: Final = 1


def tool_of(flow: Flow) -> Tool[Any, Any]:
    """Return the tool that carries out a flow. Raises MeasurementError for what is no flow."""
    if type(flow) not in _BY_FLOW:
        known = ", ".join(kind.__name__ for kind in _BY_FLOW)
        raise MeasurementError(f"a {type(flow).__name__} is no flow: give one of {known}")
    return _BY_FLOW[type(flow)]


def load_result(data: Any) -> Result:
    """Return the result that ``to_json`` wrote, also that of an earlier version, without what was not noted then.

    Raises MeasurementError for another kind, version or shape of data.
    """
    kind, version, fields = _opened(data)
    if not isinstance(kind, str) or kind not in _BY_KIND:
        raise MeasurementError(f"a measurement {kind!r} is unknown: it is one of {', '.join(_BY_KIND)}")
    newest = _BY_KIND[kind].VERSION
    _refuse_version(kind, version, newest)
    if version == newest:
        result: Result = rebuilt(_BY_KIND[kind], fields, kind, complete=True)
    else:
        result = rebuilt(_BY_KIND[kind], _with_counters_in_origin(fields), kind, complete=False)
    return result


def load_run(data: Any) -> Run:
    """Return the run that ``Run.to_json`` wrote. Raises MeasurementError as `load_result`."""
    kind, version, fields = _opened(data)
    if kind != Run.KIND:
        raise MeasurementError(f"a measurement {kind!r} is no run of several flows: read it with load_result")
    _refuse_version(kind, version, Run.VERSION)
    try:
        results = tuple(load_result(each) for each in fields["results"])
        skew_ms, interrupted = fields["start_skew_ms"], fields["interrupted"]
    except (KeyError, TypeError) as wrong:
        raise MeasurementError(f"{kind} is damaged: {wrong}") from None
    return Run(
        results,
        rebuilt(float, skew_ms, f"{kind}.start_skew_ms", complete=True),
        rebuilt(bool, interrupted, f"{kind}.interrupted", complete=True),
    )


def _with_counters_in_origin(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a result of an earlier version with the queues' counters where they stand today."""
    seen, origin = fields.get("fidelity"), fields.get("origin")
    if not isinstance(seen, dict) or not isinstance(origin, dict):
        return fields
    counters = {name: seen[name] for name in ("queues", "reordered_packets") if name in seen}
    return {**fields, "origin": {**origin, **counters}}


def _opened(data: Any) -> tuple[Any, Any, dict[str, Any]]:
    if not isinstance(data, dict) or "measurement" not in data:
        raise MeasurementError("this is not a measurement of Linklab: it has no key 'measurement'")
    fields = dict(data)
    return fields.pop("measurement"), fields.pop("version", None), fields


def _refuse_version(kind: str, version: Any, newest: int) -> None:
    if version not in range(_FIRST_VERSION, newest + 1) or isinstance(version, bool):
        raise MeasurementError(
            f"this {kind} measurement has version {version}, and this Linklab reads {_FIRST_VERSION} to {newest}: "
            "use the Linklab that wrote it"
        )
