"""Searches for an unknown bandwidth as a study: on random networks, how close, and with how much traffic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Final

from linklab.analysis.searching import bisect, from_train, increase
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.labs.lab03.unknown import random_chain
from linklab.measure import Prober
from linklab.network import Network, bottleneck, path, payload_rate_mbps
from linklab.published import Claim
from linklab.study.claims import Finding, Tables
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.study.page import Grid
from tools.bench.page import bench_page

INCREASE, HALVING, TRAIN = "plain increase by 1 Mbit/s", "halving 0 to 128 Mbit/s", "train, then one probe"
SEARCHES: Final[Mapping[str, Callable[[Prober], float]]] = {
    INCREASE: increase,
    HALVING: lambda prober: bisect(prober, 0, 128),
    TRAIN: from_train,
}
ERROR_PERCENT: Final = 2.0
TRAFFIC_SHARE: Final = 0.1
_BUDGET_BYTES: Final = 2_000_000_000
_MOST_PROBES: Final = 2000


def truth_mbps(network: Network, payload_bytes: int = 1448) -> float:
    """Return the payload rate that the bottleneck between h1 and h2 of a random chain carries."""
    return payload_rate_mbps(bottleneck(path(network, "h1", "h2")).rate_mbps or 0, payload_bytes)


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Try all searches on the lab's network, each with a prober of its own."""
    if lab.network is None:
        raise MeasurementError("this lab was started from a topology of Mininet's: start it from a linklab Network")
    truth = truth_mbps(lab.network)
    rows = []
    for name, search in SEARCHES.items():
        prober = Prober(lab, "h1", "h2", _BUDGET_BYTES, _MOST_PROBES)
        start_s = lab.now()
        found_mbps = search(prober)
        rows += [
            Measured("error_percent", 100 * (found_mbps / truth - 1), of=name),
            Measured("sent_megabytes", prober.sent_bytes / 1e6, of=name),
            Measured("probes", prober.count, of=name),
            Measured("duration_s", lab.now() - start_s, of=name),
        ]
    return rows


def testbed(point: Point) -> Network:
    """Return the random network of the point's seed."""
    return random_chain(point.whole("seed"))


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one

STUDY: Final = Study(
    name="search",
    title="Search: an unknown bandwidth on random networks of 2 to 6 links",
    testbed=testbed,
    factors={"seed": tuple(range(1, 31))},
    seed=lambda point: point.whole("seed"),
    measurement=measure,
    metrics=(
        Metric("error_percent", "%", "what was found, above the payload rate that fills the bottleneck's frames"),
        Metric("sent_megabytes", "MB", "what the search sent"),
        Metric("probes", "1", "how often it sent"),
        Metric("duration_s", "s", "how long it took, by the lab's clock"),
    ),
    short={"seed": (1, 2, 3)},
    source="lab 03",
)
CLAIMS: Final = (
    Claim(
        "search-train",
        f"A packet train and one probe find the rate within {ERROR_PERCENT:g} % (median), with at most "
        f"{TRAFFIC_SHARE:.0%} of a plain increase's traffic (all networks together)",
        "lab 03",
        "either",
        "error_percent and sent_megabytes of study search",
    ),
)


def judge_train(tables: Tables) -> Finding:
    """Judge the train by its error and its traffic."""
    error = median(map(abs, _values(tables, "error_percent", TRAIN)))
    # a plain increase costs the square of the rate, so the few fast networks are what it costs
    share = sum(_values(tables, "sent_megabytes", TRAIN)) / sum(_values(tables, "sent_megabytes", INCREASE))
    return Finding(error <= ERROR_PERCENT and share <= TRAFFIC_SHARE, f"{error:.2f} %, {share:.1%}")


def search_grid(tables: Tables) -> Grid:
    """Return each search's error and traffic."""
    cells = []
    for name in SEARCHES:
        errors = [abs(it) for it in _values(tables, "error_percent", name)]
        sent = _values(tables, "sent_megabytes", name)
        cells.append((
            name, str(len(errors)), f"{median(errors):.2f}", f"{max(errors):.2f}", f"{median(sent):.2f}",
            f"{sum(sent):.0f}", f"{median(_values(tables, 'probes', name)):g}",
            f"{median(_values(tables, 'duration_s', name)):.1f}",
        ))  # fmt: skip
    columns = (
        "search", "networks", "median error (%)", "largest error (%)", "median MB", "MB in all", "median probes",
        "median duration (s)",
    )  # fmt: skip
    return Grid(columns, tuple(cells))


def _values(tables: Tables, metric: str, search: str) -> list[float]:
    """Return a value for each network. Raises MeasurementError where one is missing."""
    table = tables["search"]
    rows = table.frame[(table.frame["metric"] == metric) & (table.frame["of"] == search)]
    if missing := set(table.study.factors["seed"]) - set(rows["seed"]):
        raise MeasurementError(f"{len(missing)} networks were not searched by {search}: {table.study.command}")
    return [float(value) for value in rows["value"]]


PAGE: Final = bench_page(
    STUDY, {"Error and traffic of each search": search_grid}, CLAIMS, {"search-train": judge_train}
)
