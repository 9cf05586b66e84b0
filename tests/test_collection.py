"""Tests are found alike by everyone: workers of pytest -n refuse a list that is not the same in each."""

from __future__ import annotations

import gzip

import pytest

from tests.conftest import LONGEST_VALUE_IN_A_NAME, pytest_make_parametrize_id


def test_a_packed_file_gives_its_test_no_name() -> None:
    early, late = (gzip.compress(b"x" * 60 + bytes(range(90)), mtime=second) for second in (1, 2))
    assert early != late
    assert {pytest_make_parametrize_id(packed, "content") for packed in (early, late)} == {"content"}


@pytest.mark.parametrize("value", ["0.9 Mbit/s", b"\0\xff", "x" * LONGEST_VALUE_IN_A_NAME, 10**100])
def test_a_short_value_is_in_the_name(value: object) -> None:
    assert pytest_make_parametrize_id(value, "value") is None


def test_every_test_has_a_name_of_its_own(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid for item in request.session.items]
    assert len(set(names)) == len(names)
    assert [name for name in names if len(name.partition("[")[2]) > 3 * LONGEST_VALUE_IN_A_NAME] == []
