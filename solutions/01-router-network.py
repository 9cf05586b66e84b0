# %% [markdown] id="goal"
# # Lab 01: The router network
#
# In this lab you build the network that all later labs measure: nine hosts, two switches, and four routers
# in a row. You plan its addresses, write it down for Mininet, teach the routers to forward, and prove with
# `ping`, `traceroute` and `tc` that it is what you meant it to be.
#
# Each stage has its own graded cell. If one stage is not finished, go on: later stages can be right all the
# same.

# %% id="imports"
from mininet.topo import Topo

import linklab
from linklab import show
from linklab.labs import lab01
from linklab.labs.figures import link_table, subnet_table, without_addresses
from linklab.network import path, rtt_floor_ms

# %% [markdown] id="target"
# ## 1. The network to build
#
# A **switch** joins the machines of one subnet. It looks at Ethernet addresses only, and needs no IP
# address here. A **router** joins subnets. It has one interface, with an address, in each of them.

# %% id="target-figure"
network = linklab.course_network()
show.draw(without_addresses(network))

# %% [markdown] id="target-tables"
# The addresses are missing: giving them is your first task. There are eight subnets. The interfaces of a
# subnet are joined by one cable, or by a switch:

# %% id="subnet-table"
subnet_table(network)

# %% [markdown] id="link-table-intro"
# Only the links between routers are limited, equally in both directions:

# %% id="link-table"
link_table(network)

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
# `net` has the first three numbers of each subnet, so that you need not type them: `net["A"] + ".2/24"` is the
# address of the first host in subnet A. You may write addresses out as well, as texts in quotes.

# %% id="net"
net = {subnet.name: subnet.prefix.removesuffix(".0/24") for subnet in network.subnets}
net

# %% [markdown] id="host-plan-intro"
# **Your turn:** replace each `None`. First the hosts.

# %% answer="host-plan"
host_plan = {
    "h1-eth0": net["A"] + ".2/24",  # an example: subnet A, the first host
    ### BEGIN SOLUTION
    "h2-eth0": net["A"] + ".3/24",
    "h3-eth0": net["A"] + ".4/24",
    "h4-eth0": net["E"] + ".2/24",
    "h5-eth0": net["E"] + ".3/24",
    "h6-eth0": net["E"] + ".4/24",
    "h7-eth0": net["C"] + ".2/24",
    "h8-eth0": net["F"] + ".2/24",
    "h9-eth0": net["I"] + ".2/24",
    ### STARTER
    # "h2-eth0": None,
    # "h3-eth0": None,
    # "h4-eth0": None,
    # "h5-eth0": None,
    # "h6-eth0": None,
    # "h7-eth0": None,
    # "h8-eth0": None,
    # "h9-eth0": None,
    ### END SOLUTION
}

# %% [markdown] id="router-plan-intro"
# Then the routers.

# %% answer="router-plan"
router_plan = {
    ### BEGIN SOLUTION
    "r1-eth0": net["A"] + ".1/24",
    "r1-eth1": net["B"] + ".1/24",
    "r2-eth0": net["B"] + ".2/24",
    "r2-eth1": net["C"] + ".1/24",
    "r2-eth2": net["D"] + ".1/24",
    "r3-eth0": net["D"] + ".2/24",
    "r3-eth1": net["F"] + ".1/24",
    "r3-eth2": net["E"] + ".1/24",
    "r3-eth3": net["G"] + ".1/24",
    "r4-eth0": net["G"] + ".2/24",
    "r4-eth1": net["I"] + ".1/24",
    ### STARTER
    # "r1-eth0": None,
    # "r1-eth1": None,
    # "r2-eth0": None,
    # "r2-eth1": None,
    # "r2-eth2": None,
    # "r3-eth0": None,
    # "r3-eth1": None,
    # "r3-eth2": None,
    # "r3-eth3": None,
    # "r4-eth0": None,
    # "r4-eth1": None,
    ### END SOLUTION
}
plan = host_plan | router_plan

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
# and `params1` for the first end of a link, `intfName2` and `params2` for the second. This little function
# writes them:


# %% id="end"
def end(number, interface):
    params = {"ip": plan[interface]} if plan[interface] else {}
    return {f"intfName{number}": interface, f"params{number}": params}


end(1, "r1-eth0")

# %% [markdown] id="cables-task"
# So the cable from `r1` to its switch is `topo.addLink("r1", "s1", **end(1, "r1-eth0"))`. **Your turn:**
# add the cables of subnets A, E, C, F and I. The first is there. Mind which end of the cable the router is.


# %% answer="cables"
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
# **Your turn:** add L1, L2 and L3 as the table in stage 1 says.


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
# stage 1.
#
# Changed something above? Run your cell and this one again: that starts a new network. What you set by hand
# in stages 6 and 7 belongs to the old one, so run those cells again too.


# %% id="start"
class RouterNetwork(Topo):
    def build(self):
        add_nodes(self)
        add_cables(self)
        add_router_links(self)


lab = linklab.start(RouterNetwork())
show.draw(lab)

# %% check="nodes" points=2
lab01.check_nodes(lab).require()

# %% check="addresses" points=1
lab01.check_addresses(lab).require()

# %% check="links" points=2
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
# **Predict:** cables, addresses and forwarding are in place. Can `h1` reach `h4`?

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
# A **host** needs one: a *default* route, for everything else, to the router of its subnet.
#
# A **router** needs one for each subnet that it is not in. `r1` sends everything to the right to address `.2` of
# subnet B, which is `r2`. `r2` and `r3` send some to the left and some to the right.
#
# These two functions save typing. `ip route replace` adds a route, or changes it if there is one.


# %% id="add-routes"
def add_routes(node, via, destinations):
    for destination in destinations:
        print(lab[node].cmd(f"ip route replace {destination} via {via}"), end="")


def subnets(*names):
    return [f"{net[name]}.0/24" for name in names]


subnets("C", "D")


# %% [markdown] id="host-routes-intro"
# For example, `add_routes("h1", net["A"] + ".1", ["default"])`. **Your turn:** a default route on each of the
# nine hosts.

# %% answer="host-routes"
### BEGIN SOLUTION
subnet_of = {"h7": "C", "h8": "F", "h9": "I"}
subnet_of |= dict.fromkeys(("h1", "h2", "h3"), "A")
subnet_of |= dict.fromkeys(("h4", "h5", "h6"), "E")
for host, name in subnet_of.items():
    add_routes(host, net[name] + ".1", ["default"])
### STARTER
# # YOUR TURN: default routes on h1 to h9
### END SOLUTION

# %% [markdown] id="router-routes-intro"
# **Your turn:** the routers. For example, `add_routes("r1", net["B"] + ".2", subnets("C", "D"))` gives `r1` two of
# the six routes that it needs. Think of the way back as well: an answer needs a route just as the request
# does.

# %% answer="router-routes"
### BEGIN SOLUTION
add_routes("r1", net["B"] + ".2", subnets("C", "D", "E", "F", "G", "I"))
add_routes("r2", net["B"] + ".1", subnets("A"))
add_routes("r2", net["D"] + ".2", subnets("E", "F", "G", "I"))
add_routes("r3", net["D"] + ".1", subnets("A", "B", "C"))
add_routes("r3", net["G"] + ".2", subnets("I"))
add_routes("r4", net["G"] + ".1", subnets("A", "B", "C", "D", "E", "F"))
### STARTER
# # YOUR TURN: routes on r1 to r4
### END SOLUTION

# %% check="routes" points=3
lab01.check_routes(lab).require()

# %% [markdown] id="reachability-intro"
# Routes can look right and still not work, so the next check sends packets: from every host to every other.

# %% check="reachability" points=1
lab01.check_reachability(lab).require()

# %% [markdown] id="verify-intro"
# ## 8. See for yourself
#
# The network as it is now:

# %% id="live-figure"
show.draw(lab)

# %% [markdown] id="traceroute-intro"
# `traceroute` shows the routers on the way. **Predict:** how many lines for `h1` to `h9`, and which RTT on
# each?

# %% id="traceroute"
print(lab["h1"].cmd(f"traceroute -n {net['I']}.2"))

# %% [markdown] id="traceroute-notice"
# **What to notice.** Each router answers with its address on the side of `h1`. The RTT jumps where the
# packet crossed a link with a delay, by twice that delay after L1, L2 and L3. Between a host and its router
# nothing is added.
#
# How does Linux make a link slow? With *queueing disciplines* on its interfaces. Look at one end of L1:

# %% id="tc"
print(lab["r1"].cmd("tc qdisc show dev r1-eth1"))
print(lab["r1"].cmd("tc class show dev r1-eth1"))

# %% [markdown] id="tc-notice"
# **What to notice.** `netem` holds each packet back for the delay. Its `limit` is the queue: the number of
# packets that it holds at most, those on their way included. The class of `htb` lets packets go at the
# rate.
#
# Both act on packets that *leave* an interface, so the other end, `r2-eth0`, must have the same. Try it. If
# one end lacks them, ping shows half of the RTT, and you might never guess why.

# %% [markdown] id="predict-intro"
# ## 9. Predict and measure the round-trip times
#
# An idle network has empty queues, and a ping is small. Its RTT is then the delay of all links there and
# back.
#
# **Your turn:** predict the RTT of each link and of three paths, in ms.

# %% answer="prediction"
predicted_rtt_ms = {
    ### BEGIN SOLUTION
    "L1": 2 * network.link("L1").delay_ms,
    "L2": 2 * network.link("L2").delay_ms,
    "L3": 2 * network.link("L3").delay_ms,
    "h1-h4": 2 * sum(network.link(name).delay_ms for name in ("L1", "L2")),
    "h7-h9": 2 * sum(network.link(name).delay_ms for name in ("L2", "L3")),
    "h1-h9": 2 * sum(network.link(name).delay_ms for name in ("L1", "L2", "L3")),
    ### STARTER
    # "L1": None,
    # "L2": None,
    # "L3": None,
    # "h1-h4": None,
    # "h7-h9": None,
    # "h1-h9": None,
    ### END SOLUTION
}

# %% [markdown] id="measure-intro"
# To measure one, ping from one end to the other five times and take the average. Between the slashes of
# ping's last line stand the smallest, the average and the largest RTT.

# %% id="measure-functions"
begin_at = {"L1": "r1", "L2": "r2", "L3": "r3", "h1-h4": "h1", "h7-h9": "h7", "h1-h9": "h1"}
end_in = {"L1": "B", "L2": "D", "L3": "G", "h1-h4": "E", "h7-h9": "I", "h1-h9": "I"}
ends = {name: (begin_at[name], net[end_in[name]] + ".2") for name in begin_at}


def rtt_ms(source, address):
    output = lab[source].cmd(f"ping -q -c 5 {address}")
    if "rtt" in output:
        return float(output.split("/")[4])
    print(f"{source} got no answer from {address}")


# %% [markdown] id="measure-task"
# `rtt_ms("r1", net["B"] + ".2")` measures L1. **Your turn:** measure all six. `ends` says from where to where.

# %% answer="measured"
### BEGIN SOLUTION
measured_rtt_ms = {name: rtt_ms(*pair) for name, pair in ends.items()}
### STARTER
# measured_rtt_ms = {name: None for name in ends}
### END SOLUTION

# %% check="rtt" points=1
lab01.check_rtt(measured_rtt_ms, lab.clock).require()

# %% [markdown] id="compare-intro"
# Your prediction, your measurement, and what Linklab computes from the plan:

# %% id="compare"
pairs = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
pairs |= {name: name.split("-") for name in ends if "-" in name}
rows = [
    [name, predicted_rtt_ms[name], rtt_floor_ms(path(network, *pair)), measured_rtt_ms[name]]
    for name, pair in pairs.items()
]
show.table(["path", "predicted (ms)", "theory (ms)", "measured (ms)"], rows)

# %% [markdown] id="routes-question"
# ## 10. Explain
#
# **Question.** Somebody removes the route to subnet A from `r2`. Then `h1` pings `h7`. How far does the
# request get? How far does the answer get? What does `h1` see?

# %% [markdown] reflect="routes" points=1
# The request arrives: `r1` knows the way to subnet C and `r2` is in that subnet. `h7` answers to the
# address of `h1` and hands the answer to `r2`, its default router. `r2` has no route to that address, drops the
# answer, and tells `h7` that the network is unreachable. `h1` hears nothing and reports 100 % loss,
# although every machine on its own way is in order.

# %% [markdown] id="queues-question"
# **Question.** Why does each queue have the length that it has? For each link, multiply its rate by its round-trip
# time and divide by packets of 1500 bytes. What do you find, and why might somebody choose a queue of that size?

# %% [markdown] reflect="queues" points=1
# With the plain course network's numbers: 40 Mbit/s times 20 ms is 800,000 bits, which is 67 packets of 12,000 bits.
# L2 gives 100, L3 gives 33. On every variant of the network it is the same sum: each queue is the bandwidth-delay
# product of its link. When TCP loses a packet it sends less for a while. A queue of that size holds enough to keep
# the link busy meanwhile. A smaller one would waste rate, a larger one would add delay.

# %% [markdown] id="stop-intro"
# ## 11. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** hosts need an address and a default route, routers need forwarding and a route for
# each subnet, in both directions. And a network is not what its plan says, but what you have verified.
