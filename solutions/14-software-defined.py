# %% [markdown] id="goal"
# # Lab 14: Software-defined networking
#
# **Time:** about 3 hours and 25 minutes, ten minutes of them for measurements. **You need:** ARP and switches (Labs
# 01 and 10), propagation delay (Lab 04). Section 8 comes back to the token bucket of Lab 08 (section 3).
#
# An ordinary switch decides by itself. In a *software-defined network* a program elsewhere decides: the
# **controller**. It gives rules to the switches. First you write rules by hand. Then you write a controller that
# learns. You predict how much the controller's distance delays the first packet, and you see what still works after
# the controller stops.

# %% id="imports"
from mininet.link import TCLink
from mininet.topo import Topo

from linklab import lab14, measure, show, start
from linklab.programs.controller import rules, start_controller

display(lab14.progress())
network = lab14.the_network()


def new_lab():  # wall_limit_s stops a controller that never ends, after 60 s of real time
    return start(network, switch="ovs", controller="remote", wall_limit_s=60)


lab = new_lab()
show.network(lab)

# %% [markdown] id="hand-task"
# ## 1. Rules by hand (20 minutes)
#
# The **data plane** forwards frames. Here these are the switches s1 and s2, with Open vSwitch. The **control plane**
# decides where frames go. It is a program that speaks with the switches by *OpenFlow* 1.3, a protocol for such rules.
# There is none yet, and the switches are told not to learn by themselves (`fail_mode=secure`).
#
# | port | 1 | 2 | 3 |
# | --- | --- | --- | --- |
# | s1 | h1 | h2 | s2 |
# | s2 | h3 | h4 | s1 |
#
# A **flow table** has rules. A rule says what a frame must *match*, and which *actions* follow. `actions=output:2`
# sends the frame out of port 2. `FLOOD` sends it out of every port except the one it came in by. `drop` sends it
# nowhere. If several rules match, the one with the highest priority counts. A rule without `priority=` has priority
# 32768. For example, this command drops all frames of h4:
#
#     ovs-ofctl -O OpenFlow13 add-flow s2 priority=7,in_port=2,actions=drop
#
# A rule stays until you remove it, even if you write a better one: `ovs-ofctl -O OpenFlow13 del-flows s1` empties a
# table.
#
# **Your turn:** write rules for s1, so that h1 and h2 reach each other and no frame of theirs reaches s2. Ping h2,
# and read the table: `lab["s1"].cmd("ovs-ofctl -O OpenFlow13 dump-flows s1 --no-stats")`.


# %% answer="hand"
def add(lab, switch, *texts):
    for text in texts:
        print(lab[switch].cmd(f"ovs-ofctl -O OpenFlow13 add-flow {switch} '{text}'"), end="")


### BEGIN SOLUTION
add(lab, "s1", "in_port=1,actions=output:2", "in_port=2,actions=output:1")
print(lab["h1"].cmd(f"ping -n -c 1 -W 1 {lab14.address('h2')}"))
print(lab["s1"].cmd("ovs-ofctl -O OpenFlow13 dump-flows s1 --no-stats"))
### STARTER
# # YOUR TURN: add(lab, "s1", "...", "..."), then a ping, and dump-flows
### END SOLUTION

# %% check="hand" points=2
lab14.check_hand(lab).require()

# %% [markdown] id="learning-task"
# ## 2. Your own controller (40 minutes)
#
# Your controller runs on os-ken, a library in Python. The next cell shows its first part. You need not understand all
# of it. You need two methods: `self.add(switch, priority, match, port)` writes a rule (`match` is a dictionary), and
# `self.send(message, port)` sends the frame that a switch asked about. The last three lines write one rule when a
# switch joins: frames that match no other rule go to the controller.
#
# os-ken then calls `asked` for each such frame. The cell after that begins with an `asked` that makes a *hub*: each
# frame leaves through every port except the one it came in by, and the switch asks about every frame.
#
# **Your turn:** make it a learning switch.
#
# 1. The host `frame.src` is behind `in_port` of this switch: note it in the dictionary `self.port_of`. Both switches
#    share this dictionary, and `switch.id` tells them apart: what must the key be?
# 2. If the port of `frame.dst` is known, send the frame there, else to `FLOOD`.
# 3. If it is known, also write a rule of priority 1. Match `in_port`, `eth_src` and `eth_dst`.
#
# `print(controller)` shows the last exception of your code. It counts lines from the first one of `lab14.HEAD`.

# %% id="head"
print(lab14.HEAD)

# %% answer="learning"
asked = """
    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def asked(self, event):
        message, switch = event.msg, event.msg.datapath
        frame, in_port = packet.Packet(message.data)[0], message.match["in_port"]
        ### BEGIN SOLUTION
        self.port_of[switch.id, frame.src] = in_port
        port = self.port_of.get((switch.id, frame.dst), FLOOD)
        if port != FLOOD:
            match = {"in_port": in_port, "eth_src": frame.src, "eth_dst": frame.dst}
            self.add(switch, 1, match, port)
        self.send(message, port)
        ### STARTER
        # self.send(message, FLOOD)  # YOUR TURN
        ### END SOLUTION
"""

# %% id="learning-run"
learning = lab14.HEAD + asked
lab.stop()
lab = new_lab()
controller = start_controller(lab, learning)
print(lab["h1"].cmd(f"ping -n -c 3 -i 0.2 -W 1 {lab14.address('h3')}"))
print(controller)
for rule in rules(lab, "s1"):
    print(rule.priority, dict(rule.match), rule.actions, rule.packets, "packets")

# %% check="learning" points=4
lab14.check_learning(lab).require()

# %% [markdown] id="first-task"
# ## 3. How far is the controller? (30 minutes)
#
# Here the controller is next to the switches. In a large network it is some milliseconds away. `tc` delays everything
# that passes between switches and controller, in each direction. So each question costs twice this delay.
#
# **Predict** the time of the *first* ping of h1 to h3 in ms, in a new lab with your controller, 5 ms and 50 ms away.
# No host knows another host's MAC address yet. The cable between s1 and s2 has the delay
# `network.links[-1].delay_ms`. Any prediction earns the point.

# %% answer="first-predict"
first_ms = lab14.predict(
    "first",
    ### BEGIN SOLUTION
    {f"{delay} ms": 6 * 2 * delay + 2 * 2 * network.links[-1].delay_ms for delay in (5, 50)},
    sure=80,
    ### STARTER
    # {"5 ms": None, "50 ms": None},
    # sure=None,
    ### END SOLUTION
)
first_ms

# %% check="first-predict" points=1
lab14.check_predicted(first_ms).require()

# %% [markdown] id="first-measure"
# **Your turn:** measure both with `first_ping(delay_ms)`, and store the runs as `first[5]` and `first[50]`.


# %% answer="first"
def first_ping(delay_ms):
    with new_lab() as far:
        far["root"].cmd(f"tc qdisc add dev lo root netem delay {delay_ms}ms")
        start_controller(far, learning)
        far.sleep(2)
        pings = measure.PingFlow("h1", "h3", 5, 1)
        return measure.run_together(far, [pings], record=True)


first = dict.fromkeys([5, 50])
### BEGIN SOLUTION
for delay in first:
    first[delay] = first_ping(delay)
    print(delay, "ms:", first[delay].results[0].rtt_ms)
### STARTER
# # YOUR TURN: first[5] = first_ping(5), and the other one
### END SOLUTION

# %% check="first" points=2
lab14.check_first(first).require()

# %% [markdown] id="account-task"
# The next cell replays the pings with the controller 50 ms away. Step with `.`: if a frame arrives at a switch and
# leaves 100 ms later, the switch has asked the controller meanwhile. (The curve of round trips below the picture
# begins when the echo request leaves h1, after ARP. So it shows less than `ping` does.)
#
# **Your turn:** account for the time of the first ping. How many switches ask the controller about each of its four
# frames? Then answer the question that the cell prints.

# %% id="replay"
if first[50] is not None:
    display(show.network(first[50]))

# %% answer="account"
print(lab14.question("reply"))
### BEGIN SOLUTION
asks = {"ARP request": 2, "ARP reply": 2, "echo request": 2, "echo reply": 0}
reply = "a"
### STARTER
# asks = {"ARP request": None, "ARP reply": None, "echo request": None, "echo reply": None}
# reply = ""  # a letter, as "a"
### END SOLUTION

# %% check="account" points=3
lab14.check_account(asks, reply).require()

# %% [markdown] id="dies-task"
# ## 4. The controller stops (20 minutes)
#
# In a new lab h1 pings h3. Then the controller stops. **Your turn:** say which pings are answered after that. Then
# run the cell below the answer, which tries it, and change your answer if you must.

# %% answer="dies"
print(lab14.question("dies"))
### BEGIN SOLUTION
dies = "c"
### STARTER
# dies = None  # a letter, as "a"
### END SOLUTION

# %% id="dies-run"
with new_lab() as quiet:
    gone = start_controller(quiet, learning)
    print(quiet["h1"].cmd(f"ping -q -c 2 -i 0.2 -W 1 {lab14.address('h3')}"))
    gone.stop()
    for one, other in (("h1", "h3"), ("h2", "h4"), ("h1", "h2")):
        said = quiet[one].cmd(f"ping -q -c 2 -i 0.2 -W 1 {lab14.address(other)}")
        print(
            one, "to", other, said.splitlines()[-2] if "rtt" in said else said.splitlines()[3]
        )

# %% check="dies" points=1
lab14.check_dies(dies).require()

# %% [markdown] id="idle-task"
# ### Rules that end
#
# A rule with an *idle timeout* is removed when no frame matched it for that time. A rule with a *hard timeout* is
# removed when that time has passed since it was written. Timeouts keep tables small. (`self.add` has an idle timeout
# as `idle_s`.)
#
# The cell below the prediction writes two rules with `idle_timeout=10` by hand. Then h1 pings h2 seven times, once a
# second. **Predict** when the rules are removed, in seconds after they were written. Any prediction earns the point.
# The switch itself says how long they lived (`duration`, in the lab's time). It looks for such rules now and then, so
# it may notice up to 1.5 s late.

# %% answer="idle"
gone_s = lab14.predict(
    "idle",
    ### BEGIN SOLUTION
    {"gone": 6 + 10},
    sure=80,
    ### STARTER
    # {"gone": None},
    # sure=None,
    ### END SOLUTION
)
gone_s

# %% id="idle-run"
lab.stop()
lab = new_lab()
switch_says = lab["s1"].popen("timeout 40 ovs-ofctl -O OpenFlow13 monitor s1 128")
lab.sleep(1)
for one, other in ((1, 2), (2, 1)):
    add(lab, "s1", f"idle_timeout=10,send_flow_rem,in_port={one},actions=output:{other}")
lab["h1"].cmd(f"ping -c 7 -i 1 {lab14.address('h2')}")
switch_says.wait()
removed = [line for line in switch_says.output.splitlines() if "REMOVED" in line]
print(*removed, sep="\n")

# %% check="idle" points=1
lab14.check_idle(removed, gone_s).require()

# %% [markdown] id="proactive-task"
# ## 5. Rules for all, before the first packet (20 minutes)
#
# A *reactive* rule is written when a packet matches no rule. A *proactive* rule is written before the first packet:
# the switch need not ask the controller, but somebody must know all hosts in advance.
#
# **Your turn:** in this lab without a controller, write rules of priority 1 for both switches, so that all four hosts
# reach each other. Match the destination: `dl_dst` is what os-ken calls `eth_dst`. `lab14.mac("h1")` is a host's MAC
# address. ARP requests go to `ff:ff:ff:ff:ff:ff`: these frames may be flooded, and no others. (Rules that are wrong
# stay: `lab.stop()` and `lab = new_lab()` give you empty tables again.)

# %% answer="proactive"
### BEGIN SOLUTION
ports = {"s1": {"h1": 1, "h2": 2, "h3": 3, "h4": 3}, "s2": {"h1": 3, "h2": 3, "h3": 1, "h4": 2}}
for switch, port_of in ports.items():
    add(lab, switch, "dl_dst=ff:ff:ff:ff:ff:ff,actions=FLOOD")
    for host, port in port_of.items():
        add(lab, switch, f"priority=1,dl_dst={lab14.mac(host)},actions=output:{port}")
### STARTER
# # YOUR TURN: add(lab, "s1", "priority=1,...", ...), and the same for s2
### END SOLUTION

# %% check="proactive" points=3
lab14.check_proactive(lab).require()

# %% [markdown] id="firewall-task"
# ## 6. A firewall and a load balancer (45 minutes)
#
# A *firewall* stops packets that somebody does not want. A rule can match more than an ordinary switch
# looks at: `icmp,nw_src=...,nw_dst=...` matches pings between two IP addresses.
#
# **Your turn:** add rules of a higher priority at s1, so that no ping between h2 and h4 is answered, in either
# direction. Everything else goes on: TCP between h2 and h4 too. `lab14.address("h2")` is an address. If a first rule
# was wrong, remove it: `ovs-ofctl -O OpenFlow13 del-flows s1 ip` removes all rules of s1 for IP packets, and with
# `icmp` in place of `ip` those for ICMP. To remove a rule that matches everything, use `ovs-ofctl -O OpenFlow13
# --strict del-flows s1 priority=10`.

# %% answer="firewall"
### BEGIN SOLUTION
h2, h4 = lab14.address("h2"), lab14.address("h4")
for one, other in ((h2, h4), (h4, h2)):
    add(lab, "s1", f"priority=10,icmp,nw_src={one},nw_dst={other},actions=drop")
### STARTER
# # YOUR TURN: add(lab, "s1", "priority=10,icmp,...,actions=drop")
### END SOLUTION

# %% check="firewall" points=3
lab14.check_firewall(lab).require()

# %% [markdown] id="balancer-task"
# A *load balancer* makes several servers look like one. h3 and h4 offer the same service at one address,
# `lab14.address("service")`, which no host has. No host would answer an ARP request for it. So the next cell tells h1
# and h2 a made-up MAC address for the service.
#
# s1 *rewrites* these frames. `mod_nw_dst:` changes the destination's IP address, `mod_dl_dst:` the destination's MAC
# address, and `mod_nw_src:` the source's IP address. Several actions stand in a row:
# `actions=mod_dl_dst:...,mod_nw_dst:...,output:3`.
#
# **Your turn:** at s1, send all of h1's IP packets for the service to h4, and h2's to h3. The answers must come from
# the service's address, because h1 and h2 know no other.

# %% id="balancer-start"
service = lab14.address("service")
for host in ("h1", "h2"):
    lab[host].cmd(f"ip neigh replace {service} lladdr 00:00:00:00:00:aa dev {host}-eth0")

# %% answer="balancer"
### BEGIN SOLUTION
for port, client, server in ((1, "h1", "h4"), (2, "h2", "h3")):
    there, back = lab14.address(client), lab14.address(server)
    to = f"mod_dl_dst:{lab14.mac(server)},mod_nw_dst:{back},output:3"
    add(lab, "s1", f"priority=20,ip,nw_src={there},nw_dst={service},actions={to}")
    home = f"mod_nw_src:{service},output:{port}"
    add(lab, "s1", f"priority=20,ip,nw_src={back},nw_dst={there},actions={home}")
### STARTER
# # YOUR TURN: add(lab, "s1", "priority=20,ip,nw_src=...,nw_dst=...,actions=...")
### END SOLUTION

# %% check="balancer" points=3
lab14.check_balancer(lab).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model how such a load balancer works, and you get a paragraph like this one. It is fluent, and one of
# its sentences is wrong.
#
# > (1) The rules choose the server by the client's address, so all packets of a TCP connection go to one server. (2)
# > The answers must come from the service's address: h1 has no connection with h4's own address, and would refuse
# > them. (3) s1 remembers no connections: its rules look at each packet alone. (4) A packet for a server's own
# > address matches none of the rules for the service, so h1 still reaches h4 at h4's own address, as before. (5)
# > Rules that also matched the port of the service would leave all other packets of h4 as they are.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it. `measure.EchoFlow("h1", "h3", count=5)`
# sends UDP datagrams and counts those whose answer comes from the right address. (`ping` takes answers from any
# address.) Also show that the network itself works: put two flows from one host into one `measure.run_together(lab,
# [...])`, one that is answered and one that is not. Store the sentence's number and the run.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 4
pair = [measure.EchoFlow("h1", server, count=5) for server in ("h3", "h4")]
shows_it = measure.run_together(lab, pair)
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run_together returns
### END SOLUTION

# %% check="claim" points=3
lab14.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="ring-task"
# ## 7. A ring without a spanning tree (15 minutes)
#
# Four switches form a ring. In a ring a broadcast goes round for ever. (When the ring starts, a line warns you of
# this. It is expected here.) Ordinary switches therefore block one cable (spanning tree), and some frames take the
# long way. With rules, no cable must be blocked. Port 1 of each switch leads to its own host, port 2 to the next
# switch (s4's next is s1), and port 3 to the switch before. The next cell gives all hosts each other's MAC
# addresses, so no host sends a broadcast.
#
# **Your turn:** complete the function in the cell after that. It returns the port by which a frame leaves switch
# number `switch` to host number `host` on a shortest path.


# %% id="ring"
class Ring(Topo):
    def build(self):
        for number in range(1, 5):
            self.addLink(self.addHost(f"h{number}"), self.addSwitch(f"s{number}"), port2=1)
        cable = {"cls": TCLink, "delay": f"{network.links[-1].delay_ms}ms"}
        for number in range(1, 5):
            self.addLink(f"s{number}", f"s{number % 4 + 1}", port1=2, port2=3, **cable)


def know_all(net):
    net.staticArp()


lab.stop()
ring = start(Ring(), switch="ovs", controller="remote")
ring.call(know_all)


# %% answer="ring"
display(show.network(ring))


def port(switch, host):
    ### BEGIN SOLUTION
    steps = (host - switch) % 4
    return 1 if steps == 0 else 2 if steps <= 2 else 3
    ### STARTER
    # ...  # YOUR TURN: return 1, 2 or 3
    ### END SOLUTION


# %% id="ring-rules"
for switch in range(1, 5):
    for host in range(1, 5):
        if port(switch, host) in (1, 2, 3):
            text = f"dl_dst={lab14.mac(f'h{host}')},actions=output:{port(switch, host)}"
            add(ring, f"s{switch}", text)

# %% check="ring" points=3
lab14.check_ring(ring).require()

# %% [markdown] id="papers-question"
# ## 8. What two studies saw (15 minutes)
#
# Two groups compared Mininet with real switches. The first group (2016, on MTU and bandwidth: Lab 08) saw strange
# *first packets* in Mininet. After a few packets the values were as expected.
#
# | link (Mbit/s) | frame (bytes) | value | Mininet (Mbit/s) | real network (Mbit/s) |
# | --- | --- | --- | --- | --- |
# | 10 | 1518 | largest | 20.8 | 9.9 |
# | 10 | 4370 | largest | 31.5 | 9.8 |
# | 100 | 1518 | smallest | 7.3 | 94.3 |
#
# The second group (Jimenez and others, 2015, section 4.2) sent video for a longer time. Its mean times between
# packets were nearly equal: 9.34 ms in the real network, 9.32 ms in Mininet.
#
# **Question.** A learning controller ran in Mininet. Does it explain the three rows of the table, and the two means?
# Say why for each, or say which other cause is needed (Lab 08, section 3).

# %% [markdown] reflect="papers" points=4
# The first packets wait for the controller at each switch. A bandwidth over the first packets divides their bytes by
# a time in which hardly anything arrived. That explains a low first value such as 7.3 of 100 Mbit/s. It cannot
# explain more than the link's rate by itself: from a cable, packets that waited leave one after another, at the
# link's rate at most. For 20.8 and 31.5 of 10 Mbit/s another cause is needed: a rate limiter that lets a burst pass
# at first (Mininet's token bucket starts full). It needs several packets at once: from a fast sender, or those that
# waited for the controller. A mean over thousands of packets hides a few late ones: 10 packets that are 100 ms late
# among 10,000 change it by 0.1 ms.
#
# **Rubric.** 4 points: the wait explains the low value; it alone explains no value above the rate of the link;
# another cause for those (a limiter's burst, which several packets at once can use up); a mean over many packets
# hides the first ones. 1 point each. Typical wrong: (1) "the controller makes packets faster"; (2) "Mininet is
# inaccurate" without a mechanism.

# %% id="explain-papers"
ring.stop()
lab14.explain("papers")
lab14.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - The data plane forwards by rules, and the control plane writes them. Rules stay when the controller stops.
# - A frame about which a switch asks the controller costs a round trip to the controller, at each switch. Later
#   frames cost nothing.
# - Proactive rules need no question to the controller, but somebody must know all hosts in advance. Idle timeouts keep
#   tables small.
# - The same tables make a switch, a firewall, a load balancer, and shortest paths without a spanning tree.
#
# **Review questions** (no points)
#
# 1. A path has five switches, and the controller is 10 ms away. How long do the questions of a first ping take?
#    <details><summary>Answer</summary>Three frames ask at five switches: 15 * 20 ms = 300 ms.</details>
# 2. A controller writes the rules of *all* switches on the path at the first question. How much of this time remains?
#    <details><summary>Answer</summary>Seven questions, 140 ms, if rules arrive before the frame does and each question
#    gives the rules of one direction. The ARP request is a broadcast, and this controller has no rule for those: all
#    five switches ask. The ARP reply asks at the last switch and the echo request at the first one.</details>
# 3. All packets of a TCP connection must go to the same server. How do your rules of section 6 make sure of that?
#    <details><summary>Answer</summary>They choose by the client's address alone, so all packets of a client go to one
#    server. Another server would not know the connection, and would answer with a reset.</details>
# 4. h1 pings h3 once every 15 s, and rules have an idle timeout of 10 s. What does each ping cost?
#    <details><summary>Answer</summary>Four questions, because its rules were removed: two switches ask about the echo
#    request and two about the reply. ARP is not needed as long as the hosts remember. Measured with the controller 50
#    ms away: 620, 10, 410, 410 ms. The second ping asks nothing: five seconds after the first ping, h3 checked by ARP
#    that h1 is still there, and these frames began the idle time anew.</details>
# 5. Why is a rule that matches `in_port` and `eth_dst` alone dangerous in a learning switch?
#    <details><summary>Answer</summary>It also matches frames of hosts that the controller has not learned yet. So the
#    controller never sees these hosts, and floods all frames that are sent to them.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); McKeown and others, *OpenFlow: Enabling Innovation in Campus Networks*, 2008; OpenFlow
# Switch Specification 1.3; ovs-fields(7), ovs-actions(7); RFC 7426 (terms of software-defined networks). Bosshart and
# others, *P4: Programming Protocol-Independent Packet Processors*, 2014: switches whose fields and tables you define.
