"""The generated programs prove themselves over loopback, without the check: right ones transfer what they say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.mistakes import Mistake

from . import generated
from .generated import Generated
from .generated.choices import DIMENSIONS, covering, goes_together
from .generated.driver import Done, driven, run, unused_port
from .generated.mistakes import FAULTS
from .runner import LOOPBACK

RIGHT = {program.name: program for program in generated.right()}
SPREAD = [name for number, name in enumerate(RIGHT) if number % 10 == 3]
_HELLO_BYTES = 200
"""At most what a client says before its data, and the end message."""


def test_there_are_enough() -> None:
    assert len(generated.right()) == 30
    assert len(generated.wrong()) == len(FAULTS) == 60
    assert len({program.name for program in (*generated.right(), *generated.wrong())}) == 90


def test_each_choice_occurs_in_a_right_program() -> None:
    found = {choice for program in generated.right() for choice in program.choices.items()}
    assert found == {(name, value) for name, values in DIMENSIONS.items() for value in values}
    assert all(goes_together(dict(program.choices)) for program in generated.right())


def test_the_same_seed_gives_the_same_choices() -> None:
    assert covering(10, 3) == covering(10, 3)
    assert covering(10, 3) != covering(10, 4)


def test_each_program_is_python_and_each_mistake_changes_it() -> None:
    for program in (*generated.right(), *generated.wrong()):
        assert next(iter(program.files)) == "simpleperf.py"
        for name, data in program.files.items():
            ast.parse(data, f"{program.name}/{name}")
        assert not program.mistakes or Generated("without", program.choices, ()).files != program.files, program.name


def test_checks_and_causes_are_known() -> None:
    for fault in FAULTS:
        assert fault.keys & set(ITEMS), fault.name
        assert fault.keys <= set(ITEMS), fault.name
        assert fault.causes, fault.name
        assert fault.causes <= set(Mistake.__members__), fault.name


@pytest.mark.parametrize("name", SPREAD)
def test_a_right_program_transfers(name: str, tmp_path: Path) -> None:
    program = RIGHT[name]
    with driven(program, tmp_path) as each:
        _well(each.client(*each.amount(300, "KB")), 1, 300_000)
        _well(each.client(*each.amount(1500, "B"), "-P", "2"), 2, 1500)
        _well(each.client("-i", "1", "-t", "2"), 1)
        refused = run(each.path, "-c", "-I", LOOPBACK, "-p", unused_port(), "-t", "1")
        assert refused.status != 0
        assert "Traceback" not in refused.output + refused.errors
        assert run(each.path, "-h").status == 0
        assert each.server.process.poll() is None
        assert each.server.errors == ""


def _well(done: Done, connections: int, amount: int | None = None) -> None:
    """Assert that a client did what it was told."""
    errors = [line for line in done.errors.splitlines() if "Warning" not in line]
    assert (done.status, errors) == (0, []), done
    assert len(done.carried) == connections
    for one in done.carried:
        if amount is None:
            assert one.size > 100_000
        else:
            assert amount < one.size <= amount + _HELLO_BYTES


def test_a_right_program_refuses_what_is_wrong(tmp_path: Path) -> None:
    path = RIGHT[SPREAD[0]].write(tmp_path)
    for words in (
        "", "-s -c", "-s -p 80", "-s -p 70000", "-c -p x", "-c -I 300.1.1.1", "-s -b x", "-c -f GB", "-c -t 0",
        "-c -t x", "-c -P 0", "-c -P 6", "-c -n 10XB", "-c -i often",
    ):  # fmt: skip
        done = run(path, *words.split(), patience_s=10)
        assert not done.late, words
        assert done.status != 0, words
        assert "Traceback" not in done.output + done.errors, words
        assert done.output + done.errors, words
