"""What measurements mean: fairness, shares, and what theory expects of a network, as planned or as read back. Pure.

``way(network, "h1", "h4", state)`` is where a flow goes, with every link as it really is. Of it ``unloaded_rtt``,
``loaded_rtt``, ``full_queue_rtt``, ``tcp_throughput`` and ``udp_throughput`` give an `Expectation`: value, interval,
and why. ``experiment(network, loads, ...)`` gives all of that for loads that run at once.
"""

from linklab.analysis.comparison import Comparison, beside
from linklab.analysis.expect import (
    full_queue_rtt,
    loaded_rtt,
    tcp_throughput,
    udp_ceiling_mbps,
    udp_loss_percent,
    udp_throughput,
    unloaded_rtt,
)
from linklab.analysis.expectation import Expectation, from_baseline
from linklab.analysis.experiment import Experiment, LoadExpectation, experiment
from linklab.analysis.fairness import jain_index
from linklab.analysis.pipes import full_queue_share_ms
from linklab.analysis.sharing import LinkUse, Load, Share, loads_of, max_min_shares, utilisation
from linklab.analysis.statistics import answered, between, median, spread
from linklab.analysis.way import Way, way

__all__ = [
    "Comparison",
    "Expectation",
    "Experiment",
    "LinkUse",
    "Load",
    "LoadExpectation",
    "Share",
    "Way",
    "answered",
    "beside",
    "between",
    "experiment",
    "from_baseline",
    "full_queue_rtt",
    "full_queue_share_ms",
    "jain_index",
    "loaded_rtt",
    "loads_of",
    "max_min_shares",
    "median",
    "spread",
    "tcp_throughput",
    "udp_ceiling_mbps",
    "udp_loss_percent",
    "udp_throughput",
    "unloaded_rtt",
    "utilisation",
    "way",
]
