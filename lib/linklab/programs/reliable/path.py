"""The network in which a program for reliable transport is tried, and the transfers that are played in it.

The sender's host and the receiver's are joined by a relay alone (`linklab.programs.engine.datagrams`), a host that
nobody's program runs on. The lab's kernel shapes the links between sender and relay, the relay loses what gets lost,
and its notes are all that is known of what the programs sent.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from linklab.course import course_network
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.network import End, Host, Link, Network, Router, Subnet
from linklab.network.variants import derived_name, first_octets
from linklab.programs import submission
from linklab.programs.engine.datagrams import Weather
from linklab.programs.place import LabPlace, SteadyPlace
from linklab.programs.reliable.wire import Transfer
from linklab.programs.submission import ProgramError, SubmittedProgram
from linklab.units import (
    ETHERNET_HEADER_BYTES,
    ETHERNET_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)

HEADERS_BYTES: Final = UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES + ETHERNET_OVERHEAD_BYTES
"""What a datagram takes on the cable besides its payload."""
PORT: Final = 7000
RECEIVER_PORT: Final = 7001
_LARGEST_BINARY_BYTES: Final = 2_000_000
_RUN: Final = "import os, sys; os.chmod(sys.argv[1], 0o755); os.execv('./' + sys.argv[1], sys.argv[1:])"
NEAR: Final = "near"
FAR: Final = "far"
_FAR_MS: Final = 750.0
"""Half of a round trip of 1.5 s, which is longer than the first timeout of RFC 6298."""
_SLOWER: Final = 10
_FARTHER: Final = 2
_QUEUE_PACKETS: Final = 1000
_SUBNETS: Final[dict[str, int]] = {NEAR: 1, FAR: 2, "last": 3}
"""The third number of each subnet."""


@cache
def relayed(course: Network) -> Network:
    """Return the relayed path derived from a course network: two links, near and far, from the sender to the relay.

    The relay's host forwards nothing by itself. Both links have a tenth of the rate of the course network's L3, and the
    near one has twice its delay: from the plain course network, 2 Mbit/s and 20 ms. Addresses begin with the same two
    numbers. The name tells the variant.
    """
    shaped, start = course.link("L3"), first_octets(course)

    def link(name: str, delay_ms: float) -> Link:
        number = _SUBNETS[name]
        return Link(
            End("sender", f"sender-eth{number}", f"{start}.{number}.1/24"),
            End("relay", f"relay-eth{number}", f"{start}.{number}.2/24"),
            name=name,
            rate_mbps=(shaped.rate_mbps or 0.0) / _SLOWER,
            delay_ms=delay_ms,
            queue_packets=_QUEUE_PACKETS,
            overhead_bytes=ETHERNET_OVERHEAD_BYTES,
        )

    return Network(
        name=derived_name(course, "relayed"),
        nodes=(Host("sender"), Router("relay"), Host("receiver")),
        links=(
            link(NEAR, _FARTHER * shaped.delay_ms),
            link(FAR, _FAR_MS),
            Link(
                End("relay", "relay-eth3", f"{start}.3.1/24"),
                End("receiver", "receiver-eth0", f"{start}.3.2/24"),
                "last",
            ),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )


def the_network() -> Network:
    """Return the relayed path of whoever runs this: sender, relay and receiver."""
    return relayed(course_network())


def rtt_ms(path: str) -> float:
    """Return what both directions of a path from sender to relay, ``"near"`` or ``"far"``, take without a packet."""
    return 2 * the_network().link(path).delay_ms


def packet_ms(payload_bytes: float) -> float:
    """Return how long a datagram occupies the link, in ms."""
    return transmission_ms(payload_bytes + HEADERS_BYTES, the_network().link(NEAR).rate_mbps or 0.0)


def read(path: Path) -> SubmittedProgram:
    """Read a program: Python, a script that names its interpreter (``#!``), or one that is compiled for Linux.

    Raises ProgramError, in one line, where there is none.
    """
    try:
        data = path.read_bytes() if not path.is_dir() else b""
    except OSError:
        data = b""
    if _is_python(path.name, data):
        return submission.read(path)
    if len(data) > _LARGEST_BINARY_BYTES:
        raise ProgramError(
            f"{path} has {len(data)} bytes: a program of more than {_LARGEST_BINARY_BYTES} is not checked"
        )
    return SubmittedProgram(path.name, {path.name: data}, submission.interpreter(), None)


def command(program: SubmittedProgram, *words: str) -> list[str]:
    """Return the words with which Python runs a program: itself, or what it becomes."""
    is_python = _is_python(program.name, program.files[program.name])
    return [program.name, *words] if is_python else ["-c", _RUN, program.name, *words]


def _is_python(name: str, data: bytes) -> bool:
    return name.endswith(".py") or not data.startswith((b"#!", b"\x7fELF"))


@dataclass(frozen=True)
class Scene:
    """A transfer to play: what is sent through which window on which path, and what happens to it there.

    With ``nobody`` no receiver is started. ``limit_s`` is how long each program may take.
    """

    content: bytes
    window: int = 1
    path: str = NEAR
    weather: Weather = field(default_factory=Weather)
    nobody: bool = False
    limit_s: float = 300.0

    def plan(self, program: SubmittedProgram) -> dict[str, Any]:
        """Return it as `linklab.programs.engine.scene` plays it."""
        given = {"given.bin": base64.b64encode(self.content).decode()}
        relay = str(the_network().link(self.path).b.address).partition("/")[0]
        words = ["send", relay, str(PORT), "given.bin", str(self.window)]
        sender = {"side": "sender", "host": "sender", "words": command(program, *words), "given": given, "at_s": 1.0}
        words = ["receive", str(RECEIVER_PORT), "got.bin"]
        receiver = {"side": "receiver", "host": "receiver", "words": command(program, *words), "keep": "got.bin"}
        acts = [sender] if self.nobody else [sender, {**receiver, "at_s": 0.0}]
        return {
            "server": None,
            "datagrams": {
                "host": "relay",
                "port": PORT,
                "target": [the_network().address_of("receiver"), RECEIVER_PORT],
                "weather": asdict(self.weather),
            },
            "acts": [{"kind": "client", "limit_s": self.limit_s, **act} for act in acts],
        }


Play = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
"""Plays scenes (`linklab.programs.engine.scene`), up to the first that stalls."""


class Session:
    """Plays transfers of one program, each once."""

    def __init__(self, program: SubmittedProgram, play: Play, tell: Callable[[str], None] = lambda _: None) -> None:
        self.program, self._play_plans, self._tell = program, play, tell
        self._played: dict[str, Transfer] = {}

    def play(self, name: str, scene: Scene) -> Transfer:
        """Play a transfer, or return what came of it before. Raises LabError where programs cannot be confined."""
        if name not in self._played:
            self._tell(name)
            record = self._play_plans([scene.plan(self.program)])[-1]
            for act in record["acts"]:
                if act.get("program", {}).get("unconfined"):
                    raise LabError("this machine gave the program no sandbox just now: end what else runs, check again")
            self._played[name] = Transfer(name, scene.content, scene.window, rtt_ms(scene.path), record)
        return self._played[name]


def close_the_router(lab: Lab) -> None:
    """Let the relay's host forward no packet by itself: nothing passes by the relay, and so unseen."""
    lab["relay"].cmd("sysctl -q -w net.ipv4.ip_forward=0")


def lab_place(program: SubmittedProgram) -> SteadyPlace:
    """Return a lab of its own for a program, started with the first scene. Raises LabError where there can be none."""
    return SteadyPlace(lambda: LabPlace(program, the_network(), close_the_router))
