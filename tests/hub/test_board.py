"""The class board: whose a report is, what it may hold, who sees the page, and what that shows."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")

from jupyterhub.services.auth import HubOAuth
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from linklab.hub.board import FORGOTTEN_S, MOST_REPORTS, PER_S, Board, LabChecks, Refused, checks_of, service

ROOT = Path(__file__).parents[2]
NOW = 1_790_000_000.0
ACCESS = "access:services!service=class-board"
PREFIX = "/services/class-board/"
LABS = {
    0: LabChecks("Lab 00: Start", {"check-network": "network"}),
    4: LabChecks("Lab 04: TCP", {"check-rtt": "RTT", "check-parsed": "parsed", "check-swing": "swing"}),
}


def report(*checks: tuple[str, str, int, float], lab: int = 4) -> bytes:
    """A report with checks: id, state, tries, and how many seconds ago."""
    told = [{"check": one, "state": state, "tries": tries, "time": int(NOW - ago)} for one, state, tries, ago in checks]
    return json.dumps({"lab": lab, "checks": told}).encode()


@pytest.fixture
def board() -> Board:
    return Board(LABS)


def refusal(board: Board, body: bytes) -> int:
    with pytest.raises(Refused) as refused:
        board.take("ada", body, NOW)
    assert board.rows(4, NOW, names=True) == []
    return refused.value.status


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"\xff", b"[" * 9000, b'{"lab": 4}', b'{"lab": "4", "checks": []}',
        report(("check-rtt", "passed", 0, 0), lab=5),
        report(("I am stuck, help me", "passed", 0, 0)),
        report(("check-network", "passed", 0, 0)),
        report(("check-rtt", "print(1)", 0, 0)),
        report(("check-rtt", "tried", -1, 0)),
        report(("check-rtt", "tried", 10**9, 0)),
        report(("check-rtt", "tried", 1, 90_000)),
        report(("check-rtt", "tried", 1, -3600)),
        report(("check-rtt", "tried", 1, 0)).replace(b'"tries": 1', b'"tries": true'),
        report(("check-rtt", "tried", 1, 0)).replace(b'"lab"', b'"student": "bob", "lab"'),
        report(("check-rtt", "tried", 1, 0)).replace(b'"check":', b'"text": "x = 3", "check":'),
    ],
)  # fmt: skip
def test_what_is_no_report_of_known_checks_is_refused(body: bytes, board: Board) -> None:
    assert refusal(board, body) == 400


def test_a_flood_of_one_student_is_refused_and_others_are_taken(board: Board) -> None:
    for _ in range(MOST_REPORTS):
        board.take("ada", report(("check-rtt", "tried", 1, 0)), NOW)
    with pytest.raises(Refused) as refused:
        board.take("ada", report(("check-rtt", "tried", 2, 0)), NOW)
    assert refused.value.status == 429
    board.take("bob", report(("check-rtt", "tried", 1, 0)), NOW)
    board.take("ada", report(("check-rtt", "tried", 3, 0)), NOW + PER_S)
    assert [row.student for row in board.rows(4, NOW, names=True)] == ["ada", "bob"]


def test_who_is_stuck_longest_stands_first_and_at_which_check(board: Board) -> None:
    board.take("ada", report(("check-rtt", "passed", 0, 60), ("check-parsed", "open", 0, 900)), NOW)
    board.take("bob", report(("check-rtt", "passed", 2, 600), ("check-parsed", "open", 0, 900),
                             ("check-swing", "tried", 4, 5)), NOW)  # fmt: skip
    board.take("eve", report(("check-rtt", "open", 0, 300), ("check-parsed", "open", 0, 300)), NOW)
    done = [(check, "passed", 0, 3000) for check in LABS[4].checks]
    board.take("max", report(*done), NOW)
    found = [(row.student, row.at, row.stuck_s, row.passed) for row in board.rows(4, NOW, names=True)]
    assert found == [("bob", "swing", 600, 1), ("eve", "RTT", 300, 0), ("ada", "parsed", 60, 1), ("max", "", 0, 3)]


def test_without_names_a_student_has_a_number_while_shown(board: Board) -> None:
    board.take("ada", report(("check-rtt", "tried", 1, 10)), NOW)
    board.take("bob", report(("check-rtt", "tried", 1, 20)), NOW)
    board.forget("ada")
    assert [row.student for row in board.rows(4, NOW, names=False)] == ["Student 2"]
    board.take("ada", report(("check-rtt", "tried", 1, 10)), NOW)
    assert [row.student for row in board.rows(4, NOW, names=False)] == ["Student 2", "Student 3"]


def test_after_the_class_nothing_is_left(board: Board) -> None:
    board.take("ada", report(("check-rtt", "tried", 1, 10)), NOW)
    board.forget_old(NOW + FORGOTTEN_S - 1)
    assert board.rows(4, NOW, names=True)
    board.forget_old(NOW + FORGOTTEN_S + 1)
    assert board.rows(4, NOW, names=True) == []


def test_the_checks_are_those_of_the_released_labs() -> None:
    found = checks_of(ROOT / "labs")
    assert found[0].title.startswith("Lab 00")
    assert found[0].checks["check-prediction-rtt"] == "prediction RTT"
    assert not [check for lab in found.values() for check in lab.checks if check.startswith("reflect")]


# --- The service, and a hub that knows five tokens

USERS: dict[str, dict[str, Any]] = {
    "adas": {"kind": "user", "name": "ada", "scopes": [ACCESS], "groups": []},
    "bobs": {"kind": "user", "name": "bob", "scopes": [ACCESS], "groups": ["students"]},
    "another-service's": {"kind": "service", "name": "ada", "scopes": [ACCESS]},
    "for-the-server-alone": {"kind": "user", "name": "ada", "scopes": ["access:servers!server=ada/"], "groups": []},
    "evas": {"kind": "user", "name": "eva", "scopes": [ACCESS], "groups": ["instructors"]},
    "roots": {"kind": "user", "name": "root", "scopes": [ACCESS, "admin-ui"], "groups": []},
}


class _Hub(RequestHandler):
    def get(self) -> None:
        user = USERS.get(self.request.headers["Authorization"].removeprefix("token "))
        if user is None:
            self.set_status(403)
        else:
            self.finish(user)


Ask = Callable[..., Awaitable[HTTPResponse]]


def with_service(use: Callable[[Ask, Board], Awaitable[None]]) -> None:
    """Run the service on loopback, and let a test ask it: the path, a token, HTTP's method, a body."""

    async def run() -> None:
        hub_socket, hub_port = bind_unused_port()
        socket, port = bind_unused_port()
        HubOAuth.clear_instance()
        HubOAuth.instance(
            api_url=f"http://127.0.0.1:{hub_port}/hub/api", api_token="the service's", base_url=PREFIX,
            oauth_client_id="service-class-board", access_scopes={ACCESS}, hub_prefix="/hub/",
        )  # fmt: skip
        hub, board = HTTPServer(Application([("/hub/api/user", _Hub)])), Board(LABS)
        served = service(board, PREFIX)
        hub.add_socket(hub_socket)
        served.add_socket(socket)

        async def ask(path: str, token: str = "", method: str = "GET", body: bytes | None = None) -> HTTPResponse:
            headers = {"Authorization": f"token {token}"} if token else {}
            return await AsyncHTTPClient().fetch(
                f"http://127.0.0.1:{port}{PREFIX}{path}", method=method, headers=headers, body=body, raise_error=False,
                follow_redirects=False,
            )  # fmt: skip

        try:
            await use(ask, board)
        finally:
            served.stop()
            hub.stop()
            HubOAuth.clear_instance()

    asyncio.run(run())


def today(check: str, state: str) -> bytes:
    told = [{"check": check, "state": state, "tries": 1, "time": int(time.time())}]
    return json.dumps({"lab": 4, "checks": told}).encode()


def students(board: Board) -> list[str]:
    return sorted(row.student for row in board.rows(4, time.time(), names=True))


def test_a_report_is_of_the_student_whose_token_came_with_it() -> None:
    async def use(ask: Ask, board: Board) -> None:
        assert (await ask("reports", "adas", "POST", today("check-rtt", "passed"))).code == 204
        assert (await ask("reports?student=ada&token=bobs", "bobs", "POST", today("check-rtt", "tried"))).code == 204
        assert students(board) == ["ada", "bob"]
        assert (await ask("reports", "bobs", "DELETE")).code == 204
        assert students(board) == ["ada"]

    with_service(use)


@pytest.mark.parametrize("token", ["", "nobody's", "another-service's", "for-the-server-alone"])
def test_who_is_no_student_of_the_class_reports_nothing(token: str) -> None:
    async def use(ask: Ask, board: Board) -> None:
        assert (await ask("reports", "adas", "POST", today("check-rtt", "passed"))).code == 204
        assert (await ask("reports", token, "POST", today("check-rtt", "tried"))).code == 403
        assert (await ask("reports", token, "DELETE")).code == 403
        assert students(board) == ["ada"]

    with_service(use)


def test_a_huge_body_is_refused_unread() -> None:
    async def use(ask: Ask, board: Board) -> None:
        assert (await ask("reports", "adas", "POST", b"[" * 20_000_000)).code >= 400
        assert students(board) == []

    with_service(use)


def test_a_refused_report_says_why_in_a_line() -> None:
    async def use(ask: Ask, board: Board) -> None:
        answer = await ask("reports", "adas", "POST", today("I am stuck here", "tried"))
        assert (answer.code, answer.body.decode()) == (400, "400: no lab of this class has such a check\n")

    with_service(use)


@pytest.mark.parametrize(("token", "status"), [("adas", 403), ("bobs", 403), ("evas", 200), ("roots", 200)])
def test_instructors_and_administrators_alone_see_the_page(token: str, status: int) -> None:
    async def use(ask: Ask, board: Board) -> None:
        await ask("reports", "adas", "POST", today("check-rtt", "tried"))
        answer = await ask("?lab=4&names=shown", token)
        assert answer.code == status
        assert ('<th scope="row">ada</th>' in answer.body.decode()) == (status == 200)

    with_service(use)


def test_the_page_hides_names_until_they_are_asked_for() -> None:
    async def use(ask: Ask, board: Board) -> None:
        await ask("reports", "adas", "POST", today("check-rtt", "tried"))
        page = (await ask("", "evas")).body.decode()
        assert "Student 1" in page
        assert ">ada<" not in page

    with_service(use)


def test_who_has_not_logged_in_is_sent_to_the_hub() -> None:
    async def use(ask: Ask, board: Board) -> None:
        answer = await ask("")
        assert answer.code == 302
        assert answer.headers["Location"].startswith("/hub/api/oauth2/authorize")

    with_service(use)
