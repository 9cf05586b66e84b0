"""Files fetched by their checksum, from a server that breaks off, refuses, or lies."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from linklab.errors import LabError
from tools.image import download as room
from tools.image.download import download

CONTENT = b"an image" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Sends `CONTENT`; the first ``broken`` answers break off in the middle."""

    broken = 0


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        server.broken -= 1
        self.wfile.write(CONTENT[: len(CONTENT) // 2 if server.broken >= 0 else None])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(room, "_PAUSE_S", 0)
    with Server(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        found.shutdown()


def test_what_breaks_off_is_tried_anew_counted_once_and_given_up(server: Server) -> None:
    address = f"http://127.0.0.1:{server.server_port}/image"
    server.broken = 2
    come: list[int] = []
    assert download(address, SHA256, come.append) == CONTENT
    assert sum(come) == len(CONTENT)
    server.broken = 3
    with pytest.raises(LabError, match=r"image could not be fetched from 127\.0\.0\.1:\d+ .*check the network"):
        download(address, SHA256)
