"""Why a measurement of ours differs from a row of the course report: one sentence each.

What the sentences rest on:

* iperf 2 reads ``25M`` as 25 * 1048576 bit/s, and its rates are of the payload: 1470 bytes of a frame of 1512.
* ARP: the first ping over a link of delay d waits 2 d longer, for the neighbour's address; one slow ping of 25
  raises the mean by 2 d / 25. Linklab enters the addresses before.
* What is left of the excess grows with every crossing of a delayed link, and that of a path is about the sum of its
  links' (h1-h4: 9.6 ms, L1 and L2: 1.9 + 4.7). A kernel's delay ends with a timer, and in a virtual machine in real
  time timers fire late: on time in Linklab's virtual time.
* With segmentation left to the network card (the default), Linux hands netem at least two segments as one packet, so
  a queue of 100 packets held up to 200 frames there. Linklab makes every packet a frame.
* netem's limit counts the packets in flight, so a full queue of N frames takes N serialisations in all, the link's
  delay included: 100 frames at 30 Mbit/s are 40.4 ms, not 20 + 40.4. Twice the frames are up to 80.7 ms.
* Tests with several flows were started by hand in several terminals, seconds apart.
"""

from __future__ import annotations

from typing import Final

_ARITHMETIC: Final = "iperf 2 reads M as 1048576, so"

UDP_H1_H4: Final = (
    f"{_ARITHMETIC} 25M sent 26.2 Mbit/s and all of it arrived: the number is the rate that was chosen, not the path's "
    "29.2, and ours follows the rate that you choose."
)
UDP_H1_H9: Final = (
    f"{_ARITHMETIC} 16.8 Mbit/s is a chosen rate of 16M (the text says 15M, which is 15.7): it says that 16.8 of the "
    "path's 19.4 pass, and ours follows the rate that you choose."
)
UDP_H7_H9: Final = (
    f"{_ARITHMETIC} this is again the chosen 16M and not the path's 19.4 Mbit/s, which is why it equals h1-h9 to the "
    "digit; ours follows the rate that you choose."
)

RTT_L1: Final = (
    "Theory and virtual time say 20: of the 1.9 ms more, ARP before the first ping gives up to 0.8 (20 ms in 25 "
    "pings), and the rest is probably timers that fired late in a busy virtual machine."
)
RTT_L2: Final = (
    "Theory and virtual time say 40: of the 4.7 ms more, ARP before the first ping gives up to 1.6 (40 ms in 25 "
    "pings), and the rest is probably timers that fired late in a busy virtual machine."
)
RTT_L3: Final = (
    "Theory and virtual time say 20: of the 2.8 ms more, ARP before the first ping gives up to 0.8; that L1 with the "
    "same delay had 1 ms less shows how much the machine's load, probably, changed from test to test."
)
RTT_H1_H4: Final = (
    "Theory and virtual time say 60: the report's L1 and L2 alone were 1.9 and 4.7 ms too slow already, so of the 9.6 "
    "two thirds are, probably, the same late timers at every crossing, and ARP of both links gives up to 2.4."
)
RTT_H7_H9: Final = (
    "Theory and virtual time say 60: the report's L2 and L3 alone were 4.7 and 2.8 ms too slow, which is 7.5 of the "
    "9.4, probably by late timers and ARP; the rest is what hosts and routers add on a loaded machine."
)
RTT_H1_H9: Final = (
    "Theory and virtual time say 80: the excess of 12.3 is three quarters that of the report's three links (9.3), "
    "probably late timers at six crossings, and ARP for all links gives up to 3.2 of it."
)

TCP_L1: Final = (
    "Both are 0.6 % below the ceiling of 38.26 that headers leave: on one short link with a queue of a full "
    "bandwidth-delay product neither machine nor program matters."
)
TCP_L2: Final = (
    "Both are within 1 % of the ceiling of 28.69; ours starts TCP without late timers, which is, probably, the "
    "quarter of a percent between them."
)
TCP_L3: Final = (
    "Both are within half a percent of the ceiling of 19.13: the machine, loaded or not, is faster than 20 Mbit/s."
)
TCP_H1_H4: Final = (
    "Ours is 1 % below the ceiling of 28.69 and this 4 %: the report's round trip was 16 % longer, so TCP took longer "
    "to start, and probably its 25 s hold the wait for the last acknowledgement as well."
)
TCP_H7_H9: Final = (
    "Both lie 6 % below the ceiling of 19.13: TCP's start overflows L3's queue of 33 packets, a third of the path's "
    "bandwidth-delay product, and needs seconds to recover."
)
TCP_H1_H9: Final = (
    "Ours is lower: L3's queue holds 33 frames here, but probably up to 66 there, where two segments travelled as one "
    "packet, so that TCP lost less at its start and was back at the full rate earlier."
)

LOADED_TWO: Final = (
    "Theory's full queue makes 80 of 60 ms, because netem's 100 packets count those in flight; 97 needs more than 100 "
    "frames, so probably two segments travelled as one packet (up to 121 ms), besides the 10 ms of late timers."
)
LOADED_THREE: Final = (
    "Ours stays below the 80 ms of a full queue of 100 frames; 101 to 104 needs more frames than that, so probably "
    "each packet was two segments, and a third flow keeps the queue fuller than two do."
)
LOADED_CROSSING: Final = (
    "Both flows wait in L2's queue and only there, for half of L2 is less than L1 or L3 carry; beyond 80 ms there are "
    "probably two segments in a packet, and late timers as in the idle paths of 69 ms."
)
LOADED_APART_L2: Final = (
    "The flows share no link, so this is h1-h4's own queue in L2, and the report's reason, the router's work, is not "
    "needed: 86 lies over our limit of 80 ms by, probably, late timers and packets of two segments."
)
LOADED_APART_L3: Final = (
    "L3's full queue of 33 frames makes 30 of 20 ms and no more; 38.8 is what 66 frames make nearly (50), so probably "
    "its packets were of two segments each."
)

SHARED_TWO: Final = (
    "The sum, 28.73, is L2's ceiling of 28.69 in both; how two flows share it in 25 s is decided by which one lost "
    "packets at its start, and in the report they were, probably, started seconds apart."
)
SHARED_THREE: Final = (
    "The report's sum of 29.79 is more than L2 carries (28.69), so the three cannot have run at the same time "
    "throughout: started by hand, each had moments with fewer rivals, while ours start at one instant."
)
SHARED_CROSSING: Final = (
    "The sum, 28.68, is L2's ceiling to the digit; shares within 25 s depend on losses at the start and on the round "
    "trip, equal here (60 ms), so that our split differs and the sum does not."
)
APART_L2: Final = (
    "The flows share no link: h1-h4 has L2 to itself as in test case 3, and is here 0.8 Mbit/s faster than there, "
    "which shows how much one run, probably by chance of its start, differs from the next."
)
APART_L3: Final = (
    "h8-h9 uses L3 alone and its round trip is 20 ms only, so the queue of 33 packets is a full bandwidth-delay "
    "product and TCP reaches the ceiling of 19.13, whatever h1-h4 does at the same time."
)
PARALLEL: Final = (
    "Four connections over L2 have 7.17 each in theory; the report's sum of 29.22 is more than the 28.69 that L2 "
    "carries, so they did not, probably, run at the same time throughout, while ours start at one instant."
)
