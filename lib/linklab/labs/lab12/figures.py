"""The tables and figures of Lab 12. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from linklab.labs import NOTHING
from linklab.labs.lab12.rules import (
    highest_ms,
    idle_ms,
    kind_of,
    low_ping_ms,
    modem_rate_mbps,
    page_s,
    pings_ms,
    queue_of,
    rate_mbps,
    the_network,
    upload_of,
    used_percent,
)
from linklab.labs.printed import setting
from linklab.labs.tables import runs_table
from linklab.measure import PageResult, PingResult, Run
from linklab.show import Table, theory
from linklab.show.chart import Curve, add_lines, label_axes, legend, panels
from linklab.show.theory import Explorer

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

MaybeRun = Run | None


def queue_figure(runs: Mapping[str, MaybeRun]) -> Drawing | str:
    """Draw the packets that wait at U, and the pings, of each run over the same seconds."""
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
    add_lines(queue, {name: _queue_line(run) for name, run in found.items()})
    add_lines(ping, {name: _ping_line(run) for name, run in found.items()})
    last_s = max(queue_of(run).samples[-1].at_s for run in found.values())
    queue.set(xlim=(0, last_s), ylim=(0, None))
    ping.set(xlim=(0, last_s), ylim=(0, None))
    queue.tick_params(labelbottom=False)
    label_axes(queue, "", "queue (packets)")
    label_axes(ping, "seconds", "ping (ms)")
    legend(queue, columns=4)
    return figure


def _queue_line(run: Run) -> Curve:
    samples = queue_of(run).samples
    return [it.at_s for it in samples], [it.packets for it in samples]


def _ping_line(run: Run) -> Curve:
    sent = run.of(PingResult)[0]
    begin_s, every_s = sent.flow.start_s, sent.flow.interval_s
    answered = [(begin_s + number * every_s, rtt) for number, rtt in enumerate(sent.rtt_ms) if rtt is not None]
    return [at for at, _ in answered], [rtt for _, rtt in answered]


def queue_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Show what each run gave the upload, pings and pages."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("queue", lambda _, run: kind_of(run)),
        ("U (Mbit/s)", lambda _, run: f"{rate_mbps(run):g}"),
        ("used (%)", lambda _, run: used_percent(run)),
        ("mean ping (ms)", lambda _, run: fmean(pings_ms(run))),
        ("95 of 100 below (ms)", lambda _, run: low_ping_ms(run)),
        ("highest ping (ms)", lambda _, run: highest_ms(run)),
        ("page (s)", lambda _, run: page_s(run) if run.of(PageResult) else None),
        ("sent again (packets)", lambda _, run: upload_of(run).retransmitted_segments),
        ("marked (packets)", lambda _, run: queue_of(run).marked_packets),
    )


def finale_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Show what each run behind a modem gave the upload and pings."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("queue at U", lambda _, run: kind_of(run)),
        ("most packets there", lambda _, run: max(it.packets for it in queue_of(run).samples)),
        ("modem (Mbit/s)", lambda _, run: f"{modem_rate_mbps(run):g}"),
        ("modem used (%)", lambda _, run: used_percent(run, modem_rate_mbps(run))),
        ("95 of 100 below (ms)", lambda _, run: low_ping_ms(run)),
        ("highest ping (ms)", lambda _, run: highest_ms(run)),
    )


def limits(runs: Mapping[str, MaybeRun]) -> Explorer:
    """Show theory's ping behind a full queue with sliders, and as dots the highest ping with each FIFO of the runs."""
    uplink = the_network().link("U")
    fifos = [run for run in runs.values() if run is not None and kind_of(run) in ("netem", "pfifo")]
    measured = [setting(queue_of(run).discipline, "limit") for run in fifos], [highest_ms(run) for run in fifos]
    return theory.full_queue(uplink.rate_mbps or 0.0, idle_ms(the_network()), 60, measured)
