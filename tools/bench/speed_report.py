"""What the records of the speed part say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tools.bench.findings import Claim, Findings, Record, Table, having
from tools.bench.settings import Settings
from tools.bench.speed import CASES

AT_LEAST = 10.0


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The rates of every load, and the verdict on the five test cases."""
    tables = [table for table in (_rates(records), _steps(records)) if table.rows]
    return Findings(tuple(tables), (_cases(records, settings),))


def _cases(records: Sequence[Record], settings: Settings) -> Claim:
    text = (
        f"At least {AT_LEAST:g} virtual seconds for each second on the wall, over the five test cases of the course "
        f"report, on all cores (here {settings.cores})"
    )
    rates = {record["labs"]: record["virtual_s"] / record["wall_s"] for record in having(records, load=CASES)}
    numbers = ", ".join(f"{rate:.1f} with {_at_once(labs)}" for labs, rate in rates.items())
    if settings.quick and numbers:
        numbers += f" (--quick: {settings.case_s} s a flow in place of 25, so that starting the tools weighs more)"
    met = rates[settings.cores] >= AT_LEAST if settings.cores in rates else None
    return Claim.judged(text, met, numbers)


def _at_once(labs: int) -> str:
    return "one lab" if labs == 1 else f"{labs} labs at once"


def _rates(records: Sequence[Record]) -> Table:
    rows = [
        (
            record["load"],
            str(record["labs"]),
            f"{record['virtual_s']:.1f}",
            f"{record['wall_s']:.2f}",
            f"{record['virtual_s'] / record['wall_s']:.2f}",
            f"{record['virtual_s'] / record['wall_s'] / record['labs']:.2f}",
        )
        for record in records
    ]
    return Table(
        "Virtual seconds for each second on the wall",
        ("load", "labs at once", "virtual s, all labs", "wall s", "virtual / wall", "virtual / wall, each core"),
        tuple(rows),
        (
            "h1-h4; four flows: h1-h4, h2-h5, h3-h6, h7-h9. Each lab is pinned to a core of its own. Virtual "
            "seconds are those in which flows send; the wall's also start the tools and wait for the last packets, but "
            "do not start the lab. The test cases are spread "
            "over the labs, the other loads run in each of them.",
        ),
    )


def _steps(records: Sequence[Record]) -> Table:
    found = having(records, load=CASES, labs=1)
    rows = []
    for case in sorted({step["case"] for record in found for step in record["steps"]}):
        mine = having([step for record in found for step in record["steps"]], case=case)
        virtual_s, wall_s = (sum(step[key] for step in mine) for key in ("virtual_s", "wall_s"))
        rows.append((
            str(case), ", ".join(step["step"] for step in mine), f"{virtual_s:.1f}", f"{wall_s:.2f}",
            f"{virtual_s / wall_s:.2f}",
        ))  # fmt: skip
    return Table(
        "The five test cases on one core",
        ("case", "what ran", "virtual s", "wall s", "virtual / wall"),
        tuple(rows),
    )
