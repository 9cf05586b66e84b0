# %% [markdown] id="goal"
# # Lab 05: Path latency and throughput
#
# In Lab 04 you measured single links. A path is a row of links. Which properties of the links add up, and which do
# not? You measure three paths and watch TCP while it fills one of them. You find out why TCP does not reach the rate
# that the slowest link allows.
#
# **Time:** about 3 hours and 30 minutes. The measurements take two minutes. **You need** Lab 04: RTT and queue.
# Section 4 explains TCP's window. If your `simpleperf.py` of Lab 02 lies next to this notebook, this lab measures
# with it.
#
# ## 1. Three paths (5 minutes)
#
# This is the network of Lab 01. The figure marks the longest of the three paths: h1 to h9. The other two share links
# with this path: h1 to h4 uses L1 and L2, and h7 to h9 uses L2 and L3.

# %% id="imports"
from linklab import course_network, lab05, measure, show, start
from linklab.show import theory

network = course_network()
L1, L2, L3 = map(network.link, ("L1", "L2", "L3"))
ends = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
lab = start(network)
display(lab05.progress())
show.network(lab, highlight=["h1", "s1", "r1", "r2", "r3", "r4", "h9"])

# %% [markdown] id="predictions-task"
# ## 2. Predict (10 minutes)
#
# **Your turn:** predict the RTT of a ping from h1 to h9 on the idle network, in ms, and the most that `simpleperf` can
# show by theory for a transfer of 25 s from h1 to h9, in Mbit/s. (The **capacity** of a path is the rate of its
# slowest link, the **bottleneck**. A frame of 1514 bytes carries 1448 bytes of data.)

# %% answer="predictions"
### BEGIN SOLUTION
rtt_ms = lab05.predict("rtt", 2 * (L1.delay_ms + L2.delay_ms + L3.delay_ms), sure=90)
mbps = lab05.predict("throughput", L3.rate_mbps * 1448 / 1514, sure=60)
### STARTER
# rtt_ms = lab05.predict("rtt", None, sure=None)
# mbps = lab05.predict("throughput", None, sure=None)
### END SOLUTION
display(rtt_ms, mbps)

# %% check="predictions" points=2
lab05.check_predicted(rtt_ms).require()
lab05.check_predicted(mbps).require()

# %% [markdown] id="pings-task"
# ## 3. Measure (35 minutes)
#
# **Your turn:** send 25 pings over each path, as in Lab 04. A host has only one address, so you can leave out
# `address`: `measure.run(lab, measure.PingFlow("h1", "h4", count=25))`. Use the same keys in `pings` as in `ends`.

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
# Which link of the path takes how much time? `traceroute -n -I ADDRESS` sends pings (`-I`) that may cross one hop (the
# way to the next router), then two hops, and so on. The router that drops such a packet sends a message back. **Your
# turn:** run `traceroute` from h1 to h9. (`lab["h9"].address` is the address.)

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
# **Your turn:** measure a transfer of 25 s over each path, with `measure.run(lab, flow)`. For example,
# `flow = measure.SimpleperfFlow("h1", "h4", duration_s=25, program=program)`.

# %% answer="transfers"
program = lab05.own_simpleperf(lab)
transfers = {}
### BEGIN SOLUTION
for name, (source, destination) in ends.items():
    flow = measure.SimpleperfFlow(source, destination, duration_s=25, program=program)
    transfers[name] = measure.run(lab, flow)
### STARTER
# # YOUR TURN, for each name in ends: transfers[name] = measure.run(lab, ...)
### END SOLUTION

# %% check="transfers" points=1
lab05.check_transfers(transfers).require()

# %% [markdown] id="longer-task"
# A packet crosses the links of a path one after the other, so RTTs add up (see `traceroute`). Rates do not: the links
# work at the same time, on different packets.
#
# **Your turn:** suppose that L1 had a delay of 100 ms each way, and enough queue slots to keep its full rate. Which
# RTT would a ping have on the idle path h1-h4, in ms? Which letter answers the question that the cell prints?

# %% answer="longer"
print(lab05.question("throughput"))
### BEGIN SOLUTION
longer = {"rtt_ms": 2 * (100 + L2.delay_ms), "throughput": "c"}
### STARTER
# longer = {"rtt_ms": None, "throughput": None}
### END SOLUTION

# %% check="longer" points=2
lab05.check_longer(longer).require()

# %% [markdown] id="window-intro"
# ## 4. Below the ceiling (80 minutes)
#
# The ceiling is the rate minus headers. In Lab 04, L3 alone nearly reached its ceiling. Here h7-h9 and
# h1-h9 reach less. Does a queue drop frames? The next cell counts the frames that met a full queue:

# %% id="dropped"
interfaces = {"L1": "r1-eth1", "L2": "r2-eth2", "L3": "r3-eth3"}
rows = []
for name in ends:
    frames = [lab05.frames_dropped(transfers.get(name), it) for it in interfaces.values()]
    rows.append([name, *frames])
show.table(["path", "dropped before L1", "before L2", "before L3"], rows)

# %% [markdown] id="bdp-intro"
# The queues dropped a few dozen of more than 30,000 frames on each path. This loss alone does not explain the low
# throughput. So look at what TCP does.
#
# ### What a window is
#
# TCP's receiver *acknowledges* the packets that have arrived. The **window** (*cwnd*) is the largest number of
# packets that TCP may have sent without an acknowledgement. When TCP has sent that many, it must wait. The
# acknowledgement of a packet comes back one RTT after the packet left. So TCP sends *one window in each RTT*:
#
# throughput = window / RTT
#
# The **bandwidth-delay product** (BDP) of a path is the rate of its bottleneck times its RTT without queues. This is
# what the path itself (the *pipe*) holds: packets on their way out, and acknowledgements on their way back. There are
# three cases:
#
# - The window is smaller than the BDP: the bottleneck has nothing to send for a part of each RTT.
# - The window is one BDP: the path is just full.
# - The window is larger: the bottleneck cannot send faster, so the rest waits in its queue, and the RTT grows. If the
#   queue has no **room** left, it drops packets.
#
# TCP does not know the BDP, so it tries. It starts with ten packets. In **slow start** it doubles the window each
# RTT, at the latest until the queue drops a packet. Then TCP makes its window smaller, and lets it grow more slowly.
# (In Lab 13 you write a window yourself.)
#
# **Say to yourself:** a path has a BDP of 149 packets. Which throughput does a window of 75 packets give, in percent
# of the rate? Then move the sliders below the next cell.

# %% id="window-try"
# Which window fills the path? Which one fills the queue as well? When does the RTT grow?
theory.window(20, L2.rate_mbps, 2 * (L1.delay_ms + L2.delay_ms), 50)

# %% [markdown] id="bdp-task"
# **Your turn:** compute the BDP of each path in full frames of 1514 bytes. Use one formula for all three paths:
# `narrow` holds their bottlenecks, `idle_ms` their RTTs. The cell computes `room` as in Lab 04: the queue's limit minus
# the frames in flight.

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
# `ss -tin dst ADDRESS` shows a host's TCP connections to an address (`-t`: of TCP, `-i`: with the kernel's values,
# `-n`: with numbers for names). Some of the values are `rtt:80.2/0.3` (ms), `cwnd:112` (packets), `ssthresh:63` (where
# slow start ends) and `retrans:0/31` (packets sent again: now in flight / in total).
#
# **Your turn:** record the window of h1. The cell starts an iperf3 server on h9 and a client on h1, which sends for
# 25 s. Until `lab.now()` reaches `end`, repeat these steps: wait 0.2 s (`lab.sleep(0.2)`), call `ss` on h1, append
# the time (`lab.now()`) to `times`, and append the cwnd to `windows`, both as numbers. iperf3 has two connections,
# and the second one only controls the test. Take the larger cwnd.
#
# Run the check. Then draw `windows` over `times` with matplotlib, Python's library for figures, in the cell after the
# check. Add two horizontal lines: the BDP of h1-h9, and the sum of BDP and room. Label both axes, with units, and name
# the lines. (Your next text answer is about this figure.)

# %% answer="windows"
address, times, windows = lab["h9"].address, [], []
lab["h9"].cmd("pkill iperf3")  # ends what an earlier run of this cell left
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
server.wait()
print(*client.output.splitlines()[-5:], sep="\n")

# %% check="windows" points=1
lab05.check_windows(windows, times, end, client.output).require()

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
# After a loss CUBIC continues with **0.7** of its window (RFC 9438). (*Reno*, TCP's older rule, continues with half.)
# If this smaller window is at least the BDP, the path stays full.
#
# **Your turn:** for each path, compute 0.7 of the sum of BDP and room, in percent of the BDP. Then compute the remedy
# for h1-h9: how many packets of room does the queue before L3 need, so that the window after a loss is just one BDP?
# How many ms does this room add to the RTT when it is full? Finally, choose the letter that answers the question that
# the cell prints.

# %% answer="after-loss"
print(lab05.question("start"))
### BEGIN SOLUTION
after_loss = {name: 100 * 0.7 * (bdp[name] + room[name]) / bdp[name] for name in ends}
needed = bdp["h1-h9"] / 0.7 - bdp["h1-h9"]
remedy = {"room": needed, "added_ms": needed * frame_ms["h1-h9"]}
start_of_tcp = "b"
### STARTER
# after_loss = {}  # YOUR TURN: after_loss[name] for each name in ends
# remedy = {"room": None, "added_ms": None}
# start_of_tcp = None
### END SOLUTION

# %% check="after-loss" points=4
lab05.check_after_loss(after_loss).require()
lab05.check_remedy(remedy).require()
lab05.check_questions(start_of_tcp).require()

# %% [markdown] id="below-question"
# **Question.** Why does h1-h9 stay below the ceiling of L3? Explain it with the phases of your figure.

# %% [markdown] reflect="window" points=2
# (With the plain course network's numbers.) Slow start doubles the window each RTT, to about 126 packets (88 / 0.7;
# `ss` may miss the peak) in less than a second. Packets arrive faster than L3 sends, and the room of 16 packets before
# L3 overflows. CUBIC continues with 0.7 of the window, twice: 88, then 63. That is half of the BDP of 132: L3 is idle
# for half of each RTT. Then the window grows slowly, and reaches the BDP only after about ten seconds. After each
# later loss it starts at about 80 % of the BDP. On h7-h9 the window also starts at 63. But there the BDP is only 99
# and the RTT is 60 instead of 80 ms, so the window reaches the BDP sooner.
#
# **Rubric.** 2 points: a figure with units and both lines; slow start, loss, slow climb; a window below the BDP means
# an idle bottleneck; 1 point: one of these is missing. Typical wrong: (1) "too many packets are lost" - 0.1 % are
# lost: what TCP does after these losses matters; (2) "L3 is slower with a longer path" - the link is the same, but
# the window does not fill the path; (3) "the receiver limits the window" - `ss` shows `rwnd_limited` for a moment
# only.

# %% id="explain-window"
lab05.explain("window")

# %% [markdown] id="report-intro"
# ## 5. What the report measured (20 minutes)
#
# Test case 3 of the course report made these measurements in real time in a virtual machine, on *its* network: L1, L2
# and L3 with 10, 20 and 10 ms each way, and 40, 30 and 20 Mbit/s. (Yours may have other numbers.) It also measured
# each link alone (test case 2): the RTTs were 21.855, 44.678 and 22.815 ms.
#
# The report's RTT of h1-h9 is 12.3 ms above theory. **Your turn:** for `links_ms`, compute how far the RTT of each
# single link is above theory, and add up the three differences. The report's throughput of h1-h9 was 17.29 Mbit/s. For
# `percent`, compute this throughput in percent of the ceiling (1448 of 1514 of the bottleneck's rate).

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
show.comparison(rows, "Paths: predicted, theory (with TCP's start), report, measured")

# %% check="reported" points=2
lab05.check_reported(reported).require()

# %% [markdown] id="loaded-task"
# ## 6. Ping next to a transfer (35 minutes)
#
# **Your turn:** a transfer from h1 to h4 fills the queue of its bottleneck, and pings take the same path. Predict the
# highest RTT of a ping, in ms. Then measure 25 pings, one each second (`interval_s=1`), next to a transfer of 25 s,
# both from h1 to h4. Use `measure.run_together(lab, [flow, flow])`.

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
together = measure.run_together(lab, [ping, transfer])
### STARTER
# together = ...  # YOUR TURN: measure.run_together(lab, [...])
### END SOLUTION
lab05.queue_over_time(together, "h1-h4", ("h1", "h4"))

# %% check="together" points=1
lab05.check_together(together).require()

# %% [markdown] id="clocking-question"
# **Question.** L1 is faster than L2. Yet the queue before L1 dropped frames of h1-h4 too (see the table in section
# 4), while the pings show only the queue of L2. When was the queue of L1 full, and why not later?

# %% [markdown] reflect="clocking" points=2
# (With the plain course network's numbers.) The queue of L1 was full at the start. In slow start TCP sends two
# packets for each acknowledged packet. h1's cable is as fast as the machine, so the two leave h1 back to back. They
# reach L1 at up to twice the rate of the acknowledgements. Acknowledgements arrive at the rate of the bottleneck, 30
# Mbit/s. Twice this rate is 60, more than the 40 of L1, so the queue of L1 grows until it overflows. After slow start
# one packet leaves for each acknowledged packet (*ACK clocking*). So packets arrive at 30 Mbit/s, L1 sends 40, and
# packets wait only before L2. With 1000 Mbit/s, L1 passes the pairs of slow start on to L2 without delay, and all
# drops happen before L2 (the kit measures 60 there, instead of 36 before L1 and 6 before L2). The queue of L1 exists
# only for a few RTTs, so pings with one second between them miss it.
#
# **Rubric.** 2 points: slow start, with arrivals faster than L1's 40 Mbit/s and the reason (two packets for each
# acknowledged packet, or the doubled window), *and* ACK clocking at the rate of L2 later; 1 point: one of the two.
# Typical wrong: (1) "L1 is full because it carries the same traffic" - this traffic is 30 of 40 Mbit/s; (2) "the
# window was too large for both queues" - later the window is just as large, but packets wait only before L2; (3) "at
# random".

# %% [markdown] id="claim-task"
# ## 7. A claim to test (25 minutes)
#
# Ask a language model what limits a transfer over a path, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) On an idle path, a ping's RTT is the sum of the delays of all its links, in both directions. (2) No transfer
# > is faster than the slowest link of its path allows. (3) One CUBIC connection keeps this link busy all the time
# > only if its window after a loss is still one bandwidth-delay product or more. (4) Where the queue before the
# > slowest link is too short for that, more connections do not help: ten connections from h1 to h9 meet the same
# > queue and together get no more than one. (5) More room in this queue helps, at the price of a longer RTT.
#
# **Your turn:** find the wrong sentence, and measure a run that contradicts it. Store the sentence's number and the
# run. (`help(measure.TcpFlow)` lists what a transfer can be told.)

# %% answer="claim"
lab05.explain("clocking")
### BEGIN SOLUTION
wrong_sentence = 4
shows_it = measure.run(lab, measure.TcpFlow("h1", "h9", duration_s=25, streams=10))
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run returns
### END SOLUTION

# %% check="claim" points=3
lab05.check_claim(wrong_sentence, shows_it).require()

# %% id="remedy-run"
# Sentence (5), measured: one connection again, with the room that you computed before L3
slots = round(L3.delay_ms / frame_ms["h1-h9"] + (remedy["room"] or 0))
change = "tc qdisc change dev r3-eth3 parent 5:1 handle 10: netem"
lab["r3"].cmd(f"{change} limit {slots} delay {L3.delay_ms}ms")
more_room = measure.run(lab, measure.SimpleperfFlow("h1", "h9", duration_s=25, program=program))
print(f"limit {L3.queue_packets}:", transfers.get("h1-h9"))
print(f"limit {slots}:", more_room)

# %% id="stop"
lab.stop()
lab05.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - Delays add up along a path. The capacity is the rate of the slowest link, the bottleneck.
# - One loss-based TCP connection fills a path only if its window after a loss is still at least one BDP. CUBIC needs
#   room for 0.43 BDP at the bottleneck. A path's BDP is larger than the BDP of its bottleneck link alone.
# - Slow start can overflow a short queue before the path is full. HyStart should end slow start in time.
# - You can split an unexpected number into parts: ARP, late timers, queues, slow start. Compute each part.
#
# ### Review (no points)
#
# 1. Somebody doubles the rate of L3, and does not change its queue. What happens to the BDP of h1-h9, and to the share
#    of the capacity that one connection gets?
# 2. `ss` shows `cwnd:99 rtt:80` on a path with a bottleneck of 20 Mbit/s. What is the throughput?
#
# <details><summary>Answers</summary>
#
# 1. L2, with 30 Mbit/s, becomes the bottleneck. The BDP grows to 198 frames. The room before L2 is 50, a quarter of the
#    BDP; the room before L3 was an eighth. After a loss the window is 88 % of the BDP instead of 79 %. So one
#    connection gets a larger share of a larger capacity.
# 2. TCP sends one window per RTT: 99 times 1448 times 8 bits in 80 ms are 14.3 Mbit/s. The path is not full.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, chapter 3 ("TCP Congestion Control"); Peterson and Davie, chapter 6 ("Congestion Control"). Slow
# start is RFC 5681, CUBIC RFC 9438, HyStart++ RFC 9406, the initial window of ten RFC 6928. Jacobson, "Congestion
# Avoidance and Control", SIGCOMM 1988; Ha and Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks
# 2011 (HyStart). In the next lab, several flows meet.
