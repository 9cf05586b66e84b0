"""From the checks of a program to its mistakes: the fewest causes that explain most of what failed. Pure.

A judge says of each failed check which mistakes would explain it. Here all of them are looked at together, and each
failed check is explained by one cause. What could not be tried, because something else failed, names its cause too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.programs.simpleperf.catalogue import ITEMS, keys_of
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import BEFORE, Cause, ConformanceCheck, seen

Steps = Mapping[str, Sequence[ConformanceCheck]]
"""Checks by step, as their judges made them."""

GENERIC: Final = frozenset(
    (
        Mistake.CRASH,
        Mistake.TRACEBACK,
        Mistake.NO_END,
        Mistake.WRONG_RATE,
        Mistake.WRONG_AMOUNT,
        Mistake.OVER_CAPACITY,
        Mistake.ENDLESS,
    )
)
"""They say what was seen, and not why: any mistake that says why explains the same check better."""


@dataclass(frozen=True)
class Effects:
    """What a mistake brings about elsewhere: checks of these keys that failed as one of these mistakes, or as one of
    `GENERIC`.
    """

    keys: tuple[str, ...]
    mistaken_for: tuple[Mistake, ...] = ()


_NONE: Final = Effects(())
_RATES: Final = ("client-rate", "server-rate", "link", "interval-rates", "interval-total", "num-rate")
_AMOUNTS: Final = ("bytes", "format", "conserved", "interval-sum", "interval-total", "num-rows", "parallel-bytes")
_COUNTS: Final = ("bytes", "link", "format", "conserved", "num-rows", "parallel-bytes")
_INTERVALS: Final = keys_of("intervals")
_PARALLEL: Final = keys_of("parallel")
_NUM: Final = keys_of("amount")
_END: Final = ("ends", "glued", "pieces")
_WITH_FORMAT: Final = ("ack", "link", "interval-rows", "parallel-together", *_AMOUNTS, *_NUM, *_RATES)
_ARGUMENTS: Final = keys_of("arguments")
_TRIED: Final = tuple(key for key in _ARGUMENTS if key not in ("no-server", "help"))

BRINGS: Final[dict[Mistake, Effects]] = {
    # one formula computes all rates, so its factor is in each of them
    Mistake.BYTES_AS_BITS: Effects(_RATES, (Mistake.TOTAL_RATE, Mistake.INTERVAL_RATE, Mistake.BINARY_UNITS)),
    Mistake.BITS_TWICE: Effects(_RATES, (Mistake.TOTAL_RATE, Mistake.INTERVAL_RATE, Mistake.BINARY_UNITS)),
    # most transfers are tried with -f KB or -f B: the factor that -f puts into a rate is in each of them
    Mistake.RATE_BY_FORMAT: Effects(
        _RATES, (Mistake.TOTAL_RATE, Mistake.INTERVAL_RATE, Mistake.BYTES_AS_BITS, Mistake.BITS_TWICE)
    ),
    # a whole number next to the true rate fits other factors and times by chance
    Mistake.INTEGER_DIVISION: Effects(
        (*_RATES, "ack", "interval-sum"),
        (Mistake.BINARY_UNITS, Mistake.WHOLE_SECONDS, Mistake.TOTAL_RATE, Mistake.INTERVAL_SUM),
    ),
    # 1.024 and 1.0486 are in amounts and rates alike; an amount that is 2 to 5 % too low looks like bytes lost
    Mistake.BINARY_UNITS: Effects(
        (*_AMOUNTS, *_RATES, "num-exact"),
        (Mistake.BYTES_LOST, Mistake.SENDS_COUNTED, Mistake.INTERVAL_SUM, Mistake.NUM_ROUNDED),
    ),
    # the client's count is wrong by 1.024: every amount that is compared with the server's, and every rate of it
    Mistake.CHUNK_SIZE: Effects(
        (*_AMOUNTS, *_RATES, "num-exact"),
        (Mistake.BINARY_UNITS, Mistake.SENDS_COUNTED, Mistake.NUM_ROUNDED, Mistake.READS_COUNTED),
    ),
    # a wrong count is in every amount, every sum and every rate of the side that counts
    Mistake.READS_COUNTED: Effects((*_COUNTS, "server-rate"), (Mistake.BYTES_LOST,)),
    Mistake.BYTES_LOST: Effects((*_COUNTS, "server-rate"), (Mistake.READS_COUNTED,)),
    Mistake.SENDS_COUNTED: Effects(
        (*_COUNTS, "client-rate", "interval-sum", "interval-rates", "interval-total"),
        (Mistake.INTERVAL_SUM, Mistake.TOTAL_RATE, Mistake.BYTES_LOST, Mistake.READS_COUNTED),
    ),
    # a clock that stops early makes the rate over a slow link too high, with -i that of the total as well
    Mistake.CLOCK_BEFORE_ACK: Effects(("link", "interval-total", "num-rate"), (Mistake.TOTAL_RATE,)),
    Mistake.ASKED_TIME: Effects(("link", "client-rate", "interval-total", "num-rate"), (Mistake.TOTAL_RATE,)),
    Mistake.WHOLE_SECONDS: Effects(_RATES, (Mistake.TOTAL_RATE, Mistake.INTERVAL_RATE)),
    Mistake.CLOCK: Effects(("link", "client-rate", "interval-total", "num-rate"), (Mistake.TOTAL_RATE,)),
    Mistake.SERVER_CLOCK: Effects(("link", "server-rate", "num-rate")),
    # who does not wait has no clock that could wait; the server's answer then meets a closed socket
    Mistake.NO_WAIT: Effects(
        ("ends", "ack", "link", "quiet", "bytes"), (Mistake.CLOCK_BEFORE_ACK, Mistake.ASKED_TIME, Mistake.BYTES_LOST)
    ),
    # a client of 1 s that sends for 25 s ends after the first one; rows of intervals go on beyond the asked time
    Mistake.TIME_IGNORED: Effects(
        ("concurrent", "num-time", "interval-rows", "interval-total"),
        (Mistake.ONE_AT_A_TIME, Mistake.INTERVAL_EXTRA, Mistake.INTERVAL_SUM, Mistake.NUM_TIME),
    ),
    # most transfers are tried with -f KB or -f B
    Mistake.FORMAT_REFUSED: Effects(
        _WITH_FORMAT,
        (Mistake.NO_ROW, Mistake.NO_CONNECTION, Mistake.NUM_REFUSED, Mistake.INTERVAL_IGNORED),
    ),
    # amounts in MB have too few digits to add up, or to agree
    Mistake.FORMAT_IGNORED: Effects(
        _AMOUNTS, (Mistake.INTERVAL_SUM, Mistake.BYTES_LOST, Mistake.READS_COUNTED, Mistake.SENDS_COUNTED)
    ),
    # a row that cannot be read in one transfer cannot be read in the others
    Mistake.NO_ROW: Effects(
        (
            "client-row",
            "server-row",
            "interval-rows",
            "interval-total",
            "num-rows",
            "parallel-client",
            "parallel-server",
        ),
        (Mistake.PARALLEL_ROWS, Mistake.INTERVAL_IGNORED, Mistake.NO_TOTAL),
    ),
    # the client then looks for its server elsewhere
    Mistake.PORT_IGNORED: Effects(("connects", "ends"), (Mistake.NO_CONNECTION, Mistake.ADDRESS_IGNORED)),
    # who sends nothing has nothing that could be acknowledged
    Mistake.NO_DATA: Effects(("ends", "bytes"), (Mistake.NO_ACKNOWLEDGEMENT, Mistake.NO_END_MESSAGE)),
    # without an answer the client waits, however the end message comes
    Mistake.NO_ACKNOWLEDGEMENT: Effects(_END, (Mistake.END_GLUED, Mistake.END_IN_PIECES)),
    Mistake.NO_END_MESSAGE: Effects(_END, (Mistake.NO_ACKNOWLEDGEMENT, Mistake.END_GLUED, Mistake.END_IN_PIECES)),
    # TCP joins and splits writes as it likes: then a client waits for an answer in any transfer
    Mistake.END_GLUED: Effects(
        (*_END, *_NUM, *_PARALLEL, "concurrent"), (Mistake.NO_ACKNOWLEDGEMENT, Mistake.END_IN_PIECES)
    ),
    Mistake.END_IN_PIECES: Effects((*_END, *_NUM, *_PARALLEL, "concurrent")),
    # the other clients wait: those of -P, and those after one that stays silent
    Mistake.ONE_AT_A_TIME: Effects(
        ("abrupt", "concurrent", *_PARALLEL),
        (Mistake.SILENT_CLIENT, Mistake.PARALLEL_IN_TURN, Mistake.PARALLEL_ROWS, Mistake.REFUSES),
    ),
    # whoever comes later finds no server: connections of -P, the clients of -n, which come in turn, and odd ones
    Mistake.ONE_CLIENT_ONLY: Effects(
        ("concurrent", "restart", "abrupt", "quiet", "glued", "pieces", *_NUM, *_PARALLEL),
        (
            Mistake.REFUSES,
            Mistake.ONE_AT_A_TIME,
            Mistake.ABRUPT_CLIENT,
            Mistake.SILENT_CLIENT,
            Mistake.END_GLUED,
            Mistake.END_IN_PIECES,
            Mistake.PARALLEL_IGNORED,
            Mistake.PARALLEL_ROWS,
            Mistake.NO_CONNECTION,
        ),
    ),
    Mistake.REFUSES: Effects(
        ("concurrent", "abrupt", *_NUM, *_PARALLEL),
        (
            Mistake.ONE_AT_A_TIME,
            Mistake.ABRUPT_CLIENT,
            Mistake.PARALLEL_IGNORED,
            Mistake.PARALLEL_ROWS,
            Mistake.NO_CONNECTION,
        ),
    ),
    # the exception that ends the server is the traceback that it shows
    Mistake.ABRUPT_CLIENT: Effects(("quiet",)),
    Mistake.SPINS: Effects(("abrupt", "quiet"), (Mistake.ABRUPT_CLIENT,)),
    # threads that share a socket or a count spoil each other's bytes, in one program as between two
    Mistake.CLIENTS_MIXED: Effects(
        ("concurrent", "parallel-server", "parallel-bytes"), (Mistake.PARALLEL_ROWS, Mistake.PARALLEL_SUMMED)
    ),
    # connections that are not there have no rows
    Mistake.PARALLEL_IGNORED: Effects(_PARALLEL, (Mistake.PARALLEL_ROWS,)),
    Mistake.PARALLEL_IN_TURN: Effects(_PARALLEL, (Mistake.PARALLEL_ROWS,)),
    Mistake.PARALLEL_SHARED: Effects(_PARALLEL, (Mistake.PARALLEL_IGNORED, Mistake.PARALLEL_ROWS)),
    # a row that is there twice, or is missing, is missing in the joins and in the sum
    Mistake.FIRST_TWICE: Effects(_INTERVALS, (Mistake.INTERVAL_EXTRA, Mistake.INTERVAL_GAPS, Mistake.INTERVAL_SUM)),
    Mistake.LAST_MISSING: Effects(_INTERVALS, (Mistake.INTERVAL_GAPS, Mistake.INTERVAL_SUM)),
    Mistake.INTERVAL_EXTRA: Effects(_INTERVALS, (Mistake.INTERVAL_GAPS, Mistake.INTERVAL_SUM, Mistake.NO_TOTAL)),
    Mistake.CUMULATIVE: Effects(_INTERVALS, (Mistake.INTERVAL_GAPS, Mistake.INTERVAL_SUM, Mistake.INTERVAL_EXTRA)),
    Mistake.INTERVAL_IGNORED: Effects(_INTERVALS, (Mistake.NO_TOTAL, Mistake.INTERVAL_SUM, Mistake.LAST_MISSING)),
    Mistake.INTERVAL_REFUSED: Effects(_INTERVALS, (Mistake.INTERVAL_IGNORED, Mistake.NO_ROW)),
    # times that were assumed: neither the joins nor the rates are those that were measured
    Mistake.INTERVAL_CLOCK: Effects(_INTERVALS, (Mistake.INTERVAL_GAPS, Mistake.TOTAL_RATE)),
    # what -n does not count, it does not count in any form
    Mistake.NUM_IGNORED: Effects(_NUM, (Mistake.NUM_TIME, Mistake.NUM_ROUNDED)),
    Mistake.NUM_REFUSED: Effects(_NUM, (Mistake.NUM_IGNORED,)),
    Mistake.NUM_ALONE: Effects(_NUM, (Mistake.NUM_REFUSED, Mistake.NUM_IGNORED, Mistake.NUM_TIME)),
    Mistake.NUM_TIME: Effects(_NUM, (Mistake.NUM_ROUNDED,)),
    # a row says what was asked for, or what was sent, and the two differ
    Mistake.NUM_ROUNDED: Effects(("num-exact", "num-rows")),
    Mistake.NUM_CHUNKS: Effects(("num-exact", "num-rows")),
    # the second server cannot listen, and says so in its own way
    Mistake.NO_REUSEADDR: Effects(("restart",)),
    # without it nothing runs at all
    Mistake.PACKAGE: Effects(
        tuple(ITEMS), (Mistake.NO_LISTENING, Mistake.NO_HELP, Mistake.UNNAMED, Mistake.NO_MESSAGE, Mistake.MODES)
    ),
}
"""What each mistake brings about, besides what a judge says of it: the root of several symptoms."""

_FIRST, _LATER, _BROUGHT, _LINKED = 3, 2, 3, 1
"""What a failed check counts for a mistake that its judge names first, that it names later, that brings it about, and
that explains another check with the same error."""

_NEARLY: Final = 1.0
"""Points by which two causes may differ that matter as much."""
_QUOTES_AT_MOST: Final = 3
_QUOTE_CHARACTERS: Final = 120
_ERROR_CHARACTERS: Final = 500
_ERROR: Final = re.compile(r"\b(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|timeout|gaierror|herror)\b(?::.*)?")
# the network's errors come from anywhere; the others from one place in the program
_OF_THE_NETWORK: Final = re.compile(r"OSError|Connection|BrokenPipe|[Tt]imeout|gaierror|herror|Errno")
_VARIES: Final = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+){3}|\d{4,}|Thread-\d+")
_VALUES: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")

_GATES: Final = {"transfer": ("ends", "connects", "listens")}
"""Of a step on which others hang: the checks without which nothing goes on, the last one first."""
_FIRST_STEP: Final = "transfer"


@dataclass(frozen=True)
class Diagnosis:
    """Causes in the order of the points that hang on them, and all checks, each with the number of its cause."""

    causes: tuple[Cause, ...]
    steps: dict[str, tuple[ConformanceCheck, ...]]


def diagnose(steps: Steps, besides: Steps | None = None) -> Diagnosis:
    """Return the causes of what failed, and the checks rewritten: mistake and hint are those of their cause.

    ``besides`` are checks of steps that nobody asked for (`missing`): causes may be among them.
    """
    all_steps = {**steps, **(besides or {})}
    failed = [check for checks in all_steps.values() for check in checks if check.outcome == "failed"]
    explained = _explained(failed)
    blocked = {
        check.key: blocker
        for name, checks in all_steps.items()
        for check in checks
        if (blocker := _blocker(check, name, all_steps)) is not None
    }
    ours = {check.key for checks in steps.values() for check in checks}
    open_keys = [
        check.key
        for checks in steps.values()
        for check in checks
        if check.outcome == "inconclusive" and check.needs and check.key not in blocked
    ]
    weighed = []
    for mistake, members in explained:
        keys = {member.key for member in members}
        waits = {key for key, blocker in blocked.items() if blocker.key in keys}
        waits.update(key for key in open_keys if key in BRINGS.get(mistake, _NONE).keys)
        if (keys | waits) & ours:
            weighed.append((_worth((keys | waits) & ours), _cause(mistake, members), waits))
    position = {key: number for number, key in enumerate(ITEMS)}
    weighed.sort(key=lambda one: (-one[0], min(position[key] for key in one[1].explains)))
    causes = tuple(cause for _, cause, _ in weighed)
    number_of: dict[str, int] = {}
    for number, (_, cause, waits) in enumerate(weighed, 1):
        for key in (*cause.explains, *waits):
            number_of.setdefault(key, number)

    def rewritten(check: ConformanceCheck) -> ConformanceCheck:
        check = replace(check, candidates=())
        number = 0 if check.passed else number_of.get(check.key, 0)
        if number:
            cause = causes[number - 1]
            check = replace(check, cause=number)
            if check.outcome == "failed":
                return replace(check, mistake=cause.title, hint=cause.hint)
            return replace(check, reason=f'not tried: first mend "{cause.title}"', hint="")
        blocker = blocked.get(check.key)
        return check if blocker is None else replace(check, reason=f"not tried: {blocker.reason}", hint=blocker.hint)

    return Diagnosis(causes, {name: tuple(map(rewritten, checks)) for name, checks in steps.items()})


def _worth(keys: Collection[str]) -> float:
    """Return the points that hang on a cause. Arguments, which spoil nothing else, come after what is worth as much."""
    points = sum(ITEMS[key].points for key in keys)
    return points - _NEARLY if all(key in _ARGUMENTS for key in keys) else points


def without_causes(steps: Steps) -> Diagnosis:
    """Return the checks as their judges made them: each says its mistake and hint itself."""
    return Diagnosis((), {name: tuple(replace(check, candidates=()) for check in steps[name]) for name in steps})


def missing(steps: Steps) -> tuple[str, ...]:
    """Return the steps that were not tried, and on which a check hangs that could not be tried."""
    found = {}
    for name, checks in steps.items():
        for check in checks:
            if check.outcome == "inconclusive" and check.needs and _blocker(check, name, steps) is None:
                found[_step_of(check, name)] = True
    return tuple(step for step in found if step not in steps)


def _step_of(check: ConformanceCheck, step: str) -> str:
    """The step on which a check hangs."""
    if check.needs == BEFORE:
        return _FIRST_STEP
    return ITEMS[check.needs].step if check.needs in ITEMS else check.needs


def _blocker(check: ConformanceCheck, step: str, steps: Steps, tried: Collection[str] = ()) -> ConformanceCheck | None:
    """Return the check for whose sake this one was not tried: one that failed, or is itself open for another reason."""
    if check.outcome != "inconclusive" or not check.needs or check.key in tried:
        return None
    found = _named(check, step, steps)
    if found is None or found.outcome == "failed":
        return found
    further = _blocker(found, ITEMS[found.key].step, steps, (*tried, check.key))
    # one that hangs on nothing says itself why it is open
    return further if found.needs else found


def _named(check: ConformanceCheck, step: str, steps: Steps) -> ConformanceCheck | None:
    """Return the check that is in the way of this one, by what it says that it needs."""
    if check.needs in ITEMS:
        return next(
            (one for one in steps.get(ITEMS[check.needs].step, ()) if one.key == check.needs and not one.passed), None
        )
    if check.needs == BEFORE:
        own = steps[step]
        before = [one for one in own[: own.index(check)] if one.outcome == "failed"]
        if before:
            return before[-1]
        return _gate(steps.get(_FIRST_STEP, ())) if step != _FIRST_STEP else None
    return _gate(steps.get(check.needs, ()), check.needs)


def _gate(checks: Sequence[ConformanceCheck], step: str = _FIRST_STEP) -> ConformanceCheck | None:
    """Return the check that keeps a step from working: one that failed if there is one, else one that is open."""
    by_key = {check.key: check for check in checks}
    gates = [by_key[key] for key in _GATES.get(step, ()) if key in by_key]
    for outcome in ("failed", "inconclusive"):
        for check in (*gates, *checks):
            if check.outcome == outcome and (outcome == "failed" or not check.needs):
                return check
    return None


# --- The fewest causes


def _explained(failed: Sequence[ConformanceCheck]) -> list[tuple[Mistake, list[ConformanceCheck]]]:
    """Return mistakes, each with the failed checks that it explains; every failed check stands with one of them."""
    left = list(failed)
    found = []
    for line_mates in _of_one_line(left):
        found.append((Mistake.TRACEBACK, line_mates))
        left = [check for check in left if check not in line_mates]
    confirmed = {check.candidates[0] for check in failed}
    while True:
        scores = {mistake: _score(mistake, left, confirmed) for mistake in Mistake if mistake not in GENERIC}
        best = max(scores, key=lambda mistake: scores[mistake])  # of equals the first in the order of Mistake
        if not scores[best]:
            break
        members = [check for check in left if _weight(best, check, left, confirmed)]
        found.append((best, members))
        left = [check for check in left if check not in members]
    alike: dict[tuple[Mistake, str], list[ConformanceCheck]] = {}
    for check in left:
        mistake = check.candidates[0]
        alike.setdefault((mistake, _sameness(mistake, check)), []).append(check)
    found += [(mistake, members) for (mistake, _), members in alike.items()]
    return found


def _score(mistake: Mistake, left: Sequence[ConformanceCheck], confirmed: Collection[Mistake]) -> int:
    """What speaks for a mistake. One that no judge names first must explain two checks at least."""
    direct = [check for check in left if mistake in check.candidates]
    if not any(check.candidates[0] is mistake for check in direct) and len(direct) < 2:
        return 0
    return sum(_weight(mistake, check, left, confirmed) for check in left)


def _weight(
    mistake: Mistake, check: ConformanceCheck, left: Iterable[ConformanceCheck], confirmed: Collection[Mistake]
) -> int:
    if check.candidates[0] is mistake:
        return _FIRST
    if mistake in check.candidates:
        return _LATER
    effects = BRINGS.get(mistake, _NONE)
    if mistake in confirmed and check.key in effects.keys:
        symptoms = GENERIC | set(effects.mistaken_for)
        # a judge who names a mistake that was seen elsewhere knows better
        if check.candidates[0] in symptoms and not any(one in confirmed for one in set(check.candidates) - symptoms):
            return _BROUGHT
    if check.candidates[0] in GENERIC:
        errors = _errors(check)
        if any(mistake is one.candidates[0] and errors & _errors(one) for one in left):
            return _LINKED
    return 0


def _of_one_line(failed: Sequence[ConformanceCheck]) -> list[list[ConformanceCheck]]:
    """Return checks that quote one error of the program's own code, and were taken for different mistakes: the error
    is what they have in common.
    """
    by_line: dict[str, list[ConformanceCheck]] = {}
    for check in failed:
        for line in sorted(_errors(check)):
            if not _OF_THE_NETWORK.search(line):
                by_line.setdefault(line, []).append(check)
    found: list[list[ConformanceCheck]] = []
    taken: set[str] = set()
    for mates in by_line.values():
        mates = [check for check in mates if check.key not in taken]
        firsts = {check.candidates[0] for check in mates} - GENERIC
        in_common = set.intersection(*(set(check.candidates) - GENERIC for check in mates)) if mates else set()
        if len(firsts) > 1 and not in_common:
            found.append(mates)
            taken.update(check.key for check in mates)
    return found


def _sameness(mistake: Mistake, check: ConformanceCheck) -> str:
    """What makes two checks one cause that have a mistake of `GENERIC` in common."""
    if mistake is Mistake.TRACEBACK and check.key in _TRIED:
        return "arguments"  # whichever argument is wrong, and wherever it is used: it was not looked at before
    if mistake in (Mistake.TRACEBACK, Mistake.CRASH):
        return min(_errors(check), default=_plain(check.reason))
    return ""


def _errors(check: ConformanceCheck) -> frozenset[str]:
    """The last lines of tracebacks that a check quotes, without what differs from run to run."""
    hits = (_ERROR.search(text[:_ERROR_CHARACTERS]) for text in (*check.quotes, check.reason))
    return frozenset(_plain(hit[0]) for hit in hits if hit is not None)


def _plain(line: str) -> str:
    line = _VARIES.sub("#", line.strip())
    # what a value was is the caller's; names that are quoted in other errors are the program's
    return _VALUES.sub("#", line) if re.match(r"(?:\w+\.)*(?:ValueError|Unicode\w+Error)\b", line) else line


def _cause(mistake: Mistake, members: Sequence[ConformanceCheck]) -> Cause:
    # what a judge says of the mistake itself comes before what it brought about
    rank: Callable[[ConformanceCheck], int] = lambda check: (  # noqa: E731
        check.candidates.index(mistake) if mistake in check.candidates else len(Mistake)
    )
    by_rank = sorted(members, key=rank)
    reasons = tuple(dict.fromkeys(seen(check) for check in by_rank))
    # what stands below a reason must be what shows it
    shown = [check for check in by_rank if seen(check) == reasons[0]]
    quotes = dict.fromkeys(_trimmed(quote) for check in shown for quote in check.quotes if quote.strip())
    return Cause(
        mistake,
        tuple(check.key for check in members),
        tuple(quotes)[:_QUOTES_AT_MOST],
        reasons,
        by_rank[0].expected,
    )


def _trimmed(quote: str) -> str:
    line = " ".join(quote.split())
    return line if len(line) <= _QUOTE_CHARACTERS else f"{line[: _QUOTE_CHARACTERS - 3]}..."
