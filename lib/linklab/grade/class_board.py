"""Tell the student's own server how a lab's checks stand; the server shows it in class if the student wants that.

JupyterHub names the student's server in the environment, and the hub's configuration says whether the class has a
board (docs/jupyterhub.md). Without one nobody is told anything.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
from collections.abc import Mapping
from html import escape
from typing import Final, Literal
from urllib.parse import urlsplit

from linklab import record

State = Literal["open", "tried", "passed"]
BOARD_VARIABLE: Final = "LINKLAB_CLASS_BOARD"
"""The address to which students' servers report; empty or not set where the class has no board."""
PATH: Final = "linklab/class-board"
"""The page, below the address of the student's server, on which the student chooses to be shown or not."""
_PATIENCE_S: Final = 2.0


def is_there() -> bool:
    """Return whether the class has a board, and this is the kernel of a page on a student's server."""
    return record.somebody_watches() and bool(os.environ.get(BOARD_VARIABLE))


def tell(lab: int, states: Mapping[str, State], ran: str = "") -> None:
    """Tell the student's server the states of a lab's checks, by their ids, and which of them was run just now.

    A server that does not answer has its own page to say so: nothing here depends on it.
    """
    server = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    body = json.dumps({"lab": lab, "states": dict(states), "ran": ran})
    headers = {"Authorization": f"token {os.environ.get('JUPYTERHUB_API_TOKEN', '')}"}
    # http.client and not urllib: a proxy of the environment has no business here
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_PATIENCE_S)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("PUT", f"{server.path}{PATH}", body, headers)
        connection.getresponse().read()


def frame() -> str:
    """Return HTML that shows the page of the student's server on which the student chooses."""
    address = escape(f"{os.environ.get('JUPYTERHUB_SERVICE_PREFIX', '/')}{PATH}")
    return f'<iframe src="{address}" title="Class board" style="width:100%;height:11em;border:0"></iframe>'
