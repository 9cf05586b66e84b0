"""What probably gave a live link another rate, delay, loss or queue than planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from linklab.network.expectation import Expected, ExpectedInterface
from linklab.network.parts import Shape
from linklab.network.state import InterfaceState, NetworkState

_NETEM_DEFAULT_LIMIT: Final = 1000
_TC_RATE_STEP_MBPS: Final = 8e-6


@dataclass(frozen=True)
class Pair:
    """An expected interface of ``node``, the one that is there, and the networks around both."""

    node: str
    want: InterfaceState | ExpectedInterface
    have: InterfaceState
    expected: Expected
    found: NetworkState

    def far(self) -> InterfaceState | None:
        """The interface that is really there at the other end of the link."""
        for peer in (self.have.peer, self.want.peer):
            if peer is not None and peer[1] is not None:
                return self.found.interface(peer[0], peer[1])
        return None


def same_rate(one: float | None, two: float | None) -> bool:
    """Equal within 0.1 %, or within the one byte per second that tc can express."""
    if one is None or two is None:
        return one is two
    return abs(one - two) <= max(0.001 * abs(one), _TC_RATE_STEP_MBPS)


def same_delay(one_ms: float, two_ms: float) -> bool:
    """Equal within 0.001 ms: netem counts in ticks of 64 ns."""
    return abs(one_ms - two_ms) <= 0.001


def same_loss(one_percent: float, two_percent: float) -> bool:
    """Equal within 0.001 percentage points: netem keeps the loss as a 32-bit fraction."""
    return abs(one_percent - two_percent) <= 0.001


def rate(pair: Pair, want: Shape) -> str:
    """Why the rate is another one."""
    have, far = pair.have.shape, pair.far()
    if want.rate_mbps is None:
        return "bw= was given to a link that has no limit in the plan"
    if far is not None and same_rate(want.rate_mbps, far.shape.rate_mbps):
        return _one_side_only(far)
    if have.rate_mbps is None:
        return "HTB is not there: the kernel has no sch_htb, or the link was made without TCLink or without bw="
    if swapped := _swapped(pair):
        return swapped
    if any(same_rate(have.rate_mbps * factor, want.rate_mbps) for factor in (8, 1 / 8)):
        return "bits and bytes are mixed up: bw= is in Mbit/s"
    return "bw= of this link has another number: it is in Mbit/s"


def delay(pair: Pair, want: Shape) -> str:
    """Why the delay is another one."""
    have, far = pair.have.shape, pair.far()
    if want.delay_ms == 0:
        return "delay= was given to a link that has none in the plan"
    if far is not None and same_delay(want.delay_ms, far.shape.delay_ms):
        return _one_side_only(far)
    if have.delay_ms == 0:
        return _without_netem(have, "delay=")
    if swapped := _swapped(pair):
        return swapped
    if any(same_delay(have.delay_ms * factor, want.delay_ms) for factor in (2, 0.5)):
        return "the delay counts for one direction: a round trip has it twice"
    if any(same_delay(have.delay_ms * factor, want.delay_ms) for factor in (1000, 0.001)):
        return f"the unit is another one: write delay='{want.delay_ms:g}ms'"
    return "delay= of this link has another number"


def jitter(pair: Pair, want: Shape) -> str:
    """Why the jitter is another one."""
    have, far = pair.have.shape, pair.far()
    if want.jitter_ms == 0:
        return "jitter= was given to a link that has none in the plan"
    if far is not None and same_delay(want.jitter_ms, far.shape.jitter_ms):
        return _one_side_only(far)
    if have.jitter_ms == 0:
        return _without_netem(have, "jitter=")
    return "jitter= of this link has another number"


def loss(pair: Pair, want: Shape) -> str:
    """Why the loss is another one."""
    have, far = pair.have.shape, pair.far()
    if want.loss_percent == 0:
        return "loss= was given to a link that has none in the plan"
    if far is not None and same_loss(want.loss_percent, far.shape.loss_percent):
        return _one_side_only(far)
    if have.loss_percent == 0:
        return _without_netem(have, "loss=")
    return "loss= of this link has another number: it is in percent"


def queue(pair: Pair, want: Shape) -> str:
    """Why the queue is another one."""
    have, far = pair.have.shape, pair.far()
    if far is not None and want.queue_packets == far.shape.queue_packets:
        return _one_side_only(far)
    if have.queue_packets is None:
        return _without_netem(have, "max_queue_size=")
    if swapped := _swapped(pair):
        return swapped
    if have.queue_packets == _NETEM_DEFAULT_LIMIT:
        return "netem's own limit is in force: max_queue_size= was not given"
    return "max_queue_size= of this link has another number: it is in packets"


def _one_side_only(far: InterfaceState) -> str:
    return f"it is set on one side only: {far.name}, the other end of this link, has it as planned"


def _without_netem(have: Shape, argument: str) -> str:
    # netem always has a limit, so a limit that was read back shows that netem is there.
    if have.queue_packets is not None:
        return f"netem is there, but the link was made without {argument}"
    return f"the link was made without {argument} or TCLink, or the kernel has no netem (sch_netem)"


def _swapped(pair: Pair) -> str | None:
    have = pair.have.shape
    for node in pair.expected.nodes:
        for interface in node.interfaces or ():
            other = interface.shape
            if (
                other is not None
                and other.rate_mbps is not None
                and same_rate(other.rate_mbps, have.rate_mbps)
                and same_delay(other.delay_ms, have.delay_ms)
                and other.queue_packets in (None, have.queue_packets)
            ):
                return f"{interface.name} on {node.name} is to have this shape: two links are swapped or alike"
    return None
