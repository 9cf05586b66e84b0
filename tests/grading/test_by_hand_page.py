"""Points by hand: nothing that was kept is lost, and nobody overwrites another one unseen."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from linklab.classroom.contents import Contents
from linklab.grading.by_hand_page import ByHand, ByHandServer, RubricItem, rubric_items
from linklab.grading.manual_points import FILE, JOURNAL, Given, Journal, WrittenAnswer, read, to_csv, with_points
from tests.commands.browser import Page, missing
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import starter
from tests.notebooks.run_notebook import ROOT

LAB, QUESTION = "04-link-latency", "reflect-queue"
ANSWERS = [
    WrittenAnswer(LAB, QUESTION, f"student {number}", text, 2.0)
    for number, text in enumerate(("The queue fills.", "the  queue\nfills.", "<script>alert(1)</script>", "No idea."))
]
NOTHING = Given()
ADDS = """
import sys
from pathlib import Path
from linklab.grading.manual_points import Given, Journal
journal, key = Journal(Path(sys.argv[1])), sys.argv[2]
seen = Given()
for number in range(int(sys.argv[3])):
    given = Given(number / 1000, "", sys.argv[4])
    others = journal.add({key: seen}, given)
    print(int(not others), given.points, flush=True)
    seen = others.get(key, given)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graded class's folder, with a table."""
    (tmp_path / FILE).write_text(to_csv(ANSWERS, {}))
    return tmp_path


def _adds(folder: Path, key: str, times: int, grader: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ADDS, str(folder), key, str(times), grader]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_graders_at_once_lose_nothing(folder: Path) -> None:
    both = [_adds(folder, one.key, 40, one.student) for one in ANSWERS[:2]]
    said = [process.communicate()[0].splitlines() for process in both]
    assert all(line.startswith("1 ") for lines in said for line in lines)
    lines = (folder / JOURNAL).read_text().splitlines()
    assert len(lines) == 80
    assert {json.loads(line)["points"] for line in lines} == {number / 1000 for number in range(40)}


def test_of_two_graders_of_one_answer_each_sees_what_the_other_gave(folder: Path) -> None:
    journal, key = Journal(folder), ANSWERS[0].key
    assert journal.add({key: NOTHING}, Given(1.0, "why?", "eva")) == {}
    assert journal.add({key: NOTHING}, Given(2.0, "", "max")) == {key: Given(1.0, "why?", "eva")}
    assert journal.read()[key].given == Given(1.0, "why?", "eva")
    assert journal.add({key: Given(1.0, "why?", "eva")}, Given(2.0, "", "max")) == {}
    assert journal.read()[key].given == Given(2.0, "", "max")


def test_what_was_kept_outlives_kill_9(folder: Path) -> None:
    process = _adds(folder, ANSWERS[0].key, 10_000, "eva")
    assert process.stdout is not None
    kept = [process.stdout.readline() for _ in range(30)]
    process.kill()
    kept += process.communicate()[0].splitlines()
    last = float(kept[-1].split()[1])
    found = Journal(folder).read()[ANSWERS[0].key].given.points
    assert found in (last, pytest.approx(last + 0.001)), "what was on its way may be there too"


def test_a_line_that_was_cut_is_passed_over_and_ended(folder: Path) -> None:
    journal, first, second = Journal(folder), ANSWERS[0].key, ANSWERS[1].key
    journal.add({first: NOTHING}, Given(1.0, "", "eva"))
    with (folder / JOURNAL).open("ab") as file:
        file.write(b'{"points": 2.0, "comm')
    assert journal.read()[first].given.points == 1.0
    assert journal.add({second: NOTHING}, Given(0.5, "", "eva")) == {}
    assert [journal.read()[key].given.points for key in (first, second)] == [1.0, 0.5]


def test_grading_again_takes_in_what_was_given_and_keeps_what_came_since(folder: Path) -> None:
    journal, first, second = Journal(folder), ANSWERS[0].key, ANSWERS[1].key
    journal.add({first: NOTHING}, Given(1.0, "=1+1\nwhy?", "eva"))
    rows, length = journal.rows()
    journal.add({second: NOTHING}, Given(2.0, "", "max"))
    journal.take_in(to_csv(with_points(ANSWERS, rows), rows), length)
    assert read((folder / FILE).read_bytes())[first].given == Given(1.0, "=1+1\nwhy?", "eva")
    assert read((folder / FILE).read_bytes())[second].given == NOTHING
    assert journal.read()[second].given == Given(2.0, "", "max")


def test_points_stay_when_their_answer_has_changed_meanwhile(folder: Path) -> None:
    journal = Journal(folder)
    journal.add({ANSWERS[0].key: NOTHING}, Given(1.0, "", "eva"))
    (folder / FILE).write_text(to_csv(ANSWERS[1:], {}))
    rows, length = journal.rows()
    journal.take_in(to_csv(with_points(ANSWERS[1:], rows), rows), length)
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

    def give(self, server: ByHandServer, seen: Given, points: str, **more: Any) -> tuple[int, Any]:
        """Give points for the first answer; return the status and what the page was told."""
        told = {"keys": [ANSWERS[0].key], "points": points, "comment": "", "seen": seen.__dict__, **more}
        request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/give", json.dumps(told).encode())
        try:
            with self._opener.open(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            return error.code, json.loads(text) if error.code == 409 else text


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


def test_the_page_tells_what_another_grader_gave(server: ByHandServer, folder: Path) -> None:
    client = Client()
    client.get(server.address)
    assert client.give(server, NOTHING, "1,5")[0] == 200
    assert Journal(folder).read()[ANSWERS[0].key].given == Given(1.5, "", "eva")
    status, now = client.give(server, NOTHING, "2", grader="max")
    assert (status, now) == (409, {"kept": False, "points": 1.5, "comment": "", "grader": "eva"})
    assert client.give(server, Given(1.5, "", "eva"), "3") == (400, "points: 3 points, and 0 to 2 can be given")
    assert client.give(server, Given(1.5, "", "eva"), "")[1]["points"] is None


@pytest.mark.parametrize("address", ["/", "/question?lab=x&question=y", "/?token=guessed", "/?token=%C3%A9"])
def test_without_the_token_there_is_no_page(server: ByHandServer, folder: Path, address: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        Client().get(f"http://127.0.0.1:{server.server_port}{address}")
    assert Client().give(server, NOTHING, "2")[0] == 403
    assert not (folder / JOURNAL).exists()


def test_points_and_a_comment_for_a_failed_check_reach_the_student(group: PretendedClass) -> None:
    group.hand_in("ada", starter())
    (before,) = group.grade().students
    rows = read((group.output / FILE).read_bytes())
    check = next(row for row in rows.values() if row.cells["question"] == "check-queue")
    given = Given(0.5, "The idea is right.", "eva")
    assert Journal(group.output).add({check.cells["key"]: NOTHING}, given) == {}
    (after,) = group.grade().students
    assert after.points == before.points + 0.5
    assert "The idea is right." in (group.output / "feedback" / "ada.html").read_text("utf-8")
    assert read((group.output / FILE).read_bytes())[check.cells["key"]].given == given
    assert Journal(group.output).rows()[1] == 0, "the journal is in the table"
    (again,) = group.grade().students
    assert again.points == after.points


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
    found = {row.cells["answer"]: row.given for row in Journal(folder).read().values() if row.given.grader}
    assert found["<script>alert(1)</script>"] == Given(1.0, "1 point: one of these", "eva")
    assert found["No idea."] == Given(2.0, "Well done.", "eva")
