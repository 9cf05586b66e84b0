"""A link that follows a trace: at each instant at most a packet leaves, none too early and none too late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import ConstantRateFlow, EchoFlow, EchoResult, Varying, VaryingResult, run, run_together
from linklab.network import COURSE
from linklab.network.traces import Trace, capacity_bytes, generated
from linklab.runtime.backends import Kind

FLOOD = ConstantRateFlow("h1", "h4", 15, 2.9, 1400, dither=False)
"""More than any of these traces lets go."""
DELAY_NS, HEADER_BYTES = 10_000_000, 14
BIN_NS = 100_000_000


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("varying")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize("kind", ["cellular", "wireless"])
def test_what_leaves_in_each_tenth_of_a_second_is_what_the_trace_lets_go(lab: linklab.Lab, kind: str) -> None:
    trace = generated(kind, 1, 2)  # shorter than the run: it repeats
    before = lab.state()
    done = run_together(lab, [FLOOD, Varying("r1", "r2", trace, 3, queue_packets=50)], record=["r1-eth1"])
    (result,) = done.of(VaryingResult)
    assert done.recording is not None
    assert result.interface == "r1-eth1"
    left: Counter[int] = Counter()
    for hop in done.recording.of("r1-eth1"):
        began_ns = round(1e9 * result.began_at_s)
        if hop.sent and hop.left_ns is not None and hop.length_bytes > 1400 and hop.queued_ns > began_ns:
            left_ns = hop.left_ns - DELAY_NS - began_ns
            assert left_ns % 1_000_000 < 10_000
            left[left_ns // BIN_NS] += hop.length_bytes - HEADER_BYTES
    for number in range(1, 29):
        assert abs(left[number] - capacity_bytes(trace, 100 * number, 100 * number + 100)) <= 1500
    drops = sum(bool(hop.dropped) for hop in done.recording.of("r1-eth1"))
    assert result.dropped_packets == drops > 0
    assert result.used_percent == pytest.approx(100, abs=5)
    assert lab.state() == before


@pytest.mark.lab
def test_a_packet_waits_for_the_next_instant_and_takes_the_links_delay(lab: linklab.Lab) -> None:
    trace = Trace("each 7 ms", (7,))
    (result,) = run_together(lab, [EchoFlow("h1", "h4", 20), Varying("r1", "r2", trace, 5)]).of(EchoResult)
    # each exchange begins when the one before has ended: 60 ms without a wait, which become a multiple of 7
    assert result.rtt_ms[1:] == pytest.approx([63] * 19, abs=0.01)


@pytest.mark.lab
@pytest.mark.parametrize(
    ("one", "other", "said"),
    [("r1", "r3", r"no cable joins r1 and r3"), ("h1", "s1", r"h1-s1 has no token bucket")],
)
def test_a_link_that_cannot_follow_a_trace_is_refused(lab: linklab.Lab, one: str, other: str, said: str) -> None:
    with pytest.raises(MeasurementError, match=said):
        run(lab, Varying(one, other, generated("steady", 1, 1), 1))


def test_what_no_queue_or_trace_is_is_refused() -> None:
    with pytest.raises(MeasurementError, match=r"queue_packets is 0"):
        Varying("r1", "r2", generated("steady", 1, 1), queue_packets=0)
    with pytest.raises(MeasurementError, match=r"trace is"):
        Varying("r1", "r2", "cellular")  # type: ignore[arg-type]
