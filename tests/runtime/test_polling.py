"""Programs that wait by polling do not hold virtual time up in Linklab's kernel, and read the clock without a system
call, with the digits that the kernel would have told them.
"""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from mininet.topo import Topo

import linklab
from linklab.runtime.backends import VARIABLE, Kind, KindName
from linklab.runtime.client import LabProcess

pytestmark = pytest.mark.lab

POLLED_S = 0.1
STEP_S = 250e-9
LOOKS, DATAGRAMS = 12, 2000
UNCHANGED_STEP_S = 256e-9  # what a look at the clock takes in a kernel without the change


def poll(context: Any, seconds: float, nap_s: float) -> list[float]:
    """Inside: how many looks at the clock `seconds` take, and when a child that sleeps meanwhile woke up."""
    import os
    import time

    context.take_turns()
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
    assert looks < 0.1 * POLLED_S / UNCHANGED_STEP_S
    assert took == pytest.approx(POLLED_S, abs=50e-6)
    assert woke == pytest.approx(POLLED_S / 2, abs=50e-6)
    assert again == pytest.approx([looks, took, woke], rel=0.1)


def time_of_a_datagram(context: Any, polled_s: float) -> float:
    """Inside: after polling for `polled_s`, how long a datagram takes whose sender looks at the clock for it."""
    import socket
    import time

    begin = time.monotonic()
    while time.monotonic() - begin < polled_s:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        begin = time.monotonic()
        for _ in range(DATAGRAMS):
            for _ in range(LOOKS):
                time.monotonic()
            sender.sendto(b"x", ("127.0.0.1", 9))
        return (time.monotonic() - begin) / DATAGRAMS


def test_a_sender_that_looks_at_the_clock_is_none_that_polls(virtual: Kind, tmp_path: Path) -> None:
    """Whatever the lab has been busy with before, a look costs it a step."""
    with LabProcess.spawn(virtual, tmp_path) as process:
        for polled_s in (0.0, POLLED_S):
            assert process.call(time_of_a_datagram, polled_s) == pytest.approx(LOOKS * STEP_S, rel=0.1)


class Fast(Topo):  # type: ignore[misc]
    """Two hosts and a link of 1 Gbit/s."""

    def build(self) -> None:
        self.addLink(self.addHost("h1"), self.addHost("h2"), bw=1000)


@pytest.mark.large
@pytest.mark.parametrize("kind", ["guest", "qemu"])
def test_iperf3_sends_what_it_is_asked_for_whatever_ran_before(
    kind: KindName, lab_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kind)
    with linklab.start(Fast(), folder=lab_folder) as lab:
        lab["h2"].cmd("iperf3 -s -D")
        for mbps, payload_bytes in ((30, 200), (160, 200), (30, 200), (900, 1400), (30, 200)):
            words = f"-u -b {mbps}M -l {payload_bytes} -t 1"
            report = json.loads(lab["h1"].cmd(f"iperf3 -J -c {lab['h2'].address} {words}"))
            assert report["end"]["sum"]["bits_per_second"] == pytest.approx(mbps * 1e6, rel=0.01), words


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
