"""The first process of a guest that is booted for verification: does what labs do, prints one line, powers
off.

It runs inside the kernel under test, on the host's Python and iproute2, and imports nothing of Linklab.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

MARK = "linklab-kernel-verify:"
DELAY_MS = 10.0
# Far beyond the wall-time limit: only a clock that jumps comes to its end.
SLEEP_S = 10_000.0
_POWER_OFF = 0x4321FEDC
_ETHERTYPE = 0x88B5  # set aside by IEEE 802 for experiments
_LIBC = ctypes.CDLL(None, use_errno=True)

SET_UP = (
    "ip link set lo up",
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
)


def mount(kind: str, place: str, options: str = "") -> None:
    if _LIBC.mount(kind.encode(), place.encode(), kind.encode(), 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mounting {kind} on {place}")


def one_way_delay_ms() -> float:
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


def check() -> dict[str, object]:
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("tmpfs", "/run")
    for layer in ("upper", "work", "both"):
        Path("/run", layer).mkdir()
    mount("overlay", "/run/both", "lowerdir=/etc,upperdir=/run/upper,workdir=/run/work")
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    for command in SET_UP:
        done = subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {' '.join(done.stdout.split())}")
    before = time.monotonic()
    time.sleep(SLEEP_S)
    slept_s = time.monotonic() - before
    one_way_delay_ms()
    control = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text("ascii")
    return {
        "release": os.uname().release,
        "slept_s": slept_s,
        "delay_ms": one_way_delay_ms(),
        "congestion_control": control.split(),
    }


def main() -> None:
    try:
        result = check()
    except BaseException as error:
        result = {"failed": f"{type(error).__name__}: {error}"}
    print(MARK + json.dumps(result), flush=True)
    _LIBC.reboot(_POWER_OFF)


if __name__ == "__main__":
    main()
