"""What Lab 05, path latency and throughput, asks of paths over several links, and how it is judged.

What is expected of a measurement comes from theory for the network as it was read back right before it; what students
compute is held against their own measurement; what they predict is put next to both. What they compute of the course
report's numbers is of its network, the plain course network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import fsum
from pathlib import Path
from statistics import median
from typing import Final

from linklab.analysis import Expectation, MeasuredPath, measured_path, tcp_throughput
from linklab.analysis.tcp_model import BETA, INITIAL_WINDOW_PACKETS, bottleneck_hop, pipe_of
from linklab.course import course_network
from linklab.grade.check import Check, Refuse, listed
from linklab.grade.choices import choices, letter
from linklab.grade.measured import (
    SHORTEST_ALONE_S,
    TRANSFER_FLOWS,
    Transfer,
    loaded_checks,
    refuse_without_theory,
    state_of_run,
    throughput_of,
)
from linklab.grade.measured import pings as pings_of
from linklab.grade.path_questions import (
    DATA_BYTES,
    FRAME_BYTES,
    WEAKEST,
    ceiling,
    full_queue_rtt,
    limited,
    packet_ms,
    path_between,
    rtt,
)
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, as_number, asked, stated
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import is_one, numbers
from linklab.grade.wanted import Wanted, at_least, at_most, exactly, refuse_another_network, require_fields, require_run
from linklab.labs.claims import claim, contradicts, run_of_several
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.labs.paths import beside_report, frames_dropped, pings_judged, queue_over_time, transfers_judged
from linklab.labs.printed import ends_of_transfers, require_printed, windows_bytes
from linklab.measure import Run, TcpResult, UdpFlow
from linklab.network import COURSE, Link, goodput_ceiling_mbps, path
from linklab.network.state import CONGESTION_CONTROL
from linklab.published import Entry, publication
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

__all__ = ["PATHS", "beside_report", "frames_dropped", "own_simpleperf", "queue_over_time"]

_FOLDER: Final = Path(__file__).parent
PATHS: Final[Mapping[str, tuple[str, str]]] = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
"""The paths of this lab, in the course report's order, and the hosts at their ends."""
LOADED: Final = "h1-h4"
"""The path on which ping and transfer run at once."""
_LABELS: Final = ("L1", "L2", "L3")


def _each_path(title: str, given: object, question: Callable[[str, MeasuredPath], Value], unit: str) -> Result:
    """Ask for one number of each of `PATHS`."""
    questions = [question(name, path_between(*ends)) for name, ends in PATHS.items()]
    return asked(title, given, questions, f'{{"h1-h4": 12.3, ...}}, in {unit}')


def _bottleneck(path: MeasuredPath) -> Link:
    return bottleneck_hop(path).link


# --- Predictions

PREDICTIONS: Final = Predictions(
    "Lab 05",
    {
        "rtt": lambda: [rtt("h1-h9", path_between("h1", "h9"))],
        "throughput": lambda: [ceiling("h1-h9", path_between("h1", "h9"), "throughput of h1-h9, by theory at most")],
        "loaded_prediction": lambda: [
            full_queue_rtt(LOADED, f"highest RTT of {LOADED} next to a transfer", path_between(*PATHS[LOADED]))
        ],
    },
)


check_questions = letter("Lab 05, the start of TCP", _FOLDER, "start")
"""Judge the choice about the start of TCP: a letter."""


# --- Measurements


@guarded
def check_pings(pings: object) -> Result:
    """Judge 25 pings on each of `PATHS`, idle: results of `linklab.measure.run` by name."""
    return pings_judged("Lab 05", pings, PATHS, PREDICTIONS, "rtt")


@guarded
def check_transfers(transfers: object) -> Result:
    """Judge a transfer of 25 s over each of `PATHS`: results of `linklab.measure.run` by name."""
    return transfers_judged("Lab 05", transfers, PATHS, PREDICTIONS, "throughput")


_TOGETHER: Final = "Lab 05, ping and transfer at once"


@guarded(_TOGETHER)
def check_together(run: object) -> Result:
    """Judge what `measure.run_together` gave for 25 pings, one a second, next to a transfer of 25 s, h1 to h4."""
    result = Result(_TOGETHER, loaded_checks(LOADED, run, PATHS[LOADED]))
    found = pings_of(run).get(LOADED) if isinstance(run, Run) else None
    return PREDICTIONS.compared(result, "loaded_prediction", {LOADED: found.rtt_max_ms if found is not None else None})


_LONGER_MS: Final = 100
"""The delay of L1, each way, that students suppose."""


@guarded
def check_longer(answers: object) -> Result:
    """Judge what would change with 100 ms on L1: ``rtt_ms`` of the idle path h1-h4, and the choice ``throughput``."""
    path, link = path_between("h1", "h4"), course_network().link("L1")
    more_ms = _LONGER_MS - link.delay_ms
    right = path.rtt_floor_ms + 2 * more_ms
    hints = (
        "which delays does a ping cross on its way to h4, and which on its way back?",
        "L1 and L2, each in both directions; L1 with its new delay",
        f"2 * ({_LONGER_MS} + {path.rtt_floor_ms / 2 - link.delay_ms:g})",
    )
    slips = (
        Slip(right / 2, "that is one direction", "a round trip has two"),
        Slip(path.rtt_floor_ms + more_ms, "that adds the longer delay once", "the reply crosses L1 too"),
        Slip(path.rtt_floor_ms + 2 * _LONGER_MS, "that adds 100 ms to the delay that L1 has", "L1 has 100 ms in all"),
        Slip(path.rtt_floor_ms + _LONGER_MS, "that adds 100 ms once to the RTT of today", "L1 has 100 ms each way"),
        Slip(path.rtt_floor_ms, "that is the RTT of today", "L1's delay changes"),
    )
    rtt_ms = Value("rtt_ms", "RTT of h1-h4 with 100 ms on L1", stated(right, "ms", "the links' delays"), hints, slips)
    return asked("Lab 05, a longer link", answers, (rtt_ms, *choices(_FOLDER, "throughput")), '{"rtt_ms": 1.2, ...}')


_ROUTE: Final = re.compile(r"traceroute to ([\d.]+) |^ *\d+ +(\d+\.\d+\.\d+\.\d+) ", re.MULTILINE)
"""The address in traceroute's first line, or that of a hop which answered."""


@guarded("Lab 05, the route")
def check_route(printed: object) -> Check:
    """Judge what ``traceroute -n`` printed on h1, to h9: the routers of the path, and h9."""
    network, what = course_network(), "what traceroute printed"
    destination = network.address_of("h9")
    hints = (
        "run traceroute on h1, with -n -I and the address of h9",
        f'lab["h1"].cmd("traceroute -n -I {destination}")',
    )
    head, *hops = require_printed(what, printed, "traceroute", _ROUTE.findall, hints)
    if head[0] != destination:
        return Check.failing(what, f"this is the route to {head[0] or 'another host'}, and h9 has {destination}", hints)
    routers = [hop.into.address for hop in path(network, "h1", "h9").hops if hop.into.address is not None]
    expected = [address.partition("/")[0] for address in routers]
    found = [hop for _, hop in hops if hop]
    if found != expected:
        reason = f"it names {listed(found, ', ') or 'no machine'}, but the path is {listed(expected, ', ')}"
        again = (
            f"measure from h1: {hints[1]}. A star is a hop that did not answer: a router sends one host six such "
            "messages at once and then one a second, so wait before you run it again (lab.sleep(6))",
        )
        return Check.failing(what, reason, again)
    return Check.passing(what, listed(expected, ", "), f"{len(found)} hops")


_LEAST_WINDOWS: Final = 20
_FALL: Final = 0.9
"""What is left of a window that fell: CUBIC keeps 0.7, and may have grown since."""
_RECORDED_S: Final = 24
"""How long the lab's cell reads windows: the last is read at ``end``."""
_MISSED_S: Final = 4
"""How much of that may be missing at either end."""
_HANDSHAKES: Final = 4
"""The round trips that iperf3 needs before it sends."""
_SLOW_START_S: Final = 5
"""Where a fall is judged: after it."""
_DEEP: Final = 0.8
"""A fall counts that leaves less than this of a window: a smaller one was read when the window had grown again."""
_HALVED: Final = (BETA + 0.5) / 2
"""What tells a window that falls to 0.7 of itself from one that falls to half."""
_CONTROL: Final = "iperf3 has a second connection, which only controls the test: take the larger window"
_WINDOWS: Final = "windows of h1-h9, in packets"


@guarded("Lab 05, the window of TCP")
def check_windows(windows: object, times: object, end: object, printed: object) -> Check:
    """Judge windows of TCP that a student read off ``ss -ti`` during a transfer from h1 to h9, in packets.

    At its largest a window is near what path and queue hold: at least half of it, and at most twice as much, since slow
    start can double it before a loss is noticed. After a loss it falls. ``times`` are those of `Lab.now`, to ``end``,
    24 s after the start. What iperf3's client ``printed`` has the window of each second.
    """
    found = _windows_given(windows)
    shown = _windows_shown(printed)
    pipe, largest = pipe_of(path_between("h1", "h9")), max(found)
    low, high = pipe.full_window_packets / 2, 2 * pipe.full_window_packets
    expected = f"the largest from {low:.0f} to {high:.0f}"
    reason, step = _shape_of_windows(found, low, high) or _another_run(found, times, end, shown) or ("", "")
    if reason:
        return Check.failing(_WINDOWS, reason, step, expected)
    return Check.passing(_WINDOWS, expected, f"{len(found)} windows, up to {largest:g}")


def _windows_given(windows: object) -> list[float]:
    how, found = 'ss -tin prints for example cwnd:10: append int("10")', numbers(windows)
    if found is None and isinstance(windows, Sequence) and len(windows) > 1 and not isinstance(windows, str):
        raise Refuse(_WINDOWS, "not all entries of the list are numbers", how, "a list of numbers")
    if not found or is_one(windows):
        raise Refuse(_WINDOWS, "not filled in yet", how, "a list of numbers")
    if len(found) < _LEAST_WINDOWS:
        step = f"append {_LEAST_WINDOWS} windows or more within the 25 s"
        raise Refuse(_WINDOWS, f"{len(found)} windows", step)
    return found


def _windows_shown(printed: object) -> Sequence[tuple[float, float]]:
    """Return the windows that iperf3's client on h1 showed, in packets, by the time since its start in s.

    Refuse another transfer than one connection from h1 to h9.
    """
    as_given = "start the client as the cell does: iperf3 -c ADDRESS -t 25, with the address of h9"
    ends = require_printed("what the client printed", printed, "iperf3 -c", ends_of_transfers, as_given)
    network = course_network()
    (source, destination), shown = ends[0], windows_bytes(str(printed))
    if (source, destination) != (network.address_of("h1"), network.address_of("h9")):
        raise Refuse(_WINDOWS, f"iperf3 ran from {source} to {destination}, which is not h1 to h9", as_given)
    if len(ends) > 1:
        raise Refuse(_WINDOWS, f"iperf3 sent over {len(ends)} connections, which share the path", as_given)
    if not shown:
        raise Refuse(_WINDOWS, "iperf3 shows no Cwnd, as if h1 did not send", as_given)
    return [(until_s, window_bytes / DATA_BYTES) for until_s, window_bytes in shown]


def _shape_of_windows(found: Sequence[float], low: float, high: float) -> tuple[str, str] | None:
    """Return what is wrong with windows by themselves, and what to do; None where nothing is."""
    largest = max(found)
    if len(set(found)) > 1 and found[len(found) // 2 :].count(INITIAL_WINDOW_PACKETS) > 1:
        return f"some are {INITIAL_WINDOW_PACKETS} long after the start", _CONTROL
    if low <= largest <= high and len(set(found)) == 1:
        step = "call ss anew in each round of the loop: the window grows, and falls at a loss"
        return f"all {len(found)} are {largest:g}", step
    if low <= largest <= high and not any(after <= _FALL * before for before, after in pairwise(found)):
        step = "append each cwnd in the order in which ss shows it, from the start of the transfer to its end"
        return "the window never falls, and this path loses packets", step
    if low <= largest <= high:
        return None
    reason = f"the largest is {largest:g}"
    if largest <= 2 * INITIAL_WINDOW_PACKETS:
        return reason, _CONTROL
    if largest > high:
        return reason, "this is no count of packets: take only the number after cwnd:"
    return reason, "call ss while the transfer runs, from its start to its end"


def _another_run(
    found: Sequence[float], times: object, end: object, shown: Sequence[tuple[float, float]]
) -> tuple[str, str] | None:
    """Return in what windows and their times differ from the run that iperf3 printed, and what to do."""
    each, end_s = numbers(times), as_number(end)
    step = "in each round of the loop, append lab.now() to times and the cwnd to windows"
    if each is None or len(each) != len(found):
        return f"there are {len(found)} windows, and not as many times", step
    begun_s = end_s - _RECORDED_S
    if each[0] < begun_s:  # counted from the start
        begun_s = 0.0
    since_s = [time_s - begun_s for time_s in each]
    if not (since_s[0] <= _MISSED_S and since_s[-1] >= _RECORDED_S - _MISSED_S):
        reason = f"they are from {since_s[0]:.1f} to {since_s[-1]:.1f} s after the start"
        return reason, f"go through the loop from the start until lab.now() reaches end, {_RECORDED_S} s later"
    sends_s = _HANDSHAKES * pipe_of(path_between("h1", "h9")).base_ms / 1000
    # in its first second the window changes too fast to be compared
    pairs = [
        (_at(since_s, found, sends_s + until_s), window) for until_s, window in shown if 1 < until_s <= _RECORDED_S
    ]
    apart = [mine - theirs for mine, theirs in pairs] or [0.0]
    if median(map(abs, apart)) > INITIAL_WINDOW_PACKETS / 2:
        if median(abs(it - INITIAL_WINDOW_PACKETS) for it in apart) <= INITIAL_WINDOW_PACKETS / 2:
            return "these are the sums of both connections' windows", _CONTROL
        mine, theirs = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
        reason = f"this is another run than the client's: where yours has {mine:.0f}, iperf3's Cwnd is {theirs:.0f}"
        return reason, f"run the whole cell again; {step}"
    steady = [window for time_s, window in zip(since_s, found, strict=True) if time_s > _SLOW_START_S]
    falls = [after / before for before, after in pairwise(steady) if after < _DEEP * before]
    if falls and median(falls) < _HALVED:
        return "the window halves at a loss, as Reno's does", f"use CUBIC, which keeps {BETA:g} of it: omit -C"
    return None


def _at(times_s: Sequence[float], windows: Sequence[float], time_s: float) -> float:
    """Return the window that was read next to a time."""
    return min(zip(times_s, windows, strict=True), key=lambda read: abs(read[0] - time_s))[1]


# --- A path as a pipe


@guarded
def check_bdp(bdp_packets: object) -> Result:
    """Judge the bandwidth-delay product of each of `PATHS`, in full frames."""
    return _each_path("Lab 05, bandwidth-delay products", bdp_packets, _bdp, "packets")


def _bdp(name: str, path: MeasuredPath) -> Value:
    pipe, narrow = pipe_of(path), _bottleneck(path)
    right, floor, bits = pipe.bdp_packets, path.rtt_floor_ms, FRAME_BYTES * BITS_PER_BYTE
    rate = "take the rate of the bottleneck"
    frame = f"divide by the bits of a frame: {FRAME_BYTES} * 8"
    others = [link for link in limited(path) if link != narrow]
    each_alone = sum(2 * link.delay_ms / packet_ms(link) for link in limited(path))
    slips = (
        *(Slip(floor / packet_ms(link), f"that uses the rate of {link.label}", f"{rate}: {WEAKEST}")
          for link in others),
        Slip(right / 2, "that counts one direction", "the acknowledgement must come back: take the round trip"),
        Slip(right * FRAME_BYTES / 1e6, "that is in MB", frame),
        Slip(right * bits / 1e6, "that is in Mbit", frame),
        Slip(right * FRAME_BYTES / 1000, "that divides by 1000 bytes", "TCP sends full frames, not simpleperf's"),
        Slip(right * FRAME_BYTES / ETHERNET_MTU_BYTES, "that leaves out Ethernet's header", frame),
        Slip(right * FRAME_BYTES / DATA_BYTES, "that counts only the data of each frame", frame),
        Slip(each_alone, "that is the sum of the links' products", f"{rate}, and the round trip of the whole path"),
    )  # fmt: skip
    hints = (
        "the product says how many bits a full path holds: at which rate do they enter, and for how long?",
        f"{rate} and the round trip of the whole path; then {frame}",
        f"{narrow.rate_mbps:g} * 1000 * {floor:g} / {bits}",
    )
    expected = stated(right, "packets", "rate times round trip")
    return Value(name, f"BDP of {name}", expected, hints, slips, or_whole=True)


@guarded
def check_after_loss(percent: object) -> Result:
    """Judge CUBIC's window after a loss with a full queue, in percent of the bandwidth-delay product."""
    return _each_path("Lab 05, after a loss", percent, _after_loss, "percent")


@guarded
def check_remedy(answers: object) -> Result:
    """Judge the ``room`` that h1-h9 needs in packets, so that CUBIC's window after a loss is one BDP, and ``added_ms``.

    ``added_ms`` is what this room adds to the round trip when it is full.
    """
    pipe, narrow = pipe_of(path_between("h1", "h9")), _bottleneck(path_between("h1", "h9"))
    bdp = pipe.bdp_packets
    room = bdp / BETA - bdp
    window = f"the window after a loss is {BETA:g} * (BDP + room): it must be one BDP"
    questions = (
        Value(
            "room", "room that h1-h9 needs", stated(room, "packets", f"{BETA:g} * (BDP + room) = BDP"),
            ("with which window does CUBIC continue, and what must it fill?", window, f"BDP / {BETA:g} - BDP"),
            (
                Slip(bdp / BETA, "that is the whole window before the loss", "subtract what the path itself holds"),
                Slip((1 - BETA) * bdp, "that is 0.3 of the BDP", "the window before the loss is larger than the BDP: "
                     "0.3 of that window is lost"),
                Slip(BETA * bdp, "that is 0.7 of the BDP", window),
                Slip(bdp, "that is one BDP", f"Reno needs so much; CUBIC keeps {BETA:g} of its window"),
                Slip(room - pipe.room_packets, "that is what is missing", "give the whole room, with what is there"),
                Slip(pipe.room_packets, "that is the room that L3's queue has", window),
            ),
            or_whole=True,
        ),
        Value(
            "added_ms", "what this room adds to the RTT", stated(room * packet_ms(narrow), "ms", "the room, full"),
            ("how long does L3 need to send what waits?", "the packets of this room, each for one frame's time on L3",
             f"room * {packet_ms(narrow):.4g} ms"),
            (
                *(Slip(room * packet_ms(link), f"that uses the rate of {link.label}", WEAKEST)
                  for link in limited(path_between("h1", "h9")) if link != narrow),
                Slip(2 * room * packet_ms(narrow), "that counts both directions", "only data waits before L3"),
                Slip(pipe.base_ms + room * packet_ms(narrow), "that is the whole RTT", "only what the room adds"),
            ),
        ),
    )  # fmt: skip
    return asked("Lab 05, the remedy", answers, questions, '{"room": 12, "added_ms": 3.4}')


def _after_loss(name: str, path: MeasuredPath) -> Value:
    pipe = pipe_of(path)
    right = 100 * BETA * pipe.full_window_packets / pipe.bdp_packets
    keeps = f"CUBIC keeps {BETA:g} of its window"
    fills = "at the loss the window fills the path (BDP) and the room in the queue"
    hints = (
        "give a percentage: how many percent of the BDP is the window after the loss?",
        f"{fills}; {keeps}",
        f"100 * {BETA:g} * (BDP + room) / BDP",
    )
    slips = (
        Slip(100 * BETA, "that leaves out the queue", fills),
        Slip(right / BETA, "that is the window before the loss", keeps),
        Slip(right / BETA / 2, "that is half of the window", f"Reno halves it; {keeps}"),
        Slip(right / BETA * (1 - BETA), "that is the part that CUBIC gives up", keeps),
        Slip(100 * BETA * (1 + pipe.limit_packets / pipe.bdp_packets), "that takes the queue's whole limit",
             "the limit also counts frames in flight: add only the room"),
    )  # fmt: skip
    expected = stated(right, "%", "what CUBIC keeps of BDP and room, over BDP")
    return Value(name, f"window after a loss, {name}", expected, hints, slips)


# --- The course report's numbers


@guarded
def check_reported(answers: object) -> Result:
    """Judge what follows from the course report's numbers for h1-h9.

    ``links_ms``: how much longer the RTTs of its links were than theory, one by one, added up. ``percent``: its
    throughput in percent of the ceiling that headers leave.
    """
    return asked("Lab 05, the report's numbers", answers, (_of_links(), _percent()), '{"links_ms": 1.2, ...}')


_TOLD_OF_REPORT: Final = """
The three links alone explain 9.3 of the path's 12.3 ms. If the first of 25 pings over each link needed ARP (Lab 04),
then 3.2 ms of this is ARP: a round trip of each link, over 25. The other 6.1 ms, and the 3 ms that are left for hosts
and two more cables, probably come from late timers. A timer ends each crossing of a link, and a busy virtual machine
serves timers late. On virtual time no timer is late, and our lab needs no ARP.
"""


def _of_links() -> Value:
    excess = []
    for link in _LABELS:
        row = _reported(2, link, "rtt_ms")
        excess.append(row["value"] - measured_path(COURSE, row["source"], row["destination"]).rtt_floor_ms)
    right = fsum(excess)
    of_path = _reported(3, "h1-h9", "rtt_ms")["value"] - measured_path(COURSE, "h1", "h9").rtt_floor_ms
    add = "a packet crosses all three links: add up"
    hints = (
        "delays add up along the path, and so do their differences from theory",
        "for each link, subtract theory's RTT from the report's RTT; then add up",
        " + ".join(f"{one:.4g}" for one in excess),
    )
    slips = (
        Slip(right / len(excess), "that is the mean of the links", add),
        Slip(max(excess), "that is only the link with the largest difference", add),
        Slip(min(excess), "that is only the link with the smallest difference", add),
        Slip(of_path, "that is the difference of the whole path", "take the RTTs of the three single links"),
        Slip(of_path - right, "that is the part that the links do not explain", "how much do the links explain?"),
    )
    # each of the three may be rounded to 0.1 ms, as the notebook's 12.3 ms are
    apart = 0.05 * len(excess)
    why, allowance = "the sum of the links' excess", "rounding to 0.1 ms"
    expected = Expectation(right, right - apart, right + apart, "ms", why, allowance=allowance)
    return Value("links_ms", "excess of the links", expected, hints, slips, explanation=_TOLD_OF_REPORT)


def _reported(case: int, name: str, quantity: str) -> Entry:
    """Return the course report's number of a link or path."""
    return publication("report").row("numbers", case=case, name=name, quantity=quantity)


def _percent() -> Value:
    way = measured_path(COURSE, "h1", "h9")
    reported, nominal = _reported(3, "h1-h9", "throughput_mbps")["value"], _bottleneck(way).rate_mbps or 0.0
    top = goodput_ceiling_mbps(nominal)
    hints = (
        "the ceiling is the bottleneck's rate without the headers",
        "divide the report's throughput by this ceiling, and multiply by 100",
        f"100 * {reported:g} / ({nominal:g} * {DATA_BYTES} / {FRAME_BYTES})",
    )
    slips = (
        Slip(100 * reported / nominal, "that is the percentage of the bottleneck's rate",
             "headers take a part of the rate: divide by the ceiling"),
        Slip(100 * reported / (nominal * DATA_BYTES / ETHERNET_MTU_BYTES), "that leaves out Ethernet's header",
             "a frame has 1514 bytes"),
        *(Slip(100 * reported / goodput_ceiling_mbps(link.rate_mbps or 1),
               f"that is the percentage of the ceiling of {link.label}",
               WEAKEST)
          for link in limited(way) if link != _bottleneck(way)),
    )  # fmt: skip
    expected = stated(100 * reported / top, "%", "the report's throughput over the ceiling")
    return Value("percent", "the report's throughput, of the ceiling", expected, hints, slips)


# --- A claim to test

_SEVERAL: Final = "the run that shows it"
_MORE: Final = 1.03
"""What is more than one connection's throughput: two connections of the course network get 1.05 times as much."""


def _several_fill_it(given: object) -> Check:
    """Judge a transfer of several connections from h1 to h9 with nobody else: it gets more than one connection."""
    ends, (run, streams) = PATHS["h1-h9"], run_of_several(given, "h1-h9")
    if streams == 1:
        raise Refuse(_SEVERAL, "the run has one connection", "the sentence is about several: write streams=10")
    fields = (
        at_least("duration_s", SHORTEST_ALONE_S),
        at_most("start_s", 0.0, "omit start_s=: one after the other each has the link alone"),
    )
    wanted = Wanted[Transfer](TRANSFER_FLOWS, ends, fields, connections=streams)
    others = dict.fromkeys((*TRANSFER_FLOWS, UdpFlow), "leave it out: it takes a share")
    found = require_run(_SEVERAL, run, [wanted], "give what measure.run returned for the case of the sentence", others)
    for it in found.of(TcpResult):
        same = exactly("congestion", CONGESTION_CONTROL, "omit congestion=: the other transfers here used CUBIC")
        require_fields(_SEVERAL, it.flow, same)
    state = state_of_run(found)
    refuse_another_network(_SEVERAL, state)
    refuse_without_theory(_SEVERAL, state, [ends], limited=True)
    alone, total = tcp_throughput(path_between(*ends, state)), throughput_of(found, "h1-h9") or 0.0
    return contradicts(
        f"several connections get no more than one, which gets {alone.value:.4g} Mbit/s by theory",
        f"{streams} connections got {total:.4g} Mbit/s",
        is_wrong=total > _MORE * alone.value,
        step=("how much do the windows shrink together if one of them does?", "take more connections"),
    )


check_claim = claim("Lab 05, a claim to test", _FOLDER, _several_fill_it)
"""Judge the number of the wrong sentence on paths, and the run that shows it."""
