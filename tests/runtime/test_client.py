"""One lab process: requests, errors, time, limits, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabEnded, LabError, MeasurementError
from linklab.guest import lab_api
from linklab.guest.request_loop import BEAT_NS
from linklab.runtime import supervisor
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


def _monotonic(context: Any) -> float:
    import time

    return time.monotonic()


def _repeat(context: Any, text: str, n: int) -> list[Any]:
    return [text * n, {"n": n}, None]


def test_a_request_is_answered_with_data(virtual: Kind, lab_folder: Path) -> None:
    with LabProcess.spawn(virtual, lab_folder) as lab:
        assert lab.call(_repeat, "x", 200_000) == ["x" * 200_000, {"n": 200_000}, None]
        assert lab.call(_repeat, "y" * 100_000, 2) == ["y" * 200_000, {"n": 2}, None]


def test_errors_come_back_as_they_are(virtual: Kind, lab_folder: Path) -> None:
    def fail(context: Any, kind: str) -> None:
        from linklab import errors

        if kind == "ours":
            raise errors.MeasurementError("the reason and the fix")
        raise ZeroDivisionError("a bug")

    def no_json(context: Any) -> set[int]:
        return {1, 2}

    with LabProcess.spawn(virtual, lab_folder) as lab:
        with pytest.raises(MeasurementError, match=r"^the reason and the fix$"):
            lab.call(fail, "ours")
        with pytest.raises(LabError, match="ZeroDivisionError: a bug") as caught:
            lab.call(fail, "bug")
        assert "in fail" in "".join(caught.value.__notes__)
        with pytest.raises(LabError, match="not JSON serializable"):
            lab.call(no_json)
        assert lab.call(_monotonic) > 0


def _wait_an_hour(context: Any) -> None:
    context.poll((), 3600.0)


def test_time_stands_still_between_requests_and_jumps_when_the_lab_waits(virtual: Kind, lab_folder: Path) -> None:
    with LabProcess.spawn(virtual, lab_folder) as lab:
        lab.call(_monotonic)  # what it imports at first takes looks at files that are not there, and they take time
        before = lab.call(_monotonic)
        time.sleep(1.0)
        between = lab.call(_monotonic)
        lab.call(_wait_an_hour)
        after = lab.call(_monotonic)
    assert 0 < between - before < 3 * BEAT_NS / 1e9  # after the next beat, no matter how long nobody asked
    assert 3600 <= after - between < 3600.2  # poll(2) may be up to 0.1 s late


def test_a_stopped_guest_uses_no_processor_time(virtual: Kind, lab_folder: Path) -> None:
    def ticks() -> int:
        fields = Path(f"/proc/{lab.group_pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    with LabProcess.spawn(virtual, lab_folder) as lab:
        lab.call(_monotonic)
        before = ticks()
        time.sleep(1.0)
        assert ticks() - before <= 1


def test_busy_waiting_ends_at_the_limit_and_says_why(virtual: Kind, lab_folder: Path) -> None:
    """A function that does not say that it may be interrupted takes the lab along.

    The lab may get little of a busy computer: whether it is said to have waited is for `test_hang_report`.
    """

    def spin(context: Any) -> None:
        while True:
            pass

    lab = LabProcess.spawn(virtual, lab_folder, wall_limit_s=1.0)
    with pytest.raises(LabError, match="and was ended: it computed for"):
        lab.call(spin)
    assert not lab.running
    with pytest.raises(LabError, match="has been stopped"):
        lab.call(_monotonic)


def test_rm_rf_in_a_guest_leaves_the_host_whole(virtual: Kind, lab_folder: Path, tmp_path: Path) -> None:
    """Only the lab folder is there, even for a guest that mounts all that it can reach of the host."""
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    (lab_folder / "mine").write_text("may go")

    def there(context: Any, path: str) -> bool:
        return os.path.exists(path)

    def destroy(context: Any, target: str, folder: str) -> list[str]:
        import os
        import subprocess

        def sh(command: str) -> str:
            done = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            return str(done.returncode)

        sh("mkdir -p /mnt/host; cd /mnt; mount -t hostfs none host -o hostfs=/")
        return [
            str(os.getuid()),
            sh("test -e /mnt/host/run/linklab/options.json"),
            sh("echo overwritten > /mnt/host/run/linklab/options.json"),
            sh("touch /mnt/host/run/linklab/image/etc/new /mnt/host/run/linklab/library/new"),
            sh(f"test -e /mnt/host{target}"),
            sh(f"rm -f /mnt/host{target}"),
            sh(f"echo overwritten > /mnt/host{target}"),
            sh(f"rm -rf {folder} {os.path.dirname(target)}"),
            # all of / takes minutes and does the same: tried by hand
            sh("rm -rf /etc /boot"),
        ]

    with LabProcess.spawn(virtual, lab_folder) as lab:
        user, mounted, options, parts, seen, _, overwritten, *_ = lab.call(destroy, str(precious), str(lab_folder))
        assert not lab.call(there, "/etc/hostname")
    assert (user, mounted) == ("0", "0"), "root in a world of its own"
    assert "0" not in (options, parts, seen, overwritten)
    assert precious.read_text() == "keep me"
    assert Path("/etc/hostname").exists()
    assert list(lab_folder.iterdir()) == []


def test_root_in_a_guest_changes_no_setting_of_this_machines_kernel(virtual: Kind, lab_folder: Path) -> None:
    """A lab that root runs is root's process here, to which files of /proc/sys belong."""
    file, value = "sys/vm/swappiness", Path("/proc/sys/vm/swappiness").read_text().strip()

    def write(context: Any, file: str, value: str) -> list[int]:
        import subprocess

        commands = (
            "mkdir -p /mnt/proc; mount -t hostfs none /mnt/proc -o hostfs=/proc",
            f"echo {value} > /mnt/proc/{file}",
        )
        return [subprocess.run(command, shell=True, stderr=subprocess.DEVNULL).returncode for command in commands]

    with LabProcess.spawn(virtual, lab_folder) as lab:
        mounted, written = lab.call(write, file, value)
    assert (mounted, written != 0) == (0, True)


def test_the_lab_folder_is_the_hosts_own_and_changes_are_seen(virtual: Kind, lab_folder: Path) -> None:
    """A program edited between two cells runs as edited, not as it was when the lab first read it."""

    def read(context: Any, path: str) -> str:
        from pathlib import Path

        return Path(path).read_text()

    def write(context: Any, path: str, text: str) -> None:
        from pathlib import Path

        Path(path).write_text(text)

    file = lab_folder / "simpleperf.py"
    file.write_text("first")
    with LabProcess.spawn(virtual, lab_folder) as lab:
        assert lab.call(read, str(file)) == "first"
        file.write_text("second, longer")
        assert lab.call(read, str(file)) == "second, longer"
        lab.call(write, str(file), "by the lab")
        assert file.read_text() == "by the lab"


@pytest.mark.large
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
def test_a_lab_that_fills_the_disk_of_its_folder_is_ended_with_a_line(virtual: Kind, lab_folder: Path) -> None:
    def write(context: Any, path: str) -> None:
        import contextlib

        with open(path, "wb", buffering=0) as file:
            while True:  # a fast disk is full before it is looked at
                with contextlib.suppress(OSError):
                    file.write(bytes(1_000_000))

    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700m", "none", str(lab_folder)], check=True)
    try:
        with pytest.raises(LabEnded, match=r"has written \d+ MB, and the disk of .* has only \d+ MB left"):
            LabProcess.spawn(virtual, lab_folder).call(write, f"{lab_folder}/large")
    finally:
        subprocess.run(["umount", str(lab_folder)], check=True)


@pytest.mark.large
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
def test_a_program_that_writes_elsewhere_is_not_ended_for_a_small_disk(tmp_path: Path) -> None:
    ours, lifeline = os.pipe()
    channel = os.open("/dev/null", os.O_RDWR)
    flood = "import time; open('/dev/null', 'wb', 0).write(bytes(300 * 2**20)); time.sleep(2); print('whole')"
    argv = [sys.executable, "-c", flood]
    options = {"argv": argv, "channel": channel, "writes": str(tmp_path)}
    command = [sys.executable, supervisor.__file__, str(ours), json.dumps(options)]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "none", str(tmp_path)], check=True)
    try:
        ran = subprocess.run(command, pass_fds=(ours, channel), capture_output=True, text=True, check=False)
        assert (ran.stdout, ran.stderr) == ("whole\n", "")
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
        for end in (ours, lifeline, channel):
            os.close(end)


def test_a_kernel_that_cannot_boot_is_reported_with_its_last_words(
    virtual: Kind, lab_folder: Path, tmp_path: Path
) -> None:

    assert virtual.image is not None
    (tmp_path / "linux").symlink_to("/bin/false")
    (tmp_path / "root").symlink_to(virtual.image.root)
    broken = replace(virtual, image=replace(virtual.image, folder=tmp_path))
    with pytest.raises(LabEnded, match=r"ended while starting.*linklab doctor"):
        LabProcess.spawn(broken, lab_folder)


def test_a_machine_that_confines_no_lab_is_not_the_kernels_fault(
    virtual: Kind, lab_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image's build takes another kernel where a lab ended, and none where bubblewrap failed."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("LINKLAB_CONFINEMENT", "bubblewrap")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(LabError, match="uid map: Permission denied") as raised:
        LabProcess.spawn(virtual, lab_folder)
    assert not isinstance(raised.value, LabEnded)


def test_a_killed_guest_is_reported(virtual: Kind, lab_folder: Path) -> None:
    lab = LabProcess.spawn(virtual, lab_folder)
    os.kill(lab.group_pid, signal.SIGKILL)
    with pytest.raises(LabError, match="ended unexpectedly"):
        lab.call(_monotonic)


def test_an_interrupt_is_not_lost_where_the_request_never_looks(virtual: Kind, tmp_path: Path) -> None:
    def compute(context: Any) -> int:
        context.emit("begun")
        return sum(range(100_000))

    def press(event: Any) -> None:
        raise KeyboardInterrupt

    with LabProcess.spawn(virtual, tmp_path) as process:
        with pytest.raises(KeyboardInterrupt):
            process.call(compute, on_event=press)
        assert process.call(lab_api.now) > 0
