"""Notebooks without a page: the executed copy with what it ran on, side by side, each within its limits."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linklab import __version__
from linklab.runtime.backends import Kind
from tests.commands.terminal import Terminal, one_line
from tests.support.notebooks import START, meeting, notebook, outputs, verdicts


def test_cells_that_raise(run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = notebook(
        tmp_path / "good.ipynb", "raise OSError('on purpose')", "print('reached')", tags=("raises-exception",)
    )
    bad = notebook(tmp_path / "bad.ipynb", "x = 1", "1 / 0", "print('still', x)", "raise ValueError('a\\nb')")
    assert run(good, bad) == 1
    captured = capsys.readouterr()
    copy = Path("executed/bad.ipynb")
    assert "good.ipynb: passed, 2 cells" in captured.out
    assert re.search(rf"bad\.ipynb: FAILED, 4 cells, [\d.]+ s, copy in {copy}$", captured.out, re.M), captured.out
    first, second = captured.err.splitlines()
    assert first.startswith(f"{bad}: cell 3 (")
    assert first.endswith("): ZeroDivisionError: division by zero")
    assert second.endswith("): ValueError: a")
    assert "still 1" in outputs(copy), "the cells after the failing one are run"
    assert "reached" in outputs(Path("executed/good.ipynb"))


@pytest.mark.lab
def test_what_the_lab_ran_on_stands_in_the_copy(virtual: Kind, run: Callable[..., int], tmp_path: Path) -> None:
    path = notebook(tmp_path / "lab.ipynb", START, "print(lab.info()['kernel'])")
    before = path.read_bytes()
    assert run(path, "--output", tmp_path / "deep" / "er") == 0
    copy = tmp_path / "deep" / "er" / "lab.ipynb"
    metadata: dict[str, Any] = json.loads(copy.read_text())["metadata"]["linklab"]
    assert outputs(copy).startswith(metadata["kernel"])
    assert metadata["linklab"] == __version__
    assert {"mininet", "iperf3", "iproute2", "ping", "python", "kind", "run_at"} <= set(metadata)
    assert path.read_bytes() == before, "the notebook itself stays as it was"


def test_a_cell_that_hangs(run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hangs = notebook(tmp_path / "hangs.ipynb", "print('begun')", "import time\ntime.sleep(1000)", "print('after')")
    assert run(hangs, "--cell-limit-s", 2) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{hangs}: cell 3 (")
    assert line.endswith("was not done after 2 s and was ended; give more with --cell-limit-s")
    assert outputs(Path("executed/hangs.ipynb")) == "begun\n"


@pytest.mark.large
def test_a_cell_that_prints_too_much_is_ended_and_those_before_are_kept(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floods = notebook(tmp_path / "floods.ipynb", "print('begun')", "print('x' * 101_000_000)", "print('after')")
    assert run(floods) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{floods}: cell 3 (")
    assert line.endswith("printed more than 100 MB and was ended: let it write to a file")
    assert outputs(Path("executed/floods.ipynb")) == "begun\n"


@pytest.mark.lab
def test_nothing_is_left_of_a_run_that_is_killed(virtual: Kind, tmp_path: Path) -> None:
    notebook(tmp_path / "long.ipynb", START, FOR_EVER.format(name="here"))
    with Terminal(tmp_path, "run", "long.ipynb") as run:
        run.wait_for("cell 2 of 2")
        while not (tmp_path / "here").exists():
            assert run.process.poll() is None, run.said
            time.sleep(0.05)
        assert any("supervisor.py" in words for words in run.alive().values())
        run.interrupt(signal.SIGKILL)
        assert run.process.wait(600) == -signal.SIGKILL
        assert run.left() == {}


FOR_EVER = "from pathlib import Path\nPath('{name}').touch()\nimport time\ntime.sleep(10_000)"


@pytest.mark.large
def test_side_by_side(run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*meeting(tmp_path, 300), "--jobs", 2) == 0
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["left passed", "right passed"]
    assert re.search(r"^2 notebooks, 2 at once: 2 passed; [\d.]+ s$", captured.out, re.M)
    assert captured.err == ""


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
    reasons = run_beyond(tmp_path, {"deaf": DEAF}, "--notebook-limit-s", 40)
    assert "the notebook was not done after 40 s; give more with --notebook-limit-s" in reasons["deaf"]


@pytest.mark.large
@pytest.mark.lab
def test_those_that_take_too_much_are_ended_with_their_labs_and_the_others_go_on(virtual: Kind, tmp_path: Path) -> None:
    stuck = {"computes": "while True: pass", "hungry": HUNGRY, "lab": "lab['h1'].cmd('while :; do :; done')"}
    reasons = run_beyond(tmp_path, stuck, "--cpu-limit-s", 20, "--memory-mb", 900)
    for name in ("computes", "lab"):
        assert "used 20 s of CPU time; give more with --cpu-limit-s" in reasons[name]
    assert re.search(r"used \d+ MB of memory, more than 900; give more with --memory-mb", reasons["hungry"])


def test_an_allocation_beyond_the_limit_fails_in_its_cell(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "big.ipynb", "big = bytearray(2_000_000_000)", "print('the next cell')")
    assert run(path, "--memory-mb", 1000) == 1
    said = one_line(f"linklab: {capsys.readouterr().err}")
    assert said.endswith("): MemoryError (a process may allocate 1000 MB; give more with --memory-mb)")
    assert "the next cell" in outputs(Path("executed/big.ipynb"))


def test_a_notebook_that_kills_its_worker(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kills = notebook(tmp_path / "kills.ipynb", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    assert run(kills, notebook(tmp_path / "good.ipynb", "1"), "--jobs", 2) == 1
    captured = capsys.readouterr()
    assert verdicts(captured.out) == ["kills FAILED", "good passed"]
    assert one_line(f"linklab: {captured.err}").endswith("its process ended with signal SIGKILL")


@pytest.mark.lab
def test_ctrl_c_ends_all_and_keeps_the_copies(virtual: Kind, tmp_path: Path) -> None:
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
        many.interrupt(signal.SIGINT)
        many.interrupt(signal.SIGINT)
        assert many.process.wait(300) == 130
        assert many.left() == {}
        many.end()
        assert "Traceback" not in many.said
    assert not (tmp_path / "three").exists()
    assert verdicts(many.said) == ["one stopped", "two stopped"]
    assert "three.ipynb: not begun\n" in many.said
    for name in ("one", "two"):
        assert f"{name} was here" in outputs(tmp_path / "executed" / f"{name}.ipynb")


def test_cells_whose_copy_cannot_be_written_are_kept_elsewhere(
    run: Callable[..., int],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As on a disk that became full meanwhile."""
    elsewhere = tmp_path_factory.mktemp("kept")  # its path is short, as a socket's in it must be
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    book = notebook(tmp_path / "book.ipynb", "import shutil; shutil.rmtree('executed')", "print(6 * 7)")
    assert run(book) == 1
    (kept,) = elsewhere.glob("*.ipynb")
    assert str(kept) in capsys.readouterr().err
    assert "42" in outputs(kept)


def test_a_home_without_room_for_ipythons_files_does_not_matter(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IPYTHONDIR")
    monkeypatch.setenv("HOME", "/proc/self")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(notebook(tmp_path / "book.ipynb", "print(6 * 7)")) == 0
