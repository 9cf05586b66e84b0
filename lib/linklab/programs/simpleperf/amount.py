"""The step `amount`: -n."""

from __future__ import annotations

import math
from typing import Final

from linklab.measure.simpleperf_rows import rate_mbps, rate_step_mbps
from linklab.programs.checks import Observed, WaitsFor, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import BYE, IDLE_S, PlayedScene
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import (
    JITTER_S,
    amount_fits,
    amount_shown,
    lasts,
    rate_shown,
    read_rate,
    read_rate_of,
    total,
)
from linklab.programs.simpleperf.session import SHORT_BYTES, TIMED_MB, SimpleperfScenes
from linklab.programs.simpleperf.trouble import error_of, trouble
from linklab.programs.simpleperf.verdicts import no_row, not_played, of_trouble, refused, wrong_amount

_TIMED_BYTES: Final = TIMED_MB * 1_000_000
_IGNORED: Final = Mistake("-n is ignored", "with -n send until so many bytes are sent, whatever -t says")
_REFUSED: Final = Mistake("-n is not understood", "accept amounts such as 10MB, 1000KB or 500B")


@check("num-understood", needs=["ends"])
def num_understood(session: SimpleperfScenes) -> Observed:
    """the client accepts -n

    -n 1500KB, without -t, must send something.
    """
    expected = "it sends with -n 1500KB"
    scene = session.amount(1500, "KB")
    return passes(expected) if scene.carrying else _sent_nothing(session, scene, "with -n 1500KB ", expected)


def _sent_nothing(session: SimpleperfScenes, scene: PlayedScene, context: str, expected: str) -> Observed:
    if scene.refused:
        return fails(mistakes.REFUSES, f"{context}the server's host refused the connection", expected)
    if found := error_of(trouble(scene)):
        return of_trouble(found, context, expected)
    return refused(session, _REFUSED, f"{context}nothing was sent; it said: {scene.client_said}", expected, ())


def _amounts(session: SimpleperfScenes) -> dict[int, PlayedScene]:
    """Return the transfers of -n by the bytes that were asked for: in KB, in B, and in MB.

    That in B is the one in which to connect takes 2 s, unless the client gave up before: it may. That in MB is the one
    beside -t, unless -t ended it, which is a check of its own.
    """
    short = session.slow_to_connect()
    if not short.connections:
        short = session.amount(SHORT_BYTES, "B")
    played = {1_500_000: session.amount(1500, "KB"), SHORT_BYTES: short}
    timed = session.amount_and_time()
    if timed.carrying and timed.main.carried >= 0.99 * _TIMED_BYTES:
        return {**played, _TIMED_BYTES: timed}
    return {**played, _TIMED_BYTES: session.amount(TIMED_MB, "MB")}


@check("num-exact", points=2, needs=["num-understood"])
def num_exact(session: SimpleperfScenes) -> Observed:
    """the client sends exactly the amount of -n, in MB, KB and B

    The relay counts 1500KB, 4500B and 2MB.
    """
    played = _amounts(session)
    expected = ", ".join(f"{size} B" for size in played)
    for size, scene in played.items():
        if not scene.carrying:
            return _sent_nothing(session, scene, f"for {size} B ", expected)
        if not scene.client.ended:
            return fails(_IGNORED, f"with -n for {size} B the client sent on, and had to be stopped", expected)
    sent = {size: scene.main.carried for size, scene in played.items()}
    for size, scene in played.items():
        if sent[size] == size:
            continue
        if found := error_of(trouble(scene)):
            return of_trouble(found, f"for {size} B it sent {sent[size]} B; ", expected)
        reason = f"with -n {scene.client.word_after('-n')} the client sent {sent[size]} B"
        return fails(_why_amount(sent), reason, f"exactly {size} B")
    return passes(expected, ", ".join(f"{size} B" for size in sent.values()))


def _why_amount(sent: dict[int, int]) -> Mistake:
    """Return what the amounts that were sent have in common."""
    kilo, single = sent[1_500_000], sent[SHORT_BYTES]
    if kilo > 10_000_000:
        return _IGNORED
    # in B there is nothing to take 1024 for
    if single in (SHORT_BYTES, 5_000) and abs(kilo - 1_536_000) <= 1100:
        return mistakes.BINARY_UNITS
    if 800 <= kilo - 1_500_000 < 1100 and single > SHORT_BYTES:
        return Mistake("-n sends a chunk too many", "stop when sent >= amount: with > or <= one more chunk goes out")
    if single in (5_120, 6_144) or abs(kilo - 1_536_000) < 1100:
        return mistakes.CHUNK_SIZE
    if single in (45, 450):
        return Mistake(
            "-n in B loses its last digit",
            "KB and MB have two letters, B has one: cut off the unit, and not a digit with it",
        )
    if single == 5_000 and kilo == 1_500_000:
        return Mistake("-n rounded up to whole chunks", "the last chunk must be shorter: send chunk[:left]")
    if all(size % 1000 == 0 for size in sent.values()):
        return Mistake("-n rounded", "send exactly as many bytes as -n says: 1500KB are 1500000")
    return Mistake(
        "another amount than that of -n",
        "send exactly as many bytes as -n says: 1500KB are 1500000; use sendall, for send may take only a part",
    )


@check("num-time", needs=["num-exact"])
def num_time(session: SimpleperfScenes) -> Observed:
    """-t does not end a transfer of -n

    2MB take four seconds; -t 1 stands beside it.
    """
    scene = session.amount_and_time()
    expected = f"{_TIMED_BYTES} B, though -t 1 was over"
    if not scene.connections:
        return not_played(scene, f"with -n {TIMED_MB}MB and -t 1 ")
    one = scene.main
    seen = f"{one.carried} B in {one.sent_s - one.began_s:.1f} s"
    if one.carried >= 0.99 * _TIMED_BYTES:
        return passes(expected, seen)
    ended = Mistake("-t ends a transfer of -n", "with -n the time does not count: send all of it")
    return fails(ended, f"with -n {TIMED_MB}MB and -t 1 it sent {seen}", expected)


@check("num-rows", needs=["num-understood", "bytes"])
def num_rows(session: SimpleperfScenes) -> Observed:
    """with -n client and server report the amount that was sent

    The rows of these transfers are compared with what the relay counted.
    """
    played = {size: scene for size, scene in _amounts(session).items() if scene.has_carried}
    if not played:
        raise WaitsFor("num-exact")
    expected = ", ".join(f"{scene.main.carried} B" for scene in played.values())
    found = []
    for size, scene in played.items():
        context = f"with -n {size} B "
        for side, program in scene.sides:
            if not program.rows:
                crashed = trouble(scene)
                return of_trouble(crashed, context) if crashed else no_row(program, expected, context)
            row, true = total(program.rows), scene.main.carried
            found.append(amount_shown(row))
            # a row may count BYE as well: that is named in the step clock
            if not amount_fits(row, true, len(BYE)):
                reason = f"{context}the {side} printed {amount_shown(row)}, and {true} B were sent"
                return fails(wrong_amount(session, row, true, side), reason, expected, (row.line,))
    return passes(expected, ", ".join(found))


@check("num-rate", needs=["num-understood", "time", "ack", "client-rate", "server-rate"])
def num_rate(session: SimpleperfScenes) -> Observed:
    """with -n each rate is the amount divided by the time that it took

    1500KB at 8 Mbit/s, within 1.2 %, and BYE right behind the data. Then 4500B, which take next to no time, where to
    connect takes 2 s: a program whose rate says 0.25 s more sleeps, counts the connecting, or divides by too much. A
    client that gives up before 2 s is not judged by that.
    """
    scene = session.amount(1500, "KB")
    if not scene.has_carried:
        raise WaitsFor("num-exact")
    if not scene.has_rows:
        raise WaitsFor("num-rows")
    one = scene.main
    client_s, begin_s = one.end_s - one.came_s, one.began_s - one.came_s
    spans = {
        "client": (client_s - begin_s - JITTER_S, client_s + JITTER_S),
        "server": (one.delivered_s - one.began_s - 3 * JITTER_S, one.delivered_s - one.came_s + 3 * JITTER_S),
    }
    expected = f"{one.carried * 8e-6 / client_s:.2f} Mbit/s over {client_s:.2f} s"
    rows = {side: total(program.rows) for side, program in scene.sides}
    for side, row in rows.items():
        reading = read_rate_of(row, one.carried, {"whole": spans[side]})
        if reading is not None and reading.mistake is None:
            continue
        reason = f"with -n the {side} says {rate_shown(row.rate)}; {one.carried} B took {client_s:.2f} s"
        asked = read_rate(row.rate, one.carried, {"asked": (24.99, 25.01)})
        if asked is not None and asked.mistake is None:
            mistake = mistakes.ASKED_TIME
        elif reading is not None and reading.mistake:
            mistake = reading.mistake
        elif lasts(row, spans[side]):
            mistake = mistakes.WRONG_RATE
        else:
            mistake = mistakes.CLOCK if side == "client" else mistakes.SERVER_CLOCK
        return fails(mistake, reason, expected, (row.line,))
    if one.idle_s > IDLE_S:
        reason = f"with -n the client sent nothing for {one.idle_s:.2f} s between its last data and BYE"
        return fails(mistakes.SLEEPS_BEFORE_BYE, reason, expected)
    return _short_time(session) or passes(
        expected, ", ".join(f"{side} {rate_shown(row.rate)}" for side, row in rows.items())
    )


def _short_time(session: SimpleperfScenes) -> Observed | None:
    """Judge the rates of 4500 B, which take no time at all here. A program that sleeps, or never divides by less than a
    second, prints a rate as if they had taken long.
    """
    scene = session.slow_to_connect()
    if not scene.has_carried or not scene.has_rows:
        return None
    one = scene.main
    idle_s = one.began_s - one.came_s
    busy_s = one.end_s - one.came_s - (idle_s if idle_s > IDLE_S else 0.0)
    for side, program in scene.sides:
        row = total(program.rows)
        rate = rate_mbps(row.rate) + rate_step_mbps(row.rate)
        if not math.isfinite(rate) or rate <= 0 or one.carried * 8e-6 / rate <= busy_s + IDLE_S:
            continue
        said_s = one.carried * 8e-6 / rate
        reason = f"the {side} says {rate_shown(row.rate)} of {one.carried} B, as if they had taken {said_s:.2f} s"
        expected = f"the rate over {busy_s:.2f} s"
        if idle_s > IDLE_S:
            seen = f"{reason}; the client sent nothing for {idle_s:.2f} s before its data"
            return fails(mistakes.SLEEPS, seen, expected, (row.line,))
        with_connecting = one.carried * 8e-6 / (one.end_s - scene.client.record["started_s"])
        if side == "client" and abs(rate_mbps(row.rate) - with_connecting) <= rate_step_mbps(row.rate):
            connecting = Mistake(
                "the clock runs while it connects", "start the client's clock when all connections are open"
            )
            seen = f"{reason}; to connect took {one.came_s:.2f} s"
            return fails(connecting, seen, expected, (row.line,))
        floor = Mistake(
            "a short time is taken for a longer one",
            "divide by the time that really passed, however short it is; where it is 0, print a rate of infinity",
        )
        return fails(floor, f"{reason}; they took {busy_s:.2f} s", expected, (row.line,))
    return None
