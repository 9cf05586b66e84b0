"""Lab 50: a link that loses packets in each direction at random, what theory says of it, and the questions."""

from math import sqrt
from typing import Final

from linklab.grade.path_questions import DATA_BYTES
from linklab.grade.questions import Slip, Value, stated
from linklab.network import End, Host, Link, Network
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

LINK: Final = Link(
    End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24"),
    rate_mbps=20, delay_ms=20, loss_percent=1, queue_packets=200,
)  # fmt: skip
NETWORK: Final = Network("random-loss", (Host("h1"), Host("h2")), (LINK,))
LOSS, RTT_S = LINK.loss_percent / 100, 2 * LINK.delay_ms / 1000
PING_LOSS: Final = 1 - (1 - LOSS) ** 2
EACH, DELAYED = sqrt(3 / 2), sqrt(3 / 4)  # the law's constant, by whether every packet is acknowledged or every other
SIGMAS: Final = 3  # as far as chance may lead a measurement


def law_mbps(constant: float, payload_bytes: int = DATA_BYTES, loss: float = LOSS, rtt_s: float = RTT_S) -> float:
    """Return Reno's throughput in Mbit/s (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, section 2)."""
    return constant * payload_bytes * BITS_PER_BYTE / (rtt_s * sqrt(loss)) / 1e6


LOST: Final = Value(
    "loss",
    "predicted loss of pings",
    stated(100 * PING_LOSS, "%", "request and reply must both arrive", digits=2),
    ("a ping makes two packets", "with which chance do the request and the reply both arrive?", "1 - 0.99 * 0.99"),
    (Slip(100 * LOSS, "that is one direction", "the reply may be lost too"),),
)
THROUGHPUT: Final = Value(
    "throughput",
    "predicted throughput",
    stated(law_mbps(EACH), "Mbit/s", "the law of the square root", digits=2),
    ("everything in one system of units first: bits, seconds, p as a share", "1.22 * MSS / (RTT * root of p)"),
    (
        Slip(law_mbps(EACH, loss=100 * LOSS), "that has the loss in percent", "1 % is p = 0.01"),
        Slip(law_mbps(EACH, rtt_s=RTT_S / 2), "that has the delay of one direction", "the RTT is twice that"),
        Slip(law_mbps(EACH, loss=LOSS**2), "the root is missing", "divide by the root of p"),
        Slip(law_mbps(EACH, ETHERNET_MTU_BYTES), "that counts headers as data", f"{DATA_BYTES} bytes are data"),
    ),
)
HALVED: Final = (
    Value(
        "loss_percent",
        "loss that halves the throughput",
        stated(4 * LINK.loss_percent, "%", "the root of p stands below"),
        ("which power of p is in the law?", "which number has twice the root?"),
        (Slip(2 * LINK.loss_percent, "that leaves 0.71 of it", "the throughput falls with the root of p"),),
    ),
    Value(
        "rtt_ms",
        "RTT that halves the throughput",
        stated(4 * LINK.delay_ms, "ms", "the RTT stands below, without a root"),
        ("which power of the RTT is in the law?", "twice what stands below is half of the whole"),
        (Slip(8 * LINK.delay_ms, "that leaves a quarter", "the RTT stands in the law without a root"),),
    ),
)
