# %% [markdown] id="goal"
# # Lab 08: Packet size
#
# In 2016 a group of researchers asked: can you trust Mininet? They sent packets of three sizes through a real
# network and through Mininet, and published both. Mostly the two agree. But in Mininet the *first* packets
# were faster than the link: up to 31.5 Mbit/s on a link of 10. No cable does that.
#
# You repeat their measurement, find the cause, and remove it. Then you look into a *tunnel*: packets that
# travel inside of packets, as theirs did.
#
# The study: *International Journal on Advances in Networks and Services*, vol. 9, no. 3 & 4, 2016.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.labs import lab08
from linklab.labs.lab08 import figures as figures
from linklab.measure import TrainFlow, capture
from linklab.network.mtu_testbeds import mtu_direct, mtu_gre

# %% id="start"
lab = linklab.start(mtu_direct(frame_bytes=7999, link_mbps=10))
show.draw(lab)

# %% [markdown] id="sizes-intro"
# ## 1. What is a packet's size?
#
# Each link above takes IP packets of up to 7981 bytes: that is its *MTU* (maximum transmission unit). Such a
# packet needs a header of 14 bytes before it and a checksum of 4 behind it to be an Ethernet *frame*: 7999
# bytes. The study says "MTU" where it means the frame. It has three sizes: 1518 (Ethernet), 4370 (FDDI) and
# 7999 (802.11). We add a small one, 100.
#
# | part | bytes |
# | --- | --- |
# | Ethernet header | 14 |
# | IPv4 header | 20 |
# | UDP header | 8 |
# | your data | the rest |
# | Ethernet checksum | 4 |
#
# > **A virtual cable has no checksum.** Where nothing can be damaged, nothing is checked. So a frame of 1518
# > bytes is one of 1514 for a link in Mininet, and its rate is counted in these.
#
# ## 2. Predict: what is left for data?
#
# The link carries 10 Mbit/s of frames, without a pause.
#
# **Your turn:** how much *data* is that for each size of frame, in Mbit/s? Give four digits.

# %% answer="data"
predicted_mbps = {
    ### BEGIN SOLUTION
    100: 10 * (100 - 46) / (100 - 4),
    1518: 10 * (1518 - 46) / (1518 - 4),  # 14 + 20 + 8 + 4 bytes are no data
    4370: 10 * (4370 - 46) / (4370 - 4),
    7999: 10 * (7999 - 46) / (7999 - 4),
    ### STARTER
    # 100: None,
    # 1518: None,
    # 4370: None,
    # 7999: None,
    ### END SOLUTION
}

# %% check="data" points=2
lab08.check_data(predicted_mbps).require()

# %% [markdown] id="bucket-intro"
# ## 3. Predict: the second packet
#
# How does a computer act as if its link had 10 Mbit/s? With a *token bucket*. Tokens drip into the bucket at
# the link's rate, one for each byte, until it is full. A packet takes as many as it has bytes. When the bucket
# is empty, packets wait.
#
# And when nobody sends? Then the bucket is *full*. Here is the one of `h1`:

# %% id="bucket"
print(lab["h1"].cmd("tc class show dev h1-eth0"))

# %% [markdown] id="first-task"
# There are two: `burst` and `cburst`. HTB, Linux's token bucket, asks both, and the smaller one decides:
# **1600 bytes**. HTB lets a packet go as long as the bucket is *not in debt*. The packet itself may put it
# there.
#
# So the first packet leaves at once. A frame of 4370 bytes takes 4366 tokens of 1600, and the second one waits
# until the debt is paid.
#
# **Your turn:** the *bandwidth from the first packet to the second*, in Mbit/s: one frame's bits (whole, with
# its checksum), divided by the time between the two. For 4370 and 7999 bytes.

# %% answer="first"
predicted_first_mbps = {
    ### BEGIN SOLUTION
    4370: 4370 * 10 / (4366 - 1600),  # it waits (4366 - 1600) * 8 bits at 10 Mbit/s
    7999: 7999 * 10 / (7995 - 1600),
    ### STARTER
    # 4370: None,
    # 7999: None,
    ### END SOLUTION
}

# %% check="first" points=2
lab08.check_first(predicted_first_mbps).require()

# %% [markdown] id="prediction-question"
# **Question.** What about 1518 bytes? When does its second packet come, and what bandwidth is that?

# %% [markdown] reflect="prediction" points=1
# 1514 bytes are less than 1600, so the bucket is not in debt after the first packet: the second comes right
# behind it, as fast as the computer can send it. A frame's bits divided by almost no time is a very high
# bandwidth, far above the link's.

# %% [markdown] id="bandwidth-task"
# ## 4. Write: bandwidth and jitter
#
# The study shows the bandwidth at each packet. It does not say how it reckons it. We take the mean since the
# first packet. If packet k arrived at the time t_k, then k - 1 frames have come since t_1:
#
# $$B_k = \frac{8 \cdot \mathrm{size} \cdot (k - 1)}{t_k - t_1}$$
#
# **Your turn:** write it. `arrivals_s` is a list of times in seconds, in order. Return a list in Mbit/s, for
# packets 2, 3, and so on.


# %% answer="bandwidth"
def bandwidth(arrivals_s, frame_bytes):
    ### BEGIN SOLUTION
    first = arrivals_s[0]
    later = enumerate(arrivals_s[1:], 1)
    return [8e-6 * frame_bytes * k / (time - first) for k, time in later]
    ### STARTER
    # return None
    ### END SOLUTION


# %% check="bandwidth" points=2
lab08.check_bandwidth(bandwidth).require()

# %% [markdown] id="jitter-task"
# *Jitter* is how uneven delays are. RFC 4689, which the study uses, takes two packets i and j that were
# received one after the other. S is when a packet was sent, R when it was received:
#
# $$J = |(R_j - S_j) - (R_i - S_i)|$$
#
# **Your turn:** write it. The first packet of `departures_s` is the first of `arrivals_s`, and so on. A packet
# that was lost has `None` as its arrival: leave it out. And packets may overtake each other, so sort by
# arrival. Return a list in **milliseconds**.


# %% answer="jitter"
def jitter(departures_s, arrivals_s):
    ### BEGIN SOLUTION
    pairs = zip(departures_s, arrivals_s)
    received = sorted((there, left) for left, there in pairs if there is not None)
    delays = [there - left for there, left in received]
    return [1000 * abs(late - early) for early, late in zip(delays, delays[1:])]
    ### STARTER
    # return None
    ### END SOLUTION


# %% check="jitter" points=3
lab08.check_jitter(jitter).require()

# %% [markdown] id="measure-task"
# ## 5. Measure
#
# `measure.run(lab, TrainFlow("h1", "h2", 400, 1472))` sends 400 datagrams with 1472 bytes of data each, as fast as
# `h1` can. It returns when each one left and arrived. The time of arrival is the kernel's, so a slow program
# moves nothing.
#
# **Your turn:** measure all four sizes. Mind that `TrainFlow` asks for the *data* in a packet.

# %% answer="runs"
runs = dict.fromkeys(predicted_mbps)
### BEGIN SOLUTION
for size in runs:
    runs[size] = measure.run(lab, TrainFlow("h1", "h2", 400, size - 46))
### STARTER
# # YOUR TURN: runs[1518] = measure.run(lab, TrainFlow("h1", "h2", 400, 1472)), and so on
### END SOLUTION

# %% check="runs" points=2
lab08.check_runs(runs).require()

# %% [markdown] id="explain-intro"
# ## 6. Explain: small packets waste a link, and first packets overtake it

# %% id="data-table"
figures.data_table(runs, predicted_mbps)

# %% id="first-table"
figures.first_table(runs, None, predicted_first_mbps)

# %% id="first-figure"
figures.first_figure(runs)

# %% [markdown] id="explain-notice"
# **What to notice.** The study says that packet size hardly matters for bandwidth. That is true of frames, and
# of large ones. Of *data*, frames of 100 bytes carry little more than half.
#
# And the first packets are faster than the link, as in the study. "early" is what came too soon: 1600 bytes,
# the bucket, at every size. It happens once, while the bucket is full, and then the link is as slow as it
# should be. The curve falls slowly only because it is a mean since the first packet.
#
# The study's values are not the same as yours, and it does not say how it counts. If the *first* packet's bits are
# counted too, every value is higher, and 4370 bytes give 31.6 Mbit/s, where the study has 31.5. The other two do
# not fit as well. A first packet that was late by itself would look alike.
#
# **Question.** Is it Mininet's fault? Real devices have token buckets too. What would a real cable do with the
# second packet, and why can it not do what the bucket does?

# %% [markdown] reflect="bucket" points=1
# On a real cable a frame takes its time: 4370 bytes last 3.5 ms at 10 Mbit/s, and the next one begins after
# that, whatever happened before. A cable cannot save up time. A bucket limits the mean rate only: what was not
# used before may be used later. That is wanted where a provider limits customers, but as a picture of a cable
# it is wrong for the first packets.

# %% [markdown] id="jitter-intro"
# What does your function say? A sender that is faster than the link fills its own queue, so its packets wait
# longer and longer. That is not the network's jitter. So here the sender waits between packets (`gap_us`), just
# as long as the link needs for one. The study's Mininet had up to 0.607 ms of jitter there, its real network
# 3.169 ms.

# %% id="paced"
paced = measure.run(lab, TrainFlow("h1", "h2", 400, 1472, gap_us=1518 * 8 / 10))
found = jitter(paced.departure_s, paced.arrival_s)
print(f"largest jitter: {max(found):.4f} ms" if found else "write jitter first (section 4)")

# %% [markdown] id="calm-task"
# ## 7. Remove the burst
#
# What if the bucket were very small? `tc class change` changes HTB's class of an interface:
#
# `tc class change dev h1-eth0 parent 5: classid 5:1 htb rate 10mbit burst ...`
#
# Think about "not in debt": which bucket lets exactly *one* frame pass? A bucket of one frame does not.
#
# **Your turn:** change the class on `h1` with `lab["h1"].cmd("tc ...")`. Then measure the study's three sizes
# again, into `calm`.

# %% answer="calm"
calm = dict.fromkeys([1518, 4370, 7999])
### BEGIN SOLUTION
change = "tc class change dev h1-eth0 parent 5: classid 5:1 htb rate 10mbit burst 1"
print(lab["h1"].cmd(change))
for size in calm:
    calm[size] = measure.run(lab, TrainFlow("h1", "h2", 400, size - 46))
### STARTER
# # YOUR TURN: lab["h1"].cmd("tc class change ..."), then calm[1518] = measure.run(...), and so on
### END SOLUTION

# %% check="calm" points=3
lab08.check_calm(calm).require()

# %% id="calm-figure"
figures.first_figure(runs, calm)

# %% id="calm-table"
figures.first_table(runs, calm, predicted_first_mbps)

# %% [markdown] id="calm-notice"
# **What to notice.** One command, and Mininet's first packets are as slow as a cable's. 10.03 and not 10.00: a
# frame is counted with 4 bytes that the virtual cable does not carry.
#
# Only `h1`'s bucket was changed, and `s1` has one too, full as ever. It does not matter: packets reach `s1`
# evenly now, and a bucket lets nobody pass who does not come.
#
# ## 8. A tunnel
#
# The study joined *two* Mininet networks on two computers. Between them was a physical switch. A **GRE tunnel**
# made one network of them: each computer puts whole frames into IP packets and sends these to the other one.

# %% id="tunnel-start"
lab.stop()
lab = linklab.start(mtu_gre(frame_bytes=1518, link_mbps=10))
show.draw(lab)

# %% [markdown] id="tunnel-task"
# `h1` and `s1` are inside the computer `pc1`, `h2` and `s2` inside `pc2`. Above is what `h1` sees: a cable from
# `s1` to `s2`. Below is what there really is.
#
# A frame in the tunnel becomes the data of a packet from `pc1` to `pc2`:
#
# | Ethernet | IPv4 | GRE | the whole frame of h1 |
# | --- | --- | --- | --- |
# | 14 | 20 | 4 | Ethernet 14, IPv4 20, UDP 8, data |
#
# **Your turn:** predict. How many bytes longer is a frame outside than inside? If the cables between the
# computers had the usual MTU of 1500, what MTU would be left inside? (What counts towards the MTU outside? All
# but the *outer* Ethernet header.) And how much bandwidth is left for frames of 1518 bytes, counted as before,
# when the cables between the computers have 10 Mbit/s too?

# %% answer="tunnel"
predicted_tunnel = {
    ### BEGIN SOLUTION
    "overhead_bytes": 14 + 20 + 4,
    "mtu_left_bytes": 1500 - 20 - 4 - 14,
    "frames_mbps": 10 * 1518 / (1514 + 38),
    ### STARTER
    # "overhead_bytes": None,
    # "mtu_left_bytes": None,
    # "frames_mbps": None,
    ### END SOLUTION
}

# %% check="tunnel" points=3
lab08.check_tunnel(predicted_tunnel).require()

# %% [markdown] id="capture-task"
# Is it so? `capture` keeps what passes an interface, like Wireshark. Two captures at once: one *inside*, at
# `h1`, and one *outside*, at `pc1`.

# %% id="capture"
with capture(lab, "h1", "h1-eth0") as inside, capture(lab, "pc1", "pc1-eth0") as outside:
    through = measure.run(lab, TrainFlow("h1", "h2", 200, 1472))
print(inside.packets[0].summary())
print(outside.packets[0].summary())

# %% [markdown] id="overhead-task"
# `inside.packets` is a list of packets. The `wirelen` of a packet is its length on the cable, in bytes.
#
# **Your turn:** what does the tunnel add to a frame? Take it from the two captures.

# %% answer="overhead"
### BEGIN SOLUTION
overhead_bytes = outside.packets[0].wirelen - inside.packets[0].wirelen
### STARTER
# overhead_bytes = None
### END SOLUTION

# %% check="overhead" points=1
lab08.check_overhead(overhead_bytes, inside, outside).require()
lab08.check_through(through).require()

# %% id="frames-figure"
figures.frames_figure(inside, outside)

# %% [markdown] id="fragments-intro"
# ## 9. No room
#
# Here the cables outside take packets of 1538 bytes: somebody made room. What if they take the usual 1500?
# Then `pc1` must cut each packet in two *fragments*, and `pc2` puts them together again.

# %% id="fragments"
with linklab.start(mtu_gre(frame_bytes=1518, outside_mtu_bytes=1500)) as other:
    with capture(other, "pc1", "pc1-eth0") as cut:
        arrived = measure.run(other, TrainFlow("h1", "h2", 20, 1472))
print(f"{arrived.received} of {arrived.sent} packets arrived")
figures.frames_figure(inside, cut)

# %% [markdown] id="fragments-notice"
# **What to notice.** A second frame for the last 38 bytes, with two headers of its own. And if one of the two
# is lost, the whole packet is. So the study's authors set the MTU of every interface, as they write: for 4370
# and 7999 bytes the cables outside had to take more than Ethernet's 1500.
#
# ## 10. What the study saw
#
# Its **real** network, two computers across a Cisco switch, carried 96 Mbit/s of frames of 1518 bytes over a
# link of 100, and 98.6 and 98.9 of the larger ones. A real cable spends 20 bytes more on each frame: a preamble
# of 8 bytes, and a gap of 12. And it does carry the checksum.

# %% id="questions"
print(lab08.question_text())

# %% [markdown] id="questions-task"
# **Your turn:** two numbers, and two letters.
#
# - `counted_mbps`: the bandwidth at packet 2 of an *ideal* link of 10 Mbit/s, if somebody counts the first
#   packet's bits too.
# - `real_mbps`: what a *real* cable of 100 Mbit/s carries of frames of 1518 bytes, each of them in a GRE tunnel.
#   Compare it with the study's 96.

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "counted_mbps": 20,
    "real_mbps": 100 * 1518 / (1518 + 20 + 38),
    "light_load": "b",
    "no_room": "c",
    ### STARTER
    # "counted_mbps": None,
    # "real_mbps": None,
    # "light_load": None,
    # "no_room": None,
    ### END SOLUTION
}

# %% check="questions" points=4
lab08.check_questions(answers).require()

# %% [markdown] id="trust-question"
# **Question.** Can you trust Mininet? Say for which question you would use it without a second thought, and for
# which you would look at the buckets first.

# %% [markdown] reflect="trust" points=1
# For what lasts: throughput of long transfers, lasting bandwidth, the effect of packet size, all of which agree
# with theory to a fraction of a percent. For what is short I would look at the buckets first: the first packets
# of a flow, short transfers, bursts, and jitter, where a bucket or a busy computer makes what no cable does.

# %% [markdown] id="stop-intro"
# ## 11. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** headers cost the same for every frame, so small packets waste a link. A token bucket
# limits the mean and not the first packets, and one setting makes it behave like a cable. A tunnel adds headers
# to every frame, and somebody must make room for them.
