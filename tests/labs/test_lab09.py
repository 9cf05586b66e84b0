"""Lab 09's checks, as far as no recorded answer shows them: a function, and runs that are not what they should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import sub
from pathlib import Path

import pytest

from linklab.labs.lab09 import rules as lab09
from linklab.measure import Clip, Origin, Quality, Video, VideoFlow, VideoResult
from linklab.measure.video_quality import FrameQuality
from linklab.network import Network, expected_state
from linklab.network.catalogue import video_network
from tests.grade.failures import failed, said
from tests.labs.predicted import commit
from tests.support.streams import made_stream

from .refused import Table, refused


def jitter_ms(arrivals_s: list[float], timestamps_s: list[float]) -> float:
    jitter = 0.0
    while len(arrivals_s) > 1:
        came, meant = arrivals_s.pop(0), timestamps_s.pop(0)
        jitter += (abs(arrivals_s[0] - came - timestamps_s[0] + meant) * 1e3 - jitter) / 16
    return jitter


def test_a_right_jitter_passes() -> None:
    assert lab09.check_jitter(jitter_ms).passed


def test_the_largest_jitter_is_not_the_last() -> None:
    def largest_ms(arrivals_s: list[float], timestamps_s: list[float]) -> float:
        parts = range(1, len(arrivals_s) + 1)
        return max(jitter_ms(arrivals_s[:it], timestamps_s[:it]) for it in parts)

    assert "the largest J" in said(lab09.check_jitter(largest_ms))


def test_a_packet_as_late_as_the_buffer_is_not_late() -> None:
    def in_ms(arrivals_s: list[float], timestamps_s: list[float], buffer_ms: float) -> float:
        waited = [1e3 * (a - t) for a, t in zip(arrivals_s, timestamps_s, strict=True)]
        return 100 * sum(it - waited[0] > buffer_ms for it in waited) / len(waited)

    def with_equal(arrivals_s: list[float], timestamps_s: list[float], buffer_ms: float) -> float:
        first_s = arrivals_s[0] - timestamps_s[0]
        late = [a - t - first_s >= buffer_ms / 1000 for a, t in zip(arrivals_s, timestamps_s, strict=True)]
        return 100 * sum(late) / len(late)

    assert lab09.check_late(late_percent).passed
    assert lab09.check_late(in_ms).passed
    assert "just as late as the buffer" in said(lab09.check_late(with_equal))


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
    }


CHANGES: dict[str, Callable[[VideoResult], object]] = {
    "another video": lambda run: replace(run, video="another"),
    "backwards": lambda run: replace(run, flow=VideoFlow("h2", "h1")),
    "by ffmpeg": lambda run: replace(run, flow=VideoFlow("h1", "h2", sender="ffmpeg")),
    "one lost": lambda run: replace(run, arrival_s=(None, *run.arrival_s[1:])),
    "stopped": lambda run: replace(run, interrupted=True),
    "all lost": lambda run: replace(run, arrival_s=(None,) * run.sent_packets),
}


@pytest.mark.parametrize(
    ("name", "other", "says"),
    [
        ("gigabit", "wan", "no queue builds up here"),
        ("wan", "gigabit", "packets wait"),
        ("wan", "queue", "its links lose no packets"),
        ("loss", "gigabit", "0 % does not fit: its link loses 1 %"),
        ("loss", "wan", "8 Mbit/s are enough"),
        ("queue", "wan", "at most ten packets wait"),
        ("queue", "loss", "packets wait"),
        ("gigabit", "one lost", "its links lose no packets"),
        ("gigabit", "stopped", "stopped before its end"),
        ("gigabit", "another video", "another video"),
        ("gigabit", "backwards", "opposite direction"),
        ("wan", "by ffmpeg", "the sender was ffmpeg"),
        ("queue", "all lost", "no network of this lab loses so many"),
    ],
)
def test_a_run_that_is_another(video: Video, name: str, other: str, says: str) -> None:
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    assert lab09.check_runs(runs, video).passed
    changed = runs[other] if other in runs else CHANGES[other](runs[name])
    found = failed(lab09.check_runs({**runs, name: changed}, video))
    assert any(says in check.reason for check in found), found
    assert all(f"run {name}" in check.description and check.hint for check in found)


def test_a_run_over_a_slower_link_is_told(video: Video) -> None:
    """Packets wait there, too, and nothing is lost."""
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    right = Origin("t", "7", expected_state(lab09.NETWORKS["wan"]))
    slower = Origin("t", "7", expected_state(video_network(3, 1)))
    assert lab09.check_runs({**runs, "wan": replace(runs["wan"], origin=right)}, video).passed
    found = failed(lab09.check_runs({**runs, "wan": replace(runs["wan"], origin=slower)}, video))
    assert [check.description for check in found] == ["run wan: its network"]


def test_a_wrong_prediction_is_named_after_the_runs(video: Video) -> None:
    runs = {it: run for it, run in runs_of(video).items() if it in lab09.NETWORKS}
    commit(lab09.PREDICTIONS, "packets", {"ip_kbps": 1026, "spacing_ms": 5.424})
    rate, spacing = lab09.check_runs(runs, video).surprises
    assert (rate.slip, spacing.slip) == ("that is the video's own rate", "that is the IP packet alone")
    assert rate.measured == pytest.approx(1156, rel=0.01)
    assert spacing.measured == pytest.approx(9.4)


def test_a_predicted_damage_is_shown_next_to_what_was_damaged(video: Video) -> None:
    runs, qualities, right = damaged_runs(video)
    commit(lab09.PREDICTIONS, "damaged", 100)
    (row,) = lab09.check_damage(right, runs, qualities).surprises
    assert "A keyframe builds on no other" in row.said
    assert row.measured == pytest.approx(100 * 400 / 601)


# --- What tools printed

LINE = "14:47:26.449225 IP 10.0.0.2.33499 > 10.0.2.2.5004: UDP, length 1328\n"
PINGS = "".join(f"64 bytes from 10.0.2.2: icmp_seq={it} ttl=62 time={5 * it} ms\n" for it in range(40))
SHORT_PINGS = "".join(f"64 bytes from 10.0.2.2: icmp_seq={it} ttl=62 time={1.4 * it} ms\n" for it in range(40))


WRONG: Table = {
    lab09.check_watch: [
        ("listening on r1-eth2, link-type EN10MB (Ethernet)\n" + 10 * LINE, PINGS, "tcpdump listened on r1-eth2"),
        ("listening on r1-eth1", PINGS, "not the output of tcpdump -n with a UDP packet"),
        (2 * LINE, PINGS, "2 packets between h1 and h2"),
        (9 * LINE.replace("1328", "64"), PINGS, "UDP lengths 64"),
        (9 * LINE.replace("10.0.2.2", "10.0.0.1"), PINGS, "0 packets between h1 and h2"),
        (9 * LINE, PINGS.replace("time=", "time=0.0"), "40 replies, 0 to"),
        (9 * LINE, SHORT_PINGS, "no ping waited behind more than ten packets"),
        (9 * LINE, PINGS.replace("10.0.2.2", "10.0.1.2"), "h2 sent none of these replies"),
        (" 1.1 > 1.1: " * 80_000, PINGS, "not the output of tcpdump"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_what_was_watched_passes() -> None:
    for place in ("r1-eth1", "r1-eth1, link-type EN10MB", "any, link-type LINUX_SLL2"):
        assert lab09.check_watch(f"listening on {place}\n" + 10 * LINE, PINGS).passed


# --- What the runs say


def damaged_runs(video: Video) -> tuple[dict[str, VideoResult], dict[str, Quality], dict[str, float]]:
    """Runs, what became of their pictures (400 of 600 are damaged), and how many that are for each lost packet."""
    runs = runs_of(video)
    frames = [FrameQuality(it / 60, 0 if it < 200 else 9.0, 1 if it < 200 else 0.5) for it in range(600)]
    frames += [FrameQuality(10.0, 0, 1)]
    right = {name: 400 / runs[name].lost_packets for name in lab09.LOSSY}
    return runs, {name: Quality(tuple(frames)) for name in lab09.LOSSY}, right | {"whole_again_s": 10.0}


@pytest.mark.parametrize("option", ["-e", "-v", "-e -v"])
def test_tcpdump_may_say_more(option: str) -> None:
    ends = LINE.partition(" IP ")[2]
    frame = "02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 1370: " if "-e" in option else "IP "
    header = (
        "(tos 0x0, ttl 63, id 4, offset 0, flags [DF], proto UDP (17), length 1356)\n    " if "-v" in option else ""
    )
    assert lab09.check_watch(10 * f"00:00:01.000000 {frame}{header}{ends}", PINGS).passed


# --- A playout buffer, and the claim


def late_percent(arrivals_s: list[float], timestamps_s: list[float], buffer_ms: float) -> float:
    begun_s = arrivals_s[0] + buffer_ms / 1000
    late = [came > begun_s + meant - timestamps_s[0] for came, meant in zip(arrivals_s, timestamps_s, strict=True)]
    return 100 * late.count(True) / len(late)


def test_a_right_function_of_late_packets_passes() -> None:
    assert lab09.check_late(late_percent).passed


def of_late(lateness_ms: Callable[[list[float], list[float]], list[float]]) -> Callable[..., float]:
    """A function as students write it, by another lateness."""

    def function(arrivals_s: list[float], timestamps_s: list[float], buffer_ms: float) -> float:
        found = [late_ms > buffer_ms for late_ms in lateness_ms(arrivals_s, timestamps_s)]
        return 100 * found.count(True) / len(found)

    return function


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(of_late(lambda a, t: [abs(it) for it in lab09.lateness_ms(a, t)]), id="early packets count too"),
        pytest.param(
            of_late(lambda a, t: [1000 * (x - y - min(map(sub, a, t))) for x, y in zip(a, t, strict=True)]),
            id="from the earliest packet",
        ),
        pytest.param(
            of_late(lambda a, t: [1000 * (x - a[0] - y) for x, y in zip(a, t, strict=True)]), id="timestamps from 0"
        ),
        pytest.param(lambda *given: float(round(late_percent(*given))), id="whole percents"),
    ],
)
def test_a_function_of_late_packets_that_is_right_by_chance_is_refused(function: Callable[..., float]) -> None:
    assert not lab09.check_late(function).passed


def test_buffers_are_judged_by_the_runs_themselves(video: Video) -> None:
    runs, right = runs_of(video), {"wan": 200, "queue": 50.0, "call": "b"}
    assert lab09.check_buffers(right, runs).passed
    for changed, says in (
        ({"wan": 0.2}, "seconds"),
        ({"wan": 195}, "too little"),
        ({"queue": 200}, "too much"),
        ({"call": "c"}, "more than `queue` loses"),
    ):
        assert says in said(lab09.check_buffers({**right, **changed}, runs)), changed


def test_the_damage_of_the_first_loss_ends_at_a_whole_picture(video: Video) -> None:
    runs, qualities, right = damaged_runs(video)
    assert lab09.check_damage(right, runs, qualities).passed
    for wrong, says in ((200 / 60, "the first damaged"), (10 - 200 / 60, "how long"), (599 / 60, "last damaged")):
        assert says in said(lab09.check_damage({**right, "whole_again_s": wrong}, runs, qualities))


def claimed(
    rate_mbps: float = 1.3,
    late_ms: float = 900.0,
    network: Network | None = None,
    seconds: float = 10,
    lost: range = range(0),
) -> VideoResult:
    late = [0.0] * 500 + [late_ms] * 500
    made = made_stream([0.94 * seconds] * 999, late_ms=late, clip=Clip(duration_s=seconds), lost=lost)
    return replace(made, origin=Origin("t", "7", expected_state(network or lab09.video_network(3, rate_mbps))))


def test_the_claim_is_tested_by_a_link_that_carries_the_mean_rate() -> None:
    assert lab09.check_claim(4, claimed()).passed


test_another_sentence_or_run_is_refused = refused(
    {
        lab09.check_claim: [
            (2, claimed(), "compare J at the end"),
            (None, claimed(), "not answered yet"),
            (4, None, "not measured yet"),
            (4, claimed(2), "rate_mbps=2"),
            (4, claimed(1), "rate_mbps=1"),
            (4, claimed(seconds=5), "Mbit/s on average"),
            (4, claimed(late_ms=200), "0 % of the packets are late"),
            (4, claimed(late_ms=80, lost=range(600, 700)), "100 packets were lost"),
            (4, claimed(network=lab09.NETWORKS["gigabit"]), "on another network"),
            (4, replace(claimed(), interrupted=True), "stopped before its end"),
            (4, replace(claimed(), flow=VideoFlow("h2", "h1")), "opposite direction"),
        ]
    }
)
