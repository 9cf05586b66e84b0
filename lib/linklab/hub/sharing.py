"""On a student's own server: whether the class board shows the student, and what is sent to it then.

Nothing is sent unless the student has pressed the button on the page here, and that holds for one class. What is sent
is what that page lists: of each check the lab's number, the check's id, its state, the tries and the time. No text and
no code is among it. The board knows the student's name by the token that the hub has made for this server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jupyter_server.base.handlers import JupyterHandler
from pydantic import BaseModel, ConfigDict, Field
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.web import HTTPError, authenticated

from linklab.grade.class_board import State
from linklab.report.page import environment, style

TOKEN_VARIABLE: Final = "LINKLAB_CLASS_BOARD_TOKEN"
"""The environment variable with the token by which the board knows whose server this is."""
BOARD_NAME: Final = "class-board"
"""The hub's service that is the board."""
REPORTS: Final = f"{BOARD_NAME}/reports"
SHOWN_S: Final = 3 * 3600
"""After so long a student is no longer shown, if nobody has ended it before."""
_PATIENCE_S: Final = 5.0


class CheckReport(BaseModel):
    """How a check stands: it was run ``tries`` times without passing, and came to this ``state`` at ``time`` (Unix)."""

    model_config = ConfigDict(extra="forbid", strict=True)
    check: str
    state: State
    tries: int = Field(ge=0, le=9999)
    time: int


class LabReport(BaseModel):
    """All checks of a lab, as a student's server sends them."""

    model_config = ConfigDict(extra="forbid", strict=True)
    lab: int
    checks: list[CheckReport]


class Sharing:
    """What the student's checks came to while this server runs, and whether the board is told.

    ``board`` is the board's address, ``token`` says whose server this is.
    """

    def __init__(self, board: str, token: str) -> None:
        self._board, self._token = board, token
        self.labs: dict[int, dict[str, CheckReport]] = {}
        self.shown_until = 0.0
        self.trouble = ""
        self._in_turn = asyncio.Lock()

    @property
    def is_shown(self) -> bool:
        """Whether the board shows the student."""
        return time.time() < self.shown_until

    def note(self, lab: int, states: Mapping[str, State], ran: str) -> None:
        """Take in how a lab's checks stand, and which of them was run just now."""
        known, now = self.labs.get(lab, {}), int(time.time())
        self.labs[lab] = {}
        for check, state in states.items():
            before = known.get(check) or CheckReport(check=check, state=state, tries=0, time=now)
            tries = before.tries + (check == ran and state == "tried")
            since = before.time if (before.state, before.tries) == (state, tries) else now
            self.labs[lab][check] = CheckReport(check=check, state=state, tries=tries, time=since)

    async def show(self) -> None:
        """Show the student from now on."""
        self.shown_until = time.time() + SHOWN_S
        asyncio.get_running_loop().call_later(SHOWN_S + 1, lambda: asyncio.ensure_future(self._end_if_over()))
        for lab in self.labs:
            await self.report(lab)

    async def end(self) -> None:
        """Show the student no longer; the board forgets what it was told."""
        self.shown_until = 0.0
        await self._ask("DELETE")

    async def report(self, lab: int) -> None:
        """Tell the board all of a lab, if the student is shown: a board that was started anew knows it again then."""
        if self.is_shown:
            await self._ask("POST", LabReport(lab=lab, checks=list(self.labs[lab].values())).model_dump_json())

    async def _end_if_over(self) -> None:
        if not self.is_shown:
            await self.end()

    async def _ask(self, method: str, body: str | None = None) -> None:
        request = HTTPRequest(
            self._board, method, {"Authorization": f"token {self._token}"}, body, request_timeout=_PATIENCE_S
        )
        async with self._in_turn:
            try:
                answer = await AsyncHTTPClient().fetch(request, raise_error=False)
            except (OSError, HTTPClientError) as error:
                self.trouble = f"the class board does not answer ({error})"
                return
        self.trouble = "" if answer.code == 204 else f"the class board refused ({answer.code} {answer.reason})"


class SharingHandler(JupyterHandler):
    """The page on which the student chooses, and the place where the student's notebooks tell how checks stand."""

    def initialize(self, sharing: Sharing) -> None:
        """Keep what all requests share."""
        super().initialize()
        self._sharing = sharing

    @property
    def content_security_policy(self) -> str:
        """The student's own notebooks show this page in a frame."""
        return (
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'self'; "
            "frame-ancestors 'self'; base-uri 'none'"
        )

    @authenticated
    def get(self) -> None:
        """Show the page."""
        template = environment(Path(__file__).parent).get_template("sharing.jinja")
        page = template.render(
            css=style(), sharing=self._sharing, student=self.current_user.username, xsrf=self.xsrf_token.decode(),
            address=self.request.path, until=time.strftime("%H:%M", time.localtime(self._sharing.shown_until)),
            left_ms=max(0, int(1000 * (self._sharing.shown_until - time.time()))), clock=_clock,
        )  # fmt: skip
        self.finish(page)

    @authenticated
    async def post(self) -> None:
        """Take the student's choice."""
        await (self._sharing.show() if self.get_body_argument("show") == "yes" else self._sharing.end())
        self.redirect(self.request.path, status=303)

    @authenticated
    async def put(self) -> None:
        """Take in how a lab's checks stand."""
        told: Any = json.loads(self.request.body)
        try:
            lab, states = int(told["lab"]), dict(told["states"])
            self._sharing.note(lab, states, str(told["ran"]))
        except (LookupError, TypeError, ValueError):
            raise HTTPError(400) from None
        self.set_status(204)
        self.finish()  # the notebook does not wait for the board
        await self._sharing.report(lab)


def _clock(moment: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment))
