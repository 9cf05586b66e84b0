"""The numbers behind the sliders are theory's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.show import theory
from linklab.show.theory import Explorer
from linklab.show.widgets.explorer import ExplorerWidget


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
