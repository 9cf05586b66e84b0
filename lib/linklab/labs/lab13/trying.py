"""Run a student's program for reliable transport in the notebook's own lab, and say what passed on the wire."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from linklab.analysis.arq import filling_window
from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.labs.lab13 import sliding_window
from linklab.measure import Recording, recorded
from linklab.programs.engine import in_lab
from linklab.programs.engine.datagrams import Impairments
from linklab.programs.reliable.path import NEAR, close_the_router, packet_ms, rtt_ms, the_network
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan, Transfers
from linklab.programs.scenes import last_line, stopped_for
from linklab.programs.submission import read_any

__all__ = ["both_kinds", "watch"]

_LIMIT_S: Final = 120.0
KINDS: Final = (sliding_window.GO_BACK_N, "selective repeat")
PAYLOAD_BYTES: Final = 1000
"""The packet that the lab's questions speak of; what the cable adds comes to it."""
LOST_PACKET: Final = 6
"""Which packet the network loses, once, in `both_kinds`."""
_ROUND_TRIPS_OF_TIMEOUT: Final = 3
"""A burst of a whole window is acknowledged after less than two round trips and a packet."""
_PORT: Final = 7002


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
    hosts = _hosts_of(lab, "watch")
    program = read_any(Path(file))
    lab.process.call(in_lab.prepare, hosts, program.encoded(), program.packages)
    close_the_router(lab)
    impairments = Impairments(
        lost={way: list(numbers) for way, numbers in (lost or {}).items()}, silent_from=silent_from, silent_s=silent_s
    )
    plan = TransferPlan(random.Random(size_bytes).randbytes(size_bytes), window, path, impairments, limit_s=_LIMIT_S)
    transfer = Transfers(program, lambda plans: lab.process.call(in_lab.play, plans)).play("watched", plan)
    for line in _told(transfer):
        print(line)
    return transfer


def window_of_both() -> int:
    """Return the window of `both_kinds`: the smallest one that fills the link."""
    return filling_window(packet_ms(PAYLOAD_BYTES), rtt_ms(NEAR))


def both_kinds(lab: Lab) -> dict[str, Recording]:
    """Send the same packets by go-back-N and by selective repeat, with small programs of Linklab's; record both.

    ``relay`` is a router here. It loses packet `LOST_PACKET` at the first try. Raises LinklabError for another lab than
    one of this lab's network.
    """
    _hosts_of(lab, "both_kinds")
    window, receiver = window_of_both(), the_network().address_of("receiver")
    count = LOST_PACKET - 1 + 2 * window  # so that all of a window is behind the lost packet, and one more window
    lost = sliding_window.data_words(LOST_PACKET, 1)
    words = " ".join(f"match u32 0x{lost[at : at + 4].hex()} 0xffffffff at {28 + at}" for at in range(0, len(lost), 4))
    relay, recordings = lab["relay"], {}
    relay.cmd("sysctl -q -w net.ipv4.ip_forward=1; tc qdisc replace dev relay-eth3 clsact")
    relay.cmd(f"tc filter replace dev relay-eth3 egress protocol ip prio 1 u32 {words} action drop")
    lab["sender"].cmd(f"ping -c 1 {receiver}")  # for the addresses of the cables (ARP)
    for kind in KINDS:
        server = lab["receiver"].popen(_words(action="answer", kind=kind, port=_PORT))
        next(iter(server))
        sending = _words(
            action="send", kind=kind, address=receiver, port=_PORT, window=window, count=count,
            timeout_s=_ROUND_TRIPS_OF_TIMEOUT * rtt_ms(NEAR) / 1000, payload_bytes=PAYLOAD_BYTES,
        )  # fmt: skip
        with recorded(lab, "sender-eth1") as recordings[kind]:
            lab["sender"].popen(sending).wait(_LIMIT_S)
        server.terminate()
    relay.cmd("tc qdisc del dev relay-eth3 clsact")
    close_the_router(lab)
    print(f"{count} packets, a window of {window}; packet {LOST_PACKET} is lost at the first try")
    return recordings


def _words(**options: object) -> list[str]:
    return ["python3", "-P", "-c", Path(sliding_window.__file__).read_text("utf-8"), json.dumps(options)]


def _hosts_of(lab: Lab, function: str) -> list[str]:
    hosts = [host.name for host in the_network().hosts]
    if not set(hosts) <= set(lab):
        raise LinklabError(f"{function}() needs the network of this lab: lab = start(lab13.the_network())")
    return hosts


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
