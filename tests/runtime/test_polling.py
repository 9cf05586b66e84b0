"""Of what Linklab changes in the kernel: programs that wait by polling do not hold virtual time up, and read the clock
without a system call, with the digits that the kernel would have told them.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess

pytestmark = pytest.mark.lab

POLLED_S = 0.1
UNCHANGED_STEP_S = 256e-9  # what a look at the clock takes in a kernel without the change


def poll(context: Any, seconds: float, nap_s: float) -> list[float]:
    """Inside: how many looks at the clock `seconds` take, and when a child that sleeps meanwhile woke up."""
    import os
    import time

    reader, writer = os.pipe()
    begin = time.monotonic()
    if os.fork() == 0:
        time.sleep(max(0.0, begin + nap_s - time.monotonic()))
        os.write(writer, repr(time.monotonic() - begin).encode())
        os._exit(0)
    looks = 0
    while time.monotonic() - begin < seconds:
        looks += 1
    took = time.monotonic() - begin
    woke = float(os.read(reader, 100))
    os.wait()
    return [looks, took, woke]


def test_waiting_by_polling_takes_few_looks_and_makes_nothing_late(virtual: Kind, tmp_path: Path) -> None:
    with LabProcess.spawn(virtual, tmp_path) as process:
        looks, took, woke = process.call(poll, POLLED_S, POLLED_S / 2)
        again = process.call(poll, POLLED_S, POLLED_S / 2)
    if looks > 0.5 * POLLED_S / UNCHANGED_STEP_S:
        pytest.skip("needs a kernel with Linklab's patch, which its source package did not take: python -m tools.image")
    assert looks < 0.1 * POLLED_S / UNCHANGED_STEP_S
    assert took == pytest.approx(POLLED_S, abs=50e-6)
    assert woke == pytest.approx(POLLED_S / 2, abs=50e-6)
    assert again == pytest.approx([looks, took, woke], rel=0.1)


def ask(context: Any, times: int, by_call: bool) -> list[int]:
    """Inside: what the clock shows in `times` looks, every other one at the date; before and after it was set.

    Another program looks as often meanwhile. `by_call`: they are system calls of clock_gettime. Else the C library
    reads the clock as it does for all programs.
    """
    import ctypes
    import os
    import time

    libc, found = ctypes.CDLL(None), (ctypes.c_longlong * 2)()

    def look(clock: int) -> int:
        if by_call:
            libc.syscall(228, clock, found)
        else:
            libc.clock_gettime(clock, found)
        return found[0] * 10**9 + found[1]

    shown = []
    for date_s in (1e9, 2e9):
        time.clock_settime(time.CLOCK_REALTIME, date_s)
        other = os.fork()
        for number in range(times):
            now = look(time.CLOCK_REALTIME if number % 2 else time.CLOCK_MONOTONIC)
            if number % 98 < 2:
                shown.append(now)
        if other == 0:
            os._exit(0)
        os.waitpid(other, 0)
    return shown


def test_a_clock_read_without_a_call_shows_what_the_kernel_would_say(virtual: Kind, lab_folder: Path) -> None:
    """Also where two programs take turns."""
    shown = []
    for by_call in (False, True):
        with LabProcess.spawn(virtual, lab_folder) as process:
            process.call(ask, 10, by_call)  # imports and memory's first use are calls of their own
            shown.append(process.call(ask, 30_000, by_call))
    assert shown[0] == shown[1]
    monotonic_ns, real_ns = shown[0][::2], shown[0][1::2]
    assert monotonic_ns == sorted(set(monotonic_ns))
    ahead_ns = [real - monotonic for monotonic, real in zip(monotonic_ns, real_ns, strict=True)]
    assert ahead_ns[-1] - ahead_ns[0] == pytest.approx(10**18, abs=10**9)


def calls_of_a_look(context: Any) -> int:
    """Inside: how many system calls a program makes for 100 looks at the clock, as a debugger counts them."""
    import ctypes
    import os
    import signal

    libc = ctypes.CDLL(None)
    trace_me, system_call = 0, 24
    child = os.fork()
    if child == 0:
        found = (ctypes.c_longlong * 2)()
        libc.clock_gettime(1, found)
        libc.ptrace(trace_me, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        for _ in range(100):
            libc.clock_gettime(1, found)
        os._exit(0)
    stops = 0
    while os.WIFSTOPPED(os.waitpid(child, 0)[1]):
        stops += 1
        libc.ptrace(system_call, child, 0, 0)
    return stops // 2


@pytest.mark.parametrize("traced", [False, True])
def test_a_look_at_the_clock_is_no_call_unless_the_kernel_traces_its_programs(
    virtual: Kind, lab_folder: Path, traced: bool
) -> None:
    with LabProcess.spawn(replace(virtual, traced=traced), lab_folder) as process:
        calls = process.call(calls_of_a_look)
    assert calls >= 100 if traced else calls < 10


def spoil(context: Any) -> list[int]:
    """Inside: writes over what the kernel lends a program of its clock; what the clock shows before, and each time."""
    import ctypes
    import os
    import time
    from pathlib import Path

    maps = Path("/proc/self/maps").read_text().splitlines()
    (vdso,) = [int(line.split("-")[0], 16) for line in maps if "vdso" in line]
    (address,) = [word for word in (ctypes.c_ulonglong * 512).from_address(vdso) if vdso < word < 1 << 47]
    clock = (ctypes.c_longlong * 5).from_address(address)  # struct stub_clock of clock.patch
    shown = [time.monotonic_ns()]
    for ahead_ns, idle, due in (
        (-(10**9), 0, 0),
        (1 << 62, 0, -1),
        (10**7, -(1 << 62), 1 << 62),
        (250, 0, 0),
        (1, 0, 0),
    ):
        clock[:3] = [clock[0] + ahead_ns, idle, due]
        os.getppid()  # the kernel takes back what it has lent, and lends anew
        time.sleep(0.001)
        shown.append(time.monotonic_ns())
    return shown


def now_ns(context: Any) -> int:
    return time.monotonic_ns()


def test_a_program_that_writes_over_its_clock_moves_no_other_s(virtual: Kind, lab_folder: Path) -> None:
    with LabProcess.spawn(virtual, lab_folder) as process:
        shown_ns = process.call(spoil)
        later_ns = process.call(now_ns)
    steps_ns = [later - earlier for earlier, later in itertools.pairwise(shown_ns)]
    assert all(1_000_000 <= step_ns < 2_000_000 for step_ns in steps_ns), steps_ns
    assert 0 < later_ns - shown_ns[-1] < 10**9


def slow_down(context: Any) -> list[int]:
    """Inside: what the clock shows by the C library and by calls in turn, once it goes a tenth slower."""
    import ctypes
    import os

    libc, found = ctypes.CDLL(None), (ctypes.c_longlong * 2)()
    settings = (ctypes.c_longlong * 32)()  # struct timex
    settings[0], settings[11] = 0x4000, 9000  # ADJ_TICK, in us for each tick of 10 ms
    assert libc.adjtimex(settings) >= 0
    shown = []
    for _ in range(20):
        os.getppid()
        for _ in range(100):
            libc.clock_gettime(1, found)
            shown.append(found[0] * 10**9 + found[1])
        libc.syscall(228, 1, found)
        shown.append(found[0] * 10**9 + found[1])
    return shown


def test_a_clock_of_another_speed_is_asked_and_never_goes_back(virtual: Kind, lab_folder: Path) -> None:
    with LabProcess.spawn(virtual, lab_folder) as process:
        shown_ns = process.call(slow_down)
    assert shown_ns == sorted(shown_ns)
