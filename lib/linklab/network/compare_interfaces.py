"""A live interface against the expected one, field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from linklab.network import causes, shape_causes
from linklab.network.compare_vlans import vlans
from linklab.network.difference import Difference
from linklab.network.shape_causes import Pair
from linklab.network.tunnels import TunnelState


def _of(pair: Pair, field: str, expected: str, found: str, cause: str) -> Difference:
    return Difference(pair.node, pair.want.name, field, expected, found, cause)


def _addresses(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.addresses, pair.have.addresses
    if want is not None and set(want) != set(have):
        yield _of(pair, "addresses", _listed(want), _listed(have), causes.addresses(pair, want))


def _listed(items: tuple[str, ...]) -> str:
    return " and ".join(items) or "none"


def _state(pair: Pair) -> Iterator[Difference]:
    if pair.want.up is not None and pair.want.up != pair.have.up:
        names = {True: "up", False: "down"}
        wanted = names[pair.want.up]
        cause = f"it was never set {wanted}, or set otherwise since: ip link set {pair.want.name} {wanted}"
        yield _of(pair, "state", names[pair.want.up], names[pair.have.up], cause)


def _mtu(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.mtu_bytes, pair.have.mtu_bytes
    if want is not None and want != have:
        yield _of(pair, "mtu", f"{want} bytes", f"{have} bytes", causes.mtu(pair))


def _peer(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.peer, pair.have.peer
    if want is None:
        return
    if have is None or want[0] != have[0] or (want[1] is not None and want[1] != have[1]):
        found = f"{have[1]} on {have[0]}" if have else "unknown"
        expected = f"{want[1]} on {want[0]}" if want[1] else f"on {want[0]}"
        yield _of(pair, "peer", expected, found, causes.peer(pair))


def _tunnel(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.tunnel, pair.have.tunnel
    if want is not None and want != have:
        if have is None:
            cause = f"no tunnel was made, or it is of another kind: ip -d link show {pair.want.name}"
        elif want.carrier != have.carrier:
            cause = f"it was made in another namespace: make it on {want.carrier}, then move it to the switch"
        else:
            cause = "it was made with other options: ip link add ... type gretap local ... remote ..."
        yield _of(pair, "tunnel", _told(want), _told(have), cause)


def _told(tunnel: TunnelState | None) -> str:
    if tunnel is None:
        return "none"
    cut = "fragments" if tunnel.fragments else "no fragments"
    return f"GRE {tunnel.local} to {tunnel.remote} by {tunnel.carrier or 'the switches themselves'}, {cut}"


def _rate(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not shape_causes.same_rate(want.rate_mbps, pair.have.shape.rate_mbps):
        expected, found = _mbps(want.rate_mbps), _mbps(pair.have.shape.rate_mbps)
        yield _of(pair, "rate", expected, found, shape_causes.rate(pair, want))


def _mbps(rate_mbps: float | None) -> str:
    return "not limited" if rate_mbps is None else f"{rate_mbps:.9g} Mbit/s"


def _delay(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not shape_causes.same_delay(want.delay_ms, pair.have.shape.delay_ms):
        expected, found = f"{want.delay_ms:.9g} ms", f"{pair.have.shape.delay_ms:.9g} ms"
        yield _of(pair, "delay", expected, found, shape_causes.delay(pair, want))


def _jitter(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not shape_causes.same_delay(want.jitter_ms, pair.have.shape.jitter_ms):
        expected, found = f"{want.jitter_ms:.9g} ms", f"{pair.have.shape.jitter_ms:.9g} ms"
        yield _of(pair, "jitter", expected, found, shape_causes.jitter(pair, want))


def _loss(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not shape_causes.same_loss(want.loss_percent, pair.have.shape.loss_percent):
        expected, found = f"{want.loss_percent:.9g} %", f"{pair.have.shape.loss_percent:.9g} %"
        yield _of(pair, "loss", expected, found, shape_causes.loss(pair, want))


def _queue(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.shape, pair.have.shape.queue_packets
    if want and want.queue_packets is not None and want.queue_packets != have:
        found = "not limited" if have is None else f"{have} packets"
        yield _of(pair, "queue", f"{want.queue_packets} packets", found, shape_causes.queue(pair, want))


def _offloads(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.offloads_on, pair.have.offloads_on
    if want is not None and set(want) != set(have):
        yield _of(pair, "offloads", _on(want), _on(have), causes.offloads(pair, want))


def _on(offloads: tuple[str, ...]) -> str:
    return f"{', '.join(offloads)} on" if offloads else "all off"


def _overhead(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.shape, pair.have.shape.overhead_bytes
    if want and want.overhead_bytes != have:
        cause = "the rate is to be netem's, which serialises frames as a cable does, and with this overhead for each"
        if want.overhead_bytes is None:
            cause = "the rate is to be HTB's, and is netem's"
        yield _of(pair, "overhead of a frame", _overhead_text(want.overhead_bytes), _overhead_text(have), cause)


def _overhead_text(overhead_bytes: int | None) -> str:
    return "none, by HTB" if overhead_bytes is None else f"{overhead_bytes} bytes"


INTERFACE_CHECKS: Final[tuple[Callable[[Pair], Iterator[Difference]], ...]] = (
    _addresses,
    _state,
    _mtu,
    _tunnel,
    _peer,
    _rate,
    _delay,
    _jitter,
    _loss,
    _queue,
    _overhead,
    _offloads,
    vlans,
)
"""One check for each field, what explains most first. A field that is not expected is not compared."""
