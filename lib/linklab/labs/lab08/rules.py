"""What Lab 08, Packet size, asks, and how it is judged: headers, first packets that are too fast, and a tunnel.

Frames are counted as the MTU study does: whole, with Ethernet's checksum, which virtual cables do not carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.packets import (
    MININET_BUCKET_BYTES,
    burst_bytes,
    first_bandwidth_mbps,
    real_mbps,
    steady_rate_mbps,
    virtual_mbps,
)
from linklab.errors import MeasurementError
from linklab.grade import choices
from linklab.grade.check import Check, Hints
from linklab.grade.questions import Judged, Question, Slip, Value, asked, asked_one, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import late_ms, measured, unfit, unless_busy
from linklab.measure import Capture, TrainResult, verdict_on
from linklab.measure.trust import MISSED_PERCENT
from linklab.network.mtu_testbeds import ip_packet_bytes, payload_bytes
from linklab.units import (
    BITS_PER_BYTE,
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    GRE_HEADER_BYTES,
    GRE_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    TCP_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)

SIZES: Final = (1518, 4370, 7999)
"""The study's sizes of frames."""
FRAMES: Final = (100, *SIZES)
LATE: Final = (4370, 7999)
"""Those whose second packet has to wait for the bucket."""
LINK_MBPS: Final = 10.0
_EXACT: Final = 6
"""Digits of sizes in bytes, which are whole numbers."""


# --- Predictions


@guarded
def check_data(predicted_mbps: object) -> Result:
    """Judge how much UDP data a full link of 10 Mbit/s carries, by frame size, in Mbit/s to four digits."""
    questions = [_data(size) for size in FRAMES]
    return asked("Lab 08, predicted data rates", predicted_mbps, questions, "{1518: 9.1, ...}, in Mbit/s")


def _data(size: int) -> Value:
    data, on_link = payload_bytes(size), size - ETHERNET_CHECKSUM_BYTES
    once = "go through the table of headers: what of the frame is no data?"
    cable = "what does a virtual cable carry of a frame, and what does it not need?"
    slips = (
        Slip(LINK_MBPS, "that is all of the link", "headers take their part: data is what is left"),
        Slip(LINK_MBPS * data / size, "that sends the checksum too", cable),
        Slip(real_mbps(size, LINK_MBPS) * data / size, "that is a real cable's, with preamble and gap", cable),
        Slip(LINK_MBPS * ip_packet_bytes(size) / on_link, "that counts IPv4's and UDP's headers as data", once),
        Slip(LINK_MBPS * (data + UDP_HEADER_BYTES) / on_link, "that counts UDP's header as data", once),
        Slip(LINK_MBPS * (data + UDP_HEADER_BYTES - TCP_HEADER_BYTES) / on_link, "that takes TCP's header", once),
        Slip(LINK_MBPS * on_link / data, "that is upside down", "data is less than the whole"),
    )
    hints = (
        "a full link is never idle, but part of each frame on it is no data",
        "which bytes of a frame does a virtual cable carry, and how many of them are data?",
        f"{LINK_MBPS:g} * ({size} - 14 - 20 - 8 - 4) / ({size} - 4)",
    )
    expected = stated(LINK_MBPS * data / on_link, "Mbit/s", "what headers leave", digits=4)
    return Value(size, f"data in frames of {size} bytes", expected, hints, slips)


@guarded
def check_first(predicted_mbps: object) -> Result:
    """Judge the bandwidth from the first to the second packet, behind a bucket of 1600 bytes, in Mbit/s, by size."""
    questions = [_first(size) for size in LATE]
    return asked("Lab 08, the second packet", predicted_mbps, questions, "{4370: 12.3, 7999: 12.3}, in Mbit/s")


def _first(size: int) -> Value:
    right = first_bandwidth_mbps(2, size, LINK_MBPS, MININET_BUCKET_BYTES)
    wait_ms = transmission_ms(size - ETHERNET_CHECKSUM_BYTES - MININET_BUCKET_BYTES, LINK_MBPS)
    debt = "the second frame waits until the debt is paid: what the first took beyond the bucket"
    slips = (
        Slip(LINK_MBPS, "that is the link's rate", debt),
        Slip(2 * right, "that counts the first packet's bits", "since the first packet came one frame, not two"),
        Slip(virtual_mbps(size, LINK_MBPS), "that is the lasting bandwidth", debt),
        Slip(LINK_MBPS * size / MININET_BUCKET_BYTES, "that divides the frame by the bucket", debt),
        Slip(LINK_MBPS * (size + MININET_BUCKET_BYTES) / size, "that adds the bucket to the bits", debt),
        Slip(wait_ms, "that is the wait in ms", "bandwidth is bits over time: divide one frame's bits by the wait"),
    )
    hints = (
        "a full bucket lets the first frame go at once and into debt; tokens drip at the link's rate",
        f"{debt}. How long does that take, and how many bits came in that time?",
        f"{size} * {LINK_MBPS:g} / ({size} - 4 - {MININET_BUCKET_BYTES})",
    )
    expected = stated(right, "Mbit/s", "one frame's bits over the second one's wait")
    return Value(size, f"bandwidth at packet 2 of {size} bytes", expected, hints, slips)


@guarded
def check_tunnel(predicted: object) -> Result:
    """Judge what GRE adds to a frame, what MTU it leaves of 1500, and the bandwidth of frames of 1518 bytes in it."""
    return asked("Lab 08, the tunnel", predicted, _tunnel(), '{"overhead_bytes": 12, ...}')


def _tunnel() -> tuple[Value, ...]:
    concept = "a tunnel puts the whole frame, its Ethernet header too, behind new headers"
    headers = "read the table from the left: what stands before the frame of h1?"
    inside = "the MTU counts the IP packet: all but the outer Ethernet header must fit into it"
    longer = "the cable between the computers carries longer frames: by how much?"
    whole = "count whole frames, as the study does"
    new_ip = IPV4_HEADER_BYTES + GRE_HEADER_BYTES
    frame = SIZES[0]
    on_link = frame - ETHERNET_CHECKSUM_BYTES + GRE_OVERHEAD_BYTES
    overhead = (
        Slip(new_ip, "that leaves out the new Ethernet header", headers),
        Slip(GRE_HEADER_BYTES, "that is GRE's own header", headers),
        Slip(ETHERNET_HEADER_BYTES + GRE_HEADER_BYTES, "that leaves out the new IPv4 header", headers),
        Slip(ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES, "that leaves out GRE itself", headers),
        Slip(GRE_OVERHEAD_BYTES + ETHERNET_CHECKSUM_BYTES, "that counts a checksum", "a virtual cable carries none"),
        Slip(GRE_OVERHEAD_BYTES + UDP_HEADER_BYTES, "that counts a UDP header too", "GRE lies in IPv4 directly"),
    )
    left = (
        Slip(ETHERNET_MTU_BYTES - new_ip, "that leaves out the inner Ethernet header", inside),
        Slip(ETHERNET_MTU_BYTES + GRE_OVERHEAD_BYTES, "that is what the outside would need", "what is left inside?"),
        Slip(frame - GRE_OVERHEAD_BYTES, "that is a frame of 1518 less the tunnel's", "the MTU is the IP packet"),
        Slip(ETHERNET_MTU_BYTES, "that leaves no room for headers", inside),
    )
    frames = (
        Slip(virtual_mbps(frame, LINK_MBPS), "that is without a tunnel", longer),
        Slip(LINK_MBPS * frame / (frame + GRE_OVERHEAD_BYTES), "that sends the checksum too",
             "no virtual cable carries it"),
        Slip(LINK_MBPS * (frame - ETHERNET_CHECKSUM_BYTES) / on_link, "that counts frames without checksum", whole),
        Slip(LINK_MBPS * payload_bytes(frame) / on_link, "that counts data only", whole),
        Slip(LINK_MBPS * (frame - GRE_OVERHEAD_BYTES) / frame, "that takes the tunnel's bytes away", longer),
    )  # fmt: skip
    why = "the headers of a frame in a GRE tunnel"
    return (
        Value("overhead_bytes", "overhead of GRE", stated(GRE_OVERHEAD_BYTES, "bytes", why, _EXACT),
              (concept, headers, "14 + 20 + 4"), overhead),
        Value("mtu_left_bytes", "MTU inside, of 1500 outside",
              stated(ETHERNET_MTU_BYTES - GRE_OVERHEAD_BYTES, "bytes", why, _EXACT),
              (concept, inside, "1500 - 20 - 4 - 14"), left),
        Value("frames_mbps", "bandwidth of frames in the tunnel",
              stated(virtual_mbps(frame, LINK_MBPS, GRE_OVERHEAD_BYTES), "Mbit/s", why, digits=4),
              (longer, "of each frame on that cable, which part is the frame of h1, as the study counts it?",
               "10 * 1518 / (1514 + 14 + 20 + 4)"), frames),
    )  # fmt: skip


# --- Trains

_FEWEST: Final = 100
_RATE: Final = 0.003
_BYTES: Final = 40.0
"""A burst is this near: what comes between two readings of the clock, and the kernel's rounding of a bucket."""
_SLACK: Final = "what the clock tells apart, and in real time how late its timers are"
_EXAMPLE: Final = 'measure.run(lab, TrainFlow("h1", "h2", 400, 1472))'


@guarded
def check_runs(runs: object) -> Result:
    """Judge greedy trains of each size on the untouched link: the lasting rate, and the burst of Mininet's bucket."""

    def judge(size: int, run: object) -> Iterator[Check]:
        gone = "the burst is removed already: start the lab again, then run the cells in order"
        early = Slip(size - ETHERNET_CHECKSUM_BYTES, "nothing passes early", gone)
        hints = ("a full bucket lets packets pass before their time", "measure on the lab as it was started")
        yield from _train(size, run, MININET_BUCKET_BYTES, (early,), hints)

    return asked("Lab 08, trains", runs, [Judged(size, judge) for size in FRAMES], f"{{1518: {_EXAMPLE}, ...}}")


@guarded
def check_calm(runs: object) -> Result:
    """Judge the same of the study's sizes once the burst is removed: no packet is early, and the rate as it was."""

    def judge(size: int, run: object) -> Iterator[Check]:
        on_link = size - ETHERNET_CHECKSUM_BYTES
        unchanged = "change the class of h1-eth0 with tc first, and measure after that"
        debt = "HTB sends while its bucket is not in debt: how many frames does one of a frame's size let pass?"
        slips = (
            Slip(on_link + MININET_BUCKET_BYTES, "the bucket is as it was", unchanged),
            Slip(2 * on_link, "two frames pass at once", debt),
        )
        hints = ("no packet may leave before those before it are paid for", debt, "a bucket of 1 byte: burst 1")
        yield from _train(size, run, 0, slips, hints)

    questions = [Judged(size, judge) for size in SIZES]
    return asked("Lab 08, without a burst", runs, questions, f"{{1518: {_EXAMPLE}, ...}}")


@guarded
def check_through(run: object) -> Result:
    """Judge a greedy train of frames of 1518 bytes through the tunnel: its lasting rate."""
    checks = _train(SIZES[0], run, None, more_bytes=GRE_OVERHEAD_BYTES)
    return Result("Lab 08, through the tunnel", tuple(checks))


def _train(
    size: int,
    run: object,
    bucket_bytes: int | None,
    slips: Sequence[Slip] = (),
    hints: Hints = "",
    more_bytes: int = 0,
) -> Iterator[Check]:
    """Judge a train of frames of a size: its lasting rate, and behind a bucket what passes at once."""
    problem = _refused(size, run)
    if problem is not None or not isinstance(run, TrainResult):
        if problem is not None:
            yield problem
        return
    try:
        found = steady_rate_mbps(run.arrivals_s, run.payload_bytes) * size / run.payload_bytes
    except MeasurementError as wrong:
        yield Check.failing(f"train of frames of {size} bytes", str(wrong), "measure it again")
        return
    trouble, real = verdict_on(run).trouble, run.origin.clock != "virtual"
    right, direct = virtual_mbps(size, LINK_MBPS, more_bytes), virtual_mbps(size, LINK_MBPS)
    low, high = (1 - MISSED_PERCENT / 100, 1.05) if real else (1 - _RATE, 1 + _RATE)
    rate = Expectation(right, low * right, high * right, "Mbit/s", "what the link carries of frames", allowance=_SLACK)
    beside = Slip(direct, "that is the rate without a tunnel", "send it in the lab with the tunnel")
    other = ("what lasts is the link's rate", "tc class change sets the rate as well: give it `rate 10mbit`")
    yield measured(f"lasting bandwidth, {size} bytes", found, rate, trouble, other, slips=(beside,))
    if bucket_bytes is not None:
        on_link = size - ETHERNET_CHECKSUM_BYTES
        # small frames come in steps of one
        slack = _BYTES + late_ms(run.fidelity) * LINK_MBPS * 1000 / BITS_PER_BYTE
        slack = max(slack, 4 * on_link) if real else slack
        at_once = round(burst_bytes(run.arrivals_s, on_link, LINK_MBPS), 3)
        most = on_link + bucket_bytes
        why = "a frame, and what the bucket holds"
        burst = Expectation(most, max(on_link, most - slack), most + slack, "bytes", why, "both", allowance=_SLACK)
        what = f"bytes that pass at once, frames of {size}"
        yield measured(what, at_once, burst, trouble, hints, slips=slips)


def _refused(size: int, run: object) -> Check | None:
    """Return a failed check if that is no whole train as asked for, or None."""
    what, data = f"train of frames of {size} bytes", payload_bytes(size)
    problem = unfit(what, run, TrainResult, f"measure it: {_EXAMPLE}", ("h1", "h2"), of_the_course=False)
    if problem is not None or not isinstance(run, TrainResult):
        return problem
    flow, trouble = run.flow, verdict_on(run).trouble
    if flow.payload_bytes != data:
        slip = {size: "the whole frame was given as data", ip_packet_bytes(size): "the IP packet was given as data"}
        reason = slip.get(flow.payload_bytes, f"its packets carry {flow.payload_bytes} bytes of data")
        hint = "a datagram's data is the frame less all headers and the checksum"
        return Check.failing(what, reason, hint, f"{data} bytes of data", f"{flow.payload_bytes}")
    if flow.gap_us:
        hint = "leave gap_us away: the link alone must hold the packets back"
        return Check.failing(what, f"its sender waits {flow.gap_us:g} us for each packet", hint, "no gap")
    if flow.count < _FEWEST:
        hint = f"send {_FEWEST} or more: what lasts shows after the first ones"
        return Check.failing(what, f"it has {flow.count} packets", hint, f"{_FEWEST} or more", str(flow.count))
    if run.received < run.sent:
        lost = f"{run.sent - run.received} of {run.sent} packets did not arrive"
        hint = "is there room for the frame on the whole path? TBF drops what is larger than its bucket, HTB does not"
        return unless_busy(Check.failing(what, lost, hint, "all arrive", lost), trouble)
    return None


# --- The tunnel as captured


@guarded
def check_overhead(overhead_bytes: object, inside: object, outside: object) -> Result:
    """Judge what the captures of h1 and of pc1 say that the tunnel adds to a frame, in bytes.

    No packet is dissected, since somebody else has made the files: their records' headers give the lengths.
    """
    title = "Lab 08, the capture"
    longest = []
    for where, caught, node in (("inside", inside, "h1"), ("outside", outside, "pc1")):
        what, again = f"the capture {where}", f'with capture(lab, "{node}", "{node}-eth0") as {where}: send the train'
        try:
            lengths = caught.frame_bytes if isinstance(caught, Capture) and caught.pcap else ()
        except MeasurementError as damaged:
            return Result(title, (Check.failing(what, str(damaged), again, "packets"),))
        if not isinstance(caught, Capture) or not lengths:
            return Result(title, (Check.failing(what, "no packet is measured yet", again, "packets"),))
        if caught.node != node:
            return Result(title, (Check.failing(what, f"it was made on {caught.node}", again, node, caught.node),))
        longest.append(max(lengths))
    near, far = longest
    if far <= near:
        reason = "no frame outside is longer than those inside"
        return Result(title, (Check.failing("the captures", reason, "send the train while both run"),))
    slips = (
        Slip(far, "that is the frame outside", "what of it was there before the tunnel?"),
        Slip(near, "that is the frame inside", "compare it with the frame outside"),
        Slip(far / near, "that is a ratio", "it is asked for in bytes"),
    )
    hints = (
        "the same packet is in both captures, once with the tunnel's headers and once without",
        "wirelen of a packet is its length on the cable: compare a packet outside with one inside",
        "outside.packets[0].wirelen - inside.packets[0].wirelen",
    )
    expected = stated(far - near, "bytes", "the frame outside less the frame inside", _EXACT)
    return asked_one(title, overhead_bytes, Value("", "overhead", expected, hints, slips))


# --- What the study's numbers say


def question_text() -> str:
    """Return the questions with letters, for reading."""
    return choices.question_text(choices.choices(Path(__file__).parent))


@guarded
def check_questions(answers: object) -> Result:
    """Judge two numbers that explain the study's, and two questions."""
    every: tuple[Question, ...] = (*_numbers(), *choices.choices(Path(__file__).parent))
    return asked("Lab 08, questions", answers, every)


def _numbers() -> tuple[Value, ...]:
    frame, rate = SIZES[0], 100
    longer = "what does a real cable spend on each frame, and how much longer is it in the tunnel?"
    counted = (
        Slip(LINK_MBPS, "that is right only if the first packet's bits are left out", "count both packets"),
        Slip(1.5 * LINK_MBPS, "that is packet 3", "at packet 2 there are two packets and one gap"),
    )
    real = (
        Slip(real_mbps(frame, rate), "that is without the tunnel", longer),
        Slip(rate * frame / (frame + GRE_OVERHEAD_BYTES), "that leaves out preamble and gap", longer),
        Slip(virtual_mbps(frame, rate, GRE_OVERHEAD_BYTES), "that is a virtual cable's", longer),
        Slip(real_mbps(frame, rate, GRE_OVERHEAD_BYTES) * payload_bytes(frame) / frame, "that counts data only",
             "count whole frames, as the study does"),
        Slip(real_mbps(frame, rate / 10, GRE_OVERHEAD_BYTES), "that is on 10 Mbit/s", "the question is about 100"),
    )  # fmt: skip
    return (
        Value(
            "counted_mbps",
            "bandwidth at packet 2 of an ideal link of 10 Mbit/s, if the first packet's bits are counted too",
            stated(2 * LINK_MBPS, "Mbit/s", "two packets' bits over one gap"),
            ("bits over time: which packets' bits, and which time?", "how many packets, and how many gaps?",
             "2 packets' bits over 1 gap, which lasts one packet's bits / 10 Mbit/s"),
            counted,
        ),
        Value(
            "real_mbps",
            "frames of 1518 bytes that a real cable of 100 Mbit/s carries in a GRE tunnel",
            stated(real_mbps(frame, rate, GRE_OVERHEAD_BYTES), "Mbit/s", "preamble, gap, and GRE's headers", digits=4),
            ("each frame takes the time of all that is sent for it, not of itself alone", longer,
             "100 * 1518 / (1518 + 20 + 38)"),
            real,
        ),
    )  # fmt: skip
