"""What programs in a lab find in their environment."""

from __future__ import annotations

import pytest

import linklab
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind


@pytest.mark.lab
def test_programs_on_a_node_are_asked_for_no_colours(virtual: Kind, nothing_left: None) -> None:
    """A node's shell has a terminal, and Debian 13's ip colours what it says to one: addresses could not be read."""
    with linklab.start(TWO_HOSTS, "virtual") as lab:
        assert lab["h1"].cmd("echo $NO_COLOR $TERM").split() == ["1", "dumb"]
        assert "\x1b" not in lab["h1"].cmd("ip address")
