"""Lab 08's checks: right answers, wrong ones that look right, and measurements that are not what they should be."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.labs import lab08
from linklab.measure import Capture, Origin, TrainFlow, TrainResult

from .failures import failed_alone, the_failure

DATA = {size: 10 * (size - 46) / (size - 4) for size in (100, 1518, 4370, 7999)}
FIRST = {size: size * 10 / (size - 4 - 1600) for size in (4370, 7999)}
TUNNEL = {"overhead_bytes": 38, "mtu_left_bytes": 1462, "frames_mbps": 10 * 1518 / 1552}
ANSWERS = {"counted_mbps": 20, "real_mbps": 100 * 1518 / 1576, "light_load": "b", "no_room": "c"}


def greedy(
    size: int, bucket: int = 1600, *, count: int = 400, rate: float = 10, more: int = 0, **flow: Any
) -> TrainResult:
    """As HTB lets packets through: packet k waits for what those before it took beyond the bucket."""
    on_link = size - 4 + more
    arrivals = [0.001 + max(0.0, 8e-6 * (k * on_link - bucket) / rate) + 3e-5 * min(k, 1) for k in range(count)]
    settings: dict[str, Any] = {"source": "h1", "destination": "h2", "count": count, "payload_bytes": size - 46} | flow
    return TrainResult(
        TrainFlow(**settings), Origin("t", "virtual", "7"), tuple(0.0 for _ in arrivals), tuple(arrivals), 0
    )


RUNS = {size: greedy(size) for size in DATA}
CALM = {size: greedy(size, 0) for size in (1518, 4370, 7999)}


def test_right_answers_pass() -> None:
    assert lab08.check_data(DATA).passed
    assert lab08.check_data({size: round(value, 3) for size, value in DATA.items()}).passed
    assert lab08.check_first(FIRST).passed
    assert lab08.check_first({4370: 15.8, 7999: 12.5}).passed
    assert lab08.check_tunnel(TUNNEL).passed
    assert lab08.check_tunnel({**TUNNEL, "frames_mbps": 9.78}).passed
    assert lab08.check_questions(ANSWERS).passed
    assert lab08.check_runs(RUNS).passed
    assert lab08.check_calm(CALM).passed
    assert lab08.check_through(greedy(1518, more=38)).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        (1518, 10, "all of the link"),
        (1518, 10 * 1472 / 1518, "sends the checksum too"),
        (1518, 10 * 1472 / 1538, "a real cable's"),
        (1518, 10 * 1500 / 1514, "counts IPv4's and UDP's headers"),
        (1518, 10 * 1460 / 1514, "takes TCP's header"),
        (100, 10 * 96 / 54, "upside down"),
        (7999, DATA[7999] / 8, "MByte/s"),
        (100, 7.7, "more than theory"),
        (100, None, "not filled in"),
    ],
)
def test_wrong_data_rates_are_named(name: int, wrong: object, says: str) -> None:
    assert says in failed_alone(lab08.check_data, DATA, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        (4370, 2 * FIRST[4370], "counts the first packet's bits"),
        (4370, 10 * 4370 / 4366, "the lasting bandwidth"),
        (7999, 10, "the link's rate"),
        (4370, 10 * 4370 / 1600, "divides the frame by the bucket"),
        (7999, FIRST[7999] / 8, "MByte/s"),
        (4370, 2.2128, "the wait in ms"),
    ],
)
def test_wrong_first_bandwidths_are_named(name: int, wrong: float, says: str) -> None:
    assert says in failed_alone(lab08.check_first, FIRST, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("overhead_bytes", 24, "leaves out the new Ethernet header"),
        ("overhead_bytes", 4, "GRE's own header"),
        ("overhead_bytes", 46, "counts a UDP header"),
        ("mtu_left_bytes", 1476, "leaves out the inner Ethernet header"),
        ("mtu_left_bytes", 1538, "what the outside would need"),
        ("frames_mbps", 10 * 1518 / 1514, "without a tunnel"),
        ("frames_mbps", 10 * 1514 / 1552, "frames without checksum"),
        ("frames_mbps", 10 * 1518 / 1556, "sends the checksum too"),
    ],
)
def test_wrong_predictions_of_the_tunnel_are_named(name: str, wrong: float, says: str) -> None:
    assert says in failed_alone(lab08.check_tunnel, TUNNEL, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("counted_mbps", 10, "only if the first packet's bits are left out"),
        ("counted_mbps", 15, "that is packet 3"),
        ("real_mbps", 100 * 1518 / 1538, "without the tunnel"),
        ("real_mbps", 100 * 1518 / 1556, "leaves out preamble and gap"),
        ("real_mbps", 100 * 1518 / 1552, "a virtual cable's"),
        ("light_load", "a", "that is not it"),
        ("no_room", "b", "that is not it"),
    ],
)
def test_wrong_answers_are_named(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab08.check_questions, ANSWERS, name, wrong).reason


def bandwidth(arrivals_s: Sequence[float], frame_bytes: float) -> list[float]:
    return [8e-6 * frame_bytes * k / (time - arrivals_s[0]) for k, time in enumerate(arrivals_s[1:], 1)]


def jitter(departures_s: Sequence[float], arrivals_s: Sequence[float | None]) -> list[float]:
    received = sorted((there, left) for left, there in zip(departures_s, arrivals_s, strict=True) if there is not None)
    delays = [there - left for there, left in received]
    return [1000 * abs(late - early) for early, late in pairwise(delays)]


def test_right_functions_pass_in_any_form() -> None:
    assert lab08.check_bandwidth(bandwidth).passed
    assert lab08.check_bandwidth(lambda a, size: tuple(bandwidth(a, size))).passed
    assert lab08.check_jitter(jitter).passed
    assert lab08.check_jitter(lambda s, r: iter(jitter(s, r))).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda a, size: [8e-6 * size * k / (t - a[0]) for k, t in enumerate(a[1:], 2)], "first packet's bits are"),
        (lambda a, size: [8e-6 * size / (late - early) for early, late in in_a_row(a)], "from packet to packet"),
        (lambda a, size: [8e-6 * size * k / t for k, t in enumerate(a[1:], 1)], "from the clock's zero"),
        (lambda a, size: [8e-6 * size / (t - a[0]) for t in a[1:]], "one packet's bits only"),
        (lambda a, size: [v / 8 for v in bandwidth(a, size)], "MByte/s"),
        (lambda a, size: [v * 1e6 for v in bandwidth(a, size)], "bit/s"),
        (lambda a, size: bandwidth(a, size - 46), "counts the data only"),
        (lambda a, size: bandwidth(a, size)[1:], "numbers instead of"),
        (lambda a, size: sum(bandwidth(a, size)), "it returns a float"),
        (lambda a, size: None, "it returns nothing"),
        (lambda a, size: 1 / 0, "it raises ZeroDivisionError"),
        (lambda a, size: [it * 1.01 for it in bandwidth(a, size)], "it gives"),
        (None, "not written yet"),
    ],
)  # fmt: skip
def test_wrong_bandwidths_are_named(function: Any, says: str) -> None:
    result = lab08.check_bandwidth(function)
    assert not result.passed
    assert any(says in check.reason for check in result.checks)
    assert all(check.hint for check in result.checks if not check.passed)


def delays_of(s: Sequence[float], r: Sequence[float | None]) -> list[float]:
    return [there - left for left, there in zip(s, r, strict=True) if there is not None]


def by_arrival(s: Sequence[float], r: Sequence[float | None]) -> list[float]:
    received = sorted((there, left) for left, there in zip(s, r, strict=True) if there is not None)
    return [there - left for there, left in received]


def in_a_row(values: Sequence[float]) -> list[tuple[float, float]]:
    return list(pairwise(values))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda s, r: [1000 * abs(b - a) for a, b in in_a_row(delays_of(s, r))], "taken as they were sent"),
        (lambda s, r: [it / 1000 for it in jitter(s, r)], "in seconds"),
        (lambda s, r: [1000 * (b - a) for a, b in in_a_row(sorted(t for t in r if t is not None))], "gaps between"),
        (lambda s, r: [0.0, *jitter(s, r)], "one value too many"),
        (lambda s, r: [1000 * it for it in by_arrival(s, r)], "the delays themselves"),
        (lambda s, r: [1000 * abs((r[k] - s[k]) - (r[k - 1] - s[k - 1])) for k in range(1, 4)], "raises TypeError"),
        (lambda s, r: None, "it returns nothing"),
    ],
)  # fmt: skip
def test_wrong_jitters_are_named(function: Any, says: str) -> None:
    failed = [check for check in lab08.check_jitter(function).checks if not check.passed]
    assert failed
    assert any(says in check.reason for check in failed)
    assert all(check.hint for check in failed)


def test_signs_smoothing_and_the_first_packet_are_named() -> None:
    def signed(s: Sequence[float], r: Sequence[float | None]) -> list[float]:
        received = sorted((there, left) for left, there in zip(s, r, strict=True) if there is not None)
        return [1000 * (b - a) for a, b in in_a_row([there - left for there, left in received])]

    def smoothed(s: Sequence[float], r: Sequence[float | None]) -> list[float]:
        found, level = [], 0.0
        for value in jitter(s, r):
            level += (value - level) / 16
            found.append(level)
        return found

    def from_first(s: Sequence[float], r: Sequence[float | None]) -> list[float]:
        received = sorted((there, left) for left, there in zip(s, r, strict=True) if there is not None)
        delays = [there - left for there, left in received]
        return [1000 * abs(it - delays[0]) for it in delays[1:]]

    for function, says in ((signed, "have signs"), (smoothed, "RFC 3550"), (from_first, "compared with the first")):
        reasons = [check.reason for check in lab08.check_jitter(function).checks if not check.passed]
        assert reasons
        assert all(says in reason for reason in reasons)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        (1518, None, "not measured yet"),
        (1518, [1, 2], "this is a list"),
        (1518, greedy(1518, payload_bytes=1518), "the whole frame was given as data"),
        (1518, greedy(1518, payload_bytes=1500), "the IP packet was given as data"),
        (1518, greedy(1518, payload_bytes=1000), "carry 1000 bytes"),
        (4370, greedy(4370, source="h2", destination="h1"), "goes from h2 to h1"),
        (4370, greedy(4370, gap_us=3496.0), "waits 3496 us"),
        (4370, greedy(4370, count=20), "has 20 packets"),
    ],
)
def test_trains_that_are_not_as_asked_are_named(name: int, wrong: object, says: str) -> None:
    assert says in failed_alone(lab08.check_runs, RUNS, name, wrong).reason
    assert says in failed_alone(lab08.check_calm, CALM, name, wrong).reason


def test_a_burst_that_is_there_or_not_is_told_by_its_bytes() -> None:
    assert "nothing passes early" in failed_alone(lab08.check_runs, RUNS, 4370, greedy(4370, 0)).reason
    assert "the bucket is as it was" in failed_alone(lab08.check_calm, CALM, 4370, greedy(4370)).reason
    # a bucket of one frame: HTB lets two pass
    two = failed_alone(lab08.check_calm, CALM, 7999, greedy(7999, 7995))
    assert "two frames pass at once" in two.reason
    assert "1 byte" in two.hint
    other = failed_alone(lab08.check_calm, CALM, 1518, greedy(1518, 700))
    assert "more than" in other.reason


def test_another_rate_and_lost_packets_are_told() -> None:
    slow = lab08.check_calm({**CALM, 4370: greedy(4370, 0, rate=9)})
    assert [check.outcome for check in slow.checks].count("failed") >= 1
    assert any("tc class change needs `rate 10mbit`" in check.hint for check in slow.checks)
    lost = replace(greedy(7999), arrival_s=(None,) * 400)
    assert "400 of 400 packets did not arrive" in failed_alone(lab08.check_calm, CALM, 7999, lost).reason


def test_real_time_is_inconclusive_where_single_packets_moved() -> None:
    real = replace(greedy(1518, 9000), origin=Origin("t", "real", "7"))
    outcomes = {check.outcome for check in lab08.check_calm({**CALM, 1518: real}).checks}
    assert outcomes == {"passed", "inconclusive"}


def test_a_train_beside_the_tunnel_is_named() -> None:
    assert "without a tunnel" in lab08.check_through(greedy(1518)).checks[0].reason
    assert "not measured yet" in lab08.check_through(None).checks[0].reason


def caught(node: str, *sizes: int) -> Capture:
    from io import BytesIO

    from scapy.layers.l2 import Ether
    from scapy.utils import PcapWriter

    file = BytesIO()
    writer = PcapWriter(file, linktype=1)
    for size in sizes:
        writer.write(Ether() / bytes(size - 14))
    return Capture(node, f"{node}-eth0", file.getvalue())


@pytest.mark.parametrize("endianness", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
def test_frames_have_the_lengths_that_scapy_reads(endianness: str, nano: bool) -> None:
    from io import BytesIO

    from scapy.layers.l2 import Ether
    from scapy.utils import PcapWriter

    file = BytesIO()
    writer = PcapWriter(file, linktype=1, endianness=endianness, nano=nano)
    for size, on_link in ((60, 60), (60, 1514), (1552, 1552), (14, 262_144)):
        frame = Ether() / bytes(size - 14)
        frame.wirelen = on_link
        writer.write(frame)
    capture = Capture("h1", "h1-eth0", file.getvalue())
    assert capture.frame_bytes == tuple(it.wirelen for it in capture.packets) == (60, 1514, 1552, 262_144)


def _record(kept: int, on_link: int, data: bytes = b"") -> bytes:
    return struct.pack("<IIII", 0, 0, kept, on_link) + data


HEADER = caught("h1", 60).pcap[:24]


@pytest.mark.parametrize(
    ("pcap", "says"),
    [
        (b"\xd4\xc3\xb2\xa1", "no file of tcpdump's"),
        (b"\n\r\r\n" + bytes(40), "no file of tcpdump's"),
        (HEADER + b"\0" * 15, "ends within a record"),
        (HEADER + _record(4, 4, b"abc"), "ends within a frame"),
        (HEADER + _record(4, 3, b"abcd"), "a length that no frame has"),
        (HEADER + _record(0, 60), "a length that no frame has"),
        (HEADER + _record(2**32 - 1, 2**32 - 1), "a length that no frame has"),
    ],
    ids=["short", "another form", "no record", "no frame", "longer than on the link", "nothing kept", "too long"],
)
def test_a_damaged_capture_is_told_and_fails(pcap: bytes, says: str) -> None:
    damaged = Capture("h1", "h1-eth0", pcap)
    with pytest.raises(MeasurementError, match=says):
        _ = damaged.frame_bytes
    assert says in the_failure(lab08.check_overhead(38, damaged, caught("pc1", 1552))).reason


def test_who_judges_dissects_nothing() -> None:
    code = """
import pickle, sys
import linklab.grading.judge
from linklab.labs import lab08
given = pickle.loads(sys.stdin.buffer.read())
assert lab08.check_overhead(*given).passed
assert not [name for name in sys.modules if name.partition(".")[0] == "scapy"]
"""
    given = pickle.dumps((38, caught("h1", 1514), caught("pc1", 1552)))
    subprocess.run([sys.executable, "-c", code], input=given, check=True)


def test_the_overhead_is_what_the_captures_say() -> None:
    inside, outside = caught("h1", 1514, 1514), caught("pc1", 1552, 1552)
    assert lab08.check_overhead(38, inside, outside).passed
    for wrong, says in (
        (1552, "the frame outside"),
        (1514, "the frame inside"),
        (24, "less than"),
        (None, "not filled in"),
    ):
        assert says in lab08.check_overhead(wrong, inside, outside).checks[0].reason
    assert not lab08.check_overhead(38, inside, caught("pc1", 1514, 72)).passed
    assert "it was made on h1" in lab08.check_overhead(38, inside, inside).checks[0].reason
    assert "no packet is measured yet" in lab08.check_overhead(38, inside, None).checks[0].reason
    assert "no packet is measured yet" in lab08.check_overhead(38, Capture("h1", "h1-eth0"), outside).checks[0].reason
