"""Lab 03, UDP bandwidth: predictions, measurements with iperf3, the choice of a rate, questions."""

from __future__ import annotations

from linklab.labs.lab03.rules import (
    PAIRS as PAIRS,
)
from linklab.labs.lab03.rules import (
    check_bandwidth as check_bandwidth,
)
from linklab.labs.lab03.rules import (
    check_bottlenecks as check_bottlenecks,
)
from linklab.labs.lab03.rules import (
    check_ceilings as check_ceilings,
)
from linklab.labs.lab03.rules import (
    check_chosen as check_chosen,
)
from linklab.labs.lab03.rules import (
    check_losses as check_losses,
)
from linklab.labs.lab03.rules import (
    check_overload as check_overload,
)
from linklab.labs.lab03.rules import (
    check_questions as check_questions,
)
from linklab.labs.lab03.unknown import (
    check_search as check_search,
)
from linklab.labs.lab03.unknown import (
    check_train as check_train,
)
