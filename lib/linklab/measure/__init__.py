"""Measurements on a running lab: ping, iperf3 and simpleperf, alone or several at one instant, as immutable results.

``ping(lab, PingFlow("h1", "h4"))``, ``tcp(lab, TcpFlow("h1", "h4", duration_s=10))``, ``udp(lab, UdpFlow(...))``,
``simpleperf(lab, SimpleperfFlow(...))``, ``at_once(lab, [...])`` for flows that start together, and ``repeated`` for
several such runs. `verdict_on` says whether the machine was quiet enough to judge a result. A tool that is missing or
that says something unknown raises `linklab.errors.MeasurementError`: nothing here takes an unread answer for loss.
``stream(lab, VideoFlow("h1", "h2"), encoded(Clip()))`` sends a real video, ``quality`` says what its pictures are like.
``train(lab, TrainFlow("h1", "h4"))`` sends single datagrams and has the kernel's time of each arrival; a `Prober`
counts what a search sends.
"""

from linklab.measure.devices import bucket_of_one_frame
from linklab.measure.flows import Flow, PingFlow, SimpleperfFlow, TcpFlow, UdpFlow
from linklab.measure.frames import to_dataframe
from linklab.measure.load import load_result
from linklab.measure.prober import Prober
from linklab.measure.progress import Progress
from linklab.measure.repeats import Repeats, Spread, repeated
from linklab.measure.results import (
    Origin,
    PingResult,
    Result,
    Sample,
    SimpleperfResult,
    Stream,
    TcpResult,
    UdpResult,
)
from linklab.measure.run import AtOnce, at_once, ping, simpleperf, tcp, udp
from linklab.measure.stopped import MeasurementStopped
from linklab.measure.tools.packet_train import TrainFlow, TrainResult, train
from linklab.measure.tools.video import StreamResult, VideoFlow, stream
from linklab.measure.trust import Fidelity, Machine, QueueCounters, Trust, verdict_on
from linklab.measure.video_file import Clip, Video, encoded
from linklab.measure.video_quality import Quality, picture_at, quality

__all__ = [
    "AtOnce",
    "Clip",
    "Fidelity",
    "Flow",
    "Machine",
    "MeasurementStopped",
    "Origin",
    "PingFlow",
    "PingResult",
    "Prober",
    "Progress",
    "Quality",
    "QueueCounters",
    "Repeats",
    "Result",
    "Sample",
    "SimpleperfFlow",
    "SimpleperfResult",
    "Spread",
    "Stream",
    "StreamResult",
    "TcpFlow",
    "TcpResult",
    "TrainFlow",
    "TrainResult",
    "Trust",
    "UdpFlow",
    "UdpResult",
    "Video",
    "VideoFlow",
    "at_once",
    "bucket_of_one_frame",
    "encoded",
    "load_result",
    "picture_at",
    "ping",
    "quality",
    "repeated",
    "simpleperf",
    "stream",
    "tcp",
    "to_dataframe",
    "train",
    "udp",
    "verdict_on",
]
