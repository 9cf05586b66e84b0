"""Lab 02, simpleperf: what its notebook runs; the checks of the program are `linklab.grade.simpleperf`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab02.rules import check_stream
from linklab.labs.lab02.sends import cost_of_sends
from linklab.labs.lab02.trying import alone, between, intervals, loopback, serving, total_mbps

__all__ = [
    "alone",
    "between",
    "check_stream",
    "cost_of_sends",
    "intervals",
    "loopback",
    "progress",
    "serving",
    "total_mbps",
]

progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
