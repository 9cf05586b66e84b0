"""Lab 10, Switches: VLANs, what a frame's path costs, and who gets how much of a full link."""

from __future__ import annotations

from linklab.labs.lab10.rules import (
    RATE_MBPS as RATE_MBPS,
)
from linklab.labs.lab10.rules import (
    RTTS as RTTS,
)
from linklab.labs.lab10.rules import (
    SETTINGS as SETTINGS,
)
from linklab.labs.lab10.rules import (
    EchoPath as EchoPath,
)
from linklab.labs.lab10.rules import (
    check_gateways as check_gateways,
)
from linklab.labs.lab10.rules import (
    check_ports as check_ports,
)
from linklab.labs.lab10.rules import (
    check_questions as check_questions,
)
from linklab.labs.lab10.rules import (
    check_reachability as check_reachability,
)
from linklab.labs.lab10.rules import (
    check_rtt as check_rtt,
)
from linklab.labs.lab10.rules import (
    check_rtt_runs as check_rtt_runs,
)
from linklab.labs.lab10.rules import (
    check_share_runs as check_share_runs,
)
from linklab.labs.lab10.rules import (
    check_shares as check_shares,
)
