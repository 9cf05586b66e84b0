"""What the relay's notes say of a transfer."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.submission import SubmittedProgram

PROGRAM = SubmittedProgram("reliable.py", {"reliable.py": b""}, False)


def _record(sizes: list[int], digests: list[str], fate: str = "passed") -> dict[str, Any]:
    up = [[float(at), size, digest, fate] for at, (size, digest) in enumerate(zip(sizes, digests, strict=True))]
    datagrams = {"up": up, "down": [], "flooded": {"up": 0, "down": 0}}
    return {"server": None, "restarted": None, "acts": [], "stalled": False, "by": [], "datagrams": datagrams}


def test_a_transfer_keeps_what_was_sent_when_it_was_played() -> None:
    """Each check draws the file that it sends: another one was never on the wire."""
    transfers = Transfers(PROGRAM, lambda _: _record([], []))
    first = transfers.play("first", TransferPlan(b"a"))
    assert transfers.play("first", TransferPlan(b"b")) is first


@pytest.mark.parametrize(
    ("size", "sizes", "digests", "repeats"),
    [
        (3000, [1005, 1005, 1005, 5], ["a", "b", "c", "d"], 0),
        (3000, [1005, 1005, 1005, 1005, 5], ["a", "b", "b", "c", "d"], 1),
        # each repeat has something new in it, a time for example
        (3000, [1005] * 9 + [5], [str(number) for number in range(10)], 5),
        (0, [5, 5], ["a", "b"], 0),
        (10, [13, 4], ["a", "b"], 0),
        (3000, [], [], 0),
    ],
)
def test_repeats_are_counted_by_their_bytes_and_by_what_the_file_needs(
    size: int, sizes: list[int], digests: list[str], repeats: int
) -> None:
    assert PlayedTransfer("made", TransferPlan(bytes(size)), _record(sizes, digests)).repeats == repeats
