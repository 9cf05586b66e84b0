"""Labs in QEMU: the same digits in each, Ctrl-C, a folder on both sides, and a snapshot that is made anew."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.network import Network, expected_state
from linklab.network.catalogue import COURSE
from linklab.runtime import client
from linklab.runtime.backends import KindName, choose
from linklab.runtime.client import LabProcess
from linklab.runtime.image.find import find_image
from linklab.runtime.qemu import snapshot

pytestmark = [pytest.mark.lab, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def can_run() -> None:
    """Skips these tests with the reason where no lab starts in QEMU."""
    try:
        choose("qemu")
    except LabError as error:
        pytest.skip(str(error))


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabProcess]:
    """A lab with the course network, and a folder."""
    with started(COURSE, tmp_path / "folder") as process:
        yield process


def started(network: Network, folder: Path | None = None, kind: KindName = "qemu", seed: int = 0) -> LabProcess:
    """A lab with a network."""
    process = LabProcess.spawn(choose(kind), folder, seed=seed)
    process.call(lab_api.build, network, expected_state(network), "bridge", None)
    return process


def run(process: LabProcess, node: str, command: str) -> str:
    """What a command prints on a node."""
    said: list[str] = []
    process.call(lab_api.command, node, command, None, False, on_event=said.append)
    return "".join(said)


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Two busy loops for each of this computer's cores."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def clock_ns(context: Any) -> int:
    """The lab's clock."""

    return time.monotonic_ns()


def iperf3(process: LabProcess, words: str) -> dict[str, Any]:
    """What iperf3 says at the end, of 2 s from h1 to h4 unless `words` say else, and the lab's clock afterwards."""
    run(process, "h4", "iperf3 -s -1 -D; sleep 0.2")
    end = json.loads(run(process, "h1", f"iperf3 -J -c {COURSE.address_of('h4')} -t 2 {words}"))["end"]
    sums = {name: value for name, value in end.items() if name.startswith("sum")}
    return {**sums, "clock_ns": process.call(clock_ns)}


_POWERS = "python3 -c 'import math; print([math.exp(n / 997) for n in range(2000)])'"


def length(context: Any, text: str) -> int:
    """How long a request was."""
    return len(text)


def measured(said_before: str = "", folder: Path | None = None, kind: KindName = "qemu", seed: int = 0) -> list[Any]:
    """Round trips, TCP and UDP in a fresh lab, to the last digit. The lab has got `said_before` in a request before."""
    with started(COURSE, folder, kind, seed) as process:
        process.call(length, said_before)
        said = run(process, "h1", f"ping -c 5 {COURSE.address_of('h4')}")
        found = [said, process.call(clock_ns), iperf3(process, ""), iperf3(process, "-u -b 20M -l 1400 -t 6")]
        return [*found, run(process, "h1", _POWERS)]


@pytest.fixture(scope="module")
def idle() -> list[Any]:
    """What is measured in a lab that has been told nothing before."""
    return measured()


@pytest.mark.large
def test_neither_busy_loops_nor_a_long_request_nor_files_show_in_any_digit(idle: list[Any], tmp_path: Path) -> None:
    assert idle[2]["sum_received"]["bytes"] > 0
    assert idle[3]["sum"]["jitter_ms"] > 0
    for number in range(50):
        (tmp_path / f"file-{number}").write_text("x" * 1000 * number)
    with busy_cores():
        assert measured("x" * 10_000, tmp_path) == idle


@pytest.mark.large
def test_digits_are_those_of_user_mode_linux(idle: list[Any]) -> None:
    """But for ping's whole time: a program may take some microseconds more to start (docs/speed.md)."""
    try:
        choose("guest")
    except LabError as error:
        pytest.skip(str(error))
    (pings, *others), (same_pings, *same_others) = idle, measured(kind="guest")
    assert others == same_others
    assert re.sub("time [0-9]+ms", "", pings) == re.sub("time [0-9]+ms", "", same_pings)


def interrupted(process: LabProcess) -> str:
    """How a command ends that runs for ever and is interrupted after a moment."""
    asked = iter((False, False))
    words = ("h1", "echo begins; while true; do sleep 0.1; done", None, False)
    ended = process.call(lab_api.command, *words, stop=lambda: next(asked, True))
    return str(ended["outcome"])


@pytest.mark.large
def test_ctrl_c_ends_a_command_and_files_are_on_both_sides(lab: LabProcess, tmp_path: Path) -> None:
    assert interrupted(lab) == "interrupted"
    folder = tmp_path / "folder"
    (folder / "from-host").write_text("here")
    assert run(lab, "h1", f"cd {folder}; cat from-host; echo there > from-lab").strip() == "here"
    assert (folder / "from-lab").read_text().strip() == "there"


@pytest.mark.large
def test_an_interrupt_that_meets_the_answer_loses_nothing(lab: LabProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    # so often is an interrupt sent until the answer comes; each stops the machine, which has to get on in between, and
    # on a busy computer has a tenth of a core (at 0.001 s it had 1.5 s in the 15 s after which a lab is ended)
    monkeypatch.setattr(client, "_LOOK_UP_S", 0.05)
    for _ in range(20):
        assert interrupted(lab) == "interrupted"
    assert run(lab, "h1", "echo on").strip() == "on"


FILL = """
import mmap, struct
blocks = [mmap.mmap(-1, 4 << 20) for _ in range(95)]
places = [(number, at) for number in range(95) for at in range(0, 4 << 20, 4096)]
for number, at in places:
    blocks[number][at:at + 8] = struct.pack("II", number, at)
print(sum(blocks[number][at:at + 8] != struct.pack("II", number, at) for number, at in places), "wrong")
"""


@pytest.mark.large
def test_no_page_of_a_guests_memory_is_given_twice(lab: LabProcess) -> None:
    """A program that fills 380 of 512 MB finds in each page what it wrote there."""
    assert run(lab, "h1", f"python3 -c {shlex.quote(FILL)}").strip() == "0 wrong"
    assert "BUG:" not in run(lab, "h1", "dmesg")


def test_a_lab_that_is_gone_is_told_of(lab: LabProcess) -> None:
    with pytest.raises(LabError, match="ended"):
        run(lab, "h1", "echo b > /proc/sysrq-trigger; kill -9 $(pgrep -f linklab.guest.qemu_agent)")


_PRETEND = """
import os, platform, sys
import networkx, numpy, platformdirs, psutil, scipy.stats  # compiled for this machine, and so not to be pretended to
sys.platform = "darwin"
platform.system, platform.machine = (lambda: "Darwin"), (lambda: "arm64")
for name in ("sched_getaffinity", "memfd_create", "pidfd_open"):
    delattr(os, name)
import linklab
from linklab import measure
from linklab.network import TWO_HOSTS
with linklab.start(TWO_HOSTS) as lab:
    run = measure.run(lab, measure.PingFlow("h1", "h2", count=3))
    print(lab.kind, round(run.rtt_mean_ms, 1), run.lost_packets)
"""


@pytest.mark.large
def test_a_lab_starts_on_a_pretended_mac(tmp_path: Path) -> None:
    """What Linux alone has is taken away from Python. QEMU, files and sockets are this machine's own."""
    # a Mac looks for images in another folder
    settings = os.environ | {"LINKLAB_IMAGE": str(find_image().folder)}
    words = [sys.executable, "-c", _PRETEND]
    done = subprocess.run(words, env=settings, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["qemu", "20.0", "0"]


@pytest.mark.large
def test_a_damaged_snapshot_is_made_anew() -> None:
    with started(COURSE):
        newest = max(snapshot.cache_folder().glob("*/state"), key=lambda path: path.parent.stat().st_mtime)
    newest.write_bytes(b"")
    with started(COURSE) as process:
        assert process.running
    assert newest.read_bytes()
