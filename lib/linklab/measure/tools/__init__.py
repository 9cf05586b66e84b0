"""The tools that measure, one module each, and which of them carries out a flow.

A new tool is one module here and one line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.tool import Tool
from linklab.measure.tools.constant_rate import CONSTANT_RATE
from linklab.measure.tools.cut import CUTS
from linklab.measure.tools.echo import ECHO
from linklab.measure.tools.iperf2 import IPERF2
from linklab.measure.tools.iperf3 import TCP, UDP
from linklab.measure.tools.packet_train import PACKET_TRAIN
from linklab.measure.tools.pages import PAGES
from linklab.measure.tools.ping import PING
from linklab.measure.tools.queues import QUEUES
from linklab.measure.tools.simpleperf import SIMPLEPERF
from linklab.measure.tools.sockets import SOCKETS
from linklab.measure.tools.varying import VARYING
from linklab.measure.tools.video import VIDEO
from linklab.measure.tools.web import WEB

TOOLS: Final[tuple[Tool[Any, Any], ...]] = (
    PING,
    TCP,
    UDP,
    IPERF2,
    SIMPLEPERF,
    PACKET_TRAIN,
    ECHO,
    CONSTANT_RATE,
    VIDEO,
    SOCKETS,
    QUEUES,
    PAGES,
    CUTS,
    VARYING,
    WEB,
)
_BY_FLOW: Final[Mapping[type, Tool[Any, Any]]] = {tool.flow: tool for tool in TOOLS}


def tool_of(flow: Flow) -> Tool[Any, Any]:
    """Return the tool that carries out a flow. Raises MeasurementError for what is no flow."""
    if type(flow) not in _BY_FLOW:
        known = ", ".join(kind.__name__ for kind in _BY_FLOW)
        raise MeasurementError(f"a {type(flow).__name__} is no flow: give one of {known}")
    return _BY_FLOW[type(flow)]
