"""Judge a simpleperf's transfers: one function a check, from what passed on the wire and what was printed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from linklab.measure.simpleperf_rows import (
    Row,
    amount_bytes,
    amount_step,
    label_says_bytes,
    rate_mbps,
    rate_step_mbps,
    unit_bytes,
)
from linklab.network import goodput_ceiling_mbps
from linklab.programs.checks import Failed, Observed, WaitsFor
from linklab.programs.scenes import NotTried
from linklab.programs.simpleperf import session as scenes
from linklab.programs.simpleperf.evidence import (
    ELSEWHERE,
    Connection,
    ProgramRun,
    Take,
    Trouble,
    breach,
    crash,
    trouble,
)
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import (
    RateReading,
    Span,
    amount_fits,
    amount_mistake,
    amount_shown,
    is_whole,
    lasts,
    rate_shown,
    read_rate,
    read_rate_of,
    times,
    total,
)
from linklab.programs.simpleperf.session import RATE_MBPS, SimpleperfScenes

HEADING: Final = "ID   Interval   Transfer   Bandwidth"
ROW: Final = "10.0.0.2:33540   0.0 - 2.0   2 MB   8.00 Mbps"
SENDING_S: Final = (1.9, 4.0)
"""How long a client with -t 2 may be seen to send: what waits in buffers arrives after it has stopped."""
IDLE_S: Final = 0.25
"""A program that sends nothing for longer, though nothing is in its way, sleeps."""
LEAST_SHARE: Final = 0.8
"""Of the goodput ceiling of the shaped link: slow start and the wait for the acknowledgement take the rest."""
MOST_SHARE: Final = 1.01
_JITTER_S: Final = 0.01
_DIGITS: Final = 8
"""A start message may name the amount: it is longer by so many bytes for a large one."""


def of_trouble(found: Trouble, context: str = "", expected: str = "") -> Observed:
    """Return the verdict on a scene that ended in trouble."""
    return fails(found.mistake, f"{context}{found.reason}", expected, found.quotes)


def in_limits(take: Take, context: str = "", expected: str = "") -> Take:
    """Return a take in which all programs kept to their limits. Raises Failed for any other."""
    if found := breach(take):
        raise Failed(of_trouble(found, context, expected))
    return take


# --- transfer


def listens(session: SimpleperfScenes) -> Observed:
    """Ask the kernel which sockets listen."""
    take = session.transfer()
    found = breach(take)
    if found is not None and not take.listening:
        return of_trouble(found)
    words = take.server.record["words"]
    port = words[words.index("-p") + 1]
    expected = f"it listens on port {port}"
    if take.listening:
        return passes(expected)
    crashed = crash(take.server)
    if crashed is not None and crashed.mistake in ELSEWHERE:
        raise NotTried(f"{crashed.mistake.title}: {crashed.reason}", crashed.mistake.hint)
    if crashed is not None:
        return of_trouble(crashed, expected=expected)
    if take.server.ended:
        reason = f"the server ended at once; it said: {take.server.last_words()}"
        return fails(Mistake.NO_LISTENING, reason, expected)
    if take.server.stopped == "it listens elsewhere":
        return fails(Mistake.PORT_IGNORED, f"with -p {port} the server listens on another port", expected)
    return fails(Mistake.NO_LISTENING, "nothing listens 10 s after the start", expected)


def binds(session: SimpleperfScenes) -> Observed:
    """Ask the kernel for their addresses: 0.0.0.0 is all addresses, and too many."""
    take = session.transfer()
    words = take.server.record["words"]
    asked = words[words.index("-b") + 1]
    found_at = ", ".join(address for address, _ in take.listening)
    if any(address != asked for address, _ in take.listening):
        return fails(Mistake.BIND_IGNORED, f"with -b {asked} it listens on {found_at}", asked)
    return passes(asked, found_at)


def connects(session: SimpleperfScenes) -> Observed:
    """Wait for the client at a relay, on a host of its own."""
    take = session.transfer()
    found = breach(take)
    if found and not take.connections:
        return of_trouble(found)
    words = take.client.record["words"]
    expected = f"a connection to {words[words.index('-I') + 1]}, port {words[words.index('-p') + 1]}"
    if take.connections:
        return passes(expected)
    said = (take.client.last_words(),)
    if take.refused:
        reason = "the client reached the server's host, and nothing listened there any more"
        return fails(Mistake.REFUSES, reason, expected, said)
    # the same with the default port everywhere tells which of the two arguments is not used
    if session.default_port().tried:
        return fails(Mistake.PORT_IGNORED, "with the default port, 8088, it connects", expected, said)
    crashed = crash(take.client)
    went_elsewhere = re.search("refused|unreachable", take.client.text, re.I)
    if crashed is not None and not went_elsewhere:
        return of_trouble(crashed, expected=expected)
    mistake = Mistake.ADDRESS_IGNORED if went_elsewhere else Mistake.NO_CONNECTION
    return fails(mistake, f"no connection came to that address; the client said: {said[0]}", expected)


def ends(session: SimpleperfScenes) -> Observed:
    """Look in the relay for data, then for an answer to the last of it; the client must end by itself."""
    take = session.transfer()
    expected = "data, an answer to the end message, and the client's end"
    if take.connections and (late := _sends_on(take, expected)):
        return late
    if found := breach(take):
        return of_trouble(found, expected=expected)
    one, client = take.main, take.client
    errors = [found for found in (crash(take.server), crash(client)) if found and found.mistake is not Mistake.CRASH]
    if not one.carried:
        if errors:
            return of_trouble(errors[0], expected=expected)
        return fails(
            Mistake.NO_DATA, f"it connected and sent no data; the client said: {client.last_words()}", expected
        )
    if one.acknowledged_s is None or not (client.ended or take.waited()):
        return of_trouble(errors[0], expected=expected) if errors else _no_answer(session, take, expected)
    if not client.ended:
        return fails(Mistake.NO_END, "the answer came, and the client ran on until it was stopped", expected)
    return passes(expected, f"{one.carried} bytes, {len(one.answer)} bytes of answer")


def _sends_on(take: Take, expected: str) -> Observed | None:
    """Return the verdict on a client that still sends, without an answer, when its time has long been over."""
    one = take.main
    lasted_s = one.sent_s - one.began_s
    if one.acknowledged_s is not None or take.client.ended or lasted_s < 4 * scenes.TRANSFER_S:
        return None
    reason = f"with -t {scenes.TRANSFER_S} it still sent after {lasted_s:.0f} s, and had to be stopped"
    return fails(Mistake.TIME_IGNORED, reason, expected)


def _no_answer(session: SimpleperfScenes, take: Take, expected: str) -> Observed:
    """Find which end of a transfer the server answers: one apart from the data, or that of the stream."""
    one = take.main
    end = one.stream.end
    what = f"the end message {end!r}" if end and one.stream.is_sure else "the last that it sends"
    if end and _was_answered(session.end_apart()):
        reason = f"the server answers {what} when it comes alone, and not when it comes in one piece with the last data"
        return fails(Mistake.END_GLUED, reason, expected)
    if _was_answered(session.end_of_stream()):
        if end:
            return fails(Mistake.END_IGNORED, f"the server answers when the stream ends, not to {what}", expected)
        reason = "the server answers when the stream ends, and the client, which waits for the answer, never ends it"
        return fails(Mistake.NO_END_MESSAGE, reason, expected)
    if not end and one.stream.is_sure:
        return fails(
            Mistake.NO_END_MESSAGE, "nothing came behind the data, and the server says nothing to it", expected
        )
    return fails(Mistake.NO_ACKNOWLEDGEMENT, f"the server says nothing to {what}", expected)


def _was_answered(take: Take) -> bool:
    return bool(take.peers and take.peers[0] and take.peers[0][-1].get("data"))


def leaves_well(session: SimpleperfScenes) -> Observed:
    """Hold the answer back for 0.3 s: the client waits for it. Neither side may print a traceback."""
    take = session.transfer()
    expected = "it waits for the answer, and ends with status 0"
    client = crash(take.client)
    if client is not None and client.mistake is Mistake.CRASH:
        return fails(Mistake.STATUS_NOT_ZERO, client.reason, expected, client.quotes)
    if client is not None:
        return of_trouble(client, expected=expected)
    if not take.waited():
        early_s = (take.main.acknowledged_s or 0.0) - float(take.client.record["ended_s"])
        reason = f"held back for {scenes.ANSWER_DELAY_S:g} s, the answer came {early_s:.2f} s after the client's end"
        return fails(Mistake.NO_WAIT, reason, expected)
    server = crash(take.server)
    return of_trouble(server, expected=expected) if server is not None else passes(expected)


def client_row(session: SimpleperfScenes) -> Observed:
    """Read the table: a heading that names interval, amount and rate, and below it a row with all three. A unit
    stands beside its number or in the heading; spacing, bars and decimals are free.
    """
    return _row(session.transfer().client)


def server_row(session: SimpleperfScenes) -> Observed:
    """Read the server's table, as the client's."""
    return _row(session.transfer().server)


def _row(program: ProgramRun) -> Observed:
    expected = f"{HEADING} / {ROW}"
    if program.rows:
        advice = Mistake.BYTES_LABEL if label_says_bytes(program.rows[-1].rate) else None
        return passes(expected, program.rows[-1].line, advice)
    return no_row(program, expected)


def no_row(program: ProgramRun, expected: str, context: str = "") -> Observed:
    """Return the verdict on a program that prints no row, or one without a heading."""
    if program.reading.complaint:
        return fails(Mistake.NO_HEADING, f"{context}the {program.side}: {program.reading.complaint}", expected)
    reason = f"{context}the {program.side} prints no row; its last line: {program.last_words()}"
    return fails(Mistake.NO_ROW, reason, expected)


def _sides(take: Take) -> tuple[tuple[str, ProgramRun], ...]:
    return (("client", take.client), ("server", take.server))


def both_bytes(session: SimpleperfScenes) -> Observed:
    """Compare with what the relay counted, within the digits printed and 0.5%: the step clock is exact."""
    take = session.transfer()
    true = take.main.carried
    expected = f"both {true / 1e6:.2f} MB, as many as went over the network"
    rows = {side: total(program.rows) for side, program in _sides(take)}
    found = ", ".join(f"{side} {amount_shown(row)}" for side, row in rows.items())
    for side, row in rows.items():
        if not amount_fits(row, true, 0.005 * true):
            mistake = _amount_mistake(session, row, true, side)
            reason = f"the {side} printed {amount_shown(row)}, and {true / 1e6:.2f} MB were sent"
            return fails(mistake, reason, expected, (row.line,))
    return passes(expected, found)


def _amount_mistake(session: SimpleperfScenes, row: Row, true: float, side: str) -> Mistake:
    """Return why an amount is wrong. In B nothing is divided: a client that is off there too counts chunks wrongly."""
    mistake = amount_mistake(row, true, side)
    if mistake is Mistake.BINARY_UNITS and side == "client" and abs(true / amount_bytes(row) - 1.024) < 0.01:
        link = session.link()
        if _rows_of_both(link) and all(unit_bytes(total(program.rows).amount.unit) == 1 for _, program in _sides(link)):
            sent, received = (amount_bytes(total(program.rows)) for _, program in _sides(link))
            return Mistake.CHUNK_SIZE if abs(received / max(sent, 1) - 1.024) < 0.002 else mistake
    return mistake


# --- clock


def has_carried(take: Take) -> bool:
    """Return whether data reached the server and the client came to an end."""
    is_whole = bool(take.listening and take.clients and take.connections)
    return is_whole and take.client.ended and not take.stalled and take.main.carried > 0


def _rows_of_both(take: Take) -> bool:
    """Return whether the client came to its end and both sides printed a row."""
    is_whole = bool(take.listening and take.clients and take.client.ended and not take.stalled)
    return is_whole and bool(take.client.rows and take.server.rows)


def _played(take: Take, context: str) -> Take:
    """Return a transfer that came to its end and of which both sides printed a row. Raises Failed for any other."""
    if not _rows_of_both(take) or (take.tried and not has_carried(take)):
        raise Failed(not_played(take, context))
    return take


def not_played(take: Take, context: str) -> Observed:
    """Say what came in between, where a transfer that worked does not work with other arguments."""
    if found := trouble(take):
        return of_trouble(found, context)
    if take.clients and take.listening:
        if take.connections and not take.client.ended:
            return fails(Mistake.NO_END, f"{context}the client had to be stopped")
        for _, program in _sides(take):
            if not program.rows:
                return no_row(program, "", context)
    return fails(Mistake.CRASH, f"{context}no data reached the server")


def sends_for(session: SimpleperfScenes) -> Observed:
    """Look in the relay how long data comes with -t 2: 1.9 to 4 s."""
    one = session.transfer().main
    # the data arrives at the relay while it is sent, but for what the two kernels' buffers hold at the end
    sent_s = one.data_s - one.began_s
    expected, found = f"{scenes.TRANSFER_S} s, and what waits in buffers", f"{sent_s:.1f} s"
    if SENDING_S[0] <= sent_s <= SENDING_S[1]:
        return passes(expected, found)
    return fails(Mistake.TIME_IGNORED, f"with -t {scenes.TRANSFER_S} it sends for {sent_s:.1f} s", expected)


@dataclass(frozen=True)
class _ClientClock:
    """What a client's rate tells where the relay has held data and acknowledgement back."""

    row: Row
    one: Connection
    whole_s: float
    reading: RateReading | None

    @property
    def expected(self) -> str:
        return f"{self.one.carried * 8e-6 / self.whole_s:.2f} Mbit/s, the rate over {self.whole_s:.2f} s"


def _client_clock(take: Take) -> _ClientClock:
    one, row = take.main, total(take.client.rows)
    end_s = one.acknowledged_s if one.acknowledged_s is not None else one.delivered_s
    # from the connection or the first data to the acknowledgement, which still has to travel
    whole_s = end_s - one.came_s
    spans: dict[str, Span] = {
        "whole": (end_s - one.began_s - _JITTER_S, whole_s + _JITTER_S),
        "asked": (scenes.TRANSFER_S - 0.002, scenes.TRANSFER_S + 0.002),
        "sent": (scenes.TRANSFER_S + 0.01, one.delivered_s - one.came_s + _JITTER_S),
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
    half = row.time_step_s
    if row.duration_s <= 0 or lasts(row, whole):
        return None
    return read_rate(row.rate, true_bytes, {"own": (max(0.001, row.duration_s - half), row.duration_s + half)})


def client_rate(session: SimpleperfScenes) -> Observed:
    """Compare with bytes * 8 / 1000000 / seconds from the relay's notes. Factors of 8 and 1.024 are named."""
    take = _played(session.held(), "with -f KB ")
    clock = _client_clock(take)
    return _units(session, take, "client", clock.row, clock.reading, clock.expected)


def server_rate(session: SimpleperfScenes) -> Observed:
    """Compare with the relay's notes, as the client's."""
    take = _played(session.held(), "with -f KB ")
    one, row = take.main, total(take.server.rows)
    true_s, jitter_s = one.delivered_s - one.came_s, 3 * _JITTER_S
    span = (one.delivered_s - one.began_s - jitter_s, true_s + jitter_s)
    expected = f"{one.carried * 8e-6 / true_s:.2f} Mbit/s, the rate over {true_s:.2f} s"
    reading = read_rate_of(row, one.carried, {"server": span})
    if reading is None or reading.mistake:
        own = _by_its_own_times(row, one.carried, span)
        if own is not None and own.mistake is None:
            taken = f"from the client's connection to the end message it was {true_s:.2f} s"
            reason = f"the server's row lasts {row.duration_s:g} s, and {taken}"
            return fails(Mistake.SERVER_CLOCK, reason, expected, (row.line,))
    return _units(session, take, "server", row, reading, expected)


def _units(
    session: SimpleperfScenes, take: Take, side: str, row: Row, reading: RateReading | None, expected: str
) -> Observed:
    """Judge the factor by which a side's rate is wrong."""
    found = rate_shown(row.rate)
    if reading is not None and reading.mistake is None:
        # over another time: that is the clock's check
        return passes(expected if reading.span in ("whole", "server") else "bytes * 8 / 1000000 / seconds", found)
    if reading is None:
        mistake = Mistake.INTEGER_DIVISION if is_whole(row.rate) else Mistake.WRONG_RATE
        what = (
            f"the whole number {found}"
            if is_whole(row.rate)
            else f"{found}, which fits none of the times that were measured"
        )
        return fails(mistake, f"the {side} says {what}", expected, (row.line,))
    mistake = Mistake.RATE_BY_FORMAT if _rate_by_format(session, take, side) else reading.mistake or Mistake.WRONG_RATE
    reason = f"the {side} printed {found}, {times(reading.factor)}"
    return fails(mistake, reason, expected, (row.line,))


def _rate_by_format(session: SimpleperfScenes, take: Take, side: str) -> bool:
    """Return whether a side's rate is of the right size where no -f is given, and far too large with -f KB."""
    large = []
    for each in (session.transfer(), take):
        program = each.program(side)
        if program is None or not program.rows:
            return False
        large.append(rate_mbps(total(program.rows).rate) > 30 * RATE_MBPS)
    return large == [False, True]


def waits_for_answer(session: SimpleperfScenes) -> Observed:
    """Read nothing in the relay from 1.2 s to 2.7 s of the data, while -t 2 runs out, and hold the acknowledgement
    back for 1.5 s. The printed rate must be that of the whole time, within 1.2%.
    """
    take = _played(session.held(), "with -f KB ")
    clock = _client_clock(take)
    found, quote = rate_shown(clock.row.rate), (clock.row.line,)
    if clock.one.acknowledged_s is None:
        return fails(Mistake.NO_ACKNOWLEDGEMENT, "with -f KB no acknowledgement came", clock.expected)
    if not take.waited():
        early_s = clock.one.acknowledged_s - float(take.client.record["ended_s"] or 0.0)
        reason = f"the acknowledgement came {early_s:.2f} s after the client had ended"
        return fails(Mistake.NO_WAIT, reason, clock.expected)
    if clock.reading is None:
        raise WaitsFor("client-rate")
    if clock.reading.span == "whole":
        return passes(clock.expected, found)
    mistake = {
        "asked": Mistake.ASKED_TIME,
        "sent": Mistake.CLOCK_BEFORE_ACK,
        "own": Mistake.CLOCK,
    }.get(clock.reading.span, Mistake.WHOLE_SECONDS)
    rated_s = clock.one.carried * 8e-6 * clock.reading.factor / rate_mbps(clock.row.rate)
    reason = f"the acknowledgement came after {clock.whole_s:.2f} s, but the client printed {found}, the rate over "
    return fails(mistake, f"{reason}{rated_s:.2f} s", clock.expected, quote)


def link(session: SimpleperfScenes) -> Observed:
    """Play a transfer of 4 s over a link of 8 Mbit/s and 10 ms each way, without the relay. A rate is at most 101%
    of the ceiling of TCP's goodput, and at least 80%: slow start and the wait for the acknowledgement take the
    rest.
    """
    take = _played(session.link(), "with -f B ")
    ceiling = goodput_ceiling_mbps(RATE_MBPS)
    low, high = LEAST_SHARE * ceiling, MOST_SHARE * ceiling
    rows = {side: total(program.rows) for side, program in _sides(take)}
    expected = f"{low:.2f} to {high:.2f} Mbit/s"
    for side, row in rows.items():
        rate = rate_mbps(row.rate)
        if not low <= rate <= high:
            more = Mistake.OVER_CAPACITY if rate > high else Mistake.WRONG_RATE
            mistake = Mistake.RATE_BY_FORMAT if _rate_by_format(session, take, side) else more
            reason = f"the {side} reports {rate:.4g} Mbit/s over a link that carries {ceiling:.2f}"
            return fails(mistake, reason, expected, (row.line,))
    return passes(expected, ", ".join(f"{side} {rate_shown(row.rate)}" for side, row in rows.items()))


def format_sets_unit(session: SimpleperfScenes) -> Observed:
    """Compare amounts in each unit with the bytes carried; 1 KB is 1000 B."""
    held, over_link = session.held(), session.link()
    expected = "amounts in KB with -f KB, in B with -f B"
    for (side, unit), said in session.refused_formats.items():
        return fails(Mistake.FORMAT_REFUSED, f"the {side} refuses -f {unit}: {said}", expected)
    if not _rows_of_both(held) and not _rows_of_both(over_link):
        return not_played(held, "with -f KB ")
    for take, unit in ((held, "KB"), (over_link, "B")):
        for side, program in _sides(take) if _rows_of_both(take) else ():
            row = total(program.rows)
            if unit_bytes(row.amount.unit) != unit_bytes(unit):
                reason = f"with -f {unit} the {side} says {amount_shown(row)}"
                return fails(Mistake.FORMAT_IGNORED, reason, expected, (row.line,))
            true = take.main.carried if take is held and has_carried(take) else 0
            if true and not amount_fits(row, true, 0.003 * true):
                reason = f"the {side} printed {amount_shown(row)}, and {true / 1000:.0f} KB were sent"
                return fails(_amount_mistake(session, row, true, side), reason, expected, (row.line,))
    return passes(expected)


def conserved(session: SimpleperfScenes) -> Observed:
    """Compare the two amounts to the last digit. If a side counts the end message as well, that is a hint."""
    take = _played(session.link(), "with -f B ")
    client, server = (total(program.rows) for _, program in _sides(take))
    sent, received = amount_bytes(client), amount_bytes(server)
    expected, found = "the same number of bytes on both sides", f"client {sent:.0f} B, server {received:.0f} B"
    steps = [amount_step(row) for row in (client, server)]
    slack = 0.0 if max(steps) == 1 else sum(steps)
    if abs(sent - received) <= slack:
        return passes(expected, found)
    one = session.transfer().main
    first, last = len(one.stream.start), len(one.stream.end)
    counted_by_server = 0 < received - sent <= max(first + last, 1) + slack
    if counted_by_server or sent - received in {first, last, first + last, last + len(one.answer)}:
        return passes(expected, found, Mistake.END_COUNTED)
    more = "more" if received > sent else "fewer"
    reason = f"the server counts {abs(received - sent):.0f} B {more} than the client, whose row stands first here"
    if abs(received / max(sent, 1) - 1.024) < 0.002 and max(steps) == 1:
        mistake = Mistake.CHUNK_SIZE
    elif _is_off(session, "client") > _is_off(session, "server"):
        mistake = Mistake.SENDS_COUNTED
    else:
        mistake = amount_mistake(server, max(sent, 1), "server")
    return fails(mistake, reason, expected, (client.line, server.line))


def _is_off(session: SimpleperfScenes, side: str) -> float:
    """Return how far a side's count is from the relay's in a transfer with amounts in KB, in bytes."""
    take = session.held()
    program = take.program(side)
    return abs(amount_bytes(total(program.rows)) - take.main.carried) if program and program.rows else 0.0


# --- amount


def num_understood(session: SimpleperfScenes) -> Observed:
    """Try 1500KB, 1500 KB, and 1500 with -f KB (or 1500000), without -t."""
    expected = "1500KB, or 1500 KB, or 1500 with -f KB"
    form = session.form
    if form:
        return passes(expected, f"as {scenes.amount_words(form, 1500, 'KB')[1]}")
    # what the first form meets is the program's own answer to the sheet's
    first = session.amount(1500, "KB")
    found = trouble(first)
    if found is not None and found.mistake is not Mistake.CRASH:
        return of_trouble(found, "with -n 1500KB ", expected)
    said = first.client.last_words() if first.clients else "nothing"
    reason = f"1500KB, '1500 KB' and 1500 all send nothing; to 1500KB it said: {said}"
    return fails(Mistake.NUM_REFUSED, reason, expected)


def _amounts(session: SimpleperfScenes) -> dict[int, Take]:
    """Return the transfers of -n by the bytes that were asked for: in KB, in B, and in MB.

    That in MB is the one beside -t, unless -t ended it, which is a check of its own.
    """
    takes = {1_500_000: session.amount(1500, "KB"), 5_000: session.amount(5000, "B")}
    timed = session.amount_and_time()
    size = scenes.TIMED_MB * 1_000_000
    if timed.carrying and timed.main.carried >= 0.99 * size:
        return {**takes, size: timed}
    return {**takes, 2_000_000: session.amount(2, "MB")}


def _messages(takes: dict[int, Take]) -> int:
    """Return the bytes of start and end messages: what all have too much, else as the largest stream tells."""
    over = [int(take.main.up["bytes"]) - size for size, take in takes.items()]
    if 0 <= min(over) <= 256 and max(over) - min(over) <= _DIGITS:
        return min(over)
    largest = takes[max(takes)].main.stream
    return len(largest.start) + len(largest.end)


def num_exact(session: SimpleperfScenes) -> Observed:
    """Count in the relay 1500KB, 5000B, and 4MB or 2MB."""
    takes = _amounts(session)
    expected = ", ".join(f"{size} B" for size in takes)
    for size, take in takes.items():
        if not take.carrying:
            if take.refused:
                return fails(Mistake.REFUSES, f"for {size} B the server's host refused the connection", expected)
            found = trouble(take)
            if found is not None and found.mistake is not Mistake.CRASH:
                return of_trouble(found, f"for {size} B ", expected)
            said = take.client.last_words() if take.clients else "nothing"
            return fails(Mistake.NUM_REFUSED, f"for {size} B nothing was sent; it said: {said}", expected)
        if not take.client.ended:
            return fails(
                Mistake.NUM_IGNORED, f"with -n for {size} B the client sent on, and had to be stopped", expected
            )
    sent = {size: take.main.carried for size, take in takes.items()}
    messages = _messages(takes)
    for size, take in takes.items():
        if 0 <= take.main.up["bytes"] - size - messages <= _DIGITS:
            continue
        found = trouble(take)
        if found is not None and found.mistake is not Mistake.CRASH:
            return of_trouble(found, f"for {size} B it sent {sent[size]} B; ", expected)
        words = take.client.record["words"]
        reason = f"with -n {words[words.index('-n') + 1]} the client sent {sent[size]} B"
        return fails(_why_amount(sent), reason, f"exactly {size} B")
    return passes(expected, ", ".join(f"{size} B" for size in sent.values()))


def _why_amount(sent: dict[int, int]) -> Mistake:
    """Return what the amounts that were sent have in common."""
    kilo, single = sent[1_500_000], sent[5_000]
    if kilo > 10_000_000:
        return Mistake.NUM_IGNORED
    # in B there is nothing to take 1024 for
    if single < 5_100 and abs(kilo - 1_536_000) <= 1100:
        return Mistake.BINARY_UNITS
    over = [sent[size] - size for size in (1_500_000, 5_000)]
    if all(800 <= more < 1100 for more in over):
        return Mistake.NUM_ONE_MORE
    if single in (5_120, 6_144) or all(abs(sent[size] - 1.024 * size) < 1100 for size in (1_500_000, 5_000)):
        return Mistake.CHUNK_SIZE
    if single in (50, 500):
        return Mistake.NUM_SUFFIX
    return Mistake.NUM_ROUNDED


def num_time(session: SimpleperfScenes) -> Observed:
    """Play 4MB, which take four seconds, with -t 1. To refuse -t beside -n is a hint."""
    take = session.amount_and_time()
    size = scenes.TIMED_MB * 1_000_000
    expected = f"{size} B, though -t 1 was over"
    if not take.connections:
        found = trouble(take)
        if found is not None and found.mistake is not Mistake.CRASH:
            return of_trouble(found, "with -t 1 beside it ", expected)
        if take.refused:
            return fails(Mistake.REFUSES, "the server's host refused the connection", expected)
        said = take.client.last_words() if take.clients else "nothing"
        if not take.clients or not take.client.ended:
            return fails(Mistake.NO_END, f"with -t 1 beside it nothing was sent; the client said: {said}", expected)
        return passes(expected, f"refused: {said}", Mistake.NUM_ALONE)
    one = take.main
    seen = f"{one.carried} B in {one.sent_s - one.began_s:.1f} s"
    if one.carried >= 0.99 * size:
        return passes(expected, seen)
    return fails(Mistake.NUM_TIME, f"with -n {scenes.TIMED_MB}MB and -t 1 it sent {seen}", expected)


def num_rows(session: SimpleperfScenes) -> Observed:
    """Compare the rows of these transfers with what the relay counted."""
    takes = {size: take for size, take in _amounts(session).items() if has_carried(take)}
    if not takes:
        raise WaitsFor("num-exact")
    expected = ", ".join(f"{take.main.carried} B" for take in takes.values())
    messages, found = _messages(takes), []
    for size, take in takes.items():
        context = f"with -n {size} B "
        for side, program in _sides(take):
            if not program.rows:
                crashed = trouble(take)
                return of_trouble(crashed, context) if crashed else no_row(program, expected, context)
            row = total(program.rows)
            found.append(amount_shown(row))
            true = take.main.up["bytes"] - messages
            # a row may count the messages as well: that is named in the step clock
            if not amount_fits(row, true, messages + _DIGITS):
                reason = f"{context}the {side} printed {amount_shown(row)}, and {true} B were sent"
                return fails(_amount_mistake(session, row, true, side), reason, expected, (row.line,))
    return passes(expected, ", ".join(found))


def num_rate(session: SimpleperfScenes) -> Observed:
    """Compare the rates of 1500KB at 8 Mbit/s with the time that they took, within 1.2%. Then those of 5000B, which
    take next to no time: a program whose rate says 0.25 s more sleeps, or divides by too much.
    """
    take = session.amount(1500, "KB")
    if not has_carried(take):
        raise WaitsFor("num-exact")
    if not _rows_of_both(take):
        raise WaitsFor("num-rows")
    one = take.main
    client_s = (one.acknowledged_s or one.delivered_s) - one.came_s
    begin_s = one.began_s - one.came_s
    spans = {
        "client": (client_s - begin_s - _JITTER_S, client_s + _JITTER_S),
        "server": (one.delivered_s - one.began_s - 3 * _JITTER_S, one.delivered_s - one.came_s + 3 * _JITTER_S),
    }
    expected = f"{one.carried * 8e-6 / client_s:.2f} Mbit/s over {client_s:.2f} s"
    rows = {side: total(program.rows) for side, program in _sides(take)}
    for side, row in rows.items():
        reading = read_rate_of(row, one.carried, {"whole": spans[side]})
        if reading is not None and reading.mistake is None:
            continue
        reason = f"with -n the {side} says {rate_shown(row.rate)}; {one.carried} B took {client_s:.2f} s"
        asked = read_rate(row.rate, one.carried, {"asked": (24.99, 25.01)})
        if asked is not None and asked.mistake is None:
            mistake = Mistake.ASKED_TIME
        elif reading is not None and reading.mistake:
            mistake = reading.mistake
        elif lasts(row, spans[side]):
            mistake = Mistake.WRONG_RATE
        else:
            mistake = Mistake.CLOCK if side == "client" else Mistake.SERVER_CLOCK
        return fails(mistake, reason, expected, (row.line,))
    return _short_time(session) or passes(
        expected, ", ".join(f"{side} {rate_shown(row.rate)}" for side, row in rows.items())
    )


def _short_time(session: SimpleperfScenes) -> Observed | None:
    """Judge the rates of 5000 B, which take no time at all here. A program that sleeps, or never divides by less than a
    second, prints a rate as if they had taken long.
    """
    take = session.amount(5000, "B")
    if not has_carried(take) or not _rows_of_both(take):
        return None
    one = take.main
    end_s = one.acknowledged_s or one.delivered_s
    idle = {
        "before its data": one.began_s - one.came_s,
        "before its end message": one.sent_s - one.data_s,
    }
    busy_s = end_s - one.came_s - sum(gap_s for gap_s in idle.values() if gap_s > IDLE_S)
    for side, program in _sides(take):
        row = total(program.rows)
        rate = rate_mbps(row.rate) + rate_step_mbps(row.rate)
        if not math.isfinite(rate) or rate <= 0 or one.carried * 8e-6 / rate <= busy_s + IDLE_S:
            continue
        said_s = one.carried * 8e-6 / rate
        reason = f"the {side} says {rate_shown(row.rate)} of {one.carried} B, as if they had taken {said_s:.2f} s"
        expected = f"the rate over {busy_s:.2f} s"
        for where, gap_s in idle.items():
            if gap_s > IDLE_S:
                seen = f"{reason}; the client sent nothing for {gap_s:.2f} s {where}"
                return fails(Mistake.SLEEPS, seen, expected, (row.line,))
        return fails(Mistake.TIME_FLOOR, f"{reason}; they took {busy_s:.2f} s", expected, (row.line,))
    return None
