"""Data classes come back from JSON as they were; what is damaged is named."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.measure.codec import rebuilt

NAMED = tuple[str, float]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (NAMED, ["h1", 2.5]),
        (tuple[float, ...], [1.0, 2.0, 3.0]),
        (tuple[float, ...], []),
        (tuple[NAMED, ...], [("h1", 2.5)]),
    ],
)
def test_each_item_of_a_tuple_has_its_own_type(kind: Any, value: Any) -> None:
    assert rebuilt(kind, value, "here", complete=True) == tuple(value)


@pytest.mark.parametrize("value", [["h1", "fast"], [2.5, 2.5], ["h1"], ["h1", 2.5, 2.5]])
def test_a_tuple_with_an_item_of_another_type_is_damaged(value: Any) -> None:
    with pytest.raises(MeasurementError, match="here is damaged"):
        rebuilt(NAMED, value, "here", complete=True)
