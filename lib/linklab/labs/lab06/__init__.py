"""Lab 06, Multiplexing: who gets how much of a shared link, how fair that is, and what waiting costs."""

from linklab.labs.lab06.functions import check_jain, check_packets_in_queue
from linklab.labs.lab06.queues import check_new_networks, check_new_rtt, check_new_runs
from linklab.labs.lab06.rules import (
    ASKED,
    COMBINATIONS,
    check_bottlenecks,
    check_fairness,
    check_full_rtt,
    check_questions,
    check_queueing,
    check_runs,
    check_shares,
)

__all__ = [
    "ASKED",
    "COMBINATIONS",
    "check_bottlenecks",
    "check_fairness",
    "check_full_rtt",
    "check_jain",
    "check_new_networks",
    "check_new_rtt",
    "check_new_runs",
    "check_packets_in_queue",
    "check_questions",
    "check_queueing",
    "check_runs",
    "check_shares",
]
