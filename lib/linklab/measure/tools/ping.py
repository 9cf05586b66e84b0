"""What ping of iputils prints, read. Pure.

Tried on the output of iputils 20221126 (Debian 12) and 20240905 (Debian 13).
"""

from __future__ import annotations

import re

from linklab.errors import MeasurementError
from linklab.measure.flows import PingFlow
from linklab.measure.results import Origin, PingResult

_REPLY = re.compile(r"\d+ bytes from \S+: icmp_seq=(\d+) ttl=\d+ time=([\d.]+) ms( \(DUP!\))?")
_COUNTS = re.compile(
    r"^(\d+) packets transmitted, (\d+) received,(?: \+(\d+) duplicates,)?(?: \+\d+ corrupted,)?(?: \+(\d+) errors,)?"
    r" [\d.]+% packet loss, time \d+ms$",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms", re.MULTILINE)


def parse_ping(text: str, flow: PingFlow, origin: Origin, *, interrupted: bool = False) -> PingResult:
    """Reads ping's whole output; where it was `interrupted`, that of the requests until then, without the
    last if it has no answer yet.

    Raises MeasurementError with ping's own words where it did not run to its summary, and naming the line or the
    contradiction where the output is not one that is known: what cannot be read is never counted as lost.
    """
    counts = _COUNTS.search(text)
    if counts is None:
        raise MeasurementError(f"ping from {flow.source} to {flow.destination} did not work: {_last_words(text)}")
    sent, received = int(counts[1]), int(counts[2])
    rtt_ms: list[float | None] = [None] * sent
    for line in text.splitlines():
        if " bytes from " not in line:
            continue
        reply = _REPLY.fullmatch(line.strip())
        if reply is None:
            raise MeasurementError(f"ping printed a line that is not known: {line.strip()!r}")
        number = int(reply[1])
        if not 1 <= number <= sent:
            raise MeasurementError(f"ping printed icmp_seq={number} of {sent} packets: its output is not known")
        if reply[3] is None:
            rtt_ms[number - 1] = float(reply[2])
    if interrupted and rtt_ms and rtt_ms[-1] is None:
        rtt_ms.pop()  # its answer may have been under way
    answered = len(rtt_ms) - rtt_ms.count(None)
    if answered != received:
        raise MeasurementError(f"ping counted {received} answers and printed {answered}: its output is incomplete")
    summary = _SUMMARY.search(text)
    if (summary is None) != (received == 0):
        raise MeasurementError(f"ping's summary of {received} answers cannot be read: {_last_words(text)}")
    low, mean, high, deviation = map(float, summary.groups()) if summary else (None,) * 4
    duplicates, errors = int(counts[3] or 0), int(counts[4] or 0)
    summary_ms = (low, mean, high, deviation)
    return PingResult(flow, origin, tuple(rtt_ms), *summary_ms, duplicates, errors, interrupted=interrupted)


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
