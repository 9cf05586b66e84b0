"""The figure of an assignment does not answer it."""

from __future__ import annotations

import re

from linklab.labs.lab01.figures import without_addresses
from linklab.network import COURSE, expected_state
from linklab.show import draw


def test_an_assignment_has_all_cables_and_no_address() -> None:
    plan, blank = expected_state(COURSE), without_addresses(COURSE)
    assert [node.name for node in blank.nodes] == [node.name for node in plan.nodes]
    for node, planned in zip(blank.nodes, plan.nodes, strict=True):
        assert node.routes == ()
        assert [(it.name, it.peer, it.shape) for it in node.interfaces] == [
            (it.name, it.peer, it.shape) for it in planned.interfaces
        ]
    assert not re.search(r"\d+\.\d+\.\d+\.\d+", draw(blank).alt_text)
    assert "10.0.0.2/24" in draw(COURSE).alt_text
