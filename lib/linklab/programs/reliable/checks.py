"""What is asked of a program for reliable transport, step by step, and judged by what passed the relay.

Times are held to theory (`linklab.analysis.arq`) for the program's own packets: how long they take on the link follows
from the sizes that were seen, and what a loss costs from the program's own timeout.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

from linklab.grade.seeding import seeds
from linklab.programs.checks import CheckRow, Observed
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.path import FAR, packet_ms
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.scenes import last_line, stopped_for

MOST_BYTES: Final = 1200
"""Payload of a datagram: what every path carries whole (RFC 9000, section 14)."""
_SLOWER: Final = 1.15
"""A program may take so much longer than theory: its own computing costs no virtual time, its sleeping does."""
_ROUNDS: Final = 4
"""Round trips that a program may spend on greeting and farewell."""
_STRAY: Final = 2
_FIRST_S: Final = 1.0
"""RFC 6298's first timeout, and its least."""
_GIVE_UP_S: Final = 150.0
_SILENT_FROM: Final = 25
_SHORT_S: Final = 3.0
_LONG_S: Final = 8.0
_EARLY_S: Final = 7.5
_SMALL: Final = 3000
_LARGE: Final = 330_000
_USUAL: Final = 60_000
_MINUTE: Final = 40_000
"""At most 1200 bytes in each round trip of 1.5 s."""
_WHOLE: Final = "every byte once and in order, and both sides end with status 0 within their limits"


def content(size: int) -> bytes:
    """Return bytes that nobody can know beforehand, with zeros and ends of lines at both ends."""
    (seed,) = seeds(f"reliable {size}", 1, 2**32)
    edge = b"\0\r\n\0"
    inside = random.Random(seed).randbytes(max(0, size - 2 * len(edge)))
    return (edge + inside + edge)[:size] if size >= 2 * len(edge) else (b"\0" + inside + edge)[:size]


def _all_arrive(played: Transfers, plans: Mapping[str, TransferPlan], expected: str) -> Observed:
    """Judge transfers by their bytes and ends alone; the first that fails is told."""
    for name, plan in plans.items():
        wrong = wrong_with(played.play(name, plan), name)
        if wrong.reason:
            return replace(wrong, expected=expected)
    return Observed(expected=expected, found=f"{len(plans)} transfers")


# --- Transfers that several checks look at


def _clean(played: Transfers, window: int) -> PlayedTransfer:
    return played.play(f"window {window}, nothing lost", TransferPlan(content(_USUAL), window))


def _silence(played: Transfers) -> PlayedTransfer:
    impairments = Impairments(silent_from=_SILENT_FROM, silent_s=_LONG_S)
    return played.play("nothing passes for 8 s", TransferPlan(content(_USUAL), impairments=impairments))


def _minute(played: Transfers) -> PlayedTransfer:
    """Play a transfer that is twice as long as a silence after which a side gives up, with losses in its second half.

    Who counts from the start ends at the first timeout after 30 s, and so where something is lost.
    """
    impairments = Impairments(lost={"up": [28, 32]})
    plan = TransferPlan(content(_MINUTE), path=FAR, impairments=impairments)
    return played.play("a transfer of a minute", plan)


def _too_few(transfer: PlayedTransfer) -> Observed:
    reason = f"it sent {len(transfer.up)} packets, and the silence begins with packet {_SILENT_FROM}"
    return Observed(reason, f"{_USUAL / 1000:g} kB need more of at most {MOST_BYTES} bytes: see what became of them")


def _cycle_s(transfer: PlayedTransfer) -> float:
    """From sending a packet to its acknowledgement, on an empty link."""
    answers = [one.size for one in transfer.down]
    answer_ms = packet_ms(sum(answers) / len(answers)) if answers else 0.0
    return (packet_ms(transfer.mean_bytes) + transfer.rtt_ms + answer_ms) / 1000


def _theory_s(transfer: PlayedTransfer, packets: int) -> float:
    """How long so many packets take with the transfer's window, where nothing is lost."""
    return packets * max(_cycle_s(transfer) / transfer.plan.window, packet_ms(transfer.mean_bytes) / 1000)


def _timeout_s(played: Transfers) -> float:
    """The program's own timeout on the near path, as it was seen; the RFC's least where it was not."""
    gaps = _silence(played).gaps_s()
    return gaps[0] if gaps else _FIRST_S


def _data_bytes(transfer: PlayedTransfer) -> int:
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
    transfer = _clean(played, window)
    return packet_ms(transfer.mean_bytes) * len(transfer.up) / 10 / max(transfer.took_s, 1e-9)


# --- The judges


def _arrives(played: Transfers) -> Observed:
    transfer = _clean(played, 1)
    wrong = wrong_with(transfer)
    found = "" if wrong.reason else f"{len(transfer.up)} datagrams"
    return replace(wrong, expected=_WHOLE, found=found)


def _small(played: Transfers) -> Observed:
    largest = max(one.size for one in (*_clean(played, 1).up, *_clean(played, 1).down))
    reason = f"one has {largest} bytes" if largest > MOST_BYTES else ""
    return Observed(reason, expected=f"at most {MOST_BYTES} bytes of payload", found=f"{largest} bytes")


def _one_at_a_time(played: Transfers) -> Observed:
    transfer = _clean(played, 1)
    close = [late for early, late in pairwise(transfer.up) if (late.s - early.s) * 1000 < 0.95 * transfer.rtt_ms]
    expected = f"a round trip ({transfer.rtt_ms:g} ms) between two packets"
    if len(close) <= _STRAY:
        return Observed(expected=expected)
    first = close[0].s - transfer.up[0].s
    reason = f"{len(close)} packets left before an acknowledgement could have come, the first after {first:.3f} s"
    return Observed(reason, expected=expected)


def _no_repeats(played: Transfers, window: int) -> Observed:
    transfer = _clean(played, window)
    most = max(_STRAY, len(transfer.up) // 10)
    reason = f"{transfer.repeats} of {len(transfer.up)} packets were repeats, and nothing was lost"
    reason = reason if transfer.repeats > most else ""
    return Observed(reason, expected=f"at most {most} repeats", found=f"{transfer.repeats}")


def _share(played: Transfers, window: int) -> Observed:
    transfer = _clean(played, window)
    wrong = wrong_with(transfer, f"window {window}")
    if wrong.reason:
        return wrong
    theory_s, trip_s = _theory_s(transfer, len(transfer.up)), transfer.rtt_ms / 1000
    share = share_percent(played, window)
    expected = f"{theory_s:.2f} s, {share * transfer.took_s / theory_s:.0f} % of the link"
    found = f"{transfer.took_s:.2f} s, {share:.0f} %"
    if transfer.took_s > _SLOWER * theory_s + _ROUNDS * trip_s:
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


def _within_window(played: Transfers) -> Observed:
    window = 4
    impairments = Impairments(silent_from=_SILENT_FROM, silent_s=_SHORT_S)
    plan = TransferPlan(content(_USUAL), window, impairments=impairments)
    transfer = played.play("window 4, nothing passes for 3 s", plan)
    if not transfer.silent:
        return _too_few(transfer)
    sent = {one.digest for one in transfer.silent}
    before = {one.digest for one in transfer.up if one.s < transfer.silent[0].s}
    if len(sent) == len(transfer.silent) and not sent & before:
        # it writes something new into each repeat, but repeats nothing within a round trip
        end_s = transfer.silent[0].s + transfer.rtt_ms / 1000
        sent = {one.digest for one in transfer.silent if one.s <= end_s}
    expected = f"{window} packets"
    if len(sent) > window:
        reason = f"with WINDOW {window}, {len(sent)} different packets were sent while nothing was acknowledged"
        return Observed(
            reason, "before you send, count what is sent and not acknowledged: it must be less than WINDOW", expected
        )
    return replace(wrong_with(transfer, "after the silence"), expected=expected, found=f"{len(sent)}")


def _loss(played: Transfers) -> Observed:
    plans = {
        f"one in twenty lost each way, some twice, seed {seed}": TransferPlan(
            content(_USUAL), impairments=Impairments(loss=0.05, twice=0.05, seed=seed)
        )
        for seed in (1, 2)
    }
    return _all_arrive(played, plans, _WHOLE)


def _sizes(played: Transfers, window: int) -> Observed:
    data = _data_bytes(_clean(played, window))
    impairments = Impairments(loss=0.02, twice=0.1, late=0.05 if window > 1 else 0.0, late_s=0.05, seed=3)
    sizes = {"an empty file": 0, "a file of one byte": 1, f"a file of {data} bytes": data}
    sizes |= {f"a file of {2 * data} bytes": 2 * data, f"a file of {_LARGE} bytes": _LARGE}
    plans = {
        f"{name}, window {window}": TransferPlan(content(size), window, impairments=impairments)
        for name, size in sizes.items()
    }
    return _all_arrive(played, plans, _WHOLE)


def _ends(played: Transfers, window: int) -> Observed:
    plain = played.play(f"a small file, window {window}", TransferPlan(content(_SMALL), window))
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
        f"{name}, window {window}": TransferPlan(content(_SMALL), window, impairments=Impairments(lost=lost))
        for name, lost in losing.items()
    }
    return _all_arrive(played, plans, "both sides end with status 0")


def _gives_up(played: Transfers) -> Observed:
    transfer = played.play("nobody receives", TransferPlan(content(_SMALL), nobody=True, limit_s=_GIVE_UP_S))
    expected = f"status 1 after about 30 s, {_GIVE_UP_S:g} s at most"
    if transfer.flooding or stopped_for(transfer.record):
        return replace(wrong_with(transfer), expected=expected)
    (sender,) = transfer.programs
    if sender["stopped"]:
        return Observed("it tries for ever", "give up when nothing was heard for 30 s", expected)
    if sender["status"] == 0:
        return Observed("it says 0: all has arrived", "0 is for what was acknowledged", expected, "status 0")
    if transfer.took_s < _EARLY_S:
        said = last_line(sender)
        reason = f"it gave up {transfer.took_s:.1f} s after its first packet{said and f', and said: {said}'}"
        return Observed(
            reason, "do not give up in an outage of 8 s: give up after about 30 s without an answer", expected
        )
    if reason := _gave_up_in_a_transfer(_minute(played)):
        return Observed(reason, "count the 30 s from the last packet that was heard, not from the start", expected)
    return Observed(expected=expected, found=f"status {sender['status']}, {len(transfer.up)} packets")


def _gave_up_in_a_transfer(transfer: PlayedTransfer) -> str:
    """Say which side ended without success soon after it had heard the other; nothing where neither did."""
    sender, receiver = transfer.programs
    for program, heard in ((sender, transfer.down), (receiver, transfer.up)):
        end_s, said = program["ended_s"], last_line(program)
        before = [one.s for one in heard if one.passed and end_s is not None and one.s < end_s]
        if program["status"] and not program["stopped"] and before and end_s - before[-1] < _EARLY_S:
            return (
                f"in {transfer.name} the {program['side']} gave up after {end_s - transfer.up[0].s:.0f} s, and the "
                f"other side's last packet had passed {end_s - before[-1]:.1f} s before{said and f'; it said: {said}'}"
            )
    return ""


def _backs_off(played: Transfers) -> Observed:
    transfer = _silence(played)
    gaps = transfer.gaps_s()
    shown = ", ".join(f"{gap:.2f}" for gap in gaps[:8]) + (" ..." if len(gaps) > 8 else "") + " s"
    expected = "each gap twice the one before (RFC 6298, rule 5.5)"
    if not transfer.silent:
        return _too_few(transfer)
    if len(gaps) < 2:
        reason = f"it sent {len(transfer.silent)} packet{'s' * (len(transfer.silent) > 1)} in 8 s of silence"
        return Observed(reason, "send again after a timeout: about one round trip, 1 s at most", expected)
    if any(late < 1.5 * early for early, late in pairwise(gaps)):
        return Observed("the gaps do not grow", expected=expected, found=shown)
    return replace(wrong_with(transfer, "after the silence"), expected=expected, found=shown)


def _measured(played: Transfers) -> Observed:
    transfer = _silence(played)
    gaps, cycle_s = transfer.gaps_s(), _cycle_s(_clean(played, 1))
    most_s = max(4 * cycle_s, 1.1 * _FIRST_S)
    expected = f"{cycle_s:.3f} to {most_s:.2f} s"
    if not transfer.silent:
        return _too_few(transfer)
    found = f"{gaps[0]:.3f} s" if gaps else "nothing was sent again in 8 s"
    near = gaps and cycle_s <= gaps[0] * 1.02 <= most_s * 1.02
    reason = "" if near else f"after {_SILENT_FROM - 1} round trips of {cycle_s:.3f} s the timeout is not near them"
    return Observed(reason, expected=expected, found=found)


def _karn(played: Transfers) -> Observed:
    near = played.play("a quarter of it", TransferPlan(content(_USUAL // 4)))
    far = played.play("a round trip of 1.5 s", TransferPlan(content(_USUAL // 4), path=FAR))
    for transfer in (near, far):
        wrong = wrong_with(transfer, transfer.name)
        if wrong.reason:
            return wrong
    most = len(near.up) + 2 * _STRAY
    reason = f"nothing was lost, and it sent {len(far.up)} packets" if len(far.up) > most else ""
    expected = f"{len(near.up)} packets, the first ones perhaps twice: {most} at most"
    return Observed(reason, expected=expected, found=f"{len(far.up)}")


def _cost_of_loss(played: Transfers, window: int) -> Observed:
    loss = 0.05 if window == 1 else 0.03
    name = f"window {window}, {100 * loss:g} % lost each way"
    plan = TransferPlan(content(2 * _USUAL), window, impairments=Impairments(loss=loss, seed=4))
    transfer = played.play(name, plan)
    wrong = wrong_with(transfer, name)
    if wrong.reason:
        return wrong
    packets, timeout_s = len({one.digest for one in transfer.up}), _timeout_s(played)
    waits_s = _waits_s(transfer, timeout_s) if window == 1 else 2 * transfer.lost * timeout_s
    theory_s = _theory_s(transfer, packets) + waits_s
    most_s = _SLOWER * (theory_s + transfer.lost * _cycle_s(transfer))
    # go-back-N: a window again for each packet lost, one for each acknowledgement; three standard deviations of chance
    by_chance = loss * packets + 3 * math.sqrt(loss * packets)
    most = round(1.2 * (packets + by_chance * (window + 1)))
    expected = f"about {theory_s:.1f} s, {most_s:.1f} s at most, and {most} packets"
    found = f"{transfer.took_s:.1f} s, {len(transfer.up)} packets"
    if transfer.took_s > most_s:
        hint = "a loss costs one timeout: does yours grow, or wait for something else?"
        return Observed(f"{transfer.lost} losses cost more than a timeout each", hint, expected, found)
    if len(transfer.up) > most:
        hint = "after a timeout go-back-N sends one window again, selective repeat one packet"
        return Observed("it repeats more than the losses explain", hint, expected, found)
    return Observed(expected=expected, found=found)


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


def _rough(played: Transfers) -> Observed:
    plans = {
        f"window 8: lost, twice and overtaken, seed {seed}": TransferPlan(
            content(_USUAL), 8, impairments=Impairments(loss=0.05, twice=0.05, late=0.1, late_s=0.03, seed=seed)
        )
        for seed in (5, 6)
    }
    return _all_arrive(played, plans, _WHOLE)


def _numbers(played: Transfers) -> Observed:
    plans = {
        f"window {window}: no answer passes for 1 s": TransferPlan(
            content(_USUAL), window, impairments=Impairments(silent_from=25, silent_s=1.0, silent=("down",))
        )
        for window in (4, 8)
    }
    return _all_arrive(played, plans, _WHOLE)


# --- The table


def _asked(
    key: str, description: str, judge: Callable[[Transfers], Observed], hint: str | tuple[str, ...] = "", *needs: str
) -> CheckRow[Transfers]:
    return CheckRow(key, description, judge, hint, ("arrives", *needs) if key != "arrives" else ())


def _in_window(judge: Callable[[Transfers, int], Observed], window: int) -> Callable[[Transfers], Observed]:
    return lambda played: judge(played, window)


_TIMEOUT: Final = "the timeout must be longer than the round trip, queueing included: measure it (RFC 6298)"
_LEARN: Final = (
    "the round trip is 1.5 s, the first timeout 1 s: the timeout must learn from it",
    "an acknowledgement of a packet that was sent twice says nothing of the round trip (Karn). Keep the doubled "
    "timeout until a packet that was sent once is acknowledged (RFC 6298, sections 3 and 5)",
)
_STEPS: Final[dict[str, tuple[CheckRow[Transfers], ...]]] = {
    "stop-and-wait": (
        _asked("arrives", "a file arrives where nothing is lost", _arrives),
        _asked("small", "its datagrams are not too large", _small, "cut the file into smaller pieces"),
        _asked(
            "one at a time",
            "with WINDOW 1 one packet is on its way at a time",
            _one_at_a_time,
            "with WINDOW 1 the next packet waits for the acknowledgement",
        ),
        _asked("share 1", "it is as fast as stop-and-wait can be", _in_window(_share, 1), "", "one at a time"),
        _asked("loss", "lost and repeated datagrams do no harm", _loss),
        _asked("sizes", "files of every size arrive", _in_window(_sizes, 1), "", "loss"),
        _asked("ends", "both sides end well, whatever is lost at the beginning and at the end", _in_window(_ends, 1)),
    ),
    "timeouts": (
        _asked("no repeats", "nothing is sent again where nothing is lost", _in_window(_no_repeats, 1), _TIMEOUT),
        _asked(
            "measured",
            "the timeout is near the round trip",
            _measured,
            "it is SRTT + max(G, 4 * RTTVAR), all in seconds; you may set a lower limit, of 1 s at most",
        ),
        _asked(
            "backs off",
            "the timeout doubles while nothing comes",
            _backs_off,
            "double the timeout whenever it expires",
        ),
        _asked("karn", "the timeout learns a long round trip", _karn, _LEARN),
        _asked("cost of loss", "a loss costs a timeout, and no more", _in_window(_cost_of_loss, 1)),
        _asked("gives up", "a side gives up when it hears nothing, and only then", _gives_up),
    ),
    "window": (
        _asked("share 8", "a window of 8 has its share of the link", _in_window(_share, 8)),
        _asked("share 32", "a window of 32 fills the link", _in_window(_share, 32), "", "share 8"),
        _asked(
            "no repeats 32",
            "nothing is sent again where nothing is lost, window 32",
            _in_window(_no_repeats, 32),
            _TIMEOUT,
        ),
        _asked("within window", "no more than WINDOW packets are on their way", _within_window),
        _asked("rough", "loss, repeats and overtaking do no harm", _rough),
        _asked("numbers", "old packets are not taken for new ones", _numbers),
        _asked("sizes 16", "files of every size arrive, window 16", _in_window(_sizes, 16), "", "rough"),
        _asked("ends 8", "both sides end well with a window too", _in_window(_ends, 8)),
        _asked("cost of loss 8", "a loss in a window costs a timeout, and no more", _in_window(_cost_of_loss, 8)),
    ),
}
TABLE: Final = tuple(asked for step in _STEPS.values() for asked in step)
"""The checks of all steps."""
STEPS: Final = {
    step: tuple(dict.fromkeys(["arrives", *(asked.key for asked in table)])) for step, table in _STEPS.items()
}
"""The steps of Lab 13's program, and the keys of what each asks."""
