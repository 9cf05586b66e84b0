"""Step transfer: does anything get from the program's client to its server, and do both say so?"""

from __future__ import annotations

from collections.abc import Iterator

from linklab.grade.simpleperf import figures, trouble
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Printed, Take
from linklab.grade.simpleperf.verdict import failed, passed, unknown
from linklab.measure.simpleperf_rows import Row

KEYS = ("listens", "connects", "ends", "client-row", "server-row", "bytes")
SECONDS = 2
EXAMPLE = "10.0.0.2:33540   0.0 - 2.0   2 MB   8.00 Mbps"


def first_take(session: Session) -> Take:
    """The transfer from which everything else is learnt: -t 2, nothing else."""
    take = session.pair("transfer", [(0.0, ["-t", str(SECONDS)])], relay=session.paced())
    if works(take):
        session.dialect.learn_talk(take.passages[0])
        session.dialect.learn_rows(
            take.client.rows[-1] if take.client.rows else None, take.server.rows[-1] if take.server.rows else None
        )
    return take


def works(take: Take) -> bool:
    """Whether something was carried and answered, and the client came to an end: what other checks build on."""
    return (
        bool(take.listening and take.clients and take.passages)
        and take.client.ended
        and not take.stalled
        and take.passages[0].up["bytes"] > 0
        and take.passages[0].acknowledged
    )


def needs(session: Session) -> str:
    """Why nothing further can be tried, or ""."""
    take = first_take(session)
    if works(take) and trouble.breach(take) is None:
        return ""
    return "needs a transfer that works first: see the step transfer"


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    take = first_take(session)
    broken = trouble.breach(take)
    if broken is not None:
        mistake, reason = broken
        yield failed("listens" if not take.listening else "ends", mistake, reason)
        for key in KEYS:
            if key != ("listens" if not take.listening else "ends"):
                yield unknown(key, f"needs a program that keeps to its limits: {mistake.title}")
        return
    yield _listens(take)
    if not take.listening:
        for key in KEYS[1:]:
            yield unknown(key, "needs a server that listens")
        return
    yield _connects(session, take)
    yield _ends(session, take)
    yield _row("client-row", "client", take.client, works(take))
    yield _row("server-row", "server", take.server, works(take))
    yield _bytes(session, take)


def _listens(take: Take) -> ConformanceCheck:
    words = take.server.record["words"]
    asked, port = words[words.index("-b") + 1], int(words[words.index("-p") + 1])
    expected = f"{asked}, port {port}"
    if not take.listening:
        found = trouble.crash(take.server)
        if found is not None:
            return failed("listens", found[0], found[1], expected, "nothing listens")
        if take.server.ended:
            return failed("listens", Mistake.NO_LISTENING, "the server ended at once", expected, "nothing listens")
        if take.server.stopped == "it listens elsewhere":
            return failed(
                "listens", Mistake.PORT_IGNORED, "the server listens on another port", expected, "another port"
            )
        return failed(
            "listens", Mistake.NO_LISTENING, "nothing listens 10 s after the start", expected, "nothing listens"
        )
    found_at = ", ".join(f"{address}, port {number}" for address, number in take.listening)
    if any(address != asked for address, _ in take.listening):
        return failed("listens", Mistake.BIND_IGNORED, f"it listens on {found_at}", expected, found_at)
    return passed("listens", expected, found_at)


def _connects(session: Session, take: Take) -> ConformanceCheck:
    words = take.client.record["words"]
    expected = f"a connection to {words[words.index('-I') + 1]}, port {words[words.index('-p') + 1]}"
    if take.passages:
        return passed("connects", expected)
    crashed = trouble.crash(take.client)
    # The same with the default port everywhere tells which of the two arguments is not used.
    again = session.pair("default port", [(0.0, ["-t", "1"])], relay=session.paced(), port=7088)
    if again.passages:
        return failed("connects", Mistake.PORT_IGNORED, "with the default port, 8088, it connects", expected, "none")
    if crashed is not None and crashed[0] is Mistake.TRACEBACK and "Refused" not in crashed[1]:
        return failed("connects", crashed[0], crashed[1], expected, "none")
    said = f"the client said: {take.client.last_words()}"
    refused = "refused" in take.client.text.lower() or (crashed is not None and take.client.status != 2)
    return failed("connects", Mistake.ADDRESS_IGNORED if refused else Mistake.NO_CONNECTION, said, expected, "none")


def _ends(session: Session, take: Take) -> ConformanceCheck:
    expected = "data, an answer to the end message, and status 0"
    if not take.passages:
        return unknown("ends", "needs a connection")
    passage, client = take.passages[0], take.client
    seen = f"{passage.up['bytes']} bytes, {passage.down['bytes']} bytes of answer, status {client.status}"
    if not client.ended:
        if not passage.down["bytes"]:
            return failed("ends", _why_no_answer(session, take), "no acknowledgement comes", expected, seen)
        return failed("ends", Mistake.NO_END, "the client had to be stopped", expected, seen)
    if client.traceback:
        return failed("ends", Mistake.TRACEBACK, f"the client: {client.traceback}", expected, seen)
    if not passage.acknowledged:
        if take.server.traceback:
            return failed("ends", Mistake.TRACEBACK, f"the server: {take.server.traceback}", expected, seen)
        return failed(
            "ends", _why_no_answer(session, take), "the server says nothing after the last byte", expected, seen
        )
    if client.status != 0:
        reason = f"the client ended with status {client.status} and said: {client.last_words()}"
        return failed("ends", Mistake.STATUS_NOT_ZERO, reason, expected, seen)
    if take.server.traceback:
        return failed("ends", Mistake.TRACEBACK, f"the server: {take.server.traceback}", expected, seen)
    return passed("ends", expected, seen)


def _why_no_answer(session: Session, take: Take) -> Mistake:
    """Whether the server answers an end message that comes apart from the data."""
    session.dialect.learn_talk(take.passages[0])
    end = session.dialect.end
    if not end:
        return Mistake.NO_END_MESSAGE
    data = session.dialect.stream(3000)[:3000]
    peer = session.replay(0.0, [["send", data, 1], ["sleep", 0.5], ["send", end, 1], ["receive", 5.0, 1]])
    apart = session.pair("an end message apart", [], others=[peer])
    answered = apart.peers and apart.peers[0] and apart.peers[0][-1].get("data")
    return Mistake.END_GLUED if answered else Mistake.NO_ACKNOWLEDGEMENT


def _row(key: str, side: str, program: Printed, done: bool) -> ConformanceCheck:
    if not program.rows and not done:
        return unknown(key, "needs a transfer that comes to its end")
    if program.rows:
        advice = Mistake.BYTES_LABEL if figures.label_says_bytes(program.rows[-1].rate) else None
        return passed(key, f"a row such as {EXAMPLE}", program.rows[-1].line.strip(), advice)
    if program.reading.unread:
        reason = f"this line of the {side} was not understood: {program.reading.unread[-1].strip()[:120]!r}"
    else:
        reason = f"no line of the {side} has an interval, an amount and a rate; the last one: {program.last_words()!r}"
    return failed(key, Mistake.NO_ROW, reason, f"a row such as {EXAMPLE}", program.last_words())


def _bytes(session: Session, take: Take) -> ConformanceCheck:
    if not works(take):
        return unknown("bytes", "needs a transfer that comes to its end")
    if not take.client.rows or not take.server.rows:
        return unknown("bytes", "needs a row of each side")
    carried = take.passages[0].up["bytes"] - len(session.dialect.end)
    expected = f"{carried / 1e6:.2f} MB, as the relay counted"
    found = f"client {take.client.rows[-1].amount.value:g}, server {take.server.rows[-1].amount.value:g}"
    for side, program in (("client", take.client), ("server", take.server)):
        row = program.rows[-1]
        if not figures.amount_fits(row, carried, "MB", slack_bytes=0.005 * carried):
            mistake = figures.amount_mistake(row, carried, "MB") or amount_guess(row, carried, side, "MB")
            return failed("bytes", mistake, f"the {side} says {shown(row)}", expected, found)
    return passed("bytes", expected, found)


def amount_guess(row: Row, carried: float, side: str, unit: str) -> Mistake:
    """What is probably wrong with an amount that is not one of units."""
    said = figures.amount_bytes(row, unit)
    if said < carried:
        return Mistake.BYTES_LOST if side == "server" else Mistake.SENDS_COUNTED
    return Mistake.READS_COUNTED if side == "server" else Mistake.SENDS_COUNTED


def shown(row: Row) -> str:
    """An amount as it was printed."""
    return f"{row.amount.value:.15g} {row.amount.unit}".strip()
