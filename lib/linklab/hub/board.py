"""The class board, a service of the hub: a page that shows instructors live which student is at which check.

``python -m linklab.hub.board``: the hub starts it where its configuration says ``c.Linklab.class_board = True``, as a
user without any rights, on loopback. It keeps in memory alone what students' servers report, and forgets it
(`FORGOTTEN_S`). Whose a report is says the token that came with it: nobody can report for another student. A report
holds ids of checks that the hub has named, states, numbers and times; all else is refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated
from jupyterhub.utils import random_port
from pydantic import ValidationError
from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler, authenticated

from linklab.grade.cells import cells_of
from linklab.grade.class_board import BOARD_VARIABLE
from linklab.grade.progress import check_name
from linklab.hub.sharing import BOARD_NAME, TOKEN_VARIABLE, CheckReport, LabReport
from linklab.report.page import SORTING, environment, script_of, style

INSTRUCTORS: Final = "instructors"
"""The hub's group whose members see the board; so do the hub's administrators, who alone have `_ADMINISTRATORS`."""
CHECKS_VARIABLE: Final = "LINKLAB_CHECKS"
FORGOTTEN_S: Final = 3 * 3600
"""So long after a student's last report the board forgets the student."""
MOST_REPORTS, PER_S = 60, 60.0
"""So many reports of one student in so many seconds are taken."""
_LARGEST_BYTES: Final = 16_000
_ADMINISTRATORS: Final = "admin-ui"
_CLOCKS_DIFFER_S: Final = 60
_FOLDER: Final = Path(__file__).parent


def add_to(c: Any, released: Path) -> None:
    """Add the board to a hub's configuration ``c``; ``released`` are the labs that students get.

    A student's server gets a token of its own for it, which says whose it is and opens nothing else: should anybody
    else listen in the board's place, no token that opens a student's server goes there.
    """
    address, access = f"http://127.0.0.1:{random_port()}", f"access:services!service={BOARD_NAME}"
    checks = {lab: (one.title, one.checks) for lab, one in checks_of(released).items()}
    c.JupyterHub.services.append(
        {
            "name": BOARD_NAME,
            "url": address,
            "command": [sys.executable, "-P", "-m", "linklab.hub.board"],
            "user": "nobody",
            "cwd": "/",
            "environment": {CHECKS_VARIABLE: json.dumps(checks)},
            "oauth_no_confirm": True,
            "oauth_client_allowed_scopes": [_ADMINISTRATORS],
        }
    )
    c.JupyterHub.load_roles.append({"name": "user", "scopes": ["self", access]})

    def token(spawner: Any) -> str:
        user, note = spawner.user, f"{BOARD_NAME}: reports of {spawner.user.name}'s server"
        for old in [old for old in user.api_tokens if old.note == note]:
            user.db.delete(old)
        return str(user.new_api_token(note=note, scopes=[access]))

    c.Spawner.environment.update({BOARD_VARIABLE: address, TOKEN_VARIABLE: token})


def checks_of(released: Path) -> dict[int, LabChecks]:
    """Return the checks of all released labs, by the labs' numbers; students' own networks have the same."""
    found: dict[int, LabChecks] = {}
    for file in sorted(released.rglob("*.ipynb")):
        number = re.match(r"\d\d", file.name)
        if number and int(number[0]) not in found:
            book = json.loads(file.read_text("utf-8"))
            title = "".join(book["cells"][0]["source"]).partition("\n")[0].lstrip("# ")
            checks = {cell.cell_id: check_name(cell.cell_id) for cell in cells_of(book) if cell.kind == "check"}
            found[int(number[0])] = LabChecks(title, checks)
    return dict(sorted(found.items()))


class Refused(Exception):
    """A report that is not taken, with HTTP's status for the reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class LabChecks:
    """A lab's title, and its checks in their order: the name of each by its id."""

    title: str
    checks: Mapping[str, str]


@dataclass(frozen=True)
class StudentProgress:
    """A student in a lab: the checks in the lab's order, None where nothing was told; the check that is not passed and
    was tried last, or comes next; seconds since the last one was passed, or since the lab was begun.
    """

    student: str
    checks: Sequence[CheckReport | None]
    at: str
    stuck_s: float

    @property
    def passed(self) -> int:
        """How many checks have passed."""
        return sum(check is not None and check.state == "passed" for check in self.checks)


@dataclass
class _Shown:
    """A student who is shown: the number in the place of the name, when the last report came, and reports, by lab."""

    number: int
    last: float
    labs: dict[int, Mapping[str, CheckReport]] = field(default_factory=dict)


@dataclass
class Board:
    """What students' servers have reported, in memory alone. ``labs`` are the checks that there are."""

    labs: Mapping[int, LabChecks]
    _shown: dict[str, _Shown] = field(default_factory=dict)
    _count: int = 0
    _lately: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=MOST_REPORTS)))

    def take(self, student: str, body: bytes, now: float) -> None:
        """Keep a student's report of a lab. Raises Refused for what is none, and for too many."""
        lately = self._lately[student]
        if len(lately) == MOST_REPORTS and now - lately[0] < PER_S:
            raise Refused(429, f"more than {MOST_REPORTS} reports within {PER_S:g} s")
        lately.append(now)
        self.forget_old(now)
        try:
            report = LabReport.model_validate_json(body)
        except ValidationError:
            raise Refused(400, "this is no report of a lab's checks") from None
        lab = self.labs.get(report.lab)
        if lab is None or not {one.check for one in report.checks} <= set(lab.checks):
            raise Refused(400, "no lab of this class has such a check")
        if not all(now - 86400 < one.time < now + _CLOCKS_DIFFER_S for one in report.checks):
            raise Refused(400, "this is not of today")
        if student not in self._shown:
            self._count += 1
            self._shown[student] = _Shown(self._count, now)
        shown = self._shown[student]
        shown.last, shown.labs[report.lab] = now, {one.check: one for one in report.checks}

    def forget(self, student: str) -> None:
        """Forget what a student's server has reported, and the number that stands in the place of the name."""
        self._shown.pop(student, None)

    def forget_old(self, now: float) -> None:
        """Forget the students who have reported nothing for `FORGOTTEN_S`."""
        for student in [student for student, shown in self._shown.items() if now - shown.last > FORGOTTEN_S]:
            self.forget(student)
        for student in [student for student, lately in self._lately.items() if now - lately[-1] > FORGOTTEN_S]:
            del self._lately[student]

    def lab_in_front(self) -> int:
        """Return the lab in which most students are; of equal ones the one with the lower number."""
        counts = {lab: sum(lab in shown.labs for shown in self._shown.values()) for lab in self.labs}
        return max(sorted(counts), key=counts.__getitem__, default=0)

    def rows(self, lab: int, now: float, *, names: bool) -> list[StudentProgress]:
        """Return the students in a lab, the one that is stuck longest first; without ``names`` each is a number."""
        found = [
            self._row(student if names else f"Student {shown.number}", self.labs[lab], shown.labs[lab], now)
            for student, shown in self._shown.items()
            if lab in shown.labs
        ]
        return sorted(found, key=lambda row: (-row.stuck_s, row.student))

    def _row(self, called: str, lab: LabChecks, told: Mapping[str, CheckReport], now: float) -> StudentProgress:
        checks = [told.get(check) for check in lab.checks]
        ids = list(lab.checks)
        left = [check for check, one in zip(ids, checks, strict=True) if one is None or one.state != "passed"]
        tried = [one for one in told.values() if one.state != "open"]
        after = ids[ids.index(max(tried, key=lambda one: one.time).check) :] if tried else ids
        at = next((check for check in after if check in left), next(iter(left), ""))
        passed = [one.time for one in told.values() if one.state == "passed"]
        since = max(passed, default=min((one.time for one in told.values()), default=now))
        return StudentProgress(called, checks, lab.checks.get(at, ""), max(0.0, now - since) if left else 0.0)


class _Handler(HubOAuthenticated, RequestHandler):  # type: ignore[misc]
    def initialize(self, board: Board) -> None:
        self._board = board

    def write_error(self, status_code: int, **about: Any) -> None:
        """Say in a line why not."""
        error = about.get("exc_info", (None, None))[1]
        why = getattr(error, "log_message", None) or self._reason
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code}: {why}\n")


class _ReportHandler(_Handler):
    """What students' servers tell. Their token is asked for, and no browser's cookie."""

    async def prepare(self) -> None:
        """Find out whose server it is. The body was bounded by the server before."""
        token = self.hub_auth.get_token(self, in_cookie=False)
        user = await self.hub_auth.user_for_token(token, sync=False) if token else None
        if not user or user.get("kind") != "user" or not self.hub_auth.check_scopes(self.hub_auth.access_scopes, user):
            raise HTTPError(403, "a student's server says by its token whose it is")
        self._student: str = user["name"]

    def post(self) -> None:
        """Keep a report."""
        try:
            self._board.take(self._student, self.request.body, time.time())
        except Refused as refused:
            raise HTTPError(refused.status, str(refused)) from None
        self.set_status(204)

    def delete(self) -> None:
        """Forget the student."""
        self._board.forget(self._student)
        self.set_status(204)


class _PageHandler(_Handler):
    """The instructors' page."""

    async def prepare(self) -> None:
        """Find out who asks, without waiting for the hub as `HubOAuthenticated` would: others are served meanwhile."""
        self.current_user = await self.hub_auth.get_user(self, sync=False)

    @authenticated
    def get(self) -> None:
        """Show a lab's table; without a number, that of the lab in which most students are."""
        user = self.current_user
        if _ADMINISTRATORS not in user["scopes"] and INSTRUCTORS not in user.get("groups", ()):
            raise HTTPError(403, "the class board is for instructors; what it shows of you stands in your notebook")
        board, now = self._board, time.time()
        board.forget_old(now)
        asked = self.get_query_argument("lab", "")
        lab = int(asked) if asked.isascii() and asked.isdigit() else -1
        lab = lab if lab in board.labs else board.lab_in_front()
        names = self.get_query_argument("names", "") == "shown"
        script, policy = script_of(SORTING, _FOLDER / "board.js")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header(
            "Content-Security-Policy",
            f"default-src 'none'; style-src 'unsafe-inline'; script-src '{policy}'; connect-src 'self'; "
            "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        )
        self.finish(
            environment(_FOLDER).get_template("board.jinja").render(
                css=style(), script=script, labs=board.labs, lab=lab, about=board.labs.get(lab), names=names,
                rows=board.rows(lab, now, names=names) if lab in board.labs else [], xsrf=self.xsrf_token.decode(),
                other=urlencode({"lab": lab, "names": "hidden" if names else "shown"}),
            )
        )  # fmt: skip


def service(board: Board, prefix: str) -> HTTPServer:
    """Return the service below ``prefix``, such as ``/services/class-board/``, which has not begun to listen."""
    handlers: list[Any] = [
        (prefix, _PageHandler, {"board": board}),
        (f"{prefix}reports", _ReportHandler, {"board": board}),
        (f"{prefix}oauth_callback", HubOAuthCallbackHandler),
    ]
    return HTTPServer(Application(handlers, cookie_secret=os.urandom(32)), max_body_size=_LARGEST_BYTES)


def main() -> None:
    """Serve the board where the hub says."""
    told = json.loads(os.environ[CHECKS_VARIABLE])
    board = Board({int(lab): LabChecks(title, checks) for lab, (title, checks) in told.items()})
    address = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])

    async def serve() -> None:
        service(board, os.environ["JUPYTERHUB_SERVICE_PREFIX"]).listen(address.port or 0, address.hostname)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
