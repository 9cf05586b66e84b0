"""The page of the MTU study: its figures 5 to 22 beside ours, and what the first packets and a tunnel tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from linklab.analysis.packets import real_mbps
from linklab.published.mtu_study import FRAME_BYTES, INCONSISTENCIES, RATES_MBPS, MtuQuantity, find
from linklab.show.packets import largest_by_run
from linklab.study.mtu.burst import BYTE, HTB
from linklab.study.mtu.claims import judge_mtu
from linklab.study.mtu.page_causes import first, overhead, reckoning
from linklab.study.mtu.runs import DIRECT, GRE, GREEDY, PACED
from linklab.study.mtu.values import Values, interval
from linklab.study.page import Grid, Picture
from linklab.study.write_page import Chapter, Page, Row
from linklab.units import GRE_OVERHEAD_BYTES

_UNIT: Final = {"bandwidth_mbps": "Mbit/s", "jitter_ms": "ms"}
_RUNS: Final = [(size, *rates) for rates in RATES_MBPS for size in FRAME_BYTES]


def page(tables: Mapping[str, Sequence[Row]]) -> Page:
    """The page, of the tables of studies mtu, burst and gre. Raises MeasurementError where they lack a run."""
    mtu, burst, gre = (Values(name, tables[name]) for name in ("mtu", "burst", "gre"))
    return Page(
        "mtu",
        "Packet size: the MTU study of 2016, repeated",
        _lead(mtu, burst),
        (
            Chapter("Bandwidth, figures 5 to 21", (*_bandwidth(mtu), *_real(mtu))),
            Chapter("Jitter, figures 6 to 22", _jitter(mtu)),
            Chapter("The first packets: why they are faster than the link", first(mtu, burst)),
            Chapter("How the study reckons a bandwidth", reckoning(mtu)),
            Chapter("What GRE adds", overhead(mtu, gre)),
            Chapter("The study's claims", (_claims(tables["mtu"]),)),
            Chapter("Where the study contradicts itself", (_inconsistencies(),)),
        ),
    )


def _lead(mtu: Values, burst: Values) -> str:
    most = max(
        mtu.one("bandwidth_max_mbps", form=DIRECT, frame_bytes=it, rates="10/10", sending=GREEDY) for it in (4370, 7999)
    )
    least = burst.one("burst_bytes", shaper=HTB, burst=BYTE, frame_bytes=1518)
    return (
        f"The study found bandwidths above the link's rate in the first packets of Mininet's runs. We find them as "
        "well "
        f"(up to {most:.1f} Mbit/s on a link of 10 with 4370 bytes), and their cause: the token bucket that emulates "
        "the "
        f"link. With a bucket of one byte, {least:.0f} bytes pass at once, one frame, and the effect is gone. Two "
        "hosts "
        "across a switch and two Mininet networks joined by a GRE tunnel were measured, all nine runs in each, on "
        "virtual time: repeats agree to the last digit. The columns *real* and *Mininet* are the study's, published "
        "figures of hardware and software that no lab here has; *direct* and *GRE* are ours."
    )


def _grid(mtu: Values, quantity: MtuQuantity) -> Grid:
    name = quantity.rpartition("_")
    summaries = [f"{name[0]}_{which}_{name[2]}" for which in ("mean", "min", "max")]
    rows = []
    for size, link, traffic in _RUNS:
        published = [find(size, link, traffic, quantity, platform) for platform in ("real", "virtual")]
        ours = [
            interval(
                *(
                    mtu.one(it, form=form, frame_bytes=size, rates=f"{link}/{traffic}", sending=sending)
                    for it in summaries
                )
            )
            if sending == PACED or link == traffic
            else "-"
            for form in (DIRECT, GRE)
            for sending in (PACED, GREEDY)
        ]
        rows.append(
            (
                str(published[0].figure),
                f"{size} at {link}/{traffic}",
                *(interval(it.mean, it.minimum, it.maximum) for it in published),
                *ours,
            )
        )
    unit = _UNIT[quantity]
    columns = (
        "figure",
        "bytes at link/traffic",
        f"real ({unit})",
        "Mininet",
        "direct, paced",
        "direct, greedy",
        "GRE, paced",
        "GRE, greedy",
    )
    return Grid(columns, tuple(rows), f"Mean (least to largest), in {unit}; *real* and *Mininet* as published.")


def _bandwidth(mtu: Values) -> tuple[str | Grid | Picture, ...]:
    return (
        "A *paced* sender sends a packet when its time has come, a *greedy* one as fast as its socket takes them, so "
        "that the link alone holds them back. The study does not say which its generator does. Ours is the mean "
        "bandwidth since the first packet, at each of 2000 packets, of whole frames with checksum.",
        _grid(mtu, "bandwidth_mbps"),
        "**Where we differ.** Mininet's lasting value is ours to the digits printed, directly. Through GRE a full link "
        "carries less: the link between the PCs has the hosts' rate, and each frame is 38 bytes longer on it. The "
        "study's Mininet column prints 10 and 100 there, so these runs did not cross a tunnel over such a link; that "
        "agrees with its one laptop, and not with its two PCs. The first packets of a paced sender are never faster "
        "than the link here: its time for the second packet is later than the bucket's.",
    )


def _real(mtu: Values) -> tuple[str | Grid, ...]:
    rows = []
    for size in FRAME_BYTES:
        real = find(size, 100, 100, "bandwidth_mbps", "real").mean
        ours = mtu.one("bandwidth_settled_mbps", form=GRE, frame_bytes=size, rates="100/100", sending=PACED)
        rows.append(
            (
                str(size),
                f"{real:g}",
                f"{real_mbps(size, 100):.2f}",
                f"{real_mbps(size, 100, GRE_OVERHEAD_BYTES):.2f}",
                f"{ours:.2f}",
            )
        )
    columns = ("bytes", "real, 100/100 (Mbit/s)", "a real cable's ceiling", "the same with GRE", "ours, GRE")
    note = (
        "A real cable spends 20 bytes more on each frame, for preamble and gap; a virtual one does not, nor a checksum."
    )
    return (
        "**What the real network could carry.** Its means at 100/100 lie just below what a cable carries of frames in "
        "a "
        "GRE tunnel. At 1518 bytes they are 2.7 Mbit/s below what it carries without one. So the tunnel probably stood "
        "in the real topology, where section III.C has it.",
        Grid(columns, tuple(rows), note),
    )


def _jitter(mtu: Values) -> tuple[str | Grid | Picture, ...]:
    runs = [f"{size}\n{link}/{traffic}" for size, link, traffic in _RUNS]
    values: dict[str, list[float | None]] = {
        "study, real": [find(*it, "jitter_ms", "real").maximum for it in _RUNS],
        "study, Mininet": [find(*it, "jitter_ms", "virtual").maximum for it in _RUNS],
    }
    for label, form in (("ours, direct", DIRECT), ("ours, GRE", GRE)):
        values[label] = [
            mtu.one("jitter_max_ms", form=form, frame_bytes=size, rates=f"{link}/{traffic}", sending=PACED)
            for size, link, traffic in _RUNS
        ]
    return (
        "Jitter is that of RFC 4689: by how much the delays of two packets received in a row differ.",
        _grid(mtu, "jitter_ms"),
        Picture(
            "jitter",
            "Largest jitter of paced packets. What is below 0.0001 ms stands on the line.",
            "Largest jitter by run: the study's real and Mininet's values are between 0.03 and 25 ms, ours below 0.04 "
            "ms.",
            lambda: largest_by_run(runs, values, "largest jitter (ms)", least=1e-4),
        ),
        "**Where we differ.** On virtual time no program is ever late, so what is left is the network's own: nothing "
        "directly, and through a full tunnel the time by which a queue grows with each packet. Part of the study's "
        "jitter in "
        "Mininet is probably that of its laptop's scheduler. A greedy sender's jitter says how its packets wait "
        "behind each other "
        "in its own queue, and is none of the network's.",
    )


def _claims(rows: Sequence[Row]) -> Grid:
    judged = zip(judge_mtu(rows, DIRECT), judge_mtu(rows, GRE), strict=True)
    return Grid(
        ("claim", "where", "direct", "because", "GRE", "because"),
        tuple(
            (direct.claim.says, direct.claim.where, direct.verdict, direct.because, gre.verdict, gre.because)
            for direct, gre in judged
        ),
    )


def _inconsistencies() -> Grid:
    return Grid(("where", "what"), tuple((it.where, it.what) for it in INCONSISTENCIES))
