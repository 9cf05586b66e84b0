"""What Lab 13 asks: shares of a link, a lossy link by hand, the timeout, numbers of packets, and the program itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.analysis.arq import filling_window, go_back_n_share, link_share, rto_s, selective_repeat_share
from linklab.course import course_network
from linklab.grade import choices
from linklab.grade.check import Check, Refuse
from linklab.grade.measured import refuse_shared
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Question, Slip, Value, asked, stated
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Case, Formula, Trial
from linklab.grade.wanted import Wanted, at_least, exactly, refuse_another_network, require_result, require_shape
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab13.trying import KINDS, LOST_PACKET, PAYLOAD_BYTES, window_of_both
from linklab.labs.printed import pings, require_printed
from linklab.measure import TcpFlow
from linklab.programs import reliable
from linklab.programs.reliable.judging import share_percent
from linklab.programs.reliable.path import HEADERS_BYTES, NEAR, packet_ms, rtt_ms, the_network
from linklab.show.cell_view import tell
from linklab.units import transmission_ms

__all__ = ["loss_percent", "the_network"]

_FOLDER: Final = Path(__file__).parent
_LOSS: Final = 0.02
_WINDOW: Final = 8
_LONG: Final = 32
_BITS: Final = 3
_EXACT: Final = 6


# --- Predictions


def _share() -> list[Value]:
    one_ms, trip_ms = packet_ms(PAYLOAD_BYTES), rtt_ms(NEAR)
    right = 100 * link_share(1, one_ms, trip_ms)
    bare = transmission_ms(PAYLOAD_BYTES, the_network().link(NEAR).rate_mbps or 0.0)
    slips = (
        Slip(100 * link_share(1, one_ms, trip_ms / 2), "that counts one direction",
             "the acknowledgement must also travel back"),
        Slip(100 * one_ms / trip_ms, "that leaves out the packet's transmission time",
             "one round takes a round trip and the packet's transmission time"),
        Slip(100 * link_share(1, bare, trip_ms), "that leaves out the headers",
             f"each packet has {HEADERS_BYTES} bytes of headers too"),
        Slip(100.0, "that is the whole link", "the sender sends nothing while it waits"),
    )  # fmt: skip
    hint = "how long is it from one packet to the next, and for how much of this time is the link busy?"
    return [Value("share", "stop-and-wait's share of the link", stated(right, "%", "L/R / (RTT + L/R)"), hint, slips)]


PREDICTIONS: Final = Predictions("Lab 13", {"share": _share})


# --- A link that loses, by hand

_PINGS: Final = 2000
_SIGMAS: Final = 4.0
_PRINTED: Final = 0.001
"""How far ping's own percentage may be from its counts: it prints six digits."""


def loss_percent() -> float:
    """Return how much the student's link is to lose: half of L3's delay in ms, 5 % for the plain course network."""
    return course_network().link("L3").delay_ms / 2


@guarded("Lab 13, a link that loses")
def check_netem(printed: object) -> Check:
    """Judge what ping printed on a link that loses `loss_percent` by netem: binomial, four standard deviations."""
    what, receiver, asked_percent = "pings that are lost", the_network().address_of("receiver"), loss_percent()
    example = f'printed = lab["relay"].cmd("ping -q -c {_PINGS} -i 0.005 {receiver}")'
    found = require_printed(what, printed, "ping to its end", pings, example)[0]
    sent, received = found.sent, found.received
    if found.address != receiver:
        return Check.failing(what, f"you pinged {found.address}", f"ping the receiver, {receiver}")
    if sent < _PINGS:
        return Check.failing(what, f"{sent} pings say little about {asked_percent:g} %", f"send {_PINGS}")
    lost, printed_lost = 100 * (sent - received) / sent, found.lost_percent
    if printed_lost is not None and abs(printed_lost - lost) > _PRINTED:
        reason = f"{received} of {sent} received is a loss of {lost:.4g} %, and the text says {printed_lost:g} %"
        return Check.failing(what, reason, "give what ping printed, as it is")
    spread = 100 * _SIGMAS * math.sqrt(asked_percent / 100 * (1 - asked_percent / 100) / sent)
    low, high = max(0.1, asked_percent - spread), asked_percent + spread
    expected, shown = f"{asked_percent:g} % lost, {low:.1f} to {high:.1f} of {sent} by chance", f"{lost:.3g} %"
    if low <= lost <= high:
        lose, apart = sent * asked_percent / 100, sent * spread / 100
        told = (
            "Netem drops only the requests: the answers leave through the receiver's interface. With "
            f"{asked_percent:g} % loss about {lose:.0f} of {sent} packets are lost. Four standard deviations of this "
            f"number (binomial distribution) are {apart:.0f}: your result may differ from `loss` by as many. It is the "
            "same in each new lab, because netem's seed is."
        )
        return Check.passing(what, expected, shown, told)
    hint = f"set loss {asked_percent:g}% of netem on relay-eth3 only; tc qdisc show dev relay-eth3 shows what is set"
    reason = "nothing was lost" if lost == 0 else "that is too much" if lost > high else "that is too little"
    return Check.failing(what, reason, hint, expected, shown)


# --- Questions with options


check_bits = choices.letter("Lab 13, numbers", _FOLDER, "bits")
"""Judge the letter: why acknowledgements have numbers."""
check_karn = choices.letter("Lab 13, Karn's rule", _FOLDER, "karn")
"""Judge the letter: what a sender learns from an acknowledgement after a repeat."""


# --- The timeout

_RTTS: Final[Mapping[str, Case]] = {
    "one sample": ((0.08,),),
    "equal samples": ((0.045, 0.045, 0.045, 0.045),),
    "a late one": ((0.05, 0.05, 0.2, 0.05, 0.06),),
    "a path that became longer": ((0.02, 0.021, 0.3, 0.31, 0.3, 0.305),),
    "very small ones": ((0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002),),
}


def _rto(
    alpha: float = 0.125,
    beta: float = 0.25,
    k: float = 4,
    granularity_s: float = 0.001,
    *,
    first_half: bool = True,
    new_srtt: bool = False,
) -> Callable[[Sequence[float]], list[float]]:
    """Return a formula with these constants; ``new_srtt`` takes the deviation from the mean that is new already."""

    def formula(rtts_s: Sequence[float]) -> list[float]:
        found: list[float] = []
        srtt = var = 0.0
        for number, rtt in enumerate(rtts_s):
            if number == 0:
                srtt, var = rtt, rtt / 2 if first_half else 0.0
            else:
                mean = (1 - alpha) * srtt + alpha * rtt
                var = (1 - beta) * var + beta * abs((mean if new_srtt else srtt) - rtt)
                srtt = mean
            found.append(srtt + max(granularity_s, k * var))
        return found

    return formula


_ORDER: Final = "first RTTVAR with the old SRTT, then SRTT (rule 2.3)"
_TIMEOUT: Final = Trial(
    rto_s,
    _RTTS,
    (
        "RFC 6298, section 2, has two smoothed numbers: the round trip (SRTT) and its deviation (RTTVAR)",
        f"the first sample sets both: SRTT = R, RTTVAR = R/2; for each later one {_ORDER}",
        "RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|; SRTT = 7/8 SRTT + 1/8 R; RTO = SRTT + max(0.001, 4 RTTVAR)",
    ),
    (
        Formula(_rto(new_srtt=True), "you update SRTT before RTTVAR", _ORDER),
        Formula(_rto(alpha=0.25, beta=0.125), "1/8 and 1/4 are exchanged",
                "alpha = 1/8 belongs to SRTT, beta = 1/4 to RTTVAR"),
        Formula(_rto(alpha=0.875, beta=0.75), "old and new are exchanged",
                "the old SRTT keeps 7/8, the old RTTVAR 3/4"),
        Formula(lambda rtts: rto_s([rtts[0], *rtts])[1:], "you treat the first sample as a later one",
                "rule 2.2: after the first sample SRTT = R and RTTVAR = R/2, and no more"),
        Formula(
            lambda rtts: _rto(new_srtt=True)([rtts[0], *rtts])[1:],
            "you treat the first sample as a later one, and update SRTT before RTTVAR",
            f"rule 2.2 alone is for the first sample; for the others {_ORDER}",
        ),
        Formula(_rto(first_half=False), "the first RTTVAR is 0", "rule 2.2: RTTVAR = R/2 after the first sample"),
        Formula(_rto(k=2), "RTTVAR is multiplied by 2", "RTO = SRTT + 4 RTTVAR"),
        Formula(_rto(k=1), "RTTVAR is multiplied by 1", "RTO = SRTT + 4 RTTVAR"),
        Formula(_rto(granularity_s=0.0), "the clock's granularity G is missing", "add max(0.001, 4 RTTVAR)"),
        Formula(lambda rtts: [max(1.0, it) for it in rto_s(rtts)], "you raise it to 1 s", "leave out the minimum here"),
        Formula(lambda rtts: [2 * it for it in _rto(k=0, granularity_s=0)(rtts)], "that is twice the mean",
                "use the deviation too: twice the mean was RFC 793's rule until 1988"),
    ),
)  # fmt: skip


@guarded("Lab 13, the timeout")
def check_rto(function: object) -> Iterable[Check]:
    """Judge ``rto(rtts_s)``: RFC 6298's timeout after each round trip, in seconds, with G = 1 ms and no minimum."""
    return _TIMEOUT.checks(function)


# --- Numbers of a window


@guarded
def check_numbers(answers: object) -> Result:
    """Judge which window fills the link, and how large one may be for numbers of three bits."""
    one_ms, trip_ms = packet_ms(PAYLOAD_BYTES), rtt_ms(NEAR)
    filled = 1 + trip_ms / one_ms
    fills = filling_window(one_ms, trip_ms)
    go_back, selective = 2**_BITS - 1, 2 ** (_BITS - 1)
    last = (
        "all acknowledgements of a window are lost, so its packets arrive again: must their numbers "
        "differ from new ones?"
    )
    of_bits = Slip(_BITS, "that is the number of bits", "how many different numbers have 3 bits?")
    questions = (
        Value(
            "fills",
            "smallest window that fills the link",
            stated(fills, "packets", "1 + 2a, rounded up", _EXACT),
            (
                "the first acknowledgement must arrive before the sender has used up the window",
                f"a packet takes {one_ms:.3f} ms, and its acknowledgement arrives after {one_ms + trip_ms:.3f} ms",
                f"({one_ms:.3f} + {trip_ms:g}) / {one_ms:.3f}, rounded up",
            ),
            (
                Slip(fills - 1, "that is a little too small",
                     "round up: otherwise the sender waits a little in each round"),
                Slip(math.ceil(1 + trip_ms / 2 / one_ms), "that counts one direction",
                     "an acknowledgement must also travel back"),
                Slip(filled, "that is not a whole number", "round up to whole packets"),
            ),
        ),
        Value(
            "go-back-N",
            f"largest window of go-back-N with numbers of {_BITS} bits",
            stated(go_back, "packets", "2**k - 1", _EXACT),
            (last, "the receiver accepts one number only: no retransmission may have this number", "2**3 - 1"),
            (
                Slip(2**_BITS, "that is one too many", last),
                Slip(selective, "that is selective repeat's",
                     "go-back-N's receiver accepts one number only, so its window may be larger"),
                of_bits,
            ),
        ),
        Value(
            "selective repeat",
            f"largest window of selective repeat with numbers of {_BITS} bits",
            stated(selective, "packets", "2**(k-1)", _EXACT),
            (last, "the receiver accepts a whole window of numbers: none may be in the window before", "2**3 / 2"),
            (
                Slip(go_back, "that is go-back-N's",
                     "selective repeat's receiver accepts every number of its window, so the window must be smaller"),
                Slip(2**_BITS, "that is all numbers", last),
                of_bits,
            ),
        ),
    )  # fmt: skip
    return asked("Lab 13, window and numbers", answers, questions)


@guarded
def check_again(again: object) -> Result:
    """Judge how many packets each kind of sender sent again in `both_kinds`: a whole window, and one."""
    window = window_of_both()
    all_later = 2 * window
    whole = "a go-back-N receiver takes packets only in order, so all packets that are under way are sent again"
    hints = (
        "which packets had the sender sent when its timer ended, and which of them does it send again?",
        "after the loss (l) press . until a packet says 'try 2' in its panel: which packets say so?",
        "the words of the picture count the packets there; subtract the packets that were to be sent",
    )
    questions = (
        Value(
            KINDS[0], f"packets that {KINDS[0]} sent again", stated(window, "packets", "the window", _EXACT), hints,
            (
                Slip(1, f"that is what {KINDS[1]} sends again", whole),
                Slip(window - 1, "that leaves out one packet", "count the lost packet too: it is sent again as well"),
                Slip(window + 1, "that is one too many", "the first try of the lost packet is no repetition"),
                Slip(all_later, "those are all from the lost packet on", "packets behind the window were sent once"),
                Slip(LOST_PACKET, "that is the number of the lost packet", "count the packets that say 'try 2'"),
            ),
            explanation=f"{whole}: {window}, although {window - 1} of them had arrived.",
        ),
        Value(
            KINDS[1], f"packets that {KINDS[1]} sent again", stated(1, "packets", "the lost one", _EXACT), hints,
            (
                Slip(window, f"that is what {KINDS[0]} sends again", "this receiver keeps packets that arrive early"),
                Slip(2, "that counts both tries", "the first try is no repetition"),
                Slip(0, "that is none", "the lost packet must be sent again"),
            ),
        ),
    )  # fmt: skip
    return asked("Lab 13, what is sent again", again, questions, '{"go-back-N": ..., "selective repeat": ...}')


@guarded
def check_shares(answers: object) -> Result:
    """Judge the shares of go-back-N and selective repeat where 2 % are lost, in percent."""
    return asked("Lab 13, shares with loss", answers, _shares(_LOSS))


@guarded
def check_late(answers: object) -> Result:
    """Judge the same shares where 4 % are lost, and the letter of why a program that waits for timeouts has less."""
    questions: tuple[Question, ...] = (*_shares(2 * _LOSS), *choices.choices(_FOLDER, "lower"))
    return asked("Lab 13, shares with timeouts", answers, questions)


def _shares(loss: float) -> tuple[Value, Value]:
    """Ask for the shares of go-back-N and selective repeat in percent, where such a share of all packets is lost."""
    one_ms, trip_ms = packet_ms(PAYLOAD_BYTES), rtt_ms(NEAR)
    go_back = 100 * go_back_n_share(_LONG, one_ms, trip_ms, loss)
    selective = 100 * selective_repeat_share(_LONG, one_ms, trip_ms, loss)
    a2 = trip_ms / one_ms
    filled = 1 + a2
    return (
        Value(
            "go-back-N",
            "go-back-N's share of the link",
            stated(go_back, "%", "(1 - P) / (1 + 2aP)"),
            (
                "the sender sends again the lost packet and all packets after it, until it learned of the loss",
                f"the window fills the link, so the formula with 1 + 2aP counts: 2a is {a2:.3f}",
                f"100 * (1 - {loss:g}) / (1 + {a2:.3f} * {loss:g})",
            ),
            (
                Slip(selective, "that is selective repeat's", "go-back-N also retransmits packets that had arrived"),
                Slip(100 * (1 - loss) / (1 - loss + _LONG * loss), "that is for a window that limits the sender",
                     "a window of 32 is more than 1 + 2a here"),
                Slip(100 * (1 - loss) / (1 + a2 / 2 * loss), "that uses a instead of 2a",
                     "the formula has 2a: the round trip divided by the packet's time"),
                Slip(100 * (1 - loss) ** filled, "that is the chance that no packet of a round trip is lost",
                     "a loss costs one round trip of packets, not the whole transfer"),
            ),
        ),
        Value(
            "selective repeat",
            "selective repeat's share of the link",
            stated(selective, "%", "1 - P"),
            (
                "the sender retransmits only lost packets",
                "the window fills the link: which part of the packets is new?",
                "100 * (1 - P)",
            ),
            (
                Slip(go_back, "that is go-back-N's", "selective repeat retransmits only lost packets"),
                Slip(100.0, "that is without loss", "a lost packet uses the link twice"),
                Slip(100 * (1 - loss) * _WINDOW / filled, "that is for a window of 8",
                     "a window of 32 fills the link"),
            ),
        ),
    )  # fmt: skip


# --- A claim to test: the receiver's window

_SHORTEST_S: Final = 5
_FULL: Final = 0.85
"""A transfer with a large buffer has this share of the link at least, in 5 s: it was 0.94."""


def _small_buffer(given: object) -> Check:
    """Judge a transfer over ``near``: with a small buffer it is far below the link's rate, though nothing is lost."""
    what, how = "the run that shows it", "give what measure.run(lab, transfer) returned"
    long = at_least("duration_s", _SHORTEST_S, "write duration_s=10")
    run = require_result(what, given, Wanted(TcpFlow, ("sender", "relay"), (exactly("streams", 1), long)), how)
    network = the_network()
    refuse_another_network(what, run.origin.network, network)
    near = network.link(NEAR)
    as_started = "start the lab again: only the receiver's buffer may differ"
    for end in near.ends:
        fields = (exactly(name, getattr(near, name), as_started) for name in ("rate_mbps", "delay_ms", "loss_percent"))
        require_shape(what, run.origin.network, end, tuple(fields))
    if run.flow.address != (near.ends[1].address or "").partition("/")[0]:
        raise Refuse(what, "this went over another link", "send to the address of relay-eth1", "over near")
    rate_mbps = near.rate_mbps or 0.0
    is_slow = run.throughput_mbps < _FULL * rate_mbps * PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADERS_BYTES)
    if is_slow:  # a transfer that fills the link leaves seconds of itself in the queue, which are sent after its end
        refuse_shared(what, run, near.ends[0])
    return contradicts(
        "a receiver that reads all data at once gets the link's rate",
        f"{run.throughput_mbps:.3g} of {rate_mbps:g} Mbit/s",
        is_wrong=is_slow,
        step=(
            "the receiver is relay: whose buffer is small? sysctl net.ipv4.tcp_rmem shows it",
            'lab["relay"].cmd(\'sysctl -w net.ipv4.tcp_rmem="4096 8192 8192"\')',
        ),
    )


check_claim = claim("Lab 13, a claim to test", _FOLDER, _small_buffer)
"""Judge the number of the wrong sentence on the receiver's window, and the run that shows it."""


# --- The program


@guarded
def check_stop_and_wait(file: str) -> Result:
    """Judge the program with a window of 1, and put the predicted share next to the one that was seen."""
    report, transfers = reliable.played(file, ("stop-and-wait",), tell)
    result = report.results["stop-and-wait"]
    found = share_percent(transfers, 1) if result.passed else None
    return PREDICTIONS.compared(result, "share", {"share": found})


@guarded
def check_timeouts(file: str) -> Result:
    """Judge the program's timeouts: RFC 6298, back-off, Karn's rule, and that it gives up."""
    return reliable.check_step(file, "timeouts")


@guarded
def check_window(file: str) -> Result:
    """Judge the program with windows of 4 to 32 packets."""
    return reliable.check_step(file, "window")
