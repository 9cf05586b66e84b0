"""Fetch one file from a server, by its checksum."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from linklab.errors import LabError

_TIMEOUT_S = 60
_CHUNK = 1 << 18
_TRIES = 3
_PAUSE_S = 1.0


def download(address: str, sha256: str, on_bytes: Callable[[int], None] = lambda count: None) -> bytes:
    """Return a file's bytes. What breaks off is tried anew, three times in all.

    ``on_bytes`` hears how many bytes have come, again and again; a number below 0 takes back those of a failed try.
    Raises FileNotFoundError where the server has no such file, and `LabError` where it cannot be reached, or sends
    another file.
    """
    name, host = address.rpartition("/")[2], address.split("/")[2]
    for left in reversed(range(_TRIES)):
        come = bytearray()
        try:
            with closing(urllib.request.urlopen(address, timeout=_TIMEOUT_S)) as answer:
                while chunk := answer.read(_CHUNK):
                    come += chunk
                    on_bytes(len(chunk))
                if getattr(answer, "length", 0):  # a server that breaks off says nothing
                    raise http.client.IncompleteRead(bytes(come), answer.length)
            break
        except (OSError, ValueError, http.client.HTTPException) as error:
            on_bytes(-len(come))
            code = getattr(error, "code", None)
            if code in (404, 410) or (address.startswith("file:") and not Path(address[7:]).exists()):
                raise FileNotFoundError(address) from error
            if not left or isinstance(error, ValueError) or (code is not None and code < 500):
                where = f" from {host}" if host else ""
                reason = getattr(error, "reason", None) or str(error) or type(error).__name__
                mend = "check the network (behind a proxy, http_proxy) and try again"
                raise LabError(f"{name} could not be fetched{where} ({reason}): {mend}") from error
            time.sleep(_PAUSE_S)
    if hashlib.sha256(come).hexdigest() != sha256:
        raise LabError(f"{name} came with another checksum than expected: try again, or ask another server")
    return bytes(come)
