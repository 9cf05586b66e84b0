"""Step amount: -n sends what it says, whatever -t says."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.grade.simpleperf import figures, trouble
from linklab.grade.simpleperf.judge_transfer import needs
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Printed, Take
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed, unknown

KEYS = ("num-understood", "num-exact", "num-time", "num-rows")
FORMS = ("10MB", "10 MB", "10")
"""How -n may want its amount, in the order in which they are tried."""


def words(form: str, number: int, unit: str) -> list[str]:
    """The arguments that ask for an amount in one of `FORMS`, printed in the same unit."""
    amount = {"10MB": f"{number}{unit}", "10 MB": f"{number} {unit}", "10": str(number)}[form]
    return ["-n", amount, "-f", unit]


def learn_form(session: Session) -> Take:
    """A transfer of 1500 KB with -t 1, in the first form that the program understands."""
    take = None
    for form in FORMS:
        arguments = [*words(form, 1500, "KB"), "-t", "1"]
        take = session.pair(f"amount as {form}", [(0.0, arguments)], relay=session.paced())
        if take.passages and take.passages[0].up["bytes"] > 0:
            session.dialect.amount_form = form
            break
        if take.stalled:
            break
    assert take is not None
    return take


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why)
        return
    first = learn_form(session)
    form = session.dialect.amount_form
    if not form or not first.client.ended:
        found = trouble.breach(first) or (trouble.crash(first.client) if first.clients else None)
        said = first.client.last_words() if first.clients else "nothing"
        mistake, reason = Mistake.NUM_REFUSED, f"1500KB, '1500 KB' and 1500 were all refused; the last words: {said}"
        if found and found[0] is not Mistake.CRASH:
            mistake, reason = found
        elif form:
            mistake, reason = Mistake.NO_END, "the client with -n did not come to an end"
        yield failed("num-understood", mistake, reason, "1500000 bytes are sent")
        yield from all_unknown(KEYS[1:], "needs -n that is understood")
        return
    yield passed("num-understood", "1500KB, or 1500 KB, or 1500 with -f KB", f"as {form}")
    clients = [(0.0, words(form, 2, "MB")), (None, words(form, 5000, "B")), (None, words(form, 1500, "B"))]
    more = session.pair("amounts", clients, server=["-f", "B"], relay=session.paced())
    yield from _judged(session, first, more)


def _judged(session: Session, first: Take, more: Take) -> Iterator[ConformanceCheck]:
    end = len(session.dialect.end)
    asked = {1_500_000: first.passages[0].up["bytes"] - end}
    asked.update(zip((2_000_000, 5_000), (one.up["bytes"] - end for one in more.passages), strict=False))
    expected = ", ".join(f"{size} B" for size in asked)
    found = ", ".join(f"{size} B" for size in asked.values())
    wrong = {size: sent for size, sent in asked.items() if sent != size}
    passage = first.passages[0]
    sent_s = passage.up["last_s"] - passage.came_s
    if len(asked) < 3:
        yield unknown("num-exact", "not all clients got through: see the step many")
        yield unknown("num-time", "not all clients got through: see the step many")
    elif not wrong:
        yield passed("num-exact", expected, found)
        yield passed("num-time", "1500000 B, though -t 1 was over", f"{sent_s:.1f} s")
    else:
        size, sent = next(iter(wrong.items()))
        mistake = _why(asked, sent_s)
        yield failed("num-exact", mistake, f"-n for {size} B sent {sent} B", expected, found)
        if mistake in (Mistake.NUM_IGNORED, Mistake.NUM_TIME):
            yield failed("num-time", mistake, f"it sent for {sent_s:.1f} s", "1500000 B", f"{asked[1_500_000]} B")
        else:
            yield passed("num-time", "it sends on, though -t 1 was over", f"{sent_s:.1f} s")
        if mistake is Mistake.NUM_IGNORED:
            yield unknown("num-rows", "needs -n that is not ignored")
            return
    yield _rows(session, more)


def _why(asked: dict[int, int], sent_s: float) -> Mistake:
    by_kilo = abs(asked[1_500_000] - 1_536_000) <= 1000
    if by_kilo or abs(asked[2_000_000] - 2_097_152) <= 1000:
        return Mistake.BINARY_UNITS
    if 0 <= asked[1_500_000] - 1_500_000 < 1100 and 0 <= asked[2_000_000] - 2_000_000 < 1100:
        return Mistake.NUM_CHUNKS
    if sent_s < 2.0 and asked[1_500_000] < 1_500_000 and asked[2_000_000] == 2_000_000:
        return Mistake.NUM_TIME
    if asked[1_500_000] % 1_000_000 == 0:
        return Mistake.NUM_ROUNDED
    if asked[5_000] > 1_000_000 or asked[2_000_000] > 10_000_000:
        return Mistake.NUM_IGNORED
    return Mistake.NUM_ROUNDED


def _rows(session: Session, more: Take) -> ConformanceCheck:
    end = len(session.dialect.end)
    if len(more.passages) < 3 or len(more.clients) < 3:
        return unknown("num-rows", "not all clients got through: see the step many")
    sizes = [one.up["bytes"] - end for one in more.passages]
    expected = ", ".join(f"{size} B" for size in sizes)
    found = []
    pairs: list[tuple[str, Printed, int, str]] = [
        ("client", client, size, unit) for client, size, unit in zip(more.clients, sizes, ("MB", "B", "B"), strict=True)
    ]
    for side, program, size, unit in pairs:
        if not program.rows:
            return failed(
                "num-rows", Mistake.NO_ROW, f"no row of the {side} for {size} B", expected, program.last_words()
            )
        row = program.rows[-1]
        found.append(f"{row.amount.value:g} {row.amount.unit}")
        if not figures.amount_fits(row, size, unit):
            mistake = figures.amount_mistake(row, size, unit) or Mistake.WRONG_AMOUNT
            reason = f"the {side} says {found[-1]} of {size} B"
            return failed("num-rows", mistake, reason, expected, found[-1])
    advice = Mistake.NUM_CHUNKS if sizes[2] == 2000 else None
    return passed("num-rows", expected, ", ".join(found), advice)
