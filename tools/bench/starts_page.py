# %% [markdown]
# # Benchmark: starts
#
# How long networks of 10 to 200 nodes take to come up and to go.

# %%
from statistics import median

from linklab.study.notebook import open_page
from linklab.study.page import significant, table
from tools.bench.starts import CLAIMS, STUDY

page = open_page("benchmark-starts", [STUDY], CLAIMS)
starts = page["starts"]
page.claims()

# %% [markdown]
# ## Start and stop

# %%
rows = []
for network, nodes in starts.runs("network", "nodes"):
    found = [starts.lookup(metric.name, network=network, nodes=nodes) for metric in STUDY.metrics]
    start_s, *others_s = (median(it.values) for it in found)
    ms_a_node = f"{1000 * start_s / nodes:.2f}"
    rows.append((network, nodes, found[0].count, significant(start_s), ms_a_node, *map(significant, others_s)))
columns = ("network", "nodes", "repeats", "start (s)", "ms a node", "first answers (s)", "stop (s)")
note = (
    "Medians. First answers: until every host's shell has answered a command; a shell is opened when it is first "
    "needed. In every network the first host then reached the last."
)
table(rows, columns, note)

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
