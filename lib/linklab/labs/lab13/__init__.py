"""Lab 13, Reliable transport: stop-and-wait, timeouts and a window, in a program of the student's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.grade.reliable.place import the_network
from linklab.labs import not_here
from linklab.labs.lab13.figures import ladder, shares_figure
from linklab.labs.lab13.functions import check_rto
from linklab.labs.lab13.rules import (
    PREDICTIONS,
    check_bits,
    check_karn,
    check_netem,
    check_numbers,
    check_shares,
    check_stop_and_wait,
    check_timeouts,
    check_window,
    loss_percent,
    question,
)
from linklab.labs.lab13.trying import watch

__all__ = [
    "PREDICTIONS",
    "check_bits",
    "check_karn",
    "check_netem",
    "check_numbers",
    "check_predicted",
    "check_rto",
    "check_shares",
    "check_stop_and_wait",
    "check_timeouts",
    "check_window",
    "ladder",
    "loss_percent",
    "predict",
    "progress",
    "question",
    "shares_figure",
    "the_network",
    "watch",
]

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
