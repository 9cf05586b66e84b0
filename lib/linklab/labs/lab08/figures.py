"""The tables and figures of Lab 08. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Final

from linklab.analysis.packets import (
    MININET_BUCKET_BYTES,
    bandwidth_mbps,
    burst_bytes,
    first_bandwidth_mbps,
    steady_rate_mbps,
)
from linklab.labs.lab08.rules import FRAMES, LATE, LINK_MBPS, SIZES
from linklab.measure import Capture, TrainResult, layers
from linklab.network.mtu_testbeds import payload_bytes
from linklab.published.mtu import find
from linklab.show import Table, table
from linklab.show.figure import Drawing
from linklab.show.packets import first_packets, frames
from linklab.units import ETHERNET_CHECKSUM_BYTES

if TYPE_CHECKING:
    from scapy.packet import Packet

NOTHING: Final = "Nothing is measured yet: run the cells above first."


def data_table(runs: object, predicted_mbps: object) -> Table | str:
    """Data rate by frame size: predicted, theory, measured."""
    rows = []
    for size, run in _trains(runs, FRAMES):
        theory = LINK_MBPS * payload_bytes(size) / (size - ETHERNET_CHECKSUM_BYTES)
        rows.append([size, _number(predicted_mbps, size), theory, steady_rate_mbps(run.arrivals_s, run.payload_bytes)])
    return table(["frame (bytes)", "predicted", "theory", "measured"], rows, "UDP data, Mbit/s") if rows else NOTHING


def first_table(runs: object, calm: object, predicted_mbps: object) -> Table | str:
    """Largest bandwidth since the first packet: predicted, theory, the study's, measured, and without the burst."""
    without = dict(_trains(calm, SIZES))
    rows = []
    for size, run in _trains(runs, SIZES):
        late = size in LATE
        early = burst_bytes(run.arrivals_s, size - ETHERNET_CHECKSUM_BYTES, LINK_MBPS) - (
            size - ETHERNET_CHECKSUM_BYTES
        )
        counted = max(bandwidth_mbps(run.arrivals_s, size, count_first=True))
        remark = f"{counted:.1f} if the first packet is counted" if late else "the second comes right behind the first"
        rows.append(
            [
                size,
                _number(predicted_mbps, size) if late else None,
                first_bandwidth_mbps(2, size, LINK_MBPS, MININET_BUCKET_BYTES) if late else None,
                *(find(size, 10, 10, "bandwidth_mbps", platform).maximum for platform in ("real", "virtual")),
                max(_bandwidth(run, size)),
                *([max(_bandwidth(without[size], size)) if size in without else None] if without else []),
                round(early),
                remark,
            ]
        )
    headings = ["frame (bytes)", "predicted", "theory", "study: real", "study: Mininet", "measured"]
    headings += ["without the burst"] if without else []
    title = "Largest bandwidth since the first packet, Mbit/s, on 10 Mbit/s"
    return table([*headings, "early (bytes)", "remark"], rows, title) if rows else NOTHING


def first_figure(runs: object, calm: object = None) -> Drawing | str:
    """Bandwidth over the first packets, a panel for each of the study's sizes."""
    panels = {
        f"{size} bytes": {"Mininet's bucket": list(enumerate(_bandwidth(run, size), 2))}
        for size, run in _trains(runs, SIZES)
    }
    for size, run in _trains(calm, SIZES):
        panels.setdefault(f"{size} bytes", {})["without the burst"] = list(enumerate(_bandwidth(run, size), 2))
    return first_packets(panels, LINK_MBPS) if panels else NOTHING


def frames_figure(inside: object, *outside: object) -> Drawing | str:
    """The first frames of captures with all their headers: one inside, and those that it becomes outside."""
    if not isinstance(inside, Capture) or not inside.pcap or not inside.packets:
        return NOTHING
    rows = {f"at {inside.interface}": [(it.name, it.size_bytes) for it in layers(inside.packets[0])]}
    for caught in outside:
        if isinstance(caught, Capture) and caught.pcap:
            for number, packet in enumerate(_of_first(caught), 1):
                rows[f"at {caught.interface}, frame {number}"] = [(it.name, it.size_bytes) for it in layers(packet)]
    return frames(rows)


def _of_first(caught: Capture) -> list[Packet]:
    """The frames outside that the first packet inside makes: a fragment bears the number of its packet."""
    packets = caught.packets
    number = packets[0]["IP"].id
    more = [packet for packet in packets if "IP" in packet and packet["IP"].id == number and number]
    return list(more or packets[:1])


def _bandwidth(run: TrainResult, size: int) -> tuple[float, ...]:
    return bandwidth_mbps(run.arrivals_s, size)


def _trains(runs: object, sizes: tuple[int, ...]) -> list[tuple[int, TrainResult]]:
    given = runs if isinstance(runs, Mapping) else {}
    return [(size, run) for size in sizes if isinstance(run := given.get(size), TrainResult) and run.received > 3]


def _number(given: object, size: int) -> float | None:
    value = given.get(size) if isinstance(given, Mapping) else None
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
