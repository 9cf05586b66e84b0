"""Lab 00, what the recorded answers do not say: what a failure gives away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linklab.labs.lab00 import figures
from linklab.labs.lab00 import rules as lab00
from linklab.measure import Origin, PingFlow, PingResult, Run
from linklab.network import TWO_HOSTS, expected_state
from tests.labs.predicted import commit
from tests.labs.refused import refused
from tests.show.recorded import recorded


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


@pytest.mark.parametrize("mbps", [0.436, 0.4359, 10 * 66 / 1514])
def test_the_headers_of_a_full_link_are_a_share_of_its_rate(mbps: float) -> None:
    assert lab00.check_headers(mbps).passed


@pytest.mark.parametrize("rtt_ms", [131, 131.1, 130, 132.5])
def test_a_queue_of_100_holds_a_ping_for_100_frames_and_the_way_back(rtt_ms: float) -> None:
    assert lab00.check_longer(rtt_ms).passed


test_what_looks_right_and_is_not_is_named = refused(
    {
        lab00.check_headers: [
            (None, "not filled in yet"),
            (4.36, "that is the share in percent"),
            (0.0436, "that is the share of 1"),
            (9.564, "that is the data"),
            (0.456, "that compares the headers with the data"),
            (0.357, "that leaves out the timestamps"),
            (0.343, "that leaves out the Ethernet header"),
            (0.46, "0.46 Mbit/s is too much"),  # what is missing, the start of the transfer included
            (0.0545, "MByte/s"),
        ],
        lab00.check_longer: [
            (141.1, "that doubles the whole RTT, or adds both directions' delay"),
            (121.1, "that is the time of 100 frames, without the way back"),
            (70.6, "that is the RTT with 50 packets"),
            (40, "that is twice the RTT of the idle link"),
            (0.131, "that looks like seconds"),
        ],
    }
)


def test_each_ping_has_a_dot_where_it_met_so_many_packets() -> None:
    origin = Origin("t", "7", expected_state(TWO_HOSTS))
    ping = PingResult(PingFlow("h1", "h2", count=2), origin, (70.0, None), 70.0, 70.0, 70.0, 0.0, 0, 0)
    recording = recorded()
    again = [hop._replace(waiting=47) for hop in recording.hops if hop.packet == 19 and hop.interface == "h1-eth0"]
    run = Run((ping,), 0.0, recording=replace(recording, hops=(*recording.hops, *again)))
    assert figures.milliseconds(20.1, run).about["measured"] == [[[0, 20.1], [47, 70.0]]]
    assert figures.milliseconds(None, replace(run, recording=None)).about["measured"] == []
