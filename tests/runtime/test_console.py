"""The console of a lab: which programs the kernel ended because memory was full, its last lines, and its bound."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import linklab
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import VARIABLE, KindName
from linklab.runtime.console import Console
from tests.conftest import lab_processes

KILLED = b"Out of memory: Killed process 12 (yes) total-vm:1kB\n"


def test_programs_that_the_kernel_ended_are_told_once() -> None:
    console = Console()
    console.file.write(
        KILLED + b"Out of memory (oom_kill_allocating_task): Killed process 22 (python3.13) total-vm:250120kB\n"
        b"a program says Out of memory: Killed process 7 (me)\n\nthe last line"
    )
    assert console.killed_for_memory() == ["yes", "python3.13"]
    assert console.killed_for_memory() == []
    assert console.tail().endswith("(me) | the last line")
    console.close()


def test_what_is_written_without_end_is_read_and_not_kept() -> None:
    console = Console()
    for _ in range(100):
        console.file.write(KILLED + b"flood\n" * 10_000)
    console.file.write(KILLED + b"the last line\n")
    assert console.killed_for_memory()[-1] == "yes"
    assert console.tail().endswith("the last line")
    console.close()


def held_bytes() -> int:
    """What this machine's disk holds for files that labs' processes have open, with a name or without."""
    found = {}
    for pid in lab_processes():
        with contextlib.suppress(OSError):  # it has ended
            for end in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    about = end.stat()
                    found[about.st_dev, about.st_ino] = about.st_blocks * 512
    return sum(found.values())


@pytest.mark.large
@pytest.mark.parametrize("kind", ["guest", "qemu"])
@pytest.mark.parametrize("device", ["console", "tty0"])
def test_a_lab_that_writes_to_its_console_fills_no_disk(
    kind: KindName, device: str, lab_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kind)
    with linklab.start(TWO_HOSTS, folder=lab_folder) as lab:
        flood = f"head -c {{}}M /dev/zero | tr '\\0' x >/dev/{device}"
        lab["h1"].cmd(flood.format(1))
        before = held_bytes()
        lab["h1"].cmd(flood.format(20))
        assert held_bytes() - before < 10e6
