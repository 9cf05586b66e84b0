"""Lab 05, path latency and throughput: predictions, pings and transfers, pipes and queues, the report."""

from linklab.labs.lab05.rules import (
    LOADED,
    PATHS,
    check_after_loss,
    check_bdp,
    check_bottlenecks,
    check_loaded_prediction,
    check_pings,
    check_queue_seen,
    check_report,
    check_room,
    check_rtt,
    check_throughput,
    check_together,
    check_tools,
    check_transfers,
)

__all__ = [
    "LOADED",
    "PATHS",
    "check_after_loss",
    "check_bdp",
    "check_bottlenecks",
    "check_loaded_prediction",
    "check_pings",
    "check_queue_seen",
    "check_report",
    "check_room",
    "check_rtt",
    "check_throughput",
    "check_together",
    "check_tools",
    "check_transfers",
]
