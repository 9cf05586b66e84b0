"""The console of a lab: which programs the kernel ended because memory was full, and its last lines."""

from __future__ import annotations

from linklab.runtime.console import Console


def test_programs_that_the_kernel_ended_are_told_once() -> None:
    console = Console()
    console.file.write(
        b"Out of memory: Killed process 12 (yes) total-vm:1kB\n"
        b"Out of memory (oom_kill_allocating_task): Killed process 22 (python3.13) total-vm:250120kB\n"
        b"a program says Out of memory: Killed process 7 (me)\n\nthe last line"
    )
    console.file.flush()
    assert console.killed_for_memory() == ["yes", "python3.13"]
    assert console.killed_for_memory() == []
    assert console.tail().endswith("(me) | the last line")
    console.close()
