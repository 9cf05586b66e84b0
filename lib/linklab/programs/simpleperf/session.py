"""Play the scenes in which a simpleperf is tried, each once, and keep what passed in them."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from linklab.network import End, Host, Link, Network, Subnet, Switch
from linklab.programs.scenes import NotTried, Play, play_with_retry, stopped_for
from linklab.programs.simpleperf.evidence import ACKNOWLEDGEMENT, BYE, PlayedScene, ProgramRun, RunAlone
from linklab.programs.submission import SubmittedProgram

RATE_MBPS: Final = 8.0
PACE_MBPS: Final = 8.0
"""What the relay is to let through to the server, of application data."""
SLOW_MBPS: Final = 4.0
"""The same where rates do not count: each byte that passes costs computing."""
DELAY_MS: Final = 10.0
_FAST_MBPS: Final = 100.0

NETWORK: Final = Network(
    name="simpleperf-check",
    nodes=(Host("client"), Host("server"), Host("relay"), Switch("s1")),
    links=(
        *(
            Link(End(name, f"{name}-eth0", f"10.9.0.{number}/24"), End("s1", f"s1-eth{number}"), "", _FAST_MBPS, 0.5)
            for number, name in enumerate(("client", "server", "relay"), 1)
        ),
        Link(
            End("client", "client-eth1", "10.9.1.1/24"),
            End("server", "server-eth1", "10.9.1.2/24"),
            name="shaped",
            rate_mbps=RATE_MBPS,
            delay_ms=DELAY_MS,
            queue_packets=50,
        ),
    ),
    subnets=(Subnet("lan", "10.9.0.0/24"), Subnet("shaped", "10.9.1.0/24")),
)
"""Client and server, joined by a shaped link and by a fast network, on which the relay is a third."""


_SERVER: Final = "10.9.0.2"
_RELAY: Final = "10.9.0.3"
_SHAPED: Final = "10.9.1.2"
"""The server's address at the end of the shaped link."""
DEFAULT_PORT: Final = 8088
"""Where a program listens, and connects to, unless it is told otherwise."""

LIMIT_S: Final = 60.0
"""How long a client may take, in the lab's time: twice the 25 s that it sends unless told otherwise, and more."""
_ALONE_S: Final = 15.0
LISTEN_S: Final = 10.0
STOPS_AT_MOST: Final = 3
"""After so many scenes that had to be stopped nothing more is played: each costs many seconds."""
TRANSFER_S: Final = 2
ANSWER_DELAY_S: Final = 0.3
"""So long the relay holds the answer of the first transfer back: who does not wait for it is gone by then."""
HOLD_S: Final = (1.2, 2.7)
"""From when to when the relay reads nothing, since the data began; -t 2 runs out in between."""
HELD_ANSWER_S: Final = 1.5
"""How long the relay holds the acknowledgement back in that scene."""
_LATER_S: Final = 1.5
"""When the client of that scene starts: a server's clock that runs since the server's start is told by it."""
LINK_S: Final = 4
STALL_S: Final = (1.5, 4.5)
"""From when to when the relay reads nothing, since the data began: three rows of one second fall into it."""
TIMED_MB: Final = round(4 * SLOW_MBPS / 8)
"""What takes four seconds: more than buffers take in the first one."""
SHORT_BYTES: Final = 4500
"""No whole number of chunks."""
_DEAF_S: Final = 1.5
"""So long the relay's host answers no SYN of that transfer: to connect takes the client 2 s, by Linux's repeats."""
CONNECTIONS: Final = 3
LONG_S: Final = 8
"""How long the first of two clients sends."""
DEFAULT_S: Final = 25
_CRAWL_MBPS: Final = 0.5
_CRAWLS_S: Final = (0.0, DEFAULT_S - 1.0)
"""How little the relay lets through of so long a transfer, but for its last second: buffers are soon empty then."""
ANSWER_S: Final = 6.0
"""How long a peer waits for the answer to its `BYE`."""
_DATA: Final = b"x" * 3000
# Bytes in an order that no text has; a server may try to decode them.
_GARBAGE: Final = bytes((number * 151 + 97) % 256 for number in range(1500))
LEAVES, RESETS, ENDS, RANDOM, SILENT = (
    "a client that leaves at once",
    "a client that resets its connection",
    "a client that ends without BYE",
    "a client that sends random bytes",
    "a client that stays silent",
)
ABRUPT: Final = (LEAVES, RESETS, ENDS, RANDOM, SILENT)


class SimpleperfScenes:
    """Scenes with one program. Each is played when a check first asks for it. ``tell`` hears what is played."""

    def __init__(self, program: SubmittedProgram, play: Play, tell: Callable[[str], None] = lambda _: None) -> None:
        self.program = program
        self._play_plan, self._tell = play, tell
        self._scenes: dict[str, PlayedScene] = {}
        self._stops: list[str] = []
        self._port = 5200

    # --- Scenes in which data is sent

    def transfer(self) -> PlayedScene:
        """Play a transfer of 2 s, with -t and nothing else."""
        relay = self._paced(answer_delay_s=ANSWER_DELAY_S)
        return self._pair("transfer", [(0.0, ["-t", str(TRANSFER_S)])], relay=relay)

    def default_port(self) -> PlayedScene:
        """Play the same with the port that a client takes unless it is told another."""
        return self._pair("default port", [(0.0, ["-t", "1"])], relay=self._paced(), port=7088)

    def held(self) -> PlayedScene:
        """Play a transfer during which the relay reads nothing for a while, and holds the acknowledgement back."""
        relay = self._paced(hold_s=HOLD_S, answer_delay_s=HELD_ANSWER_S)
        return self._pair("clock, -f KB", [(_LATER_S, ["-t", str(TRANSFER_S)])], relay=relay, unit="KB")

    def link(self) -> PlayedScene:
        """Play a transfer over the shaped link, without the relay, with amounts in B."""
        return self._pair("link", [(0.0, ["-t", str(LINK_S)])], unit="B")

    def intervals(self, seconds: int, every_s: int, **relay: object) -> PlayedScene:
        """Play a transfer with -t and -i, in KB."""
        words = ["-t", str(seconds), "-i", str(every_s)]
        return self._pair(f"-t {seconds} -i {every_s}", [(0.0, words)], unit="KB", relay=self._paced(**relay))

    def amount(self, number: int, unit: str, *more: str, **relay: object) -> PlayedScene:
        """Play a transfer of -n, and perhaps ``more``; it prints in the same unit."""
        words = ["-n", f"{number}{unit}", *more]
        return self._pair(" ".join(words), [(0.0, words)], unit=unit, relay=self._paced(**relay), limit_s=30.0)

    def slow_to_connect(self) -> PlayedScene:
        """Play a transfer of `SHORT_BYTES`, which takes no time at all, where to connect takes seconds."""
        words = ["-n", f"{SHORT_BYTES}B"]
        relay = self._paced(deaf_s=_DEAF_S)
        return self._pair(f"{' '.join(words)}, slow to connect", [(0.0, words)], unit="B", relay=relay, limit_s=30.0)

    def amount_and_time(self) -> PlayedScene:
        """Play a transfer of `TIMED_MB`, with -t 1 beside -n."""
        return self.amount(TIMED_MB, "MB", "-t", "1", pace_mbps=SLOW_MBPS)

    def parallel(self) -> PlayedScene:
        """Play a client with -P 3."""
        words = ["-t", "2", "-P", str(CONNECTIONS)]
        return self._pair("parallel", [(0.0, words)], unit="KB", relay=self._paced(pace_mbps=SLOW_MBPS))

    def parallel_intervals(self) -> PlayedScene:
        """Play a client with -P 2 and -i 1."""
        return self._pair("parallel, -i 1", [(0.0, ["-t", "3", "-i", "1", "-P", "2"])], unit="KB", relay=self._paced())

    def no_answer(self) -> PlayedScene:
        """Play a transfer without -t. The relay closes the connection when the answer comes."""
        relay = self._paced(hold_s=_CRAWLS_S, held_mbps=_CRAWL_MBPS, cuts_answer=True)
        return self._pair("no answer", [(0.0, [])], relay=relay)

    def two_clients(self) -> PlayedScene:
        """Play a client that sends for long, and another that comes and goes meanwhile."""
        clients = [(0.0, ["-t", str(LONG_S)]), (2.0, ["-t", "1"])]
        return self._pair("two clients", clients, relay=self._paced(pace_mbps=SLOW_MBPS))

    def restart(self) -> PlayedScene:
        """Play a server that is ended while a client is connected, started anew, and has a client again."""
        stay = _peer(0.0, [["sleep", 2.0], ["close"]])
        others = [stay, {"kind": "restart", "at_s": 1.0}]
        return self._pair("restart", [(4.0, ["-t", "1"])], others=others, relay=self._paced())

    # --- Scenes with a peer that does what a client would not

    def _one_peer(self, key: str, steps: list[list[Any]]) -> PlayedScene:
        return self._pair(key, [], others=[_peer(0.0, steps)])

    def end_apart(self) -> PlayedScene:
        """Play a peer whose BYE comes half a second after its data."""
        return self._one_peer("BYE apart", [["send", _DATA, 1], ["sleep", 0.5], ["send", BYE, 1], ["receive", 5.0, 1]])

    def end_of_stream(self) -> PlayedScene:
        """Play a peer that ends its stream of bytes behind BYE."""
        return self._one_peer("an end of the stream", [["send", _DATA + BYE, 1], ["shutdown"], ["receive", 5.0, 1]])

    def end_glued(self) -> PlayedScene:
        """Play a peer that sends data and BYE in one write."""
        return self._one_peer("BYE glued to data", [["send", _DATA + BYE, 1], _AWAIT])

    def end_in_pieces(self) -> PlayedScene:
        """Play a peer that sends BYE byte by byte."""
        steps: list[list[Any]] = [["send", _DATA, 1], ["sleep", 0.1]]
        for number in range(len(BYE)):
            steps += [["send", BYE[number : number + 1], 1], ["sleep", 0.1]]
        return self._one_peer("BYE in pieces", [*steps, _AWAIT])

    def bye_in_data(self) -> PlayedScene:
        """Play a peer whose data has BYE in the middle of a piece, then at the end of a piece right before another."""
        more = b"x" * 400
        middle: list[list[Any]] = [["send", more + BYE + more, 1], _HEAR]
        end: list[list[Any]] = [["send", more + BYE, 1], ["send", more, 1], _HEAR]
        return self._one_peer("BYE in the data", [*middle, *end, ["send", BYE, 1], _AWAIT])

    def abrupt(self, names: Sequence[str]) -> PlayedScene:
        """Play clients that misbehave, by the names in `ABRUPT`, and an ordinary one after them."""
        plans: dict[str, list[list[Any]]] = {
            # not at once: on virtual time no time at all would pass, as it cannot elsewhere
            LEAVES: [["sleep", 0.05], ["close"]],
            RESETS: [["send", _DATA, 10], ["sleep", 0.2], ["reset"]],
            ENDS: [["send", _DATA, 10], ["sleep", 0.2], ["close"]],
            RANDOM: [["send", _GARBAGE, 1], ["sleep", 0.2], ["close"]],
            SILENT: [["sleep", 8.0], ["close"]],
        }
        others = [_peer(0.5 * number, plans[name]) for number, name in enumerate(names)]
        key = "abrupt clients" if len(names) > 1 else names[0]
        clients = [(0.5 * len(names) + 1.0, ["-t", "1"])]
        return self._pair(key, clients, others=others, relay=self._paced(), limit_s=20.0)

    # --- How a scene is played

    def _paced(self, **more: Any) -> dict[str, Any]:
        """Return a relay that lets `PACE_MBPS` through."""
        return {"pace_mbps": PACE_MBPS, **more}

    def _next_port(self) -> int:
        """Return a port that nothing has used: a server without SO_REUSEADDR would fail for the scene before."""
        self._port += 1
        return self._port

    def _pair(
        self,
        key: str,
        clients: Sequence[tuple[float, Sequence[str]]],
        relay: dict[str, Any] | None = None,
        *,
        unit: str = "",
        others: Sequence[dict[str, Any]] = (),
        port: int | None = None,
        limit_s: float = LIMIT_S,
    ) -> PlayedScene:
        """Play a server with clients (start time; arguments), through the relay or over the shaped link.

        With a ``unit`` both sides are asked for it. The same key gives the same scene again. ``others`` are further
        acts; in them the target "server" is replaced.
        """
        if key in self._scenes:
            return self._scenes[key]
        port = port or self._next_port()
        address = _SHAPED if relay is None else _SERVER
        to = (_RELAY, port + 1000) if relay is not None else (address, port)
        asked = ["-f", unit] if unit else []
        words = ["-c", "-I", to[0], "-p", str(to[1])]
        acts = [
            _client(at_s, "client", [self.program.name, *words, *arguments, *asked], limit_s)
            for at_s, arguments in clients
        ]
        acts += [{**act, "target": [address, port]} if act["kind"] == "peer" else act for act in others]
        plan = {
            "server": {
                "host": "server",
                "words": [self.program.name, "-s", "-b", address, "-p", str(port), *asked],
                "port": port,
                "patience_s": LISTEN_S,
            },
            "relay": relay and {"host": "relay", "port": to[1], "target": [address, port], **relay},
            "acts": acts,
            "grace_s": 1.0,
        }
        return self._play(key, plan)

    def alone(
        self, key: str, commands: Sequence[tuple[str, ...]], nobody: bool = False
    ) -> tuple[PlayedScene, list[RunAlone]]:
        """Run the program by itself with each of these commands, all at once, each on a host of its own.

        Each runs until it ends, listens, connects, or has had its time. Where a client would connect stands a listener,
        unless ``nobody`` is there. A command that may make a server runs without one, for that would be in its way; one
        that may make either side runs twice. A scene that stalled may have lost some of them.
        """
        runs = [(words, False) for words in commands if "-c" not in words or "-s" in words]
        runs += [(words, not nobody) for words in commands if "-c" in words or not words]
        hosts = [f"{key} {number}" for number in range(len(runs))]
        if key not in self._scenes:
            acts = [
                _client(0.0, host, [self.program.name, *words], _ALONE_S, may_listen=False, until_connected=True)
                for host, (words, _) in zip(hosts, runs, strict=True)
            ]
            listeners = [
                {"host": host, "address": "0.0.0.0", "port": _port_of(words)}
                for host, (words, meets) in zip(hosts, runs, strict=True)
                if meets
            ]
            self._play(key, {"server": None, "listeners": listeners, "acts": acts})
        scene = self._scenes[key]
        found = [
            RunAlone(words, ProgramRun(act["program"]), _did(act, scene.record["listeners"].get(host)))
            for host, (words, _), act in zip(hosts, runs, scene.record["acts"], strict=False)
            if "program" in act
        ]
        return scene, found

    def _play(self, key: str, plan: dict[str, Any]) -> PlayedScene:
        if len(self._stops) >= STOPS_AT_MOST:
            why = f"the program had to be stopped {len(self._stops)} times ({'; '.join(self._stops)})"
            raise NotTried(why, "mend those first")
        self._tell(key)
        record = play_with_retry(self._play_plan, plan)
        if why := stopped_for(record):
            self._stops.append(f"{key}: {why}")
        self._scenes[key] = PlayedScene(record)
        return self._scenes[key]


_AWAIT: Final = ["receive", ANSWER_S, len(ACKNOWLEDGEMENT)]
_HEAR: Final = ["receive", 0.5, len(ACKNOWLEDGEMENT)]
"""What the server says, though nothing is to be answered yet."""


def _client(at_s: float, host: str, words: Sequence[str], limit_s: float, **more: Any) -> dict[str, Any]:
    """Return an act: the program as a client."""
    return {"kind": "client", "at_s": at_s, "host": host, "words": words, "limit_s": limit_s, **more}


def _peer(at_s: float, steps: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return an act: a peer that connects and does the steps, at a time; bytes are encoded here."""
    encoded = [
        [step[0], *(base64.b64encode(word).decode() if isinstance(word, bytes) else word for word in step[1:])]
        for step in steps
    ]
    return {"kind": "peer", "at_s": at_s, "host": "client", "steps": [["connect"], *encoded]}


def _port_of(words: Sequence[str]) -> int:
    """Return the port to which a client connects: that of -p where there is such a port."""
    given = dict(itertools.pairwise(words)).get("-p", "")
    return int(given) if given.isdecimal() and int(given) < 2**16 else DEFAULT_PORT


def _did(act: dict[str, Any], listener: dict[str, Any] | None) -> str:
    """Return what a program did with the network, or ""."""
    for address, port in act.get("listening", []):
        return f"listens on {address}:{port}"
    if listener and listener["connections"]:
        return f"connects to port {listener['port']}"
    return ""
