"""One way in which a live network is not as planned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One thing that is not as expected, and what probably made it so.

    ``field`` is one of node, kind, interface, addresses, state, mtu, peer, tunnel, rate, delay, jitter, loss,
    queue, offloads, forwarding, congestion control, or begins with "route to". ``expected`` and ``found`` are
    for reading and carry their units.
    """

    node: str
    interface: str | None
    field: str
    expected: str
    found: str
    cause: str

    def __str__(self) -> str:
        where = f"{self.interface} on {self.node}" if self.interface else self.node
        return f"{where}: {self.field} is {self.found}, expected {self.expected}: {self.cause}"
