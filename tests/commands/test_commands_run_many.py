"""``linklab run`` with several notebooks: side by side, each within its limits, reported in the order given."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.headless import pool
from linklab.runtime.backends import Kind

from .terminal import Terminal, one_line
from .test_commands_run import START, notebook, outputs, run

__all__ = ["run"]
# Each tells that it is there and waits for the other, which comes only if both run at once.
MEET = """
import time
from pathlib import Path
Path("{me}").touch()
for _ in range({patience_s} * 20):
    if Path("{other}").exists():
        break
    time.sleep(0.05)
else:
    raise TimeoutError("the other one is not there")
"""
FOR_EVER = "from pathlib import Path\nPath('{name}').touch()\nimport time\ntime.sleep(10_000)"


def meeting(folder: Path, patience_s: int) -> list[Path]:
    """Two notebooks that pass only side by side."""
    return [
        notebook(folder / f"{me}.ipynb", MEET.format(me=me, other=other, patience_s=patience_s))
        for me, other in (("left", "right"), ("right", "left"))
    ]


def verdicts(said: str) -> list[str]:
    """The results' lines: name and verdict."""
    found = re.findall(r"^(\S+)\.ipynb: (\w[\w ]*), \d+ (?:of \d+ )?cells, [\d.]+ s, (?:no copy|copy in)", said, re.M)
    return [f"{Path(name).name} {verdict}" for name, verdict in found]


@pytest.mark.large
def test_side_by_side(run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*meeting(tmp_path, 300), "--jobs", 2) == 0
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["left passed", "right passed"]
    assert re.search(r"^2 notebooks, 2 at once: 2 passed; [\d.]+ s$", captured.out, re.M)
    assert captured.err == ""


def test_one_after_the_other(run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*meeting(tmp_path, 1), "--jobs", 1) == 1
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["left FAILED", "right passed"], "the first waits in vain"
    assert "2 notebooks, 1 at once: 1 passed, 1 FAILED" in captured.out


def test_results_come_in_the_order_given(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = meeting(tmp_path, 300)
    bad = notebook(tmp_path / "bad.ipynb", "1 / 0")
    assert run(first, bad, second, "--jobs", 2) == 1
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["left passed", "bad FAILED", "right passed"]
    ended = [line for line in captured.out.splitlines() if re.fullmatch(r"\w+\.ipynb: (passed|FAILED)", line)]
    assert ended[0] == "bad.ipynb: FAILED", "the first ends when the last has begun, which waits for the second's place"
    assert one_line(f"linklab: {captured.err}").endswith("ZeroDivisionError: division by zero")


HUNGRY = """
import subprocess, sys, time
code = "memory = bytearray(400_000_000); import time; time.sleep(10_000)"
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
time.sleep(10_000)
"""
DEAF = "import signal, time\nfor each in (2, 15):\n    signal.signal(each, signal.SIG_IGN)\ntime.sleep(10_000)"
PINGS = "print(lab['h1'].cmd('ping -c 2 10.0.0.2'))"


def run_beyond(folder: Path, stuck: dict[str, str], *limits: object) -> dict[str, str]:
    """Run notebooks whose third cell is ``stuck``, a good one and one more; return the reasons why those ended."""
    for name, cell in stuck.items():
        notebook(folder / f"{name}.ipynb", START, cell, "print('reached')")
    notebook(folder / "good.ipynb", START, PINGS)
    notebook(folder / "last.ipynb", "print('after the stuck ones')")
    files = [f"{name}.ipynb" for name in (*stuck, "good", "last")]
    with Terminal(folder, "run", *files, *map(str, limits), "--jobs", "2") as many:
        assert many.process.wait(600) == 1
        assert many.left() == {}
        assert many.end() == 1
        assert verdicts(many.said) == [*(f"{name} FAILED" for name in stuck), "good passed", "last passed"]
        reasons = dict(re.findall(r"^(\w+)\.ipynb: cell 3 \(\w+\): (.*)$", many.said, re.M))
    assert "2 received" in outputs(folder / "executed" / "good.ipynb")
    for name in stuck:
        assert "reached" not in outputs(folder / "executed" / f"{name}.ipynb")
    return reasons


@pytest.mark.large
@pytest.mark.lab
def test_one_that_is_not_done_in_time_is_ended_with_its_lab_and_the_others_go_on(virtual: Kind, tmp_path: Path) -> None:
    reasons = run_beyond(tmp_path, {"deaf": DEAF}, "--notebook-limit-s", 10)
    assert "the notebook was not done after 10 s; give more with --notebook-limit-s" in reasons["deaf"]


@pytest.mark.large
@pytest.mark.lab
def test_those_that_take_too_much_are_ended_with_their_labs_and_the_others_go_on(virtual: Kind, tmp_path: Path) -> None:
    stuck = {"computes": "while True: pass", "hungry": HUNGRY, "lab": "lab['h1'].cmd('while :; do :; done')"}
    reasons = run_beyond(tmp_path, stuck, "--cpu-limit-s", 6, "--memory-mb", 900)
    for name in ("computes", "lab"):
        assert "used 6 s of CPU time; give more with --cpu-limit-s" in reasons[name]
    assert re.search(r"used \d+ MB of memory, more than 900; give more with --memory-mb", reasons["hungry"])


def test_an_allocation_beyond_the_limit_fails_in_its_cell(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "big.ipynb", "big = bytearray(2_000_000_000)", "print('the next cell')")
    assert run(path, "--memory-mb", 1000) == 1
    said = one_line(f"linklab: {capsys.readouterr().err}")
    assert said.endswith("): MemoryError (a process may allocate 1000 MB; give more with --memory-mb)")
    assert "the next cell" in outputs(Path("executed/big.ipynb"))


def test_what_a_notebook_leaves_running_ends_with_it(tmp_path: Path) -> None:
    notebook(tmp_path / "daemon.ipynb", "import subprocess\nsubprocess.Popen(['setsid', 'sh', '-c', 'sleep 9999 & :'])")
    with Terminal(tmp_path, "run", "daemon.ipynb") as one:
        assert one.end() == 0
        assert one.alive() == {}


def test_a_notebook_that_kills_its_worker(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kills = notebook(tmp_path / "kills.ipynb", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    assert run(kills, notebook(tmp_path / "good.ipynb", "1"), "--jobs", 2) == 1
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["kills FAILED", "good passed"]
    assert one_line(f"linklab: {captured.err}").endswith("its process ended with signal SIGKILL")


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_ends_all_and_keeps_the_copies(virtual: Kind, tmp_path: Path, number: signal.Signals) -> None:
    for name in ("one", "two", "three"):
        notebook(tmp_path / f"{name}.ipynb", f"{START}\nprint('{name} was here')", FOR_EVER.format(name=name))
    words = ["one.ipynb", "two.ipynb", "three.ipynb", "--jobs", "2"]
    with Terminal(tmp_path, "run", *words) as many:
        deadline = time.monotonic() + 300
        while not (tmp_path / "one").exists() or not (tmp_path / "two").exists():
            assert time.monotonic() < deadline, many.said
            assert many.process.poll() is None, many.said
            time.sleep(0.05)
        assert sum("supervisor.py" in words for words in many.alive().values()) == 2
        many.interrupt(number)
        many.interrupt(number)
        status = many.process.wait(300)
        assert many.left() == {}
        many.end()
        assert "Traceback" not in many.said
    assert not (tmp_path / "three").exists()
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
        return
    assert status == 130
    assert verdicts(many.said) == ["one stopped", "two stopped"]
    assert "three.ipynb: not begun\n" in many.said
    for name in ("one", "two"):
        assert f"{name} was here" in outputs(tmp_path / "executed" / f"{name}.ipynb")


@pytest.mark.parametrize(
    ("jobs", "status", "says"),
    [
        ("0", 2, "'0' is not a whole number above 0"),
        ("-1", 2, "'-1' is not a whole number above 0"),
        ("x", 2, "'x' is not a whole number above 0"),
        ("10000", 1, "10000 notebooks at once are too many: the 2 cores bear 8 at most; say --jobs 8 or less"),
    ],
)
def test_a_job_count_that_cannot_be(
    run: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    jobs: str,
    status: int,
    says: str,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    path = notebook(tmp_path / "a.ipynb", "1")
    try:
        ended = run(path, "--jobs", jobs)
    except SystemExit as error:  # argparse
        ended = int(str(error.code))
    assert ended == status
    assert says in one_line(capsys.readouterr().err)
    assert not (tmp_path / "executed").exists(), "nothing was begun"


def test_as_many_jobs_as_cores_notebooks_and_memory_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(4)))
    monkeypatch.setattr(pool, "free_memory_mb", lambda: 10_000.0)
    assert pool.how_many(None, 10) == 4
    assert pool.how_many(None, 3) == 3
    assert pool.how_many(16, 3) == 3
    monkeypatch.setattr(pool, "free_memory_mb", lambda: 1000.0)
    assert pool.how_many(None, 10) == 2
    assert pool.how_many(2, 10) == 2
    with pytest.raises(LabError, match=r"^3 notebooks at once need 1200 MB and 1000 MB are free: say --jobs 2"):
        pool.how_many(3, 10)
    monkeypatch.setattr(pool, "free_memory_mb", lambda: 10.0)
    assert pool.how_many(None, 10) == 1


def test_a_wrong_file_among_many_is_found_before_any_is_run(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(notebook(tmp_path / "a.ipynb", "1"), "missing.ipynb") == 1
    captured = capsys.readouterr()
    assert one_line(captured.err) == "linklab: there is no notebook missing.ipynb"
    assert captured.out == ""


def test_a_terminal_shows_how_far_all_are(tmp_path: Path) -> None:
    notebooks = [str(path) for path in meeting(tmp_path, 300)]
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "linklab", "run", *notebooks, "--jobs", "2"]
    command = subprocess.Popen(
        words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"}
    )
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], 300)[0]:
        try:
            said += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert command.wait(600) == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    assert "all notebooks" in shown
    assert {"left.ipynb", "right.ipynb"} <= set(re.findall(r"^(\w+\.ipynb) .*cell 1 of 1", shown, re.M))
    assert verdicts(shown.replace("\r", "")) == ["left passed", "right passed"]
