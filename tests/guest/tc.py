"""From what tc prints to what a link does: pure parsing.

Qdiscs are read as JSON. Classes are read as text, because tc prints no JSON for them (iproute2 6.1 to 6.15).
"""

from __future__ import annotations

import json
import re
from typing import Any

from linklab.network import Shape

_UNITS = {"bit": 1.0, "Kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "Tbit": 1e12}
_HTB_RATE = re.compile(r"^class htb .* rate (\d+(?:\.\d+)?)([KMGT]?bit)")
_HFSC_LIMIT = re.compile(r"^class hfsc .* ul .*m2 (\d+(?:\.\d+)?)([KMGT]?bit)")
# tc 6.1 prints {default 1 } for hfsc, which is not JSON
_BROKEN_OPTIONS = re.compile(r'"options":\{[^"{}]+\}')


def shape_of(lines: list[str]) -> Shape:
    """What an interface does to the packets that leave it, from ``tc -j qdisc show`` and ``tc class show`` lines.

    The rate is an HTB class's, an HFSC class's upper limit or a token bucket's; delay, loss and queue are
    netem's. tc prints delays in seconds, losses as a fraction, and a token bucket's rate in bytes per second.
    Raises ValueError for lines that are not tc's.
    """
    qdiscs: list[dict[str, Any]] = []
    rate_mbps = None
    for line in lines:
        if line.startswith("["):
            qdiscs += json.loads(_BROKEN_OPTIONS.sub('"options":{}', line))
        elif match := _HTB_RATE.match(line) or _HFSC_LIMIT.match(line):
            rate_mbps = float(match[1]) * _UNITS[match[2]] / 1e6
        elif line and not line.startswith("class "):
            raise ValueError(f"tc printed {line!r}")
    for qdisc in qdiscs:
        if qdisc.get("kind") == "tbf":
            rate_mbps = float(qdisc["options"]["rate"]) * 8 / 1e6
    netem = next((qdisc["options"] for qdisc in qdiscs if qdisc.get("kind") == "netem"), None)
    if netem is None:
        return Shape(rate_mbps=rate_mbps)
    return Shape(
        rate_mbps=rate_mbps,
        delay_ms=_number(netem, "delay", "delay") * 1000,
        loss_percent=_number(netem, "loss-random", "loss") * 100,
        queue_packets=netem.get("limit"),
    )


def _number(options: dict[str, Any], group: str, name: str) -> float:
    return round(float(options.get(group, {}).get(name, 0.0)), 9)
