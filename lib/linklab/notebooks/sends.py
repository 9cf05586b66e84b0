"""What it costs to send in small pieces: TCP over this machine's loopback, in its own time."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

MEASURED_S: Final = 0.4
_BYTES_AT_MOST: Final = 2_000_000_000
_LOOPBACK = "127.0.0.1"
_READER: Final = """
import socket, sys
block = bytearray(1 << 20)
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    while connection.recv_into(block):
        pass
"""


@dataclass(frozen=True)
class SendCost:
    """What sending in pieces of one size gave. ``per_call_us`` is the time of one call to send, in microseconds."""

    piece_bytes: int
    per_call_us: float
    throughput_mbps: float


def cost_of_sends(piece_bytes: int, measured_s: float = MEASURED_S) -> SendCost:
    """Sends pieces of a size to another process as fast as it can, in real time, for about `measured_s`.

    The reader takes up to 1 MiB at once, so that it is not what is measured. The result is this machine's, and a busy
    machine's is worse: only ratios between sizes that were measured together say something.
    """
    piece = b"x" * piece_bytes
    with socket.create_server((_LOOPBACK, 0)) as listener:
        reader = subprocess.Popen([sys.executable, "-S", "-c", _READER, str(listener.getsockname()[1])])
        try:
            listener.settimeout(30)
            connection, _ = listener.accept()
            with connection:
                calls, began_s = 0, time.perf_counter()
                while (took_s := time.perf_counter() - began_s) < measured_s and calls * piece_bytes < _BYTES_AT_MOST:
                    connection.sendall(piece)
                    calls += 1
            reader.wait(30)
        finally:
            reader.kill()
            reader.wait()
    return SendCost(piece_bytes, took_s / calls * 1e6, calls * piece_bytes * 8 / 1e6 / took_s)
