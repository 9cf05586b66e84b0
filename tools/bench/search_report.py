"""The searches for an unknown bandwidth as a part of the benchmark."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from tools.bench.crew import Crew
from tools.bench.findings import Claim, Findings, Keep, Record, Say, Table, having
from tools.bench.search import INCREASE, SEARCHES, TRAIN, tried
from tools.bench.settings import Settings

NAME, TITLE = "search", "Search: an unknown bandwidth on random networks of 2 to 6 links, on virtual time"
ERROR_PERCENT = 2.0
TRAFFIC_SHARE = 0.1


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each search on each network, as many networks at once as there are cores."""
    networks = 3 if settings.quick else 30
    lock = threading.Lock()
    with Crew(settings.folder) as crew:

        def search(seed: int) -> None:
            for found in tried(seed, crew.start):
                with lock:
                    keep(asdict(found) | {"error_percent": found.error_percent})
            say(f"network {seed} of {networks} done")

        crew.side_by_side(search, range(1, networks + 1), settings.cores)


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """Each search's error and traffic, and whether a train beats the plain increase. Pure."""
    rows = []
    for name in SEARCHES:
        own = having(records, search=name)
        if own:
            errors = [abs(record["error_percent"]) for record in own]
            sent = [record["sent_mb"] for record in own]
            rows.append((
                name, str(len(own)), f"{median(errors):.2f}", f"{max(errors):.2f}", f"{median(sent):.2f}",
                f"{sum(sent):.0f}", f"{median(record['probes'] for record in own):g}",
                f"{median(record['virtual_s'] for record in own):.1f}",
            ))  # fmt: skip
    table = Table(
        "Error and traffic of each search",
        ("search", "networks", "median error, %", "largest error, %", "median MB", "MB in all", "median probes",
         "median virtual s"),
        tuple(rows),
        ("Error: against the payload rate that fills the bottleneck's frames. MB: what the search sent.",),
    )  # fmt: skip
    return Findings(
        (table,) if rows else (), (_claim(having(records, search=TRAIN), having(records, search=INCREASE)),)
    )


def _claim(train: Sequence[Record], increase: Sequence[Record]) -> Claim:
    text = (
        f"A packet train and one probe find the rate within {ERROR_PERCENT:g} % (median), with at most "
        f"{TRAFFIC_SHARE:.0%} of a plain increase's traffic (all networks together)"
    )
    if not train or not increase:
        return Claim.judged(text, None, "")
    error = median(abs(record["error_percent"]) for record in train)
    # a plain increase costs the square of the rate, so the few fast networks are what it costs
    share = sum(record["sent_mb"] for record in train) / sum(record["sent_mb"] for record in increase)
    return Claim.judged(text, error <= ERROR_PERCENT and share <= TRAFFIC_SHARE, f"{error:.2f} %, {share:.1%}")
