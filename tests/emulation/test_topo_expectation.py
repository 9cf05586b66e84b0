"""What a student's Topo asks for, read without building it."""

from __future__ import annotations

import pytest

pytest.importorskip("mininet.topo", reason="needs the distribution's Mininet: apt-get install mininet")
from mininet.topo import Topo

from linklab.emulation.mininet_parts import delay_ms
from linklab.emulation.topo import NetworkTopo
from linklab.emulation.topo_expectation import expectation_of
from linklab.errors import NetworkError
from linklab.network import COURSE, Shape


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10ms", 10),
        ("2.5ms", 2.5),
        ("1s", 1000),
        ("500us", 0.5),
        ("250", 0.25),
        (" 5MS ", 5),
        ("7usecs", 0.007),
        ("40ns", 4e-5),
        ("40nsec", 4e-5),
        ("1500nsecs", 0.0015),
        ("2e3usecs", 2),
        ("1e-1ms", 0.1),
        (2e-05, 2e-8),
    ],
)
def test_delays(text: str | float, value: float) -> None:
    assert delay_ms(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["10 milliseconds", "ten", "", "-5ms", "10m", "e3ms", "infms"])
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
    one, two = (node.interfaces[0] for node in expectation_of(topo).expectation.nodes if node.interfaces)
    assert one.shape == Shape(rate_mbps=10, delay_ms=5, queue_packets=20)
    assert two.shape == Shape(rate_mbps=10, delay_ms=1, queue_packets=20)
    assert (one.addresses, two.addresses) == (None, ("10.0.0.2/24",))
    assert (one.name, one.peer) == ("h1-eth0", ("h2", "h2-eth0"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bw": 0}, "more than 0 and at most 1000 Mbit/s"),
        ({"max_queue_size": "many"}, "1 or more"),
        ({"loss": 101}, "percentage"),
        ({"max_queue_size": 0}, "1 or more"),
        ({"max_queue_size": 2.5}, "1 or more"),
        ({"delay": "10 m"}, "write it like"),
        ({"intfName1": "a-very-long-interface"}, "Linux allows 15"),
    ],
)
def test_what_mininet_and_tc_cannot_take_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        expectation_of(_two(**options))


def test_a_network_becomes_the_topo_that_asks_for_the_same() -> None:
    nodes = {node.name: node for node in expectation_of(NetworkTopo(COURSE)).expectation.nodes}
    assert sorted(nodes) == sorted(node.name for node in COURSE.nodes)
    l1 = COURSE.link("L1")
    interface = next(each for each in nodes["r1"].interfaces or () if each.name == "r1-eth1")
    assert interface.shape == l1.shape
    assert interface.addresses == ("10.0.1.1/24",)
    assert nodes["s1"].kind == "switch"
