"""Judge how a simpleperf serves several connections and clients, also clients that misbehave."""

from __future__ import annotations

import base64
import re
from typing import Final

from linklab.measure.simpleperf_rows import Row, amount_bytes, amount_step
from linklab.programs.checks import Observed, WaitsFor
from linklab.programs.scenes import NotTried
from linklab.programs.simpleperf import session as scenes
from linklab.programs.simpleperf.evidence import ProgramRun, Take, breach, crash, trouble
from linklab.programs.simpleperf.judges import in_limits, no_row, of_trouble
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import amount_fits, amount_mistake, amount_shown, total
from linklab.programs.simpleperf.session import CONNECTIONS, LONG_S, SimpleperfScenes

_IN_USE: Final = re.compile(r"address (?:is )?already in use|Errno 98|EADDRINUSE", re.I)
_OF_GARBAGE: Final = re.compile(r"Decode|invalid literal for int|could not convert string|^struct\.error")
_WITH: Final = f"with -P {CONNECTIONS} "

# --- parallel


def together(session: SimpleperfScenes) -> Observed:
    """Look in the relay whether the connections of -P 3 -t 2 are all open, and sending, at the same time."""
    take = session.parallel()
    expected = f"{CONNECTIONS} connections that send at the same time"
    found = trouble(take)
    is_error = found is not None and found.mistake is not Mistake.CRASH
    if take.refused:
        reason = f"{_WITH}{len(take.refused)} of {len(take.tried)} connections found nothing that listened any more"
        mistake = Mistake.ONE_CLIENT_ONLY if take.connections and not take.alive else Mistake.REFUSES
        return fails(mistake, reason, expected, found.quotes if found else ())
    sending = take.carrying
    if found is not None and (is_error or not take.connections) and len(sending) < CONNECTIONS:
        if is_error:
            return of_trouble(found, _WITH, expected)
        # it ended with a word and no traceback: it refuses
        return fails(Mistake.PARALLEL_REFUSED, f"{_WITH}{found.reason}", expected, found.quotes)
    if not take.connections:
        return fails(Mistake.NO_CONNECTION, f"{_WITH}it opens no connection", expected)
    if not sending:
        return fails(Mistake.NO_DATA, f"{_WITH}{len(take.connections)} connections carried no data", expected)
    if len(sending) == 1:
        one, opened = take.main, len(take.connections)
        ends = one.up_text.count(one.stream.end) if one.stream.end else 0
        printed = len(take.client.rows) if take.client.ended else 0
        if ends > 1 or printed == CONNECTIONS or opened == CONNECTIONS:
            reason = f"all data went over one of {opened} connections; rows that the client printed: {printed}"
            return fails(Mistake.PARALLEL_SHARED, reason, expected)
        if found is not None:  # a client that takes no notice of -P would end as it does without
            reason = f"{_WITH}all data went over one connection, and {found.reason}"
            return fails(Mistake.PARALLEL_SHARED, reason, expected, found.quotes)
        return fails(Mistake.PARALLEL_IGNORED, f"{_WITH}there was one connection", expected)
    begins_s, ends_s = max(one.began_s for one in sending), min(one.sent_s for one in sending)
    seen = f"{len(sending)} connections; the last began at {begins_s:.1f} s, the first ended at {ends_s:.1f} s"
    if begins_s >= ends_s:
        # all were open while the first one sent, and waited to be greeted: then it is the server that serves in turn
        opened_s = max(one.came_s for one in sending)
        waited = opened_s < ends_s and any(one.greeting for one in sending)
        mistake = Mistake.ONE_AT_A_TIME if waited else Mistake.PARALLEL_IN_TURN
        ended = f"the first of {len(sending)} connections ended at {ends_s:.1f} s"
        reason = f"{ended}, the last one began only at {begins_s:.1f} s"
        return fails(mistake, reason, expected)
    if len(sending) != CONNECTIONS:
        return fails(Mistake.PARALLEL_IGNORED, f"there were {len(sending)} connections", expected)
    return passes(expected, seen)


def _single(program: ProgramRun) -> list[Row]:
    """Return a row for each connection: its total, if it has a name of its own."""
    rows = list(program.rows)
    if len(rows) > CONNECTIONS:  # of a connection that only tried whether the server is there
        rows = [row for row in rows if row.amount.value] or rows
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    if len(by_name) == CONNECTIONS:
        return [total(same) for same in by_name.values()]
    if len(rows) > CONNECTIONS:  # the same rows once more, as totals
        once = list({(row.end_s, row.amount.value, row.rate.value): row for row in rows}.values())
        rows = once if len(once) >= CONNECTIONS else rows
    if len(rows) == CONNECTIONS + 1:  # one is the sum of the others, whatever it is called
        for row in reversed(rows):
            others = [one for one in rows if one is not row]
            if abs(amount_bytes(row) - sum(map(amount_bytes, others))) <= sum(map(amount_step, rows)):
                return others
    return rows


def client_rows(session: SimpleperfScenes) -> Observed:
    """Count the client's rows with -P 3: three, and the sum is none."""
    take = session.parallel()
    if not take.client.ended:
        found = trouble(take)
        return of_trouble(found, _WITH) if found else fails(Mistake.NO_END, f"{_WITH}the client had to be stopped")
    return _rows(take.client)


def server_rows(session: SimpleperfScenes) -> Observed:
    """Count the server's rows with -P 3: three, and the sum is none."""
    return _rows(session.parallel().server)


def _rows(program: ProgramRun) -> Observed:
    rows = _single(program)
    expected, found = f"{CONNECTIONS} rows", f"{len(rows)} rows"
    if len(rows) == CONNECTIONS:
        return passes(expected, found)
    crashed = crash(program)
    if crashed is not None and crashed.mistake is not Mistake.CRASH:
        return of_trouble(crashed, _WITH, expected)
    if program.reading.complaint:
        return no_row(program, expected, _WITH)
    return fails(Mistake.PARALLEL_ROWS, f"{_WITH}the {program.side} prints {found}", expected)


def rows_bytes(session: SimpleperfScenes) -> Observed:
    """Compare the rows, sorted by size, with the relay's notes."""
    take = session.parallel()
    true = sorted(one.carried for one in take.carrying)
    expected = ", ".join(f"{size / 1000:.0f} KB" for size in true)
    for side, program in (("client", take.client), ("server", take.server)):
        by_size = sorted(_single(program), key=amount_bytes)
        found = ", ".join(map(amount_shown, by_size))
        for row, size in zip(by_size, true, strict=True):
            if amount_fits(row, size, 0.01 * size):
                continue
            mistake = amount_mistake(row, size, side)
            if abs(amount_bytes(by_size[-1]) - sum(true)) <= 0.03 * sum(true):
                mistake = Mistake.PARALLEL_SUMMED if side == "client" else Mistake.CLIENTS_MIXED
            return fails(mistake, f"the {side} says {found}", expected, (row.line,))
    return passes(expected)


# --- many


def concurrent(session: SimpleperfScenes) -> Observed:
    """Play a client that sends for 8 s, and another that comes after 2 s and sends for 1 s: the relay must see that
    one acknowledged while the first still sends.
    """
    take = session.two_clients()
    expected = f"the first client sends for {LONG_S} s, and the second, which comes after 2 s, is served meanwhile"
    if found := breach(take):
        return of_trouble(found, "", expected)
    found = trouble(take)
    if len(take.tried) < 2:
        return (
            of_trouble(found) if found else fails(Mistake.NO_CONNECTION, "the second client did not connect", expected)
        )
    talking = [one for one in take.tried if one.carried or one.refused]
    first, second = sorted(talking if len(talking) > 1 else take.tried, key=lambda one: one.came_s)[:2]
    crashed = crash(take.server)
    if second.refused or (not take.alive and second.acknowledged_s is None):
        if crashed is not None and crashed.mistake is Mistake.TRACEBACK:
            return of_trouble(crashed, "while the first client sent, the second one was not served; ", expected)
        if take.alive:
            return fails(Mistake.REFUSES, "while the first client sent, the second one was refused", expected)
        reason = f"the second client was not served: the server had ended, and said: {take.server.last_words()}"
        return fails(Mistake.ONE_CLIENT_ONLY, reason, expected)
    if second.acknowledged_s is None:
        return _never_answered(session, take, expected)
    seen = f"the first sent until {first.sent_s:.1f} s, the second was answered at {second.acknowledged_s:.1f} s"
    if second.acknowledged_s >= first.sent_s:
        sent_s = first.sent_s - first.began_s
        if sent_s > LONG_S + 4:
            return fails(Mistake.TIME_IGNORED, f"with -t {LONG_S} the first client sent for {sent_s:.0f} s", expected)
        return fails(Mistake.ONE_AT_A_TIME, f"the second client had to wait for the first one's end: {seen}", expected)
    if first.acknowledged_s is None:
        if crashed is not None:
            return of_trouble(crashed, "the second client was served, and the first was not answered; ", expected)
        return fails(Mistake.CLIENTS_MIXED, "the second client was served, the first never answered", expected)
    return passes(expected, seen)


def _never_answered(session: SimpleperfScenes, take: Take, expected: str) -> Observed:
    """Judge a second client that got no answer, not even when the first one had ended."""
    reason = "the second client was never answered, though the first one had ended"
    if found := trouble(take):
        return of_trouble(found, f"{reason}; ", expected)
    wrong = glued(session)
    if wrong.reason:
        return fails(Mistake.END_GLUED, f"{reason}; nor is {wrong.reason.partition(': ')[2]}", expected)
    return fails(Mistake.ONE_AT_A_TIME, reason, expected)


def restart(session: SimpleperfScenes) -> Observed:
    """End the server while a client is connected, so that its port waits (TIME-WAIT), and start it anew."""
    expected = "it listens again, and serves a client"
    take = in_limits(session.restart(), expected=expected)
    again = take.record["restarted"]
    if not again["listening"]:
        in_use = [line for line in take.server.said if _IN_USE.search(line)]
        said = in_use[-1] if in_use else take.server.last_words()
        reason = f"started a second time on the same port, the server cannot listen, and said: {said}"
        # it listened on this port before
        is_other = bool(take.server.traceback and not in_use)
        return fails(Mistake.TRACEBACK if is_other else Mistake.NO_REUSEADDR, reason, expected, (said,))
    if not take.connections or take.main.acknowledged_s is None:
        if found := trouble(take):
            return of_trouble(found, "it listens again; ", expected)
        said = take.client.last_words() if take.clients else "nothing"
        return fails(Mistake.CRASH, f"it listens again, and a client of it said: {said}", expected)
    return passes(expected)


def glued(session: SimpleperfScenes) -> Observed:
    """Send data and end message in one write."""
    if not session.transfer().main.stream.end:
        hint = "send an end message that is no multiple of 1000 bytes: BYE"
        raise NotTried("the end message could not be told from the data", hint)
    return _ended(session, session.end_glued(), Mistake.END_GLUED, "in one write with data")


def pieces(session: SimpleperfScenes) -> Observed:
    """Send the end message byte by byte."""
    return _ended(session, session.end_in_pieces(), Mistake.END_IN_PIECES, "byte by byte")


def _ended(session: SimpleperfScenes, take: Take, mistake: Mistake, how: str) -> Observed:
    steps = take.peers[0] if take.peers else []
    answer = base64.b64decode(steps[-1].get("data", "")) if steps and steps[-1]["step"] == "receive" else b""
    expected = "the acknowledgement"
    if answer:
        return passes(expected, repr(answer)[1:])
    end = session.transfer().main.stream.end
    reason = f"the end message {end!r} came {how}, and no acknowledgement within {scenes.ANSWER_S:g} s"
    found = breach(take) or (crash(take.server) if take.has_server else None)
    if found is not None:
        return of_trouble(found, f"{reason}; ", expected)
    return fails(mistake, reason, expected)


def _outlived(take: Take) -> bool:
    """Return whether the server ran on, and served an ordinary client afterwards, as the relay saw."""
    return not take.stalled and take.alive and any(one.acknowledged_s is not None for one in take.connections)


def _abrupt_takes(session: SimpleperfScenes) -> list[Take]:
    """Return a scene with all clients that misbehave; if the server did not outlive them, also one for each, up to
    the first that shows which it was.
    """
    # who serves one client at a time has been told so: a silent client would only say it again
    names = scenes.ABRUPT if not concurrent(session).reason else scenes.ABRUPT[:-1]
    takes = [session.abrupt(names)]
    if not _outlived(takes[0]):
        for name in names:
            takes.append(session.abrupt([name]))
            if not _outlived(takes[-1]):
                break
    return takes


def abrupt(session: SimpleperfScenes) -> Observed:
    """Play clients of which one leaves at once, one resets the connection, one ends without the end message, one
    sends random bytes and one stays silent; then an ordinary one.
    """
    if concurrent(session).reason.startswith(Mistake.ONE_CLIENT_ONLY.title):
        raise WaitsFor("concurrent")
    takes = _abrupt_takes(session)
    expected = "the server goes on, and serves the next client"
    if len(takes) == 1:
        return passes(expected)
    culprit = takes[-1] if not _outlived(takes[-1]) else takes[0]
    name = scenes.ABRUPT[len(takes) - 2] if culprit is takes[-1] else "several such clients"
    if found := breach(culprit):
        is_spin = culprit.stalled and "server" in culprit.by
        reason = f"after {name} {found.reason}"
        return fails(Mistake.SPINS if is_spin else found.mistake, reason, expected, found.quotes)
    if not culprit.alive:
        errors = culprit.server.errors
        reason = f"after {name} the server ended; it said: {culprit.server.traceback or culprit.server.last_words()}"
        return fails(Mistake.ABRUPT_CLIENT, reason, expected, errors[-1].quotes if errors else ())
    said = culprit.client.last_words() if culprit.clients else "nothing"
    mistake = Mistake.SILENT_CLIENT if name == scenes.SILENT else Mistake.LOST_CLIENT
    reason = f"after {name} the server runs on, and the next client was not served; that client said: {said}"
    return fails(mistake, reason, expected)


def quiet(session: SimpleperfScenes) -> Observed:
    """Look at both outputs of the server. A traceback because random bytes are no text is a hint."""
    errors = [error for take in _abrupt_takes(session) if take.has_server for error in take.server.errors]
    expected = "no traceback"
    # random bytes are no text and no number: nothing that a client of this program would send
    hurt = [error for error in errors if not _OF_GARBAGE.search(error.line)]
    if hurt:
        reason = f"a client misbehaved, and the server printed: {hurt[0].line}"
        return fails(Mistake.TRACEBACK, reason, expected, hurt[0].quotes)
    return passes(expected, errors[0].line if errors else "", Mistake.TRACEBACK if errors else None)
