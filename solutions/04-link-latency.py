# %% [markdown] id="goal"
# # Lab 04: Link latency and throughput
#
# How long does a packet take over one link, and how much does the link carry? In this lab you predict both
# for L1, L2 and L3, measure them with `ping` and `simpleperf`, and explain each difference. Then you do both
# at once, and see what a queue adds.
#
# The lab takes about a minute on virtual time, and about three in real time.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.labs import lab04
from linklab.labs.lab04.figures import beside_report, frames_sent, queue_over_time
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.measure import PingFlow, SimpleperfFlow

# %% [markdown] id="links-intro"
# ## 1. Three links
#
# This is the network of Lab 01. The three links between its routers are marked: everything happens there. `L1`,
# `L2` and `L3` are the links as Linklab knows them: `L1.rate_mbps`, `L1.delay_ms`, `L1.queue_packets`. (To run a
# cell: click on it, then press Shift+Enter.)

# %% id="start"
network = linklab.course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = linklab.start(network)
show.draw(lab, highlight=["r1", "r2", "r3", "r4"])

# %% [markdown] id="rtt-intro"
# ## 2. Predict
#
# The **round-trip time** (RTT) is the time from sending a packet until its answer is there. On an idle link
# nothing waits in front of a ping, and it is small. The figure has the delay of each link.
#
# **Your turn:** the RTT of each link, in ms. Replace each `None` and run the cell. The check behind it says
# whether you are right.

# %% answer="rtt"
predicted_rtt_ms = {
    ### BEGIN SOLUTION
    "L1": 2 * L1.delay_ms,
    "L2": 2 * L2.delay_ms,
    "L3": 2 * L3.delay_ms,
    ### STARTER
    # "L1": None,
    # "L2": None,
    # "L3": None,
    ### END SOLUTION
}

# %% check="rtt" points=1
lab04.check_rtt(predicted_rtt_ms).require()

# %% [markdown] id="throughput-intro"
# ### Throughput
#
# `simpleperf` counts the bytes that the receiving program gets. The rate of a link counts more: each frame
# has headers.
#
# | part of a frame | bytes |
# | --- | --- |
# | Ethernet header | 14 |
# | IPv4 header | 20 |
# | TCP header, with timestamps | 32 |
# | data | 1448 |
# | **frame** | **1514** |
#
# **Your turn:** the most that a program can get through each link, in Mbit/s. You may write a formula.

# %% answer="throughput"
predicted_mbps = {
    ### BEGIN SOLUTION
    "L1": L1.rate_mbps * 1448 / 1514,
    "L2": L2.rate_mbps * 1448 / 1514,
    "L3": L3.rate_mbps * 1448 / 1514,
    ### STARTER
    # "L1": None,
    # "L2": None,
    # "L3": None,
    ### END SOLUTION
}

# %% check="throughput" points=1
lab04.check_throughput(predicted_mbps).require()

# %% [markdown] id="serialisation-intro"
# ### The time to send a frame
#
# A link sends a frame bit by bit. On a link of 10 Mbit/s a frame of 1514 bytes, 12112 bits, takes 1.21 ms. This
# is **serialisation**. The delay of the link comes after it, for all bits alike.
#
# **Your turn:** how long does each link need for a full frame, in ms? And how long does L3 need for a ping? Its
# frame has 98 bytes.

# %% answer="serialisation"
frame_ms = {
    ### BEGIN SOLUTION
    "L1": 1514 * 8 / (1000 * L1.rate_mbps),
    "L2": 1514 * 8 / (1000 * L2.rate_mbps),
    "L3": 1514 * 8 / (1000 * L3.rate_mbps),
    "ping on L3": 98 * 8 / (1000 * L3.rate_mbps),
    ### STARTER
    # "L1": None,
    # "L2": None,
    # "L3": None,
    # "ping on L3": None,
    ### END SOLUTION
}

# %% check="serialisation" points=1
lab04.check_serialisation(frame_ms).require()

# %% [markdown] id="reasons-question"
# **Question.** Two links have the same RTT, and one carries twice as much. Is it the faster link? Say what
# changes for a ping, and what for a file of 10 MB, when the rate of a link is doubled.

# %% [markdown] reflect="reasons" points=1
# It carries more, but a single small packet is not there sooner: its time is nearly all delay, which the rate
# does not change. A ping gains some hundredths of a ms. A file of 10 MB is 80 Mbit: at 20 Mbit/s it takes a bit more
# than 4 s, at 40 a bit more than 2 s. Latency and throughput are two properties, and "fast" can mean either.

# %% [markdown] id="summary-intro"
# ## 3. Measure the round-trip times
#
# `ping` ends with four numbers: `rtt min/avg/max/mdev`. You will compute them yourself, from single round
# trips. The last one, **mdev**, is a standard deviation:
#
# mdev = √(mean of the squares - square of the mean)
#
# **Your turn:** write the function. `rtt_ms` is a list of numbers. A ping without an answer is a `None` in it,
# and counts for nothing.


# %% answer="summary"
def summary(rtt_ms):
    ### BEGIN SOLUTION
    answered = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(answered) / len(answered)
    mean_of_squares = sum(rtt**2 for rtt in answered) / len(answered)
    mdev = max(0, mean_of_squares - mean**2) ** 0.5
    return {"min": min(answered), "mean": mean, "max": max(answered), "mdev": mdev}
    ### STARTER
    # return {"min": None, "mean": None, "max": None, "mdev": None}
    ### END SOLUTION


# %% check="summary" points=2
lab04.check_summary(summary).require()

# %% [markdown] id="pings-intro"
# Now measure. A router has several addresses, so we say which one is meant: the one at the far end of the link.
# `far_end` has these addresses. `measure.run` carries out a flow, here a `PingFlow`, and gives a result with
# everything in it; `.rtt_ms` are the single round trips. For example:

# %% id="ping-try"
far_end = {it.name: it.b.address.removesuffix("/24") for it in (L1, L2, L3)}
example = measure.run(lab, PingFlow("r1", "r2", count=3, address=far_end["L1"]))
example.rtt_ms

# %% [markdown] id="pings-task"
# **Your turn:** 25 pings on each link, as in the course report. `ends` says from where to where. The keys of
# `pings` are the names of the links, its values the results.

# %% answer="pings"
ends = {
    "L1": ("r1", "r2", far_end["L1"]),
    "L2": ("r2", "r3", far_end["L2"]),
    "L3": ("r3", "r4", far_end["L3"]),
}
pings = {}
### BEGIN SOLUTION
for name, (source, destination, address) in ends.items():
    pings[name] = measure.run(lab, PingFlow(source, destination, count=25, address=address))
### STARTER
# # YOUR TURN: pings["L1"] = measure.run(...), and so on
### END SOLUTION

# %% check="pings" points=1
lab04.check_pings(pings).require()

# %% id="summaries"
show.table(
    ["link", "min (ms)", "mean (ms)", "max (ms)", "mdev (ms)"],
    [[name, *summary(result.rtt_ms).values()] for name, result in pings.items()],
)

# %% [markdown] id="pings-notice"
# **What to notice.** On virtual time the delays are exact, to the last digit. Even the hundredths of a ms for sending
# the frame are missing: the shaper here keeps a small credit (a *token bucket*, here of 1600 bytes), and lets a lone
# packet pass at once. A real cable would add them. In real time a machine adds its own late timers, some tenths of
# a ms or more.

# %% [markdown] id="arp-intro"
# ### Why the report's RTT is longer
#
# The course report, on which this lab is modelled, has 21.855 ms for an L1 with a delay of 10 ms each way. (That was
# the plain course network. Your L1 may have another delay.) Part of the difference is **ARP**. A router that
# knows the IP address of its neighbour, but not its Ethernet address, must ask for it first: one packet there,
# one back. Only then does the ping leave. Our lab knows all addresses from the start. The report's did not.
#
# **Your turn:** predict, for your L1, the RTT of the first ping with ARP, and the mean of 25 pings of which only the
# first meets it. And for the report's L1: how much of its RTT does such a mean leave unexplained? (All in ms.)

# %% answer="arp"
arp = {
    ### BEGIN SOLUTION
    "first_rtt_ms": 2 * predicted_rtt_ms["L1"],
    "mean_rtt_ms": (2 + 24) * predicted_rtt_ms["L1"] / 25,
    "left_ms": 21.855 - (40 + 24 * 20) / 25,  # the report's L1: 20 ms, and 40 with ARP
    ### STARTER
    # "first_rtt_ms": None,
    # "mean_rtt_ms": None,
    # "left_ms": None,
    ### END SOLUTION
}

# %% check="arp" points=1
lab04.check_arp(arp).require()

# %% [markdown] id="arp-try-intro"
# Try it. `r1` forgets the Ethernet address of `r2`, and pings it:

# %% id="arp-try"
print(lab["r1"].cmd(f"ip neigh del {far_end['L1']} dev r1-eth1"), end="")
with_arp = measure.run(lab, PingFlow("r1", "r2", count=25, address=far_end["L1"]))
print(with_arp.rtt_ms[:5], "...")
summary(with_arp.rtt_ms)

# %% [markdown] id="arp-notice"
# **What to notice.** One late packet among 25 moves the mean by nearly a ms, and mdev from 0 to nearly 4. Of the
# median you would see nothing. What is left of the report's 21.855 ms is, probably, its machine: timers that
# fire late, in real time, in a busy virtual machine.
#
# The next cell puts the address back, so that nothing asks for it later.

# %% id="arp-back"
mac = lab["r2"].cmd("cat /sys/class/net/r2-eth0/address").strip()
known = f"{far_end['L1']} lladdr {mac} dev r1-eth1 nud permanent"
print(lab["r1"].cmd(f"ip neigh replace {known}"), end="")

# %% [markdown] id="transfers-intro"
# ## 4. Measure the throughput
#
# You measure with your own `simpleperf.py` of Lab 02, if it lies beside this notebook and works. This cell
# tries it:

# %% id="program"
program = own_simpleperf(lab)

# %% [markdown] id="transfers-task"
# **Your turn:** a transfer of 25 s over each link. `SimpleperfFlow` takes the same arguments as `PingFlow`, but
# `duration_s=25` and `program=program` instead of the count. `show.watched(measure.run, lab, flow)` measures it,
# and shows how far it is, with a button to stop it.

# %% answer="transfers"
transfers = {}
### BEGIN SOLUTION
for name, (source, destination, address) in ends.items():
    flow = SimpleperfFlow(source, destination, duration_s=25, address=address, program=program)
    transfers[name] = show.watched(measure.run, lab, flow)
### STARTER
# # YOUR TURN: transfers["L1"] = show.watched(measure.run, lab, SimpleperfFlow(...)), and so on
### END SOLUTION

# %% check="transfers" points=2
lab04.check_transfers(transfers).require()

# %% [markdown] id="beside-intro"
# ## 5. Explain
#
# Your predictions, theory, the course report's numbers (of the plain course network) and yours. Theory gives an
# interval: for throughput, what TCP's start may cost in 25 s.

# %% id="beside-table"
rows = beside_report(2, predicted_rtt_ms, predicted_mbps, pings, transfers)
show.comparison(rows, "Links: predicted, theory, report, measured")

# %% id="beside-figure"
show.compared(rows, "Links beside theory")

# %% [markdown] id="headers-intro"
# ### Where the rest of the rate goes
#
# simpleperf shows about 5 % less than the rate of L1. Was the link not full? The kernel counts every frame that
# leaves an interface. During your transfer over L1, `r1-eth1` sent so many frames, with so many bytes:

# %% id="counters"
frames, frame_bytes_in_all = frames_sent(transfers.get("L1"), "r1-eth1")
frames, frame_bytes_in_all

# %% [markdown] id="headers-task"
# **Your turn:** from these two numbers, compute how many bytes a frame has on average; which share of the bytes
# are headers, in percent (66 of each frame); and the rate with headers, in Mbit/s, over 25 s.

# %% answer="headers"
headers = {
    ### BEGIN SOLUTION
    "frame_bytes": frame_bytes_in_all / frames,
    "headers_percent": 100 * 66 * frames / frame_bytes_in_all,
    "carried_mbps": frame_bytes_in_all * 8 / 25 / 1_000_000,
    ### STARTER
    # "frame_bytes": None,
    # "headers_percent": None,
    # "carried_mbps": None,
    ### END SOLUTION
}

# %% check="headers" points=2
lab04.check_headers(headers, transfers).require()

# %% [markdown] id="headers-question"
# **Question.** The report says that throughput is 2 Mbit/s less than the rate of each link (40, 30 and 20 Mbit/s),
# and guesses at the number of hosts. Look at its three numbers again. What is it really, and how would you test the
# report's guess on this network?

# %% [markdown] reflect="headers" points=1
# It is not a difference but a share: 38.02, 28.43 and 19.05 are each 95 % of the rate, so 2 Mbit/s are missing
# on L1 only. 4.4 % are headers, and the rest is TCP's start and its end. Hosts do not matter. To test the guess,
# I would measure L1 again while h1 to h3 are there but silent, which is the case here, or with their cables
# removed: the number stays the same. Only traffic of theirs would change it.

# %% [markdown] id="queue-intro"
# ## 6. Ping and transfer at once
#
# TCP sends more and more until something is lost. So it fills the queue in front of the link, and whatever
# comes later waits there: your ping too.
#
# L1 has a queue of `L1.queue_packets` places. One catch: netem, which makes delay and queue here, counts the packets
# **in flight** on the link too. At the full rate a frame leaves every `frame_ms["L1"]` and then flies for the delay of
# the link. So a good part of the places hold frames that are in flight. Only the others wait.
#
# **Your turn:** how long does L1 need to send as many full frames as its queue has places? How many packets really
# wait in a full queue? And what is the highest RTT that you will see beside a transfer? (The way back is free of
# data.)

# %% answer="queue"
queue = {
    ### BEGIN SOLUTION
    "drain_ms": L1.queue_packets * frame_ms["L1"],
    "waiting_packets": L1.queue_packets - L1.delay_ms / frame_ms["L1"],
    "highest_rtt_ms": L1.delay_ms + L1.queue_packets * frame_ms["L1"],
    ### STARTER
    # "drain_ms": None,
    # "waiting_packets": None,
    # "highest_rtt_ms": None,
    ### END SOLUTION
}

# %% check="queue" points=2
lab04.check_queue(queue).require()

# %% [markdown] id="together-task"
# `measure.at_once` starts several flows at one instant: `show.watched(measure.at_once, lab, [flow, flow])`.
#
# **Your turn:** 25 pings on L1, one each second (`interval_s=1`), beside a transfer of 25 s over L1.

# %% answer="together"
together = None
### BEGIN SOLUTION
source, destination, address = ends["L1"]
ping = PingFlow(source, destination, count=25, interval_s=1, address=address)
transfer = SimpleperfFlow(source, destination, duration_s=25, address=address, program=program)
together = show.watched(measure.at_once, lab, [ping, transfer])
### STARTER
# # YOUR TURN: together = show.watched(measure.at_once, lab, [PingFlow(...), SimpleperfFlow(...)])
### END SOLUTION

# %% check="together" points=1
lab04.check_together(together).require()

# %% id="queue-figure"
queue_over_time(together, "L1", ("r1", "r2"))

# %% [markdown] id="queue-notice"
# **What to notice.** The first ping leaves with the first packet and meets no queue. Then the RTT swings: TCP fills
# the queue, loses a packet, sends less for a moment, and fills it again. It never falls back to the RTT of the idle
# link: the queue is never empty, and so the link is never idle. The throughput is the same as without pings.

# %% [markdown] id="seen-task"
# **Your turn:** what did the queue add to the RTT on average, in ms? How many packets were waiting before a ping,
# on average? Use `summary`, and the round trips `together.results[0].rtt_ms`.

# %% answer="seen"
seen = {
    ### BEGIN SOLUTION
    "mean_added_ms": summary(together.results[0].rtt_ms)["mean"] - predicted_rtt_ms["L1"],
    "mean_packets": (summary(together.results[0].rtt_ms)["mean"] - predicted_rtt_ms["L1"])
    / frame_ms["L1"],
    ### STARTER
    # "mean_added_ms": None,
    # "mean_packets": None,
    ### END SOLUTION
}

# %% check="seen" points=2
lab04.check_queue_seen(seen, together).require()

# %% [markdown] id="queue-question"
# **Question.** Somebody makes the queue of L1 ten times as long, so that less is lost. What happens to the
# throughput of a long transfer, to a ping beside it, and to a video call?

# %% [markdown] reflect="queue" points=1
# The throughput stays as it is, since the link is full already. TCP fills the longer queue too, so (with the plain
# course network's L1) a ping beside it takes up to 10 ms back and 670 frames' time, 203 ms, for the way there. A video
# call shares the queue and has that delay in each direction that carries data: it becomes hard to talk. Queues that
# are too long are known as bufferbloat. The queue should be about a bandwidth-delay product, as it is here.

# %% [markdown] id="stop-intro"
# ## 7. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** an idle link's RTT is its delay, twice. Of its rate 95.6 % are data. A full link has a queue
# before it, and the queue adds its packets' time to everybody's RTT. One odd packet moves a mean. And a difference is
# explained only when you can compute it, or switch it off. The next lab puts links in a row.
