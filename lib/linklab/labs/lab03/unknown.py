"""Try a student's functions that find a bandwidth, on trains that were made up and on networks nobody has seen."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, cycle, islice
from operator import sub
from statistics import median
from typing import Final

import linklab
from linklab.analysis import Expectation, measured_path, udp_ceiling_mbps
from linklab.analysis.packets import train_rate_mbps
from linklab.analysis.searching import PAYLOAD_BYTES
from linklab.errors import LinklabError, NetworkError
from linklab.files import temporary_folder
from linklab.grade import seeding
from linklab.grade.check import Check, Refuse, listed
from linklab.grade.measured import measured
from linklab.grade.questions import Slip, as_number, not_a_number
from linklab.grade.result import guarded
from linklab.grade.student_functions import Case, Formula, Trial
from linklab.measure import Prober
from linklab.network import End, Host, Link, Network, Router
from linklab.units import BITS_PER_BYTE, ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES, transmission_ms

__all__ = ["random_chain"]

NETWORKS: Final = 4
"""On how many networks a search is tried."""
BOTTLENECK_MBPS: Final = (5.0, 40.0)
"""Between which rates their bottlenecks lie."""
ALLOWED_S: Final = 12.0
"""How much a search may send: what the path carries in that many seconds."""
TOLERANCE: Final = 0.05
_CONFIRMED: Final = 0.9
_COARSE: Final = 0.2
STRAY_PERCENT: Final = 0.5
"""A probe that lost no more than this counts as one that lost nothing."""
_SEEDS: Final = 1_000_000


# --- The rate of a train


@guarded("Lab 03, the rate of a train")
def check_train(estimate: object) -> Iterable[Check]:
    """Judge ``estimate(arrival_s, payload_bytes)``: the rate of a train in Mbit/s of payload, within 2.5 %.

    It is tried on trains that were made up, of several lengths, sizes and rates.
    """
    return _ESTIMATE.checks(estimate)


def _train(
    rate_mbps: float, packets: int, payload_bytes: int, start_s: float, unevenness: Sequence[float] = (0.0,)
) -> Case:
    """Return arrivals and payload of a train. ``unevenness`` says by which share each gap is longer; its sum is 0."""
    gap_s = transmission_ms(payload_bytes, rate_mbps) / 1000
    gaps = (gap_s * (1 + share) for share in islice(cycle(unevenness), packets - 1))
    return tuple(accumulate(gaps, initial=start_s)), payload_bytes


def _mbps(size_bytes: float, time_s: float) -> float:
    return BITS_PER_BYTE * size_bytes / 1e6 / time_s


_GAPS: Final = "three packets arrive at 0, 1 and 2 ms: the bits of how many packets arrive in these 2 ms?"
_TIME: Final = "take the time from the first arrival to the last"
_ESTIMATE: Final = Trial(
    train_rate_mbps,
    {
        "a short train": _train(12.5, 9, PAYLOAD_BYTES, 0.25),
        "a train of small packets, late in the day": _train(7.3, 31, 500, 4000.5),
        "a train with uneven gaps": _train(
            33.3, 41, PAYLOAD_BYTES, 0.031, (0.6, -0.2, -0.2, -0.2)
        ),
    },
    (
        "a rate is bits over time. The bottleneck spaces the packets, so count the gaps between them",
        f"{_TIME}; {_GAPS}",
        "(n - 1) * payload_bytes * 8 / (last - first) / 1,000,000",
    ),
    (
        Formula(lambda t, size: _mbps(size * len(t), t[-1] - t[0]), "that counts n packets", _GAPS),
        Formula(lambda t, size: _mbps(size, t[1] - t[0]), "that is the first gap alone", "use the whole train"),
        Formula(lambda t, size: _mbps(size, median(map(sub, t[1:], t))), "that is the gap in the middle",
                "use the whole train: packets of others make a few gaps long, and these count too"),
        Formula(lambda t, size: _mbps(1e6 / BITS_PER_BYTE * (len(t) - 1), t[-1] - t[0]), "that is packets a second",
                "how many bits does a packet have?"),
        Formula(lambda t, size: _mbps(size * (len(t) - 1), t[-1]), "that divides by the last time of arrival", _TIME),
        Formula(lambda t, size: _mbps(size * len(t), t[-1]), "that divides by the last time of arrival", _TIME),
        Formula(lambda t, size: _mbps(PAYLOAD_BYTES * (len(t) - 1), t[-1] - t[0]),
                "that counts 1448 bytes for every packet", "use payload_bytes"),
    ),
    tolerance=0.025,
)  # fmt: skip


# --- The search


@guarded("Lab 03, an unknown network")
def check_search(find: object, seeds: Sequence[int] | None = None) -> Iterable[Check]:
    """Judge ``find(prober)``: the highest rate of payload that a network carries, in Mbit/s, within 5 %.

    The function is tried on four networks (`linklab.grade.seeding`), or on those of `seeds` (`random_chain`): so a
    student can try again the network that a failed check names. On each it may send as much as the path carries in
    12 s, and a probe at 90 % of its answer or more must have lost nothing, which means `STRAY_PERCENT` at most. Raises
    LabError where no lab can be started.
    """
    if not callable(find):
        raise Refuse("the function", "not written yet", "give the function itself, without parentheses")
    tries: list[_Try] = []
    for seed in seeding.seeds("an unknown network", NETWORKS, _SEEDS) if seeds is None else seeds:
        tries.append(_tried(find, seed))
        if tries[-1].is_hopeless:
            break
    return _checks(tries)


@dataclass(frozen=True)
class _Try:
    """What a search gave on one network, or the error that it ended with."""

    seed: int
    network: Network
    answer: object
    error: Exception | None
    prober: Prober

    @property
    def truth_mbps(self) -> float:
        return udp_ceiling_mbps(measured_path(self.network, "h1", "h2"))

    @property
    def name(self) -> str:
        links = sum(link.rate_mbps is not None for link in self.network.links)
        return f"bandwidth of a network of {links} links (seed {self.seed})"

    @property
    def is_hopeless(self) -> bool:
        """Whether no number came: then none would come on other networks either."""
        return self.error is not None or not_a_number("", self.answer, "") is not None

    @property
    def number(self) -> float:
        """The answer as a number; 0 where it is none."""
        return 0.0 if self.is_hopeless else as_number(self.answer)


def _tried(find: Callable[[Prober], object], seed: int) -> _Try:
    network = random_chain(seed, bottleneck_mbps=BOTTLENECK_MBPS)
    with temporary_folder() as folder, linklab.start(network, folder=folder) as lab:
        prober = Prober(lab, "h1", "h2")
        answer: object = None
        error: Exception | None = None
        try:
            answer = find(prober)
        except Exception as raised:
            error = raised
        return _Try(seed, network, answer, error, prober)


def _checks(tries: Sequence[_Try]) -> list[Check]:
    checks = [_to_be_tried_again(_answer_check(it), it.seed) for it in tries]
    if not any(it.is_hopeless for it in tries):
        checks += [_confirmed_check(tries), _traffic_check(tries)]
    return checks


def _to_be_tried_again(check: Check, seed: int) -> Check:
    if check.outcome != "failed":
        return check
    again = f"To try the same network again, run check_search(find_bandwidth, seeds=[{seed}])"
    further = tuple(f"{hint}. {again}" for hint in check.further)
    return replace(check, hint=f"{check.hint}. {again}", further=further)


def _answer_check(it: _Try) -> Check:
    if it.error is not None:
        return _raised(it.name, it.error, "run find_bandwidth(prober) on your own network: the error names the line")
    if it.answer is None:
        return Check.failing(it.name, "the function returns nothing", "end it with return", "a number in Mbit/s")
    right, answer = it.truth_mbps, it.number
    expected = Expectation(
        right, (1 - TOLERANCE) * right, (1 + TOLERANCE) * right, "Mbit/s", "what the path carries", None,
        allowance=f"{100 * TOLERANCE:g} % for the search",
    )  # fmt: skip
    slips = [
        Slip(right / BITS_PER_BYTE, "that looks like MByte/s", "a byte has 8 bits"),
        Slip(right * 1e3, "that is in kbit/s", "give it in Mbit/s"),
        Slip(right * 1e6, "that is in bit/s", "give it in Mbit/s"),
    ]
    for probe in it.prober.probes:
        if probe.loss_percent > STRAY_PERCENT:
            reason = "that is what was received of a probe that lost packets: packets from the queue count in it too"
            slips.append(Slip(probe.received_mbps, reason, "return a rate at which no packet is lost"))
        if not math.isclose(probe.rate_mbps, answer, rel_tol=0.002):
            continue
        if probe.loss_percent > STRAY_PERCENT:
            reason = f"your probe at that rate lost {probe.loss_percent:.1f} % of its packets"
            slips.append(Slip(probe.rate_mbps, reason, "return a rate at which no packet is lost"))
        elif probe.rate_mbps > right:
            reason = "your probe at that rate lost nothing, because a queue held the packets that were too many"
            slips.append(
                Slip(probe.rate_mbps, reason, "a longer probe fills the queue; a train shows the rate at once")
            )
    coarse = "the search ends too early: go on until the range is narrow, with steps in proportion to the rate"
    wild = "print each rate that you try, and its loss: does the range close around one rate?"
    hints = coarse if abs(answer / right - 1) <= _COARSE else wild
    return measured(it.name, it.answer, expected, hints, slips)


def _confirmed_check(tries: Sequence[_Try]) -> Check:
    description = "each answer confirmed by a probe"
    wanted = f"a probe at {100 * _CONFIRMED:g} % of the answer or more that lost at most {STRAY_PERCENT:g} %"
    lossy = [it for it in tries if _is_lossy(it)]
    if lossy:
        reason = f"the answer is a rate at which your own probe lost packets: {listed(it.name for it in lossy)}"
        return Check.failing(description, reason, "return the highest rate at which no packet was lost", wanted)
    guessed = [it for it in tries if not _is_confirmed(it)]
    if not guessed:
        return Check.passing(description, wanted, "each answer has one")
    reason = f"you sent no such probe: {listed(it.name for it in guessed)}"
    return Check.failing(description, reason, "send at your answer or just below: are packets lost?", wanted)


def _is_lossy(it: _Try) -> bool:
    return any(
        math.isclose(probe.rate_mbps, it.number) and probe.loss_percent > STRAY_PERCENT for probe in it.prober.probes
    )


def _is_confirmed(it: _Try) -> bool:
    least = _CONFIRMED * it.number
    return any(probe.rate_mbps >= least and probe.loss_percent <= STRAY_PERCENT for probe in it.prober.probes)


def _traffic_check(tries: Sequence[_Try]) -> Check:
    description = "traffic of the search"
    wanted = f"at most what each path carries in {ALLOWED_S:g} s"
    took_s = [(transmission_ms(it.prober.sent_bytes, it.truth_mbps) / 1000, it) for it in tries]
    found = ", ".join(f"{seconds:.1f} s" for seconds, _ in took_s)
    over = [f"{seconds:.0f} s ({it.prober.sent_bytes / 1e6:.1f} MB), seed {it.seed}" for seconds, it in took_s
            if seconds > ALLOWED_S]  # fmt: skip
    if not over:
        return Check.passing(description, wanted, found)
    hint = "start near the answer, which a train shows, and let each probe halve the range that is left"
    return Check.failing(description, f"the search sent {listed(over)}", hint, wanted, found)


def _raised(description: str, error: Exception, hint: str) -> Check:
    """Return a failed check with the words of the error."""
    said = str(error) or "without a word"
    if isinstance(error, NotImplementedError):
        return Check.failing(description, "not written yet", hint, "a number in Mbit/s")
    if isinstance(error, LinklabError):
        return Check.failing(description, said, "send fewer, slower or shorter probes; a train shows where to start")
    return Check.failing(description, f"the function raises {type(error).__name__}: {said}", hint, "a number in Mbit/s")


# --- Networks that nobody has seen


_LINKS: Final = (2, 6)
"""How many limited links a chain has, from and to."""
_RATES_MBPS: Final = (2.0, 100.0)
"""The range of the rates of these links."""
_DELAYS_MS: Final = (1, 20)
_QUEUE_BDP: Final = (1.0, 2.0)
_SHORTEST_QUEUE_PACKETS: Final = 30
_FRAME_BITS: Final = BITS_PER_BYTE * (ETHERNET_MTU_BYTES + ETHERNET_HEADER_BYTES)


def random_chain(seed: int, bottleneck_mbps: tuple[float, float] = _RATES_MBPS) -> Network:
    """Return the network of a seed: h1, a row of routers, h2. The same seed always gives the same network.

    The two to six links between the routers are limited; the cables to the hosts are not. The bottleneck's rate is
    drawn from `bottleneck_mbps`, evenly on a logarithmic scale, so that slow networks are as likely as fast ones, and
    its place from all links. The others lie between it and 100 Mbit/s. Delays are 1 to 20 ms. A queue holds one to two
    times what the link's own round trip holds, and 30 packets at least: netem's limit counts the packets that are being
    delayed as well, so a shorter one could not carry the rate.

    Raises NetworkError for bounds in the wrong order or out of what a link can be.
    """
    slowest_mbps, highest_mbps = bottleneck_mbps
    if not 0.1 <= slowest_mbps <= highest_mbps <= _RATES_MBPS[1]:
        raise NetworkError(
            f"bottleneck_mbps is {slowest_mbps:g} to {highest_mbps:g}: choose two numbers in order, from 0.1 to 100"
        )
    draw = random.Random(f"linklab chain {seed}")
    count = draw.randint(*_LINKS)
    slow_mbps = round(math.exp(draw.uniform(*map(math.log, bottleneck_mbps))), 1)
    rates_mbps = [round(draw.uniform(slow_mbps, _RATES_MBPS[1]), 1) for _ in range(count)]
    rates_mbps[draw.randrange(count)] = slow_mbps
    routers = [f"r{number}" for number in range(1, count + 2)]
    chain = []
    for number, rate_mbps in enumerate(rates_mbps, 1):
        delay_ms = draw.randint(*_DELAYS_MS)
        round_trip_packets = rate_mbps * 1000 * 2 * delay_ms / _FRAME_BITS
        queue_packets = max(_SHORTEST_QUEUE_PACKETS, math.ceil(round_trip_packets * draw.uniform(*_QUEUE_BDP)))
        one, two = f"r{number}", f"r{number + 1}"
        chain.append(
            Link(
                End(one, f"{one}-eth1", f"10.0.{number}.1/24"),
                End(two, f"{two}-eth0", f"10.0.{number}.2/24"),
                name=f"L{number}",
                rate_mbps=rate_mbps,
                delay_ms=delay_ms,
                queue_packets=queue_packets,
            )
        )
    last = count + 1
    return Network(
        f"chain-{seed}",
        (Host("h1"), *map(Router, routers), Host("h2")),
        (
            Link(End("h1", "h1-eth0", "10.0.0.2/24"), End("r1", "r1-eth0", "10.0.0.1/24")),
            *chain,
            Link(End(f"r{last}", f"r{last}-eth1", f"10.0.{last}.1/24"), End("h2", "h2-eth0", f"10.0.{last}.2/24")),
        ),
    )
