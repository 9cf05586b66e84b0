"""The lab in which programs are tried, and what it may compute."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from linklab import lab
from linklab.errors import LabEnded
from linklab.measure.reference import REFERENCE
from linklab.programs import place, simpleperf
from linklab.programs.engine import in_lab
from linklab.programs.simpleperf import STEPS
from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.session import NETWORK
from linklab.programs.submission import SubmittedProgram
from linklab.runtime import container
from linklab.runtime.backends import Kind


@pytest.mark.large
@pytest.mark.lab
def test_the_reference_passes_every_check_there_is(virtual: Kind, nothing_left: None) -> None:
    told: list[str] = []
    report = simpleperf.check(REFERENCE, tell=told.append)
    assert report.require() is report
    assert [check.description for check in report.whole.checks] == [item.description for item in ITEMS.values()]
    assert "transfer" in told
    assert list(report.results) == list(STEPS)
    assert report.whole.points == report.whole.max_points == sum(item.points for item in ITEMS.values())
    assert "by Python 3." in report.where
    assert "<table" in report._repr_html_()


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.slow
def test_a_machine_too_slow_to_begin_a_scene_is_no_ctrl_c_and_no_program_s_fault(
    virtual: Kind, monkeypatch: pytest.MonkeyPatch, nothing_left: None
) -> None:
    monkeypatch.setattr(place, "STALL_CPU_S", -1.0)
    monkeypatch.setattr(place, "STALL_STARTS", -1.0)
    report = simpleperf.check(REFERENCE, ["transfer"])
    assert report.whole.outcome == "inconclusive", str(report)
    assert "no program of it was to blame" in " ".join(str(report).split())


@pytest.mark.lab
@pytest.mark.slow
def test_a_slow_processor_is_no_stall(virtual: Kind, monkeypatch: pytest.MonkeyPatch, nothing_left: None) -> None:
    # every scene costs more than this, as on a processor that is twenty times slower; a start of the lab does, too
    monkeypatch.setattr(place, "STALL_CPU_S", 0.01)
    report = simpleperf.check(REFERENCE, ["transfer"])
    assert report.whole.outcome == "passed", str(report)
    assert report.where.startswith("in a lab on virtual time, by Python 3.")


class _Computing:
    """Stands in for the process of a lab in QEMU, which has no process group here: it computes without end."""

    group_pid = 0
    running = True

    def __init__(self, start_s: float) -> None:
        self._used_s = start_s

    def cpu_s(self) -> float:
        return self._used_s if self.running else 0.0

    def stop(self) -> None:
        self.running = False

    def call(self, function: object, *plan: object, **given: Callable[..., Any]) -> Any:
        if function is not in_lab.play:
            return None
        given["on_event"](["client"])
        for _ in range(100):
            self._used_s += 1.0
            if given["stop"]():
                self.stop()
                raise LabEnded("the program took the lab along")
        pytest.fail(f"after {self._used_s:g} s of computing the scene still went on")


def _stalled(monkeypatch: pytest.MonkeyPatch, process: _Computing) -> dict[str, Any]:
    """Return the record of a scene in a lab that computes without end."""
    monkeypatch.setattr(place, "choose", lambda: None)
    monkeypatch.setattr(container, "chosen", lambda: False)
    monkeypatch.setattr(lab, "start", lambda *_, **__: SimpleNamespace(process=process, stop=process.stop))
    tried = place.LabPlace(SubmittedProgram("simpleperf.py", {"simpleperf.py": b"while True: pass"}, False), NETWORK)
    try:
        return tried.play({})
    finally:
        tried.close()


@pytest.mark.parametrize(("start_s", "limit_s"), [(0.5, place.STALL_CPU_S), (2.0, 2.0 * place.STALL_STARTS)])
def test_what_a_lab_of_any_kind_computes_is_counted(
    monkeypatch: pytest.MonkeyPatch, start_s: float, limit_s: float
) -> None:
    process = _Computing(start_s)
    record = _stalled(monkeypatch, process)
    assert (record["stalled"], record["by"]) == (True, ["client"])
    assert limit_s < process._used_s - start_s <= limit_s + 1


def test_who_is_slow_on_a_busy_machine_is_not_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_WALL_SHARE", 0.0)
    record = _stalled(monkeypatch, _Computing(0.5))
    assert (record["stalled"], record["by"]) == (True, [])
