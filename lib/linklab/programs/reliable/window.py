"""The step `window`: several packets at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

from linklab.programs.checks import Observed, check
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable import judging
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.judging import FIRST_S, SILENT_FROM, TIMEOUT, USUAL, WHOLE, all_arrive, content, too_few
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers

_SHORT_S: Final = 3.0
_BACKED_OFF: Final = 3
"""So many times as long as the gap before a gap may be: a timeout doubles, and what was sent is looked at late."""


@check("share 8", needs=["arrives"])
def share_of_8(played: Transfers) -> Observed:
    """a window of 8 has its share of the link"""
    return judging.share(played, 8)


@check("share 32", needs=["arrives", "share 8"])
def share_of_32(played: Transfers) -> Observed:
    """a window of 32 fills the link"""
    return judging.share(played, 32)


@check("no repeats 32", needs=["arrives"], hint=TIMEOUT)
def no_repeats_in_window(played: Transfers) -> Observed:
    """nothing is sent again where nothing is lost, window 32"""
    return judging.no_repeats(played, 32)


@check("within window", needs=["arrives"])
def within_window(played: Transfers) -> Observed:
    """no more than WINDOW packets are on their way"""
    transfer = _silence_of_4(played)
    window = transfer.plan.window
    if not transfer.silent:
        return too_few(transfer)
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


def _silence_of_4(played: Transfers) -> PlayedTransfer:
    impairments = Impairments(silent_from=SILENT_FROM, silent_s=_SHORT_S)
    plan = TransferPlan(content(USUAL), 4, impairments=impairments)
    return played.play("window 4, nothing passes for 3 s", plan)


@check("rough", needs=["arrives"])
def rough(played: Transfers) -> Observed:
    """loss, repeats and overtaking do no harm"""
    plans = {
        f"window 8: lost, twice and overtaken, seed {seed}": TransferPlan(
            content(USUAL), 8, impairments=Impairments(loss=0.05, twice=0.05, late=0.1, late_s=0.03, seed=seed)
        )
        for seed in (5, 6)
    }
    return all_arrive(played, plans, WHOLE)


@check("numbers", needs=["arrives"])
def numbers(played: Transfers) -> Observed:
    """old packets are not taken for new ones"""
    plans = {
        f"window {window}: no answer passes for 1 s": TransferPlan(
            content(USUAL), window, impairments=Impairments(silent_from=25, silent_s=1.0, silent=("down",))
        )
        for window in (4, 8)
    }
    return all_arrive(played, plans, WHOLE)


@check("sizes 16", needs=["arrives", "rough"])
def every_size(played: Transfers) -> Observed:
    """files of every size arrive, window 16"""
    return judging.sizes(played, 16)


@check("ends 8", needs=["arrives"])
def both_end(played: Transfers) -> Observed:
    """both sides end well with a window too"""
    return judging.ends(played, 8)


@check("cost of loss 8", needs=["arrives"])
def loss_in_window(played: Transfers) -> Observed:
    """a loss in a window costs a timeout, and no more"""
    backed_off, cost = _backed_off(_silence_of_4(played)), judging.cost_of_loss(played, 8)
    return cost if cost.reason or not backed_off.reason else backed_off


def _backed_off(transfer: PlayedTransfer) -> Observed:
    """Judge the gaps between the tries of a silence's first packet: a timeout doubles once for all that were lost."""
    first = transfer.silent[0].digest if transfer.silent else ""
    times = [one.s for one in transfer.up if one.digest == first]
    gaps = [late - early for early, late in pairwise(times)]
    shown = ", ".join(f"{gap:.2f}" for gap in gaps) + " s"
    if all(late <= _BACKED_OFF * max(early, FIRST_S) for early, late in pairwise(gaps)):
        return Observed(found=shown)
    return Observed(
        "nothing passed for 3 s, and a packet waited for more than twice its last wait until it was sent again",
        "double the timeout once for all packets that were lost together, not once for each of them",
        "each gap twice the one before (RFC 6298, rule 5.5)",
        shown,
    )
