"""The model's look-ups, and that the room needs neither Mininet nor a drawing library."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    Link,
    Network,
    Shape,
    static_routes,
)
from tests.support.networks import L3, STICK


@pytest.mark.parametrize(
    ("lookup", "message"),
    [
        (lambda: COURSE.ends_of("h10"), "no node 'h10'"),
        (lambda: COURSE.link("L4"), "no link 'L4'"),
        (lambda: COURSE.address_of("s1"), "s1 is a switch"),
        (lambda: COURSE.address_of("h1", 6), "h1 has no IPv6 address"),
        (lambda: COURSE.link("L1").other("r3"), "L1 joins r1 and r2, not r3"),
    ],
)
def test_a_wrong_lookup_says_what_there_is(lookup: Callable[[], object], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        lookup()


def test_a_link_is_made_and_read_by_the_fields_of_its_shape() -> None:
    link = COURSE.link("L1")
    assert link.shape == Shape(40, 10, queue_packets=67)
    assert (link.rate_mbps, link.delay_ms, link.queue_packets) == (40, 10, 67)
    assert replace(link, shape=Shape(5)) == link.reshaped(rate_mbps=5, delay_ms=0.0, queue_packets=None)
    with pytest.raises(NetworkError, match=r"a shape or its fields, not both: .*reshaped\(delay_ms=5\)"):
        Link(link.a, link.b, delay_ms=5, shape=link.shape)


def test_import_needs_neither_mininet_nor_matplotlib_nor_networkx() -> None:
    code = "import sys, linklab.network; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(loaded.stdout.split())
    assert "linklab" in modules
    assert not modules & {"mininet", "matplotlib", "IPython", "networkx", "linklab.network.variants"}


@pytest.mark.parametrize("network", [L3, STICK], ids=["L3 switch", "router on a stick"])
def test_lists_are_as_good_as_tuples(network: Network) -> None:
    def listed(thing: Any) -> Any:
        if isinstance(thing, tuple):
            return [listed(each) for each in thing]
        if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
            return thing
        return replace(thing, **{each.name: listed(getattr(thing, each.name)) for each in dataclasses.fields(thing)})

    made = listed(network)
    assert (made, hash(made)) == (network, hash(network))
    assert static_routes(made) == static_routes(network)
