"""How long must a queue be, for one TCP flow to fill the link behind it? See docs/tutorials/first-study.md."""

from linklab import Lab
from linklab.measure import PingFlow, PingResult, TcpFlow, TcpResult, run_together
from linklab.network import End, Host, Link, Network
from linklab.study import Measured, Metric, Point, Study, Testbed


def network(queue_packets: int) -> Network:
    """Return two hosts and a link of 10 Mbit/s with a round trip of 40 ms."""
    one, other = End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24")
    link = Link(one, other, rate_mbps=10, delay_ms=20, queue_packets=queue_packets)
    return Network("queue-size", nodes=(Host("h1"), Host("h2")), links=(link,))


def testbed(point: Point) -> Testbed:
    """Return the network with the queue of this point."""
    return Testbed(network(point.whole("queue_packets")))


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send for 20 s by TCP, and ping meanwhile."""
    transfer = TcpFlow("h1", "h2", 20, congestion=str(point["congestion"]))
    run = run_together(lab, [transfer, PingFlow("h1", "h2", count=20, interval_s=1)])
    (tcp,), (ping,) = run.of(TcpResult), run.of(PingResult)
    rtt_ms = [value for value in ping.rtt_ms if value is not None]
    return [Measured("goodput_mbps", tcp.throughput_mbps), Measured("rtt_ms", max(rtt_ms))]


QUEUES = Study(
    name="queues",
    title="The size of a queue",
    testbed=testbed,
    factors={
        "congestion": ("reno", "cubic"),
        "queue_packets": (8, 16, 33, 66, 132),
    },
    measurement=measure,
    metrics=(
        Metric("goodput_mbps", "Mbit/s", "data that arrived in a second"),
        Metric("rtt_ms", "ms", "the longest round trip of a ping meanwhile"),
    ),
    repeats=1,
)
