"""Where two recorded runs part."""

from __future__ import annotations

import pytest

from linklab.measure import Recording
from linklab.show.player.columns import PlayedRun
from linklab.show.player.differences import RunDifference, first_packet_apart

from .recorded import MS, recorded


def apart(one: Recording, two: Recording) -> RunDifference | None:
    return first_packet_apart(PlayedRun(one, congestion={("h1", "h2"): "reno"}), PlayedRun(two))


@pytest.mark.parametrize(
    ("other", "packets", "at_ms", "words"),
    [
        (recorded(lost=(4, 7)), (4, 4), 4, "it is lost at h1-eth0 in the second run, and not in the first"),
        (recorded(lost=()), (7, 7), 7, "it is lost at h1-eth0 in the first run, and not in the second"),
        (recorded(late_ms=3), (8, 8), 8, "it leaves h1-eth0 3.000 ms later in the second run"),
    ],
)
def test_the_first_packet_that_differs(other: Recording, packets: tuple[int, int], at_ms: float, words: str) -> None:
    found = apart(recorded(), other)
    assert found is not None
    assert (found.packets, found.at_ns, found.words) == (packets, at_ms * MS, f"TCP h1 to h2: {words}")


def test_runs_of_other_moments_and_a_clock_s_steps_are_the_same() -> None:
    assert apart(recorded(), recorded(begin_s=50.0)) is None
    assert apart(recorded(), recorded(late_ms=0.05)) is None


def test_what_a_switch_sends_to_all_is_no_difference() -> None:
    flooded = recorded()
    copy = flooded.hops[0]._replace(interface="h2-eth0", discarded="OTHERHOST")
    flooded.hops = (copy, *flooded.hops)
    assert apart(recorded(), flooded) is None


def test_a_packet_that_one_run_lacks_differs() -> None:
    short = recorded()
    short.hops = tuple(it for it in short.hops if it.packet not in (9, 18))
    found = apart(recorded(), short)
    assert found is not None
    assert found.packets == (9, None)
    assert found.words == "TCP h1 to h2: the first run alone has this packet, at h1-eth0"
