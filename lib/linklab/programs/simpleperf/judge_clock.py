"""Step clock: times, rates and units, against what the relay noted and what a shaped link can carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from linklab.measure.simpleperf_rows import Row
from linklab.network import goodput_ceiling_mbps
from linklab.programs.simpleperf import figures, tolerances, trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.dialect import SPELLINGS
from linklab.programs.simpleperf.evidence import Connection, Take
from linklab.programs.simpleperf.figures import RateVerdict, amount_shown, rate_shown
from linklab.programs.simpleperf.judge_transfer import carried, first_take, needs
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.place import PACE_MBPS, RATE_MBPS
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown, unread

KEYS = keys_of("clock")
ASKED_S = 2
LINK_S = 4
_LATER_S = 1.5
"""When the client starts: a server's clock that runs since its own start is told from one that starts with a client."""
_JITTER_S = 0.01


def learn_format(session: Session) -> None:
    """Find how each side takes -f KB, once, and what it says where it does not."""
    formats = session.dialect.formats
    for side in ("server", "client"):
        for number, spelled in enumerate(SPELLINGS):
            if side in formats:
                break
            take = _asked(session, side, number)
            understood = bool(take.listening) if side == "server" else bool(take.tried)
            if understood:
                formats[side] = number
            elif trouble.breach(take) is not None:
                break
            elif take.has_server and (side == "server" or take.clients):
                said = (take.server if side == "server" else take.client).last_words()
                session.dialect.refusals.setdefault(side, f"-f {spelled('KB')}: {said}")
        formats.setdefault(side, None)


def _asked(session: Session, side: str, number: int) -> Take:
    """A transfer in which one side is asked for KB, in one of `SPELLINGS`."""
    words = ["-f", SPELLINGS[number]("KB")]
    if number == 0 and side == "server":  # nearly all programs take this, on both sides
        return _held(session, words, words)
    server = session.dialect.words("server", "KB") if side == "client" else words
    if number == 0:
        return _held(session, server, words)
    client = words if side == "client" else []
    return session.pair(f"{side} -f {words[1]}", [(0.0, ["-t", "1", *client])], server=server, relay=session.paced())


def _held(session: Session, server: Sequence[str], client: Sequence[str]) -> Take:
    asked = [" ".join(words) or "no -f" for words in (server, client)]
    key = "clock" if server == client == ["-f", "KB"] else f"clock (server {asked[0]}, client {asked[1]})"
    relay = session.paced(hold_s=tolerances.HOLD_S, answer_delay_s=tolerances.ANSWER_DELAY_S)
    return session.pair(key, [(_LATER_S, ["-t", str(ASKED_S), *client])], server=server, relay=relay)


def held_take(session: Session) -> Take:
    """Play a transfer during which the relay reads nothing for a while, and holds the acknowledgement back."""
    return _held(session, session.dialect.words("server", "KB"), session.dialect.words("client", "KB"))


def link_take(session: Session) -> Take:
    """Play a transfer over the shaped link; amounts in B.

    Where a side takes -f KB and not -f B, that is learnt, and played without.
    """
    clients = [(0.0, ["-t", str(LINK_S)])]
    take = session.pair("link", clients, unit="B")
    for side in ("server", "client"):
        program = take.server if side == "server" else take.client if take.clients else None
        asked = bool(session.dialect.words(side, "B")) and first_take(session).client.status == 0
        ended = program is not None and program.ended and program.status != 0 and not program.rows
        if asked and ended and program is not None and not program.errors:
            session.dialect.refused.add((side, "B"))
            session.dialect.refusals.setdefault(side, f"-f B: {program.last_words()}")
            take = session.pair(f"link without -f B on the {side}", clients, unit="B")
    return take


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why[0], needs=why[1])
        return
    yield _time(session)
    learn_format(session)
    held, link = held_take(session), link_take(session)
    yield from _held_checks(session, held)
    if carried_rows(link):
        yield _link(link)
    else:
        yield _not_played("link", link)
    yield _format(session, held, link)
    if carried_rows(link):
        yield _conserved(session, link)
    else:
        yield _not_played("conserved", link)


def carried_rows(take: Take) -> bool:
    """Return True if the client came to its end and both sides printed a row."""
    played = bool(take.listening and take.clients and take.client.ended and not take.stalled)
    return played and bool(take.client.rows and take.server.rows)


def _not_played(key: str, take: Take) -> ConformanceCheck:
    """What came in between, where a transfer that worked without -f does not work with it."""
    found = trouble.of(take)
    if found is not None:
        return failed(key, found.mistake, found.reason, quotes=found.quotes)
    if take.clients and take.has_server:
        for program in (take.client, take.server):
            if program.reading.unread and not program.rows:
                return unread(key, program)
    missing = "server-row" if take.clients and take.client.rows else "client-row"
    return unknown(key, "needs a transfer that comes to its end, and a row of each side", needs=missing)


def _time(session: Session) -> ConformanceCheck:
    one = first_take(session).main
    # the data arrives at the relay while it is sent, but for what the two kernels' buffers hold at the end
    sent_s = one.data_s - one.began_s
    expected, found = "2 s, and what waits in buffers", f"{sent_s:.1f} s"
    least_s, most_s = tolerances.SENDING_S
    if least_s <= sent_s <= most_s:
        return passed("time", expected, found)
    return failed("time", Mistake.TIME_IGNORED, f"with -t 2 it sends for {sent_s:.1f} s", expected, found)


def _held_checks(session: Session, take: Take) -> Iterator[ConformanceCheck]:
    """The checks ack, client-rate and server-rate."""
    if not carried(take) or not carried_rows(take):
        for key in ("ack", "client-rate", "server-rate"):
            yield _not_played(key, take)
        return
    yield from client_clock(session, take, take.main)
    yield _server_rate(session, take)


def client_clock(session: Session, take: Take, one: Connection) -> tuple[ConformanceCheck, ConformanceCheck]:
    """Return the checks ack and client-rate."""
    row, true_bytes = figures.total(take.client.rows), one.carried
    waited = take.waited()
    end_s = one.acknowledged_s if one.acknowledged_s is not None else one.delivered_s
    # from the connection or the first data to the acknowledgement, which still has to travel
    whole_s = end_s - one.came_s
    whole = (end_s - one.began_s - _JITTER_S, whole_s + _JITTER_S)
    spans = {
        "whole": whole,
        "asked": (ASKED_S - 0.002, ASKED_S + 0.002),
        "sent": (ASKED_S + 0.01, one.delivered_s - one.came_s + _JITTER_S),
    }
    unit = session.dialect.unit("client", "KB")
    verdict = _span_of(row, true_bytes, spans, unit)
    expected = f"{true_bytes * 8e-6 / whole_s:.2f} Mbit/s, the rate over {whole_s:.2f} s"
    found, quote = rate_shown(row), [row.line.strip()]
    if verdict is None:
        mistakes: tuple[Mistake, ...] = (Mistake.WRONG_RATE,)
        reason = f"{found} is the rate over no time that passed"
        if figures.is_whole(row.rate):
            mistakes, reason = (Mistake.INTEGER_DIVISION, Mistake.WRONG_RATE), f"the rate is the whole number {found}"
        units = failed("client-rate", mistakes, reason, expected, found, quote)
        if not waited:
            return _left(take, one, expected, found), units
        return unknown("ack", f"the rate {found} fits no time that passed", needs="client-rate"), units
    if verdict.mistake is None:
        units = passed("client-rate", "bytes * 8 / 1000000 / seconds", found)
    else:
        reason = f"the client says {found}, {figures.times(verdict.factor)}"
        units = failed(
            "client-rate", of_units(verdict, unit, rate_by_format(session, "client")), reason, expected, found, quote
        )
    if not waited:
        return _left(take, one, expected, found), units
    if verdict.span == "whole":
        return passed("ack", expected, found), units
    clocks = {
        "asked": (Mistake.ASKED_TIME,),
        "sent": (Mistake.CLOCK_BEFORE_ACK,),
        "own": (Mistake.CLOCK,),
    }
    clock = clocks.get(verdict.span, (Mistake.WHOLE_SECONDS,))
    reason = f"the acknowledgement came after {whole_s:.2f} s, and the rate {found} is not taken over that time"
    return failed("ack", clock, reason, expected, found, quote), units


def _left(take: Take, one: Connection, expected: str, found: str) -> ConformanceCheck:
    """The check ack, of a client that does not wait."""
    if one.acknowledged_s is None:
        return unknown("ack", "needs an acknowledgement", needs="ends")
    end_s = float(take.client.record["ended_s"] or 0.0)
    reason = f"the acknowledgement came {one.acknowledged_s - end_s:.2f} s after the client had ended"
    return failed("ack", (Mistake.NO_WAIT, Mistake.CLOCK_BEFORE_ACK), reason, expected, found)


def of_units(verdict: RateVerdict, unit: str, by_format: bool) -> tuple[Mistake, ...]:
    """Return the mistakes that make a rate wrong by a factor, where -f asks for a unit.

    ``by_format``: -f is known to change the rate.
    """
    assert verdict.mistake is not None
    scaled = verdict.factor * figures.unit_bytes(unit) / 1e6
    if by_format and figures.unit_bytes(unit) != 1e6 and any(abs(scaled * by - 1) < 1e-6 for by in (1, 8, 1 / 8)):
        return (Mistake.RATE_BY_FORMAT, verdict.mistake)
    near = abs(verdict.factor - 1) < 0.1
    return (verdict.mistake, Mistake.CHUNK_SIZE, Mistake.WRONG_RATE) if near else (verdict.mistake, Mistake.WRONG_RATE)


def rate_by_format(session: Session, side: str) -> bool:
    """Return True if a side's rate is of the right size where no -f is given, and far too large with -f KB."""
    large = []
    for take in (first_take(session), held_take(session)):
        program = None if not take.clients else take.client if side == "client" else take.server
        if program is None or not program.rows:
            return False
        large.append(figures.rate_mbps(figures.total(program.rows).rate) > 30 * PACE_MBPS)
    return large == [False, True]


def _span_of(row: Row, true_bytes: float, spans: dict[str, tuple[float, float]], unit: str) -> RateVerdict | None:
    """The time over which a rate was taken, of some that are known; or that of its own row, or one cut to seconds."""
    whole_s = spans["whole"][1]
    verdict = figures.judge_rate(row.rate, true_bytes, spans)
    if verdict is None or verdict.mistake:
        # a client that counts wrongly may still divide rightly: its count is judged elsewhere
        by_count = figures.judge_rate(row.rate, figures.amount_bytes(row, unit), {"whole": spans["whole"]})
        verdict = by_count if by_count and not by_count.mistake else verdict
    if verdict is not None and not verdict.mistake:
        return verdict
    own = _by_its_own_words(row, true_bytes, spans["whole"])
    if own is not None and (verdict is None or not own.mistake):
        return own
    if verdict is None and not figures.is_whole(row.rate):
        cut = {name: (seconds, seconds) for name, seconds in (("cut", math.floor(whole_s)), ("round", round(whole_s)))}
        verdict = figures.judge_rate(row.rate, true_bytes, cut)
    return verdict


def _by_its_own_words(row: Row, true_bytes: float, whole: tuple[float, float]) -> RateVerdict | None:
    """The rate over the interval that the row itself gives, for a clock that is wrong in some other way."""
    half = row.time_step_s
    if row.duration_s <= 0 or figures.lasts(row, whole):
        return None
    return figures.judge_rate(row.rate, true_bytes, {"own": (max(0.001, row.duration_s - half), row.duration_s + half)})


def _server_rate(session: Session, take: Take) -> ConformanceCheck:
    one, row = take.main, figures.total(take.server.rows)
    jitter_s = 3 * _JITTER_S
    true_s = one.delivered_s - one.came_s
    spans = {"server": (one.delivered_s - one.began_s - jitter_s, true_s + jitter_s)}
    expected = f"{one.carried * 8e-6 / true_s:.2f} Mbit/s, the rate over {true_s:.2f} s"
    found, quote = rate_shown(row), [row.line.strip()]
    verdict = figures.judge_rate(row.rate, one.carried, spans)
    if verdict is not None and verdict.mistake is None:
        return passed("server-rate", expected, found)
    unit = session.dialect.unit("server", "KB")
    counted = figures.judge_rate(row.rate, figures.amount_bytes(row, unit), spans)
    if counted is not None and counted.mistake is None:
        mistakes = figures.amount_mistakes(row, one.carried, "server", unit)
        return failed("server-rate", mistakes, f"it counted {amount_shown(row)}", expected, found, quote)
    own = _by_its_own_words(row, one.carried, spans["server"])
    if own is not None and own.mistake is None:
        reason = f"its clock ran for {row.duration_s:g} s"
        return failed("server-rate", Mistake.SERVER_CLOCK, reason, expected, found, quote)
    verdict = verdict or own
    if verdict is not None:
        reason = f"the server says {found}, {figures.times(verdict.factor)}"
        return failed(
            "server-rate", of_units(verdict, unit, rate_by_format(session, "server")), reason, expected, found, quote
        )
    if figures.is_whole(row.rate):
        mistakes = (Mistake.INTEGER_DIVISION, Mistake.WRONG_RATE)
        return failed("server-rate", mistakes, f"the rate is the whole number {found}", expected, found, quote)
    reason = f"{found} is the rate over no time that passed"
    clock = () if figures.lasts(row, spans["server"]) else (Mistake.SERVER_CLOCK,)
    mistakes = (Mistake.WRONG_RATE, *clock)
    return failed("server-rate", mistakes, reason, expected, found, quote)


def _link(take: Take) -> ConformanceCheck:
    ceiling = goodput_ceiling_mbps(RATE_MBPS)
    low, high = tolerances.LEAST_SHARE * ceiling, tolerances.MOST_SHARE * ceiling
    rows = {"client": figures.total(take.client.rows), "server": figures.total(take.server.rows)}
    rates = {side: figures.rate_mbps(row.rate) for side, row in rows.items()}
    expected = f"{low:.2f} to {high:.2f} Mbit/s"
    found = ", ".join(f"{side} {rate:.2f}" for side, rate in rates.items())
    for side, rate in rates.items():
        if low <= rate <= high:
            continue
        what = f"the {side} reports {rate:.2f} Mbit/s over a link that carries {ceiling:.2f}"
        return failed("link", _off_link(rate, low, high, side), what, expected, found, [rows[side].line.strip()])
    return passed("link", expected, found)


def _off_link(rate: float, low: float, high: float, side: str) -> tuple[Mistake, ...]:
    """What would bring a rate back into what the link carries."""
    found = [Mistake.RATE_BY_FORMAT] if low <= rate / 1e6 <= high or low <= rate / 125_000 <= high else []
    found += [mistake for factor, mistake in figures.FACTORS if low <= rate / factor <= high]
    if high < rate:
        near = rate < 2.5 * high
        clocks = (
            [Mistake.CLOCK_BEFORE_ACK, Mistake.ASKED_TIME, Mistake.NO_WAIT, Mistake.CLOCK] if side == "client" else []
        )
        counts = [Mistake.SENDS_COUNTED if side == "client" else Mistake.READS_COUNTED]
        extra = [*(clocks if near else []), *counts, Mistake.SERVER_CLOCK, Mistake.WHOLE_SECONDS, Mistake.OVER_CAPACITY]
    else:
        counts = [Mistake.BYTES_LOST] if side == "server" else [Mistake.SENDS_COUNTED, Mistake.CHUNK_SIZE]
        extra = [*counts, Mistake.SERVER_CLOCK, Mistake.WHOLE_SECONDS, Mistake.INTEGER_DIVISION, Mistake.WRONG_RATE]
    far = rate > 2.5 * high or rate < low / 2.5
    if far and not found and rate < low:
        # no count is that far off: what is wrong is how the rate follows from it
        found = [Mistake.WRONG_RATE]
    ordered = [*found, *extra] if far else [*extra[:-1], *found, extra[-1]]
    return tuple(dict.fromkeys(ordered))


def _format(session: Session, held: Take, link: Take) -> ConformanceCheck:
    expected = "amounts in KB with -f KB, in B with -f B"
    for side, said in session.dialect.refusals.items():
        return failed("format", Mistake.FORMAT_REFUSED, f"the {side} refuses {said}", expected, said, [said])
    if not carried_rows(held) and not carried_rows(link):
        return _not_played("format", held)
    for take, unit in ((held, "KB"), (link, "B")):
        for side, program in (("client", take.client), ("server", take.server)):
            if not program.rows:
                continue
            row = figures.total(program.rows)
            if figures.unit_bytes(row.amount.unit, unit) != figures.unit_bytes(unit):
                reason = f"with -f {unit} the {side} says {amount_shown(row)}"
                return failed("format", Mistake.FORMAT_IGNORED, reason, expected, amount_shown(row), [row.line.strip()])
            true_bytes = take.main.carried if take is held and carried(take) else 0
            if true_bytes and not figures.amount_fits(row, true_bytes, unit, 0.003 * true_bytes):
                mistakes = figures.amount_mistakes(row, true_bytes, side, unit)
                reason = f"the {side} says {amount_shown(row)} of {true_bytes / 1000:.0f} KB"
                return failed("format", mistakes, reason, expected, amount_shown(row), [row.line.strip()])
    return passed("format", expected)


def _conserved(session: Session, take: Take) -> ConformanceCheck:
    client, server = figures.total(take.client.rows), figures.total(take.server.rows)
    units = [session.dialect.unit(side, "B") for side in ("client", "server")]
    sent, received = figures.amount_bytes(client, units[0]), figures.amount_bytes(server, units[1])
    expected, found = f"both {sent:.0f} B", f"client {sent:.0f} B, server {received:.0f} B"
    steps = [figures.amount_step(row, unit) for row, unit in zip((client, server), units, strict=True)]
    slack = 0.0 if max(steps) == 1 else sum(steps)
    if abs(sent - received) <= slack:
        return passed("conserved", expected, found)
    talk = session.dialect.talks["-t"]
    first, last = len(talk.stream.start), len(talk.stream.end)
    if 0 < received - sent <= max(first + last, 1) + slack:
        return passed("conserved", expected, found, Mistake.END_COUNTED)
    if sent - received in {first, last, first + last, last + len(talk.answer)}:  # the client counts them as sent
        return passed("conserved", expected, found, Mistake.END_COUNTED)
    reason = f"the server has {received - sent:+.0f} B"
    quotes = [client.line.strip(), server.line.strip()]
    ratio = received / sent if sent else math.inf
    if abs(ratio - 1.024) < 0.002:
        mistakes: tuple[Mistake, ...] = (Mistake.CHUNK_SIZE, Mistake.SENDS_COUNTED)
    elif received < sent:
        mistakes = (*figures.amount_mistakes(server, sent, "server", units[1]), Mistake.SENDS_COUNTED)
    else:
        mistakes = (Mistake.READS_COUNTED, Mistake.SENDS_COUNTED)
    # in B nothing is divided by 1000 or 1024
    in_bytes = all(
        figures.unit_bytes(row.amount.unit, unit) == 1 for row, unit in zip((client, server), units, strict=True)
    )
    if not in_bytes and any(abs(ratio - factor) < 0.002 for factor in (1 / 1.024, 1.024, 1 / 1.048576, 1.048576)):
        mistakes = (Mistake.BINARY_UNITS, *mistakes)
    return failed("conserved", (*mistakes, Mistake.WRONG_AMOUNT), reason, expected, found, quotes)
