"""The tables and the figure of Lab 17: answers that meet, and queues over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linklab.labs import NOTHING
from linklab.labs.lab17.marking import SETTLED_S
from linklab.labs.lab17.networks import K, lost_packets
from linklab.labs.tables import runs_table
from linklab.measure import PageResult, PingResult, QueueResult, Run
from linklab.show import Table
from linklab.show.chart import lines

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

MaybeRun = Run | None


def answer_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Show how many answers came at once in each run, what the queue lost, and how long the answers took, in ms."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("answers", lambda _, run: len(run.of(PageResult))),
        ("lost (packets)", lambda _, run: lost_packets(run)),
        ("first answer (ms)", lambda _, run: min(it.page_ms[0] for it in run.of(PageResult))),
        ("last answer (ms)", lambda _, run: _last_ms(run)),
        ("goodput (Mbit/s)", lambda _, run: round(8 * _answered_bytes(run) / _last_ms(run) / 1000, 1)),
    )


def _last_ms(run: Run) -> float:
    return max(it.page_ms[0] for it in run.of(PageResult))


def _answered_bytes(run: Run) -> int:
    return sum(it.flow.objects * it.flow.object_bytes for it in run.of(PageResult))


def queue_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Show what waited in the queue beside each transfer, in packets, and how long the mouse took, in ms."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("least queue", lambda _, run: min(_settled(run)[1])),
        ("largest queue", lambda _, run: max(_settled(run)[1])),
        ("ping (ms)", lambda _, run: run.of(PingResult)[0].headline),
    )


def queues(runs: Mapping[str, MaybeRun]) -> Drawing | str:
    """Draw the queue beside each transfer over its last two seconds, and the threshold of marks."""
    found = {name: _settled(run) for name, run in runs.items() if run is not None}
    if not found:
        return NOTHING
    what = "Packets in the queue of leaf1-eth1 beside a transfer"
    return lines(what, found, "seconds", "queue (packets)", {f"K = {K} packets": K}, title="Queues of an elephant")


def _settled(run: Run) -> tuple[list[float], list[float]]:
    samples = [it for it in run.of(QueueResult)[0].samples if it.at_s > SETTLED_S]
    return [it.at_s for it in samples], [it.packets for it in samples]
