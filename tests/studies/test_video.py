"""Studies `video` and `picture`: what they refuse, their evaluation, their short forms in labs; and verdicts: each
comes out both ways, by tables that were measured.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.rtp import RTP
from scapy.packet import Raw
from scapy.utils import wrpcap

from linklab.analysis.video_statistics import window_kbps
from linklab.errors import MeasurementError
from linklab.measure.video_file import CLOCK_HZ, IP_PACKET_BYTES, ffmpeg, packet_times
from linklab.measure.video_quality import FrameQuality, Quality
from linklab.runtime.backends import Kind
from linklab.study import Point, run, study_by_name
from linklab.study.claims import judged
from linklab.study.table import StudyTable, read_table
from studies.video.judges import CLAIMS
from studies.video.study import (
    FRAME,
    HTB,
    OURS,
    STILL,
    evaluate,
    evaluate_picture,
    from_captures,
    topology_of,
    video_of,
)
from tests.support.streams import made_stream

from .measured import short

VIDEO, PICTURE = study_by_name("video"), study_by_name("picture")
DOCS = Path(__file__).parents[2] / "docs" / "studies" / "data"
PACKET_KBPS = IP_PACKET_BYTES * 8 / 1000


def test_the_six_runs_are_all_there_and_only_the_wan_has_another_bucket() -> None:
    points = {(it["link_mbps"], it["sender"], it["shaper"], it["switch"]) for it in VIDEO.points()}
    links = (1000, 10, 100, 2, 4, 8)
    assert points == {
        *((link, sender, HTB, "bridge") for link in links for sender in ("paced", "ffmpeg")),
        *((link, "paced", HTB, "openflow") for link in links if link != 1000),
        *((link, "paced", FRAME, "bridge") for link in (2, 4, 8)),
    }
    assert {it["duration_s"] for it in VIDEO.points()} == {50}
    assert [topology_of(link) for link in (*links, 16)] == [1, 2, 2, 3, 3, 3, 3]
    causes = {(it["link_mbps"], it["queue_packets"], it["loss_percent"]) for it in PICTURE.points()}
    assert all((loss > 0) == (link == 8) for link, _, loss in causes)  # type: ignore[operator]
    assert all(queue == "endless" for _, queue, loss in causes if loss)


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ({"link_mbps": (0,)}, "rate_mbps is 0: choose"),
        ({"switch": ("hub",), "link_mbps": (10,)}, "switch is 'hub': choose one of"),
        ({"shaper": ("red",)}, "shaper is 'red': choose one of htb, frame"),
    ],
)
def test_levels_that_cannot_be_are_refused(levels: dict[str, tuple[object, ...]], says: str) -> None:
    study = VIDEO.with_levels(**levels)  # type: ignore[arg-type]
    with pytest.raises(MeasurementError, match=says):
        study.place(study.points()[0])


def test_evaluation_of_a_stream_that_is_known() -> None:
    rows = evaluate(made_stream([10.0] * 150, lost=[140], delay_ms=3))
    told = {(row.metric, row.number): row.value for row in rows}
    assert told["sent_packets", None] == 151
    assert told["lost_packets", None] == 1
    assert told["one_way_max_ms", None] == pytest.approx(3)
    assert told["delay_ms_maximum", None] == pytest.approx(20)
    assert (told["delay_ms", 0], told["delay_ms", 50]) == pytest.approx((10, 10))
    assert told["delay_ms", 100] == pytest.approx(20)
    assert told["bandwidth_kbps_minimum", None] == pytest.approx(21 * 10.848)
    assert told["second_kbps", 0] == pytest.approx(1084.8)
    assert {row.metric for row in rows} | {"coded_kbps"} <= {metric.name for metric in VIDEO.metrics}


def test_evaluation_of_pictures_that_are_known() -> None:
    frames = (FrameQuality(0, None, None), FrameQuality(0.5, 0, 1), FrameQuality(1, 100, 0.5))
    rows = evaluate_picture(made_stream([10.0] * 3, lost=[2]), Quality(frames))
    told = {(row.metric, row.number): row.value for row in rows}
    assert told["damaged_percent", None] == pytest.approx(200 / 3)
    assert told["mean_ssim", None] == pytest.approx(0.5)
    assert (told["ssim", 0], told["ssim", 1], told["least_ssim", None]) == (0, 1, 0)
    assert told["lost_percent", None] == 25


def captured(path: Path, gaps_s: float, numbers: list[int], late_s: float = 0) -> Path:
    """A file as tcpdump writes it: RTP packets with seven packets of a transport stream each."""
    packets = []
    for number in numbers:
        rtp = RTP(payload_type=33, sequence=number, timestamp=round(number * gaps_s * 90000), sourcesync=1)
        packet = Ether() / IP() / UDP(dport=5004) / Raw(bytes(rtp) + b"\x47" * 1316)
        packet.time = 1700000000 + number * gaps_s + late_s
        packets.append(packet)
    wrpcap(str(path), packets, nano=True)
    return path


def test_a_pair_of_captures_gives_the_metrics_of_a_stream(tmp_path: Path) -> None:
    point = Point("video", (("duration_s", 2),))
    sent = captured(tmp_path / "sent.pcap", 0.01, list(range(150)))
    received = captured(tmp_path / "received.pcap", 0.01, [it for it in range(150) if it != 140], late_s=0.003)
    told = {(row.metric, row.number): row.value for row in from_captures(point, sent, received)}
    assert told["sent_packets", None] == 150
    assert told["lost_packets", None] == 1
    assert told["one_way_max_ms", None] == pytest.approx(3, rel=1e-3)
    assert told["delay_ms_maximum", None] == pytest.approx(20, rel=1e-3)
    assert told["bandwidth_kbps_minimum", None] == pytest.approx(21 * 10.848)
    with pytest.raises(MeasurementError, match="not numbered one after the other"):
        from_captures(point, received, sent)


def test_a_film_of_ones_own_is_cut_into_the_same_packets(tmp_path: Path) -> None:
    path = tmp_path / "own.mp4"
    ffmpeg(
        tmp_path,
        *("-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-c:v", "libx264", "-b:v", "1M", "own.mp4"),
        doing="making a film",
    )
    with video_of(Point("video", (("video", str(path)), ("duration_s", 1)))) as video:
        assert (video.clip.width, video.clip.height, video.clip.frames_per_s) == (320, 240, 25)
        assert video.clip.duration_s == pytest.approx(1, abs=0.2)
        assert video.packets * 1316 == video.stream_bytes
    for text, says in (("none.mp4", "no such file is there"), (str(Path(__file__)), "ffmpeg failed at putting")):
        point = Point("video", (("video", text), ("duration_s", 1)))
        with pytest.raises(MeasurementError, match=says), video_of(point):
            pass


@pytest.mark.large
def test_a_film_has_still_seconds_and_busier_ones_than_linklab_s() -> None:
    counts = {}
    for film in (STILL, OURS):
        with video_of(Point("video", (("video", film), ("duration_s", 12)))) as video:
            times_s = [ticks / CLOCK_HZ for ticks in packet_times(video.stream_path.read_bytes())[::7]]
        counts[film] = [kbps / PACKET_KBPS for kbps in window_kbps(times_s, [IP_PACKET_BYTES] * len(times_s))][20:]
    assert min(counts[STILL]) < 20 < min(counts[OURS])
    assert max(counts[STILL]) > max(counts[OURS])


def test_the_page_s_film_has_nearly_the_study_s_range() -> None:
    table = read_table(VIDEO, DOCS)
    for statistic, printed_kbps in (("minimum", 162.72), ("maximum", 2592.67)):
        found = table.lookup(f"bandwidth_kbps_{statistic}", link_mbps=1000, sender="paced").same
        assert found == pytest.approx(printed_kbps, abs=5 * PACKET_KBPS)


@pytest.mark.lab
def test_a_film_of_ones_own_crosses_any_link(virtual: Kind, tmp_path: Path) -> None:
    ffmpeg(
        tmp_path,
        *("-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=2", "-c:v", "libx264", "-b:v", "1M", "own.mp4"),
        doing="making a film",
    )
    study = VIDEO.with_levels(
        link_mbps=(16,), sender=("paced",), shaper=(HTB,), switch=("bridge",), video=(str(tmp_path / "own.mp4"),),
        duration_s=(2,),
    )  # fmt: skip
    table = run(replace(study, repeats=1), tmp_path / "results")
    assert table.missing == ()
    assert table.lookup("lost_packets", link_mbps=16).same == 0
    assert table.lookup("sent_packets", link_mbps=16).same > 100


@pytest.mark.large
@pytest.mark.lab
def test_a_picture_is_whole_where_no_packet_is_lost(virtual: Kind, tmp_path: Path) -> None:
    study = PICTURE.with_levels(link_mbps=(1,), queue_packets=("endless", 10), loss_percent=(0,), duration_s=(4,))
    table = run(replace(study, repeats=1), tmp_path)
    assert table.missing == ()
    for queue, whole in (("endless", True), (10, False)):
        assert (table.lookup("lost_packets", queue_packets=queue).same == 0) == whole
        assert (table.lookup("damaged_percent", queue_packets=queue).same == 0) == whole


# --- Verdicts

REPRODUCED, NOT, DECIDED = "reproduced", "not reproduced", "decided by construction"
AGREE, DISAGREE = "the paper's own numbers agree", "the paper's own numbers disagree"


def verdicts(table: StudyTable) -> dict[str, str]:
    return {it.claim.id: it.verdict for it in judged(CLAIMS, {"video": table})}


EXPECTED = {
    "video-bandwidth-alike": AGREE,
    "video-wan-alike": AGREE,
    "video-devices-minimum": NOT,
    "video-devices-real": AGREE,
    "video-10-or-100": DECIDED,
    "video-wan-spacing": REPRODUCED,
    "video-not-normal": DECIDED,
    "video-delay-range": DISAGREE,
    "video-delay-deviation": AGREE,
    "video-jitter-real": DISAGREE,
    "video-jitter-low": AGREE,
    "video-jitter-fast-wan": AGREE,
}


def test_each_claim_has_a_verdict() -> None:
    assert verdicts(short("video")) == EXPECTED
    assert list(EXPECTED) == [claim.id for claim in CLAIMS.claims]


def test_a_table_without_the_runs_gives_no_verdict() -> None:
    with pytest.raises(MeasurementError, match="has no bandwidth_kbps_minimum at link_mbps=10"):
        verdicts(short("video").select(link_mbps=(1000, 100, 2, 4, 8)))
