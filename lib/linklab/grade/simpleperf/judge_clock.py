"""Step clock: times, rates and units, against what the relay noted and what a shaped link can carry."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linklab.grade.simpleperf import figures, tolerances, trouble
from linklab.grade.simpleperf.judge_transfer import amount_guess, first_take, needs, shown, works
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.place import RATE_MBPS
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Take
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed, unknown
from linklab.measure.simpleperf_rows import Row
from linklab.network import goodput_ceiling_mbps

KEYS = ("time", "ack", "client-rate", "server-rate", "link", "format", "conserved")
ASKED_S = 2
LINK_S = 4
_JITTER_S = 0.01
_BUSY_MACHINE = "this machine was too busy to time it on loopback"
_AGAIN = "check again, or where a lab on virtual time runs"


def held_take(session: Session) -> Take:
    """A transfer during which the relay reads nothing for a while, and holds the acknowledgement back."""
    relay = session.paced(hold_s=tolerances.HOLD_S, answer_delay_s=tolerances.ANSWER_DELAY_S)
    return session.pair("clock", [(0.0, ["-t", str(ASKED_S), "-f", "KB"])], server=["-f", "KB"], relay=relay)


def link_take(session: Session) -> Take:
    """A transfer over the shaped link, or through the relay's pace where there is none; amounts in B."""
    relay = None if session.place.shaped else session.paced()
    return session.pair("link", [(0.0, ["-t", str(LINK_S), "-f", "B"])], server=["-f", "B"], relay=relay)


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why)
        return
    held, link = held_take(session), link_take(session)
    yield _time(session)
    if works(held) and held.client.rows and held.server.rows:
        ack, client = _client_clock(session, held)
        server = _server_rate(session, held)
        yield from (ack, client, server)
        # what is wrong with a clock or a unit shows again on the link, and has its name by then
        named = {"client": ack.mistake or client.mistake, "server": server.mistake}
    else:
        found = trouble.breach(held) or (trouble.crash(held.client) if held.clients else None)
        for key in ("ack", "client-rate", "server-rate"):
            if found and key == "ack":
                yield failed(key, found[0], f"with -f KB and a late acknowledgement: {found[1]}")
            else:
                yield unknown(key, "needs a transfer with -f KB, and a row of each side")
        named = {}
    if link.clients and link.client.ended and link.client.rows and link.server.rows:
        yield _link(session, link, named)
        yield _format(session, held, link)
        yield _conserved(session, link)
    else:
        found = trouble.breach(link) or (trouble.crash(link.client) if link.clients else None)
        for key in ("link", "format", "conserved"):
            if found and key == "format":
                yield failed(key, found[0], f"with -f B: {found[1]}")
            else:
                yield unknown(key, "needs a transfer with -f B, and a row of each side")


def _time(session: Session) -> ConformanceCheck:
    take = first_take(session)
    passage = take.passages[0]
    # the data arrives at the relay while it is sent, but for what the two kernels' buffers hold at the end
    sent_s = passage.up["last_s"] - passage.came_s
    expected, found = "2 s, and what waits in buffers", f"{sent_s:.1f} s"
    if sent_s > 20:
        return failed("time", Mistake.TIME_IGNORED, f"with -t 2 it sends for {sent_s:.0f} s", expected, found)
    least_s, most_s = tolerances.SENDING_S
    if not least_s <= sent_s <= most_s:
        if not session.place.virtual and sent_s > most_s:
            return unknown("time", _BUSY_MACHINE, _AGAIN)
        return failed("time", Mistake.TIME_IGNORED, f"with -t 2 it sends for {sent_s:.1f} s", expected, found)
    return passed("time", expected, found)


def _client_clock(session: Session, take: Take) -> tuple[ConformanceCheck, ConformanceCheck]:
    """The checks ack and client-rate."""
    passage, row = take.passages[0], take.client.rows[-1]
    assert passage.answered_s is not None
    carried = passage.up["bytes"] - len(session.dialect.end)
    # from the connection or its first byte to the acknowledgement, which still has to travel
    true = (passage.answered_s - max(passage.came_s, passage.up["first_s"]), passage.answered_s - passage.came_s)
    jitter_s = _JITTER_S if session.place.virtual else 0.15
    whole = (true[0] - jitter_s, true[1] + jitter_s)
    last_s = passage.up["forwarded_s"] - passage.came_s
    spans = {
        "whole": whole,
        "asked": (ASKED_S - 0.002, ASKED_S + 0.002),
        "sent": (ASKED_S + 0.01, last_s + jitter_s),
    }
    cut = {"cut": (math.floor(true[1]), math.floor(true[1])), "rounded": (round(true[1]), round(true[1]))}
    expected = f"the rate over {true[1]:.2f} s: {carried * 8e-6 / true[1]:.2f} Mbit/s"
    found = f"{row.rate.value:g} {row.rate.unit}"
    verdict = figures.judge_rate(row.rate, carried, spans)
    if verdict is None or verdict.mistake:
        # a client that counts wrongly may still divide rightly: its count is judged elsewhere
        by_count = figures.judge_rate(row.rate, figures.amount_bytes(row, "KB"), {"whole": whole})
        verdict = by_count if by_count and not by_count.mistake else verdict
    if not figures.is_whole(row.rate):
        verdict = verdict or figures.judge_rate(row.rate, carried, cut)
    verdict = verdict or _by_its_own_words(row, carried, whole)
    if verdict is None:
        if figures.is_whole(row.rate):
            mistake, reason = Mistake.INTEGER_DIVISION, f"the rate is the whole number {found}"
        else:
            mistake, reason = Mistake.WRONG_RATE, f"{found} fits no time that passed"
        ack = unknown("ack", f"the rate cannot be read: {mistake.title}")
        return ack, failed("client-rate", mistake, reason, expected, found)
    units = (
        passed("client-rate", "bytes * 8 / 1000000 / seconds", found)
        if verdict.mistake is None
        else failed("client-rate", verdict.mistake, f"the client says {found}", expected, found)
    )
    if verdict.span == "whole":
        return passed("ack", expected, found), units
    clocks = {"asked": Mistake.ASKED_TIME, "sent": Mistake.CLOCK_BEFORE_ACK, "own": Mistake.CLOCK}
    clock = clocks.get(verdict.span, Mistake.WHOLE_SECONDS)
    reason = f"the acknowledgement came after {true[1]:.2f} s, and the rate {found} is not taken over that time"
    return failed("ack", clock, reason, expected, found), units


def _by_its_own_words(row: Row, carried: float, whole: tuple[float, float]) -> figures.RateVerdict | None:
    """The rate over the interval that the row itself gives, for a clock that is wrong in some other way."""
    if row.duration_s <= 0:
        return None
    half = row.time_step_s / 2
    own = {"own": (max(0.001, row.duration_s - half), row.duration_s + half)}
    return figures.judge_rate(row.rate, carried, own) if not whole[0] <= row.duration_s <= whole[1] else None


def _server_rate(session: Session, take: Take) -> ConformanceCheck:
    passage, row = take.passages[0], take.server.rows[-1]
    carried = passage.up["bytes"] - len(session.dialect.end)
    jitter_s = _JITTER_S * 3 if session.place.virtual else 0.2
    first_s, last_s = passage.up["first_s"], passage.up["forwarded_s"]
    true = {"server": (last_s - first_s - jitter_s, last_s - passage.came_s + jitter_s)}
    expected = f"the rate over {last_s - passage.came_s:.2f} s: {carried * 8e-6 / (last_s - passage.came_s):.2f} Mbit/s"
    found = f"{row.rate.value:g} {row.rate.unit}"
    verdict = figures.judge_rate(row.rate, carried, true)
    if verdict is None:
        if figures.is_whole(row.rate):
            return failed("server-rate", Mistake.INTEGER_DIVISION, f"the rate is {found}", expected, found)
        own = _by_its_own_words(row, carried, true["server"])
        if own is not None and own.mistake is None:
            return failed("server-rate", Mistake.SERVER_CLOCK, f"it measured {row.duration_s:g} s", expected, found)
        said = figures.amount_bytes(row, "KB")
        counted = figures.judge_rate(row.rate, said, true)
        if counted is not None and counted.mistake is None:
            return failed(
                "server-rate", amount_guess(row, carried, "server", "KB"), f"it counted {shown(row)}", expected, found
            )
        return failed(
            "server-rate",
            own.mistake if own and own.mistake else Mistake.WRONG_RATE,
            f"it says {found}",
            expected,
            found,
        )
    if verdict.mistake is not None:
        return failed("server-rate", verdict.mistake, f"the server says {found}", expected, found)
    return passed("server-rate", expected, found)


def _link(session: Session, take: Take, named: dict[str, str]) -> ConformanceCheck:
    ceiling = goodput_ceiling_mbps(RATE_MBPS) if session.place.shaped else session.place.pace_mbps
    low, high = tolerances.LEAST_SHARE * ceiling, tolerances.MOST_SHARE * ceiling
    rows = {"client": take.client.rows[-1], "server": take.server.rows[-1]}
    rates = {side: figures.rate_mbps(row.rate) for side, row in rows.items()}
    expected = f"{low:.2f} to {high:.2f} Mbit/s"
    found = ", ".join(f"{side} {rate:.2f}" for side, rate in rates.items())
    for side, rate in rates.items():
        if low <= rate <= high:
            continue
        if not session.place.virtual and rate < low:
            return unknown("link", _BUSY_MACHINE, _AGAIN)
        earlier = next((mistake for mistake in Mistake if mistake.title == named.get(side)), None)
        count = _count_mistake(session, take)
        if earlier is None and count is not None and side == "server":
            earlier = count
        mistake = earlier or (Mistake.OVER_CAPACITY if rate > high else Mistake.WRONG_RATE)
        return failed("link", mistake, f"the {side} reports {rate:.2f} Mbit/s", expected, found)
    return passed("link", expected, found)


def _format(session: Session, held: Take, link: Take) -> ConformanceCheck:
    expected = "amounts in KB with -f KB, in B with -f B"
    carried = held.passages[0].up["bytes"] - len(session.dialect.end) if works(held) else None
    for take, unit in ((held, "KB"), (link, "B")):
        for side, program in (("client", take.client), ("server", take.server)):
            if not program.rows:
                continue
            row = program.rows[-1]
            label = (row.amount.unit or unit)[:1].upper()
            if label != unit[:1]:
                reason = f"with -f {unit} the {side} says {shown(row)}"
                return failed("format", Mistake.FORMAT_IGNORED, reason, expected, shown(row))
            if unit == "KB" and carried and not figures.amount_fits(row, carried, unit, 0.003 * carried):
                mistake = figures.amount_mistake(row, carried, unit) or amount_guess(row, carried, side, unit)
                others = take.server.rows if side == "client" else []
                if (
                    mistake is Mistake.BINARY_UNITS
                    and others
                    and figures.amount_fits(others[-1], carried, unit, 0.003 * carried)
                ):
                    mistake = Mistake.CHUNK_SIZE
                reason = f"the {side} says {shown(row)} of {carried / 1000:.0f} KB"
                return failed("format", mistake, reason, expected, shown(row))
    return passed("format", expected)


def _conserved(session: Session, take: Take) -> ConformanceCheck:
    sent, received = _counts(take)
    expected, found = f"both {sent:.0f} B", f"client {sent:.0f} B, server {received:.0f} B"
    mistake = _count_mistake(session, take)
    if mistake is None:
        return passed("conserved", expected, found)
    if mistake is Mistake.END_COUNTED:
        return passed("conserved", expected, found, mistake)
    return failed("conserved", mistake, f"the server has {received - sent:+.0f} B", expected, found)


def _counts(take: Take) -> tuple[float, float]:
    return tuple(figures.amount_bytes(program.rows[-1], "B") for program in (take.client, take.server))  # type: ignore[return-value]


def _count_mistake(session: Session, take: Take) -> Mistake | None:
    """Why the two sides count differently; None if they do not."""
    sent, received = _counts(take)
    slack = max(figures.amount_step(program.rows[-1], "B") for program in (take.client, take.server))
    slack = 0 if slack == 1 else slack
    if abs(sent - received) <= slack:
        return None
    if 0 < received - sent <= max(len(session.dialect.end), 1) + slack:
        return Mistake.END_COUNTED
    if sent and abs(received / sent - 1.024) < 0.002:
        return Mistake.CHUNK_SIZE
    return Mistake.BYTES_LOST if received < sent else Mistake.READS_COUNTED
