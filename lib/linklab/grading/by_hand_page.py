"""``linklab by-hand GRADED``: a page on which one grader gives points and comments, in a browser on this machine.

It shows all answers to one question side by side, those that are alike as one, without names. What is given is in the
file of `linklab.grading.manual_points` before the page says so. A second grader takes a copy of the file.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from markupsafe import Markup as Safe

from linklab.classroom.contents import Contents
from linklab.errors import LinklabError
from linklab.grading.kit import RUBRIC, text_of
from linklab.grading.manual_points import FILE, Given, GivenRow, PointsFile, as_written, points_of
from linklab.grading.names import cleaned, folder_of
from linklab.grading.work import JUDGED
from linklab.report.outputs import attached
from linklab.report.page import encodable, environment, style
from linklab.report.safe_html import from_markdown

_FOLDER: Final = Path(__file__).parent
_COOKIE: Final = "linklab-by-hand"
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
_LARGEST_BYTES: Final = 1_000_000
_PICTURE: Final = "](attachment:"
_WRONG: Final = "Typical wrong:"
_POINTS: Final = re.compile(r"\A(\d+(?:\.\d+)?) points?(?:: |, )")
_DESCRIPTION = """\
Opens a page on this machine on which people give points and comments for free texts and for checks that did not pass:
all answers to one question side by side, without names, those that are alike as one. `linklab grade` takes in what was
given. Ctrl-C ends the page; nothing that it has shown as kept is lost. A second grader works on a copy of by-hand.csv
in the same folder, called by-hand-NAME.csv."""


@dataclass(frozen=True)
class RubricItem:
    """A line of a rubric: what it says, and how many points it gives; None for a typical mistake."""

    text: str
    points: float | None


def rubric_items(model_answer: str) -> tuple[RubricItem, ...]:
    """Return the items of the rubric at the end of a model answer: points first, then typical mistakes."""
    whole = " ".join(model_answer.partition(RUBRIC)[2].split())
    counts, _, wrong = whole.partition(_WRONG)
    items = []
    for text in re.split(r"[;.] (?=\d+(?:\.\d+)? points?(?:: |, ))", counts.strip().rstrip(".;")):
        if found := _POINTS.match(text):
            items.append(RubricItem(text, float(found[1])))
    for text in re.split(r"(?:\A|[;.] )\(\d+\) ", wrong.strip().rstrip(".")):
        if text:
            items.append(RubricItem(text, None))
    return tuple(items)


@dataclass(frozen=True)
class AnswerGroup:
    """Answers that say the same, by key, with what was given for them. ``lab`` and ``question`` are those of all."""

    keys: tuple[str, ...]
    lab: str
    question: str
    text: str
    given: Given
    students: tuple[str, ...]


def alike(rows: Iterable[GivenRow]) -> list[AnswerGroup]:
    """Return the answers to one question, in the table's order: those of the same words and points are one.

    An answer with a picture is one of its own: the words do not say what the picture shows.
    """
    groups: dict[tuple[str, str, Given], list[GivenRow]] = {}
    for row in rows:
        words = " ".join(row.cells["answer"].casefold().split())
        alone = row.cells["key"] if _PICTURE in words else ""
        groups.setdefault((words, alone, row.given), []).append(row)
    return [
        AnswerGroup(
            tuple(row.cells["key"] for row in group),
            group[0].cells["lab"],
            group[0].cells["question"],
            as_written(group[0].cells["answer"]),
            given,
            tuple(as_written(row.cells["student"]) for row in group),
        )
        for (*_, given), group in groups.items()
    ]


class ByHand:
    """A graded class's answers, and what the page says about them. `names` shows whose an answer is."""

    def __init__(self, graded: Path, contents: Contents, *, names: bool = False) -> None:
        path = graded if graded.suffix == ".csv" else graded / FILE
        if not path.is_file():
            raise LinklabError(f"there is no {path}: name the folder that linklab grade wrote")
        self._points, self._names, self._judged = PointsFile(path), names, path.parent / JUDGED
        self._cells: dict[str, list[Any]] = {
            name.removesuffix(".ipynb"): json.loads(text)["cells"] for name, text in contents.solved.items()
        }
        self._points.rows()  # a mistake in the file is said at once

    def start(self) -> str:
        """Return the page with all questions, and how many of their answers have points."""
        questions = [
            (lab, question, urlencode({"lab": lab, "question": question}), len(rows),
             sum(row.given.points is not None for row in rows))
            for (lab, question), rows in self._by_question().items()
        ]  # fmt: skip
        return self._rendered(questions=questions, lab="", question="")

    def question(self, lab: str, question: str) -> str:
        """Return the page with all answers to one question."""
        rows = self._by_question().get((lab, question), [])
        asked, model = self._asked(lab, question)
        answers = [(one, self._shown(one) if model else None) for one in alike(rows)]
        return self._rendered(
            lab=lab, question=question, asked=asked, model=from_markdown(model) if model else None,
            items=rubric_items(model), answers=answers, most=rows[0].cells["of"] if rows else "0", names=self._names,
        )  # fmt: skip

    def give(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what the grader gave, and return it. Raises LinklabError for points that are none."""
        rows = self._points.rows()
        try:
            keys = [str(key) for key in told["keys"]]
            grader, comment = str(told["grader"]).strip(), str(told["comment"]).strip()
            most = [rows[key].cells["of"] for key in keys]
            points = points_of(str(told["points"]), most[0], "points")
        except (LookupError, TypeError):
            raise LinklabError("this answer is no longer there: load the page anew") from None
        given = Given(points, comment, grader)
        self._points.give(keys, given)
        return asdict(given)

    def _shown(self, one: AnswerGroup) -> Safe:
        """Return a written answer as its student sees it, with the pictures that the judged notebook has."""
        images: dict[str, str] = {}
        if _PICTURE in one.text:
            folder = self._judged / folder_of(one.students[0]) / one.lab
            with contextlib.suppress(OSError, ValueError):  # it may have been moved; the words are there
                cells = json.loads((folder / f"{one.lab}.ipynb").read_text("utf-8"))["cells"]
                images = attached(next((it.get("attachments") for it in cells if it.get("id") == one.question), None))
        return from_markdown(one.text, images)

    def _by_question(self) -> dict[tuple[str, str], list[GivenRow]]:
        """Return all answers, by lab and question."""
        found: dict[tuple[str, str], list[GivenRow]] = {}
        for row in self._points.rows().values():
            found.setdefault((row.cells["lab"], row.cells["question"]), []).append(row)
        return found

    def _asked(self, lab: str, question: str) -> tuple[Safe | None, str]:
        """Return a question's text and its model answer with the rubric; of a check, the text before it."""
        cells = self._cells.get(lab, [])
        at = next((number for number, cell in enumerate(cells) if cell["id"] == question), 0)
        before = next((cell for cell in reversed(cells[:at]) if cell["cell_type"] == "markdown"), None)
        model = text_of(cells[at]) if at and cells[at]["cell_type"] == "markdown" else ""
        return from_markdown(text_of(before)) if before else None, model

    def _rendered(self, **data: Any) -> str:
        return encodable(environment(_FOLDER).get_template("by_hand.jinja").render(css=style(), **data))


class ByHandServer(ThreadingHTTPServer):
    """The page on loopback; who has the token in its address may use it."""

    daemon_threads = True

    def __init__(self, page: ByHand, grader: str, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.page, self.grader, self.token = page, grader, secrets.token_urlsafe(24)

    @property
    def cookie(self) -> str:
        """The name of its cookie: a browser sends one cookie to all ports of a machine, so each page has its own."""
        return f"{_COOKIE}-{self.server_port}"

    @property
    def address(self) -> str:
        """What is opened in a browser."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"


def _same(given: str, secret: str) -> bool:
    # hmac takes no text beyond ASCII
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


class _Handler(BaseHTTPRequestHandler):
    server: ByHandServer

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        words = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if _same(words.get("token", ""), self.server.token):
            cookie = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
            self._answer(303, "", {"Set-Cookie": cookie, "Location": "/"})
        elif not self._is_known():
            self._answer(403, "open the address that linklab by-hand printed, with its token")
        elif url.path not in ("/", "/question"):
            self._answer(404, "there is nothing here")
        else:
            page = self.server.page
            try:
                shown = (
                    page.start() if url.path == "/" else page.question(words.get("lab", ""), words.get("question", ""))
                )
            except (LinklabError, OSError) as error:  # the file may have been edited meanwhile
                self._answer(400, str(error))
            else:
                self._answer(200, shown)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not self._is_known() or self.path != "/give" or not 0 < length <= _LARGEST_BYTES:
            self._answer(403, "this page does not know you: open the address that linklab by-hand printed")
            return
        try:
            told = json.loads(self.rfile.read(length))
            if not isinstance(told, dict):
                raise LinklabError("this is no answer with its points: load the page anew")
            now = self.server.page.give({"grader": self.server.grader, **told})
        except (LinklabError, OSError, ValueError) as error:
            self._answer(400, str(error))
            return
        self._answer(200, json.dumps(now))

    def _is_known(self) -> bool:
        host = f"127.0.0.1:{self.server.server_port}"
        cookies = self.headers.get("Cookie", "").split("; ")
        known = any(_same(one, f"{self.server.cookie}={self.server.token}") for one in cookies)
        return known and self.headers.get("Origin", f"http://{host}") == f"http://{host}"

    def _answer(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        data = text.encode(errors="replace")
        self.send_response(status)
        kind = "text/html" if text.startswith("<!") else "text/plain"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "same-origin")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing: addresses have the token in them."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``by-hand`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("by-hand", help="give points by hand, in a browser", description=_DESCRIPTION)
    parser.add_argument(
        "graded",
        type=Path,
        metavar="GRADED",
        help="the folder that linklab grade wrote, or a copy of by-hand.csv in it",
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--grader", default="", metavar="NAME", help="who gives points (default: your login)")
    parser.add_argument("--names", action="store_true", help="show whose an answer is")
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C; return the exit status. Raises LinklabError where nothing was graded."""
    page = ByHand(arguments.graded, Contents.of(arguments.root), names=arguments.names)
    with ByHandServer(page, cleaned(arguments.grader or _login()), arguments.port) as server:
        print(f"Open {server.address}\nCtrl-C ends it. Then run the same linklab grade again.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # which of them depends on Python's version
        raise LinklabError("this user has no name here, as in a container: say who gives points (--grader)") from None
