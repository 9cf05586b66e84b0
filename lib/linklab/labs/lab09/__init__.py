"""Lab 09, Video: how a stream's packets look on the wire, and what loss does to the picture."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab09 import figures as figures
from linklab.labs.lab09.figures import arrivals as arrivals
from linklab.labs.lab09.rules import LOSSY as LOSSY
from linklab.labs.lab09.rules import NETWORKS as NETWORKS
from linklab.labs.lab09.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab09.rules import check_bucket as check_bucket
from linklab.labs.lab09.rules import check_close as check_close
from linklab.labs.lab09.rules import check_damage as check_damage
from linklab.labs.lab09.rules import check_jitter as check_jitter
from linklab.labs.lab09.rules import check_runs as check_runs
from linklab.labs.lab09.rules import check_watch as check_watch
from linklab.network import path as path

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
