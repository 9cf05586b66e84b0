"""Lab 05, path latency and throughput: pings, routes and transfers, TCP's window, the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab04.figures import beside_report, frames_dropped, queue_over_time
from linklab.labs.lab05.rules import (
    PATHS,
    PREDICTIONS,
    check_after_loss,
    check_bdp,
    check_pings,
    check_questions,
    check_reported,
    check_route,
    check_together,
    check_transfers,
    check_windows,
    question_text,
)
from linklab.labs.own_simpleperf import own_simpleperf

__all__ = [
    "PATHS",
    "PREDICTIONS",
    "beside_report",
    "check_after_loss",
    "check_bdp",
    "check_pings",
    "check_predicted",
    "check_questions",
    "check_reported",
    "check_route",
    "check_together",
    "check_transfers",
    "check_windows",
    "frames_dropped",
    "own_simpleperf",
    "predict",
    "progress",
    "question_text",
    "queue_over_time",
]

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
