"""Lab 06, Multiplexing: who gets how much of a shared link, how fair that is, and what waiting costs."""

from __future__ import annotations

from linklab.labs.lab06.questions import (
    check_questions as check_questions,
)
from linklab.labs.lab06.queue import (
    check_new_networks as check_new_networks,
)
from linklab.labs.lab06.queue import (
    check_new_rtt as check_new_rtt,
)
from linklab.labs.lab06.queue import (
    check_new_runs as check_new_runs,
)
from linklab.labs.lab06.queue import (
    check_packets_in_queue as check_packets_in_queue,
)
from linklab.labs.lab06.rules import (
    ASKED as ASKED,
)
from linklab.labs.lab06.rules import (
    COMBINATIONS as COMBINATIONS,
)
from linklab.labs.lab06.rules import (
    check_bottlenecks as check_bottlenecks,
)
from linklab.labs.lab06.rules import (
    check_fairness as check_fairness,
)
from linklab.labs.lab06.rules import (
    check_full_rtt as check_full_rtt,
)
from linklab.labs.lab06.rules import (
    check_jain as check_jain,
)
from linklab.labs.lab06.rules import (
    check_queueing as check_queueing,
)
from linklab.labs.lab06.rules import (
    check_runs as check_runs,
)
from linklab.labs.lab06.rules import (
    check_shares as check_shares,
)
