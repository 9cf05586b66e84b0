"""What is tried in a lab image that was booted to verify it (`linklab.runtime.image.verify`)."""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

from linklab.runtime.context import Context

DELAY_MS = 10.0
SLEEP_S = 10_000.0
"""Far beyond the limit in wall-clock time: only a clock that jumps comes to its end."""
_ETHERTYPE = 0x88B5  # set aside by IEEE 802 for experiments
_SET_UP = (
    "ip link add veth-a type veth peer name veth-b",
    "ip link set veth-a up",
    "ip link set veth-b up",
    "tc qdisc add dev veth-a root handle 5: htb default 1",
    "tc class add dev veth-a parent 5: classid 5:1 htb rate 1gbit burst 15k",
    f"tc qdisc add dev veth-a parent 5:1 handle 10: netem delay {DELAY_MS}ms limit 100",
    "ip link add bridge0 type bridge",
    "ip link add link veth-b name veth-b.5 type vlan id 5",
    "ip netns add host1",
    "ip link add dummy1 type dummy",
    "ip link set dummy1 netns host1",
    "iperf3 --version",
    "mnexec -h",
    "python3 -c 'import mininet.net'",
)


def attempt(context: Context) -> dict[str, Any]:
    """Do what labs do, and return what came of it: ``failed`` is empty where all could be done."""
    for command in _SET_UP:
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return {"failed": f"{command}: {' '.join(done.stdout.split()) or f'exit status {done.returncode}'}"}
    before = time.monotonic()
    time.sleep(SLEEP_S)
    slept_s = time.monotonic() - before
    _one_way_delay_ms()
    control = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text("ascii").split()
    return {"failed": "", "slept_s": slept_s, "delay_ms": _one_way_delay_ms(), "congestion_control": control}


def _one_way_delay_ms() -> float:
    """Sends one frame from veth-a to veth-b, and measures how long netem holds it."""
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHERTYPE)) as receiver,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender,
    ):
        receiver.bind(("veth-b", _ETHERTYPE))
        receiver.settimeout(60)
        sender.bind(("veth-a", 0))
        sent = time.monotonic()
        sender.send(b"\xff" * 6 + b"\x02" + bytes(5) + struct.pack("!H", _ETHERTYPE) + bytes(46))
        receiver.recv(2048)
        return (time.monotonic() - sent) * 1000
