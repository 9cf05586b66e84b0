"""What the MTU study found, and where it contradicts itself."""

from __future__ import annotations

from typing import Final

from linklab.published.claims import Claim, Inconsistency

CLAIMS: Final = (
    Claim(
        "mtu-first-packets",
        "In Mininet the first packets get more bandwidth than the link has.",
        "IV.1.a to c, IV.3.a to c, V",
        "Mininet",
        "largest bandwidth_mbps of study mtu above the link's rate, and burst_bytes above one packet",
    ),
    Claim(
        "mtu-settles",
        "After some packets the bandwidth in Mininet is that of the link or of the traffic, whichever is less.",
        "IV.1.a to c, IV.3.b, V",
        "Mininet",
        "bandwidth_settled_mbps within 1 % of the traffic's rate in all runs",
    ),
    Claim(
        "mtu-bandwidth-size",
        "Packet size hardly matters for bandwidth.",
        "end of IV.1",
        "either",
        "spread of bandwidth_settled_mbps over the three sizes at one pair of rates below 1 %",
    ),
    Claim(
        "mtu-jitter-size",
        "Packet size matters for jitter.",
        "end of IV.1",
        "either",
        "jitter_mean_ms over the three sizes at one pair of rates",
    ),
    Claim(
        "mtu-real-less",
        "The real network's mean bandwidth is below Mininet's.",
        "IV.1 to IV.3, all but 7999 bytes at 100/10",
        "hardware",
        "needs the real switch; here: what preamble, checksum and gap leave of a real cable, beside a virtual one",
    ),
    Claim(
        "mtu-jitter-real",
        "The real network's mean jitter is above Mininet's.",
        "IV.1 to IV.3, figures 6 to 22",
        "hardware",
        "needs the real network; the virtual column beside jitter_mean_ms of ours",
    ),
    Claim(
        "mtu-light-load",
        "With less traffic than the link bears, real and virtual are nearer to each other.",
        "end of IV.2",
        "either",
        "bandwidth_max_mbps at 100/10 within 5 % of the traffic's rate, at 10/10 (greedy) not",
    ),
    Claim(
        "mtu-over-capacity",
        "Traffic in Mininet can take more bandwidth than the network has.",
        "end of IV.3",
        "Mininet",
        "burst_bytes: one bucket more, once; bandwidth_settled_mbps not above the rate",
    ),
)
"""`linklab.study.claims` gives each a verdict."""

INCONSISTENCIES: Final = (
    Inconsistency(
        "Table I and figure 4",
        "1518, 4370 and 7999 bytes are called MTUs and are sizes of frames, 18 bytes more: MTUs of 1500, 4352 and 7981",
    ),
    Inconsistency("Table I", "1518 stands for LLC with SNAP and for PPPoE, whose MTU is 1492 and not 1500"),
    Inconsistency("III.D and IV", "section III.D gives the link 10 Mbit/s, section IV uses 100 as well"),
    Inconsistency(
        "III.A, III.C and III.D",
        "one laptop emulates the network, yet two Mininet networks on different PCs are joined by a GRE tunnel, which "
        "III.C places in the real topology",
    ),
    Inconsistency(
        "IV.2.a, IV.2.c and IV.3.a",
        "jitter in the real network is said to be higher; the largest values are higher in Mininet in figures 12 "
        "(2.691 against 1.26 ms), 16 (1.756 against 1.177 ms) and 18 (3.26 against 0.25 ms)",
    ),
    Inconsistency(
        "IV.2.b and IV.2.c",
        "virtual bandwidth at 100/10 is at most 10 for 4370 and 7999 bytes, so the first packets are not too fast in "
        "every virtual run; 10.3 at 1518 bytes is above the traffic's rate and far below the link's",
    ),
    Inconsistency(
        "IV.3.a and IV.3.b",
        "real bandwidth of 100 Mbit/s is more than a 100 Mbit/s cable carries of frames: preamble and gap, 20 bytes, "
        "leave 98.70 for 1518 bytes and 99.54 for 4370",
    ),
    Inconsistency(
        "IV.3.a to IV.3.c",
        "at 100/100 the least virtual bandwidth is 7.3 and 0.1 Mbit/s for 1518 and 7999 bytes, with means of 100, put "
        "down to the start of the sender; the run with 4370 bytes begins alike and has a least value of 99.931",
    ),
)
"""Where the study contradicts itself or arithmetic."""
