"""What is asked of an echo server."""

from __future__ import annotations

from linklab.programs.checks import CheckRow, Observed

from .scenes import Echoed, EchoScenes, said

_LONG = bytes(range(256)) * 400
_BACK = "what was sent, byte by byte"


def _observed(scene: Echoed, client: int, sent: bytes) -> Observed:
    """Say what a client got back of what it sent."""
    got = scene.answer(client)
    if not scene.listens:
        return Observed(scene.stopped_for or "nothing listens on its port", "bind the port of the command line", _BACK)
    reason = scene.stopped_for
    if not reason and got != sent:
        reason = "other bytes came back" if len(got) == len(sent) else f"{len(got)} of {len(sent)} bytes came back"
    return Observed(reason, expected=_BACK)


def _echoes(played: EchoScenes) -> Observed:
    return _observed(played.play((0.0, [said(b"hello\n"), ["receive", 2.0, 6]])), 0, b"hello\n")


def _all_of_it(played: EchoScenes) -> Observed:
    scene = played.play((0.0, [said(_LONG), ["receive", 5.0, len(_LONG)]]))
    return _observed(scene, 0, _LONG)


def _two(played: EchoScenes) -> Observed:
    first, second = [said(b"first"), ["sleep", 4.0]], [said(b"second"), ["receive", 2.0, 6]]
    return _observed(played.play((0.0, first), (1.0, second)), 1, b"second")


def _survives(played: EchoScenes) -> Observed:
    scene = played.play((0.0, [said(b"x"), ["reset"]]), (1.0, [said(b"next"), ["receive", 2.0, 4]]))
    return _observed(scene, 1, b"next")


TABLE = (
    CheckRow("echoes", "what a client sends comes back", _echoes, "send back what recv returns"),
    CheckRow("all", "100 kB come back whole", _all_of_it, "read until the client has closed", ("echoes",)),
    CheckRow("two", "a second client need not wait", _two, "a thread for each connection", ("echoes",)),
    CheckRow("survives", "a client that resets ends no server", _survives, "catch its OSError", ("echoes",)),
)
