"""Lab 04, link latency and throughput: predictions, pings and transfers, headers, the queue of L1, ARP."""

from __future__ import annotations

from linklab.labs.lab04.rules import (
    LINKS as LINKS,
)
from linklab.labs.lab04.rules import (
    PING_ON_L3 as PING_ON_L3,
)
from linklab.labs.lab04.rules import (
    check_arp as check_arp,
)
from linklab.labs.lab04.rules import (
    check_headers as check_headers,
)
from linklab.labs.lab04.rules import (
    check_pings as check_pings,
)
from linklab.labs.lab04.rules import (
    check_queue as check_queue,
)
from linklab.labs.lab04.rules import (
    check_queue_seen as check_queue_seen,
)
from linklab.labs.lab04.rules import (
    check_rtt as check_rtt,
)
from linklab.labs.lab04.rules import (
    check_serialisation as check_serialisation,
)
from linklab.labs.lab04.rules import (
    check_summary as check_summary,
)
from linklab.labs.lab04.rules import (
    check_throughput as check_throughput,
)
from linklab.labs.lab04.rules import (
    check_together as check_together,
)
from linklab.labs.lab04.rules import (
    check_transfers as check_transfers,
)
