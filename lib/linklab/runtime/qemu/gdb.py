"""GDB's remote protocol, as QEMU speaks it: stop the machine, read and write its memory, let it go on, and ask QEMU's
own monitor.
"""

from __future__ import annotations

import select
import socket
import time

from linklab.guest.channel import ChannelClosed, ChannelTimeout

_PIECE_BYTES = 1536
"""Bytes of memory in a packet: QEMU takes packets of up to 4096 characters, two for each byte."""
_STOP = b"\x03"
_ANSWER_LIMIT_S = 60.0
_RDI = slice(5 * 16, 6 * 16)
"""Where it stands among the registers, in hexadecimal digits."""
RESTING, STOPPED = "resting", "stopped"


class Gdb:
    """A connection to QEMU's gdbstub. Raises `ChannelClosed` wherever QEMU is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = bytearray()
        connection.setblocking(False)
        self._poll = select.poll()  # select takes no number above 1023
        self._poll.register(connection, select.POLLIN)

    def use_physical_addresses(self) -> None:
        """Let `read` and `write` take physical addresses."""
        self._ask("Qqemu.PhyMemMode:1")

    def first_argument(self) -> int:
        """Return RDI of the stopped processor."""
        return int.from_bytes(bytes.fromhex(self._ask("g")[_RDI]), "little")

    def read(self, address: int, size: int) -> bytes:
        """Return memory of the stopped machine."""
        data = bytearray()
        while len(data) < size:
            piece = min(_PIECE_BYTES, size - len(data))
            data += bytes.fromhex(self._ask(f"m{address + len(data):x},{piece:x}"))
        return bytes(data)

    def write(self, address: int, data: bytes) -> None:
        """Change memory of the stopped machine."""
        for start in range(0, len(data), _PIECE_BYTES):
            piece = data[start : start + _PIECE_BYTES]
            self._ask(f"M{address + start:x},{len(piece):x}:{piece.hex()}")

    def monitor(self, command: str) -> str:
        """Give a command to QEMU's monitor, and return what it says."""
        self._send(f"qRcmd,{command.encode().hex()}")
        said = bytearray()
        while (packet := self._packet(_ANSWER_LIMIT_S)) != "OK":
            if not packet.startswith("O"):
                raise ChannelClosed(f"QEMU's monitor does not take {command!r}: {packet}")
            said += bytes.fromhex(packet[1:])
        return said.decode(errors="replace").strip()

    def go_on(self) -> None:
        """Let the machine run."""
        self._send("c")

    def stop(self) -> None:
        """Ask the machine to stop, wherever it is: `await_stop` tells when it has."""
        self._write(_STOP)

    def await_stop(self, timeout_s: float | None) -> str:
        """Return when the machine has stopped: `RESTING` if it did so itself, `STOPPED` if it was asked to.

        Raises `ChannelTimeout` after `timeout_s`.
        """
        packet = self._packet(timeout_s)
        if packet[:1] not in ("T", "S"):
            raise ChannelClosed(f"QEMU answers what was not asked: {packet}")
        return STOPPED if packet[1:3] == "02" else RESTING

    def _ask(self, packet: str) -> str:
        self._send(packet)
        answer = self._packet(_ANSWER_LIMIT_S)
        if answer.startswith("E"):
            raise ChannelClosed(f"QEMU refuses {packet[:20]}: {answer}")
        return answer

    def _send(self, packet: str) -> None:
        data = packet.encode("ascii")
        self._write(b"$%b#%02x" % (data, sum(data) % 256))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                select.select([], [self._socket], [], 1.0)
            except OSError as error:
                raise ChannelClosed(str(error)) from None

    def _packet(self, timeout_s: float | None) -> str:
        """Return the next packet, acknowledged."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            start = self._received.find(b"$")
            end = self._received.find(b"#", start)
            if 0 <= start < end and len(self._received) >= end + 3:
                packet = self._received[start + 1 : end].decode("latin-1")
                del self._received[: end + 3]
                if packet[:1] in ("W", "X"):
                    raise ChannelClosed(f"QEMU ended: {packet}")
                self._write(b"+")
                return packet
            self._fill(None if deadline is None else deadline - time.monotonic())

    def _fill(self, timeout_s: float | None) -> None:
        if timeout_s is not None and timeout_s < 0:
            raise ChannelTimeout
        if not self._poll.poll(None if timeout_s is None else timeout_s * 1000):
            raise ChannelTimeout
        try:
            data = self._socket.recv(64 * 1024)
        except BlockingIOError:
            return
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not data:
            raise ChannelClosed("QEMU has ended")
        self._received += data
