"""Capture packets at an interface: tcpdump writes them in the lab, scapy reads them outside.

with capture(lab, "h2", "h2-eth0", "udp port 5004") as caught:
    ...                      # traffic
caught.packets               # scapy's packets; packet.time is the kernel's time, packet.wirelen the frame's bytes
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.errors import LabError, MeasurementError
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure.capture_files import PCAP_HEADER_BYTES, Capture
from linklab.measure.programs import PATIENCE_S
from linklab.measure.tool import last_line
from linklab.program import Program

if TYPE_CHECKING:
    from scapy.packet import Packet


_BUFFER_KIB: Final = 32768
_LISTENING: Final = "listening on"
_DROPPED: Final = re.compile(r"^(\d+) packets? dropped by kernel", re.MULTILINE)
_numbers = itertools.count(1)


@contextlib.contextmanager
def capture(
    lab: Lab, node: str, interface: str, expression: str = "", *, bytes_per_packet: int = 0
) -> Iterator[Capture]:
    """Capture the packets at `interface` while the block runs; `expression` is tcpdump's (``"udp port 5004"``).

    The capture has the first `bytes_per_packet` bytes of each packet, or all bytes (0). For the port of a switch,
    `node` is the switch. Raises MeasurementError if tcpdump is missing, does not know the interface or the expression,
    or did not keep up with the packets. An exception ends tcpdump.
    """
    number = next(_numbers)
    path = f"/tmp/linklab-capture-{number}.pcap"
    words = (
        # immediate: else the last packets wait in the kernel's ring for up to a second, and are lost at the end
        f"exec tcpdump --immediate-mode -i {shlex.quote(interface)} -n -U -w {path} -Z root -B {_BUFFER_KIB} "
        f"--time-stamp-precision=nano -s {bytes_per_packet} {shlex.quote(expression) if expression else ''}"
    )
    caught = Capture(node, interface)
    program = lab[node].popen(words)
    try:
        _wait_ready(program, node, interface)
        yield caught
        program.send_signal(signal.SIGINT)
        program.wait(PATIENCE_S)
        _refuse_loss(program.output, interface)
        caught.pcap = lab.read_file(path)
    finally:
        with contextlib.suppress(LabError):  # the lab may have ended, and the program with it
            if program.returncode is None:
                program.terminate()
            lab.process.call(lab_api.remove_file, path)  # a lab's files lie in its memory
    if len(caught.pcap) < PCAP_HEADER_BYTES:
        raise MeasurementError(f"tcpdump on {interface} of {node} wrote nothing: {program.output.strip()[-200:]}")


def _wait_ready(program: Program, node: str, interface: str) -> None:
    if not program.prints(_LISTENING, PATIENCE_S):
        said = last_line(program.output) or "it said nothing"
        if "not found" in said:
            raise MeasurementError("tcpdump is not installed here: sudo apt install tcpdump")
        raise MeasurementError(f"tcpdump on {interface} of {node} did not begin: {said.removeprefix('tcpdump: ')}")


def _refuse_loss(said: str, interface: str) -> None:
    dropped = _DROPPED.search(said)
    if dropped is None:
        raise MeasurementError(f"tcpdump on {interface} did not say how many packets it missed: {said.strip()[-200:]}")
    if int(dropped.group(1)):
        raise MeasurementError(
            f"tcpdump on {interface} missed {dropped.group(1)} packets: capture less (bytes_per_packet, expression), "
            "or measure on virtual time"
        )


_NAMES: Final = {"Ether": "Ethernet", "IP": "IPv4", "GRE": "GRE", "UDP": "UDP", "ARP": "ARP", "ICMP": "ICMP"}
_DATA: Final = "data"


@dataclass(frozen=True)
class Layer:
    """One header of a packet, or the data behind its last one, and its size."""

    name: str
    size_bytes: int


def layers(packet: Packet) -> tuple[Layer, ...]:
    """Return the headers of a frame that was captured whole, and its data, in their order.

    A fragment other than the first has IPv4 and data alone: its data cannot be dissected without the first one.
    """
    found: list[Layer] = []
    left = packet
    while left.name != "NoPayload":
        inside = left.payload
        name = _NAMES.get(type(left).__name__)
        if name is None:
            found.append(Layer(_DATA, len(left)))
            break
        found.append(Layer(name, len(left) - len(inside)))
        left = inside
    return tuple(found)
