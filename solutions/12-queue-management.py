# %% [markdown] id="goal"
# # Lab 12: Bufferbloat and queue management
#
# **Time:** about 3 hours, of which three minutes are measuring. **You need:** what a full queue adds to a round trip
# (Lab 05), how CUBIC fills a queue (Lab 11), and a kernel with RED, CoDel, fq_codel and CAKE, as the lab's own has.
#
# Somebody at home sends a video to a server, and for somebody else no page loads any more. The uplink is not slow: its
# queue is too good at keeping packets. What should a queue do with packets, so that both are content?

# %% id="imports"
from linklab import lab12, measure, show, start

lab12.progress()

# %% id="start"
network = lab12.the_network()
U = network.link("U")
lab = start(network)
show.draw(lab)

# %% [markdown] id="beside-text"
# ## 1. A page beside an upload
#
# h1 and h2 are at home, r1 is their router, and U is the uplink. U has no delay, so its queue, at `r1-eth2`, holds
# waiting packets alone: up to 1000. That is the length of Linux's plain FIFO (`txqueuelen`). Most distributions choose
# fq_codel today; you will see in section 4 what that changes.
#
# h1 uploads with CUBIC. After 5 seconds h2 pings h3, and loads **pages** from it, with a pause of a second after each.
# A page has 6 objects of 10,000 bytes. Each has a connection of its own, one after another (HTTP/1.0), so each takes
# two round trips: one to connect, one to ask and be answered.


# %% id="beside"
def beside(seconds):
    upload = measure.TcpFlow("h1", "h3", seconds)
    pings = measure.PingFlow("h2", "h3", 5 * (seconds - 5), 0.2, start_s=5)
    pages = measure.PageFlow("h2", "h3", seconds - 20, start_s=5)
    return [upload, pings, measure.QueueFlow("r1", "h3", seconds, 0.2), pages]


_, pings, _, pages = beside(25)
ping, page = measure.run(lab, pings), measure.run(lab, pages)
print(f"without an upload: ping {ping.rtt_mean_ms:.2f} ms, page {page.headline:.0f} ms")

# %% [markdown] id="bloat-task"
# **Predict** the highest ping in ms beside the upload, when the queue is full, and how long a page takes then, in
# seconds. A full frame has 1514 bytes. Any numbers have their point. How sure are you, in percent?

# %% answer="bloat"
### BEGIN SOLUTION
frame_ms = 1514 * 8 / (1000 * U.rate_mbps)
idle_ms = 2 * network.links[3].delay_ms
full_ms = idle_ms + U.queue_packets * frame_ms
bloat, sure = {"ping": full_ms, "page": 12 * full_ms / 1000}, 80
### STARTER
# bloat = {"ping": None, "page": None}
# sure = None
### END SOLUTION
bloat = lab12.predict("bloat", bloat, sure)
bloat

# %% check="bloat" points=1
lab12.check_predicted(bloat).require()

# %% [markdown] id="long-task"
# `measure.run_together(lab, beside(40))` starts them all at the same instant, for 40 s, and returns what they measured.
#
# **Your turn:** measure it, as the network is.

# %% answer="long"
### BEGIN SOLUTION
long = measure.run_together(lab, beside(40))
### STARTER
# long = None  # YOUR TURN: measure.run_together(...)
### END SOLUTION

# %% check="long" points=2
lab12.check_long(long).require()

# %% id="long-figure"
display(lab12.figures.queue_figure({"queue of 1000": long}))
lab12.figures.queue_table({"queue of 1000": long})

# %% [markdown] id="long-question"
# **Question.** Nobody lost much here, and the uplink was always busy. Who pays, and with what? Why does nobody see this
# in a test that says how many Mbit/s a line has? And why does a faster line alone not help for long?

# %% [markdown] reflect="long" points=4
# Whoever shares the queue pays with time: each round trip is a second longer, so a page of 12 round trips takes some
# 10 s, and a call is over. The upload itself gains nothing: it needs a bandwidth-delay product of 17 packets in
# flight, and has a thousand more waiting. A test that counts bytes alone sees full rate; only a test that also pings
# meanwhile sees the wait (some speed tests show this *loaded latency* today). With a faster line CUBIC still fills
# the queue, it only takes longer to fill and less time to empty; and queues are made larger with the rate.
#
# **Rubric.** 4 points: all who share the queue wait, with a number; round trips make a page's time; tests see rate and
# not delay under load; a sender that waits for a loss fills any queue at any rate. 3 points: three of these. 2 points:
# two. 1 point: one. Typical wrong: (1) "the line is too slow" - the page needs 60 kB, which take 50 ms. (2) "packets
# are lost" - few are; they wait.

# %% [markdown] id="limit-task"
# <details><summary>Open this when you have written your answer</summary>
#
# A queue that is always full is no buffer for bursts any more, only delay. This is **bufferbloat** (Gettys and Nichols,
# 2011). CUBIC slows down at a loss, and there is none before the queue is full. RFC 7567 asks all routers to manage
# their queues.
#
# </details>
#
# ## 2. A shorter queue
#
# **Your turn:** a function of a rate in Mbit/s and a time in ms. It returns how many full frames (1514 bytes) may wait
# at most, so that nobody waits longer than that: a whole number, but at least 1, or nothing is ever sent.

# %% answer="limit"
import math


def limit(rate_mbps, wait_ms):
    ### BEGIN SOLUTION
    return max(1, math.floor(rate_mbps * 1000 * wait_ms / (1514 * 8)))
    ### STARTER
    # # YOUR TURN: return how many packets may wait
    # ...
    ### END SOLUTION


# %% check="limit" points=3
lab12.check_limit(limit).require()

# %% [markdown] id="one-task"
# ## 3. One queue for all: FIFO, RED, CoDel
#
# `tc qdisc replace dev r1-eth2 parent 5:1 WHAT`, typed on r1, puts another queueing discipline in the place of the
# queue (5:1 is the class that keeps U's rate; leave it). Three of them have one queue for all packets:
#
# - `pfifo limit PACKETS`: what comes last to a full queue is dropped.
# - `red limit 60000 min 7500 max 22500 avpkt 1500 burst 9 probability 0.1 bandwidth 10mbit`: as the *average* queue, in
#   bytes, grows from `min` to `max`, more and more packets are dropped at random. `burst`, in packets of `avpkt`, says
#   how slowly the average follows.
# - `codel`: it looks at the time that packets wait. Its default of 5 ms is right here. On a very slow link it must be
#   longer than one packet takes to send.
#
# **Your turn:** measure `beside(40)` with each of them, for pfifo with the limit that your function gives for U and 20
# ms: `one["pfifo"]`, and so on. tc prints nothing if all is well.

# %% answer="one"
one = dict.fromkeys(lab12.ONE_QUEUE)
### BEGIN SOLUTION
red = "red limit 60000 min 7500 max 22500 avpkt 1500 burst 9 probability 0.1 bandwidth 10mbit"
for what in f"pfifo limit {limit(U.rate_mbps, 20)}", red, "codel":
    print(lab["r1"].cmd(f"tc qdisc replace dev r1-eth2 parent 5:1 {what}"), end="")
    one[what.split()[0]] = measure.run_together(lab, beside(40))
### STARTER
# # YOUR TURN: tc on r1, one["pfifo"] = measure.run_together(...), and two more
### END SOLUTION

# %% check="one" points=4
lab12.check_one_queue(one).require()

# %% id="one-figure"
display(lab12.figures.queue_figure(one))
lab12.figures.queue_table(one)

# %% [markdown] id="drops-task"
# **Your turn:** a letter for each question.
#
# `early`: RED drops packets although the queue has room. Why? (a) It saves memory in the router. (b) It drops packets
# that are too old to be of use. (c) It tells senders before the queue is full, one after another. (d) It drops those
# packets whose senders have sent most.
#
# `sojourn`: CoDel works on nearly any link without being told its rate. What does it look at? (a) How many packets were
# lost before. (b) How long each packet has waited, and whether that stays too long. (c) The round trip that TCP says in
# its packets. (d) How many connections there are.

# %% answer="drops"
drops = {
    ### BEGIN SOLUTION
    "early": "c",
    "sojourn": "b",
    ### STARTER
    # "early": None,
    # "sojourn": None,
    ### END SOLUTION
}

# %% check="drops" points=2
lab12.check_drops(drops).require()

# %% [markdown] id="apart-task"
# ## 4. Flows apart: fq_codel and CAKE
#
# `fq_codel` has many queues, each with a CoDel of its own. `cake unlimited` has many queues too, each with COBALT,
# which is CoDel together with BLUE. (CAKE can keep a rate too, by `cake bandwidth 10mbit`; here U's class does that.)
#
# **Your turn:** first say to yourself what a ping will be. Then measure `beside(40)` with both: `apart["fq_codel"]` and
# `apart["cake"]`.

# %% answer="apart"
apart = dict.fromkeys(lab12.APART)
### BEGIN SOLUTION
for what in "fq_codel", "cake unlimited":
    print(lab["r1"].cmd(f"tc qdisc replace dev r1-eth2 parent 5:1 {what}"), end="")
    apart[what.split()[0]] = measure.run_together(lab, beside(40))
### STARTER
# # YOUR TURN: tc on r1, apart["fq_codel"] = measure.run_together(...), and one more
### END SOLUTION

# %% check="apart" points=3
lab12.check_apart(apart).require()

# %% [markdown] id="ecn-task"
# ## 5. Marks in place of losses
#
# The upload lost packets in all of these queues: that is how it hears that it is too fast. With **ECN** (RFC 3168) a
# queue marks packets instead of dropping them, if their sender has asked for it. fq_codel marks by itself. A Linux host
# asks when it opens a connection after `sysctl -w net.ipv4.tcp_ecn=1`, typed on that host.
#
# **Your turn:** let h1 ask for marks, put fq_codel at U again, and measure `beside(40)`.

# %% answer="ecn"
### BEGIN SOLUTION
lab["h1"].cmd("sysctl -w net.ipv4.tcp_ecn=1")
lab["r1"].cmd("tc qdisc replace dev r1-eth2 parent 5:1 fq_codel")
ecn = measure.run_together(lab, beside(40))
### STARTER
# ecn = None  # YOUR TURN: sysctl on h1, tc on r1, measure.run_together(...)
### END SOLUTION

# %% check="ecn" points=2
lab12.check_ecn(ecn).require()

# %% id="all-figure"
every = {"long": long, **one, **apart, "marks": ecn}
display(lab12.figures.queue_figure({**apart, "marks": ecn}))
lab12.figures.queue_table(every)

# %% [markdown] id="turns-task"
# **Your turn:** a letter for each question.
#
# `turns`: in fq_codel a ping does not wait for the upload's packets. Why? (a) Each flow has a queue of its own, they
# send in turn, and one that sends little comes first. (b) Ping has a higher priority than TCP in every router. (c)
# Small packets go before large ones. (d) The upload's packets are all dropped while a ping waits.
#
# `mark`: with ECN the upload lost nothing. What does the router do in place of dropping, and who slows down? (a) It
# sends a message to the sender, who pauses. (b) It holds the packet back until there is room; the receiver slows down.
# (c) It marks the packet as less important; routers behind it drop it first. (d) It marks the packet; the receiver
# tells the sender, who cuts its window.

# %% answer="turns"
turns = {
    ### BEGIN SOLUTION
    "turns": "a",
    "mark": "d",
    ### STARTER
    # "turns": None,
    # "mark": None,
    ### END SOLUTION
}

# %% check="turns" points=2
lab12.check_turns(turns).require()

# %% [markdown] id="turns-question"
# **Question.** A provider wants calls to work beside uploads in all homes, whose uplinks have 2 to 40 Mbit/s. Which of
# your queues would you choose, and why not a FIFO of 16 packets, or RED with one setting for all? What does your choice
# not solve?

# %% [markdown] reflect="turns" points=4
# fq_codel or CAKE: both need no number of the link, keep calls and pages from waiting for the upload, and use the link
# by 95 % and more. 16 packets are 20 ms at 10 Mbit/s, but 97 ms at 2 Mbit/s, and at 40 Mbit/s only 5 ms, which may
# leave the link idle after a loss. RED's bytes are the same: right for one rate. What they do not solve: queues
# elsewhere (the modem's or the access point's own, where no fq_codel stands before the bottleneck), many flows of one
# host that share with one call by number, a hash that puts two flows into one queue, flows inside one encrypted tunnel.
#
# **Rubric.** 4 points: fq_codel or CAKE with what the table shows; a limit in packets or bytes is another time at
# another rate; RED's setting is for one rate; one thing that stays unsolved. 3 points: three of these. 2 points: two.
# 1 point: one. Typical wrong: (1) "the shortest queue of all" - at 40 Mbit/s it cannot hold a burst, and the link runs
# empty. (2) "priority for calls" - then everything calls itself a call, and who marks it?

# %% id="stop"
lab.stop()

# %% [markdown] id="finale-task"
# <details><summary>Open this when you have written your answer</summary>
#
# RFC 7567 asks for a queue management that needs no tuning; RFC 8290 describes fq_codel, and Høiland-Jørgensen and
# others (2018) CAKE, which adds fairness between hosts, a shaper, and filters for acknowledgements.
#
# </details>
#
# ## 6. Networks that you have not seen
#
# `lab12.unseen()` draws three uplinks anew each time: a slow one of 2.5 to 4 Mbit/s, a middle one of 8 to 14, a fast
# one of 30 to 40, with round trips of 12 to 24 ms. On each of them, beside an upload and without pages, 95 of 100
# pings that are answered must take less than 40 ms, and three in four must be answered. The upload must use 95 % of
# what headers leave of U.
#
# **Your turn:** a function that returns what comes after `parent 5:1`, for any rate. Nothing is known but the rate.


# %% answer="finale"
def queue_for(rate_mbps):
    ### BEGIN SOLUTION
    return "fq_codel"
    ### STARTER
    # # YOUR TURN: return "pfifo limit ...", or something better
    # return "pfifo limit 1000"
    ### END SOLUTION


# %% id="finale-measure"
finale = {}
for name, strange in lab12.unseen().items():
    with start(strange) as there:
        what = queue_for(strange.link("U").rate_mbps)
        print(name, strange.link("U").rate_mbps, "Mbit/s:", what)
        print(there["r1"].cmd(f"tc qdisc replace dev r1-eth2 parent 5:1 {what}"), end="")
        finale[name] = measure.run_together(there, beside(30)[:3])  # all but the pages
lab12.figures.queue_table(finale)

# %% check="finale" points=5
lab12.check_finale(finale).require()

# %% [markdown] id="judge-question"
# **Question.** Try `pfifo limit {limit(rate_mbps, 10)}` or another idea of yours in place of what passed, or look at
# the table again: what decides between the slow and the fast uplink, and why is it easier to keep 40 ms on the fast
# one?

# %% [markdown] reflect="judge" points=4
# On a slow uplink one frame takes long: 5 ms at 2.5 Mbit/s. A ping that finds one being sent, and three in a queue, has
# waited 19 ms already, so only who passes the queue, or a queue of two or three packets, keeps 40 ms. But with two
# packets U is idle after each loss, and its use falls to some 91 %. On the fast uplink a frame takes 0.3 ms: even forty
# packets are 12 ms. There the danger is the other one: the bandwidth-delay product is 30 to 80 packets, so a queue of a
# few packets empties after a loss. A queue that looks at time alone, as CoDel, lets 5 ms and a few frames wait, and
# passes or fails on the slow one by a little. One in which flows take turns needs no number.
#
# **Rubric.** 4 points: time of a frame at both rates, with numbers; a short queue in packets at the slow one; idle
# after a loss at the fast one; why time or turns need no rate. 3 points: three of these. 2 points: two. 1 point: one.
# Typical wrong: (1) "fast lines have no queue" - CUBIC fills any. (2) "the round trip decides" - it is nearly the same
# on all three.

# %% [markdown] id="end-of-lab"
# <details><summary>Open this when you have written your answer</summary>
#
# Packets and bytes are time only with a rate. Wi-Fi changes its rate from packet to packet, so only what looks at time
# can be right there: Linux's Wi-Fi has queues like fq_codel's (Høiland-Jørgensen and others, 2017).
#
# </details>
#
# ## Summary
#
# A sender that slows down at losses fills any queue, and everybody who shares it waits. A short FIFO helps at one rate.
# RED says "too fast" earlier, but in bytes. CoDel looks at time. fq_codel and CAKE let flows send in turn, so who sends
# little does not wait. ECN says it without a loss.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. 20 Mbit/s, a FIFO of 200 packets, 30 ms without a queue: the highest ping?</summary>
#
# 30 + 200 * 0.606 = 151 ms.
#
# </details>
# <details><summary>2. A page of 10 small objects, one connection each, beside that upload?</summary>
#
# 20 round trips of up to 151 ms: 3 s. Without the upload 0.6 s.
#
# </details>
# <details><summary>3. fq_codel at U, but the modem behind it sends at half of U's rate. What happens?</summary>
#
# The queue is in the modem, and fq_codel never sees one. Keep U's rate a little below the modem's.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 7567 (recommendations), RFC 8289 (CoDel), RFC 8290 (fq_codel), RFC 8033 (PIE), RFC
# 3168 (ECN); Floyd and Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, 1993; Gettys and Nichols,
# *Bufferbloat: Dark Buffers in the Internet*, 2011; Høiland-Jørgensen and others, *Piece of CAKE: A Comprehensive Queue
# Management Solution for Home Gateways*, 2018.
