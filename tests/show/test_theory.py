"""The numbers behind the sliders are theory's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from linklab.analysis.congestion import reno_period_s
from linklab.show import theory
from linklab.show.theory import Explorer
from linklab.show.widgets.explorer import ExplorerWidget
from linklab.units import transmission_ms


@pytest.mark.parametrize(
    ("made", "chosen", "said"),
    [
        (theory.space_time, {"rate_mbps": 12, "delay_ms": 3, "size_bytes": 1500}, "one way 4 ms, RTT 8 ms"),
        (theory.window, {"window_packets": 10, "rate_mbps": 12.112, "rtt_ms": 20}, "The BDP is 20 packets: 6.06 of"),
        (theory.window, {"window_packets": 30, "rate_mbps": 12.112, "rtt_ms": 20}, "10 packets wait, RTT 30 ms."),
        (
            theory.window,
            {"window_packets": 30, "rate_mbps": 12.112, "rtt_ms": 20, "queue_packets": 5},
            "5 packets wait, RTT 25 ms, and 5 packets are lost",
        ),
        (theory.token_bucket, {"rate_mbps": 12, "bucket_bytes": 0}, "1 packet of 1500 bytes leaves at once; then one"),
        (theory.token_bucket, {"rate_mbps": 12, "bucket_bytes": 3000}, "3 packets of 1500 bytes leave at once"),
        (theory.train, {"first_mbps": 50, "narrow_mbps": 10}, "the train says 10 Mbit/s"),
        (theory.train, {"narrow_mbps": 50, "last_mbps": 10}, "0.24 ms behind link 2 and 1.2 ms behind link 3"),
        (
            theory.round_trip,
            {"ahead_packets": 0, "size_bytes": 1250},
            "Delay 20 ms, sending 2 ms, waiting 0 ms: RTT 22",
        ),
        # 50 frames of 1.2112 ms, during ten of which the ping has its delay
        (theory.round_trip, {"ahead_packets": 50}, "waiting 50.6 ms: RTT 70.72 ms."),
        (
            theory.sawtooth,
            {},
            "Losses at a window of 133 packets, 4.04 s apart; it goes on with 66.5: B is always busy.",
        ),
        (theory.sawtooth, {"queue_packets": 20}, "it goes on with 26.5: B is idle for a while after each loss."),
        (theory.full_queue, {"limit_packets": 16}, "lasts 19.4 ms: a ping takes 39.4 ms. CUBIC needs 7.1 packets"),
        (theory.full_queue, {"limit_packets": 5}, "to keep the link busy after a loss: too few."),
        (theory.detection, {"hello_s": 10, "dead_s": 40}, "packets are lost for 30 to 40 s."),
        (theory.detection, {"hello_s": 3, "dead_s": 3}, "The dead interval must be longer than the hello interval"),
    ],
)
def test_what_the_sliders_say_is_what_theory_says(
    made: Callable[..., Explorer], chosen: dict[str, float], said: str
) -> None:
    explorer = made(**chosen)
    assert said in explorer.picture(explorer.values)["words"]


def test_a_slider_that_moves_changes_the_lines_and_the_picture() -> None:
    widget = ExplorerWidget(theory.space_time(rate_mbps=12, delay_ms=3, size_bytes=1500))
    first, still = widget.picture, widget.still()
    widget.values = {**widget.values, "delay_ms": 6.0}
    assert "RTT 14 ms" in widget.picture["words"]
    assert widget.picture["lines"] != first["lines"]
    assert "RTT 14 ms" in widget.still()["text/plain"]
    assert widget.still()["text/html"] != still["text/html"]


@pytest.mark.parametrize("made", [theory.round_trip, theory.sawtooth, theory.full_queue, theory.detection])
def test_a_student_s_points_stay_in_the_picture_and_are_said_in_words(made: Callable[..., Explorer]) -> None:
    explorer = made(measured=([1, 2.5], [20, 71]))
    assert explorer.about["measured"] == [[[1, 20], [2.5, 71]]]
    first = ExplorerWidget(explorer)
    assert ": 20 to 71." in first.picture["words"]
    assert ": 20 to 71." in first.still()["text/plain"]
    assert made().about["measured"] == made(measured=([], [])).about["measured"] == []


def test_the_sawtooth_has_reno_s_period() -> None:
    explorer = theory.sawtooth()
    ((_, points), (_, ((_, full), _)), (_, ((_, bdp), _))) = explorer.picture(explorer.values)["lines"]
    losses = [late for (late, low), (_, high) in zip(points[1:], points, strict=False) if low < high - 1]
    expected_s = reno_period_s(bdp, full, transmission_ms(1514, 20) / 1000)
    assert [late - early for early, late in pairwise(losses)] == pytest.approx([expected_s] * 2, rel=0.02)
