"""Lab 50, Random loss: the checks of what a link that loses packets does to ping and to TCP."""

from math import sqrt

from linklab.analysis import Expectation
from linklab.grade.check import Check, Refuse
from linklab.grade.measured import measured
from linklab.grade.questions import asked, asked_one
from linklab.grade.result import Result, guarded
from linklab.measure import PingResult, TcpResult

from .questions import DELAYED, EACH, HALVED, LOSS, LOST, NETWORK, PING_LOSS, RTT_S, SIGMAS, THROUGHPUT, law_mbps

__all__ = ["NETWORK"]


@guarded
def check_loss(percent: object) -> Result:
    """Judge the predicted loss of pings, in percent."""
    return asked_one("Lab 50, predicted loss", percent, LOST)


@guarded
def check_throughput(mbps: object) -> Result:
    """Judge the throughput by the law, in Mbit/s."""
    return asked_one("Lab 50, predicted throughput", mbps, THROUGHPUT)


@guarded("Lab 50, pings")
def check_pings(pings: object) -> Check:
    """Judge 1000 pings or more: so many are lost as chance lets."""
    if not isinstance(pings, PingResult) or pings.sent_packets < 1000:
        raise Refuse("pings", "not measured yet", "send 1000 or more")
    likely, spread = 100 * PING_LOSS, SIGMAS * 100 * sqrt(PING_LOSS * (1 - PING_LOSS) / pings.sent_packets)
    expected = Expectation(likely, likely - spread, likely + spread, "%", "chance", None, source="binomial: 3 sigma")
    return measured("loss of pings", pings.loss_percent, expected)


@guarded("Lab 50, transfer")
def check_transfer(transfer: object) -> Check:
    """Judge a transfer by Reno, of 60 s or more: it lies between the law's constants, as far as chance lets it."""
    if not isinstance(transfer, TcpResult) or transfer.congestion != "reno" or transfer.flow.duration_s < 60:
        raise Refuse("transfer", "not measured yet", "60 s of Reno")
    losses = transfer.flow.duration_s / RTT_S * EACH * sqrt(LOSS)  # LOSS of the packets that the law lets pass
    chance = SIGMAS / (2 * sqrt(losses))  # a count strays by its root, and the root of a count by half of that
    low, high, source = law_mbps(DELAYED) * (1 - chance), law_mbps(EACH) * (1 + chance), "Mathis et al. 1997: 3 sigma"
    expected = Expectation(law_mbps(EACH), low, high, "Mbit/s", "the law", source=source)
    return measured("throughput", transfer.throughput_mbps, expected)


@guarded
def check_questions(halved_by: object) -> Result:
    """Judge what halves the throughput: a loss in percent, or an RTT in ms."""
    return asked("Lab 50, half", halved_by, HALVED, '{"loss_percent": 1.5, "rtt_ms": 10}')
