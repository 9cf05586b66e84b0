"""The page of a benchmark: verdicts, then its grids by their headings, then where the numbers come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from linklab.published import Claim
from linklab.study.claims import Judge, Tables
from linklab.study.declare import Study
from linklab.study.page import Grid, Page

TEMPLATE = Path(__file__).with_name("page.md")


def bench_page(
    study: Study,
    grids: Mapping[str, Callable[[Tables], Grid]],
    claims: tuple[Claim, ...] = (),
    judges: Mapping[str, Judge] | None = None,
    template: Path = TEMPLATE,
) -> Page:
    """Return the page ``benchmark-NAME`` of a study. A template of its own asks for the grids itself."""
    about = {"what": study.title.partition(": ")[2].capitalize(), "headings": list(grids), "claims": bool(claims)}
    name = f"benchmark-{study.name}"
    return Page(name, f"Benchmark: {study.name}", (study,), template, claims, judges or {}, grids, published=about)
