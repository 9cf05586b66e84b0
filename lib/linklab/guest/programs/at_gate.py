"""``GATE LATER_NS COMMAND...`` waits for the gate and becomes another program at the instant of the start."""

from __future__ import annotations

import os
import sys

from linklab.guest.programs.common import sleeper, start_at

if __name__ == "__main__":
    gate, later, *words = sys.argv[1:]
    sleep_until = sleeper()
    sleep_until(start_at(gate, int(later)))
    os.execvp(words[0], words)
