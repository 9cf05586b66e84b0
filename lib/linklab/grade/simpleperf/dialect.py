"""How a program writes and talks, learnt from a first transfer between its own client and its own server. Pure."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Final

from linklab.grade.simpleperf.take import Passage
from linklab.measure.simpleperf_rows import Row

CHUNK_BYTES: Final = 1000
_END_BYTES: Final = 256


@dataclass
class Dialect:
    """What is known so far. ``end`` is what the client sends last, ``answer`` what the server says to it."""

    end: bytes = b""
    answer: bytes = b""
    chunk: bytes = b""
    client_row: str = ""
    server_row: str = ""
    client_label: str = ""
    server_label: str = ""
    amount_form: str = ""
    """How ``-n`` wants its amount: "10MB", "10 MB" or "10" (in the unit of ``-f``)."""

    def to_json(self) -> dict[str, Any]:
        """For reading: bytes as text."""
        plain = asdict(self)
        plain.update({name: _shown(getattr(self, name)) for name in ("end", "answer", "chunk")})
        return plain

    def learn_rows(self, client: Row | None, server: Row | None) -> None:
        """Keeps a row of each side."""
        if client is not None:
            self.client_row, self.client_label = client.line, client.rate.unit
        if server is not None:
            self.server_row, self.server_label = server.line, server.rate.unit

    def learn_talk(self, passage: Passage) -> None:
        """Keeps the end message, its answer and the data's beginning."""
        self.end = end_message(passage.head, passage.tail, passage.up["bytes"])
        self.answer = passage.answer[-_END_BYTES:]
        self.chunk = passage.head[:CHUNK_BYTES]

    def stream(self, size: int) -> bytes:
        """What the client would send for so many bytes, with the end message."""
        whole = self.chunk * (size // max(1, len(self.chunk)) + 1)
        return whole[:size] + self.end


def end_message(head: bytes, tail: bytes, total: int) -> bytes:
    """What the client sent after its data, from the beginning, the end and the size of all it sent.

    Where the data is one byte over and over, that is what follows its last long run. Otherwise it is what is left
    over of whole chunks of 1000 bytes. b"" if neither tells.
    """
    rest = total % CHUNK_BYTES
    filler = head[:1]
    if len(head) >= CHUNK_BYTES and head[:CHUNK_BYTES] == filler * CHUNK_BYTES:
        runs = list(re.finditer(re.escape(filler) + b"{16,}", tail))
        end = tail[runs[-1].end() :] if runs else b""
        # the end message itself may begin as the data does
        if len(end) < rest <= len(end) + 4 and tail.endswith(filler * (rest - len(end)) + end):
            end = tail[-rest:]
        if end:
            return end[-_END_BYTES:]
    return tail[-rest:] if 0 < rest <= _END_BYTES else b""


def _shown(data: bytes) -> str:
    text = data.decode(errors="backslashreplace")
    return text if len(text) <= 40 else f"{text[:40]}... ({len(data)} bytes)"
