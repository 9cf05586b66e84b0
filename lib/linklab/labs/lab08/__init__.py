"""Lab 08, Packet size: what headers take, why first packets are too fast, and what a tunnel adds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab08.figures import data_figure as data_figure
from linklab.labs.lab08.figures import first_figure as first_figure
from linklab.labs.lab08.figures import first_table as first_table
from linklab.labs.lab08.figures import frames_figure as frames_figure
from linklab.labs.lab08.functions import check_bandwidth as check_bandwidth
from linklab.labs.lab08.functions import check_jitter as check_jitter
from linklab.labs.lab08.rules import NARROW as NARROW
from linklab.labs.lab08.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab08.rules import check_calm as check_calm
from linklab.labs.lab08.rules import check_overhead as check_overhead
from linklab.labs.lab08.rules import check_ping as check_ping
from linklab.labs.lab08.rules import check_runs as check_runs
from linklab.labs.lab08.rules import check_second as check_second
from linklab.labs.lab08.rules import check_waste as check_waste
from linklab.labs.lab08.rules import question as question
from linklab.network.catalogue import mtu_direct as mtu_direct
from linklab.network.catalogue import mtu_gre as mtu_gre

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
