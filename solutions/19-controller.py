# %% [markdown] id="goal"
# # Lab 19: A congestion controller of your own
#
# **Time:** about 2 hours and 30 minutes, and as much more as you like for a better score. **You need:** windows and the
# bandwidth-delay product (Lab 05), Reno, CUBIC and BBR (Lab 11), Python classes.
#
# The rate of a radio link changes every moment. A sender does not know it in advance. If it sends too little, capacity
# is lost. If it sends too much, packets wait in a queue. You measure how Reno, CUBIC and BBR do on links that change.
# Then you write a controller of your own: four functions that decide how many packets may be on their way.

# %% id="imports"
from linklab import lab19, measure, show, start

display(lab19.progress())
network = lab19.the_network()
steady = lab19.steady()
lab = start(network)
print(f"The trace {steady.name} lets {steady.mean_mbps:.2f} Mbit/s go.")
show.network(lab)

# %% [markdown] id="fixed-task"
# ## 1. A window that never changes (20 minutes)
#
# A *trace* is a list of instants. At each instant the link lets one packet of 1500 bytes go. If no packet waits, the
# instant is lost. The public tool *mahimahi* has traces of real mobile networks in this form. Yours come from models.
#
# The trace `steady` has one rate, which the cell above printed. This section and section 4 use the path of the
# contest, which is the same for everybody. (Your own lab, shown above, is for sections 2 and 3.) From sender to
# receiver the path takes 20 ms, and as long back, so an empty path has a round trip of 40 ms. The queue before the
# link holds 250 packets.
#
# A sender lets at most `window` packets fly: it sends a new packet when an acknowledgement arrives.
#
# **Predict** two numbers for windows that never change:
#
# - `small`: the throughput of a window of 5 packets, in Mbit/s (whole packets of 1500 bytes).
# - `large`: the delay of a packet with a window of 60 packets, from sender to receiver, in ms.

# %% answer="fixed-predict"
fixed = lab19.predict(
    "fixed",
    ### BEGIN SOLUTION
    {"small": 5 * 12 / 40, "large": 60 * 12 / steady.mean_mbps - 20},
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
# `lab19.fixed(window)` runs such a sender for 20 s. What it returns has `throughput_mbps` and `delay_p95_ms`: 95 % of
# the packets had this delay or less. `lab19.flow_figure(flow, trace)` draws the run.
#
# **Your turn:** measure both windows. Store the throughput of 5 packets and the delay of 60 packets.

# %% answer="fixed"
windows = {"small": None, "large": None}
### BEGIN SOLUTION
small, large = lab19.fixed(5), lab19.fixed(60)
windows = {"small": small.throughput_mbps, "large": large.delay_p95_ms}
print(windows)
display(lab19.flow_figure(large, steady))
### STARTER
# # YOUR TURN: lab19.fixed(5), lab19.fixed(60), then windows = {"small": ..., "large": ...}
### END SOLUTION

# %% check="fixed" points=2
lab19.check_fixed(windows).require()

# %% [markdown] id="look-task"
# ## 2. Reno, CUBIC and BBR on links that change (45 minutes)
#
# First look at the path of your own lab while its link follows no trace. **Your turn:** ping h2 from h1, and let tc
# show the queue of r1-eth1 on r1. Store the round trip in ms, and how many packets the queue (netem) holds at most.

# %% answer="look"
look = {"rtt_ms": None, "queue_packets": None}
### BEGIN SOLUTION
print(lab["h1"].cmd(f"ping -c 3 {lab['h2'].address}"))
print(lab["r1"].cmd("tc qdisc show dev r1-eth1"))
look = {"rtt_ms": 2 * network.link("r1-r2").delay_ms, "queue_packets": 250}
### STARTER
# # YOUR TURN: print(lab["h1"].cmd("...")), and then look = {"rtt_ms": ..., "queue_packets": ...}
### END SOLUTION

# %% check="look" points=1
lab19.check_look(look).require()

# %% [markdown] id="transfers-task"
# `lab19.TRACES` has three traces. `cellular`: a phone in a car. `satellite`: a dish whose link is set up anew every
# 15 s, with another rate, after a gap in which no packet leaves. `wireless`: a channel that many share. No trace is a
# recording: models made them, and the documentation names their papers ("A link that changes").
#
# `lab19.link(trace)` stands in a list of flows. The link from r1 to r2 then follows the trace for 15 s:
#
#     flow = measure.TcpFlow("h1", "h2", 14, congestion="reno")
#     measure.run_together(lab, [flow, lab19.link(trace)], record=["r1-eth1", "h1-eth0"])
#
# Throughput divided by delay is called *power* (Kleinrock, 1979); here the delay is the one that 95 % of the packets
# do not exceed. The *score* compares a run's power with that of a sender that knows the trace. That sender sends each
# packet so that it comes to the link exactly at an instant. So it uses all capacity, and no packet waits. The score is
# the logarithm (base 2) of the run's power divided by that of this sender. The best score is 0; -1 means half as good.
#
# **Guess first:** which of Reno, CUBIC and BBR has the highest throughput, and which the lowest delay?
#
# **Your turn:** measure all nine pairs of a trace and a congestion control: `reno`, `cubic`, `bbr`. Store them by
# name, as `"cellular reno"`. This takes some minutes. `record` names the interfaces that the figure needs, and no
# others.

# %% answer="transfers"
transfers = {f"{name} {control}": None for name in lab19.TRACES for control in lab19.CONTROLS}
for name, trace in lab19.TRACES.items():
    for control in lab19.CONTROLS:
        ### BEGIN SOLUTION
        flow = measure.TcpFlow("h1", "h2", 14, congestion=control)
        transfers[f"{name} {control}"] = measure.run_together(
            lab, [flow, lab19.link(trace)], record=["r1-eth1", "h1-eth0"]
        )
        ### STARTER
        # ...  # YOUR TURN: transfers[f"{name} {control}"] = measure.run_together(...)
        ### END SOLUTION
lab19.transfer_table(transfers)

# %% check="transfers" points=3
lab19.check_transfers(transfers).require()

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
# ## 3. A claim to test (20 minutes)
#
# Ask a language model about senders on links that change, and you get a paragraph like this one. It is fluent, and one
# of its sentences is wrong.
#
# > (1) On a link of one rate, a window that is smaller than the bandwidth-delay product leaves capacity unused. (2)
# > On a link that follows a trace, an instant at which no packet waits cannot be used later. (3) CUBIC makes its
# > window smaller only after a loss, so it fills a deep queue again and again. (4) BBR knows the rate of the link and
# > the round trip of the empty path, so beside a BBR flow no packet waits for longer than one round trip of the empty
# > path, even when the rate changes. (5) A sender that knows the trace bounds all others: no sender has more
# > throughput and less delay.
#
# **Your turn:** store the number of the wrong sentence, and one run that shows that it is wrong. Use the trace
# `wireless`, and let pings go through the same queue: `measure.PingFlow("h1", "h2", 15)`.

# %% answer="claim"
wrong, shows = None, None
### BEGIN SOLUTION
bbr = measure.TcpFlow("h1", "h2", 14, congestion="bbr")
pings = measure.PingFlow("h1", "h2", 15)
wrong, shows = 4, measure.run_together(lab, [bbr, pings, lab19.link(lab19.TRACES["wireless"])])
print(shows)
### STARTER
# # YOUR TURN: wrong = ..., shows = measure.run_together(lab, [..., ..., lab19.link(...)])
### END SOLUTION

# %% check="claim" points=3
lab19.check_claim(wrong, shows).require()

# %% [markdown] id="controller-task"
# ## 4. Your controller (60 minutes)
#
# Write your code in `controller.py`, which lies next to this notebook. **Open it now.** Linklab's sender sends packets
# of 1500 bytes, notices losses and sends lost packets again. It asks your class `Controller`:
#
# | method | when it is called |
# | --- | --- |
# | `on_acknowledgement` | packets have arrived; `rtt_ms` is the round trip of the last one |
# | `on_loss` | packets are lost: three later packets have arrived |
# | `on_timeout` | nothing was heard for long: all packets under way are given up |
# | `may_fly` | after all else, and at least every 10 ms: how many packets may be on their way? |
#
# A good controller does three things on every link. The check cells below try them:
#
# - **It uses the link.** On each of the three traces the throughput is at least 70 % of the capacity.
# - **It shares.** Two copies on `steady` use 70 % of it together. Jain's index of their throughputs is at least 0.8
#   (Lab 06): neither has less than a third of the other's. Of sixteen copies at most 8 % of all packets are lost: who
#   sends on and on into a full queue makes a network collapse.
# - **It goes on after a gap.** In the three seconds that begin 0.5 s after the gap of `satellite`, the throughput is at
#   least 70 % of the capacity.
#
# **Your turn:** complete `controller.py`. Begin with a rule that you know: grow by one packet in each round trip, and
# halve at a loss (Reno). Then try to keep the queue short: `rtt_ms` minus the least round trip is about the time in
# the queue. The next cell tries your file on the three traces and draws one of them. Do not compare its scores with
# those of section 2: the path of your lab has another delay.

# %% id="try"
flows = lab19.tried("controller.py")
display(lab19.flow_table(flows))
lab19.flow_figure(flows["cellular"], lab19.TRACES["cellular"])

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
#   rate, a window below the bandwidth-delay product loses throughput, and one above it only adds delay.
# - On a link that changes no sender knows the bandwidth-delay product. Loss comes late where the queue is deep. Delay
#   and the rate of arrivals tell earlier.
# - An instant that is not used is lost. A few packets that wait are the price for using what comes by surprise.
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
#
# ### Where to read on
#
# The [glossary](glossary.md); Winstein, Sivaraman, Balakrishnan: Sprout (NSDI 2013); Netravali and others: Mahimahi
# (USENIX ATC 2015); Cardwell and others: BBR (2016); Wei and others: FAST TCP (2006); Kleinrock: Power and
# deterministic rules of thumb (ICC 1979); RFC 5681 and RFC 9438.
