"""Throughput over time: of tools as they report it, and of flows that ran at once, with their sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.measure import Run, Sample, SimpleperfResult, TcpResult, UdpResult
from linklab.measure.results import results_in
from linklab.show.chart import BLACK, GREY, Points, cannot_draw, chart, legend, sketch_in_words, sketched, told_apart

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_HEADROOM: Final = 1.1
_TOGETHER: Final = "all together"
_LEAST_STEP_S: Final = 0.05
Transfer = TcpResult | UdpResult | SimpleperfResult
Transfers = Transfer | Run | Sequence[Transfer | Run]
"""One result of a transfer, or those of runs and lists. Of a run all others are left out."""
Curves = Mapping[str, Sequence[Sample]]
"""Intervals by name: of a connection, a tool or a flow."""
_WANTED: Final = "those of transfers (TcpFlow, UdpFlow, SimpleperfFlow), or a run that has them"


def throughput(
    curves: Mapping[str, Sequence[Sample] | Transfer] | Transfers,
    *,
    ceiling_mbps: float | None = None,
    fair_mbps: float | None = None,
    duration_s: float | None = None,
    together: bool = False,
    sketch: Points = (),
) -> Drawing:
    """Return a figure of intervals in Mbit/s over seconds, one line for each name.

    Results of transfers, or a run, have a line for each connection; of a run its transfers are drawn.

    ``ceiling_mbps`` is what theory allows (`linklab.network.goodput_ceiling_mbps`), ``fair_mbps`` the fair share of a
    line; ``duration_s`` sets the end of the time axis, so that it stands still while intervals are added; ``together``
    draws the sum as well where there are several lines; ``sketch`` is what a student drew before, seconds and
    Mbit/s. Raises MeasurementError for more lines than can be told apart, and for what has no intervals.
    """
    named = curves if isinstance(curves, Mapping) else _curves(curves)
    shown = {name: samples for name, given in named.items() if (samples := _samples(name, given))}
    total = _sum(list(shown.values())) if together and len(shown) > 1 else ()
    spans = {**shown, **({_TOGETHER: total} if total else {})}
    levels = {
        "theory: at most": (ceiling_mbps, (0, (1, 2))),
        "fair share:": (fair_mbps, (0, (5, 2, 1, 2))),
    }
    figure, axes = chart(
        _in_words(spans, ceiling_mbps, fair_mbps) + sketch_in_words(sketch),
        x="seconds since the start",
        y="throughput (Mbit/s)",
        title="Throughput",
    )
    for name, samples, style in told_apart(shown) if shown else ():
        axes.plot(*_steps(samples), label=name, **style)
    if total:
        axes.plot(*_steps(total), color=BLACK, linewidth=1.4, label=_TOGETHER)
    # in the legend and not at the line, where words would cover the curves
    for words, (value, dashes) in levels.items():
        if value is not None:
            axes.axhline(value, color=BLACK, linewidth=1, linestyle=dashes, label=f"{words} {value:.2f}")
    highest = max([it.throughput_mbps for samples in spans.values() for it in samples] + [ceiling_mbps or 0])
    last_s = max([samples[-1].end_s for samples in spans.values()] + [duration_s or 0])
    axes.set(xlim=(0, last_s or 1), ylim=(0, _HEADROOM * highest or 1))
    sketched(axes, sketch)
    if shown or ceiling_mbps is not None or sketch:
        legend(axes)
    if not shown:
        axes.text(0.5, 0.45, "no interval yet", transform=axes.transAxes, ha="center", color=GREY)
    return figure


def _samples(name: str, given: object) -> tuple[Sample, ...]:
    samples = given.samples if isinstance(given, Transfer) else given
    if not isinstance(samples, Sequence) or not all(isinstance(it, Sample) for it in samples):
        raise cannot_draw(given, f"{name} the intervals of a transfer: its .samples")
    return tuple(samples)


def _curves(results: Transfers) -> Curves:
    curves: dict[str, Sequence[Sample]] = {}
    for name, samples in (
        each for result in results_in(results, Transfer, _WANTED) for each in _connections(result) if each[1]
    ):
        again = sum(other.partition(" (")[0] == name for other in curves)
        curves[f"{name} ({again + 1})" if again else name] = samples
    if not curves:
        raise MeasurementError("there is nothing to draw over time: measure with an interval, say one second")
    return curves


def summed(curves: Curves) -> Curves:
    """Return the sum of all curves as a single one, for a figure in which they could not be told apart."""
    return {f"all {len(curves)} together": _sum([samples for samples in curves.values() if samples])}


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
    """Return the sum over the time that all have in common, in steps where any of them has one."""
    end_s = min(samples[-1].end_s for samples in lines)
    start_s = max(samples[0].start_s for samples in lines)
    cuts = sorted({time for samples in lines for it in samples for time in (it.start_s, it.end_s)})
    # tools end their intervals a few ms apart: between those no step is to be seen
    inner = [time for time in cuts if start_s < time < end_s]
    edges = [start_s]
    for time in [*inner, end_s]:
        if time - edges[-1] > _LEAST_STEP_S:
            edges.append(time)
    return tuple(Sample(one, two, fsum(_mean(samples, one, two) for samples in lines)) for one, two in pairwise(edges))


def _mean(samples: Sequence[Sample], start_s: float, end_s: float) -> float:
    amount = fsum(it.throughput_mbps * max(0.0, min(it.end_s, end_s) - max(it.start_s, start_s)) for it in samples)
    return amount / (end_s - start_s)


def _in_words(curves: Curves, ceiling_mbps: float | None, fair_mbps: float | None) -> str:
    sentences = [f"{name}: {_line_in_words(samples)}." for name, samples in curves.items()] or ["No interval yet."]
    if ceiling_mbps is not None:
        sentences.append(f"Theory allows at most {ceiling_mbps:.2f} Mbit/s.")
    if fair_mbps is not None:
        sentences.append(f"The fair share is {fair_mbps:.2f} Mbit/s.")
    return " ".join(["Throughput over time.", *sentences])


def _line_in_words(samples: Sequence[Sample]) -> str:
    rates = [it.throughput_mbps for it in samples]
    start_s, end_s = samples[0].start_s, samples[-1].end_s
    intervals = f"{len(rates)} interval{'s' if len(rates) > 1 else ''} from {start_s:.1f} to {end_s:.1f} s"
    return f"{intervals}, {min(rates):.2f} to {max(rates):.2f}, mean {_mean(samples, start_s, end_s):.2f} Mbit/s"
