"""Teaching on a server, end to end: two students at once in a real JupyterHub, each with Lab 01 in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from linklab.jupyter import FIRST_NOTEBOOK
from tests.commands import browser
from tests.commands.browser import Page
from tests.commands.notebook_file import code_cells, outputs

from .served import PASSWORD, ROOT, USERS, ClassMachine, Hub, listening

LAB = "01-router-network.ipynb"
AT_THE_LAB, GO_ON = "at-the-lab", "go-on"
# Asks the lab for nothing, so it changes no digit of it.
MEETING = f"""\
import time as _time
from pathlib import Path as _Path

_Path("{AT_THE_LAB}").touch()
while not _Path("{GO_ON}").exists():
    _time.sleep(0.1)"""
RESULT = "application/vnd.linklab.result+json"
PATIENCE_S = 600.0
pytestmark = [pytest.mark.lab, pytest.mark.large]


@pytest.fixture(scope="module")
def browsers() -> None:
    """Skips where there are none, before a hub is started for them."""
    if (lack := browser.missing()) is not None:
        pytest.skip(lack)


@pytest.fixture(scope="module")
def hub(machine: ClassMachine) -> Iterator[Hub]:
    started = Hub(machine)
    try:
        started.wait()
        yield started
    finally:
        students = [process for name in USERS for process in started.processes_of(name)]
        started.end()
        for folder in {folder for name in USERS for folder in runtimes_of(name)}:
            shutil.rmtree(folder)
    assert students, "both had servers"
    assert [process for process in students if process.is_there()] == []


@pytest.fixture(scope="module")
def pages(browsers: None, hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Page]]:
    """A browser for each student, who is logged in and looks at a server of the student's own."""
    opened: dict[str, Page] = {}
    try:
        for name in USERS:
            opened[name] = Page(tmp_path_factory.mktemp(f"profile-{name}"))
        with ThreadPoolExecutor(len(USERS)) as both:
            list(both.map(lambda name: log_in(opened[name], hub, name), USERS))
        yield opened
    finally:
        for page in opened.values():
            page.close()


@pytest.fixture(scope="module")
def met(machine: ClassMachine, hub: Hub, pages: dict[str, Page]) -> dict[str, Page]:
    """Both have started their network and wait for each other."""
    for name in USERS:
        notebook = machine.home / name / "labs" / LAB
        notebook.write_text(json.dumps(solution()), "utf-8")
        os.chown(notebook, USERS[name], USERS[name])
    for name, page in pages.items():
        # the first notebook's: a page that leaves earlier starts none
        page.wait(lambda name=name: bool(kernels_of(name)), f"{name} has a kernel")  # type: ignore[misc]
        page.open(f"{hub.address}/user/{name}/lab/tree/{LAB}")
    for page in pages.values():
        page.start_all(LAB)
    for name, page in pages.items():
        wait_for_lab(page, machine.home / name / "labs" / AT_THE_LAB)
    return pages


def runtimes_of(name: str) -> list[Path]:
    """The folders in which a student's server and kernels keep their sockets."""
    return [folder for folder in Path("/tmp").glob("linklab-tmp-*") if folder.stat().st_uid == USERS[name]]


def kernels_of(name: str) -> list[Path]:
    """The connection files of a student's kernels."""
    return [file for folder in runtimes_of(name) for file in folder.glob("kernel-*.json")]


def wait_for_lab(page: Page, arrived: Path) -> None:
    """Until the student's network is there. Fails with what the page says where a cell before that fails."""
    page.wait(lambda: arrived.exists() or bool(failed(page)), f"{arrived} is there", PATIENCE_S)
    assert arrived.exists(), failed(page)


def log_in(page: Page, hub: Hub, name: str) -> None:
    page.browser.get(f"{hub.address}/")
    page.see("#username_input").send_keys(name)
    page.see("#password_input").send_keys(PASSWORD)
    page.see("#login_submit").click()
    page.arrive()


def solution() -> dict[str, Any]:
    """The instructor's Lab 01, and after the start of its network a cell in which students wait for each other."""
    notebook: dict[str, Any] = json.loads((ROOT / "solutions" / LAB).read_text("utf-8"))
    ids = [cell["id"] for cell in notebook["cells"]]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "meeting",
        "metadata": {},
        "outputs": [],
    }
    notebook["cells"].insert(ids.index("start") + 1, {**cell, "source": MEETING})
    return notebook


def failed(page: Page) -> str:
    """What the first cell that failed says; empty while none has."""
    errors = page.all('.jp-NotebookPanel:not(.lm-mod-hidden) [data-mime-type="application/vnd.jupyter.error"]')
    errors += page.all('.jp-NotebookPanel:not(.lm-mod-hidden) [data-mime-type="application/vnd.jupyter.stderr"]')
    return errors[0].text if errors else ""


def wait_for_end(page: Page) -> None:
    def run() -> bool:
        return page.kernel_status() == "idle" and all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in page.prompts())

    page.wait(run, "the notebook was run", PATIENCE_S)


def said(cells: list[dict[str, Any]]) -> list[str]:
    """All texts that the cells have put out, line by line, each cell's behind its number."""
    texts = []
    for number, cell in enumerate(cells):
        for output in cell["outputs"]:
            text = output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "")
            texts += [f"{number} {line}" for line in "".join(text).splitlines()]
    return texts


def test_who_is_new_sees_the_first_lab_and_has_all_of_them(machine: ClassMachine, pages: dict[str, Page]) -> None:
    given = {path.name for path in (ROOT / "labs").iterdir()}
    for name, page in pages.items():
        labs = machine.home / name / "labs"
        page.wait(lambda page=page: FIRST_NOTEBOOK in page.front_tabs(), "the first lab is in front")  # type: ignore[misc]
        assert given <= {path.name for path in labs.iterdir()}
        assert stat.S_IMODE(labs.stat().st_mode) == 0o700
        assert {path.stat().st_uid for path in labs.iterdir()} == {USERS[name]}
        assert "Nbgrader" not in [item.text for item in page.all("#jp-MainMenu .lm-MenuBar-item")]
        assert not page.all('[data-command="debugger:restart-debug"], .jp-DebuggerBugButton')


def test_two_labs_at_once_are_ordinary_processes_of_two_students(hub: Hub, met: dict[str, Page]) -> None:
    for name, number in USERS.items():
        mine = hub.processes_of(name)
        guests = [it for it in mine if "time-travel" in it.words and it.words.startswith("/run/linklab/linux ")]
        assert guests, f"{name} has no network: {mine}"
        ordinary = [it.status for it in mine if "linklab.hub.start" in it.words or "ipykernel" in it.words]
        assert len(ordinary) >= 2
        for status in ordinary:
            assert status["Uid"].split() == [str(number)] * 4
            assert {status[which] for which in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
            assert status["Groups"].split() == [str(number)]
        assert {address.partition(":")[0] for address in listening(name)} == {"0100007F"}, "loopback alone"


def test_kernels_speak_through_sockets_that_others_cannot_reach(met: dict[str, Page]) -> None:
    # on TCP everybody on the machine could read what a kernel prints: that channel asks for no key
    for name in USERS:
        (runtime,) = runtimes_of(name)
        assert stat.S_IMODE(runtime.stat().st_mode) & 0o777 == 0o700  # Jupyter adds the sticky bit
        kernels = [json.loads(file.read_text()) for file in kernels_of(name)]
        assert len(kernels) >= 2
        for kernel in kernels:
            assert kernel["transport"] == "ipc"
            assert kernel["ip"].startswith(f"{runtime}/kernel-")


def test_neither_reads_the_others_work_nor_the_solutions(machine: ClassMachine, hub: Hub, met: dict[str, Page]) -> None:
    server = hub.processes_of("ada")[0].pid
    for reader, owner in (("ada", "bob"), ("bob", "ada")):
        theirs = f"/home/{owner}/labs/{LAB}"
        assert machine.as_user(server, reader, "cat", theirs).stderr.endswith("Permission denied\n")
        assert machine.as_user(server, owner, "cat", theirs).returncode == 0
        (runtime,) = runtimes_of(owner)
        assert machine.as_user(server, reader, "ls", str(runtime)).stderr.endswith("Permission denied\n")
        assert machine.as_user(server, reader, "ls", "/srv/kit/solutions").stderr.endswith("Permission denied\n")
        assert machine.as_user(server, reader, "ls", "/var/lib/linklab/hub").stderr.endswith("Permission denied\n")
        assert machine.as_user(server, reader, "ls", "/var/lib/linklab/labs").returncode == 0
        # the other one's lab is no lab that `linklab shell` could visit
        code = "import pathlib; from linklab.runtime.attach import running_labs; print(running_labs(pathlib.Path('/')))"
        labs = machine.as_user(server, reader, "env", "PYTHONPATH=/srv/kit/lib", "/srv/venv/bin/python", "-c", code)
        others = {str(process.pid) for process in hub.processes_of(owner)}
        assert not others & set(re.findall(r"\d+", labs.stdout + labs.stderr))


def test_a_student_does_not_get_into_the_others_server(hub: Hub, met: dict[str, Page]) -> None:
    page = met["bob"]
    front = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.browser.get(f"{hub.address}/user/ada/lab")
    assert "403" in page.browser.find_element(By.TAG_NAME, "body").text
    page.browser.close()
    page.browser.switch_to.window(front)


def test_both_measure_the_same_and_pass(machine: ClassMachine, met: dict[str, Page]) -> None:
    for name in USERS:
        (machine.home / name / "labs" / GO_ON).touch()
    for page in met.values():
        wait_for_end(page)
        page.save()
    ada, bob = (code_cells(machine.home / name / "labs" / LAB) for name in USERS)
    graded = [cell for cell in ada if cell["metadata"].get("nbgrader", {}).get("grade")]
    for cells in (ada, bob):
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        assert outputs(cells, "error") == []
        shown = [output["data"] for output in outputs(cells, "execute_result")]
        assert [data[RESULT]["outcome"] for data in shown if RESULT in data] == ["passed"] * len(graded)
    assert said(ada) == said(bob)
    assert any(re.search(r"RTT of h1-h9 +ms +80 +90 +80 +80 ", line) for line in said(ada)), "80 ms, as theory says"
