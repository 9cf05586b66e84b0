"""``linklab up``: the page opens for its owner alone, and nothing stays when it ends, whatever ends it."""

from __future__ import annotations

import html
import http.client
import json
import re
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import websocket
from jupyter_client.blocking.client import BlockingKernelClient

from linklab import jupyter
from linklab.cli import main
from linklab.runtime.backends import Kind
from tests.support.ports import free_port

from .terminal import Terminal, one_line

_LISTEN = "0A"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., str]:
    """Runs ``linklab up`` where it must fail; the line that it says."""

    def run(*words: str) -> str:
        assert main(["up", "--no-browser", "--folder", str(tmp_path), *words]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        line: str = one_line(captured.err)
        return line

    return run


def ask(port: int, path: str, token: str | None = None, method: str = "GET") -> tuple[int, Any]:
    """Status and JSON answer of the page's server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request(method, path, headers={"Authorization": f"token {token}"} if token else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    is_json = "json" in (answer.getheader("Content-Type") or "")
    return answer.status, json.loads(body) if is_json and body else None


def token_of(said: str, port: int) -> str:
    found = re.search(rf"http://127\.0\.0\.1:{port}/lab\S*\?token=([0-9a-f]+)", said)
    assert found, said
    return found[1]


def listeners(port: int) -> set[str]:
    """The local addresses, as the kernel writes them, of the sockets that listen on `port`."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if fields[3] == _LISTEN and int(number, 16) == port:
                found.add(address)
    return found


def start_lab_in_a_notebook(port: int, token: str, runtime: Path) -> None:
    """A notebook's kernel, and in it a lab, as a student has them when the page is closed."""
    status, kernel = ask(port, "/api/kernels", token, "POST")
    assert status == 201
    client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{kernel['id']}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a busy machine misses heartbeats, and they would be taken for the end
    try:
        client.wait_for_ready(timeout=600)
        code = "import linklab; from linklab.network import TWO_HOSTS; lab = linklab.start(TWO_HOSTS)"
        reply = client.execute_interactive(code, timeout=600)
        assert reply["content"]["status"] == "ok", reply["content"]
    finally:
        client.stop_channels()


@pytest.mark.large
def test_the_page_is_for_its_owner_alone_and_its_terminal_is_among_the_labs(tmp_path: Path, port: int) -> None:
    labs = tmp_path / "labs"
    labs.mkdir()
    (labs / jupyter.FIRST_NOTEBOOK).write_text("{}")
    (labs / "signal.py").write_text("raise SystemExit('a student has a file of that name')")
    words = ("up", "--no-browser", "--port", str(port), "--folder", "labs")
    with Terminal(tmp_path, *words, environment={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}) as up:
        said = up.wait_for("Ctrl-C ends them.")
        token = token_of(said, port)
        assert f"/lab/tree/{jupyter.FIRST_NOTEBOOK}?token=" in said
        assert ask(port, "/api/contents")[0] == 403
        assert ask(port, "/api/contents", "0" * len(token))[0] == 403
        assert ask(port, "/lab")[0] == 302
        status, folder = ask(port, "/api/contents", token)
        assert status == 200
        assert {item["name"] for item in folder["content"]} == {jupyter.FIRST_NOTEBOOK, "signal.py"}
        assert listeners(port) == {"0100007F"}, "127.0.0.1 alone"
        assert len(up.alive()) >= 2
        assert not [words for words in up.alive().values() if token in words], "every user can read command lines"
        # a login shell would set PATH anew
        ours = str(Path(sys.executable).with_name("linklab")), str(labs)
        asked, answer = "echo It is `command -v linklab`, $PWD.", r"It is ([^`\s]*), (/\S*)\.\r"
        assert _in_a_terminal(port, token, asked, answer) == ours
        up.interrupt()
        assert up.end() == 0, up.said
        assert "Traceback" not in up.said
        assert up.left() == {}


def _in_a_terminal(port: int, token: str, command: str, answer: str) -> tuple[str, ...]:
    """What a terminal of the page answers to a command."""
    status, made = ask(port, "/api/terminals", token, "POST")
    assert status == 200
    address = f"ws://127.0.0.1:{port}/terminals/websocket/{made['name']}?token={token}"
    shell: Any = websocket.create_connection(address, timeout=300)
    shell.send(json.dumps(["stdin", f"{command}\r"]))
    printed = ""
    while not (found := re.search(answer, printed)):
        kind, *words = json.loads(shell.recv())
        printed += str(words[0]) if kind == "stdout" else ""
    shell.close()
    return found.groups()


@pytest.mark.lab
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGHUP, marks=pytest.mark.large),
        signal.SIGKILL,
    ],
)
def test_nothing_is_left_of_page_notebook_and_lab(
    virtual: Kind, tmp_path: Path, port: int, number: signal.Signals
) -> None:
    with Terminal(tmp_path, "up", "--no-browser", "--port", str(port)) as up:
        token = token_of(up.wait_for("Ctrl-C ends them."), port)
        start_lab_in_a_notebook(port, token, tmp_path / ".jupyter" / "runtime")
        before = list(up.alive().values())
        assert any("ipykernel" in words for words in before)
        assert any("supervisor.py" in words for words in before)
        up.interrupt(number)
        assert up.process.wait(600) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
        assert up.left() == {}
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--port", "80"], "not between 1024 and 65535"),
        (["--port", "65536"], "not between 1024 and 65535"),
        (["--folder", "nowhere"], "there is no folder"),
        (["--port", "TAKEN"], "is taken, perhaps by labs already open"),
    ],
)
def test_why_the_page_cannot_open_is_one_line(
    words: list[str], says: str, fails: Callable[..., str], port: int
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert says in fails(*(str(port) if word == "TAKEN" else word for word in words))


def test_no_space(fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 1000))
    assert "less than 200 MB are free" in fails()


def test_a_server_that_does_not_start_is_quoted(
    fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int
) -> None:
    (tmp_path / "jupyterlab.py").write_text("print('first', flush=True); raise SystemExit('no room for a notebook')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert fails("--port", str(port)).endswith("JupyterLab did not start: no room for a notebook")


def pretended_browser(folder: Path) -> Path:
    """A browser that notes its command line, as every user of the machine could read it while it runs."""
    browser, noted = folder / "browser", folder / "noted"
    browser.write_text(f"#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/cmdline > '{noted}.new'\nmv '{noted}.new' '{noted}'\n")
    browser.chmod(0o755)
    return browser


def test_the_browser_s_command_line_leads_its_owner_alone_to_the_page(tmp_path: Path, port: int) -> None:
    labs = tmp_path / "labs & more"
    labs.mkdir()
    words = ("up", "--port", str(port), "--folder", str(labs))
    environment = {"DISPLAY": ":0", "BROWSER": str(pretended_browser(tmp_path))}
    with Terminal(tmp_path, *words, environment=environment) as up:
        token = token_of(up.wait_for("Ctrl-C ends them."), port)
        noted = tmp_path / "noted"
        deadline = time.monotonic() + 600
        while not noted.is_file():
            assert time.monotonic() < deadline, up.said
            time.sleep(0.05)
        address = noted.read_text().split("\n")[-2]
        assert token not in noted.read_text()
        file = Path(unquote(urlsplit(address).path))
        assert urlsplit(address).scheme == "file"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.parent == labs, "a browser from a snap reads no hidden folder of its user's, and no /tmp"
        (leads_to,) = re.findall(r'http-equiv="refresh" content="0;url=([^"]+)"', file.read_text())
        assert html.unescape(leads_to).endswith(f"?token={token}")
        assert html.unescape(leads_to) in up.said
        assert not [words for words in up.alive().values() if token in words]
        up.interrupt()
        assert up.end() == 0, up.said
        assert list(labs.iterdir()) == []
