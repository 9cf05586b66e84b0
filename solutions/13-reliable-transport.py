# %% [markdown] id="goal"
# # Lab 13: Reliable transport
#
# A network loses, repeats and reorders packets. UDP repairs none of it. You write a program that carries a file over
# UDP all the same, every byte once and in order: first stop-and-wait, then with timeouts that adapt to the path, then
# with a window.
#
# **Time:** about 3 hours. **You need:** Lab 00, sockets and Python as in Lab 02, and what a round trip is made of
# (Lab 04). The [glossary](glossary.md) explains the words.
#
# The program grows in three steps. Each has a graded cell, and builds on the one before.

# %% id="imports"
from linklab import lab13, show, start

display(lab13.progress())
network = lab13.the_network()
near, receiver = network.link("near"), network.address_of("receiver")
loss = lab13.loss_percent()  # for section 2
lab = start(network)
show.draw(lab)

# %% [markdown] id="where"
# ## The program
#
# You write in `reliable.py`, which lies next to this notebook. **Open it now**, and save it (Ctrl+S) before you run
# a cell here. What is missing is marked `TODO 1` for step 1, and so on. It has two command lines, and only these
# are fixed:
#
# | command | what it does |
# | --- | --- |
# | `reliable.py receive PORT FILE` | waits for a file on UDP port `PORT`, writes it to `FILE` |
# | `reliable.py send HOST PORT FILE WINDOW` | sends `FILE`, at most `WINDOW` packets unacknowledged |
#
# - The exit status is 0 where the whole file has arrived and that is known, else 1.
# - A datagram carries at most 1200 bytes. What stands in it is yours: any header will do.
# - Who has heard nothing for 30 s gives up. A receiver that has all stays for 5 s more, to answer late repeats.
#
# The sender's datagrams go to `relay`, a program that notes each of them and passes it on to the receiver, and
# answers back. The checks look at what passed the relay, and at the file. They read neither your code nor what it
# prints.
#
# ## 1. Predict: stop-and-wait
#
# A sender that sends one packet and waits for its acknowledgement uses the link for a small part of the time. The
# link `near` from `sender` to `relay` carries `near.rate_mbps` Mbit/s, with a delay of `near.delay_ms` ms in each
# direction. A packet has 1000 bytes and 66 bytes of headers (UDP 8, IPv4 20, Ethernet 14, and 24 that a cable adds:
# Lab 08). Take acknowledgements for infinitely small.
#
# **Predict** the share of the link that it uses, in percent, and how sure you are.

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
# ## 2. A link that loses
#
# `relay` and `receiver` are joined by a link without delay. Let it lose packets: Linux's *netem* does that. The
# generator of its random numbers starts from the lab's seed, so in each new lab the same cells lose the same packets.
#
# **Your turn:** have `relay-eth3` on `relay` lose `loss` percent (`tc qdisc add dev ... root netem loss {loss}%`).
# Then send 2000 pings from `relay` to `{receiver}`, 5 ms apart (`-i 0.005`), quietly (`-q`). Keep what ping says in
# `printed`. Netem works on what an interface *sends*: which packets of a ping are at risk?

# %% answer="netem"
printed = ""
### BEGIN SOLUTION
lab["relay"].cmd(f"tc qdisc add dev relay-eth3 root netem loss {loss}%")
printed = lab["relay"].cmd(f"ping -q -c 2000 -i 0.005 {receiver}")
print(printed)
### STARTER
# # YOUR TURN: lab["relay"].cmd(f"tc ..."), then printed = lab["relay"].cmd(f"ping ...")
### END SOLUTION

# %% check="netem" points=2
lab13.check_netem(printed).require()

# %% [markdown] id="netem-told"
# <details><summary>What is at risk: open this when the check has passed</summary>
#
# The requests alone: the answers leave by the receiver's interface. Of 2000 packets with 5 % about 100 are lost, and
# four standard deviations of that (binomial distribution) are 39. Your number differs from `loss`, and it is the same
# in each new lab.
#
# </details>
#
# For your program we take a link that loses *exactly what we want*. Remove the loss again:

# %% id="no-netem"
print(lab["relay"].cmd("tc qdisc del dev relay-eth3 root; tc qdisc show dev relay-eth3"))

# %% id="bits-question"
print(lab13.question("bits"))

# %% answer="bits"
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
# `send` cuts the file into packets and numbers them. The last one, `END`, has no data. An acknowledgement names
# the packet that arrived and the one that is missing next. `Sender` knows what is on its way and since when
# (`sent_s`). The timeout is 1 s for now.
#
# **Your turn:** everything marked `TODO 1`: the receiver first, then `run`, `take` and `repeat`. Try it with the
# next cell. `watch` runs both sides and says what passed at the relay; `ladder` draws it, with one number for equal
# bytes.

# %% id="stop-and-wait-try"
plain = lab13.watch(lab, "reliable.py", window=1, size_bytes=6000)
lab13.ladder(plain)

# %% [markdown] id="lost-try-intro"
# Now the relay loses three datagrams: the third of the sender, the fifth answer, and the last one of all. **Say to
# yourself** before you run it: which packets come twice? What must the receiver do with each repeat?

# %% id="lost-try"
losses = {"up": [3], "down": [5, 8]}
lossy = lab13.watch(lab, "reliable.py", window=1, size_bytes=6000, lost=losses)
lab13.ladder(lossy)

# %% [markdown] id="stop-and-wait-told"
# The check takes a copy of your program to a lab of its own. It sends files of several sizes, loses packets at the
# beginning, in between and at the end, and compares the time with theory. A pass takes a quarter of a minute.

# %% check="stop-and-wait" points=4
lab13.check_stop_and_wait("reliable.py").require()

# %% [markdown] id="end-question"
# **Question.** The receiver has the whole file and has acknowledged it. Why may it not end at once? And can both
# sides *ever* be sure that the other one knows that all is well? Say what your program does about it, and what may
# still go wrong.

# %% [markdown] reflect="end" points=4
# The last acknowledgement may be lost. Then the sender repeats its last packet, and if nobody answers any more it
# reports a failure although all bytes are there. So the receiver stays for some seconds and acknowledges repeats,
# as TCP does in TIME-WAIT. Both can never be sure: whoever sends the last message does not know whether it arrived,
# and one more acknowledgement only moves the problem (the two generals). Waiting makes it unlikely: it goes wrong
# only if all repeats of the last packet, or all answers to them, are lost within 5 s.
#
# **Rubric.** 4 points: the lost last acknowledgement and what the sender does then; the receiver waits and answers;
# no last message can be certain; what remains may go wrong. 3 points: three of these; 2 points: two; 1 point: one.
# Typical wrong: (1) "the sender sends one more acknowledgement of the acknowledgement": then that one is the last.
# (2) "the last data may still be missing": the receiver has it already.

# %% [markdown] id="rto-intro"
# <details><summary>Who can be sure: open this when you have written your answer</summary>
#
# Nobody. With a finite number of messages over a link that may lose any of them, the last one is not needed or not
# known to have arrived (the *two generals' problem*). TCP's answer is TIME-WAIT: who closes first stays to answer
# repeats (RFC 9293, section 3.3.2).
#
# </details>
#
# ## 4. Timeouts
#
# A timeout that is too short repeats what was not lost. One that is too long wastes time after each loss. And round
# trips change. RFC 6298 smooths two numbers over the samples R: the round trip (SRTT) and how far it deviates
# (RTTVAR).
#
# | sample | rule |
# | --- | --- |
# | the first | SRTT = R, RTTVAR = R/2 |
# | each later one | RTTVAR = 3/4 RTTVAR + 1/4 \|SRTT - R\|, *then* SRTT = 7/8 SRTT + 1/8 R |
# | after each | RTO = SRTT + max(G, 4 RTTVAR), G is the clock's granularity |
#
# **Your turn:** a function that returns the RTO after each of the round trips, all in seconds, as a list. G is
# 0.001 s. (The RFC also raises the RTO to 1 s at least. Leave that out here.)


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

# %% id="karn-question"
print(lab13.question("karn"))

# %% answer="karn"
### BEGIN SOLUTION
karn = "b"
### STARTER
# karn = None
### END SOLUTION

# %% check="karn" points=1
lab13.check_karn(karn).require()

# %% [markdown] id="timeouts-intro"
# **Your turn:** everything marked `TODO 2`, so that the program's `Timer` learns the round trip. RFC 6298 begins
# with 1 s, doubles the RTO whenever it expires, and keeps the doubled one until the next valid sample. Your
# program's RTO is at least 0.1 s (the RFC says 1 s, Linux 0.2 s). The next cell lets nothing pass for 5 s, from the
# sender's tenth datagram on.

# %% id="timeouts-try"
silent = lab13.watch(lab, "reliable.py", size_bytes=12_000, silent_from=10, silent_s=5)
lab13.ladder(silent)

# %% [markdown] id="far-intro"
# The other link to the relay has a round trip of 1.5 s, longer than the first timeout. Nothing gets lost on it.
# **Say to yourself:** how many packets go twice?

# %% id="far-try"
far = lab13.watch(lab, "reliable.py", size_bytes=6000, path="far")
lab13.ladder(far)

# %% check="timeouts" points=4
lab13.check_timeouts("reliable.py").require()

# %% [markdown] id="timeouts-question"
# **Question.** Why does a sender double its timeout? One repeat more or less costs it nothing. Think of a hundred
# such senders whose packets cross one full queue. And what would they do there with a fixed timeout that is shorter
# than the time that the full queue takes?

# %% [markdown] reflect="timeouts" points=3
# A timeout is the only sign of congestion that this sender has. If the queue is full, each repeat takes a place
# that a first packet would need. A hundred senders that repeat at a fixed rate keep the queue full with copies.
# With a timeout below the queueing delay all repeat what is still in the queue: ever more of what the link carries
# are copies, and goodput goes to zero while the link is busy (congestion collapse, as in 1986). Doubling halves the
# load with each round until the queue empties.
#
# **Rubric.** 3 points: repeats load a queue that is full already; copies take the place of new data although the
# link is busy; doubling lowers the load until it fits. 2 points: two of these. 1 point: one. Typical wrong: (1) "to
# save the sender's work": it costs the network. (2) "the path has become longer": perhaps, but doubling comes
# before anybody knows.

# %% [markdown] id="window-intro"
# <details><summary>Congestion collapse: open this when you have written your answer</summary>
#
# In 1986 the throughput between LBL and UC Berkeley fell from 32 kbit/s to 40 bit/s (V. Jacobson, *Congestion
# Avoidance and Control*, 1988). The paper lists seven remedies. You have just written two of them: the estimate of how
# far the round trip varies, and exponential back-off. Slow start and a window that shrinks at each loss (*congestion
# avoidance*) are two others; you see both in Lab 11.
#
# </details>
#
# ## 5. A window
#
# With a = propagation delay / transmission time of a packet, a window of W uses min(1, W / (1 + 2a)) of the link.
# Numbers must not repeat too early: with k bits there are 2^k of them.
#
# **Your turn**, with the packets of section 1: the smallest window that fills the link, and the largest windows of
# go-back-N (whose receiver takes the next number alone) and of selective repeat (whose receiver keeps what is
# early) if numbers have 3 bits.

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
# **Your turn:** everything marked `TODO 3`. Go-back-N or selective repeat, as you like: the choice lies in what the
# receiver does with what is early, and in what `repeat` sends. Watch the first window, and a loss in it.

# %% id="window-try"
first = lab13.watch(lab, "reliable.py", window=4, size_bytes=12_000, lost={"up": [6]})
lab13.ladder(first)

# %% id="windows-try"
windows = (1, 2, 4, 8, 12, 20)
seen = {w: lab13.watch(lab, "reliable.py", window=w, size_bytes=100_000) for w in windows}
lab13.shares_figure(seen)

# %% check="window" points=5
lab13.check_window("reliable.py").require()

# %% [markdown] id="shares-task"
# ## 6. What a loss costs
#
# Let P be the share of packets that is lost, and let no acknowledgement be lost. Where the window fills the link,
#
# - go-back-N uses (1 - P) / (1 + 2aP) of it, for each loss costs a whole round trip of packets;
# - selective repeat uses 1 - P: only what was lost is sent again.
#
# Both suppose that the sender learns of a loss after one round trip.
#
# **Your turn:** both shares in percent, for packets of 1000 bytes, P = 2 % and a window of 32.

# %% answer="shares"
### BEGIN SOLUTION
two_a = rtt_ms / packet_ms
shares = {"go-back-N": 100 * 0.98 / (1 + two_a * 0.02), "selective repeat": 98.0}
### STARTER
# shares = {"go-back-N": None, "selective repeat": None}
### END SOLUTION

# %% check="shares" points=2
lab13.check_shares(shares).require()

# %% id="loss-try"
every = range(25, 200, 25)
lost = lab13.watch(lab, "reliable.py", window=32, size_bytes=100_000, lost={"up": every})
lab13.shares_figure({32: lost})

# %% [markdown] id="shares-question"
# **Question.** In the last cell one packet in 25 was lost, and the window was 32. The figure counts each packet
# once. Compare the share with theory for your kind of program and P = 4 %. What does your program do with the link
# after a loss that theory does not suppose? Name two things that TCP does to come closer.

# %% [markdown] reflect="shares" points=4
# Selective repeat should have 96 %, go-back-N some 70 %. My program learns of a loss by its timeout alone, and that is
# at least 100 ms and with a full window longer than the round trip: as soon as the window is used up, the link is
# idle until the timeout. Theory supposes one round trip. TCP does not wait for the timeout: three duplicate
# acknowledgements tell it of a loss (fast retransmit), and selective acknowledgements (SACK) tell which packets are
# missing, so several losses are mended in one round trip.
#
# **Rubric.** 4 points: theory's number; the sender waits for a timeout that is longer than a round trip while its
# window is used up; and two of fast retransmit, SACK, a timer for each packet, tail loss probes. 3 points: one of
# them missing; 2 points: the timeout alone; 1 point: theory's number alone. Typical wrong: (1) "acknowledgements
# are lost too": here none were. (2) "the repeats take the link": four packets of a hundred do not.

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# ## 7. Look back
#
# - A number in each packet tells repeats from new data; an acknowledgement tells that it arrived.
# - A timeout must follow the round trip, double while nothing comes, and learn nothing from repeats.
# - A window fills the pipe: W packets for each round trip, up to 1 + 2a.
# - Who waits for timeouts after a loss is far from theory. TCP has learnt not to.
#
# `linklab check reliable.py --lab 13` in a terminal runs all checks once more. It takes programs in other languages
# too, if they are compiled or name their interpreter in the first line.
#
# **Review questions** (no points)
#
# 1. Why has a stop-and-wait protocol on a satellite link a share of a thousandth, and what helps besides a window?
#    <details><summary>Answer</summary>The round trip is a thousand transmission times. Larger packets
#    help.</details>
# 2. Packets may overtake each other. Why is one bit then not enough for stop-and-wait?
#    <details><summary>Answer</summary>A late copy of packet 0 may come when packet 2, with the same bit, is
#    expected. Numbers must not come again while an old copy may be on its way.</details>
# 3. Why does the sender of a window need no acknowledgement of each packet? <details><summary>Answer</summary>A
#    cumulative acknowledgement of a later one says that all before arrived.</details>
#
# ### Where to read on
#
# RFC 6298 (the timeout), RFC 9293 (TCP), RFC 2018 (SACK), RFC 8085 (what UDP programs must take care of). Kurose &
# Ross: principles of reliable data transfer. Bertsekas & Gallager, *Data Networks*, section 2.4: ARQ.
