# %% [markdown] id="goal"
# # Lab 03: UDP bandwidth with iperf3
#
# How much can a path carry? In this lab you predict it, measure it with `iperf3`, and choose a rate at which
# nothing is lost. Then you write a program that finds the bandwidth of a network that it does not know.
#
# UDP makes this easy to see. Its sender chooses a rate and keeps to it, whatever happens on the way. What
# does not fit is lost.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.analysis.searching import increase
from linklab.labs import lab03
from linklab.labs.lab03.figures import udp_beside_report
from linklab.measure import Prober, UdpFlow
from linklab.network import path, payload_rate_mbps
from linklab.network.random_chain import random_chain

# %% [markdown] id="paths-intro"
# ## 1. Three paths
#
# This is the network of Lab 01. You will measure three paths. Here is each of them, with the rates of its links:
# `L1.rate_mbps`, `L2.rate_mbps` and `L3.rate_mbps` below. (To run a cell: click on it, then press Shift+Enter.)

# %% id="start"
network = linklab.course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
lab = linklab.start(network)
show.draw(lab, highlight=path(network, "h1", "h4"), title="h1 to h4")

# %% id="draw-h1-h9"
show.draw(lab, highlight=path(network, "h1", "h9"), title="h1 to h9")

# %% id="draw-h7-h9"
show.draw(lab, highlight=path(network, "h7", "h9"), title="h7 to h9")

# %% [markdown] id="bottleneck-intro"
# ## 2. Predict
#
# **Your turn:** which link of each path is its **bottleneck**, the one that limits it? Replace each `None`
# with `"L1"`, `"L2"` or `"L3"`, and run the cell. The check behind it says whether you are right.

# %% answer="bottlenecks"
bottlenecks = {
    ### BEGIN SOLUTION
    "h1-h4": "L2",
    "h1-h9": "L3",
    "h7-h9": "L3",
    ### STARTER
    # "h1-h4": None,
    # "h1-h9": None,
    # "h7-h9": None,
    ### END SOLUTION
}

# %% check="bottlenecks" points=1
lab03.check_bottlenecks(bottlenecks).require()

# %% [markdown] id="ceiling-intro"
# ### How much of it is yours
#
# `iperf3` counts **payload**: the bytes that it gives to UDP. The network adds headers to each datagram, and
# the rate of a link counts them all:
#
# | part of a frame | bytes |
# | --- | --- |
# | Ethernet header | 14 |
# | IPv4 header | 20 |
# | UDP header | 8 |
# | payload | 1448 |
# | **frame** | **1490** |
#
# A link of 100 Mbit/s carries so many bits of frames. So it carries 100 * 1448 / 1490 = 97.18 Mbit/s of payload.
#
# **Your turn:** the most payload that each path carries, in Mbit/s. You may write a formula.

# %% answer="ceilings"
predicted_mbps = {
    ### BEGIN SOLUTION
    "h1-h4": L2.rate_mbps * 1448 / 1490,
    "h1-h9": L3.rate_mbps * 1448 / 1490,
    "h7-h9": L3.rate_mbps * 1448 / 1490,
    ### STARTER
    # "h1-h4": None,
    # "h1-h9": None,
    # "h7-h9": None,
    ### END SOLUTION
}

# %% check="ceilings" points=1
lab03.check_ceilings(predicted_mbps).require()

# %% [markdown] id="loss-intro"
# ### What does not fit
#
# Suppose you send as much payload from h1 to h4 as the rate of L2, for a long time. A bit less arrives. The rest is
# lost. The **loss** is the share of what was sent that did not arrive.
#
# **Your turn:** the loss in percent, when payload is sent at 100 % or 110 % of the rate of the path's bottleneck.

# %% answer="losses"
predicted_loss_percent = {
    ### BEGIN SOLUTION
    "h1-h4 at 100 %": 100 * (1 - predicted_mbps["h1-h4"] / L2.rate_mbps),
    "h1-h4 at 110 %": 100 * (1 - predicted_mbps["h1-h4"] / (1.1 * L2.rate_mbps)),
    "h1-h9 at 110 %": 100 * (1 - predicted_mbps["h1-h9"] / (1.1 * L3.rate_mbps)),
    ### STARTER
    # "h1-h4 at 100 %": None,
    # "h1-h4 at 110 %": None,
    # "h1-h9 at 110 %": None,
    ### END SOLUTION
}

# %% check="losses" points=1
lab03.check_losses(predicted_loss_percent).require()

# %% [markdown] id="reasons-question"
# **Your reasons.** Two of the paths have the same bandwidth, although one is longer and begins with another
# link. Why? And what would change if L1 had a rate between those of L2 and L3?

# %% [markdown] reflect="reasons" points=1
# Both end with L3, the slowest link on each, and packets cross the links one after the other: what passes L3
# has passed the others easily. Length adds delay, not bandwidth. With L1 between L2 and L3, say at 25 Mbit/s, the
# path h1-h4 would have its bottleneck there and carry 24.3 Mbit/s. The other two would stay as they are, since L3 is
# slower still.

# %% [markdown] id="by-hand-intro"
# ## 3. Measure
#
# First by hand, as in a terminal. `iperf3 -s` is the server: it receives. The client sends: `-u` is UDP, `-b`
# the rate, `-l` the payload of a datagram, `-t` the seconds.

# %% id="by-hand"
server = lab["h4"].popen("iperf3 -s -1")
lab["h4"].wait_listening(5201)
print(lab["h1"].cmd(f"iperf3 -u -c {network.address_of('h4')} -b 25M -l 1448 -t 3"))

# %% [markdown] id="by-hand-notice"
# **What to notice.** The last two lines are the result, once as sent and once as received. `Lost/Total` counts
# datagrams. **Jitter** says how much the spacing of the packets changes on the way (RFC 3550). Here that is a
# part of a millisecond: `iperf3` sends small groups of packets, and the slower links pull them apart.
#
# `measure.run` with a `UdpFlow` runs the same two programs and reads what they print. One line per measurement:


# %% id="sent-at"
def sent_at(name, rate_mbps, duration_s=3):
    source, destination = name.split("-")
    flow = UdpFlow(source, destination, rate_mbps, duration_s)
    return measure.run(lab, flow)


result = sent_at("h1-h4", 25)
print(f"{result.throughput_mbps:.2f} Mbit/s arrived")
print(f"lost: {result.lost_packets} of {result.sent_packets} packets")
print(f"that is {result.loss_percent:.2f} %; jitter {result.jitter_ms:.2f} ms")

# %% [markdown] id="throughput-note"
# > **25 were sent, and a bit less is reported?** Nothing was lost. The receiver's clock runs from the begin of the
# > test to its last word, which arrives one round trip later. The longer the test, the less that matters.

# %% [markdown] id="overload-intro"
# **Your turn:** send at 110 % of the bottleneck's rate on each path, with `sent_at`.

# %% answer="overload"
overload = {
    ### BEGIN SOLUTION
    "h1-h4": sent_at("h1-h4", 1.1 * L2.rate_mbps),
    "h1-h9": sent_at("h1-h9", 1.1 * L3.rate_mbps),
    "h7-h9": sent_at("h7-h9", 1.1 * L3.rate_mbps),
    ### STARTER
    # "h1-h4": None,  # sent_at(..., ...)
    # "h1-h9": None,
    # "h7-h9": None,
    ### END SOLUTION
}

# %% check="overload" points=2
lab03.check_overload(overload).require()

# %% [markdown] id="bandwidth-intro"
# **Your turn:** now read the bandwidth of each path from these results, in Mbit/s. Each has `sent_mbps`,
# `throughput_mbps` and `loss_percent`, among others. Which one is it?

# %% answer="bandwidth"
### BEGIN SOLUTION
bandwidth_mbps = {}
for name in overload:
    bandwidth_mbps[name] = overload[name].throughput_mbps
### STARTER
# bandwidth_mbps = {"h1-h4": None, "h1-h9": None, "h7-h9": None}
### END SOLUTION

# %% check="bandwidth" points=1
lab03.check_bandwidth(bandwidth_mbps, overload).require()

# %% [markdown] id="sweep-intro"
# ## 4. Choose the rate
#
# Sending too much shows the bandwidth, and wastes it. A good sender stays just below. Here are several rates,
# one second each, in percent of the rate of L2. **Predict:** at which of them is something lost?

# %% id="sweep"
percents = (67, 83, 93, 97, 100, 105, 110)
sweep_results = [sent_at("h1-h4", L2.rate_mbps * percent / 100, 1) for percent in percents]
show.sweep(sweep_results, ceiling_mbps=payload_rate_mbps(L2.rate_mbps))

# %% [markdown] id="sweep-notice"
# **What to notice.** Below the line of theory all arrives. Above it the curve is flat: send more, and only the
# loss grows.
#
# Look closely: at 100 % less is lost than you predicted, and the flat part lies a little above theory. The next
# section asks why.
#
# **Your turn:** choose a rate for each path. Nothing may be lost, and you should use at least 97 % of what the
# path carries. Then measure at your rates.

# %% answer="chosen"
chosen_mbps = {
    ### BEGIN SOLUTION
    "h1-h4": 0.99 * predicted_mbps["h1-h4"],
    "h1-h9": 0.99 * predicted_mbps["h1-h9"],
    "h7-h9": 0.99 * predicted_mbps["h7-h9"],
    ### STARTER
    # "h1-h4": None,
    # "h1-h9": None,
    # "h7-h9": None,
    ### END SOLUTION
}

# %% id="chosen-measured"
at_chosen = {}
for name, rate in chosen_mbps.items():
    if rate:
        at_chosen[name] = sent_at(name, rate)

# %% check="chosen" points=2
lab03.check_chosen(at_chosen).require()

# %% [markdown] id="explain-intro"
# ## 5. Explain
#
# Your prediction, theory, what you measured, and what a student's report of 2023 found (section 4.3.1). Its network
# was the plain course network: L1, L2 and L3 with 40, 30 and 20 Mbit/s. If yours has other numbers, its column is
# headed so, and in the figure it stands beside theory for *its* network.

# %% id="compare"
rows = udp_beside_report(predicted_mbps, bandwidth_mbps, overload, why=False)
show.comparison(rows, "UDP: predicted, theory, report, measured")

# %% id="compare-figure"
show.compared(rows, "UDP beside theory")

# %% [markdown] id="report-why"
# What you measured is a little below theory, inside the bar. That is the receiver's clock again.
#
# The report is far below theory. Is its network slower? No: its author chose rates at which nothing was lost, and
# wrote down what arrived. That is a rate that *fits*, and not the most that fits.
#
# But one thing is odd. The author asked iperf (version 2) for 25 Mbit/s, with `-b 25M`, and 26.2 arrived. At `-b 27M`
# it was 28.3. More than was sent? Version 2 does not take M for a million.
#
# **Your turn,** three numbers:
#
# 1. `iperf2_m`: how many bit/s is M in version 2? It is a power of 2.
# 2. `report_loss`: at `-b 30M` on h1-h4 the report lost "7 %". Which loss, in percent, does theory give? Its L2 has
#    30 Mbit/s, and its datagrams carry 1470 bytes, in frames of 1512.
# 3. `extra_packets`: in the sweep, you sent at 100 % of the rate of L2 for one second. How many packets is that
#    beyond what L2 carries in a second?

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "iperf2_m": 2**20,
    "report_loss": 100 * (1 - 30 * 1470 / 1512 / (30 * 2**20 / 1e6)),
    "extra_packets": (L2.rate_mbps - predicted_mbps["h1-h4"]) * 1e6 / (1448 * 8),
    ### STARTER
    # "iperf2_m": None,
    # "report_loss": None,
    # "extra_packets": None,
    ### END SOLUTION
}

# %% check="questions" points=2
lab03.check_questions(answers).require()

# %% [markdown] id="why-intro"
# When your three numbers are right, the next cell says what is behind each number of the report:

# %% id="compare-why"
known = lab03.check_questions(answers).passed
rows = udp_beside_report(predicted_mbps, bandwidth_mbps, overload, why=known)
reasons = [[row.quantity, row.report, row.remark or None] for row in rows]
show.table(["report", "Mbit/s", "why"], reasons)

# %% [markdown] id="queue-intro"
# Now compare your third number with what was really lost:

# %% id="queue"
at_its_rate = sweep_results[percents.index(100)]
print(f"lost at {L2.rate_mbps} Mbit/s in one second: {at_its_rate.lost_packets} packets")

# %% [markdown] id="queue-notice"
# **What to notice.** The others are not lost. They wait in the queue of L2. About half of the packets that it holds
# are in the link's delay, and the other half can wait. They arrive when the test is over. **A short test hides what
# a queue swallows.** Keep that in mind for the rest of the lab.

# %% [markdown] id="neighbour-question"
# **Question.** Somebody has a video call over L2 while you measure at 110 % of its rate. What happens to the call?
# What does that say about measuring this way on a network that others use?

# %% [markdown] reflect="neighbour" points=1
# L2 is overloaded for as long as the test runs: its queue is full all the time. The packets of the call are lost
# as often as mine, about every eighth, and those that pass wait for a full queue. UDP does not slow down, so the
# call gets no better until I stop. On a network that others use one should send little and briefly: short packet
# trains, or rates that begin low.

# %% [markdown] id="unknown-intro"
# ## 6. A network that you do not know
#
# So far you knew the links. Now you do not. This network has 2 to 6 of them, of any rate from 5 to 100 Mbit/s.
# A `Prober` is all you have. It can do two things, and it counts what they take.

# %% id="prober"
lab.stop()
unknown = linklab.start(random_chain(2043, bottleneck_mbps=(5, 40)))
prober = Prober(unknown, "h1", "h2")
print(prober.send(5))
print(prober.send(50))
prober

# %% [markdown] id="prober-notice"
# `send(rate_mbps, duration_s=1)` sends payload at a rate. Its answer has `loss_percent`, `received_mbps` and
# `jitter_ms`. (`received_mbps` is what arrived by the time of *sending*, so a full queue at the end counts too.)
#
# The plain way is to go up, one Mbit/s at a time, until more is lost than a stray packet or two:

# %% id="plain"
plain = Prober(unknown, "h1", "h2")
print(f"the plain way finds {increase(plain, stray_percent=0.5)} Mbit/s")
plain

# %% [markdown] id="train-intro"
# It works, and look what it took. On a path of twice the bandwidth it would take four times as much: why?
#
# ### A packet train
#
# There is a better way to begin. `train(packets)` sends packets back to back, without any pause. The bottleneck
# needs a moment for each one, so they leave it that far apart, and nothing behind it brings them closer again. The
# prober gives you the time at which each one arrived:

# %% id="train"
arrival_s = prober.train(40)
show.arrivals(arrival_s)

# %% [markdown] id="train-task"
# **What to notice.** A straight line: one packet after the other, at the pace of the bottleneck. (The first two
# may come together. The shaper of a link lets a little through at once.)
#
# The slope of that line is the bandwidth: so many packets, each with so many bits, in so much time. If three
# packets arrive at 0, 1 and 2 ms, how many gaps are there, and how many bits have passed in them?
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


print(estimate_from_train(arrival_s, 1448))

# %% check="train" points=2
lab03.check_train(estimate_from_train).require()

# %% [markdown] id="search-intro"
# ### The search
#
# A train is short: a few packets are a hint, not a proof. So the search goes on from there:
#
# 1. Send a train. Your estimate is the middle of a small range, say from 10 % below it to 10 % above.
# 2. Send at the middle of the range. Was anything lost? Then the answer is below, else above.
# 3. Repeat with the half that is left, until the range is small.
#
# Remember the queue: in one second it hides a loss. Two seconds (`prober.send(rate, 2)`) hide half as much.
#
# **Your turn:** write `find_bandwidth`. It returns Mbit/s of payload, at most 5 % off. You may do it in any other
# way, on two conditions: a probe near your answer lost nothing, and all probes together send no more than the path
# carries in 12 seconds. Half a percent counts as nothing: in real time a sender that wakes late sends several packets
# at once, and a short queue drops one.


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


# %% [markdown] id="search-try"
# Try it. How does it compare with the plain way?

# %% id="find-try"
own = Prober(unknown, "h1", "h2")
print(find_bandwidth(own))
own

# %% [markdown] id="search-check"
# The check draws four networks that nobody has seen, and runs your function on each. They are others each time.

# %% check="search" points=4
lab03.check_search(find_bandwidth).require()

# %% [markdown] id="reveal-intro"
# Curious? This is the network that you have searched:

# %% id="reveal"
show.draw(unknown)

# %% [markdown] id="stop-intro"
# ## 7. Stop

# %% id="stop"
unknown.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** the slowest link decides what a path carries, and headers take their share of it. UDP loses
# what does not fit, but a queue hides that for a while. The spacing of a few packets tells the bandwidth that a flood
# would have to find out.
