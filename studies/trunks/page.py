# %% [markdown]
# # Bonded trunks and a priority class
#
# **This is not of the switches paper, but what its future work asks for** (section 6: "other features of switches such
# as QoS and bonding (etherchannel)"). Two trunks of 10 Mbit/s between two switches are bonded by Linux's own driver,
# and the additional flow of the paper's throughput experiments (4.2.1, within a VLAN at 10 Mbit/s; our
# [figure 19](switches.md)) is put into a class of strict priority. Kinds of switch are not compared: all is on the
# Linux bridge, and on **virtual time**.

# %%
from linklab.show.chart import BLACK, BLUE, LINES, label_axes, legend, panels
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
from studies.trunks.study import BONDS, EVERYWHERE, HASHED, ONE, PRIORITY, STUDIES, TRUNKS

page = open_page("trunks", STUDIES, CLAIMS)
trunks, priority = page["trunks"], page["priority"]
counts, places = TRUNKS.factors["connections"], PRIORITY.factors["priority"]
(payload,) = PRIORITY.factors["payload_bytes"]
offered_mbps = LOAD["additional_mbps"]


def sums(bond, count):
    return trunks.lookup("sum_mbps", bond=bond, connections=count)


def of_flow(metric, where):
    return priority.lookup(metric, priority=where)


hashed = [sums(HASHED, count) for count in counts]
both = [sum(it > 1.5 * ONE_MBPS for it in found.values) for found in hashed]
say(f"""
## What theory expects

- *Bonding.* A bond keeps a conversation on one link, so that its frames keep their order (IEEE 802.1AX, frame
  distribution): one connection gets one trunk, {ONE_MBPS:.2f} Mbit/s of data, whatever the hash. By layer 2 (Linux's
  default: hardware addresses) one pair of hosts is one conversation; by layers 3 and 4 (addresses and ports) a
  connection is, and if a hash puts each on either trunk with equal chance, n of them use 2 (1 - 1/2^n) trunks on
  average: {", ".join(f"{expected_trunks(count):g}" for count in counts)} for 1 to 4. Frames dealt out in turn, against
  802.1AX, use both, and TCP has to stand that they overtake each other.
- *Priority.* Strict priority (IEEE 802.1Q, 8.6.8.1) sends the class's frames first, but stops none that is on its way:
  a class that offers less than the link carries loses nothing, and waits for what is left of one frame and for its own
  (A. Cobham, 1954). Every host sends 2.5 Mbit/s to every other, and h1 {offered_mbps:g} Mbit/s more to h2: too much for
  **two** ports, h1's own and the switch's to h2. Each without priority lets the same part of all pass
  (a fluid's theory: it knows no single packets).

## What we find
""")

# %%
page.claims()

# %%
again = {
    bond: spread(trunks.lookup("retransmitted_segments", bond=bond, connections=1), 3)
    for bond in (HASHED, "round-robin")
}
alone, in_switch, in_both = (of_flow("rtt_mean_ms", where) for where in places)
say(f"""
**A second trunk is no faster trunk.** One connection has none of it, in all {hashed[0].count} runs; two fill both in
{both[1]} of {hashed[1].count}, three in {both[2]}, four in {both[3]}. Whether they do is chance, so who measures once
may see either. **Dealt out in turn, even one connection fills both**: Linux's TCP takes some frames that
were overtaken for lost, and sends {again["round-robin"]} segments again in 5 s; by a hash it is {again[HASHED]}.

**Priority helps where the queue is.** In the switch alone it leaves the flow's loss in its own host, and the mean round
trip of pings that are answered at {in_switch.mean:.0f} ms, where it is {alone.mean:.0f} without: QoS of a switch can do
nothing for queues before it. With it in both nothing is lost, a ping takes {spread(in_both, 2)} ms, and the background
pays.
""")

# %%
drawing, (bonding, classes) = panels(
    "Left, data over bonded trunks in Mbit/s by number of connections: "
    + "; ".join(f"{bond} {', '.join(spread(sums(bond, count), 3) for count in counts)}" for bond in BONDS)
    + ". Right, the additional flow in Mbit/s by where it has priority: "
    + "; ".join(f"{where} {spread(of_flow('additional_mbps', where), 3)}" for where in places),
    1, 2,
)  # fmt: skip
for number, bond in enumerate(BONDS):
    colour, dashes, marker = LINES[number]
    at = [count + 0.12 * (number - 1.5) for count in counts]
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
flows = [of_flow("additional_mbps", where) for where in places]
for number, (where, found) in enumerate(zip(places, flows, strict=True)):
    at = [number + 0.02 * (run - (found.count - 1) / 2) for run in range(found.count)]
    classes.plot(
        at, found.values, "o", color=BLUE, markersize=4, markerfacecolor="white", label="" if number else "a run"
    )
    theory = flow_theory_mbps(where, payload)
    classes.plot([number - 0.3, number + 0.3], [theory] * 2, color=BLACK, label="" if number else "theory")
classes.set_xticks(range(len(places)), [where.replace(" and ", "\nand ") for where in places])
classes.set_ylim(0, 1.1 * offered_mbps)
label_axes(classes, "priority", "additional flow (Mbit/s)")
legend(classes)
caption = "Left: bonded trunks, means, and from the least run to the largest. Right: the flow by where it has priority."
page.figure("both", caption, drawing)

# %%
rows = [
    (count, fixed(expected_trunks(count) * ONE_MBPS, 2), f"{full} of {found.count}", *(sums(it, count) for it in BONDS))
    for count, full, found in zip(counts, both, hashed, strict=True)
]
columns = (
    "connections",
    "theory, layer3+4, mean (Mbit/s)",
    "layer3+4: both trunks",
    *(f"{it} (Mbit/s)" for it in BONDS),
)
table(
    rows, columns,
    f"Data of all TCP connections (CUBIC) from h1 to t1 in 5 s: means of {sums(ONE, 1).count} runs, of "
    f"{hashed[0].count} with layer3+4, with the least and the largest.",
)  # fmt: skip

# %%
rows = [
    (
        where, fixed(flow_theory_mbps(where, payload), 2), *(of_flow(it, where) for it in (
            "additional_mbps", "background_mbps", "rtt_mean_ms", "rtt_max_ms"
        )),
        fixed(priority_rtt_theory_ms(payload), 2) if where == EVERYWHERE else None,
    )
    for where in places
]  # fmt: skip
columns = (
    "priority", "flow, theory (Mbit/s)", "flow (Mbit/s)", "a background flow (Mbit/s)", "ping, mean (ms)",
    "ping, longest (ms)", "ping, Cobham's mean (ms)",
)  # fmt: skip
table(
    rows, columns,
    f"Datagrams of {payload} bytes; of the background 500. Means of {flows[0].count} runs of 3 s, of which the last "
    "1.8 count, with the least and the largest; *longest* is that of each run.",
)  # fmt: skip

# %% [markdown]
# Bonds are Linux's, static at both ends, between s1 and s2 with a host each on links of 100 Mbit/s; queues hold 100
# packets. For priority every port has an HTB of 10 Mbit/s in place of its cable, whose bucket holds one byte: a frame
# leaves when the link is free, the next one is chosen only after this one's time on the link, and a lone frame leaves
# at once, so the pings' times are waits alone. The class has a queue of its own, and is known by the flow's port
# number; pings (one in 20 ms) are in it. A real switch would look at a tag's priority (802.1Q) or at DSCP.
# Open vSwitch's own bonds move flows between links by load every 10 s, and were not measured.

# %%
page.how_judged()

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
