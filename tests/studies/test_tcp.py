"""TCP versions through the switches: what the model says, and made-up tables of which claims come out either way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from linklab.runtime.backends import Kind
from linklab.study import Measured, run
from linklab.study.table import StudyTable
from studies.tcp.judges import CEILING_MBPS, furthest_percent, model_percent
from studies.tcp.study import KERNEL, KNOWN, LATER, MIXED, TCP, TOGETHER, VERSIONS

from ..study import tables as made

EVEN = (1, 1.01, 0.99, 1)
UNEVEN = (1, 1.5, 0.5, 1)
ALONE = (0.6, 0.6, 2.2, 0.6)


def table(
    shares: Sequence[float] = EVEN,
    ovs: Sequence[float] = (),
    later: Sequence[float] = ALONE,
    full: float = 1,
    off_points: float = 0,
) -> StudyTable:
    """A made-up table: shares of four senders, on Open vSwitch too unless it has others, and where h3 starts later; and
    CUBIC beside BBR, off the model.
    """
    rows: list[tuple[dict[str, Any], int, list[Measured]]] = []
    settings = [(version, kind, TOGETHER) for version in VERSIONS for kind in KERNEL]
    for repeat in range(1, 11):
        for version, kind, start in (*settings, ("vegas", "ovs", KNOWN), ("vegas", "bridge", LATER)):
            levels = {"switch": kind, "versions": "/".join([version] * 4), "start": start, "queue_packets": 100,
                      "sender_link_percent": 100, "duration_s": 24}  # fmt: skip
            each = later if start == LATER else (ovs or shares) if kind == "ovs" else shares
            mbps = [it * full * CEILING_MBPS / 4 + 0.001 * repeat for it in each]
            got = [Measured("share_mbps", it, of=f"h{number}") for number, it in enumerate(mbps, 1)]
            rows.append((levels, repeat, [*got, Measured("sum_mbps", sum(mbps))]))
        for queue in (100, 10):
            for link in (100, 1000):
                levels = {"switch": "bridge", "versions": MIXED, "start": TOGETHER, "queue_packets": queue,
                          "sender_link_percent": link, "duration_s": 45}  # fmt: skip
                cubic = model_percent(queue, link) + off_points + 0.01 * repeat
                beside = [Measured("share_mbps", it, of=of) for of, it in (("h1", 100 - cubic), ("h2", cubic))]
                rows.append((levels, repeat, beside))
    return made.table(TCP, rows)


def test_the_model_leaves_cubic_near_half_of_a_long_queue_and_little_of_a_short_one() -> None:
    # 2.117 packets of 1.2304 ms are on the way in 2.6048 ms; of 10 s BBR is silent for 123.04 + 200 + 2.6048 ms
    assert model_percent(100, 100) == pytest.approx(100 * (1 - 0.9674355 * (1 - (0.5 - 2.117 / 200 - 0.04))), abs=0.01)
    assert model_percent(10, 100) == pytest.approx((12.304 + 200 + 2.6048) / 100)


def test_faster_links_are_the_senders_alone() -> None:
    point = next(it for it in TCP.points() if it["sender_link_percent"] == 1000)
    place = TCP.place(point)
    assert place is not None
    rates = {link.label: link.rate_mbps for link in place.network.links}
    assert rates == {"h1-s1": 100, "h2-s1": 100, "t1-s1": 10}


@pytest.mark.large
@pytest.mark.lab
def test_vegas_is_uneven_on_open_vswitch_until_it_knows_the_flows(virtual: Kind, tmp_path: Path) -> None:
    found = run(TCP.short_form(), tmp_path)
    together, known = (furthest_percent(found, "vegas", "ovs", it).same for it in (TOGETHER, KNOWN))
    assert known < 1 < 40 < together
