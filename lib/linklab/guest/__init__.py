"""Everything of Linklab that runs inside a lab."""

from __future__ import annotations

from typing import Final

SENT: Final = ("errors", "units", "process_tree", "network", "guest", "runtime", "programs.engine")
"""The modules and packages of Linklab that are sent into a lab; of `runtime` it is what confines students' programs."""


def is_sent(module: str) -> bool:
    """Return whether Linklab sends this module into labs; ``module`` is its name below ``linklab``.

    So is each package in which such a module lies.
    """
    return not module or any(f"{module}.".startswith(f"{name}.") or name.startswith(f"{module}.") for name in SENT)
