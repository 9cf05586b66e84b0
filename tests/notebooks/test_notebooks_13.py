"""Lab 13 as students meet it: the starter fails its graded cells, a step that is done passes, the solution shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from linklab.notebooks.leaks import leaks_of_program
from linklab.notebooks.starters import read_blocks, stage
from linklab.programs import reliable
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT, graded, read, run, shown

NAME = "13-reliable-transport"
PROGRAM = "reliable.py"
FINISHED = (ROOT / "solutions" / PROGRAM).read_text()
BLOCKS = read_blocks((ROOT / "solutions" / f"{PROGRAM}.starter").read_text())
STEPS = list(reliable.STEPS)


def after(done: int) -> str:
    """The program of a student who has done so many steps."""
    return stage(FINISHED, tuple(block for block in BLOCKS if block.step > done))


def test_each_step_of_the_checks_has_something_to_write_and_a_graded_cell() -> None:
    assert sorted({block.step for block in BLOCKS}) == list(range(1, len(STEPS) + 1))
    checks = [cell.source for cell in read(f"labs/{NAME}.ipynb").cells if cell.id.startswith("check-")]
    steps = [source for source in checks if PROGRAM in source]
    assert steps == [f'lab13.check_{step.replace("-", "_")}("{PROGRAM}").require()' for step in STEPS]


def test_the_starter_gives_nothing_away() -> None:
    assert leaks_of_program(FINISHED, BLOCKS) == ()


@pytest.mark.parametrize("done", range(len(STEPS) + 1))
def test_what_is_still_to_do_is_marked(done: int) -> None:
    text = after(done)
    compile(text, PROGRAM, "exec")
    numbers = range(1, len(STEPS) + 1)
    assert [number for number in numbers if f"TODO {number}" in text] == list(numbers[done:])
    assert (text == FINISHED) == (done == len(STEPS))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("done", [0, pytest.param(2, marks=pytest.mark.large)])
def test_no_step_passes_before_it_is_done(done: int, virtual: Kind, tmp_path: Path) -> None:
    """The last step that is done passes, and all that come after it fail; with the stages before, that is all."""
    (tmp_path / PROGRAM).write_text(after(done))
    steps = STEPS[max(done - 1, 0) :]
    results = reliable.check(tmp_path / PROGRAM, steps).results
    assert list(results) == steps
    assert [step for step, result in results.items() if result.passed] == STEPS[:done][-1:]
    assert all(check.hint for result in results.values() for check in result.checks if not check.passed)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    shutil.copy(ROOT / "labs" / PROGRAM, tmp_path)
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert "step 1 is still to do: Sender.run" in shown(starter, "stop-and-wait-try")
    for cell in ("stop-and-wait-try", "far-try", "window-try", "windows-try", "loss-try"):
        assert "Nothing was sent yet: write the program first." in shown(starter, cell)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    shutil.copy(ROOT / "solutions" / PROGRAM, tmp_path)
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    assert re.search(r"2000 packets transmitted, 1(8[6-9]|9[0-3])\d received", shown(solution, "answer-netem"))
    assert "noqueue" in shown(solution, "no-netem")
    assert "7 datagrams of the sender, 0 of them repeats, and 7 answers" in shown(solution, "stop-and-wait-try")
    assert "3 of them repeats, and 9 answers" in shown(solution, "lost-try"), "one repeat for each of three losses"
    assert "6 of them repeats" in shown(solution, "timeouts-try"), "0.1, 0.2 ... 3.2 s cover five seconds"
    assert "8 datagrams of the sender, 1 of them repeats" in shown(solution, "far-try")
    shares = re.search(r"Seen: (.*)\.", shown(solution, "windows-try"))
    assert shares is not None
    found = {int(window): int(share) for share, window in re.findall(r"(\d+) % with (\d+)", shares[1])}
    assert set(found) == {1, 2, 4, 8, 12, 20}
    theory = {1: 9.6, 2: 19.3, 4: 38.5, 8: 77.1, 12: 100, 20: 100}
    assert found == {window: pytest.approx(share, rel=0.06) for window, share in theory.items()}
    lossy = re.search(r"Seen: (\d+) % with 32", shown(solution, "loss-try"))
    assert lossy is not None
    assert 70 < int(lossy[1]) < 96
