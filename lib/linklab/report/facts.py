"""What a notebook says of its run: when, with which Linklab, in what kind of lab, and whether in order."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, Final

from linklab import record
from linklab.report.model import Facts

_TOOLS: Final = ("python", "mininet", "iperf3", "ping", "iproute2")


def facts_of(book: Any, saved_at: datetime.datetime) -> Facts:
    """From what `linklab run` notes in a notebook, else from what labs and checks kept in their cells' outputs.

    ``saved_at`` is the file's date, the latest at which it can have been run.
    """
    noted = book.metadata.get("linklab")
    told: dict[str, Any] = {}
    for mime in (record.RESULT_MIME, record.LAB_MIME):
        for data in kept(book, mime):
            told |= data
    if isinstance(noted, dict):
        told |= noted
    when = told.get("run_at") or _executed_at(book)
    language = book.metadata.get("language_info")
    if isinstance(language, dict):
        told.setdefault("python", language.get("version"))
    known = {name: _words(told.get(name)) for name in ("linklab", "kind", "kernel")}
    tools = tuple((name, _words(told.get(name))) for name in _TOOLS if _words(told.get(name)))
    return Facts(run_at=_date(_words(when)) or f"until {_shown(saved_at)}", tools=tools, **known)


def kept(book: Any, mime: str) -> Iterator[dict[str, Any]]:
    """All data of one type among a notebook's outputs, in order."""
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {}).get(mime)
            if isinstance(data, dict):
                yield data


def out_of_order(book: Any) -> str:
    """A sentence where the cells were not run from top to bottom, each at most once after the one before."""
    latest, before = 0, ""
    for cell in book.cells:
        count = cell.get("execution_count")
        if not isinstance(count, int):
            continue
        name = cell.get("id", "without id")
        if count <= latest:
            return (
                f"Not run from top to bottom: cell {name} ran as number {count}, before {before} above it "
                f"(number {latest}). What it shows may rest on something else than what stands above it."
            )
        latest, before = count, name
    return ""


def other_version(facts: Facts, present: str) -> str:
    """A sentence where the notebook was run with another Linklab than the one that makes the report."""
    if not facts.linklab or facts.linklab == present:
        return ""
    return f"Run with Linklab {facts.linklab}; this report is made by {present}. Checks may have changed in between."


def _executed_at(book: Any) -> str:
    """The latest time that Jupyter noted for a cell; it does so only where it is told to."""
    times: list[str] = []
    for cell in book.cells:
        timing = cell.metadata.get("execution")
        times += [_words(at) for at in timing.values()] if isinstance(timing, dict) else []
    return max(times, default="")


def _date(words: str) -> str:
    try:
        return _shown(datetime.datetime.fromisoformat(words))
    except ValueError:
        return ""


def _shown(at: datetime.datetime) -> str:
    return at.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _words(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""
