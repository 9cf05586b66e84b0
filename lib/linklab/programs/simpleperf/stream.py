"""What a client sent, taken apart: start message, data, end message. Pure.

Data repeats itself: a program sends the same chunk again and again. What stands before the repetition is the start
message, what stands behind it the end message. Where data does not repeat, the sizes of the first writes, and what is
left over of whole chunks of 1000 bytes, tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CHUNK_BYTES: Final = 1000
MESSAGE_BYTES: Final = 256
"""No start message is longer, and no end message."""
_LONGEST_END: Final = 1100
"""But an end message that is filled up to a whole chunk."""
_LONGEST_PERIOD: Final = 2048
_RUN_BYTES: Final = 16
"""So many bytes that repeat are no accident."""
_EDGE_BYTES: Final = 4
"""So many bytes of a message may look like data: a BYE behind a B."""


@dataclass(frozen=True)
class Stream:
    """The parts of what a client sent. ``chunk`` is what its data repeats, or the first bytes of it."""

    start: bytes
    end: bytes
    chunk: bytes
    total_bytes: int

    @property
    def data_bytes(self) -> int:
        """Bytes of data, without start and end."""
        return max(0, self.total_bytes - len(self.start) - len(self.end))

    def again(self, size: int) -> bytes:
        """Return so many bytes of data, as the client would send them."""
        return (self.chunk * (size // max(1, len(self.chunk)) + 1))[:size]


def take_apart(head: bytes, tail: bytes, total: int, arrivals: Sequence[tuple[float, int]]) -> Stream:
    """Return the parts of a stream, from its first and last bytes, its size, and when how much of it had arrived."""
    found = min(((_repeats_from(head, period), period) for period in _periods(head)), default=None)
    if found is None or found[0] > MESSAGE_BYTES:
        start = _start_by_arrival(head, arrivals)
        rest = (total - len(start)) % CHUNK_BYTES
        end = tail[-rest:] if 0 < rest <= MESSAGE_BYTES else b""
        return Stream(start, end, head[len(start) : len(start) + CHUNK_BYTES], total)
    first, period = found
    pattern = head[first : first + period]
    end = _end(pattern, tail, total - first)
    return Stream(head[:first], end, head[first : first + CHUNK_BYTES], total)


def _periods(head: bytes) -> list[int]:
    """Distances at which what stands in the middle of the first bytes comes again; that of whole chunks with them."""
    middle = len(head) // 2
    probe = head[middle : middle + _RUN_BYTES]
    if len(probe) < _RUN_BYTES:
        return []
    behind = head.find(probe, middle + 1)
    before = head.rfind(probe, 0, middle + _RUN_BYTES - 1)
    distances = {behind - middle if behind > 0 else 0, middle - before if before >= 0 else 0, CHUNK_BYTES}
    return sorted(period for period in distances if 0 < period <= _LONGEST_PERIOD and _holds(head, middle, period))


def _holds(head: bytes, middle: int, period: int) -> bool:
    """Whether the middle repeats at this distance, before it or behind it."""
    probe = head[middle : middle + _RUN_BYTES]
    return head.startswith(probe, middle + period) or (middle >= period and head.startswith(probe, middle - period))


def _repeats_from(head: bytes, period: int) -> int:
    """Where the repetition begins."""
    first = max(0, min(len(head) // 2, len(head) - period - 1))
    while first > 0 and head[first - 1] == head[first - 1 + period]:
        first -= 1
    return first


def _end(pattern: bytes, tail: bytes, total: int) -> bytes:
    """What stands behind the data, which repeats the pattern; ``total`` are the bytes from the data's beginning on."""
    place = total - len(tail)
    expected = [pattern[(place + number) % len(pattern)] for number in range(len(tail))]
    behind = _behind(tail, [byte == other for byte, other in zip(tail, expected, strict=True)])
    if behind is None:
        # a write that was cut short shifts the pattern: then what repeats from byte to byte tells
        period = len(pattern)
        again = [number >= period and tail[number] == tail[number - period] for number in range(len(tail))]
        behind = _behind(tail, again)
    rest = total % CHUNK_BYTES
    if behind is None:
        return tail[-rest:] if 0 < rest <= MESSAGE_BYTES else b""
    end = tail[behind:]
    # the end message itself may begin as the data goes on
    if len(end) < rest <= len(end) + _EDGE_BYTES:
        end = tail[-rest:]
    return end if len(end) <= _LONGEST_END else b""


def _behind(tail: bytes, fits: Sequence[bool]) -> int | None:
    """Where the last run of bytes that fit ends, if it is no accident."""
    run = 0
    for place in range(len(tail) - 1, -1, -1):
        run = run + 1 if fits[place] else 0
        if run == _RUN_BYTES:
            behind = place + _RUN_BYTES
            while behind < len(tail) and fits[behind]:
                behind += 1
            return behind
    return None


def _start_by_arrival(head: bytes, arrivals: Sequence[tuple[float, int]]) -> bytes:
    """A first write that is short, and comes alone."""
    if len(arrivals) > 1 and 0 < arrivals[0][1] <= MESSAGE_BYTES:
        return head[: arrivals[0][1]]
    return b""
