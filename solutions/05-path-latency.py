# %% [markdown] id="goal"
# # Lab 05: Path latency and throughput
#
# In Lab 04 you measured links one by one. A path is several of them in a row. Which of their properties add up,
# and which do not? You predict the round-trip time and the throughput of three paths, measure them, and find out
# why two of them do not reach what their slowest link would allow.
#
# The lab takes about a minute on virtual time, and about three in real time.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.labs import lab05
from linklab.labs.lab04.figures import beside_report, frames_dropped, queue_over_time
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.measure import PingFlow, SimpleperfFlow, TcpFlow
from linklab.network import path
from linklab.published.report import find

# %% [markdown] id="paths-intro"
# ## 1. Three paths
#
# This is the network of Lab 01, and the longest of the three paths is marked: h1 to h9. The others are parts of
# it: h1 to h4 leaves it behind L2, and h7 to h9 enters it before L2. (To run a cell: click on it, then press
# Shift+Enter.)

# %% id="start"
network = linklab.course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = linklab.start(network)
show.draw(lab, highlight=path(network, "h1", "h9"))

# %% [markdown] id="bottleneck-intro"
# ## 2. Predict
#
# Packets cross one link after the other. The **bottleneck** of a path is the link that limits its throughput.
#
# **Your turn:** the bottleneck of each path. Replace each `None` with `"L1"`, `"L2"` or `"L3"` and run the cell.

# %% answer="bottlenecks"
bottlenecks = {
    ### BEGIN SOLUTION
    "h1-h4": "L2",
    "h7-h9": "L3",
    "h1-h9": "L3",
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="bottlenecks" points=1
lab05.check_bottlenecks(bottlenecks).require()

# %% [markdown] id="rtt-intro"
# **Your turn:** the RTT of a ping on each path while nothing else is sent, in ms.

# %% answer="rtt"
predicted_rtt_ms = {
    ### BEGIN SOLUTION
    "h1-h4": 2 * (L1.delay_ms + L2.delay_ms),
    "h7-h9": 2 * (L2.delay_ms + L3.delay_ms),
    "h1-h9": 2 * (L1.delay_ms + L2.delay_ms + L3.delay_ms),
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="rtt" points=1
lab05.check_rtt(predicted_rtt_ms).require()

# %% [markdown] id="throughput-intro"
# **Your turn:** the most that a program can get through each path with TCP, in Mbit/s. Of each frame of 1514
# bytes, 1448 are data.

# %% answer="throughput"
predicted_mbps = {
    ### BEGIN SOLUTION
    "h1-h4": L2.rate_mbps * 1448 / 1514,
    "h7-h9": L3.rate_mbps * 1448 / 1514,
    "h1-h9": L3.rate_mbps * 1448 / 1514,
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="throughput" points=1
lab05.check_throughput(predicted_mbps).require()

# %% [markdown] id="reasons-question"
# **Question.** For the RTT you added the links up. For the throughput you did not. Why? What would change if L1
# had 100 ms of delay, and what if it had 1000 Mbit/s?

# %% [markdown] reflect="reasons" points=1
# A packet spends time on each link, so times add up. The links work at the same time on different packets, like
# people in a chain who pass on buckets: the slowest sets the pace of all. With 100 ms on L1 the RTT of h1-h4 and
# h1-h9 grows by about 180 ms (twice the 90 or so that L1 gets longer), and the ceiling of the throughput stays (TCP
# needs longer to reach it). With 1000 Mbit/s on L1 nothing changes, because L1 limits neither path.

# %% [markdown] id="pings-task"
# ## 3. Measure
#
# **Your turn:** 25 pings on each path, as in Lab 04. A host has one address, so it need not be given:
# `measure.run(lab, PingFlow("h1", "h4", count=25))`.

# %% answer="pings"
ends = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
pings = {}
### BEGIN SOLUTION
for name, (source, destination) in ends.items():
    pings[name] = measure.run(lab, PingFlow(source, destination, count=25))
### STARTER
# # YOUR TURN: pings["h1-h4"] = measure.run(...), and so on
### END SOLUTION

# %% check="pings" points=1
lab05.check_pings(pings).require()

# %% [markdown] id="program-intro"
# The throughput you measure with your own `simpleperf.py`, if it lies beside this notebook and works:

# %% id="program"
program = own_simpleperf(lab)

# %% [markdown] id="transfers-task"
# **Your turn:** a transfer of 25 s over each path, with `show.watched(measure.run, lab, flow)` as in Lab 04. For
# example, `flow = SimpleperfFlow("h1", "h4", duration_s=25, program=program)`.

# %% answer="transfers"
transfers = {}
### BEGIN SOLUTION
for name, (source, destination) in ends.items():
    flow = SimpleperfFlow(source, destination, duration_s=25, program=program)
    transfers[name] = show.watched(measure.run, lab, flow)
### STARTER
# # YOUR TURN, for each name in ends:
# # transfers["h1-h4"] = show.watched(measure.run, lab, SimpleperfFlow(...))
### END SOLUTION

# %% check="transfers" points=2
lab05.check_transfers(transfers).require()

# %% [markdown] id="iperf3-task"
# Is it your tool or the network? Ask a second tool. **Your turn:** the same 25 s from h1 to h4 with iperf3:
# `show.watched(measure.run, lab, TcpFlow(...))`. It needs no program. The check takes it as a **baseline**: what one
# tool gets here and now, the other should get too.

# %% answer="iperf3"
iperf3 = None
### BEGIN SOLUTION
iperf3 = show.watched(measure.run, lab, TcpFlow("h1", "h4", duration_s=25))
### STARTER
# # YOUR TURN: iperf3 = show.watched(measure.run, lab, TcpFlow(...))
### END SOLUTION

# %% check="tools" points=1
lab05.check_tools(transfers, iperf3).require()

# %% [markdown] id="start-of-tcp"
# ## 4. Explain
#
# ### Below the ceiling
#
# Alone, in Lab 04, L3 carried nearly all that headers leave of its rate. On h7-h9 it gives less, on h1-h9 still
# less, although the same link is the bottleneck. See how it went over time:

# %% id="over-time"
slow = {name: transfers[name].samples for name in ("h7-h9", "h1-h9") if name in transfers}
show.throughput(slow, ceiling_mbps=L3.rate_mbps * 1448 / 1514, duration_s=25)

# %% id="dropped"
interfaces = {"L1": "r1-eth1", "L2": "r2-eth2", "L3": "r3-eth3"}
dropped = []
for name in ends:
    frames = [frames_dropped(transfers.get(name), it) for it in interfaces.values()]
    dropped.append([name, *frames])
headings = ["path", "dropped before L1", "before L2", "before L3"]
show.table(headings, dropped, "Frames that found the queue full")

# %% [markdown] id="bdp-intro"
# **What to notice.** Few frames are lost, and nearly all of them at the start. After that TCP climbs for
# seconds. (The small steps are simpleperf's: its client counts what its kernel takes, and that takes large pieces.)
#
# The **bandwidth-delay product** (BDP) says how many packets are under way when a path is just full: the rate of
# the bottleneck times the RTT of the path. TCP must keep as many unacknowledged. This is its **window**.
#
# **Your turn:** the BDP of each path in full frames of 1514 bytes.

# %% answer="bdp"
bdp_packets = {
    ### BEGIN SOLUTION
    "h1-h4": 1000 * L2.rate_mbps * predicted_rtt_ms["h1-h4"] / (1514 * 8),
    "h7-h9": 1000 * L3.rate_mbps * predicted_rtt_ms["h7-h9"] / (1514 * 8),
    "h1-h9": 1000 * L3.rate_mbps * predicted_rtt_ms["h1-h9"] / (1514 * 8),
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="bdp" points=1
lab05.check_bdp(bdp_packets).require()

# %% [markdown] id="room-intro"
# A window larger than the BDP fills the queue before the bottleneck. How much **room** is there? The figure has the
# queues. As in Lab 04, packets in flight on the link are counted in: take off the link's delay, divided by the time
# for a frame.
#
# **Your turn:** the room at the bottleneck of each path, in packets.

# %% answer="room"
room_packets = {
    ### BEGIN SOLUTION
    "h1-h4": L2.queue_packets - L2.delay_ms / (1514 * 8 / (1000 * L2.rate_mbps)),
    "h7-h9": L3.queue_packets - L3.delay_ms / (1514 * 8 / (1000 * L3.rate_mbps)),
    "h1-h9": L3.queue_packets - L3.delay_ms / (1514 * 8 / (1000 * L3.rate_mbps)),
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="room" points=1
lab05.check_room(room_packets).require()

# %% [markdown] id="loss-intro"
# Path and queue together hold BDP + room. Then something is lost, and TCP (here CUBIC) goes on with **0.7** of its
# window. If that is still the BDP or more, the path stays full. If it is less, the path runs partly empty until
# the window has grown again.
#
# **Your turn:** 0.7 of BDP + room, in percent of the BDP, for each path.

# %% answer="after-loss"
after_loss_percent = {
    ### BEGIN SOLUTION
    name: 100 * 0.7 * (bdp_packets[name] + room_packets[name]) / bdp_packets[name]
    for name in ends
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% check="after-loss" points=1
lab05.check_after_loss(after_loss_percent).require()

# %% [markdown] id="after-loss-notice"
# **What to notice.** On L1, L2 or L3 alone the queue is as large as the BDP, and the same sum gives more than 100 %.
# A path adds delay, and with it BDP. But its queue stays that of one link.
#
# The start is worse. In *slow start* TCP doubles its window each RTT, so packets reach the bottleneck twice as
# fast as they leave it. Half of them must wait, and a small queue overflows long before the path is full.

# %% [markdown] id="below-question"
# **Question.** Why do h7-h9 and h1-h9 stay below what headers leave of L3, and why is h1-h9 the lower one? Would a
# transfer of 250 s have a higher average? Which single change to the network would help both?

# %% [markdown] reflect="below" points=1
# (With the plain course network's numbers.) Slow start overflows the room of 16 packets on L3 while the window is
# still far below the BDP (99 and 132 packets). TCP then leaves slow start with a window that fills only a part of the
# path, and climbs slowly. On h1-h9 the BDP is larger and each step takes an RTT of 80 instead of 60 ms, so more is
# missing for longer. Over 250 s the start counts a tenth, and the average rises, but each later loss still takes the
# window to about 80 % of the BDP. A queue on L3 of about the BDP of the paths, 100 to 130 packets, would help both,
# at the price of delay.

# %% [markdown] id="report-intro"
# ### What the report measured
#
# The course report has 69.6, 69.4 and 92.3 ms where theory says 60, 60 and 80. That is theory for *its* network, the
# plain course network: L1, L2 and L3 with 10, 20 and 10 ms each way, and 40, 30 and 20 Mbit/s. (Yours may have other
# numbers.) Here are all its numbers, of the links as well:

# %% id="report"
links = ("L1", "L2", "L3")
report_rtt_ms = {name: find(2, name, "rtt_ms").value for name in links}
report_rtt_ms |= {name: find(3, name, "rtt_ms").value for name in ends}
report_mbps = {name: find(3, name, "throughput_mbps").value for name in ends}
print(report_rtt_ms, report_mbps, sep="\n")

# %% [markdown] id="report-task"
# **Your turn:** for each path,
#
# - `excess_ms`: how much longer its RTT is than theory's;
# - `links_ms`: how much longer the RTTs of its links were, each alone, added up;
# - `arp_ms`: what ARP adds to the mean of 25 pings, at every link of the path (see Lab 04);
# - `percent`: its throughput in percent of the ceiling in its network (1448 of 1514 of the bottleneck's rate).

# %% answer="report"
crossed = {"h1-h4": ("L1", "L2"), "h7-h9": ("L2", "L3"), "h1-h9": ("L1", "L2", "L3")}
theory_ms = {"L1": 20, "L2": 40, "L3": 20, "h1-h4": 60, "h7-h9": 60, "h1-h9": 80}
rate_mbps = {"h1-h4": 30, "h7-h9": 20, "h1-h9": 20}
report_answers = {
    ### BEGIN SOLUTION
    "excess_ms": {name: report_rtt_ms[name] - theory_ms[name] for name in ends},
    "links_ms": {
        name: sum(report_rtt_ms[it] - theory_ms[it] for it in crossed[name]) for name in ends
    },
    "arp_ms": {name: theory_ms[name] / 25 for name in ends},
    "percent": {
        name: 100 * report_mbps[name] / (rate_mbps[name] * 1448 / 1514) for name in ends
    },
    ### STARTER
    # "excess_ms": {"h1-h4": None, "h7-h9": None, "h1-h9": None},
    # "links_ms": {"h1-h4": None, "h7-h9": None, "h1-h9": None},
    # "arp_ms": {"h1-h4": None, "h7-h9": None, "h1-h9": None},
    # "percent": {"h1-h4": None, "h7-h9": None, "h1-h9": None},
    ### END SOLUTION
}

# %% check="report" points=2
lab05.check_report(report_answers).require()

# %% [markdown] id="report-question"
# **Question.** Explain the report's RTTs with your numbers: which part is ARP, which part was there on the links
# already, and what is left? Why is nothing of it in our numbers on virtual time? And does the report's throughput
# point to the same cause?

# %% [markdown] reflect="report" points=1
# Of 9.6 ms on h1-h4 the links alone had 6.5, ARP included (2.4 of it at most); 3.1 are left for hosts, routers and
# their timers. h7-h9 has 7.5 of 9.4, h1-h9 9.3 of 12.3: most of it was there on the links and added up along the
# path, as delays do. Each crossing ends with a timer, and a busy virtual machine serves timers late. On virtual time
# no timer is late, and our lab needs no ARP. Throughput was 96, 94 and 90 % of the ceiling. A longer RTT makes TCP's
# start slower, which fits; but ours on that network are 99, 94 and 85 % without any late timer, so the two lower ones
# are queues and slow start, not the machine.

# %% [markdown] id="beside-intro"
# ### Side by side
#
# Your predictions, theory, the report's numbers (of the plain course network) and yours. The remark says why the
# report's number is not ours:

# %% id="beside-table"
rows = beside_report(3, predicted_rtt_ms, predicted_mbps, pings, transfers)
show.comparison(rows, "Paths: predicted, theory, report, measured")

# %% id="beside-figure"
show.compared(rows, "Paths beside theory")

# %% [markdown] id="loaded-intro"
# ## 5. Ping and transfer at once
#
# Now a ping beside a transfer, from h1 to h4. The transfer fills the queue before its bottleneck, and the ping
# waits there.
#
# **Your turn:** predict the highest RTT, in ms.

# %% answer="loaded"
predicted_highest_ms = None
### BEGIN SOLUTION
frame_ms = 1514 * 8 / (1000 * L2.rate_mbps)
predicted_highest_ms = predicted_rtt_ms["h1-h4"] + room_packets["h1-h4"] * frame_ms
### STARTER
# predicted_highest_ms = None
### END SOLUTION

# %% check="loaded" points=1
lab05.check_loaded_prediction(predicted_highest_ms).require()

# %% [markdown] id="together-task"
# **Your turn:** 25 pings, one each second (`interval_s=1`), beside a transfer of 25 s, both from h1 to h4, with
# `show.watched(measure.at_once, lab, [flow, flow])`.

# %% answer="together"
together = None
### BEGIN SOLUTION
ping = PingFlow("h1", "h4", count=25, interval_s=1)
transfer = SimpleperfFlow("h1", "h4", duration_s=25, program=program)
together = show.watched(measure.at_once, lab, [ping, transfer])
### STARTER
# # YOUR TURN: together = show.watched(measure.at_once, lab, [PingFlow(...), SimpleperfFlow(...)])
### END SOLUTION

# %% check="together" points=1
lab05.check_together(together).require()

# %% id="queue-figure"
queue_over_time(together, "h1-h4", ("h1", "h4"))

# %% [markdown] id="seen-task"
# **Your turn:** which link's queue was it? What did it add to the RTT on average, in ms? And how many packets were
# waiting there on average? (A ping without an answer, `None`, met a full queue and was dropped. Leave it out.)

# %% answer="seen"
### BEGIN SOLUTION
answered = [rtt for rtt in together.results[0].rtt_ms if rtt is not None]
mean_added_ms = sum(answered) / len(answered) - predicted_rtt_ms["h1-h4"]
frame_ms = 1514 * 8 / (1000 * L2.rate_mbps)
seen = {"link": "L2", "mean_added_ms": mean_added_ms, "mean_packets": mean_added_ms / frame_ms}
### STARTER
# seen = {"link": None, "mean_added_ms": None, "mean_packets": None}
### END SOLUTION

# %% check="seen" points=2
lab05.check_queue_seen(seen, together).require()

# %% [markdown] id="loaded-question"
# **Question.** L1 has a queue too, and frames were dropped before it as well (see the table above). Yet the RTT shows
# only L2's queue. When was L1's queue full, and why not later?

# %% [markdown] reflect="loaded" points=1
# At the very start. The hosts' cables are as fast as the machine, so in slow start each doubled window reaches L1 as
# one burst, faster than its rate, and overflows its places. Once TCP is paced by the acknowledgements, packets
# come at the rate of L2. L1 sends faster, so nothing waits there, and all waiting is before L2. The pings, one a
# second, are too rare to see a burst of some ms.

# %% [markdown] id="stop-intro"
# ## 6. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** delays add up, rates do not: the slowest link decides. One TCP connection fills a path only if
# the queue at its bottleneck has room for a good part of the BDP. And a number that is off can be taken apart: ARP,
# late timers, queues, slow start, each with its share. The next lab lets several flows meet.
