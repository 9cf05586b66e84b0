"""The studies that Linklab brings along, by name. A study of one's own is one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from linklab.errors import MeasurementError
from linklab.study.declare import Study

STUDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mtu": "linklab.study.mtu:MTU",
        "burst": "linklab.study.burst:BURST",
    }
)
"""Where each study is declared, as ``module:NAME``: none is loaded that is not asked for."""


def study_by_name(name: str) -> Study:
    """The study of that name. Raises MeasurementError, listing the names, if there is none."""
    if name not in STUDIES:
        raise MeasurementError(f"no study is called {name!r}: choose one of {', '.join(STUDIES)}")
    module, _, attribute = STUDIES[name].partition(":")
    study = getattr(importlib.import_module(module), attribute)
    assert isinstance(study, Study)
    return study
