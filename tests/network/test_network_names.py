"""Names of nodes and interfaces that Linux or Mininet would refuse."""

from __future__ import annotations

import pytest

from linklab.errors import NetworkError
from linklab.network import End, Host, Link, Network, PlannedNode, Switch

H1, H2, S1 = Host("h1"), Host("h2"), Switch("s1")
FAR = End("h2", "h2-eth0", "10.0.0.2/24")


def message_of(nodes: tuple[PlannedNode, ...], links: tuple[Link, ...]) -> str:
    with pytest.raises(NetworkError) as caught:
        Network("n", nodes, links)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a-name-of-16-chr", "has 16 characters and Linux takes at most 15"),
        ("", "the interface name is empty"),
        ("h1/eth0", "contains '/'"),
        ("h1 eth0", "contains ' '"),
        ("h1:0", "contains ':'"),
        ("h1%d", "contains '%'"),
        ("h1;reboot", "contains ';'"),
        ("h1-ethö", "contains 'ö'"),
        ("lo", "'lo' has a meaning of its own"),
        (".", "'.' has a meaning of its own"),
        ("..", "'..' has a meaning of its own"),
        ("-eth0", "'-eth0' has a meaning of its own"),
    ],
)
def test_interface_names_that_linux_refuses(name: str, message: str) -> None:
    link = Link(End("h1", name, "10.0.0.1/24"), FAR)
    text = message_of((H1, H2), (link,))
    assert message in text
    assert "on h1" in text


def test_an_interface_name_of_15_characters_is_allowed() -> None:
    link = Link(End("h1", "a-name-of-15-ch", "10.0.0.1/24"), FAR)
    assert Network("n", (H1, H2), (link,)).ends_of("h1")[0].interface == "a-name-of-15-ch"


@pytest.mark.parametrize("name", ["", "h 1", "1h", "h/1", "h1\n", "hö", "$h", "h.1", "-h"])
def test_node_names_that_mininet_cannot_use(name: str) -> None:
    assert "cannot be used by Mininet" in message_of((Host(name),), ())


def test_a_long_node_name_is_allowed_where_its_interface_is_short() -> None:
    name = "measurement-station"
    link = Link(End(name, "ms-eth0", "10.0.0.1/24"), FAR)
    assert Network("n", (Host(name), H2), (link,)).node(name) == Host(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("core", "switch core: Mininet takes a switch's number from its name"),
        ("a-switch-number-1", "has 17 characters"),
    ],
)
def test_a_switch_is_a_device_with_a_number(name: str, message: str) -> None:
    assert message in message_of((Switch(name),), ())


def test_an_interface_must_not_be_called_like_a_switch() -> None:
    link = Link(End("h1", "s1", "10.0.0.1/24"), End("s1", "s1-eth1"))
    assert "interface s1 is called like switch s1" in message_of((H1, S1), (link,))
