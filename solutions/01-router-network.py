# %% [markdown] id="goal"
# # Lab 01: The router network
#
# You build the network that all later labs measure: nine hosts, two switches, and four routers in a row. You plan its
# addresses, write it down for Mininet, teach the routers to forward, and prove with `ping`, `traceroute` and `tc` that
# it is what you meant it to be.
#
# **Time:** about 150 minutes. **You need:** Lab 00 (cells and checks, `Topo`, a prediction). The
# [glossary](glossary.md) explains the words.
#
# Each stage has its own graded cell. If one stage is not finished, go on: later stages can be right all the
# same.

# %% id="imports"
from mininet.topo import Topo

from linklab import course_network, lab01, show, start

lab01.progress()

# %% [markdown] id="target"
# ## 1. The network to build
#
# A **switch** joins the machines of one subnet. It looks at Ethernet addresses only, and needs no IP
# address here. A **router** joins subnets. It has one interface, with an address, in each of them.
#
# The figure has no addresses yet: giving them is your first task. The first table lists the eight subnets. The
# interfaces of a subnet are joined by one cable, or by a switch. The second table lists the links between routers. Only
# they are limited, equally in both directions.

# %% id="target-figure"
network = course_network()
display(show.draw(lab01.without_addresses(network)))
display(lab01.subnet_table(network), lab01.link_table(network))

# %% [markdown] id="plan-intro"
# ## 2. The addressing plan
#
# Every interface of a host or router needs an address from its subnet. We follow three rules:
#
# 1. In a subnet with one router, the router has `.1`.
# 2. The hosts follow from `.2` on, in the order of their numbers.
# 3. On a link between two routers, the lower-numbered router has `.1` and the other `.2`.
#
# The `/24` behind an address says that the first 24 bits, here the first three numbers, name the subnet. A
# machine sends packets for its own subnet straight to the receiver, and all others to a router. So a wrong
# mask breaks a network in odd ways.
#
# `net` has the first three numbers of each subnet: `net["A"] + ".2/24"` is the address of the first host in subnet A.
# Most of the plan is written already. Read it: does it follow the rules?

# %% id="net"
net = {subnet.name: subnet.prefix.removesuffix(".0/24") for subnet in network.subnets}
plan = {"h1-eth0": net["A"] + ".2/24", "h2-eth0": net["A"] + ".3/24"}
plan |= {"h3-eth0": net["A"] + ".4/24", "r1-eth0": net["A"] + ".1/24"}
plan |= {"r1-eth1": net["B"] + ".1/24", "r2-eth0": net["B"] + ".2/24"}
plan |= {"r2-eth1": net["C"] + ".1/24", "h7-eth0": net["C"] + ".2/24"}
plan |= {"h5-eth0": net["E"] + ".3/24", "h6-eth0": net["E"] + ".4/24"}
plan |= {"r3-eth1": net["F"] + ".1/24", "h8-eth0": net["F"] + ".2/24"}
plan |= {"r3-eth3": net["G"] + ".1/24", "r4-eth0": net["G"] + ".2/24"}
plan |= {"r4-eth1": net["I"] + ".1/24", "h9-eth0": net["I"] + ".2/24"}

# %% [markdown] id="plan-task"
# **Your turn:** four interfaces are missing. Replace each `None` by an address with its mask.

# %% answer="plan"
plan |= {
    ### BEGIN SOLUTION
    "r2-eth2": net["D"] + ".1/24",
    "r3-eth0": net["D"] + ".2/24",
    "r3-eth2": net["E"] + ".1/24",
    "h4-eth0": net["E"] + ".2/24",
    ### STARTER
    # "r2-eth2": None,
    # "r3-eth0": None,
    # "r3-eth2": None,
    # "h4-eth0": None,
    ### END SOLUTION
}

# %% check="plan" points=2
lab01.check_plan(plan).require()

# %% [markdown] id="nodes-intro"
# ## 3. Hosts, routers and switches
#
# Mininet knows hosts and switches. A router is a host with several interfaces that forwards: we come to
# that in stage 6. A host gets its address when it is added. A router gets one with each cable, so it is
# added with `ip=None`.
#
# **Your turn:** three nodes are there as examples. Add the other twelve. A `for` loop saves typing.


# %% answer="nodes"
def add_nodes(topo):
    topo.addHost("h1", ip=plan["h1-eth0"])
    topo.addHost("r1", ip=None)
    topo.addSwitch("s1")
    ### BEGIN SOLUTION
    for number in range(2, 10):
        topo.addHost(f"h{number}", ip=plan[f"h{number}-eth0"])
    for router in ("r2", "r3", "r4"):
        topo.addHost(router, ip=None)
    topo.addSwitch("s2")
    ### STARTER
    # # YOUR TURN: h2 to h9, r2 to r4, and s2
    ### END SOLUTION


# %% [markdown] id="cables-intro"
# ## 4. Cables inside the subnets
#
# `topo.addLink("h1", "s1")` puts a cable between the two. Mininet names a host's first interface `h1-eth0`
# by itself.
#
# A router's interface should have the name and the address of our plan. Mininet takes them as `intfName1`
# and `params1` for the first end of a link, `intfName2` and `params2` for the second. The little function `end` writes
# them, so the cable from `r1` to its switch is `topo.addLink("r1", "s1", **end(1, "r1-eth0"))`.
#
# **Your turn:** add the cables of subnets A, E, C, F and I. The first is there. Mind which end of the cable the router
# is.


# %% answer="cables"
def end(number, interface):
    params = {"ip": plan[interface]} if plan[interface] else {}
    return {f"intfName{number}": interface, f"params{number}": params}


def add_cables(topo):
    topo.addLink("h1", "s1")
    ### BEGIN SOLUTION
    for host, switch in (("h2", "s1"), ("h3", "s1"), ("h4", "s2"), ("h5", "s2"), ("h6", "s2")):
        topo.addLink(host, switch)
    topo.addLink("r1", "s1", **end(1, "r1-eth0"))
    topo.addLink("r3", "s2", **end(1, "r3-eth2"))
    topo.addLink("h7", "r2", **end(2, "r2-eth1"))
    topo.addLink("h8", "r3", **end(2, "r3-eth1"))
    topo.addLink("h9", "r4", **end(2, "r4-eth1"))
    ### STARTER
    # # YOUR TURN: the other cables of hosts and switches
    ### END SOLUTION


# %% [markdown] id="links-intro"
# ## 5. The links between routers
#
# These three have a rate, a delay and a queue: `bw` in Mbit/s, `delay` with its unit (`"10ms"`; a bare `10`
# would mean microseconds), `max_queue_size` in packets. Mininet applies them to both ends, so each
# direction has its own queue.
#
# **Your turn:** add L1, L2 and L3 as the second table in stage 1 says.


# %% answer="links"
def add_router_links(topo):
    ### BEGIN SOLUTION
    l1, l2, l3 = (
        {"bw": it.rate_mbps, "delay": f"{it.delay_ms}ms", "max_queue_size": it.queue_packets}
        for it in map(network.link, ("L1", "L2", "L3"))
    )
    topo.addLink("r1", "r2", **end(1, "r1-eth1"), **end(2, "r2-eth0"), **l1)
    topo.addLink("r2", "r3", **end(1, "r2-eth2"), **end(2, "r3-eth0"), **l2)
    topo.addLink("r3", "r4", **end(1, "r3-eth3"), **end(2, "r4-eth0"), **l3)
    ### STARTER
    # pass  # YOUR TURN: L1 (r1 to r2), L2 (r2 to r3), L3 (r3 to r4)
    ### END SOLUTION


# %% [markdown] id="start-intro"
# Now all parts together, and start. The figure shows what is really running. Compare it with the one in
# stage 1. (`print(lab.cli("net"))` is Mininet's own way to show it.)
#
# Changed something above? Run your cell and this one again: that starts a new network. What you set by hand
# in stages 6 and 7 belongs to the old one, so run those cells again too.


# %% id="start"
class RouterNetwork(Topo):
    def build(self):
        add_nodes(self)
        add_cables(self)
        add_router_links(self)


lab = start(RouterNetwork())
show.draw(lab)

# %% check="nodes" points=2
lab01.check_nodes(lab).require()
lab01.check_addresses(lab).require()

# %% check="links" points=1
lab01.check_links(lab).require()

# %% [markdown] id="forwarding-intro"
# ## 6. Forwarding
#
# In the figure above, no router forwards. A Linux machine that gets a packet for somebody else throws it
# away, unless the kernel's setting `net.ipv4.ip_forward` is 1. For one router:
#
# `lab["r1"].cmd("sysctl -w net.ipv4.ip_forward=1")`
#
# **Your turn:** do so on all four.

# %% answer="forwarding"
### BEGIN SOLUTION
for router in ("r1", "r2", "r3", "r4"):
    print(lab[router].cmd("sysctl -w net.ipv4.ip_forward=1"), end="")
### STARTER
# # YOUR TURN: switch forwarding on, on r1 to r4
### END SOLUTION

# %% check="forwarding" points=1
lab01.check_forwarding(lab).require()

# %% [markdown] id="no-route"
# **Say to yourself:** cables, addresses and forwarding are in place. Can `h1` reach `h4`?

# %% id="first-ping"
print(lab["h1"].cmd(f"ping -c 1 -W 1 {net['E']}.2"))
print(lab["h1"].cmd("ip route"))

# %% [markdown] id="routes-intro"
# ## 7. Routes
#
# It cannot. The kernel knows only the subnets that its own interfaces are in. For all others it needs a
# *route*: packets for this prefix go to that neighbour. The neighbour (the *next hop*) must be in a subnet
# of the machine itself.
#
# Several routes may match one address. Suppose a router has these three:
#
# | destination | next hop |
# | --- | --- |
# | `default` (which is 0.0.0.0/0) | X |
# | 198.51.0.0/16 | Y |
# | 198.51.100.0/24 | Z |
#
# **Question.** A packet for 198.51.100.7 matches all three. Where does it go?
#
# - a: to X: the default route counts first
# - b: to Y: it stands for more addresses than Z's
# - c: to Z: its prefix is the longest
# - d: to each of them in turn
#
# **Your turn:** write the letter. A right answer opens the explanation.

# %% answer="prefix"
### BEGIN SOLUTION
prefix = {"longest_prefix": "c"}
### STARTER
# prefix = {"longest_prefix": None}
### END SOLUTION

# %% check="prefix" points=1
lab01.check_prefix(prefix).require()

# %% [markdown] id="routes-task"
# A **host** needs one route: a *default* route, for everything else, to the router of its subnet. A **router** must
# know where each subnet is that it is not in. It may have a route for each, or one *summary* for several, or a default
# for one side: all are right if every packet arrives. Think of the answers as well: they need routes just as the
# requests do. `r2` and `r3` send some to the left and some to the right.
#
# `add_routes` and `subnets` below save typing. `ip route replace` adds a route, or changes it if there is one.
# For example, `add_routes("h1", net["A"] + ".1", ["default"])`, and `add_routes("r1", net["B"] + ".2", subnets("C",
# "D"))` gives `r1` two of the six subnets that it does not know.
#
# **Your turn:** routes on the nine hosts and the four routers. Routes can look right and still not work, so the check
# looks at them first, and then sends packets from every host to every other.


# %% id="add-routes"
def add_routes(node, via, destinations):
    for destination in destinations:
        print(lab[node].cmd(f"ip route replace {destination} via {via}"), end="")


def subnets(*names):
    return [f"{net[name]}.0/24" for name in names]


# %% answer="routes"
### BEGIN SOLUTION
hosts = {"h1": "A", "h2": "A", "h3": "A", "h4": "E", "h5": "E", "h6": "E"}
for host, name in (hosts | {"h7": "C", "h8": "F", "h9": "I"}).items():
    add_routes(host, net[name] + ".1", ["default"])
add_routes("r1", net["B"] + ".2", subnets("C", "D", "E", "F", "G", "I"))
add_routes("r2", net["B"] + ".1", subnets("A"))
add_routes("r2", net["D"] + ".2", subnets("E", "F", "G", "I"))
add_routes("r3", net["D"] + ".1", subnets("A", "B", "C"))
add_routes("r3", net["G"] + ".2", subnets("I"))
add_routes("r4", net["G"] + ".1", ["default"])  # all that r4 does not know lies to the left
### STARTER
# # YOUR TURN: default routes on h1 to h9
# # YOUR TURN: routes on r1 to r4
### END SOLUTION

# %% check="routes" points=3
lab01.check_routes(lab).require()
lab01.check_reachability(lab).require()

# %% [markdown] id="predict-intro"
# ## 8. Predict and measure the round-trip times
#
# An idle network has empty queues, and a ping is small.
#
# **Your turn:** predict the RTT of link L2, and of the paths from `h1` to `h4` and to `h9`, in ms. No prediction is
# wrong. After the measurement you see what came of it.

# %% answer="prediction"
predicted_rtt_ms = lab01.predict(
    "round_trips",
    {
        ### BEGIN SOLUTION
        "L2": 2 * network.link("L2").delay_ms,
        "h1-h4": 2 * sum(network.link(name).delay_ms for name in ("L1", "L2")),
        "h1-h9": 2 * sum(network.link(name).delay_ms for name in ("L1", "L2", "L3")),
        ### STARTER
        # "L2": None,
        # "h1-h4": None,
        # "h1-h9": None,
        ### END SOLUTION
    },
    ### BEGIN SOLUTION
    sure=90,
    ### STARTER
    # sure=None,
    ### END SOLUTION
)
predicted_rtt_ms

# %% check="prediction" points=1
lab01.check_predicted(predicted_rtt_ms).require()

# %% [markdown] id="measure-task"
# To measure one, ping from one end to the other and take the average. Between the slashes of ping's last line stand
# the smallest, the average and the largest RTT. `ends` says from where to where.
#
# **Your turn:** fill `measured_rtt_ms` for all six. `rtt_ms("r1", net["B"] + ".2")` measures L1.


# %% answer="measured"
ends = {"L1": ("r1", "B"), "L2": ("r2", "D"), "L3": ("r3", "G")}
ends |= {"h1-h4": ("h1", "E"), "h7-h9": ("h7", "I"), "h1-h9": ("h1", "I")}


def rtt_ms(source, address):
    output = lab[source].cmd(f"ping -q -c 5 {address}")
    if "rtt" in output:
        return float(output.split("/")[4])
    print(f"{source} got no answer from {address}")


measured_rtt_ms = {}
### BEGIN SOLUTION
for name, (source, subnet) in ends.items():
    measured_rtt_ms[name] = rtt_ms(source, net[subnet] + ".2")
### STARTER
# # YOUR TURN: measured_rtt_ms["L1"] = rtt_ms(...), and so on
### END SOLUTION

# %% check="rtt" points=1
lab01.check_rtt(measured_rtt_ms).require()

# %% [markdown] id="traceroute-intro"
# ## 9. See for yourself
#
# Each IP packet carries a *TTL* (time to live). Every router takes 1 from it. At 0 the router drops the packet and
# tells the sender. `traceroute` sends probes with TTL 1, 2, 3 and so on, so each router on the path answers in turn,
# and at last the host. How many lines will there be for `h1` to `h9`?

# %% id="traceroute"
print(lab["h1"].cmd(f"traceroute -n {net['I']}.2"))

# %% [markdown] id="jump-task"
# **Question.** After the first line, the RTT jumps with each router. By how much, and why?
#
# - a: by the delay of the link that was crossed: the probe went over it once
# - b: by twice that delay: the probe crossed the link, and the router's answer came back over it
# - c: by three times that delay: traceroute sends three probes to each router
# - d: by the time that the router needs to look up its route
#
# **Your turn:** write the letter.

# %% answer="jump"
### BEGIN SOLUTION
jump = {"jump": "b"}
### STARTER
# jump = {"jump": None}
### END SOLUTION

# %% check="jump" points=1
lab01.check_jump(jump).require()

# %% [markdown] id="tc-intro"
# How does Linux make a link slow? With *queueing disciplines* on its interfaces, for packets that *leave* there. Look
# at one end of L1: `htb` lets packets go at the rate. `netem` holds each one back for the delay, and its `limit` is the
# queue: the number of packets that it holds at most, those in flight on the link included.

# %% id="tc"
print(lab["r1"].cmd("tc qdisc show dev r1-eth1"))
print(lab["r1"].cmd("tc class show dev r1-eth1"))

# %% [markdown] id="routes-question"
# ## 10. Explain
#
# **Question.** Suppose `r2` has one route for each subnet, and no default route. Somebody removes its route to
# subnet A. Then `h1` pings `h7`. How far does the request get? How far does the answer get? What does `h1` see?

# %% [markdown] reflect="routes" points=3
# The request arrives: `r1` knows the way to subnet C and `r2` is in that subnet. `h7` answers to the
# address of `h1` and hands the answer to `r2`, its default router. `r2` has no route to that address, drops the
# answer, and tells `h7` that the network is unreachable. `h1` hears nothing and reports 100 % loss,
# although every machine on the path of its request is in order.
#
# **Rubric.** 3 points: the request arrives, the answer is dropped at `r2`, and `h1` sees loss and no message. 2 points:
# without what `h1` sees. 1 point: "the answer has no route". Typical wrong: (1) "the request is lost at `r2`": for the
# request `r2` needs only the subnet it is in. (2) "`h1` sees Destination unreachable": that message goes to the sender
# of the packet that was dropped, and the answer's sender is `h7`.

# %% [markdown] id="queues-question"
# **Question.** Why does each queue have the length that it has? For each link, multiply its rate by its round-trip
# time and divide by packets of 1500 bytes: this is its *bandwidth-delay product* (BDP). What do you find? How much of
# that queue is there for packets that wait, if the limit counts those in flight on the link too? After a loss TCP sends
# less for a while (CUBIC goes on with 0.7 of what it had under way). What is a queue good for then?

# %% [markdown] reflect="queues" points=3
# With the plain course network's numbers: 40 Mbit/s times 20 ms is 800,000 bits, which is 67 packets of 12,000 bits.
# L2 gives 100, L3 gives 33. On every variant it is the same sum: each limit is one BDP of its link. But one direction's
# delay, half of the RTT, holds packets in flight: half of the limit. So about half a BDP is left for packets that wait.
# After a loss CUBIC goes on with 0.7 of its window. To keep the link busy meanwhile it needs 0.43 BDP of waiting
# packets, and Reno a whole one. That is the BDP of the flow's whole path. For a flow over one link alone, half a BDP is
# enough. For h1 to h4 the path's BDP is 150 packets and L2 has room for about 50: 0.33, a little too few, so the link
# may idle briefly after a loss. Many flows together need less, about BDP divided by the root of their number.
#
# **Rubric.** 3 points: the limit is the BDP, half of it is in flight, and waiting packets keep the link busy after a
# loss. 2 points: two of these. 1 point: the sum alone. Typical wrong: (1) "a longer queue makes the link faster": the
# rate stays, and a longer queue adds delay. (2) "all of it can wait": the limit counts packets that are in flight.

# %% [markdown] id="end-of-lab"
# ## 11. Stop, and look back
#
# **What you know now:** hosts need an address and a default route, routers need forwarding and a route for
# every subnet, in both directions; of several routes that match, the longest prefix counts. And a network is not what
# its plan says, but what you have verified.
#
# **Three questions to review** (no points)
#
# 1. `h1` has the mask /16 by mistake. Which hosts can it no longer reach, and what does it do with their packets?
# 2. `r1` has only a default route to `r2`, and `r2` only one to `r1`. What happens to a packet for 192.0.2.1?
# 3. `tc` is set at `r1-eth1` but forgotten at `r2-eth0`. Which RTT does a ping over L1 have?
#
# <details><summary>Answers</summary>
#
# 1. All outside of subnet A whose first two numbers are the same: it takes them for neighbours, asks for their Ethernet
# addresses, and nobody answers. 2. It goes back and forth until its TTL is 0; then a router drops it and says so. 3.
# The delay of one direction: half.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, *Computer Networking*, chapter 4 (forwarding, longest-prefix match); RFC 1812,
# section 5.2.4 (next hop), RFC 4632 (prefixes); Appenzeller, Keslassy and McKeown, *Sizing router buffers*, 2004.

# %% id="stop"
lab.stop()
