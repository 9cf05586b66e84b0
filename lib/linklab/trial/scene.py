"""A scene: a server, and what clients, peers and a relay do to it. From a plan to a record, both plain JSON.

The plan::

    {"server": {"host", "words", "port", "patience_s"} or None,
     "relay":  {"host", "port", "target", "answer_delay_s", "pace_mbps", "hold_s"} or None,
     "acts":   [{"kind": "client", "at_s", "host", "words", "limit_s", "may_listen"},
                {"kind": "peer", "at_s", "host", "target", "steps"},
                {"kind": "restart", "at_s"}],          # any of them: "after" (a number of the list) instead of "at_s"
     "grace_s": how long the server may still print when all acts are over}

All times count from the moment the server listens (from the start without one). Without a listening server nothing
else is played. In the record stands, beside what everyone did, whether the scene ``stalled``: somebody outside ended
it, because it computed without end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from typing import Any

from linklab.trial import loop, peer, relay, sockets
from linklab.trial.program import Program, Stage

_LOOK_S = 0.02
_SETTLE_S = 0.05
_DIE_S = 5.0


class _Play:
    """A scene while it is played."""

    def __init__(self, stage: Stage, plan: dict[str, Any]) -> None:
        self.stage, self.plan = stage, plan
        self.zero_s = time.monotonic()
        self.programs: list[Program] = []
        self.server: Program | None = None
        self.relay: relay.Relay | None = None
        self.listening: list[tuple[str, int]] = []
        self.alive = False
        self.restarted: dict[str, Any] | None = None
        self.acts: list[dict[str, Any]] = [{"kind": act["kind"]} for act in plan["acts"]]
        self.over = [asyncio.Event() for _ in self.acts]

    def clock(self) -> float:
        """Seconds since the server listens."""
        return round(time.monotonic() - self.zero_s, 6)

    def start(self, host: str, words: list[str]) -> Program:
        """Starts a program and remembers it."""
        program = Program(self.stage, host, words, self.clock)
        self.programs.append(program)
        return program

    async def play(self) -> None:
        """All of it."""
        wish = self.plan["server"]
        if wish is not None:
            self.server, self.listening = await self._serve(wish)
            if not self.listening:
                return
            self.zero_s = time.monotonic()
        if self.plan.get("relay"):
            self._relay(self.plan["relay"])
        await asyncio.gather(*(self._act(number) for number in range(len(self.acts))))
        await asyncio.sleep(self.plan.get("grace_s", 0.0))
        self.alive = self.server is not None and self.server.running
        for program in self.programs:
            await program.finish()

    async def _serve(self, wish: dict[str, Any]) -> tuple[Program, list[tuple[str, int]]]:
        server = self.start(wish["host"], wish["words"])
        deadline = time.monotonic() + wish["patience_s"]
        while server.running and time.monotonic() < deadline:
            found = [(address, port) for address, port in sockets.listening(server.pid) if port == wish["port"]]
            if found:
                await asyncio.sleep(_SETTLE_S)
                return server, found
            await asyncio.sleep(_LOOK_S)
        others = sockets.listening(server.pid) if server.running else []
        if server.running and not others and server.computes():
            server.breaches.append("cpu")
        server.stop("it listens elsewhere" if others else "it does not listen")
        await server.finish()
        return server, []

    def _relay(self, wish: dict[str, Any]) -> None:
        with self.stage.entered(wish["host"]):
            listener = relay.listener(wish["port"])
        address, port = wish["target"]

        def connect() -> Any:
            with self.stage.entered(wish["host"]):
                return relay.plain_socket()

        self.relay = relay.Relay(
            listener,
            (address, port),
            connect,
            self.clock,
            answer_delay_s=wish.get("answer_delay_s", 0.0),
            pace_mbps=wish.get("pace_mbps"),
            hold_s=wish.get("hold_s"),
        )

    async def _act(self, number: int) -> None:
        act, note = self.plan["acts"][number], self.acts[number]
        if "after" in act:
            await self.over[act["after"]].wait()
        else:
            await asyncio.sleep(max(0.0, act["at_s"] - self.clock()))
        await self._do(act, note)
        self.over[number].set()

    async def _do(self, act: dict[str, Any], note: dict[str, Any]) -> None:
        match act["kind"]:
            case "client":
                client = self.start(act["host"], act["words"])
                note["program"] = client
                await self._watch(client, act["limit_s"], act.get("may_listen", True))
                await client.finish()
            case "peer":
                with self.stage.entered(act["host"]):
                    made = relay.plain_socket()
                address, port = act["target"]
                note["steps"] = await peer.play(made, (address, port), act["steps"], self.clock)
            case "restart":
                await self._restart()

    async def _watch(self, client: Program, limit_s: float, may_listen: bool) -> None:
        """Waits for a program's end, and stops it when it has had its time, or listens though it may not."""
        deadline = time.monotonic() + limit_s
        while not await client.wait(limit_s if may_listen else _LOOK_S * 5):
            if not may_listen and sockets.listening(client.pid):
                client.stop("it listens")
            elif time.monotonic() >= deadline:
                client.stop("it did not come to an end")

    async def _restart(self) -> None:
        assert self.server is not None
        before = self.server
        before.stop("it is started anew")
        await before.finish()
        await self._silent(before.host, self.plan["server"]["port"])
        self.restarted = {"before": before}
        self.server, again = await self._serve(self.plan["server"])
        self.restarted["listening"] = again

    async def _silent(self, host: str, port: int) -> None:
        """Waits until nothing listens on a port any more: a process that was killed dies a moment later."""
        deadline = time.monotonic() + _DIE_S
        while time.monotonic() < deadline:
            with self.stage.entered(host):
                found = sockets.listening("thread-self")
            if all(number != port for _, number in found):
                return
            await asyncio.sleep(_LOOK_S)

    def end(self) -> None:
        """Nothing of it runs on, whatever happened."""
        if self.relay is not None:
            with contextlib.suppress(RuntimeError):
                self.relay.close()
        for program in self.programs:
            program.clean_up()

    def record(self, stalled: bool, busy: list[int]) -> dict[str, Any]:
        """As JSON."""
        return {
            "server": self.server and self._program(self.server, busy),
            "listening": self.listening,
            "alive": self.alive,
            "restarted": self.restarted
            and {
                "before": self._program(self.restarted["before"], busy),
                "listening": self.restarted.get("listening", []),
            },
            "acts": [
                {**note, "program": self._program(note["program"], busy)} if "program" in note else note
                for note in self.acts
            ],
            "relay": [one.record() for one in self.relay.connections] if self.relay else [],
            "stalled": stalled,
            "end_s": self.clock(),
        }

    @staticmethod
    def _program(program: Program, busy: list[int]) -> dict[str, Any]:
        return {**program.record(), "busy": id(program) in busy}


class Interrupted(Exception):
    """What a `poll` raises to end a scene from outside; in a lab its own exception is given instead."""


def play(
    stage: Stage, plan: dict[str, Any], poll: loop.Poll, interrupted: type[BaseException] = Interrupted
) -> dict[str, Any]:
    """Plays the scene; its record. If `poll` raises `interrupted`, everything is ended and the record says so."""
    scene = _Play(stage, plan)
    stalled, busy = False, []
    try:
        loop.run(poll, scene.play())
    except interrupted:
        stalled = True
        busy = [id(program) for program in scene.programs if program.running and program.computes()]
    finally:
        scene.end()
    return scene.record(stalled, busy)


def play_all(
    stage: Stage, plans: Iterable[dict[str, Any]], poll: loop.Poll, interrupted: type[BaseException] = Interrupted
) -> list[dict[str, Any]]:
    """One after the other, up to the first that stalls."""
    records = []
    for plan in plans:
        records.append(play(stage, plan, poll, interrupted))
        if records[-1]["stalled"]:
            break
    return records
