# %% [markdown] id="goal"
# # Lab 01: The router network
#
# You build the network that all later labs measure: nine hosts, two switches, and four routers in a row. The lab gives
# you its outer part. You plan addresses, cable and configure the two routers in the middle, `r2` and `r3`, and find and
# repair a mistake that somebody made on `r4`. Then you verify the network with `ping`, with `traceroute`, which shows a
# path, and with `tc`, which shows queues.
#
# **Time:** about 150 minutes. **You need:** Lab 00 (cells and checks, `Topo`, a prediction). The
# [glossary](glossary.md) explains the words.
#
# Most stages have their own graded cell. Stages 3 and 4 are graded together, when your network runs. If you cannot
# finish one stage, go on: your later stages can still be right.

# %% id="imports"
from mininet.topo import Topo

from linklab import course_network, lab01, measure, show, start

lab01.progress()

# %% [markdown] id="target"
# ## 1. The network to build
#
# A **subnet** is a group of machines that reach each other without a router. Its interfaces have two addresses each: an
# *Ethernet address*, which counts within the subnet, and an *IP address*, which counts in all subnets. All IP addresses
# of a subnet begin with the same *prefix*. A **switch** joins the machines of one subnet. It looks at Ethernet
# addresses only, and needs no IP address here. A **router** joins subnets. It has one interface, with an address, in
# each of its subnets.
#
# The figure has no addresses yet: you choose them in stage 2. The first table lists the eight subnets. One cable or one
# switch joins the interfaces of a subnet. The second table lists the links between routers. Only the links between
# routers have a limited rate, a delay and a limited queue, the same in both directions. The other links are *not
# shaped*.

# %% id="target-figure"
network = course_network()
net = {subnet.name: subnet.prefix.removesuffix(".0/24") for subnet in network.subnets}
display(show.network(lab01.without_addresses(network)))
display(lab01.subnet_table(network), lab01.link_table(network))

# %% [markdown] id="plan-intro"
# ## 2. The addressing plan
#
# Every interface of a host or router needs an address from its subnet. Follow three rules:
#
# 1. In a subnet with one router, the router has `.1`.
# 2. The hosts have `.2`, `.3` and so on, in the order of their numbers.
# 3. On a link between two routers, the router with the lower number has `.1` and the other router has `.2`.
#
# The mask `/24` after an address says that the first 24 bits name the subnet. Here these are the first three numbers. A
# machine sends packets for its own subnet straight to the receiver, after it has asked the subnet which Ethernet
# address belongs to the receiver's IP address. (This question, and its answer, is *ARP*.) It sends all other packets to
# a router. So a wrong mask breaks a network in surprising ways.
#
# `net` has the first three numbers of each subnet. For example, `net["A"] + ".2/24"` is the address of the first host
# in subnet A. The next cell has most of the plan already. Read it: does it follow the rules?
#
# **Your turn:** four interfaces have no address yet. Replace each `None` by an address with its mask.

# %% answer="plan"
plan = {"h1-eth0": net["A"] + ".2/24", "h2-eth0": net["A"] + ".3/24"}
plan |= {"h3-eth0": net["A"] + ".4/24", "r1-eth0": net["A"] + ".1/24"}
plan |= {"r1-eth1": net["B"] + ".1/24", "r2-eth0": net["B"] + ".2/24"}
plan |= {"r2-eth1": net["C"] + ".1/24", "h7-eth0": net["C"] + ".2/24"}
plan |= {"h5-eth0": net["E"] + ".3/24", "h6-eth0": net["E"] + ".4/24"}
plan |= {"r3-eth1": net["F"] + ".1/24", "h8-eth0": net["F"] + ".2/24"}
plan |= {"r3-eth3": net["G"] + ".1/24", "r4-eth0": net["G"] + ".2/24"}
plan |= {"r4-eth1": net["I"] + ".1/24", "h9-eth0": net["I"] + ".2/24"}
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

# %% check="plan" points=1
lab01.check_plan(plan).require()

# %% [markdown] id="cables-intro"
# ## 3. Cables inside the subnets
#
# Mininet knows hosts and switches, but no routers. So a router is a host with several interfaces, and in stage 5 you
# make it forward packets. A host gets its address when it is added to the network. A router gets an address with each
# cable. The lab adds all fifteen nodes (hosts, routers and switches) for you, in stage 4.
#
# `topo.addLink("h1", "s1")` puts a cable between `h1` and `s1`. Mininet itself names a host's first interface, here
# `h1-eth0`.
#
# A router's interface should have the name and the address of our plan. Mininet takes them as `intfName1` and
# `params1` for end 1 of a cable, and as `intfName2` and `params2` for end 2. The function `end` below writes these
# options. For example, `topo.addLink("r1", "s1", **end(1, "r1-eth0"))` adds the cable from `r1` to its switch.
#
# **Your turn:** the cables of the hosts, and those of `r1` and `r4`, are there. Add the cables of `r2` and `r3` in
# subnets C, E and F. Check whether the router is end 1 or end 2 of each cable.


# %% answer="cables"
def end(number, interface):
    params = {"ip": plan[interface]} if plan[interface] else {}
    return {f"intfName{number}": interface, f"params{number}": params}


def add_cables(topo):
    for number in range(1, 7):
        topo.addLink(f"h{number}", "s1" if number <= 3 else "s2")
    topo.addLink("r1", "s1", **end(1, "r1-eth0"))
    topo.addLink("h9", "r4", **end(2, "r4-eth1"))
    ### BEGIN SOLUTION
    topo.addLink("h7", "r2", **end(2, "r2-eth1"))
    topo.addLink("r3", "s2", **end(1, "r3-eth2"))
    topo.addLink("h8", "r3", **end(2, "r3-eth1"))
    ### STARTER
    # # YOUR TURN: h7 to r2, r3 to s2, h8 to r3
    ### END SOLUTION


# %% [markdown] id="links-intro"
# ## 4. The links between routers
#
# The three links between routers have a rate, a delay and a queue. Set `bw` in Mbit/s, `delay` with its unit, and
# `max_queue_size` in packets. Write `"10ms"` with its unit, because a bare `10` would mean microseconds. Mininet
# applies these options to both ends, so each direction has its own queue.
#
# Here both ends are routers. So a cable needs `end` twice, once with 1 and once with 2, and then the three options.
#
# **Your turn:** L1 is there. Add L2 and L3 with the values of the second table in stage 1.


# %% answer="links"
def shape(name):
    it = network.link(name)
    return {"bw": it.rate_mbps, "delay": f"{it.delay_ms}ms", "max_queue_size": it.queue_packets}


def add_router_links(topo):
    topo.addLink("r1", "r2", **end(1, "r1-eth1"), **end(2, "r2-eth0"), **shape("L1"))
    ### BEGIN SOLUTION
    topo.addLink("r2", "r3", **end(1, "r2-eth2"), **end(2, "r3-eth0"), **shape("L2"))
    topo.addLink("r3", "r4", **end(1, "r3-eth3"), **end(2, "r4-eth0"), **shape("L3"))
    ### STARTER
    # # YOUR TURN: L2 (r2 to r3) and L3 (r3 to r4); shape("L2"), or the three options
    ### END SOLUTION


# %% [markdown] id="start-intro"
# The next cell puts all parts together and starts the network. The figure shows the network that is really running.
# Compare it with the figure in stage 1. (`print(lab.cli("net"))` is Mininet's own way to show the network.)
#
# If you change something above, run your cell and the next cell again. This starts a new network. The new network
# does not have the settings of stages 5 to 7, so run those cells again too.


# %% id="start"
class RouterNetwork(Topo):
    def build(self):
        for number in range(1, 10):
            self.addHost(f"h{number}", ip=plan[f"h{number}-eth0"])
        for router in ("r1", "r2", "r3", "r4"):
            self.addHost(router, ip=None)
        for switch in ("s1", "s2"):
            self.addSwitch(switch)
        add_cables(self)
        add_router_links(self)


lab = start(RouterNetwork())
show.network(lab)

# %% check="nodes" points=2
lab01.check_nodes(lab).require()
lab01.check_addresses(lab).require()

# %% check="links" points=1
lab01.check_links(lab).require()

# %% [markdown] id="forwarding-intro"
# ## 5. Forwarding
#
# In the figure above, no router forwards packets. A Linux machine drops packets for other machines, unless the
# kernel's setting `net.ipv4.ip_forward` is 1. This command sets it on one router:
#
# `lab["r2"].cmd("sysctl -w net.ipv4.ip_forward=1")`
#
# The first line of the next cell configures what you are given: the hosts, `r1` and `r4`. **Your turn:** switch
# forwarding on, on `r2` and `r3`. **Say to yourself:** when cables, addresses and forwarding are ready, can `h1`
# reach `h4`? The cell after the check tries it. (`-W 1`: ping waits a second for the answer.)

# %% answer="forwarding"
lab01.configure_the_rest(lab)
### BEGIN SOLUTION
for router in ("r2", "r3"):
    print(lab[router].cmd("sysctl -w net.ipv4.ip_forward=1"), end="")
### STARTER
# # YOUR TURN: switch forwarding on, on r2 and r3
### END SOLUTION

# %% check="forwarding" points=1
lab01.check_forwarding(lab).require()

# %% id="first-ping"
print(lab["h1"].cmd(f"ping -c 1 -W 1 {net['E']}.2"))
print(lab["h1"].cmd("ip route"), lab["r2"].cmd("ip route"), sep="\n")

# %% [markdown] id="routes-intro"
# ## 6. Routes
#
# `h1` has a route to `r1`, and `r1` has one to `r2`. But `h1` cannot reach `h4`: `r2` knows only the subnets of its own
# interfaces. For every other subnet it needs a *route*. A route says: send packets for this prefix to that neighbour.
# The neighbour (the *next hop*) must be in a subnet of the machine itself. In the routes above, `via` names the next
# hop and `dev` the interface; a route without `via` is for a subnet of the machine itself.
#
# Several routes may match one address. Suppose a router has these three routes:
#
# | destination | next hop |
# | --- | --- |
# | `default` (which is 0.0.0.0/0) | X |
# | 198.51.0.0/16 | Y |
# | 198.51.100.0/24 | Z |
#
# **Question.** A packet for 198.51.100.7 matches all three routes. Where does it go?
#
# - a: to X: the default route counts first
# - b: to Y: its route covers more addresses than Z's
# - c: to Z: its route has the longest prefix
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
# A **host** needs one route: a *default* route to the router of its subnet, for all other subnets. A **router** needs
# a route to every subnet that it is not in. You may add one route for each subnet, one *summary* for several subnets,
# or a default route for all subnets on one side. All are right if every packet between hosts arrives. Answers need
# routes too, just as requests do: so `r2` and `r3` need routes for both sides.
#
# The functions `add_routes` and `subnets` below save typing. `ip route replace` adds a route, or changes the route if
# it exists. For example, `add_routes("r1", net["B"] + ".2", subnets("C", "D"))` gives `r1` routes to two of the six
# subnets that it does not know.
#
# A wrong route stays in the network, even if you remove it from your cell. If its prefix is the longest, it still wins.
# Delete it with `lab["r2"].cmd("ip route del PREFIX")`, or start the network again.
#
# **Your turn:** add the routes of `r2` and `r3`.


# %% id="add-routes"
def add_routes(node, via, destinations):
    for destination in destinations:
        error = lab[node].cmd(f"ip route replace {destination} via {via}")
        if error:
            print(f"{node}, route to {destination} via {via}: {error}", end="")


def subnets(*names):
    return [f"{net[name]}.0/24" for name in names]


# %% answer="routes"
### BEGIN SOLUTION
add_routes("r2", net["B"] + ".1", subnets("A"))
add_routes("r2", net["D"] + ".2", subnets("E", "F", "G", "I"))
add_routes("r3", net["D"] + ".1", subnets("A", "B", "C"))
add_routes("r3", net["G"] + ".2", subnets("I"))
### STARTER
# # YOUR TURN: routes on r2 and r3
### END SOLUTION
for name, host in (("E", "h4"), ("I", "h9")):
    print(
        f"h1 pings {host}:", *lab["h1"].cmd(f"ping -c 1 -W 4 {net[name]}.2").splitlines()[-2:]
    )

# %% [markdown] id="repair-task"
# ## 7. Find the mistake, and repair it
#
# `h1` reaches `h4`, but not `h9`. Your routes may be right all the same: somebody made a mistake on `r4`. A route
# that should have been deleted is still there. A network that you did not build yourself often has such leftovers.
#
# **Your turn:** find the route, and delete it on `r4`. You know how to look: `ip route` prints a node's routes, and
# `traceroute -n ADDRESS` shows how far packets come (one line for each router; `!H`: this router cannot reach the
# host). Look in both directions: from `h1` to `h9`, and from `h9` to `h1`. In `fault` store the prefix of the wrong
# route as `ip route` prints it, and the node at which its packets are lost.
#
# The check of the routes walks the packets of all pairs of hosts through the nodes' *routing tables* (all routes of a
# node), and then pings from every host to every other host.

# %% answer="repair"
### BEGIN SOLUTION
print(lab["h9"].cmd(f"traceroute -n -w 4 {net['A']}.2"))
print(lab["r4"].cmd("ip route"))
fault = {"route": f"{net['A']}.0/25", "node": "r4"}
print(lab["r4"].cmd(f"ip route del {fault['route']}"), end="")
### STARTER
# # YOUR TURN: traceroute, ip route, and then ip route del PREFIX on r4
# fault = {"route": None, "node": None}
### END SOLUTION

# %% check="repair" points=2
lab01.check_repair(fault).require()

# %% check="routes" points=3
lab01.check_routes(lab).require()
lab01.check_reachability(lab).require()

# %% [markdown] id="predict-intro"
# ## 8. Predict and measure the round-trip times
#
# An idle network has empty queues, and a ping's packets are small.
#
# **Your turn:** predict the RTT of link L2, of the path from `h1` to `h4`, and of the path from `h1` to `h9`, in ms.
# Write also how sure you are. No prediction is wrong. After the measurement you see your predictions next to the
# results.

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
# To measure an RTT, ping from one end to the other. Ping's last line lists minimum, average and maximum, separated by
# slashes. Take the average. `ends` names the source and the destination's subnet.
#
# **Your turn:** fill `measured_rtt_ms` for all six names in `ends`. For example, `rtt_ms("r1", net["B"] + ".2")`
# measures L1.


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
# ## 9. See the path
#
# Each IP packet carries a *TTL* (time to live). Every router subtracts 1 from the TTL. When the TTL is 0, the router
# drops the packet and tells the sender. (On the Internet not all do: then a line has `*`.) `traceroute` sends packets
# (*probes*) with TTL 1, 2, 3 and so on. So each router on the path answers in turn, and the destination host answers
# last. How many lines do you expect from `h1` to `h9`?
#
# The cell also shows one end of L1. Linux makes a link slow with *queueing disciplines* (*qdiscs*) on its interfaces.
# They act on packets that *leave* there. `htb` sets the rate, which `tc class` shows. `netem` holds each packet for the
# delay. The `limit` of `netem` is the queue: the maximum number of packets that `netem` holds. This number includes the
# packets that are on their way along the link (*in flight*). You can ignore the rest of the output.

# %% id="traceroute"
print(lab["h1"].cmd(f"traceroute -n {net['I']}.2"))
print(lab["r1"].cmd("tc qdisc show dev r1-eth1"))
print(lab["r1"].cmd("tc class show dev r1-eth1"))

# %% [markdown] id="jump-task"
# **Question.** After the first line, the RTT jumps with each router. By how much, and why?
#
# - a: by the delay of the new link: the probe crossed this link once
# - b: by twice the delay of the new link: the probe crossed it, and the router's answer came back over it
# - c: by three times the delay of the new link: traceroute sends three probes to each router
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

# %% [markdown] id="routes-question"
# ## 10. Explain
#
# **Question.** Suppose `r2` has one route for each subnet, and no default route. You remove its route to subnet A.
# Then `h1` pings `h7`. What does `h1` see? Explain it: follow the request and the answer from router to router.
#
# **Then look.** After your answer, run the next code cell. It takes away the route of `r2` to subnet A, makes four
# nodes forget their neighbours' Ethernet addresses, and records each packet of one ping. **Your turn:** read from the
# replay which protocol the first packet has (`Home`): ARP, ICMP (which carries pings), TCP or UDP (Lab 03). Read also
# which node discards a packet (`l`), and how many ms after the first packet. Without the picture: `print(played.words)`
# tells of the loss, and `ping.hops[0].head[12:14].hex()` is the first packet's type (`0806` for ARP, `0800` for IP).

# %% [markdown] reflect="routes" points=3
# The request arrives: `r1` has a route to subnet C, and `r2` is in that subnet. `h7` answers to the address of `h1`
# and sends the answer to `r2`, its default router. `r2` has no route to that address. It drops the answer and tells
# `h7` that the network is unreachable. `h1` receives nothing and reports 100 % loss, although its request arrived.
#
# **Rubric.** 3 points: the request arrives, `r2` drops the answer, and `h1` sees loss and no message. 2 points: the
# same without what `h1` sees. 1 point: "the answer has no route". Typical wrong: (1) "the request is lost at `r2`":
# for the request `r2` needs only its own subnet C. (2) "`h1` sees Destination unreachable": `r2` sends that message
# to the sender of the dropped packet. The dropped packet is the answer, and its sender is `h7`.

# %% id="lost-answer"
to_a, played = f"{net['A']}.0/24", "Nothing to play yet: finish stages 2 to 7 first."
if {"h1", "r1", "r2", "h7"} <= set(lab):
    for node in ("h1", "r1", "r2", "h7"):
        lab[node].cmd("ip neigh flush all")
    before = lab["r2"].cmd(f"ip route show {to_a}").strip()
    lab["r2"].cmd(f"ip route replace throw {to_a}")  # as if r2 had no route to it
    with measure.recorded(lab) as ping:
        print(lab["h1"].cmd(f"ping -c 1 -W 1 {net['C']}.2"))
    lab["r2"].cmd(f"ip route del throw {to_a}; ip route add {before}")
    played = show.network(ping) if ping.hops else played
played

# %% answer="seen"
seen = {
    ### BEGIN SOLUTION
    "first": "ARP",
    "node": "r2",
    "ms": 3 * network.link("L1").delay_ms,
    ### STARTER
    # "first": None,
    # "node": None,
    # "ms": None,
    ### END SOLUTION
}

# %% check="seen" points=1
lab01.check_seen(seen).require()

# %% [markdown] id="end-of-lab"
# ## 11. Stop, and look back
#
# **What you know now:** hosts need an address and a default route. Routers need forwarding and a route for every
# subnet, in both directions. Of several routes that match, the longest prefix counts. Trust what you have verified in
# the network, not its plan.
#
# **Three questions to review** (no points)
#
# 1. `h1` has the mask /16 by mistake. Which hosts can it no longer reach, and what does it do with their packets?
# 2. `r1` has only a default route to `r2`, and `r2` has only a default route to `r1`. What happens to a packet for
#    192.0.2.1?
# 3. You set `tc` at `r1-eth1` but forget `r2-eth0`. Which RTT does a ping over L1 have?
#
# <details><summary>Answers</summary>
#
# 1. All hosts outside of subnet A whose addresses have the same first two numbers. `h1` takes them for neighbours and
#    asks for their Ethernet addresses, but nobody answers.
# 2. The packet goes back and forth until its TTL is 0. Then a router drops it and tells the sender.
# 3. The delay of one direction: half of the RTT that L1 should have.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, *Computer Networking*, chapter 4 (forwarding, longest-prefix match); RFC 1812, section 5.2.4 (next
# hop), RFC 4632 (prefixes).

# %% id="stop"
lab.stop()
lab01.calibration()
