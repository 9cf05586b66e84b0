"""The MTU study and those beside it: what they refuse, their evaluation, their short forms in labs; and verdicts: a
repeat at a time, and open where chance leaves both.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from scapy.utils import EDecimal, wrpcap

from linklab.errors import MeasurementError
from linklab.measure import Origin, TrainFlow, TrainResult
from linklab.network.theory import payload_of_frame_bytes
from linklab.runtime.backends import Kind
from linklab.study import Point, Study, StudyTable, run, study_by_name
from linklab.study.claims import judged
from studies.mtu.judges import CLAIMS
from studies.mtu.study import THEIRS, evaluate, from_captures, packets_of, rates_mbps

from ..conftest import lab_processes
from .measured import PRINTED, changed, on, repeated, rows_of, short

MTU, BURST, BACKLOG, GRE = map(study_by_name, ("mtu", "burst", "backlog", "gre"))
SIZE = 7999
"""Bytes of a frame: the largest size whose whole queue a short form fills; the other studies have the usual 1518."""
CEILING_BYTES = 1600
"""HTB's second bucket as tc sets it where nobody says: a packet of 1600 bytes."""


def stepped(gaps_s: list[float]) -> TrainResult:
    """A train with these gaps between arrivals, sent every 1.2 ms."""
    arrivals = [0.01]
    for gap_s in gaps_s:
        arrivals.append(arrivals[-1] + gap_s)
    departures = tuple(0.0012 * number for number in range(len(arrivals)))
    flow = TrainFlow("h1", "h2", len(arrivals))
    return TrainResult(flow, Origin("t", "7"), departures, tuple(arrivals), 0)


def test_evaluation_of_a_train_that_is_known() -> None:
    rows = {(row.metric, row.number): row.value for row in evaluate(stepped([0.0006, 0.0012, 0.0012]), 1500, 10)}
    assert rows["bandwidth_mbps", 2] == pytest.approx(20)
    assert rows["bandwidth_max_mbps", None] == pytest.approx(20)
    assert rows["bandwidth_min_mbps", None] == rows["bandwidth_mbps", 4] == pytest.approx(12)
    assert rows["bandwidth_mean_mbps", None] == pytest.approx((20 + 40 / 3 + 12) / 3)
    assert rows["bandwidth_settled_mbps", None] == pytest.approx(10)
    assert rows["bandwidth_counted_max_mbps", None] == pytest.approx(40)
    assert [rows["jitter_ms", number] for number in (2, 3, 4)] == pytest.approx([0.6, 0, 0], abs=1e-9)
    assert rows["jitter_mean_ms", None] == pytest.approx(0.2)
    # frames of 1496 bytes without their checksum; half a gap early is 750 bytes
    assert rows["burst_bytes", None] == pytest.approx(1496 + 1496 - 750)
    assert rows["lost_packets", None] == 0


def test_series_are_thinned_after_a_hundred_and_summaries_are_not() -> None:
    rows = evaluate(stepped([0.0012] * 150 + [0.0003] + [0.0012] * 48), 1500, 10)
    numbers = [row.number for row in rows if row.metric == "jitter_ms"]
    assert numbers == [*range(2, 101), 125, 150, 175, 200]
    assert {row.metric: row.value for row in rows if row.number is None}["jitter_max_ms"] == pytest.approx(0.9)


def test_too_few_arrivals_are_refused() -> None:
    with pytest.raises(MeasurementError, match="3 of 3 packets arrived: four are needed"):
        evaluate(stepped([0.0012, 0.0012]), 1500, 10)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("10/100", "100 Mbit/s of traffic are more than the link's 10"),
        ("10", "write link/traffic in Mbit/s"),
        ("0/0", "write link/traffic"),
        ("inf/10", "write link/traffic"),
    ],
)
def test_rates_that_cannot_be_are_refused(text: str, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        rates_mbps(text)
    assert rates_mbps("100/10") == (100, 10)


@pytest.mark.parametrize(
    ("study", "levels", "says"),
    [
        (MTU, {"frame_bytes": (40,)}, "study mtu, form=direct frame_bytes=40 .*has no room for the headers"),
        (MTU, {"frame_bytes": ("large",)}, "frame_bytes is 'large', which is no whole number"),
        (MTU, {"form": ("gre",), "frame_bytes": (65516,)}, "mtu_bytes is 65536: choose 68 to 65535"),
        (MTU, {"form": ("vxlan",)}, "form is 'vxlan': choose one of direct, cable, gre, gre-fragments"),
        (GRE, {"room": ("none",)}, "room is 'none': choose one of larger-cables, shorter-packets, fragments, no-room"),
        (MTU, {"rates": ("10/100",)}, "more than the link's 10"),
        (BURST, {"burst": (1000,)}, "burst is 1000: TBF drops frames larger"),
        (BURST, {"shaper": ("red",)}, "shaper is 'red': choose one of htb, htb-both, tbf"),
        (BACKLOG, {"link": ("gre",)}, "link is 'gre': choose htb or cable"),
    ],
)
def test_a_level_that_the_testbed_refuses_is_one_line_before_anything_runs(
    study: object, levels: dict[str, tuple[str | int, ...]], says: str, tmp_path: Path
) -> None:
    assert isinstance(study, Study)
    with pytest.raises(MeasurementError, match=says) as caught:
        run(study.with_levels(**levels), tmp_path / "results")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


@pytest.fixture(scope="module")
def mtu_table(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> StudyTable:
    return run(MTU.short_form().with_levels(frame_bytes=(SIZE,)), tmp_path_factory.mktemp("mtu"))


@pytest.fixture(scope="module")
def gre_table(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> StudyTable:
    """The GRE study's short form, without a break."""
    return run(GRE.short_form(), tmp_path_factory.mktemp("gre"))


def one(table: StudyTable, metric: str, **levels: object) -> float:
    (row,) = rows_of(table, metric, **levels)
    return float(row["value"])


@pytest.mark.large
@pytest.mark.lab
def test_paced_packets_arrive_as_they_left_and_greedy_ones_exceed_the_link_at_first(mtu_table: StudyTable) -> None:
    assert mtu_table.missing == ()
    assert not any(row["value"] for row in rows_of(mtu_table, "lost_packets"))
    for row in rows_of(mtu_table, "bandwidth_settled_mbps", form="direct"):
        assert row["value"] == pytest.approx(10, rel=0.005)
    for row in rows_of(mtu_table, "jitter_mean_ms", form="direct", sending="paced", switch="bridge"):
        assert row["value"] < 0.001
    full = {"form": "direct", "rates": "10/10", "switch": "bridge"}
    assert one(mtu_table, "bandwidth_max_mbps", **full, sending="greedy") > 12
    assert one(mtu_table, "bandwidth_max_mbps", **full, sending="paced") < 10.01
    assert one(mtu_table, "bandwidth_counted_max_mbps", **full, sending="paced") == pytest.approx(20, rel=0.001)
    burst = one(mtu_table, "burst_bytes", **full, sending="greedy")
    assert burst == pytest.approx(CEILING_BYTES + SIZE - 4, abs=20)
    assert one(mtu_table, "burst_bytes", **{**full, "rates": "100/10"}, sending="paced") == SIZE - 4


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(("form", "headers"), [("gre", 38 - 4), ("cable", 20)])
def test_a_full_link_carries_what_headers_checksum_preamble_and_gap_leave(
    mtu_table: StudyTable, form: str, headers: int
) -> None:
    for sending in ("paced", "greedy"):
        settled = one(mtu_table, "bandwidth_settled_mbps", form=form, rates="10/10", sending=sending)
        assert settled == pytest.approx(10 * SIZE / (SIZE + headers), rel=0.001)


@pytest.mark.lab
def test_the_gre_study_shows_what_the_tunnel_adds(gre_table: StudyTable) -> None:
    assert gre_table.missing == ()
    more = {row["room"]: row["value"] for row in rows_of(gre_table, "overhead_bytes")}
    assert more == {"larger-cables": 38, "shorter-packets": 38, "fragments": 72}
    arrived = {row["room"]: row["value"] for row in rows_of(gre_table, "arrived_packets")}
    assert arrived == {"larger-cables": 5, "shorter-packets": 5, "fragments": 5, "no-room": 0}


@pytest.mark.large
@pytest.mark.lab
def test_a_learning_controller_delays_the_first_packets_alone(mtu_table: StudyTable) -> None:
    light = {"form": "direct", "rates": "100/10", "sending": "paced"}
    assert one(mtu_table, "jitter_max_ms", **light, switch="bridge") < 0.001
    assert one(mtu_table, "jitter_ms", **light, switch="openflow", number=2) > 0.1
    assert one(mtu_table, "jitter_ms", **light, switch="openflow", number=50) < 0.01
    # those that waited for it arrive together, faster than the 10 Mbit/s that are sent; how much faster hangs on when
    # the controller looks, and no other packet comes so
    assert one(mtu_table, "bandwidth_max_mbps", **light, switch="openflow") > 10.1
    assert one(mtu_table, "bandwidth_max_mbps", **light, switch="bridge") < 10.01


def captured(path: Path, times_s: list[float], numbers: list[int], frame_bytes: int = 1500) -> Path:
    """A file as tcpdump writes it: UDP packets of these numbers, and others that do not count."""
    packets = [Ether() / ARP(), Ether() / IPv6() / UDP() / Raw(b"mDNS"), Ether() / IP() / UDP() / Raw(b"DNS")]
    for time_s, number in zip(times_s, numbers, strict=True):
        packet = (
            Ether()
            / IP(id=number)
            / UDP(dport=5001)
            / Raw((number.to_bytes(4) * 364)[: payload_of_frame_bytes(frame_bytes)])
        )
        packet.time = 1700000000 + EDecimal(str(time_s))  # a float has no nanoseconds of that date
        packets.append(packet)
    wrpcap(str(path), packets, nano=True)
    return path


def test_the_study_s_own_lengths_are_sent_where_its_figures_tell_them() -> None:
    sent = {(it["frame_bytes"], it["rates"]): packets_of(it) for it in MTU.points() if it["packets"] == THEIRS}
    assert {run: sent[run] for run in ((1518, "10/10"), (7999, "10/10"), (7999, "100/100"))} == {
        (1518, "10/10"): 7000, (7999, "10/10"): 1200, (7999, "100/100"): 16000,
    }  # fmt: skip
    assert (7999, "100/10") not in sent


def test_a_greedy_sender_is_not_measured_behind_a_controller() -> None:
    sent = {(it["sending"], it["switch"]) for it in MTU.points()}
    assert sent == {("paced", "bridge"), ("paced", "openflow"), ("greedy", "bridge")}


def test_a_pair_of_captures_gives_the_metrics_of_a_train(tmp_path: Path) -> None:
    point = Point("mtu", (("frame_bytes", 1500), ("rates", "10/10")))
    sent = captured(tmp_path / "sent.pcap", [0, 0.0012, 0.0024, 0.0036, 0.0048], [1, 2, 3, 4, 5])
    received = captured(tmp_path / "received.pcap", [0.01, 0.0106, 0.0118, 0.013], [1, 2, 3, 4])
    rows = {(row.metric, row.number): row.value for row in from_captures(point, sent, received)}
    assert rows["bandwidth_mbps", 2] == pytest.approx(20, rel=1e-6)
    assert rows["bandwidth_settled_mbps", None] == pytest.approx(10, rel=1e-6)
    assert rows["jitter_ms", 2] == pytest.approx(0.6, rel=1e-6)
    assert rows["lost_packets", None] == 1
    with pytest.raises(MeasurementError, match=r"1 packets of sent\.pcap are not in received\.pcap: capture one test"):
        from_captures(point, received, sent)
    with pytest.raises(MeasurementError, match=r"none\.pcap has no UDP packet in a frame of 1500 bytes"):
        from_captures(point, sent, captured(tmp_path / "none.pcap", [], []))
    small = [captured(tmp_path / f"{name}-small.pcap", [0, 0.001, 0.002, 0.003], [1, 2, 3, 4], 800) for name in "ab"]
    with pytest.raises(MeasurementError, match=r"no UDP packet in a frame of 1500 bytes, but of 49, 800: say which"):
        from_captures(point, *small)


@pytest.mark.large
@pytest.mark.lab
def test_the_burst_is_the_buckets_and_a_bucket_of_one_frame_removes_it(virtual: Kind, tmp_path: Path) -> None:
    whole = run(BURST.short_form(), tmp_path)
    assert whole.missing == ()
    frame = 1514
    for burst, size in (("frame", 1518), (15360, 15360)):
        # HTB asks whether there are tokens, not whether there are enough: one frame more
        lesser = min(size, CEILING_BYTES) + frame
        assert one(whole, "burst_bytes", shaper="htb", burst=burst) == pytest.approx(lesser, abs=20)
        assert one(whole, "burst_bytes", shaper="htb-both", burst=burst) == pytest.approx(size + frame, abs=20)
        assert one(whole, "burst_bytes", shaper="tbf", burst=burst) == pytest.approx(size, abs=20)
    for shaper, burst in (("tbf", "frame"), ("htb", 1), ("htb-both", 1)):
        assert one(whole, "burst_bytes", shaper=shaper, burst=burst) == pytest.approx(frame, abs=20)
        assert one(whole, "bandwidth_max_mbps", shaper=shaper, burst=burst) < 10.1
    assert one(whole, "bandwidth_mbps", shaper="tbf", burst=15360, number=10) > 20


@pytest.mark.large
@pytest.mark.lab
def test_packets_that_waited_for_a_controller_exceed_the_link_s_rate_by_its_bucket_alone(
    virtual: Kind, tmp_path: Path
) -> None:
    whole = run(BACKLOG.short_form(), tmp_path)
    assert whole.missing == ()
    assert one(whole, "bandwidth_max_mbps", link="htb") > 10.1
    assert one(whole, "bandwidth_max_mbps", link="cable") < 10


def begin(output: Path) -> subprocess.Popen[str]:
    words = ["study", "run", "gre", "--short", "--jobs", "1", "--output", str(output)]
    return subprocess.Popen(
        [sys.executable, "-m", "linklab", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def done(output: Path) -> int:
    return len(list((output / "points").glob("frame-bytes*.json")))


def wait_for_points(program: subprocess.Popen[str], output: Path, points: int) -> None:
    """Until so many are done, and the lab of the next one runs: more than its starting is interrupted then."""
    deadline = time.monotonic() + 300
    while done(output) < points or not guests():
        assert program.poll() is None, program.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def guests() -> list[str]:
    """The guests that this test session runs; not what starts and keeps them, nor the command itself."""
    others = ("bwrap", "supervisor.py", "-m linklab")
    return [words for words in lab_processes().values() if words and not any(other in words for other in others)]


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_killed_and_then_interrupted_nothing_is_lost(gre_table: StudyTable, tmp_path: Path) -> None:
    output = tmp_path / "results"
    for points, number in ((1, signal.SIGKILL), (3, signal.SIGINT)):
        with begin(output) as program:
            wait_for_points(program, output, points)
            os.kill(program.pid, number)
            said = program.communicate(timeout=120)[0]
        assert program.returncode == (130 if number == signal.SIGINT else -number)
        assert done(output) >= points
    assert "the same command goes on from there" in said
    before = {path: path.stat().st_mtime_ns for path in (output / "points").glob("frame-bytes*.json")}
    with begin(output) as program:
        said = program.communicate(timeout=300)[0]
    assert program.returncode == 0, said
    assert f"{len(before)} of {len(GRE.short_form().points())} points are done already" in said
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in before.items())
    for name in ("gre-short.csv", "gre-short.json"):
        assert (output / name).read_bytes() == (gre_table.files[0].parent / name).read_bytes()


# --- Verdicts

REPRODUCED, NOT, OPEN, DECIDED = "reproduced", "not reproduced", "open", "decided by construction"
PAPERS = {"sending": "paced", "switch": "openflow", "form": "direct"}
"""The setting that is nearest to the paper's."""


def verdicts(table: StudyTable) -> dict[str, str]:
    return {it.claim.id: it.verdict for it in judged(CLAIMS, {"mtu": table})}


EXPECTED = {
    "mtu-first-packets": REPRODUCED,
    "mtu-settles": REPRODUCED,
    "mtu-start-below": NOT,
    "mtu-bandwidth-size": REPRODUCED,
    "mtu-jitter-size": NOT,
    "mtu-jitter-start": REPRODUCED,
    "mtu-over-capacity": DECIDED,
    "mtu-light-load": REPRODUCED,
    "mtu-bandwidth-near": REPRODUCED,
    "mtu-real-less": REPRODUCED,
    "mtu-jitter-real": REPRODUCED,
}


def test_each_claim_has_a_verdict_in_the_papers_setting() -> None:
    assert verdicts(short("mtu")) == EXPECTED
    assert list(EXPECTED) == [claim.id for claim in CLAIMS.claims]


@pytest.mark.parametrize(("repeats", "verdict"), [(range(1, 10), NOT), (range(1, 6), OPEN), (range(1, 2), REPRODUCED)])
def test_one_repeat_does_not_decide_for_the_others(repeats: range, verdict: str) -> None:
    table = repeated(short("mtu"), 10)
    for repeat in repeats:
        table = changed(table, 0.5, metric="bandwidth_settled_mbps", repeat=repeat, rates="10/10", **PAPERS)
    assert on("mtu-settles", table).verdict == verdict


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"frame_bytes": 1}, "has no run with form="),
        ({"frame_bytes": 1518}, "one size of frames only"),
        ({"rates": "100/10"}, "no traffic that fills its link"),
    ],
)
def test_a_table_without_the_runs_gives_no_verdict(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        verdicts(short("mtu").select(**settings))


def test_runs_of_other_figures_do_not_judge_a_claim() -> None:
    """Packet size hardly matters for bandwidth: said of 10/10."""
    for rates, verdict in (("100/10", REPRODUCED), ("10/10", NOT)):
        table = changed(short("mtu"), 0.9, metric="bandwidth_settled_mbps", rates=rates, frame_bytes=SIZE, **PAPERS)
        assert on("mtu-bandwidth-size", table).verdict == verdict


def test_the_reason_says_where_runs_of_other_figures_judge_a_claim() -> None:
    """The short form has none of the figures 17 and 21."""
    assert "other figures than 17, 21" in on("mtu-start-below", short("mtu")).because
    assert "other figures" not in on("mtu-bandwidth-size", short("mtu")).because


def test_less_bandwidth_is_said_of_light_load_too_but_for_7999_bytes() -> None:
    for size, verdict in ((7999, REPRODUCED), (1518, NOT)):
        more = changed(PRINTED["mtu"], 1.02, metric="bandwidth_mean_mbps", rates="100/10", frame_bytes=size)
        assert on("mtu-real-less", short("mtu"), more).verdict == verdict
