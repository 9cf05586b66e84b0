"""A notebook run through Jupyter's own interface, REST and websocket, as the page in a browser does."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.vagrant.needs import TrialError

_REQUEST_LIMIT_S = 600.0


@dataclass(frozen=True)
class Answer:
    """What a cell printed, and its error as one line ("" for none)."""

    text: str
    error: str


@dataclass(frozen=True)
class Server:
    """A Jupyter server by the address that `vagrant up` prints."""

    address: str

    @property
    def origin(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 80

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def call(self, method: str, path: str, body: object = None, token: str | None = None) -> Any:
        """A request to /api/..., its answer read as JSON (None for an empty one)."""
        request = Request(f"{self.origin}/api/{path}", method=method)
        request.add_header("Authorization", f"token {self.token if token is None else token}")
        data = None if body is None else json.dumps(body).encode()
        with urlopen(request, data, timeout=_REQUEST_LIMIT_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def status(self, url: str) -> int:
        """The HTTP status of a page."""
        try:
            with urlopen(url, timeout=_REQUEST_LIMIT_S) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def refuses_strangers(self) -> bool:
        """Whether a wrong token is turned away."""
        try:
            self.call("GET", "kernels", token="0" * 48)
        except HTTPError as error:
            return error.code in (401, 403)
        return False


def code_cells(notebook: Path) -> list[str]:
    """The code of a notebook's cells."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cells(server: Server, beside: str, cells: Sequence[str], limit_s: float) -> list[Answer]:
    """Runs `cells` one after the other in a fresh kernel whose folder is that of the served notebook `beside`.

    `limit_s` is each cell's. Raises `TrialError` when a cell takes longer; errors of cells are in the answers.
    """
    wanted = {"path": beside, "name": beside, "type": "notebook", "kernel": {"name": "python3"}}
    session = server.call("POST", "sessions", wanted)
    try:
        return asyncio.run(_run(server, session["kernel"]["id"], cells, limit_s))
    finally:
        server.call("DELETE", f"sessions/{session['id']}")


async def _run(server: Server, kernel: str, cells: Sequence[str], limit_s: float) -> list[Answer]:
    url = f"{server.origin.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
    request = HTTPRequest(
        url,
        headers={"Authorization": f"token {server.token}"},
        connect_timeout=_REQUEST_LIMIT_S,
        request_timeout=_REQUEST_LIMIT_S,
    )
    try:
        socket = await websocket_connect(request, max_message_size=2**28)
    except HTTPClientError as error:
        raise TrialError(f"Jupyter opens no channel to the kernel: {error}") from error
    try:
        answers = []
        for number, code in enumerate(cells, 1):
            try:
                answers.append(await asyncio.wait_for(_execute(socket, code), limit_s))
            except TimeoutError as error:
                raise TrialError(f"cell {number} was not done after {limit_s:.0f} s: {code.splitlines()[0]}") from error
        return answers
    finally:
        socket.close()


async def _execute(socket: WebSocketClientConnection, code: str) -> Answer:
    """Sends one cell and collects what comes of it, until the kernel has answered and is idle again."""
    request = str(uuid.uuid4())
    header = {"msg_id": request, "msg_type": "execute_request", "session": request, "username": "", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    await socket.write_message(json.dumps(message))
    printed: list[str] = []
    error = ""
    replied = idle = False
    while not (replied and idle):
        received = await socket.read_message()
        if received is None:
            raise TrialError("Jupyter closed the connection in the middle of a cell")
        heard = json.loads(received)
        if heard.get("parent_header", {}).get("msg_id") != request:
            continue
        kind, said = heard["header"]["msg_type"], heard["content"]
        if kind == "stream":
            printed.append(said["text"])
        elif kind in ("execute_result", "display_data"):
            printed.append(said["data"].get("text/plain", ""))
        elif kind == "execute_reply":
            replied = True
            if said["status"] != "ok":
                error = f"{said.get('ename', said['status'])}: {said.get('evalue', '')}"
        elif kind == "status":
            idle = said["execution_state"] == "idle"
    return Answer("".join(printed), error)
