"""A scene: a server, and what clients, peers and a relay do to it. From a plan to a record, both plain JSON.

The plan::

    {"server": {"host", "words", "port", "patience_s"} or None,
     "relay":  {"host", "port", "target", and what `linklab.programs.engine.relay.Relay` takes} or None,   # for TCP
     "datagrams": {"host", "port", "target", "impairments"} or None,                          # for UDP
     "listeners": [{"host", "address", "port"}],       # they accept and do no more, each on a host of its own
     "acts":   [{"kind": "client", "at_s", "host", "words", "limit_s", "may_listen", "until_connected", "side",
                 "given", "keep"},                     # side: "client" unless said otherwise
                {"kind": "peer", "at_s", "host", "target", "steps"},
                {"kind": "restart", "at_s"}],
     "grace_s": how long the server may still print when all acts are over, and the relay has read what clients sent}

All times count from the moment the server listens (from the start without one). Without a listening server nothing
else is played. A host that the lab's network does not have is made for the scene: it has its loopback and no other
interface. A client with ``until_connected`` is stopped a moment after the listener of its host has got its connection,
one that may not listen as soon as it does.

The record says what everyone did, and whether the scene ``stalled``: somebody outside ended it, because it computed
without end. ``by`` is whose programs were computing then, "server" or "client"; where it is empty, the scene was slow
through no fault of theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

from linklab.guest.listening import listening
from linklab.programs.engine import datagrams, peers, relay
from linklab.programs.engine.program import ConfinedProgram, Stage

_LOOK_S = 0.02
_SETTLE_S = 0.05
_DIE_S = 5.0
_CONNECTED_S = 0.2
_DRAIN_S = 10.0
_TOLD_S = 0.001
TAKES_DATAGRAMS = "it takes datagrams"
"""Why a server was stopped that has a UDP socket where it was to listen."""


Tell = Callable[[list[str]], None]
"""Called before a program starts with the sides that run then ("server", "client"): a lab that dies tells no more."""
Run = Callable[[Coroutine[Any, Any, None]], None]
"""Runs a coroutine to its end, as `asyncio.run` does. A KeyboardInterrupt that it raises ends the scene."""


class _Play:
    """A scene while it is played."""

    def __init__(self, stage: Stage, plan: dict[str, Any], tell: Tell) -> None:
        self.stage, self.plan, self.tell = stage, plan, tell
        self.zero_s = time.monotonic()
        self.programs: list[ConfinedProgram] = []
        self.server: ConfinedProgram | None = None
        self.relay: relay.Relay | None = None
        self.datagrams: datagrams.DatagramRelay | None = None
        self.listeners: dict[str, peers.SilentListener] = {}
        self.peers: list[socket.socket] = []
        self.listening: list[tuple[str, int]] = []
        self.alive = False
        self.restarted: dict[str, Any] | None = None
        self.acts: list[dict[str, Any]] = [{"kind": act["kind"]} for act in plan["acts"]]

    def clock(self) -> float:
        """Return the seconds since the server listens."""
        return round(time.monotonic() - self.zero_s, 6)

    async def start(self, side: str, host: str, words: list[str], **files: Any) -> ConfinedProgram:
        """Start a program, with ``files`` as `ConfinedProgram` takes them, and remember it."""
        running = {program.side for program in self.programs if program.running}
        self.tell(sorted({*running, side}, reverse=True))
        # what is told leaves a lab while everything in it waits, and this program may leave no such moment
        await asyncio.sleep(_TOLD_S)
        program = ConfinedProgram(self.stage, side, host, words, self.clock, **files)
        self.programs.append(program)
        return program

    async def play(self) -> None:
        """Play it to its end."""
        for wanted in self.plan.get("listeners", []):
            with self.stage.entered(wanted["host"]):
                listening = relay.listener(wanted["port"], wanted["address"])
            self.listeners[wanted["host"]] = peers.SilentListener(listening, self.clock)
        wish = self.plan["server"]
        if wish is not None:
            self.server, self.listening = await self._serve(wish)
            if not self.listening:
                return
            self.zero_s = time.monotonic()
        if self.plan.get("relay"):
            self._relay(self.plan["relay"])
        if self.plan.get("datagrams"):
            self._datagrams(self.plan["datagrams"])
        await asyncio.gather(*(self._act(number) for number in range(len(self.acts))))
        if self.relay is not None:
            await self.relay.drain(_DRAIN_S)
        await asyncio.sleep(self.plan.get("grace_s", 0.0))
        self.alive = self.server is not None and self.server.running
        for program in self.programs:
            await program.finish()

    async def _serve(self, wish: dict[str, Any]) -> tuple[ConfinedProgram, list[tuple[str, int]]]:
        server = await self.start("server", wish["host"], wish["words"])
        deadline = time.monotonic() + wish["patience_s"]
        while server.running and time.monotonic() < deadline:
            found = [(address, port) for address, port in listening(server.pid) if port == wish["port"]]
            if found:
                await asyncio.sleep(_SETTLE_S)
                return server, found
            await asyncio.sleep(_LOOK_S)
        others = listening(server.pid) if server.running else []
        if server.running and not others and server.computes():
            server.breaches.append("cpu")
        datagrams = listening(server.pid, "udp") if server.running else []
        server.stop("it listens elsewhere" if others else TAKES_DATAGRAMS if datagrams else "it does not listen")
        await server.finish()
        return server, []

    def _relay(self, wish: dict[str, Any]) -> None:
        with self.stage.entered(wish["host"]):
            listener = relay.listener(wish["port"])
        connect = self._connecting(wish["host"], relay.plain_socket)
        options = {name: value for name, value in wish.items() if name not in ("host", "port", "target")}
        self.relay = relay.Relay(listener, tuple(wish["target"]), connect, self.clock, **options)

    def _datagrams(self, wish: dict[str, Any]) -> None:
        with self.stage.entered(wish["host"]):
            listening = datagrams.listener(wish["port"])
        connect = self._connecting(wish["host"], datagrams.plain_socket)
        impairments = datagrams.Impairments(**wish["impairments"])
        self.datagrams = datagrams.DatagramRelay(listening, tuple(wish["target"]), connect, self.clock, impairments)

    def _connecting(self, host: str, make: Callable[[], socket.socket]) -> Callable[[], socket.socket]:
        """Return what makes a socket on a host."""

        def connect() -> socket.socket:
            with self.stage.entered(host):
                return make()

        return connect

    async def _act(self, number: int) -> None:
        act, note = self.plan["acts"][number], self.acts[number]
        await asyncio.sleep(max(0.0, act["at_s"] - self.clock()))
        match act["kind"]:
            case "client":
                files = {"given": act.get("given"), "keep": act.get("keep", "")}
                client = await self.start(act.get("side", "client"), act["host"], act["words"], **files)
                note["program"] = client
                await self._watch(client, act, note)
                await client.finish()
            case "peer":
                with self.stage.entered(act["host"]):
                    made = relay.plain_socket()
                self.peers.append(made)
                address, port = act["target"]
                note["steps"] = await peers.play(made, (address, port), act["steps"], self.clock)
            case "restart":
                await self._restart()

    async def _watch(self, client: ConfinedProgram, act: dict[str, Any], note: dict[str, Any]) -> None:
        """Wait for a program's end, and stop it when it has had its time or does what it may not."""
        may_listen, limit_s = act.get("may_listen", True), act["limit_s"]
        listener = self.listeners.get(client.host)
        deadline = time.monotonic() + limit_s
        free = may_listen and not act.get("until_connected")
        while not await client.wait(limit_s if free else _LOOK_S * 5):
            found = [] if may_listen else self._opened(client, listener)
            if found:
                note["listening"] = found
                client.stop("it listens")
            elif act.get("until_connected") and listener is not None and listener.connections:
                await client.wait(_CONNECTED_S)
                client.stop("it connected")
            elif time.monotonic() >= deadline:
                client.stop("it did not come to an end")

    @staticmethod
    def _opened(client: ConfinedProgram, listener: peers.SilentListener | None) -> list[tuple[str, int]]:
        """Return where a program listens, but for the scene's own listener on its host."""
        return [one for one in listening(client.pid) if listener is None or one != (listener.address, listener.port)]

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
        """Wait until nothing listens on a port any more: a process that was killed dies a moment later."""
        deadline = time.monotonic() + _DIE_S
        while time.monotonic() < deadline:
            with self.stage.entered(host):
                found = listening("thread-self")
            if all(number != port for _, number in found):
                return
            await asyncio.sleep(_LOOK_S)

    def end(self) -> None:
        """Close everything and end each program, whatever happened."""
        for one in (*self.listeners.values(), *self.peers, self.relay, self.datagrams):
            if one is not None:
                with contextlib.suppress(RuntimeError):  # the event loop may be gone
                    one.close()
        for program in self.programs:
            program.clean_up()

    def record(self, stalled: bool, computing: set[str]) -> dict[str, Any]:
        """Return what everyone did, as JSON. ``computing`` are the sides whose programs were computing at the end."""
        acts = [{**note, "program": note["program"].record()} if "program" in note else note for note in self.acts]
        return {
            "server": self.server and self.server.record(),
            "listening": self.listening,
            "alive": self.alive,
            "restarted": self.restarted
            and {"before": self.restarted["before"].record(), "listening": self.restarted.get("listening", [])},
            "acts": acts,
            "relay": [one.record() for one in self.relay.connections] if self.relay else [],
            "datagrams": self.datagrams and self.datagrams.record(),
            "listeners": {host: one.record() for host, one in self.listeners.items()},
            "stalled": stalled,
            "by": sorted(computing, reverse=True),
            "end_s": self.clock(),
        }


def play(stage: Stage, plan: dict[str, Any], run: Run = asyncio.run, tell: Tell = lambda _: None) -> dict[str, Any]:
    """Play a scene and return its record. Where ``run`` raises KeyboardInterrupt the record says that it stalled."""
    scene = _Play(stage, plan, tell)
    stalled, computing = False, set[str]()
    try:
        run(scene.play())
    except KeyboardInterrupt:
        stalled = True
        computing = {program.side for program in scene.programs if program.running and program.computes()}
    finally:
        scene.end()
    return scene.record(stalled, computing)
