"""Throughput over time: one step per interval that was measured, under what theory allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from linklab.measure import Sample
from linklab.show.chart import BLACK, LINES

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_WIDTH_INCHES, _HEIGHT_INCHES = 7.5, 3.4
_HEADROOM = 1.18
_LEGEND_COLUMNS = 3

Curves = Mapping[str, Sequence[Sample]]
"""Intervals by name: of a connection, a tool or a flow."""


def throughput(curves: Curves, *, ceiling_mbps: float | None = None, duration_s: float | None = None) -> Drawing:
    """A figure of intervals in Mbit/s, one line per name; lines differ in their dashes too.

    ``ceiling_mbps`` draws what theory allows (`linklab.network.goodput_ceiling_mbps`). ``duration_s`` sets the end of
    the time axis, so that it stands still while intervals are added. The figure carries all of it in words as
    ``alt_text``.
    """
    from linklab.show.figure import Drawing

    shown = {name: samples for name, samples in curves.items() if samples}
    figure = Drawing(_WIDTH_INCHES, _HEIGHT_INCHES, _in_words(shown, ceiling_mbps), "Throughput")
    axes = figure.add_axes((0.085, 0.155, 0.895, 0.70))
    for number, (name, samples) in enumerate(shown.items()):
        colour, dashes, _ = LINES[number % len(LINES)]
        times = [time for sample in samples for time in (sample.start_s, sample.end_s)]
        rates = [rate for sample in samples for rate in (sample.throughput_mbps,) * 2]
        axes.plot(times, rates, color=colour, linestyle=dashes, linewidth=2, label=name)
    highest = max([sample.throughput_mbps for samples in shown.values() for sample in samples] + [ceiling_mbps or 0])
    last_s = max([samples[-1].end_s for samples in shown.values()] + [duration_s or 0])
    axes.set(xlim=(0, last_s or 1), ylim=(0, _HEADROOM * highest or 1))
    axes.set_xlabel("seconds since the start")
    axes.set_ylabel("Mbit/s")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    if ceiling_mbps is not None:
        axes.axhline(ceiling_mbps, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
        axes.annotate(
            f"theory: at most {ceiling_mbps:.2f} Mbit/s",
            (1, ceiling_mbps),
            (0, 4),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            zorder=1.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    if shown:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=_LEGEND_COLUMNS, frameon=False, fontsize=9, handlelength=3
        )
    else:
        axes.text(0.5, 0.45, "no interval yet", transform=axes.transAxes, ha="center", color="#555555")
    return figure


def _in_words(curves: Curves, ceiling_mbps: float | None) -> str:
    sentences = [f"Throughput over time, {name}: {_line_in_words(samples)}." for name, samples in curves.items()]
    if not sentences:
        sentences = ["Throughput over time: no interval yet."]
    if ceiling_mbps is not None:
        sentences.append(f"Theory allows at most {ceiling_mbps:.2f} Mbit/s.")
    return " ".join(sentences)


def _line_in_words(samples: Sequence[Sample]) -> str:
    rates = [sample.throughput_mbps for sample in samples]
    count = f"{len(rates)} interval{'s' if len(rates) > 1 else ''}"
    span = f"{samples[0].start_s:.1f} to {samples[-1].end_s:.1f} s"
    return f"{count} from {span}, {min(rates):.2f} to {max(rates):.2f} Mbit/s"
