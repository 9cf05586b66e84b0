"""What Lab 17 asks of answers that arrive at once, and how it is judged: incast.

Theory: TCP's first window and least timeout (RFC 6928, RFC 6298), and tail loss probes (RFC 8985).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.data_centre import incast_senders
from linklab.grade.check import Check, Refuse
from linklab.grade.choices import letters
from linklab.grade.measured import measured, state_of_run
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.questions import asked_each
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Wanted, exactly, refuse_another_network, require_run
from linklab.labs.lab17.networks import ANSWER_BYTES, ANSWER_PACKETS, asks, lost_packets, queue_packets, rack
from linklab.labs.lab17.predicted import LEAST_TIMEOUT_MS, PREDICTIONS
from linklab.measure import PageFlow, PageResult, Run
from linklab.units import ETHERNET_OVERHEAD_BYTES, transmission_ms

__all__: list[str] = []

_BEAT_MS: Final = 10
"""The lab's kernel counts TCP's timers in beats of its clock."""


def _requests() -> dict[str, int]:
    most = incast_senders(queue_packets(), ANSWER_PACKETS) - 1
    return {"fits": most, "first": most + 1, "twice": 2 * most, "probe": 2 * most}


def _slowest_expected(key: str, number: int) -> Expectation:
    """Return how late the slowest of so many answers is after a loss, with or without probes."""
    link, rtt_ms = rack().links[0], 2 * rack().links[1].delay_ms
    packet_ms = transmission_ms(FRAME_BYTES + ETHERNET_OVERHEAD_BYTES, link.rate_mbps or 1)
    all_ms, least = 2 * rtt_ms + number * ANSWER_PACKETS * packet_ms, LEAST_TIMEOUT_MS
    if key == "probe":
        why = "a probe shows what is missing after two round trips: no timeout"
        return Expectation(2 * all_ms, 0.5 * all_ms, least, "ms", why, None, source="RFC 8985, section 7")
    return Expectation(
        least + all_ms, least, least + 3 * all_ms + 4 * _BEAT_MS, "ms",
        "the last segments are lost, so nothing tells of it but the timeout", "low",
        source="Linux's least timeout beside the round trip (RFC 6298 asks for 1 s)",
        allowance="four beats of the kernel's clock, and a second round of answers",
    )  # fmt: skip


def _answers(key: Any, given: object) -> Check:
    number = _requests()[key]
    what = f"{number} answers at once ({key})"
    fields = (
        exactly("object_bytes", ANSWER_BYTES, "take lab17.asks(...)"),
        exactly("objects", 1),
        exactly("start_s", 0.0),
    )
    wanted: list[Wanted[Any]] = [Wanted(PageFlow, ("h1", it.destination), fields) for it in asks(number)]
    run = require_run(what, given, wanted, "keep what measure.run_together(lab, lab17.asks(...)) returns",
                      {PageFlow: f"send {number} requests: lab17.asks({number})"})  # fmt: skip
    refuse_another_network(what, state_of_run(run), rack())
    lost = lost_packets(run) or 0
    if key == "fits":
        packets = ANSWER_PACKETS * number
        fit = Expectation(0, 0, 0, "packets", f"{packets} packets fit into {queue_packets()} places")
        return measured(f"{what}: lost", lost, fit, "start the rack anew: is anything else on it?")
    if not lost:
        raise Refuse(
            what, "no packet was lost", f"lab17.asks({number}): is the rack as it was built?", "losses", "none"
        )
    if key == "first":
        return Check.passing(f"{what}: lost", "at least one packet", f"{lost} packets")
    expected = _slowest_expected(key, number)
    setting = "tcp_early_retrans is 0 on all servers for twice, and 3 for probe: sysctl -w ..."
    return measured(f"{what}: the slowest", _slowest_ms(run), expected, (expected.explanation, setting))


@guarded
def check_incast(given: object) -> Result:
    """Judge four runs of answers that come at once: the first loss, its price, and what a probe saves."""
    keys = _requests()
    example = "{" + ", ".join(f"{key!r}: ..." for key in keys) + "}"
    result = asked_each("Lab 17, incast", given, keys, _answers, example)
    return PREDICTIONS.compared(result, "incast", _found(given) if result.passed else {})


def _found(runs: Any) -> dict[str, float]:
    """Return what was measured of what was predicted, in runs that have passed."""
    return {"requests": len(runs["first"].of(PageResult)), "late": _slowest_ms(runs["twice"])}


def _slowest_ms(run: Run) -> float:
    return max(max(it.page_ms) for it in run.of(PageResult))


check_timeout = letters("Lab 17, why 200 ms", Path(__file__).parent, "timeout")
"""Judge why the first lost answer is so late."""
