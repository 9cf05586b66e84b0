"""What a network does at one moment, as a lab notes it while something runs."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.measure.results import QueueCounters


@dataclass(frozen=True)
class Socket:
    """A socket of a host, as the kernel's tables have it.

    `local` and `remote` are address and port, with a ``*`` for no port. `state` is TCP's (RFC 9293), and empty for UDP.
    `unacknowledged_bytes` are sent or wait to be sent, `unread_bytes` arrived and no program has read them.
    `cwnd_segments` is the congestion window; None where there is none.
    """

    protocol: str
    local: str
    remote: str
    state: str
    unacknowledged_bytes: int
    unread_bytes: int
    cwnd_segments: int | None


@dataclass(frozen=True)
class Second:
    """What a network does: the counters of all shaped interfaces since the lab's start, and each host's sockets.

    `at_s` is the lab's clock, to 20 ms.
    """

    at_s: float
    queues: tuple[QueueCounters, ...]
    sockets: dict[str, tuple[Socket, ...]]
