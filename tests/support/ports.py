"""TCP ports for servers of tests."""

from __future__ import annotations

import random
import socket

_BELOW = 32_768
"""From here on the kernel gives ports to whoever connects, and one that is free now may be another's soon."""


def free_port() -> int:
    """A port of loopback's that nobody uses."""
    while True:
        port = random.SystemRandom().randrange(20_000, _BELOW)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
