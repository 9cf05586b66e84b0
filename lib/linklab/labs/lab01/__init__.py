"""Lab 01, The router network."""

from __future__ import annotations

from linklab.labs.lab01.rules import (
    RTT_PAIRS as RTT_PAIRS,
)
from linklab.labs.lab01.rules import (
    check_addresses as check_addresses,
)
from linklab.labs.lab01.rules import (
    check_forwarding as check_forwarding,
)
from linklab.labs.lab01.rules import (
    check_links as check_links,
)
from linklab.labs.lab01.rules import (
    check_nodes as check_nodes,
)
from linklab.labs.lab01.rules import (
    check_plan as check_plan,
)
from linklab.labs.lab01.rules import (
    check_reachability as check_reachability,
)
from linklab.labs.lab01.rules import (
    check_routes as check_routes,
)
from linklab.labs.lab01.rules import (
    check_rtt as check_rtt,
)
