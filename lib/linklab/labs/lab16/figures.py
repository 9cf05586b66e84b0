"""Lab 16's tables: questions to a resolver, pages by their parts, objects and when they came."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.lab import Lab
from linklab.labs import NOTHING
from linklab.labs.lab16.names import NAME
from linklab.labs.lab16.networks import WWW, rtt_ms
from linklab.labs.lab16.resolving import Step, questions
from linklab.labs.lab16.theory import page_rounds
from linklab.measure import WebResult
from linklab.show import Table, table

__all__ = ["look_up"]


def look_up(lab: Lab, *later_s: float) -> Table:
    """Ask the client's resolver for www.shop.example, each time so many seconds after the answer before."""
    steps: list[Step] = [(NAME, number - 1 if number else None, seconds) for number, seconds in enumerate(later_s)]
    found = questions(lab, steps)
    begin_s = found[0].asked_s if found else 0.0
    rows = [
        (
            it.asked_s - begin_s,
            ", ".join(f"{address} for {ttl:g} s" for address, ttl in it.found or ()) or "no address",
            1000 * (it.got_s - it.asked_s),
            ", ".join(it.servers) or "nobody",
        )
        for it in found
    ]
    return table(["asked at (s)", "answer", "after (ms)", "it asked"], rows)


def page_table(results: Mapping[str, WebResult | None]) -> Table | str:
    """Show when each part of a page was there, in ms from the visit's beginning, and how many round trips it took."""
    rows = [
        (way, visit.connected_ms, visit.secure_ms, visit.base_ms, visit.page_ms, visit.page_ms / rtt_ms(WWW),
         page_rounds(result.flow.http, result.flow.connections, result.flow.objects))
        for way, result in results.items() if result is not None
        for visit in result.visits[:1]
    ]  # fmt: skip
    headings = ["", "connected (ms)", "TLS (ms)", "base file (ms)", "page (ms)", "round trips", "by theory"]
    return table(headings, rows) if rows else NOTHING


def object_table(results: Mapping[str, WebResult | None]) -> Table | str:
    """Show for each object how many ms after its request it was there."""
    known = {way: result for way, result in results.items() if result is not None}
    if not known:
        return NOTHING
    taken = {
        way: {it.number: it.loaded_ms - it.asked_ms for it in result.visits[0].objects} for way, result in known.items()
    }
    numbers = sorted(set().union(*taken.values()))
    rows = [(number, *(taken[way].get(number) for way in known)) for number in numbers]
    return table(["object", *(f"{way} (ms after its request)" for way in known)], rows)
