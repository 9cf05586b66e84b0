"""What is measured on virtual time is the network's and not the machine's: theory met, idle and under load.

The same table in real time is printed for the contrast and asserts nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.network import COURSE, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.runtime.kinds import Kind

pytestmark = [pytest.mark.lab, pytest.mark.slow]

LINKS = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
PATHS = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
PINGS = 26  # six times: 156
TCP_S = 10
BUSY_LOOPS_PER_CORE = 4

Row = tuple[str, float, float, float, float]


def _target(source: str, name: str) -> str:
    """The address of a router's interface on the link itself, else of the host."""
    for link in LINKS:
        if {source, name} == set(LINKS[link]):
            return next(end.address or "" for end in COURSE.link(link).ends if end.node == name).partition("/")[0]
    return COURSE.address_of(name)


def measure(lab: linklab.Lab) -> dict[str, tuple[float, float, int]]:
    """RTT (mean, ms), throughput at the receiver (Mbit/s) and pings answered, for each link and path."""
    found = {}
    for name, (source, destination) in (LINKS | PATHS).items():
        target = _target(source, destination)
        said = lab[source].cmd(f"ping -i 0.2 -c {PINGS} {target}")
        answered = re.search(r"(\d+) received", said)
        mean = re.search(r"= [\d.]+/([\d.]+)/", said)
        assert answered, said
        assert mean, said
        server = lab[destination].popen("iperf3 -s -1")
        lab[destination].wait_listening(5201)
        report = json.loads(lab[source].cmd(f"iperf3 --json -c {target} -t {TCP_S}"))
        assert "error" not in report, report["error"]
        server.wait(30)
        rate_mbps = report["end"]["sum_received"]["bits_per_second"] / 1e6
        found[name] = (float(mean[1]), rate_mbps, int(answered[1]))
    return found


def theory() -> dict[str, tuple[float, float]]:
    """RTT floor (ms) and TCP goodput ceiling (Mbit/s)."""
    ways = {name: path(COURSE, *ends) for name, ends in (LINKS | PATHS).items()}
    return {name: (rtt_floor_ms(way), goodput_ceiling_mbps(way)) for name, way in ways.items()}


def show(title: str, found: dict[str, tuple[float, float, int]]) -> None:
    """The table, for whoever reads the test's output."""
    print(f"\n{title}\n{'':8}{'RTT ms':>10}{'theory':>9}{'TCP Mbit/s':>12}{'ceiling':>9}{'answered':>10}")
    for name, (floor_ms, ceiling_mbps) in theory().items():
        rtt_ms, rate_mbps, answered = found[name]
        print(f"{name:8}{rtt_ms:10.3f}{floor_ms:9.0f}{rate_mbps:12.2f}{ceiling_mbps:9.2f}{answered:7}/{PINGS}")


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Four busy loops on every core, as on a laptop that does everything at once."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(BUSY_LOOPS_PER_CORE * len(os.sched_getaffinity(0)))
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


def check(found: dict[str, tuple[float, float, int]]) -> None:
    for name, (floor_ms, ceiling_mbps) in theory().items():
        rtt_ms, rate_mbps, answered = found[name]
        assert answered == PINGS, name
        assert rtt_ms == pytest.approx(floor_ms, abs=0.01), name
        assert rate_mbps <= ceiling_mbps * 1.001, name
        if name in LINKS:
            assert rate_mbps >= 0.97 * ceiling_mbps, name


@pytest.fixture(scope="module")
def idle(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[float, float, int]]:
    with linklab.start(COURSE, "virtual", folder=tmp_path_factory.mktemp("idle")) as lab:
        return measure(lab)


def test_virtual_time_meets_theory(idle: dict[str, tuple[float, float, int]]) -> None:
    show("virtual time", idle)
    check(idle)


@pytest.mark.usefixtures("busy_machine")
def test_virtual_time_gives_the_same_digits_on_a_busy_machine(
    idle: dict[str, tuple[float, float, int]], virtual: Kind, tmp_path: Path
) -> None:
    with linklab.start(COURSE, "virtual", folder=tmp_path) as lab:
        loaded = measure(lab)
    show(f"virtual time, {BUSY_LOOPS_PER_CORE} busy loops per core", loaded)
    check(loaded)
    for name in loaded:
        # three digits; a comparison of rounded numbers would fail where a value lies on the edge of a rounding
        assert loaded[name][:2] == pytest.approx(idle[name][:2], rel=0.005), name


def test_real_time_for_the_contrast(real: Kind, tmp_path: Path) -> None:
    """Prints what the same measurements give in real time; only that the tools worked is checked."""
    with linklab.start(COURSE, "real", kind="guest", folder=tmp_path) as lab:
        found = measure(lab)
    show("real time (not asserted)", found)
    assert set(found) == set(theory())
