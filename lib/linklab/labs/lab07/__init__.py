"""Lab 07, Parallel connections: what more connections get, and what is fair then."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab07 import figures as figures
from linklab.labs.lab07.rules import CONNECTIONS as CONNECTIONS
from linklab.labs.lab07.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab07.rules import check_connections as check_connections
from linklab.labs.lab07.rules import check_experiment as check_experiment
from linklab.labs.lab07.rules import check_meaning as check_meaning
from linklab.labs.lab07.rules import check_parts as check_parts
from linklab.labs.lab07.rules import check_run as check_run
from linklab.labs.multiplexing import mean_connections_mbps as mean_connections_mbps
from linklab.labs.multiplexing import own_parallel_simpleperf as own_parallel_simpleperf
from linklab.labs.multiplexing import rates_mbps as rates_mbps

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
