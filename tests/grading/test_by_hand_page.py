"""Points by hand: nothing that was kept is lost, and a grader's copy is taken in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from linklab.classroom.contents import Contents
from linklab.grading.by_hand_page import ByHand, ByHandServer, RubricItem, rubric_items
from linklab.grading.manual_points import FILE, Given, PointsFile, WrittenAnswer, read, rows_in, to_csv
from tests.commands.browser import Page, missing
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import cell, put, starter
from tests.notebooks.run_notebook import ROOT

LAB, QUESTION = "04-link-latency", "reflect-reasons"
ANSWERS = [
    WrittenAnswer(LAB, QUESTION, f"student {number}", text, 2.0)
    for number, text in enumerate(("The queue fills.", "the  queue\nfills.", "<script>alert(1)</script>", "No idea."))
]
NOTHING = Given()
SAVES = """
import sys
from pathlib import Path
from linklab.grading.manual_points import Given, PointsFile
file = PointsFile(Path(sys.argv[1], "by-hand.csv"))
for number in range(int(sys.argv[3])):
    file.give([sys.argv[2]], Given(number / 1000, "", sys.argv[4]))
    print(number / 1000, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graded class's folder, with a table."""
    (tmp_path / FILE).write_text(to_csv(ANSWERS, {}))
    return tmp_path


def _saves(folder: Path, key: str, times: int, grader: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SAVES, str(folder), key, str(times), grader]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_who_save_at_once_lose_nothing(folder: Path) -> None:
    both = [_saves(folder, one.key, 40, one.student) for one in ANSWERS[:2]]
    for process in both:
        process.communicate()
    rows = PointsFile(folder / FILE).rows()
    assert len(rows) == len(ANSWERS)
    assert [rows[one.key].given for one in ANSWERS[:2]] == [Given(0.039, "", one.student) for one in ANSWERS[:2]]


def test_what_was_kept_outlives_kill_9(folder: Path) -> None:
    process = _saves(folder, ANSWERS[0].key, 10_000, "eva")
    assert process.stdout is not None
    kept = [process.stdout.readline() for _ in range(30)]
    process.kill()
    kept += process.communicate()[0].splitlines()
    rows = PointsFile(folder / FILE).rows()
    assert len(rows) == len(ANSWERS)
    last, found = float(kept[-1]), rows[ANSWERS[0].key].given.points
    assert found in (last, pytest.approx(last + 0.001)), "what was on its way may be there too"


def test_what_the_page_gave_outlives_a_table_that_was_opened_before(folder: Path) -> None:
    path, lost, other = folder / FILE, ANSWERS[0], ANSWERS[3]
    PointsFile(path).give([lost.key, other.key], Given(1.0, "", "eva"))
    opened = to_csv([replace(one, given=Given(0.5)) if one is other else one for one in ANSWERS], {})
    path.write_text(opened)
    told = list(PointsFile(path).differences())
    assert [lost.student in line for line in told] == [True, False]
    assert [other.student in line for line in told] == [False, True]
    PointsFile(path).take_in(ANSWERS)
    assert [read(path.read_bytes())[one.key].given.points for one in (lost, other)] == [1.0, 0.5]
    assert list(PointsFile(path).differences()) == []


def test_what_another_grader_gave_in_a_copy_is_taken_in(folder: Path) -> None:
    file, copy, first, second = PointsFile(folder / FILE), folder / "by-hand-max.csv", ANSWERS[0].key, ANSWERS[1].key
    file.give([first], Given(1.0, "=1+1\nwhy?", "eva"))
    copy.write_text(to_csv(ANSWERS, {}))
    PointsFile(copy).give([second], Given(2.0, "", "max"))
    file.take_in(ANSWERS)
    assert [file.rows()[key].given for key in (first, second)] == [
        Given(1.0, "=1+1\nwhy?", "eva"), Given(2.0, "", "max")
    ]  # fmt: skip
    PointsFile(copy).give([second], Given(0.5, "", "max"))
    assert rows_in(folder)[second].given.points == 0.5, "what was saved last counts"


def test_a_correction_counts_over_a_copy_that_was_taken_in_before(folder: Path) -> None:
    file, copy, key = PointsFile(folder / FILE), folder / "by-hand-max.csv", ANSWERS[0].key
    file.take_in(ANSWERS)
    copy.write_bytes((folder / FILE).read_bytes())
    PointsFile(copy).give([key], Given(0.5, "", "max"))
    os.utime(copy, (1e9, 1e9))
    file.take_in(ANSWERS)
    file.give([key], Given(1.0, "", "eva"))
    file.take_in(ANSWERS)
    assert file.rows()[key].given == Given(1.0, "", "eva")


def test_points_stay_when_their_answer_has_changed_meanwhile(folder: Path) -> None:
    file = PointsFile(folder / FILE)
    file.give([ANSWERS[0].key], Given(1.0, "", "eva"))
    file.take_in(ANSWERS[1:])
    row = read((folder / FILE).read_bytes())[ANSWERS[0].key]
    assert (row.given.points, row.cells["student"], row.cells["of"]) == (1.0, "student 0", "2")


def test_a_rubric_is_read_from_the_model_answer() -> None:
    counts = "2 points: both, with a number; 1 point: one of\nthe two."
    text = f"Because.\n\n**Rubric.** {counts} Typical wrong: (1) 8 s; (2) no."
    assert rubric_items(text) == (
        RubricItem("2 points: both, with a number", 2.0),
        RubricItem("1 point: one of the two", 1.0),
        RubricItem("8 s", None),
        RubricItem("no", None),
    )
    assert rubric_items(text.replace("8 s; (2)", "8 s. (2)")) == rubric_items(text), "labs end a mistake in both ways"


@pytest.fixture(scope="module")
def contents() -> Contents:
    """The kit's labs."""
    return Contents.of(ROOT)


class Client:
    """A browser without a page: it keeps cookies."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, address: str) -> str:
        """Return a page."""
        with self._opener.open(address) as answer:
            return str(answer.read().decode())

    def give(self, server: ByHandServer, points: str) -> tuple[int, Any]:
        """Give points for the first answer; return the status and what the page was told."""
        return self.post(server, {"keys": [ANSWERS[0].key], "points": points, "comment": ""})

    def post(self, server: ByHandServer, told: object) -> tuple[int, Any]:
        """Send this to the page; return the status and the answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/give", json.dumps(told).encode())
        try:
            with self._opener.open(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture
def server(folder: Path, contents: Contents) -> Iterator[ByHandServer]:
    """The page for eva."""
    with ByHandServer(ByHand(folder, contents), "eva") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_the_page_shows_answers_without_names_and_alike_ones_as_one(server: ByHandServer) -> None:
    client = Client()
    assert f"question={QUESTION}" in client.get(server.address)
    page = client.get(f"http://127.0.0.1:{server.server_port}/question?lab={LAB}&question={QUESTION}")
    assert page.count("<form") == 3
    assert "written by 2 students" in page
    assert "student 0" not in page
    assert "<script>alert" not in page
    assert "Typical wrong" in page, "the model answer's rubric"


def test_what_is_given_on_the_page_is_in_the_file(server: ByHandServer, folder: Path) -> None:
    client = Client()
    client.get(server.address)
    assert client.give(server, "1,5") == (200, {"points": 1.5, "comment": "", "grader": "eva"})
    assert read((folder / FILE).read_bytes())[ANSWERS[0].key].given == Given(1.5, "", "eva")
    assert client.give(server, "3") == (400, "points: 3 points, and 0 to 2 can be given")
    assert client.give(server, "")[1]["points"] is None


@pytest.mark.parametrize("told", [[], None, "x", {}])
def test_what_is_no_answer_is_refused_in_a_line(server: ByHandServer, told: object) -> None:
    client = Client()
    client.get(server.address)
    status, said = client.post(server, told)
    assert (status, said.count("\n")) == (400, 0)


def test_two_pages_in_one_browser_are_both_open(server: ByHandServer, folder: Path, contents: Contents) -> None:
    client = Client()
    client.get(server.address)
    with ByHandServer(ByHand(folder, contents), "max") as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        client.get(other.address)
        assert [client.give(each, "1")[1]["grader"] for each in (server, other)] == ["eva", "max"]
        other.shutdown()


def test_a_file_that_is_not_in_order_is_said_on_the_page(server: ByHandServer, folder: Path) -> None:
    client = Client()
    client.get(server.address)
    (folder / FILE).write_text("points\n3\n")
    with pytest.raises(urllib.error.HTTPError) as refused:
        client.get(f"http://127.0.0.1:{server.server_port}/")
    assert "by-hand.csv does not begin with the columns" in refused.value.read().decode()


@pytest.mark.parametrize("address", ["/", "/question?lab=x&question=y", "/?token=guessed", "/?token=%C3%A9"])
def test_without_the_token_there_is_no_page(server: ByHandServer, folder: Path, address: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        Client().get(f"http://127.0.0.1:{server.server_port}{address}")
    assert Client().give(server, "2")[0] == 403
    assert all(row.given == NOTHING for row in PointsFile(folder / FILE).rows().values())


def test_points_and_a_comment_for_a_failed_check_reach_the_student(group: PretendedClass) -> None:
    group.hand_in("ada", starter())
    (before,) = group.grade().students
    rows = read((group.output / FILE).read_bytes())
    check = next(row for row in rows.values() if row.cells["question"] == "check-queue")
    given = Given(0.5, "The idea is right.", "eva")
    PointsFile(group.output / FILE).give([check.cells["key"]], given)
    (after,) = group.grade().students
    assert after.points == before.points + 0.5
    assert "The idea is right." in (group.output / "feedback" / "ada.html").read_text("utf-8")
    assert read((group.output / FILE).read_bytes())[check.cells["key"]].given == given
    (again,) = group.grade().students
    assert again.points == after.points


@pytest.mark.large
def test_an_answer_stands_as_its_student_sees_it(group: PretendedClass, contents: Contents) -> None:
    text = "=> **so**, $R = W/T$\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![d](attachment:d.png)"
    for student, picture in (("ada", "AAAA"), ("bob", "BBBB")):
        book = put(starter(), reflect_queue=text)
        cell(book, "reflect-queue")["attachments"] = {"d.png": {"image/png": picture}}
        group.hand_in(student, book)
    group.grade()
    page = ByHand(group.output, contents).question("00-start-here", "reflect-queue")
    answers = page[page.index('<main class="answers">') :]
    assert answers.count("<form") == 2, "their pictures differ"
    assert answers.count("<p>=&gt; <strong>so</strong>") == answers.count("<td>1</td>") == 2
    assert answers.count("data:image/svg+xml") == 2
    assert all(answers.count(f"data:image/png;base64,{picture}") == 1 for picture in ("AAAA", "BBBB"))


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_the_keyboard_alone_is_enough(server: ByHandServer, folder: Path, tmp_path: Path) -> None:
    """From the first page: the first question, a line of the rubric, a number and a comment."""
    page = Page(tmp_path / "profile")
    try:
        page.browser.get(server.address)

        def press(*keys: str) -> None:
            page.browser.switch_to.active_element.send_keys(*keys)

        def kept(number: int) -> bool:
            return len(page.browser.find_elements(By.CSS_SELECTOR, "form.given")) == number

        press(Keys.TAB)
        press(Keys.ENTER)
        page.wait(lambda: len(page.browser.find_elements(By.TAG_NAME, "form")) == 3, "the answers", 20)
        press("b", Keys.ENTER)
        page.wait(lambda: kept(1), "the first points", 20)
        press("2", Keys.TAB, Keys.TAB)
        press("Well done.", Keys.CONTROL, Keys.ENTER)
        page.wait(lambda: kept(2), "the second points", 20)
    finally:
        page.close()
    found = {row.cells["answer"]: row.given for row in PointsFile(folder / FILE).rows().values() if row.given.grader}
    assert found["<script>alert(1)</script>"] == Given(1.0, "1 point: one of the two, or both without a number", "eva")
    assert found["No idea."] == Given(2.0, "Well done.", "eva")
