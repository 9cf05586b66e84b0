"""What Lab 08, Packet size, asks, and how it is judged: headers, first packets that are too fast, and a tunnel.

Frames are counted as the MTU study does: whole, with Ethernet's checksum, which virtual cables do not carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.expectation import ICMP_HEADER_BYTES
from linklab.analysis.packets import (
    MININET_BUCKET_BYTES,
    bandwidth_mbps,
    burst_bytes,
    first_bandwidth_mbps,
    steady_rate_mbps,
    virtual_mbps,
)
from linklab.errors import MeasurementError
from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import choices, letter, letters
from linklab.grade.measured import measured
from linklab.grade.predictions import Predictions, Sketch
from linklab.grade.questions import Slip, Value, asked, asked_each, asked_one, stated
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import (
    Field,
    Wanted,
    at_least,
    at_most,
    exactly,
    refuse_another_network,
    require_result,
    require_run,
)
from linklab.labs.claims import claim, contradicts
from linklab.labs.printed import require_printed, transfers
from linklab.measure import Capture, Run, TcpFlow, TcpResult, TrainFlow, TrainResult, UdpFlow, UdpResult
from linklab.network import End, Host, Link, Network, Router
from linklab.network.catalogue import mtu_direct, mtu_gre
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.units import (
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    GRE_HEADER_BYTES,
    GRE_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)

__all__ = ["NARROW", "mtu_direct", "mtu_gre"]

_FOLDER: Final = Path(__file__).parent
SIZES: Final = (1518, 4370, 7999)
"""The study's sizes of frames."""
FRAMES: Final = (100, *SIZES)
FIRST_BYTES: Final = 4370
"""The frame whose second packet is predicted."""
LINK_MBPS: Final = 10.0
_EXACT: Final = 6
"""Digits to which a size in bytes must be right: it is a whole number."""


# --- Predictions


def _first(size: int) -> Value:
    right = first_bandwidth_mbps(2, size, LINK_MBPS, MININET_BUCKET_BYTES)
    wait_ms = transmission_ms(size - ETHERNET_CHECKSUM_BYTES - MININET_BUCKET_BYTES, LINK_MBPS)
    debt = "the first frame takes more than the bucket holds; the second waits until this debt is paid"
    slips = (
        Slip(LINK_MBPS, "that is the link's rate", debt),
        Slip(2 * right, "that counts the first packet's bits",
             "only one frame arrived after the first packet, not two"),
        Slip(virtual_mbps(size, LINK_MBPS), "that is the lasting bandwidth", debt),
        Slip(LINK_MBPS * size / MININET_BUCKET_BYTES, "that divides the frame by the bucket", debt),
        Slip(LINK_MBPS * (size + MININET_BUCKET_BYTES) / size, "that adds the bucket to the bits", debt),
        Slip(wait_ms, "that is the wait in ms",
             "bandwidth is bits divided by time: divide one frame's bits by the wait"),
    )  # fmt: skip
    hint = "a full bucket lets the first frame leave at once, into debt; new tokens arrive at the link's rate"
    expected = stated(right, "Mbit/s", "one frame's bits divided by the wait of the second frame")
    return Value(size, f"bandwidth at packet 2 of {size} bytes", expected, hint, slips)


def _overhead() -> Value:
    concept = "the tunnel puts new headers before the whole frame, which keeps its own Ethernet header"
    headers = "outside, three new headers stand before h1's frame: Ethernet, IPv4, GRE"
    slips = (
        Slip(IPV4_HEADER_BYTES + GRE_HEADER_BYTES, "that leaves out the new Ethernet header", headers),
        Slip(GRE_HEADER_BYTES, "that is GRE's own header alone", headers),
        Slip(ETHERNET_HEADER_BYTES + GRE_HEADER_BYTES, "that leaves out the new IPv4 header", headers),
        Slip(ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES, "that leaves out GRE itself", headers),
        Slip(GRE_OVERHEAD_BYTES + ETHERNET_CHECKSUM_BYTES, "that counts a checksum", "a virtual cable carries none"),
        Slip(GRE_OVERHEAD_BYTES + UDP_HEADER_BYTES, "that counts a UDP header too",
             "GRE follows the IPv4 header directly, without UDP"),
    )  # fmt: skip
    expected = stated(GRE_OVERHEAD_BYTES, "bytes", "the headers of a frame in a GRE tunnel", _EXACT)
    return Value("overhead_bytes", "overhead of GRE", expected, concept, slips)


PREDICTIONS: Final = Predictions(
    "Lab 08",
    {
        "curve": lambda: Sketch("data rate by size of frame", "frame (bytes)", "Mbit/s of data", (0, 8000), (0, 20)),
        "first": lambda: [_first(FIRST_BYTES)],
        "tunnel": lambda: [_overhead()],
    },
)


@guarded
def check_ping(largest_ping: object) -> Result:
    """Judge the largest amount of data of a ping that passes the first lab's link in one packet."""
    packet = ip_packet_bytes(max(SIZES))
    right = packet - IPV4_HEADER_BYTES - ICMP_HEADER_BYTES
    inside = "the MTU counts the whole IP packet: IPv4 header, ICMP header and data"
    slips = (
        Slip(packet, "that is the MTU", inside),
        Slip(packet - IPV4_HEADER_BYTES, "that counts ICMP's header as data", inside),
        Slip(packet - ICMP_HEADER_BYTES, "that counts IPv4's header as data", inside),
        Slip(right - ETHERNET_HEADER_BYTES, "that subtracts the Ethernet header",
             "the MTU does not count the Ethernet header"),
        Slip(right + 1, "that is the smallest ping that does not pass", "for this one ping says `Message too long`"),
    )  # fmt: skip
    hints = (
        "the link carries IP packets up to its MTU: which bytes of the packet are not your data?",
        f"{inside}. Try values of -s with -M do",
        "the MTU minus 20 bytes of IPv4 header and 8 bytes of ICMP header",
    )
    told = (
        f"An IP packet of {packet} bytes fills the MTU: {IPV4_HEADER_BYTES} bytes of IPv4 header, {ICMP_HEADER_BYTES} "
        f"of ICMP header, {right} of data. If you add one byte, the sender's own kernel refuses the packet: "
        "`Message too long`. Without `-M do` the kernel cuts it into fragments."
    )
    expected = stated(right, "bytes", "the MTU minus the headers in it", _EXACT)
    return asked_one(
        "Lab 08, the largest ping", largest_ping, Value("", "largest ping", expected, hints, slips, explanation=told)
    )


# --- Trains

_FEWEST: Final = 100
_RATE: Final = 0.003
_BYTES: Final = 40.0
"""Accepted error of a burst: bytes that arrive between two readings of the clock, and the kernel's rounding."""
_SLACK: Final = "what the clock tells apart"
_EXAMPLE: Final = 'measure.run(lab, measure.TrainFlow("h1", "h2", 400, 1472))'
_MEASURE: Final = 'measure it: measure.run(lab, measure.TrainFlow("h1", "h2", 400, ...)), with its bytes of data'


@guarded
def check_runs(runs: object) -> Result:
    """Judge greedy trains of each size on the untouched link: the lasting rate, and the burst of Mininet's bucket."""

    def judge(size: int, run: object) -> Iterator[Check]:
        gone = "you have removed the burst already: start the lab again, then run the cells in order"
        early = Slip(size - ETHERNET_CHECKSUM_BYTES, "no packet passes early", gone)
        hints = (
            "a full bucket lets packets pass early",
            "measure right after you start the lab, and change nothing before",
        )
        yield from _train(size, run, MININET_BUCKET_BYTES, (early,), hints)

    return asked_each("Lab 08, trains", runs, FRAMES, judge, f"{{1518: {_EXAMPLE}, ...}}")


@guarded
def check_calm(runs: object) -> Result:
    """Judge trains of the study's sizes without the burst: no packet is early, and the lasting rate is as it was."""

    def judge(size: int, run: object) -> Iterator[Check]:
        on_link = size - ETHERNET_CHECKSUM_BYTES
        unchanged = "make h1's bucket small first, and look at tc class show: for burst 0 tc takes its default"
        debt = "HTB sends while its bucket is not in debt: how many frames pass a bucket of one frame's size?"
        slips = (
            Slip(
                on_link + MININET_BUCKET_BYTES,
                "1600 of them from a full bucket, h1's or that of s1 behind it",
                unchanged,
            ),
            Slip(2 * on_link, "two frames pass at once", debt),
        )
        hints = (
            "a packet may leave only after the packets before it are paid for",
            debt,
            "set a bucket of 1 byte: burst 1",
        )
        yield from _train(size, run, 0, slips, hints)

    return asked_each("Lab 08, without a burst", runs, SIZES, judge, f"{{1518: {_EXAMPLE}, ...}}")


_SECOND: Final = "Lab 08, the second packet"


@guarded(_SECOND)
def check_second(runs: object) -> Result:
    """Judge the train of `FIRST_BYTES` again, and put the prediction of its second packet next to it."""
    run = only_result(runs.get(FIRST_BYTES)) if isinstance(runs, Mapping) else None
    result = Result(_SECOND, tuple(_train(FIRST_BYTES, run, MININET_BUCKET_BYTES)))
    found = bandwidth_mbps(run.arrivals_s, FIRST_BYTES)[0] if result.passed and isinstance(run, TrainResult) else None
    return PREDICTIONS.compared(result, "first", {str(FIRST_BYTES): found})


def _train(
    size: int, given: object, bucket_bytes: int, slips: Sequence[Slip] = (), hints: Hints = ""
) -> Iterator[Check]:
    """Judge a train of frames of a size: its lasting rate, and what passes at once."""
    what = f"train of frames of {size} bytes"
    run = require_result(what, only_result(given), _wanted_train(size), _MEASURE)
    if run.received < run.sent:
        lost = f"{run.sent - run.received} of {run.sent} packets did not arrive"
        hint = "does the frame fit every link of the path?"
        raise Refuse(what, lost, hint, "all packets arrive", lost)
    try:
        found = steady_rate_mbps(run.arrivals_s, run.payload_bytes) * size / run.payload_bytes
    except MeasurementError as wrong:
        raise Refuse(what, str(wrong), "measure this train again") from None
    right = virtual_mbps(size, LINK_MBPS)
    why = "what the link carries of frames"
    rate = Expectation(right, (1 - _RATE) * right, (1 + _RATE) * right, "Mbit/s", why, allowance=_SLACK)
    other = ("the lasting bandwidth is the link's rate", "tc class change also sets the rate: write `rate 10mbit`")
    yield measured(f"lasting bandwidth, {size} bytes", found, rate, other)
    on_link = size - ETHERNET_CHECKSUM_BYTES
    at_once = round(burst_bytes(run.arrivals_s, on_link, LINK_MBPS), 3)
    most = on_link + bucket_bytes
    why = "a frame, and what the bucket holds"
    burst = Expectation(most, max(on_link, most - _BYTES), most + _BYTES, "bytes", why, None, allowance=_SLACK)
    what = f"bytes that pass at once, frames of {size}"
    yield measured(what, at_once, burst, hints, slips=slips)


def only_result(given: object) -> object:
    """Return the only result of a run that has one, and else what was given."""
    if isinstance(given, Run) and len(given.results) == 1 and not given.interrupted:
        return given.results[0]
    return given


def _wanted_train(size: int) -> Wanted[TrainResult]:
    """Return what a train of frames of this size must be."""
    data = payload_of_frame_bytes(size)
    named = {size: "that is the size of the frame", ip_packet_bytes(size): "that is the size of the IP packet"}
    step = f"write payload_bytes={data}: a datagram's data is the frame minus all headers and the checksum"
    fields = (
        Field("payload_bytes", lambda found: found == data, step, named),
        exactly("gap_us", 0.0, "leave out gap_us: only the link must delay the packets"),
        at_least("count", _FEWEST, f"write count={_FEWEST} or more: the lasting rate shows after the first packets"),
    )
    return Wanted(TrainFlow, ("h1", "h2"), fields)


# --- The tunnel as captured


_CAPTURE: Final = "Lab 08, the capture"


@guarded(_CAPTURE)
def check_overhead(overhead_bytes: object, inside: object, outside: object) -> Result:
    """Judge what the captures of h1 and of pc1 say that the tunnel adds to a frame, in bytes, next to the prediction.

    No packet is dissected, since somebody else has made the files: their records' headers give the lengths.
    """
    longest = []
    for where, caught, node in (("inside", inside, "h1"), ("outside", outside, "pc1")):
        what, again = (
            f"the capture {where}",
            f'ping inside: with measure.capture(lab, "{node}", "{node}-eth0", "ip") as {where}',
        )
        try:
            lengths = caught.frame_bytes if isinstance(caught, Capture) and caught.pcap else ()
        except MeasurementError as damaged:
            raise Refuse(what, str(damaged), again, "packets") from None
        if not isinstance(caught, Capture) or not lengths:
            raise Refuse(what, "it has no packet yet", again, "packets")
        if caught.node != node:
            raise Refuse(what, f"it was made on {caught.node}", again, node, caught.node)
        longest.append(max(lengths))
    near, far = longest
    if far <= near:
        reason = "no frame outside is longer than those inside"
        raise Refuse("the captures", reason, "ping while both captures run")
    if far - near != GRE_OVERHEAD_BYTES:
        reason = f"the longest frames have {near} bytes inside and {far} outside: they are not the same packet"
        raise Refuse("the captures", reason, "let both captures run, and send pings of one size meanwhile")
    slips = (
        Slip(far, "that is the whole frame outside", "how long was this frame before the tunnel?"),
        Slip(near, "that is the whole frame inside", "how much longer is the frame outside?"),
        Slip(far / near, "that is a ratio", "subtract instead of dividing: give bytes"),
    )
    hints = (
        "the same packet is in both captures, once with the tunnel's headers and once without",
        "a packet's wirelen is its length on the cable: compare a packet outside with one inside",
        "outside.packets[0].wirelen - inside.packets[0].wirelen",
    )
    expected = stated(far - near, "bytes", "the frame outside minus the frame inside", _EXACT)
    result = asked_one(_CAPTURE, overhead_bytes, Value("", "overhead", expected, hints, slips))
    return PREDICTIONS.compared(result, "tunnel", {"overhead_bytes": far - near})


# --- Questions with options


check_waste = letter("Lab 08, small packets", _FOLDER, "waste")
"""Judge the letter: does packet size matter for bandwidth?"""
check_fit = letters("Lab 08, a packet that does not fit", _FOLDER, "switch", "clear", "set", "why")
"""Judge the letters: what a switch and a router do with a packet that is too large, and why."""


@guarded
def check_pause(answers: object) -> Result:
    """Judge how long the bucket takes to fill, in ms, and the letters of what it does and what the curve shows."""
    right = transmission_ms(MININET_BUCKET_BYTES, LINK_MBPS)
    tokens = "a token is one byte, and tokens flow in at the link's rate"
    slips = (
        Slip(transmission_ms(FIRST_BYTES, LINK_MBPS), "that is the time of a frame of 4370 bytes", tokens),
        Slip(transmission_ms(FIRST_BYTES - ETHERNET_CHECKSUM_BYTES - MININET_BUCKET_BYTES, LINK_MBPS),
             "that is the wait of the second frame of 4370 bytes", "how many tokens does the empty bucket lack?"),
        Slip(transmission_ms(min(SIZES), LINK_MBPS), "that is the time of a frame of 1518 bytes", tokens),
    )  # fmt: skip
    hints = (tokens, "how long do 1600 bytes take at 10 Mbit/s?", "1600 * 8 / 10,000")
    expected = stated(right, "ms", "the bucket's bytes at the link's rate")
    filled = Value("full_ms", "time to fill the bucket", expected, hints, slips)
    return asked("Lab 08, the bucket", answers, (filled, *choices(_FOLDER, "saves", "falls")))


# --- The black hole

TUNNEL_MTU_BYTES: Final = ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - GRE_HEADER_BYTES - ETHERNET_HEADER_BYTES
"""The MTU that Linux gives the port of a GRE tunnel over cables of 1500 bytes."""
_FIRST_PROBE_BYTES: Final = 1024
"""The segment with which Linux begins to look for the size that fits (tcp_base_mss; RFC 4821, section 7.2)."""
_FULL_SEGMENT_BYTES: Final = 1448
_HANGS: Final = 'hangs = lab["h1"].cmd("iperf3 -c 10.0.0.2 -t 12")'
_NARROW_PORT: Final = "the port must be narrow: ip link set s1-gre1 mtu 1462 on s1"
_SHORTEST_S: Final = 10
_MENDED_MBPS: Final = 0.8 * LINK_MBPS


@guarded("Lab 08, a black hole")
def check_hang(hangs: object, mended: object, begins: object) -> Iterator[Check]:
    """Judge what iperf3 printed as it hung, a run with probing, and what its events say: ``begins_s`` and a size."""
    yield _hangs(hangs)
    run = _mended(mended)
    flows = next(it for it in run.samples if it.throughput_mbps)
    yield Check.passing("with probing", "data flow after a while", f"{_fastest_mbps(run):.3g} Mbit/s")
    first = "the events have both: the first segment that was sent again with fewer bytes"
    begun = Expectation(
        (flows.start_s + flows.end_s) / 2, flows.start_s, flows.end_s, "s", "the first second in which data arrived",
        source="the run", allowance="the second of the sample",
    )  # fmt: skip
    again = Slip(0.22, "then the same full segment left again", "it vanished as well: which segment was smaller?")
    arrived = stated(_FIRST_PROBE_BYTES, "bytes", "the segment with which Linux begins to probe", _EXACT)
    slips = (
        Slip(_FIRST_PROBE_BYTES - 1, "that is the last number minus the first one", "bytes 1 to 10 are ten"),
        Slip(_FULL_SEGMENT_BYTES, "that is a full segment, which does not fit", "which one after it was smaller?"),
        Slip(_FULL_SEGMENT_BYTES - 1, "that is a full segment, which does not fit", "which one after it was smaller?"),
        Slip(_FULL_SEGMENT_BYTES - _FIRST_PROBE_BYTES, "that is the segment after it", "which one left first?"),
        Slip(_FULL_SEGMENT_BYTES - _FIRST_PROBE_BYTES - 1, "that is the segment after it", "which one left first?"),
    )
    questions = (
        Value("begins_s", "when the data began to flow", begun, first, (again,)),
        Value("segment_bytes", "the first segment that arrived", arrived, first, slips),
    )
    yield from asked("", begins, questions, '{"begins_s": ..., "segment_bytes": ...}').checks


def _hangs(printed: object) -> Check:
    what, expected = "without probing", "iperf3 receives nothing"
    ends = require_printed(what, printed, "iperf3 to its end", transfers, _HANGS)
    got = [it for it in ends if it.side == "receiver"]
    if not got or got[-1].lasted_s < _SHORTEST_S:
        return Check.failing(what, "this transfer was too short", f"{_HANGS}, to its end", expected)
    if got[-1].all_datagrams is not None:
        return Check.failing(what, "this is a test of UDP", f"leave out -u: {_HANGS}", expected)
    if got[-1].rate_mbps:
        hint = (f"{_NARROW_PORT}; and probing must still be off on h1: sysctl net.ipv4.tcp_mtu_probing", _HANGS)
        return Check.failing(what, f"{got[-1].rate_mbps:g} Mbit/s arrived", hint, expected)
    return Check.passing(what, expected, "0 Mbit/s")


def _mended(given: object) -> TcpResult:
    what, send = "with probing", 'measure.TcpFlow("h1", "h2", duration_s=12)'
    how = f'store what measure.run_together(lab, [{send}], record=["h1-eth0"]) returns'
    long = at_least("duration_s", _SHORTEST_S, "write duration_s=12")
    (run,) = require_run(what, given, [Wanted(TcpFlow, ("h1", "h2"), (long,))], how).of(TcpResult)
    refuse_another_network(what, run.origin.network, mtu_gre())
    if not run.throughput_mbps:
        hint = ("is probing on at h1?", 'lab["h1"].cmd("sysctl -w net.ipv4.tcp_mtu_probing=1")')
        raise Refuse(what, "no data arrived", hint, "data after a while", "0 Mbit/s")
    if run.samples[0].throughput_mbps:
        again = f"start the tunnel's lab again; {_NARROW_PORT}, and tcp_mtu_probing 1 on h1: leave the rest as it is"
        raise Refuse(
            what, "data arrived in the first second: no full segment had to vanish first", again, "data after a while"
        )
    if _fastest_mbps(run) < _MENDED_MBPS:
        raise Refuse(what, "the link was never full", "let it last longer", f"{_MENDED_MBPS:g} Mbit/s or more")
    return run


def _fastest_mbps(run: TcpResult) -> float:
    return max(it.throughput_mbps for it in run.samples)


_UDP_FLOWS: Final = (TrainFlow, UdpFlow)
_LARGEST_DATA_BYTES: Final = ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES
_FITTING_DATA_BYTES: Final = TUNNEL_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES


def _datagrams_vanish(given: object) -> Check:
    """Judge datagrams that fit h1's interface, and not the tunnel."""
    what = "the run that shows it"
    fields = (
        at_most("payload_bytes", _LARGEST_DATA_BYTES, "the sentence speaks of datagrams that fit h1's own MTU of 1500"),
        at_least("payload_bytes", _FITTING_DATA_BYTES + 1, "these fit the tunnel: send larger ones"),
    )
    wanted = Wanted[TrainResult | UdpResult](_UDP_FLOWS, ("h1", "h2"), fields)
    run = require_result(
        what, only_result(given), wanted, "give what measure.run returned for the case of the sentence"
    )
    refuse_another_network(what, run.origin.network, mtu_gre())
    sent, arrived = (
        (run.sent, run.received) if isinstance(run, TrainResult) else (run.sent_packets, run.received_packets)
    )
    return contradicts(
        "UDP's datagrams arrive",
        f"{arrived} of {sent} datagrams arrived",
        is_wrong=arrived < sent / 2,
        step=_NARROW_PORT,
    )


check_claim = claim("Lab 08, a claim to test", _FOLDER, _datagrams_vanish)
"""Judge the number of the wrong sentence on a tunnel that is too narrow, and the run that shows it."""


# --- The network with a router


def _link(number: int, router: str, host: str, mtu_bytes: int) -> Link:
    ends = End("r1", router, f"10.0.{number}.254/24"), End(host, f"{host}-eth0", f"10.0.{number}.1/24")
    return Link(*ends, rate_mbps=LINK_MBPS, mtu_bytes=mtu_bytes)


NARROW: Final = Network(
    "narrow",
    (Host("h1"), Router("r1"), Host("h2")),
    (_link(1, "r1-eth0", "h1", ETHERNET_MTU_BYTES), _link(2, "r1-eth1", "h2", 1400)),
)
"""Two hosts and a router between them. Its second link has a smaller MTU than Ethernet."""
