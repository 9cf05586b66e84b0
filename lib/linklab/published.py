"""What papers and reports published: numbers, claims and contradictions, of ``studies/NAME/published.toml``.

``publication("mtu").row("figures", frame_bytes=1518, quantity="jitter_ms", ...)["maximum"]`` is one number. Each file
says where its numbers stand: in which table, figure or section.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from linklab.discovery import STUDIES
from linklab.errors import MeasurementError


@dataclass(frozen=True)
class Threshold:
    """What decides on a claim: in each repeat a ``quantity`` has a number for each of several things, and the relation
    has to hold for ``all`` of them, for ``most`` (nine in ten), or for ``any``. Or ``each`` counts as a run; or they
    are judged ``apart``, each by its own repeats, and it has to hold for all.

    ``within`` is from the first threshold on and below the second. ``tells`` is the reason: words with places for the
    number that decides, for what it is of, and for the number without its sign; of things that are judged apart, with
    places for ``mean``, ``low`` and ``high``.
    """

    quantity: str
    relation: Literal["<", "<=", ">", ">=", "within"]
    threshold: float | Sequence[float]
    tells: str
    of: Literal["all", "most", "any", "each", "apart"] = "all"


@dataclass(frozen=True)
class Claim:
    """One finding: ``says`` in one sentence of ours, ``where`` in the study, ``test``: what would show it.

    ``about`` is what shows it: ``hardware``, the study's ``Mininet``, or ``either`` of hardware and an emulation,
    whichever the study had; tables of ours judge the last, and a researcher's of hardware beside them.
    ``by_construction`` says why an emulation, or arithmetic, cannot come out otherwise, and ``not_testable`` why
    nothing here or beside it can judge the claim; both are empty where that is not so. ``thresholds`` decide on it,
    where thresholds can. A verdict is no part of a claim: measurement gives one (`linklab.study.claims`).
    """

    id: str
    says: str
    where: str
    about: Literal["hardware", "Mininet", "either"]
    test: str
    by_construction: str = ""
    not_testable: str = ""
    thresholds: tuple[Threshold, ...] = ()


@dataclass(frozen=True)
class Inconsistency:
    """Two places of a study that do not agree, or one that does not agree with arithmetic."""

    where: str
    what: str


class Entry(dict[str, Any]):
    """What stands under one key of a publication, or in one row of its tables: values by their names.

    A name that is not there raises MeasurementError, which lists those that are.
    """

    def __missing__(self, name: str) -> Any:
        raise MeasurementError(f"nothing published is called {name!r} here: choose one of {', '.join(self)}")


@dataclass(frozen=True)
class Publication:
    """What one study published: the ``data`` are all of the file but claims and contradictions."""

    study: str
    claims: tuple[Claim, ...]
    inconsistencies: tuple[Inconsistency, ...]
    data: Entry

    def __getitem__(self, name: str) -> Any:
        """Return a constant, a table of constants as an `Entry`, or the rows of a table. Raises MeasurementError."""
        return self.data[name]

    def rows(self, table: str, **at: object) -> tuple[Entry, ...]:
        """Return the rows of a table that have these values, in its order. Raises MeasurementError for a wrong name."""
        return tuple(row for row in self[table] if all(row[name] == value for name, value in at.items()))

    def row(self, table: str, **at: object) -> Entry:
        """Return the one row that has these values. Raises MeasurementError where there is none, or several."""
        found = self.rows(table, **at)
        if len(found) == 1:
            return found[0]
        asked = " ".join(f"{name}={value}" for name, value in at.items())
        there = "; ".join(f"{name}: {', '.join(dict.fromkeys(str(row[name]) for row in self[table]))}" for name in at)
        raise MeasurementError(f"{self.study} has {len(found) or 'no'} {table} with {asked}: choose of {there}")


@cache
def publication(study: str) -> Publication:
    """Return what a study of ``studies/`` published. Raises MeasurementError, in one line, for a file that is wrong."""
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
    return Claim(**{**data, "thresholds": tuple(Threshold(**each) for each in data.get("thresholds", ()))})


def _read(value: Any) -> Any:
    """Return a table of columns and rows as its rows, and any other table as an entry."""
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"columns", "rows"}:
        return tuple(Entry(zip(value["columns"], row, strict=True)) for row in value["rows"])
    return Entry({name: _read(it) for name, it in value.items()})
