"""Arguments: whether a program takes them is seen from what it does, and only then from what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from linklab.programs.checks import Failed, Observed
from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.session import DEFAULT_ADDRESS, SimpleperfScenes
from linklab.programs.submission import SubmittedProgram

LISTENS, CONNECTS = "listens", "connects"
Acts = Callable[[list[str]], str | tuple[int | None, str]]
"""What a program does with a command: listen, connect, or end with a status and words; None is one that is stopped."""
_WRONG: Final = ("80", "70000", "abc", "300.1.1.1", "nonsense", "GB", "0", "soon", "6", "10XB", "often")


def right(words: list[str]) -> str | tuple[int | None, str]:
    """What a right program does."""
    if not words or words[:2] == ["-s", "-c"]:
        return 2, "Error: you must run either in server or client mode"
    wrong = next((flag for flag, value in pairwise(words) if value in _WRONG), None)
    if wrong:
        return 2, f"usage: simpleperf [-h]\n                  [-s]\nsimpleperf: error: argument {wrong}: it is wrong"
    return LISTENS if words[0] == "-s" else CONNECTS


def judged(key: str, acts: Acts = right) -> Observed:
    """Return the verdict on a program that acts so."""

    def play(plan: dict[str, Any]) -> dict[str, Any]:
        meeting = {one["host"]: one for one in plan["listeners"]}
        connected, done = set(), list[dict[str, Any]]()
        for act in plan["acts"]:
            did = acts(act["words"][1:])
            if did == CONNECTS:
                connected.add(act["host"])
            status, said = (None, "") if isinstance(did, str) else did
            program = {"side": "client", "words": act["words"], "breaches": [], "unconfined": False, "out": []}
            program |= {"ended_s": None if status is None else 0.5, "status": status, "err": [(0.1, said)]}
            program["stopped"] = "" if status is not None else "it did not come to an end"
            done.append({"kind": "client", "program": program})
            done[-1]["listening"] = [DEFAULT_ADDRESS] if did == LISTENS else []
        listeners = {
            host: {"address": one["address"], "port": one["port"], "connections": [0.1] * (host in connected)}
            for host, one in meeting.items()
        }
        return {"server": None, "restarted": None, "acts": done, "listeners": listeners, "stalled": False, "by": []}

    program = SubmittedProgram("simpleperf.py", {"simpleperf.py": b""}, False)
    try:
        return ITEMS[key](SimpleperfScenes(program, play))
    except Failed as wrong:
        return wrong.observed


@pytest.mark.parametrize(
    ("key", "wrong", "does", "mistake", "reason"),
    [
        ("modes", ["-s", "-c"], CONNECTS, "the mode is not checked", "it connects to 127.0.0.1:8088"),
        ("formats", ["-f", "GB"], (0, "The format is valid"), "exit status 0 on errors", "ends with status 0"),
        ("formats", ["-f", "GB"], (0, "done"), "a wrong argument is accepted", "ends with status 0"),
        ("formats", ["-f", "GB"], (None, ""), "it does not come to an end", "had to be stopped"),
        # argparse's own usage alone, and its whole help, name no argument
        ("formats", ["-f", "GB"], (2, "usage: -f FORMAT"), "no message for a wrong argument", "says nothing"),
        (
            "formats",
            ["-f", "GB"],
            (1, "  -f FORMAT  unit\n  -n NUM  amount"),
            "the message does not name the",
            "-n NUM",
        ),
        ("formats", ["-f", "GB"], (1, "information"), "the message does not name the argument", "information"),
        ("ports", ["-p", "abc"], (1, "-P is wrong"), "the message does not name the argument", "-P is wrong"),
        ("addresses", ["-b", "nonsense"], (1, "-I is wrong"), "the message does not name the argument", "-I is wrong"),
        ("modes", [], (2, "usage: simpleperf [-s] [-c]"), "no message for a wrong argument", "says nothing"),
    ],
)
def test_what_it_does_comes_before_how_it_ends_and_what_it_says(
    key: str, wrong: list[str], does: str | tuple[int | None, str], mistake: str, reason: str
) -> None:
    def acts(words: list[str]) -> str | tuple[int | None, str]:
        is_meant = words == wrong or (wrong and words[-len(wrong) :] == wrong)
        return does if is_meant else right(words)

    found = judged(key, acts)
    assert found.reason.startswith(mistake), found.reason
    assert reason in found.reason


@pytest.mark.parametrize(
    "said", ["-f: choose another one", "Format must be B, KB or MB", "argument -f/--format: invalid choice: 'GB'"]
)
def test_a_flag_is_named_by_its_letter_or_its_name(said: str) -> None:
    assert judged("formats", lambda words: (1, said) if words[-1:] == ["GB"] else right(words)).reason == ""
