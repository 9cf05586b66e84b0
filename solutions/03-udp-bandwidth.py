# %% [markdown] id="goal"
# # Lab 03: UDP bandwidth with iperf3
#
# How much can a path carry? You say it, measure it with `iperf3`, and see where the rest is lost. Then you write a
# program that finds the bandwidth of a network that it does not know.
#
# UDP makes this easy to see. Its sender chooses a rate and keeps to it, whatever happens on the path.
#
# **Time:** about 3 hours: 90 minutes for sections 1 to 4, 90 for sections 5 to 7; a break fits between them. **You
# need:** Lab 00 (predict, measure, explain) and Lab 01 (the network, its interfaces and addresses).

# %% id="imports"
from linklab import course_network, lab03, measure, show, start

lab03.progress()

# %% [markdown] id="paths-intro"
# ## 1. Two paths
#
# This is the network of Lab 01. You will send from h1 to h4, and from h1 to h9 (the path in the figure). The three
# links between the routers have rates: `L1.rate_mbps`, `L2.rate_mbps`, `L3.rate_mbps`. All other cables are faster.

# %% id="start"
network = course_network()
L1, L2, L3 = (network.link(name) for name in ("L1", "L2", "L3"))
lab = start(network)
show.draw(lab, highlight=lab03.path(network, "h1", "h9"), title="h1 to h9")

# %% [markdown] id="ceilings-intro"
# ### Predict: the throughput
#
# `iperf3` counts **payload**: the bytes that it gives to UDP. Each datagram of 1448 bytes travels in a frame of
# 1490 (Ethernet 14, IPv4 20, UDP 8), and the rate of a link here counts the whole frame. So 97.2 % of it is
# payload. (A real cable spends 1514 byte times on this frame: it adds a preamble, a checksum and a gap.)
#
# **Your turn:** you send far too much. How many Mbit/s of payload arrive, on each path? And how sure are you, from
# 0 to 100? No prediction is wrong: the point is for committing to one. You may write a formula.

# %% answer="ceilings"
predicted_mbps = lab03.predict(
    "ceilings",
    {
        ### BEGIN SOLUTION
        "h1-h4": L2.rate_mbps * 1448 / 1490,
        "h1-h9": L3.rate_mbps * 1448 / 1490,
        ### STARTER
        # "h1-h4": None,
        # "h1-h9": None,
        ### END SOLUTION
    },
    ### BEGIN SOLUTION
    sure=80,
    ### STARTER
    # sure=None,
    ### END SOLUTION
)
predicted_mbps

# %% check="ceilings" points=1
lab03.check_predicted(predicted_mbps).require()

# %% [markdown] id="sweep-predict"
# ### Predict: a curve
#
# Now draw. You send from h1 to h4 for one second at each of several rates, from 0.6 to 1.1 times the rate of L2. The
# figure will have what you *sent* at the bottom, and what *arrived* at the side, both in Mbit/s.
#
# **Your turn:** at least three points `(sent, arrived)`, from left to right: `[(18, 5), (25, 20), (33, 4)]`, say.

# %% answer="sweep"
### BEGIN SOLUTION
rate, most = L2.rate_mbps, L2.rate_mbps * 1448 / 1490
sketch = lab03.predict(
    "sweep", [(0.6 * rate, 0.6 * rate), (most, most), (1.1 * rate, most)], sure=70
)
### STARTER
# sketch = lab03.predict("sweep", None, sure=None)
### END SOLUTION
sketch

# %% check="sweep" points=1
lab03.check_predicted(sketch).require()

# %% [markdown] id="client-intro"
# ## 2. Measure by hand
#
# First as in a terminal. `iperf3 -s -1` is the server: it receives one test and ends. The client sends: `-u` is UDP,
# `-c` the server's address, `-b` the rate (`-b 12M` is 12 Mbit/s), `-l` the payload of a datagram, `-t` the seconds.
#
# **Your turn:** type both commands, from h1 to h4: 110 % of the rate of L2, 1448 bytes, 3 seconds. The server must
# run on while the client sends, so it needs `popen`; the client needs `cmd`, which waits for its end and returns
# what it printed. `lab["h4"].address` is h4's address.

# %% answer="client"
### BEGIN SOLUTION
server = lab["h4"].popen("iperf3 -s -1")
lab["h4"].wait_listening(5201)
rate, address = 1.1 * L2.rate_mbps, lab["h4"].address
client_output = lab["h1"].cmd(f"iperf3 -u -c {address} -b {rate:.4g}M -l 1448 -t 3")
### STARTER
# # YOUR TURN: the server, with popen; then lab["h4"].wait_listening(5201)
# client_output = ""  # YOUR TURN: the client, with cmd
### END SOLUTION
print(client_output)

# %% check="client" points=2
lab03.check_client(client_output).require()

# %% [markdown] id="drops-intro"
# The last two lines are the result, as sent and as received. `Lost/Total` counts datagrams. **Jitter** says how
# much the time on the path varies from one packet to the next (RFC 3550, smoothed).
#
# Where did the lost ones go? Every queue of a router counts what it drops. `tc -s qdisc show dev r1-eth1`, run on r1,
# shows the queue of one interface: `netem` is the queue and the delay, `htb` above it the rate. The figure names the
# interfaces, and so does Mininet's own `net`: `print(lab.cli("net"))`.
#
# **Your turn:** on which router, and at which of its interfaces, do packets wait for L2? Show that queue, and read
# how many packets it dropped.

# %% answer="drops"
### BEGIN SOLUTION
tc_output = lab["r2"].cmd("tc -s qdisc show dev r2-eth2")
dropped = int(tc_output.split("dropped ")[1].split(",")[0])
### STARTER
# tc_output = ""  # YOUR TURN: the command, on the router
# dropped = None
### END SOLUTION
print(tc_output)

# %% check="drops" points=1
lab03.check_drops(dropped, tc_output, client_output).require()

# %% [markdown] id="overload-intro"
# ## 3. Send too much
#
# `measure.run` with a `UdpFlow` runs the same two programs and reads what they print. **Your turn:** send at 110 % of
# the rate of L2 on `"h1-h4"`, and at 110 % of the rate of L3 on `"h1-h9"` and, from the other side, on `"h7-h9"`.


# %% answer="overload"
def sent_at(name, rate_mbps, duration_s=5):
    source, destination = name.split("-")
    return measure.run(lab, measure.UdpFlow(source, destination, rate_mbps, duration_s))


### BEGIN SOLUTION
overload = {
    "h1-h4": sent_at("h1-h4", 1.1 * L2.rate_mbps),
    "h1-h9": sent_at("h1-h9", 1.1 * L3.rate_mbps),
    "h7-h9": sent_at("h7-h9", 1.1 * L3.rate_mbps),
}
### STARTER
# overload = {}  # YOUR TURN: overload["h1-h4"] = sent_at("h1-h4", ...), and the two others
### END SOLUTION
for name, result in overload.items():
    print(
        f"{name}: {result.throughput_mbps:.2f} Mbit/s arrived, {result.loss_percent:.1f} % lost"
    )

# %% check="overload" points=1
lab03.check_overload(overload).require()

# %% [markdown] id="reasons-question"
# **Question.** Two of the paths carry the same, although one is longer and starts with another link. Why? What would
# change on each of the three if L1 had a rate between those of L2 and L3? And if the delay of L2 were twice as long?

# %% [markdown] reflect="reasons" points=2
# Both end with L3, the slowest link on each. Packets cross the links one after the other, so no more can arrive
# than the slowest of them lets through: the capacity of a path is the least capacity of its links. With L1 between
# L2 and L3, h1-h4 would have its bottleneck at L1 and carry 97.2 % of L1's rate. The two others stay as they are,
# since L3 is slower still. A longer delay changes none: it says how long a packet travels, and not how many enter a
# link in a second.
#
# **Rubric.** 2 points: the least of the links decides, and one of the two changes is right with its reason; 1
# point: the least decides, without the changes, or the changes without a reason. Typical wrong: (1) "the longer
# path is slower" - length adds delay, not loss of rate; (2) "the rates add up", or "the mean counts" - links stand
# in a row, and are no lanes next to each other; (3) "twice the delay halves the throughput" - true of a TCP with a
# fixed window, not of UDP.

# %% [markdown] id="sweep-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# The slowest link of a path is its **bottleneck**, and its rate is the **capacity** of the path: the least capacity
# of its links (RFC 5136, section 2.3). What really arrives in a test is the **throughput**. Here it is a little
# less than theory says, since the receiver's clock runs until the sender's last word has come, a round trip later.
#
# </details>
#
# ## 4. Choose a rate
#
# Here is your curve, and what the network makes of it. One second each, in percent of the rate of L2.

# %% id="sweep"
percents = (67, 83, 93, 97, 100, 105, 110)
swept = [sent_at("h1-h4", L2.rate_mbps * percent / 100, 1) for percent in percents]
ceiling_mbps = lab03.payload_rate_mbps(L2.rate_mbps)
show.sweep(swept, ceiling_mbps=ceiling_mbps, sketch=sketch.sketch)

# %% [markdown] id="hidden-intro"
# Up to the ceiling all arrives, and above it the curve is flat. But look closely: at 100 % you sent more than L2
# carries, for a whole second. How many packets too many were that, and how many of them were lost?
#
# **Your turn:** by how many packets is that more than L2 can carry in the second? The line of theory in the figure
# says what it carries, in Mbit/s of payload; a packet has 1448 bytes of it.

# %% answer="hidden"
lost = swept[percents.index(100)].lost_packets
print(f"lost at {L2.rate_mbps:g} Mbit/s in one second: {lost} packets")
### BEGIN SOLUTION
too_many = (L2.rate_mbps - ceiling_mbps) * 1e6 / (1448 * 8)
### STARTER
# too_many = None
### END SOLUTION

# %% check="hidden" points=1
lab03.check_hidden(too_many).require()

# %% [markdown] id="chosen-intro"
# **Your turn:** choose a rate for all three paths, as a share of what arrived at 110 %. Nothing may be lost, and you
# should use at least 97 % of what the path carries. 1 stands there: is it a good share?

# %% answer="chosen"
### BEGIN SOLUTION
share = 0.985
### STARTER
# share = 1  # YOUR TURN
### END SOLUTION
at_chosen = {}
for name, result in overload.items():
    arrived_mbps = result.sent_mbps * (1 - result.loss_percent / 100)
    at_chosen[name] = sent_at(name, share * arrived_mbps)

# %% check="chosen" points=1
lab03.check_chosen(at_chosen).require()

# %% [markdown] id="neighbour-question"
# **Question.** Somebody has a video call over L2 while you send at 110 % of its rate. What happens to the packets
# of the call, and to their delay? What would be different if you sent with TCP? What does that say about finding a
# bandwidth in this way on a network that others use?

# %% [markdown] reflect="neighbour" points=3
# L2 gets more than it carries for as long as I send, so its queue is full all the time. The packets of the call are
# dropped as mine are: about one in ten or more, if its packets are not in step with mine (Lab 10 shows that case).
# Those that pass wait behind a full queue, some 20 ms here. UDP does not slow down, so it gets no better until I
# stop. A TCP with loss-based congestion control fills the queue too, but takes each loss as a sign to slow down, and
# leaves the call a share. On a network that others use one sends little and briefly: short packet trains, or rates
# that start low and stop at the first loss.
#
# **Rubric.** 3 points: loss of the call's own packets, waiting of the rest, and a conclusion on how to measure; 2
# points: two of them; 1 point: one of them. Typical wrong: (1) "only my packets are lost, I am the one who sends
# too much" - a queue drops who comes when it is full, whoever that is; (2) "the call gets its share, as with TCP" -
# nobody shares here, and UDP does not hear of losses; (3) "the delay grows without end" - a full queue drops, and
# does not grow.

# %% [markdown] id="train-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# RFC 8085, section 3.1, says that an application over UDP should control congestion itself. A test at too high a rate
# is not good manners on a network of others, and RFC 6815 says that tests by RFC 2544 belong in a laboratory only.
#
# </details>
#
# ## 5. A packet train
#
# There is a way that sends little. `train(packets)` sends packets back to back, without any pause. A link needs a
# moment to put each one on the cable, so the slowest link leaves them apart. While nobody else sends, no later link
# brings them closer again. The `Prober` gives you the time at which each one arrived:

# %% id="train"
prober = measure.Prober(lab, "h1", "h4")
arrival_s = prober.train(60)
show.arrivals(arrival_s)

# %% [markdown] id="estimate-intro"
# If three packets arrive at 0, 1 and 2 ms, how many gaps are there, and how many bits have passed in them?
#
# **Your turn:** write `estimate_from_train`. It gets the times of arrival in seconds, in order, and the bytes of
# payload of each packet. It returns Mbit/s.


# %% answer="estimate"
def estimate_from_train(arrival_s, payload_bytes):
    ### BEGIN SOLUTION
    gaps = len(arrival_s) - 1
    bits = gaps * payload_bytes * 8
    return bits / (arrival_s[-1] - arrival_s[0]) / 1e6
    ### STARTER
    # return None  # YOUR TURN: Mbit/s
    ### END SOLUTION


print(estimate_from_train(arrival_s, 1448), "Mbit/s; in theory", round(ceiling_mbps, 2))

# %% check="train" points=2
lab03.check_train(estimate_from_train).require()

# %% [markdown] id="busy-intro"
# ### Somebody else sends
#
# Now h7 sends to h5, over L2, at half of its rate. That leaves the other half free. What will a train from h1 to h4
# say?

# %% id="busy"
free_mbps = lab03.payload_rate_mbps(L2.rate_mbps) - L2.rate_mbps / 2
lab["h5"].popen("iperf3 -s -1")
lab["h5"].wait_listening(5201)
lab["h7"].popen(f"iperf3 -u -c {lab['h5'].address} -b {L2.rate_mbps / 2:g}M -l 1448 -t 3")
lab.sleep(1)
busy_s = prober.train(60)
shown = estimate_from_train(busy_s, 1448) or 0
print(f"capacity {ceiling_mbps:.1f}, free {free_mbps:.1f}, the train says {shown:.1f} Mbit/s")

# %% [markdown] id="busy-question"
# **Your turn:** what is it that the train shows now?
#
# (a) The capacity of the path: the spacing is that of the slowest link, whoever sends. (b) The part that is free: the
# train gets what the other one leaves. (c) Neither, but something between both: packets of the other one came between
# those of the train. (d) Nothing: the other one's packets were lost, and so was the order.

# %% answer="busy"
### BEGIN SOLUTION
train_shows = "c"
### STARTER
# train_shows = None
### END SOLUTION

# %% check="busy" points=1
lab03.check_busy(train_shows).require()

# %% [markdown] id="available-question"
# **Question.** You want to choose the rate of a video call, over a path that others use. A train says 21 Mbit/s.
# May you send 21? What do you know of the path, and what would you do to find out what is free?

# %% [markdown] reflect="available" points=3
# No. What is free may be much less, for a train takes its place in the queue from the others: it shows how packets
# are spaced that push in, and not how many more the link could carry for a long time. I know that the capacity is
# at least 21, and no more. To find what is free, send at a low rate and go up slowly, for longer than a queue can
# hide: as soon as packets take longer and longer, or get lost, the rate is more than what is free. It also changes
# with the others' traffic, so a call must go on looking.
#
# **Rubric.** 3 points: no, with the difference between capacity and what is free, and a method that watches delay
# or loss at a rate kept up; 2 points: no, and one of the two; 1 point: no, for a reason that is not wrong. Typical
# wrong: (1) "yes, it was measured" - it was measured while pushing in; (2) "subtract the traffic of the others from
# 21" - the 21 already have a part of it in them; (3) "send a longer train" - that makes the same number more exact.

# %% [markdown] id="unknown-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# **Available bandwidth** is the part of the capacity that others leave unused, over a given time (RFC 5136, section
# 2.3: available path capacity). Programs that estimate it send streams of packets at several rates, and look at
# which one the delay starts to grow: Jain and Dovrolis, *pathload*, 2002.
#
# </details>
#
# ## 6. A network that you do not know
#
# Alone on a path, trains are good. This network has 2 to 6 links of any rate from 5 to 100 Mbit/s, and nobody else
# sends. A `Prober` is all you have. `send(rate_mbps, duration_s=1)` sends payload at a rate; its answer has
# `loss_percent` and `received_mbps`. The prober counts what it took. Here is the plain way: one Mbit/s more each
# time, until packets are lost.

# %% id="plain"
lab.stop()
unknown = start(lab03.random_chain(2043, bottleneck_mbps=(5, 40)))
plain = measure.Prober(unknown, "h1", "h2")
print(f"the plain way finds {lab03.increase(plain, stray_percent=0.5)} Mbit/s")
plain

# %% [markdown] id="search-intro"
# It works, and look what it sent. On a path of twice the bandwidth it would be four times as much: why?
#
# **Your turn:** write `find_bandwidth`. It returns Mbit/s of payload, at most 5 % off. One way:
#
# 1. Send a train. Your estimate is the middle of a small range, say from 10 % below it to 10 % above.
# 2. Send at the middle of the range. Was anything lost? Then the answer is below, else above.
# 3. Repeat with the half that is left, until the range is small.
#
# Remember the queue: it hides a loss in a test of one second. In a test of two, `prober.send(rate, 2)`, the same
# queue hides half as large an error of the rate. Any other way is as good, on two conditions: a probe near your
# answer lost nothing, and all probes together send no more than the path carries in 12 seconds. Half a percent counts
# as nothing.
#
# Then try it: how does it compare with the plain way? The check draws four networks that nobody has seen.


# %% answer="find"
def find_bandwidth(prober):
    ### BEGIN SOLUTION
    guess = estimate_from_train(prober.train(60), 1448)
    low, high = 0.9 * guess, 1.06 * guess
    while high - low > 0.03 * guess:
        rate = (low + high) / 2
        if prober.send(rate, 2).loss_percent > 0.5:
            high = rate
        else:
            low = rate
    return low
    ### STARTER
    # return None  # YOUR TURN: Mbit/s
    ### END SOLUTION


# %% id="find-try"
own = measure.Prober(unknown, "h1", "h2")
print(find_bandwidth(own), "Mbit/s")
print(own)
show.draw(unknown)

# %% check="search" points=4
lab03.check_search(find_bandwidth).require()

# %% [markdown] id="end-of-lab"
# ## 7. What you know now
#
# The slowest link decides what a path carries. Its queue drops what does not fit and counts the drops; UDP does not
# send it again. A queue hides the overload for a while. A train shows the capacity of a path that nobody else uses, and
# not what is free.
# `unknown.stop()` ends the network, and so does closing this page.
#
# **Three questions for review.**
#
# 1. A student asked iperf *version 2* for `-b 25M`, and 26.2 Mbit/s arrived. More than was sent?
#    <details><summary>Answer</summary>Version 2 takes M for 2<sup>20</sup>: 25 * 1.048576 = 26.2. Look what a tool
#    means by its units; iperf3 takes M for a million.</details>
# 2. A path has links of 100, 20 and 50 Mbit/s. The third is replaced by one of 1000. What becomes faster?
#    <details><summary>Answer</summary>The time that each packet needs on that link, a little. The capacity stays 20
#    Mbit/s.</details>
# 3. Why do two packets in place of sixty make a bad train?
#    <details><summary>Answer</summary>One gap is bent by anything: another one's packet, a late timer, a shaper's
#    burst. Of many gaps these average out, though where others send, their mean is not the capacity.</details>
#
# **Where to read on.** RFC 5136 (capacity and available capacity), RFC 8085 (how UDP should be used), RFC 2544
# section 26.1 (throughput: the highest rate without a loss). Dovrolis, Ramanathan, Moore: *Packet-dispersion
# techniques and a capacity-estimation methodology*, IEEE/ACM Transactions on Networking 12(6), 2004. Kurose and
# Ross, chapter 1: throughput, bottleneck, delay and loss; chapter 3: UDP. Peterson and Davie, chapter 1:
# performance.
