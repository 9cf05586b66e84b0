"""The programs that prove the grader: each edit fits, right ones really transfer, wrong ones are still programs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from .programs.edits import Edit, apply
from .programs.make import Program, programs, registry
from .runner import Server, run, run_client

RIGHT, WRONG, HOSTILE = (programs(kind) for kind in ("right", "wrong", "hostile"))
TRIED = ("as-the-sheet", "bare-amount", "asyncio-streams")
"""Of all right programs the check's tests have what passed once, text by text."""


def _id(program: Program) -> str:
    return program.name


def test_there_are_enough() -> None:
    assert len(RIGHT) >= 12
    assert len(WRONG) >= 18
    assert {"loops", "forks", "fills-memory", "daemon"} <= {program.name for program in HOSTILE}
    texts = [program.text for program in registry().values()]
    assert len(set(texts)) == len(texts)


def test_every_file_is_in_the_registry() -> None:
    folder = Path(__file__).parent / "programs"
    for kind, known in (("right", RIGHT), ("hostile", HOSTILE)):
        files = {path.name.removesuffix(".py.txt").replace("_", "-") for path in (folder / kind).iterdir()}
        assert files
        assert files <= {program.name for program in known}


@pytest.mark.parametrize("program", registry().values(), ids=_id)
def test_each_is_python_and_described(program: Program) -> None:
    ast.parse(program.text)
    assert program.about
    assert bool(program.shows) == (program.kind != "right")


@pytest.mark.parametrize(("old", "new"), [("none", "x"), ("a", "x"), ("bc", "bc")])
def test_an_edit_that_does_not_fit_is_refused(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="not once"):
        apply("abca", (Edit(old, new),))


def test_a_hostile_program_gets_its_folder(tmp_path: Path) -> None:
    program = registry()["deletes"]
    with pytest.raises(ValueError, match="outside"):
        program.write(tmp_path)
    text = program.write(tmp_path, tmp_path / "outside").read_text()
    assert str(tmp_path / "outside") in text
    assert "@OUTSIDE@" not in text


def _amounts(output: str, unit: str) -> list[float]:
    """What stands before the unit, a dialect's spaces and bars aside."""
    return [float(number) for number in re.findall(rf"(\d+(?:\.\d+)?) ?{unit}\b(?!p)", output)]


@pytest.mark.parametrize("name", TRIED)
def test_a_right_program_transfers(name: str, tmp_path: Path) -> None:
    path = registry()[name].write(tmp_path)
    # The one that takes a bare integer counts it in the unit of -f.
    amount = "1234" if name == "bare-amount" else "1234KB"
    with Server(path, tmp_path, "-f", "KB") as server:
        done = run_client(path, server.port, "-n", amount, "-f", "KB", "-P", "2")
        assert (done.returncode, done.stderr) == (0, "")
        assert _amounts(done.stdout, "KB") == [1234, 1234]
        server.wait_for(r"1234(\.\d+)? ?KB", 2)

        done = run_client(path, server.port, "-t", "2", "-i", "1", "-f", "B")
        assert (done.returncode, done.stderr) == (0, "")
        *intervals, total = _amounts(done.stdout, "B")
        assert len(intervals) in (2, 3)
        assert sum(intervals) == pytest.approx(total)
        server.wait_for(r"\d ?KB", 3)
        assert "Traceback" not in server.errors


@pytest.mark.parametrize("name", TRIED)
def test_a_right_program_refuses_what_is_wrong(name: str, tmp_path: Path) -> None:
    path = registry()[name].write(tmp_path)
    for words in (
        "",
        "-s -c",
        "-c -p 80",
        "-c -p x",
        "-s -b 1.2.3",
        "-c -P 6",
        "-c -t 0",
        "-c -i 0",
        "-c -f GB",
        "-c -n x",
    ):
        done = run(path, *words.split())
        assert done.returncode != 0, words
        assert "Traceback" not in done.stdout + done.stderr, words
        assert done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["mebi-rate", "asked-time", "one-at-a-time", "first-interval-twice", "num-in-whole-mb"]
)
def test_a_wrong_program_runs(name: str, tmp_path: Path) -> None:
    path = registry()[name].write(tmp_path)
    with Server(path, tmp_path) as server:
        done = run_client(path, server.port, "-n", "2MB")
        assert done.returncode == 0
        assert _amounts(done.stdout, "MB") == [2]
