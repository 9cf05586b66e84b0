"""Labs 06 and 07 as students meet them: starters fail their graded cells, solutions show what their text says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.grade.measured import connections_of, pings, transfers
from linklab.labs import NOTHING, multiplexing
from linklab.measure import PingFlow, Run, SimpleperfFlow, repeated, run_together
from linklab.network import COURSE
from tests.notebooks.run_notebook import ROOT, graded, run_with_simpleperf, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAMES = ("06-multiplexing", "07-parallel-connections")


@pytest.mark.large
@pytest.mark.parametrize("name", NAMES)
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(name: str, tmp_path: Path) -> None:
    starter, errors = run_with_simpleperf("labs", name, tmp_path)
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ["not filled in yet", "not measured yet", "not made yet", "not answered yet", "is measured yet"]
    missing += ["run is missing", "returns nothing"]
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    assert "Measuring with Linklab's own simpleperf: with your simpleperf.py" in shown(starter, "start")
    assert shown(starter, "throughput-figure") == repr(NOTHING)


@pytest.mark.large
def test_lab_06_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution, errors = run_with_simpleperf("solutions", NAMES[0], tmp_path)
    assert errors == {}
    assert "Measuring with your own simpleperf.py." in shown(solution, "start")
    assert "with a full queue it is 80.4 ms" in shown(solution, "rtt-figure")
    assert "Your sketch: 60 at 0" in shown(solution, "rtt-figure")
    looks = re.findall(r"\(([\d.]+), ([\d.]+), (\d+), \d+\)", shown(solution, "answer-look"))
    assert len(looks) >= 4, "a full queue drops a ping now and then"
    # tc looks when the answer is back, 30 ms after the ping was in the queue: windows grow by 1 to 10 packets meanwhile
    # (and after a loss the queue drains)
    apart = sorted(abs(float(told) - int(held)) for _, told, held in looks)
    assert apart[-2] < 11, "an RTT tells how many packets there are"
    half, whole = [
        tuple(map(float, row.split(", ")))
        for row in re.findall(r"\((\d+, [\d., ]+)\)", shown(solution, "queues-table"))
    ]
    assert (half[0], whole[0]) == (50, 100)
    assert half[4] < 0.8 * whole[4], "a queue without room wastes the link"
    assert half[3] < 61 < whole[3] < 81


@pytest.mark.large
def test_lab_07_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution, errors = run_with_simpleperf("solutions", NAMES[1], tmp_path)
    assert errors == {}
    table = shown(solution, "fairness-table")
    found = re.findall(r"\('([^']+)', '([\d.]+)', '([\d.]+)'\)", table)
    rows = {name: (float(one), float(host)) for name, one, host in found}
    single = [values for name, values in rows.items() if name.startswith("run ")]
    assert len(single) == 4
    hosts = [host for _, host in single]
    assert max(hosts) - min(hosts) > 0.02, "in a single run chance decides much"
    per_connection, per_host = rows["mean throughput of all 4"]
    assert per_connection > 0.96
    assert per_host == pytest.approx(8 / 9, abs=0.05), "of four runs that scatter by more than 0.02"
    assert rows["report"] == (0.990, 0.916)


def _seen(run: Run) -> list[Any]:
    """Every digit that the tools gave but ping's last one."""
    return [
        [(it.rtt_ms, it.sent_packets) for it in pings(run).values()],
        connections_of(run),
        [(it.throughput_mbps, it.samples) for it in transfers(run)],
    ]


def _measured(folder: Path) -> tuple[list[Any], list[float]]:
    """What both labs measure, shortened, in a lab of its own; and the mean round trips."""
    folder.mkdir()
    pairs = [("h1", "h4"), ("h2", "h5"), ("h3", "h6")]
    many = [flow for pair in pairs for flow in (PingFlow(*pair, 8, 1.0), SimpleperfFlow(*pair, duration_s=8))]
    several = [SimpleperfFlow("h1", "h4", 8, streams=2), SimpleperfFlow("h2", "h5", 8), SimpleperfFlow("h3", "h6", 8)]
    with linklab.start(COURSE, folder=folder) as lab:
        first, more = run_together(lab, many), repeated(lab, several, 2)
    means = [it.rtt_mean_ms for it in pings(first).values() if it.rtt_mean_ms is not None]
    return [_seen(first), [_seen(run) for run in more.runs]], means


@pytest.mark.thorough  # tests/runtime/test_same_digits.py and tests/measure/test_measure_queues.py have such digits
def test_two_fresh_labs_give_the_same_digits(tmp_path: Path) -> None:
    (one, means), (two, others) = (_measured(tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert len(means) == 3
    assert means == others


def test_a_simpleperf_without_parallel_connections_is_told_and_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "solutions" / "simpleperf.py").read_text()
    broken = text.replace('"-P"', '"-Q"')
    assert broken != text
    file = tmp_path / "simpleperf.py"
    with linklab.start(COURSE, folder=tmp_path) as lab:
        file.write_text(broken)
        assert multiplexing.own_parallel_simpleperf(lab, file) is None
        assert "For -P it is Linklab's own after all: " in capsys.readouterr().out
        file.write_text(text)
        assert multiplexing.own_parallel_simpleperf(lab, file) == str(file)
        assert "Linklab's own" not in capsys.readouterr().out
