"""The step `stop-and-wait`: one packet at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from linklab.programs.checks import Observed, check
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable import judging
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.judging import MOST_BYTES, STRAY, USUAL, WHOLE, all_arrive, clean, content
from linklab.programs.reliable.path import packet_ms
from linklab.programs.reliable.transfers import Datagram, TransferPlan, Transfers


@check("arrives")
def arrives(played: Transfers) -> Observed:
    """a file arrives where nothing is lost"""
    transfer = clean(played, 1)
    wrong = wrong_with(transfer)
    found = "" if wrong.reason else f"{len(transfer.up)} datagrams"
    return replace(wrong, expected=WHOLE, found=found)


@check("small", needs=["arrives"], hint="cut the file into smaller pieces")
def small(played: Transfers) -> Observed:
    """its datagrams are not too large"""
    largest = max(one.size for one in (*clean(played, 1).up, *clean(played, 1).down))
    reason = f"one has {largest} bytes" if largest > MOST_BYTES else ""
    return Observed(reason, expected=f"at most {MOST_BYTES} bytes of payload", found=f"{largest} bytes")


@check("one at a time", needs=["arrives"], hint="with WINDOW 1 the next packet waits for the acknowledgement")
def one_at_a_time(played: Transfers) -> Observed:
    """with WINDOW 1 one packet is on its way at a time"""
    transfer = clean(played, 1)
    opening, close = transfer.up[0], list[Datagram]()
    sent, newest_s = {opening.digest}, opening.s
    for early, late in pairwise(transfer.up):
        # what a timer sends again is no second packet: that it is too early is a check of its own
        is_repeat = late.digest in sent
        since_s, least_ms = (early.s, 2 * packet_ms(late.size)) if is_repeat else (newest_s, 0.95 * transfer.rtt_ms)
        if (late.s - since_s) * 1000 < least_ms:
            close.append(late)
        newest_s = newest_s if is_repeat else late.s
        sent.add(late.digest)
    expected = f"a round trip ({transfer.rtt_ms:g} ms) between two packets"
    if len(close) <= STRAY:
        return Observed(expected=expected)
    first = close[0].s - transfer.up[0].s
    reason = f"{len(close)} packets left before an acknowledgement could have come, the first after {first:.3f} s"
    return Observed(reason, expected=expected)


@check("share 1", needs=["arrives", "one at a time"])
def stop_and_wait_share(played: Transfers) -> Observed:
    """it is as fast as stop-and-wait can be"""
    return judging.share(played, 1)


@check("loss", needs=["arrives"])
def loss(played: Transfers) -> Observed:
    """lost and repeated datagrams do no harm"""
    plans = {
        f"one in twenty lost each way, some twice, seed {seed}": TransferPlan(
            content(USUAL), impairments=Impairments(loss=0.05, twice=0.05, seed=seed)
        )
        for seed in (1, 2)
    }
    return all_arrive(played, plans, WHOLE)


@check("sizes", needs=["arrives", "loss"])
def every_size(played: Transfers) -> Observed:
    """files of every size arrive"""
    return judging.sizes(played, 1)


@check("ends", needs=["arrives"])
def both_end(played: Transfers) -> Observed:
    """both sides end well, whatever is lost at the beginning and at the end"""
    return judging.ends(played, 1)
