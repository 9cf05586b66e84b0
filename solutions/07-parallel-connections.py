# %% [markdown] id="goal"
# # Lab 07: Parallel connections
#
# Some programs open several connections to the same server at once: browsers, download managers, `iperf3 -P`.
# Why? In this lab `h1` opens two connections to `h4` while `h2` and `h3` have one each to `h5` and `h6`. You
# predict who gets what, measure it, and find that "fair" has two answers.

# %% id="imports"
import linklab
from linklab import measure, show
from linklab.analysis import jain_index
from linklab.labs import lab07
from linklab.labs import multiplexing_figures as figures
from linklab.labs.multiplexing import (
    mean_connections_mbps,
    own_parallel_simpleperf,
    rates_mbps,
)
from linklab.network import path

# %% id="start"
network = linklab.course_network()
L2 = network.link("L2")
lab = linklab.start(network)
program = own_parallel_simpleperf(lab)
show.draw(lab, highlight=path(network, "h1", "h4"))

# %% [markdown] id="shares-intro"
# ## 1. Predict: who gets how much?
#
# The marked way is that of `h1-h4`. The flows `h2-h5` and `h3-h6` take the same links. L2 is the bottleneck
# of all, and its one queue serves packets in the order in which they come. It knows neither hosts nor
# programs.
#
# Each TCP *connection* has a window of its own, and each learns of the full queue by its own losses. So over
# a long time, connections with equal round trips tend to equal parts.
#
# Of each frame of 1514 bytes 1448 are data. **Your turn:** predict in Mbit/s of data what one connection
# gets, what each host gets, and what all get together.

# %% answer="shares"
predicted_mbps = {
    ### BEGIN SOLUTION
    "a connection": L2.rate_mbps * 1448 / 1514 / 4,
    "h1": L2.rate_mbps * 1448 / 1514 / 4 * 2,
    "h2": L2.rate_mbps * 1448 / 1514 / 4,
    "h3": L2.rate_mbps * 1448 / 1514 / 4,
    "together": L2.rate_mbps * 1448 / 1514,
    ### STARTER
    # "a connection": None,
    # "h1": None,
    # "h2": None,
    # "h3": None,
    # "together": None,
    ### END SOLUTION
}

# %% check="shares" points=3
lab07.check_shares(predicted_mbps).require()

# %% [markdown] id="fairness-intro"
# ## 2. Predict: how fair is that?
#
# Jain's index of n throughputs x is
#
# $$J = \frac{(x_1 + x_2 + \dots + x_n)^2}{n \cdot (x_1^2 + x_2^2 + \dots + x_n^2)}$$
#
# You wrote it in Lab 06; `jain_index` is Linklab's own. The formula does not say *who* the n are. There are
# four connections here, and three hosts.
#
# **Your turn:** predict the index per connection and per host, if all four connections get the same. Three
# digits.

# %% answer="predicted-fairness"
predicted_fairness = {
    ### BEGIN SOLUTION
    "per connection": jain_index([1, 1, 1, 1]),
    "per host": jain_index([2, 1, 1]),
    ### STARTER
    # "per connection": None,
    # "per host": None,
    ### END SOLUTION
}

# %% check="predicted-fairness" points=2
lab07.check_predicted_fairness(predicted_fairness).require()

# %% [markdown] id="prediction-question"
# **Question.** `h1` has twice of what `h2` has, although both paid for the same cable. Why does neither L2
# nor TCP prevent that?

# %% [markdown] reflect="prediction" points=1
# The router sees packets in one queue and drops whatever comes when it is full: it does not look at who sent
# them. And each TCP connection decides for itself, by its own losses. Nobody on the way knows that two of the
# connections belong together, so nobody can count by host.

# %% [markdown] id="measure-intro"
# ## 3. Measure
#
# `transfer("h1-h4", 2)` is a transfer of 25 s by simpleperf over two connections. `four_times` runs a list of
# flows together, and does so four times.


# %% id="transfer"
def transfer(pair, connections=1):
    ends = pair.split("-")
    return measure.SimpleperfFlow(*ends, duration_s=25, streams=connections, program=program)


def four_times(lab, flows, **hooks):
    return measure.repeated(lab, flows, repeats=4, **hooks)


# %% [markdown] id="measure-task"
# Lab 06 showed that single runs of 25 s scatter widely. So measure four times. On virtual time the same run
# would give the same digits. Therefore each repeat begins some ms later, and meets other queues.
#
# `show.watched(four_times, lab, flows)` shows how far they are. **Your turn:** make the list of the three
# transfers, and measure. In real time this takes two minutes.

# %% answer="runs"
### BEGIN SOLUTION
flows = [transfer("h1-h4", 2), transfer("h2-h5"), transfer("h3-h6")]
runs = show.watched(four_times, lab, flows)
### STARTER
# runs = None
### END SOLUTION

# %% check="runs" points=3
lab07.check_run(runs).require()

# %% [markdown] id="throughput-figure-intro"
# How the first run went, second by second:

# %% id="throughput-figure"
figures.throughput_figure(runs and runs.runs[0], lab07.loads(2))

# %% [markdown] id="throughput-table-intro"
# And the mean over all runs, beside your prediction, theory and the course report (of the plain course network):

# %% id="throughput-table"
figures.parallel_table(runs, predicted_mbps)

# %% [markdown] id="parts-task"
# ## 4. Per connection and per host
#
# `mean_connections_mbps(runs)` has the mean over all runs of each connection, by pair, as `{"h1-h4": [7.1,
# 7.2], "h2-h5": [7.0], ...}`.
#
# **Your turn:** two lists of numbers in Mbit/s: one number for each connection, and one for each host.

# %% answer="parts"
### BEGIN SOLUTION
by_pair = mean_connections_mbps(runs)
per_connection = [rate for rates in by_pair.values() for rate in rates]
per_host = [sum(rates) for rates in by_pair.values()]
### STARTER
# per_connection = None
# per_host = None
### END SOLUTION

# %% check="parts" points=2
lab07.check_parts(per_connection, per_host, runs).require()

# %% [markdown] id="fairness-task"
# **Your turn:** Jain's index of both.

# %% answer="fairness"
fairness = {
    ### BEGIN SOLUTION
    "per connection": jain_index(per_connection),
    "per host": jain_index(per_host),
    ### STARTER
    # "per connection": None,
    # "per host": None,
    ### END SOLUTION
}

# %% check="fairness" points=2
lab07.check_fairness(fairness, runs).require()

# %% id="fairness-figure"
figures.fairness_figure(runs)

# %% id="fairness-table"
figures.fairness_table(runs)

# %% [markdown] id="fairness-notice"
# **What to notice.** In a single run chance decides much: it can even make the hosts look fairer than the
# connections. Who loses packets at a bad moment falls behind, and catches up slowly. In the mean over several
# runs chance levels out, and both indexes come near to your prediction.
#
# The report has one index, 0.99. It is that of the connections. Per host, its numbers give 0.916.
#
# **Question.** An internet provider sells the same access to three homes. Which of the two indexes should it
# look at? Which one does TCP look at?

# %% [markdown] reflect="fairness" points=1
# The provider sells access to homes, so what counts is the index per host (or home). TCP sees connections and
# tends to make the index per connection 1. To be fair to homes, the provider's router must tell them apart,
# for example with a queue of its own for each home.

# %% [markdown] id="experiment-intro"
# ## 5. Experiment: more and more connections
#
# What if `h1` opens 1, 2, 4 or 8 connections? Each of `h2` and `h3` keeps to one.
#
# **Predict:** the part of all traffic that is `h1`'s, in percent, for each number of connections.

# %% answer="predicted-parts"
predicted_percent = {
    ### BEGIN SOLUTION
    1: 100 * 1 / (1 + 2),
    2: 100 * 2 / (2 + 2),
    4: 100 * 4 / (4 + 2),
    8: 100 * 8 / (8 + 2),
    ### STARTER
    # 1: None,
    # 2: None,
    # 4: None,
    # 8: None,
    ### END SOLUTION
}

# %% check="predicted-parts" points=2
lab07.check_predicted_parts(predicted_percent).require()

# %% [markdown] id="experiment-task"
# simpleperf opens five connections at most. Eight are two programs with four each. This function returns the
# flows:


# %% id="flows-with"
def flows_with(connections):
    mine = [4, 4] if connections == 8 else [connections]
    flows = [transfer("h1-h4", number) for number in mine]
    return [*flows, transfer("h2-h5"), transfer("h3-h6")]


# %% [markdown] id="measured-task"
# **Your turn:** two dictionaries. `experiment` has the result of `show.watched(measure.at_once, lab, flows)` for
# each number of connections. `measured_percent` has the part of `h1`, from `rates_mbps(...)`: throughputs by
# pair, as `{"h1-h4": 14.2, ...}`.

# %% answer="experiment"
experiment = dict.fromkeys(lab07.CONNECTIONS)
measured_percent = dict.fromkeys(lab07.CONNECTIONS)
### BEGIN SOLUTION
for connections in lab07.CONNECTIONS:
    run = show.watched(measure.at_once, lab, flows_with(connections))
    rates = rates_mbps(run)
    experiment[connections] = run
    measured_percent[connections] = 100 * rates["h1-h4"] / sum(rates.values())
### STARTER
# # YOUR TURN: a loop over lab07.CONNECTIONS that fills both
### END SOLUTION

# %% check="experiment" points=3
lab07.check_experiment(experiment, measured_percent).require()

# %% id="parts-table"
figures.parts_table(experiment, predicted_percent, measured_percent)

# %% id="parts-figure"
figures.parts_figure(experiment, predicted_percent, measured_percent)

# %% [markdown] id="questions-intro"
# **What to notice.** The part grows as P / (P + 2), with the scatter of single runs around it. Nobody broke a
# rule: every connection behaved as TCP should.
#
# ## 6. Questions
#
# **Your turn:** two numbers and a letter.
#
# `for_90_percent`: how many connections must `h1` open to have 90 % of L2?
#
# `jain_per_host_8`: Jain's index per host in theory, if `h1` opens 8?
#
# `whose_fault`: per connection the index is near 1, per host it is not. What is wrong? (a) The measurement:
# both must be equal. (b) TCP: it should divide by host. (c) Nothing: each answers another question, and who
# asks must say which. (d) The queue of L2: it prefers `h1`'s packets.

# %% answer="questions"
answers = {
    ### BEGIN SOLUTION
    "for_90_percent": 18,  # P / (P + 2) = 0.9
    "jain_per_host_8": jain_index([8, 1, 1]),
    "whose_fault": "c",
    ### STARTER
    # "for_90_percent": None,
    # "jain_per_host_8": None,
    # "whose_fault": None,
    ### END SOLUTION
}

# %% check="questions" points=3
lab07.check_questions(answers).require()

# %% [markdown] id="browser-question"
# **Question.** Browsers used to open six connections to each server. Today most use one, and carry many
# requests over it. What did the six gain, what did they cost others, and what does a new connection cost at
# its start?

# %% [markdown] reflect="browser" points=1
# Six connections get six shares of a full link, and six small windows grow faster in slow start than one.
# Others on the link get less for it, and the queue is fuller. Each new connection needs a round trip to open,
# more for encryption, and starts with a small window. One connection that stays open avoids that.

# %% [markdown] id="stop-intro"
# ## 7. Stop

# %% id="stop"
lab.stop()

# %% [markdown] id="end-of-lab"
# **What you know now:** TCP is fair to connections, not to hosts or people. Whoever opens more gets more. And
# a number for fairness means little before you say who is compared, and how often it was measured.
