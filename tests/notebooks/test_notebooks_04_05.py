"""Labs 04 and 05 as students meet them: starters fail their graded cells, solutions show what their text says."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.analysis import Comparison
from linklab.labs.paths import beside_report, frames_dropped, queue_over_time
from linklab.measure import PingFlow, Run, SimpleperfFlow, run, run_together
from linklab.network import COURSE
from linklab.published import publication
from tests.notebooks.run_notebook import graded, run_with_simpleperf, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAMES = ("04-link-latency", "05-path-latency")
ADDRESSES = {"L1": "10.0.1.2", "L2": "10.0.3.2", "L3": "10.0.6.2"}
NOT_IN_THE_STARTER = "not measured yet: fill in the cells above and run them"


@pytest.mark.large
@pytest.mark.parametrize("name", NAMES)
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(name: str, tmp_path: Path) -> None:
    starter, errors = run_with_simpleperf("labs", name, tmp_path)
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ("not filled in yet", "not answered yet", "not measured yet", "not there yet")
    assert all(any(words in said for words in missing) for said in errors.values())
    assert "Measuring with Linklab's own simpleperf: with your simpleperf.py" in shown(starter, "answer-transfers")
    assert shown(starter, "queue-figure" if name == NAMES[0] else "answer-together") == repr(NOT_IN_THE_STARTER)


@pytest.mark.large
def test_lab_04_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution, errors = run_with_simpleperf("solutions", NAMES[0], tmp_path)
    assert errors == {}
    assert "rtt min/avg/max/mdev = 20.000/20.000/20.000/0.000 ms" in shown(solution, "answer-parsed")
    assert "'mean': 20.8, 'max': 40.0, 'mdev': 3.919" in shown(solution, "arp-try")
    assert "[40.0, 20.0" in shown(solution, "arp-try")
    assert "Measuring with your own simpleperf.py." in shown(solution, "answer-transfers")
    assert "said='as theory says'" in shown(solution, "check-transfers")
    assert "limit 67 delay 10ms" in shown(solution, "answer-counters")
    seen = shown(solution, "queue-figure")
    assert "20.0 to 30." in seen
    assert "with a full queue it is 30.3 ms" in seen
    assert "Your sketch: 20 at 0" in seen


@pytest.mark.large
def test_lab_05_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution, errors = run_with_simpleperf("solutions", NAMES[1], tmp_path)
    assert errors == {}
    assert "60.0 to 80." in shown(solution, "answer-together")
    assert "4  10.0.6.2  80.000 ms" in shown(solution, "answer-route")
    assert " windows, up to 1" in shown(solution, "check-windows")
    assert "BDP 132, room 16 packets" in shown(solution, "answer-bdp")
    dropped = shown(solution, "dropped")
    assert "('h7-h9', 0, 0, " in dropped, "the queue that overflows is L3's"
    assert "('h1-h9', 0, 0, " in dropped
    assert "('h1-h4', 0," not in dropped, "the start overflows L1 as well"


def _measured(folder: Path, case: int) -> tuple[list[Comparison], Run]:
    """What a lab's tables have of a test case, measured in a lab of its own."""
    ways = {
        row["name"]: (row["source"], row["destination"]) for row in publication("report").rows("numbers", case=case)
    }
    folder.mkdir()
    with linklab.start(COURSE, folder=folder) as lab:
        pings, transfers = {}, {}
        for name, (source, destination) in ways.items():
            where = ADDRESSES.get(name)
            pings[name] = run(lab, PingFlow(source, destination, address=where))
            transfers[name] = run(lab, SimpleperfFlow(source, destination, address=where))
        name, (source, destination) = next(iter(ways.items()))
        where = ADDRESSES.get(name)
        flows = (
            PingFlow(source, destination, interval_s=1, address=where),
            SimpleperfFlow(source, destination, address=where),
        )
        together = run_together(lab, flows)
    return beside_report(case, None, None, pings, transfers), together


@pytest.mark.thorough  # tests/runtime/test_same_digits.py and tests/measure/test_measure_queues.py have such digits
@pytest.mark.parametrize("case", [2, 3])
def test_two_fresh_labs_give_the_same_tables_to_the_last_digit(case: int, tmp_path: Path) -> None:
    one, two = (_measured(tmp_path / name, case) for name in ("one", "two"))
    assert one[0] == two[0]
    assert all(row.measured is not None and row.interval is not None for row in one[0])
    assert all(row.interval[0] <= row.measured <= row.interval[1] for row in one[0] if row.interval and row.measured)
    assert [result.rtt_ms for result in one[1].results if hasattr(result, "rtt_ms")] == [
        result.rtt_ms for result in two[1].results if hasattr(result, "rtt_ms")
    ]
    assert one[1].results[1].headline == two[1].results[1].headline
    name, ends = ("L1", ("r1", "r2")) if case == 2 else ("h1-h4", ("h1", "h4"))
    drawn = [queue_over_time(run, name, ends) for run in (one[1], two[1])]
    assert drawn[0].alt_text == drawn[1].alt_text  # type: ignore[union-attr]
    assert (frames_dropped(one[1], "r1-eth1") or 0) > 0, "TCP's start overflows the queue of L1"
