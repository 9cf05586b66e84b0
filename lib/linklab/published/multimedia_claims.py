"""What the multimedia study found, and where it contradicts itself."""

from __future__ import annotations

from typing import Final

from linklab.published.claims import Claim, Inconsistency

CLAIMS: Final = (
    Claim(
        "video-bandwidth-alike",
        "The stream takes nearly the same mean bandwidth in Mininet as in the real network.",
        "4.1.1 to 4.1.3",
        "Mininet",
        "our mean bandwidth beside both columns in all six runs",
    ),
    Claim(
        "video-devices-minimum",
        "In Mininet switches on the way change the least bandwidth of the stream.",
        "5, figures 10 to 12",
        "Mininet",
        "least bandwidth in topology 1 and in topology 2 at both rates",
    ),
    Claim(
        "video-10-or-100",
        "It makes no difference to bandwidth whether the link between the switches has 10 or 100 Mbit/s.",
        "5, figures 11 and 12",
        "either",
        "mean, least and largest bandwidth of topology 2 at 10 and 100 Mbit/s",
    ),
    Claim(
        "video-wan-alike",
        "With routers and a WAN link of 2, 4 or 8 Mbit/s real and virtual bandwidth are the same.",
        "5, figures 13 to 15",
        "either",
        "our bandwidth in topology 3 beside both columns",
    ),
    Claim(
        "video-delay-range",
        "Time between packets has a lower least and a higher largest value in the real network than in Mininet.",
        "5, figures 16 to 21",
        "hardware",
        "needs the real network; the published columns already refute it for the least value at 2 and 4 Mbit/s",
    ),
    Claim(
        "video-jitter-real",
        "Mean jitter is higher in the real network than in Mininet.",
        "4.3.1 to 4.3.3, 5",
        "hardware",
        "needs the real network; our mean jitter beside the virtual column",
    ),
    Claim(
        "video-not-normal",
        "Neither bandwidth, nor time between packets, nor jitter is normally distributed.",
        "4.1 to 4.3, every figure",
        "either",
        "a normality test on each of our series",
    ),
    Claim(
        "video-wan-spacing",
        "At 2 Mbit/s the real network never delivers two packets less than 5.41 ms apart, Mininet does after 1.69 ms.",
        "4.2.3, figure 19",
        "Mininet",
        "least time between packets beside the 5.42 ms that 1356 bytes take at 2 Mbit/s, with and without a burst",
    ),
)
"""`linklab.study.claims` gives each a verdict."""

INCONSISTENCIES: Final = (
    Inconsistency("3.2 and 3.5", "VLC in Mininet is version 2.16 in one place and 2.1.6 in the other"),
    Inconsistency("3.5, figure 8", "two routers and two switches are called topology 2; it is topology 3 (figure 4)"),
    Inconsistency(
        "3.3 and 4.1",
        "the video has 1026 kbit/s, its mean bandwidth is given as 1335 to 1373; the mean time between packets, 9.3 to "
        "9.6 ms, gives 1135 to 1164: a mean over packets counts busy seconds more often than quiet ones",
    ),
    Inconsistency(
        "4.2.3 and 5",
        "the real network is said to have the lower least time between packets in all cases: at 2 and 4 Mbit/s it has "
        "5.41 and 2.57 ms against Mininet's 1.69",
    ),
    Inconsistency(
        "4.1.3 and 5",
        "bandwidth over the WAN is said to be the same in both: at 2 Mbit/s the largest is 1963.49 and 1996.03, the "
        "mean 1335.49 and 1372.51",
    ),
    Inconsistency(
        "4.1.3 and 5",
        "the real network's least bandwidth is said not to depend on devices: at 2 Mbit/s it is 173.57, else 162.72",
    ),
    Inconsistency(
        "4.3 and 5",
        "the largest jitter is said to be higher in the real network where throughput is high: figures 22 and 24 give "
        "both the same",
    ),
    Inconsistency(
        "4.2.3, figure 21", "a variance of 75.56 has a standard deviation of 8.69; 8.63 is printed for the real network"
    ),
    Inconsistency(
        "4.3.2, figure 24",
        "a standard deviation of 0.07 has a variance of 0.0049; 0.0004 is printed for the real network",
    ),
    Inconsistency(
        "4.3.3, figure 25",
        "variances of 0.14 and 0.13 have standard deviations of 0.37 and 0.36; 0.14 and 0.12 are printed",
    ),
    Inconsistency(
        "4.3.3, figure 26",
        "standard deviations of 0.5 and 0.6 cannot go with variances below 0.01; with means of 0.4 and 0.3 and largest "
        "values of 0.67 and 0.76 all four are probably ten times too large",
    ),
    Inconsistency("4.1.3", "the section on bandwidth opens by saying that delay is studied"),
)
"""Where the study contradicts itself or arithmetic."""
