# %% [markdown] id="goal"
# # Lab 07: Parallel connections
#
# **Time:** about 2 hours and 30 minutes. **You need:** Lab 06
# (shares of a full link, Jain's index, `popen`), and your simpleperf with `-P` (Lab 02).
#
# Some programs open several connections to the same server at once: browsers, download managers, `iperf3 -P`.
# Why? In this lab `h1` opens two connections to `h4` while `h2` and `h3` have one each to `h5` and `h6`. Who
# gets what, and is it fair?

# %% id="imports"
from linklab import course_network, lab07, measure, show, start

lab07.progress()

# %% id="start"
network = course_network()
L2 = network.link("L2")
lab = start(network)
program = lab07.own_parallel_simpleperf(lab)
show.draw(lab)

# %% [markdown] id="connections-task"
# ## 1. How many connections is that?
#
# `iperf3 -P 2` sends over two connections. `ss` lists a host's sockets: `ss -tn` its TCP connections with numbers in
# place of names, and `ss -tin` also what the kernel knows of each connection.
#
# **Your turn:** start a client with `-P 2` from h1 to h4 with `popen`, let it run for some seconds
# (`lab.sleep(4)`), and ask `ss -tin` on h1 meanwhile. `said` is what it prints. Look for `cwnd` and `rtt`. How many
# connections do you count from h1 to h4? At the end of the cell wait for the client (`client.wait()`): it would send
# into your next measurement.

# %% answer="connections"
lab["h4"].popen("iperf3 -s -1")
lab["h4"].wait_listening(5201)
### BEGIN SOLUTION
client = lab["h1"].popen(f"iperf3 -c {network.address_of('h4')} -t 10 -P 2")
lab.sleep(4)
said = lab["h1"].cmd("ss -tin")
print(said)
client.wait()
counted = 3  # two with data, and one for control
### STARTER
# # YOUR TURN: client = ...; then said = ...; and at the end client.wait()
# said = ""
# counted = None
### END SOLUTION

# %% check="connections" points=2
lab07.check_connections(said, counted).require()

# %% [markdown] id="shares-task"
# ## 2. Predict: who gets how much?
#
# Now `h1-h4` has two connections with data, and `h2-h5` and `h3-h6` have one each. All run at the same time for
# 25 s, over L2.
#
# **Predict** the throughput of h1 in all, and of h2, in Mbit/s of data (1448 of each 1514 bytes), and say how sure
# you are in percent.

# %% answer="shares"
### BEGIN SOLUTION
one_mbps = L2.rate_mbps * 1448 / 1514 / 4
shares, sure = {"h1": 2 * one_mbps, "h2": one_mbps}, 75
### STARTER
# shares = {"h1": None, "h2": None}
# sure = None
### END SOLUTION
shares = lab07.predict("shares", shares, sure)
shares

# %% check="shares" points=1
lab07.check_predicted(shares).require()

# %% [markdown] id="runs-task"
# ## 3. Measure
#
# `transfer("h1-h4", 2)` is a transfer of 25 s by simpleperf over two connections. Single runs of 25 s scatter widely
# (Lab 06), so `four_times` runs a list of flows together, and does so four times. Each run begins at another moment
# between two ticks of the kernel's clock, and meets other queues. (The moments are the same in each new lab.)
#
# **Your turn:** make the list of the three transfers, and measure: `show.watched(four_times, lab, flows)` shows how
# far they are.


# %% id="transfer"
def transfer(pair, connections=1):
    ends = pair.split("-")
    return measure.SimpleperfFlow(*ends, duration_s=25, streams=connections, program=program)


def four_times(lab, flows, **hooks):
    return measure.repeated(lab, flows, repeats=4, **hooks)


# %% answer="runs"
### BEGIN SOLUTION
flows = [transfer("h1-h4", 2), transfer("h2-h5"), transfer("h3-h6")]
runs = show.watched(four_times, lab, flows)
### STARTER
# runs = None
### END SOLUTION

# %% check="runs" points=3
lab07.check_run(runs).require()

# %% id="throughput-figure"
lab07.figures.throughput_figure(runs)

# %% [markdown] id="parts-task"
# ## 4. Per connection and per host
#
# `lab07.mean_connections_mbps(runs)` has the mean over all runs of each connection, by pair, as `{"h1-h4": [7.1,
# 7.2], "h2-h5": [7.0], ...}`.
#
# **Your turn:** two lists of numbers in Mbit/s: one number for each connection, and one for each host.

# %% answer="parts"
per_connection, per_host = [], []
### BEGIN SOLUTION
by_pair = lab07.mean_connections_mbps(runs)
per_connection = [rate for rates in by_pair.values() for rate in rates]
per_host = [sum(rates) for rates in by_pair.values()]
### STARTER
# # YOUR TURN: fill both
### END SOLUTION

# %% check="parts" points=2
lab07.check_parts(per_connection, per_host, runs).require()

# %% [markdown] id="fairness-intro"
# Jain's index (Lab 06) of both, by run and for the mean, next to the course report's:

# %% id="fairness-figure"
lab07.figures.fairness_figure(runs)

# %% id="fairness-table"
lab07.figures.fairness_table(runs)

# %% [markdown] id="fairness-question"
# **Question.** h1 has about twice as much as h2, although both may have paid for the same access. Why does neither
# L2 nor TCP prevent that? Which of the two indexes should an internet provider look at, and what would it have to
# do? And why do single runs differ from the mean?

# %% [markdown] reflect="fairness" points=3
# L2 has one queue: it sends packets as they come, and drops what comes when it is full, whoever sent it. Each TCP
# connection has a window of its own and learns from its own losses. Nobody on the path knows that two of them
# belong to one host. A provider sells access to homes, so the index per home counts, and its router must tell
# homes apart: a queue for each home, served in turn. In a single run chance decides who loses at a bad moment;
# over several runs it levels out.
#
# **Rubric.** 3 points: one queue that knows no hosts, and windows by connection; the index per host (home) with a
# queue of its own for each; chance in single runs. 2 points: two of the three. 1 point: "TCP shares by
# connection", with no reason. Typical wrong: (1) "h1 sends faster" - its cable is as fast as h2's; it has two
# windows. (2) "the router should give each connection the same" - it would have to know more, and h1 would still
# have two.

# %% [markdown] id="fairness-told"
# <details><summary>Open this when you have written your answer</summary>
#
# L2's one queue knows packets, not hosts. Each connection has a window of its own, learns from its own losses,
# and tends to an equal share *per connection*, at equal round trips. In a single run chance decides much; in the
# mean over several runs both indexes come near theory: 1 per connection, and 8/9 per host. The report's index of
# 0.99 is that of connections; per host its numbers give 0.916.
#
# </details>
#
# ## 5. More and more connections
#
# What if `h1` opens 1, 2, 4 or 8 connections? Each of `h2` and `h3` keeps to one.
#
# **Predict** h1's share of all traffic, in percent, when it opens 8.

# %% answer="predicted-parts"
### BEGIN SOLUTION
eight, sure = 100 * 8 / (8 + 2), 90
### STARTER
# eight = None
# sure = None
### END SOLUTION
predicted = lab07.predict("predicted_parts", {8: eight}, sure)
predicted

# %% check="predicted-parts" points=1
lab07.check_predicted(predicted).require()

# %% [markdown] id="experiment-task"
# simpleperf opens five connections at most, so eight are two programs with four each. `flows_with` returns the flows.
#
# **Your turn:** fill two dictionaries for each number in `lab07.CONNECTIONS`. `experiment` has what
# `show.watched(measure.run_together, lab, flows)` returns. `measured_percent` has h1's share, from
# `lab07.rates_mbps(...)`: throughputs by pair, as `{"h1-h4": 14.2, ...}`.


# %% answer="experiment"
def flows_with(connections):
    mine = [4, 4] if connections == 8 else [connections]
    flows = [transfer("h1-h4", number) for number in mine]
    return [*flows, transfer("h2-h5"), transfer("h3-h6")]


experiment, measured_percent = {}, {}
### BEGIN SOLUTION
for connections in lab07.CONNECTIONS:
    run = show.watched(measure.run_together, lab, flows_with(connections))
    rates = lab07.rates_mbps(run)
    experiment[connections] = run
    measured_percent[connections] = round(100 * rates["h1-h4"] / sum(rates.values()), 2)
### STARTER
# # YOUR TURN: a loop over lab07.CONNECTIONS that fills both
### END SOLUTION

# %% check="experiment" points=3
lab07.check_experiment(experiment, measured_percent).require()

# %% [markdown] id="own-figure-task"
# **Your turn** (no points): draw it yourself with matplotlib. `axes.plot(x, y, "o", label="measured")` draws
# points, and `"--"` a dashed line. Draw what you measured over the number of connections, and next to it the
# fraction of connections that are h1's. Axes need names and units.

# %% answer="own-figure"
import matplotlib.pyplot as plt

figure, axes = plt.subplots()
### BEGIN SOLUTION
counts = list(measured_percent)
axes.plot(counts, list(measured_percent.values()), "o", label="measured")
axes.plot(counts, [100 * count / (count + 2) for count in counts], "--", label="P / (P + 2)")
axes.set(xlabel="connections of h1", ylabel="share of h1 (%)", ylim=(0, 100))
axes.legend()
### STARTER
# # YOUR TURN: axes.plot(...), axes.set(xlabel=..., ylabel=...), axes.legend()
### END SOLUTION
figure.tight_layout()

# %% [markdown] id="meaning-task"
# ## 6. What does it mean?
#
# **Your turn:** a number and a letter.
#
# `for_90_percent`: h2 and h3 keep one connection each. How many must `h1` open to get 90 % of L2?
#
# `whose_fault`: per connection the index is near 1, per host it is not. What is wrong? (a) The measurement:
# both must be equal. (b) TCP: it should divide by host. (c) Nothing: the two indexes answer different
# questions, so say which one you ask. (d) The queue of L2: it prefers `h1`'s packets.

# %% answer="meaning"
answers = {
    ### BEGIN SOLUTION
    "for_90_percent": 18,  # P / (P + 2) = 0.9
    "whose_fault": "c",
    ### STARTER
    # "for_90_percent": None,
    # "whose_fault": None,
    ### END SOLUTION
}

# %% check="meaning" points=2
lab07.check_meaning(answers).require()

# %% [markdown] id="browser-question"
# On an HTTP/1.1 connection browsers send one request and wait for its answer. HTTP/2 carries many requests as
# *streams* inside one TCP connection. QUIC, under HTTP/3, runs over UDP and knows the streams itself. Remember that
# TCP hands over bytes in order only, and that each connection starts with a small window.
#
# **Question.** With HTTP/1.1, browsers open about six connections to each server. With HTTP/2 and HTTP/3 they
# mostly use one. What did the six gain, and what did they cost others and themselves? What does one TCP
# connection with many requests on it suffer from when a packet is lost, and what is different with QUIC?

# %% [markdown] reflect="browser" points=4
# With HTTP/1.1 a connection serves one request at a time in practice: pipelining exists, but browsers do not use
# it. Six connections serve six requests at once, get six shares of a full link, and start with six initial
# windows. Others get less, and the queue is fuller. Each new connection costs a round trip to open, more for TLS,
# and starts with a small window. HTTP/2 carries many requests as streams over one connection. But TCP delivers
# bytes in order: a lost packet holds up all streams until it is sent again, which is head-of-line blocking. QUIC
# has streams in the transport, so a loss holds up only the streams whose data was in that packet.
#
# **Rubric.** 4 points, one each: one request at a time per connection is why there were six; six shares and
# windows at the cost of others; what opening costs (round trips, slow start); HTTP/2's head-of-line blocking in
# TCP, and that QUIC removes it. Typical wrong: (1) "HTTP/2 has no head-of-line blocking" - not between requests,
# but TCP still has it. (2) "six connections make the link faster" - only this browser's share of it grows. (3)
# "QUIC is faster since UDP has no congestion control" - QUIC has its own (RFC 9002).

# %% [markdown] id="browser-told"
# <details><summary>Open this when you have written your answer</summary>
#
# HTTP/1.1 answers one request after the other on a connection (RFC 9112 permits pipelining; browsers do not use it),
# so six connections are six requests at once, and six shares. HTTP/2 (RFC 9113) multiplexes streams on one TCP
# connection, which opens once and keeps its window. But TCP delivers in order: one lost packet holds up *all* streams
# (head-of-line blocking). QUIC (RFC 9000) orders each stream by itself, so a loss holds up only its own streams.
#
# </details>

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# TCP is fair to connections, at equal round trips, and not to hosts or people: whoever opens more gets more. A
# number for fairness means little before you say who is compared, and how often it was measured.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. h1 opens 6 connections, and h2 and h3 one each. What share has h1?</summary>
#
# 6 of 8, 75 %, if all round trips are equal.
#
# </details>
# <details><summary>2. What is Jain's index per host then, in theory?</summary>
#
# (6 + 1 + 1)^2 / (3 * (36 + 1 + 1)) = 64 / 114 = 0.56.
#
# </details>
# <details><summary>3. A router has a queue for each connection and serves them in turn. Does opening more connections
# still pay?</summary>
#
# Yes: each of them has its turn. It stops paying when the queues are by host.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); Kurose & Ross, *Computer Networking*, on HTTP and on fairness and
# parallel TCP connections; Peterson & Davie, *Computer Networks*, on fair queueing; RFC 9112 (HTTP/1.1), RFC 9113
# (HTTP/2), RFC 9000 (QUIC), RFC 6928 (the initial window).
