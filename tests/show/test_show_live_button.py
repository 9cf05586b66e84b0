"""The stop button in a real kernel: a click that comes beside the cell, as JupyterLab sends it, stops what runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

_PATIENCE_S = 120
_CELL = """
import os, time
os.environ["JPY_SESSION_NAME"] = "a page"
from linklab.show.live_views import Watch
with Watch() as watch:
    print(watch._panel._button.comm.comm_id, flush=True)
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s and not watch.stopped():
        time.sleep(0.05)
    print("pressed", watch.stopped())
"""


@pytest.fixture
def client() -> Iterator[Any]:
    manager: Any = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(_PATIENCE_S)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_click_is_heard_while_the_cell_runs(client: Any) -> None:
    client.control_channel.send(client.session.msg("create_subshell_request", {}))
    beside = client.get_control_msg(timeout=_PATIENCE_S)["content"]["subshell_id"]
    client.execute(_CELL)
    said: list[str] = []
    deadline = time.monotonic() + 2 * _PATIENCE_S
    while not any("pressed" in text for text in said):
        assert time.monotonic() < deadline, said
        message = client.get_iopub_msg(timeout=_PATIENCE_S)
        assert message["msg_type"] != "error", message["content"]
        if message["msg_type"] == "stream":
            if not said:
                _click(client, message["content"]["text"].strip(), beside)
            said.append(message["content"]["text"])
    assert said[-1].strip() == "pressed True"


def _click(client: Any, button: str, subshell: str) -> None:
    """What JupyterLab sends for a click on a widget of that number."""
    content = {"comm_id": button, "data": {"method": "custom", "content": {"event": "click"}}}
    message = client.session.msg("comm_msg", content)
    message["header"]["subshell_id"] = subshell
    client.shell_channel.send(message)
