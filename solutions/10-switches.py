# %% [markdown] id="goal"
# # Lab 10: Switches
#
# One switch can be several networks. You divide a switch into *VLANs*, join them again by a router on a
# single cable, and look at the tags that make this work. Then you predict what a frame's way costs on real
# cables, measure it as a published study did, and ask why the study saw what it saw.
#
# The study: F. Sans and E. Gamess compared a Cisco switch with two switches made of PCs (2013). It prints
# curves and no numbers, so in this lab "published" is what its text says.

# %% id="imports"
from mininet.topo import Topo

import linklab
from linklab import measure, show
from linklab.labs import lab10
from linklab.labs.lab10 import figures as look
from linklab.measure import EchoFlow, capture, moderated
from linklab.network import by_name, path
from linklab.published.switches_loads import senders

# %% [markdown] id="cables-intro"
# ## 1. Five cables, one switch
#
# Four hosts and a router are plugged into `s1`. The hosts have their addresses and their gateways already:
# h1 and h2 those of subnet 10.0.10.0/24, h3 and h4 those of 10.0.20.0/24. The router has nothing yet.


# %% id="cables"
class Cables(Topo):
    def build(self):
        self.addSwitch("s1")
        for number, vlan in ((1, 10), (2, 10), (3, 20), (4, 20)):
            address, gateway = f"10.0.{vlan}.{number}/24", f"via 10.0.{vlan}.254"
            self.addHost(f"h{number}", ip=address, defaultRoute=gateway)
            self.addLink(f"h{number}", "s1")
        self.addHost("r1", ip=None)
        self.addLink("r1", "s1")


lab = linklab.start(Cables())

# %% [markdown] id="aim-intro"
# This is where we want to be. The trunk to `r1` carries both VLANs.

# %% id="aim-figure"
show.draw(by_name("router-on-a-stick-10"))

# %% [markdown] id="ports-task"
# ## 2. Divide the switch
#
# A Linux bridge tells VLANs apart once `vlan_filtering` is on. Then each port needs its VLANs:
#
# - `bridge vlan add dev s1-eth1 vid 10 pvid untagged` makes an **access port** of VLAN 10. Frames that come
#   in belong to VLAN 10 (`pvid`), and frames that go out have no tag (`untagged`).
# - `bridge vlan add dev s1-eth5 vid 10` lets VLAN 10 pass with a **tag**. A port with several such VLANs is a
#   **trunk**.
#
# **Your turn:** the commands for all five ports. `s1-eth1` to `s1-eth4` lead to h1 to h4, and `s1-eth5` to
# r1.

# %% answer="ports"
switch_commands = [
    "ip link set s1 type bridge vlan_filtering 1 vlan_default_pvid 0",
    ### BEGIN SOLUTION
    "bridge vlan add dev s1-eth1 vid 10 pvid untagged",
    "bridge vlan add dev s1-eth2 vid 10 pvid untagged",
    "bridge vlan add dev s1-eth3 vid 20 pvid untagged",
    "bridge vlan add dev s1-eth4 vid 20 pvid untagged",
    "bridge vlan add dev s1-eth5 vid 10",
    "bridge vlan add dev s1-eth5 vid 20",
    ### STARTER
    # # YOUR TURN: one command for each port, two for the trunk
    ### END SOLUTION
]

# %% id="ports-run"
for command in switch_commands:
    print("s1#", command, lab["s1"].cmd(command))
print(lab["s1"].cmd("bridge vlan"))

# %% check="ports" points=3
lab10.check_ports(lab).require()

# %% [markdown] id="ports-notice"
# A port in the wrong VLAN, or one VLAN too few on the trunk, is a mistake that no host can see: frames just
# do not come. To put a port right, take its VLAN away (`bridge vlan del dev s1-eth1 vid 20`), correct the
# list and run the cells again.
#
# ## 3. A router on a stick
#
# r1 has *one* cable and must be in both VLANs. It gets a **sub-interface** for each: frames that leave by
# `r1-eth0.10` carry the tag 10. Three commands make one, for example
#
# - `ip link add link r1-eth0 name r1-eth0.10 type vlan id 10`
# - `ip addr add 10.0.10.254/24 dev r1-eth0.10`
# - `ip link set r1-eth0.10 up`
#
# **Your turn:** both sub-interfaces, with the addresses that the hosts have as gateways. And make r1 forward:
# `sysctl -w net.ipv4.ip_forward=1`.

# %% answer="gateways"
router_commands = [
    ### BEGIN SOLUTION
    "ip link add link r1-eth0 name r1-eth0.10 type vlan id 10",
    "ip addr add 10.0.10.254/24 dev r1-eth0.10",
    "ip link set r1-eth0.10 up",
    "ip link add link r1-eth0 name r1-eth0.20 type vlan id 20",
    "ip addr add 10.0.20.254/24 dev r1-eth0.20",
    "ip link set r1-eth0.20 up",
    "sysctl -w net.ipv4.ip_forward=1",
    ### STARTER
    # # YOUR TURN: three commands for each VLAN, and one to forward
    ### END SOLUTION
]

# %% id="gateways-run"
for command in router_commands:
    print("r1#", command, lab["r1"].cmd(command))
print(lab["r1"].cmd("ip -brief address"))

# %% check="gateways" points=3
lab10.check_gateways(lab).require()

# %% check="reachability" points=1
lab10.check_reachability(lab).require()

# %% [markdown] id="tags-intro"
# ## 4. See the tags
#
# h1 pings h3, and we capture on r1's only cable. Each packet passes here twice.

# %% id="tags"
with capture(lab, "r1", "r1-eth0", "ip or vlan") as caught:
    print(lab["h1"].cmd("ping -n -c 1 10.0.20.3"))
look.tags(caught)

# %% [markdown] id="tags-notice"
# **What to notice.** The request comes in with tag 10 and leaves with tag 20, and its TTL is one less: r1 has
# routed it. On the cables of the hosts there is no tag at all.

# %% [markdown] id="rtt-task"
# ## 5. Predict: what does the way cost?
#
# From here on links are cables of 10 Mbit/s: each frame occupies each cable for all its bytes. A UDP datagram
# of L bytes becomes
#
# - L + 8 (UDP) + 20 (IPv4) + 14 (Ethernet) bytes of frame,
# - 24 bytes more that only the cable sees: preamble 8, checksum 4, gap 12,
# - and on a trunk a tag of 4.
#
# A switch takes in a whole frame before it passes it on (*store and forward*), and so does a router. The
# network is idle, and propagation takes no time.
#
# **Your turn:** round trips in ms for payloads of 100 and 1440 bytes. `inside`: h1 and h2. The other two: h1
# and h3, first where `s1` itself routes between its VLANs (a *layer-3 switch*), then over the router on a
# stick.


# %% answer="rtt"
### BEGIN SOLUTION
def cable_ms(payload, tag=0):
    return (payload + 8 + 20 + 14 + 24 + tag) * 8 / 10_000


### STARTER
# # YOUR TURN: a function may help
### END SOLUTION
predicted_ms = {
    ### BEGIN SOLUTION
    "inside, 100": 4 * cable_ms(100),
    "inside, 1440": 4 * cable_ms(1440),
    "layer-3 switch, 1440": 4 * cable_ms(1440),
    "router on a stick, 1440": 4 * cable_ms(1440) + 4 * cable_ms(1440, tag=4),
    ### STARTER
    # "inside, 100": None,
    # "inside, 1440": None,
    # "layer-3 switch, 1440": None,
    # "router on a stick, 1440": None,
    ### END SOLUTION
}

# %% check="rtt" points=4
lab10.check_rtt(predicted_ms).require()

# %% [markdown] id="rtt-measure-intro"
# ## 6. Measure
#
# The study sends a datagram, waits until it comes back, sends the next one, and so on. *One* clock takes the
# time of all of them, and divides by their number. Why one clock? Two clocks never agree to microseconds.
#
# `measure.run(net, EchoFlow("h1", "h2", count=100, payload_bytes=100))` does that. The two networks are in the
# catalogue; Linklab builds their VLANs and reads them back.

# %% id="rtt-networks"
networks = {
    "layer-3": linklab.start(by_name("l3-switch-10")),
    "stick": linklab.start(by_name("router-on-a-stick-10")),
}
print(path(by_name("l3-switch-10"), "h1", "h3"))
print(path(by_name("router-on-a-stick-10"), "h1", "h3"))

# %% [markdown] id="rtt-measure-task"
# **Your turn:** the four measurements, under the names of your predictions.

# %% answer="rtt-runs"
rtt_runs = dict.fromkeys(predicted_ms)
### BEGIN SOLUTION
small = EchoFlow("h1", "h2", count=100, payload_bytes=100)
large = EchoFlow("h1", "h2", count=100, payload_bytes=1440)
between = EchoFlow("h1", "h3", count=100, payload_bytes=1440)
rtt_runs["inside, 100"] = measure.run(networks["layer-3"], small)
rtt_runs["inside, 1440"] = measure.run(networks["layer-3"], large)
rtt_runs["layer-3 switch, 1440"] = measure.run(networks["layer-3"], between)
rtt_runs["router on a stick, 1440"] = measure.run(networks["stick"], between)
### STARTER
# # YOUR TURN, this one and the others:
# # rtt_runs["inside, 100"] = measure.run(networks["layer-3"], EchoFlow(...))
### END SOLUTION

# %% check="rtt-runs" points=4
lab10.check_rtt_runs(rtt_runs).require()

# %% id="rtt-table"
look.rtt_table(predicted_ms, rtt_runs)

# %% [markdown] id="rtt-notice"
# **What to notice.** Routing inside the switch adds nothing: no link more is crossed. The router on a stick
# doubles the way, and the tag adds a little. The study saw the same order.
#
# > **What this clock cannot show.** On virtual time computing takes no time. So what a switch needs to think
# > about a packet is not in these numbers, and a switch of any kind gives the same ones. On hardware that
# > time is there, and it may well be why the study's Cisco switch was faster than its PCs.
#
# ## 7. Explain: a round trip that does not grow
#
# At 100 Mbit/s the study's PCs had the *same* round trip from 750 to 1440 bytes, and its authors found no
# cause. Your formula says that it must grow. What if a network card does not tell the processor of each frame
# at once, but only every 250 microseconds? (Linux's driver for these cards did limit their interrupts to 4000
# a second at this rate.)
#
# `moderated` lets a program take over two ports of the bridge and hold its interrupts back: here, each card
# *ticks* every 250 microseconds, and the second one in between.


# %% id="flat"
def by_payload(net):
    sizes = (100, 250, 500, 750, 1000, 1250, 1440)
    flows = [EchoFlow("h1", "h2", payload_bytes=size) for size in sizes]
    return {flow.payload_bytes: measure.run(net, flow).rtt_mean_ms for flow in flows}


curves = {}
with linklab.start(by_name("l3-switch-100")) as fast:
    curves["plain"] = by_payload(fast)
    with moderated(fast, ("s1-eth1", "s1-eth2"), 250, "ticking"):
        curves["ticking cards"] = by_payload(fast)
look.rtt_figure(curves, "h1 to h2 at 100 Mbit/s")

# %% [markdown] id="flat-notice"
# **What to notice.** With ticking cards a round trip is a whole number of ticks, and so it is the same for
# whole ranges of payloads. One of them runs from 750 to 1440 bytes. That looks like the study's figure 14. It
# does not *prove* that this was the cause: it shows that such a cause would look so.

# %% [markdown] id="flat-question"
# **Question.** At 10 Mbit/s the study saw no such range. Does that fit to ticking cards? What would you
# measure on the study's own PC to find out?

# %% [markdown] reflect="flat" points=1
# It fits: at 10 Mbit/s 250 bytes more take 0.2 ms on each of four links, 0.8 ms in all, so each payload needs
# some ticks more, and the steps hide in the slope. On the PC itself one would switch the limit off (ethtool
# -C, or the driver's InterruptThrottleRate=0) and measure again: if the flat range is gone, that was it.

# %% [markdown] id="shares-task"
# ## 8. Predict: who gets how much?
#
# Two hosts in VLAN 10 send UDP to `t1` in VLAN 20, at constant rates, more together than t1's link carries.
# UDP does not slow down. A full queue drops whatever comes next, so over time every sender loses the same
# *share* of its packets.
#
# The link carries 10 Mbit/s. The datagrams have 1470 bytes of payload, 1536 on the cable. `70/70` means that
# each offers 7 Mbit/s of payload, `30/90` that h1 offers 3 and h2 9.
#
# **Your turn:** what arrives of each, in Mbit/s of payload.

# %% answer="shares"
predicted_mbps = {
    ### BEGIN SOLUTION
    "70/70 h1": 10 * 1470 / 1536 / 2,
    "70/70 h2": 10 * 1470 / 1536 / 2,
    "30/90 h1": 10 * 1470 / 1536 * 3 / 12,
    "30/90 h2": 10 * 1470 / 1536 * 9 / 12,
    ### STARTER
    # "70/70 h1": None,
    # "70/70 h2": None,
    # "30/90 h1": None,
    # "30/90 h2": None,
    ### END SOLUTION
}

# %% check="shares" points=4
lab10.check_shares(predicted_mbps).require()

# %% [markdown] id="shares-measure-task"
# ## 9. Measure
#
# `senders("70/70", 10, duration_s=6, window_s=(2, 6))` is the list of both flows at 10 Mbit/s: each lasts 6 s, and
# what arrives in the last 4 counts. `measure.at_once(net, flows)` sends both at one time.
#
# **Your turn:** both settings on the network `fairness-2-10` of the catalogue.

# %% answer="share-runs"
share_runs = dict.fromkeys(lab10.SETTINGS)
fair = linklab.start(by_name("fairness-2-10"))
### BEGIN SOLUTION
for setting in lab10.SETTINGS:
    flows = senders(setting, 10, duration_s=6, window_s=(2, 6))
    share_runs[setting] = measure.at_once(fair, flows)
### STARTER
# # YOUR TURN, this one and the other:
# # flows = senders("70/70", 10, duration_s=6, window_s=(2, 6))
# # share_runs["70/70"] = measure.at_once(fair, flows)
### END SOLUTION

# %% check="share-runs" points=2
lab10.check_share_runs(share_runs).require()

# %% [markdown] id="step-intro"
# These senders shift each packet by a random part of its turn, as PCs do without being told. What if they do
# not, and send every packet exactly when the rate asks for it?

# %% id="step"
stepped = {}
for setting in lab10.SETTINGS:
    flows = senders(setting, 10, duration_s=6, window_s=(2, 6), dither=False)
    stepped[setting] = measure.at_once(fair, flows)
look.shares_table(predicted_mbps, share_runs, stepped)

# %% [markdown] id="step-notice"
# **What to notice.** Out of step, shares are near proportion, and not quite: at 30/90 the packets of h2 come
# back to back, one just when the queue has a place again, and h1's come at any time. In exact step it is
# always the same sender who finds the place. The study saw unfair shares most of all with its Cisco switch,
# and took them for the switch's own. Senders in step would be enough.
#
# ## 10. Questions
#
# `tag`: why do frames on the trunk carry a tag, and frames to h1 none? (a) The trunk carries two VLANs, and
# without a tag nobody could tell whose a frame is. (b) The tag says which host is to have the frame. (c) r1
# is a router, and routers need tags to forward. (d) Frames to h1 are too short for a tag.
#
# `growth_us`: by how many *microseconds* must a round trip between h1 and h2 grow from 750 to 1440 bytes at
# 100 Mbit/s?
#
# `flat`: the study saw no growth at all there. What can hide it? (a) The switch begins to send a frame before
# it has all of it. (b) Network cards that tell of frames only at fixed instants. (c) Longer frames travel
# faster. (d) The queue of the switch is full.
#
# `kinds`: on virtual time the Linux bridge and Open vSwitch in the kernel have the same round trip. What
# follows? (a) Both need the same processor time for a packet. (b) Both pass on every frame whole and at once;
# how much work that is cannot be seen here. (c) The measurement is wrong. (d) Virtual time slows Open vSwitch
# down until they are equal.
#
# `step`: two senders, 30/90, in exact step: h1 loses nothing, h2 a quarter. Who is unfair? (a) The switch: it
# prefers port 1. (b) h2: it sends too much, so it alone is punished. (c) Nobody: the queue takes who comes
# when a place is free, and in step it is always the same one. (d) The VLANs: h1's has priority.

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "tag": "a",
    "growth_us": (1440 - 750) * 8 / 100 * 4,
    "flat": "b",
    "kinds": "b",
    "step": "c",
    ### STARTER
    # "tag": None,
    # "growth_us": None,
    # "flat": None,
    # "kinds": None,
    # "step": None,
    ### END SOLUTION
}

# %% check="questions" points=5
lab10.check_questions(answers).require()

# %% [markdown] id="stop-intro"
# ## 11. Stop

# %% id="stop"
for each in (lab, fair, *networks.values()):
    each.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** a VLAN is a switch within a switch, and a tag tells whose a frame is where several
# share a cable. A round trip on an idle network is serialisation, link by link. And two numbers that look
# strange in a paper, a flat curve and an unfair switch, can come from a card that ticks and from senders in
# step.
