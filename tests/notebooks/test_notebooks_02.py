"""Lab 02 as students meet it: the starter fails each step, each step that is done turns its own check green."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from linklab.notebooks.leaks import leaks_of_program
from linklab.notebooks.starters import read_blocks, stage
from linklab.programs import simpleperf
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT, graded, read, run, shown

FINISHED = (ROOT / "solutions" / "simpleperf.py").read_text()
BLOCKS = read_blocks((ROOT / "solutions" / "simpleperf.py.starter").read_text())
STEPS = list(simpleperf.STEPS)
NAME = "simpleperf.py"
CLOCK_TOO_EARLY = "clock stopped before the acknowledgement"


def after(done: int) -> str:
    """The program of a student who has done so many steps."""
    return stage(FINISHED, tuple(block for block in BLOCKS if block.step > done))


def _checked(folder: Path, program: str, steps: Sequence[str]) -> simpleperf.Report:
    (folder / NAME).write_text(program)
    return simpleperf.check(folder / NAME, steps)


def test_each_step_of_the_checks_has_something_to_write_and_a_graded_cell() -> None:
    assert sorted({block.step for block in BLOCKS}) == list(range(1, len(STEPS) + 1))
    checks = [cell.source for cell in read("labs/02-simpleperf.ipynb").cells if cell.id.startswith("check-")]
    steps = [source for source in checks if source.startswith("simpleperf.")]
    assert steps == [f'simpleperf.check_step("{NAME}", "{step}").require()' for step in STEPS]


def test_the_starter_gives_nothing_away() -> None:
    assert leaks_of_program(FINISHED, BLOCKS) == ()


@pytest.mark.parametrize("done", range(len(STEPS)))
def test_what_is_still_to_do_is_marked(done: int) -> None:
    """Each stage runs, marks what is left and nothing else, and ends as the finished program."""
    text = after(done)
    compile(text, NAME, "exec")
    numbers = range(1, len(STEPS) + 1)
    assert [number for number in numbers if f"TODO {number}" in text] == list(numbers[done:])


def test_when_all_is_done_it_is_the_finished_program() -> None:
    assert after(len(STEPS)) == FINISHED
    assert "TODO" not in FINISHED


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("done", [1, 5])
def test_a_step_that_is_done_passes_and_the_next_one_fails(done: int, virtual: Kind, tmp_path: Path) -> None:
    """The border of each stage: with the stages next to it that shows what every stage passes, one after the other."""
    report = _checked(tmp_path, after(done), [STEPS[done - 1], STEPS[done]])
    assert {step: result.outcome for step, result in report.results.items()} == {
        STEPS[done - 1]: "passed",
        STEPS[done]: "failed",
    }
    assert all(check.hint for check in report.whole.checks if check.outcome == "failed")


@pytest.mark.large
@pytest.mark.lab
def test_a_clock_that_stops_too_early_is_the_one_thing_left_of_step_two(virtual: Kind, tmp_path: Path) -> None:
    """Who writes the rate alone, as the notebook asks for at first, is told of the clock and of nothing else."""
    early = FINISHED.replace(
        """                self._await_acknowledgement()
            except OSError as error:
                self.error = error
        self.meter.stop()
""",
        """                self.meter.stop()
                self._await_acknowledgement()
            except OSError as error:
                self.error = error
""",
    )
    assert early != FINISHED
    report = _checked(tmp_path, early, ["clock"])
    (failed,) = (check for check in report.whole.checks if check.outcome == "failed")
    assert failed.description == "the client measures time until the acknowledgement arrives"
    assert failed.reason.startswith(CLOCK_TOO_EARLY)


def _errors(folder: str, work: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, dict[str, str]]:
    """A notebook of that folder, run with the program that lies beside it there, and what its failed cells said."""
    shutil.copy(ROOT / folder / NAME, work)
    notebook = read(f"{folder}/02-simpleperf.ipynb")
    return notebook, run(notebook, work).errors


@pytest.mark.large
@pytest.mark.lab
def test_the_starter_fails_exactly_its_graded_cells_and_says_what_to_do(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook, errors = _errors("labs", tmp_path, monkeypatch)
    assert set(errors) == graded(notebook)
    assert all(said.startswith("GradeError: ") for said in errors.values())
    assert all("Hint: " in said or "see the step transfer" in said for said in errors.values())
    assert "step 1 is still to do" in shown(notebook, "first-run")
    assert "No interval yet" in shown(notebook, "intervals-try")


@pytest.mark.large
@pytest.mark.lab
def test_the_solution_passes_and_shows_what_its_text_says(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook, errors = _errors("solutions", tmp_path, monkeypatch)
    assert errors == {}
    line = r"10\.0\.0\.2:\d+: [\d.]+ to [\d.]+"
    assert re.search(rf"Throughput over time, in Mbit/s\. {line}\. Means", shown(notebook, "intervals-try"))
    assert re.search(rf"in Mbit/s\. {line}; {line}; {line}\. Means", shown(notebook, "parallel-try"))
    without, with_option = (
        int(line.split()[-2]) for line in shown(notebook, "nagle").splitlines() if line.startswith("b'ACK")
    )
    # one round trip of 60 ms more, and the few ms in which the server looks whether data follows
    assert with_option in range(60, 80)
    assert without - with_option in range(58, 63)
    assert shown(notebook, "restart-try").count("Mbps") == 4
    assert "ended early" in shown(notebook, "abrupt-try")
    assert shown(notebook, "arguments-try").count("Error: ") == 8
    assert "Traceback" not in str(notebook)
