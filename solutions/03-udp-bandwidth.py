# %% [markdown] id="goal"
# # Lab 03: UDP bandwidth with iperf3
#
# How much can a path carry (its *bandwidth*, in Mbit/s)? You predict the answer, measure it with `iperf3`, and find
# where packets are lost. Then you write a program that finds the bandwidth of an unknown network.
#
# *UDP* makes this easy to see. Like TCP it carries the data of programs. But UDP itself neither slows down nor sends
# anything again, and `iperf3 -u` keeps the rate that you ask for, whatever happens on the path.
#
# **Time:** about 4 hours: 2 hours for sections 1 to 4, then a break, and 2 hours for sections 5 to 7. **You need:** Lab
# 00 (predict, measure, explain) and Lab 01 (the network, its interfaces and addresses).
#
# ## 1. Two paths
#
# This is the network of Lab 01. You will send from h1 to h4, and from h1 to h9 (the path in the figure).
# `L1.rate_mbps`, `L2.rate_mbps` and `L3.rate_mbps` are the rates of the three links between the routers. All other
# cables are faster.

# %% id="imports"
from linklab import course_network, lab03, measure, show, start
from linklab.show import theory

network = course_network()
L1, L2, L3 = (network.link(name) for name in ("L1", "L2", "L3"))
lab = start(network)
display(lab03.progress())
show.network(lab, highlight=lab03.path(network, "h1", "h9"), title="h1 to h9")

# %% [markdown] id="ceilings-intro"
# ### Predict: the throughput
#
# `iperf3` counts **payload**: the bytes that it gives to UDP. UDP sends them in *datagrams*, one in each packet. Each
# datagram of 1448 bytes travels in a frame of 1490 (Ethernet 14, IP 20, UDP 8). The rate of a link here counts the
# whole frame, so payload gets 97.2 % of it: this is the link's *ceiling*. (On a real cable this frame takes as long as
# 1514 bytes, because Ethernet adds a preamble, a checksum and a gap. By chance this is also the length of a full TCP
# frame without these: Lab 00.)
#
# **Your turn:** you send far more than each path carries. How many Mbit/s of payload arrive on each path? You may write
# a formula, without quotes. How sure are you, from 0 to 100? You get the point for any prediction, right or wrong.

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

# %% [markdown] id="client-intro"
# ## 2. Measure by hand
#
# First use `iperf3` as in a terminal. `iperf3 -s -1` is the server: it receives one test and ends. The client sends:
# `-u` means UDP, `-c` gives the server's address, `-b` the rate (`-b 12M` is 12 Mbit/s), `-l` the payload of a
# datagram, `-t` the seconds.
#
# **Your turn:** write both commands. Send from h1 to h4 at 110 % of the rate of L2, with 1448 bytes, for 3 seconds.
# Start the server with `popen`, because it must run while the client sends. Run the client with `cmd`, which waits
# until the client ends and returns its output. `lab["h4"].address` is h4's address. `wait_listening(5201)` waits until
# the server listens at *port* 5201: a port is a number that tells the programs of one host apart.

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
# The last two lines are the result: first what h1 sent, then what h4 received. `Lost/Total` counts datagrams.
# **Jitter** says how much the time on the path varies from one packet to the next (RFC 3550, smoothed).
#
# Where were the packets lost? Every queue of a router counts the packets that it drops. `tc -s qdisc show dev r1-eth1`,
# run on r1, shows the queue of one interface with its counters (`-s`): `netem` holds the packets and delays them;
# `htb`, above it, limits the rate. (Both lines count the same drops: do not add them.) The figure shows the names of
# the interfaces. Mininet's own `net` lists them too: `print(lab.cli("net"))`.
#
# **Your turn:** on which router, and at which of its interfaces, do packets wait for L2, the slowest link (the
# *bottleneck*) of this path? Show that queue, and read how many packets it dropped.

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
# `measure.run` with a `UdpFlow` runs the same two programs and reads their output. **Your turn:** send at 110 % of the
# rate of L2 on `"h1-h4"`. Send at 110 % of the rate of L3 on `"h1-h9"` and on `"h7-h9"`, which starts on the other
# side.
#
# The cell prints what arrived in two ways: over the time of iperf3's receiver, as iperf3 does, and over the time in
# which h1 or h7 sent. Both count the same packets.


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
    sending_mbps = result.sent_mbps * (1 - result.loss_percent / 100)
    print(f"{name}: {result.throughput_mbps:.2f} Mbit/s by iperf3's clock", end=", ")
    print(f"{sending_mbps:.2f} over the time of sending, {result.loss_percent:.1f} % lost")

# %% check="overload" points=1
lab03.check_overload(overload).require()

# %% [markdown] id="reasons-question"
# Two of the three paths carry the same rate, although one is longer and starts with another link.
#
# **Question.** Suppose L1 had a rate between those of L2 and L3, and L2 had twice its delay. What would each of the
# three paths carry then, and why?

# %% [markdown] reflect="reasons" points=2
# The paths h1-h9 and h7-h9 both end with L3, the slowest link on each. Packets cross the links one after the other, so
# no more can arrive than the slowest link lets through: the capacity of a path is the least capacity of its links. If
# L1 had a rate between those of L2 and L3, L1 would be the bottleneck of h1-h4, which would carry 97.2 % of L1's rate.
# The two other paths would not change, because L3 is still slower. A longer delay changes no path (as long as netem's
# limit leaves room: Lab 04): delay says how long a packet travels, not how many packets enter a link in a second.
#
# **Rubric.** 2 points: the slowest link decides, and one of the two changes is right with its reason; 1 point: the
# slowest link decides, without the changes, or the changes without a reason. Typical wrong: (1) "the longer path is
# slower": length adds delay, but does not lower the rate; (2) "the rates add up", or "the mean counts": the links
# follow each other, they are not parallel lanes; (3) "twice the delay halves the throughput": this is true of a TCP
# with a fixed window, not of UDP.

# %% [markdown] id="sweep-predict"
# ## 4. Choose a rate
#
# ### Predict: a curve and a number
#
# Now you send from h1 to h4 for *one second* at each of several rates, from 0.6 to 1.1 times the rate of L2. The figure
# will show the *sent* rate on the x-axis and the *arrived* rate on the y-axis, both in Mbit/s.
#
# **Your turn:** run the cell, draw the curve in its figure, and run the cell again: it writes your points down. You can
# also write them yourself: at least three points `(sent, arrived)`, from left to right, for example
# `[(18, 5), (25, 20), (33, 4)]`. And write a number: at 100 % of the rate of L2, how many packets are lost in this
# second? After the measurement you see your `said_lost` again.

# %% answer="sweep"
### BEGIN SOLUTION
rate, most = L2.rate_mbps, L2.rate_mbps * 1448 / 1490
sketch = lab03.predict(
    "sweep", [(0.6 * rate, 0.6 * rate), (most, most), (1.1 * rate, most)], sure=70
)
does_not_fit = (rate - most) * 1e6 / (1448 * 8)
said_lost = round(does_not_fit - L2.queue_packets / 2)  # about half of the queue is free
### STARTER
# sketch = lab03.predict("sweep", None, sure=None)
# said_lost = None
### END SOLUTION
sketch

# %% check="sweep" points=1
lab03.check_predicted(sketch).require()

# %% id="sweep"
lab03.explain("reasons")
# Your curve and the measured one: one second at each rate, in percent of the rate of L2
percents = (67, 83, 93, 97, 100, 105, 110)
swept = [sent_at("h1-h4", L2.rate_mbps * percent / 100, 1) for percent in percents]
ceiling_mbps = lab03.payload_rate_mbps(L2.rate_mbps)
show.sweep(swept, ceiling_mbps=ceiling_mbps, sketch=sketch.sketch)

# %% [markdown] id="hidden-intro"
# Up to the ceiling everything arrives, and above it the curve is flat. But look closely at 100 %: for a whole second
# you sent more than L2 carries. How many packets were lost?
#
# **Your turn:** compute `too_many`: the packets that you sent in this second minus the packets that L2 can carry in it.
# The line of theory in the figure shows what L2 carries, in Mbit/s of payload. Each packet has 1448 bytes of payload.

# %% answer="hidden"
lost = swept[percents.index(100)].lost_packets
print(f"lost at {L2.rate_mbps:g} Mbit/s in one second: {lost} packets; you said {said_lost}")
### BEGIN SOLUTION
too_many = (L2.rate_mbps - ceiling_mbps) * 1e6 / (1448 * 8)
### STARTER
# too_many = None
### END SOLUTION

# %% check="hidden" points=1
lab03.check_hidden(too_many).require()

# %% [markdown] id="chosen-intro"
# **Your turn:** choose one `share` for all three paths. On each path the cell then sends at this share of what arrived
# in section 3, over the time of sending (the second number). That number is a little above theory: why? No packet may
# be lost, and you should use at least 97 % of what the path carries. The cell starts with a share of 1: is this a good
# choice?

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

# %% id="report"
# The course report, a student's report of 2023 on this network, did not search for the maximum:
# its numbers are the rates that it asked its tool for, iperf version 2. That one reads the M of
# -b 25M as 1,048,576 bit/s (and 25m as 25 million), iperf3 as a million.
for name, asked in {"h1-h4": 25, "h1-h9": 16, "h7-h9": 16}.items():
    flow = measure.Iperf2Flow(*name.split("-"), asked_mibps=asked)
    printed = measure.run(lab, flow)
    print(f"{name}: iperf -u -b {asked}M prints {printed.throughput_mbps} Mbit/s", end=", ")
    print(f"{printed.lost_packets} lost; the report has {lab03.in_report(name)}")

# %% [markdown] id="neighbour-question"
# Another user, h7, has a call with h5 over L2 while you send at 110 % of L2's rate. What does your test do to the
# call? Measure it: the call is a stream of 1 Mbit/s, and pings show how long its packets wait.
#
# **Your turn:** let your own flow from h1 to h4 run together with the call: `measure.run_together(lab, [FLOW, *call])`.
# In `neighbour` store `waits_ms`, by how much your test delays a packet at most (the two RTTs tell), and a letter. Your
# test lasted 5 s. What happens to the call if you send for a minute?
#
# - a: the loss ends: h1 notices it and sends more slowly
# - b: its delay grows all the time: the queue becomes longer and longer
# - c: it gets its share: r2 divides L2 between the two of us
# - d: it goes on as in these 5 s: packets of the call are lost, and the others wait

# %% answer="neighbour"
call = [measure.UdpFlow("h7", "h5", 1, 5), measure.PingFlow("h7", "h5")]
### BEGIN SOLUTION
own = measure.UdpFlow("h1", "h4", 1.1 * L2.rate_mbps, 5)
beside = measure.run_together(lab, [own, *call])
### STARTER
# beside = None  # YOUR TURN
### END SOLUTION
if beside:
    _, talk, pings = beside.results
    print(f"of the call {talk.loss_percent:.0f} % is lost", end=", ")
    print(f"RTT {pings.rtt_min_ms:.1f} to {pings.rtt_max_ms:.1f} ms")
### BEGIN SOLUTION
neighbour = {"waits_ms": pings.rtt_max_ms - pings.rtt_min_ms, "minute": "d"}
### STARTER
# neighbour = {"waits_ms": None, "minute": None}
### END SOLUTION

# %% check="neighbour" points=3
lab03.check_neighbour(beside, neighbour).require()

# %% [markdown] id="train-intro"
# ## 5. A packet train
#
# A packet train measures a path with few packets. `train(packets)` sends packets back to back, without any pause. A
# link needs a moment to put each packet on the cable, so the slowest link spreads the packets. While nobody else sends,
# no later link brings them closer again. The `Prober` gives you the arrival time of each packet. The second figure is
# theory: L1, L2 and a fast last link. Move its sliders to see how each link changes the train. (The theory counts whole
# frames; your program will count payload, 97.2 % of that.)

# %% id="train"
prober = measure.Prober(lab, "h1", "h4")
arrival_s = prober.train(60)
display(show.arrivals(arrival_s))
theory.train(L1.rate_mbps, L2.rate_mbps)

# %% [markdown] id="estimate-intro"
# Three packets arrive at 0, 1 and 2 ms. How many gaps are there? The bits of how many packets arrive during these gaps?
#
# **Your turn:** write `estimate_from_train`. It gets the arrival times in seconds, in order, and the payload of each
# packet in bytes. It returns Mbit/s, from all gaps of the train. (It gives a little more than theory here: the *shaper*
# of L2, `htb`, lets the first packets pass together, so they arrive without a gap.)


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
# Now h7 sends to h5 over L2, at half of L2's rate. Which rate will a train from h1 to h4 show? **Say a number** before
# you run the cell: as much as before, what h7 leaves, or another one?

# %% id="busy"
lab["h5"].popen("iperf3 -s -1")
lab["h5"].wait_listening(5201)
lab["h7"].popen(f"iperf3 -u -c {lab['h5'].address} -b {L2.rate_mbps / 2:g}M -l 1448 -t 3")
lab.sleep(1)
busy_s = prober.train(60)
lab.sleep(3)  # until h7 has ended
shown = estimate_from_train(busy_s, 1448) or 0
print(f"payload ceiling {ceiling_mbps:.1f} Mbit/s, the train says {shown:.1f} Mbit/s")

# %% [markdown] id="free-task"
# You want to choose the rate of a video call from h1 to h4. May you send at the rate that the train says? Try it beside
# h7. A rate is free if you can keep it up: nobody loses a packet, and the RTT does not grow. Loss shows an overload too
# late, because a queue hides a small one.
#
# **Your turn:** which rate makes both flows together exactly what L2 carries? Look for the highest free rate with
# `beside_h7`, and store the run at this rate, or at most 5 % below it. Also try a rate that is 0.07 Mbit/s higher,
# without storing it: which of loss and RTT tells you that it is too high?


# %% answer="free"
def beside_h7(rate_mbps):
    h7 = measure.UdpFlow("h7", "h5", L2.rate_mbps / 2, 5)
    own = measure.UdpFlow("h1", "h4", rate_mbps, 5)
    run = measure.run_together(lab, [h7, own, measure.PingFlow("h1", "h4")])
    h7, own, pings = run.results
    print(f"{rate_mbps:.2f} Mbit/s: lost {own.lost_packets}, of h7 {h7.lost_packets}", end=", ")
    print(f"RTT {pings.rtt_min_ms:.1f} to {pings.rtt_max_ms:.1f} ms")
    return run


### BEGIN SOLUTION
beside_h7(shown)
beside_h7(ceiling_mbps - 0.5 * L2.rate_mbps + 0.07)
free = beside_h7(0.98 * (ceiling_mbps - L2.rate_mbps / 2))
### STARTER
# free = None  # YOUR TURN: free = beside_h7(...)
### END SOLUTION

# %% check="free" points=3
lab03.check_free(free).require()

# %% [markdown] id="busy-question"
# Compare three rates: of the train, of the path, and what was free. What did the train show beside h7?
#
# - a: the capacity of the path: only the slowest link spaces the train, whoever else sends
# - b: the free rate: the train gets the part that h7 leaves
# - c: a rate between both: packets of h7 came between the packets of the train
# - d: no rate at all: the queue lost packets of h7, and so changed the order of the train
#
# **Your turn:** write the letter.

# %% answer="busy"
### BEGIN SOLUTION
train_shows = "c"
### STARTER
# train_shows = None
### END SOLUTION

# %% check="busy" points=1
lab03.check_busy(train_shows).require()

# %% [markdown] id="unknown-intro"
# ## 6. A network that you do not know
#
# Trains work well on a path that nobody else uses. The new network has 2 to 6 links of any rate from 5 to 100 Mbit/s,
# and nobody else sends. You have only a `Prober`. `send(rate_mbps, duration_s=1)` sends payload at a rate and returns a
# result with `loss_percent` and `received_mbps`. The prober counts its probes and the bytes that it sends.
#
# The next cell stops the course network. (To measure on that again, run the first code cell.) Then it searches one step
# at a time: it adds one Mbit/s each time, until packets are lost.

# %% id="plain"
lab.stop()
unknown = start(lab03.random_chain(2043, bottleneck_mbps=(5, 40)))
plain = measure.Prober(unknown, "h1", "h2")
print(f"the plain way finds {lab03.increase(plain, stray_percent=0.5)} Mbit/s")
plain

# %% [markdown] id="search-intro"
# The plain way works, but look how many MB it sent. On a path of twice the bandwidth it would send four times as many
# MB: why?
#
# **Your turn:** write `find_bandwidth`. It returns Mbit/s of payload, at most 5 % off. One way:
#
# 1. Send a train. Search a small range around your estimate, for example from 10 % below it to 10 % above.
# 2. Send at the middle of the range. After a loss search lower, otherwise higher.
# 3. Repeat with the half that is left, until the range is small.
#
# Remember the queue: in a test of one second it hides a small overload. In a test of two seconds,
# `prober.send(rate, 2)`, the overload that it hides is half as large. RFC 2544, section 24, asks for tests of at least
# 60 seconds, among other reasons for this one.
#
# You may search in any other way (that of RFC 9097 watches the delay, too), on two conditions. A probe near your answer
# must lose nothing (a loss of half a percent counts as nothing). All probes together may send no more than the path
# carries in 12 seconds.
#
# Then try your function: how does it compare with the plain way? The check draws four networks that nobody has seen,
# each from a number (its *seed*).


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
display(show.network(unknown))
lab03.calibration()

# %% check="search" points=4
lab03.check_search(find_bandwidth).require()

# %% [markdown] id="end-of-lab"
# ## 7. What you know now
#
# The slowest link decides what a path carries. Its queue drops the packets that do not fit and counts them; UDP does
# not send them again. A queue hides an overload for a while. A train shows nearly the capacity of a path that nobody
# else uses. It does not show what is free on a busy path. To end the network, run `unknown.stop()` or close this page.
#
# **Four questions for review.**
#
# 1. The [course report](glossary.md) asked iperf *version 2* for `-b 30M` from h1 to h4, and lost 7 % of the packets.
#    iperf3 with `-b 30M` loses only 2.8 %. Why?
#    <details><summary>Answer</summary>Version 2 takes M for 2<sup>20</sup>: it sent 31.5 Mbit/s. iperf3 takes M for a
#    million. Check the units of every tool.</details>
# 2. A path has links of 100, 20 and 50 Mbit/s. You replace the third link by one of 1000. What becomes faster?
#    <details><summary>Answer</summary>Each packet needs a little less time on that link. The capacity stays 20
#    Mbit/s.</details>
# 3. Why is a train of two packets worse than a train of sixty?
#    <details><summary>Answer</summary>Any disturbance distorts a single gap: a packet of somebody else, a late timer,
#    packets that a shaper lets pass together. Over many gaps these average out. But where others send, the mean is not
#    the capacity.</details>
# 4. The plain way sends four times as many MB on a path of twice the bandwidth. Why?
#    <details><summary>Answer</summary>It sends 1, 2, 3, … and so on to C Mbit/s, each for a second: about C²/2 Mbit in
#    all.</details>
#
# **Where to read on.** RFC 5136 (capacity and available capacity), RFC 9097 (how capacity is measured with UDP), RFC
# 8085 (how UDP should be used), RFC 2544 section 26.1 (throughput: the highest rate without a loss). Dovrolis,
# Ramanathan, Moore: *Packet-dispersion techniques and a capacity-estimation methodology*, IEEE/ACM Transactions on
# Networking 12(6), 2004. Kurose and Ross, chapter 1: throughput, bottleneck, delay and loss; chapter 3: UDP. Peterson
# and Davie, chapter 1: performance.
