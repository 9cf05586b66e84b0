"""Lab 00, Start here: two hosts and one link."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab00.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab00.rules import check_measured_rtt as check_measured_rtt
from linklab.labs.lab00.rules import check_measured_throughput as check_measured_throughput
from linklab.labs.lab00.rules import check_network as check_network
from linklab.labs.lab00.rules import check_queue as check_queue

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
