# %% [markdown] id="goal"
# # Lab 19: A congestion controller of your own
#
# **Time:** about 2 hours and 30 minutes, and as much more as you like for a better score. **You need:** windows and the
# bandwidth-delay product (Lab 05), Reno, CUBIC and BBR (Lab 11), Python classes.
#
# The rate of a radio link changes every moment. A sender does not know it in advance. If it sends too little, capacity
# is lost. If it sends too much, packets wait in a queue. You measure how Reno, CUBIC and BBR do on links that change.
# Then you write a controller of your own: four functions that decide how many packets may be on their way.
#
# All is measured on one path, for 20 s each time. So all numbers of this lab can be compared: those of fixed windows,
# of Linux's senders, and of your controller. It is the path of the contest, too.

# %% id="imports"
from linklab import lab19, measure, show, start

display(lab19.progress())
network = lab19.the_network()
traces = {"steady": lab19.steady(), **lab19.TRACES}
lab = start(network)
show.network(lab)

# %% [markdown] id="look-task"
# ## 1. The path, and a window that never changes (30 minutes)
#
# h1 sends, and h2 receives. Between them r1 has a queue before its link to h2.
#
# **Your turn:** ping h2 from h1 (`lab["h2"].address`), and let tc show the queue of r1-eth1 on r1. Store the round trip
# of the empty path in ms, and how many packets the queue (netem) holds at most.

# %% answer="look"
look = {"rtt_ms": None, "queue_packets": None}
### BEGIN SOLUTION
print(lab["h1"].cmd(f"ping -c 3 {lab['h2'].address}"))
print(lab["r1"].cmd("tc qdisc show dev r1-eth1"))
look = {"rtt_ms": 2 * network.link("r1-h2").delay_ms, "queue_packets": 250}
### STARTER
# # YOUR TURN: print(lab["h1"].cmd("...")), and then look = {"rtt_ms": ..., "queue_packets": ...}
### END SOLUTION

# %% check="look" points=1
lab19.check_look(look).require()

# %% [markdown] id="fixed-task"
# From now on the link from r1 to h2 follows a *trace*: a list of instants. At each instant the link lets one packet of
# 1500 bytes go. If no packet waits, the instant is lost. The public tool *mahimahi* has traces of real mobile networks
# in this form. Yours come from models. The trace `steady` has one rate: `traces["steady"].mean_mbps`, in Mbit/s.
#
# A sender lets at most `window` packets fly: it sends a new packet when an acknowledgement arrives.
#
# **Predict** two numbers for windows that never change, on `steady`:
#
# - `small`: the throughput of a window of 5 packets, in Mbit/s (whole packets of 1500 bytes).
# - `large`: the delay of a packet with a window of 60 packets, from sender to receiver, in ms.

# %% answer="fixed-predict"
fixed = lab19.predict(
    "fixed",
    ### BEGIN SOLUTION
    {"small": 5 * 12 / 40, "large": 60 * 12 / traces["steady"].mean_mbps - 20},
    sure=90,
    ### STARTER
    # {"small": None, "large": None},
    # sure=None,
    ### END SOLUTION
)
fixed

# %% check="fixed-predict" points=1
lab19.check_predicted(fixed).require()

# %% [markdown] id="fixed-run"
# `lab19.fixed(window)` runs such a sender on `steady`, in a lab of its own with the same path. What it returns has
# `throughput_mbps` and `delay_p95_ms`: 95 % of the packets had this delay or less. `lab19.flow_figure(flow, trace)`
# draws the run.
#
# **Your turn:** measure both windows. Store the throughput of 5 packets and the delay of 60 packets.

# %% answer="fixed"
windows = {"small": None, "large": None}
### BEGIN SOLUTION
small, large = lab19.fixed(5), lab19.fixed(60)
windows = {"small": small.throughput_mbps, "large": large.delay_p95_ms}
print(windows)
display(lab19.flow_figure(large, traces["steady"]))
### STARTER
# # YOUR TURN: lab19.fixed(5), lab19.fixed(60), then windows = {"small": ..., "large": ...}
### END SOLUTION

# %% check="fixed" points=2
lab19.check_fixed(windows).require()

# %% [markdown] id="transfers-task"
# ## 2. Reno, CUBIC and BBR on links that change (50 minutes)
#
# Packets under way = rate x round trip (Little's law). A window of 5 packets is smaller than the bandwidth-delay
# product of `steady`, so instants are lost. A window of 60 is larger: the link is used, and all that is too much waits.
# Reno, CUBIC and BBR look for a window between these two. Three more traces make that hard. `cellular`: a phone in a
# car. `satellite`: a dish whose link is set up anew every 15 s, with another rate, after a gap in which no packet
# leaves. `wireless`: a channel that many share. No trace is a recording: the page "A link that changes" of the
# documentation names the papers behind the models.
#
# Throughput divided by delay is called *power* (Kleinrock, 1979); here the delay is the one that 95 % of the packets
# do not exceed. The *score* compares a run's power with that of a sender that knows the trace. That sender sends each
# packet so that it comes to the link exactly at an instant. So it uses all capacity, and no packet waits. The score is
# the logarithm (base 2) of the run's power divided by that of this sender. The best score is 0; -1 means half as good.
#
# **Predict** for CUBIC on `steady`, before you measure it. CUBIC makes its window larger until a packet is lost:
#
# - `full`: the delay of a packet that takes the last place in the queue, from sender to receiver, in ms.
# - `worse`: how many times lower CUBIC's power is than that of the sender that knows the trace, if CUBIC uses all
#   capacity and its packets have the delay `full`. (The score is then minus the logarithm of this number.)

# %% answer="transfers-predict"
predicted = lab19.predict(
    "transfers",
    ### BEGIN SOLUTION
    {
        "full": 20 + 250 * 12 / traces["steady"].mean_mbps,
        "worse": 1 + 250 * 12 / traces["steady"].mean_mbps / 20,
    },
    sure=80,
    ### STARTER
    # {"full": None, "worse": None},
    # sure=None,
    ### END SOLUTION
)
predicted

# %% check="transfers-predict" points=1
lab19.check_predicted(predicted).require()

# %% [markdown] id="transfers-run"
# `lab19.link(trace)` stands in a list of flows. The link from r1 to h2 then follows the trace for 20 s:
#
#     flow = measure.TcpFlow("h1", "h2", 20, congestion="reno")
#     measure.run_together(lab, [flow, lab19.link(trace)], record=["r1-eth1", "h1-eth0"])
#
# **Your turn:** measure all twelve pairs of a trace and a congestion control: `reno`, `cubic`, `bbr`. Store them by
# name, as `"cellular reno"`. This takes some minutes. `record` names the interfaces that table and figure need, and no
# others. `lab19.filled` reads the two numbers that you predicted from CUBIC's run, and the check compares them.

# %% answer="transfers"
transfers = {f"{name} {control}": None for name in traces for control in lab19.CONTROLS}
for name, trace in traces.items():
    for control in lab19.CONTROLS:
        ### BEGIN SOLUTION
        flow = measure.TcpFlow("h1", "h2", 20, congestion=control)
        transfers[f"{name} {control}"] = measure.run_together(
            lab, [flow, lab19.link(trace)], record=["r1-eth1", "h1-eth0"]
        )
        ### STARTER
        # ...  # YOUR TURN: transfers[f"{name} {control}"] = measure.run_together(...)
        ### END SOLUTION
filled = lab19.filled(transfers["steady cubic"])
lab19.transfer_table(transfers)

# %% check="transfers" points=3
lab19.check_transfers(transfers, filled).require()

# %% [markdown] id="see-text"
# The next cell draws CUBIC and BBR on `cellular`: capacity and what passed, the window, the packets that wait, and the
# delay of each packet. Find an instant at which the capacity falls. What do both windows do then?
# (`show.network(transfers["cellular cubic"])` plays a run, packet by packet, with the capacity in one of its tracks.)

# %% id="see"
for control in ("cubic", "bbr"):
    if transfers[f"cellular {control}"] is not None:
        display(show.varying(show.LinkOverTime.of(transfers[f"cellular {control}"])))

# %% answer="why"
print(lab19.question("bloat", "unused"))
### BEGIN SOLUTION
why = {"bloat": "c", "unused": "b"}
### STARTER
# why = {"bloat": None, "unused": None}
### END SOLUTION

# %% check="why" points=2
lab19.check_why(why).require()

# %% [markdown] id="claim-task"
# ## 3. A claim to test (15 minutes)
#
# Ask a language model about senders on links that change, and you get a paragraph like this one. It is fluent, and one
# of its sentences is wrong.
#
# > (1) On the trace `steady`, a window of 5 packets leaves capacity unused, because it is smaller than the
# > bandwidth-delay product. (2) On `satellite`, an instant at which no packet waits cannot be used later. (3) CUBIC
# > makes its window smaller only after a loss, so on `cellular` it fills the queue of 250 packets. (4) BBR measures
# > the rate of the link and the round trip of the empty path, so on `wireless` no ping beside a BBR flow takes longer
# > than two round trips of the empty path. (5) A sender that knows the trace bounds all others: on none of the four
# > traces has any sender more throughput and less delay.
#
# **Your turn:** store the number of the wrong sentence, and one run that shows that it is wrong. A run that shows
# something has the sentence's own parts: a transfer with the sentence's congestion control, the link with its trace
# (`lab19.link(traces["..."])`), and pings where it speaks of them: `measure.PingFlow("h1", "h2", 20)`.

# %% answer="claim"
wrong, shows = None, None
### BEGIN SOLUTION
bbr = measure.TcpFlow("h1", "h2", 20, congestion="bbr")
pings = measure.PingFlow("h1", "h2", 20)
wrong, shows = 4, measure.run_together(lab, [bbr, pings, lab19.link(traces["wireless"])])
print(f"The longest ping took {shows.of(measure.PingResult)[0].rtt_max_ms:.0f} ms.")
### STARTER
# # YOUR TURN: wrong = ..., shows = measure.run_together(lab, [..., ..., lab19.link(...)])
### END SOLUTION

# %% check="claim" points=3
lab19.check_claim(wrong, shows).require()

# %% [markdown] id="controller-task"
# ## 4. Your controller (55 minutes)
#
# Write your code in `controller.py`, which lies next to this notebook. **Open it now.** Linklab's sender sends packets
# of 1500 bytes, notices losses and sends lost packets again. It asks your class `Controller`:
#
# | method | when it is called |
# | --- | --- |
# | `on_acknowledgement` | packets have arrived; `rtt_ms` is the round trip of the last one |
# | `on_loss` | packets are lost: three later packets have arrived |
# | `on_timeout` | nothing was heard for long: all packets under way are given up |
# | `may_fly` | after each of the other calls, and at least every 10 ms: how many packets may be on their way? |
#
# A good controller does three things on every link. The check cells below try them:
#
# - **It uses the link.** On `cellular`, `satellite` and `wireless` the throughput is at least 70 % of the capacity.
# - **It shares.** Two copies on `steady` use 70 % of it together. Jain's index of their throughputs is at least 0.8
#   (Lab 06): neither has less than a third of the other's. Of sixteen copies at most 8 % of all packets are lost: who
#   sends on and on into a full queue makes a network collapse.
# - **It goes on after a gap.** In the three seconds that begin 0.5 s after the gap of `satellite`, the throughput is at
#   least 70 % of the capacity.
#
# **Your turn:** complete `controller.py`, in two steps. The next cell tries your file on these three traces, puts its
# scores next to those of section 2, and draws a run.
#
# 1. Begin with a rule that you know: grow by one packet in each round trip, and halve at a loss (Reno). Predict its
#    score on `cellular` from the table of section 2, and write it down first. Then run the cell. (The ten packets of
#    the starter may have a better score, but they do not use the link.)
# 2. Then keep the queue short: `rtt_ms` minus the least round trip is about the time in the queue. Which score would a
#    sender have that uses all capacity, and whose packets wait for 20 ms? On these traces no sender of section 2 is as
#    good.

# %% id="try"
flows = lab19.tried("controller.py")
display(lab19.flow_table(flows, transfers))
lab19.flow_figure(flows["cellular"], traces["cellular"])

# %% check="window" points=3
lab19.check_window("controller.py").require()

# %% check="copies" points=2
lab19.check_copies("controller.py").require()

# %% check="gap" points=2
lab19.check_gap("controller.py").require()

# %% id="stop"
lab.stop()
lab19.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - A window, a rate and a delay belong together: packets under way = rate x round trip (Little's law). On a link of one
#   rate, a window below the bandwidth-delay product loses throughput, and one above it only adds delay, and losses once
#   the queue is full.
# - On a link that changes no sender knows the bandwidth-delay product. Loss comes late where the queue is deep. Delay
#   and the rate of arrivals tell earlier.
# - An instant that is not used is lost. A few packets that wait are the price for using what comes by surprise.
# - Two copies of FAST, which compares round trips with the least one, can divide a link unequally: if the first packets
#   of one wait behind the other's, it takes this wait for part of the empty path, and keeps more packets in the queue.
#
# **The contest.** Your score has no points here. Your course may run `linklab contest` with all controllers, on traces
# that nobody has seen. So a controller that knows the three public traces by heart does not win.
#
# **Review questions** (no points)
#
# 1. Two controllers have the same score on a trace. One has half the throughput. What do you know about its delay?
#    <details><summary>Answer</summary>It is half as long as well: the score is throughput divided by
#    delay.</details>
# 2. Why does the least round trip that a controller has seen become wrong when the path changes?
#    <details><summary>Answer</summary>If the new path is longer, the difference to the old least round trip looks like
#    time in a queue, so the window becomes too small. BBR forgets its least round trip after 10 s.</details>
# 3. Your controller keeps the queue short. What does it get beside a CUBIC flow in the same queue?
#    <details><summary>Answer</summary>Little: CUBIC fills the queue, your round trips grow, and your window shrinks. So
#    delay-based senders need queues of their own (Lab 12), or all senders alike. (J. Mo and others, *Analysis and
#    Comparison of TCP Reno and Vegas*.)</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); Winstein, Sivaraman, Balakrishnan: Sprout (NSDI 2013); Netravali and others: Mahimahi
# (USENIX ATC 2015); Cardwell and others: BBR (2016); Wei and others: FAST TCP (2006); Kleinrock: Power and
# deterministic rules of thumb (ICC 1979); RFC 5681 and RFC 9438.
