"""What is wrong with a transfer, by what the relay saw of it and how its programs ended. Pure."""

from __future__ import annotations

from typing import Any, Final

from linklab.programs.checks import Observed
from linklab.programs.reliable.transfers import PlayedTransfer
from linklab.programs.scenes import keep_to_limit, last_line, stopped_for

_PAUSE_S: Final = 10.0
"""No timeout that is measured on these paths becomes so long, doubled in a silence of 8 s included."""


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
    return reason, "mend this error first" if crashed else hint or _hint(transfer)


def _seen(transfer: PlayedTransfer) -> tuple[str, str]:
    """Return what the relay's notes show of a transfer that went wrong, and what to do; two empty texts if nothing."""
    up, unanswered = transfer.up, transfer.unanswered
    sender, receiver = transfer.programs
    if not up:
        what = "no datagram of the sender came to the HOST and PORT that it was given"
        return what, "by packets alone the receiver learns that there is a file, an empty one too"
    if not transfer.down:
        what = f"the receiver answered none of {len(up)} datagrams"
        return what, "the receiver listens on the PORT that it is given, and answers to where each packet came from"
    if len(unanswered) > 1:
        what = f"the receiver answered none of the last {len(unanswered)} datagrams that came to it"
        if receiver["ended_s"] is not None and receiver["ended_s"] < unanswered[0].s:
            return what, "the receiver must answer repeats for some seconds when it has all (as TCP does in TIME-WAIT)"
        return what, "answer every packet, a repeat too: the answer to the first one may be lost"
    if sender["status"] == 0 and not up[-1].passed:
        what = "the sender's last datagram was lost, and it ended with status 0"
        return what, "the sender ends when all is acknowledged"
    if sender["status"] == 0 and transfer.sent_bytes < len(transfer.plan.content):
        # nothing of the files that are sent can be compressed
        what = f"all that the sender sent has room for {transfer.sent_bytes} bytes"
        return what, "read the file to its end, and cut all of it into packets"
    silent = transfer.silent
    if (
        silent
        and sender["ended_s"] is not None
        and sender["ended_s"] < silent[0].s + transfer.plan.impairments.silent_s
    ):
        what = f"the sender ended {sender['ended_s'] - silent[0].s:.1f} s after the silence began"
        return what, "an outage of 8 s is no end: 30 s of silence are"
    if transfer.pause_s > _PAUSE_S:
        what = f"the sender sent nothing for {transfer.pause_s:.1f} s"
        return what, "a timeout doubles while nothing comes, and is measured anew after that (RFC 6298)"
    return "", ""


def _difference(got: bytes | None, wanted: bytes) -> str:
    if got is None:
        return "the receiver wrote no file"
    if not got and wanted:
        return f"none of the {len(wanted)} bytes arrived"
    if (wrong_from := _wrong_from(got, wanted)) is not None:
        return f"{len(got)} of {len(wanted)} bytes arrived, and from byte {wrong_from} on they are others"
    if len(got) < len(wanted):
        return f"only the first {len(got)} of {len(wanted)} bytes arrived"
    return f"{len(got) - len(wanted)} bytes too many stand behind the file" if len(got) > len(wanted) else ""


def _wrong_from(got: bytes, wanted: bytes) -> int | None:
    """Return the first byte that is another one; None where one of the two is the beginning of the other."""
    return next((at for at, (one, two) in enumerate(zip(got, wanted, strict=False)) if one != two), None)


def _ending(program: dict[str, Any], limit_s: float, *, well: bool) -> str:
    """Say how a program ended; nothing where that was as it should be. ``well``: whether the file has arrived."""
    side, status, said = program["side"], program["status"], last_line(program)
    if program["stopped"]:
        return f"the {side} did not come to an end within {limit_s:g} s"
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
        return "the receiver is done some seconds after the last packet that it heard"
    if got == wanted:
        side = "receiver" if receiver["status"] else "sender"
        return f"status 0 says that the whole file has arrived: how does the {side} know it?"
    if transfer.untouched and not transfer.repeats:
        return "each packet passed once and in order: what becomes of bytes when they are read, sent and written?"
    if _wrong_from(got, wanted) is not None:
        return "write packets by their number, not as they arrive, and let no old one have the number of a new one"
    if len(got) > len(wanted):
        return "a repeat must not be written again: how does the receiver know it?"
    return "which packet was never sent again, or taken for an old one? Who ended too early?"
