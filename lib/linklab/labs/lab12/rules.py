"""What Lab 12, Bufferbloat and queue management, asks of measurements, and how it is judged.

Intervals come from the network as it was read back right before each run, and from what tc said of the queue at its
end, which is part of the result (`linklab.measure.QueueResult.discipline`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from linklab.analysis import Expectation, answered, measured_path
from linklab.course import course_network
from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import letters
from linklab.grade.measured import measured, state_of_run
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.grade.seeding import seeds
from linklab.grade.student_functions import Formula, Trial
from linklab.grade.wanted import Field, Wanted, at_least, at_most, exactly, require_fields, require_run, require_shape
from linklab.labs.bottlenecks import (
    NO_OTHER_TRANSFER,
    Cable,
    bottleneck_of,
    derived,
    full_queue_rtt,
    planned,
    require_same_bottleneck,
    samples_of_queue,
    transfer,
)
from linklab.labs.claims import claim, contradicts
from linklab.labs.printed import setting
from linklab.measure import PageFlow, PageResult, PingFlow, PingResult, QueueFlow, QueueResult, Run, TcpFlow, TcpResult
from linklab.measure.flows import Flow
from linklab.network import End, Network, goodput_ceiling_mbps
from linklab.units import transmission_ms

__all__ = ["APART", "ONE_QUEUE", "modem_mbps", "the_network", "unseen"]


# --- The network, and others that nobody has seen

UPLOAD: Final = ("h1", "h3")
READER: Final = ("h2", "h3")
PAGE: Final = PageFlow(*READER)
"""The page: how many objects it has, and of what size."""
BANDS_MBPS: Final = {"slow": (2.5, 4.0), "middle": (8.0, 14.0), "fast": (30.0, 40.0)}
"""Rates of the modems that nobody has seen."""
_RTTS_MS: Final = (12, 24)
"""Their round trips, least and most."""
_ETHERNET_MBPS: Final = 100.0
"""U's rate where a modem behind it is the bottleneck."""
MODEM: Final = End("r2", "r2-eth1")
"""The modem's interface to the provider, and its queue."""
_STEPS: Final = 16
_UPLINK: Final = "U"
QUEUE_PACKETS: Final = 1000
"""Packets that a Linux interface's queue holds by default (txqueuelen)."""
_UPLINK_SLOWER: Final = 2


def access(course: Network) -> Network:
    """Return a home's access network, derived from a course network: two hosts, a router, and its slow uplink U.

    Bufferbloat was described on it: what a home sends waits at its own router, before U (J. Gettys, K. Nichols,
    "Bufferbloat: Dark Buffers in the Internet", 2011). All delay lies behind U, so U's queue, at r1-eth2, counts
    waiting packets alone.

    U has half the rate of the course network's L3, and the link behind U has its delay: from the plain course network,
    10 Mbit/s and a round trip of 20 ms.
    """
    link = course.link("L3")
    rate_mbps = (link.rate_mbps or 0.0) / _UPLINK_SLOWER
    cables: dict[str, Cable] = {
        "A": (("h1-eth0", 2), ("r1-eth0", 1), {}),
        "C": (("h2-eth0", 2), ("r1-eth1", 1), {}),
        "D": (("r1-eth2", 1), ("r2-eth0", 2),
              {"name": _UPLINK, "rate_mbps": rate_mbps, "queue_packets": QUEUE_PACKETS}),
        "E": (("r2-eth1", 1), ("h3-eth0", 2), {"delay_ms": link.delay_ms}),
    }  # fmt: skip
    return derived(course, "access", cables)


def with_modem(network: Network, rate_mbps: float, rtt_ms: float) -> Network:
    """Return the same network with a fast U, and behind it a modem of this rate with a FIFO of its own."""
    links = tuple(
        link.reshaped(rate_mbps=_ETHERNET_MBPS)
        if link.name == _UPLINK
        else link.reshaped(rate_mbps=rate_mbps, delay_ms=rtt_ms / 2, queue_packets=QUEUE_PACKETS)
        if link.delay_ms
        else link
        for link in network.links
    )
    return replace(network, name=f"{network.name}-{rate_mbps:g}-{rtt_ms:g}".replace(".", "_"), links=links)


def the_network() -> Network:
    """Return the student's own access network."""
    return access(course_network())


def unseen() -> dict[str, Network]:
    """Return three access networks with a slow, a middle and a fast modem, whose numbers are drawn anew each time."""
    found = {}
    for name, (low, high) in BANDS_MBPS.items():
        rate, rtt = seeds(f"an unseen uplink, {name}", 2, _STEPS)
        rate_mbps = round(low + (high - low) * rate / (_STEPS - 1), 1)
        rtt_ms = _RTTS_MS[0] + 2 * round((_RTTS_MS[1] - _RTTS_MS[0]) / 2 * rtt / (_STEPS - 1))
        found[name] = with_modem(the_network(), rate_mbps, rtt_ms)
    return found


def modem_mbps(network: Network) -> float:
    """Return the rate of a network's modem."""
    ends = [(end.interface, link) for link in network.links for end in link.ends]
    return next(link.rate_mbps or 0.0 for interface, link in ends if interface == MODEM.interface)


def idle_ms(network: Network) -> float:
    """Return the round trip of an access network as planned, with no queue."""
    return 2 * fsum(link.delay_ms for link in network.links)


def frame_ms(rate_mbps: float) -> float:
    """Return how long one full frame occupies an uplink, in ms."""
    return transmission_ms(FRAME_BYTES, rate_mbps)


def _bloat() -> list[Value]:
    network = the_network()
    uplink, base_ms, trips = network.link(_UPLINK), idle_ms(network), PAGE.round_trips
    queue, rate = uplink.queue_packets or 0, uplink.rate_mbps or 1.0
    ping = full_queue_rtt("ping", "ping beside a full queue", base_ms, queue, frame_ms(rate))
    full_ms = ping.expected.value
    rounds = f"each of the {PAGE.objects} objects takes two round trips: one to connect, one for request and response"
    bytes_s = PAGE.objects * PAGE.object_bytes * 8 / 1e6 / rate
    slips = (
        Slip(trips * base_ms / 1000, "that is the page on an idle path", "each round trip waits in the full queue"),
        Slip(full_ms / 1000, "that is one round trip", rounds),
        Slip(PAGE.objects * full_ms / 1000, "that counts one round trip for each object", rounds),
        Slip((PAGE.objects + 1) * full_ms / 1000, "that connects once only",
             "h2 opens a new connection for each object"),
        Slip(bytes_s, "that is the time to send the page's bytes", "a small page's time is that of its round trips"),
    )  # fmt: skip
    expected = stated(trips * full_ms / 1000, "s", "round trips through a full queue")
    return [ping, Value("page", "page beside a full queue", expected, rounds, slips)]


PREDICTIONS: Final = Predictions("Lab 12", {"bloat": _bloat})


# --- How many packets a queue may hold


def limit_packets(rate_mbps: float, wait_ms: float) -> int:
    """Return how many full frames a link sends in that time, whole ones, and at least one."""
    return max(1, math.floor(rate_mbps * 1000 * wait_ms / (FRAME_BYTES * 8)))


def _exact(rate_mbps: float, wait_ms: float) -> float:
    return rate_mbps * 1000 * wait_ms / (FRAME_BYTES * 8)


_WHOLE: Final = "with one more packet the last one waits too long: round down to a whole number"
_TRIAL: Final = Trial(
    limit_packets,
    {
        "10 Mbit/s, 20 ms": (10, 20),
        "2.5 Mbit/s, 20 ms": (2.5, 20),
        "40 Mbit/s, 20 ms": (40, 20),
        "10 Mbit/s, 100 ms": (10, 100),
        "100 Mbit/s, 5 ms": (100, 5),
        "0.5 Mbit/s, 20 ms": (0.5, 20),
    },
    (
        "how many frames of 1514 bytes does the link send in this time?",
        "1 Mbit/s for 1 ms are 1000 bits; a frame has 1514 * 8 bits; return a whole number",
        "max(1, math.floor(rate_mbps * 1000 * wait_ms / (1514 * 8)))",
    ),
    (
        Formula(_exact, "that is not a whole number", _WHOLE),
        Formula(lambda rate, wait: max(1, math.ceil(_exact(rate, wait))), "that rounds up", _WHOLE),
        Formula(lambda rate, wait: max(1, round(_exact(rate, wait))), "that rounds to the nearest", _WHOLE),
        Formula(lambda rate, wait: math.floor(_exact(rate, wait)), "some limits are 0, and such a queue sends nothing",
                "return at least 1"),
        Formula(lambda rate, wait: max(1, math.floor(8 * _exact(rate, wait))), "that takes bytes for bits",
                "a frame has 1514 * 8 bits"),
        Formula(
            lambda rate, wait: max(1, math.floor(rate * 1000 * wait / (1500 * 8))),
            "that is for frames of 1500 bytes",
            "Ethernet's header occupies the link too: a full frame has 1514 bytes",
        ),
        Formula(lambda rate, wait: max(1, math.floor(_exact(rate, wait) / 1000)),
                "every answer is a thousandth of the right one", "1 Mbit/s for 1 ms are 1000 bits"),
        Formula(lambda rate, wait: max(1, math.floor(1000 * _exact(rate, wait))), "that takes ms for s",
                "1 ms is 0.001 s: 1 Mbit/s for 1 ms are 1000 bits"),
        Formula(lambda rate, wait: limit_packets(rate, 2 * wait), "that is twice as many",
                "only one direction has a queue"),
        Formula(lambda rate, wait: limit_packets(10, wait), "that is the answer for 10 Mbit/s, at every rate",
                "use rate_mbps"),
    ),
    remarks={
        "0.5 Mbit/s, 20 ms": "one frame takes 24 ms here, longer than the limit, but a queue must hold one packet"
    },
)  # fmt: skip


@guarded("Lab 12, a queue's limit")
def check_limit(function: object) -> Iterable[Check]:
    """Judge a function of a rate in Mbit/s and a time in ms: how many full frames may wait, at least 1."""
    return _TRIAL.checks(function)


# --- Measurements

_FOLDER: Final = Path(__file__).parent
ONE_QUEUE: Final = ("pfifo", "red", "codel")
APART: Final = ("fq_codel", "cake")
RUN_S: Final = 40
FINALE_S: Final = 30
WAIT_MS: Final = 20
"""Most that a short FIFO may add to a ping."""
RED_MAX_BYTES: Final = 22_500
"""RED's max in the lab's text: 18 ms at 10 Mbit/s."""
CODEL_TARGET_MS: Final = 5
"""CoDel's default target."""
PING_MS: Final = 60
USE_PERCENT: Final = 95
MODEM_USE_PERCENT: Final = 90
"""What the finale asks for: whoever sends a little less than the modem keeps its queue empty."""
_FEWEST_PINGS: Final = 100
_BELOW_PERCENT: Final = 95
"""Percentage of pings that must be below the limit: a single ping may meet a burst."""
_LOST_PERCENT: Final = 25
"""Largest loss of pings that passes. A short FIFO that is mostly full lost up to 11 % in trials."""
_HOW: Final = "store what measure.run_together(lab, beside(...)) returns"
_OWN_UPLINK: Final = "measure in a lab of lab12.the_network(): the networks that nobody has seen have other uplinks"
_BESIDE: Final = "measure the flows that beside(...) returns"


# --- What a run holds


def upload_of(run: Run) -> TcpResult:
    """Return the upload."""
    return run.of(TcpResult)[0]


def pings_ms(run: Run) -> tuple[float, ...]:
    """Return the round trips of the answered pings beside the upload, in ms."""
    return answered(run.of(PingResult)[0].rtt_ms)


def highest_ms(run: Run) -> float:
    """Return the highest round trip beside the upload, in ms."""
    return max(pings_ms(run))


def low_ping_ms(run: Run) -> float:
    """Return the round trip, in ms, that 95 of 100 answered pings did not exceed."""
    found = sorted(pings_ms(run))
    return found[-(-_BELOW_PERCENT * len(found) // 100) - 1]


def page_s(run: Run) -> float:
    """Return the mean page load time, in seconds."""
    return fmean(run.of(PageResult)[0].page_ms) / 1000


def used_percent(run: Run, rate: float = 0.0) -> float:
    """Return the upload's share of what headers leave of a rate in Mbit/s; 0 stands for U's."""
    return 100 * upload_of(run).throughput_mbps / goodput_ceiling_mbps(rate or rate_mbps(run))


def queue_of(run: Run) -> QueueResult:
    """Return the samples of U's queue. Raises ValueError where there are none."""
    found = samples_of_queue(run)
    if found is None:
        raise ValueError("nobody looked at U's queue")
    return found


def kind_of(run: Run) -> str:
    """Return the discipline that held U's packets: ``"fq_codel"``."""
    return queue_of(run).discipline.partition(" ")[0]


def rate_mbps(run: Run) -> float:
    """Return U's rate as it was read back."""
    shape = bottleneck_of(run)
    return (shape.rate_mbps if shape is not None else None) or 0.0


def base_ms(run: Run) -> float:
    """Return the round trip of the links' delays, as they were read back."""
    return measured_path(the_network(), *UPLOAD, state_of_run(run)).rtt_floor_ms


# --- The right measurement


def run_of(what: str, given: object, seconds: float, kind: str = "", *, pages: bool = True) -> Run:
    """Return a run of an upload of so long, with pings and samples of the queue beside it. Refuse everything else.

    ``kind`` is the discipline that must have held U's packets, where that matters; ``pages`` is whether pages must have
    been loaded too.
    """
    beside = at_least("start_s", 1, _BESIDE)
    pings = (
        beside,
        at_least("sent_packets", _FEWEST_PINGS),
        Field("rtt_ms", lambda every: bool(answered(every)), _HOW),
    )
    wanted: list[Wanted[Any]] = [transfer(UPLOAD, "cubic", seconds), Wanted(PingFlow, READER, pings, step=_BESIDE)]
    if pages:
        loaded = Field("page_ms", bool, "let the run last to its end")
        wanted.append(Wanted(PageFlow, READER, (beside, loaded), step=_BESIDE))
    wanted.append(Wanted(QueueFlow, ("r1", UPLOAD[1]), (Field("samples", bool, _BESIDE),), step=_BESIDE))
    once: tuple[type[Flow], ...] = (PingFlow, PageFlow) if pages else (PingFlow,)
    run = require_run(what, given, wanted, _HOW, {**NO_OTHER_TRANSFER, **dict.fromkeys(once, _BESIDE)})
    for flow in (it.flow for it in run.results if isinstance(it.flow, once)):
        require_fields(what, flow, at_most("lasts_s", upload_of(run).flow.duration_s - flow.start_s, _BESIDE))
    own = (planned("rate_mbps", the_network().link(_UPLINK).rate_mbps, _OWN_UPLINK),) if pages else ()
    require_same_bottleneck(what, run, the_network(), *own)
    if kind and kind_of(run) != kind:
        hint = f"on r1 run tc qdisc replace dev r1-eth2 parent 5:1 {kind}, and read what tc prints; then measure again"
        raise Refuse(what, f"U's queue was {kind_of(run)}", hint, kind, queue_of(run).discipline)
    return run


def _setting(run: Run, name: str) -> float:
    """Return a number that tc shows of the queue that held U's packets."""
    return setting(queue_of(run).discipline, name)


# --- What is expected


def _use(what: str, run: Run, hints: Hints = "") -> Check:
    expected = Expectation(
        100.0, USE_PERCENT, 101.0, "% of what headers leave of U", "while the queue is empty, the uplink is idle",
        source="headers", allowance="what the lab asks for; 1 % is HTB's burst",
    )  # fmt: skip
    return measured(f"the upload's use of U, {what}", used_percent(run), expected, hints)


def _below(what: str, run: Run, hints: Hints) -> Check:
    sent = run.of(PingResult)[0]
    if sent.loss_percent > _LOST_PERCENT:
        reason = f"{sent.loss_percent:.0f} % of the pings were lost"
        return Check.failing(
            f"ping, {what}",
            reason,
            "a call needs its packets: choose a queue that drops fewer pings",
            f"{_LOST_PERCENT} %",
        )
    base, why = min(base_ms(run), PING_MS), f"{_BELOW_PERCENT} of 100 pings stay below {PING_MS} ms"
    expected = Expectation(base, base - 0.1, PING_MS, "ms", why, "low", allowance="what the lab asks for")
    return measured(f"ping, {what}", low_ping_ms(run), expected, hints)


def burst_ms(run: Run) -> float:
    """Return the ms that a page's object adds to a ping that comes back behind it: its bytes at the same rate."""
    flow = run.of(PageResult)[0].flow
    frames = -(-flow.object_bytes // 1448)
    return transmission_ms(flow.object_bytes + 66 * frames + 200, rate_mbps(run))


def _page(what: str, run: Run, *, lossless: bool) -> Check:
    """Judge a page: it takes its round trips, between the shortest and the longest ping each, and its bytes' time."""
    flow = run.of(PageResult)[0].flow
    trips, objects = flow.round_trips, flow.objects
    bytes_s = objects * burst_ms(run) / 1000
    low, high = trips * min(pings_ms(run)) / 1000, trips * highest_ms(run) / 1000 + bytes_s
    mean = (low + high) / 2
    if not lossless:
        # a connection's first packet that is dropped is sent again after a second (RFC 6298), and then after two
        high += 3.0
    expected = Expectation(
        mean, low, high, "s", f"{trips} round trips, none longer than the longest ping, and its bytes' time", "low",
        source="RFC 1945, and the pings of this run",
        allowance="" if lossless else "3 s on average, for packets of a page that are dropped (RFC 6298)",
    )  # fmt: skip
    return measured(f"page, {what}", page_s(run), expected)


def _ping(what: str, found_ms: float, low_ms: float, high_ms: float, why: str, source: str) -> Check:
    middle = (low_ms + high_ms) / 2
    expected = Expectation(middle, low_ms, high_ms, "ms", why, "low", source=source, allowance="three frames")
    return measured(what, found_ms, expected)


# --- A queue of 1000


_LONG: Final = "Lab 12, a queue of 1000 packets"


@guarded(_LONG)
def check_long(given: object) -> Result:
    """Judge an upload of 40 s with U's queue as it was built."""
    run = run_of("the run", given, RUN_S)
    if _setting(run, "limit") != QUEUE_PACKETS:
        hint = "start the lab again, and measure before you change the queue"
        raise Refuse("the run", "U's queue was changed", hint, "1000 packets", queue_of(run).discipline)
    one_ms = frame_ms(rate_mbps(run))
    full_ms = base_ms(run) + QUEUE_PACKETS * one_ms
    # a ping every 0.2 s may miss the fullest moment: Reno's line in CUBIC adds half a packet in each round trip
    high_ms, why = full_ms + 3 * one_ms + burst_ms(run), "delays and a full queue; CUBIC fills any"
    checks = (
        _ping("highest ping", highest_ms(run), 0.9 * full_ms, high_ms, why, "the queue's limit"),
        _page("a queue of 1000", run, lossless=False),
        _use("a queue of 1000", run),
    )
    result = Result(_LONG, checks)
    return PREDICTIONS.compared(result, "bloat", {"ping": highest_ms(run), "page": page_s(run)})


# --- One queue for all


def _refuse_longer(run: Run, name: str, most: float, unit: str, hint: str) -> None:
    """Refuse a queue whose setting of this name lets more wait than the lab asks for."""
    found = _setting(run, name)
    if found > most:
        what, shown = f"{name} of {kind_of(run)}", queue_of(run).discipline
        raise Refuse(what, f"it is {found:g} {unit}", hint, f"{most:g} {unit} or less", shown)


def _of_pfifo(run: Run) -> Check:
    hint = f"use the limit that your function returns for {rate_mbps(run):g} Mbit/s and {WAIT_MS} ms"
    _refuse_longer(run, "limit", limit_packets(rate_mbps(run), WAIT_MS), "packets", hint)
    high = base_ms(run) + (_setting(run, "limit") + 3) * frame_ms(rate_mbps(run)) + burst_ms(run)
    return _ping("highest ping, pfifo", highest_ms(run), base_ms(run), high, "a full queue", "its limit")


def _of_red(run: Run) -> Check:
    _refuse_longer(
        run, "max", RED_MAX_BYTES, "bytes", "use min and max from the text: they set how short the queue stays"
    )
    most_ms = transmission_ms(_setting(run, "max"), rate_mbps(run))
    high = base_ms(run) + most_ms + 3 * frame_ms(rate_mbps(run))
    why = "RED keeps the queue's average below its max"
    return _ping("mean ping, red", fmean(pings_ms(run)), base_ms(run), high, why, "Floyd and Jacobson, 1993")


def _of_codel(run: Run) -> Check:
    # replacing a queue by one of the same kind keeps the settings that the command does not name
    hint = f"give CoDel its default again: codel target {CODEL_TARGET_MS}ms"
    _refuse_longer(run, "target", CODEL_TARGET_MS, "ms", hint)
    high = base_ms(run) + 2 * _setting(run, "target") + 3 * frame_ms(rate_mbps(run))
    why = (
        "CoDel drops until packets wait less than its target; then TCP speeds up again, and they wait "
        "longer for a while"
    )
    return _ping("mean ping, codel", fmean(pings_ms(run)), base_ms(run), high, why, "RFC 8289")


_OF_KIND: Final[Mapping[str, Callable[[Run], Check]]] = {"pfifo": _of_pfifo, "red": _of_red, "codel": _of_codel}


@guarded
def check_one_queue(runs: object) -> Result:
    """Judge an upload of 40 s with each of `ONE_QUEUE` at U: its use of U, and what the discipline promises."""

    def judge(kind: str, given: object) -> Iterator[Check]:
        run = run_of(kind, given, RUN_S, kind)
        yield _OF_KIND[kind](run)
        yield _use(kind, run)

    return asked_each("Lab 12, one queue for all", runs, ONE_QUEUE, judge, '{"pfifo": measure.run_together(...), ...}')


# --- Flows apart


_OWN_RATE: Final = "this CAKE keeps a rate of its own, below U's: put cake unlimited at U; then measure again"


def _alone_checks(kind: str, run: Run) -> Iterator[Check]:
    one_ms = frame_ms(rate_mbps(run))
    high = base_ms(run) + 3 * one_ms + burst_ms(run)
    why = "a ping waits for the frame that U sends, and its answer may wait behind an object of a page"
    yield _ping(f"highest ping, {kind}", highest_ms(run), base_ms(run), high, why, "RFC 8290, section 4")
    yield _page(kind, run, lossless=True)
    yield _use(kind, run, _OWN_RATE if re.search(r"\bbandwidth \d", queue_of(run).discipline) else "")


@guarded
def check_apart(runs: object) -> Result:
    """Judge an upload of 40 s with each of `APART` at U: pings and pages hardly wait, and the upload has the rest."""

    def judge(kind: str, given: object) -> Iterator[Check]:
        run = run_of(kind, given, RUN_S, kind)
        _refuse_one_for_all(kind, run)
        return _alone_checks(kind, run)

    return asked_each("Lab 12, flows apart", runs, APART, judge, '{"fq_codel": measure.run_together(...), ...}')


def _refuse_one_for_all(what: str, run: Run) -> None:
    """Refuse a run through a queue that has queues for flows, but was told to put all flows into one."""
    queue, kind = queue_of(run).discipline, kind_of(run)
    if "flowblind" in queue or _setting(run, "flows") == 1:
        hint = f"leave the number of flows as it is: tc qdisc replace dev r1-eth2 parent 5:1 {kind}"
        raise Refuse(what, "this one was told to put all flows into one queue", hint, "a queue for each flow", queue)


# --- Marks in place of losses


@guarded("Lab 12, marks")
def check_ecn(given: object) -> Iterator[Check]:
    """Judge an upload of 40 s through fq_codel by a sender that asks for marks: packets are marked, none is lost."""
    run = run_of("the run", given, RUN_S, "fq_codel")
    marks, again = queue_of(run).marked_packets, upload_of(run).retransmitted_segments
    may_mark = " ecn " in f"{queue_of(run).discipline} "
    if marks and may_mark:
        yield Check.passing("packets that were marked", "one or more", str(marks))
    else:
        hint = (
            "h1 opens the connection: on h1 run sysctl -w net.ipv4.tcp_ecn=1; then measure again"
            if may_mark
            else "this queue's marks are off: put fq_codel ecn at U; then measure again"
        )
        yield Check.failing("packets that were marked", "fq_codel marked no packet", hint, "one or more", str(marks))
    if again:
        hint = "fq_codel marks packets if their sender has asked for marks: did h1 ask before this run?"
        yield Check.failing(
            "packets that were sent again", f"h1 retransmitted {again} packets", hint, "none", str(again)
        )
    else:
        yield Check.passing("packets that were sent again", "none", "0")
    yield from _alone_checks("marks", run)


# --- One ping in two queues, read from the replay

_PAIR: Final = ("FIFO", "fq_codel")
_PAIR_S: Final = 4
_READ_PING: Final = 3
"""Number of the ping whose wait students read, from 1."""
_PING_NUMBER_3: Final = Field(
    "rtt_ms", lambda every: len(every) >= _READ_PING and every[_READ_PING - 1] is not None,
    f"ping number {_READ_PING} must have an answer: run the cell of the replay again",
)  # fmt: skip


def _waits_ms(run: Run) -> list[float | None]:
    """Return how long each ping of a run waited at U: its round trip without the links' delays. None is a lost one."""
    return [None if rtt is None else rtt - base_ms(run) for rtt in run.of(PingResult)[0].rtt_ms]


@guarded
def check_waits(waits: object, pair: object) -> Result:
    """Judge how long one ping waited at U, in ms, in the runs with each of `_PAIR`.

    Right is what ping's round trip has above the links' delays. Ping prints three digits, and a reading may be rounded
    to whole ms above 100 ms, and to one decimal below.
    """
    title = "Lab 12, the same ping in two queues"
    runs = pair if isinstance(pair, Mapping) else {}
    wanted: list[Wanted[Any]] = [transfer(UPLOAD, "cubic", _PAIR_S), Wanted(PingFlow, READER, (_PING_NUMBER_3,))]
    found = {}
    for name in _PAIR:
        what = f"the run with {name}"
        found[name] = require_run(what, runs.get(name), wanted, "run the cell of the replay", NO_OTHER_TRANSFER)
        require_same_bottleneck(what, found[name], the_network())
    return asked(title, waits, [_wait(name, found) for name in _PAIR], '{"FIFO": ..., "fq_codel": ...}')


def _wait(name: str, runs: Mapping[str, Run]) -> Value:
    run, at = runs[name], _READ_PING - 1
    all_ms = _waits_ms(run)
    wait_ms = all_ms[at] or 0.0
    # ping cuts off what is behind its last digit, and a reading may be rounded up
    rounding_ms = 1.5 if wait_ms >= 100 else 0.15
    why, allowance = "the ping's round trip without the links' delays", "ping's digits, and rounding"
    least_ms = max(min(0.0, wait_ms), wait_ms - rounding_ms)  # no packet waits for less than no time
    expected = Expectation(wait_ms, least_ms, wait_ms + rounding_ms, "ms", why, source="the run", allowance=allowance)
    own_panel = "each run has a panel of its own, below its network"
    this_one = f"the panel shows the number of each ping (ICMP): read number {_READ_PING}"
    slips = [
        Slip(wait_ms + base_ms(run), "that is the whole round trip", "it has the links' delays too: subtract them"),
        *(
            Slip(other_ms, f"that is ping number {number}", this_one)
            for number, other_ms in enumerate(all_ms, 1)
            if number != _READ_PING and other_ms is not None and abs(other_ms - wait_ms) > 2 * rounding_ms
        ),
        *(
            Slip(_waits_ms(runs[other])[at] or 0.0, f"that is the wait in the run with {other}", own_panel)
            for other in _PAIR
            if other != name
        ),
    ]
    hints = (
        f"at which time does h2's ping number {_READ_PING} come to r1-eth2, and when does it leave?",
        "untick TCP, press . until the panel shows this ping, and read 'waited'",
        "or take the ping's round trip, and subtract the delay of both directions",
    )
    one_ms = frame_ms(rate_mbps(run))
    explained = (
        f"U needs {one_ms:.2f} ms for a full frame, so the ping waited for the time of {wait_ms / one_ms:.1f} frames."
    )
    return Value(name, f"wait of ping number {_READ_PING}, {name}", expected, hints, slips, explanation=explained)


# --- Networks that nobody has seen

_MODEM_HINTS: Final = (
    "where do packets wait: at U, which has 100 Mbit/s, or at the modem behind it, whose FIFO you cannot change?",
    "a queue that you can manage forms only where you send more slowly than the modem does",
    "let CAKE send a little less than the modem's rate: cake bandwidth, in mbit",
)
_USE_HINTS: Final = (
    "how much less than the modem does your router send?",
    f"the upload must use {MODEM_USE_PERCENT} % of what headers leave: send at 0.95 of the modem's rate, say",
)


@guarded
def check_finale(runs: object) -> Result:
    """Judge an upload of 30 s on each of the networks that nobody has seen, whose bottleneck is a modem behind U.

    Pings stay below 60 ms, and the modem is used by 90 %.
    """

    def judge(name: str, given: object) -> Iterator[Check]:
        run = run_of(name, given, FINALE_S, pages=False)
        low, high = BANDS_MBPS[name]
        another = "measure each network of lab12.unseen() in its own lab, and store the run under the network's name"
        modem = (
            Field("rate_mbps", lambda rate: rate is not None and low <= round(rate, 3) <= high, another),
            exactly("queue_packets", QUEUE_PACKETS, "leave the modem as it is: change U's queue alone"),
            exactly("loss_percent", 0.0, "leave the modem as it is: change U's queue alone"),
            at_least("delay_ms", _RTTS_MS[0] / 2, another),
        )
        require_shape(name, state_of_run(run), MODEM, modem)
        if kind_of(run) == "netem" and _setting(run, "limit") == QUEUE_PACKETS:
            hint = "read what tc printed for this uplink, and mend the text that queue_for returns"
            found = queue_of(run).discipline
            raise Refuse(name, "U's queue was not replaced", hint, "another queue", found)
        yield _below(name, run, _MODEM_HINTS)
        used, why = used_percent(run, modem_rate_mbps(run)), "while the modem's queue is empty, it is idle"
        expected = Expectation(
            100.0, MODEM_USE_PERCENT, 101.0, "% of what headers leave of the modem's rate", why,
            source="headers", allowance="what the lab asks for; 1 % is HTB's burst",
        )  # fmt: skip
        yield measured(f"the upload's use of the modem, {name}", used, expected, _USE_HINTS)

    example = '{"slow": measure.run_together(...), "middle": ..., "fast": ...}'
    return asked_each("Lab 12, unseen", runs, BANDS_MBPS, judge, example)


def modem_rate_mbps(run: Run) -> float:
    """Return the modem's rate as it was read back."""
    state = state_of_run(run)
    face = state.interface(MODEM.node, MODEM.interface) if state else None
    return (face.shape.rate_mbps if face else None) or 0.0


# --- A claim to test

_SHOWS: Final = "the run that shows it"
_CLAIM_S: Final = 20
_CONNECTIONS: Final = 4
_MORE_THAN_HALF: Final = 0.65
"""Share of the host with more connections from which the hosts do not get "half" each."""


def _many_connections(given: object) -> Check:
    """Judge an upload of h1 over four connections beside one of h2 through fq_codel: each connection has its turn."""
    how = "give what measure.run_together returned for the case of the sentence"
    long, one = at_least("duration_s", _CLAIM_S), exactly("streams", 1, "let h2 open one connection: omit streams=")
    both = exactly("start_s", 0.0, "omit start_s=: both uploads begin together")
    wanted: list[Wanted[Any]] = [
        Wanted(TcpFlow, UPLOAD, (long, both), connections=_CONNECTIONS),
        Wanted(TcpFlow, READER, (long, both, one)),
        Wanted(QueueFlow, ("r1", UPLOAD[1]), (Field("samples", bool, how),)),
    ]
    run = require_run(_SHOWS, given, wanted, how, NO_OTHER_TRANSFER)
    require_same_bottleneck(_SHOWS, run, the_network())
    if kind_of(run) != "fq_codel":
        hint = "the sentence speaks of fq_codel: put it at U, and measure again"
        raise Refuse(_SHOWS, f"U's queue was {kind_of(run)}", hint, "fq_codel", queue_of(run).discipline)
    _refuse_one_for_all(_SHOWS, run)
    sent = run.of(TcpResult)
    share = fsum(it.throughput_mbps for it in sent if it.flow.source == UPLOAD[0]) / fsum(
        it.throughput_mbps for it in sent
    )
    return contradicts(
        "each host gets half",
        f"h1 got {100 * share:.0f} %",
        is_wrong=share > _MORE_THAN_HALF,
        step="let h1 open four connections to h3, and h2 one, at the same time",
    )


check_claim = claim("Lab 12, a claim to test", _FOLDER, _many_connections)
"""Judge the number of the wrong sentence on queues, and the run that shows it."""


# --- Questions with options

check_drops = letters("Lab 12, drops", _FOLDER, "early", "sojourn", "faster")
"""Judge what one queue does: why RED drops early, what CoDel looks at, and why a faster line alone does not help."""
check_turns = letters("Lab 12, turns", _FOLDER, "turns", "mark")
"""Judge why a ping passes an upload in fq_codel, and what a mark is for."""
check_where = letters("Lab 12, where packets wait", _FOLDER, "elsewhere", "less")
"""Judge why fq_codel at U did nothing, and why a router must send less than the modem behind it."""
