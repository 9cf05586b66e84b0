"""``linklab run``: notebooks without a page, the executed copy with what it ran on, and nothing left."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab import __version__
from linklab.cli import main
from linklab.runtime.backends import Kind

from .terminal import Terminal, one_line

START = "import linklab\nfrom linklab.network import TWO_HOSTS\nlab = linklab.start(TWO_HOSTS)"


def notebook(path: Path, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    """A notebook of these code cells under a heading; `tags` are the first cell's."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])  # type: ignore[no-untyped-call]
    book.cells += [nbformat.v4.new_code_cell(source) for source in cells]  # type: ignore[no-untyped-call]
    book.cells[1].metadata["tags"] = list(tags)
    nbformat.write(book, path)  # type: ignore[no-untyped-call]
    return path


def outputs(copy: Path) -> str:
    """All text that the cells printed."""
    book = json.loads(copy.read_text())
    return "".join(
        "".join(output.get("text", [])) for cell in book["cells"] for output in cell.get("outputs", []) if cell
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs ``linklab run`` in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    return lambda *words: main(["run", *map(str, words)])


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


def test_a_cell_that_ends_its_kernel(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(notebook(tmp_path / "dies.ipynb", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")) == 1
    assert capsys.readouterr().err.endswith(") ended the notebook's kernel\n")


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_run_that_is_ended(virtual: Kind, tmp_path: Path, number: signal.Signals) -> None:
    notebook(
        tmp_path / "long.ipynb", START, "import time\nfrom pathlib import Path\nPath('here').touch()\ntime.sleep(1000)"
    )
    with Terminal(tmp_path, "run", "long.ipynb") as run:
        run.wait_for("cell 2 of 2")
        while not (tmp_path / "here").exists():
            assert run.process.poll() is None, run.said
            time.sleep(0.05)
        assert any("supervisor.py" in words for words in run.alive().values())
        run.interrupt(number)
        run.interrupt(number)
        assert run.process.wait(600) == (-signal.SIGKILL if number == signal.SIGKILL else 130)
        assert run.left() == {}
        run.end()
        assert "Traceback" not in run.said
        if number != signal.SIGKILL:
            assert "long.ipynb: stopped, 2 cells" in run.said
    if number != signal.SIGKILL:
        assert (tmp_path / "executed" / "long.ipynb").is_file(), "what was done until then"


def test_wrong_files_are_a_line_each(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, good = tmp_path / "text.ipynb", notebook(tmp_path / "good.ipynb", "1")
    text.write_text("not a notebook")
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    for words, said in (
        (["missing.ipynb"], "there is no notebook missing.ipynb"),
        (["mtu"], "mtu is a study and no notebook: linklab study run mtu"),
        ([text], "text.ipynb is not a notebook"),
        ([tmp_path], "Is a directory"),
        ([good, "--output", "."], "would be overwritten by its executed copy"),
        ([good, "--output", "file"], "File exists: file"),
        ([good, "other/good.ipynb"], "two notebooks are called good.ipynb"),
    ):
        assert run(*words) == 1
        assert said in one_line(capsys.readouterr().err)


@pytest.mark.parametrize("limit", ["0", "-1", "soon"])
def test_a_limit_that_is_none(run: Callable[..., int], limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("a.ipynb", f"--cell-limit-s={limit}")
    assert "not a whole number of seconds above 0" in one_line(capsys.readouterr().err)
