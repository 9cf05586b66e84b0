"""Answers by name: a dictionary from a student, one check for each of its entries. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from linklab.grade.check import Check
from linklab.grade.result import Result


def each(
    title: str,
    given: object,
    names: Iterable[object],
    example: str,
    check: Callable[[object, object], Check | Iterable[Check]],
) -> Result:
    """``check(name, value)`` for each name, of what ``given`` has for it (None where it has nothing).

    ``example`` shows how to write the dictionary, for who gives something else. A name of ``given`` that nobody asked
    for is named, since it is mostly a misspelt one.
    """
    wanted = list(names)
    if not isinstance(given, Mapping):
        reason = "not filled in yet" if given is None or given is ... else f"this is a {type(given).__name__}"
        return Result(title, (Check.failing(title, reason, f"write it as {example}", "a dictionary"),))
    found: list[Check] = []
    for name in wanted:
        one = check(name, given.get(name))
        found += [one] if isinstance(one, Check) else one
    unknown = [name for name in given if name not in wanted]
    if unknown:
        reason = f"{unknown[0]!r} was not asked for"
        hint = f"the names are {', '.join(repr(name) for name in wanted)}"
        found.append(Check.failing("the names", reason, hint, "the names that are asked for", repr(unknown[0])))
    return Result(title, tuple(found))


def choice_check(
    description: str, value: object, right: str, choices: Iterable[str], mistakes: Mapping[str, str]
) -> Check:
    """One of some names. ``mistakes`` has what to say to wrong ones, as a hint."""
    known = list(choices)
    expected = f"one of {', '.join(known)}"
    if value is None or value is ...:
        return Check.failing(description, "not filled in yet", f'write it as a text: "{known[0]}"', expected, "None")
    if value == right:
        return Check.passing(description, right, right)
    if value not in known:
        return Check.failing(description, f"{value!r} is none of them", f"choose {expected}", expected, repr(value))
    hint = mistakes.get(str(value), "look again at the way of this flow, and at who else is on it")
    return Check.failing(description, f"{value} is not it", hint, expected, str(value))
