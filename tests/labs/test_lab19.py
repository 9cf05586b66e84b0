"""Lab 19's checks: right numbers and runs pass, and what looks right is refused; controllers by what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from linklab.course import using
from linklab.labs.lab19 import networks
from linklab.labs.lab19 import rules as lab19
from linklab.measure import (
    Origin,
    PingFlow,
    PingResult,
    Run,
    TcpFlow,
    TcpResult,
    ToolResult,
    Varying,
    VaryingResult,
)
from linklab.network import expected_state
from linklab.network.traces import generated
from linklab.network.variants import variant
from linklab.programs.congestion import path
from tests.labs.predicted import commit
from tests.notebooks.run_notebook import ROOT

STATE = expected_state(networks.the_network())
ORIGIN = Origin("t", "7", STATE)
ALL_TRACES = {"steady": networks.steady(), **networks.TRACES}


def transfer(control: str, mbps: float, duration_s: float = 20, **more: Any) -> TcpResult:
    flow = TcpFlow("h1", "h2", duration_s, congestion=control, **more)
    return TcpResult(flow, ORIGIN, mbps, 1, duration_s, 0, control, (), ())


def followed(trace: str, **other: Any) -> VaryingResult:
    flow = Varying("r1", "h2", ALL_TRACES[trace], 20, **({"queue_packets": 250} | other))
    return VaryingResult(flow, ORIGIN, 10.0, 30.0, "r1-eth1", 1_000_000, 1000, 0)


def run(*results: ToolResult) -> Run:
    return Run(results, 0.0)


def transfers() -> dict[str, Run]:
    found = {}
    for name in lab19.TRANSFERS:
        trace, control = name.split()
        mbps = 0.9 * ALL_TRACES[trace].mean_mbps
        found[name] = run(transfer(control, mbps), followed(trace))
    return found


def pings(longest_ms: float) -> PingResult:
    return PingResult(PingFlow("h1", "h2", 20), ORIGIN, (40.0, longest_ms), 40.0, 50.0, longest_ms, 8.0, 0, 0)


def test_littles_law_for_both_windows() -> None:
    right = {"small": 1.5, "large": 60 * 12 / networks.steady().mean_mbps - 20}
    commit(lab19.PREDICTIONS, "fixed", right)
    assert lab19.check_fixed(right).passed
    assert lab19.check_fixed({"small": 1.45, "large": right["large"] + 1}).passed


@pytest.mark.parametrize(
    ("small", "more_ms"), [(3.0, 0), (None, 0), (1.5, 20), (1.5, -20)], ids=["one way", "none", "round trip", "queue"]
)
def test_wrong_numbers_of_windows_are_refused(small: float | None, more_ms: float) -> None:
    large = 60 * 12 / networks.steady().mean_mbps - 20
    assert not lab19.check_fixed({"small": small, "large": large + more_ms}).passed


def test_the_delay_of_the_other_window_is_named_as_such() -> None:
    result = lab19.check_fixed({"small": 1.45, "large": 22.0})
    assert [check.slip for check in result.checks] == ["", "that is the delay with an empty queue"]


def test_the_path_is_read_as_it_is() -> None:
    assert lab19.check_look({"rtt_ms": 40.1, "queue_packets": 250}).passed
    assert not lab19.check_look({"rtt_ms": 20, "queue_packets": 250}).passed
    assert not lab19.check_look({"rtt_ms": 40.1, "queue_packets": 1000}).passed


def test_what_reno_cubic_and_bbr_do_passes() -> None:
    full_ms = 20 + 250 * 12 / networks.steady().mean_mbps
    commit(lab19.PREDICTIONS, "transfers", {"full": full_ms, "worse": full_ms / 20})
    result = lab19.check_transfers(transfers(), {"full": full_ms - 2, "worse": 44.0})
    assert result.passed, str(result)
    assert [(it.said, it.measured) for it in result.surprises] == [
        ("as theory says", full_ms - 2),
        ("as theory says", 44.0),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        run(transfer("reno", 5), followed("cellular")),
        run(transfer("bbr", 5), followed("satellite")),
        run(transfer("bbr", 5)),
        run(transfer("bbr", 5, 5), followed("cellular")),
        run(transfer("bbr", 7), followed("cellular", queue_packets=1000)),
        run(transfer("bbr", 2), followed("cellular")),
        run(transfer("bbr", 12), followed("cellular")),
        None,
    ],
    ids=["control", "trace", "no trace", "short", "queue", "too little", "too much", "nothing"],
)
def test_other_runs_are_refused(wrong: Run | None) -> None:
    assert not lab19.check_transfers(transfers() | {"cellular bbr": wrong}, None).passed


def test_the_wrong_sentence_needs_pings_that_wait() -> None:
    shows = run(transfer("bbr", 5), pings(195.0), followed("wireless"))
    assert lab19.check_claim(4, shows).passed
    for number, wrong in (
        (3, shows),
        (4, run(transfer("bbr", 5), pings(75.0), followed("wireless"))),
        (4, run(transfer("cubic", 5), pings(195.0), followed("wireless"))),
        (4, run(transfer("bbr", 5, streams=8), pings(195.0), followed("wireless"))),
        (4, run(transfer("bbr", 5), pings(195.0), followed("cellular"))),
        (4, run(transfer("bbr", 5), pings(195.0))),
    ):
        assert not lab19.check_claim(number, wrong).passed


def test_each_student_has_addresses_and_a_steady_trace_of_their_own_on_the_path_of_the_contest() -> None:
    traces = set()
    for student in map(str, range(10)):
        with using(variant(student, b"a course secret for trials")):
            own = networks.the_network()
            traces.add(networks.steady())
        assert own != networks.the_network()
    assert len(traces) > 2
    (contest,) = (link for link in path.path_of(1).links if link.name == "short")
    (link,) = (link for link in own.links if link.rate_mbps)
    assert (link.delay_ms, link.queue_packets) == (contest.delay_ms, contest.queue_packets)


def test_the_gap_of_a_hand_over_is_found() -> None:
    begin_s, end_s = networks.gap_s(generated("satellite", 1, 20))
    assert 0.2 <= end_s - begin_s <= 0.6


@pytest.mark.large
@pytest.mark.lab
def test_the_finished_controller_passes_and_fixed_windows_do_not(tmp_path: Path) -> None:
    finished = str(ROOT / "solutions" / "controller.py")
    finished_text = Path(finished).read_text()
    for check in (lab19.check_window, lab19.check_copies, lab19.check_gap):
        result = check(finished)
        assert result.passed, str(result)
    small = tmp_path / "controller.py"
    small.write_text(finished_text.replace("return self.window_packets", "return 5"))
    assert not lab19.check_window(str(small)).passed
    small.write_text(finished_text.replace("return self.window_packets", "return 25"))
    assert lab19.check_gap(str(small)).passed
    assert [check.passed for check in lab19.check_copies(str(small)).checks] == [True, True, True, False]
