"""Lab 09's checks: right answers, wrong ones that look right, and runs that are not what they should be."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from linklab.labs import lab09
from linklab.labs.lab09.runs import check_runs
from linklab.measure import Clip, Origin, Quality, Video, VideoFlow, VideoResult
from linklab.measure.video_quality import FrameQuality
from tests.grade.failures import failed, failed_alone, the_failure
from tests.measure.streams import made_stream

FRAME_MS = 5.48
SPACING = {2: 5.48, 4: 2.74, 8: 1.37}
ANSWERS = {"study_packets": 181, "study_mean": "b", "close_packets": "c", "whole_again": "d"}


@pytest.fixture
def video(tmp_path: Path) -> Video:
    (tmp_path / "video.ts").write_bytes(b"x" * 1316 * 1066)
    (tmp_path / "video.rtp").write_bytes(b"made")
    return Video(Clip(duration_s=10), tmp_path, 1015.0, "ffmpeg")


def predicted() -> dict[str, float]:
    return {"frame_bytes": 1370, "packets_per_s": 106.6, "ip_kbps": 106.6 * 10.848}


def test_right_answers_pass(video: Video) -> None:
    assert lab09.check_packets(predicted(), video).passed
    assert lab09.check_packets({"frame_bytes": 1370, "packets_per_s": 107, "ip_kbps": 1156}, video).passed
    assert lab09.check_spacing(SPACING).passed
    assert lab09.check_loss("c").passed
    assert lab09.check_questions(ANSWERS).passed
    assert lab09.check_questions({**ANSWERS, "study_packets": 1963.49e3 / 8 / 1356}).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("frame_bytes", 1316, "what RTP carries"),
        ("frame_bytes", 1328, "stops behind RTP"),
        ("frame_bytes", 1356, "the IP packet"),
        ("frame_bytes", 1358, "leaves out RTP's header"),
        ("frame_bytes", 1344, "leaves out RTP's and Ethernet's"),
        ("frame_bytes", 1374, "counts a checksum"),
        ("frame_bytes", 1500, "the MTU"),
        ("packets_per_s", 1066, "all packets"),
        ("packets_per_s", 1015e3 / 8 / 1316, "the coded video's rate"),
        ("packets_per_s", 106.6 * 1316 / 1356, "a size with headers"),
        ("packets_per_s", 746.2, "the container's packets"),
        ("packets_per_s", 60, "pictures in a second"),
        ("packets_per_s", 106.6 * 8, "eight times too many"),
        ("ip_kbps", 1026, "the video's own rate"),
        ("ip_kbps", 106.6 * 1316 * 8 / 1000, "leaves out the headers"),
        ("ip_kbps", 106.6 * 1370 * 8 / 1000, "Ethernet's header too"),
        ("ip_kbps", 144.5, "in kilobytes"),
        ("ip_kbps", 1.156, "in Mbit/s"),
        ("ip_kbps", "1156", "is a text"),
        ("frame_bytes", None, "not filled in yet"),
    ],
)
def test_a_wrong_prediction_of_packets(video: Video, name: str, wrong: object, says: str) -> None:
    found = failed_alone(lambda answers: lab09.check_packets(answers, video), predicted(), name, wrong)
    assert says in found.reason


@pytest.mark.parametrize(
    ("rate", "wrong", "says"),
    [
        (2, 5.424, "the IP packet alone"),
        (2, 5.264, "what RTP carries alone"),
        (4, 1328 * 8 / 4000, "leaves out UDP"),
        (4, 2.74 / 8, "an eighth"),
        (8, 0.00137, "in seconds"),
        (8, 1370, "in microseconds"),
        (2, 6.0, "a frame of 1500 bytes"),
        (2, 1 / 5.48, "upside down"),
        (8, 5.48, "more than theory"),
    ],
)
def test_a_wrong_prediction_of_spacing(rate: int, wrong: float, says: str) -> None:
    assert says in failed_alone(lab09.check_spacing, SPACING, rate, wrong).reason


@pytest.mark.parametrize(
    ("wrong", "says"),
    [("a", "the one before it"), ("b", "of their own"), ("d", "key picture"), (None, "write it"), ("x", "choose")],
)
def test_a_wrong_guess_of_damage(wrong: object, says: str) -> None:
    assert says in the_failure(lab09.check_loss(wrong)).hint


def jitter_ms(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    jitter = 0.0
    for i in range(1, len(arrivals_s)):
        d = (arrivals_s[i] - arrivals_s[i - 1]) - (timestamps_s[i] - timestamps_s[i - 1])
        jitter += (abs(d) * 1000 - jitter) / 16
    return jitter


def gaps_only(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    return jitter_ms(arrivals_s, [0.0] * len(arrivals_s))


def signed(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    jitter = 0.0
    for i in range(1, len(arrivals_s)):
        d = (arrivals_s[i] - arrivals_s[i - 1]) - (timestamps_s[i] - timestamps_s[i - 1])
        jitter += (d * 1000 - jitter) / 16
    return jitter


def first_packet_needed(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    return jitter_ms(arrivals_s, timestamps_s) + 0 * arrivals_s[1]


def test_a_right_jitter_passes() -> None:
    assert lab09.check_jitter(jitter_ms).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (gaps_only, "the timestamps are left out"),
        (signed, "early packets count as negative"),
        (lambda a, t: jitter_ms(a, t) / 1000, "in seconds"),
        (lambda a, t: None, "returns nothing"),
        (first_packet_needed, "IndexError"),
        (None, "not written yet"),
    ],
)
def test_a_wrong_jitter(function: Any, says: str) -> None:
    assert any(says in check.reason for check in failed(lab09.check_jitter(function)))


def runs_of(video: Video) -> dict[str, VideoResult]:
    gaps, many = [9.4] * 1065, 1066
    slow = [0.0] * 800 + [min(it * 1.5, 200.0) for it in range(many - 800)]
    short = [min(it, 50.0) for it in slow]
    made: dict[str, VideoResult] = {
        "gigabit": made_stream(gaps, video=video.digest),
        "wan": made_stream(gaps, video=video.digest, late_ms=slow),
        "loss": made_stream(gaps, video=video.digest, lost=range(40, 1000, 90)),
        "queue": made_stream(gaps, video=video.digest, late_ms=short, lost=range(900, 920)),
        "one frame": made_stream(gaps, video=video.digest, late_ms=slow),
    }
    return made


def test_right_runs_pass(video: Video) -> None:
    runs = runs_of(video)
    assert check_runs({name: runs[name] for name in lab09.NETWORKS}, video).passed
    assert check_runs({"one frame": runs["one frame"]}, video, ("one frame",)).passed


def other(video: Video, name: str, how: str) -> VideoResult:
    run = runs_of(video)[name]
    if how == "video":
        return replace(run, video="another")
    if how == "way":
        return replace(run, flow=VideoFlow("h2", "h1"))
    if how == "sender":
        return replace(run, flow=VideoFlow("h1", "h2", sender="ffmpeg"))
    return runs_of(video)[how]


@pytest.mark.parametrize(
    ("name", "how", "says"),
    [
        ("gigabit", "wan", "no queue here"),
        ("gigabit", "loss", "its links lose nothing"),
        ("wan", "gigabit", "packets wait"),
        ("wan", "queue", "its links lose nothing"),
        ("loss", "gigabit", "0.00 % lost: its link loses 1 %"),
        ("loss", "wan", "fast enough"),
        ("queue", "wan", "ten packets wait at most"),
        ("queue", "loss", "packets wait"),
        ("gigabit", "video", "another video"),
        ("gigabit", "way", "from h2 to h1"),
        ("wan", "sender", "the sender was ffmpeg"),
    ],
)
def test_a_run_that_is_another(video: Video, name: str, how: str, says: str) -> None:
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    found = failed(check_runs({**runs, name: other(video, name, how)}, video))
    assert any(says in check.reason for check in found), found
    assert all(f"run {name}" in check.description for check in found)


def test_a_run_with_the_old_bucket_is_told(video: Video) -> None:
    close = made_stream([9.4, 2.0] * 500, video=video.digest, delay_ms=200)
    assert "set the bucket before you send" in the_failure(check_runs({"one frame": close}, video, ("one frame",))).hint


def test_a_busy_machine_in_real_time_is_nobodys_fault(video: Video) -> None:
    runs = runs_of(video)
    slow = replace(runs["wan"], origin=Origin("t", "real", "6"))
    result = check_runs({"gigabit": slow}, video, ("gigabit",))
    assert result.outcome == "inconclusive"


def test_runs_that_are_missing(video: Video) -> None:
    for runs in (None, dict.fromkeys(lab09.NETWORKS), {"gigabit": 7}):
        result = check_runs(runs, video)
        assert not result.passed
        assert all(check.hint for check in failed(result))


def test_the_least_time(video: Video) -> None:
    runs = {**runs_of(video), "wan": made_stream([9.4, 2.122] * 3, video=video.digest)}
    right = {"gigabit": 9.4, "wan": 2.122, "one frame": 9.4}
    right["one frame"] = min(it for it in _gaps(runs["one frame"]))

    def check(answers: Any) -> Any:
        return lab09.check_least(answers, runs)

    assert check(right).passed
    assert "that is the largest" in failed_alone(check, right, "wan", 9.4).reason
    assert "that is the mean" in failed_alone(check, right, "wan", (9.4 + 2.122) / 2).reason
    assert "in seconds" in failed_alone(check, right, "wan", 0.002122).reason
    assert "run is missing" in failed(lab09.check_least(right, {}))[0].reason


def _gaps(run: VideoResult) -> list[float]:
    times = [there for there, _, _ in run.arrived]
    return [1000 * (late - early) for early, late in pairwise(times)]


def test_damage_by_lost_packets(video: Video) -> None:
    runs = runs_of(video)
    frames = [FrameQuality(it / 60, 0 if it < 200 else 9.0, 1 if it < 200 else 0.5) for it in range(600)]
    qualities = {name: Quality(tuple(frames)) for name in lab09.LOSSY}
    right = {name: 400 / runs[name].lost_packets for name in lab09.LOSSY}

    def check(answers: Any) -> Any:
        return lab09.check_damage(answers, runs, qualities)

    assert check(right).passed
    lost = runs["loss"].lost_packets
    for wrong, says in (
        (lost / 400, "upside down"),
        (400, "number of damaged pictures"),
        (600 / lost, "counts all pictures"),
        (200 / lost, "counts whole pictures"),
        ((400 / 6) / runs["loss"].loss_percent, "divides percentages"),
    ):
        assert says in failed_alone(check, right, "loss", wrong).reason
    assert "run is missing" in failed(lab09.check_damage(right, {}, {}))[0].reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("study_packets", 179.15, "divides by a frame"),
        ("study_packets", 186.5, "what RTP carries"),
        ("study_packets", 182.48, "what the link can carry"),
        ("study_packets", 1448, "bits for bytes"),
        ("study_mean", "a", "a is not it"),
        ("close_packets", "a", "a is not it"),
        ("whole_again", "b", "b is not it"),
    ],
)
def test_a_wrong_answer(name: str, wrong: object, says: str) -> None:
    found = failed_alone(lab09.check_questions, ANSWERS, name, wrong)
    assert says in found.reason or says in found.hint or wrong in ("a", "b")
