"""The tables and figures of Lab 11. Where nothing is measured yet, one line says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from linklab.analysis import jain_index
from linklab.analysis.congestion import (
    RENO_BETA,
    bbr_mean_queue_packets,
    cubic_gap_s,
    loss_times_s,
    mathis_mbps,
    reno_mean_queue_packets,
    reno_period_s,
    sharing_ratios,
)
from linklab.analysis.tcp_model import Pipe
from linklab.grade.check import Refuse
from linklab.grade.measured import state_of_run
from linklab.grade.path_questions import DATA_BYTES
from linklab.labs import NOTHING
from linklab.labs.lab11.functions import read_looks
from linklab.labs.lab11.rules import (
    CONTROLS,
    FAR,
    NEAR,
    POWERS,
    TOGETHER,
    TOGETHER_S,
    gaps_s,
    highest_rtt_ms,
    mean_queue_packets,
    packet_s,
    pipe_between,
    samples_of,
    the_network,
)
from linklab.labs.tables import runs_table
from linklab.measure import Run, TcpResult
from linklab.show import Table, WindowTrace, table, theory, windows
from linklab.show.theory import Explorer

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

MaybeRun = Run | None


def look_figure(samples: object) -> Drawing | str:
    """Draw window, threshold, queue and round trip as a student sampled them, with theory for a full queue."""
    try:
        looks = read_looks(samples)
    except Refuse:
        return NOTHING
    at_s = tuple(look.at_s - looks[0].at_s for look in looks)
    trace = WindowTrace(
        at_s,
        tuple(look.cwnd for look in looks),
        tuple(look.threshold if math.isfinite(look.threshold) else None for look in looks),
        tuple(look.rtt_ms for look in looks),
        at_s,
        tuple(look.queue for look in looks),
    )
    return _windows({"cwnd of Reno": trace}, pipe_between(NEAR))


def sawtooth(samples: object) -> Explorer | str:
    """Show Reno's window by the model, with sliders, and the student's samples from a loss after slow start on."""
    try:
        looks = read_looks(samples)
    except Refuse:
        return NOTHING
    pipe, rate_mbps = pipe_between(NEAR), the_network().link("B").rate_mbps or 0.0
    full_s = (pipe.base_ms + pipe.full_queue_ms) / 1000
    losses = loss_times_s(((look.at_s, look.again) for look in looks), 3 * full_s)
    since = [(look.at_s - losses[1], look.cwnd) for look in looks if len(losses) > 1 and look.at_s > losses[1] + full_s]
    measured = [at for at, _ in since], [window for _, window in since]
    return theory.sawtooth(rate_mbps, pipe.base_ms, pipe.limit_packets, RENO_BETA, measured)


def controls_figure(runs: Mapping[str, MaybeRun]) -> Drawing | str:
    """Draw window, queue and round trip of each control from h2 to h4, over one time axis."""
    found = {name: WindowTrace.of(run) for name, run in runs.items() if run is not None}
    if not found:
        return NOTHING
    return _windows(found, pipe_between(FAR))


def _windows(traces: Mapping[str, WindowTrace], pipe: Pipe) -> Drawing:
    return windows(
        traces,
        full_packets=pipe.full_window_packets,
        queue_packets=pipe.limit_packets,
        rtts_ms=(pipe.base_ms, pipe.base_ms + pipe.full_queue_ms),
    )


def controls_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Compare the key numbers of each control from h2 to h4, by theory and as measured."""
    return runs_table(
        {name: runs.get(name) for name in CONTROLS},
        ("", lambda name, _: name),
        ("between losses (s), theory", lambda name, _: _gap_theory(name)),
        ("measured", lambda _, run: ", ".join(f"{gap:.1f}" for gap in gaps_s(run)) or "none after the start"),
        ("mean queue (packets), theory", lambda name, _: _queue_theory(name)),
        ("measured", lambda _, run: mean_queue_packets(run)),
        ("mean RTT (ms)", lambda _, run: fmean(sample.rtt_ms for sample in samples_of(run))),
        ("throughput (Mbit/s)", lambda _, run: run.of(TcpResult)[0].throughput_mbps),
        ("sent again (packets)", lambda _, run: run.of(TcpResult)[0].retransmitted_segments),
        ("Mathis (Mbit/s)", lambda name, run: _mathis(run) if name == "reno" else None),
    )


def _gap_theory(name: str) -> str:
    pipe = pipe_between(FAR)
    if name == "reno":
        return f"{reno_period_s(pipe.bdp_packets, pipe.full_window_packets, packet_s(pipe)):.1f}"
    if name == "cubic":
        least, most = cubic_gap_s(pipe.full_window_packets, (pipe.base_ms + pipe.full_queue_ms) / 1000)
        return f"{least:.1f} to {most:.1f}"
    return "-"


def _queue_theory(name: str) -> str:
    pipe = pipe_between(FAR)
    if name == "reno":
        return f"{reno_mean_queue_packets(pipe.bdp_packets, pipe.full_window_packets):.0f}"
    return f"up to {bbr_mean_queue_packets(pipe.bdp_packets)[1]:.0f}" if name == "bbr" else "-"


def _mathis(run: Run) -> float | None:
    """Return the throughput by the law of the square root, for a run's mean round trip and one loss in each period."""
    transfer, gaps = run.of(TcpResult)[0], gaps_s(run)
    if not gaps:
        return None
    sent_packets = fmean(gaps) * transfer.throughput_mbps * 1e6 / 8 / DATA_BYTES
    each = [sample.rtt_ms for sample in samples_of(run) if sample.at_s >= gaps[0]]
    return mathis_mbps(fmean(each), 1 / sent_packets, DATA_BYTES)


def queues_figure(runs: Mapping[int, MaybeRun]) -> Drawing | str:
    """Draw window, queue and round trip of CUBIC from h1 to h3 with each queue."""
    found = {f"queue of {packets}": WindowTrace.of(run) for packets, run in runs.items() if run is not None}
    return windows(found) if found else NOTHING


def queues_table(runs: Mapping[int, MaybeRun]) -> Table | str:
    """Show what each queue gives CUBIC from h1 to h3, and what it costs."""

    def pipe(run: Run) -> Pipe:
        return pipe_between(NEAR, state_of_run(run))

    return runs_table(
        dict(sorted(runs.items())),
        ("queue (packets)", lambda packets, _: packets),
        ("BDP + queue (packets)", lambda _, run: pipe(run).full_window_packets),
        ("RTT, full (ms)", lambda _, run: pipe(run).base_ms + pipe(run).full_queue_ms),
        ("highest RTT (ms)", lambda _, run: highest_rtt_ms(run)),
        ("mean queue (packets)", lambda _, run: mean_queue_packets(run)),
        ("throughput (Mbit/s)", lambda _, run: run.of(TcpResult)[0].throughput_mbps),
        ("sent again (packets)", lambda _, run: run.of(TcpResult)[0].retransmitted_segments),
    )


def _ratio_theory(name: str) -> str:
    if name not in POWERS:
        return "below 1"
    low, high = sharing_ratios(pipe_between(NEAR), pipe_between(FAR), POWERS[name], TOGETHER_S)
    return f"{low:.2f} to {high:.0f}"


def together_table(runs: Mapping[str, MaybeRun]) -> Table | str:
    """Show who got how much of B in each run of several flows, with Jain's index and the ratio by theory."""
    rows = []
    for name in TOGETHER:
        run = runs.get(name)
        if run is None:
            continue
        sent = run.of(TcpResult)
        rates = [result.throughput_mbps for result in sent]
        mixed = name == "mixed"
        whose = [it.flow.congestion if mixed else it.flow.name for it in sent]
        said = ", ".join(f"{who} {rate:.2f}" for who, rate in zip(whose, rates, strict=True))
        by_pair = {it.flow.name: it.throughput_mbps for it in sent}
        theory = "-" if mixed else _ratio_theory(name)
        ratio = None if mixed else by_pair["h1-h3"] / by_pair["h2-h4"]
        rows.append([name, said, theory, ratio, f"{jain_index(rates):.3f}"])
    headings = ["", "throughput (Mbit/s)", "h1-h3 over h2-h4, theory", "measured", "Jain's index"]
    return table(headings, rows) if rows else NOTHING


def depth_table(runs: Mapping[int, MaybeRun]) -> Table | str:
    """Show who got which share of B at each depth of its queue, where all controls share it."""

    def share(control: str) -> Callable[[int, Run], object]:
        return lambda _, run: 100 * _mbps_of(control, run) / sum(it.throughput_mbps for it in run.of(TcpResult))

    return runs_table(
        dict(sorted(runs.items())),
        ("queue (packets)", lambda packets, _: packets),
        ("in BDPs", lambda packets, run: f"{packets / pipe_between(NEAR, state_of_run(run)).bdp_packets:.1f}"),
        *((f"{name} (%)", share(name)) for name in CONTROLS),
        ("sent again by reno, cubic, bbr (packets)", lambda _, run: _sent_again(run)),
    )


def _mbps_of(control: str, run: Run) -> float:
    return sum(it.throughput_mbps for it in run.of(TcpResult) if it.flow.congestion == control)


def _sent_again(run: Run) -> str:
    again = {it.flow.congestion: it.retransmitted_segments for it in run.of(TcpResult)}
    return ", ".join(f"{again[name]}" if name in again else "-" for name in CONTROLS)
