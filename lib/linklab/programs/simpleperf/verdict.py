"""How judges write their checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linklab.programs.simpleperf.catalogue import ITEMS
from linklab.programs.simpleperf.evidence import Printed
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import BEFORE, ConformanceCheck

_PLAINER = (
    "print an interval, an amount and a rate, each with its unit, in one line: 10.0.0.2:33540   0.0 - 2.0   2 MB   "
    "8.00 Mbps; if yours is as plain, send us the line: the checks should read it"
)
_FIRST = "make what it needs work first, then check again"


def passed(key: str, expected: str, found: str = "as expected", advice: Mistake | None = None) -> ConformanceCheck:
    """It is as it should be. ``advice`` is a mistake that costs nothing."""
    item = ITEMS[key]
    return ConformanceCheck(
        item.description,
        "passed",
        hint=advice.hint if advice else "",
        points=item.points,
        expected=expected,
        found=found,
        key=key,
        mistake=advice.title if advice else "",
    )


def failed(
    key: str,
    mistakes: Mistake | Sequence[Mistake],
    reason: str,
    expected: str = "",
    found: str = "",
    quotes: Sequence[str] = (),
) -> ConformanceCheck:
    """Return a failed check. Any of ``mistakes`` would explain it, the likeliest first; ``quotes`` are the program's
    own lines that show it. ``reason`` is what was seen: which mistake it is, a diagnosis decides when all is judged.
    """
    item = ITEMS[key]
    candidates = (mistakes,) if isinstance(mistakes, Mistake) else tuple(mistakes)
    mistake = candidates[0]
    return ConformanceCheck(
        item.description,
        "failed",
        reason,
        mistake.hint,
        item.points,
        expected,
        found,
        key,
        mistake.title,
        candidates,
        tuple(quotes),
    )


def unknown(key: str, why: str, hint: str = "", needs: str = "") -> ConformanceCheck:
    """Return an inconclusive check: nothing can be said, because something else came in between.

    ``needs`` is on whose failure it hangs, a key or a step; what was wrong there is then said instead of ``why``.
    Unless told, that is what failed before it. Who gives a ``hint`` says that it hangs on nothing in the program: on
    a busy machine, say.
    """
    item = ITEMS[key]
    needs = needs or ("" if hint else BEFORE)
    return ConformanceCheck(
        item.description, "inconclusive", why, hint or _FIRST, points=item.points, key=key, needs=needs
    )


def all_unknown(keys: Iterable[str], why: str, hint: str = "", needs: str = "") -> list[ConformanceCheck]:
    """Return the same for several."""
    return [unknown(key, why, hint, needs) for key in keys]


def unread(key: str, program: Printed) -> ConformanceCheck:
    """Return an inconclusive check: a line of the program's looks like a row, and could not be read."""
    why = f"this line of the {program.side} was not understood: {program.reading.unread[-1].strip()[:120]}"
    return unknown(key, why, _PLAINER)
