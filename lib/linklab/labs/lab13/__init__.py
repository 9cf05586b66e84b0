"""Lab 13, Reliable transport: stop-and-wait, timeouts and a window, in a program of the student's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab13.figures import ladder as ladder
from linklab.labs.lab13.figures import shares_figure as shares_figure
from linklab.labs.lab13.functions import check_rto as check_rto
from linklab.labs.lab13.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab13.rules import check_bits as check_bits
from linklab.labs.lab13.rules import check_karn as check_karn
from linklab.labs.lab13.rules import check_netem as check_netem
from linklab.labs.lab13.rules import check_numbers as check_numbers
from linklab.labs.lab13.rules import check_shares as check_shares
from linklab.labs.lab13.rules import check_stop_and_wait as check_stop_and_wait
from linklab.labs.lab13.rules import check_timeouts as check_timeouts
from linklab.labs.lab13.rules import check_window as check_window
from linklab.labs.lab13.rules import loss_percent as loss_percent
from linklab.labs.lab13.rules import question as question
from linklab.labs.lab13.trying import watch as watch
from linklab.programs.reliable.place import the_network as the_network

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
