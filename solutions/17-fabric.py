# %% [markdown] id="goal"
# # Lab 17: A fabric
#
# **Time:** about 3 hours, 20 minutes of them for measurements. **You need:** BGP (Lab 15, section 7), shares of a link
# (Lab 06), congestion control and ECN (labs 11 and 12).
#
# A data centre joins its racks by many equal paths, and its servers answer all at once. You configure a fabric of
# leaves and spines by BGP, and predict how flows meet on its paths. You cut a spine. Then eight servers answer one host
# at the same instant. You predict how many answers it takes to lose a packet, and what that costs. In the end you keep
# a queue short with DCTCP, a TCP that reacts to how many of its packets are marked.

# %% id="imports"
from linklab import frr, lab17, measure, show, start

display(lab17.progress())
fabric = lab17.fabric()
routers = [router.name for router in fabric.routers]
lab = start(fabric)
show.network(lab)

# %% [markdown] id="bgp-task"
# ## 1. Leaf and spine (30 minutes)
#
# Each *leaf* has a link to each *spine*, and hosts only at leaves. So there are as many equal paths between two leaves
# as spines. Many large data centres route by BGP (RFC 7938): here each router is an autonomous system of its own.
# `lab17.AS[name]` has its number, `lab17.peers(fabric, name)` the numbers of its neighbours by their addresses, and
# `lab17.prefixes(fabric, name)` the prefixes of its own hosts. With the plain course network's addresses (yours may be
# others) leaf1 needs
#
#     router bgp 65101
#      no bgp ebgp-requires-policy
#      timers bgp 1 3
#      bgp bestpath as-path multipath-relax
#      neighbor 10.0.1.1 remote-as 65001
#      neighbor 10.0.2.1 remote-as 65002
#      network 10.0.5.0/24
#      network 10.0.6.0/24
#     exit
#
# The timers: a *keepalive* each second, and a neighbour that is silent for 3 s is given up. The second line lets routes
# pass without a policy, which RFC 8212 forbids by default. A question below is about the fourth line. **Your turn:**
# complete the function. First leave the fourth line out, and look at the routes of leaf1 (`ip route show proto bgp`);
# then add it. Wait with `frr.wait_for_routes(lab)` and `lab.sleep(5)`. A second `frr.configure` adds lines to the
# first, and takes none away.


# %% answer="bgp"
def bgp(fabric, name):
    ### BEGIN SOLUTION
    peers = lab17.peers(fabric, name).items()
    return "\n".join(
        [
            f"router bgp {lab17.AS[name]}\nno bgp ebgp-requires-policy\ntimers bgp 1 3",
            "bgp bestpath as-path multipath-relax",
            *(f"neighbor {address} remote-as {number}" for address, number in peers),
            *(f"network {prefix}" for prefix in lab17.prefixes(fabric, name)),
            "exit",
        ]
    )
    ### STARTER
    # # YOUR TURN: return the lines as one text
    # ...
    ### END SOLUTION


# %% answer="routes"
### BEGIN SOLUTION
frr.configure(lab, {name: bgp(fabric, name) for name in routers})
frr.wait_for_routes(lab)
lab.sleep(5)
print(lab["leaf1"].cmd("ip route show proto bgp"))
print(lab["leaf1"].cmd("vtysh -N leaf1 -c 'show bgp ipv4 unicast'"))
### STARTER
# # YOUR TURN: frr.configure(lab, ...), frr.wait_for_routes(lab), lab.sleep(5); then look at leaf1
### END SOLUTION

# %% check="bgp" points=2
lab17.check_bgp(lab).require()

# %% answer="relax"
print(lab17.question("relax"))
### BEGIN SOLUTION
relax = "c"
### STARTER
# relax = None
### END SOLUTION

# %% check="relax" points=1
lab17.check_relax({"relax": relax}).require()

# %% [markdown] id="chances-task"
# ## 2. Who meets whom (45 minutes)
#
# A router that has several next hops should not send the packets of one flow over all of them: they would overtake each
# other, and TCP may take that for loss (RFC 2991). So it computes a *hash* of each packet's header, and the hash
# chooses the next hop. A good hash spreads flows as fair coins would, whatever the flows are. And it is blind: it does
# not know what other flows do.
#
# **Your turn:** compute three chances, in percent. Four flows, two spines: two flows on each spine (`"even"`); all
# four on the same one (`"together"`). Four flows, four spines: each flow has a spine of its own (`"alone"`).

# %% answer="chances"
### BEGIN SOLUTION
chances = {"even": 100 * 6 / 16, "together": 100 * 2 / 16, "alone": 100 * 24 / 256}
### STARTER
# chances = {"even": None, "together": None, "alone": None}
### END SOLUTION

# %% check="chances" points=3
lab17.check_chances(chances).require()

# %% [markdown] id="spread-task"
# What is hashed? `net.ipv4.fib_multipath_hash_policy` is 0 by default: only addresses are hashed. With 1, ports are
# hashed too. With `measure.PageFlow("h1", "h3", duration_s=1, objects=100, object_bytes=100, pause_s=10)` h1 loads 100
# small objects from h3, each over a connection of its own.
#
# Before you measure: how many of the 100 connections will the fuller spine carry, with 0 and with 1?
#
# **Your turn:** measure it twice, once with each policy (set it on both leaves: `lab["leaf1"].cmd("sysctl -w ...")`),
# and keep the results in `spread[0]` and `spread[1]`. `origin.queue("leaf1", "leaf1-eth1").sent_packets` of a result is
# how many packets leaf1 sent to spine1 meanwhile: about five for each connection.

# %% answer="spread"
spread = dict.fromkeys([0, 1])
page = measure.PageFlow("h1", "h3", duration_s=1, objects=100, object_bytes=100, pause_s=10)
### BEGIN SOLUTION
for policy in spread:
    for leaf in ("leaf1", "leaf2"):
        lab[leaf].cmd(f"sysctl -w net.ipv4.fib_multipath_hash_policy={policy}")
    spread[policy] = measure.run(lab, page)
    for interface in ("leaf1-eth1", "leaf1-eth2"):
        sent = spread[policy].origin.queue("leaf1", interface).sent_packets
        print(f"policy {policy}: {sent} packets by {interface}")
### STARTER
# # YOUR TURN: sysctl -w ... on leaf1 and leaf2, and spread[...] = measure.run(lab, page), twice
### END SOLUTION

# %% check="spread" points=2
lab17.check_spread(spread).require()

# %% [markdown] id="rates-task"
# Few large flows are another matter: chance decides who meets whom, and it stays so while the flows last. The next cell
# runs four transfers for 8 s (policy 1 is still set), and says which spine each of them took. Their *max-min* rates
# follow from that: flows that meet share their spine's link in equal parts, and a flow that is alone gets all of it
# (Lab 06). Headers leave 95.6 % of a link's rate for data.
#
# **Your turn:** compute the max-min rate of each flow in Mbit/s: `rates["h1-h3"]`, and so on. Compute them from
# `spine`, which has the spine of each flow: each run of the cell uses other ports, so other flows meet.

# %% answer="rates"
four = measure.run_together(
    lab,
    [measure.TcpFlow(one, other, duration_s=8) for one, other in lab17.PAIRS],
    record=["leaf1-eth1", "leaf1-eth2"],
)
spine = lab17.spines_of(four)
print(four, "\n", spine)
### BEGIN SOLUTION
data_mbps = 0.956 * fabric.links[0].rate_mbps
rates = {flow: data_mbps / list(spine.values()).count(its) for flow, its in spine.items()}
print({flow: round(rate, 2) for flow, rate in rates.items()})
### STARTER
# rates = dict.fromkeys(spine)  # YOUR TURN: rates = {flow: ... for flow in spine}
### END SOLUTION

# %% check="rates" points=2
lab17.check_rates(four, rates).require()

# %% [markdown] id="replay-text"
# Compare your rates with those that were measured. Flows that met need not have had equal parts: in one of our runs
# three of them had 2.9, 4.4 and 2.2 Mbit/s, where the max-min rate is 3.2. Together they fill their link, and the check
# asks for no more. TCP tends to equal parts only over many losses. Chance decides who loses a packet in the short
# queue, and the loser needs many round trips to catch up: 8 s are too few.
#
# The next cell records the whole fabric while four short transfers run. Play it: each flow has its own colour, and you
# see who meets whom, and where packets wait.
#
# **Optional** (its last line, no points): MPTCP (RFC 8684) splits one connection into *subflows*. Each has a port of
# its own, so the hash chooses a spine for each of them separately. `lab17.multipath(lab, 4)` sends from h1 to h3 over
# four subflows, and returns the rate of all together in Mbit/s. What is the most that h1 can get with one subflow, and
# with four? How likely is it that four subflows use both spines?

# %% id="replay"
small = {"duration_s": 1, "objects": 1, "object_bytes": 250_000, "pause_s": 10}
films = [measure.PageFlow(one, other, **small) for one, other in lab17.PAIRS]
show.network(measure.run_together(lab, films, record=True))
# print(lab17.multipath(lab, 1), lab17.multipath(lab, 4))

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how a fabric spreads its load, and you get a paragraph like this one. It is fluent, and one of
# its sentences is wrong.
#
# > (1) If only addresses are hashed, all connections between two hosts take the same path. (2) With ports in the hash,
# > a fabric with as many spines as there are large flows gives each flow a spine of its own, because the hash spreads
# > flows evenly over them. (3) Many small connections spread nearly evenly, and how far from even follows the binomial
# > law. (4) Flows that meet share one link while another one may be idle, and none of them moves as long as the
# > routes stay the same.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it. Store the sentence's number and the run.
# `lab17.fabric(4)` has four spines: start it as a second lab (section 3 needs the first one), configure it with your
# `bgp`, wait for its routes and 5 s more, set policy 1 on both leaves, and run the four transfers of `lab17.PAIRS` for
# 3 s. Each run is another throw of the dice. One that does not show it proves nothing: measure again, in a loop.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence, plan, taken = 2, lab17.fabric(4), {}
transfers = [measure.TcpFlow(one, other, duration_s=3) for one, other in lab17.PAIRS]
uplinks = [f"leaf1-eth{number}" for number in (1, 2, 3, 4)]
with start(plan) as wide:
    frr.configure(wide, {it.name: bgp(plan, it.name) for it in plan.routers})
    frr.wait_for_routes(wide)
    wide.sleep(5)
    for leaf in ("leaf1", "leaf2"):
        wide[leaf].cmd("sysctl -w net.ipv4.fib_multipath_hash_policy=1")
    while len(set(taken.values())) in (0, 4):
        shows_it = measure.run_together(wide, transfers, record=uplinks)
        taken = lab17.spines_of(shows_it)
print(taken)
### STARTER
# # YOUR TURN: with start(lab17.fabric(4)) as wide: frr.configure, waits, policy 1, and the run
# wrong_sentence = None  # its number
# shows_it = None  # measure.run_together(wide, [...])
### END SOLUTION

# %% check="claim" points=3
lab17.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="cut-task"
# ## 3. A spine is cut (25 minutes)
#
# `lab17.streams(seconds)` has eight streams, a packet each 10 ms. `measure.Cut("spine1", duration_s=4, start_s=1)`
# takes down all interfaces of spine1, and those at the other ends of its cables. With `silent=True` all packets are
# lost on these cables, and no interface notices.
#
# You know this from Lab 15: the hold time is BGP's dead interval. New here is which flows notice. **Predict** the
# shortest and the longest time for which the packets of flows by spine1 are lost after a *silent* cut, in seconds. A
# keepalive comes each second, and the hold time is 3 s. Any prediction earns the point.

# %% answer="cut-predict"
outage = lab17.predict(
    "cut",
    ### BEGIN SOLUTION
    {"shortest": 3 - 1, "longest": 3},
    sure=80,
    ### STARTER
    # {"shortest": None, "longest": None},
    # sure=None,
    ### END SOLUTION
)
outage

# %% check="cut-predict" points=1
lab17.check_predicted(outage).require()

# %% [markdown] id="cut-run-task"
# **Your turn:** cut spine1 for 4 s, once silently and once so that it is seen, and keep both runs. The streams must end
# before the cut is healed: let them last 4.5 s, and cut at 1 s. Between the runs wait until leaf1 has both routes again
# (`lab.sleep(10)`, and look). A stream's result has `lost_packets`: each of them stands for 10 ms.

# %% answer="cut"
cuts = dict.fromkeys(["silent", "seen"])
### BEGIN SOLUTION
for kind in cuts:
    cut = measure.Cut("spine1", duration_s=4, start_s=1, silent=kind == "silent")
    cuts[kind] = measure.run_together(lab, [*lab17.streams(4.5), cut])
    print(kind, [it.lost_packets for it in cuts[kind].results[:8]], "packets of 10 ms lost")
    lab.sleep(10)
### STARTER
# # YOUR TURN: cuts["silent"] = measure.run_together(lab, [..., ...]), and cuts["seen"]
### END SOLUTION

# %% check="cut" points=2
lab17.check_cut(cuts).require()

# %% answer="moved"
print(lab17.question("moved"))
### BEGIN SOLUTION
moved = "a"
### STARTER
# moved = None
### END SOLUTION

# %% check="moved" points=1
lab17.check_moved({"moved": moved}).require()

# %% [markdown] id="incast-task"
# ## 4. All answer at once (40 minutes)
#
# In the new network, h1 asks the eight servers of its rack. `lab17.asks(number)` has so many requests, all at the same
# instant, over connections of their own; the ninth goes to the first server again. An answer has ten segments, just the
# first window of TCP (RFC 6928): no server waits for an acknowledgement. Linux also lets the closing packet (FIN) leave
# at once, so each answer is 11 packets. All go through the queue of leaf1-eth1. The links of the servers have no rate
# of their own, so all answers reach leaf1 at once.
#
# **Predict** two numbers. `requests`: how many requests does it take until a packet is lost?
# (`rack.links[0].queue_packets` is how many packets the queue holds.) `late`: if all segments of an answer are lost,
# nothing is acknowledged, and its server waits for the *retransmission timeout*: how many ms is that at least, in
# Linux? Any prediction earns the point.

# %% answer="incast-predict"
lab.stop()
rack = lab17.rack()
last = rack.links[0]
print(f"leaf1-eth1: {last.rate_mbps:g} Mbit/s, {last.queue_packets} packets fit into its queue")
incast = lab17.predict(
    "incast",
    ### BEGIN SOLUTION
    {"requests": rack.links[0].queue_packets // 11 + 1, "late": 200},
    sure=70,
    ### STARTER
    # {"requests": None, "late": None},
    # sure=None,
    ### END SOLUTION
)
incast

# %% check="incast-predict" points=1
lab17.check_predicted(incast).require()

# %% [markdown] id="incast-run-task"
# If answers come at once and overflow a queue, that is *incast*. Servers of today send a *tail loss probe* (RFC 8985):
# if no acknowledgement has come for about two round trips, they send the last segment once more. The next cell
# switches it off, for TCP had no probe when incast was studied (Phanishayee and others, 2008).
#
# **Your turn:** measure four runs. `answers["fits"]`: the most requests without a loss; `answers["first"]`: one more;
# `answers["twice"]`: twice as many as fit; then switch the probe on again (`tcp_early_retrans=3` on all servers):
# `answers["probe"]`, as many as in `twice`. Without a probe the slowest answer takes the least timeout, and besides it
# the round trips and the time in the queue: some 237 ms on the course network.
#
# After the check a cell without points takes a minute for 1 to 32 requests, again without a probe. Look at the
# *goodput*: the data of all answers, divided by the time until the last one is there.

# %% answer="incast"
crowd = start(rack)
servers = [f"h{number}" for number in range(2, 10)]
for server in servers:
    crowd[server].cmd("sysctl -w net.ipv4.tcp_early_retrans=0")
answers = dict.fromkeys(["fits", "first", "twice", "probe"])
### BEGIN SOLUTION
most = rack.links[0].queue_packets // 11
for name, number in {"fits": most, "first": most + 1, "twice": 2 * most}.items():
    answers[name] = measure.run_together(crowd, lab17.asks(number))
for server in servers:
    crowd[server].cmd("sysctl -w net.ipv4.tcp_early_retrans=3")
answers["probe"] = measure.run_together(crowd, lab17.asks(2 * most))
### STARTER
# # YOUR TURN: answers["fits"] = measure.run_together(crowd, lab17.asks(...)), and three more
### END SOLUTION
lab17.figures.answer_table(answers)

# %% check="incast" points=3
lab17.check_incast(answers).require()

# %% id="sweep"
for server in servers:
    crowd[server].cmd("sysctl -w net.ipv4.tcp_early_retrans=0")
sweep = {n: measure.run_together(crowd, lab17.asks(n)) for n in (1, 2, 4, 8, 16, 32)}
lab17.figures.answer_table(sweep)

# %% answer="timeout"
print(lab17.question("timeout"))
### BEGIN SOLUTION
timeout = "b"
### STARTER
# timeout = None
### END SOLUTION

# %% check="timeout" points=1
lab17.check_timeout({"timeout": timeout}).require()

# %% [markdown] id="sawtooth-task"
# ## 5. A queue that stays short (40 minutes)
#
# With *DCTCP* (RFC 8257) a queue marks each packet that finds more than K packets, and the sender counts marks. It
# keeps an average `a` of the share of its packets that is marked, and lowers its window by a/2 of itself: by little if
# few are marked. By the model of Alizadeh and others (2010), one flow of DCTCP behaves so:
#
# - The path itself holds `bdp` packets. Once the window is W = bdp + k, packets find k others in the queue. Before the
#   sender hears of the first mark, the window has risen to W + 1, and the queue to k + 1.
# - Then the window falls by (W + 1) * a / 2, and so does the queue.
# - The window grows by 1 each round trip, so it needs about W * a / 2 round trips until it falls again. Only in the
#   last of them packets are marked: a = 2 / (W * a), and so a = sqrt(2 / W).
#
# **Your turn:** write a function that returns the least and the largest queue, in packets, as a list.


# %% answer="sawtooth"
def sawtooth(bdp, k):
    ### BEGIN SOLUTION
    window = bdp + k
    fall = (window + 1) * (2 / window) ** 0.5 / 2
    return [k + 1 - fall, k + 1]
    ### STARTER
    # # YOUR TURN: return [least, largest]
    # ...
    ### END SOLUTION


# %% check="sawtooth" points=2
lab17.check_sawtooth(sawtooth).require()

# %% [markdown] id="marking-task"
# An *elephant* from h2 to h1 and a *mouse*, a ping from h3 to h1, meet in the queue of leaf1-eth1. `beside(control)`
# measures both, and the queue. **Your turn:** first run it with CUBIC and the queue as it is built. Then let the queue
# mark packets from K = 20 (`lab17.K`) on, and run it with DCTCP:
#
# - On h1 and h2: `sysctl -w net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control=dctcp`, as both ends need it.
# - On leaf1: `tc qdisc replace dev leaf1-eth1 parent 5:1 codel limit 100 target 1s interval 1s ce_threshold THRESHOLD`.
#   CoDel marks what has waited for longer than the threshold: how long do K packets of 1514 bytes need on this link
#   (`lab.network.links[0].rate_mbps`)? Write it as `12.345ms`, say. (`5:1` is where this queue hangs. With a target of
#   1 s, CoDel's own control, that of Lab 12, has nothing to do.)

# %% id="beside"
lab = start(lab17.rack(marking=True))


def beside(control):
    ping = measure.PingFlow("h3", "h1", count=40, interval_s=0.05, start_s=1)
    elephant = measure.TcpFlow("h2", "h1", duration_s=3, congestion=control)
    return [elephant, measure.QueueFlow("leaf1", "h1", duration_s=3, interval_s=0.01), ping]


# %% answer="marking"
marks = dict.fromkeys(["cubic", "dctcp"])
### BEGIN SOLUTION
marks["cubic"] = measure.run_together(lab, beside("cubic"))
for host in ("h1", "h2"):
    lab[host].cmd("sysctl -w net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control=dctcp")
threshold = f"{lab17.K * 1514 * 8 / lab.network.links[0].rate_mbps / 1000:.3f}ms"
codel = f"codel limit 100 target 1s interval 1s ce_threshold {threshold}"
lab["leaf1"].cmd(f"tc qdisc replace dev leaf1-eth1 parent 5:1 {codel}")
marks["dctcp"] = measure.run_together(lab, beside("dctcp"))
### STARTER
# # YOUR TURN: marks["cubic"] = measure.run_together(lab, ...); then ECN, tc, and marks["dctcp"]
### END SOLUTION
display(lab17.figures.queue_table(marks))
lab17.figures.queues(marks)

# %% check="marking" points=3
lab17.check_marking(marks).require()

# %% [markdown] id="fabric-question"
# **Question.** The rack of section 4 loses packets if too many answers come at once. Somebody proposes (1) twice as
# many spines, (2) a queue that is twice as long, (3) DCTCP on all servers. What does each of them change for the
# answers, and for the mouse of section 5? Name one thing that would help more.

# %% [markdown] reflect="fabric" points=3
# (1) Nothing: all servers hang on h1's own leaf, so no answer crosses a spine. Even if they did, they would meet in the
# queue of the last link. (2) The first loss comes with twice as many answers. But a queue that is twice as long also
# delays the mouse beside a CUBIC elephant twice as long. (3) The mouse waits for about K packets only. But the first
# windows arrive before any mark can reach a server, so the loss of incast stays, as long as the number of answers times
# the first window is more than the queue holds. (It leaves more room in the queue if elephants are there, too.) What
# helps more: smaller first windows, answers that are spread in time, a least timeout of about the round trip, or tail
# loss probes.
#
# **Rubric.** 3 points: (1) nothing, as the queue is at the last link; (2) the loss comes later, but the mouse waits
# longer; (3) the mouse waits for K, but the first windows come before any mark, with one help that is named. 1 point
# each. Typical wrong: "DCTCP has no losses": its first window is as large as CUBIC's.

# %% id="stop"
crowd.stop()
lab.stop()
lab17.explain("fabric")
lab17.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - Leaf and spine give as many equal paths as spines. BGP uses all of them if you allow it to treat AS paths of equal
#   length as equal.
# - A hash keeps each flow on one path. Many small flows spread by the binomial law. Few large flows meet: with four
#   flows and four spines in 91 of 100 cases.
# - A silent failure costs flows between *hold time minus keepalive* and the *hold time*; one that an interface sees
#   costs milliseconds. That is so if nothing but BGP watches the neighbour: BFD (Lab 15) tells within some tenths of a
#   second.
# - Incast: packets are lost as soon as the first windows that arrive together are more than the queue holds. If the end
#   of an answer is lost, it comes 200 ms late (Linux's least timeout), unless a probe tells of it.
# - DCTCP keeps the queue near K, because it lowers its window by half the share of its packets that is marked. It is
#   for networks whose senders and queues have one owner: a sender that lowers its window by more at each mark gets less
#   beside it, and RFC 8257 rules it out for the public Internet without more measures.
#
# **Review questions** (no points)
#
# 1. A fabric has 4 spines, and all flows are equally large. How many flows must it have so that the fullest spine gets
#    at most a few percent more than its share? <details><summary>Answer</summary>The standard deviation is about
#    sqrt(n * 3) / 4 flows of n / 4 on average, so sqrt(3 / n) of the share: 5 % for n = 1200.</details>
# 2. Linux's retransmission timeout has a least value of 200 ms. Why not 1 ms for all?
#    <details><summary>Answer</summary>A receiver may delay its acknowledgement, in Linux by up to 200 ms: with a
#    shorter timeout the sender would repeat what has arrived.</details>
# 3. How small may K be? <details><summary>Answer</summary>The queue must not run empty: k + 1 must be more than the
#    fall. Alizadeh and others find that K > bdp / 7 is enough, however many flows there are.</details>
# 4. A cable of spine1 is repaired, and leaf1 sends packets to spine1 at once. Why may they be lost for a second?
#    <details><summary>Answer</summary>spine1 must learn the routes to the other leaves again before it can pass
#    anything on. A router that has just come up should attract packets only when it knows all routes.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 7938 (BGP in data centres), RFC 2991 and 2992 (hashing), RFC 6928 (first window),
# RFC 8985 (probes), RFC 8257 (DCTCP); Phanishayee et al., "Measurement and analysis of TCP throughput collapse in
# cluster-based storage systems", FAST 2008 (incast); Alizadeh et al., "Data Center TCP", SIGCOMM 2010; Vasudevan et
# al., "Safe and effective fine-grained TCP retransmissions for datacenter communication", SIGCOMM 2009.
