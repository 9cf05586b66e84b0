"""A program's day before the grader: scenes are planned, played where it is tried, and each is kept."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, Final

from linklab.grade.simpleperf.dialect import Dialect
from linklab.grade.simpleperf.place import Place
from linklab.grade.simpleperf.submission import Submission
from linklab.grade.simpleperf.take import Take

LIMIT_S: Final = 60.0
"""How long a client may take, in the lab's time: twice the 25 s that it sends unless told otherwise, and more."""
REAL_LIMIT_S: Final = 35.0
"""The same where it costs real time."""
LISTEN_S: Final = 10.0
STALLS_AT_MOST: Final = 3


class GaveUp(Exception):
    """The program cannot be tried further: why, and what to do."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint


class Session:
    """Plays scenes with one program and remembers what it has learnt about it."""

    def __init__(self, submission: Submission, place: Place, tell: Callable[[str], None]) -> None:
        self.submission, self.place, self.tell = submission, place, tell
        self.dialect = Dialect()
        self.takes: dict[str, Take] = {}
        self.stalls = 0
        self._port = 5200

    def port(self) -> int:
        """A port that nothing has used: a server that forgot SO_REUSEADDR would fail for the scene before."""
        self._port += 1
        return self._port

    def paced(self, **more: Any) -> dict[str, Any]:
        """A relay at the place's pace."""
        return {"pace_mbps": self.place.pace_mbps, **more}

    def client_words(self, *arguments: str) -> list[str]:
        """The words of a client."""
        return [self.submission.name, "-c", *arguments]

    def pair(
        self,
        key: str,
        clients: Sequence[tuple[float | None, Sequence[str]]],
        *,
        server: Sequence[str] = (),
        relay: dict[str, Any] | None = None,
        others: Sequence[dict[str, Any]] = (),
        port: int | None = None,
        limit_s: float = LIMIT_S,
    ) -> Take:
        """Plays a server with clients (start time, None after the one before; arguments), through the relay or not.

        The same key gives the same take again. ``others`` are further acts; in them the target "server" is replaced.
        """
        if key in self.takes:
            return self.takes[key]
        port = port or self.port()
        limit_s = limit_s if self.place.virtual else min(limit_s, REAL_LIMIT_S)
        shaped = relay is None and self.place.shaped
        address = self.place.shaped if shaped else self.place.server
        assert address is not None
        to = (self.place.relay, port + 1000) if relay is not None else (address, port)
        words = ["-I", to[0], "-p", str(to[1])]
        acts: list[dict[str, Any]] = [
            {
                "kind": "client",
                **({"after": number - 1} if at_s is None else {"at_s": at_s}),
                "host": "client",
                "words": self.client_words(*words, *arguments),
                "limit_s": limit_s,
            }
            for number, (at_s, arguments) in enumerate(clients)
        ]
        acts += [{**act, "target": [address, port]} if act["kind"] == "peer" else act for act in others]
        plan = {
            "server": {
                "host": "server",
                "words": [self.submission.name, "-s", "-b", address, "-p", str(port), *server],
                "port": port,
                "patience_s": LISTEN_S,
            },
            "relay": relay and {"host": "relay", "port": to[1], "target": [address, port], **relay},
            "acts": acts,
            "grace_s": 1.0,
        }
        return self._play(key, plan)

    def alone(self, key: str, words: Sequence[str], limit_s: float = 15.0) -> Take:
        """Runs the program by itself with these words, until it ends, listens, or has had its time."""
        if key in self.takes:
            return self.takes[key]
        act = {"kind": "client", "at_s": 0.0, "host": "client", "limit_s": limit_s, "may_listen": False}
        take = self._play(key, {"server": None, "acts": [{**act, "words": [self.submission.name, *words]}]})
        if not self.place.virtual and take.clients and take.client.stopped == "it did not come to an end":
            self.stalls += 1  # where that costs real time
        return take

    def _play(self, key: str, plan: dict[str, Any]) -> Take:
        if self.stalls >= STALLS_AT_MOST:
            raise GaveUp("the program was stopped too often: see the checks that failed", "mend those first")
        self.tell(key)
        take = Take(self.place.play([plan])[-1])
        for program in take.programs:
            if program.unconfined:
                why = f"this machine gave the program no sandbox just now ({program.last_words()})"
                raise GaveUp(why, "end what else runs on it, and check again")
        self.stalls += take.stalled or any(program.breaches for program in take.programs)
        self.takes[key] = take
        return take

    def replay(self, at_s: float | None, steps: Sequence[Sequence[Any]], after: int = 0) -> dict[str, Any]:
        """An act: a peer that connects and does the steps, at a time or after an act; bytes are encoded here."""
        encoded = [
            [step[0], *(base64.b64encode(word).decode() if isinstance(word, bytes) else word for word in step[1:])]
            for step in steps
        ]
        when = {"after": after} if at_s is None else {"at_s": at_s}
        return {"kind": "peer", **when, "host": "client", "steps": [["connect"], *encoded]}
