"""Lab 04, link latency and throughput: pings, transfers, ARP, and the queue of L1."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab04.figures import beside_report as beside_report
from linklab.labs.lab04.figures import queue_over_time as queue_over_time
from linklab.labs.lab04.functions import check_parsed as check_parsed
from linklab.labs.lab04.functions import check_summary as check_summary
from linklab.labs.lab04.rules import LINKS as LINKS
from linklab.labs.lab04.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab04.rules import check_counters as check_counters
from linklab.labs.lab04.rules import check_pings as check_pings
from linklab.labs.lab04.rules import check_queue_seen as check_queue_seen
from linklab.labs.lab04.rules import check_together as check_together
from linklab.labs.lab04.rules import check_transfers as check_transfers
from linklab.labs.lab04.rules import question_text as question_text
from linklab.labs.own_simpleperf import own_simpleperf as own_simpleperf

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
