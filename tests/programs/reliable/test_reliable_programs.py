"""Programs for reliable transport of many makes before the check: right ones pass, wrong ones fail where they are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.lab import start
from linklab.programs import reliable
from linklab.programs.engine.datagrams import Weather
from linklab.programs.reliable import judge
from linklab.programs.reliable.place import Scene, Session, close_the_router, lab_place, read, the_network
from linklab.runtime.backends import Kind
from tests.programs.reliable.wrong import FINISHED, RIGHT, WRONG

pytestmark = [pytest.mark.lab, pytest.mark.slow]
NO_WINDOW = ("stop-and-wait", "timeouts")
EDITED = {
    "packets of 100 bytes": FINISHED.replace("DATA_BYTES = 1000", "DATA_BYTES = 100"),
    "as large as can be": FINISHED.replace("DATA_BYTES = 1000", "DATA_BYTES = 1195"),
    "RFC 6298's least of one second": FINISHED.replace("LEAST_RTO_S = 0.1", "LEAST_RTO_S = 1.0"),
    "receiver that stays for 20 s": FINISHED.replace("LINGER_S = 5.0", "LINGER_S = 20.0"),
}
IN_PYTHON = {name: text for name, text in RIGHT.items() if name.endswith(".py")} | EDITED
DAILY = ("it sends all at once", "no back-off", "it passes by the relay")
"""One for each step."""


def _failures(file: Path, steps: tuple[str, ...] = reliable.STEPS) -> dict[str, str]:
    results = reliable.check(file, steps).results
    return {
        f"{step}: {check.description}": check.reason
        for step, result in results.items()
        for check in result.checks
        if not check.passed
    }


def _written(folder: Path, text: str, name: str = "reliable.py") -> Path:
    assert text != "", name
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.thorough  # as in Lab 13's solved notebook, tests/notebooks/test_notebooks_13.py
def test_the_solution_passes(virtual: Kind, tmp_path: Path) -> None:
    assert _failures(_written(tmp_path, FINISHED)) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_right_program_passes(name: str, virtual: Kind, tmp_path: Path) -> None:
    assert IN_PYTHON[name] != FINISHED
    steps = NO_WINDOW if name == "alternating.py" else reliable.STEPS
    assert _failures(_written(tmp_path, IN_PYTHON[name]), steps) == {}


@pytest.mark.thorough
def test_a_compiled_program_passes(virtual: Kind, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed here")
    source = _written(tmp_path, RIGHT["program.c"], "program.c")
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", tmp_path / "reliable", source], check=True)
    assert _failures(tmp_path / "reliable") == {}


@pytest.mark.large
def test_a_script_that_names_its_interpreter_passes(virtual: Kind, tmp_path: Path) -> None:
    assert FINISHED.startswith("#!/usr/bin/env python3\n")
    assert _failures(_written(tmp_path, FINISHED, "reliable"), ("timeouts",)) == {}


@pytest.mark.large
def test_what_a_shell_script_sends_arrives_whatever_is_lost(virtual: Kind, tmp_path: Path) -> None:
    """bash reads byte by byte, which costs it time on any machine: it is no match for theory, but it is right."""
    program = read(_written(tmp_path, RIGHT["shell.sh"], "reliable.sh"))
    place = lab_place(program)
    try:
        session = Session(program, place.play)
        content = bytes(range(256)) * 30
        plain = session.play("plain", Scene(content))
        lossy = session.play("lossy", Scene(content, weather=Weather(loss=0.1, twice=0.1, seed=1)))
        ends = session.play("ends", Scene(content, weather=Weather(lost={"down": [len(plain.down)]})))
    finally:
        place.close()
    for transfer in (plain, lossy, ends):
        assert transfer.got == content
        assert [it.status for it in transfer.programs] == [0, 0]
    assert lossy.repeats


@pytest.mark.large
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DAILY else pytest.mark.thorough) for name in WRONG]
)
def test_a_wrong_program_fails_where_it_is_wrong(name: str, virtual: Kind, tmp_path: Path) -> None:
    wrong = WRONG[name]
    failed = [check for check in reliable.check_step(_written(tmp_path, wrong.text), wrong.step).checks if check.reason]
    assert any(wrong.fails in check.description for check in failed if check.outcome == "failed")
    assert all(check.hint for check in failed)


def test_the_relay_forwards_nothing_by_itself(virtual: Kind) -> None:
    """Who knows the receiver's address must not reach it unseen."""
    with start(the_network()) as lab:
        assert "2 received" in lab["sender"].cmd("ping -c 2 10.0.3.2")
        close_the_router(lab)
        assert "0 received" in lab["sender"].cmd("ping -c 2 10.0.3.2")


def test_the_same_program_gives_the_same_wire_each_time(virtual: Kind, tmp_path: Path) -> None:
    program = read(_written(tmp_path, FINISHED))
    seen = []
    for _ in range(2):
        place = lab_place(program)
        try:
            scene = Scene(bytes(30_000), 8, weather=Weather(loss=0.05, twice=0.05, late=0.1, late_s=0.03, seed=2))
            transfer = Session(program, place.play).play("again", scene)
        finally:
            place.close()
        seen.append((transfer.record["datagrams"]["up"], transfer.record["datagrams"]["down"]))
    assert seen[0] == seen[1]


def test_steps_and_files_that_are_not_there_are_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match="no step is called 'transfer': choose one of stop-and-wait"):
        reliable.check(_written(tmp_path, FINISHED), ("transfer",))
    with pytest.raises(LinklabError, match="cannot be read"):
        read(tmp_path / "none.py")
    (tmp_path / "large").write_bytes(b"\x7fELF" + bytes(3_000_000))
    with pytest.raises(LinklabError, match="is not checked"):
        read(tmp_path / "large")


def test_each_step_has_its_checks() -> None:
    assert list(judge.STEPS) == ["stop-and-wait", "timeouts", "window"]
    for asked in judge.STEPS.values():
        assert asked[0].what == "a file arrives where nothing is lost"
