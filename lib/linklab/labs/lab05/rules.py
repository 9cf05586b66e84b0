"""The checks of Lab 05, path latency and throughput: predictions, pings and transfers, pipes and queues, the report.

Each function returns a :class:`~linklab.grade.result.Result`. What is expected of a measurement comes from theory for
the network as it was read back right before it (`linklab.analysis`); numbers that the student computes are held
against the student's own measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from linklab.analysis.tcp_model import bottleneck_hop, full_queue_share_ms, pipe_of
from linklab.grade.alone import loaded_checks, ping_check, transfer_check
from linklab.grade.asked import choice_check, each
from linklab.grade.check import Check
from linklab.grade.idle_way import ceiling_prediction, exactly, rtt_prediction
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.queue_seen import queue_checks
from linklab.grade.result import Result, guarded
from linklab.grade.slips import loaded_rtt_slips
from linklab.labs.lab05.paths import PATHS, WEAKEST, way_named
from linklab.measure import AtOnce, SimpleperfResult, TcpResult

LOADED: Final = "h1-h4"
"""The path on which ping and transfer run at once."""
_LABELS: Final = ("L1", "L2", "L3")
_MS: Final = '{"h1-h4": 12.3, ...}, in ms'


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """The name of the link that limits each of :data:`PATHS`: ``{"h1-h4": "L1", ...}``."""

    def check(name: object, value: object) -> Check:
        right = bottleneck_hop(way_named(name)).link.label
        others = dict.fromkeys(_LABELS, f"it is not on the path, or another link there is slower: {WEAKEST}")
        return choice_check(f"bottleneck of {name}", value, right, _LABELS, others)

    return each("Lab 05, the bottlenecks", bottlenecks, PATHS, '{"h1-h4": "L1", ...}', check)


@guarded
def check_rtt(predicted_ms: object) -> Result:
    """The predicted round trip of each of :data:`PATHS`, idle, in ms, within 2 %."""
    title = "Lab 05, predicted round-trip times"
    return each(title, predicted_ms, PATHS, _MS, lambda name, value: rtt_prediction(str(name), value, way_named(name)))


@guarded
def check_throughput(predicted_mbps: object) -> Result:
    """The predicted ceiling of TCP's throughput on each of :data:`PATHS`, in Mbit/s, within 2 %."""
    title = "Lab 05, predicted throughput"
    example = '{"h1-h4": 12.3, ...}, in Mbit/s'
    return each(
        title, predicted_mbps, PATHS, example, lambda name, value: ceiling_prediction(str(name), value, way_named(name))
    )


@guarded
def check_pings(pings: object) -> Result:
    """25 pings on each of :data:`PATHS`, idle: results of `linklab.measure.run` by name."""
    title = "Lab 05, measured round-trip times"
    example = "a dictionary of results, one for each path"
    return each(title, pings, PATHS, example, lambda name, value: ping_check(str(name), value, PATHS[str(name)]))


@guarded
def check_transfers(transfers: object) -> Result:
    """A transfer of 25 s over each of :data:`PATHS`: results of `linklab.measure.run` by name."""
    title = "Lab 05, measured throughput"
    example = "a dictionary of results, one for each path"
    return each(
        title, transfers, PATHS, example, lambda name, value: transfer_check(str(name), value, PATHS[str(name)])
    )


@guarded
def check_loaded_prediction(predicted_ms: object) -> Result:
    """The predicted highest RTT of pings on :data:`LOADED` beside a transfer, in ms, within 2 %."""
    it = way_named(LOADED)
    pipe = pipe_of(it)
    right = it.rtt_floor_ms + pipe.room_packets * pipe.packet_ms
    how = f"the idle path's {it.rtt_floor_ms:g} ms, and the time of the packets that wait at the bottleneck"
    expected = exactly(right, "ms", how)
    narrow = bottleneck_hop(it).link
    others = [link for link in it.forward.links if link.rate_mbps and link != narrow]
    mistakes = [
        *loaded_rtt_slips(it, expected),
        *(
            Mistake(
                it.rtt_floor_ms + full_queue_share_ms(link),
                f"that is with the queue of {link.label}",
                "the queue stands before the slowest link, where packets arrive faster than they leave",
                0.005,
            )
            for link in others
        ),
    ]
    field = Number("highest RTT", f"highest RTT of {LOADED} beside a transfer", expected, mistakes, how)
    return Result("Lab 05, a full queue on the path", (number_check(field, predicted_ms),))


@guarded
def check_together(run: object) -> Result:
    """What `linklab.measure.at_once` gave for 25 pings, one a second, beside a transfer of 25 s from h1 to h4."""
    return Result("Lab 05, ping and transfer at once", loaded_checks(LOADED, run, PATHS[LOADED]))


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """``link``, whose queue it was, and ``mean_added_ms`` and ``mean_packets`` of the pings in ``run``."""
    it = way_named(LOADED)
    numbers = queue_checks(run if isinstance(run, AtOnce) else None, it.rtt_floor_ms, bottleneck_hop(it).link)
    added_ms = full_queue_share_ms(next(link for link in it.forward.links if link.label == "L1"))
    where = "look where packets arrive faster than they leave"
    hints = {
        "L1": f"L1's full queue adds {added_ms:.1f} ms, and you saw more: {where}",
        "L3": "L3 is not on this path",
    }

    def check(name: object, value: object) -> Check:
        if name == "link":
            return choice_check("the link with the queue", value, bottleneck_hop(it).link.label, _LABELS, hints)
        return numbers(name, value)

    return each(
        "Lab 05, what the queue added", answers, ("link", "mean_added_ms", "mean_packets"), '{"link": "L1", ...}', check
    )


@guarded
def check_tools(transfers: object, iperf3: object) -> Result:
    """iperf3 over :data:`LOADED` as a baseline of this session: it is as theory says, and simpleperf is beside it."""
    title = "Lab 05, beside iperf3"
    ends = PATHS[LOADED]
    baseline = transfer_check(f"{LOADED}, iperf3", iperf3, ends, function="measure.run")
    if not isinstance(iperf3, TcpResult):
        if isinstance(iperf3, SimpleperfResult):
            hint = f'measure it with iperf3: measure.run(lab, TcpFlow("{ends[0]}", "{ends[1]}", duration_s=25))'
            baseline = Check.failing(baseline.description, "this is simpleperf again", hint, "iperf3")
        return Result(title, (baseline,))
    mine = transfers.get(LOADED) if isinstance(transfers, Mapping) else None
    beside = [iperf3.throughput_mbps] if baseline.passed else []
    return Result(title, (baseline, transfer_check(f"{LOADED}, simpleperf", mine, ends, beside)))
