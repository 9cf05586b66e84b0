"""Play the scenes in which a simpleperf is tried, each once, and keep what passed in them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from linklab.network import End, Host, Link, Network, Subnet, Switch
from linklab.programs.place import Place
from linklab.programs.scenes import NotTried, play_unspoilt, stopped_for
from linklab.programs.simpleperf.evidence import Connection, Take, breach, crash
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.submission import SubmittedProgram

RATE_MBPS: Final = 8.0
PACE_MBPS: Final = 8.0
"""What the relay is to let through to the server, of application data."""
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


class Addresses(NamedTuple):
    """Where a client finds server and relay on the fast network, and the server at the end of the shaped link."""

    server: str
    relay: str
    shaped: str


IN_LAB: Final = Addresses("10.9.0.2", "10.9.0.3", "10.9.1.2")
ON_LOOPBACK: Final = Addresses("127.0.0.2", "127.0.0.3", "127.0.0.2")

LIMIT_S: Final = 60.0
"""How long a client may take, in the lab's time: twice the 25 s that it sends unless told otherwise, and more."""
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
CONNECTIONS: Final = 3
LONG_S: Final = 8
"""How long the first of two clients sends."""
ANSWER_S: Final = 6.0
"""How long a peer waits for the answer to its end message."""
BYTES: Final = {"B": 1, "KB": 1000, "MB": 1_000_000}
FORMS: Final = ("10MB", "10 MB", "10")
"""How -n may want its amount, in the order in which they are tried: "10" is in the unit of -f."""
_IN_BYTES: Final = "10000000"
"""As "10", but always in bytes."""
_NO_START_BYTES: Final = 256
_DATA_BYTES: Final = 3000
# Bytes in an order that no text has; a server may try to decode them.
_GARBAGE: Final = bytes((number * 151 + 97) % 256 for number in range(1500))
LEAVES, RESETS, ENDS, RANDOM, SILENT = (
    "a client that leaves at once",
    "a client that resets its connection",
    "a client that ends without the end message",
    "a client that sends random bytes",
    "a client that stays silent",
)
ABRUPT: Final = (LEAVES, RESETS, ENDS, RANDOM, SILENT)


class SimpleperfScenes:
    """Scenes with one program. Each is played when a check first asks for it."""

    def __init__(self, program: SubmittedProgram, place: Place, tell: Callable[[str], None]) -> None:
        self.program = program
        self.addresses = IN_LAB if place.virtual else ON_LOOPBACK
        self.refused_formats: dict[tuple[str, str], str] = {}
        """What a side said that did not take a unit of -f, by side and unit."""
        self._place, self._tell = place, tell
        self._takes: dict[str, Take] = {}
        self._stops: list[str] = []
        self._format_known = False
        self._port = 5200

    # --- Scenes in which data is sent

    def transfer(self) -> Take:
        """Play a transfer of 2 s, with -t and nothing else."""
        relay = self._paced(answer_delay_s=ANSWER_DELAY_S)
        return self._pair("transfer", [(0.0, ["-t", str(TRANSFER_S)])], relay=relay)

    def default_port(self) -> Take:
        """Play the same with the port that a client takes unless it is told another."""
        return self._pair("default port", [(0.0, ["-t", "1"])], relay=self._paced(), port=7088)

    def held(self) -> Take:
        """Play a transfer during which the relay reads nothing for a while, and holds the acknowledgement back."""
        self._learn_format()
        return self._held()

    def _held(self) -> Take:
        words = self._format("server", "KB"), self._format("client", "KB")
        relay = self._paced(hold_s=HOLD_S, answer_delay_s=HELD_ANSWER_S)
        clients = [(_LATER_S, ["-t", str(TRANSFER_S), *words[1]])]
        return self._pair(f"clock, -f on {' and '.join(filter(None, self._takers('KB')))}", clients, words[0], relay)

    def link(self) -> Take:
        """Play a transfer over the shaped link, without the relay, with amounts in B.

        A side that takes -f KB and not -f B is played without -f.
        """
        self._learn_format()
        clients = [(0.0, ["-t", str(LINK_S)])]
        take = self._pair("link", clients, unit="B")
        for side in ("server", "client"):
            program = take.program(side)
            ended = program is not None and program.ended and program.status != 0 and not program.rows
            if (
                ended
                and program
                and not program.errors
                and self._format(side, "B")
                and self.transfer().client.went_well
            ):
                self.refused_formats[side, "B"] = program.last_words()
                take = self._pair(f"link, no -f B on the {side}", clients, unit="B")
        return take

    def intervals(self, seconds: int, every_s: int, **relay: object) -> Take:
        """Play a transfer with -t and -i, in KB."""
        self._learn_format()
        words = ["-t", str(seconds), "-i", str(every_s)]
        return self._pair(f"-t {seconds} -i {every_s}", [(0.0, words)], unit="KB", relay=self._paced(**relay))

    def amount(self, number: int, unit: str) -> Take:
        """Play a transfer of -n alone, in the first form that the program takes; it prints in the same unit."""
        form = self.form or FORMS[0]
        return self._amount(form, number, unit)

    @cached_property
    def form(self) -> str:
        """How the program takes -n, one of `FORMS`; "" if it takes none."""
        self._learn_format()
        for form in FORMS:
            take = self._amount(form, 1500, "KB")
            if take.carrying:
                in_bytes = form == "10" and take.main.up["bytes"] <= 1500 + _NO_START_BYTES
                return _IN_BYTES if in_bytes else form
            crashed = crash(take.client) if take.clients else None
            if breach(take) or (crashed and crashed.mistake is Mistake.TO_DO):
                break
        return ""

    def _amount(self, form: str, number: int, unit: str, *more: str) -> Take:
        words = [*amount_words(form, number, unit), *more]
        key = f"{' '.join(words)} in {unit}"
        return self._pair(key, [(0.0, words)], unit=unit, relay=self._paced(), limit_s=30.0)

    def amount_and_time(self) -> Take:
        """Play a transfer of four seconds' worth, with -t 1 beside -n: more than buffers take in the first second."""
        return self._amount(self.form, TIMED_MB, "MB", "-t", "1")

    def parallel(self) -> Take:
        """Play a client with -P 3."""
        self._learn_format()
        words = ["-t", "2", "-P", str(CONNECTIONS)]
        return self._pair("parallel", [(0.0, words)], unit="KB", relay=self._paced())

    def two_clients(self) -> Take:
        """Play a client that sends for long, and another that comes and goes meanwhile."""
        clients = [(0.0, ["-t", str(LONG_S)]), (2.0, ["-t", "1"])]
        return self._pair("two clients", clients, relay=self._paced())

    def restart(self) -> Take:
        """Play a server that is ended while a client is connected, started anew, and has a client again."""
        stay = _peer(0.0, [["sleep", 2.0], ["close"]])
        others = [stay, {"kind": "restart", "at_s": 1.0}]
        return self._pair("restart", [(4.0, ["-t", "1"])], others=others, relay=self._paced())

    # --- Scenes with a peer that does what a client would not

    def _hello(self) -> list[list[Any]]:
        """Return the steps by which a peer begins as the client does: start message, wait for a greeting."""
        one = self.transfer().main
        steps: list[list[Any]] = [["send", one.stream.start, 1]] if one.stream.start else []
        # what a server says unasked must not be taken for an answer
        return [*steps, ["receive", 2.0 if one.greeting else 0.3, max(1, len(one.greeting))]]

    def _one_peer(self, key: str, steps: list[list[Any]]) -> Take:
        return self._pair(key, [], others=[_peer(0.0, steps)])

    def end_apart(self) -> Take:
        """Play a peer whose end message comes half a second after its data."""
        stream = self.transfer().main.stream
        steps: list[list[Any]] = [
            ["send", stream.again(_DATA_BYTES), 1],
            ["sleep", 0.5],
            ["send", stream.end, 1],
            ["receive", 5.0, 1],
        ]
        return self._one_peer("an end message apart", [*self._hello(), *steps])

    def end_of_stream(self) -> Take:
        """Play a peer that ends its stream of bytes behind the end message."""
        stream = self.transfer().main.stream
        steps: list[list[Any]] = [
            ["send", stream.again(_DATA_BYTES) + stream.end, 1],
            ["shutdown"],
            ["receive", 5.0, 1],
        ]
        return self._one_peer("an end of the stream", [*self._hello(), *steps])

    def end_glued(self) -> Take:
        """Play a peer that sends data and end message in one write."""
        one = self.transfer().main
        steps: list[list[Any]] = [["send", one.stream.again(_DATA_BYTES) + one.stream.end, 1], self._listens(one)]
        return self._one_peer("an end message glued to data", [*self._hello(), *steps])

    def end_in_pieces(self) -> Take:
        """Play a peer that sends the end message byte by byte."""
        one = self.transfer().main
        steps: list[list[Any]] = [["send", one.stream.again(_DATA_BYTES), 1], ["sleep", 0.1]]
        for number in range(len(one.stream.end)):
            steps += [["send", one.stream.end[number : number + 1], 1], ["sleep", 0.1]]
        return self._one_peer("an end message in pieces", [*self._hello(), *steps, self._listens(one)])

    @staticmethod
    def _listens(one: Connection) -> list[Any]:
        return ["receive", ANSWER_S, len(one.answer) or 1]

    def abrupt(self, names: Sequence[str]) -> Take:
        """Play clients that misbehave, by the names in `ABRUPT`, and an ordinary one after them."""
        stream, hello = self.transfer().main.stream, self._hello()
        data = stream.again(30_000)
        plans: dict[str, list[list[Any]]] = {
            # not at once: on virtual time no time at all would pass, as it cannot elsewhere
            LEAVES: [["sleep", 0.05], ["close"]],
            RESETS: [*hello, ["send", data, 1], ["sleep", 0.2], ["reset"]],
            ENDS: [*hello, ["send", data, 1], ["sleep", 0.2], ["close"]],
            RANDOM: [["send", _GARBAGE, 1], ["sleep", 0.2], ["close"]],
            SILENT: [["sleep", 8.0], ["close"]],
        }
        others = [_peer(0.5 * number, plans[name]) for number, name in enumerate(names)]
        key = "abrupt clients" if len(names) > 1 else names[0]
        clients = [(0.5 * len(names) + 1.0, ["-t", "1"])]
        return self._pair(key, clients, others=others, relay=self._paced(), limit_s=20.0)

    # --- -f

    def _learn_format(self) -> None:
        """Find which side takes -f KB, once."""
        if self._format_known:
            return
        self._format_known = True
        for side in ("server", "client"):
            take = self._held()
            understood = bool(take.listening) if side == "server" else bool(take.tried)
            program = take.program(side)
            if not understood and program is not None and not breach(take):
                self.refused_formats[side, "KB"] = program.last_words()

    def _takers(self, unit: str) -> list[str]:
        """Return the sides that are asked for a unit."""
        refused = self.refused_formats
        return [side for side in ("server", "client") if not {(side, "KB"), (side, unit)} & set(refused)]

    def _format(self, side: str, unit: str) -> list[str]:
        """Return the arguments that ask a side for a unit; none if it takes no -f."""
        return ["-f", unit] if side in self._takers(unit) else []

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
        server: Sequence[str] = (),
        relay: dict[str, Any] | None = None,
        *,
        unit: str = "",
        others: Sequence[dict[str, Any]] = (),
        port: int | None = None,
        limit_s: float = LIMIT_S,
    ) -> Take:
        """Play a server with clients (start time; arguments), through the relay or over the shaped link.

        With a ``unit`` both sides are asked for it, as far as they take -f. The same key gives the same take again.
        ``others`` are further acts; in them the target "server" is replaced.
        """
        if key in self._takes:
            return self._takes[key]
        port = port or self._next_port()
        address = self.addresses.shaped if relay is None else self.addresses.server
        to = (self.addresses.relay, port + 1000) if relay is not None else (address, port)
        words = ["-I", to[0], "-p", str(to[1])]
        asked = {side: self._format(side, unit) if unit else [] for side in ("server", "client")}
        acts: list[dict[str, Any]] = [
            {
                "kind": "client",
                "at_s": at_s,
                "host": "client",
                "words": [self.program.name, "-c", *words, *arguments, *asked["client"]],
                "limit_s": limit_s,
            }
            for at_s, arguments in clients
        ]
        acts += [{**act, "target": [address, port]} if act["kind"] == "peer" else act for act in others]
        plan = {
            "server": {
                "host": "server",
                "words": [
                    *(self.program.name, "-s", "-b", address, "-p", str(port), *server),
                    *asked["server"],
                ],
                "port": port,
                "patience_s": LISTEN_S,
            },
            "relay": relay and {"host": "relay", "port": to[1], "target": [address, port], **relay},
            "acts": acts,
            "grace_s": 1.0,
        }
        return self._play(key, plan)

    def alone(
        self, key: str, words: Sequence[str], limit_s: float = 15.0, listeners: Sequence[tuple[str, int]] = ()
    ) -> Take:
        """Run the program by itself with these words, until it ends, listens, connects to a listener that is put at
        these addresses and ports, or has had its time.
        """
        if key in self._takes:
            return self._takes[key]
        act = {"kind": "client", "at_s": 0.0, "host": "client", "limit_s": limit_s, "may_listen": False}
        act |= {"words": [self.program.name, *words], "until_connected": True}
        plan = {
            "server": None,
            "listeners": [{"host": "client", "address": address, "port": port} for address, port in listeners],
            "acts": [act],
        }
        take = self._play(key, plan)
        if not self._place.virtual and take.clients and take.client.stopped == "it did not come to an end":
            self._stops.append(f"{key}: it did not come to an end within {limit_s:g} s")  # which costs time there
        return take

    def _play(self, key: str, plan: dict[str, Any]) -> Take:
        if len(self._stops) >= STOPS_AT_MOST:
            why = f"the program had to be stopped {len(self._stops)} times ({'; '.join(self._stops)})"
            raise NotTried(why, "mend those first")
        self._tell(key)
        record = play_unspoilt(self._place.play, plan)
        if why := stopped_for(record):
            self._stops.append(f"{key}: {why}")
        self._takes[key] = Take(record)
        return self._takes[key]


TIMED_MB: Final = round(4 * PACE_MBPS / 8)


def amount_words(form: str, number: int, unit: str) -> list[str]:
    """Return the argument that asks for an amount in one of `FORMS`, or in bytes."""
    shown = {
        "10MB": f"{number}{unit}",
        "10 MB": f"{number} {unit}",
        "10": str(number),
        _IN_BYTES: str(number * BYTES[unit]),
    }
    return ["-n", shown[form]]


def _peer(at_s: float, steps: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return an act: a peer that connects and does the steps, at a time; bytes are encoded here."""
    encoded = [
        [step[0], *(base64.b64encode(word).decode() if isinstance(word, bytes) else word for word in step[1:])]
        for step in steps
    ]
    return {"kind": "peer", "at_s": at_s, "host": "client", "steps": [["connect"], *encoded]}
