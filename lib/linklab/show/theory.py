"""Theory to play with: each function shows a figure with sliders, whose lines and numbers `linklab.analysis` computes.

In a notebook that is opened without its kernel, and wherever nobody watches, it is the figure of the values given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from linklab.analysis.packets import MININET_BUCKET_BYTES, train_rate_mbps
from linklab.analysis.tcp_model import Pipe
from linklab.record import somebody_watches
from linklab.show.chart import Curve, lines
from linklab.show.widgets.picture import show_picture
from linklab.units import ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES, transmission_ms

_MTU: Final = float(ETHERNET_MTU_BYTES)
_FRAME_BYTES: Final = ETHERNET_MTU_BYTES + ETHERNET_HEADER_BYTES
"""A full packet as a lab's link counts it (`linklab.network.bdp_packets`)."""


@dataclass(frozen=True)
class Slider:
    """A number to choose: ``name`` is the argument of the function that computes, ``unit`` the number's."""

    name: str
    label: str
    unit: str
    low: float
    high: float
    step: float


@dataclass(frozen=True)
class Axis:
    """An axis: its label with the unit, and its ends."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class TheoryLines:
    """Lines by name, and what they say in a sentence with numbers."""

    series: Mapping[str, Curve]
    words: str


class Explorer:
    """A figure with sliders: ``compute`` makes the lines of the sliders' values.

    Somebody who watches gets a widget. Elsewhere it is the figure of the ``values`` given, and no widget is loaded.
    """

    def __init__(
        self, title: str, x: Axis, y: Axis, sliders: tuple[Slider, ...],
        compute: Callable[..., TheoryLines], values: Mapping[str, float],
    ) -> None:  # fmt: skip
        self._title, self._x, self._y, self._compute = title, x, y, compute
        self.about = {"title": title, "x": vars(x), "y": vars(y), "sliders": [vars(one) for one in sliders]}
        self.values = dict(values)

    def picture(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return the lines and the sentence of these values, for the widget's script."""
        found = self._compute(**values)
        curves = [[name, [list(point) for point in zip(*curve, strict=True)]] for name, curve in found.series.items()]
        return {"lines": curves, "words": found.words}

    def still(self, values: Mapping[str, float]) -> Mapping[str, str]:
        """Return the figure of these values, and its sentence."""
        found = self._compute(**values)
        limits = {"xlim": (self._x.low, self._x.high), "ylim": (self._y.low, self._y.high)}
        figure = lines(
            f"{self._title}. {found.words.rstrip('.')}", found.series, self._x.label, self._y.label, limits=limits
        )
        shown = figure._repr_mimebundle_()
        return {"text/html": f"{shown['text/html']}<p>{found.words}</p>", "text/plain": figure.alt_text}

    def _ipython_display_(self) -> None:
        if somebody_watches():
            from linklab.show.widgets.explorer import ExplorerWidget  # ipywidgets, half a second to load

            ExplorerWidget(self)._ipython_display_()
        else:
            show_picture(self.still(self.values))


_RATE: Final = Slider("rate_mbps", "rate", "Mbit/s", 1, 100, 1)
_SIZE: Final = Slider("size_bytes", "size of a packet", "bytes", 100, 9000, 100)


def space_time(rate_mbps: float = 5, delay_ms: float = 2, size_bytes: float = _MTU) -> Explorer:
    """Show a packet's way over a link and back: how long it is sent, how long it travels.

    ``delay_ms`` is the link's, one way. The answer is as large as the packet, as ping's is.
    """

    def compute(rate_mbps: float, delay_ms: float, size_bytes: float) -> TheoryLines:
        sent = transmission_ms(size_bytes, rate_mbps)
        there, back = sent + delay_ms, 2 * (sent + delay_ms)
        series = {
            "first bit": ([0, delay_ms], [0, 1]),
            "last bit": ([sent, there], [0, 1]),
            "answer, first bit": ([there, there + delay_ms], [1, 0]),
            "answer, last bit": ([there + sent, back], [1, 0]),
        }
        said = f"Sending takes {sent:.3g} ms, travelling {delay_ms:.3g} ms: one way {there:.3g} ms, RTT {back:.3g} ms."
        return TheoryLines(series, said)

    sliders = (_RATE, Slider("delay_ms", "delay, one way", "ms", 0.5, 20, 0.5), _SIZE)
    values = {"rate_mbps": rate_mbps, "delay_ms": delay_ms, "size_bytes": size_bytes}
    axes = Axis("ms", 0, 60), Axis("sender (0) to receiver (1)", 0, 1)
    return Explorer("A packet on a link, in space and time", *axes, sliders, compute, values)


def window(
    window_packets: float = 30, rate_mbps: float = 10, rtt_ms: float = 40, queue_packets: float = 50
) -> Explorer:
    """Show where the packets of a TCP window are: in the pipe, in the bottleneck's queue, or lost.

    Packets are full ones, frames of 1514 bytes. ``rtt_ms`` is the round trip without queues, ``queue_packets`` the room
    in the queue.
    """

    def compute(window_packets: float, rate_mbps: float, rtt_ms: float, queue_packets: float) -> TheoryLines:
        pipe = Pipe(transmission_ms(_FRAME_BYTES, rate_mbps), rtt_ms, 0.0, queue_packets, 2.0)
        windows = [float(it) for it in range(1, 201)]
        full = pipe.full_window_packets
        series = {
            "in the pipe": (windows, [min(it, pipe.bdp_packets) for it in windows]),
            "in the queue": (windows, [min(max(0.0, it - pipe.bdp_packets), pipe.room_packets) for it in windows]),
            "lost": (windows, [max(0.0, it - full) for it in windows]),
            "your window": ([window_packets, window_packets], [0.0, 200.0]),
        }
        waiting = min(max(0.0, window_packets - pipe.bdp_packets), pipe.room_packets)
        share = min(1.0, window_packets / pipe.bdp_packets)
        rate = f"{share * rate_mbps:.3g} of {rate_mbps:.3g} Mbit/s"
        rtt = f"RTT {pipe.base_ms + waiting * pipe.packet_ms:.3g} ms"
        lost = f", and {window_packets - full:.3g} packets are lost" if window_packets > full else ""
        said = f"The BDP is {pipe.bdp_packets:.3g} packets: {rate}, {waiting:.3g} packets wait, {rtt}{lost}."
        return TheoryLines(series, said)

    sliders = (
        Slider("window_packets", "window", "packets", 1, 200, 1),
        _RATE,
        Slider("rtt_ms", "RTT without queues", "ms", 2, 200, 2),
        Slider("queue_packets", "room in the queue", "packets", 0, 200, 5),
    )
    values = {
        "window_packets": window_packets, "rate_mbps": rate_mbps, "rtt_ms": rtt_ms, "queue_packets": queue_packets,
    }  # fmt: skip
    axes = Axis("window (packets)", 0, 200), Axis("packets", 0, 200)
    return Explorer("A window fills the pipe, then the queue", *axes, sliders, compute, values)


def token_bucket(
    rate_mbps: float = 10, bucket_bytes: float = MININET_BUCKET_BYTES, size_bytes: float = _MTU
) -> Explorer:
    """Show when a greedy sender's packets leave a token bucket of a rate and a size, as HTB shapes them.

    HTB lets a packet go as long as the bucket is not in debt.
    """

    def compute(rate_mbps: float, bucket_bytes: float, size_bytes: float) -> TheoryLines:
        debts = [max(0.0, packet * size_bytes - bucket_bytes) for packet in range(40)]
        times = [transmission_ms(debt, rate_mbps) if debt else 0.0 for debt in debts]
        steps = [(times[0], 0.0)]
        for number, at in enumerate(times, 1):
            steps += [(at, steps[-1][1]), (at, number * size_bytes)]
        steady = [transmission_ms(number * size_bytes, rate_mbps) for number in range(41)]
        series = {
            "left the bucket": ([at for at, _ in steps], [size / 1000 for _, size in steps]),
            "at the rate alone": (steady, [number * size_bytes / 1000 for number in range(41)]),
        }
        at_once = sum(at == 0 for at in times)
        said = (
            f"{at_once} packet{'s' if at_once > 1 else ''} of {size_bytes:.0f} bytes leave{'' if at_once > 1 else 's'} "
            f"at once; then one every {transmission_ms(size_bytes, rate_mbps):.3g} ms."
        )
        return TheoryLines(series, said)

    sliders = (_RATE, Slider("bucket_bytes", "bucket", "bytes", 0, 20000, 100), _SIZE)
    values = {"rate_mbps": rate_mbps, "bucket_bytes": bucket_bytes, "size_bytes": size_bytes}
    return Explorer("A token bucket", Axis("ms", 0, 30), Axis("kB", 0, 40), sliders, compute, values)


def train(
    first_mbps: float = 100, narrow_mbps: float = 10, last_mbps: float = 100, size_bytes: float = _MTU
) -> Explorer:
    """Show how a packet train stretches at the narrow link of a path of three, and keeps its gaps behind it."""

    def compute(first_mbps: float, narrow_mbps: float, last_mbps: float, size_bytes: float) -> TheoryLines:
        count, rates = 10, (first_mbps, narrow_mbps, last_mbps)
        ready, series = [0.0] * count, {}
        for name, rate in zip(("behind link 1", "behind link 2", "behind link 3"), rates, strict=True):
            each = transmission_ms(size_bytes, rate)
            free, left = 0.0, []
            for at in ready:
                free = max(free, at) + each
                left.append(free)
            ready = left
            series[name] = (list(ready), [float(number) for number in range(1, count + 1)])
        gaps = {name: max(late - early for early, late in pairwise(times)) for name, (times, _) in series.items()}
        found = train_rate_mbps([at / 1000 for at in ready], round(size_bytes))
        said = (
            f"The largest gap is {gaps['behind link 1']:.3g} ms behind link 1, {gaps['behind link 2']:.3g} ms behind "
            f"link 2 and {gaps['behind link 3']:.3g} ms behind link 3: the train says {found:.3g} Mbit/s."
        )
        return TheoryLines(series, said)

    sliders = (
        Slider("first_mbps", "link 1", "Mbit/s", 1, 100, 1),
        Slider("narrow_mbps", "link 2", "Mbit/s", 1, 100, 1),
        Slider("last_mbps", "link 3", "Mbit/s", 1, 100, 1),
        _SIZE,
    )
    values = {"first_mbps": first_mbps, "narrow_mbps": narrow_mbps, "last_mbps": last_mbps, "size_bytes": size_bytes}
    axes = Axis("time of arrival (ms)", 0, 30), Axis("packet", 0, 10)
    return Explorer("A packet train stretches", *axes, sliders, compute, values)
