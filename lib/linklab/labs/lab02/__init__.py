"""Lab 02, simpleperf: what its notebook runs; the checks of the program are `linklab.programs.simpleperf`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab02.rules import check_stream as check_stream
from linklab.labs.lab02.sends import cost_of_sends as cost_of_sends
from linklab.labs.lab02.trying import alone as alone
from linklab.labs.lab02.trying import between as between
from linklab.labs.lab02.trying import intervals as intervals
from linklab.labs.lab02.trying import loopback as loopback
from linklab.labs.lab02.trying import serving as serving
from linklab.labs.lab02.trying import total_mbps as total_mbps

progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
