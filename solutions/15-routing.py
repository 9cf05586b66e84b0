# %% [markdown] id="goal"
# # Lab 15: Routing that fails
#
# **Time:** about 3 hours, ten minutes of them for measurements. **You need:** routing tables and the longest prefix
# (Lab 01), constant rates and loss (Lab 03).
#
# A cable is cut. How long are packets lost, and what does this time depend on? You cut a cable at an exact instant,
# first with static routes, then with OSPF, and predict to some milliseconds when the first packet arrives again. Then
# you connect three autonomous systems by BGP, and one of them steals the packets of another. All routers run FRR,
# which real networks use as well.

# %% id="imports"
from linklab import frr, lab15, measure, show, start

lab15.progress()


# %% id="start"
def stream(seconds):
    return measure.ConstantRateFlow("h1", "h3", 0.4, seconds, payload_bytes=100, dither=False)


network = lab15.ring()
routers = [router.name for router in network.routers]
lab = start(network)
show.network(lab)

# %% [markdown] id="static-task"
# ## 1. Static routes (15 minutes)
#
# Five routers form a ring. Their routes are *static*: somebody typed them, and packets from h1 to h3 go by r1, r2 and
# r3. `stream(seconds)` sends a packet from h1 to h3 each 2 ms. `measure.Cut("r1", "r2", 6, start_s=2)` sets the
# interfaces at both ends of the cable between r1 and r2 down, two seconds after the start of a run, and up 6 s later.
# The ring has another way, by r5 and r4.
#
# **Predict** how many packets of `stream(10)` are lost. Any prediction earns the point. Then measure:
# `measure.run_together(lab, [...])` runs what is in the list together, a `Cut` too.

# %% answer="static-predict"
lost = lab15.predict(
    "static",
    ### BEGIN SOLUTION
    {"lost": 6 / 0.002},
    sure=90,
    ### STARTER
    # {"lost": None},
    # sure=None,
    ### END SOLUTION
)
lost

# %% check="static-predict" points=1
lab15.check_predicted(lost).require()

# %% answer="static"
### BEGIN SOLUTION
static = measure.run_together(lab, [stream(10), measure.Cut("r1", "r2", 6, start_s=2)])
print(static.results[0].lost_packets, "packets lost")
### STARTER
# static = None  # YOUR TURN: measure.run_together(lab, [..., ...])
### END SOLUTION

# %% check="static" points=1
lab15.check_static(static).require()

# %% id="floating"
with start(network) as other:
    h3, r5 = other["h3"].address, other["r5"].addresses["r5-eth1"].split("/")[0]
    subnet = h3.rpartition(".")[0] + ".0/24"
    other["r1"].cmd(f"ip route add {subnet} via {r5} metric 100")
    for node, command in (
        ("r2", "ip link set dev r2-eth2 down"),
        ("r1", "sysctl net.ipv4.conf.r1-eth1.ignore_routes_with_linkdown=1"),
        ("r2", "ip link set dev r2-eth2 up"),
        ("r1", "ip link set dev r1-eth1 down"),
    ):
        other[node].cmd(command)
        lost = measure.run(other, stream(2)).lost_packets
        print(f"{node}: {command}\n{lost} of 1000 lost, and r1 has")
        print(other["r1"].cmd(f"ip route show {subnet}"))

# %% [markdown] id="static-question"
# The cell above gave r1 a second static route to h3, by r5, with a larger metric: it counts when the first one is gone.
# An interface is *set down* by somebody who configures it, and Linux removes its routes. A cable that is cut does
# another thing: the interface is up and has no *carrier* (here, because the other end was set down). Linux then marks
# its routes `linkdown`, and *goes on using them*. Routers set `ignore_routes_with_linkdown=1`, so that the next route
# counts.
#
# **Question.** Suppose that all five routers ignore routes without a carrier, and that r1 alone has such a second
# route. With which cut cables would h1 and h3 still not reach each other? Think of both directions.

# %% [markdown] reflect="static" points=3
# The second route helps packets of h1 only if the cable r1-r2 is cut: r1 sees that its interface has no carrier. If
# the cable between r2 and r3 is cut, r1 notices nothing and goes on sending to r2, which drops the packets: no router
# tells r1. And with r1-r2 cut h3's answers are lost: they go by r3 and r2, and r2 has no second route, nor would r3
# notice this cut. So after a cut of r1-r2 or of r2-r3 they do not reach each other.
#
# **Rubric.** 3 points: r1-r2 is the cut that r1 sees; a cable that is not r1's own (r2-r3), of which nobody tells
# it; the way back needs second routes of its own. 1 point each. Typical wrong: (1) "the network finds another
# way": nothing in a network of static routes does that; (2) "r2 tells r1 that it has no route": r2 sends an ICMP
# message to the *source* of the packet, and no routing table changes by it.

# %% [markdown] id="ospf-task"
# <details><summary>Open this when you have written your answer</summary>
#
# With static routes, a person must change the routes of *all* routers that used the cable. Until then all packets are
# lost, for ever. A routing protocol does three things instead: it notices, it tells the others, and it computes anew.
#
# </details>
#
# ## 2. OSPF on the ring (25 minutes)
#
# With **OSPF** (RFC 2328) each router sends a *Hello* by each of its interfaces every *hello interval*. A neighbour
# from which no Hello came for a *dead interval* is given up. Routers send the list of their links to all others, and
# each one computes the shortest ways by itself (Dijkstra). This is what FRR is told for one interface:
#
#     interface r1-eth1
#      ip ospf area 0
#      ip ospf network point-to-point
#      ip ospf hello-interval 1
#      ip ospf dead-interval 3
#     exit
#
# `router ospf` must stand there once as well: it starts OSPF. `area 0` adds an interface to it. `point-to-point` says
# that the cable has two ends, so no election is needed. All interfaces of a router need this, also the one to its
# host: only subnets of such interfaces are announced.
#
# **Your turn:** complete the function. It returns these lines for all interfaces of a router, whose names are in
# `lab[name].addresses`. Then configure all routers: `frr.configure(lab, {"r1": ospf("r1"), ...})` starts FRR and
# removes the static routes. `frr.wait_for_routes(lab)` waits until each router has a route to each host. How long
# does it take?


# %% answer="ospf"
def ospf(name, hello_s=1, dead_s=3):
    lines = ["router ospf", "exit"]
    for interface in lab[name].addresses:
        ### BEGIN SOLUTION
        lines += [f"interface {interface}", "ip ospf area 0", "ip ospf network point-to-point"]
        lines.append(f"ip ospf hello-interval {hello_s}\nip ospf dead-interval {dead_s}\nexit")
        ### STARTER
        # lines += []  # YOUR TURN: the lines of one interface
        ### END SOLUTION
    return "\n".join(lines)


### BEGIN SOLUTION
frr.configure(lab, {name: ospf(name) for name in routers})
print(f"routes after {frr.wait_for_routes(lab):.1f} s")
print(lab["r1"].cmd("ip route show proto ospf"))
### STARTER
# # YOUR TURN: frr.configure(lab, ...) for all routers, and frr.wait_for_routes(lab)
### END SOLUTION

# %% check="ospf" points=3
lab15.check_ospf(lab).require()

# %% [markdown] id="silent-task"
# ## 3. A cut that no interface notices (45 minutes)
#
# A switch or a radio link between two routers may fail while both interfaces stay up. `silent=True` makes a cut of
# this kind: all frames are lost, and only missing Hellos tell of it.
#
# **Predict**, for a hello interval of 1 s and a dead interval of 3 s, the shortest and the longest possible time for
# which packets are lost, in seconds. Routers compute and announce in some milliseconds, which you may leave out.

# %% answer="silent-predict"
outage = lab15.predict(
    "silent",
    ### BEGIN SOLUTION
    {"shortest": 3 - 1, "longest": 3},
    sure=80,
    ### STARTER
    # {"shortest": None, "longest": None},
    # sure=None,
    ### END SOLUTION
)
outage

# %% check="silent-predict" points=1
lab15.check_predicted(outage).require()

# %% [markdown] id="detection-task"
# You can do better than two bounds. Each of the two routers has a *dead timer* for the other. It starts anew at the
# dead interval with each Hello that arrives. `dead_timers()` reads both: for each router the time that its timer has
# to run (`due_s`), and the lab's time of this reading (`read_s`).
#
# **Your turn:** complete `detection` for one router. The cable is cut silently at `cut_s`, by the same clock. How
# many seconds after the cut does this router give up the other? Hellos come exactly every `hello_s`.


# %% id="dead-timers"
def dead_timers():
    found = {}
    for router, interface in (("r1", "r1-eth1"), ("r2", "r2-eth2")):
        neighbours = frr.show(lab, router, "ip ospf neighbor")["neighbors"]
        timers = [
            it
            for one in neighbours.values()
            for it in one
            if it["ifaceName"].startswith(interface)
        ]
        found[router] = timers[0]["routerDeadIntervalTimerDueMsec"] / 1000, lab.now()
    return found


# %% answer="detection"
def detection(due_s, read_s, cut_s, hello_s, dead_s):
    ### BEGIN SOLUTION
    last_s = read_s + due_s - dead_s
    last_s += (cut_s - last_s) // hello_s * hello_s
    return last_s + dead_s - cut_s
    ### STARTER
    # # YOUR TURN: when did the last Hello before the cut come?
    # ...
    ### END SOLUTION


# %% check="detection" points=3
lab15.check_detection(detection).require()

# %% [markdown] id="silent-run"
# r1 and r2 give each other up at different instants. The first one tells all others, and a link counts only if *both*
# ends announce it (RFC 2328, section 16.1). So the outage ends, some milliseconds later, with the first of the two.
#
# **Your turn:** cut the cable silently three times, for 5 s each, while `stream(8)` runs. Before each run, read the
# dead timers. Append `(timers, run)` to the list, and then let the network heal: `lab.sleep(10)`. Vary `start_s`
# until the outages differ. The instant of the cut is in the results: `run.of(measure.CutResult)[0].cut_at_s`.
#
# A cut right after `frr.wait_for_routes` may last longer: routers that have just computed wait up to 5 s before they
# compute again. `lab.sleep(10)` helps there, too.

# %% answer="silent"
silent = []
### BEGIN SOLUTION
for start_s in (2.0, 2.1, 2.2):
    timers = dead_timers()
    run = measure.run_together(
        lab, [stream(8), measure.Cut("r1", "r2", 5, start_s=start_s, silent=True)]
    )
    silent.append((timers, run))
    cut_s = run.of(measure.CutResult)[0].cut_at_s
    both_s = [round(detection(*timer, cut_s, 1, 3), 3) for timer in timers.values()]
    print(
        f"r1 and r2 notice after {both_s} s, lost {run.results[0].lost_packets * 0.002:.3f} s"
    )
    lab.sleep(10)
### STARTER
# # YOUR TURN, three times: read the timers, run, silent.append((timers, run)), lab.sleep(10)
### END SOLUTION

# %% check="silent" points=3
lab15.check_silent(silent).require()

# %% [markdown] id="more-task"
# ## 4. To notice sooner (35 minutes)
#
# Three other ways to notice, each measured with the same stream:
#
# - `carrier`: a cut that is *not* silent, as in section 1, under OSPF. The kernel tells the routing daemon of an
#   interface that is set down, and just so of one without a carrier.
# - `BFD` (RFC 5880): both ends send small packets every 100 ms and give up after three missing ones. OSPF trusts BFD.
#   FRR needs these lines at *both* ends of the cable, here at r1; then wait with `lab.sleep(5)`:
#
#       bfd
#        profile fast
#         transmit-interval 100
#         receive-interval 100
#         detect-multiplier 3
#        exit
#       exit
#       interface r1-eth1
#        ip ospf bfd
#        ip ospf bfd profile fast
#       exit
#
# - `10/40`: OSPF's usual intervals, 10 s and 40 s, without BFD, in a lab of its own.
#
# **Your turn:** measure all three. The cut of `BFD` and `10/40` is silent and lasts longer than theory's longest
# outage; choose the stream's length for it. After each run let the network heal for 10 s.

# %% answer="more"
more = dict.fromkeys(["carrier", "BFD", "10/40"])
### BEGIN SOLUTION
more["carrier"] = measure.run_together(lab, [stream(6), measure.Cut("r1", "r2", 2, start_s=2)])
lab.sleep(10)
bfd = "bfd\nprofile fast\ntransmit-interval 100\nreceive-interval 100\ndetect-multiplier 3\n"
bfd += "exit\nexit\ninterface {}\nip ospf bfd\nip ospf bfd profile fast\nexit\n"
frr.configure(lab, {"r1": bfd.format("r1-eth1"), "r2": bfd.format("r2-eth2")})
lab.sleep(5)
silent_cut = measure.Cut("r1", "r2", 45, start_s=2, silent=True)
more["BFD"] = measure.run_together(lab, [stream(6), silent_cut])
lab.sleep(10)
with start(network) as slow:
    frr.configure(slow, {name: ospf(name, 10, 40) for name in routers})
    frr.wait_for_routes(slow)
    more["10/40"] = measure.run_together(slow, [stream(48), silent_cut])
### STARTER
# # YOUR TURN: more["carrier"] = measure.run_together(...), and two more
### END SOLUTION

# %% check="more" points=4
lab15.check_more(more).require()

# %% [markdown] id="replay-text"
# ## 5. See it (10 minutes)
#
# The next cell has a table of all outages. With `record=True` the lab notes each packet at each interface. Look for
# three moments in the replay: the first packet that dies on the cable from r1 to r2, the last one, and the first one
# that goes around by r5 and r4. By how much does it arrive later than the others?

# %% id="replay"
display(
    lab15.figures.outage_table(
        {"static": static, "silent": silent[0][1] if silent else None, **more}
    )
)
slower = measure.ConstantRateFlow("h1", "h3", 0.04, 2, payload_bytes=100, dither=False)
recorded = measure.run_together(
    lab, [slower, measure.Cut("r1", "r2", 1, start_s=0.5, silent=True)], record=True
)
lab.sleep(10)
show.network(recorded)

# %% [markdown] id="outage-question"
# **Question.** The table has five outages of the same cable. Explain the length of each one: what told the routers of
# the cut, and how long can that take?

# %% [markdown] reflect="outage" points=5
# `static`: nothing tells that there is another way, so packets are lost until the cable is whole again: 6 s. `silent`:
# missing Hellos tell. The dead interval runs from the last Hello, which came at most one hello interval before the cut,
# and the first of both routers counts: between dead minus hello (2 s) and dead (3 s), and different in each of my runs.
# `carrier`: the kernel tells the daemon at once of an interface that is down or has no carrier, so nothing has to time
# out. Only flooding and computing remain, some ms. `BFD`: the same rule as for Hellos, with 100 ms and three packets:
# 0.2 to 0.3 s. `10/40`: the same rule again, 30 to 40 s.
#
# **Rubric.** 5 points: nothing tells with static routes; the time runs from the last Hello; its two bounds, with
# numbers; no timeout with carrier; BFD and 10/40 follow the same rule as the silent cut. 1 point each. Typical wrong:
# (1) "the routers need 3 s to compute": they compute in milliseconds; (2) "BFD finds the way faster": it only notices
# sooner, OSPF finds the way.

# %% [markdown] id="costs-task"
# ## 6. Costs and equal paths (25 minutes)
#
# Each interface has a *cost*, 10 here. A way costs the sum over the interfaces that a packet *leaves* by. OSPF takes
# the cheapest way, and where several cost the same it takes all of them. `ip ospf cost 25` in the section of an
# interface changes its cost.
#
# **Your turn:** configure costs twice. After each time wait with `lab.sleep(10)`, and keep what `lab.state()`
# returns.
#
# - `tables["around"]`: packets from h1 to h3 *and* from h3 to h1 avoid r2. Packets from h1 to h2 still take the cable
#   from r1 to r2.
# - `tables["equal"]`: r1 has two next hops to h3, by r2 and by r5. The way from h3 to h1 may be any.

# %% answer="costs"
tables = dict.fromkeys(["around", "equal"])
### BEGIN SOLUTION
cost = "interface {}\nip ospf cost {}\nexit\n"
frr.configure(lab, {"r1": cost.format("r1-eth1", 25), "r3": cost.format("r3-eth2", 25)})
lab.sleep(10)
tables["around"] = lab.state()
frr.configure(lab, {"r1": cost.format("r1-eth1", 20)})
lab.sleep(10)
tables["equal"] = lab.state()
print(lab["r1"].cmd("ip route show proto ospf"))
### STARTER
# # YOUR TURN: frr.configure(lab, ...), lab.sleep(10), tables["around"] = lab.state(), and again
### END SOLUTION

# %% check="costs" points=4
lab15.check_costs(tables, lab).require()

# %% [markdown] id="bgp-task"
# **Think:** with two next hops, does r1 send one packet of a stream by r2 and the next one by r5?
#
# <details><summary>Open this when you have an answer</summary>
#
# No: Linux chooses by a hash of the addresses, so all packets of a pair of hosts take the same way. Otherwise packets
# of one TCP connection would overtake each other, and TCP would take that for loss (RFC 2992).
#
# </details>
#
# ## 7. Three autonomous systems (25 minutes)
#
# Between organisations money and trust count, not costs. **BGP** (RFC 4271) announces prefixes with the list of
# *autonomous systems* (AS) on the way. Without other rules the shortest list wins. `lab15.AS` has the number of each
# router, `lab15.peers("r1")` the AS numbers of its neighbours by address, and `lab15.prefix("h1")` the prefix of a
# host. For r1 on the plain network, FRR is told
#
#     router bgp 65001
#      no bgp ebgp-requires-policy
#      neighbor 10.0.1.2 remote-as 65002
#      neighbor 10.0.3.3 remote-as 65003
#      network 10.0.4.0/24
#     exit
#
# Without the second line FRR exchanges no route until there is a filter (RFC 8212). **Your turn:** complete the
# function, configure all three routers of `world`, and wait.

# %% id="world"
lab.stop()
world = start(lab15.three())
show.network(world)


# %% answer="bgp"
def bgp(name):
    ### BEGIN SOLUTION
    lines = [f"router bgp {lab15.AS[name]}", "no bgp ebgp-requires-policy"]
    for address, number in lab15.peers(name).items():
        lines.append(f"neighbor {address} remote-as {number}")
    return "\n".join([*lines, f"network {lab15.prefix(name.replace('r', 'h'))}", "exit"])
    ### STARTER
    # # YOUR TURN: return the lines as one text
    # ...
    ### END SOLUTION


### BEGIN SOLUTION
frr.configure(world, {name: bgp(name) for name in lab15.AS})
frr.wait_for_routes(world)
print(world["r1"].cmd("vtysh -N r1 -c 'show bgp ipv4 unicast'"))
### STARTER
# # YOUR TURN: frr.configure(world, ...), and frr.wait_for_routes(world)
### END SOLUTION

# %% check="bgp" points=3
lab15.check_bgp(world).require()

# %% [markdown] id="preference-task"
# AS 65001 pays AS 65003 for each packet, and AS 65002 nothing. So r1 wants to send packets for h3 by AS 65002,
# although this list is longer. BGP compares *local preference* before the length of the list: the higher number wins,
# and 100 is usual. A *route-map* sets it on all that a neighbour announces:
#
#     route-map PREFER permit 10
#      set local-preference 200
#     exit
#     router bgp 65001
#      neighbor 10.0.1.2 route-map PREFER in
#     exit
#
# **Your turn:** configure r1 so, with your addresses. The direct path stays known. Wait with `world.sleep(5)`.

# %% answer="preference"
via = {number: address for address, number in lab15.peers("r1").items()}
### BEGIN SOLUTION
prefer = "route-map PREFER permit 10\nset local-preference 200\nexit\n"
prefer += f"router bgp 65001\nneighbor {via[65002]} route-map PREFER in\nexit\n"
frr.configure(world, {"r1": prefer})
world.sleep(5)
print(world["h1"].cmd(f"traceroute -n -q 1 {world['h3'].address}"))
### STARTER
# # YOUR TURN: frr.configure(world, {"r1": ...}), and world.sleep(5)
### END SOLUTION

# %% check="preference" points=3
lab15.check_preference(world).require()

# %% [markdown] id="theft-task"
# ## 8. A stolen prefix (30 minutes)
#
# r3 now announces one half of the prefix of h2 as its own, and sends what arrives for it to h3. Before you run the
# cell: who will send packets for h2 to r3? r1, which prefers AS 65002? r2, to which h2 belongs?

# %% id="theft"
print(lab15.theft())
frr.configure(world, {"r3": lab15.theft()})
world.sleep(5)
print(world["h1"].cmd(f"traceroute -n -q 1 -w 1 -m 5 {world['h2'].address}"))
print(world["r2"].cmd("ip route"))

# %% [markdown] id="filter-task"
# The trace ends at h3, which throws the packets away. **Your turn:** you run r1 and r2, and cannot change r3.
# Configure filters so that packets for h2 reach h2 again, and all else stays as it is. A *prefix-list* names
# prefixes, and what it does not permit is refused:
#
#     ip prefix-list NAME permit 10.0.0.0/8 le 16
#
# permits prefixes within 10.0.0.0/8 of 8 to 16 bits. `neighbor ADDRESS prefix-list NAME in`, below `router bgp`,
# applies it to what a neighbour announces. Wait with `world.sleep(5)`, and ping h2 from h1.

# %% answer="filter"
### BEGIN SOLUTION
for name in ("r1", "r2"):
    (thief,) = [address for address, number in lab15.peers(name).items() if number == 65003]
    whole = "ip prefix-list WHOLE permit 0.0.0.0/0 le 24\n"
    whole += f"router bgp {lab15.AS[name]}\nneighbor {thief} prefix-list WHOLE in\nexit\n"
    frr.configure(world, {name: whole})
world.sleep(5)
print(world["h1"].cmd(f"ping -n -c 1 {world['h2'].address}"))
### STARTER
# # YOUR TURN: frr.configure(world, {"r1": ..., "r2": ...}), and world.sleep(5)
### END SOLUTION

# %% check="filter" points=4
lab15.check_filter(world).require()

# %% [markdown] id="bgp-question"
# **Question.** The operator of r1 and r2 says: "r1 prefers AS 65002, the subnet of h2 is r2's own, and halves are
# filtered. So r3 can take no packets for h2 any more, and it never could from r2." What is wrong with this?

# %% [markdown] reflect="bgp" points=5
# r3 did take them, from both: a router forwards by the longest prefix that matches. Preference and the length of the AS
# list are compared only between paths to the *same* prefix, and there was just one path to the half. r2's own /24 is
# shorter than the stolen /25 as well. And it is not over: BGP does not ask whether an AS may announce a prefix. r3 can
# announce the whole /24, which the filter permits. r1 and r2 do not believe it now: r2 keeps its own route, and r1 its
# preference for AS 65002. But an AS without such a rule takes the shorter list, so whoever is nearer to r3 sends to it.
# To stop this, a filter must know which prefixes belong to AS 65003: a list for each customer, or signed origins (RPKI,
# RFC 6811). RPKI compares only the last AS: a forged list that ends in 65002 passes. ASPA, which signs who an AS's
# providers are, is meant against that.
#
# **Rubric.** 5 points: the longest prefix decides; preference compares paths of one prefix only; r2's own /24 is
# shorter than the half; BGP does not check the origin; a theft that the filter permits (the same length, at other ASes,
# or another prefix). 1 point each. Typical wrong: (1) "r3's path was shorter": for the half there was no other path;
# (2) "TCP or encryption would stop it": packets are lost all the same, only their contents stay secret.

# %% id="stop"
world.stop()
lab15.calibration()

# %% [markdown] id="end-of-lab"
# <details><summary>Open this when you have written your answer</summary>
#
# On 24 February 2008 AS 17557 announced 208.65.153.0/24, a part of YouTube's 208.65.152.0/22. The longer prefix won
# nearly everywhere, for two hours. YouTube answered with prefixes that were longer still (RIPE NCC, 2008).
#
# </details>
#
# ## Summary
#
# - A static route does not change: a cut lasts until somebody types. Linux removes routes by an interface that is set
#   down, and keeps those by one without a carrier, unless it is told to ignore them.
# - A silent cut is noticed when Hellos are missing: after *dead minus hello* to *dead* seconds. Carrier loss is
#   noticed at once, BFD in some hundred ms. Computing anew takes milliseconds.
# - OSPF takes the way of the least sum of costs, for each direction by itself, and several if they cost the same.
# - BGP takes what is preferred first and short second; the longest prefix wins over both, and nothing proves who owns
#   it.
#
# **Review questions** (no points)
#
# 1. A hello interval of 5 s and a dead interval of 20 s: how long are packets lost after a silent cut, on average?
#    <details><summary>Answer</summary>Each of the two routers notices after 15 to 20 s, and the first one counts. If
#    both send their Hellos at the same instant, 17.5 s on average. If their instants are independent, 16.7 s: the
#    smaller of two such times is on average a third of the way up.</details>
# 2. r1 has an interval of 10 s and r2 one of 5 s on the same cable. What happens?
# <details><summary>Answer</summary>They do not become neighbours: both intervals must be the same (RFC 2328, section
#    10.5).</details>
# 3. Why not set OSPF's hello interval to 0.1 s, or BFD's to 1 ms?
# <details><summary>Answer</summary>The routing daemon itself makes and reads Hellos, and each lost neighbour makes all
#    routers compute. Below some 10 ms a few packets that wait in a full queue look like a failure: the routes go up and
#    down (flap), which is worse than a short outage.</details>
# 4. In section 7, h1's packets to h3 went by AS 65002. Which way did the answers take, and who decided that?
# <details><summary>Answer</summary>Directly from r3 to r1. Local preference counts within one AS: each AS decides how
#    its own packets leave.</details>
# 5. After a cut of r1-r2, a packet from h1 to h2 may go from r1 to r5 and back to r1. Why, and for how long?
# <details><summary>Answer</summary>r1 knows of the cut already, and r5 not yet: for r5 the shortest way to h2 is
#    still by r1. This *micro-loop* lasts until r5 has r1's news and has computed anew, some milliseconds.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 2328 (OSPF), RFC 5880 to 5882 (BFD), RFC 4271 (BGP), RFC 8212 (no route without a
# policy), RFC 7454 (filters), RFC 6811 (RPKI); docs.frrouting.org. Kurose & Ross: the control plane. Peterson &
# Davie: routing, and the global Internet.
