"""Throughput over time of flows that ran at once: a line for each connection, and their sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol

from linklab.errors import MeasurementError
from linklab.measure import Sample, SimpleperfResult, TcpResult, UdpResult
from linklab.show.chart import BLACK, LINES, SMALL_POINTS, WIDTH_INCHES, label_axes

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_HEIGHT_INCHES: Final = 3.8
_LEGEND_COLUMNS: Final = 3
_HEADROOM: Final = 1.08
_TOTAL: Final = "all together"
Transfer = TcpResult | UdpResult | SimpleperfResult


class _Span(Protocol):
    @property
    def samples(self) -> tuple[Sample, ...]: ...


def flows(
    results: Sequence[Transfer],
    *,
    ceiling_mbps: float | None = None,
    fair_mbps: float | None = None,
    together: bool = True,
) -> Drawing:
    """Throughput in Mbit/s over seconds, one line per connection, for results that were measured at one time.

    ``ceiling_mbps`` is what theory allows all of them, ``fair_mbps`` the fair share of one connection; ``together``
    draws the sum as well where there are several. Lines differ in their dashes too. The figure carries all of it in
    words as ``alt_text``. Raises MeasurementError if no result has samples, or for more connections than can be told
    apart.
    """
    from linklab.show.figure import Drawing

    lines = [(name, samples) for result in results for name, samples in _connections(result) if samples]
    if not lines:
        raise MeasurementError("there is nothing to draw over time: measure with an interval, say one second")
    if len(lines) > len(LINES):
        raise MeasurementError(
            f"{len(lines)} connections in one figure cannot be told apart: give at most {len(LINES)}"
        )
    total = _sum([samples for _, samples in lines]) if together and len(lines) > 1 else ()
    figure = Drawing(WIDTH_INCHES, _HEIGHT_INCHES, _in_words(lines, total, ceiling_mbps, fair_mbps), "Throughput")
    axes = figure.add_axes((0.085, 0.135, 0.895, 0.655))
    for (name, samples), (colour, dashes, _) in zip(lines, LINES, strict=False):
        axes.plot(*_steps(samples), color=colour, linestyle=dashes, linewidth=2, label=name)
    if total:
        axes.plot(*_steps(total), color=BLACK, linewidth=1.4, label=_TOTAL)
    shown = [samples for _, samples in lines] + ([total] if total else [])
    highest = max([it.throughput_mbps for samples in shown for it in samples] + [ceiling_mbps or 0])
    axes.set(xlim=(0, max(samples[-1].end_s for samples in shown)), ylim=(0, _HEADROOM * highest or 1))
    label_axes(axes, "seconds since the start", "throughput (Mbit/s)")
    # in the legend and not on the line, where words would cover the curves
    if ceiling_mbps is not None:
        label = f"theory: at most {ceiling_mbps:.2f}"
        axes.axhline(ceiling_mbps, color=BLACK, linewidth=1, linestyle=(0, (1, 2)), label=label)
    if fair_mbps is not None:
        label = f"fair share: {fair_mbps:.2f}"
        axes.axhline(fair_mbps, color=BLACK, linewidth=1, linestyle=(0, (5, 2, 1, 2)), label=label)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=_LEGEND_COLUMNS,
        frameon=False,
        fontsize=SMALL_POINTS,
        handlelength=3,
    )
    return figure


def _connections(result: Transfer) -> Iterator[tuple[str, tuple[Sample, ...]]]:
    name = f"{result.flow.source}-{result.flow.destination}"
    if len(result.streams) < 2:
        yield name, result.samples
        return
    for number, stream in enumerate(result.streams, 1):
        yield f"{name}, {number} of {len(result.streams)}", stream.samples


def _steps(samples: Sequence[Sample]) -> tuple[list[float], list[float]]:
    times = [time for it in samples for time in (it.start_s, it.end_s)]
    return times, [rate for it in samples for rate in (it.throughput_mbps,) * 2]


def _sum(lines: Sequence[Sequence[Sample]]) -> tuple[Sample, ...]:
    """The sum over the time that all have in common, in steps where any of them has one."""
    end_s = min(samples[-1].end_s for samples in lines)
    start_s = max(samples[0].start_s for samples in lines)
    cuts = sorted({time for samples in lines for it in samples for time in (it.start_s, it.end_s)})
    # tools end their intervals a few ms apart: between those no step is to be seen
    inner = [time for time in cuts if start_s < time < end_s]
    edges = [start_s]
    for time in [*inner, end_s]:
        if time - edges[-1] > 0.05:
            edges.append(time)
    return tuple(Sample(one, two, sum(_mean(samples, one, two) for samples in lines)) for one, two in pairwise(edges))


def _mean(samples: Sequence[Sample], start_s: float, end_s: float) -> float:
    amount = sum(it.throughput_mbps * max(0.0, min(it.end_s, end_s) - max(it.start_s, start_s)) for it in samples)
    return amount / (end_s - start_s)


def _in_words(
    lines: Sequence[tuple[str, Sequence[Sample]]],
    total: Sequence[Sample],
    ceiling_mbps: float | None,
    fair_mbps: float | None,
) -> str:
    sentences = []
    for name, samples in [*lines, *([(_TOTAL, total)] if total else [])]:
        rates = [it.throughput_mbps for it in samples]
        mean = _mean(samples, samples[0].start_s, samples[-1].end_s)
        sentences.append(f"{name}: {min(rates):.2f} to {max(rates):.2f}, mean {mean:.2f} Mbit/s.")
    if ceiling_mbps is not None:
        sentences.append(f"Theory allows at most {ceiling_mbps:.2f} Mbit/s.")
    if fair_mbps is not None:
        sentences.append(f"The fair share is {fair_mbps:.2f} Mbit/s.")
    return " ".join(["Throughput over time.", *sentences])
