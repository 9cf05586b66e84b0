"""Lab 09, Video: how a stream's packets look on the wire, and what loss does to the picture."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab09 import figures
from linklab.labs.lab09.figures import arrivals
from linklab.labs.lab09.rules import (
    LOSSY,
    NETWORKS,
    PREDICTIONS,
    check_bucket,
    check_close,
    check_damage,
    check_jitter,
    check_runs,
    check_watch,
)
from linklab.network import path

__all__ = [
    "LOSSY",
    "NETWORKS",
    "PREDICTIONS",
    "arrivals",
    "check_bucket",
    "check_close",
    "check_damage",
    "check_jitter",
    "check_predicted",
    "check_runs",
    "check_watch",
    "figures",
    "path",
    "predict",
    "progress",
]

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
