# %% [markdown]
# # Benchmark: speed
#
# Virtual seconds for each second on the wall.

# %%
from linklab.study.notebook import open_page
from linklab.study.page import table
from tools.bench.speed import CASES, CLAIMS, ONE, STUDY, rate_of, steps

page = open_page("benchmark-speed", [STUDY], CLAIMS)
speed = page["speed"]
page.claims()

# %% [markdown]
# ## Virtual seconds for each second on the wall

# %%
rows = []
for load, labs in speed.runs("load", "labs"):
    virtual_s, wall_s = (speed.lookup(it, load=load, labs=labs).mean for it in ("virtual_s", "wall_s"))
    rate, count = rate_of(page.tables, load, labs)
    rows.append((load, f"{count:.0f}", f"{virtual_s:.1f}", f"{wall_s:.2f}", f"{rate:.2f}", f"{rate / count:.2f}"))
columns = ("load", "labs at once", "virtual s, all labs", "wall s", "virtual / wall", "virtual / wall, each core")
note = (
    "h1-h4; four flows: h1-h4, h2-h5, h3-h6, h7-h9. Each lab is pinned to a core of its own. The test cases are "
    "spread over the labs, the other loads run in each of them."
)
table(rows, columns, note)

# %% [markdown]
# ## The five test cases on one core

# %%
rows = []
for case in range(1, 6):
    virtual_s, wall_s = (
        speed.lookup(it, of=f"case {case}", load=CASES, labs=ONE).mean for it in ("virtual_s", "wall_s")
    )
    names = ", ".join(step.name for step in steps(25) if step.case == case)
    rows.append((case, names, f"{virtual_s:.1f}", f"{wall_s:.2f}", f"{virtual_s / wall_s:.2f}"))
table(rows, ("case", "what ran", "virtual s", "wall s", "virtual / wall"))

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
