"""Figures of a video stream: its rate over time, how times are distributed, what became of the pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.show.chart import GREY, SMALL_POINTS, WIDTH_INCHES, chart, legend, level, logarithmic, told_apart

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_PICTURE_PIXELS: Final = 480
_CAPTION_INCHES: Final = 0.45
Lines = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Percentiles:
    """A distribution by 101 values: the least, the percentiles 1 to 99, the largest.

    Raises MeasurementError for another number of values, or if they are not in order.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) != 101:
            raise MeasurementError(f"{len(self.values)} values are no percentiles: give 101, from the least on")
        if list(self.values) != sorted(self.values):
            raise MeasurementError("these percentiles are not in order: give them from the least to the largest")

    @staticmethod
    def of(values: Sequence[float]) -> Percentiles:
        """Return those of a series of any length, interpolated between neighbours."""
        import numpy

        return Percentiles(tuple(map(float, numpy.percentile(values, range(101)))))


def rate_over_time(lines: Lines, *, limit_kbps: float | None = None) -> Drawing:
    """Return a figure of the bandwidth in each second of runs, in kbit/s, and what a link carries at most.

    Raises MeasurementError for no lines, or more than can be told apart.
    """
    limit = "" if limit_kbps is None else f" The link carries {limit_kbps:.0f} kbit/s at most."
    figure, axes = chart(
        f"Bandwidth, kbit/s in each second. {_extremes(lines)}.{limit}",
        x="seconds since the first packet",
        y="bandwidth (kbit/s)",
        title="Bandwidth",
    )
    for name, values, style in told_apart(lines):
        axes.stairs(values, range(len(values) + 1), label=name, baseline=None, **style)
    axes.set(xlim=(0, max(map(len, lines.values()))), ylim=(0, None))
    if limit_kbps is not None:
        level(axes, limit_kbps, f"the link carries {limit_kbps:.0f}")
    legend(axes)
    return figure


def distribution(
    lines: Mapping[str, Sequence[float] | Percentiles],
    what: str,
    unit: str,
    *,
    marks: Mapping[str, float] | None = None,
) -> Drawing:
    """Return a figure of the share of packets below each value, on a logarithmic axis.

    ``marks`` are values to point at. A value of 0 has no place on that axis: a line starts at the share that they
    have. Raises MeasurementError as `rate_over_time` does, and where all values of a line are 0.
    """
    curves = {
        name: (given if isinstance(given, Percentiles) else Percentiles.of(given)).values
        for name, given in lines.items()
        if isinstance(given, Percentiles) or len(given)
    }
    for name, values in curves.items():
        if not any(values):
            raise MeasurementError(f"all values of {name} are 0: there is no distribution to draw")
    figure, axes = chart(
        f"{what}, {unit}, from the least to the largest. {_extremes(curves)}.",
        x=f"{what} ({unit})",
        y="share of packets (%)",
        title=what,
    )
    for name, values, style in told_apart(curves):
        axes.plot(*zip(*((it, share) for share, it in enumerate(values) if it > 0), strict=True), label=name, **style)
    above = [it for values in curves.values() for it in values if it > 0]
    logarithmic(axes, "x", min(above) / 1.2, max(above) * 1.2)
    axes.set_ylim(0, 100)
    for text, value in (marks or {}).items():
        axes.axvline(value, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
        axes.annotate(text, (value, 3), (4, 0), textcoords="offset points", fontsize=SMALL_POINTS, color=GREY)
    legend(axes)
    return figure


def similarity_over_time(lines: Lines, frames_per_s: int) -> Drawing:
    """Return a figure of the structural similarity (SSIM) of each picture with the one that was sent; 1 is the same.

    Raises MeasurementError as `rate_over_time` does.
    """
    figure, axes = chart(
        f"Quality of the pictures, SSIM of each picture. {_extremes(lines)}.",
        x="seconds of the video",
        y="SSIM (1 = as sent)",
        title="Quality of the pictures",
    )
    for name, values, style in told_apart(lines):
        axes.plot([number / frames_per_s for number in range(len(values))], values, label=name, **style)
    axes.set(xlim=(0, max(map(len, lines.values())) / frames_per_s), ylim=(0, 1.03))
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


def _extremes(lines: Lines) -> str:
    if not lines or not all(len(values) > 1 for values in lines.values()):
        raise MeasurementError("there is nothing to draw: give at least one run with more than one value")
    return "; ".join(f"{name}: {min(values):.3g} to {max(values):.3g}" for name, values in lines.items())
