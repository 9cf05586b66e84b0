"""Make this machine ready for JupyterHub: ``python -m linklab.hub``, as root (``make hub``)."""

from __future__ import annotations

import sys

from linklab.errors import LinklabError
from linklab.hub.machine import set_up


def main() -> int:
    """Do what is missing and say so; status 1 with one line where it cannot."""
    try:
        for line in set_up():
            print(f"linklab: {line}")
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"linklab: {error.strerror}: {error.filename}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
