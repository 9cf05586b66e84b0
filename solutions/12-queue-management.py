# %% [markdown] id="goal"
# # Lab 12: Bufferbloat and queue management
#
# **Time:** about 3 hours, three minutes of them for measurements. **You need:** what a full queue adds to a round trip
# (Lab 05), how CUBIC fills a queue (Lab 11), and a kernel with four ways to manage a queue: RED, CoDel, fq_codel and
# CAKE (the lab's own has them).
#
# Someone at home uploads a video to a server. Meanwhile no page loads for the others at home. The *uplink*, from the
# home to the Internet, is not slow: its queue holds too many packets. How should a queue treat packets so that uploads
# and pages both work well?

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
# holds only waiting packets, at most 1000. This is the length of Linux's plain FIFO (`txqueuelen`). Most Linux systems
# choose fq_codel today; section 4 shows the difference.
#
# h1 uploads with CUBIC. After 5 seconds h2 starts to ping h3 and to load **pages** from h3. After each page h2 pauses
# for one second. A page has 6 objects (its text, its pictures) of 10,000 bytes. h2 loads one object after another and
# opens a new connection for each, as HTTP/1.0 does ([HTTP](glossary.md) is the web's protocol). So each object takes
# two round trips: one to connect, one for request and response.


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
#
# **Then measure:** `measure.run_together(lab, beside(40))` starts all these measurements together, for 40 s, and
# returns their results. Run this on the network without any change.

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

# %% id="explain-long"
lab12.explain("suffer")

# %% [markdown] id="limit-task"
# ## 2. A shorter queue
#
# **Your turn:** complete `limit`. It takes a rate in Mbit/s and a time in ms. It returns how many full frames (1514
# bytes) may wait at most, so that sending them all takes no longer than this time. Return a whole number, at least 1:
# with 0 the queue sends nothing.

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
#   sets how slowly the average follows the queue. `probability` is the share that RED drops at `max`, and `bandwidth`
#   is the link's rate.
# - `codel`: it measures how long packets wait, and drops some if they wait longer than its *target*. The default of 5
#   ms suits U. On a very slow link the target must be longer than the transmission time of one packet.
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

# %% [markdown] id="limits-text"
# **A queue's limit, and the wait in it.** The dots are your FIFOs: each limit, and the highest ping with it. The lines
# are theory. Both axes are logarithmic. Move the sliders: which limits give a ping below 60 ms, and leave CUBIC enough
# packets to keep the link busy after a loss, at 2 Mbit/s? At 40 Mbit/s? Then answer three questions with letters.

# %% id="limits"
lab12.figures.limits({"long": long, **one})

# %% answer="drops"
print(lab12.question("early", "sojourn", "faster"))
drops = {
    ### BEGIN SOLUTION
    "early": "c",
    "sojourn": "b",
    "faster": "c",
    ### STARTER
    # "early": None,
    # "sojourn": None,
    # "faster": None,
    ### END SOLUTION
}

# %% check="drops" points=3
lab12.check_drops(drops).require()

# %% [markdown] id="apart-task"
# ## 4. Many queues: fq_codel and CAKE
#
# `fq_codel` has many queues, each with its own CoDel. `cake unlimited` also has many queues, each with a relative of
# CoDel (COBALT). (CAKE can also limit the rate, with `cake bandwidth 10mbit`; here U's class does that.)
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
# queue marks packets instead of dropping them, if both ends agreed to this when they connected. fq_codel marks by
# default. A Linux host agrees if it is asked. It asks on each new connection after you type `sysctl -w
# net.ipv4.tcp_ecn=1` on that host.
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
# packets at U, then with fq_codel (h1 still asks for marks). It plays both runs side by side, on one clock. **Say to
# yourself** before you run it: how long does a ping wait at U in each queue, 2 or 3 s after the upload began?
#
# **Your turn:** run it, and read how long ping **number 3** waited at `r1-eth2`, in ms, in each run. Open *Flows*,
# and untick *TCP cubic h1 to h3*. Then each press of `.` goes to the next moment of a ping. The panel below its
# network shows the ping's number (*ICMP*) and how long it waited (*waited*; *at once* is 0). Write the two waits
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

# %% answer="turns"
print(lab12.question("turns", "mark"))
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
# upload, and the upload uses at least 95 % of the link. 16 packets take 20 ms at 10 Mbit/s, but 97 ms at 2 Mbit/s. At
# 40 Mbit/s they take only 5 ms, so the link may be idle after a loss. RED's limits in bytes also fit only one rate.
#
# **Rubric.** 3 points: fq_codel or CAKE, with values from the table; a limit in packets is a different time at another
# rate; RED's setting fits one rate. 2 points: two of these. 1 point: one. Typical wrong: (1) "the shortest queue of
# all": at 40 Mbit/s it cannot hold a burst, and the link becomes idle. (2) "priority for calls": every program can
# claim to be a call, and nobody checks that.

# %% [markdown] id="claim-task"
# ### A claim to test
#
# Ask a language model which queue a home's router should have, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) Once an upload has filled it, a plain FIFO of 1000 packets adds about a second to each round trip through U,
# > and the upload gains nothing by it. (2) CoDel looks at the time that packets wait, so the same setting suits links
# > from some Mbit/s to many. (3) In addition, fq_codel gives each flow a queue, so a ping hardly waits for an upload.
# > (4) Its queues take turns, so the hosts share U equally: if h1 uploads over four connections and h2 over one, each
# > of the two hosts gets half. (5) With ECN the sender slows down before a packet is lost.
#
# **Your turn:** find the wrong sentence, and measure a run of 20 s or longer that contradicts it. Store its number
# and the run. `measure.TcpFlow` also takes `streams=4` (four connections), `start_s=5` and `congestion="reno"`.

# %% answer="claim"
queue = measure.QueueFlow("r1", "h3", 20, 0.2)  # put it into the run: it says which queue U has
### BEGIN SOLUTION
wrong_sentence = 4
lab["r1"].cmd("tc qdisc replace dev r1-eth2 parent 5:1 fq_codel")
many, alone = measure.TcpFlow("h1", "h3", 20, streams=4), measure.TcpFlow("h2", "h3", 20)
shows_it = measure.run_together(lab, [many, alone, queue])
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: measure.run_together(lab, [..., queue])
### END SOLUTION

# %% check="claim" points=3
lab12.check_claim(wrong_sentence, shows_it).require()

# %% id="stop"
lab12.explain("choice")
lab.stop()

# %% [markdown] id="finale-task"
# ## 6. The queue is elsewhere
#
# In most homes the slow link does not begin at the router, but at a *modem* behind it. From here on U is an Ethernet
# cable of 100 Mbit/s between your router r1 and the modem r2, and the modem sends at its own rate. It has a FIFO of
# 1000 packets, and you cannot configure it: you can change U's queue at r1 alone.
#
# `lab12.unseen()` draws three such homes each time: the modem has 2.5 to 4 Mbit/s (slow), 8 to 14 (middle), or 30 to 40
# (fast), and the round trips are 12 to 24 ms. You measure pings during an upload, without pages. In each home h3 must
# answer at least 75 % of the pings, and at least 95 % of the answered pings must take less than 60 ms. The upload must
# use 90 % of the modem's rate minus headers.
#
# **Your turn:** first run the cell as it is: fq_codel, a good queue in section 4. Read the table, and say to yourself
# where the packets wait. Then complete the function. It knows the modem's rate, and returns the text after
# `parent 5:1`.


# %% answer="finale"
def queue_for(rate_mbps):
    ### BEGIN SOLUTION
    return f"cake bandwidth {0.95 * rate_mbps}mbit"
    ### STARTER
    # # YOUR TURN: return another text, which depends on rate_mbps
    # return "fq_codel"
    ### END SOLUTION


finale = {}
for name, home in lab12.unseen().items():
    with start(home) as there:
        what = queue_for(lab12.modem_mbps(home))
        print(name, "modem of", lab12.modem_mbps(home), "Mbit/s, U has", what)
        print(there["r1"].cmd(f"tc qdisc replace dev r1-eth2 parent 5:1 {what}"), end="")
        finale[name] = measure.run_together(there, beside(30)[:3])  # all but the pages
lab12.figures.finale_table(finale)

# %% check="finale" points=5
lab12.check_finale(finale).require()

# %% answer="where"
print(lab12.question("elsewhere", "less"))
### BEGIN SOLUTION
where = {"elsewhere": "b", "less": "a"}
### STARTER
# where = {"elsewhere": None, "less": None}  # letters
### END SOLUTION

# %% check="where" points=2
lab12.check_where(where).require()

# %% id="end"
lab12.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# A sender that slows down only at losses fills short queues and long ones, and everyone who shares the queue waits. A
# short FIFO helps at one rate. RED warns senders earlier, but its limits are in bytes. CoDel looks at time. In fq_codel
# and CAKE flows take turns, so a flow that sends little does not wait. ECN warns senders without a loss. A queue can be
# managed only where it forms: a router that sends a little less than the slowest link makes it form at the router.
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
# <details><summary>3. Why can no fixed number of packets be the right limit at 2.5 and at 40 Mbit/s?</summary>
#
# Sixteen packets take 78 ms at 2.5 Mbit/s. At 40 Mbit/s they take 5 ms, and with a round trip of 24 ms CUBIC needs 34
# packets to keep the link busy after a loss (Lab 05: the BDP is 79).
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); RFC 7567 (recommendations), RFC 8289 (CoDel), RFC 8290 (fq_codel), RFC 8033 (PIE, another
# managed queue), RFC 3168 (ECN), RFC 9330 and 9332 (L4S: senders that react to each mark get a queue of their own, in
# which packets wait for about a millisecond; Linux calls it `dualpi2`); Floyd and Jacobson, *Random Early Detection
# Gateways for Congestion Avoidance*, 1993; Gettys and Nichols, *Bufferbloat: Dark Buffers in the Internet*, 2011;
# Høiland-Jørgensen and others, *Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways*, 2018.
