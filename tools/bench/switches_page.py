# %% [markdown]
# # Benchmark: switch-kinds
#
# The Linux bridge and Open vSwitch forward alike on virtual time.

# %%
from linklab.study.notebook import open_page
from linklab.study.page import spread, table
from tools.bench.switches import CLAIMS, STUDY

page = open_page("benchmark-switch-kinds", [STUDY], CLAIMS)
kinds = page["switch-kinds"]
page.claims()

# %% [markdown]
# ## h1-h4 of the course network

# %%
rows = [
    (kind, *(spread(kinds.lookup(metric, switch=kind), 5) for metric in ("rtt_mean_ms", "tcp_mbps")))
    for kind in kinds.levels("switch")
]
table(rows, ("switch", "RTT mean (ms)", "TCP (Mbit/s)"), "h1-h4 of the course network, through s1 and s2.")

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
