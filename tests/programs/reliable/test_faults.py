"""What is wrong with a transfer is said by what was seen: the same bytes with other evidence have another reason."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan

WANTED = bytes(range(200)) * 10
TRACEBACK = "Traceback (most recent call last):\n  ...\nKeyError: 3\n"
PASSED, ANSWERED = [[1.0, 1005, "a", "passed"], [2.0, 1005, "b", "passed"]], [[1.1, 4, "x", "passed"]]


def _program(side: str) -> dict[str, Any]:
    ended = {"status": 0, "stopped": "", "ended_s": 3.0, "kept": None}
    return {"side": side, "breaches": [], "err": [], "out": [], "unconfined": False, **ended}


def _transfer(
    got: bytes | None,
    sender: dict[str, Any],
    receiver: dict[str, Any],
    up: list[list[Any]],
    down: list[list[Any]],
) -> PlayedTransfer:
    kept = None if got is None else base64.b64encode(got).decode()
    acts = [{"program": _program("sender") | sender}, {"program": _program("receiver") | receiver | {"kept": kept}}]
    datagrams = {"up": up, "down": down, "flooded": {"up": 0, "down": 0}}
    record = {"server": None, "restarted": None, "acts": acts, "stalled": False, "by": [], "datagrams": datagrams}
    plan = TransferPlan(WANTED, impairments=Impairments(silent_from=2, silent_s=8.0))
    return PlayedTransfer("made", plan, record)


BOTH = [*ANSWERED, [2.1, 4, "y", "passed"]]
GAVE_UP: dict[str, Any] = {"status": 1}
HANGS: dict[str, Any] = {"status": None, "stopped": "it did not come to an end", "ended_s": None}
LOST = [PASSED[0], [2.0, 1005, "b", "lost"]]
AGAIN = [*PASSED, [3.0, 1005, "b", "passed"], [4.0, 1005, "b", "passed"]]
SILENT = [PASSED[0], [2.0, 1005, "b", "silent"]]
PAUSE = [PASSED[0], [20.0, 1005, "b", "lost"]]

FILE = random.Random(1).randbytes(300_000)


@pytest.mark.parametrize(
    ("got", "hint"),
    [
        (FILE[:3000] + FILE[2000:], "a repeat must not be written again"),
        (FILE[:3000] + FILE[4000:], "a packet is left out"),
        (FILE[:3000][::-1] + FILE[3000:], "count before it is used again"),
        (FILE[:256_000], "use more bytes"),
        (FILE[:255_000], "was never sent again"),
    ],
)
def test_the_bytes_of_the_file_tell_the_slip(got: bytes, hint: str) -> None:
    made = _transfer(got, {}, {}, [*PASSED, PASSED[1]], BOTH)
    plan = TransferPlan(FILE)
    up = [[1.0 + at / 1000, 1005, str(at), "passed"] for at in range(300)]
    record = {
        **made.record,
        "datagrams": {**made.record["datagrams"], "up": [*up, up[0]], "down": [[1.4, 4, "x", "passed"]]},
    }
    assert hint in wrong_with(PlayedTransfer("made", plan, record)).hint


@pytest.mark.parametrize(
    ("got", "sender", "receiver", "up", "down", "reason", "hint"),
    [
        (WANTED, {}, {}, PASSED, BOTH, "", ""),
        (WANTED[:900], {"breaches": ["memory"]}, {}, PASSED, BOTH, "more than 192 MB", "in memory"),
        (None, GAVE_UP | {"err": [[1.0, TRACEBACK]]}, {}, PASSED, BOTH, "and said: KeyError: 3", "this error"),
        (b"", GAVE_UP, GAVE_UP, [], [], "no datagram of the sender", "packets alone"),
        (b"", GAVE_UP, GAVE_UP, PASSED, [], "sent 2 datagrams, and the receiver answered none", "bind the PORT"),
        (WANTED, GAVE_UP, {"ended_s": 2.5}, AGAIN, BOTH, "all bytes arrived; the last 2 datagrams", "TIME-WAIT"),
        (WANTED, GAVE_UP, {"ended_s": 9.0}, AGAIN, BOTH, "the last 2 datagrams", "repeats too"),
        (WANTED, {}, GAVE_UP, LOST, ANSWERED, "the sender's last datagram was lost", "when all is acknowledged"),
        (WANTED[:900], {}, {}, [PASSED[0]], ANSWERED, "sent 1005 bytes in all", "to its end"),
        (
            WANTED[:900],
            GAVE_UP | {"ended_s": 7.0},
            {},
            SILENT,
            ANSWERED,
            "5.0 s after the silence",
            "30 s without an answer",
        ),
        (WANTED[:900], GAVE_UP | {"ended_s": 25.0}, {}, PAUSE, ANSWERED, "nothing for 19.0 s", "repeats alone"),
        (None, {}, {}, PASSED, BOTH, "no file; the sender ended with status 0", "writes what arrives"),
        (WANTED, HANGS, {}, PASSED, BOTH, "the sender was still running after 300 s", "still waits"),
        (WANTED, {}, HANGS, PASSED, BOTH, "the receiver was still running", "some seconds after"),
        (WANTED, {}, GAVE_UP, PASSED, BOTH, "the receiver ended with status 1", "how does the receiver"),
        (WANTED[::-1], {}, {}, PASSED, BOTH, "byte 0 is the first wrong one", "nothing decoded"),
        (
            WANTED[::-1],
            {},
            {},
            [*PASSED, PASSED[1]],
            BOTH,
            "byte 0 is the first wrong one",
            "count before it is used again",
        ),
        (WANTED + b"x", {}, {}, [*PASSED, PASSED[1]], BOTH, "1 bytes after it", "not be written again"),
        (WANTED[:9], {}, {}, [*PASSED, PASSED[1]], BOTH, "only the first 9 of 2000 bytes", "never sent again"),
    ],
)
def test_each_fault_has_the_reason_that_was_seen_and_its_hint(
    got: bytes | None,
    sender: dict[str, Any],
    receiver: dict[str, Any],
    up: list[list[Any]],
    down: list[list[Any]],
    reason: str,
    hint: str,
) -> None:
    found = wrong_with(_transfer(got, sender, receiver, up, down))
    assert reason in found.reason
    assert hint in found.hint
    assert bool(found.reason) == bool(reason)
