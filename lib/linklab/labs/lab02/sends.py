"""Measure what it costs to send in small pieces: TCP over this machine's loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

__all__ = ["cost_of_sends"]

_CPU_S: Final = 0.1
"""How long sending computes for each size."""
_ALLOWED_S: Final = 20.0
_LOOPBACK: Final = "127.0.0.1"
_READER: Final = """
import socket, sys
block = bytearray(1 << 20)
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    while connection.recv_into(block):
        pass
"""


@dataclass(frozen=True)
class SendCost:
    """The cost of sending in pieces of one size. ``call_us`` is the processor's time for one call, in microseconds."""

    piece_bytes: int
    call_us: float

    @property
    def limit_mbps(self) -> float:
        """The rate in Mbit/s at which a processor could send that does nothing else."""
        return self.piece_bytes * 8 / self.call_us


def cost_of_sends(piece_bytes: int) -> SendCost:
    """Send pieces of a size to another process, as fast as possible, for 0.1 s of the processor's time.

    That is user and system time: the clock's would count the work of others too, on a busy machine. The reader takes
    up to 1 MiB at once. Raises OSError if there is no loopback to send on.
    """
    piece = b"x" * piece_bytes
    with socket.create_server((_LOOPBACK, 0)) as listener:
        reader = subprocess.Popen([sys.executable, "-S", "-c", _READER, str(listener.getsockname()[1])])
        try:
            listener.settimeout(_ALLOWED_S)
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(_ALLOWED_S)
                calls, began_s = 0, time.process_time()
                while (took_s := time.process_time() - began_s) < _CPU_S:
                    connection.sendall(piece)
                    calls += 1
        finally:
            reader.kill()
            reader.wait()
    return SendCost(piece_bytes, took_s / calls * 1e6)
