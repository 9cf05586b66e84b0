"""Run a student's program for reliable transport in the notebook's own lab, and say what passed on the wire."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.programs.engine import in_lab
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.path import close_the_router, the_network
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.scenes import last_line, stopped_for
from linklab.programs.submission import read_any

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
) -> PlayedTransfer:
    """Send a file of so many bytes with the program, from ``sender`` by the relay to ``receiver``, and say how it went.

    ``lost={"up": [3], "down": [5]}`` loses the sender's third datagram and the receiver's fifth; from the sender's
    datagram number ``silent_from`` on nothing passes for ``silent_s``. `ladder` draws what is returned. Raises
    LinklabError for another lab than one of this lab's network, and where there is no program.
    """
    hosts = [host.name for host in the_network().hosts]
    if not set(hosts) <= set(lab):
        raise LinklabError("watch() needs the network of this lab: lab = start(lab13.the_network())")
    program = read_any(Path(file))
    lab.process.call(in_lab.prepare, hosts, program.encoded(), program.packages is not None)
    close_the_router(lab)
    impairments = Impairments(
        lost={way: list(numbers) for way, numbers in (lost or {}).items()}, silent_from=silent_from, silent_s=silent_s
    )
    plan = TransferPlan(random.Random(size_bytes).randbytes(size_bytes), window, path, impairments, limit_s=_LIMIT_S)
    transfer = Transfers(program, lambda plans: lab.process.call(in_lab.play, plans)).play("watched", plan)
    for line in _told(transfer):
        print(line)
    return transfer


def _told(transfer: PlayedTransfer) -> list[str]:
    """Say what arrived, how each program ended, and what passed on the wire."""
    size, got = len(transfer.plan.content), transfer.got
    how = "no file" if got is None else f"{len(got)} bytes"
    same = " as they were sent" if got == transfer.plan.content else f" instead of the {size} that were sent"
    lines = [f"receiver: {how}{same}"]
    if limit := stopped_for(transfer.record):
        lines.append(limit)
    for program in transfer.programs:
        ended = program["stopped"] or f"ended with status {program['status']}"
        said = last_line(program)
        lines.append(f"{program['side']}: {ended}{said and f', said: {said}'}")
    lines.append(
        f"on the wire: {len(transfer.up)} datagrams of the sender, {transfer.repeats} of them repeats, and "
        f"{len(transfer.down)} answers in {transfer.took_s:.3f} s; {transfer.lost} were lost at the relay"
    )
    return lines
