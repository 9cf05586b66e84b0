"""Send a video as RTP packets at the times of their timestamps, and receive it as a player would."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import time

from linklab.guest.programs.common import act, receiver, sleeper, start_at


def send(
    gate: str, later_ns: int, address: str, port: int, file: str, digest: str, packet_bytes: int, clock_hz: int
) -> None:
    """Send the packets. Gaps are kept to a plan of instants, so that a late packet makes no other one late.

    `digest` is how the file's SHA-256 begins.
    """
    with open(file, "rb") as stored:
        data = stored.read()
    if not hashlib.sha256(data).hexdigest().startswith(digest):
        raise SystemExit("the lab has another video than was asked for: start the lab again")
    packets = [data[begin : begin + packet_bytes] for begin in range(0, len(data), packet_bytes)]
    # the file's timestamps begin at 0 and count the time at which a packet is to leave (RFC 2250, section 2)
    due_ns = [struct.unpack_from("!I", packet, 4)[0] * 1_000_000_000 // clock_hz for packet in packets]
    sleep_until, sent = sleeper(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, port))
        begin_ns = start_at(gate, later_ns)
        try:
            sleep_until(begin_ns)
            for packet, at_ns in zip(packets, due_ns, strict=True):
                early_ns = begin_ns + at_ns - time.monotonic_ns()
                if early_ns > 0:
                    time.sleep(early_ns / 1e9)
                sender.send(packet)
                sent += 1
        except KeyboardInterrupt:
            pass  # what left until now is what there is
    print(json.dumps({"packets": sent}), flush=True)


def receive(port: int, silence_s: float, first_s: float) -> None:
    """Receive the stream until no packet has come for `silence_s` (`first_s` for the first one)."""
    packets = 0
    with receiver(port, 4, stamps=False) as end:
        end.settimeout(first_s)
        print("ready", flush=True)
        try:
            while True:
                end.recv(2048)
                packets += 1
                end.settimeout(silence_s)
        except (TimeoutError, KeyboardInterrupt):
            pass
    print(json.dumps({"packets": packets}), flush=True)


if __name__ == "__main__":
    act(send, receive)
