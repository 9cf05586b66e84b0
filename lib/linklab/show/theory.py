"""Theory to play with: each function shows a figure with sliders, whose lines and numbers `linklab.analysis` computes.

In a notebook that is opened without its kernel, and wherever nobody watches, it is the figure of the values given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from linklab.analysis.packets import MININET_BUCKET_BYTES, train_rate_mbps
from linklab.analysis.tcp_model import BETA, Pipe
from linklab.record import somebody_watches
from linklab.show.chart import BLACK, Curve, legend, lines, logarithmic
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
    """An axis: its label with the unit, its ends, and whether it is logarithmic."""

    label: str
    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class TheoryLines:
    """Lines by name, and what they say in a sentence with numbers."""

    series: Mapping[str, Curve]
    words: str


def _points(curve: Curve) -> list[list[float]]:
    return [list(point) for point in zip(*curve, strict=True)]


class Explorer:
    """A figure with sliders: ``compute`` makes the lines of the sliders' values.

    Somebody who watches gets a widget; elsewhere it is the figure of ``values``, one for each slider, without a widget.
    ``measured`` are points that stay where they are while the sliders move.
    """

    def __init__(
        self, title: str, x: Axis, y: Axis, sliders: tuple[Slider, ...],
        compute: Callable[..., TheoryLines], values: tuple[float, ...], measured: Curve | None = None,
    ) -> None:  # fmt: skip
        self._title, self._x, self._y, self._compute = title, x, y, compute
        self._measured = (measured,) if measured and measured[0] else ()
        self.about = {
            "title": title, "x": vars(x), "y": vars(y), "sliders": [vars(one) for one in sliders],
            "measured": [_points(curve) for curve in self._measured],
        }  # fmt: skip
        self.values = dict(zip((one.name for one in sliders), values, strict=True))

    def _words(self, found: TheoryLines) -> str:
        ranges = (f" Your measurements, {self._y.label}: {min(it):.4g} to {max(it):.4g}." for _, it in self._measured)
        return "".join((found.words, *ranges))

    def picture(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return the lines and the sentence of these values, for the widget's script."""
        found = self._compute(**values)
        curves = [[name, _points(curve)] for name, curve in found.series.items()]
        return {"lines": curves, "words": self._words(found)}

    def still(self, values: Mapping[str, float]) -> Mapping[str, str]:
        """Return the figure of these values, and its sentence."""
        found = self._compute(**values)
        words = self._words(found)
        limits = {"xlim": (self._x.low, self._x.high), "ylim": (self._y.low, self._y.high)}
        figure = lines(f"{self._title}. {words.rstrip('.')}", found.series, self._x.label, self._y.label, limits=limits)
        (axes,) = figure.axes
        if self._x.log:
            logarithmic(axes, "x", self._x.low, self._x.high)
        if self._y.log:
            logarithmic(axes, "y", self._y.low, self._y.high)
        for curve in self._measured:
            axes.plot(*curve, "o", color=BLACK, markersize=3.5, label="your measurements")
            figure.legends.clear()
            legend(axes)
        shown = figure._repr_mimebundle_()
        return {"text/html": f"{shown['text/html']}<p>{words}</p>", "text/plain": figure.alt_text}

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
    axes = Axis("ms", 0, 60), Axis("sender (0) to receiver (1)", 0, 1)
    return Explorer("A packet on a link, in space and time", *axes, sliders, compute, (rate_mbps, delay_ms, size_bytes))


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
    values = (window_packets, rate_mbps, rtt_ms, queue_packets)
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
    values = (rate_mbps, bucket_bytes, size_bytes)
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
    values = (first_mbps, narrow_mbps, last_mbps, size_bytes)
    axes = Axis("time of arrival (ms)", 0, 30), Axis("packet", 0, 10)
    return Explorer("A packet train stretches", *axes, sliders, compute, values)


# --- With a student's own measurements


def round_trip(
    rate_mbps: float = 10, delay_ms: float = 10, size_bytes: float = 98, ahead_packets: float = 50,
    measured: Curve | None = None,
) -> Explorer:  # fmt: skip
    """Show where a ping's milliseconds go on one link: delay, sending its bits, waiting in the queue.

    ``ahead_packets`` are full packets that the ping finds in the link's queue; the way back is free. As in Mininet, the
    queue also holds packets for the link's delay, so a ping waits for whichever of the two is longer. ``measured`` has
    packets ahead, and round trips in ms.
    """

    def compute(rate_mbps: float, delay_ms: float, size_bytes: float, ahead_packets: float) -> TheoryLines:
        sent_ms, frame_ms = 2 * transmission_ms(size_bytes, rate_mbps), transmission_ms(_FRAME_BYTES, rate_mbps)

        def waits_ms(ahead: float) -> float:
            return max(0.0, ahead * frame_ms - delay_ms)

        ahead = [float(it) for it in range(101)]
        idle_ms = 2 * delay_ms + sent_ms
        series = {
            "delay, both ways": (ahead, [2 * delay_ms for _ in ahead]),
            "and sending": (ahead, [idle_ms for _ in ahead]),
            "and waiting: RTT": (ahead, [idle_ms + waits_ms(it) for it in ahead]),
            "your ping": ([ahead_packets, ahead_packets], [0.0, 150.0]),
        }
        wait_ms = waits_ms(ahead_packets)
        said = (
            f"Delay {2 * delay_ms:.3g} ms, sending {sent_ms:.2g} ms, waiting {wait_ms:.3g} ms: "
            f"RTT {idle_ms + wait_ms:.4g} ms."
        )
        return TheoryLines(series, said)

    sliders = (
        _RATE,
        Slider("delay_ms", "delay, one way", "ms", 0, 50, 1),
        Slider("size_bytes", "size of the ping", "bytes", 98, 1514, 8),
        Slider("ahead_packets", "packets ahead in the queue", "packets", 0, 100, 1),
    )
    values = (rate_mbps, delay_ms, size_bytes, ahead_packets)
    axes = Axis("packets ahead in the queue", 0, 100), Axis("ms", 0, 150)
    return Explorer("Where a round trip's milliseconds go", *axes, sliders, compute, values, measured)


def sawtooth(
    rate_mbps: float = 20, rtt_ms: float = 20, queue_packets: float = 100, kept: float = 0.5,
    measured: Curve | None = None,
) -> Explorer:  # fmt: skip
    """Show the window of one flow that adds a packet in each round trip, and keeps a part of its window at a loss.

    Reno keeps a half (RFC 5681). ``rtt_ms`` is the round trip without queues. ``measured`` has seconds since a loss,
    and windows in packets.
    """
    last_s = 15.0

    def compute(rate_mbps: float, rtt_ms: float, queue_packets: float, kept: float) -> TheoryLines:
        pipe = Pipe(transmission_ms(_FRAME_BYTES, rate_mbps), rtt_ms, 0.0, queue_packets, 2.0)
        full, bdp, packet_s = pipe.full_window_packets, pipe.bdp_packets, pipe.packet_ms / 1000
        at_s, window_packets = 0.0, kept * full
        times, windows = [at_s], [window_packets]
        while at_s < last_s:
            at_s += max(bdp, window_packets) * packet_s
            window_packets += 1
            times.append(at_s)
            windows.append(window_packets)
            if window_packets >= full:
                window_packets = kept * full
                times.append(at_s)
                windows.append(window_packets)
        series = {
            "window": (times, windows),
            "BDP and queue": ([0.0, last_s], [full, full]),
            "BDP": ([0.0, last_s], [bdp, bdp]),
        }
        losses = [late for late, (high, low) in zip(times[1:], pairwise(windows), strict=True) if low < high - 1]
        apart = f", {losses[1] - losses[0]:.3g} s apart" if len(losses) > 1 else ""
        busy = "B is always busy" if kept * full >= bdp else "B is idle for a while after each loss"
        said = f"Losses at a window of {full:.3g} packets{apart}; it goes on with {kept * full:.3g}: {busy}."
        return TheoryLines(series, said)

    sliders = (
        Slider("rate_mbps", "rate of B", "Mbit/s", 5, 50, 1),
        Slider("rtt_ms", "RTT without queues", "ms", 10, 200, 1),
        Slider("queue_packets", "room in the queue", "packets", 0, 200, 1),
        Slider("kept", "kept of the window at a loss", "", 0.3, 0.9, 0.05),
    )
    values = (rate_mbps, rtt_ms, queue_packets, kept)
    axes = Axis("seconds since a loss", 0, last_s), Axis("window (packets)", 0, 250)
    return Explorer("The sawtooth of a window", *axes, sliders, compute, values, measured)


def full_queue(
    rate_mbps: float = 10, rtt_ms: float = 20, limit_packets: float = 100, measured: Curve | None = None
) -> Explorer:
    """Show how long a ping takes behind a full queue, against the queue's limit.

    Packets are full ones, ``rtt_ms`` is the round trip without a queue. ``measured`` has limits in packets, and pings
    in ms.
    """
    least, most = 1.0, 10_000.0

    def compute(rate_mbps: float, rtt_ms: float, limit_packets: float) -> TheoryLines:
        pipe = Pipe(transmission_ms(_FRAME_BYTES, rate_mbps), rtt_ms, 0.0, limit_packets, 2.0)
        limits = [10 ** (step / 20) for step in range(61)]
        needed = max(least, (1 / BETA - 1) * pipe.bdp_packets)
        series = {
            "ping behind a full queue": (limits, [rtt_ms + it * pipe.packet_ms for it in limits]),
            "ping without a queue": ([limits[0], limits[-1]], [rtt_ms, rtt_ms]),
            "what CUBIC needs": ([needed, needed], [least, most]),
            "your limit": ([limit_packets, limit_packets], [least, most]),
        }
        enough = "enough" if limit_packets >= needed else "too few"
        wait_ms = limit_packets * pipe.packet_ms
        said = (
            f"A full queue of {limit_packets:.0f} packets lasts {wait_ms:.3g} ms: a ping takes {rtt_ms + wait_ms:.3g} "
            f"ms. CUBIC needs {needed:.2g} packets, to keep the link busy after a loss: {enough}."
        )
        return TheoryLines(series, said)

    sliders = (
        _RATE,
        Slider("rtt_ms", "RTT without a queue", "ms", 2, 200, 2),
        Slider("limit_packets", "limit of the queue", "packets", 1, 1000, 1),
    )
    values = (rate_mbps, rtt_ms, limit_packets)
    axes = Axis("limit (packets)", 1, 1000, log=True), Axis("ping (ms)", least, most, log=True)
    return Explorer("A queue's limit, and the wait in it", *axes, sliders, compute, values, measured)


def detection(hello_s: float = 1, dead_s: float = 3, measured: Curve | None = None) -> Explorer:
    """Show how long packets are lost after a silent cut, against the dead interval of the routers.

    A router sends a Hello every ``hello_s``, and gives a neighbour up after ``dead_s`` without one (RFC 2328). For BFD
    these are the interval and its multiple (RFC 5880). ``measured`` has dead intervals and outages, in s.
    """
    low, high = 0.1, 100.0

    def compute(hello_s: float, dead_s: float) -> TheoryLines:
        every = [10 ** (step / 50 - 1) for step in range(151)]
        longer = [dead for dead in every if dead - hello_s >= low / 2]
        series = {
            "longest: the dead interval": ([low, high], [low, high]),
            "shortest: one hello interval less": (longer, [dead - hello_s for dead in longer]),
            "your dead interval": ([dead_s, dead_s], [low / 2, high]),
        }
        if hello_s >= dead_s:
            said = "The dead interval must be longer than the hello interval: else a router never keeps a neighbour."
        else:
            missing = math.ceil(dead_s / hello_s - 1e-9)
            said = (
                f"A Hello every {hello_s:g} s, dead after {dead_s:g} s: packets are lost for {dead_s - hello_s:.3g} to "
                f"{dead_s:.3g} s. A neighbour that is alive is taken for dead if {missing} Hellos in a row are lost."
            )
        return TheoryLines(series, said)

    sliders = (
        Slider("hello_s", "hello interval", "s", 0.1, 10, 0.1),
        Slider("dead_s", "dead interval", "s", 0.3, 40, 0.1),
    )
    axes = Axis("dead interval (s)", low, high, log=True), Axis("packets are lost for (s)", low / 2, high, log=True)
    return Explorer("How long until a silent cut is noticed", *axes, sliders, compute, (hello_s, dead_s), measured)
