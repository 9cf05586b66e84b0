"""Lab 00, Start here: two hosts and one link."""

from __future__ import annotations

from linklab.labs.lab00.rules import (
    check_measured_rtt as check_measured_rtt,
)
from linklab.labs.lab00.rules import (
    check_measured_throughput as check_measured_throughput,
)
from linklab.labs.lab00.rules import (
    check_network as check_network,
)
from linklab.labs.lab00.rules import (
    check_prediction_rtt as check_prediction_rtt,
)
from linklab.labs.lab00.rules import (
    check_prediction_throughput as check_prediction_throughput,
)
