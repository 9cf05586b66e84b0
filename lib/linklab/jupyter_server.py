"""JupyterLab's process for `linklab up`: ``python -m linklab.jupyter_server PARENT_PID OPTION...``.

It is JupyterLab and nothing else, but it ends with the process that started it, and its token comes through the
environment: the command line of a process is there for every user of the machine to read.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

TOKEN_VARIABLE = "LINKLAB_PAGE_TOKEN"
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Becomes JupyterLab."""
    parent, options = int(sys.argv[1]), sys.argv[2:]
    # SIGTERM and not SIGKILL: JupyterLab then ends its kernels, and with them their labs
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("linklab up is gone")
    token = os.environ.pop(TOKEN_VARIABLE)
    from jupyterlab.labapp import main as jupyterlab  # type: ignore[import-untyped]

    jupyterlab([*options, f"--IdentityProvider.token={token}"])


if __name__ == "__main__":
    main()
