"""A program's day before the grader: scenes are planned, played where it is tried, and each is kept."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, Final

from linklab.programs.place import Place
from linklab.programs.simpleperf.dialect import Dialect
from linklab.programs.simpleperf.evidence import Take
from linklab.programs.simpleperf.place import PACE_MBPS, addresses
from linklab.programs.submission import SubmittedProgram

LIMIT_S: Final = 60.0
"""How long a client may take, in the lab's time: twice the 25 s that it sends unless told otherwise, and more."""
LISTEN_S: Final = 10.0
STALLS_AT_MOST: Final = 3
_BUSY: Final = "end what else runs on this machine, and check again"


class GaveUp(Exception):
    """The program cannot be tried further: why, and what to do."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint


class Session:
    """Plays scenes with one program and remembers what it has learnt about it."""

    def __init__(self, submission: SubmittedProgram, place: Place, tell: Callable[[str], None]) -> None:
        self.submission, self.place, self.tell = submission, place, tell
        self.addresses = addresses(virtual=place.virtual)
        self.dialect = Dialect()
        self.takes: dict[str, Take] = {}
        self.stalls = 0
        self._port = 5200

    def port(self) -> int:
        """A port that nothing has used: a server that forgot SO_REUSEADDR would fail for the scene before."""
        self._port += 1
        return self._port

    def paced(self, **more: Any) -> dict[str, Any]:
        """A relay that lets `PACE_MBPS` through."""
        return {"pace_mbps": PACE_MBPS, **more}

    def client_words(self, *arguments: str) -> list[str]:
        """The words of a client."""
        return [self.submission.name, "-c", *arguments]

    def pair(
        self,
        key: str,
        clients: Sequence[tuple[float, Sequence[str]]],
        *,
        server: Sequence[str] = (),
        unit: str = "",
        relay: dict[str, Any] | None = None,
        others: Sequence[dict[str, Any]] = (),
        port: int | None = None,
        limit_s: float = LIMIT_S,
    ) -> Take:
        """Plays a server with clients (start time; arguments), through the relay or not.

        With a ``unit`` both sides are asked for it, as far as they take -f. The same key gives the same take again.
        ``others`` are further acts; in them the target "server" is replaced.
        """
        if key in self.takes:
            return self.takes[key]
        port = port or self.port()
        address = self.addresses.shaped if relay is None else self.addresses.server
        to = (self.addresses.relay, port + 1000) if relay is not None else (address, port)
        words = ["-I", to[0], "-p", str(to[1])]
        acts: list[dict[str, Any]] = [
            {
                "kind": "client",
                "at_s": at_s,
                "host": "client",
                "words": self.client_words(*words, *arguments, *(self.dialect.words("client", unit) if unit else ())),
                "limit_s": limit_s,
            }
            for at_s, arguments in clients
        ]
        acts += [{**act, "target": [address, port]} if act["kind"] == "peer" else act for act in others]
        plan = {
            "server": {
                "host": "server",
                "words": [
                    *(self.submission.name, "-s", "-b", address, "-p", str(port), *server),
                    *(self.dialect.words("server", unit) if unit else ()),
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
        if key in self.takes:
            return self.takes[key]
        act = {"kind": "client", "at_s": 0.0, "host": "client", "limit_s": limit_s, "may_listen": False}
        act |= {"words": [self.submission.name, *words], "until_connected": True}
        plan = {
            "server": None,
            "listeners": [{"host": "client", "address": address, "port": port} for address, port in listeners],
            "acts": [act],
        }
        take = self._play(key, plan)
        if not self.place.virtual and take.clients and take.client.stopped == "it did not come to an end":
            self.stalls += 1  # which costs time there
        return take

    def _play(self, key: str, plan: dict[str, Any]) -> Take:
        if self.stalls >= STALLS_AT_MOST:
            raise GaveUp("the program was stopped too often: see the checks that failed", "mend those first")
        self.tell(key)
        take = Take(self.place.play([plan])[-1])
        if take.slow:
            take = Take(self.place.play([plan])[-1])
        if take.slow:
            raise GaveUp("a scene was too slow here, and no program of it was to blame", _BUSY)
        for program in take.programs:
            if program.unconfined:
                why = f"this machine gave the program no sandbox just now ({program.last_words()})"
                raise GaveUp(why, _BUSY)
        self.stalls += take.stalled or any(program.breaches for program in take.programs)
        self.takes[key] = take
        return take

    def hello(self, start: bytes, greeting: bytes) -> list[list[Any]]:
        """Return the steps by which a peer begins as the client does: start message, wait for a greeting."""
        steps: list[list[Any]] = [["send", start, 1]] if start else []
        # what a server says unasked must not be taken for an answer
        return [*steps, ["receive", 2.0 if greeting else 0.3, max(1, len(greeting))]]

    def replay(self, at_s: float, steps: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """An act: a peer that connects and does the steps, at a time; bytes are encoded here."""
        encoded = [
            [step[0], *(base64.b64encode(word).decode() if isinstance(word, bytes) else word for word in step[1:])]
            for step in steps
        ]
        return {"kind": "peer", "at_s": at_s, "host": "client", "steps": [["connect"], *encoded]}
