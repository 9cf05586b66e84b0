"""What Lab 10's cells call: predictions, theory and measurements side by side, and a look at tags."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.analysis.sharing import proportional
from linklab.labs import lab10
from linklab.measure import AtOnce, Capture, ConstantRateResult, EchoResult
from linklab.published.switches_loads import fairness_network, senders
from linklab.show import Table, table
from linklab.show.chart import chart, legend, told_apart
from linklab.show.figure import Drawing

__all__ = ["NOTHING", "rtt_figure", "rtt_table", "shares_table", "tags"]

NOTHING = "Nothing is measured yet: run the cells above first."
_NO_NUMBER = "a curve, no number"
_RTT_REMARKS = {
    "inside, 100": "fig. 13",
    "inside, 1440": "fig. 13; four links, each with the whole frame",
    "layer-3 switch, 1440": "fig. 15; routing inside the switch adds no link",
    "router on a stick, 1440": "fig. 17; four times over the trunk, with a tag",
}


def tags(caught: Capture) -> Table:
    """Who sent each captured IPv4 frame to whom, and the VLAN in its tag."""
    rows = []
    for packet in caught.packets:
        if "IP" in packet:
            vlan = packet["Dot1Q"].vlan if "Dot1Q" in packet else None
            rows.append([packet["IP"].src, packet["IP"].dst, packet["IP"].ttl, vlan, len(packet)])
    return table(["from", "to", "TTL", "VLAN in the tag", "bytes captured"], rows)


def rtt_table(predicted_ms: Mapping[str, float | None], runs: Mapping[str, EchoResult | None]) -> Table | str:
    """Predicted, theory, published and measured round trips."""
    if not any(isinstance(run, EchoResult) for run in runs.values()):
        return NOTHING
    rows = []
    for name, way in lab10.RTTS.items():
        run = runs.get(name)
        measured = f"{run.rtt_mean_ms:.3f}" if isinstance(run, EchoResult) else None
        rows.append(
            [name, _three(predicted_ms.get(name)), _three(way.rtt_ms), _NO_NUMBER, measured, _RTT_REMARKS[name]]
        )
    headings = ["round trip (ms)", "predicted", "theory", "published", "measured", "remark"]
    return table(headings, rows)


def shares_table(
    predicted_mbps: Mapping[str, float | None],
    runs: Mapping[str, AtOnce | None],
    stepped: Mapping[str, AtOnce | None],
) -> Table | str:
    """Predicted and proportional shares, and measured ones of senders out of step and in step, in Mbit/s."""
    if not any(isinstance(run, AtOnce) for run in runs.values()):
        return NOTHING
    rows = []
    for setting in lab10.SETTINGS:
        fair = proportional(fairness_network(setting, lab10.RATE_MBPS), senders(setting, lab10.RATE_MBPS))
        for number, theory in enumerate(fair):
            name = f"{setting} h{number + 1}"
            found = [
                run.of(ConstantRateResult)[number].throughput_mbps if isinstance(run, AtOnce) else None
                for run in (runs.get(setting), stepped.get(setting))
            ]
            published = "in proportion" if setting == "30/90" else "in proportion, link nearly full"
            rows.append([name, predicted_mbps.get(name), theory.throughput_mbps, published, *found])
    headings = ["share (Mbit/s)", "predicted", "theory", "published (fig. 25)", "measured", "in exact step"]
    return table(headings, rows)


def rtt_figure(curves: Mapping[str, Mapping[int, float]], title: str) -> Drawing:
    """Return a figure of round trips in ms by payload, a line for each name."""
    words = [
        f"{name}: " + ", ".join(f"{payload} bytes {time_ms:.3f} ms" for payload, time_ms in line.items())
        for name, line in curves.items()
    ]
    figure, axes = chart(f"{title}. {'; '.join(words)}.", x="UDP payload (bytes)", y="round trip (ms)", title=title)
    for name, line, style in told_apart(curves, markers=True):
        axes.plot(list(line), list(line.values()), label=name, **style)
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({payload for line in curves.values() for payload in line}))
    legend(axes)
    return figure


def _three(value: object) -> str | None:
    return f"{value:.3f}" if isinstance(value, int | float) and not isinstance(value, bool) else None
