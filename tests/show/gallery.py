"""One figure or more of each function of `linklab.show` that draws, and those of labs 11 to 13."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.image import imsave

from linklab import show
from linklab.analysis import Comparison, Expectation, Load, experiment
from linklab.labs.lab11 import figures as lab11_figures
from linklab.labs.lab12 import figures as lab12_figures
from linklab.labs.lab12 import rules as lab12
from linklab.labs.lab13 import figures as lab13_figures
from linklab.measure import (
    Origin,
    PingFlow,
    PingResult,
    Sample,
    Stream,
    TcpFlow,
    TcpResult,
    UdpFlow,
    UdpResult,
)
from linklab.network import COURSE
from linklab.network.traces import Trace
from linklab.programs.reliable.transfers import PlayedTransfer, TransferPlan
from linklab.show import chart, packets, video
from linklab.show.figure import Drawing
from tests.labs import lab11_runs, lab12_runs

ORIGIN = Origin("iperf 3.12", "6.1")


def transfer(source: str, destination: str, *rates: tuple[float, ...]) -> TcpResult:
    streams = tuple(
        Stream(sum(values) / len(values), tuple(Sample(float(at), at + 1.0, rate) for at, rate in enumerate(values)))
        for values in rates
    )
    total = tuple(Sample(float(at), at + 1.0, sum(values)) for at, values in enumerate(zip(*rates, strict=True)))
    flow = TcpFlow(source, destination, len(rates[0]), len(rates))
    mbps = sum(stream.throughput_mbps for stream in streams)
    return TcpResult(flow, ORIGIN, mbps, 1, float(len(rates[0])), 0, "cubic", streams, total)


def sent_at(sent_mbps: float, loss_percent: float) -> UdpResult:
    arrived = 10_000 - round(100 * loss_percent)
    return UdpResult(UdpFlow("h1", "h4", sent_mbps), ORIGIN, arrived, sent_mbps, 1, 10_000, arrived, 0, 0, (), ())


H1, H2 = transfer("h1", "h4", (3.0, 5.0, 7.0), (4.0, 4.0, 6.0)), transfer("h2", "h5", (14.0, 19.0, 15.0))
MANY = {f"h{number}-h{number + 3}": H2.samples for number in range(6)}
EXPECTED = experiment(COURSE, [Load("h1", "h4"), Load("h8", "h9")]).loads
PING = PingResult(PingFlow("h1", "h4", 4, 1.0), ORIGIN, (60.0, 72.0, None, 80.3), 60.0, 70.8, 80.3, 8.0, 0, 0)
LINK = show.LinkOverTime(
    Trace("half", (*range(1, 500), 1000)), 2.0, 20.0,
    tuple((at / 500, at / 500 + 0.02 + (at % 50) / 1000) for at in range(900)), ((0.0, 10.0), (0.8, 40.0), (1.4, 20.0)),
)  # fmt: skip
APART = [
    show.RoundTrips.of(PING, EXPECTED[0]),
    show.RoundTrips("h8-h9", (20.0, 27.4, 22.0, 25.0), 1.0, 20.0, 29.98),
]
ROWS = [
    Comparison(
        "RTT of h1-h4", "ms", 30, Expectation(60, 59.95, 60.14, "ms", "", source="theory"), 69.606, 60.0, "one way?"
    ),
    Comparison(
        "throughput of h1-h9", "Mbit/s", 160, Expectation(17, 15.1, 19.1, "Mbit/s", "", source="theory"), 17.29, 16.19
    ),
    Comparison("throughput of h1-h4, connection 1", "Mbit/s", 0.9, 7.17, 6.04, 5.55),
    Comparison("Jain's index", "", None, 1.0),
]
TRACE = show.WindowTrace((0.0, 1.0, 2.0), (10, 133, 66), (None, None, 66), (20.0, 80.0, 40.0), (0.0, 2.0), (0, 100))
LOWER = show.WindowTrace((0.0, 1.0, 2.0), (10, 60, 66), (None, 60, 60), (20.0, 21.0, 22.0))
SKETCH = ((0.0, 20.0), (1.0, 35.0), (2.0, 40.0))
INSIDE = [("Ethernet", 14), ("IPv4", 20), ("UDP", 8), ("data", 1472)]
LATE = {"Mininet's bucket": [(2, 15.8), (3, 12.3), (20, 10.1)], "without the burst": [(2, 10.0), (20, 10.0)]}


def figures() -> dict[str, Callable[[], Drawing]]:
    """Return what makes each figure by its name; each name starts with that of its function."""
    draws = np.random.default_rng(1)
    gaps = {name: list(draws.lognormal(at, 1.0, 300)) for at, name in enumerate(("gigabit", "wan", "one frame"))}
    picture = io.BytesIO()
    imsave(picture, np.linspace(0, 1, 48 * 64).reshape(48, 64), format="png")
    return {
        "throughput: of a run": lambda: show.throughput([H1, H2], ceiling_mbps=28.69, fair_mbps=7.17, together=True),
        "throughput: one": lambda: show.throughput([H2], together=True),
        "throughput": lambda: show.throughput({"simpleperf": H2.samples}, ceiling_mbps=28.69, duration_s=10),
        "throughput: many": lambda: show.throughput(MANY, ceiling_mbps=28.69, fair_mbps=4.78, together=True),
        "throughput: none yet": lambda: show.throughput({}, ceiling_mbps=28.69),
        "round_trips": lambda: show.round_trips(APART),
        "round_trips: all lost": lambda: show.round_trips([show.RoundTrips("L1", (None, None), 1.0, 20.0, 30.3)]),
        "compared": lambda: show.compared(ROWS),
        "compared: all alike": lambda: show.compared([Comparison("RTT of L1", "ms", 20, 20, 20, 20)]),
        "fairness": lambda: show.fairness({"h1-h4": [6.04, 7.88], "h2-h5": [7.48], "h3-h6": [7.82]}),
        "fairness: unfair": lambda: show.fairness({"h1-h4": [0.001] * 5, "h2-h5": [28.0]}),
        "round_trips: a sketch": lambda: show.round_trips(
            [show.RoundTrips("L1", (20.0, 31.0, 44.0), 1.0, 20.0, 50.3, SKETCH)]
        ),
        "sweep: a sketch": lambda: show.sweep(
            [sent_at(33, 12), sent_at(25, 0)], 29.15, sketch=((25, 25), (29, 29), (33, 29))
        ),
        "sweep": lambda: show.sweep([sent_at(33, 12), sent_at(25, 0), sent_at(29, 1)], ceiling_mbps=29.15),
        "windows": lambda: show.windows({"Reno": TRACE}, full_packets=133, queue_packets=100, rtts_ms=(20.0, 80.6)),
        "varying": lambda: show.varying(LINK),
        "varying: no window": lambda: show.varying(replace(LINK, windows=())),
        "windows: two": lambda: show.windows({"Reno": TRACE, "BBR": LOWER}),
        "lines": lambda: chart.lines(
            "Round trips by payload",
            {"idle": ([100, 1400], [1.0, 2.3]), "loaded": ([100, 1400], [5.0, 6.0])},
            "UDP payload (bytes)",
            "round trip (ms)",
            {"theory: 1.15 ms": 1.15},
            markers=True,
        ),
        "arrivals": lambda: show.arrivals([1 + 0.001 * number for number in range(20)]),
        "first_packets": lambda: packets.first_packets({"1518 bytes": LATE, "4370 bytes": LATE}, 10),
        "frames": lambda: packets.frames(
            {"inside": INSIDE, "outside": [("Ethernet", 14), ("IPv4", 20), ("GRE", 4), *INSIDE]}
        ),
        "rate_over_time": lambda: video.rate_over_time(
            {"gigabit": [900.0, 2100, 1500], "wan": [900.0, 1900, 1600]}, limit_kbps=1980
        ),
        "distribution": lambda: video.distribution(
            gaps, "time between packets", "ms", marks={"a frame at 2 Mbit/s": 5.48}
        ),
        "similarity_over_time": lambda: video.similarity_over_time(
            {"1 %": [1.0, 0.9, 0.97], "2 %": [1.0, 0.5, 0.8]}, 60
        ),
        "pictures": lambda: video.pictures([("as sent", picture.getvalue()), ("as shown", picture.getvalue())]),
    }


def lab_figures() -> dict[str, Callable[[], Drawing | str]]:
    """Return what makes each figure of labs 11 to 13, of what solutions measured; names end with the function's."""
    return {
        "lab11.look_figure": lambda: lab11_figures.look_figure(lab11_runs.kept()["samples"]),
        "lab11.controls_figure": lambda: lab11_figures.controls_figure(lab11_runs.controls()),
        "lab11.queues_figure": lambda: lab11_figures.queues_figure(lab11_runs.queues()),
        "lab12.queue_figure: one": lambda: lab12_figures.queue_figure({"queue of 1000": lab12_runs.kept()["long"]}),
        "lab12.queue_figure: three": lambda: lab12_figures.queue_figure(
            {name: lab12_runs.kept()[name] for name in lab12.ONE_QUEUE}
        ),
        "lab13.ladder": lambda: lab13_figures.ladder(sent(7, {3, 5})),
        "lab13.shares_figure": lambda: lab13_figures.shares_figure({1: sent(20, set()), 8: sent(20, {4})}),
    }


class Gallery(Mapping[str, Drawing]):
    """All figures by name. Each is made when it is first asked for, so that who collects tests draws nothing."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], Drawing | str]] = {**figures(), **lab_figures()}
        self._made: dict[str, Drawing] = {}

    def __getitem__(self, name: str) -> Drawing:
        if name not in self._made:
            figure = self._makers[name]()
            assert isinstance(figure, Drawing), figure
            self._made[name] = figure
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def sent(packets: int, lost: set[int]) -> PlayedTransfer:
    """A transfer by stop-and-wait: packets of these numbers are lost, and sent again after 0.1 s."""
    up: list[list[Any]] = []
    down: list[list[Any]] = []
    now_s = 1.0
    for number in range(1, packets + 1):
        if number in lost:
            up.append([now_s, 1005, f"data {number}", "lost"])
            now_s += 0.1
        up.append([now_s, 1005, f"data {number}", "passed"])
        down.append([now_s, 4, f"answer {number}", "passed"])
        now_s += 0.0446
    content = bytes(1000 * packets)
    ends = [{"program": {"kept": None}}, {"program": {"kept": base64.b64encode(content).decode()}}]
    record = {"datagrams": {"up": up, "down": down, "flooded": {}}, "stalled": False, "acts": ends}
    return PlayedTransfer("made", TransferPlan(content), record)
