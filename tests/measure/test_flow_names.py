"""Flows have names of nodes in place of addresses, whichever version of IP they are of."""

from __future__ import annotations

from linklab.measure.flow_names import FlowNames
from linklab.measure.headers import Ends
from linklab.network import COURSE, dual_stack, expected_state


def test_places_of_both_versions_are_named() -> None:
    names = FlowNames(expected_state(dual_stack(COURSE)))
    assert names.of(Ends("UDP", "10.0.0.2:40", "10.0.5.2:80")) == "UDP h1:40 to h4:80"
    assert names.of(Ends("UDP", "[2001:db8::2]:40", "[2001:db8:0:5::2]:80")) == "UDP h1:40 to h4:80"
    assert names.of(Ends("ICMPv6", "[fe80::1]", "[2001:db8:0:5::2]")) == "ICMPv6 [fe80::1] to h4"
