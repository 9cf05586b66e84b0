"""Lab 01, The router network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linklab.grade.progress import progress as _progress
from linklab.labs import not_here
from linklab.labs.figures import link_table as link_table
from linklab.labs.figures import subnet_table as subnet_table
from linklab.labs.figures import without_addresses as without_addresses
from linklab.labs.lab01.rules import PREDICTIONS as PREDICTIONS
from linklab.labs.lab01.rules import check_addresses as check_addresses
from linklab.labs.lab01.rules import check_forwarding as check_forwarding
from linklab.labs.lab01.rules import check_jump as check_jump
from linklab.labs.lab01.rules import check_links as check_links
from linklab.labs.lab01.rules import check_nodes as check_nodes
from linklab.labs.lab01.rules import check_plan as check_plan
from linklab.labs.lab01.rules import check_prefix as check_prefix
from linklab.labs.lab01.rules import check_reachability as check_reachability
from linklab.labs.lab01.rules import check_routes as check_routes
from linklab.labs.lab01.rules import check_rtt as check_rtt

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted
progress = partial(_progress, __name__)

if not TYPE_CHECKING:
    __getattr__ = not_here(__name__)
