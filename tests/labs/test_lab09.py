"""Lab 09's checks, as far as no recorded answer shows them: a function, and runs that are not what they should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linklab.grade import Check, Result
from linklab.labs.lab09 import rules
from linklab.labs.lab09 import rules as lab09
from linklab.measure import Clip, Quality, Video, VideoFlow, VideoResult
from linklab.measure.video_quality import FrameQuality
from tests.support.streams import made_stream

from .written import unnamed_slips

# --- The function


def jitter_ms(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    jitter = 0.0
    for i in range(1, len(arrivals_s)):
        d = (arrivals_s[i] - arrivals_s[i - 1]) - (timestamps_s[i] - timestamps_s[i - 1])
        jitter += (abs(d) * 1000 - jitter) / 16
    return jitter


def with_numpy(arrivals_s: Any, timestamps_s: Any) -> Any:
    sizes = 1000 * np.abs(np.diff(np.subtract(arrivals_s, timestamps_s)))
    return np.float64(sum(size / 16 * (15 / 16) ** k for k, size in enumerate(sizes[::-1])))


def exactly(arrivals_s: Any, timestamps_s: Any) -> Fraction:
    transit = [Fraction(came) - Fraction(meant) for came, meant in zip(arrivals_s, timestamps_s, strict=True)]
    steps = (abs(late - early) * 1000 for early, late in pairwise(transit))
    return reduce(lambda jitter, step: jitter + (step - jitter) / 16, steps, Fraction(0))


class Meter:
    def __init__(self) -> None:
        self.jitter = 0.0

    def __call__(self, arrivals_s: list[float], timestamps_s: list[float]) -> float:
        self.jitter = 0.0
        while len(arrivals_s) > 1:
            came, meant = arrivals_s.pop(0), timestamps_s.pop(0)
            self.jitter += (abs(arrivals_s[0] - came - timestamps_s[0] + meant) * 1e3 - self.jitter) / 16
        return self.jitter


@pytest.mark.parametrize("function", [jitter_ms, with_numpy, exactly, Meter()])
def test_right_jitters_of_any_style_pass(function: Callable[..., Any]) -> None:
    assert lab09.check_jitter(function).passed


def test_wrong_formulas_are_called_by_their_names() -> None:
    assert unnamed_slips(lab09.check_jitter, rules._JITTER) == []


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (None, "not written yet"),
        (lambda a, t: None, "returns nothing"),
        (lambda a, t: jitter_ms(a, t) / 1000, "a thousandth"),
        (lambda a, t: jitter_ms(a, t) + 0 * a[1], "IndexError"),
        (lambda a, t: 0.0, "this is 0 whatever"),
        (lambda a, t: [jitter_ms(a, t)], "it returns a list"),
        (lambda a, t: 1.01 * jitter_ms(a, t), "it gives"),
    ],
)
def test_a_wrong_jitter(function: Any, says: str) -> None:
    failed = _failed(lab09.check_jitter(function))
    assert any(says in check.reason for check in failed)
    assert all(check.hint for check in failed)


# --- Runs


@pytest.fixture
def video(tmp_path: Path) -> Video:
    return made_video(tmp_path)


def made_video(folder: Path) -> Video:
    (folder / "video.ts").write_bytes(b"x" * 1316 * 1066)
    (folder / "video.rtp").write_bytes(b"made")
    return Video(Clip(duration_s=10), folder, 1015.0, "ffmpeg")


def runs_of(video: Video) -> dict[str, VideoResult]:
    gaps, many = [9.4] * 1065, 1066
    slow = [0.0] * 800 + [min(it * 1.5, 200.0) for it in range(many - 800)]
    short = [min(it, 50.0) for it in slow]
    return {
        "gigabit": made_stream(gaps, video=video.digest),
        "wan": made_stream(gaps, video=video.digest, late_ms=slow),
        "loss": made_stream(gaps, video=video.digest, lost=range(40, 1000, 90)),
        "queue": made_stream(gaps, video=video.digest, late_ms=short, lost=range(900, 920)),
        "one frame": made_stream(gaps, video=video.digest, late_ms=slow),
    }


def _failed(result: Result) -> list[Check]:
    return [check for check in result.checks if check.outcome == "failed"]


CHANGES: dict[str, Callable[[VideoResult], object]] = {
    "another video": lambda run: replace(run, video="another"),
    "backwards": lambda run: replace(run, flow=VideoFlow("h2", "h1")),
    "by ffmpeg": lambda run: replace(run, flow=VideoFlow("h1", "h2", sender="ffmpeg")),
    "stopped": lambda run: replace(run, interrupted=True),
    "all lost": lambda run: replace(run, arrival_s=(None,) * run.sent_packets),
    "nothing": lambda run: None,
    "a number": lambda run: 7,
}


@pytest.mark.parametrize(
    ("name", "other", "says"),
    [
        ("gigabit", "wan", "no queue here"),
        ("gigabit", "loss", "its links lose nothing"),
        ("wan", "gigabit", "packets wait"),
        ("wan", "queue", "its links lose nothing"),
        ("loss", "gigabit", "0 % does not fit: its link loses 1 %"),
        ("loss", "wan", "fast enough"),
        ("queue", "wan", "ten packets wait at most"),
        ("queue", "loss", "packets wait"),
        ("gigabit", "another video", "another video"),
        ("gigabit", "backwards", "from h2 to h1"),
        ("wan", "by ffmpeg", "the sender was ffmpeg"),
        ("loss", "stopped", "stopped before its end"),
        ("queue", "all lost", "no network here loses that many"),
        ("gigabit", "nothing", "not measured yet"),
        ("gigabit", "a number", "this is an int"),
    ],
)
def test_a_run_that_is_another(video: Video, name: str, other: str, says: str) -> None:
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    assert lab09.check_runs(runs, video).passed
    changed = runs[other] if other in runs else CHANGES[other](runs[name])
    found = _failed(lab09.check_runs({**runs, name: changed}, video))
    assert any(says in check.reason for check in found), found
    assert all(f"run {name}" in check.description and check.hint for check in found)


def test_a_run_with_the_old_bucket_is_told(video: Video) -> None:
    one = {"one frame": runs_of(video)["one frame"]}
    assert lab09.check_runs(one, video, ("one frame",)).passed
    close = made_stream([9.4, 2.0] * 500, video=video.digest, delay_ms=200)
    (failed,) = _failed(lab09.check_runs({"one frame": close}, video, ("one frame",)))
    assert "set the bucket before you send" in failed.hint


def test_without_a_video_nothing_is_judged_and_nothing_raises(video: Video) -> None:
    assert _failed(lab09.check_runs(runs_of(video), None))
    assert _failed(lab09.check_bucket("", None, None))


@pytest.mark.parametrize(
    ("predicted", "slip"),
    [
        ({"ip_kbps": 1026, "spacing_ms": 5.48}, "that is the video's own rate"),
        ({"ip_kbps": 144.6, "spacing_ms": 5.48}, "that looks like kByte/s"),
        ({"ip_kbps": 1156.8, "spacing_ms": 5.424}, "that is the IP packet alone"),
        ({"ip_kbps": 1156.8, "spacing_ms": 0.685}, "that is an eighth of it"),
        ({"ip_kbps": 1156.8, "spacing_ms": 9.4}, "that is the mean"),
    ],
)
def test_a_wrong_prediction_is_named_after_the_runs(video: Video, predicted: dict[str, float], slip: str) -> None:
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    prediction = lab09.predict("packets", predicted, sure=50)
    assert lab09.check_predicted(prediction).passed
    rows = lab09.check_runs(runs, video, predicted=prediction).surprises
    assert slip in [row.slip for row in rows], rows
    assert all(row.measured is not None for row in rows)


@pytest.mark.parametrize(
    ("percent", "said"),
    [
        (1, "the share of the packets"),
        (2, "lose a packet of their own"),
        (100, "A keyframe is built on no other"),
        (60, "as theory says"),
    ],
)
def test_a_predicted_damage_is_shown_next_to_what_was_damaged(video: Video, percent: float, said: str) -> None:
    runs, qualities, right = damaged_runs(video)
    prediction = lab09.predict("damaged", percent, sure=50)
    (row,) = lab09.check_damage(right, runs, qualities, prediction).surprises
    assert said in row.said
    assert row.measured == pytest.approx(100 * 400 / 600)


# --- What tools printed

LINE = "14:47:26.449225 IP 10.0.0.2.33499 > 10.0.2.2.5004: UDP, length 1328\n"
PINGS = "".join(f"64 bytes from 10.0.2.2: icmp_seq={it} ttl=62 time={5 * it} ms\n" for it in range(40))
CLASS = "class htb 5:1 root prio 0 rate 2Mbit ceil 2Mbit burst 15Kb cburst 1600b"


@pytest.mark.parametrize(
    ("dump", "pings", "says"),
    [
        ("", PINGS, "no UDP packet"),
        (None, PINGS, "no UDP packet"),
        (2 * LINE, PINGS, "2 packets between h1 and h2"),
        (9 * LINE.replace("1328", "64"), PINGS, "UDP lengths 64"),
        (9 * LINE.replace("10.0.2.2", "10.0.0.1"), PINGS, "0 packets between h1 and h2"),
        (9 * LINE, "", "0 replies"),
        (9 * LINE, PINGS.replace("time=", "time=0.0"), "40 replies, 0 to"),
    ],
)
def test_what_was_not_watched_is_named(dump: object, pings: object, says: str) -> None:
    (failed,) = _failed(lab09.check_watch(dump, pings))
    assert says in failed.reason
    assert failed.hint


def test_what_was_watched_passes(video: Video) -> None:
    assert lab09.check_watch("listening on r1-eth1\n" + 10 * LINE, PINGS).passed
    one = runs_of(video)["one frame"]
    assert lab09.check_bucket(CLASS, one, video).passed
    assert "was not shown" in _failed(lab09.check_bucket("", one, video))[0].reason


# --- What the runs say


def damaged_runs(video: Video) -> tuple[dict[str, VideoResult], dict[str, Quality], dict[str, float]]:
    """Runs, what became of their pictures (400 of 600 are damaged), and how many that are for each lost packet."""
    runs = runs_of(video)
    frames = [FrameQuality(it / 60, 0 if it < 200 else 9.0, 1 if it < 200 else 0.5) for it in range(600)]
    return (
        runs,
        {name: Quality(tuple(frames)) for name in lab09.LOSSY},
        {name: 400 / runs[name].lost_packets for name in lab09.LOSSY},
    )


def test_damage_is_counted_by_lost_packets(video: Video) -> None:
    runs, qualities, right = damaged_runs(video)
    assert lab09.check_damage(right, runs, qualities).passed
    lost = runs["loss"].lost_packets
    for wrong, says in (
        (lost / 400, "upside down"),
        (400, "number of damaged pictures"),
        (600 / lost, "counts all pictures"),
        (200 / lost, "counts whole pictures"),
        ((400 / 6) / runs["loss"].loss_percent, "divides percentages"),
    ):
        (failed,) = _failed(lab09.check_damage({**right, "loss": wrong}, runs, qualities))
        assert says in failed.reason
    assert all("run is missing" in check.reason for check in _failed(lab09.check_damage(right, {}, {})))


@pytest.mark.parametrize("option", ["-e", "-v", "-e -v"])
def test_tcpdump_may_say_more(option: str) -> None:
    ends = LINE.partition(" IP ")[2]
    frame = "02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 1370: " if "-e" in option else "IP "
    header = (
        "(tos 0x0, ttl 63, id 4, offset 0, flags [DF], proto UDP (17), length 1356)\n    " if "-v" in option else ""
    )
    assert lab09.check_watch(10 * f"00:00:01.000000 {frame}{header}{ends}", PINGS).passed


def test_what_looks_like_no_end_of_packets_is_read_at_once() -> None:
    assert not lab09.check_watch(" 1.1 > 1.1: " * 80_000, PINGS).passed
