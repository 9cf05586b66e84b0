"""Read what papers and reports published: numbers, claims and contradictions, in ``studies/NAME/published.toml``.

``publication("mtu").row("figures", frame_bytes=1518, quantity="jitter_ms", ...)["maximum"]`` is one number. Each file
names the table, figure or section of its numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from linklab.discovery import STUDIES
from linklab.errors import MeasurementError

About = Literal["hardware", "Mininet", "either"]
"""What a finding is about."""


@dataclass(frozen=True)
class Threshold:
    """A threshold that decides a claim.

    In each repeat a ``quantity`` gives a number for each of several things (pairs of hosts, sizes), and the relation
    has to hold for ``all`` of them, for ``most`` (nine in ten), or for ``any``. With ``each`` every number counts as a
    run, and the shares of all things decide by their mean; with ``apart`` each thing is judged by its own repeats, and
    all must hold.

    ``within`` means at or above the first threshold and below the second. ``tells`` is the reason: a format with places
    for the number that decides, for its thing, and for the number without its sign; with ``apart``, for ``mean``,
    ``low`` and ``high``.
    """

    quantity: str
    relation: Literal["<", "<=", ">", ">=", "within"]
    threshold: float | Sequence[float]
    tells: str
    of: Literal["all", "most", "any", "each", "apart"] = "all"


@dataclass(frozen=True)
class Claim:
    """A finding of a study: a sentence of ours (``says``), its place in the study (``where``), what would show it
    (``test``).

    ``about`` names what the finding is about: ``hardware``, the study's ``Mininet``, or ``either`` of both. Our tables
    judge the last two, and a researcher's tables of hardware the first and the last. ``by_construction`` says why an
    emulation, or arithmetic, cannot come out otherwise, ``not_testable`` why nothing at hand can judge the claim; both
    are empty otherwise. ``thresholds`` decide the claim, if thresholds can. ``figures`` are those of which it is said:
    runs of other figures do not judge it. Empty, it is said of all. The verdict comes from measurements
    (`linklab.study.claims`).
    """

    id: str
    says: str
    where: str
    about: About
    test: str
    by_construction: str = ""
    not_testable: str = ""
    thresholds: tuple[Threshold, ...] = ()
    figures: tuple[int, ...] = ()


@dataclass(frozen=True)
class Inconsistency:
    """A contradiction in a study: between two places, or with arithmetic."""

    where: str
    what: str


class Entry(dict[str, Any]):
    """The values under one key of a publication, or in one row of its tables, by their names.

    An unknown name raises MeasurementError, which lists the known ones.
    """

    def __missing__(self, name: str) -> Any:
        raise MeasurementError(f"nothing published is called {name!r} here: choose one of {', '.join(self)}")


@dataclass(frozen=True)
class Publication:
    """What one study published. ``data`` has all of the file apart from claims and contradictions."""

    study: str
    claims: tuple[Claim, ...]
    inconsistencies: tuple[Inconsistency, ...]
    data: Entry

    def __getitem__(self, name: str) -> Any:
        """Return a constant, a table of constants as an `Entry`, or the rows of a table. Raises MeasurementError."""
        return self.data[name]

    def rows(self, table: str, **at: object) -> tuple[Entry, ...]:
        """Return the rows of a table that have these values, in order. Raises MeasurementError for an unknown name."""
        return tuple(row for row in self[table] if all(row[name] == value for name, value in at.items()))

    def row(self, table: str, **at: object) -> Entry:
        """Return the one row that has these values. Raises MeasurementError if there is none, or several."""
        found = self.rows(table, **at)
        if len(found) == 1:
            return found[0]
        asked = " ".join(f"{name}={value}" for name, value in at.items())
        there = "; ".join(f"{name}: {', '.join(dict.fromkeys(str(row[name]) for row in self[table]))}" for name in at)
        raise MeasurementError(f"{self.study} has {len(found) or 'no'} {table} with {asked}: choose of {there}")


@cache
def publication(study: str) -> Publication:
    """Return what a study of ``studies/`` published. Raises MeasurementError, in one line, for a wrong file."""
    path = STUDIES / study / "published.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        claims = tuple(map(_claim, data.pop("claims")))
        inconsistencies = tuple(Inconsistency(**each) for each in data.pop("inconsistencies"))
        return Publication(study, claims, inconsistencies, Entry({name: _read(it) for name, it in data.items()}))
    except OSError:
        known = ", ".join(sorted(it.parent.name for it in STUDIES.glob("*/published.toml")))
        raise MeasurementError(f"no study {study!r} published anything: choose one of {known}") from None
    except (ValueError, TypeError, KeyError) as wrong:
        raise MeasurementError(f"studies/{study}/published.toml is wrong: {wrong}") from None


def _claim(data: dict[str, Any]) -> Claim:
    thresholds = tuple(Threshold(**each) for each in data.get("thresholds", ()))
    return Claim(**{**data, "thresholds": thresholds, "figures": tuple(data.get("figures", ()))})


def _read(value: Any) -> Any:
    """Return a table of columns and rows as its rows, and any other table as an entry."""
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"columns", "rows"}:
        return tuple(Entry(zip(value["columns"], row, strict=True)) for row in value["rows"])
    return Entry({name: _read(it) for name, it in value.items()})
