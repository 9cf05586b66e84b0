"""Give a lab two properties of hardware that Mininet lacks: links that let no burst pass, and switches whose network
cards delay their interrupts.

At 10 and 100 Mbit/s Linux's driver of the study's cards (e1000e, function ``e1000_set_itr``) allows each card 4000
interrupts a second: none within 250 us of the one before. Packets that come in between wait for the next interrupt.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, get_args

from linklab.errors import MeasurementError
from linklab.guest import programs
from linklab.lab import Lab
from linklab.measure.programs import RunPrograms, await_ready
from linklab.measure.tool import IN_LAB

_WAIT_MS: Final = 10_000
"""How long a packet may wait in the queue before TBF drops it; longer than in any of our studies."""
_BURST: Final = re.compile(r"\bburst (\d+)b\b")


def bucket_of_one_frame(lab: Lab, node: str, interface: str, rate_mbps: float, frame_bytes: int) -> None:
    """Replace an interface's shaper (HTB in a TCLink) by TBF, with a bucket that holds one frame of this size.

    Frames of this size then never leave closer together than the rate allows. The interface loses the delay, loss and
    queue of its old shaper. Raises MeasurementError if tc refuses, or does not show this bucket afterwards.
    """
    device, rate = shlex.quote(interface), f"{rate_mbps * 1e6:.0f}bit"
    # tc counts the bucket in ticks of 64 ns, and rounds down: of a bucket that is a bit too small TBF drops the frame
    burst = frame_bytes + 1
    said = lab[node].cmd(
        f"tc qdisc replace dev {device} root handle 7: tbf rate {rate} burst {burst} latency {_WAIT_MS}ms"
    )
    if said.strip():
        raise MeasurementError(f"the bucket of {interface} could not be set: {' '.join(said.split())}")
    shown = lab[node].cmd(f"tc qdisc show dev {device} root")
    found = _BURST.search(shown)
    if " tbf " not in shown or found is None or not frame_bytes <= int(found.group(1)) <= burst:
        raise MeasurementError(f"{interface} has no bucket of {frame_bytes} bytes: {' '.join(shown.split())}")


E1000E_INTERVAL_US: Final = 250.0
"""drivers/net/ethernet/intel/e1000e/netdev.c: "for non-gigabit speeds, just fix the interrupt rate at 4000"."""
How = Literal["throttled", "ticking"]
_PROGRAM: Final = Path(programs.__file__).parent / "moderated.py"
_LONGEST_US: Final = 10_000.0


@contextlib.contextmanager
def moderated(lab: Lab, ports: tuple[str, str], interval_us: float, how: How = "throttled") -> Iterator[None]:
    """While the block runs, a program forwards between two ports of a Linux bridge, as cards that delay interrupts do.

    ``throttled``: a card's next interrupt is an interval or more after its last one. ``ticking``: its interrupts come
    at instants an interval apart, those of the second card half an interval after those of the first. The program
    ignores VLANs and all other ports. Raises MeasurementError for another `how`, for an interval outside 0 to
    10000 us, and unless the ports are two of one bridge and have a cable's rate (see `linklab.network.Shape`).
    """
    if how not in get_args(How):
        raise MeasurementError(f"how is {how!r}: choose one of {', '.join(get_args(How))}")
    if not 0 <= interval_us <= _LONGEST_US:
        raise MeasurementError(f"interval_us is {interval_us}: choose 0 to {_LONGEST_US:g} microseconds")
    found = {it.name: (node.name, it) for node in lab.state().nodes if node.kind == "switch" for it in node.interfaces}
    for port in ports:
        if port not in found or found[port][1].shape.overhead_bytes is None:
            raise MeasurementError(f"{port} is no port of a switch with a cable's rate: choose two such ports")
    switch, first = found[ports[0]]
    if found[ports[1]][0] != switch or ports[0] == ports[1]:
        raise MeasurementError(f"{ports[0]} and {ports[1]} are not two ports of one switch: choose two such ports")
    rate_mbps, overhead_bytes = first.shape.rate_mbps, first.shape.overhead_bytes
    assert rate_mbps is not None
    assert overhead_bytes is not None
    with contextlib.ExitStack() as undo:
        for name in ports:
            peer = found[name][1].peer
            if peer is not None:
                # the program forwards bytes, and by default (`linklab.guest.namespace`) the kernel leaves checksums
                # to a card that is not there: here it has to compute them itself, until the block ends
                undo.callback(lab[peer[0]].cmd, f"ethtool -K {peer[1]} tx on")
                lab[peer[0]].cmd(f"ethtool -K {peer[1]} tx off")
            # VLANs of a port are forgotten when it leaves its bridge: such a lab is of no more use
            undo.callback(_said, lab, switch, f"ip link set {name} master {switch}")
            _said(lab, switch, f"ip link set {name} nomaster")
        lab.write_file(f"{IN_LAB}/{_PROGRAM.name}", _PROGRAM.read_bytes())
        words = (how, *ports, round(interval_us * 1000), round(rate_mbps * 1e6), overhead_bytes)
        with RunPrograms(lab) as running:
            command = ["python3", "-I", "-S", f"{IN_LAB}/{_PROGRAM.name}", *map(str, words)]
            await_ready(running.start(switch, f"exec {shlex.join(command)}"))
            yield


def _said(lab: Lab, switch: str, command: str) -> None:
    said = lab[switch].cmd(command).strip()
    if said:
        raise MeasurementError(f"{switch} cannot attach or detach its port: {' '.join(said.split())}")
