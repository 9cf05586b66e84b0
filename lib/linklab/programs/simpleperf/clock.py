"""The step `clock`: how long a client sends, whose clock stops when, and the units of rates and amounts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from linklab.measure.simpleperf_rows import Row, amount_bytes, amount_step, rate_mbps, unit_bytes
from linklab.network import goodput_ceiling_mbps
from linklab.programs.checks import Observed, WaitsFor, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf import session as scenes
from linklab.programs.simpleperf.evidence import BYE, IDLE_S, ConnectionRecord, PlayedScene
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import (
    JITTER_S,
    RateReading,
    Span,
    amount_fits,
    amount_mistake,
    amount_shown,
    is_whole,
    rate_shown,
    read_rate,
    read_rate_of,
    times,
    total,
)
from linklab.programs.simpleperf.session import RATE_MBPS, SimpleperfScenes
from linklab.programs.simpleperf.verdicts import not_played, with_format, wrong_amount

SENDING_S: Final = (1.9, 4.0)
"""How long a client with -t 2 may be seen to send: what waits in buffers arrives after it has stopped."""
LEAST_SHARE: Final = 0.8
"""Least share of the shaped link's goodput ceiling: slow start and the wait for the acknowledgement take the rest."""
MOST_SHARE: Final = 1.01
_ROWS: Final = ("ends", "client-row", "server-row")
"""What must pass before numbers of both sides are read."""


@check("time", needs=["ends"])
def sends_for(session: SimpleperfScenes) -> Observed:
    """-t sets how long the client sends

    With -t 2 the relay sees data come for 1.9 to 4 s.
    """
    one = session.transfer().main
    # the data arrives at the relay while it is sent, but for what the two kernels' buffers hold at the end
    sent_s = one.data_s - one.began_s
    expected, found = f"{scenes.TRANSFER_S} s, and what waits in buffers", f"{sent_s:.1f} s"
    if SENDING_S[0] <= sent_s <= SENDING_S[1]:
        return passes(expected, found)
    return fails(mistakes.TIME_IGNORED, f"with -t {scenes.TRANSFER_S} it sends for {sent_s:.1f} s", expected)


@dataclass(frozen=True)
class _ClientClock:
    """What a client's rate tells where the relay has held data and acknowledgement back."""

    row: Row
    one: ConnectionRecord
    whole_s: float
    reading: RateReading | None

    @property
    def expected(self) -> str:
        return f"{self.one.carried * 8e-6 / self.whole_s:.2f} Mbit/s, the rate over {self.whole_s:.2f} s"


def _client_clock(scene: PlayedScene) -> _ClientClock:
    one, row = scene.main, total(scene.client.rows)
    # from the connection or the first data to the acknowledgement, which still has to travel
    whole_s = one.end_s - one.came_s
    spans: dict[str, Span] = {
        "whole": (one.end_s - one.began_s - JITTER_S, whole_s + JITTER_S),
        "asked": (scenes.TRANSFER_S - 0.002, scenes.TRANSFER_S + 0.002),
        "sent": (scenes.TRANSFER_S + 0.01, one.delivered_s - one.came_s + JITTER_S),
    }
    reading = read_rate_of(row, one.carried, spans)
    if reading is None or reading.mistake:
        own = _by_its_own_times(row, one.carried, spans["whole"])
        reading = own if own is not None and (reading is None or not own.mistake) else reading
    if reading is None and not is_whole(row.rate):
        cut = {name: (seconds, seconds) for name, seconds in (("cut", math.floor(whole_s)), ("round", round(whole_s)))}
        reading = read_rate(row.rate, one.carried, cut)
    return _ClientClock(row, one, whole_s, reading)


def _by_its_own_times(row: Row, true_bytes: float, whole: Span) -> RateReading | None:
    """Return how the rate follows from the interval that the row itself gives, for a clock that is wrong otherwise."""
    half = row.time_step_s / 2
    if row.duration_s <= 0 or whole[0] - half <= row.duration_s <= whole[1] + half:
        return None
    return read_rate(row.rate, true_bytes, {"own": (max(0.001, row.duration_s - half), row.duration_s + half)})


@check("ack", points=3, needs=_ROWS)
def waits_for_answer(session: SimpleperfScenes) -> Observed:
    """the client measures time until the acknowledgement arrives

    The relay reads nothing from 1.2 s to 2.7 s of the data, while -t 2 runs out, and holds the acknowledgement back for
    1.5 s. The printed rate must be that of the whole time, within 1.2 %.
    """
    scene = with_format(session.held())
    clock = _client_clock(scene)
    found, quote = rate_shown(clock.row.rate), (clock.row.line,)
    if clock.one.acknowledged_s is None:
        return fails(mistakes.NO_ACKNOWLEDGEMENT, "with -f KB no acknowledgement came", clock.expected)
    if not scene.waited():
        early_s = clock.one.acknowledged_s - float(scene.client.record["ended_s"] or 0.0)
        reason = f"the acknowledgement came {early_s:.2f} s after the client had ended"
        return fails(mistakes.NO_WAIT, reason, clock.expected)
    if clock.reading is None:
        raise WaitsFor("client-rate")
    if clock.reading.span == "whole":
        return passes(clock.expected, found)
    mistake = {
        "asked": mistakes.ASKED_TIME,
        "sent": Mistake(
            "clock stopped before the acknowledgement",
            "stop the client's clock when the acknowledgement has been read: before that some data has not arrived",
        ),
        "own": mistakes.CLOCK,
    }.get(
        clock.reading.span,
        Mistake("time cut to whole seconds", "keep the seconds with their decimals, and round only when you print"),
    )
    rated_s = clock.one.carried * 8e-6 * clock.reading.factor / rate_mbps(clock.row.rate)
    reason = f"the acknowledgement came after {clock.whole_s:.2f} s, but the client printed {found}, the rate over "
    return fails(mistake, f"{reason}{rated_s:.2f} s", clock.expected, quote)


@check("client-rate", points=2, needs=_ROWS)
def client_rate(session: SimpleperfScenes) -> Observed:
    """the client's rate is in Mbit/s

    It is compared with bytes * 8 / 1000000 / seconds from the relay's notes. Factors of 8 and 1.024 are named.
    """
    scene = with_format(session.held())
    clock = _client_clock(scene)
    return _units(session, scene, "client", clock.row, clock.reading, clock.expected)


@check("server-rate", points=2, needs=_ROWS)
def server_rate(session: SimpleperfScenes) -> Observed:
    """the server's rate is in Mbit/s, by its own clock"""
    scene = with_format(session.held())
    one, row = scene.main, total(scene.server.rows)
    true_s, jitter_s = one.delivered_s - one.came_s, 3 * JITTER_S
    span = (one.delivered_s - one.began_s - jitter_s, true_s + jitter_s)
    expected = f"{one.carried * 8e-6 / true_s:.2f} Mbit/s, the rate over {true_s:.2f} s"
    reading = read_rate_of(row, one.carried, {"server": span})
    if reading is None or reading.mistake:
        own = _by_its_own_times(row, one.carried, span)
        if own is not None and own.mistake is None:
            taken = f"from the client's connection to BYE it was {true_s:.2f} s"
            reason = f"the server's row lasts {row.duration_s:g} s, and {taken}"
            return fails(mistakes.SERVER_CLOCK, reason, expected, (row.line,))
    return _units(session, scene, "server", row, reading, expected)


def _units(
    session: SimpleperfScenes, scene: PlayedScene, side: str, row: Row, reading: RateReading | None, expected: str
) -> Observed:
    """Judge the factor by which a side's rate is wrong."""
    found = rate_shown(row.rate)
    if reading is not None and reading.mistake is None:
        # over another time: that is the clock's check
        return passes(expected if reading.span in ("whole", "server") else "bytes * 8 / 1000000 / seconds", found)
    if reading is None and is_whole(row.rate):
        return fails(mistakes.INTEGER_DIVISION, f"the {side} says the whole number {found}", expected, (row.line,))
    if reading is None:
        reason = f"the {side} says {found}, which fits none of the times that were measured"
        return fails(mistakes.WRONG_RATE, reason, expected, (row.line,))
    mistake = reading.mistake or mistakes.WRONG_RATE
    if _rate_by_format(session, scene, side):
        mistake = mistakes.RATE_BY_FORMAT
    elif mistake is mistakes.BINARY_UNITS and _cuts_megabits(session, scene, side):
        mistake = mistakes.INTEGER_DIVISION
    return fails(mistake, f"the {side} printed {found}, {times(reading.factor)}", expected, (row.line,))


def _rate_by_format(session: SimpleperfScenes, scene: PlayedScene, side: str) -> bool:
    """Return whether a side's rate is of the right size where no -f is given, and far too large with -f KB."""
    rows = [dict(each.sides)[side].rows for each in (session.transfer(), scene)]
    return [bool(own) and rate_mbps(total(own).rate) > 30 * RATE_MBPS for own in rows] == [False, True]


def _cuts_megabits(session: SimpleperfScenes, scene: PlayedScene, side: str) -> bool:
    """Return whether a side's rates are those of whole megabits: then no one factor explains both scenes' rates."""
    factors = set()
    for each in (session.transfer(), scene):
        one, rows = each.main, dict(each.sides)[side].rows
        end_s = one.end_s if side == "client" else one.delivered_s
        span = {"whole": (end_s - one.began_s - JITTER_S, end_s - one.came_s + JITTER_S)}
        cut = read_rate(total(rows).rate, math.floor(one.carried * 8e-6) / 8e-6, span) if rows else None
        if cut is None or cut.mistake:
            return False
        reading = read_rate(total(rows).rate, one.carried, span)
        factors.add(reading and reading.factor)
    return len(factors) > 1


@check("link", points=2, needs=["time", "ack", "client-rate", "server-rate", "conserved"])
def link(session: SimpleperfScenes) -> Observed:
    """neither side reports more than a shaped link carries

    A transfer of 4 s goes over a link of 8 Mbit/s and 10 ms each way, without the relay. A rate is at most 101 % of the
    ceiling of TCP's goodput, and at least 80 %: slow start and the wait for the acknowledgement take the rest.
    Whether a client with a lower rate sleeps before BYE is seen in the transfer through the relay.
    """
    scene = with_format(session.link())
    ceiling = goodput_ceiling_mbps(RATE_MBPS)
    low, high = LEAST_SHARE * ceiling, MOST_SHARE * ceiling
    rows = {side: total(program.rows) for side, program in scene.sides}
    expected = f"{low:.2f} to {high:.2f} Mbit/s"
    for side, row in rows.items():
        rate = rate_mbps(row.rate)
        if low <= rate <= high:
            continue
        more = Mistake(
            "more than the link carries",
            "a clock stops too early, or bytes are counted twice: the client's clock stops at the acknowledgement, the "
            "server's when it has read BYE",
        )
        mistake = more if rate > high else mistakes.WRONG_RATE
        if _rate_by_format(session, scene, side):
            mistake = mistakes.RATE_BY_FORMAT
        reason = f"the {side} reports {rate:.4g} Mbit/s over a link that carries {ceiling:.2f}"
        idle_s = session.transfer().main.idle_s
        if rate < low and idle_s > IDLE_S:
            mistake = mistakes.SLEEPS_BEFORE_BYE
            reason += f"; through the relay the client sent nothing for {idle_s:.2f} s before BYE"
        return fails(mistake, reason, expected, (row.line,))
    return passes(expected, ", ".join(f"{side} {rate_shown(row.rate)}" for side, row in rows.items()))


@check("format", points=2, needs=_ROWS)
def format_sets_unit(session: SimpleperfScenes) -> Observed:
    """-f sets the unit of amounts: B, KB, MB

    Amounts in KB and in B are compared with the bytes carried; 1 KB is 1000 B.
    """
    held, over_link = session.held(), session.link()
    expected = "amounts in KB with -f KB, in B with -f B"
    for scene, unit in ((held, "KB"), (over_link, "B")):
        if not scene.has_rows or (scene.tried and not scene.has_carried):
            return not_played(scene, f"with -f {unit} ")
        for side, program in scene.sides:
            row = total(program.rows)
            if unit_bytes(row.amount.unit) != unit_bytes(unit):
                ignored = Mistake("-f is ignored", "print amounts in the unit of -f: B, KB or MB")
                return fails(ignored, f"with -f {unit} the {side} says {amount_shown(row)}", expected, (row.line,))
            true = scene.main.carried if scene is held else 0
            if true and not amount_fits(row, true, 0.003 * true):
                reason = f"the {side} printed {amount_shown(row)}, and {true / 1000:.0f} KB were sent"
                return fails(wrong_amount(session, row, true, side), reason, expected, (row.line,))
    return passes(expected)


@check("conserved", points=2, needs=_ROWS)
def conserved(session: SimpleperfScenes) -> Observed:
    """client and server report the same bytes, with -f B

    To the last digit. If a side counts BYE as well, that is a hint.
    """
    scene = with_format(session.link())
    client, server = (total(program.rows) for _, program in scene.sides)
    sent, received = amount_bytes(client), amount_bytes(server)
    expected, found = "the same number of bytes on both sides", f"client {sent:.0f} B, server {received:.0f} B"
    steps = [amount_step(row) for row in (client, server)]
    slack = 0.0 if max(steps) == 1 else sum(steps)
    if abs(sent - received) <= slack:
        return passes(expected, found)
    if abs(received - sent) <= len(BYE) + slack:
        counted = Mistake(
            "client and server differ by the length of BYE",
            "on both sides count the bytes before BYE: the client counts chunks only, and the server takes 3 off once",
        )
        return passes(expected, found, counted)
    more = "more" if received > sent else "fewer"
    reason = f"the server counts {abs(received - sent):.0f} B {more} than the client, whose row stands first here"
    if abs(received / max(sent, 1) - 1.024) < 0.002 and max(steps) == 1:
        mistake = mistakes.CHUNK_SIZE
    elif _is_off(session, "client") > _is_off(session, "server"):
        mistake = mistakes.SENDS_COUNTED
    else:
        mistake = amount_mistake(server, max(sent, 1), "server")
    return fails(mistake, reason, expected, (client.line, server.line))


def _is_off(session: SimpleperfScenes, side: str) -> float:
    """Return how far a side's count is from the relay's in a transfer with amounts in KB, in bytes."""
    scene = session.held()
    rows = dict(scene.sides)[side].rows
    return abs(amount_bytes(total(rows)) - scene.main.carried) if rows else 0.0
