"""Lab 11, Congestion control: windows, queues and round trips of Reno, CUBIC and BBR, alone and together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab11 import figures as figures
from linklab.labs.lab11.functions import check_look as check_look
from linklab.labs.lab11.functions import check_period as check_period
from linklab.labs.lab11.functions import check_read as check_read
from linklab.labs.lab11.predictions import PREDICTIONS as PREDICTIONS
from linklab.labs.lab11.predictions import QUEUES as QUEUES
from linklab.labs.lab11.predictions import the_network as the_network
from linklab.labs.lab11.rules import CONTROLS as CONTROLS
from linklab.labs.lab11.rules import check_controls as check_controls
from linklab.labs.lab11.rules import check_queues as check_queues
from linklab.labs.lab11.rules import check_seen as check_seen
from linklab.labs.lab11.rules import check_shapes as check_shapes
from linklab.labs.lab11.rules import check_shares as check_shares
from linklab.labs.lab11.rules import check_together as check_together

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
