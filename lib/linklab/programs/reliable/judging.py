"""What checks of several steps look at: transfers, and what theory says of them.

Times are held to theory (`linklab.analysis.arq`) for the program's own packets: how long they take on the link follows
from the sizes that were seen, and what a loss costs from the program's own timeout.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from linklab.grade.seeding import seeds
from linklab.programs.checks import Observed
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.path import packet_ms
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers

MOST_BYTES: Final = 1200
"""Payload of a datagram: what every path carries whole (RFC 9000, section 14)."""
SLOWER: Final = 1.15
"""A program may take so much longer than theory: its own computing costs no virtual time, its sleeping does."""
ROUNDS: Final = 4
"""Round trips that a program may spend on greeting and farewell."""
STRAY: Final = 2
FIRST_S: Final = 1.0
"""RFC 6298's first timeout, and its least."""
SILENT_FROM: Final = 25
_LONG_S: Final = 8.0
SMALL: Final = 3000
LARGE: Final = 330_000
USUAL: Final = 60_000
_KARN: Final = (
    "take no sample of a packet that was sent twice: its acknowledgement says nothing of the round trip (Karn's rule; "
    "RFC 6298, section 3)"
)
_INFLATED: Final = 1.2
"""A timeout this many times as long as another is not the same one."""
TIMEOUT: Final = "the timeout must be longer than the round trip, queueing included: measure it (RFC 6298)"
"""What to do about packets that are sent again though nothing was lost."""
WHOLE: Final = "every byte once and in order, and both sides end with status 0 within their limits"


def content(size: int) -> bytes:
    """Return bytes that nobody can know beforehand, with zeros and ends of lines at both ends."""
    (seed,) = seeds(f"reliable {size}", 1, 2**32)
    edge = b"\0\r\n\0"
    inside = random.Random(seed).randbytes(max(0, size - 2 * len(edge)))
    return (edge + inside + edge)[:size] if size >= 2 * len(edge) else (b"\0" + inside + edge)[:size]


def all_arrive(played: Transfers, plans: Mapping[str, TransferPlan], expected: str) -> Observed:
    """Judge transfers by their bytes and ends alone; the first that fails is told."""
    for name, plan in plans.items():
        wrong = wrong_with(played.play(name, plan), name)
        if wrong.reason:
            return replace(wrong, expected=expected)
    return Observed(expected=expected, found=f"{len(plans)} transfers")


# --- Transfers that several checks look at


def clean(played: Transfers, window: int) -> PlayedTransfer:
    size = USUAL if window == 1 else 2 * USUAL
    return played.play(f"window {window}, nothing lost", TransferPlan(content(size), window))


def silence(played: Transfers) -> PlayedTransfer:
    impairments = Impairments(silent_from=SILENT_FROM, silent_s=_LONG_S)
    return played.play("nothing passes for 8 s", TransferPlan(content(USUAL), impairments=impairments))


def too_few(transfer: PlayedTransfer) -> Observed:
    reason = f"it sent {len(transfer.up)} packets, and the silence begins with packet {SILENT_FROM}"
    return Observed(reason, f"{USUAL / 1000:g} kB need more of at most {MOST_BYTES} bytes: see what became of them")


def cycle_of(transfer: PlayedTransfer) -> float:
    """From sending a packet to its acknowledgement, on an empty link."""
    answers = [one.size for one in transfer.down]
    answer_ms = packet_ms(sum(answers) / len(answers)) if answers else 0.0
    return (packet_ms(transfer.mean_bytes) + transfer.rtt_ms + answer_ms) / 1000


def theory_of(transfer: PlayedTransfer, packets: int) -> float:
    """How long so many packets take with the transfer's window, where nothing is lost."""
    return packets * max(cycle_of(transfer) / transfer.plan.window, packet_ms(transfer.mean_bytes) / 1000)


def timeout_of(played: Transfers) -> float:
    """The program's own timeout on the near path, as it was seen; the RFC's least where it was not."""
    gaps = silence(played).gaps_s()
    return gaps[0] if gaps else FIRST_S


def data_bytes(transfer: PlayedTransfer) -> int:
    """How much of the file a full packet carries, as far as it can be told from the sizes alone; else 1000."""
    if not transfer.up:
        return 1000
    full, many = Counter(one.size for one in transfer.up).most_common(1)[0]
    tails = [one.size for one in transfer.up if one.size < full]
    size = len(transfer.plan.content)
    found = [full - size / many, *((many * full + tail - size) / (many + 1) for tail in tails)]
    headers = [int(it) for it in found if it == int(it) and 0 <= it <= 64]
    return full - headers[0] if headers else 1000


def share_percent(played: Transfers, window: int) -> float:
    """Return which part of the time the link carried packets in a transfer without loss, in percent."""
    transfer = clean(played, window)
    return packet_ms(transfer.mean_bytes) * len(transfer.up) / 10 / max(transfer.took_s, 1e-9)


# --- Judges that several steps have


def no_repeats(played: Transfers, window: int) -> Observed:
    transfer = clean(played, window)
    most = max(STRAY, len(transfer.up) // 10)
    reason = f"{transfer.repeats} of {len(transfer.up)} packets were repeats, and nothing was lost"
    reason = reason if transfer.repeats > most else ""
    return Observed(reason, expected=f"at most {most} repeats", found=f"{transfer.repeats}")


def share(played: Transfers, window: int) -> Observed:
    transfer = clean(played, window)
    wrong = wrong_with(transfer, f"window {window}")
    if wrong.reason:
        return wrong
    theory_s, trip_s = theory_of(transfer, len(transfer.up)), transfer.rtt_ms / 1000
    share = share_percent(played, window)
    expected = f"{theory_s:.2f} s, {share * transfer.took_s / theory_s:.0f} % of the link"
    found = f"{transfer.took_s:.2f} s, {share:.0f} %"
    if transfer.took_s > SLOWER * theory_s + ROUNDS * trip_s:
        formula = "min(1, W / (1 + 2a))" if window > 1 else "L/R / (RTT + L/R)"
        hint = (
            "send the next packet as soon as WINDOW allows: do you use WINDOW, and does anything sleep?",
            f"theory: {formula} of the link",
        )
        return Observed("it takes longer than theory says", hint, expected, found)
    if transfer.took_s < 0.9 * theory_s - 2 * trip_s:
        reason = f"that is faster than a window of {window} can be"
        return Observed(
            reason,
            "before you send, count what is sent and not acknowledged: it must be less than WINDOW",
            expected,
            found,
        )
    return Observed(expected=expected, found=found)


def sizes(played: Transfers, window: int) -> Observed:
    data = data_bytes(clean(played, window))
    impairments = Impairments(loss=0.02, twice=0.1, late=0.05 if window > 1 else 0.0, late_s=0.05, seed=3)
    sizes = {"an empty file": 0, "a file of one byte": 1, f"a file of {data} bytes": data}
    sizes |= {f"a file of {2 * data} bytes": 2 * data, f"a file of {LARGE} bytes": LARGE}
    plans = {
        f"{name}, window {window}": TransferPlan(content(size), window, impairments=impairments)
        for name, size in sizes.items()
    }
    return all_arrive(played, plans, WHOLE)


def ends(played: Transfers, window: int) -> Observed:
    plain = played.play(f"a small file, window {window}", TransferPlan(content(SMALL), window))
    wrong = wrong_with(plain, "a small file")
    if wrong.reason:
        return wrong
    up, down = len(plain.up), len(plain.down)
    losing: dict[str, dict[str, list[int]]] = {
        "the first packet is lost": {"up": [1]},
        "the first answer is lost": {"down": [1]},
        "the last packet is lost": {"up": [up]},
        "the last but one packet is lost": {"up": [up - 1]},
        "the last answer is lost": {"down": [down]},
        "the last but one answer is lost": {"down": [down - 1]},
        "the last two answers are lost": {"down": [down - 1, down]},
    }
    plans = {
        f"{name}, window {window}": TransferPlan(content(SMALL), window, impairments=Impairments(lost=lost))
        for name, lost in losing.items()
    }
    return all_arrive(played, plans, "both sides end with status 0")


def cost_of_loss(played: Transfers, window: int) -> Observed:
    loss = 0.05 if window == 1 else 0.03
    name = f"window {window}, {100 * loss:g} % lost each way"
    plan = TransferPlan(content(2 * USUAL), window, impairments=Impairments(loss=loss, seed=4))
    transfer = played.play(name, plan)
    wrong = wrong_with(transfer, name)
    if wrong.reason:
        return wrong
    packets, timeout_s = len({one.digest for one in transfer.up}), timeout_of(played)
    waits_s = _waits_s(transfer, timeout_s) if window == 1 else 2 * transfer.lost * timeout_s
    theory_s = theory_of(transfer, packets) + waits_s
    most_s = SLOWER * (theory_s + transfer.lost * cycle_of(transfer))
    # go-back-N: a window again for each packet lost, one for each acknowledgement; three standard deviations of chance
    by_chance = loss * packets + 3 * math.sqrt(loss * packets)
    most = round(1.2 * (packets + by_chance * (window + 1)))
    expected = f"at most {most_s:.1f} s and {most} packets"
    found = f"{transfer.took_s:.1f} s, {len(transfer.up)} packets"
    if transfer.took_s > most_s:
        reason = f"{transfer.lost} losses cost more than a timeout each"
        hint = "a loss costs one timeout: does yours grow, or wait for something else?"
        if window == 1 and (wait_s := _inflated_s(transfer, silence(played).gaps_s() or [timeout_s])):
            reason += f": after packets that were sent twice the timeout was {wait_s:.2f} s, {timeout_s:.2f} s before"
            hint = _KARN
        return Observed(reason, hint, expected, found)
    if len(transfer.up) > most:
        hint = "after a timeout go-back-N sends one window again, selective repeat one packet"
        return Observed("it repeats more than the losses explain", hint, expected, found)
    return Observed(expected=expected, found=found)


def _inflated_s(transfer: PlayedTransfer, gaps_s: Sequence[float]) -> float | None:
    """Return the first timeout that is too long though a packet sent once has been acknowledged since the last repeat.

    None if there is none. ``gaps_s`` are the program's own timeouts in a silence, one after the other: a timeout that
    stays as long as one of them has grown, and is no sample of a packet that was sent twice.
    """
    once, is_repeated = 0, False
    for early, late in pairwise(transfer.up):
        if early.digest != late.digest:
            once += 1
            continue
        wait_s = late.s - early.s
        has_grown = any(abs(wait_s - gap_s) < gap_s / 10 for gap_s in gaps_s)
        if is_repeated and once > 1 and wait_s > _INFLATED * gaps_s[0] and not has_grown:
            return wait_s
        once, is_repeated = 0, True
    return None


def _waits_s(transfer: PlayedTransfer, timeout_s: float) -> float:
    """Return what the losses of stop-and-wait cost: a timeout each, which doubles while one follows the other.

    A doubled timeout stays until a packet is acknowledged that was sent once (Karn).
    """
    cost_s, doubled, repeated = 0.0, 0, False
    for one, is_answer in sorted(
        [*((it, False) for it in transfer.up), *((it, True) for it in transfer.down)], key=lambda it: it[0].s
    ):
        if not one.passed:
            cost_s += timeout_s * 2**doubled
            doubled, repeated = doubled + 1, True
        elif is_answer:
            doubled, repeated = doubled if repeated else 0, False
    return cost_s
