"""What is asked of an echo server."""

from __future__ import annotations

from linklab.programs.checks import Observed, check

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


@check("echoes", hint="send back what recv returns")
def echoes(played: EchoScenes) -> Observed:
    """what a client sends comes back"""
    return _observed(played.play((0.0, [said(b"hello\n"), ["receive", 2.0, 6]])), 0, b"hello\n")


@check("all", needs=["echoes"], hint="read until the client has closed")
def all_of_it(played: EchoScenes) -> Observed:
    """100 kB come back whole"""
    scene = played.play((0.0, [said(_LONG), ["receive", 5.0, len(_LONG)]]))
    return _observed(scene, 0, _LONG)


@check("two", needs=["echoes"], hint="a thread for each connection")
def two(played: EchoScenes) -> Observed:
    """a second client need not wait"""
    first, second = [said(b"first"), ["sleep", 4.0]], [said(b"second"), ["receive", 2.0, 6]]
    return _observed(played.play((0.0, first), (1.0, second)), 1, b"second")


@check("survives", needs=["echoes"], hint="catch its OSError")
def survives(played: EchoScenes) -> Observed:
    """a client that resets ends no server"""
    scene = played.play((0.0, [said(b"x"), ["reset"]]), (1.0, [said(b"next"), ["receive", 2.0, 4]]))
    return _observed(scene, 1, b"next")
