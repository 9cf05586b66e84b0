"""A video stream's two ends. It runs inside a lab, by itself: it imports nothing of Linklab.

``send ADDRESS PORT FILE PACKET_BYTES CLOCK_HZ`` sends RTP packets from a file, each when its timestamp says;
``receive PORT SILENCE_S FIRST_S`` takes a stream as a player would. Each prints one line of JSON at its end.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import sys
import time

_SO_RCVBUFFORCE = 33
_BUFFER_BYTES = 1 << 24


def send(address: str, port: int, file: str, packet_bytes: int, clock_hz: int) -> None:
    """Sends the packets. Gaps are kept to a plan of instants, so that a late packet makes no other one late."""
    with open(file, "rb") as stored:
        data = stored.read()
    packets = [data[begin : begin + packet_bytes] for begin in range(0, len(data), packet_bytes)]
    # the file's timestamps begin at 0 and count the time at which a packet is to leave (RFC 2250, section 2)
    due_ns = [struct.unpack_from("!I", packet, 4)[0] * 1_000_000_000 // clock_hz for packet in packets]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, port))
        begin_ns = time.monotonic_ns()
        for packet, at_ns in zip(packets, due_ns, strict=True):
            early_ns = begin_ns + at_ns - time.monotonic_ns()
            if early_ns > 0:
                time.sleep(early_ns / 1e9)
            sender.send(packet)
    print(json.dumps({"packets": len(packets), "digest": hashlib.sha256(data).hexdigest()[:16]}), flush=True)


def receive(port: int, silence_s: float, first_s: float) -> None:
    """Takes the stream: until none has come for `silence_s` (the first one has `first_s`)."""
    packets = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        receiver.bind(("", port))
        receiver.settimeout(first_s)
        print("ready", flush=True)
        while True:
            try:
                receiver.recv(2048)
            except TimeoutError:
                break
            packets += 1
            receiver.settimeout(silence_s)
    print(json.dumps({"packets": packets}), flush=True)


if __name__ == "__main__":
    end, *words = sys.argv[1:]
    if end == "send":
        send(words[0], int(words[1]), words[2], int(words[3]), int(words[4]))
    else:
        receive(int(words[0]), float(words[1]), float(words[2]))
