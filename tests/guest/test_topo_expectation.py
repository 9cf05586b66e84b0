"""What a student's Topo asks for, read without building it."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest

pytest.importorskip("mininet.topo", reason="needs the distribution's Mininet: apt-get install mininet")
from mininet.link import Link, TCLink
from mininet.topo import Topo

from linklab.errors import NetworkError
from linklab.guest.mininet_parts import delay_ms
from linklab.guest.topo_expectation import expectation_of
from linklab.network import Shape


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.5ms", 2.5),
        ("1s", 1000),
        ("250", 0.25),
        (" 5MS ", 5),
        ("7usecs", 0.007),
        ("40nsec", 4e-5),
        ("1e-1ms", 0.1),
        (2e-05, 2e-8),
    ],
)
def test_delays(text: str | float, value: float) -> None:
    assert delay_ms(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["10 milliseconds", "", "-5ms", "e3ms", "infms"])
def test_delays_that_tc_would_refuse(text: str) -> None:
    with pytest.raises(NetworkError, match="write it like '10ms'"):
        delay_ms(text)


def _two(**options: object) -> Topo:
    topo = Topo()
    topo.addHost("h1")
    topo.addHost("h2")
    topo.addLink("h1", "h2", **options)
    return topo


def test_both_directions_are_expected_and_one_sided_requests_are_kept() -> None:
    topo = _two(bw=10, max_queue_size=20, params1={"delay": "5ms"}, params2={"delay": "1ms", "ip": "10.0.0.2/24"})
    one, two = (node.interfaces[0] for node in expectation_of(topo).state.nodes)
    assert one.shape == Shape(rate_mbps=10, delay_ms=5, queue_packets=20)
    assert two.shape == Shape(rate_mbps=10, delay_ms=1, queue_packets=20)
    assert (one.name, one.peer) == ("h1-eth0", ("h2", "h2-eth0"))
    assert (one.addresses, two.addresses) == ((), ("10.0.0.2/24",))
    told = {key for key in expectation_of(topo).expected if key[-1] in ("addresses", "delay", "queue", "mtu", "routes")}
    assert told == {
        *(("h1", "h1-eth0", "delay"), ("h1", "h1-eth0", "queue")),
        *(("h2", "h2-eth0", "delay"), ("h2", "h2-eth0", "queue"), ("h2", "h2-eth0", "addresses")),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bw": "5"}, "h1-eth0: bw='5' is a text, which Mininet does not take: write bw=5"),
        ({"bw": 0}, "more than 0 and at most 1000 Mbit/s"),
        ({"bw": "fast"}, "h1-eth0: bw='fast' is no number: write one"),
        ({"loss": "5%"}, "h1-eth0: loss='5%' is no number: write one"),
        ({"max_queue_size": "many"}, "1 or more"),
        ({"loss": 101}, "percentage"),
        ({"max_queue_size": 0.5}, "1 or more"),
        ({"delay": "10 m"}, "write it like"),
        ({"intfName1": "a-very-long-interface"}, "Linux allows 15"),
    ],
)
def test_what_mininet_and_tc_cannot_take_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        expectation_of(_two(**options))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"bandwidht": 3}, "h1-h2: bandwidht=3 not applied, Mininet's links take no bandwidht"),
        ({"cls": Link, "queue": 40}, "h1-h2: queue=40 not applied, Mininet's links take no queue"),
        ({"cls": partial(TCLink, Bw=3)}, "h1-h2: Bw=3 not applied, Mininet's links take no Bw"),
        ({"params1": {"lost": "5%"}}, "h1-h2: lost='5%' not applied, Mininet's links take no lost"),
        ({"delay": 15}, "h1-eth0: delay=15 has no unit: 15 us, as tc takes it, and not 15ms"),
        ({"delay": "5ms", "jitter": 1}, "h1-eth0: jitter=1 has no unit: 1 us"),
        ({"max_queue_size": 88.2}, "h1-eth0: max_queue_size=88.2 is rounded down to 88 packets"),
    ],
)
def test_what_is_not_done_or_done_otherwise_is_told(options: dict[str, object], told: str) -> None:
    assert expectation_of(_two(**options)).not_checked[0].startswith(told)


def test_a_ring_without_a_spanning_tree_is_told_of() -> None:
    topo = Topo()
    for name in ("s1", "s2", "s3"):
        topo.addSwitch(name)
    for one, two in (("s1", "s2"), ("s2", "s3"), ("s3", "s1")):
        topo.addLink(one, two)
    (line,) = expectation_of(topo).not_checked
    assert "closes a ring of switches without stp=True" in line


def test_a_parameter_of_many_links_is_named_once() -> None:
    topo = Topo()
    hosts = [topo.addHost(f"h{number}") for number in range(1, 7)]
    for one, two in pairwise(hosts):
        topo.addLink(one, two, cost=1)
    assert expectation_of(topo).not_checked == (
        "h1-h2, h2-h3, h3-h4 and 2 more: cost=1 not applied, Mininet's links take no cost",
    )
