# %% [markdown] id="goal"
# # Lab 11: Congestion control
#
# **Time:** 3 hours and 30 minutes to 4 hours, four minutes of them for measurements; pause before section 6. **You
# need:** windows and the bandwidth-delay product (Lab 05), queue capacity and Jain's index (Lab 06), and a kernel that
# has Reno, CUBIC and BBR, as the lab's own kernel does.
#
# No sender knows the network's rate, its queues, or the other senders. It learns from acknowledgements how much it may
# send. How do three congestion controls, Reno, CUBIC and BBR, do that? How does each affect the queue, the round trip
# of every flow, and the share that each flow gets?

# %% id="imports"
from linklab import lab11, measure, show, start

display(lab11.progress())
network = lab11.the_network()
B, server = network.link("B"), network.address_of("h3")
lab = start(network)
show.network(lab)

# %% [markdown] id="read-task"
# ## 1. Read what ss prints
#
# In this network only the links of h1 and h2 have delay. h1's round trips are short (*near*), and h2's are four times
# as long (*far*). B is the bottleneck. It has no delay, so its queue, at `r1-eth2`, holds only waiting packets.
#
# `ss -tin` lists the kernel's TCP connections. For each connection it prints a line like this (shortened here):
#
# `reno rto:240 rtt:36.681/3.9 cwnd:132 ssthresh:67 retrans:1/135 rcv_ssthresh:42242 minrtt:20`
#
# `cwnd` is the **congestion window**: the number of packets that may be sent but not yet acknowledged. (The receiver
# sets a limit of its own, the *receiver's window*.) At `ssthresh` **slow start** (the window doubles in each round
# trip) changes to **congestion avoidance**. `rtt` gives the smoothed round trip in ms, then its variation. `retrans`
# counts *retransmitted* packets, which were sent again: those now on their way, then the total. Before the first loss
# `ss` prints no `retrans`, and with Reno no `ssthresh`. CUBIC can set `ssthresh` without a loss, when round trips grow
# (HyStart, section 6).
#
# **Your turn:** write a function that returns four numbers: window, threshold (`math.inf` if there is none yet),
# smoothed round trip in ms, and total number of retransmitted packets. `re.search(r"\bcwnd:(\d+)", text)` finds the
# window.

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
# One **Reno** transfer from h1 to h3 uses B alone. After slow start its window grows by one packet in each round trip,
# until a packet finds the queue full. The acknowledgements of later packets then tell the sender of the loss: they say
# again and again that this packet is missing (*duplicate acknowledgements*). If none comes, the sender waits for a
# *timeout*, and continues with a window of 1. A full frame has 1514 bytes.
#
# **Predict** what the first loss after slow start finds: the window in packets, and the round trip in ms. Predict also
# the window after the loss. Any numbers get the point, and you will see them next to the measurement. How sure are you,
# in percent?

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
# ## 3. Sample the window and the queue
#
# The next cell starts a transfer with iperf3. `-C reno` chooses the congestion control, and `--cport 6000` sets the
# client's port. So `ss -tin sport = 6000` on h1 shows the data connection, and not the connection that controls iperf3.
# `tc -s qdisc show dev r1-eth2` on r1 shows B's queue: `backlog 149886b 99p` means 99 packets. Read the number before
# `p` only: tc also prints some numbers of bytes in units of 1024, as in `backlog 68Kb 46p`.
#
# **Your turn:** in the loop, run ss on h1 and tc on r1. Then append six numbers to `samples`: `second`, the four
# numbers from `read_ss`, and the number of packets in the queue. The cell after the check draws the samples and asks
# two questions. It also shows a model of the window, the *sawtooth*, with your samples as dots. Its sliders change
# the rate, the round trip, the queue, and the part of the window that the sender keeps at a loss.

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

# %% answer="seen"
display(lab11.figures.look_figure(samples), lab11.figures.sawtooth(samples))
print(lab11.question("tracks", "overshoot"))
### BEGIN SOLUTION
tracks, overshoot = "b", "d"
### STARTER
# tracks, overshoot = None, None  # letters, as "a"
### END SOLUTION

# %% check="seen" points=2
lab11.check_seen({"tracks": tracks, "overshoot": overshoot}).require()

# %% [markdown] id="period-task"
# ## 4. Compute the time between two losses
#
# You now compute the time between two losses. `bdp` is the number of packets on the path without a queue, `full` is
# `bdp` plus the queue, and `packet_s` is the time that B needs for one packet. From a loss to the next one, the window
# grows from `full / 2` to `full`, by one packet in each round trip. A round trip takes as long as B needs for the
# window's packets, but at least `bdp * packet_s`, the path's round trip without a queue.
#
# **Your turn:** write a function that returns the time between two losses, in seconds. The three numbers may be
# fractions. `range` takes whole numbers only: `int(...)` makes one.


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
# In your figure h1-h3's sawtooth is a little longer, because the repair of a loss takes one or two more round trips.
# The **law of the square root** (Mathis and others, 1997) follows from the same sawtooth: with one loss in each
# sawtooth, throughput is about 1.22 * MSS / (RTT * sqrt(loss)). (The *MSS* is the data of a full packet.)
#
# ## 5. Predict: Reno and CUBIC on a long path
#
# When round trips are long, Reno's window grows slowly. **CUBIC** (RFC 9438) counts seconds, not round trips. After a
# loss at the window W it continues with 0.7 W, and t seconds later its window is
#
# $$0.4\,(t - K)^3 + W, \qquad K = \sqrt[3]{\frac{W - 0.7\,W}{0.4}}$$
#
# So after K seconds the window is W again, and the curve is flat there: this is its *plateau*. (Where Reno would be
# faster, CUBIC grows as Reno does.) Now h2 sends to h4, with four times the round trip and the same queue.
#
# **Predict**, in seconds: Reno's time from one loss to the next, and CUBIC's K.

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
# Linklab has a sampler like yours. `looks(source, destination, seconds)` returns a list of two flows that send nothing:
# one runs ss, the other runs tc. `measure.TcpFlow(source, destination, seconds, congestion="reno")` is a transfer.
# `measure.run_together(lab, flows)` starts all flows of a list at the same instant and returns their measurements.
#
# **Your turn:** measure a transfer of 40 s from h2 to h4 together with its `looks`, once with each of `"reno"`,
# `"cubic"` and `"bbr"`. Store the results as `controls["reno"]`, and so on. The cell after
# the check asks three questions about the figure.


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
display(lab11.figures.controls_figure(controls))
lab11.figures.controls_table(controls)

# %% check="controls" points=3
lab11.check_controls(controls).require()

# %% answer="shapes"
print(lab11.question("hystart", "gaps", "rests"))
### BEGIN SOLUTION
hystart, gaps, rests = "c", "a", "b"
### STARTER
# hystart, gaps, rests = None, None, None
### END SOLUTION

# %% check="shapes" points=3
lab11.check_shapes({"hystart": hystart, "gaps": gaps, "rests": rests}).require()

# %% [markdown] id="time-task"
# Now think of a path of **10 Gbit/s and 100 ms**. A packet is lost there when the window is one BDP. Reno continues
# with half of its window, CUBIC with 0.7 of it.
#
# **Your turn:** compute the BDP in packets (frames of 1514 bytes). Then compute how many seconds each of the two needs
# until its window is one BDP again.

# %% answer="time"
### BEGIN SOLUTION
long_bdp = 10e9 * 0.1 / (1514 * 8)
long_path = {
    "bdp": long_bdp,
    "reno": long_bdp / 2 * 0.1,
    "cubic": (0.3 * long_bdp / 0.4) ** (1 / 3),
}
### STARTER
# long_path = {"bdp": None, "reno": None, "cubic": None}
### END SOLUTION
long_path

# %% check="time" points=3
lab11.check_long_path(long_path).require()

# %% [markdown] id="queues-task"
# ## 7. Predict: the same flow, three queues
#
# CUBIC sends from h1 to h3. B's queue has room for 20, then 100, then 1000 packets. (It is *drop-tail*: when it is
# full, it drops what arrives.)
#
# **Predict** the longest round trip with each queue, in ms. **Then measure**: `tc qdisc change dev r1-eth2 parent 5:1
# handle 10: netem limit PACKETS` on r1 changes B's queue while the network runs. For each of the three queues, change
# the limit, then measure a CUBIC transfer of 30 s from h1 to h3 with `looks("h1", "h3", 30)`. Store the results as
# `queues[20]`, and so on. At the end set the limit to 100 packets again.

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
display(lab11.figures.queues_figure(queues))
lab11.figures.queues_table(queues)

# %% check="queues" points=3
lab11.check_queues(queues).require()

# %% [markdown] id="queues-question"
# **Question.** All three queues give nearly the same throughput. Which of the three queues would you choose for B? Say
# what a longer queue costs, and below which length a shorter queue would cost throughput.

# %% [markdown] reflect="queues" points=4
# I choose 20 packets. A long queue costs every flow that crosses it: with 1000 packets a round trip is 30 times as
# long, for a call or a game as well. And the longer queue gives no throughput: the link is busy as long as any packet
# waits. After a loss CUBIC keeps 0.7 of its window. The link stays busy if that is at least one BDP: 0.7 * (BDP +
# queue) >= BDP, so the queue needs 14 packets here (Lab 05), since the BDP is 33. A shorter queue is empty after a
# loss, and B is idle for a moment. (Reno keeps a half, so it needs a whole BDP.)
#
# **Rubric.** 4 points: every flow waits in a long queue; a number for this wait; a queue is long enough if it is not
# empty after a loss; this needs 0.43 BDP for CUBIC (or one BDP for Reno). 3 points: three of these. 2 points: two.
# 1 point: one. Typical wrong: (1) "a larger queue gives more throughput" - look at the table: CUBIC gains none from 20
# packets on. (2) "only the transfer waits" - all packets share the queue. (3) "as short as possible" - a queue of a few
# packets is empty after each loss.

# %% [markdown] id="together-task"
# ## 8. Several flows share B
#
# Now several flows share B, with a queue of 100 packets, for 60 s. `together["reno"]`, `together["cubic"]` and
# `together["bbr"]` are runs of two transfers with the same control, one from h1 to h3 and one from h2 to h4.
# `together["mixed"]` is a run of three transfers from h1 to h3, one with each control. You need no `looks`.
#
# **Your turn:** first sketch on paper which share each flow will get. Then check that B's queue has room for 100
# packets again: on r1, `tc qdisc show dev r1-eth2` must print `limit 100`. Then measure the four runs.

# %% answer="together"
lab11.explain("queues")
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

# %% [markdown] id="depth-task"
# Does BBR get the same share next to Reno and CUBIC if B's queue is shorter or longer? The keys of `depths` are queues
# in packets, from about a fifth of a BDP to about thirty BDPs. You have the run with 100 packets already: it is
# `together["mixed"]`.
#
# **Your turn:** first guess in which of these queues BBR gets the largest share. Then, for each other queue, set the
# limit on r1 of the lab `other` and measure `three` there. The five runs take about a minute and a half.

# %% answer="depths"
depths = dict.fromkeys(lab11.DEPTHS)
three = [measure.TcpFlow("h1", "h3", 60, congestion=name) for name in lab11.CONTROLS]
with start(network) as other:
    for packets in depths:
        ### BEGIN SOLUTION
        other["r1"].cmd(f"{change} {packets}")
        depths[packets] = measure.run_together(other, three)
        ### STARTER
        # pass  # YOUR TURN: tc on r1 of other, then depths[packets] = measure.run_together(...)
        ### END SOLUTION
depths[100] = together["mixed"]
lab11.figures.depth_table(depths)

# %% check="depths" points=3
lab11.check_depths(depths).require()

# %% answer="depth"
print(lab11.question("long", "depth"))
### BEGIN SOLUTION
long, depth = "c", "a"
### STARTER
# long, depth = None, None
### END SOLUTION

# %% check="shares" points=2
lab11.check_shares({"long": long, "depth": depth}).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how TCP shares a bottleneck, and you get a paragraph like this one. It is fluent, and one of its
# sentences is wrong.
#
# > (1) Reno and CUBIC take a lost packet as a sign that a queue is full, so one such flow fills a queue of 1000 packets
# > as well as one of 20. (2) Losses that no queue causes hardly hurt CUBIC: it keeps 0.7 of its window at each loss, so
# > if B drops 1 % of the packets at random, CUBIC still gets about 70 % of the rate from h1 to h3. (3) BBR measures the
# > rate and the shortest round trip, so alone on a link it leaves most of a long queue empty. (4) Next to BBR, CUBIC
# > gets little in a queue below one BDP, and more than BBR in a very long queue. (5) Two flows of the same control need
# > not get equal shares: with CUBIC the shorter round trip gets more.
#
# **Your turn:** find the wrong sentence, and measure a run of 20 s or longer that contradicts it. Store the sentence's
# number and the run. After `netem limit PACKETS` you may add `delay 5ms` or `loss 1%` (random losses).

# %% answer="claim"
with start(network) as other:
    ### BEGIN SOLUTION
    wrong_sentence = 2
    other["r1"].cmd(f"{change} 100 loss 1%")
    shows_it = measure.run_together(
        other, [measure.TcpFlow("h1", "h3", 20, congestion="cubic")]
    )
    print(shows_it)
    ### STARTER
    # wrong_sentence = None  # its number
    # shows_it = None  # YOUR TURN: measure.run_together(other, [...])
    ### END SOLUTION

# %% check="claim" points=3
lab11.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="shares-question"
# **Question.** A video provider changes all its servers from CUBIC to BBR, and says that its users' videos are better
# now. What would you measure, and at which users, before you call that progress?

# %% [markdown] reflect="shares" points=4
# Ask the users who share bottlenecks with the videos and still have CUBIC or Reno. In shallow queues BBR may take most
# of the link from them and make them lose packets, in deep queues less. Measure their throughput and losses next to BBR
# and next to CUBIC, at queues of a fraction of a BDP and of several BDPs, with short and long round trips. Measure the
# delay and losses of calls and games too: they gain where BBR keeps queues short. Also measure the videos' own round
# trips, because BBR favours long ones.
#
# **Rubric.** 4 points: users who share the bottleneck; shares at shallow and deep queues; round trips; delay or loss of
# others. 3 points: three of these. 2 points: two. 1 point: one. Typical wrong: (1) "everybody gains, since queues are
# shorter" - only where BBR is alone or the queue is deep. (2) "Jain's index of the videos" - the videos are not the
# flows that lose. (3) "it is unfair, so forbid it" - CUBIC was not fair to Reno either; say what is measured, and who
# agrees to the change.

# %% [markdown] id="replay-text"
# ## 9. Replay: each packet at B
#
# So far you sampled B every 0.05 or 0.2 s. With `record=["r1-eth2"]` the kernel notes each packet at B, and
# `show.network` plays the run again. The slider or the arrow keys move through time. `l` steps to the next loss and
# says why it happened.
#
# **Look, without points.** Run the next cell: CUBIC sends from h1 to h3, BBR from h2 to h4. Step to the first loss: how
# many packets wait at B, and whose packets are they? Step on, and watch the windows below: which flow sends less after
# a loss, and which flow goes on as before?

# %% id="replay"
lab11.explain("shares")
cubic = measure.TcpFlow("h1", "h3", 5, congestion="cubic")
bbr = measure.TcpFlow("h2", "h4", 5, congestion="bbr")
recorded = measure.run_together(lab, [cubic, bbr], record=["r1-eth2"])
lab.stop()
display(show.network(recorded))
lab11.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A packet is lost when the window exceeds the path's BDP plus the queue. Then Reno halves its window, and adds one
# packet in each round trip. CUBIC keeps 0.7 of its window and follows a cubic curve over time. BBR aims at full rate
# with an empty queue. Long queues add no throughput and delay every flow. A flow's share depends on the flows that
# share its queue.
#
# **Review.** Answer each question before you open it.
#
# <details><summary>1. 50 Mbit/s, 40 ms, a queue of 83 packets: at which window does Reno lose a packet?</summary>
#
# The BDP is 50 * 40 * 1000 / 12,112 = 165 packets, so Reno loses a packet at about 248.
#
# </details>
# <details><summary>2. Does the link idle after that loss?</summary>
#
# Yes: half of 248 is 124 packets, less than the BDP. To avoid this, the queue needs room for a whole BDP. CUBIC keeps
# 174 packets, so the link does not idle.
#
# </details>
# <details><summary>3. A BBR flow has a queue of 1000 packets to itself. How many packets wait?</summary>
#
# Few: BBR keeps about one BDP in flight. In one of every eight round trips it sends a quarter faster.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 5681 (Reno), RFC 9438 (CUBIC), RFC 9406 (HyStart++), RFC 5166 (how to compare);
# Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016; Mathis and others, *The Macroscopic Behavior of
# the TCP Congestion Avoidance Algorithm*, 1997; Ware and others, *Modeling BBR's Interactions with Loss-Based
# Congestion Control*, 2019.
