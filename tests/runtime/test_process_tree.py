"""What came of a process: found, counted and ended together."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from linklab import process_tree
from tests.processes import gone

_HEAD = """
import os, subprocess, sys
from linklab.process_tree import become_head
assert become_head(os.getppid())
# the shell ends at once; what it started leaves its session and belongs to the head from then on
subprocess.run(["sh", "-c", "setsid sleep 600 & setsid sleep 600 &"])
child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
zombie = subprocess.Popen(["true"])
os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
print(zombie.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def head() -> Iterator[tuple[int, int]]:
    """A process with two orphans that it has taken on, a child that computes, and a child that ended; the last's id."""
    words = [sys.executable, "-c", _HEAD]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        zombie = int(process.stdout.readline())
        deadline_s = time.monotonic() + 60
        while [each.name() for each in process_tree.below(process.pid)].count("sleep") < 2:  # setsid becomes one
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        yield process.pid, zombie
        process_tree.end_below(process.pid, 60)
        process.kill()


def test_orphans_and_the_ended_are_found_until_they_are_waited_for(head: tuple[int, int]) -> None:
    pid, zombie = head
    found = process_tree.below(pid)
    assert sorted(process.name() for process in found if process.pid != zombie)[1:] == ["sleep", "sleep"]
    assert len(found) == 4
    assert {process.pid for process in found} - {process.pid for process in process_tree.alive(found)} == {zombie}
    assert [process.pid for process in process_tree.tree(pid)] == [pid, *(process.pid for process in found)]


def test_what_a_tree_uses_is_the_sum_of_its_processes(head: tuple[int, int]) -> None:
    pid, _ = head
    processes = process_tree.tree(pid)
    while (used_s := process_tree.cpu_s(processes)) < 0.1:
        assert process_tree.alive(processes)
    assert process_tree.cpu_s(processes) >= used_s
    one_by_one = sum(process_tree.memory_mb([process]) for process in processes)
    assert process_tree.memory_mb(processes) == pytest.approx(one_by_one, rel=0.2)
    assert process_tree.memory_mb(processes) > process_tree.memory_mb(processes[:1]) > 1


def test_all_of_it_is_ended_but_the_head(head: tuple[int, int]) -> None:
    pid, _ = head
    processes = process_tree.below(pid)
    assert process_tree.end_below(pid, 60)
    assert all(gone(process.pid) for process in processes)
    assert process_tree.alive(process_tree.tree(pid)) == [psutil.Process(pid)]


def test_whose_parent_has_died_is_no_head() -> None:
    asked = "from linklab.process_tree import become_head; print(become_head(1234567))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=os.environ)
    assert said.stdout == "False\n"
