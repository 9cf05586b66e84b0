"""Lab 10, Switches: VLANs, what a frame's path costs, and who gets how much of a full link."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab10.figures import rtt_figure, shares_table
from linklab.labs.lab10.rules import (
    PREDICTIONS,
    RTTS,
    check_gateways,
    check_kinds,
    check_ports,
    check_reachability,
    check_rtt_runs,
    check_share_runs,
    check_tag,
    question,
)
from linklab.network import by_name, path
from linklab.published.switches_loads import senders

__all__ = [
    "PREDICTIONS",
    "RTTS",
    "by_name",
    "check_gateways",
    "check_kinds",
    "check_ports",
    "check_predicted",
    "check_reachability",
    "check_rtt_runs",
    "check_share_runs",
    "check_tag",
    "path",
    "predict",
    "progress",
    "question",
    "rtt_figure",
    "senders",
    "shares_table",
]

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
