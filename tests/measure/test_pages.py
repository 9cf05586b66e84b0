"""Web pages, one after another: what is read, and what a page takes on a link of known delay."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.labs.lab12.rules import access
from linklab.measure import Origin, PageFlow, PageResult, run
from linklab.measure.tool import program_command
from linklab.network import COURSE
from linklab.runtime.backends import Kind

ORIGIN = Origin("linklab page on Python 3.13.5", "7.3.4")


def test_the_headline_is_the_mean_page() -> None:
    flow = PageFlow("h2", "h3")
    assert PageResult(flow, ORIGIN, (0.0, 1.25), (250.0, 350.0)).headline == pytest.approx(300)
    assert PageResult(flow, ORIGIN, (), ()).headline is None


@pytest.mark.lab
def test_a_page_takes_two_round_trips_an_object_and_curl_gets_one_too(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(access(COURSE), folder=tmp_path) as lab:
        one = run(lab, PageFlow("h2", "h3", 3))
        short = run(lab, PageFlow("h2", "h3", 3, objects=2, object_bytes=100))
        assert min(one.page_ms) > 12 * 20
        assert max(one.page_ms) < 12 * 20 + 6 * 10
        assert short.page_ms[-1] == pytest.approx(4 * 20, abs=2)
        assert [b - a for a, b in zip(one.begin_s, one.begin_s[1:], strict=False)] == pytest.approx(
            [1 + took / 1000 for took in one.page_ms[:-1]], abs=0.001
        )
        pages = lab["h3"].popen(program_command("pages.py", "serve", port=8080, ip_version=4, object_bytes=777))
        lab["h3"].wait_listening(8080)
        asked = f"curl -s -o /dev/null -w '%{{http_code}} %{{size_download}}' http://{lab['h3'].address}:8080/0"
        assert lab["h2"].cmd(asked) == "200 777"
        pages.terminate()
