"""The page of the switches study: figures 13 to 28 measured, beside what the study's text says of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from linklab.published.switches_study import FIGURES, INCONSISTENCIES
from linklab.published.switches_study import Figure as Published
from linklab.study.page import Grid, Picture
from linklab.study.switches.claims import judge_switches
from linklab.study.switches.fairness import DITHERED, EXACT
from linklab.study.switches.figures import (
    NAMES,
    curves,
    drawn_curves,
    drawn_interrupts,
    drawn_shares,
    offered_percent,
    place,
    proportional_mbps,
    shares,
    theory,
)
from linklab.study.switches.values import INTERRUPTS, values
from linklab.study.write_page import Chapter, Page, Row

COST: Final = "switches-cost"
_SAYS: Final[Mapping[int, str]] = {
    13: "The Cisco switch is fastest; both software switches are alike at nearly all payloads.",
    14: "The Cisco switch is fastest; both software switches do not change from 750 to 1440 bytes.",
    15: "The Cisco switch is fastest; both software switches are nearly the same everywhere.",
    16: "The Cisco switch is fastest; the software switches do not change in ranges such as 1000 to 1440 bytes.",
    17: "The Cisco switch is fastest; all take longer than in figure 15.",
    18: "The Cisco switch is fastest; all take longer than in figure 16; the same flat ranges.",
    19: "The Cisco switch carries more above 500 bytes; both software switches are alike.",
    20: "As at 10 Mbit/s; the three switches are almost the same.",
    21: "The Cisco switch carries more above 250 bytes; both software switches are alike.",
    22: "As at 10 Mbit/s, ten times as much; the Cisco switch carries more above 500 bytes.",
    23: "The Cisco switch carries more above 250 bytes, and nearly 3 Mbit/s of large datagrams.",
    24: "The Cisco switch carries more above 250 bytes, and nearly 30 Mbit/s of large datagrams.",
    25: "All three use nearly all of the bottleneck, and share it in proportion.",
    26: "Less steady than at 10 Mbit/s; the Cisco switch is not in proportion at 30/90.",
    27: "The software switches share in proportion at 4/4/4 and 4/4/8; the Cisco switch shares worst in all.",
    28: "The software switches share acceptably in proportion; the Cisco switch is the least steady.",
}
_FAR_MS: Final = 0.1
"""What no switch of ours adds to a round trip while it rests between packets: the most seen is 0.05 ms."""
_LEAD: Final = (
    "Figures 13 to 28 of F. Sans and E. Gamess (2013), measured anew on the Linux bridge and on Open vSwitch with the "
    "kernel's datapath and with one in user space. The study prints no numbers, only curves, so beside each figure of "
    "ours stands what its text says. Its switches were hardware (a Cisco Catalyst 3750) and PCs (Open vSwitch 1.10, "
    "LiSA on a kernel of 2006); those are not here, and what is about them cannot be tested here."
)
_HOW: Final = (
    "All but the last chapter runs on **virtual time**, on which computing takes no time. A round trip here is "
    "serialisation and queueing: every frame occupies each link for all its bytes (header, checksum, preamble and gap "
    "with it), and is passed on only when it is there whole. **What a switch needs to hand a packet on is not in these "
    "times.** So the kinds of switch differ less than they would on hardware, and that they are alike here says that "
    "they forward alike, not that they are equally fast. The 20 to 60 microseconds that Open vSwitch in user space "
    "adds are no work either: its process sleeps until a packet comes, and the kernel wakes sleepers a little late. "
    "While it is awake it looks at its ports one after the other, so packets that come meanwhile leave in the ports' "
    "order, whoever came first; at 100 Mbit/s, where a frame takes 0.12 ms, that decides who finds a place in a full "
    "queue. How much of this is the switch's and how much the lab clock's, which moves a little with every question a "
    "polling program asks it, cannot be told apart here: **its shares and losses at 100 Mbit/s are to be read with "
    "that in mind**, and no verdict rests on them.",
    "Links serialise as cables do (`overhead_bytes=24` of a link). Mininet's own links are token buckets: one frame "
    "that comes alone passes at once, and no round trip would grow with its payload. Queues hold 100 packets; the "
    "study does not say what its own were.",
)


def page(tables: Mapping[str, Sequence[Row]]) -> Page:
    """The page, of the tables of the studies `switches-rtt`, `-interrupts`, `-throughput`, `-fairness`, `-cost`."""
    parts = {
        "Round-trip times": [it for it in FIGURES if it.quantity == "rtt"],
        "Throughput of the additional flow": [it for it in FIGURES if it.quantity == "throughput"],
    }
    chapters = [Chapter("How it was measured", _HOW), _claims(tables)]
    chapters += [
        Chapter(title, tuple(part for it in figures for part in _curve_parts(tables, it)))
        for title, figures in parts.items()
    ]
    chapters += [_fairness(tables), _flat(tables), _cost(tables), _inconsistencies()]
    return Page("switches", "Switches: three kinds of switch, VLANs and shares", _LEAD, tuple(chapters))


def _claims(tables: Mapping[str, Sequence[Row]]) -> Chapter:
    rows = tuple((it.claim.says, it.claim.where, it.verdict, it.because) for it in judge_switches(tables))
    return Chapter("What the study found, and what we did", (Grid(("claim", "where", "verdict", "because"), rows),))


def _curve_parts(tables: Mapping[str, Sequence[Row]], published: Published) -> tuple[str | Grid | Picture, ...]:
    found = curves(tables, published)
    payloads = sorted({payload for line in found.values() for payload in line})
    digits = 3 if published.quantity == "rtt" else 2
    unit = "ms" if published.quantity == "rtt" else "Mbit/s"
    rows = tuple(
        (
            str(payload),
            f"{theory(published, payload):.{digits}f}",
            *(f"{line[payload]:.{digits}f}" if payload in line else "" for line in found.values()),
        )
        for payload in payloads
    )
    names = tuple(NAMES.get(switch, switch) for switch in found)
    what = "Round trip" if published.quantity == "rtt" else "Throughput"
    alt = f"{what} in {unit} by payload, {place(published)}: " + "; ".join(
        f"{name} {min(line.values()):.{digits}f} to {max(line.values()):.{digits}f}"
        for name, line in zip(names, found.values(), strict=True)
    )
    picture = Picture(
        f"figure-{published.number}", f"Our figure {published.number}: {place(published)}.", alt,
        drawn_curves(tables, published),
    )  # fmt: skip
    return (
        f"**Figure {published.number}** ({place(published)}). The study: {_SAYS[published.number]}",
        picture,
        Grid(
            ("payload (bytes)", f"theory ({unit})", *(f"{name} ({unit})" for name in names)),
            rows,
            _restless(published, found) if published.quantity == "rtt" else "",
        ),
    )


def _restless(published: Published, found: Mapping[str, Mapping[int, float]]) -> str:
    """Which round trips are made by the lab's clock: far more than serialisation, on an idle network."""
    far = {
        switch: [str(payload) for payload, rtt_ms in line.items() if rtt_ms - theory(published, payload) > _FAR_MS]
        for switch, line in found.items()
    }
    told = [
        f"{NAMES.get(switch, switch)} at {', '.join(payloads)} bytes" for switch, payloads in far.items() if payloads
    ]
    if not told:
        return ""
    return (
        f"{' and '.join(told)}: the switch's program never rested there, and while a program asks for the time without "
        "rest the lab's clock moves on by up to 16 microseconds a question. **These are no times of a switch.**"
    )


def _fairness(tables: Mapping[str, Sequence[Row]]) -> Chapter:
    intro = (
        "Senders were paced in two ways. *Out of step*: every packet leaves at a random instant of its turn, so the "
        "rate is exact and no two senders keep step, as with PCs. *In exact step*: every packet leaves at the instant "
        "that the rate asks for. A queue that is full takes whoever comes when a place is free, and senders in step "
        "meet it in the same order for ever: one gets all that it sends, another nearly nothing. Floyd and Jacobson "
        "described that in 1992 as phase effects. It happens on all three kinds of switch, and looks like what the "
        "study saw of the Cisco switch: the switch need not be unfair for it, senders in step are enough. Out of step "
        "the slower of two senders still gets less than its part, a fifth less at 3/9: the packets of the faster one "
        "follow each other at the link's own pace, each just when a place is free.",
    )
    figures = [it for it in FIGURES if it.quantity == "shares"]
    return Chapter("Shares at the bottleneck", (*intro, *(part for it in figures for part in _share_parts(tables, it))))


def _share_parts(tables: Mapping[str, Sequence[Row]], published: Published) -> tuple[str | Grid | Picture, ...]:
    loose, stepped = (shares(tables, published, pacing) for pacing in (DITHERED, EXACT))
    rows = []
    for setting in published.offered_mbps:
        level = offered_percent(published, setting)
        cells = [_listed(setting), _listed(proportional_mbps(published, level))]
        for switch in loose:
            cells += [_listed(it.get(switch, {}).get(level, ())) for it in (loose, stepped)]
        rows.append(tuple(cells))
    names = [NAMES.get(switch, switch) for switch in loose]
    columns = ["offered (Mbit/s)", "in proportion"]
    columns += [text for name in names for text in (name, f"{name}, in step")]
    alt = f"Shares in Mbit/s, {place(published)}; the numbers stand in the table below it"
    picture = Picture(
        f"figure-{published.number}", f"Our figure {published.number}: {place(published)}.", alt,
        drawn_shares(tables, published),
    )  # fmt: skip
    return (
        f"**Figure {published.number}** ({place(published)}). The study: {_SAYS[published.number]}",
        picture,
        Grid(tuple(columns), tuple(rows), "Payload that arrives, mean of three seeds."),
    )


def _listed(rates: Sequence[float]) -> str:
    return " / ".join(f"{rate:.3g}" for rate in rates)


def _flat(tables: Mapping[str, Sequence[Row]]) -> Chapter:
    found = values(tables[INTERRUPTS], "rtt_mean_ms", ("rate_mbps", "payload_bytes", "cards"))
    kinds = tuple(dict.fromkeys(cards for _, _, cards in found))
    rows = tuple(
        (str(rate), str(payload), *(f"{found[rate, payload, cards]:.3f}" for cards in kinds))
        for rate, payload in dict.fromkeys((rate, payload) for rate, payload, _ in found)
    )
    alt = "Round trip by payload with plain, throttled and ticking network cards, at 10 and 100 Mbit/s"
    picture = Picture("interrupts", "A PC as a switch, with its cards' interrupts held back for 250 us.", alt,
                      drawn_interrupts(tables, INTERRUPTS))  # fmt: skip
    text = (
        "Serialisation alone makes a round trip grow with its payload, on every kind of switch: from 750 to 1440 bytes "
        "by 0.22 ms at 100 Mbit/s. So something in the study's PCs must have hidden that. Its cards (Intel PRO/1000) "
        "have a driver, e1000e, which at 10 and 100 Mbit/s allows each card 4000 interrupts a second: none within "
        "250 us of the one before (Linux, drivers/net/ethernet/intel/e1000e/netdev.c, `e1000_set_itr`). We tried that: "
        "a program takes over two ports of the bridge and holds its interrupts back.",
        picture,
        Grid(("rate (Mbit/s)", "payload (bytes)", *(f"{cards} (ms)" for cards in kinds)), rows),
        "*Throttled*: a counter begins with each interrupt, as Intel's manuals have it. A round trip then grows half "
        "as fast, and is no longer proportional to the payload. *Ticking*: interrupts come at fixed instants 250 us "
        "apart, those of the second card in between. A round trip is then a whole number of ticks, the same for "
        "ranges of payloads: at 100 Mbit/s one from 750 to 1440 bytes. At 10 Mbit/s a frame takes longer than a tick, "
        "and the steps are hardly seen. **That is the study's picture, but no proof**: what its cards did is not "
        "known, their phases are ours, and a host's own card holds interrupts back as well.",
    )
    return Chapter("The flat round trip", text)


def _cost(tables: Mapping[str, Sequence[Row]]) -> Chapter:
    found = values(tables[COST], "cpu_us_per_packet", ("switch", "communication", "payload_bytes"))
    bare = {payload: value for (switch, _, payload), value in found.items() if switch == "none"}
    rows = tuple(
        (NAMES.get(switch, "no switch, one cable"), communication, str(payload), f"{value:.0f}",
         "" if switch == "none" else f"{value - bare[payload]:.0f}")
        for (switch, communication, payload), value in found.items()
    )  # fmt: skip
    text = (
        "What virtual time leaves out can be counted: the processor time that the whole lab uses for a datagram, with "
        "a switch on its way and without. **This depends on the machine** and on what else it does. The lab's "
        "kernel runs as an ordinary process (user-mode Linux), where a change between programs costs far more than on "
        "bare metal: the order of the kinds means more than the numbers."
    )
    columns = ("switch", "communication", "payload (bytes)", "CPU per datagram (us)", "more than without (us)")
    return Chapter("What a packet costs the processor", (text, Grid(columns, rows, _noise(tables[COST]))))


def _noise(rows: Sequence[Row]) -> str:
    """How far repeats of one setting without a switch lie from each other."""
    groups: dict[int, list[float]] = {}
    for row in rows:
        if row["metric"] == "cpu_us_per_packet" and row["switch"] == "none":
            groups.setdefault(row["payload_bytes"], []).append(row["value"])
    apart = max(max(each) - min(each) for each in groups.values())
    return f"Mean of the repeats. Without a switch they lie up to {apart:.0f} us apart: less is no difference."


def _inconsistencies() -> Chapter:
    rows = tuple((it.where, it.what) for it in INCONSISTENCIES)
    return Chapter("Where the study contradicts itself", (Grid(("section", "what"), rows),))
