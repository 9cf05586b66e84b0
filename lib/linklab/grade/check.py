"""The verdict of a check on one thing: passed, failed or inconclusive, with its reason and hints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from linklab import record
from linklab.network import Difference

Outcome = Literal["passed", "failed", "inconclusive"]
"""Inconclusive: not judged, because the check broke, or because what it needs does not work yet."""

Hints = str | tuple[str, ...]
"""What to do. The first of several, the concept, is for the first wrong answer.

Each other wrong answer gets the next one; the last one, the formula or the command, stays.
"""

NAMED_AT_MOST: Final = 3
"""How many of several things a check names; it counts the others."""


@dataclass(frozen=True)
class Cause:
    """One thing that is wrong: what was ``found`` at a ``place``, and the ``step`` that mends ``what``.

    ``place`` names an interface and its node, as ``"r1-eth1 on r1"``, or a node; ``what`` only the interface or node.
    """

    place: str
    found: str
    what: str
    step: str


@dataclass(frozen=True)
class Check:
    """The verdict on one thing that was looked at.

    ``expected`` and ``found`` are for reading and carry their units. ``reason`` says what is wrong and
    ``hint`` what to do about it; both are empty where the check passed. ``points`` is what it is worth.
    ``explanation`` is what a right answer opens, in Markdown. ``further`` are hints for other wrong answers later,
    which say more each time; a `Result` takes its pick, and leaves none: ``which_hint`` says which it took, as
    ``"1 of 3"``, and ``first_hint`` has the first of them. ``is_open`` is whether nothing was handed in yet, so that
    nothing was judged. ``causes`` are the things that are wrong one by one, where there may be several: ``reason`` and
    ``hint`` have the first few in words. ``slip`` is the known mistake behind a wrong number, and empty where none is
    known. ``chosen`` is the option of a multiple choice, and ``tried_wrong`` the wrong ones of it so far
    (`linklab.grade.result.with_wrong_options`).
    """

    description: str
    outcome: Outcome
    reason: str = ""
    hint: str = ""
    points: float = 1.0
    expected: str = ""
    found: str = ""
    explanation: str = field(default="", kw_only=True)
    further: tuple[str, ...] = field(default=(), kw_only=True)
    which_hint: str = field(default="", kw_only=True)
    first_hint: str = field(default="", kw_only=True, repr=False)
    is_open: bool = field(default=False, kw_only=True)
    causes: tuple[Cause, ...] = field(default=(), kw_only=True, repr=False)
    slip: str = field(default="", kw_only=True, repr=False)
    chosen: str = field(default="", kw_only=True, repr=False)
    tried_wrong: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    @property
    def passed(self) -> bool:
        """Whether all is as it should be. False while it is inconclusive."""
        return self.outcome == "passed"

    @staticmethod
    def passing(description: str, expected: str, found: str = "as expected", explanation: str = "") -> Check:
        """Return a check that passed."""
        return Check(description, "passed", expected=expected, found=found, explanation=explanation)

    @staticmethod
    def failing(
        description: str, reason: str, hint: Hints, expected: str = "", found: str = "", *, slip: str = ""
    ) -> Check:
        """Return a check that failed, with what is wrong and what to do."""
        first, *further = as_tuple(hint) or ("",)
        return Check(
            description, "failed", reason, first, expected=expected, found=found, further=tuple(further), slip=slip
        )

    @staticmethod
    def of_differences(description: str, expected: str, differences: Iterable[Difference]) -> Check:
        """Return a check that passes without differences, and fails with a cause for each."""
        all_of_them = tuple(differences)
        if not all_of_them:
            return Check.passing(description, expected)
        causes = tuple(map(_cause, all_of_them))
        return Check(
            description,
            "failed",
            reason=listed(f"{cause.place}: {cause.found}" for cause in causes),
            hint=listed(dict.fromkeys(f"{cause.what}: {cause.step}" for cause in causes)),
            expected=expected,
            found=listed(dict.fromkeys(difference.found for difference in all_of_them), ", "),
            causes=causes,
        )


class Refuse(Exception):
    """Raised where what was handed in cannot be judged further: ``check`` is the failed check that says why.

    It takes what `Check.failing` takes.
    """

    def __init__(self, description: str, reason: str, hint: Hints, expected: str = "", found: str = "") -> None:
        super().__init__(reason)
        self.check = Check.failing(description, reason, hint, expected, found)


def collect_checks(judge: Callable[[], Check | Iterable[Check]]) -> tuple[Check, ...]:
    """Return the checks that a function gives; where it refuses, those that it gave before, and the refusal."""
    found: list[Check] = []
    try:
        checks = judge()
        found.extend((checks,) if isinstance(checks, Check) else checks)
    except Refuse as refused:
        found.append(refused.check)
    return tuple(found)


@dataclass(frozen=True)
class Surprise:
    """A number that a student predicted, next to theory and to what was measured; all in ``unit``.

    ``said`` is for the student. ``slip`` is the likeliest mistake behind it, and empty where it is right or none
    is known.
    """

    what: str
    unit: str
    predicted: float
    sure_percent: float
    theory: float
    measured: float | None
    said: str
    slip: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the prediction is within 5 % of theory, and shows no known mistake."""
        return not self.slip and abs(self.predicted - self.theory) <= _NEAR_THEORY_SHARE * abs(self.theory)


_NEAR_THEORY_SHARE: Final = 0.05
_LARGEST: Final = 1e12
_CHARACTERS_AT_MOST: Final = 300
_OPTIONS_AT_MOST: Final = 26
_OUTCOMES: Final = get_args(Outcome)


def checks_in(result: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the checks of a result's JSON form, which anybody may have written; what is of another form is left out."""
    for entry in record.entries(result, "checks"):
        if entry.get("outcome") in _OUTCOMES:
            worth, tried = entry.get("points"), entry.get("tried_wrong")
            options = {it for it in tried if isinstance(it, str)} if isinstance(tried, list) else ()
            yield Check(
                record.text(entry, "description"),
                entry["outcome"],
                record.text(entry, "reason"),
                record.text(entry, "hint"),
                worth if isinstance(worth, int | float) else 0,
                expected=record.text(entry, "expected"),
                found=record.text(entry, "found"),
                is_open=entry.get("is_open") is True,
                causes=tuple(
                    Cause(*(record.text(cause, name) for name in ("place", "found", "what", "step")))
                    for cause in record.entries(entry, "causes")
                ),
                tried_wrong=tuple(sorted(options)[:_OPTIONS_AT_MOST]),
            )


def surprises_in(result: Mapping[str, Any]) -> Iterator[Surprise]:
    """Yield the predictions of a result's JSON form, which anybody may have written; all else there is left out."""
    for entry in record.entries(result, "surprises"):
        numbers = [entry.get(name) for name in ("predicted", "sure_percent", "theory")]
        measured = entry.get("measured")
        if all(map(_is_finite, numbers)) and (measured is None or _is_finite(measured)):
            predicted, sure_percent, theory = map(float, numbers)  # type: ignore[arg-type]
            what, unit, said, slip = (_for_a_figure(record.text(entry, it)) for it in ("what", "unit", "said", "slip"))
            seen = None if measured is None else float(measured)
            if 0 <= sure_percent <= 100:
                yield Surprise(what, unit, predicted, sure_percent, theory, seen, said, slip)


def _for_a_figure(text: str) -> str:
    """Return a text that matplotlib can draw: not too long, no halves of characters, and no mathematics."""
    return text[:_CHARACTERS_AT_MOST].encode("utf-8", "replace").decode().replace("$", "")


def _is_finite(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= _LARGEST


def a_kind(value: object) -> str:
    """Return the kind of a value with its article: ``"an int"``."""
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIO' else 'a'} {kind}"


def as_tuple(hints: Hints) -> tuple[str, ...]:
    """Return hints as a tuple, without empty ones."""
    return tuple(hint for hint in ((hints,) if isinstance(hints, str) else hints) if hint)


def listed_hints(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the hints of several faults together: the first of each, then the second, and so on."""
    each = list(dict.fromkeys(several))
    levels = max(map(len, each), default=0)
    return tuple(
        listed(dict.fromkeys(hints[min(level, len(hints) - 1)] for hints in each if hints)) for level in range(levels)
    )


def counted(number: float, word: str) -> str:
    """Return a number of things in words: ``"1 point"``, ``"2 points"``."""
    words = number if isinstance(number, int) else f"{number:g}"
    return f"{words} {word}{'' if number == 1 else 's'}"


def listed(items: Iterable[str], separator: str = "; ") -> str:
    """Return the first few items in one line, and how many more there are."""
    all_of_them = list(items)
    named = all_of_them[:NAMED_AT_MOST]
    if len(all_of_them) > len(named):
        named.append(f"and {len(all_of_them) - len(named)} more")
    return separator.join(named)


def _cause(difference: Difference) -> Cause:
    what = difference.interface or difference.node
    place = f"{difference.interface} on {difference.node}" if difference.interface else difference.node
    return Cause(place, difference.text, what, difference.cause)
