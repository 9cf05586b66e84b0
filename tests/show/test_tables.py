"""Tables: numbers for reading, as text and as HTML."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.errors import LinklabError
from linklab.show import Table, table

ROWS = [["L1", 20, 20.0004, None], ["h1-h9", 80, 79.6251, "<slow>"]]
HEADINGS = ["path", "theory (ms)", "measured (ms)", "remark"]


def test_text_is_aligned() -> None:
    assert str(table(HEADINGS, ROWS, title="Round-trip times")).splitlines() == [
        "Round-trip times",
        "path   theory (ms)  measured (ms)  remark",
        "-----  -----------  -------------  ------",
        "L1              20          20.00  -",
        "h1-h9           80          79.63  <slow>",
    ]


def test_html_is_escaped_and_numbers_stand_on_the_right() -> None:
    page = table(HEADINGS, ROWS)._repr_html_()
    assert "<slow>" not in page
    assert "&lt;slow&gt;" in page
    assert '<td style="text-align:right">79.63</td>' in page
    assert '<td style="text-align:left">h1-h9</td>' in page
    assert '<th scope="col" style="text-align:right">theory (ms)</th>' in page


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (80.001, "80.00"),
        (9.5, "9.5"),
        (0.1 + 0.2, "0.3"),
        (0.001234, "0.0012"),
        (20.0, "20"),
        (0, "0"),
        (True, "True"),
        (None, "-"),
        ("a b", "a b"),
    ],
)
def test_values_for_reading(value: object, text: str) -> None:
    assert str(Table(("x",), ((value,),))).splitlines()[-1].strip() == text


@pytest.mark.parametrize(
    ("headings", "rows", "said"),
    [
        ("RTT", [[1.2]], r"headings of the table are 'RTT': give a list of headings"),
        (["RTT"], 1.2, r"rows of the table are 1.2: give a list of rows"),
        (["a", "b"], [[1, 2], [3]], "row 2 of the table has 1 values for 2 headings"),
        (["RTT"], [1.2, 3.4], r"row 1 of the table is 1.2: give a list of values, one for each heading"),
    ],
)
def test_what_is_no_list_and_a_row_of_another_length_are_refused(headings: Any, rows: Any, said: str) -> None:
    with pytest.raises(LinklabError, match=said):
        table(headings, rows)


def test_a_table_without_rows_has_its_headings() -> None:
    assert str(table(["a", "b"], [])).splitlines()[0] == "a  b"
