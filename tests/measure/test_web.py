"""A page over TLS: what is read, and that each version of HTTP takes the round trips of its handshakes and requests."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.measure import Origin, PageVisit, WebFlow, WebObject, WebResult, run
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

ORIGIN = Origin("curl 8.14.1", "7.3.4")
TRIP_MS = 20


def test_the_headline_is_the_last_visit_to_its_last_object() -> None:
    cold = PageVisit(0.0, 20.0, 40.0, 60.0, 60.0, (WebObject(2, 60.0, 81.0), WebObject(1, 60.0, 80.0)))
    warm = PageVisit(0.0, 20.0, 40.0, 40.0, 40.0, ())
    assert WebResult(WebFlow("h1", "h2"), ORIGIN, (cold,)).headline == 81
    assert WebResult(WebFlow("h1", "h2"), ORIGIN, (cold, warm)).headline == 40
    assert WebResult(WebFlow("h1", "h2"), ORIGIN, ()).headline is None


@pytest.mark.lab
def test_each_version_takes_its_handshakes_and_requests(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        for http, rounds in (("1.0", 9), ("1.1", 5), ("2", 4), ("3", 3)):
            page = run(lab, WebFlow("h1", "h2", http=http, objects=2, object_bytes=100, base_bytes=100))  # type: ignore[arg-type]
            assert page.page_ms == pytest.approx(rounds * TRIP_MS, abs=15)
            assert sorted(it.number for it in page.visits[0].objects) == [1, 2]
        cold, warm = run(lab, WebFlow("h1", "h2", objects=0, visits=2, early_data=True)).visits
        assert cold.page_ms - warm.page_ms == pytest.approx(TRIP_MS, abs=5)
