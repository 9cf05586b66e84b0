"""Networks on which the course report's conclusions come out otherwise than on its own.

``python -m tests.studies.report_variants`` measures them on virtual time (a quarter of an hour) and writes `FOLDER`.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from linklab.network import COURSE, End, Link, Network
from linklab.study import Study, run
from studies.report.study import (
    ONE_BY_ONE,
    PARALLEL,
    PLAIN,
    REPORT_ALONE,
    REPORT_SHARED,
    REPORT_UDP,
    SHARED,
)

FOLDER: Final = Path(__file__).parent / "data" / "report"
_ACCESS: Final[Mapping[str, Any]] = {"rate_mbps": 8, "delay_ms": 1, "queue_packets": 50}


def course(**changed: Mapping[str, Any]) -> Network:
    """Return the course network with other values of some links: ``L2={"rate_mbps": 28}``, ``h1_s1={...}``."""
    by_label = {name.replace("_", "-"): values for name, values in changed.items()}
    links = tuple(link.reshaped(**by_label.pop(link.label, {})) for link in COURSE.links)
    assert not by_label, f"no such links: {by_label}"
    return replace(COURSE, name="course-variant", links=links)


def h8_at_r2() -> Network:
    """Return the course network with h8 at router r2, so that the path from h8 to h9 crosses L2."""
    moved = Link(End("r2", "r2-eth3", "10.0.4.1/24"), End("h8", "h8-eth0", "10.0.4.2/24"))
    links = tuple(moved if "h8" in (link.a.node, link.b.node) else link for link in COURSE.links)
    return replace(COURSE, name="course-variant", links=links)


def _short(study: Study, network: Network, **levels: tuple[str, ...]) -> Study:
    """Return six repeats of few levels, in Linklab's own setting, for ten seconds each."""
    plain = {factor: (level,) for factor, level in PLAIN.items() if factor in study.factors}
    seconds = {factor: (10,) for factor in ("duration_s", "pings") if factor in study.factors}
    belongs = None if study is REPORT_SHARED else study.belongs  # pairs alone too
    short = study.with_levels(**levels, **plain, **seconds)
    return replace(short, testbed=lambda _: network, belongs=belongs, repeats=6)


VARIANTS: Final[Mapping[str, Study]] = {
    "udp-faster-links": _short(
        REPORT_UDP,
        course(L2={"rate_mbps": 40}, L3={"rate_mbps": 40}),
        between=("h1-h4", "h1-h9"),
        asked=("20M", "30M"),
    ),
    "udp-slower-l2": _short(REPORT_UDP, course(L2={"rate_mbps": 28}), asked=("16M", "20M", "25M", "27M")),
    "alone-misconfigured": _short(
        REPORT_ALONE, course(L1={"queue_packets": 36}, L2={"delay_ms": 25}, h1_s1={"delay_ms": 5})
    ),
    "shared-short-queues": _short(
        REPORT_SHARED, course(L2={"queue_packets": 58}, L3={"queue_packets": 20}), pairs=SHARED
    ),
    "shared-slow-access": _short(
        REPORT_SHARED,
        course(h1_s1=_ACCESS, h2_s1=_ACCESS, h3_s1=_ACCESS, r2_h7=_ACCESS),
        pairs=(*SHARED[:3], PARALLEL),
    ),
    "shared-far-hosts": _short(REPORT_SHARED, course(h1_s1={"delay_ms": 20}, h2_s1={"delay_ms": 20}), pairs=SHARED[:2]),
    "shared-long-l3": replace(
        _short(REPORT_SHARED, course(L3={"delay_ms": 40}), pairs=SHARED[1:3]),
        repeats=3,
    ),
    "shared-unequal": replace(
        _short(REPORT_SHARED, course(h3_s1={**_ACCESS, "rate_mbps": 2}, L3={"delay_ms": 40}), pairs=SHARED[:3]),
        repeats=3,
    ),
    "shared-h8-at-r2": _short(REPORT_SHARED, h8_at_r2(), pairs=(*ONE_BY_ONE, SHARED[3])),
}
"""By name: a study of the report's on another network."""


def main(names: list[str]) -> None:
    """Measure the variants, or those that are named, and write their tables."""
    for name in names or VARIANTS:
        study = VARIANTS[name]
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as work:
            table = run(study, work)
        assert not table.missing, table.missing
        (folder / f"{study.name}.csv.xz").write_bytes(lzma.compress(table.csv.encode()))
        print(f"{name}: {len(table)} rows", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
