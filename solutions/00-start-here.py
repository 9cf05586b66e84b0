# %% [markdown] id="goal"
# # Lab 00: Start here
#
# You build the smallest possible network, predict how it behaves, measure it, and explain why prediction and
# measurement differ. Every later lab follows the same three steps: **predict, measure, explain**.
#
# **Time:** about 45 minutes. **You need:** only this notebook; a little Python helps.
#
# A notebook is a page with text and with *cells* of Python. Press **Shift+Enter** to run a cell and go on to the
# next. Start with the cell below.

# %% id="imports"
import json
import time

from mininet.topo import Topo

from linklab import lab00, measure, show, start

lab00.progress()

# %% [markdown] id="words"
# The list above shows which parts of the lab are done; it follows your checks. To make a written answer count, save
# the notebook (Ctrl+S), then run a check or the cell above.
#
# ## 1. Three words
#
# A **host** is a computer at the edge of the network. It sends and receives *packets*: pieces of data, each with the
# addresses of its sender and its receiver. (The [glossary](glossary.md) has all words of the labs.)
#
# A **link** carries packets from one end to the other. Two numbers describe a link. The *rate* says how fast bits enter
# the link, in Mbit/s (one Mbit is 1,000,000 bits). The *delay* (or *propagation delay*) says how long each bit travels
# to the other end, in milliseconds (ms). Rate and delay are independent: a link with a high rate can have a long delay,
# and a link with a low rate can have a short delay.
#
# A **queue** stands in front of every link. Packets that arrive while the link is busy wait in the queue. The queue
# has room for a fixed number of packets. When the queue is full, it drops the next packet.

# %% [markdown] id="build-intro"
# ## 2. Build it
#
# Our network has host `h1`, host `h2`, and one link of **10 Mbit/s**. The link has a delay of **10 ms** in each
# direction and a queue of **50 packets**.
#
# Mininet is a program that builds networks inside one computer. You describe a network for it in a `Topo`, and give
# each host an address (`ip`; Lab 01 explains the `/24`). Mininet calls the rate `bw` (in Mbit/s), the delay `delay` (a
# string with its unit) and the queue `max_queue_size` (in packets). **Your turn:** the code below already has the rate.
# Add the delay and the queue.


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
# A `Topo` is only a plan. The next cell builds the network from this plan. It starts a Linux *kernel*, the core of an
# operating system, which handles all packets. Each host has an *interface* in it (`h1-eth0` on `h1`), and a virtual
# cable joins the two interfaces. The packets are real, and so is *TCP*, the part of the kernel that sends a file as
# packets, and sends again what was lost.
#
# If you change the plan later, run the cell above and the next cell again. This starts a new network.

# %% id="start"
lab = start(TwoHosts())
show.network(lab)

# %% [markdown] id="read-back"
# The figure shows the running network, not the plan. Linklab asked the kernel which hosts and links exist, and drew
# the answer. Always check the network before you trust a measurement. (Checks also call hosts *nodes*.)
#
# ## 3. Your first graded cell
#
# Cells that call a *check* are graded. A check looks at the running network. If something is missing, the cell stops
# with an error. The error says what the check expected, what it found, and what you can try. A failed check costs
# nothing: correct your cell, run it, then run the check again, as often as you like. Each new wrong answer brings the
# next hint. Only the last run of the check counts.
#
# The check calls links with a rate, a delay or a queue *shaped*. The last lines of its table name three settings that
# you need not touch. The *MTU* is the size of the largest packet that a link carries. *Up* means switched on.
# *Offloads* are work that a network card can do for the kernel: they are off, so that each packet is seen. If you run
# the whole notebook at once, Jupyter stops at the first cell that fails.

# %% check="network" points=2
lab00.check_network(lab).require()

# %% [markdown] id="predict-rtt-intro"
# ## 4. Predict
#
# Before you measure, say what you expect, and how sure you are. **No prediction is wrong.** You get the point for any
# number. After the measurement you see your prediction next to the result. You learn most when the result surprises
# you.
#
# `ping` sends a small packet (an *echo request*) to the other host, and the other host sends it straight back (as an
# *echo reply*). The time from sending to receiving is the *round-trip time* (RTT).
#
# **Your turn:** replace the first `None` by the RTT in ms. Replace the second `None` by how sure you are, from 0 (a
# guess) to 100 (certain). Or run the cell as it is, type both numbers into the form below it, and run the cell again:
# it then holds your numbers.

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
# Next, predict the *throughput*. `h1` sends a file to `h2` over TCP for ten seconds, as fast as it can. `h2` answers
# with *acknowledgements*: small packets that say what has arrived. How many Mbit/s of the file arrive at `h2`?
#
# **Your turn:** write the throughput that you expect, in Mbit/s, and how sure you are.

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
# `lab["h1"].cmd(...)` runs a command on host `h1` and returns what the command printed. The next cell sends four
# packets (`-c 4`).

# %% id="ping"
ping_output = lab["h1"].cmd("ping -c 4 10.0.0.2")
print(ping_output)

# %% [markdown] id="measure-rtt-task"
# Ping's last line lists the minimum, average and maximum RTT, and how much the RTT varied. **Your turn:** what was
# the average, in ms? Type the number, or extract it from `ping_output` with Python.

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
# `iperf3` measures throughput: its client sends as much as TCP can to its server.
#
# - The server (`-s`) runs in the background, which is what `popen` does. It ends after one test (`-1`), and prints each
#   line at once (`--forceflush`). The second line of the cell waits until the server says that it is listening.
# - The client (`-c`, with the server's address) sends for ten seconds (`-t 10`), and prints its results in a form that
#   Python can read (`--json`).
#
# The cell ends within a second, because the ten seconds pass on the lab's own clock (section 9).

# %% id="iperf3"
server = lab["h2"].popen("iperf3 -s -1 --forceflush")
next(line for line in server if "listening" in line)
report = json.loads(lab["h1"].cmd("iperf3 -c 10.0.0.2 -t 10 --json"))
server.wait()
report["end"]["sum_received"]

# %% [markdown] id="measure-throughput-task"
# The output shows the totals at the receiver. The sender's rate is a little higher: it counts a byte (8 bits) as soon
# as its kernel has taken it, and the last of these bytes still wait in the kernel and in the queue.
#
# **Your turn:** what was the throughput in Mbit/s? Convert the unit: iperf3 reports *bits per second*.

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
# The tables above show your predictions, the theory and your measurements. Did a result surprise you? Now explain the
# throughput.
#
# The throughput stays below 10 Mbit/s, although no other traffic uses the link. Nearly every packet of the transfer is
# a *frame* of 1514 bytes on the link. A part of the frame is *headers*: what Ethernet (the kind of link), IP (which
# knows addresses) and TCP write in front of your data:
#
# | Ethernet header | IP header | TCP header | TCP timestamps | your data |
# | --- | --- | --- | --- | --- |
# | 14 bytes | 20 bytes | 20 bytes | 12 bytes | 1448 bytes |
#
# **Your turn:** the link is full, so it carries 10 Mbit/s. How many Mbit/s of these are headers? Give three digits.

# %% answer="headers"
### BEGIN SOLUTION
headers_mbps = 10 * (1514 - 1448) / 1514
### STARTER
# headers_mbps = None
### END SOLUTION

# %% check="headers" points=1
lab00.check_headers(headers_mbps).require()

# %% [markdown] id="missing-question"
# **Question.** Your measured throughput and the headers together are still a little less than 10 Mbit/s. What takes the
# rest? Write one or two sentences. Save your whole answer (Ctrl+S) before you run the cell below it: that cell shows an
# explanation, and keeps the answer that it finds in the saved notebook.

# %% [markdown] reflect="throughput" points=1
# The start of the transfer. TCP does not know the link's rate, so it begins with a few packets and sends more in each
# round trip. Until it has found the rate, the link is idle for some moments.
#
# **Rubric.** 1 point: the start of the transfer. Typical wrong: (1) "the delay makes it slower": all bits arrive later
# by the same delay, and TCP has many packets in flight at a time. (2) "10 Mbit/s is only the maximum, nobody reaches
# it": after the start the link is full; the headers and your data are 10 Mbit/s.

# %% id="explain-throughput"
lab00.explain("throughput")

# %% [markdown] id="queue-intro"
# ## 8. Ping a busy link
#
# So far you pinged an idle link. Now you ping *while* iperf3 fills the link. **Say to yourself:** what will the RTT
# be?

# %% id="queue"
server = lab["h2"].popen("iperf3 -s -1 --forceflush")
next(line for line in server if "listening" in line)
client = lab["h1"].popen("iperf3 -c 10.0.0.2 -t 12")
print(lab["h1"].cmd("ping -c 10 10.0.0.2"))
for program in (client, server):
    program.wait()

# %% [markdown] id="queue-task"
# Most pings took 50 to 71 ms. Which part of the network caused the extra time?
#
# - a: the link: its delay grew with the load
# - b: the queue of `h1`, in front of the link: packets waited there
# - c: the queue of `h2`, which sends the answers: packets waited there
# - d: the host `h2`: iperf3 kept it busy, so it answered late
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

# %% [markdown] id="replay-intro"
# **Now watch it.** The next cell repeats the experiment for three seconds and records every packet. (A *flow* is what
# one program sends to another one. `run_together` runs a `TcpFlow`, by iperf3, and a `PingFlow`, by ping, at the same
# time.) In the figure, `h1` sends from the left. The bar beside the link shows the queue of `h1`. Press *Play* to see
# the queue fill, and `l` to go to the first packet that the queue drops. (A right click on the figure, then *Create New
# View for Cell Output*, keeps it at the side.) Click a ping's packet: how long did it wait in the queue?

# %% id="replay"
transfer, ping = (
    measure.TcpFlow("h1", "h2", 3),
    measure.PingFlow("h1", "h2", count=12, interval_s=0.25),
)
recorded = measure.run_together(lab, [transfer, ping], record=["h1-eth0"])
show.network(recorded)

# %% [markdown] id="sliders-intro"
# **Where do a round trip's milliseconds go?** The dots in the next figure are your pings: how many packets each one met
# in the queue, and its RTT. The lines are theory for one link: the delay, the time to send the ping's bits, and the
# wait in the queue. (Your idle ping took 20 ms, not 20.16: Mininet's link lets a lone packet enter at once, and Lab 08
# says how.) Move the sliders: what does each of them change?
#
# **Your turn:** suppose you double the queue to 100 packets. How long does a ping take at most during the transfer, in
# ms? The figure tells you, or a calculation.

# %% id="sliders"
lab00.figures.milliseconds(measured_rtt_ms, recorded)

# %% answer="longer"
### BEGIN SOLUTION
longer_ms = 100 * 1514 * 8 / 10_000 + 10
### STARTER
# longer_ms = None
### END SOLUTION

# %% check="longer" points=1
lab00.check_longer(longer_ms).require()

# %% [markdown] id="queue-question"
# **Question.** The queue is doubled "to lose fewer packets". How does the *throughput* of the transfer change, and why?
# Save your answer. The next cell shows an explanation, and then measures with both queues: `tc` changes that of `h1`.

# %% [markdown] reflect="queue" points=1
# The throughput hardly changes, because the link was full before. The queue can now hold twice as many packets. TCP
# fills the queue before it notices a loss, so a ping waits about twice as long. A queue much larger than the link
# needs adds delay and no throughput.
#
# **Rubric.** 1 point: the throughput stays, since the link was full before. Typical wrong: (1) "fewer losses, so it is
# faster": the link sends a frame every 1.2 ms as before, and cannot send faster. (2) "it is slower, because packets
# wait longer": TCP has more packets in flight, and as many leave the link in each second.

# %% id="longer-try"
lab00.explain("queue")
change = "tc qdisc change dev h1-eth0 parent 5:1 handle 10: netem delay 10ms limit"
transfer = measure.TcpFlow("h1", "h2", 10)
ping = measure.PingFlow("h1", "h2", count=40, interval_s=0.25)
rows = []
for packets in (100, 50):
    lab["h1"].cmd(f"{change} {packets}")
    sent, pinged = measure.run_together(lab, [transfer, ping]).results
    rows.append([packets, sent.throughput_mbps, pinged.rtt_max_ms])
show.table(["queue (packets)", "throughput (Mbit/s)", "longest RTT (ms)"], rows)

# %% [markdown] id="time-intro"
# ## 9. The lab's own clock
#
# Your computer runs many programs at once. If it is busy, a network inside it falls behind, and every measurement is
# wrong. Therefore a lab has its own clock, called **virtual time**. This clock stands still while programs compute,
# and between two cells. The clock moves on only when all programs in the lab wait for a packet or a timer.
#
# The next cell reads the lab's clock, sleeps for two of *your* seconds, and reads the clock again. **Say to
# yourself:** how much time passes in the lab?

# %% id="time"
before_s = lab.now()
time.sleep(2)
passed_s = lab.now() - before_s
print(f"{passed_s:.3f} s have passed in the lab")

# %% [markdown] id="time-notice"
# <details><summary>Open this when you have seen the number</summary>
#
# No time passes in the lab. So your measurements depend on the network, not on your computer. The ten seconds of
# iperf3 were virtual time too, not ten seconds on your clock. To wait *in the lab*, write `lab.sleep(2)`.
#
# </details>
#
# ## 10. Stop
#
# `lab.stop()` ends every program in the lab and removes the network. The same happens when you shut down the notebook.
#
# The table below the cell compares how sure you were of your predictions with how many of them were right. If you judge
# yourself well, you are right nine times in ten where you say 90 %. Each lab ends with such a table of all labs so far.

# %% id="stop"
lab.stop()
lab00.calibration()

# %% [markdown] id="end"
# **What you know now:** a network consists of hosts, links and queues. The RTT of an idle path (the links from one host
# to another) has two parts: the delay of its links in both directions, and the time in which each link sends the
# packet's bits. For a ping on fast links, the second part is small (Lab 10), and Mininet's links spare a lone packet
# even that. TCP's throughput on a link is at most the link's rate minus the headers. A full queue adds delay.
#
# **Four questions to review** (no points)
#
# 1. A satellite link has 100 Mbit/s and a delay of 270 ms. What is the RTT of a ping? And is the link fast?
# 2. Your Internet access has 50 Mbit/s. What throughput do you expect for a long download over TCP, in MByte/s?
# 3. The sender's link is slow, and the receiver's link is fast. Where does a packet wait?
# 4. Would a longer delay, for example 20 ms, change the throughput of a long transfer?
#
# <details><summary>Answers</summary>
#
# 1. At least 540 ms. The link's rate is high and its delay is long: "fast" can mean a high rate or a short delay.
# 2. About 47 to 48 Mbit/s, which is about 6 MByte/s: a byte has 8 bits.
# 3. In front of the slow link, at its sending side.
# 4. Hardly: it slows only the start. After the start, TCP keeps enough packets on their way (*in flight*) to fill the
#    link, as long as the queue has room for them.
#
# </details>
#
# ### Where to read on
#
# Kurose and Ross, *Computer Networking*, section 1.4 (delay, loss, throughput). *RFCs* are the documents in which the
# Internet's protocols stand: RFC 792 (ping), RFC 9293 (TCP), RFC 9438 (CUBIC: how TCP on Linux chooses how much to
# send). Next: `01-router-network.ipynb`.
