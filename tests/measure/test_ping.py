"""ping's output is read in full or refused; no unread line becomes a lost packet."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Origin, PingFlow, PingResult
from linklab.measure.tools.ping import PING
from tests.support.printed import captured, job, parsed

ORIGIN = Origin("ping from iputils 20221126", "7.3.4")
FLOW = PingFlow("h1", "h4", count=5)


def read(text: str) -> PingResult:
    return parsed(PING, FLOW, ORIGIN, text)


def test_every_packet_and_the_summary_with_its_microseconds() -> None:
    result = read(captured("ping.txt"))
    assert result.rtt_ms == (76.0, 60.0, 60.0, 60.0, 60.0)
    assert (result.rtt_min_ms, result.rtt_mean_ms, result.rtt_max_ms) == (60, 63.209, 76.046)
    assert (result.sent_packets, result.lost_packets, result.loss_percent) == (5, 0, 0)


def test_lost_packets_are_none_where_they_were() -> None:
    result = read(captured("ping-loss.txt"))
    assert result.rtt_ms == (60.0, 60.0, 60.0, None, 60.0, None, 60.0, 60.0, None, 60.0, 60.0, None)
    assert result.lost_packets == 4
    assert result.loss_percent == pytest.approx(33.333, abs=0.001)


def test_no_answer_at_all_is_loss_with_the_icmp_errors_counted() -> None:
    result = read(captured("ping-unreachable.txt"))
    assert result.rtt_ms == (None, None, None)
    assert (result.rtt_mean_ms, result.icmp_errors, result.loss_percent) == (None, 3, 100)


def test_duplicates_are_counted_and_take_no_packets_place() -> None:
    result = read(captured("ping-duplicates.txt"))
    assert result.rtt_ms == (20.0,) * 4
    assert result.duplicates == 3


def test_a_ping_that_did_not_run_is_no_loss() -> None:
    with pytest.raises(MeasurementError, match=r"from h1 to h4 did not work: .*nosuch: Temporary failure in name"):
        read(captured("ping-name.txt"))


def _edited(old: str, new: str) -> str:
    text = captured("ping.txt")
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it printed nothing"),
        (_edited("5 packets transmitted, 5 received", "5 packets sent, 5 back"), "did not work: rtt min"),
        (_edited("icmp_seq=3 ttl=61 time=60.0 ms", "seq=3 in 60.0 ms"), "a line that is not known: '64 bytes"),
        (_edited("icmp_seq=3", "icmp_seq=9"), "icmp_seq=9 of 5 packets"),
        (_edited("icmp_seq=3 ttl=61 time=60.0 ms\n", "icmp_seq=2 ttl=61 time=60.0 ms\n"), "counted 5 answers and.* 4"),
        (_edited("rtt min/avg/max/mdev", "round-trip min/avg/max"), "summary of 5 answers cannot be read"),
        (captured("ping.txt").partition("---")[0], "did not work: 64 bytes from"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(text: str, reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason):
        read(text)


def test_the_command_in_full() -> None:
    command = PING.client(job(PingFlow("h1", "h4", 3, 0.5)))
    assert command == "exec env LC_ALL=C ping -n -c 3 -i 0.5 -s 56 10.0.5.2"
