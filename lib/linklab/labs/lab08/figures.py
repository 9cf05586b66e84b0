"""The tables and figures of Lab 08. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linklab.analysis.packets import bandwidth_mbps, burst_bytes, steady_rate_mbps
from linklab.labs import NOTHING
from linklab.labs.lab08.rules import FRAMES, LINK_MBPS, SIZES, only_result
from linklab.measure import Capture, TrainResult, layers
from linklab.network.theory import payload_of_frame_bytes
from linklab.published import publication
from linklab.show import Table, table
from linklab.show.chart import BLACK, BLUE, Points, chart, legend, sketch_in_words, sketched
from linklab.show.packets import first_packets, frames
from linklab.units import ETHERNET_CHECKSUM_BYTES

__all__ = ["data_figure", "first_figure", "first_table", "frames_figure"]

if TYPE_CHECKING:
    from scapy.packet import Packet

    from linklab.show.figure import Drawing


def data_figure(runs: object, sketch: Points = ()) -> Drawing | str:
    """Draw the data rate by frame size: theory as a line, the measurement as dots, and the sketch."""
    found = {size: steady_rate_mbps(run.arrivals_s, run.payload_bytes) for size, run in _trains(runs, FRAMES)}
    if not found:
        return NOTHING
    told = ", ".join(f"{rate:.3g} at {size}" for size, rate in found.items())
    figure, axes = chart(
        f"Data in Mbit/s by size of frame, on a link of {LINK_MBPS:g}. Measured: {told}.{sketch_in_words(sketch)}",
        x="frame with its checksum (bytes)",
        y="UDP data (Mbit/s)",
        title="Data by size of frame",
        grid="both",
    )
    sizes = range(FRAMES[0], FRAMES[-1] + 1, 50)
    axes.plot(sizes, [_data_mbps(size) for size in sizes], color=BLACK, linewidth=1.2, label="theory")
    axes.plot(list(found), list(found.values()), color=BLUE, marker="o", linestyle="none", label="measured")
    axes.set(xlim=(0, 1.03 * FRAMES[-1]), ylim=(0, 1.1 * LINK_MBPS))
    sketched(axes, sketch)
    legend(axes)
    return figure


def _data_mbps(size: int) -> float:
    return LINK_MBPS * payload_of_frame_bytes(size) / (size - ETHERNET_CHECKSUM_BYTES)


def first_table(runs: object, calm: object) -> Table | str:
    """Compare the largest bandwidth since the first packet: the study's, measured, and without the burst."""
    without = dict(_trains(calm, SIZES))
    rows = []
    for size, run in _trains(runs, SIZES):
        on_link = size - ETHERNET_CHECKSUM_BYTES
        early = burst_bytes(run.arrivals_s, on_link, LINK_MBPS) - on_link
        study = publication("mtu").rows(
            "figures", frame_bytes=size, link_mbps=10, traffic_mbps=10, quantity="bandwidth_mbps"
        )
        quiet = max(_bandwidth(without[size], size)) if size in without else None
        rows.append([size, *(it["maximum"] for it in study), max(_bandwidth(run, size)), quiet, round(early)])
    headings = ["frame (bytes)", "study: real", "study: Mininet", "measured", "without the burst", "early (bytes)"]
    title = "Largest bandwidth since the first packet, Mbit/s, on 10 Mbit/s"
    return table(headings, rows, title) if rows else NOTHING


def first_figure(runs: object, calm: object = None) -> Drawing | str:
    """Draw the bandwidth over the first packets, a panel for each of the study's sizes."""
    panels = {
        f"{size} bytes": {"Mininet's bucket": list(enumerate(_bandwidth(run, size), 2))}
        for size, run in _trains(runs, SIZES)
    }
    for size, run in _trains(calm, SIZES):
        panels.setdefault(f"{size} bytes", {})["without the burst"] = list(enumerate(_bandwidth(run, size), 2))
    return first_packets(panels, LINK_MBPS) if panels else NOTHING


def frames_figure(inside: object, *outside: object) -> Drawing | str:
    """Draw the first frame inside the tunnel, and the frames that it becomes outside, with all their headers."""
    if not isinstance(inside, Capture) or not inside.pcap or not inside.packets:
        return NOTHING
    rows = {f"at {inside.interface}": [(it.name, it.size_bytes) for it in layers(inside.packets[0])]}
    for caught in outside:
        if isinstance(caught, Capture) and caught.pcap:
            for number, packet in enumerate(_of_first(caught), 1):
                rows[f"at {caught.interface}, frame {number}"] = [(it.name, it.size_bytes) for it in layers(packet)]
    return frames(rows)


def _of_first(caught: Capture) -> list[Packet]:
    """Return the frames outside that the first packet inside makes: a fragment bears the number of its packet."""
    packets = caught.packets
    number = packets[0]["IP"].id
    more = [packet for packet in packets if "IP" in packet and packet["IP"].id == number and number]
    return list(more or packets[:1])


def _bandwidth(run: TrainResult, size: int) -> tuple[float, ...]:
    return bandwidth_mbps(run.arrivals_s, size)


def _trains(runs: object, sizes: tuple[int, ...]) -> list[tuple[int, TrainResult]]:
    given = runs if isinstance(runs, Mapping) else {}
    found = [(size, only_result(given.get(size))) for size in sizes]
    return [(size, run) for size, run in found if isinstance(run, TrainResult) and run.received > 3]
