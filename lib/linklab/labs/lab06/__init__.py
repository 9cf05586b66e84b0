"""Lab 06, Multiplexing: who gets how much of a shared link, how fair that is, and what waiting costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab06 import figures as figures
from linklab.labs.lab06.functions import check_jain as check_jain
from linklab.labs.lab06.functions import check_packets_in_queue as check_packets_in_queue
from linklab.labs.lab06.predictions import COMBINATIONS as COMBINATIONS
from linklab.labs.lab06.predictions import PREDICTIONS as PREDICTIONS
from linklab.labs.lab06.queues import check_half as check_half
from linklab.labs.lab06.queues import check_look as check_look
from linklab.labs.lab06.rules import check_by_hand as check_by_hand
from linklab.labs.lab06.rules import check_runs as check_runs
from linklab.labs.lab06.rules import check_seen as check_seen
from linklab.labs.lab06.rules import check_small_queue as check_small_queue
from linklab.labs.multiplexing import rates_mbps as rates_mbps
from linklab.labs.own_simpleperf import own_simpleperf as own_simpleperf

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
