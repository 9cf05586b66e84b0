"""What the records of the fidelity part say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.bench.course import ROWS, UDP_SHARE, Row
from tools.bench.findings import Claim, Findings, Record, Table, having
from tools.bench.load import LOOPS_PER_CORE
from tools.bench.settings import Settings
from tools.bench.statistics import Sameness, agreement, range_text

TCP_SHARE = 0.98
RTT_TOLERANCE_MS = 0.01
_SENT_SHARE = 0.999
"""Less than this of the offered rate, and the sender did not test what was asked for."""
_LOADS = ("idle", "busy")
_QUANTITIES = (("RTT, mean", "rtt_mean_ms", "ms"), ("TCP", "tcp_mbps", "Mbit/s"), ("UDP", "udp_mbps", "Mbit/s"))


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """Tables for both clocks; verdicts for virtual time alone, because real time also measures the machine."""
    virtual, real = having(records, clock="virtual"), having(records, clock="real")
    tables = []
    if virtual:
        tables += [_table("On virtual time", virtual), _digits(virtual)]
    if real:
        tables.append(_table("In real time, for the contrast: no verdict", real))
    claims = [claim(virtual, settings) for claim in (_rtt, _tcp, _udp, _same)]
    if settings.earlier:
        claims.append(_second_run(virtual, having(settings.earlier, clock="virtual"), settings))
    return Findings(tuple(tables), tuple(claims))


def _rtt(records: Sequence[Record], settings: Settings) -> Claim:
    off_ms = {
        row.name: max(
            # a ping without any answer has no mean, and is off beyond all bounds
            (
                abs(r["rtt_mean_ms"] - row.rtt_floor_ms)
                if r["rtt_mean_ms"] is not None and not r["pings_lost"]
                else 999.0
            )
            for r in having(records, row=row.name)
        )
        for row in ROWS
        if having(records, row=row.name)
    }
    text = (
        f"On virtual time the mean RTT is within {RTT_TOLERANCE_MS} ms of theory on every link and path, no ping lost"
    )
    met = max(off_ms.values()) <= RTT_TOLERANCE_MS if _complete(records, settings) else None
    numbers = f"largest difference {max(off_ms.values()):.4f} ms, {_counted(records)}" if off_ms else ""
    return Claim.judged(text, _refuted(met, off_ms and max(off_ms.values()) > RTT_TOLERANCE_MS), numbers)


def _tcp(records: Sequence[Record], settings: Settings) -> Claim:
    shares = {
        row.name: min(r["tcp_mbps"] for r in found) / row.tcp_ceiling_mbps
        for row in ROWS
        if row.is_link and (found := having(records, row=row.name))
    }
    text = (
        f"On virtual time TCP on each link reaches {TCP_SHARE:.0%} or more of the goodput ceiling, slow start included"
    )
    met = min(shares.values()) >= TCP_SHARE if _complete(records, settings) else None
    numbers = ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
    return Claim.judged(
        text,
        _refuted(met, shares and min(shares.values()) < TCP_SHARE),
        numbers and f"lowest of all repeats: {numbers}",
    )


def _udp(records: Sequence[Record], settings: Settings) -> Claim:
    lost = sum(r["udp_lost_packets"] for r in records)
    sent = sum(r["udp_sent_packets"] for r in records)
    slow = [r for r in records if r["udp_sent_mbps"] < _SENT_SHARE * r["udp_offered_mbps"]]
    met = lost == 0 and not slow if _complete(records, settings) else None
    numbers = f"{lost} of {sent} packets lost, {_counted(records)}" if records else ""
    if slow:
        numbers += f"; {len(slow)} times less was sent than asked for"
    text = f"On virtual time UDP at {UDP_SHARE:.0%} of the bottleneck loses nothing"
    return Claim.judged(text, _refuted(met, bool(lost or slow)), numbers)


def _same(records: Sequence[Record], settings: Settings) -> Claim:
    text = (
        "On virtual time RTT, TCP and UDP have the same three digits in every fresh lab, idle and busy, and, measured "
        "again in a lab, the same idle and busy"
    )
    return _agreeing(text, records, _complete(records, settings))


def _second_run(records: Sequence[Record], earlier: Sequence[Record], settings: Settings) -> Claim:
    text = "The same three digits also together with those of an earlier run of the benchmark"
    return _agreeing(text, [*records, *earlier], bool(earlier) and _complete(records, settings))


def _agreeing(text: str, records: Sequence[Record], complete: bool) -> Claim:
    agreements = {
        f"{row.name} {label}{'' if round == 0 else f' again ({round})'}": agreement(values)
        for row in ROWS
        for label, key, _ in _QUANTITIES
        for round in _rounds(records)
        if (values := _values(records, row, key, round=round))
    }
    different = [name for name, found in agreements.items() if found.sameness is Sameness.DIFFERENT]
    edges = [name for name, found in agreements.items() if found.sameness is Sameness.EDGE]
    numbers = f"{len(agreements) - len(different) - len(edges)} of {len(agreements)} the same"
    for what, names in (("on a rounding edge", edges), ("different", different)):
        if names:
            numbers += f", {len(names)} {what} ({', '.join(names)})"
    met = not different if complete else None
    return Claim.judged(text, _refuted(met, bool(different)), numbers if agreements else "")


def _rounds(records: Sequence[Record]) -> list[int]:
    """0 is the first measurement of a fresh lab, 1 the second in the same lab, and so on."""
    return sorted({record["round"] for record in records})


def _refuted(met: bool | None, against: object) -> bool | None:
    """Records that do not suffice to confirm a claim may still refute it."""
    return False if met is None and against else met


def _complete(records: Sequence[Record], settings: Settings) -> bool:
    """Whether every row was measured in as many fresh labs as was asked for, idle and busy."""
    return all(
        len(having(records, row=row.name, load=load, round=0)) >= settings.repeats for row in ROWS for load in _LOADS
    )


def _counted(records: Sequence[Record]) -> str:
    return " and ".join(
        f"{len(having(records, load=load, row=ROWS[0].name))} repeats {load}"
        for load in _LOADS
        if having(records, load=load)
    )


def _values(records: Sequence[Record], row: Row, key: str, **labels: Any) -> list[float]:
    return [r[key] for r in having(records, row=row.name, **labels) if r[key] is not None]


def _table(title: str, records: Sequence[Record]) -> Table:
    rows = []
    for row in ROWS:
        for load in _LOADS:
            found = having(records, row=row.name, load=load)
            if not found:
                continue
            tcp = [r["tcp_mbps"] for r in found]
            lost, sent = (sum(r[f"udp_{what}_packets"] for r in found) for what in ("lost", "sent"))
            rows.append((
                row.name, load, str(len(found)),
                f"{row.rtt_floor_ms:.3f}", range_text(_values(found, row, "rtt_mean_ms"), 3),
                f"{row.tcp_ceiling_mbps:.3f}", range_text(tcp, 3), f"{min(tcp) / row.tcp_ceiling_mbps:.1%}",
                f"{row.udp_offered_mbps:.3f}", range_text(_values(found, row, "udp_mbps"), 3), f"{lost} of {sent}",
            ))  # fmt: skip
    headings = (
        "from, to", "machine", "repeats", "RTT theory, ms", "RTT mean, ms", "TCP ceiling, Mbit/s", "TCP, Mbit/s",
        "lowest / ceiling", "UDP offered, Mbit/s", "UDP, Mbit/s", "UDP packets lost",
    )  # fmt: skip
    return Table(
        title,
        headings,
        tuple(rows),
        (
            f"min..max over the repeats. Busy: {LOOPS_PER_CORE} endless loops on every core. Rates are of the payload "
            "at the receiver, over the receiver's own time: slow start lowers TCP's, and the way there and back UDP's.",
            "UDP's offered rate fills 95 % of the bottleneck with Ethernet frames: rate * 0.95 * 1472 / 1514.",
        ),
    )


def _digits(records: Sequence[Record]) -> Table:
    rows = []
    for round in _rounds(records):
        for row in ROWS:
            for label, key, unit in _QUANTITIES:
                if not (values := _values(records, row, key, round=round)):
                    continue
                found = agreement(values)
                by_load = (_values(records, row, key, round=round, load=load) for load in _LOADS)
                rows.append((
                    "fresh" if round == 0 else f"again ({round})", row.name, f"{label}, {unit}", str(len(values)),
                    *(range_text(part, 4) for part in by_load),
                    " / ".join(f"{value:#.3g}" for value in found.rounded),
                    f"{found.spread:.3f}", found.sameness.value,
                ))  # fmt: skip
    headings = ("lab", "from, to", "quantity", "values", "idle", "busy", "to three digits", "spread", "verdict")
    return Table(
        "The same three digits, on virtual time",
        headings,
        tuple(rows),
        (
            "min..max. fresh: the first measurement of a lab of its own, for every repeat. again: the same measurement "
            "once more in the first of these labs, idle and busy. It begins at another instant, and where TCP loses "
            "packets that alone may change a third digit: so it is compared with its like. Spread: largest less "
            "smallest, in units of the third digit.",
            "same: all values round to one number. edge: they round to two, but lie within a tenth of the third "
            "digit's unit, so that they differ by where the edge of the rounding falls. different: anything else.",
        ),
    )
