# %% [markdown] id="goal"
# # Lab 10: Switches
#
# One switch can serve several networks. You divide a switch into *VLANs* (virtual LANs), connect them by a router on
# a single cable, and look at the tags that make this work. You do the same once more with another kind of switch. Then
# you predict the round trip on real cables and measure
# it as a published study did. At the end you look for causes of the study's results.
#
# **Time:** 155 minutes (and 15 for the optional part). **You need:** `lab[...].cmd`, subnets and default routes (Lab
# 01), transmission delay (Lab 04), sharing a link (Lab 06).
#
# The study: F. Sans and E. Gamess compared a Cisco switch with two switches made of PCs (2013). Their paper prints
# curves and no numbers, so in this lab "published" means "stated in the paper's text".

# %% id="imports"
from mininet.topo import Topo

from linklab import lab10, measure, show, start

lab10.progress()

# %% [markdown] id="cables-intro"
# ## 1. Five cables, one switch (10 minutes)
#
# In this plain Mininet network, four hosts and a router are connected to `s1`. The hosts already have addresses and
# *gateways*, the routers that their default routes name: h1 and h2 in subnet 10.0.10.0/24, h3 and h4 in 10.0.20.0/24.
# The router has no address yet. The figure below the next cell shows what you will build: the cable to `r1` carries
# both VLANs. (The cables get their rate of 10 Mbit/s in section 5.)


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


lab = start(Cables())
show.network(lab10.by_name("router-on-a-stick-10"))

# %% [markdown] id="ports-task"
# ## 2. Divide the switch (20 minutes)
#
# A Linux *bridge*, the kernel's own switch, separates VLANs once `vlan_filtering` is on. With `vlan_default_pvid 0` its
# ports begin without any VLAN. Then you assign VLANs to each port:
#
# - `bridge vlan add dev s1-eth1 vid 10 pvid untagged` makes s1-eth1 an **access port** of VLAN 10. Incoming frames
#   belong to VLAN 10 (`pvid`), and outgoing frames have no tag (`untagged`).
# - `bridge vlan add dev s1-eth5 vid 10` lets VLAN 10 pass with a **tag**, which names the frame's VLAN. A port with
#   several tagged VLANs is a **trunk**.
#
# **Your turn:** write the commands for all five ports. `s1-eth1` to `s1-eth4` lead to h1 to h4, and `s1-eth5` leads
# to r1: `print(lab.cli("net"))` lists the cables, as Mininet's own prompt does. To correct a port, remove its wrong
# VLAN (`bridge vlan del dev s1-eth1 vid 20`), correct the list, and run the cell again.

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
for command in switch_commands:
    print("s1#", command, lab["s1"].cmd(command))
print(lab["s1"].cmd("bridge vlan"))

# %% check="ports" points=2
lab10.check_ports(lab).require()

# %% [markdown] id="gateways-task"
# ## 3. A router on a stick (15 minutes)
#
# r1 has only *one* cable but must be in both VLANs. So it gets one **sub-interface** for each VLAN: frames that leave
# through `r1-eth0.10` carry the tag 10. Three commands create a sub-interface, for example
#
# - `ip link add link r1-eth0 name r1-eth0.10 type vlan id 10`
# - `ip addr add 10.0.10.254/24 dev r1-eth0.10`
# - `ip link set r1-eth0.10 up`
#
# **Your turn:** create both sub-interfaces, and give them the addresses that the hosts use as gateways. Then turn on
# forwarding on r1: `sysctl -w net.ipv4.ip_forward=1`. To correct a sub-interface, remove it (`ip link del r1-eth0.20`
# on r1), correct the list, and run the cell again. `File exists` then means that a command has already been run.

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
for command in router_commands:
    print("r1#", command, lab["r1"].cmd(command))
print(lab["r1"].cmd("ip -brief address"))

# %% check="gateways" points=2
lab10.check_gateways(lab).require()

# %% check="reachability" points=1
lab10.check_reachability(lab).require()

# %% [markdown] id="tags-task"
# ## 4. See the tags (25 minutes)
#
# **Your turn:** let h1 ping h3 (10.0.20.3) while tcpdump on r1's only cable shows the frames. `-e` prints the Ethernet
# header with its tag and its two Ethernet addresses (*MAC addresses*), and `-v` prints the TTL. Then show the
# sub-interface's settings with `ip -d link show r1-eth0.10`. How often does the request cross this cable, and what
# differs each time?

# %% answer="tags"
passing = lab["r1"].popen("tcpdump -n -e -v -c 4 -i r1-eth0 vlan and icmp")
lab.sleep(1)
### BEGIN SOLUTION
print(lab["h1"].cmd("ping -n -c 1 10.0.20.3"))
passing.wait(5)
print(passing.output)
print(lab["r1"].cmd("ip -d link show r1-eth0.10"))
### STARTER
# # YOUR TURN: one ping; passing.wait(5) and print(passing.output); ip -d link
### END SOLUTION

# %% answer="tag"
print(lab10.question("tag"))
### BEGIN SOLUTION
tag = "a"
### STARTER
# tag = None  # a letter, as "a"
### END SOLUTION

# %% check="tag" points=1
lab10.check_tag(tag).require()

# %% answer="frames"
print(lab10.question("changed"))
### BEGIN SOLUTION
frames = {"ttl": 63, "changed": "b"}
### STARTER
# frames = {"ttl": None, "changed": None}  # the request's TTL when it reaches h3, and a letter
### END SOLUTION

# %% check="frames" points=1
lab10.check_frames(frames).require()

# %% [markdown] id="ovs-task"
# ### The same with Open vSwitch (20 minutes)
#
# One PC of the study ran *Open vSwitch*, another switch in software. It keeps the settings of its ports in
# a database, and `ovs-vsctl` writes them:
#
# - `ovs-vsctl set port s1-eth1 tag=10` makes s1-eth1 an access port of VLAN 10.
# - `ovs-vsctl set port s1-eth5 trunks=10,20` makes s1-eth5 a trunk: only these VLANs pass, with a tag. Without any
#   setting a port is a trunk of *all* VLANs.
#
# The next cell starts the same cables with Open vSwitch, and gives r1 your sub-interfaces.
#
# **Your turn:** write the commands for all five ports. `ovs-vsctl clear port s1-eth1 tag` takes a setting back. The
# cell then lets h1 ping h3, and shows the table that the switch has *learned*: a row for each MAC address, with the
# VLAN and the port of the frame that came from it.

# %% answer="ovs"
lab.stop()
lab = start(Cables(), switch="ovs")
for command in router_commands:
    lab["r1"].cmd(command)
ovs_commands = [
    ### BEGIN SOLUTION
    *(f"ovs-vsctl set port s1-eth{n} tag={vlan}" for n, vlan in enumerate((10, 10, 20, 20), 1)),
    "ovs-vsctl set port s1-eth5 trunks=10,20",
    ### STARTER
    # # YOUR TURN: one command for each port
    ### END SOLUTION
]
for command in ovs_commands:
    print("s1#", command, lab["s1"].cmd(command))
print(lab["h1"].cmd("ping -n -c 1 -w 2 10.0.20.3"))
print(lab["s1"].cmd("ovs-appctl fdb/show s1"))

# %% check="ovs" points=2
lab10.check_ovs(lab).require()

# %% answer="learned"
# `rows`: now h1 has pinged h3 and h2. How many rows does the table have? Predict, then look:
# print(lab["s1"].cmd("ovs-appctl fdb/show s1")).
print(lab10.question("to"))
### BEGIN SOLUTION
learned = {"to": "c", "rows": 5}
### STARTER
# learned = {"to": None, "rows": None}  # a letter, and a number
### END SOLUTION

# %% check="learned" points=1
lab10.check_learned(learned).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how VLANs keep hosts apart, and you get a paragraph like this one. It is fluent, and one of its
# sentences is wrong. (A *broadcast* is a frame to all machines, as ARP's question is.)
#
# > (1) A switch forwards a broadcast only to ports of the VLAN from which it came, so ARP finds no host of another
# > VLAN. (2) Frames leave an access port without a tag, so the hosts need to know nothing of VLANs. (3) The trunk
# > carries the VLANs to the router: if somebody removes VLAN 20 from it, the hosts of VLAN 20 are cut off, and h3
# > reaches neither h1 nor h4. (4) A packet that crosses from one VLAN to the other is routed: its frame has new MAC
# > addresses, and its TTL is one less. (5) A Linux bridge and Open vSwitch divide a switch in the same way: only the
# > commands differ, and what a port does that has no setting.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it: change the switch, and give what
# `measure.run(lab, measure.PingFlow(SOURCE, DESTINATION, count=3))` returns. Store the sentence's number and the run.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 3
lab["s1"].cmd("ovs-vsctl set port s1-eth5 trunks=10")
shows_it = measure.run(lab, measure.PingFlow("h3", "h4", count=3))
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: a command on s1, then what measure.run returns
### END SOLUTION

# %% check="claim" points=3
lab10.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="rtt-task"
# ## 5. Round trips with and without a router (30 minutes)
#
# From here on, links are cables of 10 Mbit/s: all bytes of a frame take time on each cable. A UDP datagram with 1440
# bytes of data (its *payload*) becomes 1506 bytes on the cable: add 8 for the UDP header, 20 for IPv4, 14 for Ethernet,
# and 24 that only the cable sees (preamble 8, checksum 4, gap 12). On a trunk, a tag adds 4 bytes. A switch receives a
# whole frame before it forwards it (*store and forward*), and so does a router. The network is idle, and cables are
# short.
#
# A round trip between h1 and h2 crosses a cable four times. One crossing takes 1506 * 8 / 10,000 = 1.205 ms, so four
# take 4.82 ms. (A real cable does not delay a lone frame by its gap, 0.8 % of the time: our links always count it.)
#
# **Your turn:** predict the round trip between h1 and h3 in ms, also with 1440 bytes. First, `s1` itself routes
# between its VLANs (a *layer-3 switch*). Second, the router on a stick routes.

# %% answer="rtt"
rtt_ms = lab10.predict(
    "rtt",
    {
        ### BEGIN SOLUTION
        "layer-3 switch, 1440": 4 * 1506 * 8 / 10_000,
        "router on a stick, 1440": 4 * (1506 + 1510) * 8 / 10_000,
    },
    sure=70,
    ### STARTER
    #     "layer-3 switch, 1440": None,
    #     "router on a stick, 1440": None,
    # },
    # sure=None,
    ### END SOLUTION
)
rtt_ms

# %% check="rtt" points=1
lab10.check_predicted(rtt_ms).require()

# %% [markdown] id="rtt-measure-task"
# The study measures round trips. It sends a datagram, waits until the echo returns, sends the next one, and so on.
# *One* clock times the whole series: this time over the number of datagrams is the mean round trip. One clock
# needs no synchronisation. For a *one-way* delay, two clocks must agree. NTP, the protocol by which computers set their
# clocks, synchronises them to some tens of microseconds on a fast local network at best, and to milliseconds across the
# Internet. With PTP (IEEE 1588) network cards timestamp the packets: it reaches a microsecond or less.
#
# `measure.run(net, measure.EchoFlow("h1", "h2", count=100, payload_bytes=100))` measures as the study did.
#
# **Your turn:** make four measurements, and store them under the names in the dictionary. `inside` means h1 and h2, on
# either network. The other two measure h1 and h3.

# %% answer="rtt-runs"
networks = {
    "layer-3": start(lab10.by_name("l3-switch-10")),
    "stick": start(lab10.by_name("router-on-a-stick-10")),
}
names = ["inside, 100", "inside, 1440", "layer-3 switch, 1440", "router on a stick, 1440"]
rtt_runs = dict.fromkeys(names)
### BEGIN SOLUTION
small = measure.EchoFlow("h1", "h2", count=100, payload_bytes=100)
large = measure.EchoFlow("h1", "h2", count=100, payload_bytes=1440)
between = measure.EchoFlow("h1", "h3", count=100, payload_bytes=1440)
rtt_runs["inside, 100"] = measure.run(networks["layer-3"], small)
rtt_runs["inside, 1440"] = measure.run(networks["layer-3"], large)
rtt_runs["layer-3 switch, 1440"] = measure.run(networks["layer-3"], between)
rtt_runs["router on a stick, 1440"] = measure.run(networks["stick"], between)
### STARTER
# # YOUR TURN, this one and the others:
# # rtt_runs["inside, 100"] = measure.run(networks["layer-3"], measure.EchoFlow(...))
### END SOLUTION

# %% check="rtt-runs" points=2
lab10.check_rtt_runs(rtt_runs).require()

# %% answer="kinds"
print(lab10.question("kinds"))
### BEGIN SOLUTION
kinds = "b"
### STARTER
# kinds = None
### END SOLUTION

# %% check="kinds" points=1
lab10.check_kinds(kinds).require()

# %% [markdown] id="shares-task"
# ## 6. Two UDP senders on one full link (35 minutes)
#
# Two hosts in VLAN 10 send UDP to `t1` in VLAN 20 at constant rates. Together they send more than t1's link carries.
# This link has 10 Mbit/s, and its queue is *drop-tail*: when it is full, it drops the next packet that arrives. With
# datagrams of 1470 bytes (1536 on the cable), at most 9.57 Mbit/s are payload. UDP does not slow down. `70/70` means
# that h1 and h2 each offer 7 Mbit/s of payload. `30/90` means that h1 offers 3 and h2 offers 9.
#
# The next cell starts this network. Then it is **your turn:** predict how much of h1's payload arrives, in Mbit/s, with
# each of the two settings.

# %% id="fair"
fair = start(lab10.by_name("fairness-2-10"))
show.network(fair)

# %% answer="shares"
share_mbps = lab10.predict(
    "shares",
    ### BEGIN SOLUTION
    {"70/70 h1": 9.57 / 2, "30/90 h1": 9.57 * 3 / 12},
    sure=60,
    ### STARTER
    # {"70/70 h1": None, "30/90 h1": None},
    # sure=None,
    ### END SOLUTION
)
share_mbps

# %% check="shares" points=1
lab10.check_predicted(share_mbps).require()

# %% [markdown] id="shares-measure-task"
# `lab10.senders("70/70", 10, duration_s=6, window_s=(2, 6))` returns both flows for a link of 10 Mbit/s. Each flow
# lasts 6 s, and only what arrives in the last 4 s counts. `measure.run_together(fair, flows)` starts both flows at the
# same time.
#
# **Your turn:** measure both settings. Then let `fair["s1"]` say where packets were dropped:
# `tc -s qdisc show dev s1-eth3` shows t1's port, and the same command for `s1-eth2` shows h2's port.

# %% answer="share-runs"
share_runs = dict.fromkeys(["70/70", "30/90"])
### BEGIN SOLUTION
for setting in share_runs:
    flows = lab10.senders(setting, 10, duration_s=6, window_s=(2, 6))
    share_runs[setting] = measure.run_together(fair, flows)
print(fair["s1"].cmd("tc -s qdisc show dev s1-eth3"))
print(fair["s1"].cmd("tc -s qdisc show dev s1-eth2"))
### STARTER
# # YOUR TURN, this one and the other, and then print(fair["s1"].cmd("tc ...")):
# # flows = lab10.senders("70/70", 10, duration_s=6, window_s=(2, 6))
# # share_runs["70/70"] = measure.run_together(fair, flows)
### END SOLUTION

# %% check="share-runs" points=2
lab10.check_share_runs(share_runs).require()

# %% [markdown] id="step-intro"
# So far both senders were *out of step*: they sent each packet a little late, by a random part of the time between two
# packets. PCs may do so by themselves. In the next cell (`dither=False`) each sender sends every packet exactly when
# its rate requires it (*in step*). What changes?

# %% id="step"
stepped = {}
for setting in ["70/70", "30/90"]:
    flows = lab10.senders(setting, 10, duration_s=6, window_s=(2, 6), dither=False)
    stepped[setting] = measure.run_together(fair, flows)
lab10.shares_table(share_runs, stepped)

# %% answer="pairs"
# Compare the last two columns: out of step, and in step. `free`: at 70/70 in step, packets come
# in pairs. How many places become free in the queue between two pairs?
print(lab10.question("pair", "step"))
### BEGIN SOLUTION
between_ms, frame_ms = 1470 * 8 / 7000, 1536 * 8 / 10_000
pairs = {"free": between_ms / frame_ms, "pair": "b", "step": "a"}
### STARTER
# pairs = {"free": None, "pair": None, "step": None}
### END SOLUTION

# %% check="pairs" points=3
lab10.check_pairs(pairs).require()

# %% [markdown] id="study-question"
# **Question.** The study reports that its Cisco switch shared the link less fairly than its PCs did, at 100 Mbit/s and
# with three senders. Name a possible cause that you have measured, and describe a test for it on the study's switch.

# %% [markdown] reflect="study" points=2
# Senders in step are enough to cause unfair shares, without any preference in the switch. Test: start the senders at
# random times, many times, on the same switch. If the preference disappears, timing was the cause.
#
# **Rubric.** 2 points: senders in step, and a test that changes the timing and nothing else. 1 point: one of the two.
# Typical wrong: (1) "the measurement proves that the study is wrong" - it only shows another possible cause; (2)
# "switches in hardware are unfair" - drop-tail in software did the same here.

# %% [markdown] id="interrupts"
# ## 7. A round trip that does not grow (optional)
#
# At 100 Mbit/s the study's PCs had the *same* round trip from 750 to 1440 bytes, and the authors found no cause.
# In theory the round trip must grow by 221 microseconds: 690 bytes more on four links. What if a network card does not
# interrupt the processor for each frame, but only every 250 microseconds? (Linux's driver for these cards limited
# their interrupts to 4000 a second at this rate.)
#
# `measure.moderated` lets a program take over two ports of the bridge and delay their interrupts: each card *ticks*
# every 250 microseconds, and the second card ticks halfway between two ticks of the first. Before you run the cell,
# sketch the curve that you expect.
#
# **Think:** at 10 Mbit/s the study saw no such range. Can ticking cards explain that too?
#
# <details><summary>Open this when you have an answer</summary>
#
# With ticking cards a round trip ends on a tick, so whole ranges of payloads have the same round trip. One such range
# is 750 to 1440 bytes. That looks like the study's figure 14, but it does not prove the cause. At 10 Mbit/s, 250 bytes
# more take 0.2 ms on each of four links, 0.8 ms in all. So each larger payload needs some ticks more, and the steps
# hide in the slope. To test the cause on the PC itself, turn the limit off (`ethtool -C`) and measure again.
#
# </details>


# %% id="flat"
def by_payload(net):
    sizes = (100, 250, 500, 750, 1000, 1250, 1440)
    flows = [measure.EchoFlow("h1", "h2", payload_bytes=size) for size in sizes]
    return {flow.payload_bytes: measure.run(net, flow).rtt_mean_ms for flow in flows}


curves = {}
with start(lab10.by_name("l3-switch-100")) as fast:
    curves["plain"] = by_payload(fast)
    with measure.moderated(fast, ("s1-eth1", "s1-eth2"), 250, "ticking"):
        curves["ticking cards"] = by_payload(fast)
lab10.rtt_figure(curves, "h1 to h2 at 100 Mbit/s")

# %% id="stop"
lab10.explain("study")
for each in (lab, fair, *networks.values()):
    each.stop()
lab10.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - A VLAN is a *broadcast domain*: the machines that a broadcast reaches. On a cable that several VLANs
#   share, a tag names the frame's VLAN.
# - Between VLANs, the switch itself or a router on a stick routes packets. By the router on a stick a packet crosses
#   twice as many links.
# - On short, idle cables a round trip is transmission delay, link by link, plus processing, which virtual time does not
#   show. (Long cables add propagation delay, Lab 04.)
# - A switch learns ports from source addresses, and floods frames to addresses that it does not know, within the VLAN.
# - A full drop-tail queue takes the next packet, whoever sent it: who offers more gets more, in proportion only if
#   packets come at random times. In step, one sender may have all losses.
#
# **Review questions** (no points)
#
# 1. A tag has 12 bits for the VLAN. How many VLANs are possible, and what do the tag's other bits mean?
#    <details><summary>Answer</summary>4094: of the 4096 values, 0 and 4095 are reserved. The other bits are the type
#    0x8100 (16 bits), a priority (3) and a mark for frames that may be dropped first (1).</details>
# 2. A switch could start to send a frame before it has received the whole frame (cut-through). How much time would
#    that save here?
#    <details><summary>Answer</summary>Nearly one transmission time in each direction, 1.2 ms for the long frames.
#    Cut-through works only if the outgoing port is idle and no faster than the incoming link, and the switch also
#    forwards damaged frames.</details>
# 3. Replace the UDP senders by two TCP connections. What share does each get?
#    <details><summary>Answer</summary>With equal round trips about half each, over a long time. Both see losses, and
#    loss-based congestion control slows down after a loss.</details>
#
# ### Where to read on
#
# IEEE 802.1Q (VLANs), IEEE 1588 (PTP), RFC 5905 (NTP), RFC 2544 (benchmarks of devices). Kurose &
# Ross: link layer, switches and VLANs. Peterson & Davie: switched Ethernet, virtual LANs.
