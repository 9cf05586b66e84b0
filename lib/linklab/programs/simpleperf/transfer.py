"""The step `transfer`: sockets, messages and rows of one transfer."""

from __future__ import annotations

import re
from typing import Final

from linklab.measure.simpleperf_rows import label_says_bytes
from linklab.programs.checks import Observed, check
from linklab.programs.engine.scene import TAKES_DATAGRAMS
from linklab.programs.scenes import NotTried
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf import session as scenes
from linklab.programs.simpleperf.evidence import ACKNOWLEDGEMENT, BYE, PlayedScene, ProgramRun
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import amount_fits, amount_shown, total
from linklab.programs.simpleperf.session import SimpleperfScenes
from linklab.programs.simpleperf.trouble import PACKAGE, breach, crash, error_of
from linklab.programs.simpleperf.verdicts import no_row, of_trouble, wrong_amount

HEADING: Final = "ID   Interval   Transfer   Bandwidth"
ROW: Final = "10.0.0.2:33540   0.0 - 2.0   2 MB   8.00 Mbps"
_NO_LISTENING: Final = Mistake(
    "the server does not listen", "bind the socket to the address of -b and the port of -p, then call listen()"
)


@check("listens")
def listens(session: SimpleperfScenes) -> Observed:
    """the server listens on the port of -p

    The kernel is asked which sockets listen.
    """
    scene = session.transfer()
    found = breach(scene)
    if found is not None and not scene.listening:
        return of_trouble(found)
    port = scene.server.word_after("-p")
    expected = f"it listens on port {port}"
    if scene.listening:
        return passes(expected)
    crashed = crash(scene.server)
    if crashed is not None and crashed.mistake is PACKAGE:
        raise NotTried(f"{crashed.mistake.title}: {crashed.reason}", crashed.mistake.hint)
    if crashed is not None:
        return of_trouble(crashed, expected=expected)
    if scene.server.ended:
        reason = f"the server ended at once; it said: {scene.server.last_words()}"
        return fails(_NO_LISTENING, reason, expected)
    if scene.server.stopped == "it listens elsewhere":
        return fails(mistakes.PORT_IGNORED, f"with -p {port} the server listens on another port", expected)
    if scene.server.stopped == TAKES_DATAGRAMS:
        udp = Mistake("this is UDP", "make the sockets of both sides with socket.SOCK_STREAM: that is TCP")
        return fails(udp, "the server takes datagrams, and listens for no connection", expected)
    return fails(_NO_LISTENING, "nothing listens 10 s after the start", expected)


@check("binds", needs=["listens"])
def binds(session: SimpleperfScenes) -> Observed:
    """the server listens only on the address of -b

    The kernel is asked for the addresses: 0.0.0.0 is all addresses, and too many.
    """
    scene = session.transfer()
    asked = scene.server.word_after("-b")
    found_at = ", ".join(address for address, _ in scene.listening)
    if all(address == asked for address, _ in scene.listening):
        return passes(asked, found_at)
    ignored = Mistake(
        "-b is ignored", "bind to (args.bind, args.port): an empty address, or 0.0.0.0, means all interfaces"
    )
    return fails(ignored, f"with -b {asked} it listens on {found_at}", asked)


@check("connects", needs=["listens"])
def connects(session: SimpleperfScenes) -> Observed:
    """the client connects to the address of -I and the port of -p

    A relay waits for it, on a host of its own.
    """
    scene = session.transfer()
    found = breach(scene)
    if found and not scene.connections:
        return of_trouble(found)
    expected = f"a connection to {scene.client.word_after('-I')}, port {scene.client.word_after('-p')}"
    if scene.connections:
        return passes(expected)
    said = (scene.client.last_words(),)
    if scene.refused:
        reason = "the client reached the server's host, and nothing listened there any more"
        return fails(mistakes.REFUSES, reason, expected, said)
    # the same with the default port everywhere tells which of the two arguments is not used
    if session.default_port().tried:
        return fails(mistakes.PORT_IGNORED, "with the default port, 8088, it connects", expected, said)
    crashed = crash(scene.client)
    went_elsewhere = re.search("refused|unreachable", scene.client.text, re.I)
    if crashed is not None and not went_elsewhere:
        return of_trouble(crashed, expected=expected)
    ignored = Mistake("-I is ignored", "connect to (args.serverip, args.port), not to a fixed address")
    mistake = ignored if went_elsewhere else mistakes.NO_CONNECTION
    return fails(mistake, f"no connection came to that address; the client said: {said[0]}", expected)


@check("ends", needs=["connects"])
def ends(session: SimpleperfScenes) -> Observed:
    """the server acknowledges BYE, then the client ends

    The relay sees data, BYE behind it, and ACK: BYE as the answer; the client must end by itself.
    """
    scene = session.transfer()
    expected = "data, BYE, then ACK: BYE as the answer, and the client's end"
    if scene.connections and (late := _sends_on(scene, expected)):
        return late
    if found := breach(scene):
        return of_trouble(found, expected=expected)
    one, client = scene.main, scene.client
    errors = [found for found in map(error_of, map(crash, (scene.server, client))) if found]
    if not one.carried:
        if errors:
            return of_trouble(errors[0], expected=expected)
        reason = f"it connected and sent no data; the client said: {client.last_words()}"
        return fails(mistakes.NO_DATA, reason, expected)
    if one.acknowledged_s is None or not (client.ended or scene.waited()):
        return of_trouble(errors[0], expected=expected) if errors else _no_answer(session, scene, expected)
    if not one.says_bye:
        return _no_bye(scene, expected)
    if one.answer != ACKNOWLEDGEMENT:
        other = Mistake("another acknowledgement", "keep the starter's messages: the answer to BYE is ACK: BYE")
        return fails(other, f"the server answered {one.answer[:40]!r} to BYE", expected)
    if not client.ended:
        return fails(mistakes.NO_END, "the answer came, and the client ran on until it was stopped", expected)
    return passes(expected, f"{one.carried} bytes, {len(one.answer)} bytes of answer")


def _sends_on(scene: PlayedScene, expected: str) -> Observed | None:
    """Return the verdict on a client that still sends, without an answer, when its time has long been over."""
    one = scene.main
    lasted_s = one.sent_s - one.began_s
    if one.acknowledged_s is not None or scene.client.ended or lasted_s < 4 * scenes.TRANSFER_S:
        return None
    reason = f"with -t {scenes.TRANSFER_S} it still sent after {lasted_s:.0f} s, and had to be stopped"
    return fails(mistakes.TIME_IGNORED, reason, expected)


def _no_bye(scene: PlayedScene, expected: str) -> Observed:
    none = Mistake("the client sends no BYE", "keep the starter's messages: send BYE behind the data, and wait")
    return fails(none, f"the client's last bytes are {scene.main.last_bytes[-12:]!r}", expected)


def _no_answer(session: SimpleperfScenes, scene: PlayedScene, expected: str) -> Observed:
    """Find which end of a transfer the server answers: a BYE apart from the data, or the end of the stream."""
    if not scene.main.says_bye:
        return _no_bye(scene, expected)
    if session.end_apart().peer_got:
        reason = "the server answers BYE when it comes alone, and not when it comes in one piece with the last data"
        return fails(mistakes.END_GLUED, reason, expected)
    if session.end_of_stream().peer_got:
        ignored = Mistake(
            "the server does not look for BYE",
            "leave the loop when BYE has come: the client keeps the connection open until it is answered",
        )
        return fails(ignored, "the server answers when the stream ends, not to BYE", expected)
    return fails(mistakes.NO_ACKNOWLEDGEMENT, "the server says nothing to BYE", expected)


@check("leaves-well", needs=["ends"])
def leaves_well(session: SimpleperfScenes) -> Observed:
    """the client waits for the acknowledgement, and exits with status 0; then the server closes the connection

    The relay holds the answer back for 0.3 s. Neither side may print a traceback.
    """
    scene = session.transfer()
    expected = "it waits for the answer, and ends with status 0; the server closes the connection"
    client = crash(scene.client)
    if client is not None and error_of(client) is None:
        not_zero = Mistake("exit status not 0 on success", "end with status 0 when everything went well")
        return fails(not_zero, client.reason, expected, client.quotes)
    if client is not None:
        return of_trouble(client, expected=expected)
    if not scene.waited():
        early_s = (scene.main.acknowledged_s or 0.0) - float(scene.client.record["ended_s"])
        reason = f"held back for {scenes.ANSWER_DELAY_S:g} s, the answer came {early_s:.2f} s after the client's end"
        return fails(mistakes.NO_WAIT, reason, expected)
    server = crash(scene.server)
    if server is not None:
        return of_trouble(server, expected=expected)
    if not scene.main.server_closes:
        left_open = Mistake(
            "the server leaves the connection open",
            "close it when ACK: BYE has been sent: a client may wait for that, and open sockets run out",
        )
        return fails(left_open, "the client had ended, and the server did not close the connection", expected)
    return passes(expected)


@check("client-row", needs=["ends"])
def client_row(session: SimpleperfScenes) -> Observed:
    """the client prints a row below a heading

    The heading is the starter's. Spacing, bars and decimals are free.
    """
    return _row(session.transfer().client)


@check("server-row", needs=["ends"])
def server_row(session: SimpleperfScenes) -> Observed:
    """the server prints a row below a heading"""
    return _row(session.transfer().server)


def _row(program: ProgramRun) -> Observed:
    expected = f"{HEADING} / {ROW}"
    if not program.rows:
        return no_row(program, expected)
    as_bytes = Mistake("MBps as the label of Mbit/s", "MBps means megabytes per second to most readers: write Mbps")
    last = program.rows[-1]
    return passes(expected, last.line, as_bytes if label_says_bytes(last.rate) else None)


@check("bytes", points=2, needs=["ends", "client-row", "server-row"])
def both_bytes(session: SimpleperfScenes) -> Observed:
    """client and server report the number of bytes that were transferred

    Within the digits printed and 0.5 % of what the relay counted: the step clock is exact.
    """
    scene = session.transfer()
    true = scene.main.carried
    expected = f"both {true / 1e6:.2f} MB, as many as went over the network"
    rows = {side: total(program.rows) for side, program in scene.sides}
    for side, row in rows.items():
        if not amount_fits(row, true, 0.005 * true):
            reason = f"the {side} printed {amount_shown(row)}, and {true / 1e6:.2f} MB were sent"
            return fails(wrong_amount(session, row, true, side), reason, expected, (row.line,))
    return passes(expected, ", ".join(f"{side} {amount_shown(row)}" for side, row in rows.items()))


@check("glued", points=2, needs=["ends"])
def glued(session: SimpleperfScenes) -> Observed:
    """the server recognises BYE that arrives together with data

    A peer sends both in one write.
    """
    return _acknowledged(session.end_glued(), mistakes.END_GLUED, "in one write with data")


@check("pieces", points=2, needs=["glued"])
def pieces(session: SimpleperfScenes) -> Observed:
    """the server recognises BYE that arrives in several parts

    A peer sends it byte by byte.
    """
    mistake = Mistake(
        "BYE in pieces is not found", "TCP is a stream: keep the end of the last read, for BYE may come as B and YE"
    )
    return _acknowledged(session.end_in_pieces(), mistake, "byte by byte")


def _acknowledged(scene: PlayedScene, mistake: Mistake, how: str) -> Observed:
    expected = f"the acknowledgement {ACKNOWLEDGEMENT.decode()}"
    if scene.peer_got == ACKNOWLEDGEMENT:
        return passes(expected)
    got = repr(scene.peer_got)[1:] if scene.peer_got else "no acknowledgement"
    reason = f"{BYE.decode()} came {how}, and {got} within {scenes.ANSWER_S:g} s"
    found = breach(scene) or (crash(scene.server) if scene.has_server else None)
    if found is not None:
        return of_trouble(found, f"{reason}; ", expected)
    return fails(mistake, reason, expected)
