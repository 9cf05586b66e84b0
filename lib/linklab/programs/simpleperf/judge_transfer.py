"""Step transfer: does anything get from the program's client to its server, and do both say so?"""

from __future__ import annotations

from collections.abc import Iterator

from linklab.programs.simpleperf import figures, trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.evidence import Printed, Take
from linklab.programs.simpleperf.figures import amount_shown
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown, unread

KEYS = keys_of("transfer")
SECONDS = 2
ANSWER_DELAY_S = 0.3
"""So long the relay holds the answer back: who does not wait for it is gone by then."""
EXAMPLE = "10.0.0.2:33540   0.0 - 2.0   2 MB   8.00 Mbps"


def first_take(session: Session) -> Take:
    """Play the transfer from which everything else is learnt: -t 2, nothing else."""
    relay = session.paced(answer_delay_s=ANSWER_DELAY_S)
    take = session.pair("transfer", [(0.0, ["-t", str(SECONDS)])], relay=relay)
    session.dialect.learn("-t", take)
    return take


def carried(take: Take) -> bool:
    """Return True if data reached the server and the client came to an end: what other checks build on."""
    return (
        bool(take.listening and take.clients and take.connections)
        and take.client.ended
        and not take.stalled
        and take.main.carried > 0
    )


def needs(session: Session) -> tuple[str, str] | None:
    """Return why nothing further can be tried, and the key of the check that says more; None if all is well."""
    take = first_take(session)
    found = trouble.breach(take)
    if found is not None:
        return f"needs a program that keeps to its limits: {found.reason}", "ends" if take.listening else "listens"
    if not take.listening:
        return "needs a server that listens", "listens"
    if not take.connections:
        return "needs a client that reaches the server", "connects"
    if not carried(take):
        return "needs a transfer that comes to its end", "ends"
    if take.main.acknowledged_s is None:
        return "needs a transfer that is acknowledged", "ends"
    return None


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    take = first_take(session)
    broken = trouble.breach(take)
    if broken is not None:
        culprit = "ends" if take.listening else "listens"
        yield failed(culprit, broken.mistake, broken.reason, quotes=broken.quotes)
        others = [key for key in KEYS if key != culprit]
        yield from all_unknown(others, "needs a program that keeps to its limits", needs=culprit)
        return
    yield _listens(take)
    if not take.listening:
        yield from all_unknown(KEYS[1:], "needs a server that listens", needs="listens")
        return
    yield _connects(session, take)
    yield _ends(session, take)
    done = carried(take) and take.main.acknowledged_s is not None
    yield _row("client-row", "client", take.client, done)
    yield _row("server-row", "server", take.server, done)
    yield _bytes(take)


def _listens(take: Take) -> ConformanceCheck:
    words = take.server.record["words"]
    asked, port = words[words.index("-b") + 1], int(words[words.index("-p") + 1])
    expected = f"{asked}, port {port}"
    if not take.listening:
        found = trouble.crash(take.server)
        if found is not None and found.mistake in trouble.ELSEWHERE:
            return unknown("listens", f"{found.mistake.title}: {found.reason}", found.mistake.hint)
        if found is not None:
            return failed("listens", found.mistake, found.reason, expected, "nothing listens", found.quotes)
        if take.server.ended:
            reason = f"the server ended at once; it said: {take.server.last_words()}"
            return failed("listens", Mistake.NO_LISTENING, reason, expected, "nothing listens")
        if take.server.stopped == "it listens elsewhere":
            reason = f"with -p {port} the server listens on another port"
            return failed("listens", Mistake.PORT_IGNORED, reason, expected, "another port")
        reason = "nothing listens 10 s after the start"
        return failed("listens", Mistake.NO_LISTENING, reason, expected, "nothing listens")
    found_at = ", ".join(f"{address}, port {number}" for address, number in take.listening)
    if any(address != asked for address, _ in take.listening):
        reason = f"with -b {asked} it listens on {found_at}"
        return failed("listens", Mistake.BIND_IGNORED, reason, expected, found_at)
    return passed("listens", expected, found_at)


def _connects(session: Session, take: Take) -> ConformanceCheck:
    words = take.client.record["words"]
    expected = f"a connection to {words[words.index('-I') + 1]}, port {words[words.index('-p') + 1]}"
    if take.connections:
        return passed("connects", expected)
    said = [take.client.last_words()]
    if take.refused:
        reason = "the client reached the server's host, and nothing listened there any more"
        return failed("connects", Mistake.REFUSES, reason, expected, "refused", said)
    crashed = trouble.crash(take.client)
    # The same with the default port everywhere tells which of the two arguments is not used.
    again = session.pair("default port", [(0.0, ["-t", "1"])], relay=session.paced(), port=7088)
    if again.tried:
        reason = "with the default port, 8088, it connects"
        return failed("connects", Mistake.PORT_IGNORED, reason, expected, "none", said)
    if crashed is not None and "refused" not in take.client.text.lower():
        return failed("connects", crashed.mistake, crashed.reason, expected, "none", crashed.quotes)
    elsewhere = "refused" in take.client.text.lower() or "unreachable" in take.client.text.lower()
    mistakes = (
        (Mistake.ADDRESS_IGNORED, Mistake.NO_CONNECTION)
        if elsewhere
        else (Mistake.NO_CONNECTION, Mistake.ADDRESS_IGNORED)
    )
    reason = f"no connection came; the client said: {said[0]}"
    return failed("connects", mistakes, reason, expected, "none", said)


def _ends(session: Session, take: Take) -> ConformanceCheck:
    expected = "data, an answer to the end message, and status 0"
    if not take.connections:
        return unknown("ends", "needs a connection", needs="connects")
    one, client, server = take.main, take.client, take.server
    seen = f"{one.carried} bytes, {len(one.answer)} bytes of answer, " + (
        f"status {client.status}" if client.ended else "the client had to be stopped"
    )
    crashes = [found for found in (trouble.crash(server), trouble.crash(client)) if found is not None]
    if not one.carried:
        if crashes:
            return failed("ends", crashes[0].mistake, crashes[0].reason, expected, seen, crashes[0].quotes)
        reason = f"it connected and sent no data; the client said: {client.last_words()}"
        return failed("ends", (Mistake.NO_DATA, Mistake.CRASH), reason, expected, seen)
    if one.acknowledged_s is None or not (client.ended or take.waited()):
        mistakes, reason = _why_no_answer(session, take)
        if crashes and crashes[0].mistake is not Mistake.CRASH:
            return failed("ends", (crashes[0].mistake, *mistakes), crashes[0].reason, expected, seen, crashes[0].quotes)
        return failed("ends", mistakes, reason, expected, seen)
    if not client.ended:
        return failed("ends", Mistake.NO_END, "the answer came, and the client ran on", expected, seen)
    alone = trouble.crash(client)
    if alone is not None:
        mistakes = (Mistake.STATUS_NOT_ZERO, alone.mistake) if alone.mistake is Mistake.CRASH else (alone.mistake,)
        also = () if take.waited() else (Mistake.NO_WAIT,)
        return failed("ends", (*mistakes, *also), alone.reason, expected, seen, alone.quotes)
    if not take.waited():
        early_s = one.acknowledged_s - float(client.record["ended_s"])
        reason = f"held back for {ANSWER_DELAY_S:g} s, the answer came {early_s:.2f} s after the client had ended"
        return failed("ends", (Mistake.NO_WAIT, *(found.mistake for found in crashes)), reason, expected, seen)
    if crashes:
        return failed("ends", crashes[0].mistake, crashes[0].reason, expected, seen, crashes[0].quotes)
    return passed("ends", expected, seen)


def _why_no_answer(session: Session, take: Take) -> tuple[tuple[Mistake, ...], str]:
    """Try which end of a transfer the server answers: apart from the data, or that of the stream."""
    one = take.main
    silent = Mistake.NO_ACKNOWLEDGEMENT if one.stream.end else Mistake.NO_END_MESSAGE
    data = one.stream.again(3000)
    hello = session.hello(one.stream.start, one.greeting)
    end = one.stream.end
    if end:
        peer = session.replay(0.0, [*hello, ["send", data, 1], ["sleep", 0.5], ["send", end, 1], ["receive", 5.0, 1]])
        apart = session.pair("an end message apart", [], others=[peer])
        if _answered(apart):
            reason = (
                "an end message that comes apart from the data is answered, the client's own, right behind it, is not"
            )
            return (Mistake.END_GLUED,), reason
    peer = session.replay(0.0, [*hello, ["send", data + end, 1], ["shutdown"], ["receive", 5.0, 1]])
    if _answered(session.pair("an end of the stream", [], others=[peer])):
        what = f"not to the end message {end!r}" if end else "and the client, which waits for the answer, never ends it"
        reason = f"the server answers when the stream ends, {what}"
        return (Mistake.END_IGNORED if end else Mistake.NO_END_MESSAGE, Mistake.NO_ACKNOWLEDGEMENT), reason
    last = "the last byte" if silent is Mistake.NO_END_MESSAGE else f"the end message {end!r}" if end else "the data"
    return (silent, Mistake.NO_ACKNOWLEDGEMENT), f"the server says nothing to {last}"


def _answered(take: Take) -> bool:
    return bool(take.peers and take.peers[0] and take.peers[0][-1].get("data"))


def _row(key: str, side: str, program: Printed, done: bool) -> ConformanceCheck:
    if not program.rows and not done:
        return unknown(key, "needs a transfer that comes to its end", needs="ends")
    expected = f"a row such as {EXAMPLE}"
    if program.rows:
        advice = Mistake.BYTES_LABEL if figures.label_says_bytes(program.rows[-1].rate) else None
        return passed(key, expected, program.rows[-1].line.strip(), advice)
    if program.reading.unread:
        return unread(key, program)
    reason = f"no line of the {side} has an interval, an amount and a rate; the last one: {program.last_words()}"
    return failed(key, Mistake.NO_ROW, reason, expected, program.last_words())


def _bytes(take: Take) -> ConformanceCheck:
    if not carried(take):
        return unknown("bytes", "needs a transfer that comes to its end", needs="ends")
    for side, program in (("client", take.client), ("server", take.server)):
        if not program.rows:
            return unknown("bytes", "needs a row of each side", needs=f"{side}-row")
    true = take.main.carried
    expected = f"{true / 1e6:.2f} MB, as the relay counted"
    rows = {"client": figures.total(take.client.rows), "server": figures.total(take.server.rows)}
    found = ", ".join(f"{side} {amount_shown(row)}" for side, row in rows.items())
    for side, row in rows.items():
        if not figures.amount_fits(row, true, "MB", slack_bytes=0.005 * true):
            mistakes = figures.amount_mistakes(row, true, side, "MB")
            return failed("bytes", mistakes, f"the {side} says {amount_shown(row)}", expected, found, [row.line])
    return passed("bytes", expected, found)
