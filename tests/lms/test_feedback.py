"""Comments and pages go back: into Moodle's worksheet and zip file, to a Canvas of our own, into nbgrader's folder."""

from __future__ import annotations

import html
import io
import json
import re
import threading
import urllib.parse
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from linklab.cli import main
from tests.lms.a_class import CANVAS, EXPORTS, PARTICIPANTS, TCP, UDP, UDP_POINTS, a_class, write
from tests.lms.test_gradebooks import rows_of

COMMENT = "Lab 03: UDP bandwidth: 0 of 10 points\nLab 03, the rate: 0 of 10: it is 1 Mbit/s"
TOKEN = "a-teacher's"


def graded(folder: Path, **points: float) -> Path:
    """A graded class with pages, with other points for some."""
    students = [
        replace(one, labs={**one.labs, **{UDP.name: _again(one.labs[UDP.name], points.get(one.student))}})
        for one in a_class(numbers=True)
    ]
    (folder / "feedback").mkdir(parents=True, exist_ok=True)
    for one in students:
        (folder / "feedback" / one.page).write_text(f"for {one.student} alone")
    return write(folder, *students)


def _again(lab: Any, points: float | None) -> Any:
    if points is None:
        return lab
    cells = tuple(replace(cell, points=points) for cell in lab.judged.cells)
    return replace(lab, judged=replace(lab.judged, cells=cells))


def files_moodle_takes(data: bytes) -> dict[str, tuple[str, str]]:
    """What Moodle makes of a zip file of feedback: file names and contents, by participant's number."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            _, number, kind, plugin, file = name.split("_", 4)
            assert (kind, plugin) == ("assignsubmission", "file")
            assert number.isdigit()
            assert not file.startswith((".", "~"))
            found[number] = (file, archive.read(name).decode())
    return found


@pytest.mark.parametrize(
    ("sample", "heading"),
    [("moodle-worksheet.csv", "Feedback comments"), ("moodle-worksheet-de.csv", "Feedback als Kommentar")],
)
def test_moodle_gets_comments_and_pages(sample: str, heading: str, tmp_path: Path) -> None:
    book, output, pages = EXPORTS / sample, tmp_path / "filled.csv", tmp_path / "pages.zip"
    words = ["--for", "moodle", "--labs", "03", "--output", str(output), "--feedback", str(pages)]
    main(["export", str(graded(tmp_path / "graded")), *words, "--into", str(book)])
    before, (header, *after) = rows_of(book.read_bytes()), rows_of(output.read_bytes())
    column = header.index(heading)
    comments = {row[0][-4:]: row[column] for row in after}
    earlier = {row[0][-4:]: row[column] for row in before[1:]}
    with_points = [name for name, points in UDP_POINTS.items() if points and name not in ("bob", "kim2", "dan", "gus")]
    for name in with_points:
        assert comments.pop(PARTICIPANTS[name]).startswith(f"Lab 03: UDP bandwidth: {UDP_POINTS[name]:g} of 10 points")
    assert comments == {number: earlier[number] for number in comments}, "a comment that stands there stays"
    taken = files_moodle_takes(pages.read_bytes())
    assert taken == {
        PARTICIPANTS[name]: ("03-udp-bandwidth.html", f"for {name} alone")
        for name in UDP_POINTS
        if name not in ("dan", "gus")  # locked, and in no row
    }
    again = tmp_path / "again.csv"
    main(["export", str(tmp_path / "graded"), *words, "--into", str(output), "--output", str(again)])
    assert again.read_bytes() == output.read_bytes()


def test_a_comment_in_moodle_is_text_and_no_html(tmp_path: Path) -> None:
    output = tmp_path / "filled.csv"
    evil = "<script>alert(1)</script>"
    folder = graded(tmp_path / "graded")
    data = json.loads((folder / "grades.json").read_text())
    data["students"][2]["labs"][UDP.name]["cells"][0]["reason"] = evil
    (folder / "grades.json").write_text(json.dumps(data))
    words = ["--for", "moodle", "--labs", "03", "--replace", "--feedback", str(tmp_path / "pages.zip")]
    main(["export", str(folder), *words, "--into", str(EXPORTS / "moodle-worksheet.csv"), "--output", str(output)])
    (comment,) = (row[-1] for row in rows_of(output.read_bytes()) if row[0].endswith(PARTICIPANTS["bob"]))
    assert evil not in comment
    assert html.unescape(comment).endswith(f"0 of 10: {evil}")


def test_a_comment_tells_a_free_text_from_a_check_and_gives_none_that_waits_0_points(tmp_path: Path) -> None:
    folder, output = graded(tmp_path / "graded"), tmp_path / "filled.csv"
    data = json.loads((folder / "grades.json").read_text())
    lab = data["students"][0]["labs"][UDP.name]
    given = {"kind": "free text", "title": "the rate", "points": 1, "max_points": 2, "reason": "", "status": "passed"}
    lab["cells"] += [given | {"id": "reflect-a"}, given | {"id": "reflect-b", "points": 0, "status": "answered"}]
    (folder / "grades.json").write_text(json.dumps(data))
    words = ["--for", "moodle", "--labs", "03", "--replace", "--feedback", str(tmp_path / "pages.zip")]
    main(["export", str(folder), *words, "--into", str(EXPORTS / "moodle-worksheet.csv"), "--output", str(output)])
    (comment,) = (row[-1] for row in rows_of(output.read_bytes()) if row[0].endswith(PARTICIPANTS["ada"]))
    assert comment.endswith("<br />Free text: the rate: 1 of 2")
    assert "0 of 2" not in comment


class _Canvas(BaseHTTPRequestHandler):
    """Canvas, as far as its Submissions API and Submission Comments API say."""

    comments: dict[tuple[str, str], list[dict[str, Any]]]
    asked: list[str]

    def do_GET(self) -> None:
        """Return a submission with its comments."""
        self._answer(lambda at: None)

    def do_PUT(self) -> None:
        """Add a comment, or change one."""
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.asked.append(self.path)

        def put(at: re.Match[str]) -> None:
            there = self.comments[at["assignment"], at["user"]]
            if at["comment"]:
                next(one for one in there if str(one["id"]) == at["comment"])["comment"] = form["comment"]
            else:
                there.append({"id": 500 + len(there), "comment": form["comment[text_comment]"]})

        self._answer(put)

    def _answer(self, act: Any) -> None:
        path, _, query = self.path.partition("?")
        at = re.fullmatch(
            r"/api/v1/courses/42/assignments/(?P<assignment>\d+)/submissions/(?P<user>\d+)(?:/comments/(?P<comment>\d+))?",
            path,
        )
        status, body = 200, {}
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            status = 401
        elif at is None or (at["assignment"], at["user"]) not in self.comments:
            status = 404
        else:
            act(at)
            body = {"user_id": int(at["user"])}
            if urllib.parse.parse_qs(query).get("include[]") == ["submission_comments"]:
                body["submission_comments"] = self.comments[at["assignment"], at["user"]]  # type: ignore[assignment]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def canvas(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[_Canvas]]]:
    """A course of a Canvas of our own, with a comment by somebody else, and its address."""
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    comments = {
        (lab, user): [{"id": 1, "comment": "Well done"}] for lab in ("7003", "7004") for user in CANVAS.values()
    }
    handler = type("Course", (_Canvas,), {"comments": comments, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/courses/42", handler
    server.shutdown()
    server.server_close()


def _to_canvas(folder: Path, address: str, output: Path) -> int:
    book = str(EXPORTS / "canvas.csv")
    words = ["export", str(folder), "--for", "canvas", "--into", book, "--output", str(output)]
    return main([*words, "--feedback", address])


def test_canvas_gets_comments_once_and_changed_ones_again(
    canvas: tuple[str, type[_Canvas]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, course = canvas
    _to_canvas(graded(tmp_path / "graded"), address, tmp_path / "filled")
    said = {user: [one["comment"] for one in course.comments["7003", user]] for user in CANVAS.values()}
    assert said[CANVAS["bob"]] == ["Well done", COMMENT]
    assert said[CANVAS["cyd"]] == ["Well done"], "nothing was handed in"
    assert [one["comment"] for one in course.comments["7004", CANVAS["bob"]]] == ["Well done"], "points are still open"
    sent = len(course.asked)
    _to_canvas(tmp_path / "graded", address, tmp_path / "filled")
    assert len(course.asked) == sent
    assert "03-udp-bandwidth, comments: 0 sent, 0 changed, 8 as they were" in capsys.readouterr().out
    _to_canvas(graded(tmp_path / "graded", bob=3.0), address, tmp_path / "filled")
    assert len(course.asked) == sent + 1
    assert [one["comment"] for one in course.comments["7003", CANVAS["bob"]]] == [
        "Well done", COMMENT.replace("0 of 10", "3 of 10")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("token", "course", "said"),
    [
        ("", "42", "needs a token"),
        ("another", "42", "the token is not valid"),
        (TOKEN, "43", "no such course, assignment or student"),
        (TOKEN, "42/grades", "is no course of Canvas"),
    ],
)
def test_what_canvas_refuses_is_one_line(
    token: str,
    course: str,
    said: str,
    canvas: tuple[str, type[_Canvas]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CANVAS_TOKEN", token)
    address = f"{canvas[0].removesuffix('42')}{course}"
    assert _to_canvas(graded(tmp_path / "graded"), address, tmp_path / "filled") == 1
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


def test_nbgrader_gets_pages_where_its_students_look(tmp_path: Path) -> None:
    folder, words = tmp_path / "feedback", ["--for", "nbgrader", "--output", str(tmp_path / "grades.csv")]
    assert main(["export", str(graded(tmp_path / "graded")), *words, "--feedback", str(folder), "--labs", "03"]) == 0
    assert (folder / "ada" / UDP.name / f"{UDP.name}.html").read_text() == "for ada alone"
    assert not (folder / "cyd").exists()
    assert not (folder / "ada" / TCP.name).exists()


@pytest.mark.parametrize(
    ("platform", "sample", "said"),
    [
        ("moodle", "moodle-gradebook.csv", "--feedback needs a grading worksheet"),
        ("blackboard", "blackboard.csv", "--feedback needs a grading worksheet"),
    ],
)
def test_where_feedback_has_no_way_back(
    platform: str, sample: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = ["--into", str(EXPORTS / sample)] if sample else []
    output = tmp_path / "out"
    words = ["--for", platform, "--output", str(output), "--feedback", str(tmp_path / "x"), *into]
    assert main(["export", str(graded(tmp_path / "graded")), *words]) == 1
    assert said in capsys.readouterr().err
    assert not output.exists()
