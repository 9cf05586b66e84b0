"""States look things up without raising, and survive JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import COURSE, NetworkState, expected_state


@pytest.fixture
def state() -> NetworkState:
    return expected_state(COURSE)


def test_lookups_answer_none_where_nothing_is(state: NetworkState) -> None:
    node = state.node("r1")
    assert node is not None
    assert node.interface("r1-eth1") is state.interface("r1", "r1-eth1")
    assert state.node("r9") is None
    assert state.interface("r9", "r9-eth0") is None
    assert state.interface("r1", "r1-eth9") is None
    assert node.interface("r1-eth9") is None


def test_a_state_survives_json(state: NetworkState) -> None:
    data = json.loads(json.dumps(state.to_json()))
    assert data == state.to_json()
    assert data["linklab_state"] == 1
    assert NetworkState.from_json(data) == state


def damaged(path: list[str | int], value: Any) -> dict[str, Any]:
    data = json.loads(json.dumps(expected_state(COURSE).to_json()))
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["linklab_state"], 2, "version 2 and this Linklab reads 1"),
        (["linklab_state"], None, "version None"),
        (["nodes"], None, "damaged"),
        (["nodes"], 7, "damaged"),
        (["nodes", 0, "kind"], "router", "damaged"),
        (["nodes", 0, "interfaces", 0, "shape"], None, "damaged"),
        (["nodes", 0, "interfaces", 0, "shape"], {"speed": 1}, "damaged"),
        (["nodes", 0, "interfaces", 0, "peer"], ["s1"], "damaged"),
        (["nodes", 0, "routes"], [{"destination": "0.0.0.0/0"}], "damaged"),
    ],
)
def test_a_state_of_another_version_or_damaged_is_refused(path: list[str | int], value: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        NetworkState.from_json(damaged(path, value))
