"""Failures that say the same are said once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.grade.check import Check, Outcome

_NAMED_AT_MOST: Final = 4
_SAID_AT_MOST: Final = 3

# "r1-eth1 on r1: delay is 0 ms" is about r1-eth1 on r1; "the rate: ..." is about nothing that has a name.
_ABOUT: Final = re.compile(r"([a-z]+\d[\w-]*(?: on [a-z]+\d[\w-]*)?): (.+)", re.DOTALL)
_MORE: Final = re.compile(r"and \d+ more")
_PARTICULAR: Final = re.compile(r"\b[A-Z]\b|[\w./-]*\d[\w./-]*")
_SERIES: Final = re.compile(r"#(?:(?:, | and |, and )#)+")


@dataclass(frozen=True)
class Group:
    """Checks that came out alike. ``reason`` and ``hint`` hold for all, or for the first if ``first_only``."""

    outcome: Outcome
    descriptions: tuple[str, ...]
    reason: str
    hint: str
    first_only: bool = False

    @property
    def title(self) -> str:
        """The descriptions in one line, what they all begin with only once: ``"address of h1-eth0, h2-eth0"``."""
        words = [description.split(" ") for description in self.descriptions]
        shared = 0
        while all(len(it) > shared + 1 and it[: shared + 1] == words[0][: shared + 1] for it in words):
            shared += 1
        start = words[0][:shared] if len(words) > 1 else []
        return " ".join([*start, named([" ".join(it[len(start) :]) for it in words])])


def each_reason(checks: Iterable[Check]) -> tuple[Group, ...]:
    """Checks with one hint and reasons that differ in names and numbers at most: all reasons, and the hint once."""
    return tuple(
        Group(
            group[0].outcome,
            tuple(check.description for check in group),
            merged(check.reason for check in group),
            merged(check.hint for check in group),
        )
        for group in _groups(((check.outcome, _pattern(check.reason), _causes(check.hint)), check) for check in checks)
    )


def first_reason(checks: Iterable[Check]) -> tuple[Group, ...]:
    """Checks whose reasons and hints differ in names and numbers at most: those of the first stand for all."""
    groups = _groups(((check.outcome, _pattern(check.reason), _pattern(check.hint)), check) for check in checks)
    return tuple(_exemplary(group) for group in groups)


def _exemplary(group: Sequence[Check]) -> Group:
    first = group[0]
    descriptions = tuple(check.description for check in group)
    said = {(_causes(check.reason), _causes(check.hint)) for check in group}
    if len(said) == 1:
        reason, hint = (merged(getattr(check, name) for check in group) for name in ("reason", "hint"))
        return Group(first.outcome, descriptions, reason, hint)
    return Group(first.outcome, descriptions, merged([first.reason]), merged([first.hint]), first_only=True)


def merged(texts: Iterable[str]) -> str:
    """What texts say, each thing once: ``"h1: lost; h2: lost"`` becomes ``"h1, h2: lost"``."""
    about: dict[str, dict[str, None]] = {}
    more: dict[str, None] = {}
    for text in texts:
        for name, said in _statements(text):
            if _MORE.fullmatch(said):
                more[said] = None
            else:
                about.setdefault(said, {})[name] = None
    parts = []
    for said, names in about.items():
        listed = named([name for name in names if name])
        parts.append(f"{listed}: {said}" if listed else said)
    if len(parts) > _SAID_AT_MOST:
        return "; ".join([*parts[:_SAID_AT_MOST], f"and {len(parts) - _SAID_AT_MOST} more"])
    # Of several such remarks none would be true of all together.
    return "; ".join([*parts, *(more if len(more) == 1 else ["and more"] if more else [])])


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    separator = "; " if any(", " in name for name in names) else ", "
    if len(names) <= _NAMED_AT_MOST + 1:
        return separator.join(names)
    return separator.join([*names[:_NAMED_AT_MOST], f"... ({len(names) - _NAMED_AT_MOST} more)"])


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text, each with the name that it is about, or with none."""
    name, said = "", ""
    for part in text.split("; "):
        match = _ABOUT.fullmatch(part)
        # A part that names nothing belongs to the one before it.
        if said and (match or _MORE.fullmatch(part)):
            yield name, said
            name, said = "", ""
        if match and not said:
            name, said = match.groups()
        else:
            said = f"{said}; {part}" if said else part
    if said:
        yield name, said


def _causes(text: str) -> frozenset[str]:
    return frozenset(said for _, said in _statements(text) if not _MORE.fullmatch(said))


def _pattern(text: str) -> str:
    """A text without its names and numbers, however many are listed."""
    return _SERIES.sub("#", _PARTICULAR.sub("#", "; ".join(sorted(_causes(text)))))


def _groups(keyed: Iterable[tuple[object, Check]]) -> list[list[Check]]:
    groups: dict[object, list[Check]] = {}
    for key, check in keyed:
        groups.setdefault(key, []).append(check)
    return list(groups.values())
