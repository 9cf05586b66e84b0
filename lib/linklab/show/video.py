"""Figures of a video stream: its rate over time, how times are distributed, what became of the pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.show.chart import (
    GREY,
    SMALL_POINTS,
    WIDTH_INCHES,
    add_lines,
    chart,
    legend,
    lines,
    logarithmic,
    spans,
    stairs,
)

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_PICTURE_PIXELS: Final = 480
_CAPTION_INCHES: Final = 0.45


def rate_over_time(runs: Mapping[str, Sequence[float]], *, limit_kbps: float | None = None) -> Drawing:
    """Return a figure of the bandwidth in each second of runs, in kbit/s, and what a link carries at most.

    Raises MeasurementError as `lines`.
    """
    steps = {name: stairs(pairwise(range(len(values) + 1)), values) for name, values in runs.items()}
    levels = {} if limit_kbps is None else {f"the link carries {limit_kbps:.0f}": limit_kbps}
    longest = max(map(len, runs.values()), default=0)
    words, axis, limits = "Bandwidth, kbit/s in each second", "seconds since the first packet", {"xlim": (0, longest)}
    return lines(words, steps, axis, "bandwidth (kbit/s)", levels, title="Bandwidth", limits=limits)


def similarity_over_time(runs: Mapping[str, Sequence[float]], frames_per_s: int) -> Drawing:
    """Return a figure of the structural similarity (SSIM) of each picture with the one that was sent; 1 is the same.

    Raises MeasurementError as `lines`.
    """
    series = {name: ([at / frames_per_s for at in range(len(values))], values) for name, values in runs.items()}
    title, longest = "Quality of the pictures", max(map(len, runs.values()), default=0)
    limits = {"xlim": (0, longest / frames_per_s), "ylim": (0, 1.03)}
    words, axis, what = f"{title}, SSIM of each picture", "seconds of the video", "SSIM (1 = as sent)"
    return lines(words, series, axis, what, title=title, limits=limits)


def distribution(
    series: Mapping[str, Sequence[float]],
    what: str,
    unit: str,
    *,
    marks: Mapping[str, float] | None = None,
) -> Drawing:
    """Return a figure of the share of packets below each value, on a logarithmic axis.

    ``marks`` are values to point at. A value of 0 has no place on that axis: a line starts at the share that they
    have. Raises MeasurementError for no lines, more than can be told apart, and where all values of a line are 0.
    """
    import numpy

    found = {
        name: list(map(float, numpy.percentile(given, range(101)))) for name, given in series.items() if len(given)
    }
    for name, values in found.items():
        if not any(values):
            raise MeasurementError(f"all values of {name} are 0: there is no distribution to draw")
    said = spans({name: ((), values) for name, values in found.items()})
    words = f"{what}, {unit}, from the least to the largest. {said}."
    figure, axes = chart(words, x=f"{what} ({unit})", y="share of packets (%)", title=what)
    curves = {name: [(it, share) for share, it in enumerate(values) if it > 0] for name, values in found.items()}
    add_lines(axes, {name: ([it for it, _ in curve], [it for _, it in curve]) for name, curve in curves.items()})
    above = [it for curve in curves.values() for it, _ in curve]
    logarithmic(axes, "x", min(above) / 1.2, max(above) * 1.2)
    axes.set_ylim(0, 100)
    for text, value in (marks or {}).items():
        axes.axvline(value, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
        axes.annotate(text, (value, 3), (4, 0), textcoords="offset points", fontsize=SMALL_POINTS, color=GREY)
    legend(axes)
    return figure


def pictures(named: Sequence[tuple[str, bytes]]) -> Drawing:
    """Return a figure of pictures (PNG) side by side, each below its name. Raises MeasurementError for none."""
    from matplotlib.image import imread

    from linklab.show.figure import Drawing

    if not named:
        raise MeasurementError("there is no picture to show: give at least one")
    decoded: list[Any] = [imread(io.BytesIO(data), format="png") for _, data in named]
    tallest = max(image.shape[0] / image.shape[1] for image in decoded)
    height = WIDTH_INCHES / len(named) * tallest + _CAPTION_INCHES
    words = "Pictures side by side: " + "; ".join(name for name, _ in named) + "."
    figure = Drawing(WIDTH_INCHES, height, words, "Pictures", constrained=True, photograph=True)
    panels = figure.subplots(1, len(named), squeeze=False).flat
    for axes, (name, _), image in zip(panels, named, decoded, strict=True):
        # every n-th pixel: a report must not weigh megabytes
        step = max(1, round(image.shape[1] / _PICTURE_PIXELS))
        axes.imshow(image[::step, ::step], interpolation="nearest", aspect="equal")
        axes.set_axis_off()
        axes.set_title(name, fontsize=SMALL_POINTS, pad=4)
    return figure
