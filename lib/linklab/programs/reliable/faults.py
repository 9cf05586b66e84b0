"""What is wrong with a transfer, by what the relay saw of it and how its programs ended. Pure."""

from __future__ import annotations

from typing import Any, Final

from linklab.programs.checks import Observed
from linklab.programs.reliable.transfers import PlayedTransfer
from linklab.programs.scenes import keep_to_limit, last_line, stopped_for

_PAUSE_S: Final = 10.0
"""Longer than any timeout that is measured on these paths, even one that was doubled in a silence of 8 s."""

_KNOWN_BYTES: Final = 16
"""Length of a match that is unique in the file."""


def wrong_with(transfer: PlayedTransfer, where: str = "") -> Observed:
    """Return what is wrong with a transfer; without a reason where every byte arrived once and both sides ended well.

    Everything that was seen stands in the reason, which begins with ``where``; the hint is for what is to be mended
    first.
    """
    reason, hint = _fault(transfer)
    return Observed(f"{where}: {reason}" if where and reason else reason, hint)


def _fault(transfer: PlayedTransfer) -> tuple[str, str]:
    if limit := stopped_for(transfer.record):
        return limit, keep_to_limit(transfer.record)
    if transfer.flooding:
        what = f"the {transfer.flooding} sent more than 20,000 datagrams"
        return what, "send again after a timeout alone, and wait longer each time"
    arrived = _difference(transfer.got, transfer.plan.content)
    endings = [_ending(program, transfer.plan.limit_s, well=not arrived) for program in transfer.programs]
    if not any([arrived, *endings]):
        return "", ""
    seen, hint = _seen(transfer)
    reason = "; ".join(filter(None, [arrived or "all bytes arrived", seen, *endings]))
    crashed = any(map(_crashed, transfer.programs))
    return reason, "correct this error first" if crashed else hint or _hint(transfer)


def _seen(transfer: PlayedTransfer) -> tuple[str, str]:
    """Return what the relay's notes show of a transfer that went wrong, and what to do; two empty texts if nothing."""
    up, unanswered = transfer.up, transfer.unanswered
    sender, receiver = transfer.programs
    if not up:
        what = "no datagram of the sender came to the HOST and PORT that it was given"
        return what, "by packets alone the receiver learns that there is a file, an empty one too"
    if not transfer.down:
        what = f"the sender sent {len(up)} datagrams, and the receiver answered none"
        return (
            what,
            "does the receiver bind the PORT that it is given, and answer to the address that recvfrom returned?",
        )
    if len(unanswered) > 1:
        what = f"the last {len(unanswered)} datagrams that reached the receiver got no answer"
        if receiver["ended_s"] is not None and receiver["ended_s"] < unanswered[0].s:
            return what, "the receiver must answer repeats for some seconds when it has all (as TCP does in TIME-WAIT)"
        return what, "answer every packet, the last one and repeats too: the answer before may be lost"
    if sender["status"] == 0 and not up[-1].passed:
        what = "the sender's last datagram was lost, and it ended with status 0"
        return what, "the sender ends when all is acknowledged"
    if sender["status"] == 0 and transfer.sent_bytes < len(transfer.plan.content):
        # nothing of the files that are sent can be compressed
        what = f"the sender sent {transfer.sent_bytes} bytes in all, fewer than the file has"
        return what, "read the file to its end, and cut all of it into packets"
    silent = transfer.silent
    if (
        silent
        and sender["ended_s"] is not None
        and sender["ended_s"] < silent[0].s + transfer.plan.impairments.silent_s
    ):
        what = f"the sender ended {sender['ended_s'] - silent[0].s:.1f} s after the silence began"
        return what, "do not give up in an outage of 8 s: give up after about 30 s without an answer"
    got_bytes, largest = len(transfer.got or b""), max(one.size for one in up)
    of_numbers = any(n * (largest - 64) <= got_bytes <= n * largest and got_bytes % n == 0 for n in (256, 65536))
    if of_numbers and got_bytes < len(transfer.plan.content):
        what = "the file ends where a number of one byte or two begins again"
        return what, "a number that was used before is no old packet for ever: use more bytes, or compare in a circle"
    if transfer.pause_s > _PAUSE_S:
        what = f"the sender sent nothing for {transfer.pause_s:.1f} s"
        return (
            what,
            "double the timeout for repeats alone: after the next answer compute it from round trips again (RFC 6298)",
        )
    return "", ""


def _difference(got: bytes | None, wanted: bytes) -> str:
    if got is None:
        return "the receiver wrote no file"
    if not got and wanted:
        return f"the receiver wrote none of the {len(wanted)} bytes"
    if (wrong_from := _wrong_from(got, wanted)) is not None:
        what = f"the receiver wrote {len(got)} bytes, the file has {len(wanted)}"
        return f"{what}, and byte {wrong_from} is the first wrong one"
    if len(got) < len(wanted):
        return f"the receiver wrote only the first {len(got)} of {len(wanted)} bytes"
    return (
        f"the receiver wrote the whole file, and {len(got) - len(wanted)} bytes after it"
        if len(got) > len(wanted)
        else ""
    )


def _wrong_from(got: bytes, wanted: bytes) -> int | None:
    """Return the first byte that is another one; None where one of the two is the beginning of the other."""
    return next((at for at, (one, two) in enumerate(zip(got, wanted, strict=False)) if one != two), None)


def _ending(program: dict[str, Any], limit_s: float, *, well: bool) -> str:
    """Say how a program ended; nothing where that was as it should be. ``well``: whether the file has arrived."""
    side, status, said = program["side"], program["status"], last_line(program)
    if program["stopped"]:
        return f"the {side} was still running after {limit_s:g} s"
    if status == 0:
        return "" if well else f"the {side} ended with status 0"
    return f"the {side} ended with status {status}{said and f' and said: {said}'}"


def _crashed(program: dict[str, Any]) -> bool:
    return bool(program["status"]) and "Traceback (most recent call last)" in "".join(
        text for _, text in program["err"]
    )


def _hint(transfer: PlayedTransfer) -> str:
    """Return what to do where the relay's notes alone show nothing."""
    got, wanted = transfer.got, transfer.plan.content
    sender, receiver = transfer.programs
    if got is None:
        return "receive PORT FILE writes what arrives to FILE"
    if got == wanted and sender["stopped"]:
        return "the sender is done when all is acknowledged: which loop or thread of it still waits?"
    if got == wanted and receiver["stopped"]:
        return "let the receiver end some seconds after the last packet that it heard: give its recvfrom a timeout"
    if got == wanted:
        side = "receiver" if receiver["status"] else "sender"
        return f"how does the {side} learn that the whole file has arrived? Then it must end with status 0"
    if transfer.untouched and not transfer.repeats:
        return "each packet was delivered once and in order: are both files opened as bytes, and is nothing decoded?"
    if (at := _wrong_from(got, wanted)) is not None:
        if len(got) > len(wanted) and got[at : at + _KNOWN_BYTES] in wanted[:at]:
            return "a repeat must not be written again: how does the receiver know it?"
        if len(got) < len(wanted) and got[at : at + _KNOWN_BYTES] in wanted[at:]:
            return "a packet is left out: write only the next missing packet, and acknowledge only what you keep"
        return "how far does a packet's number count before it is used again? Write packets by it, not as they arrive"
    if len(got) > len(wanted):
        return "a repeat must not be written again: how does the receiver know it?"
    return "which packet was never sent again, or taken for an old one? Who ended too early?"
