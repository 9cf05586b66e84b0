"""Send a packet train, and receive it.

Both print an empty line now and then while the train goes on: who waits for them need not know how long it takes.
"""

from __future__ import annotations

import json
import socket
import struct
import time

from linklab.guest.programs.common import (
    TIMESPEC,
    Heartbeat,
    act,
    receiver,
    sender_to,
    sleeper,
    stamp_ns,
    start_at,
    wait_at_most,
)

_MARK = b"LLtrain1"
_HEADER = struct.Struct("!8sI")
_LEAD_NS = 5_000_000


def send(gate: str, later_ns: int, address: str, port: int, count: int, payload_bytes: int, gap_ns: int) -> None:
    """Send the train. Gaps are kept to a plan of instants, so that a late packet makes no other one late.

    On virtual time looks at the clock cost time, up to 16 us each. So a train without gaps looks once for each packet,
    which is about what sending one costs a computer; a train with gaps looks as often before its first packet as before
    all others, and sleeps before that.
    """
    packets = [_HEADER.pack(_MARK, number).ljust(payload_bytes, b"\0") for number in range(count)]
    departures_ns = []
    heartbeat, sleep_until = Heartbeat(), sleeper()
    with sender_to(address) as sender:
        sender.connect((address, port))
        begin_ns = start_at(gate, later_ns)
        try:
            sleep_until(begin_ns - _LEAD_NS if gap_ns else begin_ns)
            for number, packet in enumerate(packets):
                if gap_ns and (early_ns := begin_ns + number * gap_ns - time.monotonic_ns()) > 0:
                    time.sleep(early_ns / 1e9)
                departures_ns.append(time.time_ns())
                sender.send(packet)
                heartbeat.beat(departures_ns[-1])
        except KeyboardInterrupt:
            pass  # what left until now is what there is
        except OSError as error:
            raise SystemExit(f"packet {len(departures_ns)} cannot be sent: {error.strerror}") from None
    print(json.dumps({"departures_ns": departures_ns}), flush=True)


def receive(port: int, ip_version: int, count: int, payload_bytes: int, silence_s: float, first_s: float) -> None:
    """Receive the train until all packets have come, or none for `silence_s` (`first_s` for the first one)."""
    arrivals_ns: dict[int, int] = {}
    duplicates = 0
    with receiver(port, ip_version) as end:
        print("ready", flush=True)
        wait_at_most(end, first_s)
        heartbeat = Heartbeat()
        try:
            while len(arrivals_ns) < count:
                try:
                    packet, ancillary, _, _ = end.recvmsg(payload_bytes + 1, socket.CMSG_SPACE(TIMESPEC.size))
                except BlockingIOError:
                    break
                if len(packet) != payload_bytes or not packet.startswith(_MARK):
                    continue
                if not arrivals_ns:
                    wait_at_most(end, silence_s)
                number = _HEADER.unpack_from(packet)[1]
                duplicates += number in arrivals_ns
                arrivals_ns.setdefault(number, stamp_ns(ancillary))
                heartbeat.beat(arrivals_ns[number])
        except KeyboardInterrupt:
            pass
    print(json.dumps({"arrivals_ns": [arrivals_ns.get(it) for it in range(count)], "duplicates": duplicates}))


if __name__ == "__main__":
    act(send, receive)
