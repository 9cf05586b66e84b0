"""Lab 08's checks, as far as no recorded answer shows them: functions, trains that are not as asked, captures."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pytest

from linklab.labs.lab08 import figures, functions
from linklab.labs.lab08 import rules as lab08
from linklab.measure import Capture, Origin, Run, Sample, TcpFlow, TcpResult, TrainFlow, TrainResult
from linklab.network import Network, expected_state
from tests.grade.failures import the_failure
from tests.labs.predicted import commit
from tests.labs.refused import refused

Received = Sequence[float | None]

# --- Functions


def bandwidth(arrivals_s: list[float], frame_bytes: int) -> Iterator[float]:
    first = arrivals_s.pop(0)
    for k, time in enumerate(arrivals_s, 1):
        yield 8e-6 * frame_bytes * k / (time - first)


def jitter(departures_s: Sequence[float], arrivals_s: Received) -> list[float]:
    received = sorted((came, left) for left, came in zip(departures_s, arrivals_s, strict=True) if came is not None)
    delays = [came - left for came, left in received]
    return [1000 * abs(late - early) for early, late in pairwise(delays)]


def test_right_functions_of_any_style_pass() -> None:
    assert functions.check_bandwidth(bandwidth).passed
    for function in (jitter, lambda s, r: map(float, jitter(s, r))):
        assert functions.check_jitter(function).passed


def test_who_stumbles_over_a_lost_packet_is_told_what_it_looks_like() -> None:
    result = functions.check_jitter(lambda s, r: [1000 * abs((r[k] - s[k]) - (r[k - 1] - s[k - 1])) for k in (1, 2, 3)])
    (lost,) = [check for check in result.checks if "TypeError" in check.reason]
    assert any("None as its arrival" in hint for hint in (lost.hint, *lost.further))


# --- Trains


def greedy(size: int, bucket: int = 1600) -> TrainResult:
    """As HTB lets packets through: packet k waits for what those before it took beyond the bucket."""
    arrivals = [0.001 + max(0.0, 8e-7 * (k * (size - 4) - bucket)) + 3e-5 * min(k, 1) for k in range(400)]
    flow = TrainFlow("h1", "h2", count=400, payload_bytes=size - 46)
    return TrainResult(flow, Origin("t", "7"), tuple(0.0 for _ in arrivals), tuple(arrivals), 0)


RUNS = {size: greedy(size) for size in (100, 1518, 4370, 7999)}
CALM = {size: greedy(size, 0) for size in (1518, 4370, 7999)}


def test_a_run_of_one_train_is_the_train() -> None:
    runs = {size: Run((train,), 0.0) for size, train in RUNS.items()}
    assert lab08.check_runs(runs).passed
    assert str(figures.first_table(runs, None)) == str(figures.first_table(RUNS, None))


def test_what_is_said_of_a_train_is_true_of_it() -> None:
    """Of no size is the data of another one named, and behind a larger bucket at h1 the switch's own shows."""
    missing = the_failure(lab08.check_runs({**RUNS, 4370: None}))
    assert "1472" not in missing.hint
    early = the_failure(lab08.check_calm({**CALM, 4370: greedy(4370)}))
    assert "s1" in early.reason


@pytest.mark.parametrize("arrival_s", [None, 1.0], ids=["nothing arrived", "all at one instant"])
def test_a_train_of_which_nothing_can_be_computed_is_refused(arrival_s: float | None) -> None:
    train = replace(greedy(4370), arrival_s=(arrival_s,) * 400)
    for result in (lab08.check_runs({**RUNS, 4370: train}), lab08.check_calm({**CALM, 4370: train})):
        assert the_failure(result).description == "train of frames of 4370 bytes"


def test_a_train_that_lost_one_packet_or_was_stopped_is_not_judged() -> None:
    train = greedy(4370)
    for changed in (replace(train, arrival_s=(None, *train.arrival_s[1:])), replace(train, interrupted=True)):
        assert the_failure(lab08.check_runs({**RUNS, 4370: changed})).description == "train of frames of 4370 bytes"


def test_the_second_packet_stands_next_to_its_prediction() -> None:
    commit(lab08.PREDICTIONS, "first", 10)
    (found,) = lab08.check_second(RUNS).surprises
    assert found.slip == "that is the link's rate"
    assert found.measured == pytest.approx(15.8, rel=0.02)
    for runs in (None, {4370: None}, CALM):
        assert not lab08.check_second(runs).passed
        assert lab08.check_second(runs).surprises == ()


def test_the_network_with_a_narrow_link_has_a_router() -> None:
    assert [link.mtu_bytes for link in lab08.NARROW.links] == [1500, 1400]


# --- Captures


def caught(node: str, *sizes: int) -> Capture:
    from scapy.layers.l2 import Ether
    from scapy.utils import PcapWriter

    file = BytesIO()
    writer = PcapWriter(file, linktype=1)
    for size in sizes:
        writer.write(Ether() / bytes(size - 14))
    return Capture(node, f"{node}-eth0", file.getvalue())


INSIDE, OUTSIDE = caught("h1", 1514, 1514), caught("pc1", 1552, 1552)
DAMAGED = Capture("h1", "h1-eth0", INSIDE.pcap[:24] + struct.pack("<IIII", 0, 0, 2**32 - 1, 2**32 - 1))


def test_a_capture_that_was_damaged_is_refused() -> None:
    assert the_failure(lab08.check_overhead(38, DAMAGED, OUTSIDE)).description == "the capture inside"


def test_captures_of_two_pings_do_not_say_what_the_tunnel_adds() -> None:
    """The difference of a small ping inside and a large one outside is a number, and not the tunnel's."""
    for inside, outside in ((caught("h1", 98), OUTSIDE), (caught("h1", 42), caught("pc1", 136))):
        result = lab08.check_overhead(outside.frame_bytes[0] - inside.frame_bytes[0], inside, outside)
        assert the_failure(result).description == "the captures"


def test_right_answers_pass_and_stand_next_to_what_was_predicted() -> None:
    for result in (lab08.check_runs(RUNS), lab08.check_calm(CALM), lab08.check_ping(7953)):
        assert result.passed, str(result)
    commit(lab08.PREDICTIONS, "tunnel", 24)
    (found,) = lab08.check_overhead(38, INSIDE, OUTSIDE).surprises
    assert "leaves out the new Ethernet header" in found.slip


def test_who_judges_dissects_nothing() -> None:
    code = """
import pickle, sys
import linklab.grading.judge
from linklab.labs.lab08 import functions
from linklab.labs.lab08 import rules as lab08
assert lab08.check_overhead(*pickle.loads(sys.stdin.buffer.read())).passed
assert not [name for name in sys.modules if name.partition(".")[0] == "scapy"]
"""
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps((38, INSIDE, OUTSIDE)), check=True)


# --- Questions, the black hole, and the claim

PAUSE = {"full_ms": 1.28, "saves": "a", "falls": "b"}
BEGINS = {"begins_s": 6.47, "segment_bytes": 1024}
CLIENT = """[  5]   0.00-{0:.2f}  sec  53.7 KBytes  36.6 Kbits/sec    5             sender
[  5]   0.00-{0:.2f}  sec  0.00 Bytes  {1}bits/sec                  receiver"""
HANGS = CLIENT.format(12, "0.00 ")
DATAGRAMS = """[  5]   0.00-12.00  sec  1.43 MBytes  1000 Kbits/sec  0.000 ms  0/1019 (0%)  sender
[  5]   0.00-12.00  sec  0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)  receiver"""


def transfer(rates_mbps: Sequence[float], destination: str = "h2", network: Network | None = None) -> Run:
    """As iperf3 counts a transfer: a rate for each second."""
    flow = TcpFlow("h1", destination, duration_s=len(rates_mbps))
    samples = tuple(Sample(second, second + 1, rate) for second, rate in enumerate(rates_mbps))
    origin = Origin("t", "7", network=expected_state(network or lab08.mtu_gre()))
    mean = sum(rates_mbps) / len(rates_mbps)
    result = TcpResult(flow, origin, mean, 1, len(rates_mbps), 9, "cubic", (), samples)
    return Run((result,), 0.0)


MENDED = transfer([0] * 6 + [4.9] + [9.1] * 5)


def datagrams(payload: int, arrived: int, network: Network | None = None) -> TrainResult:
    origin = Origin("t", "7", network=expected_state(network or lab08.mtu_gre()))
    arrivals = tuple(0.01 * k if k < arrived else None for k in range(100))
    return TrainResult(TrainFlow("h1", "h2", 100, payload), origin, (0.0,) * 100, arrivals, 0)


def test_right_answers_on_the_bucket_the_black_hole_and_the_claim_pass() -> None:
    assert lab08.check_pause(PAUSE).passed
    assert lab08.check_fit({"switch": "b", "clear": "a", "set": "c", "why": "d"}).passed
    assert lab08.check_hang(HANGS, MENDED, BEGINS).passed
    for run in (datagrams(1472, 0), datagrams(1435, 0)):
        for given in (run, Run((run,), 0.0)):
            assert lab08.check_claim(1, given).passed


test_wrong_answers_on_them_are_refused = refused(
    {
        lab08.check_pause: [
            (PAUSE | {"full_ms": 3.496}, "the time of a frame of 4370 bytes"),
            (PAUSE | {"full_ms": 2.2128}, "the wait of the second frame"),
            (PAUSE | {"full_ms": 0.16}, "an eighth"),
            (PAUSE | {"full_ms": 0.00128}, "looks like seconds"),
            (PAUSE | {"saves": "b"}, "never a packet's own transmission time"),
            (PAUSE | {"falls": "c"}, "all 1600 tokens"),
        ],
        lab08.check_fit: [
            ({"switch": "c", "clear": "a", "set": "c", "why": "d"}, "no message came"),
            ({"switch": "b", "clear": "b", "set": "c", "why": "d"}, "the ping was answered"),
            ({"switch": "b", "clear": "a", "set": "b", "why": "d"}, "with an MTU"),
            ({"switch": "b", "clear": "a", "set": "c", "why": "b"}, "does not look at DF"),
        ],
        lab08.check_hang: [
            (CLIENT.format(12, "9.31 M"), MENDED, BEGINS, "9.31 Mbit/s arrived"),
            (CLIENT.format(3, "0.00 "), MENDED, BEGINS, "too short"),
            (DATAGRAMS, MENDED, BEGINS, "this is a test of UDP"),
            ("iperf3: error - unable to connect to server", MENDED, BEGINS, "not the output of iperf3"),
            (HANGS, transfer([0] * 12), BEGINS, "no data arrived"),
            (HANGS, transfer([9.3] * 12), BEGINS, "no full segment had to vanish"),
            (HANGS, transfer([0] * 6), BEGINS, "has duration_s=6"),
            (HANGS, transfer([0] * 12, "h3"), BEGINS, "there is no TcpFlow h1-h2"),
            (HANGS, transfer([0] * 6 + [9.1] * 6, network=lab08.NARROW), BEGINS, "on another network"),
            (HANGS, MENDED, BEGINS | {"begins_s": 0.22}, "the same full segment left again"),
            (HANGS, MENDED, BEGINS | {"begins_s": 3.19}, "too little"),
            (HANGS, MENDED, BEGINS | {"segment_bytes": 1023}, "minus the first"),
            (HANGS, MENDED, BEGINS | {"segment_bytes": 1448}, "a full segment"),
            (HANGS, MENDED, BEGINS | {"segment_bytes": 424}, "the segment after it"),
        ],
        lab08.check_claim: [
            (4, datagrams(1472, 0), "data flowed"),
            (1, datagrams(1472, 100), "100 of 100 datagrams arrived"),
            (1, datagrams(1400, 100), "has payload_bytes=1400"),
            (1, datagrams(2000, 0), "has payload_bytes=2000"),
            (1, datagrams(1472, 0, lab08.NARROW), "on another network"),
            (1, MENDED, "this is a TcpResult"),
            (1, Run((datagrams(1472, 0),) * 2, 0.0), "this is a Run"),
            (1, replace(datagrams(1472, 0), interrupted=True), "stopped before its end"),
            (None, datagrams(1472, 0), "not answered yet"),
        ],
    }
)
