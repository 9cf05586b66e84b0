"""Programs for reliable transport of many makes before the checks: right ones pass, wrong ones fail where they are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.lab import start
from linklab.programs import reliable
from linklab.programs.checks import Report
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.place import LabPlace
from linklab.programs.reliable.path import close_the_router, the_network
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.submission import read_any
from linklab.runtime.backends import Kind

from .played import PLAYED, SOLUTION, judged
from .wrong import FINISHED, RIGHT, WRONG

NO_WINDOW = ("stop-and-wait", "timeouts")
IN_PYTHON = {name: text for name, text in RIGHT.items() if name.endswith(".py")}
IN_PYTHON["RFC 6298's least of one second"] = FINISHED.replace("LEAST_RTO_S = 0.1", "LEAST_RTO_S = 1.0")
PLAYED_ANEW = ("it sends all at once", "no back-off", "it passes by the relay")
IN_A_LAB = [name for name in WRONG if name in PLAYED_ANEW or name not in PLAYED]
"""One for each step, and those of which nothing is kept."""


def _written(folder: Path, text: str, name: str = "reliable.py") -> Path:
    (folder / name).write_text(text)
    return folder / name


def _played(file: Path, plans: dict[str, TransferPlan]) -> dict[str, PlayedTransfer]:
    program = read_any(file)
    place = LabPlace(program, the_network(), close_the_router)
    try:
        transfers = Transfers(program, place.play)
        return {name: transfers.play(name, plan) for name, plan in plans.items()}
    finally:
        place.close()


def _reasons(report: Report) -> list[str]:
    return [f"{check.description}: {check.reason}" for check in report.whole.checks if not check.passed]


# --- By what passed when they were tried once


def test_the_solution_passes_every_check() -> None:
    checks = [check for result in judged(SOLUTION).values() for check in result.checks]
    assert len(checks) > 20
    assert [check.reason for check in checks if not check.passed] == []


@pytest.mark.parametrize("name", PLAYED)
def test_a_wrong_program_fails_where_it_is_wrong(name: str) -> None:
    failed = [it for result in judged(name).values() for it in result.checks if it.outcome == "failed"]
    assert any(re.search(WRONG[name].fails, check.description) for check in failed)
    assert all(check.reason and check.hint for check in failed)


def test_no_timeout_is_judged_where_several_packets_are_on_their_way() -> None:
    timeouts = ("no repeats", "measured", "backs off", "karn", "cost of loss")
    (result,) = judged("each packet goes out twice", timeouts).values()
    assert {check.outcome for check in result.checks} == {"inconclusive"}
    assert all("one packet is on its way at a time" in check.reason for check in result.checks)


def test_who_takes_samples_of_packets_sent_twice_is_told_of_karn() -> None:
    (result,) = judged("it takes samples from the first of several", ("cost of loss",)).values()
    (check,) = result.checks
    assert "sent twice the timeout was" in check.reason
    assert "Karn" in check.hint


def test_who_keeps_a_timeout_that_has_grown_is_not_told_of_karn() -> None:
    (result,) = judged("its timeout grows with each loss and stays", ("cost of loss",)).values()
    (check,) = result.checks
    assert "does yours grow" in check.hint


# --- In a lab


@pytest.mark.lab
@pytest.mark.large
@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_right_program_passes(name: str, virtual: Kind, tmp_path: Path) -> None:
    assert IN_PYTHON[name] != FINISHED
    steps = NO_WINDOW if name == "alternating.py" else reliable.STEPS
    assert _reasons(reliable.check(_written(tmp_path, IN_PYTHON[name]), steps)) == []


@pytest.mark.lab
@pytest.mark.large
def test_a_compiled_program_passes(virtual: Kind, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed here")
    source = _written(tmp_path, RIGHT["program.c"], "program.c")
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", tmp_path / "reliable", source], check=True)
    assert _reasons(reliable.check(tmp_path / "reliable")) == []


@pytest.mark.lab
@pytest.mark.large
def test_a_script_that_names_its_interpreter_passes(virtual: Kind, tmp_path: Path) -> None:
    assert FINISHED.startswith("#!/usr/bin/env python3\n")
    assert _reasons(reliable.check(_written(tmp_path, FINISHED, "reliable"), ("timeouts",))) == []


@pytest.mark.lab
@pytest.mark.large
def test_what_a_shell_script_sends_arrives_whatever_is_lost(virtual: Kind, tmp_path: Path) -> None:
    """bash reads byte by byte, which costs it time on any machine: it is no match for theory, but it is right."""
    content = bytes(range(256)) * 30
    plans = {
        "plain": TransferPlan(content),
        "lossy": TransferPlan(content, impairments=Impairments(loss=0.1, twice=0.1, seed=1)),
        "ends": TransferPlan(content, impairments=Impairments(lost={"down": [9]})),
    }
    transfers = _played(_written(tmp_path, RIGHT["shell.sh"], "reliable.sh"), plans)
    for transfer in transfers.values():
        assert transfer.got == content
        assert [program["status"] for program in transfer.programs] == [0, 0]
    assert transfers["lossy"].repeats


@pytest.mark.lab
@pytest.mark.large
@pytest.mark.parametrize("name", IN_A_LAB)
def test_a_wrong_program_fails_in_a_lab_as_by_what_was_kept(name: str, virtual: Kind, tmp_path: Path) -> None:
    wrong = WRONG[name]
    checks = reliable.check_step(_written(tmp_path, wrong.text), wrong.step).checks
    assert any(re.search(wrong.fails, check.description) for check in checks if check.outcome == "failed")
    if name in PLAYED:
        kept = judged(name)[wrong.step].checks
        assert [(it.description, it.outcome) for it in checks] == [(it.description, it.outcome) for it in kept]


@pytest.mark.lab
@pytest.mark.slow
def test_the_relay_forwards_nothing_by_itself(virtual: Kind) -> None:
    """Who knows the receiver's address must not reach it unseen."""
    with start(the_network()) as lab:
        assert "2 received" in lab["sender"].cmd("ping -c 2 10.0.3.2")
        close_the_router(lab)
        assert "0 received" in lab["sender"].cmd("ping -c 2 10.0.3.2")


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.slow
def test_the_same_program_gives_the_same_wire_each_time(virtual: Kind, tmp_path: Path) -> None:
    rough = Impairments(loss=0.05, twice=0.05, late=0.1, late_s=0.03, seed=2)
    file, plans = _written(tmp_path, FINISHED), {"again": TransferPlan(bytes(30_000), 8, impairments=rough)}
    first, second = (_played(file, plans)["again"] for _ in range(2))
    assert (first.up, first.down) == (second.up, second.down)


# --- What cannot be checked


def test_files_that_are_not_there_or_too_large_are_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match="cannot be read"):
        read_any(tmp_path / "none.py")
    (tmp_path / "large").write_bytes(b"\x7fELF" + bytes(3_000_000))
    with pytest.raises(LinklabError, match="is not checked"):
        read_any(tmp_path / "large")
