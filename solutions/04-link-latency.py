# %% [markdown] id="goal"
# # Lab 04: Link latency and throughput
#
# How long does a packet take over one link? How much data does the link carry per second? How does a transfer that
# fills the link change the packet's time? You predict the answers, measure them with `ping` and `simpleperf` (Lab 02's
# small iperf3), and explain the differences.
#
# **Time:** about 1 hour and 45 minutes. The measurements take a minute. **You need** the network of Lab 01. If your
# `simpleperf.py` of Lab 02 lies next to this notebook, this lab measures with it.
#
# No prediction is marked wrong. A prediction makes you decide before you measure. After the measurement you see your
# prediction next to theory.
#
# ## 1. Three links
#
# This is the network of Lab 01. The figure marks the three links between its routers. The variables `L1`, `L2` and
# `L3` hold the properties of the links: `L1.rate_mbps`, `L1.delay_ms`, `L1.queue_packets`. A router has several
# addresses.
# `far_end` holds the address at the far end of each link.

# %% id="imports"
from linklab import course_network, lab04, measure, show, start
from linklab.show import theory

network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
far_end = {link.name: link.b.address.removesuffix("/24") for link in (L1, L2, L3)}
lab = start(network)
display(lab04.progress())
print(far_end)
show.network(lab, highlight=["r1", "r2", "r3", "r4"])

# %% [markdown] id="rtt-intro"
# ## 2. An idle link
#
# The **round-trip time** (RTT) is the time from sending a packet until its answer arrives. A packet's delay on a link
# has three parts:
#
# - **serialisation delay** (or transmission delay): the link sends the frame bit by bit, at its rate;
# - **propagation delay**: each bit travels to the other end. The figure shows this delay;
# - **queueing delay**: the frame waits until the link has sent the frames before it.
#
# **Your turn:** predict the RTT of a ping over the idle link L1, in ms. Set `sure` to how sure you are, from 0 (a
# guess) to 100 (certain).

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
# `lab["r1"].cmd("...")` runs a command on r1 and returns the command's output. (You can run other Linux commands too,
# such as `ip route`, or `tcpdump`, which prints packets. `lab.cli` runs Mininet's own commands: `print(lab.cli("net"))`
# lists the cables.)
#
# **Your turn:** from r1, send 25 pings to the far end of L1. `ping -c 3 -i 0.2 ADDRESS` sends 3 pings, one every 0.2
# s. Then write a function that takes ping's output and returns a list of the RTTs, as numbers in ms. Ping prints no
# line for a ping without an answer. The check also tries your function on other outputs.


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
# The last line of `ping` lists `rtt min/avg/max/mdev`. **mdev** is a standard deviation, which says how far the RTTs
# lie from their mean:
#
# mdev = √(mean of the squares - square of the mean)
#
# **Your turn:** compute the four numbers from a list of RTTs. Linklab's lists contain `None` for each ping without an
# answer. Ignore every `None`.


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
# `measure.run` measures a flow. Its result holds the RTTs (`.rtt_ms`):
#
# ```python
# measure.run(lab, measure.PingFlow("r1", "r2", count=3, address=far_end["L1"]))
# ```
#
# **Your turn:** send 25 pings over each link. `ends` gives source, destination and address for each link. Store each
# result in `pings`, under the name of its link.

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
# **Question.** Assume that L1 has 40 Mbit/s, L3 has 20 Mbit/s, and both have a delay of 10 ms. How much faster is L1
# for a ping (a frame of 98 bytes), and how much faster for a file of 10 MB?

# %% [markdown] reflect="reasons" points=2
# The ping takes nearly the same time on both links. Nearly all of its RTT is propagation delay, which the rate does
# not change. The serialisation of 98 bytes (784 bits) takes 0.039 ms at 20 Mbit/s and 0.020 ms at 40. This difference
# is a few hundredths of a ms in an RTT of 20 ms. The file of 10 MB has 80 Mbit. It takes 4 s at 20 Mbit/s and 2 s at
# 40, and a little more for headers and TCP's start. "Fast" can mean low latency or high throughput. These are two
# properties.
#
# **Rubric.** 2 points: the ping takes (nearly) the same time *and* the file takes half the time, each with a number
# that is wrong by less than a factor of 2; 1 point: one of the two, or both without a number. Typical wrong: (1) "the
# ping takes half the time" - the rate changes only serialisation, 0.2 % of this RTT; (2) "10 MB / 20 Mbit/s = 0.5 s"
# - a byte has 8 bits; (3) "both links take the same time because the RTT is the same" - throughput is not the inverse
# of the RTT.

# %% [markdown] id="arp-intro"
# ### The first ping
#
# Linklab prepares our lab so that all pings take the same time. In most networks they do not. `ip neigh` shows what a
# node knows about its neighbours. The next cell deletes r1's entry for r2 (`extern_learn`: Linklab wrote it) and sends
# pings. (Its last lines write the entry again.)

# %% id="arp-try"
lab04.explain("reasons")
r1, address = lab["r1"], far_end["L1"]
print("before:", r1.cmd(f"ip neigh show {address}"), end="")
r1.cmd(f"ip neigh del {address} dev r1-eth1")
rtts_again = rtts_of(r1.cmd(f"ping -c 25 -i 0.2 {address}"))
print("after: ", r1.cmd(f"ip neigh show {address}"), end="")
print("RTT in ms:", rtts_again[:5], "...")
print(summary(rtts_again))
mac = lab["r2"].cmd("cat /sys/class/net/r2-eth0/address").strip()
print(r1.cmd(f"ip neigh replace {address} lladdr {mac} dev r1-eth1 nud permanent"), end="")

# %% [markdown] id="arp-task"
# In test case 2 of the course report (a student's report of 2023 on this network; Lab 02), 25 pings over a link of 10
# ms each way have a mean of 21.855 ms, 1.855 ms more than theory.
#
# **Your turn:** choose the letter that answers the question which the cell prints. Then suppose that the first of the
# 25 pings took as long as the first one that you just saw: how much of the mean's extra 1.855 ms does this explain?

# %% answer="arp"
print(lab04.question("first"))
### BEGIN SOLUTION
arp = {"first": "b", "ms": 20 / 25}
### STARTER
# arp = {"first": None, "ms": None}
### END SOLUTION

# %% check="arp" points=2
lab04.check_arp(arp).require()

# %% id="sliders"
# Move the sliders: when does sending take longer than travelling? This is a real cable. In the
# lab a single packet pays nothing for sending, because the shaper lets it pass at once.
theory.space_time(L1.rate_mbps, L1.delay_ms)

# %% [markdown] id="throughput-intro"
# ## 3. A full link
#
# `simpleperf` counts the bytes that the receiving *program* gets. A frame of 1514 bytes carries 1448 bytes of data (Lab
# 00).
#
# **Your turn:** predict the mean throughput that `simpleperf` shows for 25 s over L1, in Mbit/s.

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
# **Your turn:** measure a transfer of 25 s over each link. Give `measure.SimpleperfFlow` the same arguments as
# `PingFlow`, but replace `count` by `duration_s=25` and `program=program`. `measure.run(lab, flow)` measures the
# flow. During a long measurement the cell shows what the links carry, and a stop button. The first line of the cell
# tries your own `simpleperf.py`.
#
# What the headers leave of a link's rate is its *ceiling*. Linklab's *shaper*, `htb`, counts 1514 bytes for a frame, so
# the ceiling is 95.6 % of the rate. (A real cable needs the time of 1538 bytes: it adds a preamble of 8, a checksum of
# 4 and a gap of 12. There it is 94.1 %.)

# %% answer="transfers"
program = lab04.own_simpleperf(lab)
transfers = {}
### BEGIN SOLUTION
for name, (source, destination, address) in ends.items():
    flow = measure.SimpleperfFlow(
        source, destination, duration_s=25, address=address, program=program
    )
    transfers[name] = measure.run(lab, flow)
### STARTER
# # YOUR TURN: transfers["L1"] = measure.run(lab, measure.SimpleperfFlow(...))
### END SOLUTION

# %% check="transfers" points=1
lab04.check_transfers(transfers).require()

# %% id="beside-table"
rows = lab04.beside_report(2, rtt_ms, mbps, pings, transfers)
display(show.comparison(rows, "Links: predicted, theory (with TCP's start), report, measured"))
frame_ms = 1514 * 8 / (1000 * L1.rate_mbps)
print(f"{L1.queue_packets} slots, {frame_ms:.3f} ms for a frame of 1514 bytes")

# %% [markdown] id="swing-task"
# ## 4. Ping next to a transfer
#
# Now you send a ping each second over L1, next to a transfer of 25 s over L1. The last line of the cell above says how
# many slots the queue before L1 has (a *slot* is room for one packet), and how long L1 needs to send a full frame.
#
# **Your turn:** sketch the RTT over these 25 s. Run the cell, draw the curve in its figure, and run the cell again:
# it writes your points down. You can also write them yourself: `[(0, 5), (10, 20), (25, 20)]` rises to 20 ms for ten
# seconds and then stays level. Does the RTT stay level, jump once, or swing up and down? How high does it rise? After
# the measurement, a figure shows your sketch next to the measured RTT.

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
# `measure.run_together(lab, [flow, flow])` starts several flows at the same time.
#
# **Your turn:** send 25 pings over L1, one each second (`interval_s=1`), next to a transfer of 25 s over L1. Put the
# ping first: the results are in the order of the flows. (While it measures, the cell shows the queue. Its number
# includes frames in flight.)

# %% answer="together"
### BEGIN SOLUTION
r1_r2 = {"source": "r1", "destination": "r2", "address": far_end["L1"]}
ping = measure.PingFlow(**r1_r2, count=25, interval_s=1)
transfer = measure.SimpleperfFlow(**r1_r2, duration_s=25, program=program)
together = measure.run_together(lab, [ping, transfer])
### STARTER
# together = ...  # YOUR TURN: measure.run_together(lab, [...])
### END SOLUTION

# %% check="together" points=1
lab04.check_together(together).require()

# %% id="queue-figure"
lab04.queue_over_time(together, "L1", ("r1", "r2"), sketch=swing.sketch)

# %% [markdown] id="counters-task"
# ### The queue's own counters
#
# `tc` sets up queues in Linux, and shows them. `r1-eth1` is r1's interface to L1. In the output of `tc`, *htb* is the
# shaper. *netem* holds the delay and the queue.
#
# **Your turn:** on r1, run `tc -s qdisc show dev r1-eth1`, and read its output. How many frames did the queue drop
# (netem's line)? Which letters answer the two questions that the cell prints? (TCP's *window* is how much data it keeps
# in flight, and *CUBIC* is the rule by which TCP on Linux changes its window. The routers here only drop packets, when
# a queue is full. A router can also mark packets earlier: that is *ECN*.)

# %% answer="counters"
print(lab04.question("limit", "swing"), end="\n\n")
### BEGIN SOLUTION
printed = lab["r1"].cmd("tc -s qdisc show dev r1-eth1")
dropped = int(printed[printed.index("netem") :].split("(dropped ")[1].split(",")[0])
answers = {"dropped": dropped, "limit": "c", "swing": "b"}
### STARTER
# printed = ""  # YOUR TURN: the command
# answers = {"dropped": None, "limit": None, "swing": None}
### END SOLUTION
print(printed)

# %% check="counters" points=3
lab04.check_counters(printed, answers).require()

# %% [markdown] id="seen-task"
# **Your turn:** compute how many ms the queue added to the RTT, on average. Then compute how many packets waited
# before a ping, on average. Use `summary`, `frame_ms`, the idle RTT, and the RTTs in `together.results[0].rtt_ms`.

# %% answer="seen"
### BEGIN SOLUTION
added_ms = summary(together.results[0].rtt_ms)["mean"] - 2 * L1.delay_ms
seen = {"mean_added_ms": added_ms, "mean_packets": added_ms / frame_ms}
### STARTER
# seen = {"mean_added_ms": None, "mean_packets": None}
### END SOLUTION

# %% check="seen" points=1
lab04.check_queue_seen(seen, together).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how pings and transfers share a link, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) On idle links such as these nearly all of a ping's RTT is propagation delay, so a link with twice the rate
# > answers a ping hardly any faster. (2) Next to a long TCP transfer over the same link, the ping waits in the
# > transfer's queue, and its RTT rises by at most the time that the full queue needs to empty. (3) The transfer hardly
# > notices the pings and stays near its ceiling. (4) A longer queue before L1 would therefore make the pings slower,
# > and the transfer hardly faster. (5) Each direction of a link has a queue of its own: while r1 sends a transfer to
# > r2, a ping from r2 to r1 does not meet the transfer's packets, and its RTT stays that of the idle link.
#
# **Your turn:** find the wrong sentence, and measure a run that contradicts it. Store the sentence's number and the
# run.

# %% answer="claim"
on_l1 = {end.node: end.address.removesuffix("/24") for end in L1.ends}  # addresses
### BEGIN SOLUTION
wrong_sentence = 5
against = measure.PingFlow("r2", "r1", count=25, interval_s=1, address=on_l1["r1"])
shows_it = measure.run_together(lab, [against, transfer])
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run or measure.run_together returns
### END SOLUTION

# %% check="claim" points=3
lab04.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="start-task"
# ## 5. Start high or low?
#
# Suppose that you do not know the rate of L2. [UDP](glossary.md) sends at the rate that you ask for (Lab 03), so you
# can try rates. Where do you start? The course report says: high rather than low, because a high rate shows the highest
# rate of a path at once, "without losing too many packets".
#
# **Your turn:** send UDP over L2 for 5 s, once at 10 Mbit/s and once at 100 Mbit/s (`measure.UdpFlow("r2", "r3",
# rate_mbps=10, duration_s=5, address=far_end["L2"])`). Store the two results. Then compute from `high` alone the rate
# of L2 in Mbit/s: a frame of 1490 bytes carries 1448 bytes of data. How many percent of the packets of `high` were
# lost? Which letter answers the question that the cell prints?

# %% answer="start"
low = high = None
print(lab04.question("start"))
### BEGIN SOLUTION
low, high = (
    measure.run(lab, measure.UdpFlow("r2", "r3", mbps, duration_s=5, address=far_end["L2"]))
    for mbps in (10, 100)
)
rate = high.throughput_mbps * 1490 / 1448
found = {"rate_mbps": rate, "lost_percent": high.loss_percent, "start": "c"}
### STARTER
# # YOUR TURN: low = measure.run(...), high = measure.run(...)
# found = {"rate_mbps": None, "lost_percent": None, "start": None}
### END SOLUTION
print(low, high, sep="\n")

# %% check="start" points=3
lab04.check_start(low, high, found).require()

# %% id="stop"
lab.stop()
lab04.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - The RTT of an idle link is twice its propagation delay. Serialisation adds little for a small packet.
# - Throughput is another property. Data use at most 95.6 % of a full link's rate here. TCP's start costs a little more.
# - TCP with CUBIC sends more until a packet is lost, so it fills the link's queue. Everybody's RTT grows by the time
#   that the waiting packets need.
# - One unusual packet changes a mean. You have explained a difference when you can compute it, or remove its
#   cause and see it vanish.
#
# ### Review (no points)
#
# 1. The course report measured 38.02, 28.43 and 19.05 Mbit/s on links of 40, 30 and 20 Mbit/s. It says that throughput
#    is 2 Mbit/s below the rate on each link. It suspects that the number of hosts is the cause. What do you say?
# 2. Which of the three parts of the delay does a faster processor in the router change?
#
# <details><summary>Answers</summary>
#
# 1. Compare shares, not differences: each throughput is 95 % of the rate. Of the missing 5 %, headers take 4.4. TCP's
#    start takes the rest. Silent hosts change nothing. Remove their cables to test this.
# 2. It changes none of them. It would change *processing delay*, a fourth part that is zero on virtual time.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, chapter 1 ("Delay, Loss, and Throughput in Packet-Switched Networks"); Peterson and Davie, chapter 1
# ("Performance"). ARP is RFC 826, CUBIC RFC 9438. On queues: Appenzeller, Keslassy and McKeown, "Sizing Router
# Buffers", SIGCOMM 2004; Gettys and Nichols, "Bufferbloat: Dark Buffers in the Internet", ACM Queue 2011. RFC 7567 says
# what routers should do. In the next lab, several links form a path.
