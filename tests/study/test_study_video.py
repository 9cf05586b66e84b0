"""Studies `video` and `picture`: what they refuse, their evaluation, and their short forms in labs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Quality
from linklab.measure.video_quality import FrameQuality
from linklab.runtime.backends import Kind
from linklab.study import run, study_by_name
from linklab.study.video.claims import judge_video
from linklab.study.video.picture import evaluate as evaluate_picture
from linklab.study.video.picture import lost_numbers
from linklab.study.video.runs import FRAME, HTB, evaluate, topology_of
from linklab.study.video.values import Values
from tests.measure.streams import made_stream

VIDEO, PICTURE = study_by_name("video"), study_by_name("picture")


def test_the_six_runs_are_all_there_and_only_the_wan_has_another_bucket() -> None:
    points = {(it["link_mbps"], it["sender"], it["shaper"]) for it in VIDEO.points()}
    links = (1000, 10, 100, 2, 4, 8)
    assert points == {
        *((link, sender, HTB) for link in links for sender in ("paced", "ffmpeg")),
        *((link, "paced", FRAME) for link in (2, 4, 8)),
    }
    assert {it["duration_s"] for it in VIDEO.points()} == {50}
    assert [topology_of(link) for link in links] == [1, 2, 2, 3, 3, 3]
    causes = {(it["link_mbps"], it["queue_packets"], it["loss_percent"]) for it in PICTURE.points()}
    assert all((loss > 0) == (link == 8) for link, _, loss in causes)  # type: ignore[operator]
    assert all(queue == "endless" for _, queue, loss in causes if loss)


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ({"link_mbps": (3,)}, "link_mbps is 3: the multimedia study's links have 1000, 10, 100, 2, 4, 8"),
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
    assert told["lost_packet", 2] == pytest.approx(0.02)
    table = [
        {"repeat": 1, "loss_percent": 1, "metric": row.metric, "number": row.number, "value": row.value} for row in rows
    ]
    assert lost_numbers(table, loss_percent=1) == (2,)
    with pytest.raises(MeasurementError, match="no run with loss_percent=5"):
        lost_numbers(table, loss_percent=5)


@pytest.mark.lab
@pytest.mark.slow
def test_the_short_form_judges_every_claim(virtual: Kind, tmp_path: Path) -> None:
    table = run(VIDEO.short_form(), tmp_path)
    assert table.missing == ()
    verdicts = {it.claim.id: it.verdict for it in judge_video(list(table)) if it.claim.id != "video-bandwidth-alike"}
    assert verdicts["video-wan-spacing"] == verdicts["video-10-or-100"] == "confirmed"
    assert verdicts["video-devices-minimum"] == "refuted"
    values = Values("video", list(table))
    least = {link: values.one("delay_ms_minimum", link_mbps=link, shaper=FRAME) for link in (2, 4, 8)}
    assert all(value > 1370 * 8 / link / 1000 - 0.01 for link, value in least.items())
    assert least[2] == pytest.approx(5.48, abs=0.01)
    assert all(row["value"] == 0 for row in table.where("lost_packets"))


@pytest.mark.lab
@pytest.mark.slow
def test_the_same_seed_gives_the_same_picture_to_the_last_digit(virtual: Kind, tmp_path: Path) -> None:
    study = PICTURE.with_levels(link_mbps=(8, 1), queue_packets=("endless", 10), loss_percent=(0, 1), duration_s=(4,))
    study = replace(study, repeats=1)
    table, again = (run(study, tmp_path / name) for name in ("one", "two"))
    assert table.missing == ()
    assert list(table) == list(again)
    values = Values("picture", list(table))
    lost = {row["queue_packets"]: row["value"] for row in table.where("lost_packets", link_mbps=1, repeat=1)}
    assert lost["endless"] == 0 < lost[10]
    assert values.one("damaged_percent", link_mbps=1, queue_packets="endless", loss_percent=0) == 0
    assert values.one("damaged_percent", link_mbps=8, loss_percent=1) > 10
