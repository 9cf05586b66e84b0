# %% [markdown] id="goal"
# # Lab 12: Bufferbloat and queue management
#
# **Time:** about 3 hours, three minutes of them for measurements. **You need:** what a full queue adds to a round trip
# (Lab 05), how CUBIC fills a queue (Lab 11), and a kernel with RED, CoDel, fq_codel and CAKE (the lab's own has them).
#
# Someone at home uploads a video to a server. Meanwhile no page loads for the others at home. The uplink is not slow:
# its queue holds too many packets. How should a queue treat packets so that uploads and pages both work well?

# %% id="imports"
from linklab import lab12, measure, show, start

display(lab12.progress())
network = lab12.the_network()
U = network.link("U")
lab = start(network)
show.network(lab)

# %% [markdown] id="beside-text"
# ## 1. A page beside an upload
#
# h1 and h2 are at home, r1 is their router, and U is the uplink. U has no propagation delay, so its queue at `r1-eth2`
# holds only waiting packets, at most 1000. This is the length of Linux's plain FIFO (`txqueuelen`). Most distributions
# choose fq_codel today; section 4 shows the difference.
#
# h1 uploads with CUBIC. After 5 seconds h2 starts to ping h3 and to load **pages** from h3. After each page h2 pauses
# for one second. A page has 6 objects of 10,000 bytes. h2 loads one object after another and opens a new connection for
# each (HTTP/1.0). So each object takes two round trips: one to connect, one for request and response.


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
# **Predict** the highest ping in ms and the time of a page in seconds when the upload has filled the queue. A full
# frame has 1514 bytes. Say also how sure you are, in percent. Any prediction earns the point.

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
# `measure.run_together(lab, beside(40))` starts all these measurements together, for 40 s, and returns their results.
#
# **Your turn:** run this on the network without any change.

# %% answer="long"
### BEGIN SOLUTION
long = measure.run_together(lab, beside(40))
### STARTER
# long = None  # YOUR TURN: measure.run_together(...)
### END SOLUTION
display(lab12.figures.queue_figure({"queue of 1000": long}))
lab12.figures.queue_table({"queue of 1000": long})

# %% check="long" points=2
lab12.check_long(long).require()

# %% [markdown] id="suffer-question"
# **Question.** Few packets were lost, and the uplink was always busy. Who suffers from the full queue, and how?

# %% [markdown] reflect="suffer" points=2
# Everyone who shares the queue waits: each round trip takes a second longer. A page needs 12 round trips, so it takes
# about 10 s, and a call is impossible. The upload itself gains nothing. It needs 17 packets in flight (the
# bandwidth-delay product), and a thousand more packets wait.
#
# **Rubric.** 2 points: everyone who shares the queue waits, with a number; the number of round trips determines a
# page's time. 1 point: one of the two. Typical wrong: (1) "the line is too slow": a page has 60 kB, which take 50 ms.
# (2) "packets are lost": few are lost, the others wait.

# %% [markdown] id="long-question"
# **Question.** Why does a faster line alone not help for long?

# %% [markdown] reflect="long" points=1
# CUBIC also fills the queue of a faster line. This takes longer, and the queue empties faster, but faster lines get
# larger queues.
#
# **Rubric.** 1 point: a sender that waits for a loss fills any queue, at any rate. Typical wrong: (1) "a faster line
# has no queue": a transfer is as fast as its slowest link allows, and its queue fills. (2) "then the upload is over
# sooner": this one is; the next larger upload fills the queue again.

# %% id="explain-long"
lab12.explain("long")

# %% [markdown] id="limit-task"
# ## 2. A shorter queue
#
# **Your turn:** complete `limit`. It takes a rate in Mbit/s and a time in ms. It returns how many full frames (1514
# bytes) may wait at most, so that no packet waits longer than this time. Return a whole number, at least 1: with 0 the
# queue sends nothing.

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
# Type `tc qdisc replace dev r1-eth2 parent 5:1 WHAT` on r1 to replace the queueing discipline by `WHAT`. (Class 5:1
# keeps U's rate: with `root` instead of `parent 5:1` U loses it.) Three disciplines have one queue for all packets:
#
# - `pfifo limit PACKETS`: a full queue drops each packet that arrives.
# - `red limit 60000 min 7500 max 22500 avpkt 1500 burst 9 probability 0.1 bandwidth 10mbit`: as the *average* queue
#   grows from `min` to `max` bytes, RED drops more and more packets at random. `burst`, in packets of `avpkt` bytes,
#   sets how slowly the average follows the queue.
# - `codel`: it measures how long packets wait. Its default target of 5 ms suits U. On a very slow link the target must
#   be longer than the transmission time of one packet.
#
# **Your turn:** measure `beside(40)` with each of the three disciplines. For pfifo use the limit that your function
# returns for U's rate and 20 ms. Store the results in `one["pfifo"]`, `one["red"]` and `one["codel"]`. tc prints
# nothing if the command succeeds.

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
display(lab12.figures.queue_figure(one))
lab12.figures.queue_table(one)

# %% check="one" points=4
lab12.check_one_queue(one).require()

# %% [markdown] id="drops-task"
# **Your turn:** answer each question with a letter.
#
# `early`: RED drops packets although the queue has room. Why?
#
# - a: to save memory in the router
# - b: to remove packets that are too old to be useful
# - c: to warn senders before the queue is full, one after another
# - d: to punish the senders that have sent most
#
# `sojourn`: CoDel works on nearly any link, and you need not tell it the link's rate. What does it look at?
#
# - a: how many packets it dropped before
# - b: how long each packet has waited, and whether packets keep waiting too long
# - c: the round trip that TCP writes into its packets
# - d: how many connections there are

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
# ## 4. Many queues: fq_codel and CAKE
#
# `fq_codel` has many queues, each with its own CoDel. `cake unlimited` also has many queues, each with COBALT, which
# combines CoDel and BLUE. (CAKE can also limit the rate, with `cake bandwidth 10mbit`; here U's class does that.)
#
# **Your turn:** first guess how long a ping will take. Then measure `beside(40)` with both disciplines. Store the
# results in `apart["fq_codel"]` and `apart["cake"]`.

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
# ## 5. Marks instead of losses
#
# The upload lost packets in all of these queues: losses tell the sender that it is too fast. With **ECN** (RFC 3168) a
# queue marks packets instead of dropping them, if their sender has asked for marks. fq_codel marks by default. A Linux
# host asks for marks on each new connection after you type `sysctl -w net.ipv4.tcp_ecn=1` on that host.
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

# %% [markdown] id="waits-text"
# **The same ping in two queues.** The next cell records an upload of 4 s beside three pings, first with a FIFO of 1000
# packets at U, then with fq_codel. It plays both runs with one clock. **Say to yourself** before you run it: how long
# does a ping wait at U in each queue, 2 or 3 s after the upload began?
#
# **Your turn:** run it, and read how long ping **number 3** waited at `r1-eth2`, in ms, in each run. Open *Flows*,
# and untick *TCP cubic h1 to h3*. Then each press of `.` goes to the next moment of a ping. The panel below its
# network shows the ping's number (*ICMP*) and how long it waited (*left after*; *at once* is 0). Write the two waits
# into the cell below the replay. Without the picture: `pair["FIFO"].of(measure.PingResult)[0].rtt_ms` has the round
# trips of the three pings. Subtract the delay of the links in both directions.


# %% id="waits-replay"
def recorded_with(what):
    print(lab["r1"].cmd(f"tc qdisc replace dev r1-eth2 parent 5:1 {what}"), end="")
    upload = measure.TcpFlow("h1", "h3", 4)
    pings = measure.PingFlow("h2", "h3", 3, 0.5, start_s=2)
    return measure.run_together(lab, [upload, pings], record=["r1-eth2"])


pair = {"FIFO": recorded_with("pfifo limit 1000"), "fq_codel": recorded_with("fq_codel")}
show.network(*pair.values(), labels=[*pair])

# %% answer="waits"
### BEGIN SOLUTION
base_ms = 2 * network.links[3].delay_ms
waits = {name: run.of(measure.PingResult)[0].rtt_ms[2] - base_ms for name, run in pair.items()}
### STARTER
# waits = {"FIFO": None, "fq_codel": None}
### END SOLUTION
waits

# %% check="waits" points=1
lab12.check_waits(waits, pair).require()

# %% [markdown] id="turns-task"
# **Your turn:** answer each question with a letter.
#
# `turns`: With fq_codel a ping does not wait for the upload's packets. Why?
#
# - a: each flow has its own queue, the queues take turns, and a flow that sends little goes first
# - b: every router gives ping a higher priority than TCP
# - c: small packets go before large ones
# - d: fq_codel drops all packets of the upload while a ping waits
#
# `mark`: With ECN the upload lost no packet. What does the router do instead of a drop, and who slows down?
#
# - a: the router sends a message to the sender, and the sender pauses
# - b: the router holds the packet back until there is room, and the receiver slows down
# - c: the router marks the packet as less important, and later routers drop it first
# - d: the router marks the packet, the receiver tells the sender, and the sender reduces its window

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

# %% [markdown] id="choice-question"
# **Question.** A provider wants calls to work during uploads in all homes. The homes' uplinks have 2 to 40 Mbit/s.
# Which of your queues would you choose, and why not a FIFO of 16 packets, or RED with one setting for all homes?

# %% [markdown] reflect="choice" points=3
# I choose fq_codel or CAKE. Neither needs to know the link's rate. With both, calls and pages do not wait for the
# upload, and the upload uses 95 % of the link and more. 16 packets take 20 ms at 10 Mbit/s, but 97 ms at 2 Mbit/s. At
# 40 Mbit/s they take only 5 ms, so the link may be idle after a loss. RED's limits in bytes also fit only one rate.
#
# **Rubric.** 3 points: fq_codel or CAKE, with values from the table; a limit in packets is a different time at another
# rate; RED's setting fits one rate. 2 points: two of these. 1 point: one. Typical wrong: (1) "the shortest queue of
# all": at 40 Mbit/s it cannot hold a burst, and the link becomes idle. (2) "priority for calls": every program can
# claim to be a call, and nobody checks that.

# %% [markdown] id="turns-question"
# **Question.** Name a problem of these homes that your choice does not solve.

# %% [markdown] reflect="turns" points=1
# A full queue elsewhere (modem, access point) stays as it is. With fq_codel a host with many flows gets more bandwidth
# than a host with one call (CAKE shares by host first, unless you set it otherwise). Two flows with the same hash share
# one queue. Flows inside one encrypted tunnel look like one flow.
#
# **Rubric.** 1 point: one such problem. Typical wrong: (1) "the upload stops": it uses the rest of the link. (2) "many
# calls at once": each has its own queue, as long as the rate suffices for all.

# %% id="stop"
lab12.explain("turns")
lab.stop()

# %% [markdown] id="finale-task"
# ## 6. Networks that you have not seen
#
# `lab12.unseen()` draws three new uplinks each time: a slow one of 2.5 to 4 Mbit/s, a middle one of 8 to 14, and a fast
# one of 30 to 40. The round trips are 12 to 24 ms. You measure pings during an upload, without pages. On each uplink h3
# must answer three in four pings, and 95 of 100 answered pings must take less than 60 ms. The upload must use 95 % of
# U's rate minus headers. The routers are old: they have one queue, a FIFO (`pfifo`) or RED.
#
# **Your turn:** complete the function. It returns the text after `parent 5:1` for any rate. It knows only the rate. The
# cell then measures all three.


# %% answer="finale"
def queue_for(rate_mbps):
    ### BEGIN SOLUTION
    return f"pfifo limit {limit(rate_mbps, 30)}"
    ### STARTER
    # # YOUR TURN: return "pfifo limit ..." or "red ..."
    # return "pfifo limit 1000"
    ### END SOLUTION


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
# **Question.** Try `"pfifo limit 16"`, `"pfifo limit 6"` or another idea instead of the queue that passed. Why can no
# fixed number of packets pass at 2.5 as well as at 40 Mbit/s, both with a round trip of 24 ms?

# %% [markdown] reflect="judge" points=4
# On a slow uplink one frame takes long: 5 ms at 2.5 Mbit/s. Sixteen packets take 78 ms there, and a ping behind them
# takes 100 ms. With a round trip of 24 ms at most seven may wait. On the fast uplink a frame takes 0.3 ms: a hundred
# packets take only 30 ms. There the danger is an idle link: at 40 Mbit/s and 24 ms the bandwidth-delay product is 79
# packets, and after a loss CUBIC needs 0.43 of that in the queue (Lab 11), 34 packets. With six its use falls to 86 %.
# A limit in time, 30 ms at any rate, is 6 packets at 2.5 Mbit/s and 99 at 40, and keeps both promises. It needs the
# rate. CoDel measures time itself, and a queue in which flows take turns lets a ping overtake: both need no rate.
#
# **Rubric.** 4 points: the transmission time of a frame at both rates, with numbers; a queue of few packets at the slow
# rate; an idle link after a loss at the fast rate; why a limit in time fits both rates, or which queue needs no rate.
# 3 points: three of these. 2 points: two. 1 point: one. Typical wrong: (1) "fast lines have no queue": CUBIC fills any
# queue. (2) "the round trip decides": it is nearly the same on all three uplinks.

# %% id="explain-judge"
lab12.explain("judge")
lab12.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A sender that slows down only at losses fills any queue, and everyone who shares the queue waits. A short FIFO helps
# at one rate. RED warns senders earlier, but its limits are in bytes. CoDel looks at time. In fq_codel and CAKE flows
# take turns, so a flow that sends little does not wait. ECN warns senders without a loss.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. A link has 20 Mbit/s, a FIFO of 200 packets, 30 ms without a queue: the highest ping?</summary>
#
# 30 + 200 * 0.606 = 151 ms.
#
# </details>
# <details><summary>2. How long does a page of 10 small objects, one connection each, take beside that upload?</summary>
#
# 20 round trips of up to 151 ms: 3 s. Without the upload: 0.6 s.
#
# </details>
# <details><summary>3. fq_codel runs at U, but the modem behind U sends at half of U's rate. What happens?</summary>
#
# The queue is in the modem, so fq_codel never sees a queue. Set U's rate a little below the modem's.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 7567 (recommendations), RFC 8289 (CoDel), RFC 8290 (fq_codel), RFC 8033 (PIE), RFC
# 3168 (ECN), RFC 9330 and 9332 (L4S: senders that react to each mark have a queue of their own, and wait for a
# millisecond; Linux calls it `dualpi2`); Floyd and Jacobson, *Random Early Detection Gateways for Congestion
# Avoidance*, 1993; Gettys and Nichols, *Bufferbloat: Dark Buffers in the Internet*, 2011; Høiland-Jørgensen and others,
# *Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways*, 2018.
