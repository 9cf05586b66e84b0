"""simpleperf in a lab: Linklab's own, students' of many dialects, and programs that do not work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import SimpleperfFlow, SimpleperfResult, TcpFlow, run, run_together
from linklab.network import TWO_HOSTS, goodput_ceiling_mbps, path
from linklab.runtime.backends import Kind

from ..simpleperf.programs.make import Program, programs

pytestmark = pytest.mark.lab

CEILING_MBPS = goodput_ceiling_mbps(path(TWO_HOSTS, "h1", "h2"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's folder, in which programs lie."""
    return tmp_path_factory.mktemp("measure")


@pytest.fixture(scope="module")
def lab(virtual: Kind, folder: Path) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=folder) as lab:
        yield lab


@pytest.fixture(autouse=True)
def no_tool_left(lab: linklab.Lab) -> Iterator[None]:
    yield
    names = "for name in python3 iperf3 ping flock sleep; do grep -lx $name /proc/[0-9]*/comm 2>/dev/null; done"
    assert lab["h1"].cmd(names) == ""


def program(folder: Path, text: str) -> str:
    (folder / "mine.py").write_text(text)
    return "mine.py"


def test_the_reference_meets_the_ceiling(lab: linklab.Lab) -> None:
    result = run(lab, SimpleperfFlow("h1", "h2", 10))
    assert 0.9 * CEILING_MBPS < result.throughput_mbps < 1.001 * CEILING_MBPS
    assert len(result.samples) == 10
    assert "simpleperf.py of Linklab (SHA-256" in result.origin.tool
    # what was put on the way is what arrived, with the headers
    queue = result.origin.queue("h1")
    assert queue is not None
    assert result.received_bytes is not None
    assert 1.0 < queue.sent_bytes / result.received_bytes < 1.1


@pytest.mark.large
@pytest.mark.parametrize("right", programs("right"), ids=lambda right: right.name)
def test_any_dialect_that_the_checks_accept_can_measure(lab: linklab.Lab, folder: Path, right: Program) -> None:
    flow = SimpleperfFlow("h1", "h2", 3, streams=2, program=right.write(folder))
    result = run(lab, flow)
    assert 0.8 * CEILING_MBPS < result.throughput_mbps < 1.02 * CEILING_MBPS
    assert 0.7 * CEILING_MBPS < result.client_throughput_mbps < 1.02 * CEILING_MBPS
    assert len(result.streams) == 2
    assert [len(stream.samples) for stream in result.streams] == [3, 3]


def test_a_flow_may_start_later(lab: linklab.Lab) -> None:
    early, late = SimpleperfFlow("h1", "h2", 6), TcpFlow("h1", "h2", 3, start_s=3)
    both = run_together(lab, [early, late])
    assert both.start_skew_ms < 1  # beside what was asked for
    assert isinstance(both.results[0], SimpleperfResult)
    rates = [sample.throughput_mbps for sample in both.results[0].samples]
    # the other flow says hello through the queue that the first one fills, so its first second may not show
    assert min(rates[3:5]) < 0.9 * min(rates[1:3])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print(1 / 0)\n", "server of mine.py on h2 ended; it printed last: 'ZeroDivisionError: division by zero'"),
        ("import time\ntime.sleep(900)\n", "server of mine.py on h2 does not listen; it printed nothing"),
        ("import prettiertable\n", "server of mine.py on h2 needs the package prettiertable: install it"),
    ],
)
def test_a_server_that_does_not_serve_is_quoted(lab: linklab.Lab, folder: Path, text: str, reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason) as caught:
        run(lab, SimpleperfFlow("h1", "h2", 2, program=program(folder, text)))
    assert "\n" not in str(caught.value)


_SERVES = """
import socket, sys, time
words = sys.argv
if "-s" in words:
    with socket.create_server(("0.0.0.0", int(words[words.index("-p") + 1]))) as server:
        while True:
            server.accept()
"""


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        ("sys.exit('no idea what -i is')", "mine.py from h1 to h2 ended with status 1; .*interval_s=None"),
        (
            "print('sent it all')",
            "client of mine.py on h1 printed no total that is known; it printed last: 'sent it all'",
        ),
        ("print('connecting'); time.sleep(900)", "not done after 62 s .* it printed last: 'connecting'"),
    ],
)
def test_a_client_that_does_not_measure_is_quoted(lab: linklab.Lab, folder: Path, client: str, reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason):
        run(lab, SimpleperfFlow("h1", "h2", 2, program=program(folder, _SERVES + client)))


def test_a_file_that_is_not_there_is_said_before_anything_runs(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match=r"there is no program yours\.py in the lab's folder: write it first"):
        run(lab, SimpleperfFlow("h1", "h2", program="yours.py"))


def test_a_program_runs_in_its_folder_and_leaves_nothing_there(lab: linklab.Lab, folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own/helper.py").write_text("import tabulate\nopen('own/seen', 'w').write(__file__)\n")
    (folder / "own/looks.py").write_text("import helper\n")
    with pytest.raises(MeasurementError, match=r"server of looks\.py on h2 ended; it printed nothing"):
        run(lab, SimpleperfFlow("h1", "h2", 2, program=Path("own/looks.py")))
    assert (folder / "own/seen").read_text() == str(folder / "own/helper.py")
    assert {path.name for path in (folder / "own").iterdir()} == {"helper.py", "looks.py", "seen"}
