# %% [markdown] id="goal"
# # Lab 06: Multiplexing
#
# **Time:** about 3 hours. **You need:** `popen` and iperf3 (Lab 00), your simpleperf (Lab 02), and the effect of a full
# queue on a ping (Labs 04 and 05).
#
# Now several pairs of hosts send at the same time, and their packets share links. That is *multiplexing*. How much
# throughput does each pair get? Is that fair? How long do packets wait?

# %% id="imports"
from linklab import course_network, lab06, measure, show, start

network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = start(network)
program = lab06.own_simpleperf(lab)
display(lab06.progress())
show.network(lab)

# %% [markdown] id="shares-task"
# ## 1. Predict: who gets how much? (15 minutes)
#
# You will measure these four combinations of flows:
#
# | combination | flows at the same time |
# | --- | --- |
# | `two` | h1-h4, h2-h5 |
# | `three` | h1-h4, h2-h5, h3-h6 |
# | `crossing` | h1-h4, h7-h9 |
# | `apart` | h1-h4, h8-h9 |
#
# Each flow is a long TCP transfer, with CUBIC as its *congestion control*: the rule by which TCP changes its window.
# Find its path in the figure. Throughput counts data only: 1448 of each 1514 bytes.
#
# **Predict** two throughputs over 25 s, in Mbit/s: *both* flows of `two` together, and h7-h9 in `crossing`. Say in
# percent how sure you are. For h7-h9 theory gives only the mean of many runs. In which interval do you expect your one
# run? Write it behind the line as a comment, and compare in part 4.

# %% answer="shares"
### BEGIN SOLUTION
l2_mbps = L2.rate_mbps * 1448 / 1514
# half of L2 is less than all of L3
shares = {"two, both": l2_mbps, "crossing h7-h9": l2_mbps / 2}
sure = 80
### STARTER
# shares = {"two, both": None, "crossing h7-h9": None}
# sure = None
### END SOLUTION
shares = lab06.predict("shares", shares, sure)
shares

# %% check="shares" points=1
lab06.check_predicted(shares).require()

# %% [markdown] id="by-hand-task"
# ## 2. Two flows, started by hand (25 minutes)
#
# `popen` starts a command and returns at once, so several commands can run:
#
# ```python
# server = lab["h6"].popen("iperf3 -s -1")  # a server, for one test
# lab["h6"].wait_listening(5201)  # Linklab's: wait until a program listens on this port
# client = lab["h3"].popen("iperf3 -c ADDRESS -t 25")
# client.wait()  # wait until it ends; then client.output is what it printed
# ```
#
# `network.address_of("h4")` returns the address of h4. An iperf3 server serves one test at a time.
#
# **Your turn:** run the two flows of `two`, h1-h4 and h2-h5, at the same time for 25 s. Store the output of both
# clients in `printed`. The cell prints the last lines of each.

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
### STARTER
# # YOUR TURN: two servers, two clients, and then printed["h1-h4"] = ..., printed["h2-h5"] = ...
### END SOLUTION
for name, text in printed.items():
    print(name, *text.splitlines()[-5:-2], sep="\n")

# %% check="by-hand" points=3
lab06.check_by_hand(printed).require()

# %% [markdown] id="highest-task"
# ## 3. Predict: a ping's highest RTT (10 minutes)
#
# A ping from h1 to h4 waits in the same queues as the flows. In Lab 05 you predicted its highest RTT beside *one* flow.
# **Predict** it, in ms, beside two flows (`two`), and beside three (`three`). (netem's *limit* at L2,
# `L2.queue_packets`, counts packets in flight and packets that wait.)

# %% answer="highest"
### BEGIN SOLUTION
full_ms = 2 * L1.delay_ms + L2.delay_ms + L2.queue_packets * 1514 * 8 / L2.rate_mbps / 1000
highest, sure = {"two": full_ms, "three": full_ms}, 60
### STARTER
# highest = {"two": None, "three": None}
# sure = None
### END SOLUTION
highest = lab06.predict("highest", highest, sure)
highest

# %% check="highest" points=1
lab06.check_predicted(highest).require()

# %% [markdown] id="runs-task"
# ## 4. Measure (20 minutes)
#
# `flows_of("h1-h4")` returns a list of two flows: 25 pings, one a second, and a transfer by simpleperf.
# `measure.run_together(lab, flows)` starts all flows of *one* list at the same instant. Join two lists with `+`.
#
# **Your turn:** measure each of the four combinations, and store each result in `runs`: `runs["two"]`, and so on.


# %% answer="runs"
def flows_of(pair):
    ends = pair.split("-")
    transfer = measure.SimpleperfFlow(*ends, duration_s=25, program=program)
    return [measure.PingFlow(*ends, count=25, interval_s=1), transfer]


runs = dict.fromkeys(lab06.COMBINATIONS)
### BEGIN SOLUTION
of_h1, of_h2 = flows_of("h1-h4"), flows_of("h2-h5")
runs["two"] = measure.run_together(lab, of_h1 + of_h2)
runs["three"] = measure.run_together(lab, of_h1 + of_h2 + flows_of("h3-h6"))
runs["crossing"] = measure.run_together(lab, of_h1 + flows_of("h7-h9"))
runs["apart"] = measure.run_together(lab, of_h1 + flows_of("h8-h9"))
### STARTER
# # YOUR TURN: runs["two"] = measure.run_together(lab, ...), and the other three
### END SOLUTION
display(lab06.figures.throughput_figure(runs["two"]), lab06.figures.rtt_figure(runs["two"]))
lab06.figures.highest_table(runs, highest)

# %% check="runs" points=3
lab06.check_runs(runs).require()

# %% [markdown] id="seen-task"
# ## 5. What happened? (15 minutes)
#
# The figures show the combination `two`, second by second: first the throughput, then the RTT. A cross marks a lost
# ping. The table compares the highest RTTs of `two` and `three` with your prediction.
#
# **Your turn:** answer each question with a letter.
#
# `decides`: In `crossing`, h7-h9 crosses L2 and L3, and L3 is the slower link. What sets the rate of h7-h9?
#
# - a: L3, because the slowest link of a path always decides
# - b: L3 and L2 in turn: the flow gets the mean of both rates
# - c: L2, because half of L2 is less than all of L3
# - d: L1, because h1-h4 sends its packets over L1
#
# `third_flow`: With three flows the highest RTT is the same as with two. Why?
#
# - a: two flows already fill L2's queue, and a full queue cannot grow
# - b: each flow waits in a queue of its own
# - c: three flows together send less than two
# - d: pings overtake the packets of transfers
#
# `shares`: In `two`, the sum of both throughputs is near L2's maximum, but the two shares are not equal. Why?
#
# - a: TCP divides the link equally, so this is an error of the measurement
# - b: one of the two hosts is nearer to L2, and a shorter path gets more
# - c: L2 is busy while any packet waits, whoever sent it; which flow loses packets, and when, decides the shares
# - d: the flow that started first keeps its lead

# %% answer="seen"
answers = {
    ### BEGIN SOLUTION
    "decides": "c",
    "third_flow": "a",
    "shares": "c",
    ### STARTER
    # "decides": None,
    # "third_flow": None,
    # "shares": None,
    ### END SOLUTION
}

# %% check="seen" points=3
lab06.check_seen(answers).require()

# %% id="report-table"
lab06.figures.report_table(runs)

# %% [markdown] id="shares-told"
# The table compares your numbers with test case 4 of the course report. Each flow's *share* comes from a single run.
# The report's RTTs are longer, probably because its network cards joined segments (offloads, Lab 00): a queue counts
# packets, so with joined segments it holds more data.
#
# ## 6. How fair is that? Jain's index (25 minutes)
#
# In 1984 Raj Jain and others proposed one number for the fairness of n throughputs x:
#
# $$J = \frac{(x_1 + x_2 + \dots + x_n)^2}{n \cdot (x_1^2 + x_2^2 + \dots + x_n^2)}$$
#
# J is 1 if all throughputs are equal, and 1/n if one flow has everything. In the numerator, add and then square. In
# the denominator, square each throughput and then add.
#
# **Your turn:** write the function `jain`. The index of an empty list, or of a list of zeros, is undefined: raise a
# `ValueError` that says what is wrong.


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


rates = {name: list(lab06.rates_mbps(run).values()) for name, run in runs.items()}
lab06.figures.fairness_table({name: jain(values) for name, values in rates.items() if values})

# %% check="jain" points=2
lab06.check_jain(jain).require()

# %% [markdown] id="fairness-question"
# In `apart` the index is below 1, but this is not unfair to either flow.
#
# **Question.** Which conditions must hold before Jain's index says something about fairness? Start from `apart`:
# which of them is broken there?

# %% [markdown] reflect="fairness" points=3
# The two flows share no link, so neither takes anything from the other: h8-h9 has less because L3 is slower.
# Jain's index compares shares of one resource. So the flows must share the same bottleneck, want as much as they can
# get, and be measured over the same interval. You also have to say what you compare: flows, hosts or users.
#
# **Rubric.** 3 points: the flows share nothing, so nobody loses; flows must share a bottleneck; and one more
# condition (same interval, all want as much as possible, what you compare). 2 points: the first two. 1 point: only
# "L3 is slower". Typical wrong: (1) "an index below 1 is unfair" - only if the flows share something: h8-h9 would gain
# nothing if h1-h4 sent less. (2) "the index is wrong" - the formula is right, but it does not fit this question.

# %% [markdown] id="fairness-told"
# ## 7. Look into the queue (35 minutes)
#
# At L2 the packets of both flows wait in one queue, first in, first out (a *FIFO*). The next cell records 6 s of two
# transfers at r2's end of L2, and plays them. **Say to yourself** before you run it: the queue is full when a packet is
# lost. Whose packets fill it?
#
# **Your turn:** the picture opens at the last loss. Open *This moment in words*, and read how many packets of each flow
# `r2-eth2` holds, waiting or under way. Compare the two shares with the shares of the throughput over the whole run.
# They differ. Why can both be right? (Without the picture: `print(counted)`. Its `sent` are the packets that L2 sent in
# the whole run.)

# %% id="replay"
lab06.explain("fairness")
both = [measure.TcpFlow("h1", "h4", 6), measure.TcpFlow("h2", "h5", 6)]
recorded = measure.run_together(lab, both, record=["r2-eth2"])
counted = lab06.held_at_losses(recorded)
print(recorded)
show.network(recorded, event=recorded.events.last("loss"))

# %% answer="held"
### BEGIN SOLUTION
held = counted["last"]
### STARTER
# held = {"h1-h4": None, "h2-h5": None}
### END SOLUTION
held

# %% check="held" points=1
lab06.check_held(held, counted).require()

# %% id="three-runs"
lab06.figures.two_table(printed, runs["two"], recorded)

# %% [markdown] id="function-task"
# These are your three runs of `two`. (The recorded one lasts 6 s only, its start included.) The *sum* you can trust
# after one run. The *shares* you cannot: 25 s hold few losses. Lab 07 asks how many runs it takes.
#
# At L2 a ping waits for the packets ahead of it. So **while L2 sends without a break**, the ping's time at L2 tells
# you how many packets L2 holds: rate times time, because the queue is first in, first out. (For means this is
# *Little's law*, N = λ T, in any order.) The rest of its RTT is the delay of L1 on the forward path, and the delays of
# L2 and L1 on the reverse path.
#
# **Your turn:** write a function that computes from an RTT of h1-h4, in ms, how many packets L2 holds. Include the
# packets in flight on L2. One frame of 1514 bytes has 1514 * 8 bits. What does your function say for an *idle* network,
# and what is true?
#
# <details><summary>Answer</summary>
#
# It says L2's rate times L2's delay: on the course network 49.5 packets. But an idle L2 holds none. In Little's law λ
# is the rate at which packets *really* leave, and your function puts L2's full rate in its place. So it is right only
# while L2 is busy.
#
# </details>


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
# Now compare your function with the kernel's own count. On r2, `tc -s qdisc show dev r2-eth2` prints what r2's end
# of L2 holds: in the `netem` part, `backlog` lists the bytes and packets (`76p`) at this moment.
#
# **Your turn:** the cell starts a transfer. In its loop, send one ping from h1 to h4 (`-c 1 -W 1`: one packet, wait one
# second at most; `-p` lets iperf3 use another port). Run `tc` on r2 right after it. Append both texts to `looks` as a
# pair. A ping that finds the queue full is lost. A loss between ping and `tc` makes their numbers differ by many
# packets.

# %% answer="look"
looks, h4 = [], network.address_of("h4")
server = lab["h4"].popen("iperf3 -s -1 -p 5301")
lab["h4"].wait_listening(5301)
client = lab["h1"].popen(f"iperf3 -c {h4} -p 5301 -t 20")
for _ in range(6):
    lab.sleep(2)
    ### BEGIN SOLUTION
    said_by_ping = lab["h1"].cmd(f"ping -c 1 -W 1 {h4}")
    said_by_tc = lab["r2"].cmd("tc -s qdisc show dev r2-eth2")
    looks.append((said_by_ping, said_by_tc))
    ### STARTER
    # # YOUR TURN: ping, tc, and then looks.append((..., ...))
    ### END SOLUTION
client.wait()
server.wait()
lab06.figures.looks_table(looks, packets_in_queue)

# %% check="look" points=1
lab06.check_look(looks).require()

# %% [markdown] id="new-rtt-task"
# An RTT is the sum of all delays and all queueing times on the path, in both directions. Here packets wait in one queue
# only, and L2 is busy, so the RTT tells you how full this queue is. `tc` runs almost one RTT after the ping entered the
# queue. Mostly both agree within a packet or two.
#
# ## 8. Change the queue (25 minutes)
#
# Next you set netem's limit at r2's end of L2 to **half**, and run `two` again.
#
# **Predict** the RTT of h1-h4, in ms, when this shorter queue is full. Think of how many packets are in flight on
# L2 alone.

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
# In Mininet, netem sits below HTB: `qdisc netem 10: parent 5:1 limit 100 delay 20ms`. Here `10:` is netem's name (its
# *handle*), and `5:1` is the part of HTB that it serves (its *parent*). You can change it while the network runs. `tc`
# resets the options that you leave out (no delay, a limit of 1000), so include *your* delay of L2. Run this command on
# r2:
#
# `tc qdisc change dev r2-eth2 parent 5:1 handle 10: netem limit PACKETS delay MILLISECONDSms`
#
# **Your turn:** change the limit, print what `tc` then shows, and measure `two` again as `half_run`. (If you like,
# set *double* the original limit afterwards: predict the RTT, then measure.)

# %% answer="half"
half_run = None
### BEGIN SOLUTION
change = f"netem limit {half} delay {L2.delay_ms}ms"
lab["r2"].cmd(f"tc qdisc change dev r2-eth2 parent 5:1 handle 10: {change}")
print(lab["r2"].cmd("tc qdisc show dev r2-eth2"))
half_run = measure.run_together(lab, flows_of("h1-h4") + flows_of("h2-h5"))
### STARTER
# # YOUR TURN: tc on r2, and then half_run = measure.run_together(lab, ...)
### END SOLUTION
lab06.figures.queues_table({L2.queue_packets: runs["two"], half: half_run})

# %% check="half" points=2
lab06.check_half(half_run).require()

# %% [markdown] id="small-queue-task"
# With half of the queue the RTT stays near that of the idle network. What is the price?
#
# - a: the RTT of the idle network is longer
# - b: the link is idle at times: then no packets wait that it could send
# - c: the rate of L2 is lower
# - d: there is no price
#
# **Your turn:** write the letter.

# %% answer="small-queue"
### BEGIN SOLUTION
small_queue = "b"
### STARTER
# small_queue = None
### END SOLUTION

# %% check="small-queue" points=1
lab06.check_small_queue(small_queue).require()

# %% [markdown] id="queue-question"
# **Question.** A friend's video calls stutter whenever somebody uploads a large file. The router's queue holds 1000
# packets, and the link to the Internet has 10 Mbit/s. Its RTT to most servers is 40 ms when idle. How long should the
# queue be? Say why it should not be longer and not shorter, each with a number.

# %% [markdown] reflect="queue" points=3
# The upload's TCP fills the queue. 1000 frames of 12,112 bits take 1.2 s at 10 Mbit/s, and packets of the call wait
# behind them. That is far too long for a call. A smaller queue shortens the wait. But the queue must not be empty after
# a loss. With an RTT of 40 ms the BDP is about 33 packets, and the queue needs room for a good part of one BDP (Lab
# 05). FQ-CoDel (RFC 8290, section 4) is better. It puts flows into queues by a hash and serves these in turn. A flow
# that sends less than its share, as the call does, hardly waits. It drops early, or marks packets instead (ECN).
#
# **Rubric.** 3 points: a full queue takes 1.2 s; a smaller queue; and a lower bound for it (near a BDP) or FQ-CoDel/ECN
# with the reason. 2 points: two of these. 1 point: "the queue is too long", without a number. Typical wrong: (1) "a
# faster upload link solves it" - the queue drains faster, but TCP fills it again. (2) "no queue at all" - then the link
# idles at times, and bursts are lost, as in part 8. (3) 0.15 s - this answer confuses bytes with bits.

# %% [markdown] id="claim-task"
# ## 9. A claim to test (10 minutes)
#
# Ask a language model how flows share a link, and you get a paragraph like this one. It is fluent, and one of its
# sentences is wrong.
#
# > (1) Two long CUBIC flows that meet at one full link tend to equal shares if their RTTs are equal, but a single
# > run may be far from that. (2) A third flow does not raise the highest RTT, because two flows fill the queue
# > already. (3) The queue serves packets in the order in which they arrive, whoever sent them: so a UDP stream of 20
# > Mbit/s that meets a TCP flow at L2 also gets about half of the link. (4) Without room for packets that wait, the
# > link is idle at times, and the flows get less in sum. (5) Jain's index of flows that share no link says nothing
# > about fairness.
#
# **Your turn:** find the wrong sentence, and measure a run that contradicts it. Store the sentence's number and the
# run. (`measure.UdpFlow` and `measure.TcpFlow` measure with iperf3. The cell first gives L2's queue its old limit.)

# %% answer="claim"
lab06.explain("queue")
as_before = f"netem limit {L2.queue_packets} delay {L2.delay_ms}ms"
lab["r2"].cmd(f"tc qdisc change dev r2-eth2 parent 5:1 handle 10: {as_before}")
### BEGIN SOLUTION
wrong_sentence = 3
udp = measure.UdpFlow("h2", "h5", rate_mbps=20, duration_s=25)
shows_it = measure.run_together(lab, [measure.TcpFlow("h1", "h4", duration_s=25), udp])
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run_together returns
### END SOLUTION

# %% check="claim" points=3
lab06.check_claim(wrong_sentence, shows_it).require()

# %% id="stop"
lab.stop()
lab06.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A flow's bottleneck depends on the other flows. Flows of one kind of TCP tend to equal shares of a full link if their
# RTTs are equal, but one run may be far from that. Jain's index says how nearly equal the shares are. While a link is
# busy, an RTT tells you how many packets wait there. The length of a queue trades throughput for delay: a queue that is
# too short wastes the link, and one that is too long makes everybody wait.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. Two flows share a link of 10 Mbit/s. One flow never sends more than 2 Mbit/s. What does
# max-min fairness give to the other?</summary>
#
# 8 Mbit/s, headers included: the other flow gets its own half and the rest of the first flow's half.
#
# </details>
# <details><summary>2. The course report's three flows got 10.23, 7.91 and 11.65 Mbit/s. Their L2 carries at most
# 28.69 Mbit/s of data. Why is the sum higher?</summary>
#
# Probably the flows were started one after the other, some seconds apart. Then each number is a mean over a *different
# interval*: the first flow was alone at its start, and the last one at its end. L2 need not have carried 29.79 Mbit/s
# at any time.
#
# </details>
# <details><summary>3. A path has 30 Mbit/s and an RTT of 60 ms without queues. How many full frames is its
# BDP?</summary>
#
# 30 Mbit/s times 60 ms is 1.8 Mbit, or 149 frames of 12,112 bits. A third of them is in flight on L2 alone.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); Kurose & Ross, *Computer Networking*, on congestion control and
# on fairness of TCP; Peterson & Davie, *Computer Networks*, on resource allocation and queueing; RFC 5166 (metrics),
# RFC 9438 (CUBIC), RFC 8290 (FQ-CoDel), RFC 7567 (queue management). Little's law: J. Little, *A proof for the queuing
# formula L = λW*, Operations Research 9, 1961.
