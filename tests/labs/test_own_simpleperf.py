"""Which simpleperf a lab measures with: the student's where it works, and one line why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.labs.multiplexing import own_parallel_simpleperf
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT

pytestmark = pytest.mark.lab
FINISHED = (ROOT / "solutions" / "simpleperf.py").read_text()


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("own")) as lab:
        yield lab


@pytest.fixture
def folder(lab: linklab.Lab) -> Path:
    """The lab's folder, in which programs lie."""
    return Path(lab["h1"].cmd("pwd").strip())


def test_one_that_works_is_used(lab: linklab.Lab, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "mine.py"
    file.write_text(FINISHED)
    assert own_simpleperf(lab, file) == str(file)
    assert capsys.readouterr().out == f"Measuring with your own {file}.\n"


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (None, "there is no"),
        ("def broken(:\n", "SyntaxError"),
        (FINISHED.replace("* 8 / 1_000_000", "* 64 / 1_000_000"), "carries at most 28.69"),
        (FINISHED.replace("* 8 / 1_000_000", "/ 1_000_000"), "bytes instead of bits?"),
    ],
    ids=["none", "syntax", "bits twice", "bytes"],
)
def test_one_that_does_not_work_is_not_and_one_line_says_why(
    program: str | None, says: str, lab: linklab.Lab, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "simpleperf.py"
    file.unlink(missing_ok=True)
    if program is not None:
        assert program != FINISHED
        file.write_text(program)
    assert own_simpleperf(lab, file) is None
    said = capsys.readouterr().out
    assert said.startswith("Measuring with Linklab's own simpleperf: ")
    assert said.count("\n") == 1
    assert says in said


def test_a_simpleperf_without_parallel_connections_is_told_and_replaced(
    lab: linklab.Lab, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, broken = folder / "simpleperf.py", FINISHED.replace('"-P"', '"-Q"')
    assert broken != FINISHED
    file.write_text(broken)
    assert own_parallel_simpleperf(lab, file) is None
    assert "cannot open two connections with -P" in capsys.readouterr().out
    file.write_text(FINISHED)
    assert own_parallel_simpleperf(lab, file) == str(file)
    assert "Linklab's own" not in capsys.readouterr().out
