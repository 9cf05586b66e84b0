"""Step amount: -n sends what it says, whatever -t says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from linklab.measure.simpleperf_rows import Row
from linklab.programs.simpleperf import figures, trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.evidence import Take
from linklab.programs.simpleperf.figures import amount_shown, rate_shown
from linklab.programs.simpleperf.judge_clock import learn_format, link_take, of_units, rate_by_format
from linklab.programs.simpleperf.judge_transfer import carried, needs
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.place import PACE_MBPS
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.stream import MESSAGE_BYTES
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown, unread

KEYS = keys_of("amount")
FORMS: Final = ("10MB", "10 MB", "10", "10M", "10mb")
"""How -n may want its amount, in the order in which they are tried: "10" is in the unit of -f."""
_IN_BYTES: Final = "10000000"
"""As "10", but always in bytes."""
SIZES: Final = ((1500, "KB"), (2, "MB"), (5000, "B"), (1500, "B"))
_BYTES: Final = {"B": 1, "KB": 1000, "MB": 1_000_000}
_DIGITS: Final = 8
"""A start message may name the amount: it is longer by so many bytes for a large one."""
_LIMIT_S: Final = 30.0


def words(form: str, number: int, unit: str) -> list[str]:
    """Return the argument that asks for an amount in one of `FORMS`, or in bytes."""
    shown = {
        "10MB": f"{number}{unit}",
        "10 MB": f"{number} {unit}",
        "10": str(number),
        "10M": f"{number}{unit[0]}",
        "10mb": f"{number}{unit.lower()}",
        _IN_BYTES: str(number * _BYTES[unit]),
    }
    return ["-n", shown[form]]


def _sent(session: Session, form: str, number: int, unit: str) -> Take:
    """A transfer of -n alone, which prints in the same unit, through the relay's pace."""
    key = f"amount {' '.join(words(form, number, unit))} {unit}"
    clients = [(0.0, words(form, number, unit))]
    return session.pair(key, clients, unit=unit, relay=session.paced(), limit_s=_LIMIT_S)


def learn_form(session: Session) -> Take:
    """Play a transfer of 1500 KB, in the first form that the program understands; -t is left out."""
    take = None
    for form in FORMS:
        take = _sent(session, form, 1500, "KB")
        if take.connections and take.main.carried > 0:
            if form == "10" and take.main.up["bytes"] <= 1500 + MESSAGE_BYTES:
                form = _IN_BYTES
                take = _sent(session, form, 1500, "KB")
            session.dialect.amount_form = form
            session.dialect.learn("-n", take)
            break
        if take.stalled or trouble.breach(take):
            break
    assert take is not None
    return take


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why[0], needs=why[1])
        return
    learn_format(session)
    link_take(session)
    first = learn_form(session)
    form = session.dialect.amount_form
    if not form:
        yield _refused(session, first)
        yield from all_unknown(KEYS[1:], "needs -n that is understood", needs="num-understood")
        return
    yield passed("num-understood", "1500KB, or 1500 KB, or 1500 with -f KB", f"as {words(form, 1500, 'KB')[1]}")
    takes = {number * _BYTES[unit]: _sent(session, form, number, unit) for number, unit in SIZES}
    exact = _exact(takes)
    yield exact
    yield _time(session, exact)
    if exact.outcome == "failed" and not carried(first):
        yield from all_unknown(KEYS[3:], "needs a transfer that -n ends", needs="num-exact")
        return
    yield _rows(session, takes)
    yield _rate(session, first)


def _refused(session: Session, last: Take) -> ConformanceCheck:
    """No form of -n sends anything: what the first one said is the program's own answer to the sheet's form."""
    first = session.takes.get(f"amount {' '.join(words(FORMS[0], 1500, 'KB'))} KB", last)
    found = trouble.of(first)
    said = first.client.last_words() if first.clients else "nothing"
    reason = f"1500KB, '1500 KB', 1500, 1500K and 1500kb all send nothing; to 1500KB it said: {said}"
    mistakes: tuple[Mistake, ...] = (Mistake.NUM_REFUSED,)
    if found and found.mistake is not Mistake.CRASH:
        mistakes, reason = (found.mistake, Mistake.NUM_REFUSED), f"with -n 1500KB {found.reason}"
    return failed("num-understood", mistakes, reason, "1500000 bytes are sent", said, [said])


def _overheads(takes: Mapping[int, Take]) -> dict[int, int]:
    """By amount: how much more than it was sent, with start and end messages."""
    return {size: take.main.up["bytes"] - size for size, take in takes.items() if take.connections}


def _messages(takes: Mapping[int, Take]) -> int:
    """Bytes of start and end messages in each transfer: what all have too much, else as the largest stream tells."""
    over = _overheads(takes)
    if not over:
        return 0
    least, most = min(over.values()), max(over.values())
    if 0 <= least <= MESSAGE_BYTES and most - least <= _DIGITS:
        return least
    largest = takes[max(over)].main.stream
    return len(largest.start) + len(largest.end)


def _exact(takes: Mapping[int, Take]) -> ConformanceCheck:
    """Each amount is sent as it is, and besides it the same start and end messages each time."""
    asked = {size: take for size, take in takes.items() if size != 1500}
    expected = ", ".join(f"{size} B" for size in asked)
    over = _overheads(asked)
    for size, take in asked.items():
        if size not in over:
            return _not_sent("num-exact", size, take, expected)
    sent = {size: take.main.carried for size, take in asked.items()}
    found = ", ".join(f"{size} B" for size in sent.values())
    messages = _messages(asked)
    wrong = [size for size, more in over.items() if not 0 <= more - messages <= _DIGITS]
    if not wrong:
        return passed("num-exact", expected, found)
    size = wrong[0]
    mistakes = _why(sent, takes)
    reason = f"-n for {size} B sent {sent[size]} B"
    crashed = trouble.of(asked[size])
    if crashed is not None and crashed.mistake is not Mistake.CRASH:
        return failed(
            "num-exact", (crashed.mistake, *mistakes), f"{reason}; {crashed.reason}", expected, found, crashed.quotes
        )
    return failed("num-exact", mistakes, reason, expected, found)


def _not_sent(key: str, size: int, take: Take, expected: str) -> ConformanceCheck:
    """An amount that sends nothing, where another one did."""
    found = trouble.of(take)
    if take.refused:
        reason = f"for {size} B the server's host refused the connection"
        return failed(key, Mistake.REFUSES, reason, expected)
    said = take.client.last_words() if take.clients else take.server.last_words() if take.has_server else "nothing"
    if found is not None and found.mistake is not Mistake.CRASH:
        return failed(
            key, (found.mistake, Mistake.NUM_REFUSED), f"for {size} B {found.reason}", expected, quotes=found.quotes
        )
    return failed(key, Mistake.NUM_REFUSED, f"for {size} B nothing was sent; it said: {said}", expected, said, [said])


def _why(sent: Mapping[int, int], takes: Mapping[int, Take]) -> tuple[Mistake, ...]:
    """What explains the amounts sent, the likeliest first."""
    found: list[Mistake] = []
    kilo, mega, single = sent[1_500_000], sent[2_000_000], sent[5_000]
    # in B there is nothing to take 1024 for
    if single < 5_100 and (abs(kilo - 1_536_000) <= 1100 or abs(mega - 2_097_152) <= 1100):
        found.append(Mistake.BINARY_UNITS)
    over = [size - asked for asked, size in sent.items()]
    if all(0 <= more < 1100 for more in over):
        found += [Mistake.CHUNK_SIZE] if single in (5_120, 6_144) else []
        found.append(Mistake.NUM_CHUNKS)
    if all(abs(size - 1.024 * asked) < 1100 for asked, size in sent.items()) and Mistake.BINARY_UNITS not in found:
        found.append(Mistake.CHUNK_SIZE)
    if not takes[1_500_000].client.ended or kilo > 10_000_000 or (mega > 10_000_000 and single > 10_000_000):
        found.append(Mistake.NUM_IGNORED)
    if single in (50, 500) or (single < 5_000 and mega == 2_000_000 and kilo == 1_500_000):
        found.append(Mistake.NUM_SUFFIX)
    if all(size - asked in range(800, 1100) for asked, size in sent.items()):
        found.insert(0, Mistake.NUM_ONE_MORE)
    if kilo % 1_000_000 == 0 or single % 1_000_000 == 0:
        found.append(Mistake.NUM_ROUNDED)
    return tuple(dict.fromkeys([*found, Mistake.NUM_ROUNDED]))


def _time(session: Session, exact: ConformanceCheck) -> ConformanceCheck:
    """-n beside -t: the amount is sent, whatever the time."""
    form = session.dialect.amount_form
    # four seconds' worth: more than the kernels' buffers take in the first
    size_mb = round(4 * PACE_MBPS / 8)
    take = _timed(session, size_mb)
    expected = f"{size_mb} MB, though -t 1 was over"
    if not take.connections:
        found = trouble.of(take)
        said = take.client.last_words() if take.clients else "nothing"
        if found is not None and found.mistake is not Mistake.CRASH:
            return failed(
                "num-time", found.mistake, f"with -t 1 beside it {found.reason}", expected, said, found.quotes
            )
        if take.refused:
            return failed("num-time", Mistake.REFUSES, "the server's host refused the connection", expected)
        if not take.clients or not take.client.ended:
            reason = f"with -t 1 beside it nothing was sent; the client said: {said}"
            return failed("num-time", (Mistake.NO_END, Mistake.NO_CONNECTION), reason, expected, said)
        return passed("num-time", expected, f"refused: {said}", Mistake.NUM_ALONE)
    one = take.main
    lasted_s = one.sent_s - one.began_s
    seen = f"{one.carried} B in {lasted_s:.1f} s"
    if one.carried >= 990_000 * size_mb:
        return passed("num-time", expected, seen)
    alone = _sent(session, form, 2, "MB")
    two = alone.main.carried if alone.connections else 0
    if exact.outcome == "failed" and abs(2 * one.carried - size_mb * two) <= 0.02 * size_mb * two:
        return unknown("num-time", "needs -n that sends what it says", needs="num-exact")
    reason = f"with -n {size_mb}MB and -t 1 it sent {seen}, with -n 2MB alone {two} B"
    return failed("num-time", Mistake.NUM_TIME, reason, expected, seen)


def _timed(session: Session, size_mb: int) -> Take:
    clients = [(0.0, [*words(session.dialect.amount_form, size_mb, "MB"), "-t", "1"])]
    return session.pair("amount and time", clients, unit="MB", relay=session.paced(), limit_s=_LIMIT_S)


def _rows(session: Session, takes: Mapping[int, Take]) -> ConformanceCheck:
    """The rows of both sides give what was sent."""
    sizes = {size: take.main.carried for size, take in takes.items() if take.connections}
    expected = ", ".join(f"{size} B" for size in sizes.values())
    found = []
    units = {number * _BYTES[unit]: unit for number, unit in SIZES}
    over = _overheads(takes)
    messages = _messages(takes)
    for size, take in takes.items():
        if not take.connections or not carried(take):
            continue
        for side, program in (("client", take.client), ("server", take.server)):
            if not program.rows:
                if program.reading.unread:
                    return unread("num-rows", program)
                reason = f"no row of the {side} for -n {size} B; it said: {program.last_words()}"
                crashed = trouble.of(take)
                causes = (crashed.mistake, Mistake.NO_ROW) if crashed else (Mistake.NO_ROW,)
                return failed("num-rows", causes, reason, expected, program.last_words())
            row, unit = figures.total(program.rows), session.dialect.unit(side, units[size])
            found.append(amount_shown(row))
            true = take.main.up["bytes"] - messages
            # a row may count the messages as well: that is named in the step clock
            if not figures.amount_fits(row, true, unit, slack_bytes=messages + _DIGITS):
                mistakes = figures.amount_mistakes(row, true, side, unit)
                reason = f"the {side} says {amount_shown(row)} of {true} B"
                return failed("num-rows", mistakes, reason, expected, amount_shown(row), [row.line.strip()])
    if not found:
        return unknown("num-rows", "needs a transfer that -n ends", needs="num-exact")
    last = over.get(1500)
    advice = Mistake.NUM_CHUNKS if last is not None and 400 <= last - messages <= 600 else None
    return passed("num-rows", expected, ", ".join(found), advice)


def _rate(session: Session, take: Take) -> ConformanceCheck:
    """The rates of both sides are over the time that -n took."""
    if not take.connections or not carried(take) or not take.client.rows or not take.server.rows:
        return unknown("num-rate", "needs a transfer that -n ends, and a row of each side", needs="num-rows")
    one = take.main
    jitter_s = 0.01
    client_s = (one.acknowledged_s or one.delivered_s) - one.came_s
    begin_s = one.began_s - one.came_s
    spans = {
        "client": (client_s - begin_s - jitter_s, client_s + jitter_s),
        "server": (one.delivered_s - one.began_s - 3 * jitter_s, one.delivered_s - one.came_s + 3 * jitter_s),
    }
    rows = {"client": figures.total(take.client.rows), "server": figures.total(take.server.rows)}
    expected = f"{one.carried * 8e-6 / client_s:.2f} Mbit/s over {client_s:.2f} s"
    found = ", ".join(f"{side} {rate_shown(row)}" for side, row in rows.items())
    for side, row in rows.items():
        unit = session.dialect.unit(side, "KB")
        verdict = figures.judge_rate(row.rate, one.carried, {"whole": spans[side]})
        if verdict is not None and verdict.mistake is None:
            continue
        counted = figures.judge_rate(row.rate, figures.amount_bytes(row, unit), {"whole": spans[side]})
        if counted is not None and counted.mistake is None:
            continue
        mistakes = _off_rate(session, row, one.carried, spans[side], side, verdict)
        reason = f"with -n the {side} says {rate_shown(row)}; {one.carried} B took {client_s:.2f} s"
        return failed("num-rate", mistakes, reason, expected, found, [row.line.strip()])
    return passed("num-rate", expected, found)


def _off_rate(
    session: Session,
    row: Row,
    true_bytes: int,
    span: tuple[float, float],
    side: str,
    verdict: figures.RateVerdict | None,
) -> tuple[Mistake, ...]:
    """What explains a rate of -n that is not that of its time."""
    found: list[Mistake] = []
    asked = figures.judge_rate(row.rate, true_bytes, {"asked": (24.99, 25.01)})
    if asked is not None and asked.mistake is None:
        found.append(Mistake.ASKED_TIME)
    if verdict is not None and verdict.mistake is not None:
        found += of_units(verdict, row.amount.unit or "KB", rate_by_format(session, side))
    if figures.is_whole(row.rate):
        found.append(Mistake.INTEGER_DIVISION)
    if side == "client" and figures.rate_mbps(row.rate) > true_bytes * 8e-6 / span[1]:
        found += [Mistake.CLOCK_BEFORE_ACK, Mistake.NO_WAIT, Mistake.WHOLE_SECONDS]
    others = [Mistake.CLOCK if side == "client" else Mistake.SERVER_CLOCK, Mistake.ASKED_TIME, Mistake.WRONG_RATE]
    if figures.lasts(row, span):
        others.reverse()  # its clock is right, as the row says
    return tuple(dict.fromkeys([*found, *others]))
