"""Files fetched by their checksum, from a server that breaks off."""

from __future__ import annotations

import hashlib
import io
import urllib.request
from collections.abc import Callable

import pytest

from linklab.errors import LabError
from tools.image import download as room
from tools.image.download import download

CONTENT = b"an image" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ADDRESS = "http://example.org/image"


class Answer(io.BytesIO):
    """An answer that lacks `length` bytes at its end."""

    def __init__(self, length: int) -> None:
        super().__init__(CONTENT[: len(CONTENT) - length])
        self.length = length


@pytest.fixture
def breaks_off(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has the first answers break off in the middle."""
    monkeypatch.setattr(room, "_PAUSE_S", 0)

    def first(times: int) -> None:
        answers = [Answer(len(CONTENT) // 2) for _ in range(times)] + [Answer(0)]
        monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: answers.pop(0))

    return first


def test_what_breaks_off_is_tried_anew_counted_once_and_given_up(breaks_off: Callable[[int], None]) -> None:
    breaks_off(2)
    come: list[int] = []
    assert download(ADDRESS, SHA256, come.append) == CONTENT
    assert sum(come) == len(CONTENT)
    breaks_off(3)
    with pytest.raises(LabError, match=r"image could not be fetched from example\.org .*check the network"):
        download(ADDRESS, SHA256)
