"""Figures of a video stream: its rate over time, how times are distributed, what became of the pictures."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.show.chart import GREY, LINES, SMALL_POINTS, WIDTH_INCHES, label_axes, level

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_HEIGHT_INCHES: Final = 3.6
_AXES: Final = (0.1, 0.14, 0.885, 0.66)
_PLOT_WIDTH_PIXELS: Final = 480
_FEW_DECADES: Final = 3
Lines = Mapping[str, Sequence[float]]


def rate_over_time(lines: Lines, *, limit_kbps: float | None = None) -> Drawing:
    """The bandwidth in each second of some runs, by name, in kbit/s; `limit_kbps` is what a link carries at most.

    Raises MeasurementError for no lines, or more than can be told apart.
    """
    figure, axes = _chart(lines, "Bandwidth", "kbit/s in each second", limit_kbps)
    for (name, values), (colour, dashes, _) in zip(lines.items(), LINES, strict=False):
        edges = list(range(len(values) + 1))
        axes.stairs(values, edges, color=colour, linestyle=dashes, linewidth=1.8, label=name, baseline=None)
    axes.set(xlim=(0, max(map(len, lines.values()))), ylim=(0, None))
    if limit_kbps is not None:
        level(axes, limit_kbps, f"the link carries {limit_kbps:.0f}")
    label_axes(axes, "seconds since the first packet", "bandwidth (kbit/s)")
    _legend(axes)
    return figure


def distribution(lines: Lines, what: str, unit: str, *, marks: Mapping[str, float] | None = None) -> Drawing:
    """Which share of packets stays below a value, on a logarithmic axis; lines by name, `marks` are values to point at.

    Values of 0 have no place on that axis: a line begins at the share that they have. Raises MeasurementError as
    `rate_over_time` does, and where all values of a line are 0.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = _chart(lines, what, f"{unit}, from the least to the largest", None)
    for (name, values), (colour, dashes, _) in zip(lines.items(), LINES, strict=False):
        shares = percentiles(values)
        points = [(value, share) for share, value in enumerate(shares) if value > 0]
        if not points:
            raise MeasurementError(f"all values of {name} are 0: there is no distribution to draw")
        axes.plot(*zip(*points, strict=True), color=colour, linestyle=dashes, linewidth=1.8, label=name)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0) if _decades(lines) < _FEW_DECADES else (1.0,)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0, 100)
    for text, value in (marks or {}).items():
        axes.axvline(value, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
        axes.annotate(text, (value, 3), (4, 0), textcoords="offset points", fontsize=SMALL_POINTS, color=GREY)
    label_axes(axes, f"{what} ({unit})", "share of packets (%)")
    _legend(axes)
    return figure


def similarity_over_time(lines: Lines, frames_per_s: int) -> Drawing:
    """The structural similarity (SSIM) of each picture with the one that was sent; 1 is the same.

    Raises MeasurementError as `rate_over_time` does.
    """
    figure, axes = _chart(lines, "Quality of the pictures", "SSIM of each picture", None)
    for (name, values), (colour, dashes, _) in zip(lines.items(), LINES, strict=False):
        times = [number / frames_per_s for number in range(len(values))]
        axes.plot(times, values, color=colour, linestyle=dashes, linewidth=1.6, label=name)
    axes.set(xlim=(0, max(map(len, lines.values())) / frames_per_s), ylim=(0, 1.03))
    label_axes(axes, "seconds of the video", "SSIM (1 = as sent)")
    _legend(axes)
    return figure


def pictures(named: Sequence[tuple[str, bytes]]) -> Drawing:
    """Pictures (PNG) side by side, each below its name. Raises MeasurementError for none."""
    from matplotlib.image import imread

    from linklab.show.figure import Drawing

    if not named:
        raise MeasurementError("there is no picture to show: give at least one")
    decoded: list[Any] = [imread(io.BytesIO(data), format="png") for _, data in named]
    tallest = max(image.shape[0] / image.shape[1] for image in decoded)
    width = WIDTH_INCHES / len(named)
    words = "Pictures side by side: " + "; ".join(name for name, _ in named) + "."
    figure = Drawing(WIDTH_INCHES, width * tallest + 0.45, words, "Pictures")
    share = width * tallest / (width * tallest + 0.45)
    for number, ((name, _), image) in enumerate(zip(named, decoded, strict=True)):
        axes = figure.add_axes(((number + 0.015) / len(named), 0.01, 0.97 / len(named), share * 0.98))
        # every n-th pixel: a report must not weigh megabytes
        step = max(1, round(image.shape[1] / _PLOT_WIDTH_PIXELS))
        axes.imshow(image[::step, ::step], interpolation="nearest", aspect="equal")
        axes.set_axis_off()
        axes.set_title(name, fontsize=SMALL_POINTS, pad=4)
    return figure


def percentiles(values: Sequence[float]) -> list[float]:
    """101 values: the least, the percentiles 1 to 99, the largest. A series of 101 is taken for its percentiles."""
    if len(values) == 101:
        return list(values)
    return [min(values), *quantiles(values, n=100, method="inclusive"), max(values)]


def _decades(lines: Lines) -> float:
    """How many powers of ten the values above 0 span."""
    above = [value for values in lines.values() for value in values if value > 0]
    return math.log10(max(above) / min(above))


def _chart(lines: Lines, title: str, what: str, limit: float | None) -> tuple[Drawing, Any]:
    from linklab.show.figure import Drawing

    if not lines or not all(len(values) > 1 for values in lines.values()):
        raise MeasurementError("there is nothing to draw: give at least one run with more than one value")
    if len(lines) > len(LINES):
        raise MeasurementError(f"{len(lines)} runs in one figure cannot be told apart: give at most {len(LINES)}")
    told = "; ".join(f"{name}: {min(values):.3g} to {max(values):.3g}" for name, values in lines.items())
    words = f"{title}, {what}. {told}." + (f" The link's limit is {limit:.0f}." if limit is not None else "")
    figure = Drawing(WIDTH_INCHES, _HEIGHT_INCHES, words, title)
    return figure, figure.add_axes(_AXES)


def _legend(axes: Any) -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=SMALL_POINTS, handlelength=3.2
    )
