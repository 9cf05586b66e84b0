"""What a part of the benchmark found: tables for the reader, and claims with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Record = dict[str, Any]
"""One thing measured, as JSON data: what it was measured under, and numbers with their units in the keys."""
Say = Callable[[str], None]
"""Takes a line of progress."""
Keep = Callable[[Record], None]
"""Takes a record as soon as it is measured."""


class Verdict(StrEnum):
    """What the records say of a claim. ``not measured``: they do not suffice, as after Ctrl-C."""

    MET = "met"
    NOT_MET = "NOT MET"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Claim:
    """Something promised, the verdict on it, and the numbers that the verdict rests on."""

    text: str
    verdict: Verdict
    numbers: str

    @classmethod
    def judged(cls, text: str, met: bool | None, numbers: str) -> Claim:
        """A claim whose condition holds, does not hold, or (None) could not be looked at."""
        verdicts = {True: Verdict.MET, False: Verdict.NOT_MET, None: Verdict.NOT_MEASURED}
        return cls(text, verdicts[met], numbers or "nothing was measured")


@dataclass(frozen=True)
class Table:
    """Rows under headings that carry the units; cells are text, made for reading."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """The tables and claims of one part."""

    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = field(default=())


def having(records: Sequence[Record], **values: Any) -> list[Record]:
    """The records in which every key has the value given."""
    return [record for record in records if all(record.get(key) == value for key, value in values.items())]
