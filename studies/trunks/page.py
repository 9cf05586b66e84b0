# %% [markdown]
# # Bonded trunks and a priority class
#
# **This is not of the switches paper, but what its future work asks for** (section 6: "other features of switches such
# as QoS and bonding (etherchannel)"). Two links of 10 Mbit/s between two switches, here called trunks though nothing on
# them is tagged, are bonded by Linux's own driver. And the additional flow of the paper's throughput experiments
# (4.2.1, within a VLAN at 10 Mbit/s; our [figure 19](switches.md)) is put into a class of strict priority. Kinds of
# switch are not compared: all is on the Linux bridge, and on **virtual time**.

# %%
from linklab.show.chart import BLACK, BLUE, LINES, dots, label_axes, legend, panels
from linklab.study.notebook import open_page
from linklab.study.page import fixed, say, spread, table
from studies.trunks.judges import (
    CLAIMS,
    LOAD,
    ONE_MBPS,
    expected_trunks,
    flow_theory_mbps,
    priority_rtt_theory_ms,
)
from studies.trunks.study import BONDS, HASHED, ONE, PRIORITY, STUDIES, TRUNKS

page = open_page("trunks", STUDIES, CLAIMS)
trunks, priority = page["trunks"], page["priority"]
counts, places = TRUNKS.factors["connections"], PRIORITY.factors["priority"]
(payload,) = PRIORITY.factors["payload_bytes"]
bonds = [it for it in BONDS if it != ONE]
offered_mbps = LOAD["additional_mbps"]


def sums(bond, count):
    return trunks.lookup("sum_mbps", bond=bond, connections=count)


def of_flow(metric, where):
    return priority.lookup(metric, priority=where)


hashed = [sums(HASHED, count) for count in counts]
both = [sum(it > 1.5 * ONE_MBPS for it in found.values) for found in hashed]
runs = hashed[0].count
expected_both = [f"{runs * (expected_trunks(count) - 1):g}" for count in counts]
say(f"""
## What theory expects

- *Bonding.* A bond keeps a conversation on one trunk, so that its frames keep their order (IEEE 802.1AX): one
  connection gets {ONE_MBPS:.2f} Mbit/s of data. By layer 2 (hardware addresses, Linux's default) a pair of hosts is one
  conversation, by layers 3 and 4 (addresses and ports) a connection is. If a hash puts each of n connections on either
  trunk with equal chance, they use 2 (1 - 1/2^n) trunks on average, and both in a part 1 - 1/2^(n-1) of all runs:
  {", ".join(expected_both)} of {runs} runs for 1 to 4. *Round-robin* deals frames out in turn, against 802.1AX: it uses
  both trunks, and TCP has to stand that frames overtake each other.
- *Priority.* Strict priority (IEEE 802.1Q, 8.6.8.1) sends the class's frames first, but stops none that is on its way:
  a class that offers less than the link carries loses nothing, and waits for what is left of one frame and for its own
  (A. Cobham, 1954): {priority_rtt_theory_ms(payload):.2f} ms a ping where all ports have it. Every host sends 2.5
  Mbit/s to every other, and h1 {offered_mbps:g} Mbit/s more to h2: with headers too much for **two** ports, h1's own
  and the switch's to h2. Each without priority lets the same part of all pass (a fluid's theory: it knows no single
  packets).

## What we find
""")

# %%
page.claims()

# %%
again = {
    bond: spread(trunks.lookup("retransmitted_segments", bond=bond, connections=1), 3)
    for bond in (HASHED, "round-robin")
}
same = all(sums("layer2", count).values == sums(ONE, count).values for count in counts)
flows = [of_flow("additional_mbps", where) for where in places]
in_none, in_switch, in_both = (of_flow("rtt_mean_ms", where) for where in places)
theory_mbps = [flow_theory_mbps(where, payload) for where in places]
below_percent = [100 * (1 - found.mean / theory) for found, theory in zip(flows, theory_mbps, strict=True)]
say(f"""
The thresholds are our own. A claim is *reproduced* if it holds in more than half of all repeats that there could be, by
the interval (Clopper and Pearson), *not reproduced* if not, *open* where the interval leaves both possible, and
*decided by construction* where an emulation cannot come out otherwise.

**A second trunk is no faster trunk.** By layers 3 and 4 one connection has none of it in all {runs} runs; two fill both
in {both[1]}, three in {both[2]}, four in {both[3]}, so who measures once may see either. By layer 2 every run carries
{"exactly" if same else "nearly"} what it carries over one trunk alone. **By round-robin even one connection fills
both**, and sends {again["round-robin"]} segments again in 5 s, by layers 3 and 4 {again[HASHED]}: we take it that
Linux's TCP takes some frames that were overtaken for lost.

**Priority helps where the queue is.** QoS of a switch can do nothing for queues before it: in the switch alone it
leaves the flow what passes its own host's port, and in both the flow arrives whole, at the background's cost. A ping
takes {in_none.mean:.0f} ms without it, {in_switch.mean:.0f} with it in the switch, and {spread(in_both, 3)} with it in
both. Without priority in the hosts the flow is {below_percent[1]:.0f} to {below_percent[0]:.0f} % below theory; why was
not looked into.
""")

# %%
drawing, (bonding, classes) = panels(
    "Left, data over bonded trunks by number of connections; right, the additional flow by where it has priority: the "
    "numbers stand in the tables below",
    1, 2,
)  # fmt: skip
for number, bond in enumerate(bonds):
    colour, dashes, marker = LINES[number]
    at = [count + 0.12 * (number - 1) for count in counts]
    means = [sums(bond, count).mean for count in counts]
    bonding.plot(at, means, marker, color=colour, markerfacecolor="white", label=f"{bond}, mean")
    bonding.vlines(
        at, *zip(*((sums(bond, count).low, sums(bond, count).high) for count in counts), strict=True), colour
    )
chance = [expected_trunks(count) * ONE_MBPS for count in counts]
bonding.plot(counts, chance, color=BLACK, linewidth=1, linestyle=":", label="theory of layer3+4, mean")
bonding.set_xticks(counts)
bonding.set_ylim(0, 2.1 * ONE_MBPS)
label_axes(bonding, "connections", "data that arrive (Mbit/s)")
legend(bonding, columns=1)
for number, (found, theory) in enumerate(zip(flows, theory_mbps, strict=True)):
    dots(classes, number, found.values, BLUE, "o", "" if number else "a run")
    classes.plot([number - 0.3, number + 0.3], [theory] * 2, color=BLACK, label="" if number else "theory")
classes.set_xticks(range(len(places)), [where.replace(" and ", "\nand ") for where in places])
classes.set_ylim(0, 1.1 * offered_mbps)
label_axes(classes, "priority", "additional flow (Mbit/s)")
legend(classes)
page.figure("both", "Left: bonded trunks; lines go from the least run to the largest. Right: priority.", drawing)

# %%
table(
    [
        (count, f"{full} of {runs}", *(sums(it, count) for it in bonds))
        for count, full in zip(counts, both, strict=True)
    ],
    ("connections", "layer3+4: both trunks", *(f"{it} (Mbit/s)" for it in bonds)),
    f"Data of all TCP connections (CUBIC) from h1 to t1 in 5 s: means of {sums(ONE, 1).count} runs, of {runs} with "
    "layer3+4, with the least and the largest.",
)  # fmt: skip

# %%
rows = [
    (where, fixed(theory, 2), found, *(of_flow(it, where) for it in ("background_mbps", "rtt_mean_ms", "rtt_max_ms")))
    for where, theory, found in zip(places, theory_mbps, flows, strict=True)
]
columns = (
    "priority",
    "flow, theory (Mbit/s)",
    "flow (Mbit/s)",
    "a background flow, mean of all (Mbit/s)",
    "ping, mean (ms)",
    "ping, longest (ms)",
)
table(
    rows, columns,
    f"Datagrams of {payload} bytes; of the background 500. Means of {flows[0].count} runs, of which 1.8 s count, with "
    "the least and the largest; of 90 pings a run, those that are answered.",
)  # fmt: skip

# %% [markdown]
# Bonds are static at both ends, with a host behind each on a link of 100 Mbit/s; queues hold 100 packets. For priority
# every port has an HTB of 10 Mbit/s in place of its cable, with a bucket of one byte: it chooses its next frame when
# the link is free. The class, the flow (known by its port number) and pings, has a queue of its own; a real switch
# would look at a tag's priority (802.1Q) or at DSCP. Open vSwitch's own bonds were not measured.

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
