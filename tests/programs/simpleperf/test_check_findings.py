"""What the check once got wrong: each kind of fault on a program that shows it, by a cause and not by a case."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from linklab.programs import simpleperf, submission
from linklab.programs.place import LoopbackPlace
from linklab.programs.simpleperf import ConformanceCheck, Report, judge_transfer, trouble
from linklab.programs.simpleperf.evidence import Printed, Take
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.session import Session
from linklab.runtime.backends import Kind

from ...simpleperf.runner import REFERENCE
from . import played
from .findings import CASES, SPINS, Case


def _as_it_must_be(case: Case, report: Report) -> None:
    checks = [check for check in report.checks if isinstance(check, ConformanceCheck)]
    failed = {check.key: check.mistake for check in checks if check.outcome == "failed"}
    assert failed == {key: mistake.title for key, mistake in case.fails.items()}, str(report)
    hints = {check.key: check.mistake for check in checks if check.passed and check.mistake}
    assert hints == {key: mistake.title for key, mistake in case.hints.items()}, str(report)
    assert not report.broken


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_cause_is_told_from_its_like(case: Case) -> None:
    """Judged from what passed when it was played once."""
    _as_it_must_be(case, played.judged(case.program.name))


@pytest.mark.lab
@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_played_anew_it_is_told_too(case: Case, virtual: Kind, tmp_path: Path) -> None:
    _as_it_must_be(case, simpleperf.check(case.program.write(tmp_path), case.steps))


def _blames_the_loop_alone(report: Report) -> None:
    checks = {check.key: check for check in report.checks if isinstance(check, ConformanceCheck)}
    assert checks["glued"].passed
    assert checks["pieces"].passed
    assert checks["abrupt"].mistake == Mistake.SPINS.title


def test_a_server_that_spins_on_a_client_that_left_is_not_blamed_for_its_end_message() -> None:
    _blames_the_loop_alone(played.judged(SPINS.program.name))


@pytest.mark.lab
@pytest.mark.thorough
def test_played_anew_it_is_not_blamed_either(virtual: Kind, tmp_path: Path) -> None:
    _blames_the_loop_alone(simpleperf.check(SPINS.program.write(tmp_path), SPINS.steps))


def flow(size: int = 0, at_s: float | None = None, closed_s: float | None = None, data: bytes = b"") -> dict[str, Any]:
    """A direction of a connection: so many bytes, all at one time."""
    text = base64.b64encode(data[:8192]).decode()
    return {
        "bytes": size,
        "last_s": at_s,
        "forwarded_s": at_s,
        "closed_s": closed_s,
        "reset": False,
        "head": text,
        "tail": text,
        "arrivals": [] if at_s is None else [(at_s, size)],
    }


def program(
    side: str, status: int | None = 0, ended_s: float | None = 3.0, out: str = "", err: str = ""
) -> dict[str, Any]:
    return {
        "words": ["simpleperf.py", "-s" if side == "server" else "-c"],
        "started_s": 0.0,
        "ended_s": ended_s,
        "status": status,
        "stopped": "" if ended_s else "it did not come to an end",
        "breaches": [],
        "unconfined": False,
        "out": [(0.5, out)] if out else [],
        "err": [(0.5, err)] if err else [],
    }


def take(up: dict[str, Any], down: dict[str, Any], client: dict[str, Any], **more: Any) -> Take:
    connection = {
        "accepted_s": 0.0,
        "refused": False,
        "bulk_s": None,
        "up": up,
        "down": down,
    }
    record = {
        "server": program("server", None, None),
        "listening": [("10.9.0.2", 5201)],
        "alive": True,
        "restarted": None,
        "acts": [{"kind": "client", "program": client}],
        "relay": [connection],
        "stalled": False,
        "by": [],
        "end_s": 9.0,
    }
    return Take({**record, **more})


DATA = b"x" * 8000 + b"BYE"


def test_an_answer_to_nothing_is_none() -> None:
    seen = take(flow(), flow(3, 1.0, data=b"ACK"), program("client"))
    assert seen.main.acknowledged_s is None


def test_an_answer_after_the_client_was_stopped_does_not_count() -> None:
    up, down = flow(len(DATA), 1.0, closed_s=30.0, data=DATA), flow(8, 30.1, data=b"ACK: BYE")
    stopped = take(up, down, program("client", None, None))
    assert stopped.main.acknowledged_s == 30.1
    assert not stopped.waited()
    assert take(up, flow(8, 2.0, data=b"ACK: BYE"), program("client", None, None)).waited()


def test_who_is_gone_when_the_answer_comes_has_not_waited() -> None:
    up, down = flow(len(DATA), 1.0, closed_s=1.0, data=DATA), flow(8, 2.5, data=b"ACK: BYE")
    assert not take(up, down, program("client", ended_s=1.1)).waited()
    # half closed, and waiting
    assert take(up, down, program("client", ended_s=2.6)).waited()


def test_refused_connections_stay_in_the_evidence() -> None:
    seen = take(flow(len(DATA), 1.0, data=DATA), flow(8, 1.2, data=b"ACK: BYE"), program("client"))
    refused = {**seen.record["relay"][0], "refused": True}
    both = Take({**seen.record, "relay": [*seen.record["relay"], refused]})
    assert (len(both.tried), len(both.connections), len(both.refused)) == (2, 1, 1)


@pytest.mark.parametrize("by", [["server"], ["client"], ["server", "client"]])
def test_a_stall_is_blamed_on_who_computed(by: list[str]) -> None:
    stalled = take(flow(), flow(), program("client", None, None), stalled=True, by=by)
    found = trouble.breach(stalled)
    assert found is not None
    assert found.mistake is Mistake.ENDLESS
    assert found.reason.startswith(f"the {' and the '.join(by)} ")
    assert not stalled.slow


def test_a_stall_that_nobody_made_is_no_endless_loop() -> None:
    assert take(flow(), flow(), program("client", None, None), stalled=True, by=[]).slow


TRACEBACK = """Traceback (most recent call last):
  File "/home/student/simpleperf.py", line 12, in client
    sock.connect((ip, port))
{line}
"""


@pytest.mark.parametrize(
    "line",
    ["socket.gaierror: [Errno -2] Name or service not known", "KeyError: 'rate'", "__main__.Oops", "TimeoutError"],
)
def test_any_exception_is_read_with_its_place(line: str) -> None:
    (error,) = Printed(program("client", 1, err=TRACEBACK.format(line=line))).errors
    assert error.line == line
    assert error.place == "simpleperf.py, line 12: sock.connect((ip, port))"


def test_a_client_that_connects_and_crashes_before_its_data_has_the_crash_for_a_cause() -> None:
    crashed = take(flow(), flow(), program("client", 1, err=TRACEBACK.format(line="KeyError: 'rate'")))
    session = Session(submission.read(REFERENCE), LoopbackPlace.__new__(LoopbackPlace), lambda _: None)
    check = judge_transfer._ends(session, crashed)
    assert (check.outcome, check.mistake) == ("failed", Mistake.TRACEBACK.title)
    assert "KeyError: 'rate'" in check.reason


def test_a_traceback_that_was_cut_off_has_the_place_that_it_came_to() -> None:
    text = TRACEBACK.format(line="").rstrip()
    for cut in (text, text.rsplit("\n", 1)[0]):
        (error,) = Printed(program("client", 1, err=cut)).errors
        assert error.line == "Traceback (most recent call last)"
        assert error.place.startswith("simpleperf.py, line 12")


def test_the_first_traceback_is_not_hidden_by_the_last() -> None:
    text = TRACEBACK.format(line="ConnectionResetError: gone") + TRACEBACK.format(line="UnicodeDecodeError: no text")
    assert [error.line[:6] for error in Printed(program("server", 1, err=text)).errors] == ["Connec", "Unicod"]


@pytest.mark.parametrize(
    ("err", "words"),
    [
        (
            "Error: no server\n/home/student/simpleperf.py:3: DeprecationWarning: old\n  import imp\n",
            "Error: no server",
        ),
        (
            "usage: simpleperf.py [-h]\n                     [-s]\nsimpleperf.py: error: -p: 80\n",
            "simpleperf.py: error: -p: 80",
        ),
        ("Warning: port must be between 1024 and 65535\n", "Warning: port must be between 1024 and 65535"),
        ("Error: no server\n-----------\n", "Error: no server"),
    ],
)
def test_last_words_are_the_programs_own(err: str, words: str) -> None:
    assert Printed(program("client", 1, err=err)).last_words() == words
