"""Runs as JSON data, for measurements of labs that are kept in files."""

from __future__ import annotations

from typing import Any, Final

from linklab import schema
from linklab.measure import PageResult, PingResult, QueueResult, Run, SocketsResult, TcpResult, ToolResult

_KINDS: Final[dict[str, type[ToolResult]]] = {
    "page": PageResult,
    "ping": PingResult,
    "queue": QueueResult,
    "sockets": SocketsResult,
    "tcp": TcpResult,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def load_run(data: dict[str, Any]) -> Run:
    """Return the run that `dumped` made data of."""
    results = [schema.load(_KINDS[it["measurement"]], it, it["measurement"]) for it in data["results"]]
    return Run(tuple(results), data["start_skew_ms"])


def dumped(run: Run) -> dict[str, Any]:
    """Return a run as JSON data."""
    results = [{"measurement": _NAMES[type(result)], **schema.dump(result)} for result in run.results]
    return {"start_skew_ms": run.start_skew_ms, "results": results}
