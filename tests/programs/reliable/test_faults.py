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


BOTH = [*ANSWERED, [2.1, 4, "y", "passed"]]
REPEATED = [*PASSED, PASSED[1]]
AGAIN = [*PASSED, [3.0, 1005, "b", "passed"], [4.0, 1005, "b", "passed"]]
GAVE_UP: dict[str, Any] = {"status": 1}
HANGS: dict[str, Any] = {"status": None, "stopped": "it did not come to an end", "ended_s": None}
FILE = random.Random(1).randbytes(300_000)
OF_THE_FILE = [[1.0 + at / 1000, 1005, str(at), "passed"] for at in [*range(300), 0]]


def _transfer(
    content: bytes = WANTED,
    got: bytes | None = WANTED,
    sender: dict[str, Any] | None = None,
    receiver: dict[str, Any] | None = None,
    up: list[list[Any]] = PASSED,
    down: list[list[Any]] = BOTH,
) -> PlayedTransfer:
    kept = {"kept": None if got is None else base64.b64encode(got).decode()}
    programs = [_program("sender") | (sender or {}), _program("receiver") | (receiver or {}) | kept]
    datagrams = {"up": up, "down": down, "flooded": {"up": 0, "down": 0}}
    acts = [{"program": program} for program in programs]
    record = {"server": None, "restarted": None, "acts": acts, "stalled": False, "by": [], "datagrams": datagrams}
    plan = TransferPlan(content, impairments=Impairments(silent_from=2, silent_s=8.0))
    return PlayedTransfer("made", plan, record)


@pytest.mark.parametrize(
    ("seen", "reason", "hint"),
    [
        ({"got": WANTED[:900], "sender": {"breaches": ["memory"]}}, "more than 192 MB", "in memory"),
        ({"got": None, "sender": GAVE_UP | {"err": [[1.0, TRACEBACK]]}}, "and said: KeyError: 3", "this error"),
        ({"got": b"", "sender": GAVE_UP, "up": [], "down": []}, "no datagram of the sender", "packets alone"),
        ({"got": b"", "sender": GAVE_UP, "down": []}, "the receiver answered none", "bind the PORT"),
        ({"sender": GAVE_UP, "receiver": {"ended_s": 2.5}, "up": AGAIN}, "the last 2 datagrams", "TIME-WAIT"),
        ({"sender": GAVE_UP, "receiver": {"ended_s": 9.0}, "up": AGAIN}, "the last 2 datagrams", "repeats too"),
        (
            {"receiver": GAVE_UP, "up": [PASSED[0], [2.0, 1005, "b", "lost"]], "down": ANSWERED},
            "the sender's last datagram was lost",
            "when all is acknowledged",
        ),
        ({"got": WANTED[:900], "up": PASSED[:1], "down": ANSWERED}, "sent 1005 bytes in all", "to its end"),
        (
            {
                "got": WANTED[:900],
                "sender": GAVE_UP | {"ended_s": 7.0},
                "up": [PASSED[0], [2.0, 1005, "b", "silent"]],
                "down": ANSWERED,
            },
            "5.0 s after the silence",
            "30 s without an answer",
        ),
        (
            {
                "got": WANTED[:900],
                "sender": GAVE_UP | {"ended_s": 25.0},
                "up": [PASSED[0], [20.0, 1005, "b", "lost"]],
                "down": ANSWERED,
            },
            "nothing for 19.0 s",
            "repeats alone",
        ),
        ({"got": None}, "no file; the sender ended with status 0", "writes what arrives"),
        ({"sender": HANGS}, "the sender was still running after 300 s", "still waits"),
        ({"receiver": HANGS}, "the receiver was still running", "some seconds after"),
        ({"receiver": GAVE_UP}, "the receiver ended with status 1", "how does the receiver"),
        ({"got": WANTED[::-1]}, "byte 0 is the first wrong one", "nothing decoded"),
        ({"got": WANTED + b"x", "up": REPEATED}, "1 bytes after it", "not be written again"),
    ],
)
def test_each_fault_has_the_reason_that_was_seen_and_its_hint(seen: dict[str, Any], reason: str, hint: str) -> None:
    found = wrong_with(_transfer(**seen))
    assert reason in found.reason
    assert hint in found.hint


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
    assert hint in wrong_with(_transfer(FILE, got, up=OF_THE_FILE, down=[[1.4, 4, "x", "passed"]])).hint
