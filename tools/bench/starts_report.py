"""What the records of the starts part say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tools.bench.findings import Claim, Findings, Record, Table, having
from tools.bench.settings import Settings
from tools.bench.starts import LINKLAB, PLAIN
from tools.bench.statistics import growth_exponent, median, seconds_text

SHARE = 1 / 5
NEAR_LINEAR = 1.2
"""The largest exponent that is called near linear: 200 nodes take at most 5.3 times as long as 50."""
LARGEST = 200
_LARGE = 50
"""Growth is judged from this size on: below it, what does not grow at all hides it."""
_HEADINGS = (
    "network", "nodes", "way", "repeats", "up", "of plain", "ms a node", "with boot", "first answers", "stop",
)  # fmt: skip


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The table of starts and stops, the growth of both ways, and verdicts on the course network and the growth."""
    done = [record for record in records if "failed" not in record]
    tables = [table for table in (_table(records), _growth(done)) if table.rows]
    claims = [_course(done), *(_near_linear(shape, done, settings) for shape in ("chain", "tree"))]
    return Findings(tuple(tables), tuple(claims))


def boot_s(records: Sequence[Record]) -> float:
    """What booting the guest took, the median of all plain starts; 0 if there was none."""
    boots = [record["boot_s"] for record in records if "boot_s" in record]
    return median(boots) if boots else 0.0


def up_s(records: Sequence[Record], way: str, shape: str, nodes: int) -> list[float]:
    """From the booted guest to the network that is up, for every start.

    Plain Mininet's was timed so. Linklab's start is one call: the median boot is taken off it.
    """
    found = having(records, way=way, shape=shape, nodes=nodes)
    if way == PLAIN:
        return [record["start_s"] - record["boot_s"] for record in found]
    return [max(record["start_s"] - boot_s(records), 0.001) for record in found]


def _course(records: Sequence[Record]) -> Claim:
    text = "The course network is up, read back and ready in at most a fifth of plain Mininet's time, same runtime"
    found = {way: having(records, way=way, shape="course") for way in (LINKLAB, PLAIN)}
    if not all(found.values()):
        return Claim.judged(text, None, "")
    nodes = found[PLAIN][0]["nodes"]
    ours_s, plain_s = (median(up_s(records, way, "course", nodes)) for way in (LINKLAB, PLAIN))
    whole = [median([record["start_s"] for record in found[way]]) for way in (LINKLAB, PLAIN)]
    answered = [median([record["start_s"] + record["answer_s"] for record in found[way]]) for way in (LINKLAB, PLAIN)]
    numbers = (
        f"{ours_s:#.3g} s against {plain_s:#.3g} s: {ours_s / plain_s:.1%}; with the guest's boot {whole[0]:#.3g} and "
        f"{whole[1]:#.3g} s: {whole[0] / whole[1]:.1%}; and with the first answer of every host's shell "
        f"{answered[0]:#.3g} and {answered[1]:#.3g} s: {answered[0] / answered[1]:.1%}"
    )
    return Claim.judged(text, ours_s <= SHARE * plain_s, numbers)


def _near_linear(shape: str, records: Sequence[Record], settings: Settings) -> Claim:
    text = f"A {shape}'s start grows near linearly to {LARGEST} nodes (exponent at most {NEAR_LINEAR})"
    sizes, times_s = _medians(shape, LINKLAB, records, _LARGE)
    if LARGEST not in sizes or len(sizes) < 2:
        why = f"--quick stops at {max(settings.sizes)} nodes" if settings.quick else ""
        return Claim.judged(text, None, why)
    exponent = growth_exponent(sizes, times_s)
    per_node = ", ".join(
        f"{1000 * time_s / size:.2f} ms at {size}" for size, time_s in zip(sizes, times_s, strict=True)
    )
    numbers = f"exponent {exponent:.2f} from {sizes[0]} nodes on; per node {per_node}"
    return Claim.judged(text, exponent <= NEAR_LINEAR, numbers)


def _medians(shape: str, way: str, records: Sequence[Record], least: int = 0) -> tuple[list[int], list[float]]:
    """The sizes that came up, and the median time of each."""
    sizes = sorted({record["nodes"] for record in having(records, shape=shape, way=way) if record["nodes"] >= least})
    return sizes, [median(up_s(records, way, shape, size)) for size in sizes]


def _table(records: Sequence[Record]) -> Table:
    done = [record for record in records if "failed" not in record]
    kinds = list(dict.fromkeys((record["shape"], record["nodes"]) for record in records))
    rows = []
    for shape, nodes in kinds:
        times_s = {way: up_s(done, way, shape, nodes) for way in (LINKLAB, PLAIN)}
        for way in (LINKLAB, PLAIN):
            found = having(done, way=way, shape=shape, nodes=nodes)
            failures = [r["failed"] for r in having(records, way=way, shape=shape, nodes=nodes) if "failed" in r]
            if not found:
                if failures:
                    rows.append((shape, str(nodes), way, "0", f"failed: {failures[0]}", *["-"] * 5))
                continue
            both = all(times_s.values()) and way == LINKLAB
            ratio = f"{median(times_s[LINKLAB]) / median(times_s[PLAIN]):.1%}" if both else ""
            rows.append((
                shape, str(nodes), way, f"{len(found)}" + (f" ({len(failures)} failed)" if failures else ""),
                seconds_text(times_s[way]), ratio, f"{1000 * median(times_s[way]) / nodes:.2f}",
                seconds_text([r["start_s"] for r in found]),
                seconds_text([r["start_s"] + r["answer_s"] for r in found]),
                seconds_text([r["stop_s"] for r in found]),
            ))  # fmt: skip
    return Table(
        "Start and stop, medians in seconds",
        _HEADINGS,
        tuple(rows),
        (
            "Up: from the booted guest on. Linklab's includes the read-back and the comparison; it is one call, less "
            f"the median boot ({boot_s(done):.2f} s). First answers: with boot, until every host's shell has answered "
            "a command; Linklab opens a shell when it is first needed, so this column compares like with like.",
            "Stop: until nothing is left, the guest included. Plain Mininet gets forwarding and routes by commands; "
            "it reads nothing back. In every network the first host then reached the last.",
        ),
    )


def _growth(records: Sequence[Record]) -> Table:
    rows = []
    for shape in ("chain", "tree"):
        for way in (LINKLAB, PLAIN):
            sizes, times_s = _medians(shape, way, records)
            large = _medians(shape, way, records, _LARGE)
            if len(sizes) >= 2:
                exponent = f"{growth_exponent(*large):.2f}" if len(large[0]) >= 2 else "-"
                spoken = ", ".join(map(str, sizes))
                rows.append((shape, way, spoken, f"{growth_exponent(sizes, times_s):.2f}", exponent))
    return Table(
        "Growth of the start: the exponent b of time = a * nodes ^ b (1 is linear)",
        ("network", "way", "nodes", "exponent, all sizes", f"exponent, {_LARGE} nodes and more"),
        tuple(rows),
    )
