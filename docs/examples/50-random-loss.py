# %% [markdown] id="goal"
# # Lab 50: Random loss
#
# A radio link loses packets although no queue is full. You predict what a loss of 1 % does to ping and to TCP,
# measure both, and find out why TCP suffers so much more.
#
# The lab takes about half a minute.

# %% id="imports"
from linklab import lab50, measure, show, start
from linklab.measure import PingFlow, TcpFlow

# %% [markdown] id="network-intro"
# ## 1. A link that loses packets
#
# Two hosts, and a link of **20 Mbit/s** with **20 ms** of delay each way. In each direction it loses **1 %** of the
# packets, at random. (To run a cell: click on it, then press Shift+Enter.)

# %% id="start"
lab = start(lab50.NETWORK)
show.network(lab)

# %% [markdown] id="loss-task"
# ## 2. Predict
#
# **Your turn:** how many percent of all pings get no answer? Replace `None` and run both cells.

# %% answer="loss"
### BEGIN SOLUTION
lost_percent = 100 * (1 - 0.99 * 0.99)
### STARTER
# lost_percent = None
### END SOLUTION

# %% check="loss" points=1
lab50.check_loss(lost_percent).require()

# %% [markdown] id="throughput-task"
# TCP takes a lost packet for a sign that a queue is full, and sends more slowly. TCP Reno halves its window at each
# loss, and lets it grow by one packet in each round trip. From that follows the **law of the square root** (Mathis,
# Semke, Mahdavi and Ott, 1997): at a loss rate `p`
#
# $$\text{throughput} = 1.22 \cdot \frac{\text{MSS}}{\text{RTT} \cdot \sqrt{p}}$$
#
# **Your turn:** the throughput in Mbit/s, for an MSS of 1448 bytes.

# %% answer="throughput"
### BEGIN SOLUTION
throughput_mbps = 1.22 * 1448 * 8 / (0.040 * 0.01**0.5) / 1e6
### STARTER
# throughput_mbps = None
### END SOLUTION

# %% check="throughput" points=2
lab50.check_throughput(throughput_mbps).require()

# %% [markdown] id="pings-task"
# ## 3. Measure
#
# **Your turn:** 1000 pings from h1 to h2, one every 10 ms: `measure.run(lab, PingFlow(...))` with `count` and
# `interval_s`.

# %% answer="pings"
### BEGIN SOLUTION
pings = measure.run(lab, PingFlow("h1", "h2", count=1000, interval_s=0.01))
### STARTER
# pings = None
### END SOLUTION

# %% check="pings" points=1
lab50.check_pings(pings).require()

# %% [markdown] id="transfer-task"
# **Your turn:** a transfer of 60 s with `TcpFlow`. Linux has CUBIC, which the law is not about, so say
# `congestion="reno"`.

# %% answer="transfer"
### BEGIN SOLUTION
transfer = measure.run(lab, TcpFlow("h1", "h2", duration_s=60, congestion="reno"))
### STARTER
# transfer = None
### END SOLUTION

# %% check="transfer" points=2
lab50.check_transfer(transfer).require()

# %% [markdown] id="half-task"
# ## 4. Explain
#
# **Your turn:** which loss, with the same RTT, would halve this throughput? And which RTT, with the same loss?

# %% answer="half"
halved_by = {
    ### BEGIN SOLUTION
    "loss_percent": 4,
    "rtt_ms": 80,
    ### STARTER
    # "loss_percent": None,
    # "rtt_ms": None,
    ### END SOLUTION
}

# %% check="half" points=2
lab50.check_questions(halved_by).require()

# %% [markdown] id="explanation"
# A ping is lost with its request or with its reply, so nearly 2 % are. TCP loses 1 % of its packets as well, and yet
# gets less than a fifth of the link: with a loss in every hundred packets its window stays near a dozen packets,
# while the link could carry 66 in a round trip. The lost packets are not what is missing. TCP does not send more.
#
# That is why radio links repeat lost frames themselves before TCP hears of them, and why newer congestion controls
# such as BBR do not take every loss for a full queue.

# %% id="end"
lab.stop()
