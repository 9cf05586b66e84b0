"""Lab 05, path latency and throughput: predictions, pings and transfers, pipes and queues, the report."""

from __future__ import annotations

from linklab.labs.lab05.paths import (
    PATHS as PATHS,
)
from linklab.labs.lab05.pipes import (
    check_after_loss as check_after_loss,
)
from linklab.labs.lab05.pipes import (
    check_bdp as check_bdp,
)
from linklab.labs.lab05.pipes import (
    check_room as check_room,
)
from linklab.labs.lab05.report_excess import (
    check_report as check_report,
)
from linklab.labs.lab05.rules import (
    LOADED as LOADED,
)
from linklab.labs.lab05.rules import (
    check_bottlenecks as check_bottlenecks,
)
from linklab.labs.lab05.rules import (
    check_loaded_prediction as check_loaded_prediction,
)
from linklab.labs.lab05.rules import (
    check_pings as check_pings,
)
from linklab.labs.lab05.rules import (
    check_queue_seen as check_queue_seen,
)
from linklab.labs.lab05.rules import (
    check_rtt as check_rtt,
)
from linklab.labs.lab05.rules import (
    check_throughput as check_throughput,
)
from linklab.labs.lab05.rules import (
    check_together as check_together,
)
from linklab.labs.lab05.rules import (
    check_tools as check_tools,
)
from linklab.labs.lab05.rules import (
    check_transfers as check_transfers,
)
