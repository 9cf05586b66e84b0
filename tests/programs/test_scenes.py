"""A scene that the machine spoilt is played again, and is no fault of the program."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.programs.scenes import NotTried, Play, last_line, play_with_retry, stopped_for

PROGRAM: dict[str, Any] = {"side": "client", "breaches": [], "unconfined": False, "out": [], "err": []}


def _record(stalled: bool = False, by: tuple[str, ...] = (), **program: Any) -> dict[str, Any]:
    acts = [{"kind": "client", "program": PROGRAM | program}]
    return {"server": None, "restarted": None, "acts": acts, "stalled": stalled, "by": list(by)}


def _playing(*records: dict[str, Any]) -> Play:
    left = list(records)
    return lambda _: left.pop(0)


@pytest.mark.parametrize("spoilt", [_record(unconfined=True), _record(stalled=True)])
def test_what_the_machine_spoils_is_played_again_and_then_not_tried(spoilt: dict[str, Any]) -> None:
    whole = _record()
    assert play_with_retry(_playing(spoilt, whole), {}) is whole
    with pytest.raises(NotTried):
        play_with_retry(_playing(spoilt, spoilt), {})


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (_record(), ""),
        (_record(breaches=["memory"]), "the client: it took more than 192 MB, and was ended"),
        (_record(stalled=True, by=("server", "client")), "the server and the client computed without end"),
        (_record(stalled=True, breaches=["output"]), "the client: it printed more than 8 MB"),
    ],
)
def test_what_a_program_was_stopped_for_is_said(record: dict[str, Any], said: str) -> None:
    assert stopped_for(record).startswith(said)
    assert bool(stopped_for(record)) == bool(said)


def test_a_program_s_last_line_is_its_error_s() -> None:
    assert last_line(PROGRAM | {"out": [[0.0, "a\nb\n"]], "err": [[0.1, "x\n"], [0.2, "y\n"]]}) == "y"
    assert last_line(PROGRAM | {"out": [[0.0, "a\nb\n"]]}) == "b"
    assert last_line(PROGRAM) == ""
