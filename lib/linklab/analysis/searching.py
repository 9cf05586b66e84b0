"""Find the rate that a path carries by trying rates one after the other: the baseline that other searches are to beat.

A rate fits if nothing was lost, as in RFC 2544, section 26.1. That signal is late: a queue of q packets swallows
``q * L`` bits before the first is lost, so a probe of d seconds at a rate up to ``q * L / d`` too high loses nothing.
"""

from __future__ import annotations

from typing import Final, Protocol

from linklab.errors import MeasurementError

PAYLOAD_BYTES: Final = 1448


class ProbeLoss(Protocol):
    """The result of a probe at one rate."""

    @property
    def loss_percent(self) -> float:
        """The share of packets that did not arrive."""
        ...


class Probing(Protocol):
    """What a search may do: send at a rate. `linklab.measure.prober.Prober` is one."""

    def send(self, rate_mbps: float, duration_s: int = 1) -> ProbeLoss:
        """Send for whole seconds at a payload rate in Mbit/s."""
        ...


def increase(
    prober: Probing, first_mbps: float = 1, step_mbps: float = 1, most_mbps: float = 1000, stray_percent: float = 0
) -> float:
    """Raise the rate step by step until something is lost; return the last rate without loss, in Mbit/s.

    A loss of up to `stray_percent` counts as none. This takes about ``C**2 / (2 * step)`` of traffic for a path of C.
    Raises MeasurementError if the first rate is lost already, or if `most_mbps` still fits.
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
