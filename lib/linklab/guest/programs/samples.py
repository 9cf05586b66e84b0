"""``GATE LATER_NS COUNT INTERVAL_NS COMMAND...`` runs a command again and again, each time behind the time of day.

The command's output follows ``at SECONDS``, in a line of its own. A command that fails ends all, with its status.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from linklab.guest.programs.common import sleeper, start_at


def look(begin_ns: int, count: int, interval_ns: int, words: list[str]) -> int:
    """Run it at these instants, one process each: in a guest a process costs more than what ss and tc do."""
    sleep_until, environment = sleeper(), os.environ | {"LC_ALL": "C"}
    for number in range(count):
        sleep_until(begin_ns + number * interval_ns)
        seconds, rest_ns = divmod(time.time_ns(), 1_000_000_000)
        print(f"at {seconds}.{rest_ns:09d}", flush=True)
        _, ended = os.waitpid(os.posix_spawnp(words[0], words, environment), 0)
        if ended:
            return os.waitstatus_to_exitcode(ended)
    return 0


if __name__ == "__main__":
    gate, later, count, interval, *words = sys.argv[1:]
    with contextlib.suppress(KeyboardInterrupt):  # whole looks count
        sys.exit(look(start_at(gate, int(later)), int(count), int(interval), words))
