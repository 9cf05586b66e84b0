"""Judges of what we expect of a film over a ring in which a cable fails: the claims are ours, and no paper's."""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, Tables, by_repeat, difference, every, share
from studies.outage.study import BFD, DETECTIONS, NAMES, QUICK, STATIC, USUAL

REACTION_MS: Final = 50
"""What routers need besides detection, as Lab 15 allows: beats of the lab's clock, the shortest paths, and packets on
the cable.
"""


def _theory(tables: Tables) -> Finding:
    """A gap begins with the last packet before the failure and ends with the first one after it."""
    table = tables["outage"]
    outcomes, told = [], []
    for routing in table.levels("routing"):
        if routing not in DETECTIONS:
            continue
        expected = DETECTIONS[str(routing)]
        gap, spacing = (table.lookup(it, routing=routing) for it in ("gap_ms", "spacing_ms"))
        pairs = by_repeat((gap, spacing))
        kept = [expected.low_ms <= it <= expected.high_ms + REACTION_MS + between for it, between in pairs]
        found = share(kept, gap)
        outcomes.append(found.holds)
        told.append(f"{NAMES[str(routing)]}: {found}; {gap.low:.0f} to {gap.high:.0f} ms")
    if not outcomes:
        raise MeasurementError(f"theory has bounds for {' and '.join(DETECTIONS)}: --set routing={QUICK}")
    return Finding(every(outcomes), "; ".join(told))


def _helps(tables: Tables) -> Finding:
    table = tables["outage"]
    routing = QUICK if QUICK in table.levels("routing") else USUAL
    static, ospf = (table.lookup("gap_ms", routing=it) for it in (STATIC, routing))
    found = share([one < other for one, other in by_repeat((ospf, static))], ospf)
    return Finding(found.holds, f"{found}; by {difference(static, ospf)} ms with {NAMES[routing]}")


def _spares(tables: Tables) -> Finding:
    spoilt = {it: tables["outage"].lookup("spoilt_pictures", routing=it) for it in (QUICK, BFD)}
    found = difference(spoilt[QUICK], spoilt[BFD])
    told = f"{spoilt[QUICK].mean:.1f} without and {spoilt[BFD].mean:.1f} with BFD on average"
    return Finding(found.holds, f"{found} pictures fewer; {told}")


CLAIMS: Final = Claims(
    (
        Claim(
            "outage-theory",
            "A film's gap is as long as theory's detection of the failure.",
            "ours", "either",
            f"gap_ms is not below theory's shortest detection, nor above its longest by more than {REACTION_MS} ms, in "
            "which routers react, and spacing_ms; in more than half of the repeats",
        ),
        Claim(
            "outage-ospf",
            "OSPF shortens the gap that static routes leave.",
            "ours", "either",
            f"gap_ms with {NAMES[QUICK]} is less than that with static routes, in more than half of the repeats",
        ),
        Claim(
            "outage-bfd",
            "With BFD fewer pictures are spoilt than with OSPF's own Hellos.",
            "ours", "either",
            f"spoilt_pictures with {NAMES[QUICK]}, less those with BFD besides: above nothing",
        ),
    ),
    {"outage-theory": _theory, "outage-ospf": _helps, "outage-bfd": _spares},
)  # fmt: skip
"""Our claims, with their judges."""
