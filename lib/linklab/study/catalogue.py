"""The studies and pages that Linklab brings along, by name. A study of one's own needs no line here: FILE.py:STUDY."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from linklab.discovery import study_module, study_names
from linklab.errors import MeasurementError
from linklab.study.declare import Study
from linklab.study.own import from_file, is_in_file, names_in_file
from linklab.study.page import Page


@cache
def pages() -> Mapping[str, Page]:
    """Return the pages that come along, by name: ``PAGE`` of each ``studies/NAME/page.py``."""
    found = (study_module(name, "page").PAGE for name in study_names())
    return MappingProxyType({page.name: page for page in found})


@cache
def studies() -> Mapping[str, Study]:
    """Return the studies that come along, by name: those of all pages."""
    return MappingProxyType({study.name: study for page in pages().values() for study in page.studies})


def study_by_name(name: str) -> Study:
    """Return the study of that name, or the one that ``FILE.py:STUDY`` names.

    Raises MeasurementError, listing the names, if there is none.
    """
    if is_in_file(name):
        found = from_file(name)
        if not isinstance(found, Study):
            raise MeasurementError(f"{name} is a {type(found).__name__} and no linklab.study.Study")
        return replace(found, command=f"linklab study run {shlex.quote(name)}")
    if name not in studies():
        raise MeasurementError(f"no study is called {name!r}: choose one of {', '.join(studies())}")
    return studies()[name]


def page_by_name(name: str) -> Page | Study:
    """Return the page of that name or of ``FILE.py:PAGE``, or a study that has none of its own.

    Raises MeasurementError, listing the names, if there is none.
    """
    if name in pages():
        return pages()[name]
    if is_in_file(name):
        return _with_commands(found, name) if isinstance(found := from_file(name), Page) else study_by_name(name)
    if name in studies():
        return studies()[name]
    raise MeasurementError(f"no page is called {name!r}: choose one of {', '.join(pages())}, or a study")


def _with_commands(page: Page, name: str) -> Page:
    """Return a page of a file, whose studies are carried out by their names there."""
    file, there = name.rpartition(":")[0], names_in_file(name)

    def with_command(study: Study) -> Study:
        called = next((each for each, value in there.items() if value is study), None)
        if called is None or study in studies().values():
            return study
        return replace(study, command=f"linklab study run {shlex.quote(f'{file}:{called}')}")

    return replace(page, studies=tuple(map(with_command, page.studies)))


def page_that_has(study: Study) -> Page | None:
    """Return the page whose claims a study's table may judge, if there is one."""
    return next((page for page in pages().values() if study in page.studies), None)
