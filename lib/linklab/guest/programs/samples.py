"""Run a command again and again, and keep what it prints each time, with the time of day."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator

from linklab.guest.programs.common import act, sleeper, start_at


def sample(gate: str, later_ns: int, count: int, interval_ns: int, command: list[str]) -> None:
    """Run the command at planned instants, in one process each, and print all samples at the end.

    What a command printed that failed is the last that this program prints.
    """
    samples: list[dict[str, object]] = []
    with contextlib.suppress(KeyboardInterrupt):  # whole samples count
        begin_ns = start_at(gate, later_ns)
        for at_ns, output in _taken(begin_ns, count, interval_ns, command):
            samples.append({"at_ns": at_ns, "output": output})
    print(json.dumps({"samples": samples}))


def _taken(begin_ns: int, count: int, interval_ns: int, command: list[str]) -> Iterator[tuple[int, str]]:
    """Yield when each sample was taken, and what the command printed."""
    sleep_until, environment, kept = sleeper(), os.environ | {"LC_ALL": "C"}, os.memfd_create("output")
    for number in range(count):
        sleep_until(begin_ns + number * interval_ns)
        at_ns = time.time_ns()
        into_it = [(os.POSIX_SPAWN_DUP2, kept, 1), (os.POSIX_SPAWN_DUP2, kept, 2)]
        _, ended = os.waitpid(os.posix_spawnp(command[0], command, environment, file_actions=into_it), 0)
        output = os.pread(kept, os.fstat(kept).st_size, 0).decode("utf-8", "replace")
        if ended:
            raise SystemExit(output.strip() or f"{command[0]} failed")
        os.ftruncate(kept, 0)
        os.lseek(kept, 0, os.SEEK_SET)
        yield at_ns, output


if __name__ == "__main__":
    act(sample)
