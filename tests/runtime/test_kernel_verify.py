"""Verifying a kernel by booting it: scripts that misbehave, and the real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.kernel import build, guest, verify
from linklab.runtime.kernel.find import find_kernel
from linklab.runtime.kernel.programs import find_program
from linklab.runtime.kernel.verify import KernelUnfit, boot_command, verify_kernel
from tests.processes import gone

GOOD = {
    "release": "7.3.4",
    "slept_s": guest.SLEEP_S,
    "delay_ms": 10.0006,
    "congestion_control": ["reno", "cubic"],
}

needs_iproute2 = pytest.mark.skipif(find_program("tc") is None, reason="needs iproute2")


def kernel(folder: Path, script: str) -> Path:
    path = folder / "linux"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def answering(folder: Path, **changes: object) -> Path:
    return kernel(folder, f"echo 'boot'; echo '{guest.MARK}{json.dumps(GOOD | changes)}'")


@needs_iproute2
def test_a_kernel_that_does_all_is_verified(tmp_path: Path) -> None:
    verification = verify_kernel(answering(tmp_path), seccomp=True)
    assert (verification.release, verification.delay_ms) == ("7.3.4", 10.0006)


@needs_iproute2
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"failed": "RuntimeError: tc qdisc add: no netem"}, "lacks something that labs need: .*no netem"),
        ({"delay_ms": 12.5}, r"does not keep virtual time: .* took 12\.500 ms"),
        ({"delay_ms": 0.0}, "does not keep virtual time"),
        ({"slept_s": 1.0}, "does not keep virtual time"),
        ({"congestion_control": ["reno"]}, "lacks TCP's congestion control cubic"),
    ],
)
def test_a_kernel_that_lacks_something_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(KernelUnfit, match=message):
        verify_kernel(answering(tmp_path, **changes), seccomp=True)


@needs_iproute2
def test_a_kernel_that_hangs_is_ended_with_its_children_and_its_console_shown(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"echo Booting; sleep 1000 & echo $! $$ > {pids}; echo stuck here; wait"
    with pytest.raises(KernelUnfit, match=r"hung: it did not end within 2 s; its console ends: Booting \| stuck here"):
        verify_kernel(kernel(tmp_path, script), seccomp=True, wall_limit_s=2)
    for pid in pids.read_text().split():
        assert gone(int(pid))


@needs_iproute2
def test_a_panic_is_shown_without_the_registers_after_it(tmp_path: Path) -> None:
    script = "echo 'Kernel panic - not syncing: no init'; echo 'RIP: 0033'; exit 1"
    with pytest.raises(KernelUnfit, match=r"ended before its check was done; .*not syncing: no init$"):
        verify_kernel(kernel(tmp_path, script), seccomp=False)


@needs_iproute2
def test_a_kernel_that_may_not_be_run_is_not_its_own_fault(tmp_path: Path) -> None:
    path = answering(tmp_path)
    path.chmod(0o644)
    with pytest.raises(LabError, match="may not be run") as raised:
        verify_kernel(path, seccomp=False)
    assert not isinstance(raised.value, KernelUnfit)


def test_iproute2_missing_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(verify, "find_program", nothing)
    with pytest.raises(LabError, match="apt-get install iproute2"):
        verify_kernel(tmp_path / "linux", seccomp=False)


def test_only_a_kernel_with_seccomp_is_told_of_it(tmp_path: Path) -> None:
    assert "seccomp=on" in boot_command(Path("/linux"), True, tmp_path)
    assert not [word for word in boot_command(Path("/linux"), False, tmp_path) if "seccomp" in word]


@needs_iproute2
def test_where_seccomp_is_not_let_the_kernel_runs_by_ptrace(tmp_path: Path) -> None:
    text = "seccomp=<on/auto/off> time-travel=inf-cpu Linux version 7.3.4 (a@b)"
    refuses = 'case "$*" in *seccomp=on*) echo refused; exit 1 ;; esac'
    script = f"# {text}\n{refuses}\necho '{guest.MARK}{json.dumps(GOOD)}'"
    assert build.verified_seccomp(kernel(tmp_path, script)) is False
    with pytest.raises(build.Unfit, match=r"does not boot: .*refused"):
        build.verified_seccomp(kernel(tmp_path, f"# {text}\necho refused"))


def test_scratch_folders_are_removed_and_left_ones_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_scratch_parent", lambda: tmp_path)
    left = tmp_path / "linklab-verify-left"
    left.mkdir()
    (left / "file").touch()
    with verify.scratch_folder() as outer:
        assert not left.exists()
        with verify.scratch_folder() as inner:
            assert outer.is_dir()
            assert inner != outer
    assert list(tmp_path.iterdir()) == []


@pytest.mark.lab
def test_the_real_kernel_keeps_virtual_time() -> None:
    try:
        found = find_kernel("virtual")
    except LabError:
        pytest.skip("needs the kernel: linklab kernel build")
    verification = verify_kernel(found.path, found.seccomp)
    assert verification.release == found.version
    assert verification.delay_ms == pytest.approx(guest.DELAY_MS, abs=0.01)
