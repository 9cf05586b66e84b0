"""What tests do in a lab: commands that must succeed, pings, counters, and sockets of two hosts in one function.

Sockets of hosts are made by the lab's own process, which enters their namespaces: no program needs to start.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import time
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

import linklab
from linklab.guest.namespace import namespace_of


def do(lab: linklab.Lab, node: str, *commands: str) -> str:
    """Run commands on a node, each of which must end with status 0; return what they print."""
    said = ""
    for command in commands:
        answer = lab[node].cmd(f"({command}) 2>&1; echo status=$?")
        said, _, status = answer.rpartition("status=")
        assert status.strip() == "0", f"{command} on {node}: {answer}"
    return said


def root(lab: linklab.Lab, command: str) -> str:
    """What a command prints in the lab's first namespace, where switches are."""
    return lab["root"].cmd(command)


def attempt(lab: linklab.Lab, node: str, *commands: str) -> None:
    """Run commands whose failure does not matter: to clean up."""
    lab[node].cmd("; ".join(f"({command}) >/dev/null 2>&1" for command in commands))


def rtts_ms(lab: linklab.Lab, source: str, target: str, count: int = 5, options: str = "") -> list[float]:
    """The round trips of the pings that were answered, one each 100 ms."""
    said = lab[source].cmd(f"ping -n -i 0.1 -W 1 -c {count} {options} {target}")
    return [float(found) for found in re.findall(r"time=([0-9.]+) ms", said)]


def answers(lab: linklab.Lab, source: str, target: str, options: str = "") -> bool:
    """Return whether a ping is answered."""
    return len(rtts_ms(lab, source, target, 1, options)) == 1


def at(net: Any, name: str) -> AbstractContextManager[None]:
    """Inside the lab: what is done meanwhile happens in the namespace of a node."""
    return namespace_of(net[name]).entered()


@dataclass(frozen=True)
class Datagrams:
    """`count` datagrams from `source` to `target`, one each `gap_ms`; each flow has a source port of its own."""

    source: str
    target: str
    port: int = 4000
    count: int = 1
    flows: int = 1
    gap_ms: float = 1
    payload: bytes = b"x" * 100
    mark: int = 0
    tos: int = 0
    ttl: int = 64
    from_address: str = ""
    from_port: int = 0


def send(lab: linklab.Lab, *datagrams: Datagrams, together: bool = False) -> None:
    """Send datagrams, one flow after the other or in turns, and give the last 50 ms to arrive."""
    lab.call(_send, [SimpleNamespace(**asdict(each)) for each in datagrams], together)


def _send(net: Any, all_of_them: list[Datagrams], together: bool) -> None:
    flows = [(it, _sender(net, it, flow)) for it in all_of_them for flow in range(it.flows)]
    turns = (flow for flow in flows for _ in range(flow[0].count))
    for it, sender in flows * flows[0][0].count if together else turns:
        with contextlib.suppress(ConnectionError):  # nobody listens, and says so
            sender.sendto(it.payload, (it.target, it.port))
        time.sleep(it.gap_ms / 1000)
    for _, sender in flows:
        sender.close()
    time.sleep(0.05)


def _sender(net: Any, it: Datagrams, flow: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in it.target else socket.AF_INET
    with at(net, it.source):
        sender = socket.socket(family, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, it.mark)
    if family == socket.AF_INET:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, it.tos)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, it.ttl)
    if it.from_port or it.from_address:
        sender.bind((it.from_address, it.from_port + flow if it.from_port else 0))
    return sender


@dataclass(frozen=True)
class Transfer:
    """`size` bytes over one connection from `source` to `server`, which listens on `port`.

    The client goes to `address`, and to `to_port` if it is given. Options of sockets are what setsockopt takes, and
    are set before sockets are bound or connect; `ask` is what getsockopt takes, asked of the client at the end.
    """

    source: str
    server: str
    address: str
    port: int = 80
    size: int = 1000
    to_port: int | None = None
    from_port: int = 0
    protocol: int = 0
    client: tuple[tuple[int, int, int | bytes], ...] = ()
    listener: tuple[tuple[int, int, int | bytes], ...] = ()
    ask: tuple[int, int, int] = (socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    first_words: tuple[bytes, ...] = ()
    connect_s: float = 3.0
    patience_s: float = 20.0


def carry(lab: linklab.Lab, transfer: Transfer) -> dict[str, Any]:
    """Carry a transfer out; return ``got`` (bytes), ``seconds``, ``peer`` (the client as the server sees it), ``asked``
    (bytes, what getsockopt answered) and ``failure`` (the error's name, where no connection came to be; else "").
    """
    found = lab.call(_carry, SimpleNamespace(**asdict(transfer)))
    return {**found, "asked": bytes.fromhex(found.get("asked", ""))}


def _carry(net: Any, it: Transfer) -> dict[str, Any]:
    family = socket.AF_INET6 if ":" in it.address else socket.AF_INET
    with contextlib.ExitStack() as stack:
        with at(net, it.server):
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM, it.protocol))
        with at(net, it.source):
            client = stack.enter_context(socket.socket(family, socket.SOCK_STREAM, it.protocol))
        for sock, options in ((listener, it.listener), (client, it.client)):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            for option in options:
                sock.setsockopt(*option)
        listener.bind(("", it.port))
        listener.listen()
        if it.from_port:
            client.bind(("", it.from_port))
        client.settimeout(it.connect_s)
        try:
            client.connect((it.address, it.to_port or it.port))
        except OSError as error:
            return {"failure": type(error).__name__, "got": 0}
        listener.settimeout(it.patience_s)
        accepted, peer = listener.accept()
        stack.enter_context(accepted)
        client.setblocking(False)
        accepted.setblocking(False)
        for words in it.first_words:
            client.send(words)
            time.sleep(0.01)  # each in a packet of its own
        left, got, size, start = it.size, 0, it.size + sum(map(len, it.first_words)), time.monotonic()
        while got < size and time.monotonic() - start < it.patience_s:
            readable, writable, _ = select.select([accepted], [client] if left else [], [], it.patience_s)
            if writable:
                left -= client.send(b"x" * min(left, 1 << 16))
            if readable:
                got += len(accepted.recv(1 << 18))
        seconds = time.monotonic() - start
        asked = client.getsockopt(*it.ask).hex()
        return {"failure": "", "got": got, "seconds": seconds, "peer": list(peer[:2]), "asked": asked}
