"""A scene's record as data: who waited, who was refused, what a client sent, why a program was stopped."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from linklab.programs.simpleperf.evidence import PlayedScene, ProgramRun
from linklab.programs.simpleperf.trouble import breach, crash


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


def scene(up: dict[str, Any], down: dict[str, Any], client: dict[str, Any], **more: Any) -> PlayedScene:
    connection = {"accepted_s": 0.0, "refused": False, "bulk_s": None, "up": up, "down": down}
    acts = [{"kind": "client", "program": client}]
    server = {"server": program("server", None, None), "alive": True, "restarted": None}
    return PlayedScene({**server, "acts": acts, "relay": [connection], "stalled": False, "by": [], **more})


DATA = b"x" * 8000 + b"BYE"
STOPPED = program("client", None, None)


def test_an_answer_to_nothing_is_none() -> None:
    seen = scene(flow(), flow(3, 1.0, data=b"ACK"), program("client"))
    assert seen.main.acknowledged_s is None


@pytest.mark.parametrize(
    ("closed_s", "answered_s", "client", "has_waited"),
    [
        (30.0, 30.1, STOPPED, False),  # the answer came after it was stopped
        (None, 2.0, STOPPED, True),
        (1.0, 2.5, program("client", ended_s=1.1), False),
        (1.0, 2.5, program("client", ended_s=2.6), True),  # half closed, and waiting
    ],
)
def test_a_client_has_waited_if_it_was_there_when_the_answer_came(
    closed_s: float | None, answered_s: float, client: dict[str, Any], has_waited: bool
) -> None:
    up, down = flow(len(DATA), 1.0, closed_s=closed_s, data=DATA), flow(8, answered_s, data=b"ACK: BYE")
    assert scene(up, down, client).waited() is has_waited


def test_a_server_that_computes_when_its_clients_have_gone_spins() -> None:
    gone = breach(scene(flow(), flow(), program("client"), stalled=True, by=["server"]))
    assert gone is not None
    assert gone.mistake.title == "the server spins when a client has gone"


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
    (error,) = ProgramRun(program("client", 1, err=TRACEBACK.format(line=line))).errors
    assert error.line == line
    assert error.place == "simpleperf.py, line 12: sock.connect((ip, port))"


def test_a_traceback_that_was_cut_off_has_the_place_that_it_came_to() -> None:
    text = TRACEBACK.format(line="").rstrip()
    for cut in (text, text.rsplit("\n", 1)[0]):
        (error,) = ProgramRun(program("client", 1, err=cut)).errors
        assert error.line == "Traceback (most recent call last)"
        assert error.place.startswith("simpleperf.py, line 12")


@pytest.mark.parametrize(("status", "is_crash"), [(0, False), (None, False), (1, True)])
def test_who_says_what_is_missing_and_goes_on_has_not_crashed(status: int, is_crash: bool) -> None:
    said = "plain tables\nModuleNotFoundError: No module named 'rich'"
    assert bool(crash(ProgramRun(program("client", status, err=said)))) is is_crash


def test_the_first_traceback_is_not_hidden_by_the_last() -> None:
    text = TRACEBACK.format(line="ConnectionResetError: gone") + TRACEBACK.format(line="UnicodeDecodeError: no text")
    assert [error.line[:6] for error in ProgramRun(program("server", 1, err=text)).errors] == ["Connec", "Unicod"]


@pytest.mark.parametrize(
    ("err", "words"),
    [
        (
            "Error: no server\n/home/student/simpleperf.py:3: DeprecationWarning: old\n  import imp\n",
            "Error: no server",
        ),
        ("Warning: port must be between 1024 and 65535\n", "Warning: port must be between 1024 and 65535"),
        ("Error: no server\n-----------\n", "Error: no server"),
    ],
)
def test_last_words_are_the_programs_own(err: str, words: str) -> None:
    assert ProgramRun(program("client", 1, err=err)).last_words() == words


@pytest.mark.parametrize(
    ("sent", "says_bye", "carried"),
    [(DATA, True, 8000), (b"x" * 8000, False, 8000), (b"BYE", True, 0), (b"", False, 0), (b"xBYEx", False, 5)],
)
def test_data_is_what_stands_before_bye(sent: bytes, says_bye: bool, carried: int) -> None:
    seen = scene(flow(len(sent), 1.0 if sent else None, data=sent), flow(), program("client")).main
    assert (seen.says_bye, seen.carried) == (says_bye, carried)
