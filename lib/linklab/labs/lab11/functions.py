"""Judge the functions of Lab 11, which read ``ss -tin`` and compute Reno's period, and what a student's sampler saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Final

from linklab.analysis.congestion import loss_times_s, reno_period_s
from linklab.analysis.tcp_model import Pipe
from linklab.grade.check import Check, Refuse, a_kind
from linklab.grade.questions import as_number, four_digits, is_missing
from linklab.grade.result import guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.labs.printed import connections

# --- Reading what ss prints

_BEFORE: Final = (
    "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    "ESTAB 0      269328 10.0.1.2:6000 10.0.4.2:5201\n"
    "\t reno wscale:9,9 rto:240 rtt:36.681/3.9 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:132 bytes_sent:367829 "
    "bytes_acked:176694 segs_out:257 segs_in:107 data_segs_out:255 send 41686105bps lastrcv:140 pacing_rate "
    "83370784bps delivery_rate 19128424bps delivered:124 busy:130ms rwnd_limited:20ms(15.4%) unacked:131 "
    "rcv_space:14480 rcv_ssthresh:42242 notsent:78192 minrtt:20 snd_wnd:254976 rcv_wnd:42496\n"
)
_REPAIRING: Final = (
    "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    "ESTAB 0      593680 10.0.1.2:6000 10.0.4.2:5201\n"
    "\t reno wscale:9,9 rto:290 rtt:81.548/0.013 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:90 ssthresh:67 "
    "bytes_sent:1601525 bytes_retrans:195480 bytes_acked:1145406 segs_out:1109 segs_in:765 data_segs_out:1107 send "
    "12784618bps lastrcv:600 pacing_rate 30512568bps delivery_rate 19032624bps delivered:883 busy:590ms "
    "rwnd_limited:50ms(8.5%) unacked:180 retrans:1/135 lost:1 sacked:90 rcv_space:14480 rcv_ssthresh:42242 "
    "notsent:333040 minrtt:20 snd_wnd:1688064 rcv_wnd:42496\n"
)
_LATER: Final = (
    "State   Recv-Q   Send-Q     Local Address:Port     Peer Address:Port  Process\n"
    "ESTAB   0        522728          10.0.1.2:6000         10.0.4.2:5201\n"
    "\t cubic wscale:9,9 rto:1280 rtt:1076.457/10.3 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:1728 ssthresh:1210 "
    "bytes_sent:10386541 bytes_retrans:196928 bytes_acked:10004270 segs_out:7176 segs_in:3786 data_segs_out:7174 send "
    "19393280bps lastrcv:4250 pacing_rate 23271816bps delivery_rate 19128032bps delivered:6911 busy:4240ms "
    "unacked:1728 retrans:0/2136 rcv_space:14480 rcv_ssthresh:42242 notsent:337384 minrtt:20.5 snd_wnd:1689088\n"
)
_CLEAN: Final = (
    "ESTAB 0 360552 10.0.1.2:6000 10.0.4.2:5201\n"
    "\t bbr wscale:9,9 rto:230 rtt:27.262/1.339 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:76 ssthresh:46 "
    "bytes_sent:6931613 bytes_acked:6875142 segs_out:4790 segs_in:2538 data_segs_out:4788 "
    "bbr:(bw:19128504bps,mrtt:20,pacing_gain:1,cwnd_gain:2) send 32293449bps lastrcv:2940 pacing_rate 18937224bps "
    "delivery_rate 19127856bps delivered:4750 busy:2930ms unacked:39 rcv_space:14480 rcv_ssthresh:42242 "
    "notsent:304080 minrtt:20 snd_wnd:818688 rcv_wnd:42496\n"
)


def read_ss_text(text: str) -> list[float]:
    """Return window, threshold (infinite where there is none yet), smoothed RTT in ms and all retransmissions."""
    return [
        _value(text, "cwnd"),
        _value(text, "ssthresh", other=math.inf),
        _value(text, "rtt"),
        _value(text, "retrans", 1),
    ]


def _value(text: str, name: str, part: int = 0, other: float = 0.0) -> float:
    """Return a value of the first connection, by its name in ss; ``other`` where ss does not print it."""
    found = connections(text)[0].number(name, part)
    return other if found is None else found


def _instead(number: int, wrong: Callable[[str], float]) -> Callable[[str], list[float]]:
    def read(text: str) -> list[float]:
        found = read_ss_text(text)
        return [*found[:number], wrong(text), *found[number + 1 :]]

    return read


def _other(number: int, name: str, part: int = 0) -> Callable[[str], list[float]]:
    return _instead(number, lambda text: _value(text, name, part))


_READ: Final = Trial(
    read_ss_text,
    {
        "before the first loss": (_BEFORE,),
        "while a loss is repaired": (_REPAIRING,),
        "a long time after": (_LATER,),
        "a threshold, and no retransmission": (_CLEAN,),
    },
    (
        "print text and your four numbers: which of the numbers is not the one in the text?",
        "some names end in the same way: rtt and minrtt, ssthresh and rcv_ssthresh",
        r're.search(r"\bcwnd:(\d+)", text), and so on: \b matches the beginning of a word, and "_" belongs to a word',
    ),
    (
        Formula(_other(1, "rcv_ssthresh"), "your threshold is rcv_ssthresh, the receiver's", r"search for \bssthresh:"),
        Formula(
            _instead(1, lambda text: read_ss_text(text)[1] if _value(text, "ssthresh") else 42242.0),
            "before the first loss your threshold is rcv_ssthresh",
            r"search for \bssthresh:, which excludes rcv_ssthresh",
        ),
        Formula(_instead(1, lambda text: _value(text, "ssthresh")), "before the first loss your threshold is 0",
                "slow start has no limit yet: return math.inf"),
        Formula(_other(2, "minrtt"), "your round trip is minrtt, the shortest one",
                r"search for \brtt:, the smoothed one"),
        Formula(_other(2, "rtt", 1), "your round trip is the variation",
                "rtt: gives the smoothed round trip first, then the variation"),
        Formula(_instead(2, lambda text: float(int(read_ss_text(text)[2]))), "your round trip has lost its decimals",
                r"[\d.]+ also matches the decimal point"),
        Formula(_instead(2, lambda text: read_ss_text(text)[2] / 1000), "your round trip is in seconds",
                "ss prints ms: return ms"),
        Formula(_other(2, "rto"), "your round trip is rto, the retransmission timeout", r"search for \brtt:"),
        Formula(_other(3, "retrans"), "you return the retransmissions now on their way", "the total follows the slash"),
        Formula(_other(3, "bytes_retrans"), "your retransmissions are in bytes",
                r"search for \bretrans:, which counts packets"),
        Formula(_other(0, "unacked"), "your window is unacked, the packets now in flight",
                r"search for \bcwnd:, the limit"),
    ),
    remarks={
        "before the first loss": "before the first loss ss prints no ssthresh and no retrans: return math.inf and 0",
        "a threshold, and no retransmission": "without a retransmission ss prints no retrans: return 0",
    },
)  # fmt: skip


@guarded("Lab 11, what ss says")
def check_read(function: object) -> Iterable[Check]:
    """Judge a function that reads window, threshold, RTT in ms and retransmissions of what ``ss -tin`` printed.

    Before the first loss the threshold may be infinite or None.
    """
    if not callable(function):
        return _READ.checks(function)

    def read(text: str) -> Any:
        found = function(text)
        values = list(found.values()) if isinstance(found, Mapping) else found
        plain = isinstance(values, str | bytes) or not hasattr(values, "__iter__")
        return values if plain else [math.inf if value is None else _as_told(value) for value in values]

    return _READ.checks(read)


def _as_told(value: object) -> object:
    """Return the number in a text; everything else as it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


# --- Reno's period


_WHOLE_WINDOWS: Final = 0.04
"""Accepted error: a sum over whole windows has one more or less than the integral, of 26 in the smallest case."""
_LONGER: Final = "a round trip takes window * packet_s, but at least bdp * packet_s"
_PERIOD: Final = Trial(
    reno_period_s,
    {
        "a queue of 100, RTT 20 ms": (33.03, 133.03, 0.0006056),
        "a queue of 20, RTT 20 ms": (33.03, 53.03, 0.0006056),
        "a queue of 100, RTT 80 ms": (132.1, 232.1, 0.0006056),
        "a queue of 20, RTT 80 ms": (132.1, 152.1, 0.0006056),
        "twice the rate, RTT 40 ms": (132.1, 400.0, 0.0003028),
        "a queue of 250, RTT 227 ms": (750.0, 1000.0, 0.0003028),
    },
    (
        "each round trip adds one packet: how many round trips are there, and how long is each of them?",
        _LONGER,
        "sum(max(bdp, window) * packet_s for window in range(int(full / 2), int(full)))",
    ),
    (
        Formula(
            lambda bdp, full, one: one * 3 / 8 * full**2,
            "that lets round trips be shorter than the path without a queue",
            "with a window below bdp, a round trip takes bdp * packet_s",
        ),
        Formula(lambda bdp, full, one: full / 2 * bdp * one, "that takes each round trip as long as without a queue",
                _LONGER),
        Formula(lambda bdp, full, one: full / 2 * full * one, "that takes each round trip as long as with a full queue",
                _LONGER),
        Formula(
            lambda bdp, full, one: full / 2 * max(bdp, 3 / 4 * full) * one,
            "that takes each round trip as long as with the mean window",
            "below bdp round trips do not grow with the window: add them up one by one",
        ),
        Formula(lambda bdp, full, one: full / 2, "that is the number of round trips", "how long is each of them?"),
        Formula(lambda bdp, full, one: 1000 * reno_period_s(bdp, full, one), "that is in ms", "give it in seconds"),
        Formula(lambda bdp, full, one: one * (bdp**2 + (full**2 - bdp**2) / 2), "that begins with a window of 0",
                "Reno begins with half of the full window"),
        Formula(lambda bdp, full, one: one * (full**2 - bdp**2) / 2, "that begins with a window of bdp",
                "Reno begins with half of the full window"),
        Formula(lambda bdp, full, one: reno_period_s(bdp, full, one) / one, "that counts packets, not seconds",
                "multiply by packet_s"),
        Formula(lambda bdp, full, one: one * sum(max(bdp, w) for w in range(int(0.7 * full), int(full))),
                "that begins with 0.7 of the window", "CUBIC keeps 0.7, Reno keeps a half"),
        Formula(lambda bdp, full, one: one * sum(max(bdp, w) for w in range(int(full / 2), int(full) + 1)),
                "that is one round trip too many", "the packet is lost when the window gets to full: end before it"),
    ),
    tolerance=_WHOLE_WINDOWS,
)  # fmt: skip


@guarded("Lab 11, Reno's period")
def check_period(function: object) -> Iterable[Check]:
    """Judge the time in seconds from one loss of Reno's to the next: a function of BDP, full window and packet time."""
    return _PERIOD.checks(function)


# --- A student's own sampler


@dataclass(frozen=True)
class Look:
    """One sample: seconds since the start, window, threshold, RTT in ms, retransmissions, and packets in the queue."""

    at_s: float
    cwnd: float
    threshold: float
    rtt_ms: float
    again: float
    queue: float


_HOW: Final = "in the loop: samples.append((second, *read_ss(ss), packets))"
_FEWEST: Final = 80
_SHORTEST_S: Final = 15.0
_SETTLED_S: Final = 2.0
"""Seconds after which slow start's losses are repaired: some hundred packets, a window each round trip."""
_APART_PACKETS: Final = 4
"""Accepted error: one packet may be in B, two are acknowledged at once, and some ms pass between ss and tc."""


def read_looks(samples: object) -> tuple[Look, ...]:
    """Return a student's samples; refuse everything else."""
    if is_missing(samples) or (hasattr(samples, "__len__") and len(samples) == 0):
        raise Refuse("samples", "not measured yet", _HOW, f"{_FEWEST} or more", "none")
    if not hasattr(samples, "__iter__") or isinstance(samples, str | bytes | Mapping):
        raise _no_looks(f"this is {a_kind(samples)}, not a list of samples")
    found: list[Look] = []
    for sample in samples:
        values = list(sample.values()) if isinstance(sample, Mapping) else sample
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise _no_looks(f"a sample is {a_kind(sample)}, not six numbers")
        numbers = [math.inf if value is None else as_number(_as_told(value)) for value in values]
        if len(numbers) != 6:
            raise _no_looks(f"a sample has {len(numbers)} numbers, not six")
        if any(math.isnan(number) for number in numbers):
            raise _no_looks("a sample contains something that is not a number")
        found.append(Look(*numbers))
    return tuple(found)


def _no_looks(reason: str) -> Refuse:
    """Return the refusal of what is no list of samples."""
    return Refuse("samples", reason, _HOW, "six numbers each")


def settled_looks(looks: Sequence[Look]) -> list[Look]:
    """Return the samples after slow start, when what it lost is repaired."""
    return [look for look in looks if look.at_s - looks[0].at_s >= _SETTLED_S]


def look_checks(looks: Sequence[Look], pipe: Pipe) -> Iterator[Check]:
    """Judge samples of a transfer by Reno over a path: there are enough, and they show its window and queue."""
    lasted_s = looks[-1].at_s - looks[0].at_s
    many = f"{_FEWEST} or more over {_SHORTEST_S:g} s or more"
    found = f"{len(looks)} over {lasted_s:.3g} s"
    if any(later.at_s <= one.at_s for one, later in pairwise(looks)):
        raise Refuse(
            "samples",
            "the first number does not grow from sample to sample",
            "put second first in each sample",
            many,
            found,
        )
    if len(looks) < _FEWEST or lasted_s < _SHORTEST_S:
        raise Refuse(
            "samples", found, "let iperf3 run for 20 s (-t 20), and sample in each round of the loop", many, found
        )
    full, bdp, full_ms = pipe.full_window_packets, pipe.bdp_packets, pipe.base_ms + pipe.full_queue_ms
    settled, gap_s = settled_looks(looks), lasted_s / (len(looks) - 1)
    if reason := _not_printed(looks, settled, pipe):
        raise Refuse("samples", reason, "append what ss and tc print, in each round of the loop", many, found)
    yield Check.passing("samples", many, found)
    top, highest_ms = max(look.cwnd for look in settled), max(look.rtt_ms for look in settled)
    busy = [it.cwnd - it.queue for it in settled if it.queue > _APART_PACKETS and it.cwnd < it.threshold * 2]
    times = loss_times_s(((look.at_s, look.again) for look in looks), 3 * full_ms / 1000)
    gaps = [later - one for one, later in pairwise(times[1:])]
    period_s = reno_period_s(bdp, full, pipe.packet_ms / 1000)
    # one packet a round trip: so many may come between the last look and the loss
    missed = gap_s * 1000 / full_ms
    again = [look.again for look in looks]
    grows = again == sorted(again) and again[-1] > again[0]
    rows = (
        ("the largest window, after slow start", top, full - 1 - missed, full + 3, "packets", _window_slip(top, pipe)),
        ("the highest round trip, after slow start", highest_ms,
         full_ms - (2 + missed) * pipe.packet_ms, full_ms + 3 * pipe.packet_ms, "ms", _rtt_slip(highest_ms, pipe)),
        ("most packets in the queue", max(look.queue for look in looks),
         pipe.limit_packets - 2 - missed, pipe.limit_packets + 1, "packets",
         "run tc -s qdisc show dev r1-eth2 on r1, and take the number before the p of backlog"),
        ("window minus queue (median)", median(busy) if busy else 0.0,
         bdp - _APART_PACKETS, bdp + _APART_PACKETS, "packets",
         "run ss and tc right after each other: packets of the window that are not in the queue are on the path"),
        ("mean time between Reno's losses", fmean(gaps) if gaps else 0.0,
         period_s - gap_s, period_s + 3 * full_ms / 1000 + gap_s, "s",
         "is the first number second, in the lab's time? Does iperf3 run with -C reno?" if grows else
         "the losses are read from them: first mend the retransmissions"),
    )  # fmt: skip
    yield from (_within(*row) for row in rows)
    what, expected = "retransmissions", "a total that grows"
    if grows:
        yield Check.passing(what, expected, f"{again[-1]:g}")
    else:
        hint = "the total follows the slash of retrans:, and counts from the connection's start"
        yield Check.failing(what, "they do not grow from sample to sample", hint, expected, f"{again[-1]:g}")


def _not_printed(looks: Sequence[Look], settled: Sequence[Look], pipe: Pipe) -> str:
    """Say why samples cannot be what ss and tc printed, but theory's numbers; empty if they can.

    While a loss is repaired, for two round trips, the round trip is still long and the window is small already.
    """
    packets = (number for look in looks for number in (look.cwnd, look.again, look.queue))
    if (part := next((it for it in packets if it != math.floor(it)), None)) is not None:
        return f"{part:g} packets: ss and tc print whole packets"
    last = looks[-1]
    if last.again and math.isinf(last.threshold):
        return "there is no threshold after a loss: ss prints ssthresh then"
    if all(
        abs(look.rtt_ms - max(look.cwnd, pipe.bdp_packets) * pipe.packet_ms) < pipe.packet_ms
        and abs(look.queue - max(0.0, look.cwnd - pipe.bdp_packets)) <= 1
        for look in settled
    ):
        return "each round trip and each queue is what theory gives for the window, and no sample shows a loss's repair"
    return ""


def _within(what: str, value: float, low: float, high: float, unit: str, hint: str) -> Check:
    expected, found = f"{four_digits(low)} to {four_digits(high)} {unit}", f"{four_digits(value)} {unit}"
    if low <= value <= high:
        return Check.passing(what, expected, found)
    return Check.failing(what, f"{found}", hint, expected, found)


def _window_slip(top: float, pipe: Pipe) -> str:
    if top <= 2 * pipe.bdp_packets and top < 0.6 * pipe.full_window_packets:
        return "does ss show the data connection (sport = 6000)? A control connection has a small window"
    return "cwnd: gives the window, in packets. Does iperf3 run with -C reno? Does B have its queue of 100 packets?"


def _rtt_slip(highest: float, pipe: Pipe) -> str:
    if highest < 1:
        return "give the round trip in ms, as ss prints it"
    if highest <= 1.05 * pipe.base_ms:
        return (
            "that looks like minrtt, or like the control connection's: take rtt: of the data connection (sport = 6000)"
        )
    return "take the number after rtt: and before the slash, in ms"
