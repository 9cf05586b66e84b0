"""The checks of a program for reliable transport, step by step: each step has a module."""

from __future__ import annotations

from typing import Final

from linklab.programs.checks import checks_in
from linklab.programs.reliable import stop_and_wait, timeouts, window

_MODULES: Final = {"stop-and-wait": stop_and_wait, "timeouts": timeouts, "window": window}
TABLE: Final = tuple(row for module in _MODULES.values() for row in checks_in(module))
"""The checks of all steps."""
STEPS: Final = {
    step: tuple(dict.fromkeys(["arrives", *(row.key for row in checks_in(module))]))
    for step, module in _MODULES.items()
}
"""The steps of Lab 13's program, and the keys of what each asks."""
