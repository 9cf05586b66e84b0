"""Wait for the gate, and become another program at the instant of the start."""

from __future__ import annotations

import os

from linklab.guest.programs.common import act, sleeper, start_at


def become(gate: str, later_ns: int, command: list[str]) -> None:
    """Become this command `later_ns` after the gate's instant."""
    sleep_until = sleeper()
    sleep_until(start_at(gate, later_ns))
    os.execvp(command[0], command)


if __name__ == "__main__":
    act(become)
