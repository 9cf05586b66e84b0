"""A link without a burst: the token bucket of one interface made as small as a frame."""

from __future__ import annotations

import re
import shlex
from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab

_WAIT_MS: Final = 10_000
"""How long a packet may wait in the queue before it is dropped: as long as no study's does."""
_BURST: Final = re.compile(r"\bburst (\d+)b\b")


def bucket_of_one_frame(lab: Lab, node: str, interface: str, rate_mbps: float, frame_bytes: int) -> None:
    """Limits an interface by TBF with a bucket that holds one frame, in place of what limited it (HTB in a TCLink).

    Then two frames of that size leave no sooner one after the other than the rate allows. Delay, loss and queue that
    the link had are gone from this interface with its old shaper. Raises MeasurementError where tc refuses or the
    interface is not so afterwards.
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
