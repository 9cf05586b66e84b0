"""The programs of Labs 02 and 13: what is still to do is marked, and each step that is done turns its check green."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from linklab.notebooks.starters import Block, read_blocks, stage
from linklab.programs import reliable, simpleperf
from linklab.runtime.backends import Kind
from tests.notebooks.leaks import leaks_of_program
from tests.notebooks.run_notebook import ROOT, read


@dataclass(frozen=True)
class KitProgram:
    """A program that students write step by step beside a notebook."""

    name: str
    notebook: str
    steps: Sequence[str]
    check: Callable[..., Any]
    call: Callable[[str], str]
    """What the notebook's cell calls for a step."""

    @property
    def finished(self) -> str:
        return (ROOT / "solutions" / self.name).read_text()

    @property
    def blocks(self) -> tuple[Block, ...]:
        return read_blocks((ROOT / "solutions" / f"{self.name}.starter").read_text())

    def after(self, done: int) -> str:
        """The program of a student who has done so many steps."""
        return stage(self.finished, tuple(block for block in self.blocks if block.step > done))


TOOL = KitProgram(
    "simpleperf.py", "02-simpleperf", list(simpleperf.STEPS), simpleperf.check,
    lambda step: f'simpleperf.check_step("simpleperf.py", "{step}").require()',
)  # fmt: skip
TRANSPORT = KitProgram(
    "reliable.py", "13-reliable-transport", list(reliable.STEPS), reliable.check,
    lambda step: f'lab13.check_{step.replace("-", "_")}("reliable.py").require()',
)  # fmt: skip
both = pytest.mark.parametrize("program", [TOOL, TRANSPORT], ids=lambda program: program.name)


@both
def test_each_step_of_the_checks_has_something_to_write_and_a_graded_cell(program: KitProgram) -> None:
    assert sorted({block.step for block in program.blocks}) == list(range(1, len(program.steps) + 1))
    sources = [cell.source for cell in read(f"labs/{program.notebook}.ipynb").cells if cell.id.startswith("check-")]
    assert [source for source in sources if program.name in source] == list(map(program.call, program.steps))


@both
def test_what_is_still_to_do_is_marked_and_nothing_given_away(program: KitProgram) -> None:
    """Each stage runs, marks what is left and nothing else, and ends as the finished program."""
    assert [*leaks_of_program(program.finished, program.blocks)] == []
    numbers = range(1, len(program.steps) + 1)
    for done in range(len(program.steps) + 1):
        text = program.after(done)
        compile(text, program.name, "exec")
        assert [number for number in numbers if f"TODO {number}" in text] == list(numbers[done:])
    assert text == program.finished
    assert "TODO" not in text


@pytest.mark.lab
@pytest.mark.parametrize(
    ("program", "done"),
    [
        pytest.param(TRANSPORT, 0, marks=pytest.mark.slow),
        *(pytest.param(*case, marks=pytest.mark.large) for case in ((TRANSPORT, 2), (TOOL, 1), (TOOL, 5))),
    ],
    ids=lambda it: it.name if isinstance(it, KitProgram) else None,
)
def test_a_step_that_is_done_passes_and_the_later_ones_fail(
    program: KitProgram, done: int, virtual: Kind, tmp_path: Path
) -> None:
    """The border of each stage: with the stages next to it that shows what every stage passes, one after the other."""
    (tmp_path / program.name).write_text(program.after(done))
    steps = program.steps[max(done - 1, 0) :] if program is TRANSPORT else program.steps[done - 1 : done + 1]
    results = program.check(tmp_path / program.name, steps).results
    assert list(results) == list(steps)
    assert [step for step, result in results.items() if result.passed] == list(program.steps[:done][-1:])
    assert all(check.hint for result in results.values() for check in result.checks if not check.passed)
