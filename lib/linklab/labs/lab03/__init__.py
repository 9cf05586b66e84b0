"""Lab 03, UDP bandwidth: predictions, measurements with iperf3, the choice of a rate, a search on unknown networks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.analysis.searching import increase
from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab03.rules import (
    PREDICTIONS,
    check_busy,
    check_chosen,
    check_client,
    check_drops,
    check_hidden,
    check_overload,
)
from linklab.labs.lab03.unknown import check_search, check_train
from linklab.network import path, payload_rate_mbps
from linklab.network.random_chain import random_chain

__all__ = [
    "PREDICTIONS",
    "check_busy",
    "check_chosen",
    "check_client",
    "check_drops",
    "check_hidden",
    "check_overload",
    "check_predicted",
    "check_search",
    "check_train",
    "increase",
    "path",
    "payload_rate_mbps",
    "predict",
    "progress",
    "random_chain",
]

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
