"""Lab 09, Video: how a stream's packets look on the wire, and what loss does to the picture."""

from __future__ import annotations

from linklab.labs.lab09.rules import (
    LOSSY as LOSSY,
)
from linklab.labs.lab09.rules import (
    NETWORKS as NETWORKS,
)
from linklab.labs.lab09.rules import (
    check_damage as check_damage,
)
from linklab.labs.lab09.rules import (
    check_jitter as check_jitter,
)
from linklab.labs.lab09.rules import (
    check_least as check_least,
)
from linklab.labs.lab09.rules import (
    check_loss as check_loss,
)
from linklab.labs.lab09.rules import (
    check_packets as check_packets,
)
from linklab.labs.lab09.rules import (
    check_questions as check_questions,
)
from linklab.labs.lab09.rules import (
    check_runs as check_runs,
)
from linklab.labs.lab09.rules import (
    check_spacing as check_spacing,
)
