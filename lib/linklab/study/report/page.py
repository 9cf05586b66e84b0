"""The page of the course report: its five test cases, repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from linklab.published.report import CLAIMS, INCONSISTENCIES
from linklab.study.page import Page
from linklab.study.report import figures
from linklab.study.report.claims import JUDGES
from linklab.study.report.runs import STUDIES

REPORT_PAGE: Final = Page(
    name="report",
    title="The course report of 2023, repeated",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=CLAIMS,
    judges=JUDGES,
    grids={
        "udp": figures.udp_grid,
        "alone": figures.alone_grid,
        "shared": figures.shared_grid,
        "fairness": figures.fairness_grid,
        "apart": figures.apart_grid,
    },
    figures={
        "rtt": figures.rtt_figure,
        "throughput": figures.throughput_figure,
        "sharing": figures.sharing_figure,
    },
    published={"inconsistencies": INCONSISTENCIES},
)
