"""What the course network gave on virtual time, with CUBIC: iperf3 3.12 or the reference simpleperf, beside ping.

Each line: duration in s, then loads (source, destination, connections) with their throughputs by connection, and the
mean and highest RTT of pings beside them, one a second (None where there were none).
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.analysis import Load


@dataclass(frozen=True)
class Seen:
    load: Load
    mbps: tuple[float, ...]
    rtt_mean_ms: float | None = None
    rtt_highest_ms: float | None = None


def _one(name: str, mbps: float | tuple[float, ...], mean: float | None = None, highest: float | None = None) -> Seen:
    rates = mbps if isinstance(mbps, tuple) else (mbps,)
    source, _, destination = name.partition("-")
    return Seen(Load(source, destination, len(rates)), rates, mean, highest)


RUNS: dict[str, tuple[float, tuple[Seen, ...]]] = {
    "L1": (25, (_one("r1-r2", 38.025),)),
    "L2": (25, (_one("r2-r3", 28.496),)),
    "h1-h4": (25, (_one("h1-h4", 28.338),)),
    "h1-h9": (25, (_one("h1-h9", 16.187),)),
    "two": (25, (_one("h1-h4", 11.671, 72.468, 79.250), _one("h2-h5", 16.761, 72.491, 79.255))),
    "three": (
        25,
        (
            _one("h1-h4", 12.345, 74.264, 80.061),
            _one("h2-h5", 9.871, 74.032, 79.844),
            _one("h3-h6", 6.268, 74.023, 79.871),
        ),
    ),
    "crossing": (25, (_one("h1-h4", 13.688, 73.849, 80.062), _one("h7-h9", 14.734, 74.013, 80.368))),
    "apart": (25, (_one("h1-h4", 28.335, 71.524, 80.341), _one("h8-h9", 19.070, 25.736, 29.574))),
    "parallel": (25, (_one("h1-h4", (5.553, 5.734)), _one("h2-h5", 10.611), _one("h3-h6", 6.619))),
    "h1-h4, 10 s": (10, (_one("h1-h4", 27.930),)),
    "h1-h9, 5 s": (5, (_one("h1-h9", 10.762),)),
    "parallel, 5 s": (5, (_one("h1-h4", (4.693, 4.050)), _one("h2-h5", 14.697), _one("h3-h6", 4.394))),
    "simpleperf three": (
        25,
        (
            _one("h1-h4", 8.08, 73.340, 79.587),
            _one("h2-h5", 13.36, 73.445, 80.342),
            _one("h3-h6", 7.08, 73.471, 79.965),
        ),
    ),
    "simpleperf parallel": (
        25,
        (
            _one("h1-h4", (7.87, 6.70), 73.872, 80.436),
            _one("h2-h5", 8.94, 73.214, 79.964),
            _one("h3-h6", 5.06, 73.088, 79.090),
        ),
    ),
}
