"""Trying a program for reliable transport in the notebook's own lab, and what passed on the wire then."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.programs.engine import in_lab
from linklab.programs.engine.datagrams import Weather
from linklab.programs.reliable.place import Scene, Session, close_the_router, read, the_network
from linklab.programs.reliable.wire import Transfer

_LIMIT_S: Final = 120.0


def watch(
    lab: Lab,
    file: str = "reliable.py",
    window: int = 1,
    size_bytes: int = 6000,
    *,
    path: str = "near",
    lost: Mapping[str, Sequence[int]] | None = None,
    silent_from: int = 0,
    silent_s: float = 0.0,
) -> Transfer:
    """Send a file of so many bytes with the program, from ``sender`` by the relay to ``receiver``, and say how it went.

    ``lost={"up": [3], "down": [5]}`` loses the sender's third datagram and the receiver's fifth; from the sender's
    datagram number ``silent_from`` on nothing passes for ``silent_s``. `ladder` draws what is returned. Raises
    LinklabError for another lab than one of this lab's network, and where there is no program.
    """
    hosts = [host.name for host in the_network().hosts]
    if not set(hosts) <= set(lab):
        raise LinklabError("watch() needs the network of this lab: lab = start(lab13.the_network())")
    program = read(Path(file))
    lab.process.call(in_lab.prepare, hosts, program.encoded(), program.packages is not None)
    close_the_router(lab)
    weather = Weather(
        lost={way: list(numbers) for way, numbers in (lost or {}).items()}, silent_from=silent_from, silent_s=silent_s
    )
    scene = Scene(random.Random(size_bytes).randbytes(size_bytes), window, path, weather, limit_s=_LIMIT_S)
    transfer = Session(program, lambda plans: lab.process.call(in_lab.play, plans)).play("watched", scene)
    for line in _told(transfer):
        print(line)
    return transfer


def _told(transfer: Transfer) -> list[str]:
    size = len(transfer.content)
    got = transfer.got
    how = "no file" if got is None else f"{len(got)} bytes"
    same = " as they were sent" if got == transfer.content else f" instead of the {size} that were sent"
    lines = [f"receiver: {how}{same}"]
    lines += [
        f"{it.side}: {it.stopped or f'ended with status {it.status}'}{f', said: {it.said}' if it.said else ''}"
        for it in transfer.programs
    ]
    lost = sum(not one.passed for one in (*transfer.up, *transfer.down))
    lines.append(
        f"on the wire: {len(transfer.up)} datagrams of the sender, {transfer.repeats} of them repeats, and "
        f"{len(transfer.down)} answers in {transfer.took_s:.3f} s; {lost} were lost at the relay"
    )
    return lines
