"""What Lab 09, Video, asks, and how it is judged: packets of a stream, jitter, a playout buffer, and lost pictures.

Expectations are computed from the video as it was encoded, and from the run itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.video_statistics import delays, rtp_jitter_ms
from linklab.grade.check import Check, Refuse, collect_checks
from linklab.grade.choices import choices, letter, letters
from linklab.grade.measured import results_of
from linklab.grade.predictions import Predictions
from linklab.grade.questions import JudgedBy, Question, Slip, Value, asked, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Case, Formula, Trial
from linklab.grade.wanted import Wanted, exactly, refuse_another_network, require_result, require_shape
from linklab.labs.claims import claim, contradicts
from linklab.labs.printed import require_printed, round_trips_ms
from linklab.measure import Quality, Video, VideoFlow, VideoResult
from linklab.measure.video_file import IP_PACKET_BYTES, RTP_PACKET_BYTES, TS_PACKET_BYTES
from linklab.network import Network, differences, expected_state, path
from linklab.network.catalogue import video_network
from linklab.units import BITS_PER_BYTE, ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES, transmission_ms

__all__ = ["LOSSY", "NETWORKS", "path", "video_network"]

_FOLDER: Final = Path(__file__).parent
PAYLOAD_BYTES: Final = 7 * TS_PACKET_BYTES
FRAME_BYTES: Final = IP_PACKET_BYTES + ETHERNET_HEADER_BYTES
WAN_MBPS: Final = 2
LOSSY: Final = ("loss", "queue")
NETWORKS: Final[Mapping[str, Network]] = {
    "gigabit": video_network(1, 1000),
    "wan": video_network(3, 2),
    "loss": video_network(3, 8, loss_percent=1),
    "queue": video_network(3, 2, queue_packets=10),
}
"""The networks that the lab measures on, by name."""


# --- Predictions


def _ip_kbps(video: Video | None) -> Value:
    """Ask for the mean rate of the video's IP packets; before there is one, of a video of the rate to encode."""
    seconds, coded_kbps = (video.clip.duration_s, video.clip.bitrate_kbps) if video else (1.0, 1026.0)
    stream_bytes = video.stream_bytes if video else _CONTAINER * coded_kbps * 1000 / BITS_PER_BYTE
    right = stream_bytes / PAYLOAD_BYTES / seconds * IP_PACKET_BYTES * BITS_PER_BYTE / 1000
    of_ip = "an IP packet contains the headers of RTP, UDP and IPv4, but not Ethernet's"
    slips = (
        Slip(coded_kbps, "that is the video's own rate", "the container and the headers add bytes to it"),
        Slip(right * PAYLOAD_BYTES / IP_PACKET_BYTES, "that leaves out the headers", of_ip),
        Slip(right * FRAME_BYTES / IP_PACKET_BYTES, "that counts Ethernet's header too", of_ip),
        Slip(right * seconds, "that counts all seconds together", "how many kbit arrive in one second?"),
    )
    hint = "the rate is the number of packets in a second, times the bits of one packet"
    expected = stated(right, "kbit/s", "packets in a second times the bits of each")
    return Value("ip_kbps", "mean rate of the IP packets", expected, hint, slips)


def _spacing() -> Value:
    right = transmission_ms(FRAME_BYTES, WAN_MBPS)
    whole = "the link must send the whole frame, with all its headers, before the next one"
    slips = (
        Slip(transmission_ms(IP_PACKET_BYTES, WAN_MBPS), "that is the IP packet alone", whole),
        Slip(transmission_ms(RTP_PACKET_BYTES, WAN_MBPS), "that leaves out UDP, IPv4 and Ethernet", whole),
        Slip(transmission_ms(PAYLOAD_BYTES, WAN_MBPS), "that is RTP's payload alone", whole),
        Slip(transmission_ms(ETHERNET_MTU_BYTES, WAN_MBPS), "that is for a packet of 1500 bytes",
             "how large is one frame of this video?"),
        Slip(1000 / _NOMINAL_PACKETS_PER_S, "that is the mean time",
             "many packets come closer together: what is the shortest possible time?"),
        Slip(1 / right, "that is frames in a ms", "give the time for one frame"),
    )  # fmt: skip
    return Value("spacing_ms", "least time between packets (wan)", stated(right, "ms", "bits over rate"), whole, slips)


def _damaged() -> Value:
    """Ask for the share of damaged pictures: losses at random moments, and a keyframe every two seconds.

    With n losses, on average, between two keyframes the share after the first of them is ``1 - (1 - exp(-n)) / n``.
    """
    losses = _LOSS * _NOMINAL_PACKETS_PER_S * _KEYFRAMES_S
    right = 100 * (1 - (1 - math.exp(-losses)) / losses)
    built = "each picture builds on the picture before it, so the damage stays until the next keyframe"
    slips = (
        Slip(100 * _LOSS, "that is the share of lost packets", built),
        Slip(200 * _LOSS, "that counts only pictures that lose one of their own packets", built),
        Slip(100, "that is every picture", "a keyframe builds on no other picture: it ends the damage"),
        Slip(right / 100, "that is a share of 1", "multiply by 100 for percent"),
    )
    expected = Expectation(
        right, right - 15, right + 15, "%", "after a loss all pictures up to the next keyframe are damaged",
        allowance="the ten losses happen at random moments",
    )  # fmt: skip
    return Value("damaged", "pictures that are damaged (loss)", expected, built, slips, by_tool=True)


_CONTAINER: Final = 1.1
"""Size of the stream in its container over that of the coded video, roughly."""
_NOMINAL_PACKETS_PER_S: Final = 106.0
_LOSS: Final = 0.01
_KEYFRAMES_S: Final = 2.0


def _predictions(video: Video | None) -> Predictions:
    return Predictions("Lab 09", {"packets": lambda: [_ip_kbps(video), _spacing()], "damaged": lambda: [_damaged()]})


PREDICTIONS: Final = _predictions(None)
"""The predictions, as they are asked before the student has made a video."""


# --- RFC 3550's jitter, a function of arrivals and timestamps in seconds

Times = Sequence[float]


@guarded("Lab 09, jitter")
def check_jitter(function: object) -> Iterable[Check]:
    """Judge a function of arrivals and timestamps that computes RFC 3550's jitter."""
    return _JITTER.checks(function)


_PACKETS: Final[Mapping[str, Case]] = {
    "one packet late": ((0.0, 0.010, 0.025), (0.0, 0.010, 0.020)),
    "late once, then on time": ((2.0, 2.010, 2.025, 2.035, 2.045), (0.0, 0.010, 0.020, 0.030, 0.040)),
    "one early, then late": ((1.0, 1.006, 1.021, 1.029), (0.0, 0.010, 0.020, 0.030)),
    "every packet on time": ((5.0, 5.010, 5.025, 5.030), (0.0, 0.010, 0.025, 0.030)),
    "a pause of the sender": ((0.0, 0.004, 0.094, 0.103), (0.0, 0.004, 0.090, 0.100)),
    "a packet alone": ((2.0,), (7.0,)),
}


def _last_jitter_ms(arrivals_s: Times, timestamps_s: Times) -> float:
    return rtp_jitter_ms(arrivals_s, timestamps_s)[-1]


def _largest_jitter_ms(arrivals_s: Times, timestamps_s: Times) -> float:
    return max(rtp_jitter_ms(arrivals_s, timestamps_s))


def _differences_ms(arrivals_s: Times, timestamps_s: Times) -> list[float]:
    transit = [came - meant for came, meant in zip(arrivals_s, timestamps_s, strict=True)]
    return [1000 * (late - early) for early, late in pairwise(transit)]


def _sizes_ms(arrivals_s: Times, timestamps_s: Times) -> list[float]:
    return [abs(one) for one in _differences_ms(arrivals_s, timestamps_s)]


def _smoothed(values: Sequence[float], divisor: float = 16) -> float:
    jitter = 0.0
    for value in values:
        jitter += (value - jitter) / divisor
    return jitter


_SMOOTH: Final = "RFC 3550 smooths: each abs(D) moves J by a sixteenth of its distance from J"
_JITTER: Final = Trial(
    _last_jitter_ms,
    _PACKETS,
    (
        "jitter says how much the spacing of packets differs from the spacing of their timestamps",
        "D is the difference of arrivals minus the difference of timestamps; J starts at 0 and follows abs(D)",
        "for each packet after the first: J += (abs(D) * 1000 - J) / 16",
    ),
    (
        Formula(lambda a, t: _smoothed(_differences_ms(a, t)), "D keeps its sign, so early packets lower J",
                "use abs(D)"),
        Formula(lambda a, t: _smoothed(_differences_ms(a, [0.0] * len(a))), "that leaves out the timestamps",
                "subtract the difference of the timestamps"),
        Formula(lambda a, t: sum(_sizes_ms(a, t)) / 16, "that adds abs(D) / 16 and keeps all of the old J", _SMOOTH),
        Formula(lambda a, t: fmean(_sizes_ms(a, t) or [0.0]), "this is the mean of all abs(D)", _SMOOTH),
        Formula(lambda a, t: [0.0, *_sizes_ms(a, t)][-1], "this is the last abs(D) alone", _SMOOTH),
        Formula(lambda a, t: sum(_sizes_ms(a, t)), "this is the sum of all abs(D)", _SMOOTH),
        Formula(lambda a, t: max(_sizes_ms(a, t), default=0.0), "this is the largest abs(D)", _SMOOTH),
        Formula(_largest_jitter_ms, "this is the largest J", "give J after the last packet"),
        Formula(lambda a, t: _smoothed(_sizes_ms(a, t), 15), "this divides by 15", "RFC 3550 divides by 16"),
        Formula(lambda a, t: _smoothed(_sizes_ms(a, t), 8), "this divides by 8", "RFC 3550 divides by 16"),
    ),
    remarks={"a packet alone": "the first packet has no packet before it, so J is still 0"},
)  # fmt: skip


# --- A playout buffer


def lateness_ms(arrivals_s: Times, timestamps_s: Times) -> list[float]:
    """Return by how much each packet came later than the first one, measured by their timestamps."""
    first_s = arrivals_s[0] - timestamps_s[0]
    return [1000 * (came - meant - first_s) for came, meant in zip(arrivals_s, timestamps_s, strict=True)]


def _late_percent(arrivals_s: Times, timestamps_s: Times, buffer_ms: float) -> float:
    late = [by_ms > buffer_ms for by_ms in lateness_ms(arrivals_s, timestamps_s)]
    return 100 * sum(late) / len(late)


def _late_by(arrivals_s: Times, timestamps_s: Times, buffer_ms: float, *, before: bool) -> float:
    """Compare each packet with the one before it, or each arrival with the first, whatever the timestamps say."""
    if before:
        late = [by_ms > buffer_ms for by_ms in (0.0, *_differences_ms(arrivals_s, timestamps_s))]
    else:
        late = [1000 * (came - arrivals_s[0]) > buffer_ms for came in arrivals_s]
    return 100 * sum(late) / len(late)


@guarded("Lab 09, late packets")
def check_late(function: object) -> Iterable[Check]:
    """Judge a function of arrivals, timestamps and a buffer in ms: how many packets are late, in percent."""
    return _LATE.checks(function)


_MEANT: Final = (0.0, 0.010, 0.020, 0.030)
_SINCE_FIRST: Final = "compare the time since the first arrival with the time since the first timestamp"
_LATE: Final = Trial(
    _late_percent,
    {
        "one packet later than the buffer": ((0.0, 0.010, 0.075, 0.080), _MEANT, 52.0),
        "a shorter buffer": ((0.0, 0.010, 0.075, 0.080), _MEANT, 20.0),
        "all packets equally late": ((7.0, 7.010, 7.020, 7.030), _MEANT, 5.0),
        "packets that come later and later": ((1.0, 1.030, 1.060, 1.090, 1.120), (*_MEANT, 0.040), 50.0),
        "a pause of the sender": ((3.0, 3.004, 3.604), (1.0, 1.004, 1.600), 20.0),
        "a first packet that had to wait": ((5.040, 5.042, 5.120), (2.0, 2.010, 2.020), 7.0),
        # sums of powers of 2, which no order of subtraction rounds
        "a packet as late as the buffer": ((4.0, 4.125, 4.5, 4.625), (1.0, 1.125, 1.25, 1.5), 125.0),
    },
    (
        "a packet is late if it comes after its turn: when does the player show it?",
        f"{_SINCE_FIRST}, for each packet",
        "(arrival - first arrival) - (timestamp - first timestamp) > buffer_ms / 1000; count these, in percent",
    ),
    (
        Formula(lambda a, t, b: _late_percent(a, t, b) / 100, "that is a share of 1", "multiply by 100 for percent"),
        Formula(lambda a, t, b: 100 - _late_percent(a, t, b), "these are the packets in time", "count the late ones"),
        Formula(lambda a, t, b: _late_percent(a, t, b) * len(a) / 100, "that is a number of packets",
                "divide it by the number of all packets, times 100"),
        Formula(lambda a, t, b: _late_percent(a, t, 1000 * b), "that takes the buffer for seconds",
                "buffer_ms / 1000 is the buffer in seconds"),
        Formula(lambda a, t, b: _late_percent(a, t, math.nextafter(b, 0)),
                "that counts packets that are just as late as the buffer", "the player can still show them: write >"),
        Formula(lambda a, t, b: _late_by(a, t, b, before=True), "that compares each packet with the one before",
                _SINCE_FIRST),
        Formula(lambda a, t, b: _late_by(a, t, b, before=False), "that leaves out the timestamps", _SINCE_FIRST),
    ),
)  # fmt: skip

_BUFFERED: Final = ("wan", "queue")


@guarded
def check_buffers(answers: object, runs: object) -> Result:
    """Judge the shortest buffers without late packets, in ms, by the runs themselves, and the letter for a call."""
    each = results_of(runs, VideoResult)
    questions = [*(_buffer(name, each.get(name)) for name in _BUFFERED), *choices(_FOLDER, "call")]
    return asked("Lab 09, playout buffers", answers, questions, '{"wan": 12, "queue": 12, "call": "a"}')


def _buffer(name: str, run: VideoResult | None) -> Question:
    what = f"shortest buffer without a late packet ({name})"
    if run is None or len(run.arrived) < 2:
        missing = Check.failing(what, "its run is missing", "run the cells above that measure it")
        return JudgedBy(name, lambda _, __: missing)
    arrivals_s, timestamps_s, *_ = zip(*run.arrived, strict=True)
    right = max(lateness_ms(arrivals_s, timestamps_s))
    hints = (
        "with this buffer your function returns 0, and with one that is 1 ms shorter it does not",
        "try buffers from 0 ms on, in steps of 1 ms",
        "min(ms for ms in range(500) if late_percent(..., ms) == 0)",
    )
    slips = (
        Slip(right / 1000, "that looks like seconds", "give it in ms"),
        Slip(_last_jitter_ms(arrivals_s, timestamps_s), "that is the jitter",
             "jitter compares neighbours: how late is the latest packet?"),
    )  # fmt: skip
    expected = Expectation(
        right, right - 0.5, right + 2, "ms", "the latest packet", source="the run", allowance="steps of a millisecond"
    )
    return Value(name, what, expected, hints, slips)


_CLAIMED_MBPS: Final = 1.3
_CLAIMED_MS: Final = 300


def _waits_longer(given: object) -> Check:
    """Judge the video over a WAN link that carries its mean rate: packets are later than the buffer of the claim."""
    what, network = "the run that shows it", video_network(3, _CLAIMED_MBPS)
    how = "with start(lab09.video_network(3, ...)) as lab: shows_it = measure.run(lab, flow)"
    run = require_result(what, given, Wanted(VideoFlow, ("h1", "h2"), (exactly("sender", "paced"),)), how)
    refuse_another_network(what, run.origin.network, network)
    rate = exactly("rate_mbps", _CLAIMED_MBPS, f"the sentence speaks of a WAN link of {_CLAIMED_MBPS:g} Mbit/s")
    require_shape(what, run.origin.network, network.links[2].ends[0], (rate,))
    if len(run.arrived) < 2:
        raise Refuse(what, f"only {len(run.arrived)} packets arrived", how)
    sent_bytes = sum(run.ip_bytes) + run.sent_packets * ETHERNET_HEADER_BYTES
    mean_mbps = sent_bytes * BITS_PER_BYTE / 1e6 / run.clip.duration_s
    if mean_mbps > _CLAIMED_MBPS:
        reason = f"this video has {mean_mbps:.3g} Mbit/s on average, which is more than the link carries"
        raise Refuse(what, reason, "send the video of this notebook", f"at most {_CLAIMED_MBPS:g} Mbit/s")
    arrivals_s, timestamps_s, *_ = zip(*run.arrived, strict=True)
    late = _late_percent(arrivals_s, timestamps_s, _CLAIMED_MS)
    if not late and run.lost_packets:
        reason = f"{run.lost_packets} packets were lost, and none of the others came too late"
        raise Refuse(what, reason, f"start lab09.video_network(3, {_CLAIMED_MBPS:g}): its queue drops nothing")
    return contradicts(
        f"a buffer of {_CLAIMED_MS} ms is long enough",
        f"{late:.3g} % of the packets are late with a buffer of {_CLAIMED_MS} ms",
        is_wrong=late > 0,
        step="send the whole video of this notebook, 10 s of it",
    )


check_claim = claim("Lab 09, a claim to test", _FOLDER, _waits_longer)
"""Judge the number of the wrong sentence on playout buffers, and the run that shows it."""


# --- Runs

_FRAME_MS: Final = transmission_ms(FRAME_BYTES, WAN_MBPS)
_SHORT_QUEUE_MS: Final = 14 * _FRAME_MS
"""No packet waits so long behind ten others, on a link of 2 Mbit/s."""
_SLOW: Final = "in its busiest second this video needs more than 2 Mbit/s, so packets wait"
_SHORT: Final = "at most ten packets wait, and the queue drops the next one"
_LOSES_NOTHING: Final = ("packets lost", 0.0, 0.0, "its links lose no packets")
_BOUNDS: Final[Mapping[str, tuple[tuple[str, float, float, str], ...]]] = {
    "gigabit": (("longest delay", 0.0, 1.0, "on a gigabit link no queue builds up here"), _LOSES_NOTHING),
    "wan": (("longest delay", 8 * _FRAME_MS, math.inf, _SLOW), _LOSES_NOTHING),
    "loss": (
        ("longest delay", 0.0, 50.0, "8 Mbit/s are enough for this video"),
        # 1 % of a thousand packets: more than three standard deviations to both sides
        ("share of packets lost", 0.1, 3.0, "its link loses 1 %"),
    ),
    "queue": (
        ("longest delay", 3 * _FRAME_MS, _SHORT_QUEUE_MS, f"packets wait, and {_SHORT}"),
        ("packets lost", 1, math.inf, _SHORT),
    ),
}
"""What the runs on each network show: the least and the most, and why."""


@guarded
def check_runs(runs: object, video: object) -> Result:
    """Judge runs by name: each sends the whole video from h1 to h2, over the network that its name says."""

    def judge(name: str, given: object) -> Iterator[Check]:
        how = f'write runs["{name}"] = measure.run(lab, measure.VideoFlow("h1", "h2", video))'
        run = require_result(f"run {name}", given, Wanted(VideoFlow, ("h1", "h2")), how)
        yield _same_video(name, run, video)
        yield from _as_named(name, run)

    result = asked_each("Lab 09, the runs", runs, NETWORKS, judge, '{"gigabit": measure.run(...), ...}')
    own = _predictions(video if isinstance(video, Video) else None)
    return own.compared(result, "packets", dict(_seen(results_of(runs, VideoResult))))


def _seen(runs: Mapping[str, VideoResult]) -> Iterator[tuple[str, float]]:
    """Yield what the runs measured of the prediction "packets"."""
    gigabit, wan = runs.get("gigabit"), runs.get("wan")
    if gigabit is not None and gigabit.sent_packets > 1:
        lasted_s = gigabit.departure_s[-1] - gigabit.departure_s[0]
        yield "ip_kbps", sum(gigabit.ip_bytes) * BITS_PER_BYTE / 1000 / lasted_s
    if wan is not None and len(wan.arrived) > 1:
        yield "spacing_ms", min(delays(wan))


def _same_video(name: str, run: VideoResult, video: object) -> Check:
    what, expected = f"run {name}: what was sent", "this notebook's video, sent by the sender 'paced'"
    if not isinstance(video, Video) or run.video != video.digest:
        return Check.failing(what, "this run sent another video", "send the video that this notebook made", expected)
    if run.flow.sender != "paced":
        return Check.failing(what, f"the sender was {run.flow.sender}", "leave out sender=", expected)
    return Check.passing(what, expected, f"{run.sent_packets} packets")


def _as_named(name: str, run: VideoResult) -> Iterator[Check]:
    """Judge whether delays and losses are those of the network that the name says."""
    again = f'measure it again on networks["{name}"]'
    if len(run.arrived) < 2:
        reason = f"only {len(run.arrived)} arrived: no network of this lab loses so many"
        raise Refuse(f"run {name}: packets that arrived", reason, again, "nearly all packets")
    if name in NETWORKS and run.origin.network is not None:
        changed = differences(expected_state(NETWORKS[name]), run.origin.network)
        if changed:  # a slower link makes packets wait as well
            yield replace(Check.of_differences(f"run {name}: its network", "as planned", changed), hint=again)
            return
    delay_ms = max(delay for delay in run.delay_ms if delay is not None)
    seen = {
        "longest delay": (delay_ms, "ms"),
        "packets lost": (run.lost_packets, "lost"),
        "share of packets lost": (run.loss_percent, "%"),
    }
    for what, low, high, why in _BOUNDS[name]:
        value, unit = seen[what]
        expected, found = _bounds(low, high, unit), f"{value:.4g} {unit}"
        if low <= value <= high:
            yield Check.passing(f"run {name}: {what}", expected, found)
        else:
            yield Check.failing(f"run {name}: {what}", f"{found} does not fit: {why}", again, expected, found)


def _bounds(low: float, high: float, unit: str) -> str:
    if not high:
        return "none"
    if high == math.inf:
        return f"{low:.3g} {unit} or more"
    return f"{low:.3g} to {high:.3g} {unit}" if low else f"below {high:.3g} {unit}"


# --- What the runs say


_UDP_LINE: Final = re.compile(
    r"(?:^|\s)([\d.]+)\.\d+ > ([\d.]+)\.\d+: [^>\n]{0,200}?UDP, length (\d{1,6})\b", re.MULTILINE
)
"""A UDP packet in tcpdump's output. With -e the frame's addresses stand before it, with -v it begins a line."""
_LISTENING: Final = re.compile(r"^(?:tcpdump: )?listening on ([^\s,]+)", re.MULTILINE)
_WATCHED: Final = NETWORKS["wan"].links[2].ends[0].interface
_FEWEST: Final = {"packets": 5, "pings": 20}


@guarded("Lab 09, tcpdump and ping")
def check_watch(dump: object, pings: object) -> Iterator[Check]:
    """Judge what tcpdump printed of the video's packets, and ping next to them, on the network "wan"."""
    yield from collect_checks(lambda: _dump_check(dump))
    yield _pings_check(pings)


def _dump_check(dump: object) -> Check:
    what, wanted = "packets in tcpdump", f"{_FEWEST['packets']} or more packets of the video, from h1 to h2"
    command = 'before you send the video: dump = lab["r1"].popen("tcpdump -n -c 10 -i r1-eth1 udp")'
    packets = require_printed(what, dump, "tcpdump -n with a UDP packet", _UDP_LINE.findall, command)
    for place in _LISTENING.findall(str(dump)):
        if place not in (_WATCHED, "any"):
            reason = f"tcpdump listened on {place}: packets do not leave r1 for the WAN there"
            return Check.failing(what, reason, f"listen on r1's interface to the WAN; {command}", wanted, place)
    ends = {NETWORKS["wan"].address_of(name) for name in ("h1", "h2")}
    sizes = [int(size) for source, destination, size in packets if {source, destination} == ends]
    if len(sizes) < _FEWEST["packets"] or set(sizes) != {RTP_PACKET_BYTES}:
        reason = f"{len(sizes)} packets between h1 and h2, with UDP lengths {', '.join(map(str, sorted(set(sizes))))}"
        return Check.failing(what, reason, f"capture only the video's packets, on wan; {command}", wanted)
    told = (
        f"tcpdump prints the length of UDP's payload: {RTP_PACKET_BYTES} bytes, seven times 188 and 12 of RTP. All "
        "packets have the same size. The kernel records when each packet leaves r1. These times show the sender's "
        "pace or, if packets waited, the link's pace."
    )
    return Check.passing(what, wanted, f"{len(sizes)} packets of {RTP_PACKET_BYTES} bytes", told)


def _pings_check(pings: object) -> Check:
    low_ms = _SHORT_QUEUE_MS
    what, wanted = "pings during the video", f"{_FEWEST['pings']} replies or more, some above {low_ms:.0f} ms"
    hint = 'before you send the video: ping = lab["h1"].popen("ping -i 0.25 -c 40 ADDRESS"), with h2\'s address'
    rtts_ms = round_trips_ms(pings) if isinstance(pings, str) else []
    found = f"{len(rtts_ms)} replies" + (f", {min(rtts_ms):.3g} to {max(rtts_ms):.3g} ms" if rtts_ms else "")
    failed = Check.failing(what, found, f"{hint}; after the video: ping.wait(5)", wanted, found)
    h2 = NETWORKS["wan"].address_of("h2")
    if rtts_ms and not re.search(rf"\bfrom (?:h2 \()?{re.escape(h2)}\)?:", str(pings)):
        return Check.failing(what, "h2 sent none of these replies", hint, wanted, found)
    if len(rtts_ms) < _FEWEST["pings"] or max(rtts_ms) < 3 * _FRAME_MS:
        return failed
    if max(rtts_ms) < low_ms:
        reason = "no ping waited behind more than ten packets"
        return Check.failing(what, reason, 'start networks["wan"], whose queue is long', wanted, found)
    return Check.passing(what, wanted, found)


check_wait = letter("Lab 09, what a long queue costs", _FOLDER, "wait")
"""Judge the letter: what the long queue cost, and whom."""
check_mean = letter("Lab 09, the mean", _FOLDER, "mean")
"""Judge the letter: why a mean over packets is higher than one over time."""
check_why = letters("Lab 09, what lost packets damage", _FOLDER, "pictures", "together")
"""Judge the letters: why one lost packet damages many pictures, and why packets lost together damage fewer."""


@guarded
def check_damage(per_lost: object, runs: object, qualities: object) -> Result:
    """Judge how many pictures each lost packet damaged, in the runs "loss" and "queue"."""
    each, seen = results_of(runs, VideoResult), results_of(qualities, Quality)
    questions = [*(_damage(name, each.get(name), seen.get(name)) for name in LOSSY), _whole_again(seen.get("loss"))]
    result = asked("Lab 09, damage", per_lost, questions, '{"loss": 12.3, "queue": 12.3, "whole_again_s": 1.23}')
    measured = {"damaged": seen["loss"].damaged_percent} if "loss" in seen else {}
    return PREDICTIONS.compared(result, "damaged", measured)


def _whole_again(seen: Quality | None) -> Question:
    """Ask when the damage of the first loss ended: a picture that the student finds."""
    what = "first whole picture after a damaged one (loss)"
    frames = seen.frames if seen is not None else ()
    broken = next((number for number, frame in enumerate(frames) if not frame.whole), len(frames))
    again = next((frame for frame in frames[broken:] if frame.whole), None)
    if again is None:
        missing = Check.failing(what, "its run is missing", "run the cells above that measure it")
        return JudgedBy("whole_again_s", lambda _, __: missing)
    last = max(frame.time_s for frame in frames if not frame.whole)
    slips = (
        Slip(frames[broken].time_s, "that is the first damaged picture", "which one after it is whole?"),
        Slip(again.time_s - frames[broken].time_s, "that is how long the damage lasted",
             "give the time of the picture in the video"),
        Slip(last, "that is the last damaged picture of all", "the first damage ended before"),
        Slip(0.0, "that is the first picture of the video", "begin behind the first damaged one"),
    )  # fmt: skip
    hints = (
        "the damage ends at a picture that builds on no other",
        "go through the pictures in order: first to one that is not whole, then on to one that is",
        "next(it.time_s for it in pictures if it.whole), behind the first damaged one",
    )
    picture_s = 1 / 60
    expected = Expectation(
        again.time_s, again.time_s - picture_s / 2, again.time_s + picture_s / 2, "s", "the picture's time",
        source="the run", allowance="half a picture",
    )  # fmt: skip
    return Value("whole_again_s", what, expected, hints, slips)


def _damage(name: str, run: VideoResult | None, seen: Quality | None) -> Question:
    what = f"damaged pictures per lost packet ({name})"
    if run is None or seen is None or not run.lost_packets or not seen.frames:
        missing = Check.failing(what, "its run is missing", "run the cells above that measure it")
        return JudgedBy(name, lambda _, __: missing)
    lost, every = run.lost_packets, len(seen.frames)
    damaged = sum(not frame.whole for frame in seen.frames)
    counts = "count pictures that are not whole, and divide by the number of lost packets"
    slips = (
        Slip(seen.damaged_percent / run.loss_percent, "that divides percentages", counts),
        Slip(seen.damaged_percent / lost, "that divides a percentage by a count", counts),
        Slip(damaged, "that is the number of damaged pictures", "divide it by the number of lost packets"),
        Slip(every / lost, "that counts all pictures", "how many of them are damaged?"),
        Slip((every - damaged) / lost, "that counts whole pictures", "`not frame.whole` is true for a damaged picture"),
    )
    hints = (
        "how many pictures does one lost packet damage, on average?",
        counts,
        "sum(not frame.whole ...) / lost_packets",
    )
    return Value(name, what, stated(damaged / lost, "", "damaged pictures divided by lost packets"), hints, slips)
