"""Exchange messages through the guest's memory: the host reads and writes a box of 4 MB of a stopped machine.

The guest stops its machine by itself (`rest.patch`): at an event, which the host takes before it lets the machine go
on, and when it wants the next request. So no message arrives while the guest runs, and the moment of none can show in
a measurement's digits. Only an interrupt stops a machine that runs.

At the box's start are two words, for each direction one: what lies there and how long it is, 0 for nothing. Whoever
reads a message sets its word to 0, and the guest stops its machine again and again until the host has read.
"""

from __future__ import annotations

import struct
from typing import Final

TO_GUEST_WORD: Final = 0
FROM_GUEST_WORD: Final = 4
TO_GUEST_AT: Final = 0x1000
FROM_GUEST_AT: Final = 0x20_0000
PART_BYTES: Final = FROM_GUEST_AT - TO_GUEST_AT
"""A longer message comes in parts."""
WORD: Final = struct.Struct("<I")
_LENGTH: Final = 0xFFF_FFFF
PART, LAST, DROP, ASK, LAST_ASK = range(1, 6)
"""PART: a part of a message. LAST: the last part. DROP: forget the parts so far. ASK: the guest is idle and takes the
next request. LAST_ASK: the last part, and then the guest is idle.
"""


def word(kind: int, length: int = 0) -> int:
    """Return the word in front of a message: its kind and its length."""
    return kind << 28 | length


def unword(value: int) -> tuple[int, int]:
    """Return the kind and the length that a word says."""
    return value >> 28, value & _LENGTH
