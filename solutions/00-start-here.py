# %% [markdown] id="goal"
# # Lab 00: Start here
#
# You build the smallest network there is, say how it will behave, measure it, and explain the difference. Every
# later lab follows the same three steps: **predict, measure, explain**.
#
# **Time:** about 45 minutes. **You need:** nothing but this page; a little Python helps.
#
# A notebook is a page of text and *cells* of Python. Press **Shift+Enter** to run a cell and go on to the
# next. Start with the one below.

# %% id="imports"
import json
import time

from mininet.topo import Topo

from linklab import lab00, show, start

lab00.progress()

# %% [markdown] id="words"
# The list above shows which parts of the lab are done. It follows you: run a check, and look again. An
# answer in words counts once the notebook is saved (Ctrl+S) and a check, or the cell above, is run.
#
# ## 1. Three words
#
# A **host** is a computer at the edge of the network. It sends and receives packets.
#
# A **link** carries packets from one end to the other. Two numbers describe it. The *rate* says how fast
# bits enter the link, in Mbit/s (one Mbit is 1,000,000 bits). The *delay* says how long each bit then
# travels (the *propagation delay*), in ms. A fast link can have a long delay, and a slow one a short delay: they are
# independent.
#
# A **queue** stands in front of every link. Packets that come while the link is busy wait there. The queue
# has room for a fixed number of packets. When it is full, the next packet is dropped.

# %% [markdown] id="build-intro"
# ## 2. Build it
#
# Our network: host `h1`, host `h2`, and one link of **10 Mbit/s** with a delay of **10 ms** each way and a
# queue of **50 packets**.
#
# Mininet describes a network in a `Topo`. The rate is called `bw` (in Mbit/s), the delay `delay` (a text
# with its unit), the queue `max_queue_size` (in packets). **Your turn:** the rate stands there already. Add
# the delay and the queue.


# %% answer="network"
class TwoHosts(Topo):
    def build(self):
        self.addHost("h1", ip="10.0.0.1/24")
        self.addHost("h2", ip="10.0.0.2/24")
        ### BEGIN SOLUTION
        self.addLink("h1", "h2", bw=10, delay="10ms", max_queue_size=50)
        ### STARTER
        # self.addLink("h1", "h2", bw=10)  # YOUR TURN: add delay="10ms" and the queue
        ### END SOLUTION


# %% [markdown] id="start-intro"
# A `Topo` is only a plan. The next cell makes it real. Each host gets a network of its own inside a Linux
# kernel, and a virtual cable joins them. The packets are real, and so is the TCP that sends them.
#
# Changed the plan later? Run the cell above and this one again: that starts a new network.

# %% id="start"
lab = start(TwoHosts())
show.draw(lab)

# %% [markdown] id="read-back"
# This figure is not drawn from the plan. Linklab asked the kernel what is there, and drew the answer. Trust
# a measurement only if you have checked what you measured on.
#
# ## 3. Your first graded cell
#
# Cells that call a *check* are graded. A check looks at the running network. If something is missing, the
# cell stops with an error that says what was expected, what was found, and what to try. Nothing is lost:
# correct your work, run it, then run the check again, as often as you like.
#
# If you run the whole notebook at once, Jupyter stops at the first cell that fails.

# %% check="network" points=2
lab00.check_network(lab).require()

# %% [markdown] id="predict-rtt-intro"
# ## 4. Predict
#
# Before you measure, say what you expect, and how sure you are. **No prediction is wrong, some are surprising.** You
# get the point for committing to a number. After the measurement you see both side by side, and a surprise is where you
# learn something.
#
# `ping` sends a small packet to the other host, which sends it straight back. The time from sending to
# receiving is the *round-trip time*, RTT.
#
# **Your turn:** replace both `None`: the RTT in ms, and how sure you are, from 0 (a guess) to 100 (certain).

# %% answer="prediction-rtt"
### BEGIN SOLUTION
predicted_rtt_ms = lab00.predict("rtt", 20, sure=90)
### STARTER
# predicted_rtt_ms = lab00.predict("rtt", None, sure=None)
### END SOLUTION
predicted_rtt_ms

# %% check="prediction-rtt" points=1
lab00.check_predicted(predicted_rtt_ms).require()

# %% [markdown] id="predict-throughput-intro"
# Next, the *throughput*: how many Mbit/s of a file arrive at `h2` if `h1` sends it over TCP as fast as it can, for ten
# seconds?
#
# **Your turn:** say what you expect, in Mbit/s.

# %% answer="prediction-throughput"
### BEGIN SOLUTION
predicted_mbps = lab00.predict("throughput", 9.5, sure=60)
### STARTER
# predicted_mbps = lab00.predict("throughput", None, sure=None)
### END SOLUTION
predicted_mbps

# %% check="prediction-throughput" points=1
lab00.check_predicted(predicted_mbps).require()

# %% [markdown] id="measure-rtt-intro"
# ## 5. Measure the round-trip time
#
# `lab["h1"].cmd(...)` runs a command on host `h1` and returns what it printed. Four packets will do.

# %% id="ping"
ping_output = lab["h1"].cmd("ping -c 4 10.0.0.2")
print(ping_output)

# %% [markdown] id="measure-rtt-task"
# Look at the last line: the smallest, average and largest RTT, and how much they varied. **Your turn:**
# what was the average, in ms? Type the number, or take it out of `ping_output` with Python.

# %% answer="measured-rtt"
### BEGIN SOLUTION
measured_rtt_ms = float(ping_output.split("/")[4])
### STARTER
# measured_rtt_ms = None
### END SOLUTION

# %% check="measured-rtt" points=1
lab00.check_measured_rtt(measured_rtt_ms).require()

# %% [markdown] id="measure-throughput-intro"
# ## 6. Measure the throughput
#
# `iperf3` sends as much as TCP can, for ten seconds, from a client to a server. `popen` starts the server
# in the background. We wait until it says that it is listening. `--json` makes the client print its results
# in a form that Python can read.

# %% id="iperf3"
server = lab["h2"].popen("iperf3 -s -1 --forceflush")
next(line for line in server if "listening" in line)
report = json.loads(lab["h1"].cmd("iperf3 -c 10.0.0.2 -t 10 --json"))
server.wait()
report["end"]["sum_received"]

# %% [markdown] id="measure-throughput-task"
# These are the totals at the receiver. The sender's rate is a little higher: its clock stops when it has
# sent the last byte, although part of the data still waits in the queue.
#
# **Your turn:** what was the throughput in Mbit/s? Mind the unit: iperf3 reports *bits per second*.

# %% answer="measured-throughput"
### BEGIN SOLUTION
measured_mbps = report["end"]["sum_received"]["bits_per_second"] / 1_000_000
### STARTER
# measured_mbps = None
### END SOLUTION

# %% check="measured-throughput" points=1
lab00.check_measured_throughput(measured_mbps).require()

# %% [markdown] id="explain-question"
# ## 7. Explain
#
# The tables above show your prediction, theory and your measurement. Were you surprised? Now say why.
#
# The throughput stays below 10 Mbit/s although nobody else uses the link. Each packet on it is a frame of 1514 bytes:
#
# | Ethernet header | IP header | TCP header | TCP timestamps | your data |
# | --- | --- | --- | --- | --- |
# | 14 bytes | 20 bytes | 20 bytes | 12 bytes | 1448 bytes |
#
# **Question.** How much of the rest do the headers explain, and what may explain what is left? Would a longer delay,
# say 20 ms, change the throughput of a long transfer? Two or three sentences.

# %% [markdown] reflect="throughput" points=2
# The link does carry 10 Mbit/s, but 66 of the 1514 bytes of each frame are headers, so at most 95.6 % is
# data. The start of the transfer costs a little more, until TCP has found the rate. A longer delay slows
# only that start. In the long run TCP keeps enough packets under way to fill the link, as long as its
# window and the queue allow it.
#
# **Rubric.** 2 points: headers take the rest, with a number or the share; and a longer delay changes the start, not the
# long run. 1 point: one of the two. Typical wrong: (1) "the delay makes it slower": delay shifts all bits alike, and
# TCP has many packets under way at a time. (2) "10 Mbit/s is only the maximum, nobody reaches it": the link is full;
# what is missing are headers, which can be counted.

# %% [markdown] id="headers-told"
# <details><summary>Open this when you have written your answer</summary>
#
# 1448 of 1514 bytes are data: 95.6 %. Linklab's link counts 1514 bytes for each frame. A real Ethernet cable spends
# more: a preamble of 8 bytes, a checksum of 4 and a gap of 12 belong to each frame as well. That is 1538 bytes of
# time, so a real cable of 10 Mbit/s carries at most 94.1 % data (IEEE 802.3, with TCP's timestamps).
#
# </details>

# %% [markdown] id="queue-intro"
# ## 8. Ping a busy link
#
# So far the pings met an idle link. Now we ping *while* iperf3 fills it. **Say to yourself:** what will the RTT be?

# %% id="queue"
server = lab["h2"].popen("iperf3 -s -1 --forceflush")
next(line for line in server if "listening" in line)
client = lab["h1"].popen("iperf3 -c 10.0.0.2 -t 12")
print(lab["h1"].cmd("ping -c 10 10.0.0.2"))
for program in (client, server):
    program.wait()

# %% [markdown] id="queue-task"
# Most pings took 50 to 70 ms. Which part of the network did the extra time come from?
#
# - a: the link got longer: its delay grew with the load
# - b: packets waited in the queue of `h1`, in front of the link
# - c: packets waited in the queue of `h2`, where the answers leave
# - d: `h2` was busy with iperf3, and answered late
#
# **Your turn:** write the letter. A right answer opens the explanation.

# %% answer="queue"
### BEGIN SOLUTION
waited = {"where": "b"}
### STARTER
# waited = {"where": None}
### END SOLUTION

# %% check="queue" points=1
lab00.check_queue(waited).require()

# %% [markdown] id="queue-question"
# **Question.** Somebody doubles the queue to 100 packets "to lose fewer packets". What happens to the
# throughput, and what to the RTT of a ping during the transfer?

# %% [markdown] reflect="queue" points=2
# The throughput hardly changes: the link was full before. The queue can now hold twice as many packets, TCP
# fills it before it notices a loss, and a ping waits about twice as long. A queue much larger than the link
# needs buys delay, not speed.
#
# **Rubric.** 2 points: the throughput stays, the RTT about doubles, each with a reason. 1 point: one of them. Typical
# wrong: (1) "fewer losses, so it is faster": the link sends a frame every 1.2 ms as before, and cannot do more. (2)
# "the RTT is twice 20 ms": it was 70 ms at most, and becomes about 130: 100 frames of 1.2 ms, and 10 ms back.

# %% [markdown] id="time-intro"
# ## 9. Whose clock is it?
#
# Your computer does many things at once. If it is busy, a network inside it runs late, and every
# measurement is wrong. Therefore a lab has a clock of its own, called **virtual time**. It stands
# still while programs compute, and it stands still between two cells. It moves on only when everything in
# the lab waits for a packet or a timer.
#
# The next cell reads the clock in the lab, sleeps for two of *your* seconds, and reads it again. **Say to yourself:**
# how much time passes in the lab?

# %% id="time"
before_s = lab.now()
time.sleep(2)
passed_s = lab.now() - before_s
print(f"{passed_s:.3f} s have passed in the lab")

# %% [markdown] id="time-notice"
# <details><summary>Open this when you have seen the number</summary>
#
# None at all: what you measure depends on the network, not on your computer. That is
# also why the ten seconds of iperf3 were not ten of yours. To wait *in the lab*, write `lab.sleep(2)`.
#
# </details>

# %% [markdown] id="stop-intro"
# ## 10. Stop
#
# `lab.stop()` ends every program in the lab and removes the network. So does the end of the notebook's
# kernel.

# %% id="stop"
lab.stop()

# %% [markdown] id="end"
# **What you know now:** a network is hosts, links and queues. The RTT of an idle path is the delay of its links, in
# both directions, and the time in which each link sends the packet's bits; for a ping on fast links that is little (Lab
# 10). The most that TCP gets of a link is its rate less the headers. A full queue adds delay.
#
# **Three questions to review** (no points)
#
# 1. A link to a satellite has 100 Mbit/s and a delay of 270 ms. What is the RTT of a ping? And is the link fast?
# 2. Your access has 50 Mbit/s. What do you expect for a long download over TCP, in MByte/s?
# 3. Where does a packet wait if the sender's link is slow and the receiver's is fast?
#
# <details><summary>Answers</summary>
#
# 1. At least 540 ms. Its rate is high and its delay long: "fast" can mean either. 2. About 47 to 48 Mbit/s, which is
# 5.9 MByte/s: a byte has 8 bits. 3. In front of the slow link, at its sending side.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, *Computer Networking*, section 1.4 (delay, loss, throughput); RFC 792 (ping),
# RFC 9293 (TCP), RFC 9438 (CUBIC). Words are explained in [the glossary](glossary.md). Next:
# `01-router-network.ipynb`.
