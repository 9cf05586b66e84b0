"""Measurements on a running lab: ping and iperf3, alone or several at one instant, as immutable results with units.

``ping(lab, PingFlow("h1", "h4"))``, ``tcp(lab, TcpFlow("h1", "h4", duration_s=10))``, ``udp(lab, UdpFlow(...))``, and
``at_once(lab, [...])`` for flows that start together. A tool that is missing or that says something unknown raises
`linklab.errors.MeasurementError`: nothing here takes an unread answer for loss.
"""

from linklab.measure.flows import Flow, PingFlow, TcpFlow, UdpFlow
from linklab.measure.load import load_result
from linklab.measure.results import Origin, PingResult, Result, Sample, Stream, TcpResult, UdpResult
from linklab.measure.run import AtOnce, at_once, ping, tcp, udp

__all__ = [
    "AtOnce",
    "Flow",
    "Origin",
    "PingFlow",
    "PingResult",
    "Result",
    "Sample",
    "Stream",
    "TcpFlow",
    "TcpResult",
    "UdpFlow",
    "UdpResult",
    "at_once",
    "load_result",
    "ping",
    "tcp",
    "udp",
]
