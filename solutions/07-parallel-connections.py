# %% [markdown] id="goal"
# # Lab 07: Parallel connections
#
# **Time:** about 2 hours and 30 minutes. **You need:** Lab 06
# (shares of a full link, Jain's index, `popen`), and your simpleperf with `-P` (Lab 02).
#
# Some programs open several connections to the same server at once: browsers, download managers, `iperf3 -P`. Why?
# In this lab `h1` opens two connections to `h4`. At the same time `h2` has one to `h5`, and `h3` has one to `h6`.
# How much throughput does each host get, and is it fair? Chance changes every run, so at the end you compute how sure
# your numbers are, and how many runs you need.

# %% id="imports"
from linklab import course_network, lab07, measure, show, start

network = course_network()
L2 = network.link("L2")
lab = start(network)
program = lab07.own_parallel_simpleperf(lab)
display(lab07.progress())
show.network(lab)

# %% [markdown] id="connections-task"
# ## 1. Count the connections
#
# `iperf3 -P 2` sends over two connections. `ss` lists a host's sockets. `ss -tn` lists its TCP connections, with
# numbers instead of names. `ss -tin` also prints what the kernel knows about each connection.
#
# **Your turn:** start a client with `-P 2` from h1 to h4's address (see the figure) with `popen`. Wait some seconds
# (`lab.sleep(4)`). Run `ss -tin` on h1, print its output, and store it in `said`. Look for `cwnd` and `rtt`. How many
# connections do you count from h1 to h4? Store the number in `counted`. At the end of the cell wait for the client
# (`client.wait()`). Otherwise it sends into your next measurement. (`cmd` instead of `popen` would wait until all is
# sent.)

# %% answer="connections"
lab["h4"].cmd("pkill iperf3; sleep 1")  # end the server of an earlier try
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
# Now `h1-h4` has two data connections, and `h2-h5` and `h3-h6` have one each. All run over L2 at the same time for
# 25 s.
#
# **Predict** the total throughput of h1 and the throughput of h2, in Mbit/s of data (1448 of each 1514 bytes). Say
# in percent how sure you are.

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
# `transfer("h1-h4", 2)` is a simpleperf transfer of 25 s over two connections. Single runs of 25 s scatter widely
# (Lab 06). `measure.repeated(lab, flows, repeats=4)` runs a list of flows together, four times. The hosts start a
# few milliseconds apart, and each run begins at another moment of the kernel's clock, so queues differ.
# (If you start the lab anew, you get the same four runs again.)
#
# **Your turn:** make a list of the three transfers. Measure them together, four times. Store the result in `runs`.


# %% id="transfer"
STARTS_S = {"h1-h4": 0.003, "h2-h5": 0.0, "h3-h6": 0.007}


def transfer(pair, connections=1):
    options = {"streams": connections, "program": program, "start_s": STARTS_S[pair]}
    return measure.SimpleperfFlow(*pair.split("-"), duration_s=25, **options)


# %% answer="runs"
### BEGIN SOLUTION
flows = [transfer("h1-h4", 2), transfer("h2-h5"), transfer("h3-h6")]
runs = measure.repeated(lab, flows, repeats=4)
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
# `lab07.mean_connections_mbps(runs)` returns the mean throughput of each connection over all runs, by pair:
# `{"h1-h4": [7.1, 7.2], "h2-h5": [7.0], ...}`.
#
# **Your turn:** fill two lists with throughputs in Mbit/s. `per_connection` has one number for each connection.
# `per_host` has one number for each sending host.

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
# The figure shows Jain's index (Lab 06) per connection and per host, for the mean of all runs. The table adds each
# run and the course report.
#
# The last table has the throughputs of test case 5 of the course report (Lab 02). They are of one run, and chance
# decides a single run: look how your own runs differ. Their sum is 29.22 Mbit/s, more than L2 carries. Probably
# somebody started them by hand, one after the other: then the first and the last share L2 with fewer for a while.

# %% id="fairness-figure"
lab07.figures.fairness_figure(runs)

# %% id="fairness-table"
display(lab07.figures.fairness_table(runs))
lab07.figures.report_table(runs)

# %% [markdown] id="unequal-question"
# **Question.** h1 has about twice the throughput of h2, although both may have paid for the same access. Why does
# neither L2 nor TCP prevent this?

# %% [markdown] reflect="unequal" points=1
# L2 has one queue. It sends packets in the order in which they arrive. A full queue drops new packets, whoever sent
# them. Each TCP connection has its own window and learns from its own losses. No queue on the path knows that two
# connections belong to one host. (h1's kernel does know it: it remembers round trips by destination, `ip
# tcp_metrics`. But connections that run share no window.)
#
# **Rubric.** 1 point: one queue that knows no hosts, and a window for each connection. Typical wrong: (1) "h1 sends
# faster" - h1's cable is as fast as h2's, but h1 has two windows. (2) "TCP shares by host" - each connection has a
# window of its own.

# %% id="explain-unequal"
lab07.explain("unequal")

# %% [markdown] id="fairness-told"
# ## 5. More and more connections
#
# Now `h1` opens 1, 2, 4 or 8 connections. Each of `h2` and `h3` keeps one.
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
# simpleperf opens five connections at most, so two programs with four each open eight. `flows_with` returns the
# flows.
#
# **Your turn:** fill two dictionaries, with an entry for each number in `lab07.CONNECTIONS`. In `experiment` store
# what `measure.run_together(lab, flows)` returns. In `measured_percent` store h1's share in percent.
# Compute it from `lab07.rates_mbps(...)`, which returns throughputs by pair: `{"h1-h4": 14.2, ...}`.


# %% answer="experiment"
def flows_with(connections):
    mine = [4, 4] if connections == 8 else [connections]
    flows = [transfer("h1-h4", number) for number in mine]
    return [*flows, transfer("h2-h5"), transfer("h3-h6")]


experiment, measured_percent = {}, {}
### BEGIN SOLUTION
for connections in lab07.CONNECTIONS:
    run = measure.run_together(lab, flows_with(connections))
    rates = lab07.rates_mbps(run)
    experiment[connections] = run
    measured_percent[connections] = round(100 * rates["h1-h4"] / sum(rates.values()), 2)
### STARTER
# # YOUR TURN: a loop over lab07.CONNECTIONS that fills both
### END SOLUTION

# %% check="experiment" points=3
lab07.check_experiment(experiment, measured_percent).require()

# %% [markdown] id="own-figure-task"
# **Your turn** (no points): draw the results yourself with matplotlib. `axes.plot(x, y, "o", label="measured")` draws
# points, and `"--"` draws a dashed line. Plot h1's measured share against the number of its connections. Add a line
# for h1's fraction of all connections. Label both axes, with units. Each point is a single run (section 3), so it can
# lie far from the line.

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
# ## 6. What do the results mean?
#
# **Your turn:** h2 and h3 keep one connection each. How many connections must `h1` open to get 90 % of L2? Answer with
# a number. The next cell asks for three letters. ([HTTP](glossary.md) fetches web pages. HTTP/2 carries many requests
# as *streams* inside one TCP connection. QUIC, under HTTP/3, runs over UDP and knows the streams itself.)

# %% answer="ninety"
### BEGIN SOLUTION
for_90_percent = 18  # P / (P + 2) = 0.9
### STARTER
# for_90_percent = None
### END SOLUTION

# %% check="ninety" points=1
lab07.check_ninety(for_90_percent).require()

# %% answer="fault"
print(lab07.question("whose_fault", "provider", "streams"))
### BEGIN SOLUTION
letters = {"whose_fault": "c", "provider": "b", "streams": "d"}
### STARTER
# letters = {"whose_fault": None, "provider": None, "streams": None}
### END SOLUTION

# %% check="fault" points=3
lab07.check_fault(letters).require()

# %% [markdown] id="cost-question"
# A browser sends one request on an HTTP/1.1 connection and waits for its answer. So with HTTP/1.1, browsers open
# about six connections to each server. The server then answers six requests at once, and on a full link the page gets
# six shares.
#
# **Question.** What do these six connections cost? Name a cost for other users, and a cost for the browser itself.

# %% [markdown] reflect="cost" points=2
# Other users get smaller shares of a full link, and the queue is fuller. The browser must open each connection: this
# costs a round trip, and more with TLS. Each connection starts with a small window.
#
# **Rubric.** 2 points, one each: other users' smaller shares (or the fuller queue); the cost of opening (round trips,
# slow start). Typical wrong: (1) "six connections need six times the data" - the pages are the same, only handshakes
# and headers are added. (2) "nothing, connections are free" - each opens with a handshake and a small window.

# %% [markdown] id="interval-task"
# ## 7. How sure is a mean?
#
# Your four runs in section 3 differ, although you changed nothing. Chance decides when a run begins, and so which
# connection loses packets at a bad moment. So the mean of four runs is an *estimate* of the true mean, the mean of
# infinitely many such runs. A **95 % confidence interval** says how far off the estimate may be. If you repeat the
# four runs again and again, and compute an interval each time, about 95 of 100 intervals contain the true mean. For
# $n$ runs it is
#
# $$\bar x \pm t \cdot \frac{s}{\sqrt n}$$
#
# Here $s$ is the standard deviation, estimated from the runs: divide by $n - 1$, as `statistics.stdev` does. The factor
# $t$ comes from *Student's t distribution*. It is 12.7 for 2 runs, 3.18 for 4, 2.26 for 10, and nearly 1.96 for very
# many runs: few runs tell little about $s$, so the interval must be wider. `lab07.t95(n)` returns it. (The formula
# assumes that the runs are independent, and that their values lie roughly on a bell curve.)
#
# **Your turn:** write a function that takes a list of values and returns the half width of the interval: the part after
# the ± sign.


# %% answer="interval"
import statistics


def half_width(values):
    ### BEGIN SOLUTION
    count = len(values)
    return lab07.t95(count) * statistics.stdev(values) / count**0.5
    ### STARTER
    # # YOUR TURN: t, the standard deviation, and the root of the number of values
    # ...
    ### END SOLUTION


# %% check="interval" points=2
lab07.check_half_width(half_width).require()

# %% [markdown] id="sure-task"
# **Your turn:** compute the mean of h2's throughput over your runs and the half width of its interval, both in
# Mbit/s. Then plan: *how many runs* do you need until the half width is 5 % of the mean or less? Assume that more
# runs have the same mean and the same standard deviation. The factor $t$ depends on the number of runs, so try one
# number after the other. Last, does theory's value for h2 (the table of section 3) lie `"inside"` your interval or
# `"outside"`? An interval that is wide says little either way.

# %% answer="sure"
h2_mbps = [lab07.rates_mbps(run)["h2-h5"] for run in runs.runs] if runs else []
### BEGIN SOLUTION
mean, deviation, needed = statistics.mean(h2_mbps), statistics.stdev(h2_mbps), 2
while lab07.t95(needed) * deviation / needed**0.5 > 0.05 * mean:
    needed += 1
where = (
    "inside" if abs(L2.rate_mbps * 1448 / 1514 / 4 - mean) <= half_width(h2_mbps) else "outside"
)
sure = {"mean": mean, "half_width": half_width(h2_mbps), "runs": needed, "theory": where}
### STARTER
# sure = {"mean": None, "half_width": None, "runs": None, "theory": None}
### END SOLUTION
print([round(each, 2) for each in h2_mbps], sure)

# %% check="sure" points=2
lab07.check_sure(sure, runs).require()

# %% [markdown] id="claim-task"
# ## 8. A claim to test
#
# Ask a language model why programs open several connections, and you get a paragraph like this one. It is fluent, and
# one of its sentences is wrong.
#
# > (1) On a full link each TCP connection tends to an equal share if RTTs are equal, so a host with two connections
# > gets about twice as much as a host with one. (2) The host gains what the others lose: all connections together
# > still carry what L2 carries, however many share it. (3) A router with one queue for all packets cannot prevent
# > this: it does not look at who sent them. (4) On a path where one connection leaves the bottleneck idle after each
# > loss, several connections fill it better. (5) Since each connection has its own window, a second connection also
# > pays when h2 and h3 are silent: h1 then gets clearly more throughput to h4 than over one connection.
#
# **Your turn:** find the wrong sentence, and measure a run that contradicts it. Store the sentence's number and the
# run.

# %% answer="claim"
### BEGIN SOLUTION
wrong_sentence = 5
shows_it = measure.run(lab, transfer("h1-h4", 2))
print(shows_it)
### STARTER
# wrong_sentence = None  # its number
# shows_it = None  # YOUR TURN: what measure.run or measure.run_together returns
### END SOLUTION

# %% check="claim" points=3
lab07.check_claim(wrong_sentence, shows_it).require()

# %% id="stop"
lab.stop()
lab07.calibration()

# %% [markdown] id="end-of-lab"
# ## Summary
#
# TCP is fair to connections if RTTs are equal, but not to hosts or people: a host that opens more connections gets
# more. A fairness index means little unless you say what you compare. A mean means little unless you say how often
# you measured, and how far off it may be.
#
# **Review.** Answer first, then open.
#
# <details><summary>1. h1 opens 6 connections, and h2 and h3 one each. What is h1's share?</summary>
#
# 6 of 8, 75 %, if all RTTs are equal.
#
# </details>
# <details><summary>2. What is Jain's index per host then, in theory?</summary>
#
# (6 + 1 + 1)^2 / (3 * (36 + 1 + 1)) = 64 / 114 = 0.56.
#
# </details>
# <details><summary>3. A router has a queue for each connection and serves them in turn. Does a host still gain if it
# opens more connections?</summary>
#
# Yes: each connection has its turn. The gain ends when the router has a queue for each host.
#
# </details>
# <details><summary>4. Four runs gave 7.1 ± 1.2 Mbit/s. How many runs halve the interval?</summary>
#
# Nine runs, if the standard deviation stays. With the same t you would need four times as many runs. But t falls too,
# from 3.18 to 2.31.
#
# </details>
#
# ### Where to read on
#
# The [glossary](glossary.md); Student, *The probable error of a mean*, Biometrika 1908; Jain, *The Art of Computer
# Systems Performance Analysis*, 1991, chapter 13 (confidence intervals); Kurose & Ross, *Computer Networking*, on
# HTTP and on fairness and parallel TCP connections; Peterson & Davie, *Computer Networks*, on fair queueing; RFC 9112
# (HTTP/1.1), RFC 9113 (HTTP/2), RFC 9000 (QUIC), RFC 6928 (the initial window), RFC 9040 (what connections
# to one host may share).
