"""Lab 08, Packet size: what headers take, why first packets are too fast, and what a tunnel adds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab08.figures import data_figure, first_figure, first_table, frames_figure
from linklab.labs.lab08.functions import check_bandwidth, check_jitter
from linklab.labs.lab08.rules import (
    NARROW,
    PREDICTIONS,
    check_calm,
    check_overhead,
    check_ping,
    check_runs,
    check_second,
    check_waste,
    question,
)
from linklab.network.mtu_testbeds import mtu_direct, mtu_gre

__all__ = [
    "NARROW",
    "PREDICTIONS",
    "check_bandwidth",
    "check_calm",
    "check_jitter",
    "check_overhead",
    "check_ping",
    "check_predicted",
    "check_runs",
    "check_second",
    "check_waste",
    "data_figure",
    "first_figure",
    "first_table",
    "frames_figure",
    "mtu_direct",
    "mtu_gre",
    "predict",
    "progress",
    "question",
]

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
