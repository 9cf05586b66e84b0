"""JupyterLab's process for `linklab up`: ``python -m linklab.jupyter_server PARENT_PID OPTION...``.

This is a restricted JupyterLab, which ends with the process that started it. It takes its token from the environment:
every user of the machine can read the command line of a process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

TOKEN_VARIABLE = "LINKLAB_PAGE_TOKEN"
HIDDEN = (
    "@jupyterlab/apputils-extension:announcements",  # asks whether it may fetch news, though told not to
    "@jupyterlab/extensionmanager-extension",  # installs things from the net
    "@jupyter/nbgrader",  # its buttons turn cells into graded ones and back: for instructors, who have commands
)
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Run JupyterLab in this process."""
    parent, options = int(sys.argv[1]), sys.argv[2:]
    # SIGTERM and not SIGKILL: JupyterLab then ends its kernels, and with them their labs
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("linklab up is gone")
    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]
    from traitlets.config import Config

    # `linklab` lies next to this Python, and a student types it in the page's terminals
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    config = Config()
    config.ServerApp.tornado_settings = {"page_config_hook": hide}
    config.ServerApp.terminado_settings = terminals()
    token = os.environ.pop(TOKEN_VARIABLE, None)
    if token is not None:  # else Jupyter's own rule holds: JUPYTER_TOKEN_FILE, or a new one
        # as an option, because a user's own configuration files stand above `config`
        options.append(f"--IdentityProvider.token={token}")
    LabApp.initialize_server(options, config=config).start()


def hide(handler: object, page_config: dict[str, Any]) -> dict[str, Any]:
    """Return what JupyterLab tells its page, with the parts in `HIDDEN` disabled (JupyterLab's page_config_hook).

    Nothing here is ever built, so the page need not ask whether something is to be: where there is Node.js, the server
    would start it several times for an answer.
    """
    page_config["disabledExtensions"] = [*page_config.get("disabledExtensions", []), *HIDDEN]
    page_config["buildCheck"] = False
    return page_config


def terminals() -> dict[str, Any]:
    """Return Jupyter's settings for terminals: no login shell, which would set PATH anew, without `linklab`."""
    return {"shell_command": [os.environ.get("SHELL") or "/bin/bash"]}


if __name__ == "__main__":
    main()
