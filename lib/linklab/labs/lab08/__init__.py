"""Lab 08, Packet size: what headers take, why first packets are too fast, and what a tunnel adds."""

from __future__ import annotations

from linklab.labs.lab08.functions import (
    check_bandwidth as check_bandwidth,
)
from linklab.labs.lab08.functions import (
    check_jitter as check_jitter,
)
from linklab.labs.lab08.rules import (
    FRAMES as FRAMES,
)
from linklab.labs.lab08.rules import (
    LINK_MBPS as LINK_MBPS,
)
from linklab.labs.lab08.rules import (
    check_calm as check_calm,
)
from linklab.labs.lab08.rules import (
    check_data as check_data,
)
from linklab.labs.lab08.rules import (
    check_first as check_first,
)
from linklab.labs.lab08.rules import (
    check_overhead as check_overhead,
)
from linklab.labs.lab08.rules import (
    check_questions as check_questions,
)
from linklab.labs.lab08.rules import (
    check_runs as check_runs,
)
from linklab.labs.lab08.rules import (
    check_through as check_through,
)
from linklab.labs.lab08.rules import (
    check_tunnel as check_tunnel,
)
from linklab.labs.lab08.rules import (
    question_text as question_text,
)
