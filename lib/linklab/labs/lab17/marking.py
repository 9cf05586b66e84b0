"""What Lab 17 asks of a queue that marks packets, and how it is judged: DCTCP's sawtooth, and a mouse beside it."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.data_centre import dctcp_queue
from linklab.grade.check import Check, Refuse
from linklab.grade.measured import measured, state_of_run
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.questions import asked_each
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.grade.wanted import Wanted, at_least, at_most, exactly, refuse_another_network, require_run
from linklab.labs.lab17.networks import K, rack
from linklab.labs.printed import setting
from linklab.measure import PingFlow, PingResult, QueueFlow, QueueResult, TcpFlow
from linklab.units import BITS_PER_BYTE, transmission_ms

__all__: list[str] = []

_SAWTOOTH: Final = Trial(
    lambda bdp, k: list(dctcp_queue(bdp, k)),
    {"the rack": (6.6, 20), "a low threshold": (6.6, 5), "10 Gbit/s and 100 us": (82.6, 65), "a long path": (500, 40)},
    (
        "how far does the window fall, and what is left in the queue then?",
        "W = bdp + k; a = sqrt(2 / W); the window falls from W + 1 by the share a / 2",
        "[k + 1 - (W + 1) * a / 2, k + 1]",
    ),
    (
        Formula(lambda bdp, k: [(bdp + k + 1) / 2 - bdp, k + 1], "this halves the window", "DCTCP lowers it by a / 2"),
        Formula(
            lambda bdp, k: [k + 1 - (bdp + k + 1) * (2 / (bdp + k)) ** 0.5, k + 1],
            "this lowers the window by the whole share a",
            "by a / 2: if all packets are marked, a is 1, and DCTCP halves its window as Reno does",
        ),
        Formula(lambda bdp, k: [k + 1 - ((bdp + k) / 2) ** 0.5, k + 1], "this lowers the window from W", "from W + 1"),
        Formula(
            lambda bdp, k: [k - (bdp + k + 1) * (2 / (bdp + k)) ** 0.5 / 2, k],
            "this queue ends at k",
            "before the sender hears of a mark, the window has risen by one more: to k + 1 in the queue",
        ),
        Formula(
            lambda bdp, k: [k + 1 - (k + 1) * (2 / k) ** 0.5 / 2, k + 1],
            "this takes the queue alone for the window",
            "the window is also what is under way: bdp + k",
        ),
    ),
)


@guarded
def check_sawtooth(function: object) -> Result:
    """Judge a function that gives the least and the largest queue of one flow of DCTCP."""
    return Result("Lab 17, the sawtooth of DCTCP", _SAWTOOTH.checks(function))


SETTLED_S: Final = 1.0
"""After this time a transfer's start is over."""


def _beside(key: Any, given: object) -> Iterator[Check]:
    what = f"a mouse beside {key.upper()}"
    wanted: list[Wanted[Any]] = [
        Wanted(TcpFlow, ("h2", "h1"), (exactly("congestion", key), exactly("streams", 1), at_least("duration_s", 3))),
        Wanted(QueueFlow, ("leaf1", "h1"), (at_most("interval_s", 0.02), at_least("duration_s", 3))),
        Wanted(PingFlow, ("h3", "h1"), (at_least("start_s", SETTLED_S), at_least("count", 20))),
    ]
    run = require_run(what, given, wanted, "keep what measure.run_together(lab, beside(...)) returns")
    network = rack(marking=True)
    refuse_another_network(what, state_of_run(run), network)
    queue, ping = run.of(QueueResult)[0], run.of(PingResult)[0]
    rate, rtt_ms = network.links[0].rate_mbps or 1, 2 * network.links[1].delay_ms
    packet_ms = transmission_ms(FRAME_BYTES, rate)
    bdp = rate * rtt_ms * 1000 / BITS_PER_BYTE / FRAME_BYTES
    threshold_packets = setting(queue.discipline, "ce_threshold") / packet_ms
    if key == "dctcp":
        if abs(threshold_packets - K) > 0.03 * K:
            hint = (f"K is {K} packets: how long do they wait in the queue? tc takes that time",
                    f"ce_threshold {K * packet_ms:.3f}ms")  # fmt: skip
            said = f"marks after {threshold_packets:.3g} packets" if threshold_packets else "marks nothing"
            raise Refuse(what, f"the queue of leaf1-eth1 {said}", hint, f"{K} packets", said)
        low, high = dctcp_queue(bdp, K)
        source, slack = "Alizadeh and others, SIGCOMM 2010, section 3.3", 1.5
    else:
        if threshold_packets:
            raise Refuse(what, "this queue marks packets", "CUBIC comes first, with the queue as built", "", "marks")
        size = network.links[0].queue_packets or 0
        low, high, source, slack = 0.7 * (size + bdp) - bdp, size, "RFC 9438, section 4.6", 2
    packets = fmean(it.packets for it in queue.samples if it.at_s > SETTLED_S)
    why = "the window swings between what fills the queue and what is left after it falls"
    full = Expectation((low + high) / 2, low - slack, high + slack, "packets", why, None, source=source,
                       allowance=f"{slack:g} packets for bursts")  # fmt: skip
    hints = (why, "tcp_ecn=1 on h1 and h2, and does tc -s qdisc show dev leaf1-eth1 count marks?")
    yield measured(f"{what}: queue", packets, full, hints)
    least_ms, most_ms = rtt_ms + (low - slack) * packet_ms, rtt_ms + (high + slack) * packet_ms
    delay = Expectation(
        (least_ms + most_ms) / 2, least_ms, most_ms, "ms",
        "the idle round trip, and the queue", None, source=source, allowance=full.allowance,
    )  # fmt: skip
    yield measured(f"{what}: ping h3-h1", ping.headline, delay, hints)


@guarded
def check_marking(given: object) -> Result:
    """Judge the queue and a ping beside a transfer of CUBIC, and of DCTCP with marks from K packets on."""
    example = "{'cubic': ..., 'dctcp': ...}"
    return asked_each("Lab 17, marks", given, ("cubic", "dctcp"), _beside, example)
