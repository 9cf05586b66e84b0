"""The class board, end to end: two students and an instructor in a real JupyterHub, each in a browser."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from linklab.jupyter import FIRST_NOTEBOOK
from tests.commands import browser
from tests.commands.browser import Page

from .served import PASSWORD, USERS, ClassMachine, Hub

pytestmark = [pytest.mark.lab, pytest.mark.large]
SETTINGS = """
c.Linklab.class_board = True
c.JupyterHub.load_groups = {"instructors": {"users": ["eva"]}}
"""
SETUP = """
from linklab.grade import Check
from linklab.grade.progress import progress
from linklab.grade.result import guarded
answer = 0
progress("linklab.labs.lab00")
"""
CHECK = """
@guarded("Lab 00, the network")
def judge():
    return Check.passing("answer", "7") if answer == 7 else Check.failing("answer", "7", "0", "it is not", ("look",))
answer = {answer}
judge().require()
"""
FRAME = 'iframe[title="Class board"]'


def notebook(answer: int) -> dict[str, Any]:
    """Lab 00 with one check, which needs no network."""
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    graded = {"nbgrader": {"grade": True, "solution": False, "points": 1}}
    return {
        "cells": [
            {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Lab 00"},
            {**cell, "id": "setup", "source": SETUP.strip()},
            {**cell, "id": "check-network", "source": CHECK.format(answer=answer).strip(), "metadata": graded},
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture(scope="module")
def hub(machine: ClassMachine) -> Iterator[Hub]:
    if (lack := browser.missing()) is not None:
        pytest.skip(lack)
    started = Hub(machine, SETTINGS)
    try:
        started.wait()
        yield started
    finally:
        started.end()


@pytest.fixture(scope="module")
def pages(machine: ClassMachine, hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Page]]:
    """Browsers of two students with a notebook that ran, and of the instructor, who looks at the board."""
    opened: dict[str, Page] = {}
    try:
        for name, where in (("ada", "/"), ("bob", "/"), ("eva", "/services/class-board/")):
            page = opened[name] = Page(tmp_path_factory.mktemp(f"profile-{name}"))
            page.browser.get(f"{hub.address}{where}")
            page.see("#username_input").send_keys(name)
            page.see("#password_input").send_keys(PASSWORD)
            page.see("#login_submit").click()
        for name, owner in USERS.items():
            opened[name].arrive()
            place = machine.home / name / "labs" / FIRST_NOTEBOOK
            place.write_text(json.dumps(notebook(answer=0 if name == "ada" else 7)), "utf-8")
            os.chown(place, owner, owner)
            opened[name].open(f"{hub.address}/user/{name}/lab/tree/{FIRST_NOTEBOOK}")
            opened[name].start_all(FIRST_NOTEBOOK)
            opened[name].see(FRAME)
            opened[name].wait(lambda name=name: opened[name].kernel_status() == "idle", "the notebook was run")  # type: ignore[misc]
        yield opened
    finally:
        for page in opened.values():
            page.close()


def choose(page: Page, button: str, then: str) -> None:
    """Press a button of the frame in the student's notebook by the keyboard, and wait for what the frame says then."""
    page.browser.switch_to.frame(page.see(FRAME))
    page.see(f"button[value={button}]").send_keys(Keys.ENTER)
    # the frame's page is loaded anew
    page.wait(lambda: then in page.browser.execute_script("return document.body?.innerText ?? ''"), then, 60)
    page.browser.switch_to.default_content()


def rows(page: Page) -> list[list[str]]:
    """The board's rows, as they stand now: the page follows by itself."""
    script = "return [...document.getElementById('rows').rows].map(row => [...row.cells].map(cell => cell.innerText))"
    found: list[list[str]] = page.browser.execute_script(script)
    return found


def wait_for_rows(page: Page, wanted: list[str]) -> None:
    page.wait(lambda: [row[0] for row in rows(page)] == wanted, f"the board shows {wanted}", 60)


def test_a_student_is_shown_who_wants_it_and_as_long_as_the_student_wants(
    pages: dict[str, Page], tmp_path: Path
) -> None:
    board, ada, bob = pages["eva"], pages["ada"], pages["bob"]
    assert rows(board) == []
    choose(ada, "yes", "You are shown")
    wait_for_rows(board, ["Student 1"])
    board.browser.find_element(By.LINK_TEXT, "Show names").send_keys(Keys.ENTER)
    wait_for_rows(board, ["ada"])
    assert rows(board)[0][2:5] == ["network", "0", "1 try"]
    choose(bob, "yes", "You are shown")
    board.wait(lambda: {"ada", "bob"} == {row[0] for row in rows(board)}, "both are shown", 60)
    assert ["bob", "prediction RTT", "1"] in [[row[0], *row[2:4]] for row in rows(board)]
    ada.start_all(FIRST_NOTEBOOK)
    board.wait(lambda: ["ada", "2 tries"] in [[row[0], row[4]] for row in rows(board)], "the board follows ada", 60)
    for page, name in ((board, "board"), (ada, "ada")):
        page.browser.save_screenshot(str(tmp_path / f"{name}.png"))
    choose(ada, "no", "You are not shown")
    wait_for_rows(board, ["bob"])


def test_no_student_sees_the_board(hub: Hub, pages: dict[str, Page]) -> None:
    page = pages["bob"]
    front = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.browser.get(f"{hub.address}/services/class-board/")
    assert "for instructors" in page.browser.find_element(By.TAG_NAME, "body").text
    page.browser.close()
    page.browser.switch_to.window(front)


def test_the_token_for_the_board_opens_nothing_else(hub: Hub, pages: dict[str, Page]) -> None:
    server = next(one for one in hub.processes_of("bob") if "linklab.hub.start" in one.words)
    words = Path(f"/proc/{server.pid}/environ").read_bytes().split(b"\0")
    (token,) = [word.partition(b"=")[2].decode() for word in words if word.startswith(b"LINKLAB_CLASS_BOARD_TOKEN=")]

    def status(path: str, method: str = "GET") -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)) as asked:
            asked.request(method, path, headers={"Authorization": f"token {token}"})
            return asked.getresponse().status

    assert status("/services/class-board/reports", "POST") == 400
    assert status("/services/class-board/") == 403
    assert status("/user/bob/api/contents") == 403
    assert status("/user/ada/linklab/class-board") == 403
    assert status("/hub/api/users/ada") in (403, 404)
    assert status("/hub/api/users/bob/server", "POST") == 403


def test_a_server_that_ends_takes_its_student_off_the_board(hub: Hub, pages: dict[str, Page]) -> None:
    board, bob = pages["eva"], pages["bob"]
    wait_for_rows(board, ["bob"])
    (server,) = [one for one in hub.processes_of("bob") if "linklab.hub.start" in one.words]
    os.kill(server.pid, signal.SIGTERM)
    wait_for_rows(board, [])
    bob.browser.get("about:blank")
