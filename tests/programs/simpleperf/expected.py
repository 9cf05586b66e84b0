"""Which step finds each wrong program of the registry, and the name that its mistake must get."""

from __future__ import annotations

from typing import Final

from linklab.programs.simpleperf.mistakes import Mistake

FAILED: Final[dict[str, tuple[str, Mistake]]] = {
    "clock-before-ack": ("clock", Mistake.CLOCK_BEFORE_ACK),
    "asked-time": ("clock", Mistake.ASKED_TIME),
    "bytes-as-bits": ("clock", Mistake.BYTES_AS_BITS),
    "bits-of-bits": ("clock", Mistake.BITS_TWICE),
    "mebi-rate": ("clock", Mistake.BINARY_UNITS),
    "kibi-rate": ("clock", Mistake.BINARY_UNITS),
    "binary-units": ("clock", Mistake.BINARY_UNITS),
    "integer-division": ("clock", Mistake.INTEGER_DIVISION),
    "format-ignored": ("clock", Mistake.FORMAT_IGNORED),
    "chunk-1024": ("clock", Mistake.CHUNK_SIZE),
    "reads-counted": ("clock", Mistake.READS_COUNTED),
    "time-ignored": ("clock", Mistake.TIME_IGNORED),
    "binary-amount": ("amount", Mistake.BINARY_UNITS),
    "num-ignored": ("amount", Mistake.NUM_IGNORED),
    "num-in-whole-mb": ("amount", Mistake.NUM_ROUNDED),
    "first-interval-twice": ("intervals", Mistake.FIRST_TWICE),
    "last-interval-missing": ("intervals", Mistake.LAST_MISSING),
    "interval-cumulative": ("intervals", Mistake.CUMULATIVE),
    "interval-ignored": ("intervals", Mistake.INTERVAL_IGNORED),
    "parallel-in-turn": ("parallel", Mistake.PARALLEL_IN_TURN),
    "parallel-rows-missing": ("parallel", Mistake.PARALLEL_ROWS),
    "parallel-ignored": ("parallel", Mistake.PARALLEL_IGNORED),
    "one-at-a-time": ("many", Mistake.ONE_AT_A_TIME),
    "one-client-only": ("many", Mistake.ONE_CLIENT_ONLY),
    "no-reuseaddr": ("many", Mistake.NO_REUSEADDR),
    "bye-in-pieces": ("many", Mistake.END_IN_PIECES),
    "bye-glued": ("transfer", Mistake.END_GLUED),
    "dies-of-abrupt-client": ("many", Mistake.ABRUPT_CLIENT),
    "spins-on-end": ("many", Mistake.SPINS),
    "never-acknowledges": ("transfer", Mistake.NO_ACKNOWLEDGEMENT),
    "serverip-ignored": ("transfer", Mistake.ADDRESS_IGNORED),
    "bind-ignored": ("transfer", Mistake.BIND_IGNORED),
    "port-ignored": ("transfer", Mistake.PORT_IGNORED),
    "parallel-unlimited": ("arguments", Mistake.PARALLEL_RANGE),
    "status-zero": ("arguments", Mistake.STATUS_ZERO),
    "traceback-on-port": ("arguments", Mistake.TRACEBACK),
    "traceback-without-server": ("arguments", Mistake.TRACEBACK),
    "low-port-accepted": ("arguments", Mistake.PORT_RANGE),
    "both-modes": ("arguments", Mistake.MODES),
}
"""By the program's name."""

ADVISED: Final[dict[str, tuple[str, Mistake]]] = {
    "address-unchecked": ("arguments", Mistake.ADDRESS_UNCHECKED),
    "bye-counted": ("clock", Mistake.END_COUNTED),
}
"""Named as a hint on a check that passed: honest programs do so, and their own two sides agree."""
