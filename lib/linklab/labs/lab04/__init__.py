"""Lab 04, link latency and throughput: pings, transfers, ARP, and the queue of L1."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab04.figures import beside_report, queue_over_time
from linklab.labs.lab04.functions import check_parsed, check_summary
from linklab.labs.lab04.rules import (
    LINKS,
    PREDICTIONS,
    check_counters,
    check_pings,
    check_queue_seen,
    check_together,
    check_transfers,
    question_text,
)
from linklab.labs.own_simpleperf import own_simpleperf

__all__ = [
    "LINKS",
    "PREDICTIONS",
    "beside_report",
    "check_counters",
    "check_parsed",
    "check_pings",
    "check_predicted",
    "check_queue_seen",
    "check_summary",
    "check_together",
    "check_transfers",
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
