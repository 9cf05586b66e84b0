"""Lab 01, The router network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.figures import link_table, subnet_table, without_addresses
from linklab.labs.lab01.rules import (
    PREDICTIONS,
    check_addresses,
    check_forwarding,
    check_jump,
    check_links,
    check_nodes,
    check_plan,
    check_prefix,
    check_reachability,
    check_routes,
    check_rtt,
)

__all__ = [
    "PREDICTIONS",
    "check_addresses",
    "check_forwarding",
    "check_jump",
    "check_links",
    "check_nodes",
    "check_plan",
    "check_predicted",
    "check_prefix",
    "check_reachability",
    "check_routes",
    "check_rtt",
    "link_table",
    "predict",
    "progress",
    "subnet_table",
    "without_addresses",
]

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
