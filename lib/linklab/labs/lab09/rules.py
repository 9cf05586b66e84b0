"""What Lab 09, Video, asks, and how it is judged: packets of a stream, jitter, and what loss does to the picture.

Expectations are computed from the video as it was encoded, and from the run itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.packets import jitter_ms
from linklab.analysis.video_statistics import delays, jitters, rtp_jitter_ms
from linklab.grade.check import Check
from linklab.grade.choices import choices
from linklab.grade.questions import Judged, Question, Slip, Value, asked, asked_one, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import late_ms, unfit, unless_busy
from linklab.grade.trials import Case, Formula, Trial
from linklab.measure import Quality, Video, VideoResult, verdict_on
from linklab.measure.video_file import IP_PACKET_BYTES, RTP_HEADER_BYTES, RTP_PACKET_BYTES, TS_PACKET_BYTES
from linklab.network import Network
from linklab.network.video_testbeds import video_network
from linklab.published.video import BANDWIDTH_STEP_KBPS, PACKET_BYTES, find
from linklab.units import (
    BITS_PER_BYTE,
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    IPV4_HEADER_BYTES,
    transmission_ms,
)

PAYLOAD_BYTES: Final = 7 * TS_PACKET_BYTES
FRAME_BYTES: Final = IP_PACKET_BYTES + ETHERNET_HEADER_BYTES
WAN_MBPS: Final = (2, 4, 8)
LOSSY: Final = ("loss", "queue")
NETWORKS: Final[Mapping[str, Network]] = {
    "gigabit": video_network(1, 1000),
    "wan": video_network(3, 2),
    "loss": video_network(3, 8, loss_percent=1),
    "queue": video_network(3, 2, queue_packets=10),
}
"""What the lab measures on, by name; "one frame" is "wan" with another token bucket."""


# --- Predictions


@guarded
def check_packets(predicted: object, video: object) -> Result:
    """Judge the predicted ``frame_bytes``, ``packets_per_s`` and ``ip_kbps`` of a video's packets."""
    title = "Lab 09, predicted packets"
    if not isinstance(video, Video):
        return Result(title, (Check.failing(title, "there is no video", "run the cell that makes it"),))
    questions = (_frame_bytes(), _packets_per_s(video), _ip_kbps(video))
    return asked(title, predicted, questions, '{"frame_bytes": 123, "packets_per_s": 12.3, "ip_kbps": 123}')


def _frame_bytes() -> Value:
    four = "four headers come before the payload: which ones have you counted?"
    slips = (
        Slip(PAYLOAD_BYTES, "that is what RTP carries", four),
        Slip(RTP_PACKET_BYTES, "that stops behind RTP's header", four),
        Slip(PAYLOAD_BYTES + IPV4_HEADER_BYTES, "that adds IPv4's header alone", four),
        Slip(IP_PACKET_BYTES - RTP_HEADER_BYTES, "that leaves out RTP's and Ethernet's header", four),
        Slip(IP_PACKET_BYTES, "that is the IP packet", "what does Ethernet put before it?"),
        Slip(FRAME_BYTES - RTP_HEADER_BYTES, "that leaves out RTP's header", four),
        Slip(FRAME_BYTES + ETHERNET_CHECKSUM_BYTES, "that counts a checksum", "a virtual cable carries none"),
        Slip(ETHERNET_MTU_BYTES, "that is the MTU", "a packet need not fill it: what does this one carry?"),
    )
    hints = (
        "a packet is put into a packet: each protocol adds its header",
        "seven times 188 bytes, and the headers of RTP, UDP, IPv4 and Ethernet",
        "7 * 188 + 12 + 8 + 20 + 14",
    )
    expected = stated(FRAME_BYTES, "bytes", "the sizes of headers", digits=6)
    return Value("frame_bytes", "size of a frame", expected, hints, slips)


def _packets_per_s(video: Video) -> Value:
    right = video.stream_bytes / PAYLOAD_BYTES / video.clip.duration_s
    coded = video.bitrate_kbps * 1000 / BITS_PER_BYTE / PAYLOAD_BYTES
    headers = "headers come on top: what is cut up is the stream, without them"
    slips = (
        Slip(coded, "that takes the coded video's rate", "the container adds to it: start from its size"),
        Slip(right * video.clip.duration_s, "that is all packets", "how many is that in one second?"),
        Slip(right * PAYLOAD_BYTES / TS_PACKET_BYTES, "that counts the container's packets", "seven travel together"),
        Slip(right * PAYLOAD_BYTES / IP_PACKET_BYTES, "that divides by a size with headers", headers),
        Slip(right * PAYLOAD_BYTES / FRAME_BYTES, "that divides by a frame, headers and all", headers),
        Slip(video.clip.frames_per_s, "that is pictures in a second", "a picture takes several packets"),
    )
    hints = (
        "each packet takes its piece of the stream",
        "how many bytes of the stream travel in one packet, and in how many seconds do all of them leave?",
        "video.stream_bytes / (7 * 188) / 10",
    )
    expected = stated(right, "packets/s", "the stream's bytes, cut up")
    return Value("packets_per_s", "packets in a second", expected, hints, slips)


def _ip_kbps(video: Video) -> Value:
    right = video.stream_bytes / PAYLOAD_BYTES / video.clip.duration_s * IP_PACKET_BYTES * BITS_PER_BYTE / 1000
    of_ip = "the IP packet has the headers of RTP, UDP and IPv4, and not Ethernet's"
    slips = (
        Slip(video.clip.bitrate_kbps, "that is the video's own rate", "container and headers add to it"),
        Slip(right * PAYLOAD_BYTES / IP_PACKET_BYTES, "that leaves out the headers", of_ip),
        Slip(right * FRAME_BYTES / IP_PACKET_BYTES, "that counts Ethernet's header too", of_ip),
    )
    hints = (
        "a bandwidth is how many packets come in a second, times the bits of each",
        of_ip,
        "packets in a second * (7 * 188 + 12 + 8 + 20) * 8 / 1000",
    )
    return Value(
        "ip_kbps", "bandwidth of IP packets", stated(right, "kbit/s", "packets a second, by their bits"), hints, slips
    )


@guarded
def check_spacing(predicted_ms: object) -> Result:
    """Judge the predicted least time between two packets behind a WAN link of 2, 4 and 8 Mbit/s, in ms."""
    questions = [_spacing(rate) for rate in WAN_MBPS]
    return asked("Lab 09, predicted spacing", predicted_ms, questions, "{2: 1.2, 4: 1.2, 8: 1.2}, in ms")


def _spacing(rate_mbps: int) -> Value:
    right = transmission_ms(FRAME_BYTES, rate_mbps)
    whole = "the link must carry the whole frame, with all headers, before the next one"
    slips = (
        Slip(transmission_ms(IP_PACKET_BYTES, rate_mbps), "that is the IP packet alone", whole),
        Slip(transmission_ms(RTP_PACKET_BYTES, rate_mbps), "that leaves out UDP, IPv4 and Ethernet", whole),
        Slip(transmission_ms(PAYLOAD_BYTES, rate_mbps), "that is what RTP carries alone", whole),
        Slip(transmission_ms(ETHERNET_MTU_BYTES, rate_mbps), "that is a frame of 1500 bytes", "how large are these?"),
        Slip(1 / right, "that is upside down", "which is asked for: time for a frame, or frames in a time?"),
    )
    hints = (whole, "how many bits has a frame, and how many of them go in a ms?", f"1370 * 8 / ({rate_mbps} * 1000)")
    return Value(rate_mbps, f"least time at {rate_mbps} Mbit/s", stated(right, "ms", "bits over rate"), hints, slips)


_HERE: Final = Path(__file__).parent


@guarded
def check_loss(answer: object) -> Result:
    """Judge which share of the pictures 1 % of lost packets will damage: a letter."""
    damage, *_ = choices(_HERE)
    return asked_one("Lab 09, predicted damage", answer, damage)


# --- RFC 3550's jitter, a function of arrivals and timestamps in seconds

Times = Sequence[float]


@guarded
def check_jitter(function: object) -> Result:
    """Judge RFC 3550's jitter, a function of arrivals and timestamps, on values that were not seen before."""
    return Result("Lab 09, jitter", _JITTER.checks(function))


_PACKETS: Final[Mapping[str, Case]] = {
    "one packet late": ((0.0, 0.010, 0.025), (0.0, 0.010, 0.020)),
    "one early, then late": ((1.0, 1.006, 1.021, 1.029), (0.0, 0.010, 0.020, 0.030)),
    "every packet on time": ((5.0, 5.010, 5.025, 5.030), (0.0, 0.010, 0.025, 0.030)),
    "a pause of the sender": ((0.0, 0.004, 0.094, 0.103), (0.0, 0.004, 0.090, 0.100)),
    "a packet alone": ((2.0,), (7.0,)),
}


def _last_jitter_ms(arrivals_s: Times, timestamps_s: Times) -> float:
    return rtp_jitter_ms(arrivals_s, timestamps_s)[-1]


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


_SMOOTH: Final = "RFC 3550 smooths: each new abs(D) moves J by a part of what it differs from J"
_JITTER: Final = Trial(
    _last_jitter_ms,
    _PACKETS,
    (
        "jitter is how much the spacing of packets differs from what their timestamps say",
        "D is the difference of two differences, of arrivals and of timestamps; J starts at 0 and follows abs(D)",
        "for each packet after the first: J += (abs(D) * 1000 - J) / 16",
    ),
    (
        Formula(lambda a, t: _smoothed(_differences_ms(a, t)), "early packets count as negative", "which sign has D?"),
        Formula(
            lambda a, t: _smoothed(_differences_ms(a, [0.0] * len(a))), "the timestamps are left out",
            "D is the difference of two differences",
        ),
        Formula(lambda a, t: sum(_sizes_ms(a, t)) / 16, "the old jitter is not taken away", _SMOOTH),
        Formula(lambda a, t: fmean(_sizes_ms(a, t) or [0.0]), "this is the mean of all abs(D)", _SMOOTH),
        Formula(lambda a, t: [0.0, *_sizes_ms(a, t)][-1], "this is the last abs(D) alone", _SMOOTH),
        Formula(lambda a, t: sum(_sizes_ms(a, t)), "this is the sum of all abs(D)", _SMOOTH),
        Formula(lambda a, t: max(_sizes_ms(a, t), default=0.0), "this is the largest abs(D)", _SMOOTH),
        Formula(lambda a, t: _smoothed(_sizes_ms(a, t), 15), "this divides by 15", "RFC 3550 divides by 16"),
        Formula(lambda a, t: _smoothed(_sizes_ms(a, t), 8), "this divides by 8", "RFC 3550 divides by 16"),
    ),
    withheld=(rtp_jitter_ms, jitters, jitter_ms, _differences_ms, _smoothed),
    remarks={"a packet alone": "the first packet has none before it: J is still what it starts with"},
)  # fmt: skip


# --- Runs

_FRAME_MS: Final = transmission_ms(FRAME_BYTES, WAN_MBPS[0])
_MOST_LINKS: Final = 4
_LOST_PERCENT: Final = (0.1, 3.0)
"""1 % of a thousand packets: more than three standard deviations to both sides."""


@guarded
def check_runs(runs: object, video: object, names: tuple[str, ...] = tuple(NETWORKS)) -> Result:
    """Judge the runs of those names: each the whole video from h1 to h2, over the network that its name says."""

    def judge(name: str, run: object) -> Iterator[Check]:
        how = f'write runs["{name}"] = measure.run(lab, VideoFlow("h1", "h2", video))'
        problem = unfit(f"run {name}", run, VideoResult, how, ("h1", "h2"), of_the_course=False)
        if problem is not None or not isinstance(run, VideoResult):
            yield problem or Check.failing(f"run {name}", "not measured yet", how)
            return
        yield _same_video(name, run, video)
        yield from _as_named(name, run)

    example = '{"gigabit": measure.run(...), ...}'
    return asked("Lab 09, the runs", runs, [Judged(name, judge) for name in names], example)


def _same_video(name: str, run: VideoResult, video: object) -> Check:
    what, expected = f"run {name}: what was sent", "this lab's video, by the sender 'paced'"
    if not isinstance(video, Video) or run.video != video.digest:
        return Check.failing(what, "another video was sent", "send the one that this notebook made", expected)
    if run.flow.sender != "paced":
        return Check.failing(what, f"the sender was {run.flow.sender}", "leave sender= away", expected)
    return Check.passing(what, expected, f"{run.sent_packets} packets")


def _as_named(name: str, run: VideoResult) -> Iterator[Check]:
    """Judge whether delays and losses are those of the network that the name says; a busy machine may be to blame."""
    again = "measure it again on the network of that name"

    def check(what: str, fits: bool, expected: str, found: str, why: str, hint: str = again) -> Check:
        what = f"run {name}: {what}"
        if fits:
            return Check.passing(what, expected, found)
        failed = Check.failing(what, f"{found} does not fit: {why}", hint, expected, found)
        return unless_busy(failed, verdict_on(run).trouble)

    arrived = len(run.arrived)
    if arrived < 2:
        yield check("packets that arrived", False, "nearly all", f"{arrived}", "no network here loses that many")
        return
    longest_ms = max(delay for delay in run.delay_ms if delay is not None)
    late, delay, lost = late_ms(run.fidelity, _MOST_LINKS), f"{longest_ms:.4g} ms", f"{run.lost_packets} lost"
    slow = "2 Mbit/s are less than this video needs in its busiest second, so packets wait"
    short = "ten packets wait at most, and the eleventh is lost"
    if name == "gigabit":
        yield check("longest delay", longest_ms < 1 + late, "below 1 ms", delay, "a gigabit link has no queue here")
    elif name == "loss":
        yield check("longest delay", longest_ms < 50 + late, "below 50 ms", delay, "8 Mbit/s are fast enough")
    else:
        low_ms = _FRAME_MS * (3 if name == "queue" else 8)
        yield check("longest delay", longest_ms > low_ms, f"above {low_ms:.0f} ms", delay, slow)
    if name == "loss":
        low, high = _LOST_PERCENT
        percent, expected = f"{run.loss_percent:.2f} % lost", f"{low:g} to {high:g} % lost"
        yield check("packets lost", low <= run.loss_percent <= high, expected, percent, "its link loses 1 %")
    elif name == "queue":
        high_ms = _FRAME_MS * 14 + late
        yield check("delay of a full queue", longest_ms < high_ms, f"below {high_ms:.0f} ms", delay, short)
        yield check("packets lost", run.lost_packets > 0, "packets lost", lost, short)
    else:
        yield check("packets lost", run.lost_packets == 0, "no packet lost", lost, "its links lose nothing")
    if name == "one frame":
        bucket = 'set the bucket before you send: measure.bucket_of_one_frame(lab, "r1", "r1-eth1", 2, 1370)'
        least_ms = min(delays(run))
        # the bucket holds a byte more than the frame
        fits, found = least_ms >= _FRAME_MS - 0.01 - late, f"{least_ms:.4g} ms"
        why = "a bucket of one frame lets no packet pass early"
        yield check("least time between packets", fits, f"{_FRAME_MS:.2f} ms", found, why, bucket)


# --- What the runs say


@guarded
def check_least(least_ms: object, runs: object) -> Result:
    """Judge the least time between packets in the runs "gigabit", "wan" and "one frame", in ms."""
    each = runs if isinstance(runs, Mapping) else {}
    questions = [_least(name, each.get(name)) for name in ("gigabit", "wan", "one frame")]
    return asked("Lab 09, least time", least_ms, questions, '{"gigabit": 1.2, ...}, in ms')


def _least(name: str, run: object) -> Question:
    what = f"least time between packets ({name})"
    if not isinstance(run, VideoResult) or len(run.arrived) < 2:
        return _missing(name, what)
    gaps = delays(run)
    right = min(gaps)
    least = "of all times between packets, which one is asked for?"
    slips = (
        Slip(fmean(gaps), "that is the mean", least),
        Slip(max(gaps), "that is the largest", least),
    )
    hints = ("how close packets can come shows in the closest two", f"{least} gaps_ms(run) is a list of them",
             f'min(gaps_ms(runs["{name}"]))')  # fmt: skip
    expected = Expectation(
        right, max(0.0, right - 0.005), right + 0.005, "ms", "the least of this run's own times",
        allowance="rounding to two decimals",
    )  # fmt: skip
    return Value(name, what, expected, hints, slips)


@guarded
def check_damage(per_lost: object, runs: object, qualities: object) -> Result:
    """Judge how many pictures each lost packet damaged, in the runs "loss" and "queue"."""
    each, seen = (given if isinstance(given, Mapping) else {} for given in (runs, qualities))
    questions = [_damage(name, each.get(name), seen.get(name)) for name in LOSSY]
    return asked("Lab 09, damage", per_lost, questions, '{"loss": 12.3, "queue": 12.3}')


def _damage(name: str, run: object, seen: object) -> Question:
    what = f"damaged pictures per lost packet ({name})"
    if not isinstance(run, VideoResult) or not isinstance(seen, Quality) or not run.lost_packets or not seen.frames:
        return _missing(name, what)
    lost, every = run.lost_packets, len(seen.frames)
    damaged = sum(not frame.whole for frame in seen.frames)
    counts = "count both: pictures that are not whole, and packets that were lost"
    slips = (
        Slip(seen.damaged_percent / run.loss_percent, "that divides percentages", counts),
        Slip(seen.damaged_percent / lost, "that divides a percentage by a number", counts),
        Slip(damaged, "that is the number of damaged pictures", "how many are that for each packet lost?"),
        Slip(every / lost, "that counts all pictures", "how many of them are damaged?"),
        Slip((every - damaged) / lost, "that counts whole pictures", "`not frame.whole` is a damaged one"),
    )
    hints = ("how much harm does one lost packet do?", counts, "pictures that are not whole / packets that were lost")
    return Value(name, what, stated(damaged / lost, "", "damaged pictures by lost packets"), hints, slips)


def _missing(name: str, what: str) -> Judged:
    return Judged(name, lambda _, __: Check.failing(what, "its run is missing", "run the cells above that measure"))


# --- What the study's numbers say


@guarded
def check_questions(answers: object) -> Result:
    """Judge a number and three questions on the study, its token bucket, and pictures."""
    _, *lettered = choices(_HERE)
    return asked("Lab 09, questions", answers, (_study_packets(), *lettered))


def _study_packets() -> Value:
    largest_kbps = find(2, "bandwidth_kbps", "real").maximum.value
    bits = largest_kbps * 1000
    size = f"the bandwidth is that of IP packets, and these have {PACKET_BYTES} bytes"
    slips = (
        Slip(bits / BITS_PER_BYTE / FRAME_BYTES, "that divides by a frame", size),
        Slip(bits / BITS_PER_BYTE / PAYLOAD_BYTES, "that divides by what RTP carries", size),
        Slip(largest_kbps / PACKET_BYTES, "that takes kbit for bytes", "how many bits are a kbit, and a byte?"),
        Slip(WAN_MBPS[0] * 1e6 / BITS_PER_BYTE / FRAME_BYTES, "that is what the link can carry",
             "what did the study measure?"),
    )  # fmt: skip
    hints = (
        "so many bits come in a second: how many has one packet?",
        size,
        f"{largest_kbps:g} * 1000 / (8 * {PACKET_BYTES})",
    )
    what = f"packets in a second, if the study's bandwidth is {largest_kbps:g} kbit/s of IP packets"
    expected = stated(largest_kbps / BANDWIDTH_STEP_KBPS, "packets", "by the bits of a packet")
    return Value("study_packets", what, expected, hints, slips)
