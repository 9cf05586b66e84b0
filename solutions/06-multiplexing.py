# %% [markdown] id="goal"
# # Lab 06: Multiplexing
#
# **Time:** about 3 hours. **You need:** `popen` and iperf3
# (Lab 00), your simpleperf (Lab 02), and what a full queue does to a ping (Labs 04 and 05).
#
# Until now each measurement had the network to itself. Now several pairs of hosts send at the same time, and
# their packets share links. That is *multiplexing*. Who gets how much? Is that fair? How long does everybody
# wait?

# %% id="imports"
from linklab import course_network, lab06, measure, show, start

lab06.progress()

# %% id="start"
network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = start(network)
program = lab06.own_simpleperf(lab)
show.draw(lab)

# %% [markdown] id="shares-task"
# ## 1. Predict: who gets how much?
#
# | combination | flows at the same time |
# | --- | --- |
# | `two` | h1-h4, h2-h5 |
# | `three` | h1-h4, h2-h5, h3-h6 |
# | `crossing` | h1-h4, h7-h9 |
# | `apart` | h1-h4, h8-h9 |
#
# Find the paths in the figure. Each flow is a long transfer over TCP, with CUBIC. Of each frame of 1514 bytes
# 1448 are data (Lab 00), and throughput here counts data.
#
# **Predict** the throughput, in Mbit/s over 25 s, of *one* flow in `two`, and of h7-h9 in `crossing`. Say in
# percent how sure you are. Any number has its point, and you will see it next to the measurement.

# %% answer="shares"
### BEGIN SOLUTION
fair_mbps = L2.rate_mbps * 1448 / 1514 / 2  # half of L2 is less than all of L3
shares, sure = {"two": fair_mbps, "crossing h7-h9": fair_mbps}, 80
### STARTER
# shares = {"two": None, "crossing h7-h9": None}
# sure = None
### END SOLUTION
shares = lab06.predict("shares", shares, sure)
shares

# %% check="shares" points=1
lab06.check_predicted(shares).require()

# %% [markdown] id="by-hand-task"
# ## 2. Two flows, started by hand
#
# `cmd` waits for the end of a command. `popen` starts one and returns at once, so several can run:
#
# ```python
# server = lab["h6"].popen("iperf3 -s -1")  # a server, for one test
# lab["h6"].wait_listening(5201)  # its port
# client = lab["h3"].popen("iperf3 -c ADDRESS -t 25")
# client.wait()  # to its end; client.output is then what it printed
# ```
#
# This works on any Mininet host. `network.address_of("h4")` is an address. One iperf3 server serves one test at a
# time: two on one host would need two ports (`-p`).
#
# **Your turn:** run the two flows of `two`, h1-h4 and h2-h5, at the same time for 25 s, and print what both clients
# say. `printed` has their texts.

# %% answer="by-hand"
printed = {}
### BEGIN SOLUTION
for name in ("h4", "h5"):
    lab[name].popen("iperf3 -s -1")
    lab[name].wait_listening(5201)
first = lab["h1"].popen(f"iperf3 -c {network.address_of('h4')} -t 25")
second = lab["h2"].popen(f"iperf3 -c {network.address_of('h5')} -t 25")
first.wait()
second.wait()
printed = {"h1-h4": first.output, "h2-h5": second.output}
print(*printed.values(), sep="\n")
### STARTER
# # YOUR TURN: two servers, two clients, and then printed["h1-h4"] = ..., printed["h2-h5"] = ...
### END SOLUTION

# %% check="by-hand" points=3
lab06.check_by_hand(printed).require()

# %% [markdown] id="swing-task"
# ## 3. Sketch: how long does a ping take meanwhile?
#
# A ping from h1 to h4 shares all queues with the two flows. **Sketch its RTT** over 25 s as a list of points,
# `[(second, ms), (second, ms), ...]`, at least three. Where does it begin? How high can it get? Does it stay
# there? (netem's *limit* at L2 counts packets in flight on the link and packets that wait: Labs 04 and 05.)

# %% answer="swing"
### BEGIN SOLUTION
full_ms = 2 * L1.delay_ms + L2.delay_ms + L2.queue_packets * 1514 * 8 / L2.rate_mbps / 1000
points = [(0, 60), (2, full_ms), (3, 65), (12, full_ms), (13, 65), (22, full_ms), (24, 68)]
sure = 60
### STARTER
# points = None
# sure = None
### END SOLUTION
swing = lab06.predict("swing", points, sure)
swing

# %% check="swing" points=1
lab06.check_predicted(swing).require()

# %% [markdown] id="runs-task"
# ## 4. Measure
#
# `flows_of("h1-h4")` is a list of two flows: 25 pings, one a second, and a transfer by simpleperf.
# `show.watched(measure.run_together, lab, flows)` starts all flows of *one* list at the same instant, shows how far
# they are, and returns what they measured. Two lists can be added with `+`.
#
# **Your turn:** make `runs`, with what it returns for each of the four combinations: `runs["two"]`, and so on.


# %% answer="runs"
def flows_of(pair):
    ends = pair.split("-")
    transfer = measure.SimpleperfFlow(*ends, duration_s=25, program=program)
    return [measure.PingFlow(*ends, count=25, interval_s=1), transfer]


runs = dict.fromkeys(lab06.COMBINATIONS)
### BEGIN SOLUTION
of_h1 = flows_of("h1-h4")
runs["two"] = show.watched(measure.run_together, lab, of_h1 + flows_of("h2-h5"))
three = of_h1 + flows_of("h2-h5") + flows_of("h3-h6")
runs["three"] = show.watched(measure.run_together, lab, three)
runs["crossing"] = show.watched(measure.run_together, lab, of_h1 + flows_of("h7-h9"))
runs["apart"] = show.watched(measure.run_together, lab, of_h1 + flows_of("h8-h9"))
### STARTER
# # YOUR TURN: runs["two"] = show.watched(measure.run_together, lab, ...), and the other three
### END SOLUTION

# %% check="runs" points=3
lab06.check_runs(runs).require()

# %% [markdown] id="figures-intro"
# ## 5. What happened?
#
# The combination `two`, second by second: first the throughput, then the RTT with your sketch. A cross is a ping
# that was lost.

# %% id="throughput-figure"
lab06.figures.throughput_figure(runs["two"])

# %% id="rtt-figure"
lab06.figures.rtt_figure(runs["two"], sketch=swing.sketch)

# %% [markdown] id="seen-task"
# **Your turn:** a letter for each question.
#
# `decides`: in `crossing`, h7-h9 crosses L2 and L3, and L3 is the slower link. What sets the rate of h7-h9?
# (a) L3, since the slowest link of a path always decides. (b) L3 and L2 in turn: it has the mean of what they
# carry. (c) L2, since half of L2 is less than all of L3. (d) L1, which h1-h4 brings its packets through.
#
# `third_flow`: the highest RTT with three flows is what it is with two. Why? (a) L2's queue was full with two
# already, and a full queue grows no more. (b) Each flow waits in a queue of its own. (c) Three flows send less
# in all than two. (d) Pings overtake the packets of transfers.

# %% answer="seen"
answers = {
    ### BEGIN SOLUTION
    "decides": "c",
    "third_flow": "a",
    ### STARTER
    # "decides": None,
    # "third_flow": None,
    ### END SOLUTION
}

# %% check="seen" points=2
lab06.check_seen(answers).require()

# %% [markdown] id="shares-question"
# **Question.** In `two` the *sum* is near what L2 carries of data, also when you started the flows by hand. The
# two *shares* are not equal. Explain both. And if h2-h5 had twice the round trip, what would you expect of the
# shares then?

# %% [markdown] reflect="shares" points=3
# The sum: as long as packets wait at L2, L2 sends without a break. Two flows whose windows together exceed
# what is in flight keep it busy, whoever the packets belong to. The shares: a flow's rate is its window over the
# RTT. Who loses packets in slow start, or at a bad moment, goes on with a smaller window. CUBIC cuts it
# to 0.7 and grows slowly again, so the windows come nearer over many losses; 25 s have too few of them. Equal
# shares are what TCP tends to, at equal round trips. With twice the RTT, h2-h5 would have less, since with
# the same window it sends fewer packets a second, and it hears of a loss later.
#
# **Rubric.** 3 points: a queue that is never empty keeps the sum; shares depend on who lost when, and even out
# over many losses; a longer RTT gets less. 2 points: two of the three. 1 point: one. Typical wrong: (1) "TCP divides
# the link equally, so this is an error of measurement" - nobody divides: each sender knows its own losses
# only. (2) "h2 is nearer to the link" - both paths have the same links. (3) "with twice the RTT the rate is the
# same, since the link is" - the window is spread over a longer time.

# %% [markdown] id="shares-told"
# <details><summary>Open this when you have written your answer</summary>
#
# A queue that does not run empty keeps the *sum* at what L2 carries. The *shares* depend on who lost packets when.
# After a loss CUBIC cuts its window to 70 % and grows slowly, so who has less catches up over many losses. 25 s
# have few of them. TCP *tends to* equal shares, and comes near them only at equal round trips. With unequal
# ones the shorter RTT wins: at equal loss, throughput goes as 1/RTT for Reno (Mathis et al., 1997; RFC 5166), and
# depends on the RTT less for CUBIC (RFC 9438).
#
# </details>
#
# ## 6. How fair is that? Jain's index
#
# For n throughputs x, Raj Jain and others proposed one number in 1984:
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
    # # YOUR TURN: the formula
    # ...
    ### END SOLUTION


# %% check="jain" points=2
lab06.check_jain(jain).require()

# %% id="fairness-table"
rates = {name: list(lab06.rates_mbps(run).values()) for name, run in runs.items()}
lab06.figures.fairness_table({name: jain(values) for name, values in rates.items() if values})

# %% [markdown] id="fairness-question"
# **Question.** In `apart` the index is below 1. Is that unfair to somebody? What must be true of flows before
# an index of them means anything?

# %% [markdown] reflect="fairness" points=3
# No. The two flows share no link, so neither takes anything from the other: h8-h9 has less because L3 is slower.
# An index compares what is divided among the flows. So they must share the same bottleneck, want as much as
# they can get, and be measured over the same interval. One also has to say who counts as one: a flow, a host, a
# user.
#
# **Rubric.** 3 points: nothing is shared, so nobody loses; flows must share a bottleneck; and one more
# condition (same interval, all want as much as possible, who counts as one). 2 points: the first two. 1 point: only
# "no, L3 is slower". Typical wrong: (1) "yes, h8-h9 has less" - less than another is not unfair, if giving up
# some would not help it. (2) "the index is wrong" - the formula is right; the question put to it is not.

# %% [markdown] id="fairness-told"
# <details><summary>Open this when you have written your answer</summary>
#
# Nobody loses anything in `apart`: no link is shared. An index means something where the *same* bottleneck is
# divided, all want more than they get, and all are measured over the same interval (RFC 5166).
#
# </details>
#
# ## 7. Look into the queue
#
# A ping waits at L2 for the packets before it. So its RTT tells how many packets L2 holds. The rest of the RTT
# is the delay of L1 on the forward path, and those of L2 and L1 on the reverse path.
#
# **Your turn:** a function that says how many packets L2 holds, those in flight on it included, from an RTT of
# h1-h4 in ms. One frame of 1514 bytes takes 1514 * 8 bits.


# %% answer="packets-in-queue"
def packets_in_queue(rtt_ms):
    ### BEGIN SOLUTION
    at_l2_ms = rtt_ms - (L1.delay_ms + L2.delay_ms + L1.delay_ms)
    return at_l2_ms / (1514 * 8 / (1000 * L2.rate_mbps))
    ### STARTER
    # # YOUR TURN: the time at L2, over the time of one frame
    # ...
    ### END SOLUTION


# %% check="packets-in-queue" points=2
lab06.check_packets_in_queue(packets_in_queue).require()

# %% [markdown] id="look-task"
# Is it true? The kernel knows. `tc -s qdisc show dev r2-eth2`, typed on r2, prints what waits at r2's end of L2:
# in the part of `netem`, `backlog` has bytes and packets (`76p`) at this moment. (`print(lab.cli("net"))` is
# Mininet's list of who is connected by which interface.)
#
# **Your turn:** the cell starts a transfer. In its loop, let h1 send one ping to h4 (`-c 1 -W 1`: one packet, and
# wait one second at most), and right after it ask `tc` on r2. Append both texts to `looks` as a pair. A ping
# that finds the queue full is lost.

# %% answer="look"
looks, h4 = [], network.address_of("h4")
lab["h4"].popen("iperf3 -s -1 -p 5301")
lab["h4"].wait_listening(5301)
client = lab["h1"].popen(f"iperf3 -c {h4} -p 5301 -t 20")
for _ in range(6):
    lab.sleep(2)
    ### BEGIN SOLUTION
    said_by_ping = lab["h1"].cmd(f"ping -c 1 -W 1 {h4}")
    said_by_tc = lab["r2"].cmd("tc -s qdisc show dev r2-eth2")
    print(said_by_ping, said_by_tc)
    looks.append((said_by_ping, said_by_tc))
    ### STARTER
    # # YOUR TURN: ping, tc, and then looks.append((..., ...))
    ### END SOLUTION
client.wait()
lab06.figures.looks_table(looks, packets_in_queue)

# %% check="look" points=2
lab06.check_look(looks).require()

# %% [markdown] id="new-rtt-task"
# An RTT is the sum of all delays and of all queues on the way, in both directions. Here packets wait in one queue only,
# so it tells how full that one is. Some ms pass between the two counts, so they
# differ by a few packets.
#
# ## 8. Change the queue
#
# Now L2 gets **half** of its limit where r2 sends into it, and `two` runs again.
#
# **Predict** the RTT of h1-h4, in ms, when *that* queue has just filled. Think of how many packets are in flight
# on L2 alone.

# %% answer="new-rtt"
half = L2.queue_packets // 2
### BEGIN SOLUTION
half_full_ms = 2 * L1.delay_ms + L2.delay_ms + half * 1514 * 8 / (1000 * L2.rate_mbps)
sure = 70
### STARTER
# half_full_ms = None
# sure = None
### END SOLUTION
new_rtt = lab06.predict("new_rtt", {half: half_full_ms}, sure)
new_rtt

# %% check="new-rtt" points=1
lab06.check_predicted(new_rtt).require()

# %% [markdown] id="half-task"
# In Mininet, netem sits below HTB: `qdisc netem 10: parent 5:1 limit 100 delay 20ms`. To change it while the network
# runs, type on r2 (with *your* delay of L2: what is not named goes back to its default: no
# delay, a limit of 1000)
#
# `tc qdisc change dev r2-eth2 parent 5:1 handle 10: netem limit PACKETS delay MILLISECONDSms`
#
# **Your turn:** change it, print what `tc` shows then, and measure `two` again as `half_run`.

# %% answer="half"
half_run = runs.get("half")
### BEGIN SOLUTION
change = f"netem limit {half} delay {L2.delay_ms}ms"
lab["r2"].cmd(f"tc qdisc change dev r2-eth2 parent 5:1 handle 10: {change}")
print(lab["r2"].cmd("tc qdisc show dev r2-eth2"))
half_run = show.watched(measure.run_together, lab, flows_of("h1-h4") + flows_of("h2-h5"))
### STARTER
# # YOUR TURN: tc on r2, and then half_run = show.watched(measure.run_together, lab, ...)
### END SOLUTION

# %% check="half" points=2
lab06.check_half(half_run).require()

# %% id="queues-table"
lab06.figures.queues_table({L2.queue_packets: runs["two"], half: half_run})

# %% [markdown] id="small-queue-task"
# **Your turn:** with half of the queue the RTT hardly grows. What is the price? (a) The idle RTT is longer.
# (b) The link is idle at times: after a loss nothing waits that could be sent. (c) L2's rate is lower. (d) There
# is none.

# %% answer="small-queue"
### BEGIN SOLUTION
small_queue = "b"
### STARTER
# small_queue = None
### END SOLUTION

# %% check="small-queue" points=1
lab06.check_small_queue(small_queue).require()

# %% [markdown] id="queue-question"
# **Question.** A friend's video calls stutter whenever somebody uploads a large file. The router's queue
# holds 1000 packets, and the upload has 10 Mbit/s. What happens, with a number? What would you change, and how
# far would you go?

# %% [markdown] reflect="queue" points=3
# The upload's TCP fills the queue. 1000 frames of 12,112 bits take 1.2 s at 10 Mbit/s, and packets of the call wait
# behind them: far more than a call bears. A smaller queue shortens the wait. It must not be so small that nothing
# waits after a loss: with an RTT of 40 ms the BDP is about 33 packets, and CUBIC needs some 0.43 of that, Reno all
# of it, to keep the link busy. Better: a queue for each flow, served in turn, that drops early (FQ-CoDel,
# RFC 8290), or marks packets in place of dropping them (ECN).
#
# **Rubric.** 3 points: a full queue of 1.2 s; a smaller queue; and a lower bound for it (near a BDP) or FQ-CoDel/ECN
# with the reason. 2 points: two of these. 1 point: "the queue is too long", with no number. Typical wrong: (1)
# "a faster upload link solves it" - the queue is emptied faster, but TCP fills it again. (2) "no queue at all" - then
# the link idles after each loss, as in part 8. (3) 0.15 s - that takes bytes for bits.

# %% [markdown] id="queue-told"
# <details><summary>Open this when you have written your answer</summary>
#
# 1000 frames of 12,112 bits take 1.2 s at 10 Mbit/s: that is *bufferbloat*. A queue of about a bandwidth-delay
# product is enough for one CUBIC or Reno flow. FQ-CoDel (RFC 8290) gives each flow a queue of its own and drops
# early, so that the call does not wait behind the upload.
#
# </details>
#
# **(optional)** Predict and measure a limit of *double* the packets with `tc`, too.

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A flow's bottleneck depends on who else is there. TCP tends to equal shares of a full link where round trips
# are equal, and Jain's index says how near it came. An RTT tells how many packets wait. A queue trades throughput
# for delay: too short wastes the link, too long makes everybody wait.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. Two flows share a link of 10 Mbit/s; one never sends more than 2. What does max-min fairness
# give to the other?</summary>
#
# 8 Mbit/s, headers included: the first leaves the rest of its half.
#
# </details>
# <details><summary>2. The course report's three flows got 10.23, 7.91 and 11.65 Mbit/s. Their L2 carries at most 28.69
# of data. How can that be?</summary>
#
# They were started by hand, some seconds apart. Each number is a mean over *different intervals*: the first flow was
# alone at its start, and the last one at its end. So 29.79 Mbit/s never flowed at one time.
#
# </details>
# <details><summary>3. A path has 30 Mbit/s and an RTT of 60 ms without queues. How many full frames are its
# BDP?</summary>
#
# 30 Mbit/s times 60 ms are 1.8 Mbit, or 149 frames of 12,112 bits. Packets in flight on L2 alone are a third of that.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); Kurose & Ross, *Computer Networking*, on congestion control and
# on fairness of TCP; Peterson & Davie, *Computer Networks*, on resource allocation and queueing; RFC 5166 (metrics),
# RFC 9438 (CUBIC), RFC 8290 (FQ-CoDel), RFC 7567 (queue management).
