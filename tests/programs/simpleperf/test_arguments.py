"""Arguments: whether a program takes them is seen from what it does, and only then from what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from linklab.programs.checks import Failed, Observed
from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.session import DEFAULT_PORT, SimpleperfScenes
from linklab.programs.submission import SubmittedProgram

LISTENS, CONNECTS = "listens", "connects"
Acts = Callable[[list[str]], str | tuple[int | None, str]]
"""What a program does with a command: listen, connect, or end with a status and words; None is one that is stopped."""
_WRONG: Final = (
    *("1023", "65536", "abc", "127.0.0.256", "nonsense", "GB"),
    *("0", "soon", "6", "0B", "10XB", "often"),
)


def right(words: list[str]) -> str | tuple[int | None, str]:
    """What a right program does."""
    if not words or words[:2] == ["-s", "-c"]:
        return 2, "Error: you must run either in server or client mode"
    wrong = next((flag for flag, value in pairwise(words) if value in _WRONG), None)
    if wrong:
        return 2, f"usage: simpleperf [-h]\n                  [-s]\nsimpleperf: error: argument {wrong}: it is wrong"
    return LISTENS if words[0] == "-s" else CONNECTS


def _transferred(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a transfer in which the server listens and the client connects."""
    idle: dict[str, Any] = {
        "breaches": [],
        "unconfined": False,
        "out": [],
        "err": [],
        "ended_s": None,
        "status": None,
        "stopped": "",
    }
    server, client = ({**idle, "words": words} for words in (plan["server"]["words"], plan["acts"][0]["words"]))
    record: dict[str, Any] = {"server": server, "restarted": None, "listening": [["10.9.0.2", plan["server"]["port"]]]}
    nothing = {"bytes": 0, "tail": "", "arrivals": []}
    record |= {"acts": [{"kind": "client", "program": client}], "relay": [{"refused": False, "up": nothing}]}
    return {**record, "stalled": False, "by": []}


def judged(key: str, acts: Acts = right) -> Observed:
    """Return the verdict on a program that acts so."""

    def play(plan: dict[str, Any]) -> dict[str, Any]:
        if plan["server"]:
            return _transferred(plan)
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
            done[-1]["listening"] = [("127.0.0.1", DEFAULT_PORT)] if did == LISTENS else []
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
        ("modes", ["-s", "-c"], CONNECTS, "the mode is not checked", "it connects to port 8088"),
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
    ("key", "flag", "value"),
    [
        ("ports", "-p", "1024"),
        ("ports", "-p", "65535"),
        ("addresses", "-b", "127.0.0.255"),
        ("addresses", "-I", "127.0.0.255"),
        *(("formats", "-f", unit) for unit in ("B", "MB")),
        ("times", "-t", "1"),
        ("parallels", "-P", "1"),
        ("parallels", "-P", "5"),
        ("amounts", "-n", "1B"),
        ("interval-text", "-i", "1"),
    ],
)
def test_a_right_value_at_the_border_that_is_refused_is_told(key: str, flag: str, value: str) -> None:
    found = judged(key, lambda words: (2, f"{flag} is wrong") if (flag, value) in pairwise(words) else right(words))
    assert found.reason.startswith("a right argument is refused"), found.reason
    assert f"{flag} {value}" in found.reason


@pytest.mark.parametrize(
    ("key", "mode", "flag", "value"),
    [
        *(("ports", mode, "-p", value) for mode in ("-s", "-c") for value in ("1023", "65536")),
        ("addresses", "-c", "-I", "127.0.0.256"),
        ("addresses", "-s", "-b", "nonsense"),
        ("formats", "-c", "-f", "GB"),
        *(("times", "-c", "-t", value) for value in ("0", "soon")),
        *(("parallels", "-c", "-P", value) for value in ("0", "6")),
        *(("amounts", "-c", "-n", value) for value in ("0B", "10XB")),
        *(("interval-text", "-c", "-i", value) for value in ("0", "often")),
    ],
)
def test_a_wrong_value_that_is_taken_is_told(key: str, mode: str, flag: str, value: str) -> None:
    does = LISTENS if mode == "-s" else CONNECTS

    def acts(words: list[str]) -> str | tuple[int | None, str]:
        return does if mode in words and (flag, value) in pairwise(words) else right(words)

    found = judged(key, acts)
    assert f"{flag} {value}" in found.reason
    assert f"it {does}" in found.reason


@pytest.mark.parametrize(
    "said", ["-f: choose another one", "Format must be B, KB or MB", "argument -f/--format: invalid choice: 'GB'"]
)
def test_a_flag_is_named_by_its_letter_or_its_name(said: str) -> None:
    assert judged("formats", lambda words: (1, said) if words[-1:] == ["GB"] else right(words)).reason == ""
