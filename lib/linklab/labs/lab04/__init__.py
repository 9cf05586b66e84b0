"""Lab 04, link latency and throughput: predictions, pings and transfers, headers, the queue of L1, ARP."""

from linklab.labs.lab04.functions import check_summary
from linklab.labs.lab04.rules import (
    LINKS,
    PING_ON_L3,
    check_arp,
    check_headers,
    check_pings,
    check_queue,
    check_queue_seen,
    check_rtt,
    check_serialisation,
    check_throughput,
    check_together,
    check_transfers,
)

__all__ = [
    "LINKS",
    "PING_ON_L3",
    "check_arp",
    "check_headers",
    "check_pings",
    "check_queue",
    "check_queue_seen",
    "check_rtt",
    "check_serialisation",
    "check_summary",
    "check_throughput",
    "check_together",
    "check_transfers",
]
