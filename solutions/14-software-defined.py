# %% [markdown] id="goal"
# # Lab 14: Software-defined networking
#
# **Time:** about 3 hours, a few minutes of them for measurements. **You need:** ARP and switches (Labs 01 and 10),
# propagation delay (Lab 04).
#
# A usual switch decides by itself. In a *software-defined network* a program elsewhere decides, the **controller**, and
# it tells the switches by rules. You write rules by hand, then a controller that learns. You predict what its distance
# costs the first packet, and see what goes on when it ends.

# %% id="imports"
from mininet.link import TCLink
from mininet.topo import Topo

from linklab import lab14, measure, show, start
from linklab.programs.controller import rules, start_controller

lab14.progress()

# %% id="start"
network = lab14.the_network()


def new_lab():
    # a lab whose controller computes without end is ended after 60 s of real time
    return start(network, switch="ovs", controller="remote", wall_limit_s=60)


lab = new_lab()
show.network(lab)

# %% [markdown] id="hand-task"
# ## 1. A switch without a mind (15 minutes)
#
# The **data plane** forwards frames: s1 and s2, with Open vSwitch. The **control plane** decides how. It is a program
# that speaks OpenFlow 1.3 with the switches. There is none yet, and the switches are told not to learn by themselves
# (`fail_mode=secure`). Ports 1 and 2 of each switch lead to its hosts, port 3 leads to the other switch.
#
# A **flow table** has rules: what a frame must *match*, and which *actions* follow. `actions=output:2` sends it by port
# 2, `FLOOD` by all ports but its own, `drop` by none. The rule of the highest priority wins. It is 32768 for a rule
# that does not say it. For example
#
#     ovs-ofctl -O OpenFlow13 add-flow s2 priority=7,in_port=1,actions=drop
#
# **Your turn:** write rules for s1, so that h1 and h2 reach each other and no frame of theirs reaches s2. Ping h2, and
# read the table: `lab["s1"].cmd("ovs-ofctl -O OpenFlow13 dump-flows s1 --no-stats")`.


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
# ## 2. Your own controller (35 minutes)
#
# Your controller runs on os-ken, a library in Python. Its first part is given below: `self.add(switch, priority, match,
# port)` writes a rule (`match` is a dictionary), and `self.send(message, port)` sends the frame that a switch asked
# about. The last three lines write one rule when a switch joins: what meets no other rule goes to the controller.
#
# Then os-ken calls `asked` for each such frame. As it stands below, it makes the switches a *hub*: each frame leaves by
# all ports, and the controller is asked each time.
#
# **Your turn:** make it a learning switch.
#
# 1. The host `frame.src` is behind `in_port` of this switch (`switch.id`): note it in the dictionary `self.port_of`.
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
# Here the controller is next to the switches. In a large network it is some milliseconds away. `tc` delays all that
# passes between switches and controller, in each direction. So each question costs twice this delay.
#
# **Predict** the time of the *first* ping of h1 to h3 in ms, in a new lab with your controller, 5 ms and 50 ms away. No
# host knows another one's MAC address yet. The cable between s1 and s2 has the delay `network.links[-1].delay_ms`. Any
# prediction earns the point.

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

# %% [markdown] id="first-question"
# **See it.** The next cell replays the pings with the controller 50 ms away. Step with `.`: a frame that arrives at
# a switch and leaves 100 ms later was in a question. The curve has about 210 ms for the first ping, because it begins
# when the echo request leaves h1.
#
# **Question.** Account for the time of the first ping, frame by frame: at which switch does a frame ask the controller,
# and why does another one not ask?

# %% id="replay"
if first[50] is not None:
    display(show.network(first[50]))

# %% [markdown] reflect="first" points=4
# The ARP request (a broadcast) asks at s1 and at s2: no rule is there. The ARP reply of h3 asks at s2 and s1. Now the
# controller knows h1, so it writes rules for h3 to h1. The echo request of h1 asks at s1 and s2, because no rule is
# there for h1 to h3 yet. The echo reply meets the rules of the ARP reply. Six questions take 12 times the delay: 60 and
# 600 ms, and ARP and ping a round trip each on the cable between the switches.
#
# **Rubric.** 4 points: ARP request, ARP reply and echo request, each at two switches; each time no rule is there yet;
# the echo reply meets rules that exist; the sum, with two round trips of the cable. 1 point less for each that is
# missing. Typical wrong: (1) "one question for each ping": each switch asks for itself; (2) forgetting ARP; (3) "the
# controller forwards the data": only the frames that were asked about.

# %% id="explain-first"
lab14.explain("first")

# %% [markdown] id="dies-task"
# ## 4. The controller ends (15 minutes)
#
# In a new lab h1 pings h3. Then the controller ends. Which pings work after that? Say it before you run the cell.
#
# A rule with an *idle timeout* ends when no frame has met it for so long, and one with a *hard timeout* so long after
# it was written. This keeps tables small. `self.add` has the first one as `idle_s`. Below, two rules with
# `idle_timeout=10` are written by hand; then h1 pings h2 seven times, a second apart. **Predict** when they are gone,
# in seconds after they were written. Any prediction earns the point. The switch itself says how long they lived
# (`duration`, in the lab's time); it looks for such rules now and then, so up to 1.5 s late.

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

# %% answer="dies"
print(lab14.question("dies"))
### BEGIN SOLUTION
dies = "c"
### STARTER
# dies = None  # a letter, as "a"
### END SOLUTION

# %% check="dies" points=1
lab14.check_dies(dies).require()

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
# **Your turn:** in this lab without a controller, write rules of priority 1 for both switches, so that all four hosts
# reach each other. Match the destination: `dl_dst` is what os-ken calls `eth_dst`. `lab14.mac("h1")` is a host's MAC
# address. ARP requests go to `ff:ff:ff:ff:ff:ff`: these frames may be flooded, and no others. (`lab.stop()` and
# `lab = new_lab()` give you empty tables again.)

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
# ## 6. A firewall and a load balancer (35 minutes)
#
# A rule can look deeper than a switch does: `icmp,nw_src=...,nw_dst=...` matches pings between two IP addresses.
#
# **Your turn:** add rules of a higher priority, so that pings between h2 and h4 are dropped. All else goes on: TCP
# between h2 and h4 too. `lab14.address("h2")` is an address.

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
# h3 and h4 offer the same service at one address, `lab14.address("service")`, which no host has. h1 and h2 send frames
# for it to a MAC address that no host has (next cell). s1 *rewrites* them: `mod_nw_dst:` and `mod_dl_dst:` change the
# destination's IP and MAC address, `mod_nw_src:` the source's. Actions stand in a row:
# `actions=mod_dl_dst:...,mod_nw_dst:...,output:3`.
#
# **Your turn:** at s1, send h1's packets for the service to h4, and h2's to h3. The answers must come from the
# service's address, since h1 and h2 know of no other.

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

# %% [markdown] id="balancer-question"
# **Question.** h1 opens a TCP connection to h4's *own* address now, and not to the service's. Follow the first packet
# and the answer through your rules: why does the connection fail?

# %% [markdown] reflect="balancer" points=3
# The packet to h4's own address meets no rule of the balancer, and reaches h4 as before. h4 answers from its own
# address. At s1 this answer meets the rule for packets of h4 to h1, which knows nothing of connections: it puts the
# service's address there as the source. h1 has no connection with that address and does not accept the answer: TCP
# refuses it with a reset (ping takes it, and says "DIFFERENT ADDRESS"). A better rule would match more, for example the
# port of the service (`tcp,tp_src=80`).
#
# **Rubric.** 3 points: the packet reaches h4 unchanged; s1 changes the source of the answer; h1 has no connection with
# the service's address, so TCP refuses. 1 point each. Typical wrong: (1) "h4 cannot answer": it does, and s1 changes
# the answer; (2) "the packet is sent to the other server": only packets for the service's address are.

# %% [markdown] id="ring-task"
# ## 7. A ring without a spanning tree (15 minutes)
#
# Four switches form a ring. In a ring a broadcast goes round for ever. Usual switches therefore block a cable (spanning
# tree), and frames take the long way. With rules no cable need be blocked. Port 1 of each switch leads to its own host,
# port 2 to the next switch (s4's next is s1), and port 3 to the one before. The next cell gives all hosts each other's
# MAC addresses, so nobody broadcasts.
#
# **Your turn:** complete the function: it returns the port by which a frame leaves switch number `switch` to host
# number `host` on a shortest path.


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
# Two groups compared Mininet with real switches. One (on MTU and bandwidth) saw strange *first packets* in Mininet: at
# links of 10 Mbit/s the largest value of bandwidth was 20.8 Mbit/s with an MTU of 1518 bytes and 31.5 with 4370, where
# the real network had 9.9 and 9.8. At 100 Mbit/s the smallest value was 7.3 Mbit/s, where the real network had 94.3.
# After a few packets all was as it should be. The other one (Jimenez and others, 2015, section 4.2) sent video for a
# longer time, and its mean delays were nearly equal: 9.34 ms in the real network, 9.32 in Mininet.
#
# **Question.** A learning controller ran in Mininet. Say of each of these numbers whether that explains it, and how.

# %% [markdown] reflect="papers" points=4
# The first packets wait for the controller at each switch. A value of bandwidth over the first packets is their bytes
# divided by a time in which nothing arrived: that explains a low first value such as 7.3 of 100 Mbit/s. It cannot
# explain more than the link's rate by itself: from a cable, packets that waited leave one after another, at the link's
# rate at most. For 20.8 and 31.5 of 10 Mbit/s another cause is needed: a rate limiter that lets a burst pass at first
# (Mininet's token bucket starts full). It needs several packets at once: from a fast sender, or those that waited for
# the controller. A mean over thousands of packets hides a few late ones: 10 packets that are 100 ms late among 10,000
# change it by 0.1 ms.
#
# **Rubric.** 4 points: the wait explains the low value; it alone explains no value above the rate of the link; another
# cause for those (a limiter's burst, which several packets at once can use up); a mean over many packets hides the
# first ones. 1 point each. Typical wrong: (1) "the controller makes packets faster"; (2) "Mininet is inaccurate"
# without a mechanism.

# %% id="explain-papers"
ring.stop()
lab14.explain("papers")
lab14.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - The data plane forwards by rules, and the control plane writes them. Rules stay when the controller ends.
# - A frame without a rule costs a round trip to the controller, at each switch. Later frames cost nothing.
# - Proactive rules need no question, and somebody who knows all hosts. Idle timeouts keep tables small.
# - The same tables make a switch, a firewall, a load balancer, and shortest paths without a spanning tree.
#
# **Review questions** (no points)
#
# 1. A path has five switches, and the controller is 10 ms away. How long do the questions of a first ping take?
#    <details><summary>Answer</summary>Three frames ask at five switches: 15 * 20 ms = 300 ms.</details>
# 2. A controller writes the rules of *all* switches on the path at the first question. What remains of that?
#    <details><summary>Answer</summary>Seven questions, 140 ms, if rules arrive before the frame does and each question
#    gives the rules of one direction. The ARP request is a broadcast, and this controller has no rule for those: all
#    five switches ask. The ARP reply asks at the last switch and the echo request at the first one.</details>
# 3. All packets of a TCP connection must go to the same server. How do your rules of section 6 see to that?
#    <details><summary>Answer</summary>They choose by the client's address alone, so all that a client sends goes to one
#    server. Another server would know nothing of the connection, and answer with a reset.</details>
# 4. h1 pings h3 once every 15 s, and rules have an idle timeout of 10 s. What does each ping cost?
#    <details><summary>Answer</summary>Questions again, as its rules have ended: at two switches for the echo request
#    and at two for the reply. ARP is not needed, as long as the host remembers. Measured with the controller 50 ms
#    away: 620, 10, 410, 410 ms. The second ping asks nothing: five seconds after the first one h3 made sure by ARP that
#    h1 is still there, and these frames began the idle time anew.</details>
# 5. Why is a rule that matches `in_port` and `eth_dst` alone dangerous in a learning switch?
#    <details><summary>Answer</summary>It also catches frames of hosts that are not learned yet. The controller never
#    sees them, and floods all that is sent to those hosts.</details>
#
# ### Where to read on
#
# The [glossary](glossary.md); McKeown and others, *OpenFlow: Enabling Innovation in Campus Networks*, 2008; OpenFlow
# Switch Specification 1.3; ovs-fields(7), ovs-actions(7); RFC 7426 (terms of software-defined networks).
