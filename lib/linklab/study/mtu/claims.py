"""The MTU study's findings, judged by a table of study `mtu`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.published.claims import Claim, Judged, Verdict
from linklab.published.mtu_study import CLAIMS
from linklab.study.mtu.runs import DIRECT, GREEDY, PACED, rates_mbps
from linklab.units import ETHERNET_CHECKSUM_BYTES as CHECKSUM_BYTES

Row = Mapping[str, Any]
_CLOSE: Final = 0.01
"""What is called the same: as the study prints three digits."""
_LIGHT: Final = 0.05


@dataclass(frozen=True)
class _Run:
    """The values of one combination, of all its repeats, by metric."""

    frame_bytes: int
    link_mbps: float
    traffic_mbps: float
    sending: str
    values: dict[str, tuple[float, ...]]

    def most(self, metric: str) -> float:
        return max(self.values[metric])

    def least(self, metric: str) -> float:
        return min(self.values[metric])

    @property
    def name(self) -> str:
        return f"{self.frame_bytes} bytes at {self.link_mbps:g}/{self.traffic_mbps:g}"


def judge_mtu(rows: Sequence[Row], form: str = DIRECT) -> tuple[Judged, ...]:
    """Each of the study's claims with a verdict and the numbers behind it, in the study's order.

    `rows` are a table of study `mtu`, whole or short; its runs of one `form` are judged, ``"direct"`` or ``"gre"``.
    Raises MeasurementError where it lacks the runs that a claim is about.
    """
    runs = _runs([row for row in rows if row["form"] == form])
    if not runs:
        raise MeasurementError(f"the table has no runs of form {form}: run study mtu without --only")
    return tuple(_judge(claim, runs) for claim in CLAIMS)


def _judge(claim: Claim, runs: list[_Run]) -> Judged:
    if not claim.testable:
        return claim.judged("not testable here", claim.test)
    verdict, because = _JUDGES[claim.id](runs)
    return claim.judged(verdict, because)


def _first_packets(runs: list[_Run]) -> tuple[Verdict, str]:
    full = _those(runs, lambda run: run.link_mbps == run.traffic_mbps and run.sending == GREEDY)
    over = [run for run in full if run.least("bandwidth_max_mbps") > (1 + _CLOSE) * run.link_mbps]
    most = max(full, key=lambda run: run.most("bandwidth_max_mbps") / run.link_mbps)
    return (
        _verdict(len(over) == len(full)),
        f"in {len(over)} of {len(full)} runs that fill the link; at most {most.most('bandwidth_max_mbps'):.1f} Mbit/s "
        f"({most.name})",
    )


def _settles(runs: list[_Run]) -> tuple[Verdict, str]:
    off = {
        run.name: abs(value / run.traffic_mbps - 1) for run in runs for value in run.values["bandwidth_settled_mbps"]
    }
    worst = max(off, key=lambda name: off[name])
    return _verdict(off[worst] < _CLOSE), f"{100 * off[worst]:.2f} % off at most ({worst})"


def _bandwidth_by_size(runs: list[_Run]) -> tuple[Verdict, str]:
    spreads = []
    for group in _groups(runs):
        values = [value for run in group for value in run.values["bandwidth_settled_mbps"]]
        spreads.append((max(values) - min(values)) / group[0].traffic_mbps)
    return _verdict(max(spreads) < _CLOSE), f"{100 * max(spreads):.2f} % between sizes at most"


def _jitter_by_size(runs: list[_Run]) -> tuple[Verdict, str]:
    groups = [group for group in _groups(runs) if group[0].sending == PACED]
    if not groups:
        raise MeasurementError(f"the table has no {PACED} runs of two sizes: run study mtu without --only")
    spread = max(
        max(run.most("jitter_mean_ms") for run in group) - min(run.least("jitter_mean_ms") for run in group)
        for group in groups
    )
    # the study's mean jitter in Mininet differs by 0.001 ms and more
    return _verdict(spread >= 0.001), f"mean jitter of paced packets differs by {spread:.4f} ms between sizes at most"


def _light_load(runs: list[_Run]) -> tuple[Verdict, str]:
    light = _those(runs, lambda run: run.link_mbps > run.traffic_mbps)
    full = _those(runs, lambda run: run.link_mbps == run.traffic_mbps and run.sending == GREEDY)
    calm = max(run.most("bandwidth_max_mbps") / run.traffic_mbps - 1 for run in light)
    wild = min(run.least("bandwidth_max_mbps") / run.traffic_mbps - 1 for run in full)
    return (
        _verdict(calm <= _LIGHT < wild),
        f"largest bandwidth is {100 * calm:.1f} % above the traffic's on a light link at most, on a full one "
        f"{100 * wild:.1f} % at least",
    )


def _over_capacity(runs: list[_Run]) -> tuple[Verdict, str]:
    # the link counts no checksum: of a frame of 1518 bytes it sees 1514
    lasting = max(
        run.most("bandwidth_settled_mbps") * (run.frame_bytes - CHECKSUM_BYTES) / run.frame_bytes / run.link_mbps
        for run in runs
    )
    burst = max(run.most("burst_bytes") - (run.frame_bytes - CHECKSUM_BYTES) for run in runs)
    return (
        _verdict(lasting > 1.001),
        f"lasting bandwidth is {lasting:.4f} of the link's rate at most; "
        f"once, {burst:.0f} bytes more than a frame pass",
    )


_JUDGES: Final[dict[str, Callable[[list[_Run]], tuple[Verdict, str]]]] = {
    "mtu-first-packets": _first_packets,
    "mtu-settles": _settles,
    "mtu-bandwidth-size": _bandwidth_by_size,
    "mtu-jitter-size": _jitter_by_size,
    "mtu-light-load": _light_load,
    "mtu-over-capacity": _over_capacity,
}


def _verdict(holds: bool) -> Verdict:
    return "confirmed" if holds else "refuted"


def _runs(rows: Sequence[Row]) -> list[_Run]:
    found: dict[tuple[int, str, str], dict[str, list[float]]] = {}
    for row in rows:
        if row["number"] is None:
            values = found.setdefault((row["frame_bytes"], row["rates"], row["sending"]), {})
            values.setdefault(row["metric"], []).append(row["value"])
    return [
        _Run(frame_bytes, *rates_mbps(rates), sending, {name: tuple(each) for name, each in values.items()})
        for (frame_bytes, rates, sending), values in found.items()
    ]


def _those(runs: list[_Run], wanted: Callable[[_Run], bool]) -> list[_Run]:
    chosen = [run for run in runs if wanted(run)]
    if not chosen:
        raise MeasurementError("the table lacks runs that a claim is about: run study mtu without --only")
    return chosen


def _groups(runs: list[_Run]) -> list[list[_Run]]:
    """Runs that differ in their frames' size alone, where there are several."""
    found: dict[tuple[float, float, str], list[_Run]] = {}
    for run in runs:
        found.setdefault((run.link_mbps, run.traffic_mbps, run.sending), []).append(run)
    groups = [group for group in found.values() if len(group) > 1]
    if not groups:
        raise MeasurementError("the table has one size of frames only: run study mtu without --only")
    return groups
