"""Compute what theory expects of a network, as planned or as read back, and fairness and shares of flows. Pure.

``measured_path(network, "h1", "h4", state)`` is a flow's path, with every link as it was read back. For a path
``unloaded_rtt``, ``loaded_rtt``, ``full_queue_rtt``, ``tcp_throughput`` and ``udp_throughput`` return an `Expectation`:
a value, an interval, and the source of both. ``experiment(network, loads, ...)`` returns these for loads that run
together.
"""

from linklab.analysis.concurrent_tcp import Experiment, LoadExpectation, experiment
from linklab.analysis.expectation import (
    Comparison,
    Expectation,
    answered,
    clamp,
    full_queue_rtt,
    loaded_rtt,
    tcp_throughput,
    udp_ceiling_mbps,
    udp_loss_percent,
    udp_throughput,
    unloaded_rtt,
)
from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.analysis.sharing import Load, Share, jain_index, max_min_shares
from linklab.analysis.tcp_model import full_queue_share_ms

__all__ = [
    "Comparison",
    "Expectation",
    "Experiment",
    "Load",
    "LoadExpectation",
    "MeasuredPath",
    "Share",
    "answered",
    "clamp",
    "experiment",
    "full_queue_rtt",
    "full_queue_share_ms",
    "jain_index",
    "loaded_rtt",
    "max_min_shares",
    "measured_path",
    "tcp_throughput",
    "udp_ceiling_mbps",
    "udp_loss_percent",
    "udp_throughput",
    "unloaded_rtt",
]
