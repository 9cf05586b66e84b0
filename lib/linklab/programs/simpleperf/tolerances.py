"""How exact printed numbers must be, as the public list says it."""

from __future__ import annotations

from typing import Final

RATE: Final = 0.012
"""Of a rate against the relay's notes: half of the 2.4 % by which 1000 and 1024 differ."""
SENDING_S: Final = (1.9, 4.0)
"""How long a client with -t 2 may be seen to send: what waits in buffers arrives after it has stopped."""
HOLD_S: Final = (1.2, 2.7)
"""From when to when the relay reads nothing, since the data began; -t 2 runs out in between."""
ANSWER_DELAY_S: Final = 1.5
"""How long the relay holds the acknowledgement back."""
LEAST_SHARE: Final = 0.8
"""Of the goodput ceiling of the shaped link: slow start and the wait for the acknowledgement take the rest."""
MOST_SHARE: Final = 1.01
JOIN_S: Final = 0.15
"""Between the end of an interval and the beginning of the next."""
SUM: Final = 0.02
"""Of the amounts of intervals together."""
ROW: Final = 0.03
"""Of the rate of an interval against its own amount and times."""
