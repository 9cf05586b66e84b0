"""The step `parallel`: several clients at once, and several connections of one client."""

from __future__ import annotations

from collections import Counter
from typing import Final

from linklab.measure.simpleperf_rows import Row, amount_bytes
from linklab.programs.checks import Observed, WaitsFor, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import BYE, PlayedScene, ProgramRun
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import amount_fits, amount_mistake, amount_shown, total
from linklab.programs.simpleperf.session import CONNECTIONS, LONG_S, SimpleperfScenes
from linklab.programs.simpleperf.transfer import glued
from linklab.programs.simpleperf.trouble import Trouble, breach, crash, error_of, trouble
from linklab.programs.simpleperf.verdicts import no_row, not_played, of_trouble, refused

_WITH: Final = f"with -P {CONNECTIONS} "
_OWN_S: Final = 0.3
"""How far a row of the server may be from the time that the relay saw."""
_INTERVAL_S: Final = 1.9
"""A row of -i 1 is shorter; the total of -t 3 is longer."""
_IGNORED: Final = Mistake("-P is ignored", "open args.parallel connections, each in a thread of its own")


@check("concurrent", points=2, needs=["time"])
def concurrent(session: SimpleperfScenes) -> Observed:
    """a second client is served while the first one runs

    A client sends for 8 s, and another comes after 2 s and sends for 1 s: the relay must see that one acknowledged
    while the first still sends.
    """
    scene = session.two_clients()
    expected = f"the first client sends for {LONG_S} s, and the second, which comes after 2 s, is served meanwhile"
    if found := breach(scene):
        return of_trouble(found, "", expected)
    found = trouble(scene)
    if len(scene.tried) < 2:
        return (
            of_trouble(found) if found else fails(mistakes.NO_CONNECTION, "the second client did not connect", expected)
        )
    talking = [one for one in scene.tried if one.carried or one.refused]
    first, second = sorted(talking if len(talking) > 1 else scene.tried, key=lambda one: one.came_s)[:2]
    crashed = crash(scene.server)
    if second.refused or (not scene.alive and second.acknowledged_s is None):
        if crashed is not None and crashed.mistake is mistakes.TRACEBACK:
            return of_trouble(crashed, "while the first client sent, the second one was not served; ", expected)
        if scene.alive:
            return fails(mistakes.REFUSES, "while the first client sent, the second one was refused", expected)
        reason = f"the second client was not served: the server had ended, and said: {scene.server.last_words()}"
        return fails(mistakes.ONE_CLIENT_ONLY, reason, expected)
    if second.acknowledged_s is None:
        return _never_answered(session, scene, expected)
    seen = f"the first sent until {first.sent_s:.1f} s, the second was answered at {second.acknowledged_s:.1f} s"
    if second.acknowledged_s >= first.sent_s:
        return fails(mistakes.ONE_AT_A_TIME, f"the second client had to wait for the first one's end: {seen}", expected)
    if first.acknowledged_s is None:
        if crashed is not None:
            return of_trouble(crashed, "the second client was served, and the first was not answered; ", expected)
        return fails(mistakes.CLIENTS_MIXED, "the second client was served, the first never answered", expected)
    return passes(expected, seen)


def _never_answered(session: SimpleperfScenes, scene: PlayedScene, expected: str) -> Observed:
    """Judge a second client that got no answer, not even when the first one had ended."""
    reason = "the second client was never answered, though the first one had ended"
    if found := trouble(scene):
        return of_trouble(found, f"{reason}; ", expected)
    wrong = glued(session)
    if wrong.reason:
        return fails(mistakes.END_GLUED, f"{reason}; nor is {wrong.reason.partition(': ')[2]}", expected)
    return fails(mistakes.ONE_AT_A_TIME, reason, expected)


@check("concurrent-rows", needs=["concurrent", "server-rate"])
def own_clocks(session: SimpleperfScenes) -> Observed:
    """with two clients each row of the server gives its own client's time

    The rows of these two, sorted by size, are compared with the relay's notes, to 0.3 s.
    """
    scene = session.two_clients()
    true = sorted(scene.carrying, key=lambda one: one.carried)
    expected = " and ".join(f"{one.delivered_s - one.came_s:.1f} s" for one in true)
    counted = _rows(scene.server, len(true), "with two clients ")
    if counted.reason:
        return counted
    rows = sorted(_totals(scene.server), key=amount_bytes)
    found = " and ".join(f"{row.duration_s:g} s" for row in rows)
    for row, one in zip(rows, true, strict=True):
        if abs(row.duration_s - one.delivered_s + one.came_s) > _OWN_S + row.time_step_s:
            return fails(mistakes.CLIENTS_MIXED, f"the server's rows last {found}", expected)
    return passes(expected, found)


def outlives_clients(session: SimpleperfScenes) -> None:
    """Raise WaitsFor where the server ends after its first client, which is a check of its own."""
    if concurrent(session).reason.startswith(mistakes.ONE_CLIENT_ONLY.title):
        raise WaitsFor(concurrent.key)


@check("parallel-together", points=3, needs=["ends"])
def together(session: SimpleperfScenes) -> Observed:
    """-P has all its connections at the same time

    The relay sees whether the connections of -P 3 -t 2 are all open, and sending, at the same time.
    """
    outlives_clients(session)
    scene = session.parallel()
    expected = f"{CONNECTIONS} connections that send at the same time"
    found, sending = trouble(scene), scene.carrying
    if scene.refused:
        reason = f"{_WITH}{len(scene.refused)} of {len(scene.tried)} connections found nothing that listened any more"
        return fails(mistakes.REFUSES, reason, expected, found.quotes if found else ())
    if (error := error_of(found)) and len(sending) < CONNECTIONS:
        return of_trouble(error, _WITH, expected)
    if found is not None and not scene.connections:
        # it ended with a word and no traceback: it refuses
        unknown = Mistake("-P is not understood", "accept -P 1 to -P 5, and open so many connections")
        return refused(session, unknown, f"{_WITH}{found.reason}", expected, found.quotes)
    if not scene.connections:
        return fails(mistakes.NO_CONNECTION, f"{_WITH}it opens no connection", expected)
    if not sending:
        return fails(mistakes.NO_DATA, f"{_WITH}{len(scene.connections)} connections carried no data", expected)
    if len(sending) == 1:
        return _one_sends(scene, found, expected)
    begins_s, ends_s = max(one.began_s for one in sending), min(one.sent_s for one in sending)
    if begins_s >= ends_s:
        in_turn = Mistake(
            "connections opened one after the other",
            "start all threads in one loop, and join them in a second one; write target=f, args=(...), not "
            "target=f(...)",
        )
        ended = f"the first of {len(sending)} connections ended at {ends_s:.1f} s"
        return fails(in_turn, f"{ended}, the last one began only at {begins_s:.1f} s", expected)
    if len(sending) != CONNECTIONS:
        return fails(_IGNORED, f"there were {len(sending)} connections", expected)
    seen = f"{len(sending)} connections; the last began at {begins_s:.1f} s, the first ended at {ends_s:.1f} s"
    return passes(expected, seen)


def _one_sends(scene: PlayedScene, found: Trouble | None, expected: str) -> Observed:
    shared = Mistake(
        "the connections of -P share one socket",
        "keep the socket in a local variable of each thread's function, not in one that all threads share",
    )
    opened = len(scene.connections)
    printed = len(scene.client.rows) if scene.client.ended else 0
    if scene.main.last_bytes.count(BYE) > 1 or CONNECTIONS in (printed, opened):
        reason = f"all data went over one of {opened} connections; rows that the client printed: {printed}"
        return fails(shared, reason, expected)
    if found is not None:  # a client that takes no notice of -P would end as it does without
        return fails(shared, f"{_WITH}all data went over one connection, and {found.reason}", expected, found.quotes)
    return fails(_IGNORED, f"{_WITH}there was one connection", expected)


def _totals(program: ProgramRun) -> list[Row]:
    """Return the total of each connection, by the names of the rows."""
    by_name: dict[str, list[Row]] = {}
    for row in program.rows:
        by_name.setdefault(row.name, []).append(row)
    totals = [total(same) for same in by_name.values()]
    if len(totals) > CONNECTIONS:  # of a connection that only tried whether the server is there
        return [row for row in totals if row.amount.value] or totals
    return totals


@check("parallel-client", needs=["parallel-together", "client-row"])
def client_rows(session: SimpleperfScenes) -> Observed:
    """the client prints a row for each connection

    -P 3 gives rows of three names; a sum is none of them.
    """
    scene = session.parallel()
    if not scene.client.ended:
        found = trouble(scene)
        return of_trouble(found, _WITH) if found else fails(mistakes.NO_END, f"{_WITH}the client had to be stopped")
    return _rows(scene.client, CONNECTIONS, _WITH)


@check("parallel-server", needs=["parallel-together", "server-row"])
def server_rows(session: SimpleperfScenes) -> Observed:
    """the server prints a row for each connection"""
    return _rows(session.parallel().server, CONNECTIONS, _WITH)


def _rows(program: ProgramRun, connections: int, context: str) -> Observed:
    """Count the connections of which a program prints rows."""
    rows = _totals(program)
    expected, found = f"rows of {connections} connections", f"rows of {len(rows)} connections"
    if len(rows) == connections:
        return passes(expected, found)
    if crashed := error_of(crash(program)):
        return of_trouble(crashed, context, expected)
    if program.reading.complaint:
        return no_row(program, expected, context)
    missing = Mistake(
        "a row is missing for some connections",
        "print a row for each connection, and name it by the client's own address and port, as the starter does",
    )
    return fails(missing, f"{context}the {program.side} prints {found}", expected)


@check("parallel-intervals", needs=["concurrent", "parallel-client", "interval-rows"])
def intervals_of_each(session: SimpleperfScenes) -> Observed:
    """with -i the client prints rows of intervals for each connection

    -P 2 -i 1 -t 3 gives two rows at least of each of two names, beside the totals.
    """
    scene = session.parallel_intervals()
    context = "with -P 2 -i 1 -t 3 "
    if not scene.has_carried or not scene.client.rows:
        return not_played(scene, context)
    counts = Counter(row.name for row in scene.client.rows if row.duration_s < _INTERVAL_S).values()
    expected, found = "two rows of intervals at least of each connection", " and ".join(map(str, counts)) or "none"
    if len(counts) == len(scene.carrying) and min(counts) > 1:
        return passes(expected, found)
    if len(counts) != len(scene.carrying):
        one_alone = Mistake(
            "-i prints no rows for some connections", "whenever an interval is over, print a row for each connection"
        )
        reason = f"{context}rows of intervals for {len(counts)} of {len(scene.carrying)} connections"
        return fails(one_alone, reason, expected)
    too_few = Mistake(
        "-i prints too few rows for each connection",
        "wait once for each interval, not once for each connection, and then print a row for each connection",
    )
    seen = f"{context}rows of less than {_INTERVAL_S} s of each connection: {found}"
    return fails(too_few, seen, expected, (scene.client.rows[0].line,))


@check("parallel-bytes", points=2, needs=["parallel-client", "parallel-server", "bytes"])
def rows_bytes(session: SimpleperfScenes) -> Observed:
    """each row gives the bytes of its own connection

    The rows, sorted by size, are compared with the relay's notes.
    """
    scene = session.parallel()
    true = sorted(one.carried for one in scene.carrying)
    expected = ", ".join(f"{size / 1000:.0f} KB" for size in true)
    summed = Mistake(
        "the connections of -P are counted together", "count the bytes of each connection apart, in its own thread"
    )
    for side, program in scene.sides:
        by_size = sorted(_totals(program), key=amount_bytes)
        found = ", ".join(map(amount_shown, by_size))
        for row, size in zip(by_size, true, strict=True):
            if amount_fits(row, size, 0.01 * size):
                continue
            mistake = amount_mistake(row, size, side)
            if abs(amount_bytes(by_size[-1]) - sum(true)) <= 0.03 * sum(true):
                mistake = summed if side == "client" else mistakes.CLIENTS_MIXED
            return fails(mistake, f"the {side} says {found}", expected, (row.line,))
    return passes(expected)
