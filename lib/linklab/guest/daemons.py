"""Ask the daemons of a network what they know: Open vSwitch its flow tables, FRR its routes and neighbours.

Their own tools are programs, and what starts one takes time of the lab. So this speaks with the daemons as those tools
do, by their sockets in the file system. Then only they ask the clock, for some microseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

_OPEN_VSWITCH: Final = Path("/var/run/openvswitch")
_FRR: Final = Path("/var/run/frr")
FRR_SHOWS: Final = {
    "zebra": ("ip route", "ipv6 route"),
    "ospfd": ("ip ospf neighbor",),
    "bgpd": ("bgp summary",),
}
"""What each daemon of FRR is asked to show."""
_PATIENCE_S: Final = 1.0
"""Lab time to wait for a daemon: it answers at once, or has been stopped."""
_PIECE_BYTES: Final = 1 << 16
_END_OF_ANSWER: Final = b"\0\0\0"
"""FRR's vtysh reads this, and then the command's status in one byte."""


def flow_tables(bridges: Sequence[str]) -> dict[str, str]:
    """Return the flow tables of these bridges of Open vSwitch, as ``ovs-appctl bridge/dump-flows`` prints them.

    Open vSwitch adds up what the kernel has forwarded about twice a second: a rule's packets may be as old as that.
    """
    found = {}
    for path in sorted(_OPEN_VSWITCH.glob("ovs-vswitchd.*.ctl")) if bridges else ():
        for bridge in bridges:
            asked = json.dumps({"id": 0, "method": "bridge/dump-flows", "params": [bridge]})
            said = _json(_answer(path, asked, lambda it: _json(it) is not None)) or {}
            if isinstance(said.get("result"), str):
                found[bridge] = said["result"]
    return found


def routing(routers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what FRR shows on those of these routers where it runs, by what was asked for, as JSON."""
    running = set(os.listdir(_FRR)) if _FRR.is_dir() else set()
    return {router: dict(_shown(_FRR / router)) for router in routers if router in running}


def _shown(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.vty")):
        for what in FRR_SHOWS.get(path.stem, ()):
            answer = _answer(path, f"show {what} json\0", lambda it: it[-4:-1] == _END_OF_ANSWER)
            if _json(found := answer.partition(b"\0")[0]) is not None:  # else it runs without a configuration
                yield what, found.decode("utf-8", "replace")


def _json(text: bytes) -> Any:
    """Return the data of a text of JSON; None where it is none, or not whole."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _answer(path: Path, asked: str, is_whole: Callable[[bytes], bool]) -> bytes:
    """Return what a daemon answers on its socket; what came of it, where it does not go on."""
    answer = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon, contextlib.suppress(OSError):
        daemon.settimeout(_PATIENCE_S)
        daemon.connect(str(path))
        daemon.sendall(asked.encode())
        while not is_whole(answer) and (piece := daemon.recv(_PIECE_BYTES)):
            answer += piece
    return answer
