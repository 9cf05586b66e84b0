"""The numbers and names that known mistakes lead to in Lab 06. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from linklab.analysis import Expectation, MeasuredPath, Share
from linklab.grade.numbers import Mistake
from linklab.grade.slips import loaded_rtt_slips, share_slips
from linklab.network import Link, goodput_ceiling_mbps, queueing_delay_ms

DATA_BYTES = 1448


def bottlenecks(share: Share) -> Mapping[str, str]:
    """Hints by the name of each link that does not decide a flow's rate."""
    assert share.bottleneck is not None
    right, way = share.bottleneck.link, share.path
    limited = {link.label: link for link in way.forward.links if link.rate_mbps is not None}
    found = {}
    for label in ("L1", "L2", "L3"):
        link = limited.get(label)
        if link is None:
            ends = f"{way.source} to {way.destination}"
            found[label] = f"the way from {ends} does not cross {label}: follow it in the figure"
        elif (link.rate_mbps or 0) > (right.rate_mbps or 0):
            found[label] = f"{label} is on the way, but another link of it has less to give to each flow"
        else:
            found[label] = (
                f"{label} is the slowest of the way when it is empty: what is left of the others when shared?"
            )
    return found


def shares(share: Share, expected: Expectation) -> tuple[Mistake, ...]:
    """For a predicted share of a link, in Mbit/s."""
    return (*_other_links(share), *share_slips(share, expected))


def _other_links(share: Share) -> Iterator[Mistake]:
    """As if another link of the way decided, or as if one that has no rival were shared, or the reverse."""
    assert share.bottleneck is not None
    fair = share.connection_mbps
    for link in share.path.forward.links:
        if link.rate_mbps is None or link is share.bottleneck.link:
            continue
        for rate, less in ((goodput_ceiling_mbps(link.rate_mbps), ", less headers"), (link.rate_mbps, "")):
            hint = "compare what each link of the way has for one flow: the least of them decides"
            yield Mistake(rate, f"that is what {link.label} carries{less}", hint, 0.005)
            if share.rivals > 1:
                part = f"that is a part of {link.label}{less}"
                yield Mistake(rate / share.rivals, part, hint, 0.005)
    if share.rivals == 1:
        apart = "follow both ways in the figure: which link do both cross?"
        yield Mistake(fair / 2, "that is a half, as if a link were shared", apart, 0.01)
        nominal = (share.bottleneck.link.rate_mbps or 0) / 2
        yield Mistake(nominal, "that is half of the rate, as if a link were shared", apart, 0.005)


def full_queue(way: MeasuredPath, share: Share, expected: Expectation) -> tuple[Mistake, ...]:
    """For a predicted round trip with a full queue, in ms."""
    return (*_queues(way, share), *loaded_rtt_slips(way, expected, share))


def _queues(way: MeasuredPath, share: Share) -> Iterator[Mistake]:
    assert share.bottleneck is not None
    link = share.bottleneck.link
    floor, whole = way.rtt_floor_ms, queueing_delay_ms(link)
    others = floor - link.delay_ms
    bits = "a packet has 8 bits for each byte: 1514 * 8 of them"
    both = f"only the queue of {link.label} fills: nothing waits at a link that could carry more"
    for factor, words in (
        (1 / 8, "the queue's time is an eighth of what it should be"),
        (8, "the queue's time is too long"),
    ):
        yield Mistake(others + factor * whole, words, bits, 0.003)
        yield Mistake(floor + factor * whole, f"{words}, and the delay of {link.label} counts twice", bits, 0.003)
    back = "the answer of a ping travels back too"
    yield Mistake(floor / 2 + whole, "that is one way, and the queue", back, 0.0006)
    every = [it for it in way.forward.links if it.queue_packets and it.rate_mbps]
    if len(every) > 1:
        yield Mistake(floor + sum(map(_extra_ms, every)), "that fills the queues of all links of the way", both, 0.004)
        yield Mistake(
            floor + sum(map(queueing_delay_ms, every)), "that fills all queues, on top of the delays", both, 0.004
        )
    for other in every:
        if other is not link:
            yield Mistake(floor + _extra_ms(other), f"that is with the queue of {other.label}", both, 0.004)
    yield Mistake(
        others + whole * DATA_BYTES / 1514,
        "that counts the data of each packet alone",
        "a queue holds frames of 1514 bytes",
        0.003,
    )


def _extra_ms(link: Link) -> float:
    return max(0.0, queueing_delay_ms(link) - link.delay_ms)
