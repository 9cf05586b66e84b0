"""One transfer of Lab 17 over several spines: MPTCP, whose subflows have ports of their own (RFC 8684)."""

from __future__ import annotations

from typing import Final

from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.labs.lab17.networks import PAIRS

__all__ = ["multipath"]

MOST_SUBFLOWS: Final = 8
"""Linux's own limit, with the first one."""
_PORT: Final = 5301
_SEND: Final = """\
import socket, sys, time
stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
stream.connect((sys.argv[1], int(sys.argv[2])))
end_s = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end_s:
    stream.sendall(bytes(10_000))
"""
_RECEIVE: Final = """\
import socket, sys, time
door = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
door.bind(("", int(sys.argv[1])))
door.listen()
stream, _ = door.accept()
received, begin_s = 0, time.monotonic()
while data := stream.recv(65_536):
    received += len(data)
print(8 * received / (time.monotonic() - begin_s) / 1e6)
"""


def multipath(lab: Lab, subflows: int, seconds: float = 8) -> float:
    """Return the rate of one MPTCP connection from h1 to h3 over so many subflows, in Mbit/s of data.

    h3 offers a port for each subflow but the first, and the kernel of h1 opens a subflow to each port. Raises
    LinklabError for a number outside 1 to 8, and for a lab without these hosts.
    """
    sender, receiver = PAIRS[0]
    if not {sender, receiver} <= set(lab):
        raise LinklabError(f"this needs hosts {sender} and {receiver}: lab = start(lab17.fabric())")
    if type(subflows) is not int or not 1 <= subflows <= MOST_SUBFLOWS:
        raise LinklabError(f"subflows is {subflows!r}: choose a whole number from 1 to {MOST_SUBFLOWS}")
    address = lab[receiver].address
    for host in (sender, receiver):
        lab[host].cmd(f"ip mptcp endpoint flush; ip mptcp limits set subflows {subflows} add_addr_accepted {subflows}")
    for number in range(1, subflows):
        lab[receiver].cmd(f"ip mptcp endpoint add {address} port {_PORT + number} signal")
    lab.write_file("/tmp/multipath-send.py", _SEND)
    lab.write_file("/tmp/multipath-receive.py", _RECEIVE)
    program = lab[receiver].popen(["python3", "/tmp/multipath-receive.py", str(_PORT)])
    lab[receiver].wait_listening(_PORT)
    lab[sender].cmd(f"python3 /tmp/multipath-send.py {address} {_PORT} {seconds}")
    return round(float(next(iter(program))), 2)
