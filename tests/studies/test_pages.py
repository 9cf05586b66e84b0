"""The pages in docs/studies are made of the tables next to them, and no measured number is typed in their templates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.study.catalogue import pages
from linklab.study.page import make_page, read_tables

DOCS = Path(__file__).parents[2] / "docs" / "studies"
TEMPLATES = {name: page.template.read_text("utf-8") for name, page in pages().items()}
_UNITS = r"(?:[kMG]?bit/s|[kM]?B|bytes?|n?s|us|ms|seconds?|minutes?|%|packets?|frames?|datagrams?|times)"
_NUMBER = re.compile(rf"(?<![\w.])(?:\d[\d.,]*(?:\s|-)?{_UNITS}(?!\w)|\d+\.\d+(?!\.?\d|\w))")
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_MADE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|`[^`]*`", re.DOTALL)
_CONSTANTS = re.compile(r"\{#\s*constants:(.*?)#\}", re.DOTALL)


def typed_numbers(template: str) -> list[str]:
    """The numbers with units, or with decimals, in a template's prose, but for those that its
    ``{# constants: 1500 bytes; 10 Mbit/s #}`` names.

    Constants are published numbers and those of protocols and settings. Numbers in code (`...`) are commands.
    """
    allowed = {" ".join(it.split()) for found in _CONSTANTS.findall(template) for it in found.split(";")}
    prose = " ".join(_MADE.sub("x", template).split())
    return [number for number in _NUMBER.findall(prose) if number not in allowed]


def test_a_typed_number_is_found() -> None:
    template = """{# constants: 1500 bytes; 10 Mbit/s #}
    Links of 10 Mbit/s, packets of 1500
    bytes; {{ value("mtu", "x_mbps", link=7) | fixed(2) }} Mbit/s, `--set rate=9 ms`, figure 9 shows 9.54 Mbit/s and
    11 %, RFC 768, section 4.2.3; a share of 0.95."""
    assert typed_numbers(template) == ["9.54 Mbit/s", "11 %", "0.95"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_measured_number_is_typed(name: str) -> None:
    assert typed_numbers(TEMPLATES[name]) == []


def test_the_page_that_is_not_made_of_tables_has_no_measured_number() -> None:
    settings = "{# constants: 9018 bytes; 50 Mbit/s; 6 Mbit/s #}"
    assert typed_numbers(settings + _CODE.sub("", (DOCS / "your-own.md").read_text("utf-8"))) == []


@pytest.mark.large
@pytest.mark.parametrize("name", pages())
def test_a_page_is_made_again_of_its_tables_byte_for_byte(name: str) -> None:
    page = pages()[name]
    committed = {path.name: path.read_text("utf-8") for path in (DOCS / f"{name}.md", *DOCS.glob(f"{name}-*.svg"))}
    assert make_page(page, read_tables(page, DOCS / "data")) == committed
