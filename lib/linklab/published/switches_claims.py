"""What the switches study found, and where it contradicts itself."""

from __future__ import annotations

from typing import Final

from linklab.published.claims import Claim, Inconsistency

CLAIMS: Final = (
    Claim(
        "switch-cisco-rtt",
        "The Cisco switch has the lowest round-trip time at every payload, rate and testbed.",
        "5.1.1, 5.1.2, 6; figures 13 to 18",
        "hardware",
        "needs the Cisco switch; our software switches are compared among each other",
    ),
    Claim(
        "switch-software-alike-rtt",
        "The software switches have nearly the same round-trip time at almost all payloads.",
        "5.1.1, 5.1.2; figures 13 to 18",
        "either",
        "LiSA has no kernel today: Open vSwitch in the kernel, in user space and the Linux bridge beside each other",
    ),
    Claim(
        "switch-flat-rtt-intra",
        "At 100 Mbit/s, within a VLAN, the software switches' round-trip time does not grow from 750 to 1440 bytes.",
        "5.1.1, figure 14; 6",
        "either",
        "round-trip times at payloads between 750 and 1440 bytes: serialisation alone adds 55 us a link, each way",
    ),
    Claim(
        "switch-flat-rtt-inter",
        "At 100 Mbit/s, between VLANs, the software switches' round-trip time does not grow from 1000 to 1440 bytes.",
        "5.1.1, figure 16; 5.1.2, figure 18; 6",
        "either",
        "round-trip times at payloads between 1000 and 1440 bytes, on the layer-3 switch and the router on a stick",
    ),
    Claim(
        "switch-l3-free",
        "Routing inside the switch adds next to nothing to the round-trip time.",
        "5.1.1, figures 13 to 16",
        "either",
        "round-trip times within a VLAN and between VLANs of the layer-3 switch, at equal payload",
    ),
    Claim(
        "switch-stick-rtt",
        "A router on a stick makes the round-trip time between VLANs longer than routing inside the switch.",
        "5.1.2, figures 15 and 17, 16 and 18",
        "either",
        "round-trip times between VLANs in both testbeds: the trunk is passed twice each way",
    ),
    Claim(
        "switch-cisco-throughput",
        "For larger payloads, above 250 or 500 bytes, the Cisco switch has the highest throughput.",
        "5.2.1, 5.2.2, 6; figures 19 to 24",
        "hardware",
        "needs the Cisco switch",
    ),
    Claim(
        "switch-software-alike-throughput",
        "The software switches have nearly the same throughput at all payloads.",
        "5.2.1, 5.2.2, 6; figures 19 to 24",
        "either",
        "throughput of the additional flow on Open vSwitch in kernel and user space and on the Linux bridge",
    ),
    Claim(
        "switch-ten-times",
        "Throughput at 100 Mbit/s is ten times that at 10, and depends on payload in the same way.",
        "5.2.1, figures 19 to 22",
        "either",
        "ratio of the additional flow's throughput at both rates for every payload",
    ),
    Claim(
        "switch-stick-full",
        "On the router on a stick the Cisco switch carries nearly all of the additional flow for large payloads.",
        "5.2.2, figures 23 and 24; 6",
        "hardware",
        "needs the Cisco switch; ours: share of the 3 (30) Mbit/s that arrives, beside what the background leaves",
    ),
    Claim(
        "switch-bottleneck-full",
        "At 10 Mbit/s with two senders all switches use nearly the whole bottleneck.",
        "5.2.3, figure 25",
        "either",
        "sum of the shares at T for every setting, as frames, beside the link's rate",
    ),
    Claim(
        "switch-two-proportional",
        "At 10 Mbit/s with two senders each gets a share in proportion to what it offers.",
        "5.2.3, figure 25",
        "either",
        "shares beside proportional_shares for the five settings",
    ),
    Claim(
        "switch-two-fast-unstable",
        "At 100 Mbit/s with two senders shares are less steady than at 10, most of all with the Cisco switch at 30/90.",
        "5.2.3, figure 26",
        "either",
        "deviation from proportional_shares at both rates, over repeats; the Cisco part cannot be tested",
    ),
    Claim(
        "switch-three-proportional",
        "With three senders the software switches share in proportion; at 10 Mbit/s they differ for 8/8/8 only.",
        "5.2.3, figures 27 and 28",
        "either",
        "shares beside proportional_shares for the three settings at both rates",
    ),
    Claim(
        "switch-cisco-unfair",
        "The Cisco switch shares least fairly, most of all at 100 Mbit/s.",
        "5.2.3, 6; figures 26 to 28",
        "hardware",
        "needs the Cisco switch",
    ),
)
"""`linklab.study.claims` gives each a verdict."""

INCONSISTENCIES: Final = (
    Inconsistency("4.2.1", "the gateways' addresses are printed with five parts: 10.0.0.0.254 and 20.0.0.0.254"),
    Inconsistency(
        "4.2.1",
        "7.5 Mbit/s of background in datagrams of 500 bytes are 8.49 on a cable (headers, checksum, preamble, gap: 66 "
        "bytes each), so 1.51 of 10 Mbit/s are left and not about 2.5; ten times that at 100 Mbit/s",
    ),
    Inconsistency(
        "4.2.2",
        "8 Mbit/s of background on the trunk are 9.12 on the cable, with the VLAN tag, so 0.88 are left: the "
        "additional flow comes near 3 Mbit/s (5.2.2) only at the cost of the background",
    ),
    Inconsistency(
        "4.2.2 and 4.2.3",
        "the PC that switches has two network cards of two ports; four PCs and a trunk need five",
    ),
    Inconsistency(
        "5.2.1",
        "which of 250 and 500 bytes the Cisco switch is better above differs between figures 21 and 22, though "
        "the behaviour is called the same",
    ),
    Inconsistency(
        "5.1.1 and 6",
        "a round-trip time that stays the same while payload grows is called unexpected and left without a cause",
    ),
)
"""Where the study contradicts itself or arithmetic."""
