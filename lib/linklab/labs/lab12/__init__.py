"""Lab 12, Bufferbloat and queue management: pings and pages beside an upload, by what a queue does with its packets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab12 import figures as figures
from linklab.labs.lab12.functions import check_limit as check_limit
from linklab.labs.lab12.predictions import PREDICTIONS as PREDICTIONS
from linklab.labs.lab12.predictions import the_network as the_network
from linklab.labs.lab12.predictions import unseen as unseen
from linklab.labs.lab12.rules import APART as APART
from linklab.labs.lab12.rules import ONE_QUEUE as ONE_QUEUE
from linklab.labs.lab12.rules import check_apart as check_apart
from linklab.labs.lab12.rules import check_drops as check_drops
from linklab.labs.lab12.rules import check_ecn as check_ecn
from linklab.labs.lab12.rules import check_finale as check_finale
from linklab.labs.lab12.rules import check_long as check_long
from linklab.labs.lab12.rules import check_one_queue as check_one_queue
from linklab.labs.lab12.rules import check_turns as check_turns

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
