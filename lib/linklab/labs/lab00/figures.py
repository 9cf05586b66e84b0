"""The figure of Lab 00: where a round trip's milliseconds go, with the student's own pings."""

from __future__ import annotations

import math

from linklab.grade.questions import as_number
from linklab.measure import PingResult, Run
from linklab.measure.headers import ip_of
from linklab.network import TWO_HOSTS
from linklab.show import theory
from linklab.show.theory import Explorer

_ICMP, _ECHO_REQUEST = 1, 8


def milliseconds(rtt_ms: object, run: Run) -> Explorer:
    """Show theory's round trip of a ping with sliders, and as dots the idle ping and those of a recorded run."""
    link, idle_ms = TWO_HOSTS.links[0], as_number(rtt_ms)
    dots = [(0, idle_ms)] if math.isfinite(idle_ms) else []
    for number, rtt in enumerate(run.of(PingResult)[0].rtt_ms, 1):
        ahead = _waiting_ahead(run).get(number)
        if ahead is not None and rtt is not None:
            dots.append((ahead, rtt))
    measured = [ahead for ahead, _ in dots], [took for _, took in dots]
    return theory.round_trip(link.rate_mbps or 0.0, link.delay_ms, ahead_packets=50, measured=measured)


def _waiting_ahead(run: Run) -> dict[int, int]:
    """Return how many packets each ping of h1's met in the queue there, by the ping's number.

    A ping that the full queue drops is sent again with the same number: the last one counts.
    """
    found = {}
    for hop in run.recording.of("h1-eth0") if run.recording else ():
        ip = ip_of(hop.head)
        if ip is not None and ip.protocol == _ICMP and hop.head[ip.data] == _ECHO_REQUEST:
            found[int.from_bytes(hop.head[ip.data + 6 : ip.data + 8])] = hop.waiting
    return found
