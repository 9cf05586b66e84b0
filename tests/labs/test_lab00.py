"""Lab 00, what the recorded answers do not say: what a failure gives away."""

from __future__ import annotations

import pytest

from linklab.labs.lab00 import rules as lab00
from tests.labs.predicted import commit


@pytest.mark.parametrize("guess", [10, 40, 0.02, 0.01])
def test_a_prediction_has_its_point_whatever_it_says_and_gives_no_answer_away(guess: float) -> None:
    for name in ("rtt", "throughput"):
        found = commit(lab00.PREDICTIONS, name, guess)
        assert found.passed
        assert not {"20", "9.564", "9.56", "9.6"} & set(str(found).replace(",", " ").split())


@pytest.mark.parametrize("iperf3_mbps", [9.5386, 9.5641])
def test_a_mbit_of_1048576_bits_is_recognised_whatever_the_transfer_carried(iperf3_mbps: float) -> None:
    assert lab00.check_measured_throughput(iperf3_mbps).passed
    (check,) = lab00.check_measured_throughput(iperf3_mbps / 1.048576).checks
    assert not check.passed
    assert "as if M meant 1,048,576" in check.reason


def test_one_way_for_round_trip_is_named_once_it_was_measured() -> None:
    commit(lab00.PREDICTIONS, "rtt", 10)
    assert lab00.check_measured_rtt(14).surprises == ()
    (row,) = lab00.check_measured_rtt(20.0).surprises
    assert (row.slip, row.measured) == ("that is one direction", 20.0)
    commit(lab00.PREDICTIONS, "throughput", 10)
    (row,) = lab00.check_measured_throughput(9.5).surprises
    assert row.slip == "that counts headers as data"
