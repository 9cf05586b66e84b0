"""Send numbered packets through a window that a controller decides, and acknowledge them.

    python3 transport.py send HOST PORT SECONDS
    python3 transport.py receive PORT SECONDS

The sender imports the student's file ``controller.py`` and asks its `Controller` four things: what to do about an
acknowledgement, a loss and a timeout, and how many packets may be on their way. This file runs in a lab, and alone:
standard library only.
"""

from __future__ import annotations

import importlib
import json
import math
import socket
import struct
import sys
import time
import traceback
from collections import deque
from typing import Any

PACKET_BYTES = 1500
"""An IP packet: one opportunity of a trace carries it."""
PAYLOAD_BYTES = PACKET_BYTES - 28
DATA = struct.Struct("!II")
"""The packet's number, and which transmission of the sender's it is: both count from 0."""
ACK = struct.Struct("!III")
"""Number and transmission of the packet that has arrived, and the number of the first one that is missing."""
MOST_FLYING = 1000
MOST_PER_S = 3000
"""Packets that a sender may send in a second, on average: what is sent beyond no link of a contest carries."""
LATER_ACKNOWLEDGEMENTS = 3
"""A packet is lost once so many that were sent later are acknowledged: RFC 5681, section 3.2."""
FIRST_RTO_MS = 1000.0
LEAST_RTO_MS = 200.0
"""RFC 6298, rule 2.4, asks for 1 s; Linux takes 0.2 s."""
LONGEST_RTO_MS = 60_000.0
TICK_MS = 10
"""The controller is asked at least so often how much may fly."""
WINDOWS = "windows.json"
"""The file in which the sender leaves how much might fly, and when."""


class Timer:
    """The retransmission timeout of RFC 6298."""

    def __init__(self) -> None:
        self.rto_ms = FIRST_RTO_MS
        self._srtt_ms: float | None = None
        self._rttvar_ms = 0.0

    def sample(self, rtt_ms: float) -> None:
        """Take a round trip into account: rules 2.2 and 2.3."""
        if self._srtt_ms is None:
            self._srtt_ms, self._rttvar_ms = rtt_ms, rtt_ms / 2
        else:
            self._rttvar_ms = 0.75 * self._rttvar_ms + 0.25 * abs(self._srtt_ms - rtt_ms)
            self._srtt_ms = 0.875 * self._srtt_ms + 0.125 * rtt_ms
        self.rto_ms = max(LEAST_RTO_MS, self._srtt_ms + 4 * self._rttvar_ms)

    def back_off(self) -> None:
        """Wait twice as long from now on: rule 5.5."""
        self.rto_ms = min(2 * self.rto_ms, LONGEST_RTO_MS)


class Flying:
    """A packet on its way: its number, when it was sent, and how many that were sent later are acknowledged."""

    __slots__ = ("later", "number", "sent_ms")

    def __init__(self, number: int, sent_ms: float) -> None:
        self.number, self.sent_ms, self.later = number, sent_ms, 0


class Sender:
    """Sends packets without end, as many at once as the controller allows."""

    def __init__(self, connection: socket.socket, controller: Any, began_s: float, seconds: float) -> None:
        self._connection, self._controller, self._began_s = connection, controller, began_s
        self._end_ms, self._left = 1000 * seconds, int(MOST_PER_S * seconds)
        self._timer = Timer()
        self._flying: dict[int, Flying] = {}  # by transmission, so the oldest comes first
        self._again: deque[int] = deque()  # numbers of packets that were lost
        self._arrived: set[int] = set()  # what is acknowledged beyond the first one that is missing
        self._missing = 0
        self._next = self._transmission = 0
        self._due_ms = 0.0
        self.windows: list[tuple[float, float]] = []

    def run(self) -> None:
        """Send until the time is over. Raises what the controller raises, and OverflowError for a flood."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 1000 * TICK_MS))
        now_ms = self._now_ms()
        while now_ms < self._end_ms:
            self._send(now_ms)
            try:
                packet = self._connection.recv(2048)
            except BlockingIOError:
                packet = b""
            now_ms = self._now_ms()
            if len(packet) == ACK.size:
                self._take(now_ms, *ACK.unpack(packet))
            if self._flying and now_ms >= self._due_ms:
                self._give_up(now_ms)

    def _now_ms(self) -> float:
        return 1000 * (time.monotonic() - self._began_s)

    def _send(self, now_ms: float) -> None:
        allowed = min(float(self._controller.may_fly(now_ms)), MOST_FLYING)
        if math.isnan(allowed):
            raise ValueError("may_fly returned nan, which is no number of packets")
        if not self.windows or now_ms - self.windows[-1][0] >= TICK_MS:
            self.windows.append((now_ms, allowed))
        while len(self._flying) < int(allowed):
            if self._left == 0:
                raise OverflowError(f"it sent more than {MOST_PER_S} packets for each second, and was stopped")
            self._left -= 1
            number = self._next_number()
            if not self._flying:
                self._due_ms = now_ms + self._timer.rto_ms
            self._flying[self._transmission] = Flying(number, now_ms)
            self._connection.send(DATA.pack(number, self._transmission).ljust(PAYLOAD_BYTES, b"\0"))
            self._transmission += 1

    def _next_number(self) -> int:
        while self._again:
            number = self._again.popleft()
            if number >= self._missing and number not in self._arrived:
                return number
        self._next += 1
        return self._next - 1

    def _take(self, now_ms: float, number: int, transmission: int, missing: int) -> None:
        """Look at an acknowledgement: of the packet that arrived, and of all before the one that is missing."""
        if missing > self._missing:
            self._missing = missing
            self._arrived = {each for each in self._arrived if each >= missing}
        if number >= self._missing:
            self._arrived.add(number)
        found = self._flying.pop(transmission, None)
        if found is None:
            return
        acknowledged = 1
        for old in [each for each, one in self._older(transmission) if one.number < missing]:
            del self._flying[old]
            acknowledged += 1
        rtt_ms = now_ms - found.sent_ms
        self._timer.sample(rtt_ms)
        self._due_ms = now_ms + self._timer.rto_ms
        self._controller.on_acknowledgement(now_ms, rtt_ms, acknowledged, len(self._flying))
        self._look_for_losses(now_ms, transmission)

    def _older(self, transmission: int) -> list[tuple[int, Flying]]:
        """Return what was sent earlier and is still on its way: nothing, where packets stay in order."""
        found = []
        for each, one in self._flying.items():
            if each > transmission:
                break
            found.append((each, one))
        return found

    def _look_for_losses(self, now_ms: float, transmission: int) -> None:
        lost = 0
        for each, one in self._older(transmission):
            one.later += 1
            if one.later == LATER_ACKNOWLEDGEMENTS:
                del self._flying[each]
                self._again.append(one.number)
                lost, sent_ms = lost + 1, one.sent_ms
        if lost:
            self._controller.on_loss(now_ms, sent_ms, lost, len(self._flying))

    def _give_up(self, now_ms: float) -> None:
        """Nothing came for too long: take all that was on its way for lost."""
        lost = len(self._flying)
        self._again.extend(one.number for one in self._flying.values())
        self._flying.clear()
        self._timer.back_off()
        self._controller.on_timeout(now_ms, lost)


def send(host: str, port: int, seconds: float) -> None:
    """Send for so many seconds from the next whole second of the clock on.

    Leave the file `WINDOWS`, whatever the controller does.
    """
    began_s = time.monotonic() // 1 + 1
    windows: list[tuple[float, float]] = []
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
            connection.connect((host, port))
            sender = Sender(connection, importlib.import_module("controller").Controller(), began_s, seconds)
            windows = sender.windows
            time.sleep(max(0.0, began_s - time.monotonic()))
            sender.run()
    finally:
        with open(WINDOWS, "w", encoding="ascii") as file:
            json.dump(windows, file)


def receive(port: int, seconds: float) -> None:
    """Acknowledge each packet for so many seconds, and then until none comes for half a second."""
    early: set[int] = set()
    missing = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.bind(("", port))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 500_000))
        end_s = time.monotonic() + seconds
        while True:
            try:
                packet, sender = connection.recvfrom(2048)
            except BlockingIOError:  # only now, for in a lab each look at the clock is a system call
                if time.monotonic() > end_s:
                    return
                continue
            if len(packet) != PAYLOAD_BYTES:
                continue
            number, transmission = DATA.unpack_from(packet)
            if number >= missing:
                early.add(number)
            while missing in early:
                early.remove(missing)
                missing += 1
            connection.sendto(ACK.pack(number, transmission, missing), sender)


def _what_went_wrong(error: BaseException) -> str:
    """Say in one line what ended the sender, with the line of the student's file."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename.endswith("controller.py")]
    return f"line {lines[-1]} of controller.py: {said}" if lines else said


def main(words: list[str]) -> int:
    """Do what the words of the command line say."""
    try:
        match words:
            case ["send", host, port, seconds]:
                send(host, int(port), float(seconds))
            case ["receive", port, seconds]:
                receive(int(port), float(seconds))
    except BaseException as error:
        print(" ".join(_what_went_wrong(error).split())[:300], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
