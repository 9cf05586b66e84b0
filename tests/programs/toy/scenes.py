"""The scenes in which an echo server is tried, and what its clients got back."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from linklab.network import End, Host, Link, Network, Subnet
from linklab.programs.scenes import Play, play_with_retry, stopped_for
from linklab.programs.submission import SubmittedProgram, command

PORT = 7
NETWORK = Network(
    name="echo-check",
    nodes=(Host("client"), Host("server")),
    links=(
        Link(End("client", "client-eth0", "10.8.0.1/24"), End("server", "server-eth0", "10.8.0.2/24"), rate_mbps=10),
    ),
    subnets=(Subnet("lan", "10.8.0.0/24"),),
)
Steps = list[list[Any]]


def said(data: bytes) -> list[Any]:
    """Return the step that sends so much."""
    return ["send", base64.b64encode(data).decode(), 1]


@dataclass(frozen=True)
class Echoed:
    """A scene that was played: what each client got back, and how the server fared."""

    record: dict[str, Any]

    def answer(self, client: int) -> bytes:
        """Return all that a client received."""
        received = [step for step in self.record["acts"][client].get("steps", []) if step["step"] == "receive"]
        return b"".join(base64.b64decode(step["data"]) for step in received)

    @property
    def listens(self) -> bool:
        """Whether the server ever listened on its port."""
        return bool(self.record["listening"])

    @property
    def stopped_for(self) -> str:
        """The limit that the server met; empty if none."""
        return stopped_for(self.record)


class EchoScenes:
    """Plays a server with clients."""

    def __init__(self, program: SubmittedProgram, play: Play) -> None:
        self._program, self._play = program, play

    def play(self, *clients: tuple[float, Steps]) -> Echoed:
        """Play clients that connect at a time and do steps (`linklab.programs.engine.peers`)."""
        words = command(self._program, str(PORT))
        target = [NETWORK.address_of("server"), PORT]
        acts = [
            {"kind": "peer", "at_s": at_s, "host": "client", "target": target, "steps": [["connect"], *steps]}
            for at_s, steps in clients
        ]
        server = {"host": "server", "words": words, "port": PORT, "patience_s": 5.0}
        return Echoed(play_with_retry(self._play, {"server": server, "acts": acts}))
