"""What a student's server sends to the class board, and when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")

from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from linklab.hub.sharing import Sharing

Told = list[tuple[str, str, str]]


class _Board(RequestHandler):
    def initialize(self, told: Told) -> None:
        self._told = told

    def post(self) -> None:
        self._told.append(
            (self.request.method or "", self.request.headers["Authorization"], self.request.body.decode())
        )
        self.set_status(204)

    delete = post


class _HangsUp(RequestHandler):
    def post(self) -> None:
        self.detach().close()


def with_board(use: Callable[[Sharing, Told], Awaitable[None]], path: str = "/reports", *, up: bool = True) -> None:
    """Let a test use a student's server, and see what a board was told."""

    async def run() -> None:
        told: Told = []
        socket, port = bind_unused_port()
        served = HTTPServer(Application([("/reports", _Board, {"told": told}), ("/hangs-up", _HangsUp)]))
        served.add_socket(socket)
        if not up:
            served.stop()
        try:
            await use(Sharing(f"http://127.0.0.1:{port}{path}", "adas"), told)
        finally:
            served.stop()

    asyncio.run(run())


def test_nothing_is_sent_until_the_student_wants_it() -> None:
    async def use(sharing: Sharing, told: Told) -> None:
        sharing.note(4, {"check-rtt": "tried"}, "check-rtt")
        await sharing.report(4)
        assert (sharing.is_shown, told) == (False, [])

    with_board(use)


def test_who_is_shown_sends_ids_states_tries_and_times_and_ends_it() -> None:
    async def use(sharing: Sharing, told: Told) -> None:
        sharing.note(4, {"check-rtt": "open", "check-swing": "passed"}, "")
        for state in ("tried", "tried", "passed"):
            sharing.note(4, {"check-rtt": state, "check-swing": "passed"}, "check-rtt")
        await sharing.show()
        assert sharing.is_shown
        await sharing.end()
        sharing.note(4, {"check-rtt": "tried"}, "check-rtt")
        await sharing.report(4)
        (posted, _, body), ended = told[0], told[1:]
        assert (posted, [one[:2] for one in ended]) == ("POST", [("DELETE", "token adas")])
        report = json.loads(body)
        assert {key for check in report["checks"] for key in check} == {"check", "state", "tries", "time"}
        assert report["lab"] == 4
        found = {(one["check"], one["state"], one["tries"]) for one in report["checks"]}
        assert found == {("check-rtt", "passed", 2), ("check-swing", "passed", 0)}
        assert not sharing.is_shown

    with_board(use)


def test_a_check_that_waits_for_its_answer_was_not_tried() -> None:
    async def use(sharing: Sharing, told: Told) -> None:
        sharing.note(4, {"check-rtt": "open"}, "check-rtt")
        assert sharing.labs[4]["check-rtt"].tries == 0

    with_board(use)


@pytest.mark.parametrize(
    ("path", "up", "said"),
    [
        ("/reports", False, "does not answer"),
        ("/hangs-up", True, "does not answer"),
        ("/nothing", True, "refused (404"),
    ],
)
def test_a_board_that_does_not_take_it_is_said(path: str, up: bool, said: str) -> None:
    async def use(sharing: Sharing, told: Told) -> None:
        sharing.note(4, {"check-rtt": "open"}, "")
        await sharing.show()
        assert said in sharing.trouble

    with_board(use, path, up=up)
