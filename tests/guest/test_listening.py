"""Which ports are open, as the kernel tells."""

from __future__ import annotations

import socket

import pytest

from linklab.guest.listening import listening, listens


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")], ids=["IPv4", "IPv6"]
)
def test_a_listener_is_found_with_its_address_and_a_connection_is_none(
    family: socket.AddressFamily, address: str
) -> None:
    if family not in {info[0] for info in socket.getaddrinfo("localhost", 0)} and family == socket.AF_INET6:
        pytest.skip("this machine has no IPv6")
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        assert (address, port) in listening("self")
        with socket.create_connection((address, port)) as client:
            assert not listens("self", client.getsockname()[1])
        assert listens("self", port)
        assert not listens("self", port, "udp")
    assert not listens("self", port)


def test_a_bound_datagram_socket_waits_for_somebody() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        assert listens("self", server.getsockname()[1], "udp")


def test_a_process_that_is_gone_has_no_ports() -> None:
    assert listening(2**22 + 1) == []
