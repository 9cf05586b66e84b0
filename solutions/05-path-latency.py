# %% [markdown] id="goal"
# # Lab 05: Path latency and throughput
#
# In Lab 04 you measured links one by one. A path is several of them in a row. Which of their properties add up,
# and which do not? You measure three paths, look into TCP while it fills one of them, and find out why it does not
# reach what the slowest link would allow.
#
# **Time:** about two and a half hours. The measurements take two minutes of it.
# **You need** Lab 04: its RTT, queue and sketch. If your `simpleperf.py` of Lab 02 lies next to this notebook, you
# measure with it.

# %% id="imports"
from linklab import course_network, lab05, measure, show, start

lab05.progress()

# %% [markdown] id="paths-intro"
# ## 1. Three paths
#
# This is the network of Lab 01, and the longest of the three paths is marked: h1 to h9. The others are parts of
# it: h1 to h4 leaves it after L2, and h7 to h9 enters it before L2.

# %% id="start"
network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
ends = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
lab = start(network)
show.draw(lab, highlight=["h1", "s1", "r1", "r2", "r3", "r4", "h9"])

# %% [markdown] id="rtt-intro"
# ## 2. Predict
#
# **Your turn:** the RTT of a ping from h1 to h9 while nothing else is sent, in ms.

# %% answer="rtt"
### BEGIN SOLUTION
rtt_ms = lab05.predict("rtt", 2 * (L1.delay_ms + L2.delay_ms + L3.delay_ms), sure=90)
### STARTER
# rtt_ms = lab05.predict("rtt", None, sure=None)
### END SOLUTION
rtt_ms

# %% check="rtt" points=1
lab05.check_predicted(rtt_ms).require()

# %% [markdown] id="throughput-intro"
# **Your turn:** what does `simpleperf` show for a transfer of 25 s from h1 to h9, in Mbit/s? (The **capacity** of a
# path is the rate of its slowest link, the **bottleneck**. Of each frame of 1514 bytes, 1448 are data.)

# %% answer="throughput"
### BEGIN SOLUTION
mbps = lab05.predict("throughput", L3.rate_mbps * 1448 / 1514, sure=60)
### STARTER
# mbps = lab05.predict("throughput", None, sure=None)
### END SOLUTION
mbps

# %% check="throughput" points=1
lab05.check_predicted(mbps).require()

# %% [markdown] id="pings-task"
# ## 3. Measure
#
# **Your turn:** 25 pings on each path, as in Lab 04. A host has one address, so it need not be given:
# `measure.run(lab, measure.PingFlow("h1", "h4", count=25))`. The keys of `pings` are those of `ends`.

# %% answer="pings"
pings = {}
### BEGIN SOLUTION
for name, (source, destination) in ends.items():
    pings[name] = measure.run(lab, measure.PingFlow(source, destination, count=25))
### STARTER
# # YOUR TURN: pings["h1-h4"] = measure.run(...), and so on
### END SOLUTION

# %% check="pings" points=1
lab05.check_pings(pings).require()

# %% [markdown] id="route-task"
# Where on the path does the time go? `traceroute -n -I ADDRESS` sends packets that live for one hop, then for
# two, and so on. Each router that drops one says so. **Your turn:** from h1 to h9. (`lab["h9"].address` is the
# address.)

# %% answer="route"
### BEGIN SOLUTION
printed = lab["h1"].cmd(f"traceroute -n -I {lab['h9'].address}")
### STARTER
# printed = ""  # YOUR TURN: lab["h1"].cmd("...")
### END SOLUTION
print(lab["h1"].cmd("ip route"))
print(printed)

# %% check="route" points=1
lab05.check_route(printed).require()

# %% [markdown] id="transfers-task"
# **Your turn:** a transfer of 25 s over each path, with `show.watched(measure.run, lab, flow)`. For example,
# `flow = measure.SimpleperfFlow("h1", "h4", duration_s=25, program=program)`.

# %% answer="transfers"
program = lab05.own_simpleperf(lab)
transfers = {}
### BEGIN SOLUTION
for name, (source, destination) in ends.items():
    flow = measure.SimpleperfFlow(source, destination, duration_s=25, program=program)
    transfers[name] = show.watched(measure.run, lab, flow)
### STARTER
# # YOUR TURN, for each name in ends: transfers[name] = show.watched(measure.run, lab, ...)
### END SOLUTION

# %% check="transfers" points=1
lab05.check_transfers(transfers).require()

# %% [markdown] id="reasons-question"
# **Question.** Along a path RTTs add up (see `traceroute`). Rates do not. Why? What happens to RTT and throughput of
# h1-h4 if L1 gets 100 ms of delay, and so many slots that it still has its full rate?

# %% [markdown] reflect="reasons" points=2
# (With the plain course network's numbers.) A packet spends time on each link, one after the other, so times
# add up. The links work at the same time on different packets, like people in a chain who pass on buckets: the
# slowest sets the pace of all. With 100 ms on L1 the RTT of h1-h4 grows from 60 to 240 ms. The capacity stays,
# but one connection reaches less of it: the path now holds 594 frames and the queue of L2 is as short as
# before, so each loss empties the path for longer (the kit measures 19 instead of 28 Mbit/s).
#
# **Rubric.** 2 points: times add up since a packet meets the links one after the other, links work in parallel;
# *and* that one connection reaches less of the same capacity, or that TCP must fill more; 1 point: the first alone.
# Typical wrong: (1) "L1 carries 8 Mbit/s then" - right for 67 slots in netem, where frames in flight use them; the
# question gives L1 more; (2) "with 100 ms the throughput is the same, for it does not depend on the delay" - the
# capacity does not, TCP's throughput does; (3) "the RTT grows by 100 ms" - by 90 more each way: 180.

# %% [markdown] id="window-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# Delays add up, and the slowest link sets the pace. All the same the delay of a link that is
# *not* the bottleneck matters: it is part of what TCP must fill.
#
# </details>
#
# ## 4. Below the ceiling
#
# In Lab 04, L3 alone carried nearly all that headers leave of its rate. On h7-h9 it gives less, on h1-h9 still less.
# Is anything lost? These frames found a queue full:

# %% id="dropped"
interfaces = {"L1": "r1-eth1", "L2": "r2-eth2", "L3": "r3-eth3"}
rows = []
for name in ends:
    frames = [lab05.frames_dropped(transfers.get(name), it) for it in interfaces.values()]
    rows.append([name, *frames])
show.table(["path", "dropped before L1", "before L2", "before L3"], rows)

# %% [markdown] id="bdp-task"
# A few dozen frames of some 30,000. That alone is not it. Look into TCP. It may have a **window** (*cwnd*) of packets
# under way that are not acknowledged yet. A path is just full with its **bandwidth-delay product** (BDP): the rate
# of the bottleneck times the RTT. More than that waits in the queue of the bottleneck, as long as there is **room**.
#
# **Your turn:** the BDP of each path in full frames of 1514 bytes. One formula does for all three: `narrow` has their
# bottlenecks, `idle_ms` their RTTs. `room` is computed as Lab 04 found: of the queue's limit take off the frames in
# flight.

# %% answer="bdp"
narrow = {"h1-h4": L2, "h7-h9": L3, "h1-h9": L3}
idle_ms = {"h1-h4": 2 * (L1.delay_ms + L2.delay_ms), "h7-h9": 2 * (L2.delay_ms + L3.delay_ms)}
idle_ms["h1-h9"] = idle_ms["h7-h9"] + 2 * L1.delay_ms
frame_ms = {name: 1514 * 8 / (1000 * link.rate_mbps) for name, link in narrow.items()}
room = {
    name: narrow[name].queue_packets - narrow[name].delay_ms / frame_ms[name] for name in ends
}
### BEGIN SOLUTION
bdp = {name: 1000 * narrow[name].rate_mbps * idle_ms[name] / (1514 * 8) for name in ends}
### STARTER
# bdp = {}  # YOUR TURN: bdp[name] for each name in ends
### END SOLUTION
print({name: f"BDP {bdp[name]:.0f}, room {room[name]:.0f} packets" for name in bdp})

# %% check="bdp" points=1
lab05.check_bdp(bdp).require()

# %% [markdown] id="windows-task"
# ### TCP's window, by hand
#
# `ss -tin dst ADDRESS` shows the TCP connections of a host to an address, with what the kernel knows of each:
# `rtt:80.2/0.3` (ms), `cwnd:112` (packets), `ssthresh:63` (where slow start ends), `retrans:0/31`.
#
# **Your turn:** the cell starts an iperf3 server on h9 and a client on h1, which sends for 25 s. For 24 s of them,
# until `lab.now()` is `end`, call `ss` on h1 again and again: wait 0.2 s (`lab.sleep(0.2)`), append the time
# (`lab.now()`) to `times` and the cwnd to `windows`, as numbers. iperf3 has two connections, and the second one only
# controls the test: take the larger cwnd.
#
# Then draw `windows` over `times` with matplotlib, in the cell after the check, with two horizontal lines: the BDP of
# h1-h9, and BDP and room together. Label both axes, with units, and name the lines. (The next free answer is about
# this figure.)

# %% answer="windows"
address, times, windows = lab["h9"].address, [], []
server = lab["h9"].popen("iperf3 -s -1")
lab["h9"].wait_listening(5201)
client = lab["h1"].popen(f"iperf3 -c {address} -t 25")
end = lab.now() + 24
### BEGIN SOLUTION
while lab.now() < end:
    lab.sleep(0.2)
    text = lab["h1"].cmd(f"ss -tin dst {address}")
    times.append(lab.now())
    windows.append(max(int(part.split()[0]) for part in text.split("cwnd:")[1:]))
### STARTER
# # YOUR TURN: while lab.now() < end: lab.sleep(0.2), text = lab["h1"].cmd("ss ..."), and append
### END SOLUTION
client.wait()
print(*client.output.splitlines()[-5:], sep="\n")

# %% check="windows" points=1
lab05.check_windows(windows).require()

# %% answer="figure"
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(8, 3.5))
### BEGIN SOLUTION
seconds = [time - times[0] for time in times]
axes.plot(seconds, windows, marker=".", label="window of h1-h9")
axes.axhline(bdp["h1-h9"], linestyle="--", color="black", label="BDP: the path is full")
axes.axhline(bdp["h1-h9"] + room["h1-h9"], linestyle=":", color="black", label="BDP + room")
axes.set(xlabel="time (s)", ylabel="window (packets)", ylim=(0, None))
axes.legend()
### STARTER
# # YOUR TURN: axes.plot(...), axes.axhline(...), axes.set(xlabel=..., ylabel=...), axes.legend()
### END SOLUTION
figure.tight_layout()

# %% [markdown] id="after-loss-task"
# After a loss CUBIC goes on with **0.7** of its window (RFC 9438). If that is still the BDP, the path stays full.
#
# **Your turn:** 0.7 of BDP and room, in percent of the BDP, for each path. And the letter that answers the question
# that the cell prints.

# %% answer="after-loss"
print(lab05.question_text())
### BEGIN SOLUTION
after_loss = {name: 100 * 0.7 * (bdp[name] + room[name]) / bdp[name] for name in ends}
start_of_tcp = "b"
### STARTER
# after_loss = {}  # YOUR TURN: after_loss[name] for each name in ends
# start_of_tcp = None
### END SOLUTION

# %% check="after-loss" points=2
lab05.check_after_loss(after_loss).require()
lab05.check_questions(start_of_tcp).require()

# %% [markdown] id="below-question"
# **Question.** Describe your figure: what are its phases, and where is the window below the line of the BDP? Why then
# does h1-h9 stay below what headers leave of L3, and more so than h7-h9? Would a transfer of 250 s have a higher
# mean? Which single change to the network would help both paths, and at what price?

# %% [markdown] reflect="below" points=3
# (With the plain course network's numbers.) Slow start doubles the window each RTT, to about 126 packets (88 /
# 0.7; `ss` may miss the peak) in less than a second. Packets come faster than L3 sends, its room of 16 packets
# overflows, and CUBIC goes on with 0.7 of the window, twice: 88, then 63. That is half of the BDP of 132: L3 is
# idle for half of each RTT. Then the window climbs slowly, and is at the BDP only after some ten seconds. After
# each later loss it starts at about 80 % of the BDP. On h7-h9 the window also starts at 63, but the BDP is 99,
# and a round trip is 60 instead of 80 ms, so it is there sooner. Over 250 s the slow start counts a tenth as much, and
# the mean rises, but it stays below the ceiling. A queue before L3 with room for 0.43 BDP or more (43 and 57
# packets) would help both, at the price of delay: 57 packets are 35 ms. (Pacing changes
# the sender. ECN changes the hosts and the queue, which marks in place of dropping.)
#
# **Rubric.** 3 points: a figure with units and both lines; slow start, loss, slow climb; the window below the
# BDP means an idle bottleneck; a longer queue at L3 and its price; 2 points: one of these is missing; 1 point:
# two are missing. Typical wrong: (1) "so many packets are lost" - 0.1 %: what counts is what TCP does after
# them; (2) "L3 is slower with a longer path" - the link is the same: the window does not fill the path; (3)
# "more rate on L3" - the BDP grows too; (4) "the window is limited by the receiver" - `ss` shows `rwnd_limited`
# for a moment only.

# %% [markdown] id="report-intro"
# <details><summary>Open this when you have written your answer</summary>
#
# On L1, L2 or L3 alone the room is more than 0.43 BDP of that link, and the window after a loss still fills it.
# A path adds delay, and with it BDP; its queue stays that of one link. **Slow start** is worst: it overshoots
# while the path is not yet full, and **HyStart**, which is meant to end it in time, is too late with so little
# room. You can count how often it fired: `nstat -az 'TcpExtTCPHystart*'` on a host.
#
# </details>
#
# ## 5. What the report measured
#
# The course report measured the same, in real time in a virtual machine, on *its* network: L1, L2 and L3 with
# 10, 20 and 10 ms each way, and 40, 30 and 20 Mbit/s. (Yours may have other numbers.) The RTTs of its links,
# each alone, were 21.855, 44.678 and 22.815 ms.
#
# **Your turn:** the report's RTT of h1-h9 is 12.3 ms above theory. `links_ms`: how much longer than theory were
# the RTTs of its three links, each alone, added up? `percent`: its throughput of h1-h9, which was 17.29
# Mbit/s, in percent of the
# ceiling (1448 of 1514 of the bottleneck's rate).

# %% answer="reported"
rows = lab05.beside_report(3, rtt_ms, mbps, pings, transfers)
reported = {
    ### BEGIN SOLUTION
    "links_ms": (21.855 - 20) + (44.678 - 40) + (22.815 - 20),
    "percent": 100 * 17.29 / (20 * 1448 / 1514),
    ### STARTER
    # "links_ms": None,
    # "percent": None,
    ### END SOLUTION
}
show.comparison(rows, "Paths: predicted, theory, report, measured")

# %% check="reported" points=1
lab05.check_reported(reported).require()

# %% [markdown] id="report-question"
# **Question.** Explain the report's RTT of h1-h9 with your numbers: which part is ARP (Lab 04), which part was
# there on the links already, what is left? Why is nothing of it in our numbers on virtual time? Does its
# throughput point to the same cause?

# %% [markdown] reflect="report" points=2
# Of 12.3 ms the links alone had 9.3. ARP may be in that: if each link's first ping met it once, it adds
# the path's RTT in one of 25 pings, 80/25 = 3.2 ms. The other 6.1 ms of the links, and the 3 ms that are left for
# hosts and two more cables, are probably timers: each crossing of a link ends with one, and a busy virtual
# machine serves timers late. On virtual time no timer is late, and our lab needs no ARP. Throughput was 90 % of
# the ceiling; ours is 85 % on that network without any late timer. So the throughput needs no bad machine: a
# short queue and slow start explain it.
#
# **Rubric.** 2 points: excesses add up as delays do (9.3 of 12.3), ARP with a number, and the throughput has another
# cause; 1 point: two of these. Typical wrong: (1) "ARP explains it all" - 3.2 ms of 12.3; (2) "the machine was too
# slow, so throughput was low" - ours on virtual time is even lower; (3) mean of the links in place of their sum.

# %% [markdown] id="loaded-task"
# ## 6. Ping next to a transfer
#
# **Your turn:** a transfer from h1 to h4 fills the queue of its bottleneck, and pings go the same path. Predict
# the highest RTT of a ping, in ms. Then measure: 25 pings, one each second (`interval_s=1`), next to a transfer
# of 25 s, both from h1 to h4, with `show.watched(measure.run_together, lab, [flow, flow])`.

# %% answer="loaded"
### BEGIN SOLUTION
full_ms = idle_ms["h1-h4"] + room["h1-h4"] * frame_ms["h1-h4"]
highest_ms = lab05.predict("loaded_prediction", full_ms, sure=80)
### STARTER
# highest_ms = lab05.predict("loaded_prediction", None, sure=None)
### END SOLUTION
highest_ms

# %% check="loaded" points=1
lab05.check_predicted(highest_ms).require()

# %% answer="together"
### BEGIN SOLUTION
ping = measure.PingFlow("h1", "h4", count=25, interval_s=1)
transfer = measure.SimpleperfFlow("h1", "h4", duration_s=25, program=program)
together = show.watched(measure.run_together, lab, [ping, transfer])
### STARTER
# together = ...  # YOUR TURN: show.watched(measure.run_together, lab, [...])
### END SOLUTION
lab05.queue_over_time(together, "h1-h4", ("h1", "h4"))

# %% check="together" points=1
lab05.check_together(together).require()

# %% [markdown] id="clocking-question"
# **Question.** L1 is faster than L2. Yet frames of h1-h4 were dropped before L1 too (see the table in section
# 4), while the pings show the queue of L2 alone. When was the queue of L1 full, and why not later? And if L1
# had 1000 Mbit/s: before which link would frames be dropped then?

# %% [markdown] reflect="clocking" points=2
# (With the plain course network's numbers.) At the start. In slow start each acknowledged packet lets two go. They
# leave h1 back to back, since its cable is as fast as the machine, so they reach L1 at up to twice the rate at which
# acknowledgements come. These come at the rate of the bottleneck, 30 Mbit/s: twice that is 60, more than the 40 of
# L1, and its queue grows until it overflows. After slow start one packet leaves for each acknowledged one (*ACK
# clocking*). So packets come at 30 Mbit/s. L1 sends 40, and nothing waits there: all waiting is before L2. With 1000
# Mbit/s on L1 the pairs of slow start reach L2 as they left h1, and all drops are before L2 (the kit measures 60
# there, instead of 36 before L1 and 6 before L2). The pings, one a second, are too rare to meet the queue of L1 in
# the few RTTs in which it is there.
#
# **Rubric.** 2 points: slow start, with arrivals faster than L1's 40 Mbit/s and the reason (two packets for
# each acknowledged one, or the doubled window), *and* ACK clocking at the rate of L2 later; 1 point: one of the
# two. Typical wrong: (1) "L1 is full since it carries the same traffic" - 30 of 40 Mbit/s; (2) "the window was
# too large for both queues" - later it is as large, and waits before L2 alone; (3) "at random".

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# <details><summary>Open this when you have written your answer</summary>
#
# A queue grows where packets come faster than they leave. On average that is the bottleneck alone. In a burst
# it can be each link that is slower than the link before it. **ACK clocking** (Jacobson, 1988) makes a sender
# send at the rate at which the bottleneck lets packets through; slow start sends at up to twice that rate.
#
# </details>
#
# ## Summary
#
# - Delays add up along a path. The capacity is that of the slowest link, the bottleneck.
# - One TCP connection fills a path only if its window after a loss is still a BDP. CUBIC needs room for 0.43 BDP at
#   the bottleneck, and a path's BDP is larger than that of its bottleneck link alone.
# - Slow start can overflow a short queue before the path is full. HyStart is meant to end it in time.
# - A number that is off can be taken apart: ARP, late timers, queues, slow start, each with its share.
#
# ### Review (no points)
#
# 1. Somebody doubles the rate of L3, and leaves its queue. What happens to the BDP of h1-h9, and to the share of the
#    capacity that one connection gets?
# 2. `ss` shows `cwnd:99 rtt:80` on a path with a bottleneck of 20 Mbit/s. What is the throughput?
# 3. Ten connections share h1-h9 instead of one. Do they fill L3 better?
#
# <details><summary>Answers</summary>
#
# 1. L2, with 30 Mbit/s, becomes the bottleneck. The BDP grows to 198 frames; the room before L2 is 50: a quarter
#    of it, and before it was an eighth. After a loss 88 % of the BDP is left in place of 79 %. So one connection gets a
#    larger share of a larger capacity.
# 2. A window in each RTT: 99 times 1448 times 8 bits in 80 ms are 14.3 Mbit/s. The path is not full.
# 3. Yes: the kit measures 18.9 Mbit/s instead of 17.0. Not all ten windows fall at the same time, so their sum falls
#    less after a loss. (How many fall together depends on the number of connections, on their round trips and on the
#    algorithm.)
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, chapter 3 ("TCP Congestion Control"); Peterson and Davie, chapter 6 ("Congestion Control").
# Slow start is RFC 5681, CUBIC RFC 9438, HyStart++ RFC 9406, the initial window of ten RFC 6928. Jacobson,
# "Congestion Avoidance and Control", SIGCOMM 1988; Ha and Rhee, "Taming the Elephants: New TCP Slow Start",
# Computer Networks 2011 (HyStart). The next lab lets several flows meet.
