"""A run of a controller: what is played, and what was noted of its packets.

Nothing is believed of the sender, in whose process the student's code runs. The kernel notes each packet where it
leaves the sender's host and where it reaches the receiver's (`linklab.guest.header_tap`): throughput and delays come
from there.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.network import traces
from linklab.network.traces import Trace
from linklab.programs.congestion import path, transport
from linklab.programs.engine.program import BREACHES
from linklab.programs.scenes import last_line
from linklab.programs.submission import SubmittedProgram

TRANSPORT: Final = Path(transport.__file__)
CONTROLLER: Final = "controller.py"
_RECORD: Final = struct.Struct("=8xQQII96s")
"""A note of `linklab.guest.header_tap`: a ring's header, then address, time, length, tap and first bytes."""
_PORT: Final = 7000
NO_END: Final = "it did not come to an end, and was stopped"
"""Said of whoever computes and of whoever waits without end: which limit comes first hangs on the machine."""
_BEFORE_S: Final = 1.0
"""From the start of programs to that of the trace, at which senders begin."""
_DRAIN_S: Final = 3.0
_GRACE_S: Final = 5.0
_FRAME: Final = transport.PACKET_BYTES + 14
_SOURCE: Final = slice(26, 30)
_PAYLOAD: Final = 42


def transport_program() -> SubmittedProgram:
    """Return Linklab's own sender and receiver, as they are sent into a lab."""
    return SubmittedProgram(TRANSPORT.name, {TRANSPORT.name: TRANSPORT.read_bytes()}, packages=False)


def scene(controller: bytes, trace: Trace, seconds: float, senders: int) -> dict[str, Any]:
    """Return a run as `linklab.programs.engine.in_lab.play` plays it."""
    name, port = TRANSPORT.name, str(_PORT)
    given = {CONTROLLER: base64.b64encode(controller).decode()}
    receiving_s = _BEFORE_S + seconds + _DRAIN_S
    receiver: dict[str, Any] = {"side": "receiver", "host": path.RECEIVER}
    receiver["words"] = [name, "receive", port, str(receiving_s)]
    words = [name, "send", path.RECEIVER_ADDRESS, port, str(seconds)]
    sent: dict[str, Any] = {"words": words, "given": given, "keep": transport.WINDOWS}
    hosts = [path.sender(number) for number in range(1, senders + 1)]
    sending = [{**sent, "side": host, "host": host} for host in hosts]
    return {
        "server": None,
        "acts": [
            {"kind": "client", "limit_s": receiving_s + _GRACE_S, "at_s": 0.0, **act} for act in [*sending, receiver]
        ],
        "varying": {
            "host": path.ROUTER,
            "interface": path.ROUTER_INTERFACE,
            "opportunities_ms": trace.opportunities_ms,
            "delay_ns": int(path.DELAY_MS * 1e6),
            "queue_packets": path.QUEUE_PACKETS,
        },
        "tapped": [
            *([path.sender(number), path.sender_interface(number)] for number in range(1, senders + 1)),
            [path.RECEIVER, path.RECEIVER_INTERFACE],
        ],
    }


@dataclass(frozen=True)
class ControlledFlow:
    """What became of one sender's packets, in seconds since the start of the trace, when the senders start too.

    ``deliveries`` are the packets that arrived, each once: when it was sent, and when it arrived. ``windows`` is how
    many packets the controller let fly, as it says itself, at most a value every 10 ms. ``trouble`` says in one line
    what ended the sender before its time, and is empty where nothing did.
    """

    seconds: float
    deliveries: tuple[tuple[float, float], ...]
    sent_packets: int
    windows: tuple[tuple[float, float], ...]
    trouble: str

    @property
    def throughput_mbps(self) -> float:
        """The throughput of different packets that arrived while the run lasted, whole IP packets."""
        return traces.throughput_mbps(self.deliveries, self.seconds)

    @property
    def delay_p95_ms(self) -> float:
        """The delay from host to host that 95 % of the packets that arrived did not exceed; nan where none did."""
        return traces.delay_p95_ms(self.deliveries)


def flows_of(record: Mapping[str, Any], seconds: float, senders: int) -> tuple[ControlledFlow, ...]:
    """Return what became of each sender's packets, from the record of a `scene`."""
    programs = [act["program"] for act in record["acts"] if "program" in act][:senders]
    if "tapped" not in record or len(programs) < senders:
        return (ControlledFlow(seconds, (), 0, (), NO_END),) * senders
    notes = _notes(record["tapped"])
    return tuple(
        _flow(notes, number, senders, seconds, program, record["varying_from_ns"])
        for number, program in enumerate(programs, start=1)
    )


_Note = tuple[int, int, bytes]
"""Time in ns, which tap, first bytes of the packet."""


def _notes(packed: str) -> list[_Note]:
    data = zlib.decompress(base64.b64decode(packed))
    records = _RECORD.iter_unpack(data)
    return [(time_ns, tap, head) for _, time_ns, length, tap, head in records if length == _FRAME]


def _flow(
    notes: list[_Note], number: int, senders: int, seconds: float, program: Mapping[str, Any], began_ns: int
) -> ControlledFlow:
    leaves, arrives, source = 2 * (number - 1), 2 * senders + 1, socket.inet_aton(path.sender_address(number))
    sent_ns: dict[bytes, int] = {}
    arrived: dict[int, tuple[int, int]] = {}
    for time_ns, tap, head in notes:
        if head[_SOURCE] != source:
            continue
        which = head[_PAYLOAD : _PAYLOAD + transport.DATA.size]
        if tap == leaves:
            sent_ns.setdefault(which, time_ns)
        elif tap == arrives:
            arrived.setdefault(transport.DATA.unpack(which)[0], (sent_ns[which], time_ns))
    deliveries = tuple(((sent - began_ns) / 1e9, (came - began_ns) / 1e9) for sent, came in arrived.values())
    sent_packets = sum(tap == leaves and head[_SOURCE] == source for _, tap, head in notes)
    return ControlledFlow(seconds, deliveries, sent_packets, _windows(program["kept"]), _trouble(program))


def _windows(kept: str | None) -> tuple[tuple[float, float], ...]:
    """Return how much might fly, and when, from a file that the student's code may have written itself."""
    try:
        rows = json.loads(base64.b64decode(kept or ""))
        return tuple((float(now_ms) / 1000, float(packets)) for now_ms, packets in rows)
    except (ValueError, TypeError, RecursionError):
        return ()


def _trouble(program: Mapping[str, Any]) -> str:
    """Say in one line what ended a sender before its time."""
    if program["breaches"]:
        return str(BREACHES[program["breaches"][0]])
    if program["stopped"]:
        return NO_END
    if program["status"]:
        return last_line(dict(program)) or f"it ended with status {program['status']}"
    return ""
