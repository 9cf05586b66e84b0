"""The benchmark with real labs, kept tiny: what is measured, what is written, what an interrupt leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tools.bench import starts
from tools.bench.part import Crew, Record, Settings
from tools.bench.starts import report

from .made import CHECKOUT

pytestmark = [pytest.mark.lab, pytest.mark.slow]


@dataclass(frozen=True)
class Tiny(Settings):
    """One network of each shape, each started once."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return (5,)


def bench(*words: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "tools.bench", *words, "--output", str(folder)]


@pytest.mark.large
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_a_tiny_benchmark_end_to_end(tmp_path: Path) -> None:
    words = bench("--quick", "--repeats", "1", "--only", "overhead", "--only", "switches", folder=tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=CHECKOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    data = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert list(data["parts"]) == ["switches", "overhead"]
    assert {record["switch"] for record in data["parts"]["switches"]["records"]} == {"bridge", "ovs", "ovs-user"}
    assert all(claim["verdict"] == "met" for claim in data["parts"]["switches"]["claims"])
    assert {"processor", "cores", "load at start", "kernel of the machine", "date", "iperf3"} <= set(data["machine"])
    page = (tmp_path / "bench.md").read_text("utf-8")
    assert "| met | Switch ovs works on virtual time" in page
    assert "linklab run of a notebook with 10 cells" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench.json", "bench.md"]


@pytest.mark.usefixtures("virtual", "nothing_left")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)])
def test_an_interrupt_leaves_no_process_and_a_report(tmp_path: Path, number: signal.Signals) -> None:
    words = bench("--only", "speed", folder=tmp_path)
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=CHECKOUT
    ) as running:
        assert running.stdout is not None
        assert any("UDP in one lab" in line for line in running.stdout)  # the load before it has been kept
        running.send_signal(number)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in errors
    (part,) = json.loads((tmp_path / "bench.json").read_text("utf-8"))["parts"].values()
    assert part["failure"] == "interrupted"
    assert [record["load"] for record in part["records"]] == ["ping"]
    assert "**Interrupted:**" in (tmp_path / "bench.md").read_text("utf-8")


@pytest.mark.large
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_networks_of_all_shapes_start(lab_folder: Path) -> None:
    settings, records = Tiny(True, 1, lab_folder, 1), list[Record]()
    starts.measure(settings, lambda line: None, records.append)
    assert [record["shape"] for record in records] == ["course", "chain", "tree"]
    assert [record.get("failed") for record in records] == [None] * 3
    assert all(value > 0 for record in records for key, value in record.items() if key.endswith("_s"))
    assert len(report(records, settings).tables[0].rows) == 3


@pytest.mark.usefixtures("nothing_left")
def test_a_failure_ends_the_labs_beside_it(virtual: Kind, lab_folder: Path) -> None:
    with Crew(lab_folder) as crew:
        waiting = crew.start(TWO_HOSTS)

        def work(what: str) -> None:
            if what == "fails":
                raise LabError("this one fails")
            waiting.sleep(10)
            waiting["h1"].cmd("while :; do :; done")  # would keep the guest busy for ever

        with pytest.raises(LabError, match="this one fails"):
            crew.side_by_side(work, ["fails", "waits"], 2)
        assert crew.ended
        assert not waiting.process.running
        with pytest.raises(LabError, match="the benchmark was ended"):
            crew.start(TWO_HOSTS)


def test_busy_loops_are_busy_and_end(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\nfrom tools.bench.fidelity import busy\n"
        "with busy(1):\n print(os.getpid(), flush=True)\n time.sleep(1000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=CHECKOUT) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        loops = _children(pid)
        assert len(loops) == 4
        owner.kill()
    for loop in loops:
        fd = _pidfd(loop)
        if fd is not None:
            assert _ended(fd), loop


def _children(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # others end meanwhile
                fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found.append(int(folder.name))
    return found


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _ended(fd: int) -> bool:
    import select

    try:
        return bool(select.select([fd], [], [], 60)[0])
    finally:
        os.close(fd)
