"""``linklab doctor``: what it tries, what it says of each thing that does not work, and its exit status."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab import doctor, lab
from linklab.cli import main
from linklab.errors import LabError
from linklab.runtime import bwrap
from linklab.runtime.backends import Kind

from .terminal import Terminal

WELL = doctor.Finding("machine", "works", "Linux on x86_64", needed=True)
NEEDED = doctor.Finding("tools", "does not work", "missing: iperf3", "sudo apt-get install iperf3", needed=True)
WORSE = doctor.Finding("confinement", "does not work", "no namespaces", "sudo sysctl -w")
LAB = doctor.Finding("lab", "works", "netem and ping work", needed=True)


@pytest.fixture
def path_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a script the only `bwrap` there is; an empty one stands for no `bwrap`."""

    def replace(script: str) -> None:
        if script:
            (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "bwrap").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return replace


def broken(reason: str) -> Callable[..., Any]:
    def start(*_: Any, **__: Any) -> Any:
        raise LabError(reason)

    return start


@pytest.mark.parametrize(
    ("findings", "status", "marks"),
    [
        ([WELL, LAB, WORSE], 0, ["works", "works", "no"]),
        ([WELL, NEEDED, LAB], 1, ["works", "FAILS", "works"]),
    ],
)
def test_table_and_status(
    findings: list[doctor.Finding],
    status: int,
    marks: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["doctor"]) == status
    head, *rows, verdict = capsys.readouterr().out.splitlines()
    assert head.split("  ")[-1] or "what mends it" in head
    assert all(title in head for title in ("what", "what was found", "what mends it"))
    assert [row.split()[0] for row in rows] == marks
    for row, finding in zip(rows, findings, strict=True):
        assert row.index(finding.what) == head.index("what")
        assert row.index(finding.detail) == head.index("what was found")
        assert not finding.fix or row.index(finding.fix) == head.index("what mends it")
    assert verdict.startswith("Labs work on this machine" if status == 0 else "Labs do not work here yet")


def test_bubblewrap_is_missing(path_of: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_IMAGE", "/nonexistent")  # which has one too
    path_of("")
    found = doctor._confinement()
    assert (found.works, found.needed, found.fix) == (False, True, "sudo apt-get install bubblewrap")


def test_bubblewrap_hangs(path_of: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    path_of("exec /bin/sleep 60")
    monkeypatch.setattr(bwrap, "_LIMIT_S", 0.1)
    found = doctor._confinement()
    assert (found.works, found.needed) == (False, True)
    assert (found.detail, found.fix) == ("bubblewrap was not done after 0.1 s", "run linklab doctor again")


@pytest.mark.parametrize(
    ("setting", "value", "fix"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "vagrant/allow-bwrap.sh"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("user/max_user_namespaces", "1000", "container"),
    ],
)
def test_user_namespaces_are_refused(
    path_of: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, setting: str, value: str, fix: str
) -> None:
    path_of("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    monkeypatch.setattr(doctor, "_setting", lambda name: value if name == setting else None)
    found = doctor._confinement()
    assert not found.works
    assert not found.needed, "a student's own labs run as in a container"
    assert found.detail == "setting up uid map: Permission denied"
    assert fix in found.fix


def test_a_setting_of_the_kernel_is_read() -> None:
    assert doctor._setting("kernel/ostype") == "Linux"
    assert doctor._setting("kernel/there_is_no_such_setting") is None


def test_mininet_is_invisible(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    for missing, said in (("mininet", "does not see Mininet"), ("jupyterlab", "jupyterlab missing")):

        def find(name: str, gone: str = missing) -> object:
            return None if name == gone else real(name)

        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, gone=missing: None if name == gone else real(name)
        )
        found = doctor._python()
        assert not found.works
        assert found.needed
        assert said in found.detail
        assert found.fix.startswith("make lab")


def test_a_lab_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "start", broken("no image"))
    found = doctor._lab()
    assert (found.works, found.needed, found.detail) == (False, True, "no image")
    assert found.fix.startswith("in a clone make lab")


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
        ("", False, "it said nothing"),
    ],
)
def test_ping_must_be_answered_and_no_sooner_than_theory_says(
    monkeypatch: pytest.MonkeyPatch, said: str, works: bool, detail: str
) -> None:
    monkeypatch.setattr(lab, "start", lambda *_, **__: FakeLab(said))
    found = doctor._lab()
    assert found.works is works
    assert detail in found.detail


@pytest.mark.lab
def test_at_home_nothing_is_said_of_a_folder_of_which_no_lab_of_the_doctors_has_need(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert virtual.image is not None
    monkeypatch.setenv("LINKLAB_IMAGE", str(virtual.image.folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = doctor._lab()
    assert found.works, found.detail
    assert capsys.readouterr().err == ""


def test_another_system_is_told_to_use_the_virtual_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    (found,) = doctor.examine()
    assert found.fix == "WSL2, or vagrant up"
    assert main(["doctor"]) == 1
    assert "apt-get" not in capsys.readouterr().out


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


SUBMISSION, LENT, SIMPLEPERF = (
    f"grading: a {what}" for what in ("submission in its sandbox", "lab of a submission's", "simpleperf in a guest")
)


@pytest.mark.lab
def test_grading_works(virtual: Kind) -> None:
    found = list(doctor.examine_grading())
    assert [finding.what for finding in found] == [SUBMISSION, LENT, SIMPLEPERF]
    assert [finding.fix for finding in found if finding.fix or not finding.works] == []


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Replaces bubblewrap by one that refuses what has these words. It lies where all users may run it."""
    with tempfile.TemporaryDirectory(prefix="linklab-test-") as place:
        Path(place).chmod(0o755)

        def refuse(words: str) -> None:
            script = Path(place, "bwrap")
            script.write_text(
                f'#!/bin/sh\ncase "$*" in *"{words}"*) echo "bwrap: No permissions" >&2; exit 1;; esac\n'
                f'exec {shutil.which("bwrap")} "$@"\n'
            )
            script.chmod(0o755)
            monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")

        yield refuse


@pytest.mark.lab
@pytest.mark.parametrize(
    ("refused", "works", "fails", "said"),
    [
        ("--dev-bind / / --", [], [SUBMISSION], "no folder of bounded size (bwrap: No permissions)"),
        ("--hostname sandbox", [], [SUBMISSION], "kernel does not start in its sandbox: bwrap: No permissions"),
        ("--as-pid-1", [SUBMISSION], [LENT, SIMPLEPERF], "No permissions"),
    ],
    ids=["its folder", "its sandbox", "guests"],
)
def test_a_step_of_grading_is_refused(
    virtual: Kind,
    refusing: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    refused: str,
    works: list[str],
    fails: list[str],
    said: str,
) -> None:
    refusing(refused)
    monkeypatch.setattr(doctor, "_setting", lambda name: "1" if "apparmor" in name else None)
    found = list(doctor.examine_grading())
    assert [finding.what for finding in found if finding.works] == works
    assert [finding.what for finding in found if not finding.works] == fails
    assert all(said in finding.detail and finding.needed and finding.fix for finding in found if not finding.works)
    if not works:
        assert "allow-bwrap.sh" in found[0].fix


def test_grading_is_tried_only_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    bad = doctor.Finding(SUBMISSION, "does not work", "no folder", "sudo bash vagrant/allow-bwrap.sh", needed=True)
    monkeypatch.setattr(doctor, "examine", lambda: iter([WELL, LAB]))
    monkeypatch.setattr(doctor, "examine_grading", lambda: iter([bad]))
    assert main(["doctor"]) == 0
    assert "grading" not in capsys.readouterr().out
    assert main(["doctor", "--grading"]) == 1
    assert "Labs and grading do not work here yet" in capsys.readouterr().out
