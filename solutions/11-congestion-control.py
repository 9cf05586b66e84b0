# %% [markdown] id="goal"
# # Lab 11: Congestion control
#
# **Time:** about 3 hours, of which two minutes are measuring. **You need:** windows and the bandwidth-delay product
# (Lab 05), what a queue holds and Jain's index (Lab 06), and a kernel that has Reno, CUBIC and BBR, as the lab's own
# has.
#
# No sender knows the network's rate, its queues, or who else sends. It finds out how much it may send from what comes
# back. How do Reno, CUBIC and BBR do that? What does it do to a queue, to everybody's round trip, and to who gets how
# much?

# %% id="imports"
from linklab import lab11, measure, show, start

display(lab11.progress())
network = lab11.the_network()
B, server = network.link("B"), network.address_of("h3")
lab = start(network)
show.draw(lab)

# %% [markdown] id="read-task"
# ## 1. What TCP says of itself
#
# All delay lies on the links of h1 and h2, so h1's round trips are short (*near*) and h2's four times as long
# (*far*). B is the bottleneck. It has no delay, so its queue, at `r1-eth2`, holds waiting packets alone.
#
# `ss -tin` asks the kernel about its TCP connections. Of one it prints a line like this, here without most of it:
#
# `reno rto:240 rtt:36.681/3.9 cwnd:132 ssthresh:67 retrans:1/135 rcv_ssthresh:42242 minrtt:20`
#
# `cwnd` is the **congestion window**: so many packets may be sent and not acknowledged. `ssthresh` is where **slow
# start** (the window doubles in each round trip) becomes **congestion avoidance**. `rtt` is the smoothed round trip
# in ms, then how far it varies. `retrans` counts packets that were sent again: now on their way, and in all. Before
# the first loss there is no `retrans`, and with Reno no `ssthresh`. CUBIC can set `ssthresh` without a loss, when round
# trips grow (HyStart, section 6).
#
# **Your turn:** a function that returns four numbers: window, threshold (`math.inf` if there is none yet), smoothed
# round trip in ms, and how many packets were sent again in all. `re.search(r"\bcwnd:(\d+)", text)` finds the first.

# %% answer="read"
import math
import re


def read_ss(text):
    ### BEGIN SOLUTION
    def field(pattern, missing):
        found = re.search(pattern, text)
        return float(found[1]) if found else missing

    window, threshold = field(r"\bcwnd:(\d+)", 0), field(r"\bssthresh:(\d+)", math.inf)
    return window, threshold, field(r"\brtt:([\d.]+)", 0), field(r"\bretrans:\d+/(\d+)", 0)
    ### STARTER
    # # YOUR TURN: return window, threshold, rtt_ms, retransmitted
    # ...
    ### END SOLUTION


# %% check="read" points=3
lab11.check_read(read_ss).require()

# %% [markdown] id="loss-task"
# ## 2. Predict: when is a packet lost?
#
# One transfer with **Reno** from h1 to h3 has B to itself. After slow start its window grows by one packet in each
# round trip, until a packet finds the queue full. A full frame has 1514 bytes.
#
# **Predict** the window at that moment in packets, the round trip then in ms, and the window after it. Any numbers
# have their point, and you will see them next to the measurement. How sure are you, in percent?

# %% answer="loss"
### BEGIN SOLUTION
bdp = B.rate_mbps * 1e6 * 2 * network.links[0].delay_ms / 1000 / (1514 * 8)
packet_ms = 1514 * 8 / (1000 * B.rate_mbps)
full = bdp + B.queue_packets
loss, sure = {"window": full, "rtt": full * packet_ms, "after": full / 2}, 80
### STARTER
# loss = {"window": None, "rtt": None, "after": None}
# sure = None
### END SOLUTION
loss = lab11.predict("loss", loss, sure)
loss

# %% check="loss" points=1
lab11.check_predicted(loss).require()

# %% [markdown] id="look-task"
# ## 3. A sampler of your own
#
# The cell starts a transfer by hand. `-C reno` chooses the congestion control, and `--cport 6000` the client's port,
# so that `ss -tin sport = 6000`, typed on h1, shows the connection with the data and not the one that controls
# iperf3. `tc -s qdisc show dev r1-eth2`, typed on r1, shows B's queue: `backlog 149886b 99p` are 99 packets.
#
# **Your turn:** in the loop, ask ss on h1 and tc on r1. Append six numbers to `samples`: `second`, the four of
# `read_ss`, and the packets in the queue.

# %% answer="look"
samples, second = [], 0
lab["h1"].cmd("pkill iperf3")  # of an earlier try
listening = lab["h3"].popen("iperf3 -s -1")
lab["h3"].wait_listening(5201)
lab["h1"].popen(f"iperf3 -c {server} -t 20 -C reno --cport 6000")
start_s = lab.now()
while second < 19:
    lab.sleep(0.05)
    second = lab.now() - start_s
    ### BEGIN SOLUTION
    ss = lab["h1"].cmd("ss -tin sport = 6000")
    tc = lab["r1"].cmd("tc -s qdisc show dev r1-eth2")
    packets = int(re.search(r"backlog \S+ (\d+)p", tc)[1])
    samples.append((second, *read_ss(ss), packets))
    ### STARTER
    # # YOUR TURN: ss on h1, tc on r1, and samples.append((second, *read_ss(...), packets))
    ### END SOLUTION
listening.wait()  # it ends with the client

# %% check="look" points=3
lab11.check_look(samples).require()

# %% id="look-figure"
lab11.figures.look_figure(samples)

# %% [markdown] id="seen-task"
# **Your turn:** a letter for each question.
#
# `tracks`: the queue's curve has the shape of the window's. How far is it below it, and why? (a) By half, since Reno
# halves the window. (b) By one bandwidth-delay product: what is not on the path waits. (c) By the retransmissions.
# (d) By the threshold: above it the queue begins.
#
# `overshoot`: in its first half second Reno loses far more packets than at any later loss. Why? (a) The queue was
# full of other packets when it began. (b) The receiver's window was too small at first. (c) Its round-trip estimate
# was not good yet, so it sent packets again that were not lost. (d) In slow start the window doubles in the round
# trip until the sender hears of the loss.

# %% answer="seen"
answers = {
    ### BEGIN SOLUTION
    "tracks": "b",
    "overshoot": "d",
    ### STARTER
    # "tracks": None,
    # "overshoot": None,
    ### END SOLUTION
}

# %% check="seen" points=2
lab11.check_seen(answers).require()

# %% [markdown] id="period-task"
# ## 4. Reno's sawtooth, computed
#
# Let BDP be the path's packets without a queue, `full` be BDP and queue, and `packet_s` the time of one packet at B.
# From a loss to the next one, the window goes from `full / 2` to `full`, one packet more in each round trip. A round
# trip takes as long as the window's packets take at B, but never less than the path alone: `bdp * packet_s`.
#
# **Your turn:** a function of the time, in seconds, between two losses.


# %% answer="period"
def period(bdp, full, packet_s):
    ### BEGIN SOLUTION
    return sum(max(bdp, window) * packet_s for window in range(int(full / 2), int(full)))
    ### STARTER
    # # YOUR TURN: add up the round trips
    # ...
    ### END SOLUTION


# %% check="period" points=3
lab11.check_period(period).require()

# %% [markdown] id="between-task"
# In your figure the sawtooth of h1-h3 is a little longer: the repair of a loss takes a round trip or two besides.
# From the same sawtooth follows the **law of the square root** (Mathis and others, 1997): with one loss in each
# sawtooth, throughput is about 1.22 * MSS / (RTT * sqrt(loss)).
#
# ## 5. Predict: who is back sooner?
#
# With a long round trip, one packet in each takes long. **CUBIC** (RFC 9438) counts seconds and not round trips.
# After a loss at the window W it goes on with 0.7 W, and t seconds later its window is
#
# $$0.4\,(t - K)^3 + W, \qquad K = \sqrt[3]{\frac{W - 0.7\,W}{0.4}}$$
#
# so that after K seconds it is back at W. Now h2 sends to h4, with four times the round trip and the same queue.
#
# **Predict**, in seconds: the time from one loss of Reno's to the next, and CUBIC's K.

# %% answer="between"
### BEGIN SOLUTION
bdp_far = 4 * bdp
full_far = bdp_far + B.queue_packets
reno_s = round(period(bdp_far, full_far, packet_ms / 1000), 3)
between, sure = {"reno": reno_s, "cubic": (0.3 * full_far / 0.4) ** (1 / 3)}, 70
### STARTER
# between = {"reno": None, "cubic": None}
# sure = None
### END SOLUTION
between = lab11.predict("between", between, sure)
between

# %% check="between" points=1
lab11.check_predicted(between).require()

# %% [markdown] id="controls-task"
# ## 6. Reno, CUBIC, BBR
#
# Linklab has a sampler like yours. `looks(source, destination, seconds)` is a list of two flows that send nothing:
# one asks ss, the other tc. A transfer is a `measure.TcpFlow(source, destination, seconds, congestion="reno")`.
# `measure.run_together(lab, flows)` starts all flows of a list at the same instant and returns what they measured.
#
# **Your turn:** a transfer of 40 s from h2 to h4 with looks at it, once with each of `"reno"`, `"cubic"` and `"bbr"`:
# `controls["reno"]`, and so on.


# %% answer="controls"
def looks(source, destination, seconds, interval_s=0.2):
    queue = measure.QueueFlow("r1", destination, seconds, interval_s)
    return [measure.SocketsFlow(source, destination, seconds, interval_s), queue]


controls = dict.fromkeys(lab11.CONTROLS)
### BEGIN SOLUTION
for name in controls:
    transfer = measure.TcpFlow("h2", "h4", 40, congestion=name)
    controls[name] = measure.run_together(lab, [transfer, *looks("h2", "h4", 40)])
### STARTER
# # YOUR TURN: controls["reno"] = measure.run_together(lab, [..., *looks(...)]), and two more
### END SOLUTION

# %% check="controls" points=3
lab11.check_controls(controls).require()

# %% id="controls-figure"
display(lab11.figures.controls_figure(controls))
lab11.figures.controls_table(controls)

# %% [markdown] id="shapes-task"
# **Your turn:** a letter for each question.
#
# `hystart`: CUBIC's slow start ends below the window at which packets are lost, and loses none. What tells it to
# stop? (a) A packet was lost. (b) The window reached the threshold that the kernel begins with. (c) Round trips got
# longer, or acknowledgements came as a long train: the queue begins to fill. (d) The receiver's window was full.
#
# `gaps`: CUBIC's losses are a short and a long time apart, in turn. Why? (a) Fast convergence: a loss at a smaller
# window than before puts the plateau lower, and the window must climb past it. (b) Every second loss is a timeout.
# (c) HyStart begins anew after every second loss. (d) The queue is emptied by its owner now and then.
#
# `rests`: every ten seconds BBR's window falls to 4 packets for a moment, though nothing was lost. What for? (a) It
# lets others catch up, to be fair. (b) It lets the queue run empty, to see how long a round trip is without it. (c)
# Its timers are ten seconds long, and a timeout sets the window down. (d) It takes a loss for granted every ten
# seconds.

# %% answer="shapes"
shapes = {
    ### BEGIN SOLUTION
    "hystart": "c",
    "gaps": "a",
    "rests": "b",
    ### STARTER
    # "hystart": None,
    # "gaps": None,
    # "rests": None,
    ### END SOLUTION
}

# %% check="shapes" points=3
lab11.check_shapes(shapes).require()

# %% [markdown] id="time-question"
# **Question.** Reno's window grows by a packet a round trip, CUBIC's by a curve over seconds. Take a path of 10
# Gbit/s and 100 ms: how long does Reno take from half of its window to the whole? What does that mean for it, and why
# does CUBIC do better? What does BBR look at in place of losses?

# %% [markdown] reflect="time" points=4
# The BDP is 10 Gbit/s times 100 ms over 12,112 bits, some 82,600 packets. Half of that, 41,300 round trips of 100 ms,
# are 4,100 s: more than an hour without a single loss, which no network gives. So Reno never fills such a path.
# CUBIC's K is the cube root of 0.3 * 82,600 / 0.4, about 40 s, whatever the round trip: it grows fast far from the
# old window, and slowly near it. BBR looks at the rate at which packets arrive and at the shortest round trip. It
# needs no loss and no full queue to know how much is enough.
#
# **Rubric.** 4 points: some 80,000 packets; an hour or so; CUBIC's K in tens of seconds, since it counts time; BBR's
# model of rate and round trip. 3 points: three of these. 2 points: two. 1 point: one. Typical wrong: (1) "Reno
# doubles, so it is quick" - that is slow start; after a loss it adds one packet. (2) "CUBIC is faster because it
# keeps 0.7" - that helps a little; the cube over time is what counts. (3) bytes taken for bits: eight times too few
# packets.

# %% [markdown] id="queues-task"
# <details><summary>Open this when you have written your answer</summary>
#
# Some 41,300 round trips, more than an hour (RFC 3649 has such an example in its introduction). CUBIC takes K, about
# 40 s. BBR models the path: rate times shortest round trip. Below full rate more packets in flight mean more
# throughput, above it only a longer queue: the best point lies at one BDP (Kleinrock, 1979).
#
# </details>
#
# ## 7. Predict: the same flow, three queues
#
# CUBIC sends from h1 to h3, and B's queue holds 20, then 100, then 1000 packets.
#
# **Predict** the highest round trip with each, in ms.

# %% answer="rtts"
### BEGIN SOLUTION
rtts = {packets: (bdp + packets) * packet_ms for packets in lab11.QUEUES}
sure = 80
### STARTER
# rtts = {20: None, 100: None, 1000: None}
# sure = None
### END SOLUTION
rtts = lab11.predict("queues", rtts, sure)
rtts

# %% check="rtts" points=1
lab11.check_predicted(rtts).require()

# %% [markdown] id="queues-run-task"
# `tc qdisc change dev r1-eth2 parent 5:1 handle 10: netem limit PACKETS`, typed on r1, changes B's queue while the
# network runs.
#
# **Your turn:** for each of the three queues change it and measure a transfer of 30 s by CUBIC from h1 to h3, with
# `looks("h1", "h3", 30)`: `queues[20]`, and so on. In the end let the queue hold 100 packets again.

# %% answer="queues"
queues = dict.fromkeys(lab11.QUEUES)
### BEGIN SOLUTION
change = "tc qdisc change dev r1-eth2 parent 5:1 handle 10: netem limit"
for packets in queues:
    lab["r1"].cmd(f"{change} {packets}")
    transfer = measure.TcpFlow("h1", "h3", 30, congestion="cubic")
    queues[packets] = measure.run_together(lab, [transfer, *looks("h1", "h3", 30)])
lab["r1"].cmd(f"{change} 100")
### STARTER
# # YOUR TURN: tc on r1, queues[20] = measure.run_together(lab, [...]), two more, and tc again
### END SOLUTION

# %% check="queues" points=3
lab11.check_queues(queues).require()

# %% id="queues-figure"
display(lab11.figures.queues_figure(queues))
lab11.figures.queues_table(queues)

# %% [markdown] id="queues-question"
# **Question.** All three queues give nearly the same throughput. What does each of them cost, and whom? With 1000
# packets, where is CUBIC in its first ten seconds, and what would you see with BBR in its place? Change the queue and
# try it, if you like.

# %% [markdown] reflect="queues" points=4
# A queue costs everybody whose packets cross it: with 1000 packets a round trip is 30 times as long, for a call or a
# game as well, and for the transfer itself a loss is repaired half a second later. A queue of 20 costs the transfer a
# little: after a loss 0.7 of the window is near the BDP, and B can be idle for a moment. In its first ten seconds
# CUBIC with 1000 packets looks for a limit that it has not met: HyStart ended slow start early, and until a first
# loss Linux adds a packet for every 20 that are acknowledged, some 80 a second; the queue grows all the time. BBR
# keeps one BDP and a bit in flight, so its queue is short whatever there is room for, and its throughput 2 to 3 %
# less.
#
# **Rubric.** 4 points: everybody waits in a long queue, with a number; a short one costs throughput after a loss;
# CUBIC looks for a limit it has not met; BBR's queue does not depend on the room. 3 points: three of these. 2 points:
# two. 1 point: one. Typical wrong: (1) "a larger queue gives more throughput" - look at the table: from a BDP on it
# gives none. (2) "the wait is the transfer's own affair" - all packets share the queue. (3) "with BBR the queue is
# 1000 packets too" - BBR does not fill it.

# %% [markdown] id="together-task"
# <details><summary>Open this when you have written your answer</summary>
#
# The queue adds its packets' time to *everybody's* round trip: 606 ms for 1000 packets at 20 Mbit/s. Throughput gains
# nothing beyond what bridges a loss: 0.43 BDP for CUBIC, a BDP for Reno. CUBIC with 1000 packets has met no loss in
# ten seconds. BBR would hold about one BDP. RFC 7567 is about queues that do better than to drop what comes last.
#
# </details>
#
# ## 8. Together
#
# Now several flows share B, with a queue of 100 packets, for 60 s. `together["reno"]`: one transfer from h1 to h3 and
# one from h2 to h4, both with Reno. `together["cubic"]` and `together["bbr"]`: the same with these.
# `together["mixed"]`: three transfers from h1 to h3, one with each control. No looks are needed.
#
# **Your turn:** first sketch on paper who will have how much. Then measure the four runs.

# %% answer="together"
together = dict.fromkeys([*lab11.CONTROLS, "mixed"])
### BEGIN SOLUTION
for name in lab11.CONTROLS:
    pairs = ("h1", "h3"), ("h2", "h4")
    both = [measure.TcpFlow(*pair, 60, congestion=name) for pair in pairs]
    together[name] = measure.run_together(lab, both)
three = [measure.TcpFlow("h1", "h3", 60, congestion=name) for name in lab11.CONTROLS]
together["mixed"] = measure.run_together(lab, three)
### STARTER
# # YOUR TURN: together["reno"] = measure.run_together(lab, [..., ...]), and three more
### END SOLUTION
lab11.figures.together_table(together)

# %% check="together" points=3
lab11.check_together(together).require()

# %% [markdown] id="shares-task"
# **Your turn:** a letter for each question.
#
# `long`: with Reno the short round trip gets several times as much, with BBR the long one does. Why does BBR turn it
# round? (a) BBR sends at random, and the long one had luck. (b) BBR knows both round trips, and makes up for the
# difference. (c) It may have two BDPs of its own in flight: a longer round trip puts more packets into the queue. (d)
# The short one lost its packets to the longer one's retransmissions.
#
# `depth`: BBR next to Reno and CUBIC: what decides most whether BBR has the larger part? (a) How many BDPs the queue
# is deep. (b) Who began first. (c) How many Mbit/s B carries. (d) How large the receivers' windows are.

# %% answer="shares"
shares = {
    ### BEGIN SOLUTION
    "long": "c",
    "depth": "a",
    ### STARTER
    # "long": None,
    # "depth": None,
    ### END SOLUTION
}

# %% check="shares" points=2
lab11.check_shares(shares).require()

# %% [markdown] id="shares-question"
# **Question.** A provider of videos changes all its servers from CUBIC to BBR, and says that its users' videos are
# better now. Who else should be asked, and what should be measured before you call that progress?

# %% [markdown] reflect="shares" points=4
# Those who share bottlenecks with the videos and still have CUBIC or Reno: in shallow queues BBR may take most of the
# link from them and make them lose packets, in deep ones less. One should measure their throughput and losses next to
# BBR and next to CUBIC, at queues of a fraction of a BDP and of several, with short and long round trips, and the
# delay and losses of calls and games, which gain where BBR keeps queues short. And the videos' own round trips: BBR
# favours long ones.
#
# **Rubric.** 4 points: those who share the bottleneck; shares at shallow and deep queues; round trips; delay or loss
# of others. 3 points: three of these. 2 points: two. 1 point: one. Typical wrong: (1) "everybody gains, since queues
# are shorter" - only where BBR is alone or the queue deep. (2) "Jain's index of the videos" - the videos are not who
# loses. (3) "it is unfair, so forbid it" - CUBIC was not fair to Reno either; say what is measured, and who agrees to
# it.

# %% [markdown] id="replay-text"
# <details><summary>Open this when you have written your answer</summary>
#
# Whoever shares the bottleneck. In a shallow queue BBR of version 1 takes most of it; Ware and others (2019) show how
# its part follows from the queue's depth. That is one reason why versions 2 and 3 look at losses too.
#
# </details>
#
# ## 9. Into the queue
#
# So far you have looked every 0.2 s. `record=["r1-eth2"]` has the kernel note each packet at B, and `show.replay` lets
# you go through time again: the slider or the arrow keys move it, `n` steps to the next loss and says why it happened.
#
# **Look, without points.** CUBIC sends from h1 to h3, BBR from h2 to h4. Step to the first loss: how many packets wait
# at B, and whose? Step on, and look at the windows below: who sends less after a loss, and who goes on as before?

# %% id="replay"
cubic = measure.TcpFlow("h1", "h3", 5, congestion="cubic")
bbr = measure.TcpFlow("h2", "h4", 5, congestion="bbr")
recorded = measure.run_together(lab, [cubic, bbr], record=["r1-eth2"])
lab.stop()
show.replay(recorded)

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A packet is lost when the window passes the path's BDP and the queue. Reno halves it and adds one packet a round
# trip. CUBIC keeps 0.7 and follows a cube over time. BBR looks for full rate with an empty queue. Long queues buy no
# throughput and cost everybody time. Who shares a queue with whom decides who gets how much.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. 50 Mbit/s, 40 ms, a queue of 83 packets: at which window does Reno lose a packet?</summary>
#
# The BDP is 50 * 40 * 1000 / 12,112 = 165 packets, so at about 248.
#
# </details>
# <details><summary>2. Does the link idle after that loss?</summary>
#
# Yes: half of 248 are 124 packets, less than the BDP. The queue would need a whole BDP. CUBIC keeps 174, and it does
# not.
#
# </details>
# <details><summary>3. A flow of BBR has a queue of 1000 packets to itself. How many wait?</summary>
#
# Few: it keeps about one BDP in flight, a quarter more for one round trip in eight.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 5681 (Reno), RFC 9438 (CUBIC), RFC 9406 (HyStart++), RFC 5166 (how to compare);
# Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016; Mathis and others, *The Macroscopic Behavior
# of the TCP Congestion Avoidance Algorithm*, 1997; Ware and others, *Modeling BBR's Interactions with Loss-Based
# Congestion Control*, 2019.
