"""Lab 05, path latency and throughput: pings, routes and transfers, TCP's window, the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab04.figures import beside_report as beside_report
from linklab.labs.lab04.figures import frames_dropped as frames_dropped
from linklab.labs.lab04.figures import queue_over_time as queue_over_time
from linklab.labs.lab05.rules import PATHS as PATHS
from linklab.labs.lab05.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab05.rules import check_after_loss as check_after_loss
from linklab.labs.lab05.rules import check_bdp as check_bdp
from linklab.labs.lab05.rules import check_pings as check_pings
from linklab.labs.lab05.rules import check_questions as check_questions
from linklab.labs.lab05.rules import check_reported as check_reported
from linklab.labs.lab05.rules import check_route as check_route
from linklab.labs.lab05.rules import check_together as check_together
from linklab.labs.lab05.rules import check_transfers as check_transfers
from linklab.labs.lab05.rules import check_windows as check_windows
from linklab.labs.lab05.rules import question_text as question_text
from linklab.labs.own_simpleperf import own_simpleperf as own_simpleperf

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
