"""What is drawn or typed in a prediction's form goes into the cell."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.grade.prediction_form import rewritten


@pytest.mark.parametrize(
    ("source", "given", "expected"),
    [
        ("a = lab.predict('rtt', None, sure=None)", 2.5, "a = lab.predict('rtt', 2.5, sure=70)"),
        ("a = lab.predict('rtt', given=None, sure=10)", 2.0, "a = lab.predict('rtt', given=2, sure=70)"),
        (
            "c = lab.predict(\n    'rtt',\n    None,  # é\n    sure=None,\n)\nc",
            [(0.0, 1.0), (2.5, 3.25), (4.0, 3.0)],
            "c = lab.predict(\n    'rtt',\n    [(0, 1), (2.5, 3.25), (4, 3)],  # é\n    sure=70,\n)\nc",
        ),
        (
            "half = 50\nms = None\nsure = None\nms = lab.predict('rtt', {half: ms}, sure)\nms",
            {50: 21.5},
            "half = 50\nms = 21.5\nsure = 70\nms = lab.predict('rtt', {half: ms}, sure)\nms",
        ),
        (
            "s = {'a': None, 'b': 1}\nsure = None\ns = lab.predict('rtt', s, sure)",
            {"a": 3.0, "b": None},
            "s = {'a': 3, 'b': None}\nsure = 70\ns = lab.predict('rtt', s, sure)",
        ),
        (
            "s = lab.predict('rtt', dict.fromkeys('ab'), None)",
            {"a": 3.0, "b": 4.0},
            "s = lab.predict('rtt', {'a': 3, 'b': 4}, 70)",
        ),
        ("s = lab.predict('other', None, None)", 1.0, ""),
        ("s = lab.predict('rtt', None)", 1.0, ""),
        ("s = [lab.predict('rtt', 1, 2), lab.predict('rtt', 1, 2)]", 1.0, ""),
    ],
)
def test_a_cell_gets_what_was_predicted_where_it_names_it(source: str, given: Any, expected: str) -> None:
    assert rewritten(source, "rtt", given, 70.0) == expected
