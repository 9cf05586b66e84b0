"""``linklab doctor``: what it tries, what it says of each thing that does not work, and its exit status."""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab import doctor, lab
from linklab.cli import main
from linklab.runtime.backends import Kind

from .terminal import Terminal


def found(what: str) -> doctor.DoctorFinding:
    """Return the doctor's row about something."""
    return next(row for row in doctor.examine() if row.what.startswith(what))


@pytest.fixture
def bwrap_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], doctor.DoctorFinding]:
    """Makes a script the only `bwrap` there is, and returns the row about confinement; labs are not started."""

    def replace(script: str) -> doctor.DoctorFinding:
        if script:
            (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "bwrap").chmod(0o755)
        monkeypatch.setenv("LINKLAB_IMAGE", "/nonexistent")  # which has one too
        monkeypatch.setenv("PATH", str(tmp_path))
        return found("confinement")

    return replace


@pytest.mark.parametrize(
    ("rows", "status", "marks"),
    [
        ([(True, True), (False, False)], 0, ["works", "no"]),
        ([(True, True), (False, True), (True, True)], 1, ["works", "FAILS", "works"]),
    ],
)
def test_table_and_status(
    rows: list[tuple[bool, bool]],
    status: int,
    marks: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = [doctor.DoctorFinding("tools", works, "iperf3", "" if works else "sudo apt-get", n) for works, n in rows]
    monkeypatch.setattr(doctor, "examine", lambda: iter(made))
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["doctor"]) == status
    said = capsys.readouterr().out
    head, *lines, verdict = said.splitlines()
    assert [line.split()[0] for line in lines] == marks
    assert all(line.index("iperf3") == head.index("what was found") for line in lines)
    assert said.count("sudo apt-get") == marks.count("no") + marks.count("FAILS")
    assert ("do not work" in verdict) == bool(status)


REFUSES = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"


@pytest.mark.parametrize(
    ("script", "setting", "needed", "detail", "fix"),
    [
        ("", ("", ""), True, "", "sudo apt-get install bubblewrap"),
        # without namespaces a student's own labs run as in a container
        (REFUSES, ("user/max_user_namespaces", "0"), False, "setting up uid map", "user.max_user_namespaces=10000"),
        (REFUSES, ("user/max_user_namespaces", "1000"), False, "Permission denied", "LINKLAB_CONFINEMENT=container"),
    ],
    ids=["missing", "no namespaces", "refused otherwise"],
)
def test_bubblewrap_does_not_work(
    bwrap_that: Callable[[str], doctor.DoctorFinding],
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    setting: tuple[str, str],
    needed: bool,
    detail: str,
    fix: str,
) -> None:
    monkeypatch.setattr(doctor, "_setting", lambda name: setting[1] if name == setting[0] else None)
    row = bwrap_that(script)
    assert (row.works, row.needed) == (False, needed)
    assert detail in row.detail
    assert row.fix.endswith(fix)


def test_a_package_and_a_lab_image_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "jupyterlab" else real(name))
    monkeypatch.setenv("LINKLAB_IMAGE", "/nonexistent")
    for what, detail, fix in (
        ("Python", "jupyterlab missing", "make lab"),
        ("image", "no such file or folder", "correct it or unset it"),
        ("lab", "no such file or folder", "correct it or unset it"),
    ):
        row = found(what)
        assert (row.works, row.needed) == (False, True)
        assert detail in row.detail
        assert row.fix.startswith(fix)


class FakeLab:
    """A lab whose ping says what the test wants."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.process = self
        self.kind, self.kernel_release = "guest", "7.3.4"

    def __enter__(self) -> FakeLab:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getitem__(self, name: str) -> FakeLab:
        return self

    def cmd(self, command: str) -> str:
        return self.said


@pytest.mark.parametrize(
    ("said", "works", "detail"),
    [
        ("3 packets transmitted, 3 received\nrtt min/avg/max/mdev = 20.0/20.1/20.2/0.0 ms", True, "RTT 20.1 ms of 20"),
        ("3 packets transmitted, 3 received\nrtt min/avg/max/mdev = 0.08/0.1/0.2/0.0 ms", False, "must take 20"),
        ("3 packets transmitted, 0 received, 100% packet loss", False, "ping was not answered: 3 packets"),
    ],
)
def test_ping_must_be_answered_and_no_sooner_than_theory_says(
    monkeypatch: pytest.MonkeyPatch, said: str, works: bool, detail: str
) -> None:
    monkeypatch.setattr(lab, "start", lambda *_, **__: FakeLab(said))
    row = found("lab")
    assert row.works is works
    assert detail in row.detail


def test_another_system_is_told_to_use_the_virtual_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    (row,) = doctor.examine()
    assert row.fix == "WSL2, or vagrant up"


@pytest.mark.lab
def test_the_doctor_on_this_machine_leaves_nothing(virtual: Kind, tmp_path: Path) -> None:
    interfaces = sorted(path.name for path in Path("/sys/class/net").iterdir())
    with Terminal(tmp_path, "doctor", environment={"COLUMNS": "200", "TMPDIR": str(tmp_path)}) as run:
        assert run.end() == 0, run.said
        rows = {line[7:].split("  ")[0]: line.split()[0] for line in run.said.splitlines()}
        assert rows["lab"] == "works", run.said
        assert run.left() == {}
    assert sorted(path.name for path in Path("/sys/class/net").iterdir()) == interfaces
    assert list(tmp_path.iterdir()) == []
