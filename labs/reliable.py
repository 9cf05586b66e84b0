#!/usr/bin/env python3
"""reliable: a file over UDP, every byte once and in order.

    python3 reliable.py receive PORT FILE
    python3 reliable.py send HOST PORT FILE WINDOW

WINDOW is how many packets may be on their way without acknowledgement; 1 is stop-and-wait. The exit status is 0 where
the whole file has arrived and was acknowledged, and 1 where that is not known.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

DATA, ACK, END = 0, 1, 2
HEADER = struct.Struct("!BI")  # kind of packet, number of the packet
DATA_BYTES = 1000  # of the file in each packet
MOST_BYTES = 2000  # no packet is longer

FIRST_RTO_S = 1.0  # RFC 6298, rule 2.1
LEAST_RTO_S = 0.1  # RFC 6298 asks for 1 s, Linux takes 0.2 s
GRANULARITY_S = 0.001  # how finely the clock is looked at
SILENCE_S = 30.0  # who has heard nothing for so long gives up
LINGER_S = 5.0  # so long the receiver answers late repeats when it has the file


def pack(kind: int, number: int, data: bytes = b"") -> bytes:
    """Make a packet."""
    return HEADER.pack(kind, number) + data


def unpack(packet: bytes) -> tuple[int, int, bytes]:
    """Take a packet apart: its kind, its number, its data."""
    kind, number = HEADER.unpack_from(packet)
    return kind, number, packet[HEADER.size :]


class Timer:
    """How long to wait for an acknowledgement: the retransmission timeout (RTO) of RFC 6298."""

    def __init__(self) -> None:
        self.rto_s = FIRST_RTO_S
        self.srtt_s: float | None = None  # None until there is a first sample
        self.rttvar_s = 0.0

    def sample(self, rtt_s: float) -> None:
        """Take a round trip into account: rules 2.2 and 2.3, in this order."""
        # TODO 2: compute rto_s as RFC 6298 does, at least LEAST_RTO_S.

    def back_off(self) -> None:
        """Wait twice as long from now on: rule 5.5."""
        # TODO 2: double rto_s.


class Sender:
    """Sends packets through a window. ``first`` is the oldest that is not acknowledged."""

    def __init__(self, connection: socket.socket, packets: list[bytes], window: int) -> None:
        self.connection, self.packets, self.window = connection, packets, 1  # TODO 3: use window instead of 1
        self.timer = Timer()
        self.first = 0
        self.sent_s: dict[int, float] = {}  # when each packet on its way was sent last
        self.repeated: set[int] = set()  # packets that were sent more than once
        self.acknowledged: set[int] = set()
        self.heard_s = time.monotonic()

    def transmit(self, number: int) -> None:
        """Send a packet, or send it again."""
        if number in self.sent_s:
            self.repeated.add(number)
        self.sent_s[number] = time.monotonic()
        self.connection.send(self.packets[number])

    def run(self) -> bool:
        """Send all packets. Return True when all are acknowledged, False when the other side is silent."""
        # TODO 1: do this until all packets are acknowledged. Transmit the packets that the window allows and that were
        # not sent yet. Wait for an answer with receive_before, at most self.timer.rto_s after the oldest packet was
        # sent. Give the answer to take. If none arrives, call repeat. Return False if you hear nothing for SILENCE_S.
        raise SystemExit("step 1 is still to do: Sender.run")

    def take(self, packet: bytes) -> None:
        """Look at an acknowledgement: of the packet that arrived, and of all before the one that is missing."""
        # TODO 1: which packets does it acknowledge? Add them to acknowledged, delete them from sent_s, increase first.
        # TODO 2: give the round-trip time to self.timer.sample, unless Karn's rule forbids it.

    def repeat(self) -> None:
        """The oldest packet was not acknowledged in time: send again what is overdue, and wait longer."""
        # TODO 1: transmit the packet again.
        # TODO 2: double the timeout (self.timer.back_off), once for all packets that were lost together.


def receive_before(connection: socket.socket, due_s: float) -> bytes | None:
    """Return the next packet, or None when none has come until then."""
    while (wait_s := due_s - time.monotonic()) > 0:
        connection.settimeout(wait_s)
        try:
            return connection.recv(MOST_BYTES)
        except TimeoutError:
            return None
        except ConnectionRefusedError:
            pass  # nobody listens there yet
    return None


def send(host: str, port: int, file: str, window: int) -> bool:
    """Send a file. Return True when it is acknowledged to the end."""
    with open(file, "rb") as source:
        content = source.read()
    pieces = [content[at : at + DATA_BYTES] for at in range(0, len(content), DATA_BYTES)]
    packets = [pack(DATA, number, piece) for number, piece in enumerate(pieces)]
    packets.append(pack(END, len(packets)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.connect((host, port))
        return Sender(connection, packets, window).run()


def receive(port: int, file: str) -> bool:
    """Receive a file. Return True when all of it is there."""
    waiting: dict[int, bytes] = {}  # what came before its turn
    missing = 0  # the number that the file needs next
    end: int | None = None  # the number of the last packet
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection,
        open(file, "wb") as target,
    ):
        connection.bind(("", port))
        connection.settimeout(SILENCE_S)
        while True:
            try:
                packet, sender = connection.recvfrom(MOST_BYTES)
            except TimeoutError:
                return end is not None and missing > end
            # TODO 1: unpack the packet. If it is the missing one, write its data to target. (waiting can hold packets
            # that arrive early.) Acknowledge every packet, duplicates too. When the file is whole, stay for LINGER_S.
            raise SystemExit("step 1 is still to do: receive")


def main(words: list[str]) -> int:
    """Read the command line and do what it says."""
    match words:
        case ["receive", port, file]:
            done = receive(int(port), file)
        case ["send", host, port, file, window]:
            done = send(host, int(port), file, int(window))
        case _:
            print(
                "usage: reliable.py receive PORT FILE, or reliable.py send HOST PORT FILE WINDOW",
                file=sys.stderr,
            )
            return 2
    if not done:
        print("the other side is silent: gave up", file=sys.stderr)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
