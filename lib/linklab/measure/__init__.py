"""Measurements on a running lab, by one of several tools, alone or many at one instant, as immutable results.

``run(lab, PingFlow("h1", "h4"))`` carries out one flow, ``run_together(lab, [flow, ...])`` several that start together,
``repeated(lab, [flow, ...])`` the same several times. What is measured says the flow: `PingFlow` (ping), `TcpFlow` and
`UdpFlow` (iperf3), `Iperf2Flow` (UDP by iperf 2), `SimpleperfFlow` (the course's own), `TrainFlow` (single datagrams,
and the kernel's time of each arrival), `EchoFlow` (round trips of UDP), `ConstantRateFlow` (datagrams at exact
instants), `VideoFlow` (a real video), `SocketsFlow` (what a node's TCP connections say of themselves), `QueueFlow`
(what waits in a queue), `PageFlow` (web pages, one after another), `WebFlow` (a page with objects over TLS, by each
version of HTTP). A `Cut` among the flows cuts a cable at an instant, and heals it; a `Varying` has a link follow a
trace (`linklab.network.traces`). `Events` say what happened in a recorded run, and why. A tool that is missing, or
output that cannot be parsed, raises `linklab.errors.MeasurementError`; it is never counted as loss.
"""

from __future__ import annotations

from linklab.measure.capture_files import Capture
from linklab.measure.captures import capture, layers
from linklab.measure.devices import bucket_of_one_frame, moderated
from linklab.measure.events.table import Event, EventKind, Events
from linklab.measure.flows import Flow, FlowOf
from linklab.measure.prober import Probe, Prober
from linklab.measure.recordings import Recording, recorded
from linklab.measure.repeats import Repeats, Spread, repeated
from linklab.measure.results import (
    MeasurementStopped,
    Origin,
    QueueCounters,
    Run,
    Sample,
    Stream,
    ToolResult,
)
from linklab.measure.runner import run, run_together
from linklab.measure.tools.constant_rate import ConstantRateFlow, ConstantRateResult
from linklab.measure.tools.cut import Cut, CutResult
from linklab.measure.tools.echo import EchoFlow, EchoResult
from linklab.measure.tools.iperf2 import Iperf2Flow, Iperf2Result
from linklab.measure.tools.iperf3 import TcpFlow, TcpResult, UdpFlow, UdpResult
from linklab.measure.tools.packet_train import TrainFlow, TrainResult
from linklab.measure.tools.pages import PageFlow, PageResult
from linklab.measure.tools.ping import PingFlow, PingResult
from linklab.measure.tools.queues import QueueFlow, QueueResult
from linklab.measure.tools.simpleperf import SimpleperfFlow, SimpleperfResult
from linklab.measure.tools.sockets import SocketsFlow, SocketsResult
from linklab.measure.tools.varying import Varying, VaryingResult
from linklab.measure.tools.video import VideoFlow, VideoResult
from linklab.measure.tools.web import PageVisit, WebFlow, WebObject, WebResult
from linklab.measure.video_file import Clip, Video, encoded
from linklab.measure.video_quality import Quality, picture_at, quality

__all__ = [
    "Capture",
    "Clip",
    "ConstantRateFlow",
    "ConstantRateResult",
    "Cut",
    "CutResult",
    "EchoFlow",
    "EchoResult",
    "Event",
    "EventKind",
    "Events",
    "Flow",
    "FlowOf",
    "Iperf2Flow",
    "Iperf2Result",
    "MeasurementStopped",
    "Origin",
    "PageFlow",
    "PageResult",
    "PageVisit",
    "PingFlow",
    "PingResult",
    "Probe",
    "Prober",
    "Quality",
    "QueueCounters",
    "QueueFlow",
    "QueueResult",
    "Recording",
    "Repeats",
    "Run",
    "Sample",
    "SimpleperfFlow",
    "SimpleperfResult",
    "SocketsFlow",
    "SocketsResult",
    "Spread",
    "Stream",
    "TcpFlow",
    "TcpResult",
    "ToolResult",
    "TrainFlow",
    "TrainResult",
    "UdpFlow",
    "UdpResult",
    "Varying",
    "VaryingResult",
    "Video",
    "VideoFlow",
    "VideoResult",
    "WebFlow",
    "WebObject",
    "WebResult",
    "bucket_of_one_frame",
    "capture",
    "encoded",
    "layers",
    "moderated",
    "picture_at",
    "quality",
    "recorded",
    "repeated",
    "run",
    "run_together",
]
