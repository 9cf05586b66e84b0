"""Programs of Lab 18 that run on its hosts: datagrams through a NAT, two homes that call each other, a page, a flood,
answers of ARP that nobody asked for, and a router's advertisement.

``python3 lab18.py MODE ARGUMENT ...``: each mode is a function below. All of it is Python's standard library.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time

Address = tuple[str, int]
_HALF_OPEN = "03"
"""Linux's number of the state SYN_RECV in /proc/net/tcp."""
_SPOOFED = "198.51.100"
"""Addresses for examples (RFC 5737): nobody has them, so nobody answers."""
_PAGE_BYTES = 100_000
_PATIENCE_S = 1.5
"""How long a client waits for a connection: long enough for a SYN and one that is sent again."""


def _datagrams(port: int = 0, patience_s: float = 1.5) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind(("", port))
    found.settimeout(patience_s)
    return found


def _wait_until(instant_s: float) -> None:
    time.sleep(max(0.0, instant_s - time.monotonic()))


# --- A late datagram


def late(port: str, exchanges: str, silence_s: str) -> None:
    """Answer so many datagrams (0: take one, answer none), be silent, send one more. Print who asked."""
    server = _datagrams(int(port))
    for _ in range(int(exchanges) or 1):
        _, home = server.recvfrom(100)
        if int(exchanges):
            server.sendto(b"answer", home)
    time.sleep(float(silence_s))
    server.sendto(b"late", home)
    print("asked by {}:{}".format(*home))


def ask(address: str, port: str, exchanges: str, silence_s: str) -> None:
    """Send so many datagrams, one a second, each once the one before is answered. Print whether the late one came."""
    home = _datagrams()
    begin_s = time.monotonic()
    try:
        for number in range(int(exchanges) or 1):
            _wait_until(begin_s + number)
            home.sendto(b"question", (address, int(port)))
            if int(exchanges):
                home.recvfrom(100)
        home.settimeout(float(silence_s) + 2)
        home.recvfrom(100)
        print("arrived")
    except TimeoutError:
        print("lost")


# --- Two homes call each other


def meet(port: str) -> None:
    """Tell each of the first two that send a datagram from which address and port the other one's came."""
    server = _datagrams(int(port))
    _, one = server.recvfrom(100)
    _, other = server.recvfrom(100)
    server.sendto("{} {}".format(*other).encode(), one)
    server.sendto("{} {}".format(*one).encode(), other)


def call(address: str, port: str, begin_s: str, hellos: str) -> None:
    """Ask the server for the other home, then send it so many datagrams, one a second, from ``begin_s`` on.

    Print when one of the other home's arrived, in seconds since the server's answer.
    """
    home = _datagrams()
    home.sendto(b"register", (address, int(port)))
    told = home.recv(100).decode().split()
    start_s = time.monotonic()

    def send() -> None:
        for number in range(int(hellos)):
            _wait_until(start_s + float(begin_s) + number)
            try:
                home.sendto(b"hello", (told[0], int(told[1])))
            except OSError:  # a router says that nobody listens: it does not for this one, perhaps for the next
                home.sendto(b"hello", (told[0], int(told[1])))

    threading.Thread(target=send, daemon=True).start()
    while (left_s := start_s + 12 - time.monotonic()) > 0:
        home.settimeout(left_s)
        try:
            home.recv(100)
            print(f"{time.monotonic() - start_s:.3f}")
        except OSError:  # nothing came, or a router said that nobody listens
            continue


# --- A page, and a flood of requests for connections


def web(port: str, backlog: str) -> None:
    """Serve a page to everybody who connects, by IPv4 or IPv6. ``backlog`` bounds the half-open connections."""
    server = socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True, backlog=int(backlog))
    while True:
        client, _ = server.accept()
        threading.Thread(target=_serve, args=(client,), daemon=True).start()


def _serve(client: socket.socket) -> None:
    with client:
        client.settimeout(30)
        try:
            client.recv(4096)
            head = f"HTTP/1.0 200 OK\r\nContent-Length: {_PAGE_BYTES}\r\n\r\n"
            client.sendall(head.encode() + bytes(_PAGE_BYTES))
        except OSError:
            return


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _syn(number: int, address: str, port: int) -> bytes:
    """Return an IPv4 packet (RFC 791) with a SYN (RFC 9293) from an address that is not the sender's own."""
    source, destination = socket.inet_aton(f"{_SPOOFED}.{number % 250 + 1}"), socket.inet_aton(address)
    head = struct.pack("!HHIIBBHHH", 1024 + number, port, number, 0, 5 << 4, 2, 65535, 0, 0)
    summed = _checksum(source + destination + struct.pack("!BBH", 0, 6, len(head)) + head)
    whole = head[:16] + struct.pack("!H", summed) + head[18:]
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, number, 0, 64, 6, 0, source, destination) + whole


def flood(address: str, port: str, rate: str, seconds: str) -> None:
    """Send so many SYNs a second, evenly, each from another address and port."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    begin_s = time.monotonic()
    for number in range(round(float(rate) * float(seconds))):
        _wait_until(begin_s + number / float(rate))
        raw.sendto(_syn(number, address, int(port)), (address, 0))


def watch(port: str, seconds: str) -> None:
    """Print each second, from half a second on, how many half-open connections the port has."""
    begin_s, ending = time.monotonic(), f":{int(port):04X}"
    for second in range(int(seconds)):
        _wait_until(begin_s + second + 0.5)
        rows = [line.split() for name in ("tcp", "tcp6") for line in _lines(f"/proc/net/{name}")]
        print(sum(row[1].endswith(ending) and row[3] == _HALF_OPEN for row in rows))


def _lines(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:
        return file.readlines()[1:]


def connect(address: str, port: str, *instants_s: str) -> None:
    """Try to connect at each of these instants, in seconds from now. Print each with whether it was served."""
    begin_s = time.monotonic()
    for instant_s in instants_s:
        _wait_until(begin_s + float(instant_s))
        try:
            socket.create_connection((address, int(port)), _PATIENCE_S).close()
            print(instant_s, "served")
        except OSError:
            print(instant_s, "not")


# --- Who has an address: ARP, and IPv6's routers


def _mac(interface: str) -> bytes:
    with open(f"/sys/class/net/{interface}/address", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace(":", ""))


def _neighbour(address: str) -> bytes:
    """Return the MAC address under which this host knows an IPv4 address."""
    rows = (line.split() for line in _lines("/proc/net/arp"))
    return next(bytes.fromhex(row[3].replace(":", "")) for row in rows if row[0] == address)


def announce(interface: str, address: str, at_s: str, listener: str = "") -> None:
    """Say at this instant, in an answer of ARP (RFC 826) that nobody asked for, that this interface has an address.

    ``listener`` is the address of the host that is told; without one, all are.
    """
    _wait_until(time.monotonic() + float(at_s))
    own = _mac(interface)
    to, asks = (_neighbour(listener), listener) if listener else (b"\xff" * 6, address)
    claim = own + socket.inet_aton(address) + (to if listener else own) + socket.inet_aton(asks)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind((interface, 0))
        raw.send(to + own + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2) + claim)


def advertise(interface: str, prefix: str) -> None:
    """Tell all hosts at an interface, as a router of IPv6 (RFC 4861, section 4.2), the prefix of their addresses."""
    number = socket.if_nametoindex(interface)
    head = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + struct.pack("!BB6s", 1, 1, _mac(interface))
    told = struct.pack("!BBBBIII16s", 3, 4, 64, 0xC0, 86400, 14400, 0, socket.inet_pton(socket.AF_INET6, prefix))
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as raw:
        raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        raw.sendto(head + told, ("ff02::1", 0, 0, number))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
