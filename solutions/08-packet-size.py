# %% [markdown] id="goal"
# # Lab 08: Packet size
#
# In 2016 a group of researchers asked: can you trust Mininet? They sent packets of three sizes through a real
# network and through Mininet, and published both results. In most cases the two results agree. But in Mininet
# the *first* packets were faster than the link: up to 31.5 Mbit/s on a link of 10 Mbit/s. No cable does that.
#
# You repeat their measurement, find the cause, and remove it. Then you look into a *tunnel*, which carries
# packets inside packets. The study used one too. At the end a packet does not fit into a link. You find out whether
# the sender learns this. You see a transfer that hangs, because nobody tells its sender.
#
# **Time:** 180 minutes (and 20 for the optional part). If you have less, sections 1, 5 and 6 stand by themselves.
# **You need:** headers and frames (Lab 00), `lab[...].cmd` and routes (Lab 01), packet trains (Lab 03).
#
# The study: *International Journal on Advances in Networks and Services*, vol. 9, no. 3 & 4, 2016.

# %% id="imports"
from linklab import lab08, measure, show, start
from linklab.show import theory

display(lab08.progress())
lab = start(lab08.mtu_direct(frame_bytes=7999, link_mbps=10))
show.network(lab)

# %% [markdown] id="sizes-intro"
# ## 1. How large is a packet? (15 minutes)
#
# A link's *MTU* (maximum transmission unit) is the size of the largest IP packet that the link carries. An Ethernet
# *frame* is larger: a header of 14 bytes, then the IP packet, followed by a *checksum* of 4 bytes, which shows whether
# the frame was damaged. A virtual cable carries no checksum. The study says "MTU" but means the frame with its
# checksum: 1518 (Ethernet), 4370 (FDDI, an older kind of network) or 7999 bytes. The study calls the last one 802.11:
# that is Wi-Fi, where a packet has at most 2304 bytes, and a larger frame carries several. We add a small frame of 100
# bytes.
#
# | frame of 1518 | Ethernet header | IPv4 header | UDP or ICMP header | your data | checksum |
# | --- | --- | --- | --- | --- | --- |
# | bytes | 14 | 20 | 8 | 1472 | 4 |
#
# **Your turn:** read the MTU of `h1-eth0` with `ip link show h1-eth0`. Then find the largest ping that passes
# in one piece. `ping -c 1 -M do -s 1000 10.0.0.2` sends 1000 bytes of data. `-M do` sets the bit *don't
# fragment* (DF) in the IP header: no device may cut the packet. Try other values of `-s`. Read what `ping`
# prints when the packet is too large. (It may print a time of 0.000 ms: section 3 says why.)

# %% answer="ping"
### BEGIN SOLUTION
print(lab["h1"].cmd("ip link show h1-eth0"))
print(lab["h1"].cmd("ping -c 1 -M do -s 7954 10.0.0.2"))
print(lab["h1"].cmd("ping -c 1 -M do -s 7953 10.0.0.2"))
largest_ping = 7953
### STARTER
# # YOUR TURN: print(lab["h1"].cmd("ip link ...")), then pings
# largest_ping = None  # the largest -s that passes
### END SOLUTION

# %% check="ping" points=1
lab08.check_ping(largest_ping).require()

# %% [markdown] id="curve-task"
# ## 2. Does size matter? (25 minutes)
#
# Now `h1` fills the link: it sends UDP as fast as it can, without a pause. The link carries 10 Mbit/s of
# frames. How much of that is *data*, for each size of frame?
#
# **Your turn:** sketch the curve, from frames of 100 bytes to frames of 7999 bytes. Run the cell, draw the curve in its
# figure, and run the cell again: it writes your points down. You can also write them yourself: at least three points,
# from left to right, `[(100, ...), (1518, ...), ...]`. A point is the frame in bytes and the data in Mbit/s. `sure`
# says how sure you are, in percent. No sketch is wrong. The figure of your measurement will also show your sketch.

# %% answer="curve"
curve = lab08.predict(
    "curve",
    ### BEGIN SOLUTION
    [(100, 5.6), (1518, 9.7), (4370, 9.9), (7999, 9.9)],
    sure=80,
    ### STARTER
    # None,
    # sure=None,
    ### END SOLUTION
)
curve

# %% check="curve" points=1
lab08.check_predicted(curve).require()

# %% [markdown] id="runs-task"
# `measure.run(lab, measure.TrainFlow("h1", "h2", 400, 1472))` sends 400 datagrams with 1472 bytes of data each,
# as fast as `h1` can. It returns when each datagram left and when it arrived. The kernel records these arrival
# times, so a slow program does not change them.
#
# **Your turn:** measure all four sizes of frame. `TrainFlow` needs the bytes of *data* in a packet: compute
# them with the table in section 1.
#
# The check compares two numbers of each train with theory. The *lasting bandwidth* is that of whole frames, as
# the study counts them: 100 bytes where the virtual cable carries 96. So a link of 10 Mbit/s shows 10.42. The *bytes
# that pass at once* are the subject of section 3.

# %% answer="runs"
runs = dict.fromkeys([100, 1518, 4370, 7999])
### BEGIN SOLUTION
for size in runs:
    runs[size] = measure.run(lab, measure.TrainFlow("h1", "h2", 400, size - 46))
### STARTER
# # YOUR TURN: runs[1518] = measure.run(lab, measure.TrainFlow("h1", "h2", 400, 1472)), and so on
### END SOLUTION

# %% check="runs" points=2
lab08.check_runs(runs).require()

# %% answer="waste"
display(lab08.data_figure(runs, sketch=curve.sketch))
print(lab08.question("waste"))
### BEGIN SOLUTION
waste = "b"
### STARTER
# waste = None  # a letter, as "a"
### END SOLUTION

# %% check="waste" points=1
lab08.check_waste(waste).require()

# %% [markdown] id="bucket-intro"
# ## 3. The second packet (35 minutes)
#
# Your figure shows the link's rate over many packets. The study's surprise was in the first packets.
#
# How does a computer imitate a link of 10 Mbit/s? With a *token bucket*. Tokens flow into the bucket at the
# link's rate, one for each byte, until the bucket is full. A packet takes as many tokens as it has bytes. When
# the bucket is empty, packets wait. When no packet is sent, the bucket fills.
#
# Linux has such a queueing discipline, HTB. HTB has two buckets, `burst` and `cburst`. A packet needs the
# permission of both, so the smaller bucket decides. HTB sends a packet if the bucket is *not in debt* (below
# zero). This packet may put the bucket into debt.
#
# **Your turn:** read the size of the bucket of `h1` with `tc class show dev h1-eth0`. Then predict: two frames of 4370
# bytes (4366 on the virtual cable) meet a full bucket. The first frame leaves at once. What is the bandwidth from the
# first packet to the second, in Mbit/s? Divide the bits of one frame, 4370 bytes as in the study, by the time between
# the two packets.

# %% answer="first"
### BEGIN SOLUTION
print(lab["h1"].cmd("tc class show dev h1-eth0"))
first = lab08.predict("first", 4370 * 10 / (4366 - 1600), sure=70)
### STARTER
# # YOUR TURN: print(lab["h1"].cmd("tc ..."))
# first = lab08.predict("first", None, sure=None)
### END SOLUTION
first

# %% check="first" points=1
lab08.check_predicted(first).require()

# %% [markdown] id="bandwidth-task"
# The study shows the bandwidth at each packet, but not how it computes this bandwidth. We take the mean since
# the first packet. Packet k arrives at the time t_k. Since t_1, k - 1 frames have arrived:
#
# $$B_k = \frac{8 \cdot \mathrm{size} \cdot (k - 1)}{t_k - t_1}$$
#
# **Your turn:** write this formula as a function. `arrivals_s` is a list of times in seconds, in order. Return
# a list in Mbit/s, for packets 2, 3, and so on. The check tests your function. Then it shows your prediction
# next to your own run.


# %% answer="bandwidth"
def bandwidth(arrivals_s, frame_bytes):
    ### BEGIN SOLUTION
    first_s = arrivals_s[0]
    later = enumerate(arrivals_s[1:], 1)
    return [8e-6 * frame_bytes * k / (time_s - first_s) for k, time_s in later]
    ### STARTER
    # ...  # YOUR TURN
    ### END SOLUTION


lab08.first_figure(runs)

# %% check="bandwidth" points=2
lab08.check_bandwidth(bandwidth).require()
lab08.check_second(runs).require()

# %% [markdown] id="pause-task"
# Look at the second packet of each size, also at 1518 bytes. In the next cell you can move sliders: how many packets
# leave at once?
#
# **Your turn:** answer three questions. `full_ms`: the bucket of 1600 bytes is empty (at zero). How long must `h1` be
# silent until the bucket is full again, in ms? The cell prints the other two, which have letters.

# %% answer="pause"
display(theory.token_bucket(rate_mbps=10))
print(lab08.question("saves", "falls"))
### BEGIN SOLUTION
pause = {"full_ms": 1600 * 8 / 10_000, "saves": "a", "falls": "b"}
### STARTER
# pause = {"full_ms": None, "saves": None, "falls": None}
### END SOLUTION

# %% check="pause" points=2
lab08.check_pause(pause).require()

# %% [markdown] id="calm-task"
# ## 4. Remove the burst (15 minutes)
#
# `tc class change` changes the class of an interface:
#
# `tc class change dev h1-eth0 parent 5: classid 5:1 htb rate 10mbit burst ...`
#
# Here `5:` is HTB's name on this interface, and `5:1` its class, as `tc class show` prints them.
#
# Think about "not in debt": which bucket lets exactly *one* frame pass? A bucket of the size of one frame lets two
# pass.
#
# **Your turn:** change the class on `h1` with `lab["h1"].cmd("tc ...")`. Then measure the study's three sizes
# again, and store the results in `calm`.

# %% answer="calm"
calm = dict.fromkeys([1518, 4370, 7999])
### BEGIN SOLUTION
change = "tc class change dev h1-eth0 parent 5: classid 5:1 htb rate 10mbit burst 1"
print(lab["h1"].cmd(change))
for size in calm:
    calm[size] = measure.run(lab, measure.TrainFlow("h1", "h2", 400, size - 46))
### STARTER
# # YOUR TURN: lab["h1"].cmd("tc class change ..."), then calm[1518] = measure.run(...), and so on
### END SOLUTION
display(lab08.first_figure(runs, calm))
lab08.first_table(runs, calm)

# %% check="calm" points=2
lab08.check_calm(calm).require()

# %% [markdown] id="tunnel-intro"
# After this one command the first packets are as slow as on a cable. (10.03 and 10.01 are 10 Mbit/s, counted with the
# checksum. 48576 says only that two frames of 1518 bytes left at once: they arrived 0.25 microseconds apart.) `s1` has
# a full bucket too. It does no harm, because packets now reach `s1` evenly.
#
# ## 5. A tunnel (25 minutes)
#
# The study joined *two* Mininet networks on two computers, with a physical switch between the computers. A **GRE
# tunnel** (generic routing encapsulation) made the two into one network: each computer puts whole frames into IP
# packets, and sends these packets to the other computer.

# %% id="tunnel-start"
lab.stop()
lab = start(lab08.mtu_gre(frame_bytes=1518, link_mbps=10))
show.network(lab)

# %% [markdown] id="tunnel-task"
# `h1` and `s1` are inside the computer `pc1`, `h2` and `s2` inside `pc2`. The upper part of the drawing shows
# what `h1` sees: a cable from `s1` to `s2`. The lower part shows the physical network. The tunnel puts each
# frame as data into a packet from `pc1` to `pc2`, after a GRE header of 4 bytes.
#
# **Your turn:** predict. How many bytes longer is the frame that leaves `pc1` than the frame that left `h1`? (The cell
# after the check measures it: `measure.capture` records the packets of an interface, as the program `tcpdump` does.)

# %% answer="tunnel"
### BEGIN SOLUTION
tunnel = lab08.predict("tunnel", 14 + 20 + 4, sure=60)
### STARTER
# tunnel = lab08.predict("tunnel", None, sure=None)
### END SOLUTION
tunnel

# %% check="tunnel" points=1
lab08.check_predicted(tunnel).require()

# %% answer="overhead"
# Two captures at once, as tcpdump makes them: inside at h1, and outside at pc1.
# `wirelen` is a packet's length on the cable in bytes: inside.packets[0].wirelen
with (
    measure.capture(lab, "h1", "h1-eth0", "ip") as inside,
    measure.capture(lab, "pc1", "pc1-eth0", "ip") as outside,
):
    print(lab["h1"].cmd("ping -c 3 -s 1472 10.0.0.2"))
print(inside.packets[0].summary(), outside.packets[0].summary(), sep="\n")
### BEGIN SOLUTION
overhead_bytes = outside.packets[0].wirelen - inside.packets[0].wirelen
### STARTER
# overhead_bytes = None  # what the tunnel adds to a frame
### END SOLUTION
lab08.frames_figure(inside, outside)

# %% check="overhead" points=1
lab08.check_overhead(overhead_bytes, inside, outside).require()

# %% [markdown] id="hole-task"
# ## 6. No room (55 minutes)
#
# The cables of `pc1` and `pc2` carry packets of 1538 bytes here, so the tunnel's headers fit. The study's
# authors raised the MTU too, on every interface. By default a cable has an MTU of 1500, and Linux gives the
# port of such a tunnel an MTU of 1462.
#
# **Your turn:** set this smaller MTU with `ip link set s1-gre1 mtu 1462` on `s1`. Then ping `10.0.0.2` from
# `h1` with `-M do`, first with 1472 and then with 1400 bytes of data. Who tells `h1` that a packet does not
# fit? The cell prints a question. Its letter is judged at the end of this section.

# %% answer="hole"
print(lab08.question("switch"))
### BEGIN SOLUTION
print(lab["s1"].cmd("ip link set s1-gre1 mtu 1462"))
print(lab["h1"].cmd("ping -c 2 -W 1 -M do -s 1472 10.0.0.2"))
print(lab["h1"].cmd("ping -c 2 -W 1 -M do -s 1400 10.0.0.2"))
switch = "b"
### STARTER
# # YOUR TURN: lab["s1"].cmd("ip link ..."), and two pings: add -W 1, to wait one second only
# switch = None  # a letter
### END SOLUTION

# %% [markdown] id="hang-task"
# ### A black hole
#
# By default Linux's TCP sends all its packets with DF set, and here nobody tells `h1` that a packet does not fit. Such
# a place is called a *black hole*. What becomes of a TCP connection? Guess before you go on.
#
# **Your turn:**
#
# 1. Run `iperf3 -c 10.0.0.2 -t 12` on `h1`, and store what it prints in `hangs`. It prints a line for each second.
# 2. Linux can find the size by itself (RFC 4821), but does not do so by default. Turn this on at `h1`: `sysctl -w
#    net.ipv4.tcp_mtu_probing=1`. Send again, with a recording, and store the run in `mended`:
#    `measure.run_together(lab, [measure.TcpFlow("h1", "h2", duration_s=12)], record=["h1-eth0"])`.
# 3. Print `mended.events.of("retransmission")`: the segments that TCP sent again. (A *segment* is the data in one of
#    TCP's packets. "The packet that it repeats" is the one that was lost before.) Find the first segment
#    that arrived. When did it leave, in seconds (`begins_s`), and how many bytes did it have (`segment_bytes`)? "Bytes
#    1 to 10" are ten.

# %% answer="hang"
lab["h1"].cmd("sysctl -w net.ipv4.tcp_mtu_probing=0")  # as at first, if you run this cell again
lab["h2"].popen("iperf3 -s -1")
lab.sleep(1)
### BEGIN SOLUTION
hangs = lab["h1"].cmd("iperf3 -c 10.0.0.2 -t 12")
print(hangs)
lab["h1"].cmd("sysctl -w net.ipv4.tcp_mtu_probing=1")
transfer = measure.TcpFlow("h1", "h2", duration_s=12)
mended = measure.run_together(lab, [transfer], record=["h1-eth0"])
print(mended.events.of("retransmission"))
### STARTER
# hangs, mended = "", None  # YOUR TURN
### END SOLUTION

# %% answer="begins"
### BEGIN SOLUTION
begins = {"begins_s": 6.46, "segment_bytes": 1061 - 38 + 1}
### STARTER
# begins = {"begins_s": None, "segment_bytes": None}
### END SOLUTION

# %% check="hang" points=3
lab08.check_hang(hangs, mended, begins).require()

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model why some connections hang in a tunnel, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) Only TCP hangs in such a tunnel: UDP waits for no acknowledgement, so all its datagrams that fit the MTU of the
# > sender's own interface arrive. (2) A TCP connection through such a tunnel opens without trouble, because its first
# > packets have no data and are small. (3) Then full segments vanish in the tunnel. No acknowledgement comes, so TCP
# > sends the first one again, after pauses that double each time. (4) With `tcp_mtu_probing=1` TCP tries a smaller
# > segment after some of these pauses, and goes on with the size that is acknowledged. (5) An MTU of 1462 on the
# > sender's interface avoids even these pauses: TCP's segments fit from the start.
#
# **Your turn:** find the wrong sentence, and measure in this lab the run that shows it: what `measure.run` returns.
# Store the sentence's number and the run.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 1
shows_it = measure.run(lab, measure.TrainFlow("h1", "h2", 100, 1472))
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run returns
### END SOLUTION

# %% check="claim" points=3
lab08.check_claim(wrong_sentence, shows_it).require()

# %% [markdown] id="narrow-task"
# ### A router
#
# Now a *router* has the same problem. `h1` (10.0.1.1) reaches `h2` (10.0.2.1) through `r1`. The second link has
# an MTU of 1400.
#
# **Your turn:** send two pings of 1472 bytes to `h2`: first with `-M dont` (DF is clear), then with `-M do` (DF
# is set). For the first ping, tcpdump shows what arrives at `h2`. After the second ping, ask `h1` what it has
# learned: `ip route get 10.0.2.1`.
#
# You have now seen three cases in which a packet of 1500 bytes did not fit. Answer the questions that the cell
# prints, on the second and the third one.

# %% answer="narrow"
lab.stop()
lab = start(lab08.NARROW)
arriving = lab["h2"].popen("tcpdump -n -v -c 2 -i h2-eth0 icmp and src host 10.0.1.1")
lab.sleep(1)
print(lab08.question("clear", "set", "why"))
### BEGIN SOLUTION
print(lab["h1"].cmd("ping -c 1 -M dont -s 1472 10.0.2.1"))
arriving.wait(5)
print(arriving.output)
print(lab["h1"].cmd("ping -c 2 -M do -s 1472 10.0.2.1"))
print(lab["h1"].cmd("ip route get 10.0.2.1"))
fit = {"switch": switch, "clear": "a", "set": "c", "why": "d"}
### STARTER
# # YOUR TURN: a ping; arriving.wait(5) and print(arriving.output); another ping; ip route get
# fit = {"switch": switch, "clear": None, "set": None, "why": None}
### END SOLUTION

# %% check="fit" points=2
lab08.check_fit(fit).require()

# %% [markdown] id="trust-question"
# ## 7. What you trust (10 minutes)
#
# The study's **real** network was two computers and a Cisco switch. Its link of 100 Mbit/s carried 96 Mbit/s of
# frames of 1518 bytes. This fits a cable with a tunnel: each frame needs 38 more bytes for headers and 20 for
# preamble and gap, and 1518 / (1518 + 38 + 20) is 96.3 %.
#
# **Question.** Can you trust Mininet? Name one question for which you trust Mininet's answer at once, and one
# for which you would check the buckets first. Support both with a measurement of this lab.

# %% [markdown] reflect="trust" points=3
# I trust Mininet for lasting quantities: the throughput of a long transfer, or the effect of packet size. My
# lasting rates in section 2 agree with theory within 0.3 %. For short events I would check the buckets first:
# the first packets of a flow, short transfers, bursts, jitter. In section 3 the second packet of 4370 bytes
# gave 15.8 Mbit/s on a link of 10 Mbit/s, and 10.01 after one `tc` command.
#
# **Rubric.** 3 points: a lasting and a short quantity, each with a number of the lab. 2 points: both without
# numbers. 1 point: one of the two. Typical wrong: (1) "Mininet is wrong, it is only software" - the lasting
# rates are right; (2) "virtual time makes everything exact" - it shows the bucket's burst exactly, but a cable
# has no burst; (3) "larger packets are always better" - losing a large one costs more, and it must fit every
# link of the path.

# %% [markdown] id="jitter-task"
# ## 8. Jitter by RFC 4689 (optional)
#
# *Jitter* measures how uneven delays are. RFC 4689, which the study uses, compares two packets i and j that were
# received one after the other. S is the time when a packet was sent, R the time when it was received: $J = |(R_j - S_j)
# - (R_i - S_i)|$. This is the absolute value of RFC 3393's *IP packet delay variation* (IPDV), with the packets in
# order of arrival.
#
# **Your turn:** write this function. `departures_s[i]` and `arrivals_s[i]` belong to the same packet. A lost
# packet has `None` as its arrival: leave it out. Packets may overtake each other, so sort by arrival. Return a
# list in **milliseconds**. The cell then tests your function. In that test the sender waits between packets
# (`gap_us`), exactly as long as the link needs for one packet. With such a sender the study found up to 0.607
# ms of jitter in Mininet, and 3.169 ms in its real network. If you leave this part out, run the two cells below as
# they are: the second one explains your answer in section 7, and ends the lab.


# %% answer="jitter"
def jitter(departures_s, arrivals_s):
    ### BEGIN SOLUTION
    pairs = zip(departures_s, arrivals_s)
    received = sorted((came, left) for left, came in pairs if came is not None)
    delays = [came - left for came, left in received]
    return [1000 * abs(late - early) for early, late in zip(delays, delays[1:])]
    ### STARTER
    # ...  # YOUR TURN
    ### END SOLUTION


# %% id="paced"
lab08.explain("trust")
display(lab08.calibration())
lab.stop()
with start(lab08.mtu_direct(frame_bytes=1518, link_mbps=10)) as quiet:
    paced = measure.run(quiet, measure.TrainFlow("h1", "h2", 400, 1472, gap_us=1518 * 8 / 10))
found = jitter(paced.departure_s, paced.arrival_s)
print(f"largest jitter: {max(found):.4f} ms" if found else "write jitter first")
lab08.check_jitter(jitter)

# %% [markdown] id="end-of-lab"
# ## Summary
#
# - The headers have the same size in every frame, so small packets waste a link.
# - A token bucket limits the mean rate. After a pause it lets a burst pass. A cable does not.
# - A tunnel adds headers to every frame (GRE: 38 bytes). The links that carry the tunnel must have room for them.
# - IPv4 routers fragment packets with DF clear. With DF set they tell the sender (path-MTU discovery). A switch
#   tells nobody.
#
# **Review questions** (no points)
#
# 1. With 10 Mbit/s of traffic on a link of 100 Mbit/s, the study's first packets were not too fast. Why?
#    <details><summary>Answer</summary>The sender spaces the packets itself. Tokens arrive faster
#    than its packets, so no packet finds the bucket in debt, and none leaves early.</details>
# 2. The cables outside a GRE tunnel have an MTU of 1500 bytes. What MTU is left inside, and why not 1500 - 24?
#    <details><summary>Answer</summary>1462. The outer IPv4 header (20), GRE (4) and the inner Ethernet header (14)
#    count towards the outer MTU. Only the outer Ethernet header does not.</details>
# 3. Why do many VPNs (encrypted tunnels) lower the MSS (the largest segment) of TCP connections that cross them?
#    <details><summary>Answer</summary>TCP's packets then fit, even if the ICMP messages of path-MTU discovery are
#    lost or filtered.</details>
#
# ### Where to read on
#
# RFC 791 (section 2.3, fragmentation), RFC 1191 and RFC 8899 (path-MTU discovery), RFC 2784 (GRE), RFC 8900
# (why fragmentation is fragile). Kurose & Ross: IPv4, datagram format and fragmentation. Peterson & Davie:
# internetworking, fragmentation and reassembly, and tunnels.
