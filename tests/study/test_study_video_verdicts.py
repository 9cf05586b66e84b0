"""Each claim of the multimedia study is called confirmed and refuted, by tables made for it; and its page."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.multimedia_study import CLAIMS, ROWS
from linklab.study.page import Grid, Picture
from linklab.study.video.claims import judge_video
from linklab.study.video.page import page
from linklab.study.video.runs import FRAME, HTB
from linklab.study.video.values import Values

from .video_rows import LINKS, video_rows

P = "paced"


def verdicts(changed: dict[tuple[int, str, str, str], float]) -> dict[str, str]:
    return {it.claim.id: it.verdict for it in judge_video(video_rows(changed))}


def test_every_claim_has_a_verdict_with_numbers() -> None:
    judged = judge_video(video_rows())
    assert [it.claim for it in judged] == list(CLAIMS)
    assert {it.claim.id for it in judged if it.verdict == "not testable here"} == {
        it.id for it in CLAIMS if not it.testable
    }
    assert all(any(letter.isdigit() for letter in it.because) for it in judged)


@pytest.mark.parametrize(
    ("claim", "confirmed", "refuted"),
    [
        ("video-bandwidth-alike", {}, {(100, P, HTB, "bandwidth_kbps_mean"): 1026.0}),
        (
            "video-devices-minimum",
            {(10, P, HTB, "bandwidth_kbps_minimum"): 173.57, (100, P, HTB, "bandwidth_kbps_minimum"): 173.57},
            {},
        ),
        ("video-10-or-100", {}, {(10, P, HTB, "bandwidth_kbps_maximum"): 2000.0}),
        ("video-wan-alike", {}, {(2, P, HTB, "bandwidth_kbps_maximum"): 2592.67}),
        ("video-wan-alike", {}, {(8, P, HTB, "bandwidth_kbps_mean"): 1000.0}),
        ("video-not-normal", {}, {(4, P, HTB, "jitter_ms_normal_p"): 0.4}),
        ("video-wan-spacing", {}, {(2, P, FRAME, "delay_ms_minimum"): 1.69}),
        ("video-wan-spacing", {}, {(2, P, HTB, "delay_ms_minimum"): 5.48}),
    ],
)
def test_a_claim_is_confirmed_or_refuted_by_what_was_measured(
    claim: str, confirmed: dict[Any, float], refuted: dict[Any, float]
) -> None:
    assert verdicts(confirmed)[claim] == "confirmed"
    assert verdicts(refuted)[claim] == "refuted"


def test_a_table_without_the_runs_is_refused() -> None:
    with pytest.raises(MeasurementError, match="run study video without --only"):
        judge_video([row for row in video_rows() if row["link_mbps"] != 10])
    with pytest.raises(MeasurementError, match="is empty"):
        judge_video([])


def test_values_are_looked_up_and_repeats_compared() -> None:
    rows = video_rows()
    values = Values("video", rows)
    assert values.unequal() == []
    assert values.one("mean_kbps", link_mbps=2, sender=P, shaper=HTB) == 1150
    assert values.numbered("second_kbps", link_mbps=2, sender=P, shaper=HTB) == [1.0 + it for it in range(50)]
    with pytest.raises(MeasurementError, match="without saying at which levels"):
        values.one("mean_kbps", link_mbps=2)
    rows[-1]["value"] += 1e-9
    assert Values("video", rows).unequal() == ["jitter_ms"]


def picture_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for link, queue, loss in ((8, "endless", 1), (2, "endless", 0), (2, 10, 0)):
        base = {
            "link_mbps": link,
            "queue_packets": queue,
            "loss_percent": loss,
            "duration_s": 10,
            "repeat": 1,
            "of": "",
        }
        lost = 0 if (link, queue) == (2, "endless") else 5
        values = {
            "sent_packets": 1000,
            "lost_packets": lost,
            "damaged_percent": 10.0 * lost,
            "mean_ssim": 1 - lost / 50,
        }
        values |= {"least_ssim": 1 - lost / 10, "one_way_max_ms": 7.0}
        rows += [{**base, "number": None, "metric": name, "value": it, "unit": "1"} for name, it in values.items()]
        rows += [{**base, "number": it, "metric": "lost_packet", "value": 0.1, "unit": "s"} for it in range(lost)]
        rows += [{**base, "number": it, "metric": "ssim", "value": 1.0, "unit": "1"} for it in range(600)]
    return rows


def test_the_page_has_every_published_number_beside_ours() -> None:
    made = page({"video": video_rows(), "picture": picture_rows()})
    cells = [
        cell
        for chapter in made.chapters
        for it in chapter.parts
        if isinstance(it, Grid)
        for row in it.rows
        for cell in row
    ]
    figures = {cell for cell in cells if cell.isdigit() and 10 <= int(cell) <= 27}
    assert figures == {str(it) for it in range(10, 28)}
    for row in ROWS:
        for number in (row.mean, row.minimum, row.maximum, row.variance, row.deviation):
            assert str(number) in cells
    assert len([cell for cell in cells if cell.endswith("Mbit/s")]) >= 3 * len(LINKS)
    drawn = [it for chapter in made.chapters for it in chapter.parts if isinstance(it, Picture)]
    assert [it.name for it in drawn] == ["bandwidth", "delay", "jitter", "ssim", "frame-1", "frame-2"]
    for it in drawn[:4]:
        assert it.draw().axes
