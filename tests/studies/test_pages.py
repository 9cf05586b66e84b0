"""The pages in docs/studies are made of the tables next to them, and no measured number is typed in their prose."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from linklab.percent import cells, prose
from linklab.study.catalogue import pages
from linklab.study.notebook import PageRequest, run_page

DOCS = Path(__file__).parents[2] / "docs" / "studies"
_UNITS = r"(?:[kMG]?bit/s|[kM]?B|bytes?|n?s|us|ms|seconds?|minutes?|%|packets?|frames?|datagrams?|times)"
_NUMBER = re.compile(rf"(?<![\w.])(?:\d[\d.,]*(?:\s|-)?{_UNITS}(?!\w)|\d+\.\d+(?!\.?\d|\w))")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
CONSTANTS = {
    "controllers": "1 ms; 1.3; 5.4",
    "mtu": "1518 bytes; 4370 bytes; 7999 bytes; 1600 bytes; 4 bytes; 802.3; 14.04; 7000 packets; 5 ms; "
    "7995 bytes; 20 bytes; 34 bytes; 10 Mbit/s; 100 Mbit/s",
    "outage": "10 s; 40 s; 5 s; 5 ms; 9.5; 10.5",
    "report": "33 frames; 33 packets; 25 s; 9.6 ms; 16.8; 1.048576 times; 10 s; 1512 bytes; 1000 bytes; 1470 bytes; "
    "1514 bytes; 4.1; 1 %",
    "switches": "100 Mbit/s; 10 Mbit/s; 1440 bytes; 1470 bytes; 100 packets; 20 bytes; 250 us; 64 us; 6.4; 7.0; 6.3; "
    "4.1",
    "tcp": "10 Mbit/s; 100 packets; 10 packets; 200 ms; 10 s; 50 ms; 10 %",
    "trunks": "10 Mbit/s; 100 Mbit/s; 2.5 Mbit/s; 100 packets; 5 s",
    "two-pcs": "1518 bytes; 10 Mbit/s; 1000 Mbit/s; 2000 packets",
    "video": "2 Mbit/s; 8 Mbit/s; 10 Mbit/s; 100 Mbit/s; 1000 Mbit/s; 16 packets; 20 packets; 21 packets; 70 ms; "
    "90000 s; 0.1 %",
    "your-own": "6 Mbit/s",
}
"""Numbers that may be typed: published ones, and those of protocols and settings."""


def typed_numbers(text: str) -> list[str]:
    """The numbers with units, or with decimals, in prose. Numbers in code (`...`) are commands."""
    return _NUMBER.findall(" ".join(_CODE.sub("x", text).split()))


def prose_of(page: str) -> str:
    """The prose of a page's notebook: markdown cells, and what its code says but for numbers that it asks for."""
    told = []
    for _, kind, cell in cells(page):
        if "[markdown]" in kind:
            told.append(prose(cell))
            continue
        calls = (it for it in ast.walk(ast.parse(cell)) if isinstance(it, ast.Call) and isinstance(it.func, ast.Name))
        for text in (it.args[0] for it in calls if isinstance(it.func, ast.Name) and it.func.id == "say" and it.args):
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            told += ["".join(str(it.value) if isinstance(it, ast.Constant) else "x" for it in parts)]
    return "\n\n".join(told)


def test_a_typed_number_is_found() -> None:
    page = '''# %% [markdown]
# Packets of 1500
# bytes, `--set rate=9 ms`, RFC 768, section 4.2.3; a share of 0.95.
# %%
say(f"""{value(7):.2f} Mbit/s, figure 9 shows 9.54 Mbit/s
and 11 %""")
'''
    assert typed_numbers(prose_of(page)) == ["1500 bytes", "0.95", "9.54 Mbit/s", "11 %"]


@pytest.mark.parametrize("name", CONSTANTS)
def test_no_measured_number_is_typed(name: str) -> None:
    text = prose_of(pages()[name].read_text("utf-8")) if name in pages() else (DOCS / f"{name}.md").read_text("utf-8")
    assert set(typed_numbers(text)) <= set(CONSTANTS[name].split("; "))


@pytest.mark.large
@pytest.mark.parametrize("name", pages())
def test_a_page_is_made_again_of_its_tables_byte_for_byte(name: str) -> None:
    committed = {path.name: path.read_text("utf-8") for path in (DOCS / f"{name}.md", *DOCS.glob(f"{name}-*.svg"))}
    _, files = run_page(pages()[name], PageRequest(DOCS / "data"))
    assert files == committed
