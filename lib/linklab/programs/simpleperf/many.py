"""The step `many`: a server that is started again, and clients that break off."""

from __future__ import annotations

import re
from typing import Final

from linklab.programs.checks import Observed, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import ACKNOWLEDGEMENT, PlayedScene
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.parallel import concurrent, outlives_clients
from linklab.programs.simpleperf.session import ABRUPT, ANSWER_S, SILENT, SimpleperfScenes
from linklab.programs.simpleperf.trouble import breach, crash, trouble
from linklab.programs.simpleperf.verdicts import in_limits, of_trouble

_IN_USE: Final = re.compile(r"address (?:is )?already in use|Errno 98|EADDRINUSE", re.I)
_IN_DATA: Final = ("in the middle of a piece of data", "at the end of a piece of data, with more right behind it")
_OF_GARBAGE: Final = re.compile(r"Decode|invalid literal for int|could not convert string|^struct\.error")


@check("restart", points=2, needs=["ends"])
def restart(session: SimpleperfScenes) -> Observed:
    """the server can be started again at once on the same port

    It is ended while a client is connected, so that its port waits (TIME-WAIT), and started anew.
    """
    expected = "it listens again, and serves a client"
    scene = in_limits(session.restart(), expected=expected)
    again = scene.record["restarted"]
    if not again["listening"]:
        in_use = [line for line in scene.server.said if _IN_USE.search(line)]
        said = in_use[-1] if in_use else scene.server.last_words()
        reason = f"started a second time on the same port, the server cannot listen, and said: {said}"
        # it listened on this port before
        is_other = bool(scene.server.traceback and not in_use)
        no_reuse = Mistake(
            "no SO_REUSEADDR", "before bind(): sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)"
        )
        return fails(mistakes.TRACEBACK if is_other else no_reuse, reason, expected, (said,))
    if not scene.connections or scene.main.acknowledged_s is None:
        if found := trouble(scene):
            return of_trouble(found, "it listens again; ", expected)
        return fails(mistakes.CRASH, f"it listens again, and a client of it said: {scene.client_said}", expected)
    return passes(expected)


def _outlived(scene: PlayedScene) -> bool:
    """Return whether the server ran on, and served an ordinary client afterwards, as the relay saw."""
    return not scene.stalled and scene.alive and any(one.acknowledged_s is not None for one in scene.connections)


def _abrupt_scenes(session: SimpleperfScenes) -> list[PlayedScene]:
    """Return a scene with all clients that misbehave; if the server did not outlive them, also one for each, up to
    the first that shows which it was.
    """
    # who serves one client at a time has been told so: a silent client would only say it again
    names = ABRUPT if not concurrent(session).reason else ABRUPT[:-1]
    played = [session.abrupt(names)]
    if not _outlived(played[0]):
        for name in names:
            played.append(session.abrupt([name]))
            if not _outlived(played[-1]):
                break
    return played


@check("abrupt", points=2, needs=["ends"])
def abrupt(session: SimpleperfScenes) -> Observed:
    """the server keeps serving after clients that break off, send nonsense or stay silent

    One leaves at once, one resets the connection, one ends without BYE, one sends random bytes and one stays silent;
    then comes an ordinary one.
    """
    outlives_clients(session)
    played = _abrupt_scenes(session)
    expected = "the server goes on, and serves the next client"
    if len(played) == 1:
        return passes(expected)
    culprit = played[-1] if not _outlived(played[-1]) else played[0]
    name = ABRUPT[len(played) - 2] if culprit is played[-1] else "several such clients"
    if found := breach(culprit):
        is_spin = culprit.stalled and "server" in culprit.by
        reason = f"after {name} {found.reason}"
        return fails(mistakes.SPINS if is_spin else found.mistake, reason, expected, found.quotes)
    if not culprit.alive:
        errors = culprit.server.errors
        reason = f"after {name} the server ended; it said: {culprit.server.traceback or culprit.server.last_words()}"
        dies = Mistake(
            "server dies with an abrupt client", "catch OSError around each client, and treat an empty read as its end"
        )
        return fails(dies, reason, expected, errors[-1].quotes if errors else ())
    blocked = Mistake(
        "a silent client blocks the server", "serve each client in a thread of its own, so that none waits for another"
    )
    stuck = Mistake(
        "the server is stuck when a client has gone",
        "treat recv() that returns b'' as the client's end, catch OSError around each client, and go back to accept()",
    )
    reason = f"after {name} the server runs on, and the next client was not served; it said: {culprit.client_said}"
    return fails(blocked if name == SILENT else stuck, reason, expected)


@check("quiet", needs=["abrupt"])
def quiet(session: SimpleperfScenes) -> Observed:
    """the server prints no traceback when such a client connects

    Both its outputs count. A traceback because random bytes are no text is a hint.
    """
    errors = [error for scene in _abrupt_scenes(session) if scene.has_server for error in scene.server.errors]
    expected = "no traceback"
    # random bytes are no text and no number: nothing that a client of this program would send
    hurt = [error for error in errors if not _OF_GARBAGE.search(error.line)]
    if hurt:
        reason = f"a client misbehaved, and the server printed: {hurt[0].line}"
        return fails(mistakes.TRACEBACK, reason, expected, hurt[0].quotes)
    return passes(expected, errors[0].line if errors else "", mistakes.TRACEBACK if errors else None)


@check("bye-in-data", needs=["glued"])
def bye_in_data(session: SimpleperfScenes) -> Observed:
    """BYE in a client's data does not end the transfer

    A peer's data has BYE in the middle of a piece, then at the end of a piece right before another one.
    """
    scene = in_limits(session.bye_in_data())
    expected = f"nothing before the last BYE, and then {ACKNOWLEDGEMENT.decode()}"
    if found := crash(scene.server):
        return of_trouble(found, "BYE came in the data; ", expected)
    heard = [step for step in scene.peers[0] if step["step"] == "receive"]
    early = [bool(step["data"] or step["end"] or "error" in step) for step in heard[: len(_IN_DATA)]]
    if len(heard) <= len(_IN_DATA) and not any(early):  # it broke the connection off when the peer sent on
        early[-1] = True
    for where, is_early in zip(_IN_DATA, early, strict=False):
        if is_early:
            ended = Mistake(
                "BYE in the data ends the transfer",
                "a client waits after the BYE that ends the transfer, but not after data: where BYE stands last, wait "
                "a few ms; if more comes, it was data",
            )
            return fails(ended, f"BYE came {where}, and the server ended the transfer", expected)
    if scene.peer_got != ACKNOWLEDGEMENT:
        reason = f"BYE came in the data and then at its end, and no acknowledgement within {ANSWER_S:g} s"
        return fails(mistakes.NO_ACKNOWLEDGEMENT, reason, expected)
    return passes(expected)
