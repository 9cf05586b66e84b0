"""Finding an unknown bandwidth on random networks: how close, and with how much traffic.

``python -m tools.bench.search [--networks 30]`` prints a Markdown table. All runs on virtual time, so the numbers
are the same on every machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import linklab
from linklab.analysis.searching import bisect, from_train, increase
from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.measure import Prober
from linklab.network import Network, bottleneck, path, payload_rate_mbps
from linklab.network.random_chain import RATE_MBPS, random_chain

INCREASE, HALVING, TRAIN = "plain increase by 1 Mbit/s", "halving 0 to 128 Mbit/s", "train, then one probe"
SEARCHES: Final[Mapping[str, Callable[[Prober], float]]] = {
    INCREASE: increase,
    HALVING: lambda prober: bisect(prober, 0, 128),
    TRAIN: from_train,
}
_BUDGET_BYTES: Final = 2_000_000_000
_MOST_PROBES: Final = 2000


@dataclass(frozen=True)
class Found:
    """What one search gave on one network; rates are of UDP payload. `virtual_s` is how long it took in the lab."""

    search: str
    seed: int
    links: int
    theory_mbps: float
    found_mbps: float
    sent_mb: float
    probes: int
    virtual_s: float

    @property
    def error_percent(self) -> float:
        """Above theory where positive."""
        return 100 * (self.found_mbps / self.theory_mbps - 1)


def truth_mbps(network: Network, payload_bytes: int = 1448) -> float:
    """The payload rate that the bottleneck between h1 and h2 of a random chain carries."""
    return payload_rate_mbps(bottleneck(path(network, "h1", "h2")).rate_mbps or 0, payload_bytes)


def tried(
    seed: int, start: Callable[[Network], Lab], bottleneck_mbps: tuple[float, float] = RATE_MBPS
) -> Iterator[Found]:
    """All searches on the network of a seed, each on a prober of its own; `start` gives the lab, ended in the end."""
    network = random_chain(seed, bottleneck_mbps=bottleneck_mbps)
    links = sum(link.rate_mbps is not None for link in network.links)
    with start(network) as lab:
        for name, search in SEARCHES.items():
            prober = Prober(lab, "h1", "h2", _BUDGET_BYTES, _MOST_PROBES)
            begin_s = lab.now()
            found_mbps = search(prober)
            took_s = lab.now() - begin_s
            sent_mb = prober.sent_bytes / 1e6
            yield Found(name, seed, links, truth_mbps(network), found_mbps, sent_mb, prober.count, took_s)


def as_markdown(results: Sequence[Found]) -> str:
    """One row for each search, then one for each network. Pure."""
    seeds = sorted({found.seed for found in results})
    rows = [f"Unknown bandwidth on {len(seeds)} random networks of 2 to 6 links, virtual time", ""]
    rows += [
        "| search | median error | largest error | median traffic | traffic in all | median probes | median time |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in SEARCHES:
        own = [found for found in results if found.search == name]
        if own:
            errors = [abs(found.error_percent) for found in own]
            rows.append(
                f"| {name} | {median(errors):.2f} % | {max(errors):.2f} % | {median(it.sent_mb for it in own):.2f} MB "
                f"| {sum(it.sent_mb for it in own):.1f} MB | {median(it.probes for it in own):g} "
                f"| {median(it.virtual_s for it in own):.1f} s |"
            )
    rows += ["", "| seed | links | theory (Mbit/s) | " + " | ".join(f"{name}" for name in SEARCHES) + " |"]
    rows.append("| ---: | ---: | ---: |" + " ---: |" * len(SEARCHES))
    for seed in seeds:
        own = [found for found in results if found.seed == seed]
        cells = [f"{found.error_percent:+.2f} %, {found.sent_mb:.2f} MB" for found in own]
        rows.append(f"| {seed} | {own[0].links} | {own[0].theory_mbps:.2f} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.search", description=__doc__)
    parser.add_argument("--networks", type=int, default=30, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=1, metavar="SEED", help="default: %(default)s")
    chosen = parser.parse_args(words)
    if chosen.networks < 1:
        parser.error(f"--networks is {chosen.networks}: choose 1 or more")
    results: list[Found] = []
    try:
        with TemporaryDirectory() as folder:
            for seed in range(chosen.first_seed, chosen.first_seed + chosen.networks):
                results += tried(seed, lambda network: linklab.start(network, "virtual", folder=Path(folder)))
                print(f"network {seed} done", file=sys.stderr, flush=True)
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(as_markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
