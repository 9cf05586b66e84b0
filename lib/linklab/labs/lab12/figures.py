"""The tables and figures of Lab 12. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from linklab.labs import NOTHING
from linklab.labs.lab12.rules import (
    highest_ms,
    kind_of,
    low_ping_ms,
    page_s,
    pings_ms,
    queue_of,
    rate_mbps,
    upload_of,
    used_percent,
)
from linklab.measure import PageResult, PingResult, Run
from linklab.show import Table, table
from linklab.show.chart import label_axes, legend, panels, told_apart
from linklab.show.figure import Drawing

MaybeRun = Run | None


def queue_figure(runs: Mapping[str, MaybeRun]) -> Drawing | str:
    """What waits at U, and pings, of each run over the same seconds."""
    found = {name: run for name, run in runs.items() if run is not None}
    if not found:
        return NOTHING
    words = " ".join(
        f"{name}: up to {max(it.packets for it in queue_of(run).samples)} packets wait, pings take "
        f"{min(pings_ms(run)):.0f} to {highest_ms(run):.0f} ms."
        for name, run in found.items()
    )
    figure, (queue, ping) = panels(
        f"Packets in the uplink's queue, and pings, over time. {words}", 2, title="Queue and ping", height_inches=5.0
    )
    for name, run, style in told_apart(found):
        samples, sent = queue_of(run).samples, run.of(PingResult)[0]
        queue.plot([it.at_s for it in samples], [it.packets for it in samples], label=name, **style)
        every_s, begin_s = sent.flow.interval_s, sent.flow.start_s
        at_s = [(begin_s + number * every_s, rtt) for number, rtt in enumerate(sent.rtt_ms) if rtt is not None]
        ping.plot([at for at, _ in at_s], [rtt for _, rtt in at_s], label=name, **style)
    last_s = max(queue_of(run).samples[-1].at_s for run in found.values())
    queue.set(xlim=(0, last_s), ylim=(0, None))
    ping.set(xlim=(0, last_s), ylim=(0, None))
    queue.tick_params(labelbottom=False)
    label_axes(queue, "", "queue (packets)")
    label_axes(ping, "seconds", "ping (ms)")
    legend(queue, columns=4)
    return figure


def queue_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """What each run gave the upload, pings and pages."""
    rows = [
        [
            name,
            kind_of(run),
            f"{rate_mbps(run):g}",
            used_percent(run),
            fmean(pings_ms(run)),
            low_ping_ms(run),
            highest_ms(run),
            page_s(run) if run.of(PageResult) else None,
            upload_of(run).retransmitted_segments,
            queue_of(run).marked_packets,
        ]
        for name, run in runs.items()
        if run is not None
    ]
    headings = [
        "",
        "queue",
        "U (Mbit/s)",
        "used (%)",
        "mean ping (ms)",
        "95 of 100 below (ms)",
        "highest ping (ms)",
        "page (s)",
        "sent again (packets)",
        "marked (packets)",
    ]
    return table(headings, rows) if rows else NOTHING
