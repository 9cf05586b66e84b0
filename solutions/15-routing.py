# %% [markdown] id="goal"
# # Lab 15: Routing that fails
#
# **Time:** about 4 hours, ten minutes of them for measurements. A line after section 6 says where you can stop. **You
# need:** routing tables and the longest prefix (Lab 01), constant rates and loss (Lab 03).
#
# A cable fails. How long are packets lost, and what does this time depend on? You break a cable at an exact instant,
# first with static routes, which a person typed, then with OSPF, by which routers tell each other of their links. You
# predict to within some milliseconds when the first packet arrives again. Then you connect three *autonomous systems*,
# networks of three organisations, by BGP, and one of them steals the packets of another. All routers run FRR, a program
# that real networks use as well.

# %% id="imports"
from linklab import frr, lab15, measure, show, start

display(lab15.progress())


def stream(seconds):
    return measure.ConstantRateFlow("h1", "h3", 0.4, seconds, payload_bytes=100, dither=False)


network = lab15.ring()
routers = [router.name for router in network.routers]
lab = start(network)
show.network(lab)

# %% [markdown] id="static-task"
# ## 1. Static routes (20 minutes)
#
# Five routers form a ring. The interface eth1 of a router leads to the next router, eth2 to the one before, and eth0 to
# its host. The routes are *static*: a person typed them. Packets from h1 to h3 go through r1, r2 and r3. The ring also
# has a second path, through r5 and r4.
#
# `stream(seconds)` sends a packet from h1 to h3 every 2 ms. `measure.Cut("r1", "r2", 6, start_s=2)` acts two seconds
# after the start of a run: it sets the interfaces at both ends of the cable r1-r2 down, as a person would. Six seconds
# later it sets them up and types their routes again.
#
# **Predict** how many packets of `stream(10)` are lost. Any prediction earns the point. Then measure:
# `measure.run_together(lab, [...])` runs everything in the list together, a `Cut` too.

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

# %% [markdown] id="static-question"
# You set interfaces down. **A cable that fails looks different**: the interface stays up, but it has no *carrier*: no
# signal comes from the other end. When a person sets an interface down, Linux removes its routes. When an interface
# only loses its carrier, Linux marks its routes `linkdown` and *goes on using them*. Routers set
# `ignore_routes_with_linkdown=1`: then the next route counts.
#
# The next cell shows both cases. It gives r1 a second static route to h3, through r5. Its larger metric means: use it
# if the first route is gone. Then four commands follow. (r1-eth1 has no carrier while r2-eth2, at the other end of the
# cable, is down.) Before you run the cell, guess for each command: are packets lost?
#
# **Your turn:** run it, and answer its question with a letter.

# %% answer="second"
with start(network) as other:
    h3, r5 = other["h3"].address, other["r5"].addresses["r5-eth1"].split("/")[0]
    subnet = h3.rpartition(".")[0] + ".0/24"
    other["r1"].cmd(f"ip route add {subnet} via {r5} metric 100")
    for node, command in lab15.FAILURES:
        other[node].cmd(command)
        lost = measure.run(other, stream(2)).lost_packets
        print(f"{node}: {command}\n{lost} of 1000 lost, and r1 has")
        print(other["r1"].cmd(f"ip route show {subnet}"))
print(lab15.question("second"))
### BEGIN SOLUTION
second = "d"
### STARTER
# second = None
### END SOLUTION

# %% check="second" points=2
lab15.check_second({"second": second}).require()

# %% [markdown] id="ospf-task"
# ## 2. OSPF on the ring (25 minutes)
#
# With static routes, a person must change the routes of *all* routers that used the cable. A routing protocol does
# three things by itself: it notices the failure, it tells the other routers, and it computes new routes.
#
# With **OSPF** (*Open Shortest Path First*, RFC 2328) each router sends a *Hello* from each of its interfaces every
# *hello interval*. If no Hello arrives for one *dead interval*, the router declares the neighbour down. Each router
# sends the list of its links to all others, and each one computes the shortest paths by itself, by Dijkstra's
# algorithm. FRR needs these lines for one interface:
#
#     interface r1-eth1
#      ip ospf area 0
#      ip ospf network point-to-point
#      ip ospf hello-interval 1
#      ip ospf dead-interval 3
#     exit
#
# `router ospf` must also be there once: it starts OSPF. `area 0` adds an interface to it (an *area* is a part of a
# large network, and ours has only this one). `point-to-point` says that the cable has two ends: where a subnet has many
# routers, they first elect one that speaks for it. All interfaces of a router need these lines, also the interface to
# its host: OSPF announces only the subnets of such interfaces.
#
# **Your turn:** complete the function. It returns these lines for all interfaces of a router (their names are in
# `lab[name].addresses`). Use `hello_s` and `dead_s`: section 4 needs other intervals. Then configure all routers.
# `frr.configure(lab, {"r1": ospf("r1"), ...})` starts FRR and removes the static routes. `frr.wait_for_routes(lab)`
# waits until each router has a route to each host, and returns how many seconds that took.
#
# **FRR adds** what you configure to what it has already. A line that was wrong stays until you take it back: write `no`
# before it. (`no ip ospf cost 25`, say.) Or start the lab again.


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
lab15.check_ospf(lab, ospf).require()

# %% [markdown] id="silent-task"
# ## 3. A failure that no interface notices (45 minutes)
#
# A switch or a radio link between two routers may fail while both interfaces keep their carrier. `silent=True` makes a
# cut of this kind: all frames are lost, and the only sign is that Hellos are missing.
#
# **Predict**, for a hello interval of 1 s and a dead interval of 3 s, the shortest and the longest time for which
# packets can be lost, in seconds. Routers announce and compute in a few milliseconds: ignore that.

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
# You can do better than two limits. Each of the two routers has a *dead timer* for the other one. Each Hello sets the
# timer back to the dead interval, and from there it counts down. `lab15.dead_timers(lab)` reads both. For r1 and for r2
# it returns two numbers: the time until the timer ends (`due_s`), and the lab's time of this reading (`read_s`).
#
# **Your turn:** complete `detection` for one router. The cable fails silently at `cut_s`, on the same clock. How many
# seconds after that does this router declare the other one down? A Hello arrives exactly every `hello_s`.


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
# r1 and r2 declare each other down at different instants. The first of them tells all others. A link counts only if
# *both* ends announce it (RFC 2328, section 16.1). So the outage ends a few milliseconds after the first of the two
# timers has run out.
#
# **Your turn:** cut the cable silently three times, for 5 s each, while `stream(8)` runs. Before each run, read the
# dead timers. After it, append `(timers, run)` to the list, and print what your `detection` says for both routers
# beside the time that was lost. The instant of the cut is in the results: `run.of(measure.CutResult)[0].cut_at_s`. Then
# let the network heal: `lab.sleep(10)`. The three outages must differ: if they do not, change `start_s`.
#
# Right after `frr.wait_for_routes` a cut may last longer, because routers that have just computed wait up to 5 s before
# they compute again. `lab.sleep(10)` helps here, too.

# %% answer="silent"
silent = []
### BEGIN SOLUTION
for start_s in (2.0, 2.1, 2.2):
    timers = lab15.dead_timers(lab)
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
# for start_s in [1, 1.4, 1.8]:
#     ...  # YOUR TURN: read the timers, run, silent.append((timers, run)), print, lab.sleep(10)
### END SOLUTION

# %% check="silent" points=3
lab15.check_silent(silent).require()

# %% [markdown] id="more-task"
# ## 4. Notice sooner (40 minutes)
#
# Measure three other cases with the same stream:
#
# - `carrier`: a cut that is *not* silent, as in section 1, but under OSPF. The kernel tells the *routing daemon* (FRR's
#   program in the background) about an interface that is set down, and in the same way about an interface that has lost
#   its carrier.
# - `BFD` (*Bidirectional Forwarding Detection*, RFC 5880): both routers send each other small packets every 100 ms, and
#   declare the neighbour down after three missing ones. When BFD declares a neighbour down, so does OSPF. FRR needs
#   these lines at *both* ends of the cable. These are r1's; r2's end is r2-eth2:
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
#   After that wait with `lab.sleep(5)`.
# - `10/40`: OSPF's usual intervals, 10 s and 40 s, without BFD, in a lab of its own.
#
# **Your turn:** measure all three. For `BFD` and `10/40` the cut is silent. With 10 s and 40 s the outage can take 40
# s: cut the cable for longer than that, and let the stream end after the outage. After each run let the network heal
# for 10 s.

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
# ## 5. See it (20 minutes)
#
# The next cell shows a table of all outages (of `silent`, the first one) and a recorded run: with `record=True` the lab
# notes each packet at each interface. **BFD is still on**, so this silent cut is noticed after 0.2 to 0.3 s. Look for
# three moments in the replay: the first packet that is lost on the cable from r1 to r2 (BFD's own packets are UDP to
# port 3784), the last one, and the first one that goes through r5 and r4. How much later does it arrive than the
# others?
#
# The cell after it has sliders: the dots are your silent outages, the lines are theory. Set the sliders to the
# intervals of each dot.

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

# %% answer="outage"
display(lab15.figures.detection([run for _, run in silent], more))
print(lab15.question("carrier", "bfd"))
print(
    "\nA hello interval of 2 s and a dead interval of 8 s: the shortest and the longest outage?"
)
### BEGIN SOLUTION
outages = {"carrier": "b", "bfd": "d", "shortest": 8 - 2, "longest": 8}
### STARTER
# outages = {"carrier": None, "bfd": None, "shortest": None, "longest": None}  # numbers in s
### END SOLUTION

# %% check="outage" points=4
lab15.check_outages(outages).require()

# %% [markdown] id="costs-task"
# ## 6. Costs and equal paths (25 minutes)
#
# Each interface has a *cost*, 10 here. A path's cost is the sum of the costs of the interfaces through which the packet
# leaves. OSPF takes the path with the lowest cost. If several paths cost the same, it takes all of them. `ip ospf cost
# 25` in the section of an interface changes its cost.
#
# **Your turn:** configure costs twice. After each time wait with `lab.sleep(10)`, and keep what `lab.state()` returns.
#
# - `tables["around"]`: packets from h1 to h3 *and* packets from h3 to h1 avoid r2. Packets from h1 to h2 still take the
#   cable r1-r2.
# - `tables["equal"]`: r1 has two next hops to h3: r2 and r5. Packets from h3 to h1 may take either path.

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

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how a network survives a failure, and you get a paragraph like this one. It is fluent, and one of
# its sentences is wrong.
#
# > (1) Costs count for each direction by itself, so the answers may take another path than the requests. (2) Where two
# > paths cost the same, OSPF keeps both, and r1 sends the packets of a stream over both in turn: if one path fails,
# > every second packet is lost until r1 notices. (3) Without BFD, a failure that takes no interface's carrier is
# > noticed only because Hellos are missing. (4) That takes from the dead interval minus the hello interval to the dead
# > interval, and some milliseconds more. (5) BFD changes only how soon the routers notice: the new path is computed as
# > before.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it: a stream from h1 to h3 and one cut of
# r1-r2. Store the sentence's number and the run. Which costs, which kind of cut and which duration does the sentence
# need? Is BFD on or off? (`no ip ospf bfd` at an interface switches it off there. Then wait for 10 s.)

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 2
no_bfd = "interface {}\nno ip ospf bfd\nexit\n"
frr.configure(lab, {"r1": no_bfd.format("r1-eth1"), "r2": no_bfd.format("r2-eth2")})
lab.sleep(10)
short = measure.Cut("r1", "r2", 1.5, start_s=2, silent=True)
shows_it = measure.run_together(lab, [stream(5), short])
print(shows_it)
### STARTER
# # YOUR TURN: prepare the network, and measure
# wrong_sentence = None  # its number
# shows_it = None  # measure.run_together(lab, [..., ...])
### END SOLUTION

# %% check="claim" points=3
lab15.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="bgp-task"
# **You can stop here.** Save this notebook. To go on later, run the first code cell again, and continue below.
#
# ## 7. Three autonomous systems (35 minutes)
#
# Between organisations, money and trust count, not costs. **BGP** (RFC 4271) announces prefixes together with the list
# of *autonomous systems* (AS) on the path. Without other rules the shortest list wins. `lab15.AS` has the AS number of
# each router, `lab15.peers("r1")` the AS numbers of its neighbours by their addresses (a router has a *session*, a TCP
# connection, with each), and `lab15.prefix("r1")` the prefix of its host. On the plain course network r1 needs these
# lines (your own network may have other addresses):
#
#     router bgp 65001
#      no bgp ebgp-requires-policy
#      neighbor 10.0.1.2 remote-as 65002
#      neighbor 10.0.3.3 remote-as 65003
#      network 10.0.4.0/24
#     exit
#
# Without the second line FRR exchanges no route until there is a filter (RFC 8212).
#
# **Your turn:** complete the function, configure all three routers of the new lab `world`, and wait with
# `frr.wait_for_routes(world)`.


# %% answer="bgp"
def bgp(name):
    ### BEGIN SOLUTION
    peers = [f"neighbor {address} remote-as {it}" for address, it in lab15.peers(name).items()]
    lines = [f"router bgp {lab15.AS[name]}", "no bgp ebgp-requires-policy", *peers]
    return "\n".join([*lines, f"network {lab15.prefix(name)}", "exit"])
    ### STARTER
    # # YOUR TURN: return the lines as one text
    # ...
    ### END SOLUTION


lab.stop()
world = start(lab15.three())
display(show.network(world))
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
# AS 65001 pays AS 65003 for each packet, and pays AS 65002 nothing. So r1 wants to send packets for h3 through AS
# 65002, although this list is longer. BGP compares the *local preference* before the length of the list: the higher
# number wins, and 100 is usual. A *route-map* sets it for all prefixes that a neighbour announces:
#
#     route-map PREFER permit 10
#      set local-preference 200
#     exit
#     router bgp 65001
#      neighbor 10.0.1.2 route-map PREFER in
#     exit
#
# **Your turn:** configure r1 in this way, with your addresses. The direct path must stay known. Wait with
# `world.sleep(5)`. If you had the wrong neighbour first, take its line back: `no neighbor ADDRESS route-map PREFER in`.

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
# ## 8. A stolen prefix (35 minutes)
#
# r3 now announces one half of the prefix of h2 as its own, and sends to h3 whatever arrives for it. Before you run the
# cell: which routers will send packets for h2 to r3? r1, which prefers AS 65002? r2, to which h2 belongs?

# %% id="theft"
print(lab15.theft())
frr.configure(world, {"r3": lab15.theft()})
world.sleep(5)
print(world["h1"].cmd(f"traceroute -n -q 1 -w 1 -m 5 {world['h2'].address}"))
print(world["r2"].cmd("ip route"))

# %% [markdown] id="filter-task"
# <details><summary>Open this when you have read both outputs</summary>
#
# Both. r1 and r2 have a route to the half (/25) through r3, and r2 has its own /24 besides: the longer prefix wins.
#
# </details>
#
# The trace ends after r3, which hands the packets to h3, and h3 throws them away. **Your turn:** you operate r1 and r2,
# and you cannot change r3. Configure filters so that packets for h2 reach h2 again, and everything else stays as it is.
# A *prefix-list* names prefixes, and it refuses all that it does not permit:
#
#     ip prefix-list NAME permit 10.0.0.0/8 le 16
#
# permits prefixes within 10.0.0.0/8 whose length is 8 to 16 bits (`le`: less or equal). `neighbor ADDRESS prefix-list
# NAME in`, below `router bgp`, applies the list to everything that a neighbour announces. Wait with `world.sleep(5)`,
# and ping h2 from h1.

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
# **Question.** The operator of r1 and r2 says: "r1 prefers AS 65002. The subnet of h2 is r2's own. Halves are filtered
# now. So r3 cannot get packets for h2 any more, and it never could get any from r2." What is wrong with this? Explain
# what decided that r3 got the packets, for r1 and for r2, and name a theft that the filter still permits.

# %% [markdown] reflect="bgp" points=5
# r3 did get packets from both routers: a router forwards by the longest prefix that matches. Preference and the length
# of the AS list are compared only between paths to the *same* prefix, and there was just one path to the half. The
# stolen /25 is longer than r2's own /24, too. And other thefts are still possible: BGP does not ask whether an AS may
# announce a prefix. r3 can announce the whole /24, which the filter permits. r1 and r2 do not believe it now: r2 keeps
# its own route, and r1 its preference for AS 65002. But an AS without such a rule takes the shorter list, so an AS that
# is nearer to r3 sends its packets to r3. To stop this, a filter must know which prefixes belong to AS 65003: a list
# for each customer, or signed origins (RPKI, RFC 6811). There the owner of a prefix signs which AS may announce it, and
# up to which length: with a maximum length of 24, the /25 is invalid, whoever announces it. But RPKI compares only the
# last AS: a forged list for the /24 that ends in 65002 passes. ASPA is meant to detect that: each AS signs which
# providers it has.
#
# **Rubric.** 5 points: the longest prefix decides; preference compares paths of one prefix only; r2's own /24 is
# shorter than the half; BGP does not check the origin, or what would check it (a signed origin with a maximum length);
# a theft that the filter permits (the same length, at other ASes, or another prefix). 1 point each. Typical wrong: (1)
# "r3's path was shorter": for the half there was no other path; (2) "TCP or encryption would stop it": packets are lost
# all the same, only their contents stay secret.

# %% id="stop"
world.stop()
lab15.calibration()

# %% [markdown] id="end-of-lab"
# <details><summary>Open this when you have written your answer</summary>
#
# On 24 February 2008 AS 17557 announced 208.65.153.0/24, a part of YouTube's 208.65.152.0/22. The longer prefix won
# nearly everywhere. After 80 minutes YouTube announced the same /24, and eleven minutes later its two halves (/25).
# After two hours and a quarter the stolen prefix was withdrawn (RIPE NCC, 2008).
#
# </details>
#
# ## Summary
#
# - A static route does not change: an outage lasts until a person types another route. Linux removes the routes of an
#   interface that is set down. It keeps the routes of an interface without a carrier, unless it is told to ignore them.
# - Routers notice a silent failure because Hellos are missing. That takes from *dead minus hello* to *dead* seconds.
#   They notice a lost carrier at once, and BFD notices in a few hundred ms. Computing new routes takes milliseconds.
# - OSPF takes the path with the lowest sum of costs, for each direction by itself. It takes several paths if they cost
#   the same, and all packets of one flow take the same one of them.
# - BGP compares preference first and the length of the list second, between paths to the same prefix. The longest
#   prefix wins over both. BGP does not prove to whom a prefix belongs.
#
# **Review questions** (no points)
#
# 1. A hello interval of 5 s and a dead interval of 20 s: how long does an outage last on average, after a silent
#    failure? <details><summary>Answer</summary>Each of the two routers notices after 15 to 20 s, and the first one
#    counts. If both send their Hellos at the same instant, the average is 17.5 s. If their instants are independent, it
#    is 16.7 s: the smaller of two such times lies, on average, at a third of the range.</details>
# 2. r1 has a hello interval of 10 s and r2 one of 5 s on the same cable. What happens?
#    <details><summary>Answer</summary>They do not become neighbours: both intervals must be the same at both ends (RFC
#    2328, section 10.5).</details>
# 3. Why do operators not set OSPF's hello interval to 0.1 s, or BFD's to 1 ms?
#    <details><summary>Answer</summary>The routing daemon itself sends and reads Hellos, and each lost neighbour makes
#    all routers compute. With intervals below some 10 ms, a few packets that wait in a full queue look like a failure.
#    Then the routes change again and again (they flap), which is worse than a short outage.</details>
# 4. In section 7, h1's packets to h3 went through AS 65002. Which path did the answers take, and who decided that?
#    <details><summary>Answer</summary>Directly from r3 to r1. A local preference counts within one AS: each AS decides
#    by which path its own packets leave.</details>
# 5. After a cut of r1-r2, a packet from h1 to h2 may go from r1 to r5 and back to r1. Why, and for how long?
#    <details><summary>Answer</summary>r1 knows of the failure already, and r5 does not yet: for r5 the shortest path to
#    h2 is still through r1. This *micro-loop* lasts until r5 has r1's news and has computed, some
#    milliseconds.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 2328 (OSPF), RFC 5880 to 5882 (BFD), RFC 4271 (BGP), RFC 8212 (no route without a
# policy), RFC 7454 (filters), RFC 6811 (RPKI); docs.frrouting.org. Kurose & Ross: the control plane. Peterson &
# Davie: routing, and the global Internet.
