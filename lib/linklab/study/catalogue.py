"""The studies that Linklab brings along, by name. A study of one's own is one line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from linklab.errors import MeasurementError
from linklab.study.declare import Study
from linklab.study.mtu import page as mtu_page
from linklab.study.mtu.burst import BURST
from linklab.study.mtu.gre import GRE
from linklab.study.mtu.runs import MTU
from linklab.study.page import Page
from linklab.study.switches.page import PAGE as SWITCHES_PAGE
from linklab.study.video import page as video_page
from linklab.study.video.picture import PICTURE
from linklab.study.video.runs import VIDEO
from linklab.study.write_page import PageOf

STUDIES: Final[Mapping[str, Study]] = MappingProxyType(
    {study.name: study for study in (MTU, BURST, VIDEO, PICTURE, GRE, *SWITCHES_PAGE.studies)}
)

PAGES: Final[Mapping[str, Page | tuple[PageOf, tuple[Study, ...]]]] = MappingProxyType(
    {
        "mtu": (mtu_page.page, (MTU, BURST, GRE)),
        "video": (video_page.page, (VIDEO, PICTURE)),
        "switches": SWITCHES_PAGE,
    }
)
"""The page of each published study: what makes it, and the studies whose tables it needs."""


def page_of(name: str) -> Page | tuple[PageOf, tuple[Study, ...]]:
    """What makes the page of that name, and of which studies. Raises MeasurementError, listing the names, if there is
    none.
    """
    if name not in PAGES:
        raise MeasurementError(f"no page is called {name!r}: choose one of {', '.join(PAGES)}")
    return PAGES[name]


def study_by_name(name: str) -> Study:
    """The study of that name. Raises MeasurementError, listing the names, if there is none."""
    if name not in STUDIES:
        raise MeasurementError(f"no study is called {name!r}: choose one of {', '.join(STUDIES)}")
    return STUDIES[name]
