"""The checks of Lab 09, Video: how a stream's packets look on the wire, and what loss does to the picture.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook, ``lab09.check_loss(damage).require()``
shows the table if all passed and fails the cell with hints if not. Expectations are computed from the video as it was
encoded, and from the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.video_statistics import delays
from linklab.grade.asked import choice_check, each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.result import Result, guarded
from linklab.labs.lab09.jitter import jitter_checks
from linklab.measure import Quality, Video, VideoResult
from linklab.measure.video_file import IP_PACKET_BYTES, RTP_PACKET_BYTES
from linklab.units import ETHERNET_HEADER_BYTES

PAYLOAD_BYTES: Final = 7 * 188
FRAME_BYTES: Final = IP_PACKET_BYTES + ETHERNET_HEADER_BYTES
WAN_MBPS: Final = (2, 4, 8)
LOSSY: Final = ("loss", "queue")
_EXACT: Final = 0.0005
_PREDICTED: Final = 0.01


@guarded
def check_packets(predicted: object, video: Video) -> Result:
    """The predicted ``frame_bytes``, ``packets_per_s`` and ``ip_kbps`` of a video's packets, within 1 %."""
    per_s = video.stream_bytes / PAYLOAD_BYTES / video.clip.duration_s
    coded = video.bitrate_kbps * 1000 / 8 / PAYLOAD_BYTES
    ip_kbps = per_s * IP_PACKET_BYTES * 8 / 1000
    numbers = {
        "frame_bytes": _number(
            "frame_bytes",
            "size of a frame",
            _exactly(FRAME_BYTES, "bytes"),
            (
                Mistake(PAYLOAD_BYTES, "that is what RTP carries", "add the headers: RTP, UDP, IPv4, Ethernet", _EXACT),
                Mistake(RTP_PACKET_BYTES, "that stops behind RTP's header", "UDP, IPv4 and Ethernet follow", _EXACT),
                Mistake(1336, "that is without RTP's and Ethernet's header", "add all four headers", _EXACT),
                Mistake(1344, "that leaves out RTP's and Ethernet's header", "12 bytes of RTP, 14 of Ethernet", _EXACT),
                Mistake(IP_PACKET_BYTES, "that is the IP packet", "a frame has Ethernet's 14 bytes too", _EXACT),
                Mistake(1358, "that leaves out RTP's header", "RTP adds 12 bytes", _EXACT),
                Mistake(1374, "that counts a checksum", "a virtual cable carries none", _EXACT),
                Mistake(
                    1500, "that is the MTU", "a packet need not fill it: seven times 188 bytes and headers", _EXACT
                ),
            ),
            "seven times 188 bytes, and the headers of RTP, UDP, IPv4 and Ethernet",
            0.0005,
        ),
        "packets_per_s": _number(
            "packets_per_s",
            "packets in a second",
            _exactly(per_s, "packets/s"),
            (
                Mistake(coded, "that takes the coded video's rate", "the container adds to it: start from its size"),
                Mistake(per_s * video.clip.duration_s, "that is all packets", "divide by the seconds"),
                Mistake(per_s * 8, "that is eight times too many", "stream_bytes are bytes already"),
                Mistake(per_s / 8, "that is an eighth of it", "stream_bytes are bytes already"),
                Mistake(per_s * PAYLOAD_BYTES / 188, "that counts the container's packets", "seven make one of RTP"),
                Mistake(per_s * PAYLOAD_BYTES / IP_PACKET_BYTES, "that divides by a size with headers", _HEADERS),
                Mistake(per_s * PAYLOAD_BYTES / FRAME_BYTES, "that divides by a frame, headers and all", _HEADERS),
                Mistake(video.clip.frames_per_s, "that is pictures in a second", "a picture takes several packets"),
            ),
            "the bytes of the stream, by 1316 a packet, by the seconds",
        ),
        "ip_kbps": _number(
            "ip_kbps",
            "bandwidth of IP packets",
            _exactly(ip_kbps, "kbit/s"),
            (
                Mistake(video.clip.bitrate_kbps, "that is the video's own rate", "add what headers take", 0.02),
                Mistake(ip_kbps * PAYLOAD_BYTES / IP_PACKET_BYTES, "that leaves out the headers", _IP, 0.009),
                Mistake(ip_kbps * FRAME_BYTES / IP_PACKET_BYTES, "that counts Ethernet's header too", _IP, 0.0045),
                Mistake(ip_kbps / 8, "that is in kilobytes", "a byte has 8 bits"),
                Mistake(ip_kbps * 1000, "that is in bit/s", "divide by 1000"),
                Mistake(ip_kbps / 1000, "that is in Mbit/s", "give it in kbit/s"),
            ),
            _IP,
            0.005,
        ),
    }
    example = '{"frame_bytes": 123, "packets_per_s": 12.3, "ip_kbps": 123}'
    return each("Lab 09, predicted packets", predicted, numbers, example, lambda k, v: number_check(numbers[str(k)], v))


_HEADERS: Final = "headers come on top: what is cut up is the stream, 1316 bytes at a time"
_IP: Final = "packets in a second, by 1356 bytes, by 8 bits"


@guarded
def check_spacing(predicted_ms: object) -> Result:
    """The predicted least time between two packets behind a WAN link of 2, 4 and 8 Mbit/s, in ms, within 0.5 %."""

    def check(rate: Any, value: object) -> Check:
        right = FRAME_BYTES * 8 / rate / 1000
        slips = (
            Mistake(right * IP_PACKET_BYTES / FRAME_BYTES, "that is the IP packet alone", _WHOLE, 0.003),
            Mistake(right * RTP_PACKET_BYTES / FRAME_BYTES, "that leaves out UDP, IPv4 and Ethernet", _WHOLE, 0.003),
            Mistake(right * PAYLOAD_BYTES / FRAME_BYTES, "that is what RTP carries alone", _WHOLE, 0.003),
            Mistake(right * 1500 / FRAME_BYTES, "that is a frame of 1500 bytes", "these have 1370", 0.003),
            Mistake(right / 8, "that is an eighth of it", "a byte has 8 bits"),
            Mistake(right / 1000, "that is in seconds", "multiply by 1000"),
            Mistake(right * 1000, "that is in microseconds", "divide by 1000"),
            Mistake(1 / right, "that is upside down", "bits above, rate below"),
        )
        number = _number(f"{rate}", f"least time at {rate} Mbit/s", _exactly(right, "ms"), slips, _WHOLE, 0.005)
        return number_check(number, value)

    return each("Lab 09, predicted spacing", predicted_ms, WAN_MBPS, "{2: 1.2, 4: 1.2, 8: 1.2}, in ms", check)


_WHOLE: Final = "the link must carry the whole frame, 1370 bytes of 8 bits, before the next one"


@guarded
def check_loss(answer: object) -> Result:
    """Which share of the pictures 1 % of lost packets will damage: a letter."""
    wrong = {
        "a": "a picture refers to the one before it: what does the next one look like?",
        "b": "this counts the pictures that lose a packet of their own; which others refer to those?",
        "d": "a key picture refers to no other: from there on all is well again",
    }
    return Result("Lab 09, predicted damage", (choice_check("damage by 1 % loss", answer, "c", "abcd", wrong),))


@guarded
def check_jitter(function: object) -> Result:
    """RFC 3550's jitter, a function of arrivals and timestamps, on values that were not seen before."""
    return Result("Lab 09, jitter", jitter_checks(function))


@guarded
def check_least(least_ms: object, runs: object) -> Result:
    """The least time between packets in the runs "gigabit", "wan" and "one frame", in ms."""

    def check(name: Any, value: object) -> Check:
        what = f"least time between packets ({name})"
        run = runs.get(name) if isinstance(runs, Mapping) else None
        if not isinstance(run, VideoResult):
            return Check.failing(f"measured {what}", "its run is missing", "run the cells above that measure")
        gaps = delays(run)
        right, mean = min(gaps), sum(gaps) / len(gaps)
        expected = Expectation(
            right,
            right - 0.001,
            right + 0.001,
            "ms",
            "the least of this run's own times",
            allowance="a microsecond of rounding",
        )
        slips = (
            Mistake(mean, "that is the mean", "take the least: min(...)", 0.005),
            Mistake(max(gaps), "that is the largest", "take the least: min(...)", 0.005),
            Mistake(right / 1000, "that is in seconds", "multiply by 1000"),
        )
        return measured_check(what, value, expected, mistakes=slips, how="take min(...) of this run's times")

    return each("Lab 09, least time", least_ms, ("gigabit", "wan", "one frame"), '{"gigabit": 1.2, ...}, in ms', check)


@guarded
def check_damage(per_lost: object, runs: object, qualities: object) -> Result:
    """How many pictures each lost packet damaged, in the runs "loss" and "queue"."""

    def check(name: Any, value: object) -> Check:
        what = f"damaged pictures per lost packet ({name})"
        run = runs.get(name) if isinstance(runs, Mapping) else None
        seen = qualities.get(name) if isinstance(qualities, Mapping) else None
        if not isinstance(run, VideoResult) or not isinstance(seen, Quality) or not run.lost_packets:
            return Check.failing(f"measured {what}", "its run is missing", "run the cells above that measure")
        damaged = sum(not frame.whole for frame in seen.frames)
        right = damaged / run.lost_packets
        expected = Expectation(
            right, 0.99 * right, 1.01 * right, "", "damaged pictures by lost packets", allowance="1 % of rounding"
        )
        slips = (
            Mistake(seen.damaged_percent / run.loss_percent, "that divides percentages", _COUNTS, 0.01),
            Mistake(seen.damaged_percent / run.lost_packets, "that divides a percentage by a number", _COUNTS, 0.01),
            Mistake(1 / right, "that is upside down", "pictures above, packets below", 0.01),
            Mistake(damaged, "that is the number of damaged pictures", "divide by the packets lost", 0.01),
            Mistake(len(seen.frames) / run.lost_packets, "that counts all pictures", "count the damaged ones", 0.01),
            Mistake((len(seen.frames) - damaged) / run.lost_packets, "that counts whole pictures", _COUNTS, 0.01),
        )
        return measured_check(what, value, expected, mistakes=slips, how=_COUNTS)

    return each("Lab 09, damage", per_lost, LOSSY, '{"loss": 12.3, "queue": 12.3}', check)


_COUNTS: Final = "count the pictures that are not whole, and divide by the packets that were lost"


def _exactly(value: float, unit: str) -> Expectation:
    return Expectation(value, value, value, unit, "the sizes of headers and packets")


def _number(
    key: str, what: str, expected: Expectation, slips: tuple[Mistake, ...], how: str, tolerance: float = _PREDICTED
) -> Number:
    return Number(key, what, expected, slips, how, tolerance)
