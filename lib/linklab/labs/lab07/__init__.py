"""Lab 07, Parallel connections: what more connections get, and what is fair then."""

from __future__ import annotations

from linklab.labs.lab07.rules import (
    CONNECTIONS as CONNECTIONS,
)
from linklab.labs.lab07.rules import (
    check_experiment as check_experiment,
)
from linklab.labs.lab07.rules import (
    check_fairness as check_fairness,
)
from linklab.labs.lab07.rules import (
    check_parts as check_parts,
)
from linklab.labs.lab07.rules import (
    check_predicted_fairness as check_predicted_fairness,
)
from linklab.labs.lab07.rules import (
    check_predicted_parts as check_predicted_parts,
)
from linklab.labs.lab07.rules import (
    check_questions as check_questions,
)
from linklab.labs.lab07.rules import (
    check_run as check_run,
)
from linklab.labs.lab07.rules import (
    check_shares as check_shares,
)
from linklab.labs.lab07.rules import (
    loads as loads,
)
from linklab.labs.lab07.rules import (
    takers as takers,
)
