# %% [markdown] id="goal"
# # Lab 04: Link latency and throughput
#
# How long does a packet take over one link? How much does the link carry? And what happens to the first when
# the second is used in full? You say what you expect, measure it with `ping` and `simpleperf`, and explain what
# differs.
#
# **Time:** about two hours. The measurements take a minute of it. **You need**
# the network of Lab 01. If your `simpleperf.py` of Lab 02 lies next to this notebook, you measure with it.
#
# A prediction has no wrong answer. Its point is for committing to it. After the measurement you see it next to theory.

# %% id="imports"
from linklab import course_network, lab04, measure, show, start

lab04.progress()

# %% [markdown] id="links-intro"
# ## 1. Three links
#
# This is the network of Lab 01. The three links between its routers are marked. `L1`, `L2` and `L3` know their
# numbers: `L1.rate_mbps`, `L1.delay_ms`, `L1.queue_packets`. A router has several addresses. `far_end` has, for
# each link, the address at its far end.

# %% id="start"
network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
far_end = {link.name: link.b.address.removesuffix("/24") for link in (L1, L2, L3)}
lab = start(network)
print(far_end)
show.draw(lab, highlight=["r1", "r2", "r3", "r4"])

# %% [markdown] id="rtt-intro"
# ## 2. An idle link
#
# The **round-trip time** (RTT) is the time from sending a packet until its answer is there. A packet's delay on
# a link has three parts:
#
# - **serialisation delay** (or transmission delay): the link sends the frame bit by bit, at its rate;
# - **propagation delay**: each bit travels to the other end. This is the delay in the figure;
# - **queueing delay**: the frame waits until those before it are sent.
#
# **Your turn:** predict the RTT of a ping over L1 while nothing else is sent, in ms. `sure` is how sure you are,
# from 0 (a guess) to 100 (certain).

# %% answer="rtt"
### BEGIN SOLUTION
rtt_ms = lab04.predict("rtt", 2 * L1.delay_ms, sure=90)
### STARTER
# rtt_ms = lab04.predict("rtt", None, sure=None)
### END SOLUTION
rtt_ms

# %% check="rtt" points=1
lab04.check_predicted(rtt_ms).require()

# %% [markdown] id="parsed-task"
# ### Ping by hand
#
# `lab["r1"].cmd("...")` runs a command on r1, as if you sat there, and returns what it prints. (All other commands
# of Linux work too, `ip route` or `tcpdump`. Mininet's own command line is there as well:
# `print(lab.cli("net"))` lists the cables.)
#
# **Your turn:** from r1, send 25 pings to the far end of L1. `ping -c 3 -i 0.2 ADDRESS` sends three, one each 0.2 s.
# Then write a function that takes such a text and returns its round trips, a list of numbers in ms. A ping without
# an answer has no line. It is tried on other outputs too.


# %% answer="parsed"
def rtts_of(text):
    ### BEGIN SOLUTION
    lines = [line for line in text.splitlines() if "time=" in line]
    return [float(line.split("time=")[1].split()[0]) for line in lines]
    ### STARTER
    # found = []
    # # YOUR TURN: for each line of text that has a round trip, append it as a float
    # return found
    ### END SOLUTION


### BEGIN SOLUTION
text = lab["r1"].cmd(f"ping -c 25 -i 0.2 {far_end['L1']}")
### STARTER
# text = ""  # YOUR TURN: lab["r1"].cmd("ping ...")
### END SOLUTION
print(text)

# %% check="parsed" points=2
lab04.check_parsed(rtts_of, text).require()

# %% [markdown] id="summary-task"
# The last line of `ping` has `rtt min/avg/max/mdev`. **mdev** is a standard deviation:
#
# mdev = √(mean of the squares - square of the mean)
#
# **Your turn:** compute the four numbers from a list of round trips. Linklab's own lists have a `None` for a ping
# without an answer. It counts for nothing.


# %% answer="summary"
def summary(rtt_ms):
    ### BEGIN SOLUTION
    answered = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(answered) / len(answered)
    mean_of_squares = sum(rtt**2 for rtt in answered) / len(answered)
    mdev = max(0, mean_of_squares - mean**2) ** 0.5
    return {"min": min(answered), "mean": mean, "max": max(answered), "mdev": mdev}
    ### STARTER
    # return {}  # YOUR TURN: a dictionary with "min", "mean", "max" and "mdev"
    ### END SOLUTION


# %% check="summary" points=1
lab04.check_summary(summary).require()

# %% [markdown] id="pings-task"
# ### All three links
#
# `measure.run` carries out a flow. Its result has the round trips (`.rtt_ms`):
#
# ```python
# measure.run(lab, measure.PingFlow("r1", "r2", count=3, address=far_end["L1"]))
# ```
#
# **Your turn:** 25 pings on each link. `ends` says from where to where. The keys of `pings` are the names of the
# links, its values the results.

# %% answer="pings"
ends = {
    "L1": ("r1", "r2", far_end["L1"]),
    "L2": ("r2", "r3", far_end["L2"]),
    "L3": ("r3", "r4", far_end["L3"]),
}
pings = {}
### BEGIN SOLUTION
for name, (source, destination, address) in ends.items():
    flow = measure.PingFlow(source, destination, count=25, address=address)
    pings[name] = measure.run(lab, flow)
### STARTER
# # YOUR TURN: pings["L1"] = measure.run(...), and so on
### END SOLUTION

# %% check="pings" points=1
lab04.check_pings(pings).require()

# %% [markdown] id="reasons-question"
# **Question.** For the sake of argument, let L1 have 40 Mbit/s, L3 20 Mbit/s, and both the same delay of 10 ms. Is L1
# then the faster link? Say what changes for a ping, and what for a file of 10 MB. Give numbers: a ping's frame has 98
# bytes.

# %% [markdown] reflect="reasons" points=2
# For the ping nearly nothing. Its time is nearly all propagation delay, which the rate does not change. The
# serialisation of 98 bytes (784 bits) takes 0.039 ms at 20 Mbit/s and 0.020 ms at 40: hundredths of a ms of 20. The
# file of 10 MB is 80 Mbit. It takes 4 s at 20 Mbit/s and 2 s at 40, and a little more for headers and TCP's start.
# "Fast" can mean a low latency or a high throughput: they are two properties.
#
# **Rubric.** 2 points: the ping stays (nearly) the same *and* the file takes half the time, each with a number
# that is right to a factor below 2; 1 point: one of the two, or both without a number. Typical wrong: (1) "the
# ping takes half the time" - the rate changes serialisation alone, 0.2 % of this RTT; (2) "10 MB / 20 Mbit/s =
# 0.5 s" - a byte has 8 bits; (3) "both are the same, for the RTT is the same" - throughput is not the inverse
# of the RTT.

# %% [markdown] id="arp-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# Your pings take the two propagation delays, to the last digit. Even 0.02 ms of serialisation is
# missing: the shaper keeps a small credit (a *token bucket*, here of 1600 bytes), and lets a lone packet pass at
# once. A real cable has no credit.
#
# </details>
#
# ### The first ping
#
# Our lab is prepared so that all pings are alike. Most networks are not. `ip neigh` shows what a node knows of its
# neighbours. The next cell deletes one line of it on r1, and pings. (The last lines put it back.)

# %% id="arp-try"
r1, address = lab["r1"], far_end["L1"]
print("before:", r1.cmd(f"ip neigh show {address}"), end="")
r1.cmd(f"ip neigh del {address} dev r1-eth1")
rtts_again = rtts_of(r1.cmd(f"ping -c 25 -i 0.2 {address}"))
print("after: ", r1.cmd(f"ip neigh show {address}"), end="")
print("RTT in ms:", rtts_again[:5], "...")
print(summary(rtts_again))
mac = lab["r2"].cmd("cat /sys/class/net/r2-eth0/address").strip()
print(r1.cmd(f"ip neigh replace {address} lladdr {mac} dev r1-eth1 nud permanent"), end="")

# %% [markdown] id="arp-question"
# **Question.** Why does the first ping take what it takes, and the others not? How much does it change the mean, and
# how much mdev? The course report, on which this lab is modelled, has a mean of 21.855 ms for 25 pings over a link of
# 10 ms each way: how much of the 1.855 ms can come from this?

# %% [markdown] reflect="arp" points=2
# r1 knows the IP address of r2, but not its Ethernet address. It asks with ARP, which is a round trip of its
# own. Only then does the ping leave: 20 + 20 = 40 ms. r2 need not ask back, since it learns r1's address from
# the question. After that r1 knows it. The mean rises by 20/25 = 0.8 ms, from 20 to 20.8; mdev rises from 0 to
# 3.9, since squares make much of one large distance. The median does not move at all. So ARP explains 0.8 of
# the report's 1.855 ms. The other 1.055 ms need another cause, for example late timers of a busy virtual
# machine.
#
# **Rubric.** 2 points: ARP as a round trip of its own before the first ping, and 0.8 of 1.855 ms; 1 point: one of the
# two. Typical wrong: (1) "the first packet warms up the link" - a link has no memory: name the mechanism; (2) "ARP
# explains all of it" - one of 25 pings is 20 ms longer: that is 0.8 ms in the mean; (3) "ARP happens on each
# ping" - the answer is kept, as the later pings show.

# %% [markdown] id="throughput-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# **ARP** (RFC 826): request there, reply back, then the ping. One late packet among 25 moves the mean by 4 % and mdev
# from 0 to nearly 4 ms; the median shows nothing of it. A difference is explained when you can compute it, or switch
# it off. You can do both with ARP, and neither with the rest of the report's difference.
#
# </details>
#
# ## 3. A full link
#
# `simpleperf` counts the bytes that the receiving *program* gets. Of each frame of 1514 bytes these are 1448
# (Lab 00). (A real cable spends the time of 1538 bytes on such a frame: preamble 8, checksum 4, and a gap of
# 12. So 94.1 % would be data there. The shaper of Linklab counts 1514: 95.6 %.)
#
# **Your turn:** predict what `simpleperf` shows for L1 as the mean of 25 s, in Mbit/s.

# %% answer="throughput"
### BEGIN SOLUTION
mbps = lab04.predict("throughput", L1.rate_mbps * 1448 / 1514, sure=80)
### STARTER
# mbps = lab04.predict("throughput", None, sure=None)
### END SOLUTION
mbps

# %% check="throughput" points=1
lab04.check_predicted(mbps).require()

# %% [markdown] id="transfers-task"
# **Your turn:** a transfer of 25 s over each link. `measure.SimpleperfFlow` takes the same arguments as `PingFlow`,
# but `duration_s=25` and `program=program` instead of the count. `show.watched(measure.run, lab, flow)` measures it,
# and shows how far it is. The first line tries your own `simpleperf.py`.

# %% answer="transfers"
program = lab04.own_simpleperf(lab)
transfers = {}
### BEGIN SOLUTION
for name, (source, destination, address) in ends.items():
    flow = measure.SimpleperfFlow(
        source, destination, duration_s=25, address=address, program=program
    )
    transfers[name] = show.watched(measure.run, lab, flow)
### STARTER
# # YOUR TURN: transfers["L1"] = show.watched(measure.run, lab, measure.SimpleperfFlow(...))
### END SOLUTION

# %% check="transfers" points=1
lab04.check_transfers(transfers).require()

# %% id="beside-table"
rows = lab04.beside_report(2, rtt_ms, mbps, pings, transfers)
show.comparison(rows, "Links: predicted, theory, report, measured")

# %% [markdown] id="swing-intro"
# ## 4. Ping next to a transfer
#
# Now both at once: a ping each second over L1, next to a transfer of 25 s over L1. The queue before L1 has
# `L1.queue_packets` slots, and L1 sends a full frame in this time:

# %% id="frame"
frame_ms = 1514 * 8 / (1000 * L1.rate_mbps)
print(f"{L1.queue_packets} slots, {frame_ms:.3f} ms for a frame of 1514 bytes")

# %% [markdown] id="swing-task"
# **Your turn:** sketch the RTT over these 25 s, as points `(seconds, ms)` from left to right: `[(0, 5), (10,
# 20), (25, 20)]` would rise for ten seconds and then stay. Three points or more. Is it a level, a step, a
# swing? How high? It will be drawn next to what you measure.

# %% answer="swing"
### BEGIN SOLUTION
points = [(0, 20), (1, 22), (2, 28), (4, 22), (9, 30), (11, 23), (18, 29), (20, 23), (25, 29)]
swing = lab04.predict("swing", points, sure=40)
### STARTER
# swing = lab04.predict("swing", None, sure=None)
### END SOLUTION
swing

# %% check="swing" points=1
lab04.check_predicted(swing).require()

# %% [markdown] id="together-task"
# `measure.run_together` starts several flows at one instant: `show.watched(measure.run_together, lab, [flow, flow])`.
#
# **Your turn:** 25 pings on L1, one each second (`interval_s=1`), next to a transfer of 25 s over L1.

# %% answer="together"
### BEGIN SOLUTION
r1_r2 = {"source": "r1", "destination": "r2", "address": far_end["L1"]}
ping = measure.PingFlow(**r1_r2, count=25, interval_s=1)
transfer = measure.SimpleperfFlow(**r1_r2, duration_s=25, program=program)
together = show.watched(measure.run_together, lab, [ping, transfer])
### STARTER
# together = ...  # YOUR TURN: show.watched(measure.run_together, lab, [...])
### END SOLUTION

# %% check="together" points=1
lab04.check_together(together).require()

# %% id="queue-figure"
lab04.queue_over_time(together, "L1", ("r1", "r2"), sketch=swing.sketch)

# %% [markdown] id="counters-task"
# ### What the queue says itself
#
# `tc` sets up queues in Linux, and shows them. `r1-eth1` is the interface of r1 at L1. In what `tc` prints,
# *htb* is the shaper and *netem* holds the delay and the queue.
#
# **Your turn:** on r1, run `tc -s qdisc show dev r1-eth1`, and read its output. How many frames did the queue drop
# (netem's line)? And which letter answers the question that the cell prints?

# %% answer="counters"
print(lab04.question_text(), end="\n\n")
### BEGIN SOLUTION
printed = lab["r1"].cmd("tc -s qdisc show dev r1-eth1")
dropped = int(printed[printed.index("netem") :].split("(dropped ")[1].split(",")[0])
answers = {"dropped": dropped, "limit": "c"}
### STARTER
# printed = ""  # YOUR TURN: the command
# answers = {"dropped": None, "limit": None}
### END SOLUTION
print(printed)

# %% check="counters" points=2
lab04.check_counters(printed, answers).require()

# %% [markdown] id="seen-task"
# **Your turn:** what did the queue add to the RTT on average, in ms? How many packets were waiting before a ping, on
# average? Use `summary`, `frame_ms`, the idle RTT, and the round trips `together.results[0].rtt_ms`.

# %% answer="seen"
### BEGIN SOLUTION
added_ms = summary(together.results[0].rtt_ms)["mean"] - 2 * L1.delay_ms
seen = {"mean_added_ms": added_ms, "mean_packets": added_ms / frame_ms}
### STARTER
# seen = {"mean_added_ms": None, "mean_packets": None}
### END SOLUTION

# %% check="seen" points=1
lab04.check_queue_seen(seen, together).require()

# %% id="stop"
lab.stop()

# %% [markdown] id="queue-question"
# **Question.** (1) Why does the RTT in your figure swing, and why does it not come back to that of the idle link? (2)
# Somebody sets netem's limit at L1 to ten times its value (frames in flight count in it), so that less is lost. What
# happens to the throughput of a long transfer, to a ping next to it, and to a video call? Give a number for the ping.

# %% [markdown] reflect="queue" points=3
# (1) CUBIC sends more until the queue is full and a frame is lost. Then it goes on with 0.7 of its window, the
# queue gets shorter, and it starts to grow again. With the plain course network's L1 the path holds 66 frames
# and the queue 34 more. 0.7 of these 100 are 70: still more than the 66 that keep the link busy. So a short
# queue is always left, and the link is never idle. (2) The throughput stays as it is, since the link is full
# already. TCP fills the longer queue too: a ping takes up to 10 ms back, and 670 times 0.303 = 203 ms for the
# way there, 213 ms in all. A video call shares the queue and has the same delay: it becomes hard to talk. Only
# the loss gets rarer.
#
# **Rubric.** 3 points: the swing as fill, loss and a smaller window; throughput (nearly) unchanged; about 200
# ms for the ping; 2 points: two of these; 1 point: one. Typical wrong: (1) "a longer queue, more throughput" -
# the link was never idle: the report of `simpleperf` shows it; (2) "the ping is short, it is not affected" -
# one queue, first in, first out; (3) "loss is a fault of the link" - here the loss is made by TCP, and tells it
# the rate; (4) 400 ms, as if the queue counted in both directions - acknowledgements use the other direction's
# own queue.

# %% [markdown] id="end-of-lab"
# <details><summary>Open this when you have written your answer</summary>
#
# A queue that is much too long is **bufferbloat**. How long should it be? The **bandwidth-delay product** (BDP) is what
# a path holds: rate times RTT, here 66 frames. After a loss the rest of the window must still be a BDP. CUBIC goes on
# with 0.7 of the window, so one connection needs room for 0.43 BDP (28 frames). Reno goes on with half, and needs 1
# BDP. Several hundred connections rarely lose at the same time: for *n* of them BDP/√n is enough. Fewer than a hundred
# often do, most of all with equal round trips (Appenzeller and others, 2004). L1 has room for 34 frames, since the
# other 33 of its 67 slots hold frames in flight.
#
# </details>
#
# ## Summary
#
# - The RTT of an idle link is its propagation delay, twice. Serialisation adds little for a small packet.
# - Throughput is another property. At most 95.6 % of a full link's rate are data here; TCP's start takes a little
#   more away.
# - Loss-based congestion control without ECN fills the queue before a full link. Everybody's RTT grows by
#   the time of the packets that wait.
# - One odd packet moves a mean. A difference is explained when you can compute it, or switch it off.
#
# ### Review (no points)
#
# 1. The course report says that throughput is 2 Mbit/s below the rate on each link of 40, 30 and 20 Mbit/s. It
#    measured 38.02, 28.43 and 19.05, and guesses at the number of hosts. What do you say?
# 2. Which of the three parts of the delay does a faster processor in the router change?
# 3. A ping next to a transfer *in the other direction* only: how much longer is it?
#
# <details><summary>Answers</summary>
#
# 1. It is a share, not a difference: each is 95 % of the rate. Of the missing 5 %, 4.4 are headers; the rest is TCP's
#    start. Hosts that are silent change nothing: test it by removing their cables.
# 2. None of them. It would change *processing delay*, a fourth part that is zero on virtual time.
# 3. The echo *reply* leaves with the data and waits in their queue. The RTT grows just as much.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, chapter 1 ("Delay, Loss, and Throughput in Packet-Switched Networks"); Peterson and Davie,
# chapter 1 ("Performance"). ARP is RFC 826, CUBIC RFC 9438. On queues: Appenzeller, Keslassy and McKeown,
# "Sizing Router Buffers", SIGCOMM 2004; Gettys and Nichols, "Bufferbloat: Dark Buffers in the Internet", ACM
# Queue 2011. RFC 7567 says what the IETF recommends. The next lab puts links in a row.
