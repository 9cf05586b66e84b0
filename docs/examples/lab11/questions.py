"""Lab 11: the network, what theory says of it, and the questions."""

from math import sqrt
from typing import Final

from linklab.analysis import Expectation
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number
from linklab.network import End, Host, Link, Network
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES, IPV4_HEADER_BYTES, TCP_HEADER_BYTES, TCP_TIMESTAMPS_BYTES

LINK: Final = Link(
    End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24"),
    rate_mbps=20, delay_ms=20, loss_percent=1, queue_packets=200,
)  # fmt: skip
NETWORK: Final = Network("random-loss", (Host("h1"), Host("h2")), (LINK,))
"""Two hosts and a link that loses 1 % of the packets in each direction, at random."""
LOSS: Final = LINK.loss_percent / 100
RTT_S: Final = 2 * LINK.delay_ms / 1000
PING_LOSS: Final = 1 - (1 - LOSS) ** 2
MSS_BYTES: Final = ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - TCP_HEADER_BYTES - TCP_TIMESTAMPS_BYTES
EACH, DELAYED = sqrt(3 / 2), sqrt(3 / 4)
"""The law's constant where the receiver acknowledges each packet, or each second one."""


def law_mbps(constant: float, payload_bytes: int = MSS_BYTES, loss: float = LOSS, rtt_s: float = RTT_S) -> float:
    """Return Reno's throughput in Mbit/s (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, section 2)."""
    return constant * payload_bytes * BITS_PER_BYTE / (rtt_s * sqrt(loss)) / 1e6


def _asked(key: str, what: str, value: float, unit: str, why: str, *slips: Mistake) -> Number:
    return Number(key, what, Expectation(value, value, value, unit, why), slips, f"look at the formula again: {why}")


LOST: Final = _asked(
    "loss", "loss of pings", 100 * PING_LOSS, "%", "a ping is lost unless request and reply both arrive",
    Mistake(100 * LOSS, "that is one direction", "a ping is lost with its request or with its reply"),
    Mistake(PING_LOSS, "that is a share of 1", "multiply by 100 for percent"),
    Mistake(100 - 100 * PING_LOSS, "that is what is answered", "this asks for what is lost"),
)  # fmt: skip
THROUGHPUT: Final = _asked(
    "throughput", "TCP throughput", law_mbps(EACH), "Mbit/s", "1.22 * MSS / (RTT * root of p), in bits and seconds",
    Mistake(law_mbps(EACH) / BITS_PER_BYTE, "that is in MByte/s", "multiply by 8"),
    Mistake(law_mbps(EACH, loss=100 * LOSS), "that has the loss in percent", "1 % is p = 0.01"),
    Mistake(law_mbps(EACH, rtt_s=RTT_S / 2), "that has the delay of one direction", "the RTT is twice that"),
    Mistake(law_mbps(EACH, loss=LOSS**2), "the root is missing", "divide by the root of p"),
    Mistake(law_mbps(EACH, ETHERNET_MTU_BYTES), "that counts headers as data", "1448 bytes are data", 0.01),
)  # fmt: skip
HALVED: Final = (
    _asked(
        "loss_percent", "loss that halves the throughput", 400 * LOSS, "%", "the root of p stands below",
        Mistake(200 * LOSS, "that leaves 0.71 of it", "it falls with the root of the loss"),
    ),
    _asked(
        "rtt_ms", "RTT that halves the throughput", 2000 * RTT_S, "ms", "the RTT stands below, without a root",
        Mistake(4000 * RTT_S, "that leaves a quarter", "the RTT stands there without a root"),
    ),
)  # fmt: skip
