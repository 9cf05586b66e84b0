"""Lab 03, UDP bandwidth: predictions, measurements with iperf3, the choice of a rate, a search on unknown networks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.analysis.searching import increase as increase
from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab03.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab03.rules import check_busy as check_busy
from linklab.labs.lab03.rules import check_chosen as check_chosen
from linklab.labs.lab03.rules import check_client as check_client
from linklab.labs.lab03.rules import check_drops as check_drops
from linklab.labs.lab03.rules import check_hidden as check_hidden
from linklab.labs.lab03.rules import check_overload as check_overload
from linklab.labs.lab03.unknown import check_search as check_search
from linklab.labs.lab03.unknown import check_train as check_train
from linklab.labs.lab03.unknown import random_chain as random_chain
from linklab.network import path as path
from linklab.network import payload_rate_mbps as payload_rate_mbps

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
