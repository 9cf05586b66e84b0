"""The step `timeouts`: how long a sender waits, what a loss costs, and when a side gives up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

from linklab.programs.checks import Observed, check
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable import judging
from linklab.programs.reliable.faults import wrong_with
from linklab.programs.reliable.judging import (
    FIRST_S,
    SILENT_FROM,
    SMALL,
    STRAY,
    TIMEOUT,
    USUAL,
    clean,
    content,
    cycle_of,
    data_bytes,
    silence,
    too_few,
)
from linklab.programs.reliable.path import FAR
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.scenes import last_line, stopped_for

_GIVE_UP_S: Final = 150.0
_EARLY_S: Final = 7.5
_MINUTE: Final = 40_000
"""At most 1200 bytes in each round trip of 1.5 s."""
_ALONE: Final = ("arrives", "one at a time")
"""What must pass before the times between packets tell of timeouts."""
_LATE_S: Final = 1.2
_PACKETS: Final = 30
_GROWS: Final = Impairments(late_from=11, late_s=_LATE_S)
_LEARNING: Final = 8
"""How often a timeout of a round trip, of 40 ms, expires before it has doubled to more than 1.2 s; and three more."""
_SETTLED: Final = 1.75
"""So many round trips the timeout may be where all were equal: RFC 6298's is one, and 1 ms."""
_DEVIATION: Final = (
    "equal round trips leave no deviation: each sample makes RTTVAR smaller, RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|"
)
_NEAR: Final = "it is SRTT + max(G, 4 * RTTVAR), all in seconds; you may set a lower limit, of 1 s at most"
_LEARN: Final = (
    "the round trip is longer than the timeout: the timeout must learn from it",
    "an acknowledgement of a packet that was sent twice says nothing of the round trip (Karn). Keep the doubled "
    "timeout until a packet that was sent once is acknowledged (RFC 6298, sections 3 and 5)",
)


@check("no repeats", needs=_ALONE, hint=TIMEOUT)
def no_repeats_alone(played: Transfers) -> Observed:
    """nothing is sent again where nothing is lost"""
    return judging.no_repeats(played, 1)


@check("measured", needs=_ALONE, hint=_NEAR)
def measured(played: Transfers) -> Observed:
    """the timeout is near the round trip"""
    transfer = silence(played)
    gaps, cycle_s = transfer.gaps_s(), cycle_of(clean(played, 1))
    most_s = max(4 * cycle_s, 1.1 * FIRST_S)
    expected = f"{cycle_s:.3f} to {most_s:.2f} s"
    if not transfer.silent:
        return too_few(transfer)
    found = f"{gaps[0]:.3f} s" if gaps else "nothing was sent again in 8 s"
    near = gaps and cycle_s <= gaps[0] * 1.02 <= most_s * 1.02
    reason = "" if near else f"after {SILENT_FROM - 1} round trips of {cycle_s:.3f} s the timeout is not near them"
    return Observed(reason, expected=expected, found=found)


@check("backs off", needs=_ALONE, hint="double the timeout whenever it expires")
def backs_off(played: Transfers) -> Observed:
    """the timeout doubles while nothing comes"""
    transfer = silence(played)
    gaps = transfer.gaps_s()
    shown = ", ".join(f"{gap:.2f}" for gap in gaps[:8]) + (" ..." if len(gaps) > 8 else "") + " s"
    expected = "each gap twice the one before (RFC 6298, rule 5.5)"
    if not transfer.silent:
        return too_few(transfer)
    if len(gaps) < 2:
        reason = f"it sent {len(transfer.silent)} packet{'s' * (len(transfer.silent) > 1)} in 8 s of silence"
        return Observed(reason, "send again after a timeout: about one round trip, 1 s at most", expected)
    if any(late < 1.5 * early for early, late in pairwise(gaps)):
        return Observed("a gap is less than 1.5 times the one before", expected=expected, found=shown)
    return replace(wrong_with(transfer, "after the silence"), expected=expected, found=shown)


@check("karn", needs=_ALONE, hint=_LEARN)
def karn(played: Transfers) -> Observed:
    """the timeout learns a long round trip

    One that is long from the start, and one that grows after ten packets.
    """
    # as many packets as take less than 30 s: who counts those from the start is told so elsewhere
    grown = TransferPlan(content(_PACKETS * data_bytes(clean(played, 1))), impairments=_GROWS)
    plans = {
        "a round trip of 1.5 s": (TransferPlan(content(USUAL // 4), path=FAR), 2 * STRAY),
        f"a round trip that grows by {_LATE_S:g} s": (grown, _LEARNING),
    }
    for name, (plan, most) in plans.items():
        transfer = played.play(name, plan)
        wrong = wrong_with(transfer, name)
        if wrong.reason:
            return wrong
        expected, found = f"{most} repeats at most, while it learns", f"{transfer.repeats} of {len(transfer.up)}"
        if transfer.repeats > most:
            return Observed(f"{name}: nothing was lost, and packets were sent again", "", expected, found)
    settled = _settled(_minute(played))
    return settled if settled.reason else Observed(expected=expected, found=found)


def _settled(transfer: PlayedTransfer) -> Observed:
    """Judge the timeout after more than twenty equal round trips, by when the first lost packet was sent again."""
    for early, late in pairwise(transfer.up):
        if not early.passed:
            wait_s, trip_s = late.s - early.s, cycle_of(transfer)
            if wait_s <= _SETTLED * trip_s:
                break
            reason = f"after equal round trips of {trip_s:.2f} s the timeout was {wait_s:.2f} s"
            return Observed(reason, _DEVIATION, f"{trip_s:.2f} to {_SETTLED * trip_s:.2f} s", f"{wait_s:.2f} s")
    return Observed()


@check("cost of loss", needs=_ALONE)
def loss_alone(played: Transfers) -> Observed:
    """a loss costs a timeout, and no more"""
    return judging.cost_of_loss(played, 1)


@check("gives up", needs=["arrives"])
def gives_up(played: Transfers) -> Observed:
    """a side gives up when it hears nothing, and only then"""
    transfer = played.play("nobody receives", TransferPlan(content(SMALL), nobody=True, limit_s=_GIVE_UP_S))
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


def _minute(played: Transfers) -> PlayedTransfer:
    """Play a transfer that is twice as long as a silence after which a side gives up, with losses in its second half.

    Who counts from the start ends at the first timeout after 30 s, and so where something is lost.
    """
    impairments = Impairments(lost={"up": [28, 32]})
    plan = TransferPlan(content(_MINUTE), path=FAR, impairments=impairments)
    return played.play("a transfer of a minute", plan)


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
