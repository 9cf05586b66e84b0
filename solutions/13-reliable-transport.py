# %% [markdown] id="goal"
# # Lab 13: Reliable transport
#
# A network loses, duplicates and reorders packets. [UDP](glossary.md) repairs none of this. You write a program that
# still transfers a file over UDP: every byte once and in order. It first uses stop-and-wait (one packet at a time),
# then timeouts that adapt to the path, then a window.
#
# **Time:** about 6 hours, in two sittings of 3 hours. A line after section 3 says where the first sitting ends. **You
# need:** Lab 00, sockets and Python as in Lab 02, and the parts of a round trip (Lab 04). The [glossary](glossary.md)
# explains the terms.
#
# The program grows in three steps. Each step has a graded cell and builds on the step before.

# %% id="imports"
from linklab import lab13, measure, show, start

display(lab13.progress())
network = lab13.the_network()
near, receiver = network.link("near"), network.address_of("receiver")
loss = lab13.loss_percent()  # for section 2
lab = start(network)
show.network(lab)

# %% [markdown] id="where"
# ## The program
#
# Write your code in `reliable.py`, which lies next to this notebook. **Open it now**, and save it (Ctrl+S) before you
# run a cell here. `TODO 1` marks what you must add in step 1, and so on. You may change everything except its two
# command lines and the rules below them:
#
# | command | what it does |
# | --- | --- |
# | `reliable.py receive PORT FILE` | waits for a file on UDP port `PORT`, writes it to `FILE` |
# | `reliable.py send HOST PORT FILE WINDOW` | sends `FILE`, with at most `WINDOW` unacknowledged packets |
#
# - The exit status is 0 if the whole file has arrived and the program knows this, else 1.
# - A *datagram* (what UDP sends in one packet) carries at most 1200 bytes. You choose the header.
# - A side that hears nothing for 30 s gives up (the check of step 2 tries this). A receiver that has the whole file
#   stays for 5 s more, to answer late *retransmissions*: packets that are sent again.
#
# The sender's datagrams go to a program on `relay`. This program records each datagram, passes it on to the receiver,
# and passes answers back. The checks look at the file and at the datagrams at the relay. They read neither your code
# nor its output.
#
# ## 1. Predict: stop-and-wait
#
# A stop-and-wait sender sends one packet and waits for its acknowledgement. So it uses the link for a small part of the
# time. The link `near` from `sender` to `relay` carries `near.rate_mbps` Mbit/s, with a delay of `near.delay_ms` ms in
# each direction. A packet has 1000 bytes and 66 bytes of headers (UDP 8, IPv4 20, Ethernet 14, and 24 that a cable
# adds: Lab 08). Ignore the size of acknowledgements.
#
# **Predict** the share of the link that the sender uses, in percent. Say also how sure you are, in percent.

# %% answer="share"
### BEGIN SOLUTION
packet_ms = 1066 * 8 / (1000 * near.rate_mbps)
rtt_ms = 2 * near.delay_ms
share, sure = 100 * packet_ms / (packet_ms + rtt_ms), 90
### STARTER
# share = None
# sure = None
### END SOLUTION
share = lab13.predict("share", share, sure)
share

# %% check="share" points=1
lab13.check_predicted(share).require()

# %% [markdown] id="netem-intro"
# ## 2. A link that loses packets
#
# A link without delay joins `relay` and `receiver`. Linux's *netem* can make it lose packets. Netem's random numbers
# start from a number of the lab, its *seed*, so in each new lab the same cells lose the same packets.
#
# **Your turn:** let `relay-eth3` on `relay` lose `loss` percent (`tc qdisc replace dev ... root netem loss {loss}%`).
# Then send 2000 pings from `relay` to `{receiver}`, 5 ms apart (`-i 0.005`), with short output (`-q`). Store ping's
# output in `printed`. Netem acts on the packets that an interface *sends*: which packets of a ping can it drop?

# %% answer="netem"
printed = ""
### BEGIN SOLUTION
lab["relay"].cmd(f"tc qdisc replace dev relay-eth3 root netem loss {loss}%")
printed = lab["relay"].cmd(f"ping -q -c 2000 -i 0.005 {receiver}")
print(printed)
### STARTER
# # YOUR TURN: lab["relay"].cmd(f"tc ..."), then printed = lab["relay"].cmd(f"ping ...")
### END SOLUTION

# %% check="netem" points=2
lab13.check_netem(printed).require()

# %% answer="bits"
# Your program needs a link that loses exactly the packets that we choose: so this cell
# removes netem.
lab["relay"].cmd("tc qdisc del dev relay-eth3 root")
print(lab["relay"].cmd("tc qdisc show dev relay-eth3"), lab13.question("bits"), sep="\n")
### BEGIN SOLUTION
bits = "c"
### STARTER
# bits = None
### END SOLUTION

# %% check="bits" points=1
lab13.check_bits(bits).require()

# %% [markdown] id="stop-and-wait-intro"
# ## 3. Stop-and-wait
#
# `send` cuts the file into packets and numbers them. The last packet, `END`, has no data. An acknowledgement names the
# packet that arrived and the next missing packet. `Sender` knows which packets are on their way, and when it sent them
# (`sent_s`). The timeout is 1 s for now.
#
# **Your turn:** complete everything marked `TODO 1`: first the receiver, then `run`, `take` and `repeat`. Test it with
# the next cell. `watch` runs both sides and reports what passed the relay (*repeats* are retransmissions). `ladder`
# draws the datagrams; those with equal bytes have the same number.

# %% id="stop-and-wait-try"
plain = lab13.watch(lab, "reliable.py", window=1, size_bytes=6000)
lab13.ladder(plain)

# %% [markdown] id="lost-try-intro"
# Now the relay loses three datagrams: the sender's third one, the fifth answer, and the last answer. **Say to
# yourself** before you run the cell: which packets does the sender send twice? What must the receiver do with each
# duplicate?
#
# The check after it runs a copy of your program in a lab of its own. It sends files of several sizes, loses packets at
# the beginning, in the middle and at the end, and compares the time with theory. A successful check takes 15 s.

# %% id="lost-try"
losses = {"up": [3], "down": [5, 8]}
lossy = lab13.watch(lab, "reliable.py", window=1, size_bytes=6000, lost=losses)
lab13.ladder(lossy)

# %% check="stop-and-wait" points=4
lab13.check_stop_and_wait("reliable.py").require()

# %% [markdown] id="end-question"
# **Question.** The receiver has the whole file and has acknowledged it. Why must it not end at once? And can both sides
# *ever* be sure that the other side knows of the success? Say what can still go wrong with your program.

# %% [markdown] reflect="end" points=3
# The last acknowledgement may be lost. Then the sender retransmits its last packet, and if nobody answers, it reports a
# failure although all bytes have arrived. So the receiver stays for some seconds and acknowledges retransmissions, as
# TCP does in TIME-WAIT. The two sides can never both be sure: the side that sends the last message does not know
# whether it arrived. One more acknowledgement only moves the problem (the two generals' problem). Waiting makes a
# failure unlikely: it needs 5 s in which every retransmission or its answer is lost.
#
# **Rubric.** 3 points: the last acknowledgement may be lost, and then the sender retransmits and needs an answer; no
# last message can be certain; what can still go wrong. 1 point each. Typical wrong: (1) "the last data may still be
# missing": the receiver has it already. (2) "the sender acknowledges the acknowledgement": then this message is the
# last one.

# %% id="explain-end"
lab13.explain("end")

# %% [markdown] id="rto-intro"
# ## The first sitting ends here
#
# Your program works: it transfers a file although packets are lost. **To stop now**, save this notebook and
# `reliable.py`. In the second sitting your program learns the round-trip time and gets a window. **To go on**, open the
# notebook and run two cells again: the first code cell, which starts the lab, and the cell of section 1 in which you
# computed the share.
#
# ## 4. Timeouts
#
# If the timeout is too short, the sender retransmits packets that are not lost. If it is too long, each loss wastes
# time. And round-trip times change. RFC 6298 computes two smoothed values from the samples R: the round-trip time
# (SRTT) and its deviation (RTTVAR). From them follows the *RTO*, the retransmission timeout.
#
# | sample | rule |
# | --- | --- |
# | the first | SRTT = R, RTTVAR = R/2 |
# | each later one | RTTVAR = 3/4 RTTVAR + 1/4 \|SRTT - R\|, *then* SRTT = 7/8 SRTT + 1/8 R |
# | after each | RTO = SRTT + max(G, 4 RTTVAR), G is the smallest time that the clock tells apart (its *granularity*) |
#
# **Your turn:** write a function that takes a list of round-trip times and returns a list: the RTO after each of them.
# All times are in seconds. G is 0.001 s. (The RFC also sets a minimum RTO of 1 s. Leave that out here.)


# %% answer="rto"
def rto(rtts_s):
    ### BEGIN SOLUTION
    found, srtt, var = [], None, None
    for rtt in rtts_s:
        if srtt is None:
            srtt, var = rtt, rtt / 2
        else:
            var = 3 / 4 * var + abs(srtt - rtt) / 4
            srtt = 7 / 8 * srtt + rtt / 8
        found.append(srtt + max(0.001, 4 * var))
    return found
    ### STARTER
    # ...  # YOUR TURN
    ### END SOLUTION


# %% check="rto" points=2
lab13.check_rto(rto).require()

# %% answer="karn"
print(lab13.question("karn"))
### BEGIN SOLUTION
karn = "b"
### STARTER
# karn = None
### END SOLUTION

# %% check="karn" points=1
lab13.check_karn(karn).require()

# %% [markdown] id="timeouts-intro"
# **Your turn:** complete everything marked `TODO 2`, so that the program's `Timer` learns the round-trip time. RFC 6298
# starts with an RTO of 1 s. It doubles the RTO at each timeout and keeps the doubled value until the next valid sample.
# Your program's RTO must be at least 0.1 s (RFC: 1 s, Linux: 0.2 s). In the next cell the relay drops everything for
# 5 s, from the sender's tenth datagram on.
#
# Then it sends a file over the other link to the relay, `far`. This link has a round trip of 1.5 s, longer than the
# first timeout, and loses no packets. **Say to yourself:** how many packets does the sender send twice there?

# %% id="timeouts-try"
silent = lab13.watch(lab, "reliable.py", size_bytes=12_000, silent_from=10, silent_s=5)
display(lab13.ladder(silent))
far = lab13.watch(lab, "reliable.py", size_bytes=6000, path="far")
lab13.ladder(far)

# %% check="timeouts" points=4
lab13.check_timeouts("reliable.py").require()

# %% [markdown] id="timeouts-question"
# **Question.** Why does a sender double its timeout? One more retransmission costs the sender nothing. Think of a
# hundred such senders whose packets cross one full queue. What would they do with a fixed timeout that is shorter than
# the delay of the full queue?

# %% [markdown] reflect="timeouts" points=3
# A timeout is this sender's only sign of congestion. If the queue is full, each retransmission takes a place that a new
# packet needs. A hundred senders that retransmit at a fixed rate keep the queue full of copies. If the timeout is
# shorter than the queueing delay, all senders retransmit packets that are still in the queue. Then the link carries
# more and more copies, and goodput goes to zero while the link is busy (congestion collapse, as in 1986). Doubling
# halves the load in each round until the queue empties.
#
# **Rubric.** 3 points: retransmissions load a queue that is already full; copies take the place of new data although
# the link is busy; doubling lowers the load until it fits. 2 points: two of these. 1 point: one. Typical wrong: (1) "to
# save the sender's work": the network pays. (2) "the path has become longer": perhaps, but the sender doubles before it
# knows this.

# %% id="explain-timeouts"
lab13.explain("timeouts")

# %% [markdown] id="window-intro"
# ## 5. A window
#
# With a = propagation delay / transmission time of a packet, a window of W uses min(1, W / (1 + 2a)) of the link.
# The packets' numbers (*sequence numbers*) must not repeat too early: k bits give 2^k numbers.
#
# **Your turn**, with the packets of section 1: compute the smallest window that fills the link. Then find the largest
# windows of go-back-N and of selective repeat if numbers have 3 bits. (A go-back-N receiver takes only the next number.
# A selective-repeat receiver keeps packets that arrive early.)

# %% answer="numbers"
### BEGIN SOLUTION
import math

fills = math.ceil(1 + rtt_ms / packet_ms)
numbers = {"fills": fills, "go-back-N": 7, "selective repeat": 4}
### STARTER
# numbers = {"fills": None, "go-back-N": None, "selective repeat": None}
### END SOLUTION

# %% check="numbers" points=2
lab13.check_numbers(numbers).require()

# %% [markdown] id="window-task"
# **Your turn:** complete everything marked `TODO 3`. Choose go-back-N or selective repeat: they differ in what the
# receiver does with early packets, and in what `repeat` sends. Then watch a window of 4 with one loss.

# %% id="window-try"
first = lab13.watch(lab, "reliable.py", window=4, size_bytes=12_000, lost={"up": [6]})
display(lab13.ladder(first))
windows = (1, 2, 4, 8, 12, 20)
seen = {w: lab13.watch(lab, "reliable.py", window=w, size_bytes=100_000) for w in windows}
lab13.shares_figure(seen)

# %% check="window" points=5
lab13.check_window("reliable.py").require()

# %% [markdown] id="again-text"
# ## 6. What a loss costs
#
# Two small programs of Linklab's send the same packets from `sender` to `receiver`: one by go-back-N, one by selective
# repeat. Both have the window that just fills your link, and a timeout of three round trips. The network loses packet 6
# once. **Say to yourself** before you run the next cell: how many packets does each program send again?
#
# **Your turn:** run it, and read from the replay how many packets each program sent again. `l` goes to the loss. From
# there go on with `.`, or with Shift and the right arrow (20 ms), until the queue of `sender` fills again. The panel
# of a packet shows its number and whether this is `try 1` or `try 2`; *This moment in words* counts the packets in
# the queue. Without the picture: `print(both.words)` counts the packets *there*, and the cell says how many there are
# to send.

# %% id="again-replay"
played = lab13.both_kinds(lab)
both = show.network(*played.values(), labels=[*played])
both

# %% answer="again"
### BEGIN SOLUTION
again = {"go-back-N": fills, "selective repeat": 1}
### STARTER
# again = {"go-back-N": None, "selective repeat": None}
### END SOLUTION

# %% check="again" points=1
lab13.check_again(again).require()

# %% [markdown] id="shares-task"
# Let P be the share of lost packets, and let no acknowledgement be lost. If the window fills the link,
#
# - go-back-N uses (1 - P) / (1 + 2aP) of the link: each loss costs a whole round trip of packets;
# - selective repeat uses 1 - P: the sender retransmits only lost packets.
#
# Both formulas assume that the sender learns of a loss after one round trip.
#
# **Your turn:** compute both shares in percent, for packets of 1000 bytes, P = 2 % and a window of 32.

# %% answer="shares"
### BEGIN SOLUTION
two_a = rtt_ms / packet_ms
shares = {"go-back-N": 100 * 0.98 / (1 + two_a * 0.02), "selective repeat": 98.0}
### STARTER
# shares = {"go-back-N": None, "selective repeat": None}
### END SOLUTION

# %% check="shares" points=1
lab13.check_shares(shares).require()

# %% id="loss-try"
every = range(25, 200, 25)
lost = lab13.watch(lab, "reliable.py", window=32, size_bytes=100_000, lost={"up": every})
lab13.shares_figure({32: lost})

# %% answer="late"
# One packet in 25 was lost, and the window was 32. Theory for P = 4 %, in percent? And why is
# your share lower? (The figure counts each packet once.)
print(lab13.question("lower"))
### BEGIN SOLUTION
late = {
    "go-back-N": 100 * 0.96 / (1 + two_a * 0.04),
    "selective repeat": 96.0,
    "lower": "c",
}
### STARTER
# late = {"go-back-N": None, "selective repeat": None, "lower": None}
### END SOLUTION

# %% check="late" points=3
lab13.check_late(late).require()

# %% [markdown] id="claim-task"
# **Optional, without points: fast retransmit.** Your sender learns of a loss only when its timer ends. Three
# acknowledgements of later packets tell it earlier. At the third one, let `take` send the oldest missing packet
# again, once. Watch a window of 12 with `lost={"up": [6]}` before and after.
#
# ### A claim to test: the receiver's window
#
# Your window protects the path, as TCP's *congestion window* does. TCP has a second window, which protects the
# *receiver*: each acknowledgement says how many bytes the receiver has room for (*flow control*). Ask a language model
# about it, and you get a paragraph like this one. It is fluent, and one of its sentences is wrong.
#
# > (1) A receiver whose program reads all data at once always has an empty buffer, and so even a small buffer lets it
# > receive at the link's rate. (2) If the program reads nothing, the buffer fills, the window closes to zero, and the
# > sender waits and asks now and then whether it is open again. (3) A sender has no more bytes on their way than the
# > smaller of two windows allows: its own congestion window, and the window that the receiver announces. (4) A window
# > that limits a transfer gives less throughput if the round trip is longer. (5) That is why Linux lets the buffer grow
# > during a transfer.
#
# **Your turn:** find the wrong sentence, and measure the run that shows it, from `sender` to `relay` (at the address
# `near.ends[1].address.split("/")[0]`). On a node, `sysctl net.ipv4.tcp_rmem` shows the smallest, the initial and the
# largest size of a receiver's buffer, in bytes. To change all three, write `sysctl -w net.ipv4.tcp_rmem="... ... ..."`.

# %% answer="claim"
near_relay = near.ends[1].address.split("/")[0]
transfer = measure.TcpFlow("sender", "relay", duration_s=10, address=near_relay)
### BEGIN SOLUTION
wrong_sentence = 1
lab["relay"].cmd('sysctl -w net.ipv4.tcp_rmem="4096 8192 8192"')
shows_it = measure.run(lab, transfer)
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run returns
### END SOLUTION

# %% check="claim" points=3
lab13.check_claim(wrong_sentence, shows_it).require()

# %% id="stop"
lab.stop()
lab13.calibration()

# %% [markdown] id="end-of-lab"
# ## 7. Look back
#
# - The number in a packet distinguishes retransmissions from new data. An acknowledgement says that the packet arrived.
# - A timeout must follow the round trip, double while no answer comes, and learn nothing from retransmitted packets.
# - A window fills the path: W packets in each round trip, up to 1 + 2a. TCP's receiver also has a window (*flow
#   control*). The smaller of the two limits the sender.
# - Recovery by timeouts alone stays below theory. TCP learns of a loss earlier:
#   - by three duplicate acknowledgements (fast retransmit), or by selective acknowledgements (SACK);
#   - by time (RACK, RFC 8985; Linux does this): a packet is lost if one that was sent later has arrived, and a round
#     trip and at most a small allowance have passed since it was sent;
#   - by a probe at the end of a transfer (RFC 8985, too).
#
# `linklab check reliable.py --lab 13` in a terminal runs all checks again. It also takes programs in other languages,
# if they are compiled or name their interpreter in the first line.
#
# **Review questions** (no points)
#
# 1. Why does stop-and-wait use only a thousandth of a satellite link, and what helps besides a window?
#    <details><summary>Answer</summary>The round trip takes a thousand transmission times. Larger packets
#    help.</details>
# 2. Packets may overtake each other. Why is one bit then not enough for stop-and-wait?
#    <details><summary>Answer</summary>A late copy of packet 0 may arrive when the receiver expects packet 2, which has
#    the same bit. The sender must not use a number again while an old copy may be on its way.</details>
# 3. Why does a sender with a window not need an acknowledgement of each packet?
#    <details><summary>Answer</summary>A cumulative acknowledgement of a later packet says that all packets before it
#    arrived.</details>
#
# ### Where to read on
#
# RFC 6298 (the timeout), RFC 9293 (TCP), RFC 2018 (SACK), RFC 8085 (what UDP programs must take care of). Kurose &
# Ross: principles of reliable data transfer. Bertsekas & Gallager, *Data Networks*, section 2.4: retransmission (ARQ).
