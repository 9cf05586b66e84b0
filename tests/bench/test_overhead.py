"""Overhead: what it times, and what a notebook adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from linklab.study import Measured, run
from linklab.study.page import make_page
from tools.bench.overhead import PAGE, STUDY, TIMED

from .made import made


def test_a_notebooks_overhead_is_what_it_takes_more_than_python() -> None:
    times_ms = dict(zip(TIMED, (0.5, 2, 3, 50, 60, 2050), strict=True))
    table = made(STUDY, lambda point: [Measured("wall_ms", times_ms[point.text("what")])])
    page = make_page(PAGE, {"overhead": table})["benchmark-overhead.md"]
    assert "| what that notebook takes more than python | - | 2000 |" in page


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_what_it_times_is_measured_once(virtual: Kind, tmp_path: Path) -> None:
    assert run(STUDY.short_form(), tmp_path, only={"what": list(TIMED)[:5]}).missing == ()
