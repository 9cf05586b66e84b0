"""Find the rate that a path carries by trying rates, with as little traffic as possible.

A rate fits if nothing was lost, as in RFC 2544, section 26.1. That signal is late: a queue of q packets swallows
``q * L`` bits before the first is lost, so a probe of d seconds at a rate up to ``q * L / d`` too high loses nothing.
Longer probes help and cost; a packet train (`linklab.analysis.packets`) shows the rate without a queue's help.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from linklab.analysis.packets import steady_rate_mbps
from linklab.errors import MeasurementError

PAYLOAD_BYTES: Final = 1448
_TRAIN_PACKETS: Final = 60
_BELOW: Final = 0.98
_MOST_HALVINGS: Final = 12
"""From 98 % of what a train shows, or from the end of a range that begins at 0, down to a 4096th of it."""


class ProbeLoss(Protocol):
    """The result of a probe at one rate."""

    @property
    def loss_percent(self) -> float:
        """The share of packets that did not arrive."""
        ...


class Probing(Protocol):
    """What a search may do: send at a rate, send a train. `linklab.measure.prober.Prober` is one."""

    def send(self, rate_mbps: float, duration_s: int = 1) -> ProbeLoss:
        """Send for whole seconds at a payload rate in Mbit/s."""
        ...

    def train(self, packets: int = 50, payload_bytes: int = PAYLOAD_BYTES) -> Sequence[float]:
        """Send a train back to back; return the times of arrival in seconds, in order."""
        ...


def increase(
    prober: Probing, first_mbps: float = 1, step_mbps: float = 1, most_mbps: float = 1000, stray_percent: float = 0
) -> float:
    """Raise the rate step by step until something is lost; return the last rate without loss, in Mbit/s.

    A loss of up to `stray_percent` counts as none. This takes about ``C**2 / (2 * step)`` of traffic for a path of C:
    the baseline that a search is to beat. Raises MeasurementError if the first rate is lost already, or if `most_mbps`
    still fits.
    """
    rate_mbps, fitted_mbps = first_mbps, None
    while rate_mbps <= most_mbps:
        lost_percent = prober.send(rate_mbps).loss_percent
        if lost_percent > stray_percent:
            if fitted_mbps is None:
                raise MeasurementError(
                    f"{first_mbps:g} Mbit/s is too much already ({lost_percent:.2g} % were lost): begin lower"
                )
            return fitted_mbps
        rate_mbps, fitted_mbps = rate_mbps + step_mbps, rate_mbps
    raise MeasurementError(f"nothing was lost up to {most_mbps:g} Mbit/s: look further up")


def bisect(prober: Probing, low_mbps: float, high_mbps: float, resolution: float = 0.02, duration_s: int = 1) -> float:
    """Halve a range until it is narrower than `resolution` of its upper end; return the highest rate without loss.

    `low_mbps` is taken to fit, and `high_mbps` not to. Raises MeasurementError unless 0 <= low < high, unless the
    resolution is above 0, and if nothing fits down to a 4096th of a range that begins at 0.
    """
    if not resolution > 0:
        raise MeasurementError(f"the resolution is {resolution}: give a share of the rate above 0")
    if not 0 <= low_mbps < high_mbps:
        raise MeasurementError(f"the range is {low_mbps:g} to {high_mbps:g} Mbit/s: give a lower and a higher rate")
    least_mbps = high_mbps / 2**_MOST_HALVINGS
    while high_mbps - low_mbps > resolution * high_mbps:
        if high_mbps < least_mbps and low_mbps == 0:
            raise MeasurementError(
                f"packets were lost even at {high_mbps:.2g} Mbit/s: does the path lose packets by itself?"
            )
        rate_mbps = (low_mbps + high_mbps) / 2
        if prober.send(rate_mbps, duration_s).loss_percent > 0:
            high_mbps = rate_mbps
        else:
            low_mbps = rate_mbps
    return low_mbps


def from_train(prober: Probing) -> float:
    """Return the rate that a train shows, in Mbit/s of payload, confirmed by a probe just below it.

    Where the probe is lost (other traffic on the path, a policer, a bucket that swallowed the train), the rate is
    halved until a probe fits, and looked for from there on: what is returned then was probed itself. Raises
    MeasurementError if none fits.
    """
    guess_mbps = steady_rate_mbps(prober.train(_TRAIN_PACKETS, PAYLOAD_BYTES), PAYLOAD_BYTES)
    high_mbps = _BELOW * guess_mbps
    if prober.send(high_mbps).loss_percent == 0:
        return guess_mbps
    for _ in range(_MOST_HALVINGS):
        low_mbps = high_mbps / 2
        if prober.send(low_mbps).loss_percent == 0:
            return bisect(prober, low_mbps, high_mbps)
        high_mbps = low_mbps
    raise MeasurementError(
        f"packets were lost even at {high_mbps:.2g} Mbit/s, and a train showed {guess_mbps:.4g}: does the path lose "
        "packets by itself?"
    )
