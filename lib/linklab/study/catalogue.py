"""The studies that Linklab brings along, by name. A study of one's own is one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from linklab.errors import MeasurementError
from linklab.study.declare import Study
from linklab.study.page import PageOf

STUDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mtu": "linklab.study.mtu:MTU",
        "burst": "linklab.study.burst:BURST",
        "video": "linklab.study.video:VIDEO",
        "picture": "linklab.study.picture:PICTURE",
        "gre": "linklab.study.gre:GRE",
        "switches-rtt": "linklab.study.switches_rtt:SWITCHES_RTT",
        "switches-interrupts": "linklab.study.switches_rtt:SWITCHES_INTERRUPTS",
        "switches-throughput": "linklab.study.switches_throughput:SWITCHES_THROUGHPUT",
        "switches-fairness": "linklab.study.switches_fairness:SWITCHES_FAIRNESS",
        "switches-cost": "linklab.study.switches_cost:SWITCHES_COST",
    }
)
"""Where each study is declared, as ``module:NAME``: none is loaded that is not asked for."""

PAGES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "mtu": ("linklab.study.mtu_page:page", ("mtu", "burst", "gre")),
        "video": ("linklab.study.video_page:page", ("video", "picture")),
        "switches": (
            "linklab.study.switches_page:page",
            ("switches-rtt", "switches-interrupts", "switches-throughput", "switches-fairness", "switches-cost"),
        ),
    }
)
"""The page of each published study: ``module:function`` that makes it, and the studies whose tables it needs."""


def page_of(name: str) -> tuple[PageOf, tuple[Study, ...]]:
    """What makes the page of that name, and of which studies. Raises MeasurementError, listing the names, if there is
    none.
    """
    if name not in PAGES:
        raise MeasurementError(f"no page is called {name!r}: choose one of {', '.join(PAGES)}")
    place, needed = PAGES[name]
    module, _, attribute = place.partition(":")
    make: PageOf = getattr(importlib.import_module(module), attribute)
    return make, tuple(map(study_by_name, needed))


def study_by_name(name: str) -> Study:
    """The study of that name. Raises MeasurementError, listing the names, if there is none."""
    if name not in STUDIES:
        raise MeasurementError(f"no study is called {name!r}: choose one of {', '.join(STUDIES)}")
    module, _, attribute = STUDIES[name].partition(":")
    study = getattr(importlib.import_module(module), attribute)
    assert isinstance(study, Study)
    return study
