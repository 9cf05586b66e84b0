"""Lab 10, Switches: VLANs, what a frame's path costs, and who gets how much of a full link."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.lab10.figures import rtt_figure as rtt_figure
from linklab.labs.lab10.figures import shares_table as shares_table
from linklab.labs.lab10.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab10.rules import RTTS as RTTS
from linklab.labs.lab10.rules import check_gateways as check_gateways
from linklab.labs.lab10.rules import check_kinds as check_kinds
from linklab.labs.lab10.rules import check_ports as check_ports
from linklab.labs.lab10.rules import check_reachability as check_reachability
from linklab.labs.lab10.rules import check_rtt_runs as check_rtt_runs
from linklab.labs.lab10.rules import check_share_runs as check_share_runs
from linklab.labs.lab10.rules import check_tag as check_tag
from linklab.labs.lab10.rules import question as question
from linklab.network import by_name as by_name
from linklab.network import path as path
from linklab.published.switches_loads import senders as senders

predict = PREDICTIONS.predict
check_predicted = PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
