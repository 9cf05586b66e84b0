"""Make this machine ready for JupyterHub: ``python -m linklab.hub``, as root (``make hub``)."""

from __future__ import annotations

import sys

from linklab.cli import answered
from linklab.hub.machine import set_up


def main() -> int:
    """Do what is missing, and say so."""
    for line in set_up():
        print(f"linklab: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(answered(main))
