# %% [markdown] id="goal"
# # Lab 06: Multiplexing
#
# Until now each measurement had the network to itself. Now several pairs of hosts send at the same time, and
# their packets take turns on the links that they share. That is *multiplexing*. Who gets how much? Is that
# fair? And how long does everybody wait?
#
# You predict, measure four combinations, write a fairness index, look into a queue, and change it.

# %% id="imports"
from dataclasses import replace

import linklab
from linklab import measure, show
from linklab.labs import lab06
from linklab.labs import multiplexing_figures as figures
from linklab.labs.multiplexing import backlog_packets, mean_rtt_ms, rates_mbps
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.network import path

# %% id="start"
network = linklab.course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = linklab.start(network)
program = own_simpleperf(lab)
show.draw(lab, highlight=path(network, "h1", "h4"))

# %% [markdown] id="combinations-intro"
# ## 1. Four combinations
#
# These flows run at the same time, one combination after the other. Each flow is a transfer by simpleperf and
# a ping beside it, for 25 s. In real time this lab takes about three minutes of measuring.

# %% id="combinations"
combinations = {
    "two": ["h1-h4", "h2-h5"],
    "three": ["h1-h4", "h2-h5", "h3-h6"],
    "crossing": ["h1-h4", "h7-h9"],
    "apart": ["h1-h4", "h8-h9"],
}

# %% [markdown] id="bottlenecks-intro"
# The figure above shows the way of `h1-h4`; `h2-h5` and `h3-h6` take the same links. The way of `h7-h9` is
# this one. Where is `h8`, and which links does `h8-h9` cross?

# %% id="crossing-figure"
show.draw(lab, highlight=path(network, "h7", "h9"))

# %% [markdown] id="bottlenecks-task"
# ## 2. Predict: who decides?
#
# When flows share links, the slowest link of a way need not be the one that decides. What counts is what a
# link has left *for one flow*. A link of 50 Mbit/s that two flows share has 25 for each.
#
# The link that gives a flow the least is its *bottleneck*. If a flow cannot use all of its part of a link,
# the others on that link may have the rest. This is called *max-min fairness*: nobody can get more without
# somebody who has less losing.
#
# **Your turn:** name the bottleneck of each flow: `"L1"`, `"L2"` or `"L3"`.

# %% answer="bottlenecks"
bottlenecks = {
    ### BEGIN SOLUTION
    "two": "L2",  # half of L2 is less than half of L1
    "three": "L2",
    "crossing h1-h4": "L2",
    "crossing h7-h9": "L2",  # half of L2 is less than L3, which is not shared
    "apart h1-h4": "L2",
    "apart h8-h9": "L3",  # h8 is at r3: its packets never see L2
    ### STARTER
    # "two": None,
    # "three": None,
    # "crossing h1-h4": None,
    # "crossing h7-h9": None,
    # "apart h1-h4": None,
    # "apart h8-h9": None,
    ### END SOLUTION
}

# %% check="bottlenecks" points=2
lab06.check_bottlenecks(bottlenecks).require()

# %% [markdown] id="shares-task"
# ## 3. Predict: who gets how much?
#
# Links carry frames of 1514 bytes, and 1448 of them are data. simpleperf counts data only.
#
# **Your turn:** the throughput of each flow in Mbit/s, if TCP shares every bottleneck equally. In `two` and
# `three` all flows are alike, so one number will do.

# %% answer="shares"
predicted_mbps = {
    ### BEGIN SOLUTION
    "two": L2.rate_mbps * 1448 / 1514 / 2,
    "three": L2.rate_mbps * 1448 / 1514 / 3,
    "crossing h1-h4": L2.rate_mbps * 1448 / 1514 / 2,
    "crossing h7-h9": L2.rate_mbps * 1448 / 1514 / 2,
    "apart h1-h4": L2.rate_mbps * 1448 / 1514,
    "apart h8-h9": L3.rate_mbps * 1448 / 1514,
    ### STARTER
    # "two": None,
    # "three": None,
    # "crossing h1-h4": None,
    # "crossing h7-h9": None,
    # "apart h1-h4": None,
    # "apart h8-h9": None,
    ### END SOLUTION
}

# %% check="shares" points=3
lab06.check_shares(predicted_mbps).require()

# %% [markdown] id="full-rtt-intro"
# ## 4. Predict: how long does a ping take then?
#
# TCP sends faster and faster until a packet is lost. A packet is lost when a queue is full. So every long
# transfer fills the queue of its bottleneck, again and again. A ping waits in that queue like any other
# packet.
#
# How long is the wait? A packet that arrives at a full queue leaves when those before it have
# left, one by one. Each takes 1514 * 8 bits, divided by the rate.
#
# > **What the queue counts.** Lab 01 showed `netem` with a delay and a *limit*. It holds each packet for the
# > delay, and then until the link is free. Both kinds count towards the limit: packets in flight and packets
# > that wait. So the time at a full link is the time of a queue full of packets *in all*, in place of the delay,
# > and not on top of it.
#
# Data flows in one direction only. The ping's answer comes back through empty queues.
#
# **Your turn:** the RTT in ms when the bottleneck's queue has just filled. `h1-h4` and `h7-h9` share L2, and
# `h8-h9` is alone on L3.

# %% answer="full-rtt"
### BEGIN SOLUTION
L2_full_ms = L2.queue_packets * 1514 * 8 / (1000 * L2.rate_mbps)
L3_full_ms = L3.queue_packets * 1514 * 8 / (1000 * L3.rate_mbps)
### STARTER
### END SOLUTION
predicted_full_ms = {
    ### BEGIN SOLUTION
    "h1-h4": L1.delay_ms + L2_full_ms + L2.delay_ms + L1.delay_ms,  # L2 and L1 back
    "h7-h9": L2_full_ms + L3.delay_ms + L3.delay_ms + L2.delay_ms,  # L3 and L2 back
    "h8-h9": L3_full_ms + L3.delay_ms,  # L3 back
    ### STARTER
    # "h1-h4": None,
    # "h7-h9": None,
    # "h8-h9": None,
    ### END SOLUTION
}

# %% check="full-rtt" points=3
lab06.check_full_rtt(predicted_full_ms).require()

# %% [markdown] id="prediction-question"
# **Question.** In `three`, one flow more waits at L2 than in `two`. Will the highest RTT be longer? Will the
# mean? Give a reason, before you measure.

# %% [markdown] reflect="prediction" points=1
# The highest RTT is the same: the queue is full with two flows already, and it has the same places. The
# mean hardly changes. If only one of three flows loses a packet and slows down, the queue empties less; but
# often all of them lose some at the same moment.

# %% [markdown] id="measure-intro"
# ## 5. Measure
#
# `flows_of("h1-h4")` is a list of two flows: 25 pings, one a second, and a transfer.


# %% id="flows"
def flows_of(pair):
    source, destination = pair.split("-")
    return [
        measure.PingFlow(source, destination, count=25, interval_s=1),
        measure.SimpleperfFlow(source, destination, duration_s=25, program=program),
    ]


# %% [markdown] id="measure-task"
# `show.watched(measure.at_once, lab, flows)` starts all flows of one list at the same instant, shows how far they
# are, and returns what they measured.
#
# **Your turn:** make `runs`, a dictionary with what it returns for each of the four combinations. All flows
# of a combination belong in *one* list: two lists can be added with `+`.

# %% answer="runs"
runs = dict.fromkeys(combinations)
### BEGIN SOLUTION
for name, pairs in combinations.items():
    flows = [flow for pair in pairs for flow in flows_of(pair)]
    runs[name] = show.watched(measure.at_once, lab, flows)
### STARTER
# # YOUR TURN: runs["two"] = show.watched(measure.at_once, lab, ...), and so on
### END SOLUTION

# %% check="runs" points=3
lab06.check_runs(runs).require()

# %% [markdown] id="throughput-intro"
# ## 6. Explain: throughput
#
# Your predictions beside theory, the course report (of the plain course network), and what you measured. The
# remarks say why we and the report differ.

# %% id="throughput-table"
figures.throughput_table(runs, predicted_mbps)

# %% id="used-figure"
figures.used_links(runs["crossing"], lab06.COMBINATIONS["crossing"])

# %% id="throughput-figure"
figures.throughput_figure(runs["two"], lab06.COMBINATIONS["two"])

# %% [markdown] id="throughput-notice"
# **What to notice.** The *sum* is as predicted: L2 is full. The parts are not, for each flow's share depends
# on who lost packets when. TCP slows down to 70 % after a loss and then grows slowly, so who has less catches
# up, but 25 s are short for that. Equal shares are where TCP *tends to*, not what it gives at once.
#
# In `apart` nothing is shared, and both flows have what a flow alone would have.
#
# ## 7. How fair is that? Jain's index
#
# One number for n throughputs x was proposed by Raj Jain in 1984:
#
# $$J = \frac{(x_1 + x_2 + \dots + x_n)^2}{n \cdot (x_1^2 + x_2^2 + \dots + x_n^2)}$$
#
# It is 1 if all are equal, and 1/n if one flow has everything. Above, add and then square. Below, square each
# one and then add.
#
# **Your turn:** write it. For an empty list, or nothing but zeros, there is no index: raise a `ValueError`
# that says what is wrong.


# %% answer="jain"
def jain(values):
    ### BEGIN SOLUTION
    if not any(values):
        raise ValueError("no flow carried data, so there is nothing to share")
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))
    ### STARTER
    # return None
    ### END SOLUTION


# %% check="jain" points=3
lab06.check_jain(jain).require()

# %% [markdown] id="fairness-task"
# `rates_mbps(runs["two"])` is a dictionary of throughputs, as `{"h1-h4": 14.2, ...}`; its `.values()` are the
# numbers.
#
# **Your turn:** the index of each combination.

# %% answer="fairness"
### BEGIN SOLUTION
fairness = {name: jain(list(rates_mbps(run).values())) for name, run in runs.items()}
### STARTER
# fairness = dict.fromkeys(combinations)
### END SOLUTION

# %% check="fairness" points=2
lab06.check_fairness(fairness, runs).require()

# %% id="fairness-table"
figures.fairness_beside_report(fairness)

# %% [markdown] id="fairness-question"
# **Question.** In `apart`, the index is below 1. Is that unfair to somebody? What must be true of flows
# before an index of them means anything?

# %% [markdown] reflect="fairness" points=1
# No. The two flows share no link, so neither takes anything from the other; h8-h9 has less because L3 is
# slower. An index compares what is divided among the flows, so they must share the same bottleneck.

# %% [markdown] id="rtt-intro"
# ## 8. Explain: round-trip times

# %% id="rtt-figure"
figures.rtt_figure(runs["two"], lab06.COMBINATIONS["two"])

# %% [markdown] id="rtt-notice"
# **What to notice.** The RTT swings. It climbs until the queue is full and a packet is lost; then TCP sends
# less, the queue drains, and the climb begins again. A cross is a ping that found the queue full and was lost
# itself. Below the shaded part are the delays of the links, which nobody can avoid. The shaded part is the
# *queueing delay*.
#
# **Your turn:** the mean queueing delay of `h1-h4` in each combination, in ms. `mean_rtt_ms(run)` is a
# dictionary of mean round trips, as `{"h1-h4": 70.0, ...}`.

# %% answer="queueing"
### BEGIN SOLUTION
idle_ms = 2 * (L1.delay_ms + L2.delay_ms)
queueing_ms = {name: mean_rtt_ms(run)["h1-h4"] - idle_ms for name, run in runs.items()}
### STARTER
# queueing_ms = dict.fromkeys(combinations)
### END SOLUTION

# %% check="queueing" points=1
lab06.check_queueing(queueing_ms, runs).require()

# %% id="rtt-table"
figures.rtt_table(runs, predicted_full_ms)

# %% [markdown] id="packets-intro"
# ## 9. Look into the queue
#
# If the RTT tells how long the queue is, it also tells how many packets are in it. The ping needs the delay of
# L1 on the way there, and those of L2 and L1 on the way back. The rest it spends at L2.
#
# **Your turn:** a function that says how many packets L2 held, those in flight included, from an RTT of
# `h1-h4` beside a transfer.


# %% answer="packets-in-queue"
def packets_in_queue(rtt_ms):
    ### BEGIN SOLUTION
    at_l2_ms = rtt_ms - (L1.delay_ms + L2.delay_ms + L1.delay_ms)
    return at_l2_ms / (1514 * 8 / (1000 * L2.rate_mbps))
    ### STARTER
    # return None
    ### END SOLUTION


# %% check="packets-in-queue" points=2
lab06.check_packets_in_queue(packets_in_queue).require()

# %% [markdown] id="backlog-intro"
# Is it true? The kernel knows: `tc -s qdisc` shows what `netem` holds at this moment. So we start a transfer,
# and now and then send one ping and look.

# %% id="backlog"
seen = []
server, _ = lab["h4"].popen("exec iperf3 -s -1"), lab["h4"].wait_listening(5201)
client = lab["h1"].popen(f"exec iperf3 -c {network.address_of('h4')} -t 16 -C cubic")
for _ in range(8):
    lab.sleep(1.5)
    rtt_ms = measure.run(lab, measure.PingFlow("h1", "h4", count=1)).rtt_mean_ms
    held = backlog_packets(lab, "r2", "r2-eth2")
    # None: a full queue dropped the ping
    seen.append([rtt_ms, rtt_ms and packets_in_queue(rtt_ms), held])
client.wait(60)
show.table(["RTT (ms)", "packets, from the RTT", "packets, from the kernel"], seen)

# %% [markdown] id="backlog-notice"
# **What to notice.** On virtual time both agree to a few packets. They are not quite the same because the ping
# met the queue some 40 ms before the kernel was asked. (In real time asking takes longer, and the queue has
# moved on.) An RTT is a look into the fullest queue of the way, from the outside.
#
# ## 10. Change the queue
#
# Who chose that length? Try half and double.

# %% id="new-queues"
half, double = L2.queue_packets // 2, 2 * L2.queue_packets
half, double

# %% [markdown] id="new-rtt-task"
# **Predict:** the RTT of `h1-h4` when a queue of half or of double the packets has just filled, in ms. Think of
# how many packets are in flight on L2 alone.

# %% answer="new-rtt"
predicted_new_ms = {
    ### BEGIN SOLUTION
    # half of it takes hardly more than the delay of L2
    packets: 2 * L1.delay_ms + L2.delay_ms + packets * 1514 * 8 / (1000 * L2.rate_mbps)
    for packets in (half, double)
    ### STARTER
    # half: None,
    # double: None,
    ### END SOLUTION
}

# %% check="new-rtt" points=2
lab06.check_new_rtt(predicted_new_ms).require()

# %% [markdown] id="new-networks-task"
# `network` is a value: it cannot be changed, but copied with a change. `replace(link, queue_packets=50)`
# returns a link with another queue, and `replace(network, links=...)` a network with other links.
# `network.links` is a tuple of links, each with its `name`.
#
# **Your turn:** a function that returns the course network with another queue at L2, and nothing else
# changed.


# %% answer="new-networks"
def with_queue(packets):
    ### BEGIN SOLUTION
    new = replace(L2, queue_packets=packets)
    links = tuple(new if link.name == "L2" else link for link in network.links)
    return replace(network, links=links)
    ### STARTER
    # return None
    ### END SOLUTION


networks = {packets: with_queue(packets) for packets in (half, double)}

# %% check="new-networks" points=2
lab06.check_new_networks(networks).require()

# %% [markdown] id="new-runs-task"
# **Your turn:** measure the combination `two` on each of them. `with linklab.start(changed) as other:` starts
# a lab for the lines below it, which are indented.

# %% answer="new-runs"
new_runs = dict.fromkeys(networks)
### BEGIN SOLUTION
flows = flows_of("h1-h4") + flows_of("h2-h5")
for packets, changed in networks.items():
    with linklab.start(changed) as other:
        new_runs[packets] = show.watched(measure.at_once, other, flows)
### STARTER
# # YOUR TURN: new_runs[half] = show.watched(measure.at_once, other, ...), and the same for double
### END SOLUTION

# %% check="new-runs" points=2
lab06.check_new_runs(new_runs).require()

# %% id="queues-table"
predicted_ms = {L2.queue_packets: predicted_full_ms["h1-h4"], **predicted_new_ms}
figures.queues_table({L2.queue_packets: runs["two"], **new_runs}, predicted_ms)

# %% [markdown] id="queues-notice"
# **What to notice.** Twice the queue does not mean twice the delay, nor half the queue half of it: many
# packets are always in flight on L2, and only what is beyond them waits.
#
# ## 11. What the report saw
#
# The course report measured a mean RTT of 96.8 ms in `two`, and up to 104 in `three`. Its network was the plain
# course network: L1 with 10 ms each way, and L2 with 30 Mbit/s, 20 ms and a queue of 100 packets. (Yours may have
# other numbers.) A queue of 100 frames cannot explain more than 80 ms there.
#
# > **One packet, two frames.** Linux likes to hand the network card several segments as one large packet, and
# > lets the card cut it up. netem then counts one where the link carries two. Linklab switches this off, so
# > that a queue of 100 packets is 100 frames. The report's network
# probably did not.
#
# **Your turn:** two numbers, and for the last two questions a letter.
#
# `report_frames`: how many *frames* were in the queue of the report's L2 on average, if the 96.784 ms of `h1-h4` in
# `two` are all delay and queue?
#
# `report_beyond_mbps`: the report's flows in `three` got 10.23, 7.91 and 11.65 Mbit/s of data. By how much is
# the sum more than its L2 can carry?
#
# `third_flow`: why is the highest RTT with three flows what it is with two? (a) L2's queue was full with two
# already. (b) Each flow waits in a queue of its own. (c) Three flows send less in all than two. (d) Pings
# overtake the packets of transfers.
#
# `small_queue`: with half of the queue the RTT hardly grows. What is the price? (a) The idle RTT is longer. (b) The
# link is idle at times: after a loss nothing waits that could be sent. (c) L2's rate is lower. (d) There is
# none.

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "report_frames": (96.784 - (10 + 20 + 10)) / (1514 * 8 / 30_000),
    "report_beyond_mbps": 10.23 + 7.91 + 11.65 - 30 * 1448 / 1514,
    "third_flow": "a",
    "small_queue": "b",
    ### STARTER
    # "report_frames": None,
    # "report_beyond_mbps": None,
    # "third_flow": None,
    # "small_queue": None,
    ### END SOLUTION
}

# %% check="questions" points=4
lab06.check_questions(answers).require()

# %% [markdown] id="report-question"
# **Question.** The report's author started the flows by hand, in several terminals. How can the three
# together have more than L2 carries? How would you show that on your own lab?

# %% [markdown] reflect="report" points=1
# Each transfer lasts 25 s, but they begin some seconds apart. The first has the link to itself for a moment, and so
# has the last at its end. Each number is a mean over another 25 s, so their sum is of no moment in particular. With
# start_s= one flow can be started some seconds after the others: then the sum exceeds what L2 carries.

# %% [markdown] id="queue-question"
# **Question.** A friend's video calls stutter whenever somebody uploads a large file. The router's queue
# holds 1000 packets, and the upload has 10 Mbit/s. What happens, and what would you change?

# %% [markdown] reflect="queue" points=1
# The upload fills the queue: 1000 packets of 12,112 bits at 10 Mbit/s take 1.2 s, and the packets of the call
# wait behind them. A smaller queue shortens the wait; a few dozen packets, about the bandwidth-delay product,
# still keep the link busy. Better still, a queue that serves flows in turn or drops early (fq_codel).

# %% [markdown] id="stop-intro"
# ## 12. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** a flow's bottleneck depends on who else is there. TCP shares a full link by tending
# to equal parts, and Jain's index says how near it came. And a queue is where throughput and delay are
# traded: too short wastes the link, too long makes everybody wait.
