# %% [markdown]
# # The course report of 2023, repeated
#
# The course report ("Project report, Portfolio 1", OsloMet, 2023) is a student's evaluation of the course network:
# five test cases with ping, iperf and a simpleperf of its author's, in a virtual machine in real time. It ran some of
# them several times (its sections 4.3.2 and 5) and prints one number of each. Here they are repeated on the same
# network with ping, iperf 2 and a simpleperf of ours (1000 bytes at a time, 25 s, TCP CUBIC, as Linux has it by
# itself), and ten times where chance has a hand. All is on **virtual time**: the clock of a lab's Linux moves when all
# of its programs wait, and stands while one computes, so no machine's speed is in a number. So the network, the machine
# and chance can be told apart:

# %%
from functools import partial
from statistics import fmean

import pandas

from linklab.analysis.sharing import jain_index
from linklab.network import COURSE, goodput_ceiling_mbps, path
from linklab.show.chart import BLACK, VERMILLION, chart, label_axes, legend, panels
from linklab.study.claims import judged
from linklab.study.notebook import open_page
from linklab.study.page import fixed, inconsistencies, say, spread, table
from studies.report import judges
from studies.report.judges import APART, CLAIMS, PUBLISHED, THREE, floor_ms, rate_mbps
from studies.report.study import LINKS, NEAREST, PARALLEL, PATHS, PLAIN, SHARED, STUDIES, ends, pairs_of

page = open_page("report", STUDIES, CLAIMS)
alone, shared = partial(judges.alone, page.tables), partial(judges.shared, page.tables)
printed = pandas.DataFrame(PUBLISHED["numbers"])
printed_alone = printed[printed["case"].isin([2, 3])].pivot(index="name", columns="quantity", values="value")
tests = {**{(4, test): pairs for test, pairs in enumerate(SHARED, 1)}, (5, 1): PARALLEL}
ceiling_mbps = {it: goodput_ceiling_mbps(path(COURSE, *ends(COURSE, it)[:2])) for it in (*LINKS, *PATHS)}


def printed_of(case, test, quantity, **at):
    """The report's numbers of a test, or those of one pair in it."""
    return [row["value"] for row in PUBLISHED.rows("numbers", case=case, test=test, quantity=quantity, **at)]


def own(*explained):
    """The levels of Linklab's own setting, but for the factors that are named: those of the nearest setting."""
    return {**PLAIN, **{factor: NEAREST[factor] for factor in explained}}


def three_ms(*explained):
    return fmean(shared("rtt_mean_ms", THREE, it, **own(*explained)).mean for it in pairs_of(THREE))


arp_ms = alone("rtt_mean_ms", "h1-h4", **own("arp")).mean - alone("rtt_mean_ms", "h1-h4", **own()).mean
apart_ms = shared("rtt_mean_ms", APART, "h1-h4")
sharing = {at: pairs for at, pairs in tests.items() if pairs != APART}
"""Tests in which pairs share L2."""
shared_rtts = [
    (printed_of(*at, "rtt_ms", name=name)[0], shared("rtt_mean_ms", pairs, name))
    for at, pairs in sharing.items() if pairs != PARALLEL
    for name in pairs_of(pairs)
]  # fmt: skip
as_ours = [ours.low <= theirs <= ours.high for theirs, ours in shared_rtts]
printed_jain = {at: jain_index(printed_of(*at, "throughput_mbps")) for at in tests}
near_jain, own_jain = ({at: shared("jain_index", it, **to) for at, it in sharing.items()} for to in ({}, own()))
fairer = [at for at in sharing if printed_jain[at] > near_jain[at].high]
fair_as_own = [at for at in fairer if own_jain[at].low <= printed_jain[at] <= own_jain[at].high]


def named(found):
    """Tests as the page names them."""
    return ", ".join(f"{case}.{test}" for case, test in found)


settings = ({}, own(), *map(own, PLAIN))  # the nearest first


# %%
say(f"""
- On the idle path from h1 to h4 the report's round trip is 9.6 ms longer than twice the delays. It
  says that congestion, processing in routers and virtualisation could be the reason (4.5.2). Asking for addresses (ARP)
  explains {arp_ms:.1f} ms: one of 25 pings takes twice as long. Computing takes no time here, and nothing else remains,
  so the rest is probably its machine's. (In test case 4 it called the round trips of one virtual machine unrealistic,
  and took another: section 5.)
- Under load its round trips are about as long as those of queues that hold joined segments. Three pairs have on average
  {three_ms("offload"):.1f} ms where segmentation is left to the network card, {three_ms():.1f} ms where one packet is
  one frame, and {fmean(printed_of(4, 2, "rtt_ms")):.1f} ms in the report. Of its {len(as_ours)} means of pairs that
  share L2, {sum(as_ours)} lie between the least and the largest of ours. That of h1-h4 next to h8-h9 does not, and
  stays unexplained: it is {printed_of(4, 4, "rtt_ms", name="h1-h4")[0]:.1f} ms in the report, and
  {apart_ms.low:.1f} to {apart_ms.high:.1f} ms in ten repeats.
- How fairly two pairs share a link cannot be read from one run. In ten that differ in chance alone (other random
  numbers, and another pair first by half a second) Jain's index has a mean of
  {spread(shared("jain_index", "h1-h4+h2-h5"), 3)}, and what both carry together one of
  {spread(shared("sum_mbps", "h1-h4+h2-h5"))} Mbit/s. In {len(fairer)} of {len(sharing)} tests the report's flows share
  L2 more evenly than in any of our repeats, which the setting that is nearest otherwise does not explain.
- Under load round trips grow by a pair's own queue, and not by a router that has two pairs to handle (4.6.2, test 4):
  from h1 to h4 they are {shared("rtt_mean_ms", "h1-h4", "h1-h4").mean:.1f} ms where that pair sends alone, and
  {apart_ms.mean:.1f} ms next to h8-h9, which shares a router with it and no link.

In brackets behind a mean stand the least and the largest of the repeats, and sections are the report's.
""")

# %% [markdown]
# ## What the report concludes

# %%
page.claims()

# %% [markdown]
# A claim is judged in the setting nearest to the report's, in ten repeats: addresses are asked for (ARP), TCP segments
# are joined, and pairs start half a second apart (*all three* in *What explains the report's numbers*); a claim of test
# case 1, where the report's digits are those of known addresses, in two repeats as Linklab makes the network. As
# Linklab makes the network, with known addresses, a frame in each packet and pairs that start together, these come out
# otherwise:

# %%
rows = [
    (nearest.claim.says, nearest.verdict, plain.verdict, plain.because)
    for nearest, plain in zip(
        judged(CLAIMS, page.tables, partial=True),
        judged(CLAIMS, {name: judges.in_own_setting(it) for name, it in page.tables.items()}, partial=True),
        strict=True,
    )
    if plain.verdict not in (nearest.verdict, "not testable here")
]
columns = ("claim", "verdict", "as Linklab makes it", "measured there")
table(rows, columns) if rows else say("None was measured.")

# %%
page.how_judged()

# %% [markdown]
# ## What explains the report's numbers
#
# Three things were probably otherwise in the report's network than in Linklab's labs, which are made so that a packet
# is a frame, no address is asked for, and programs start together. All three of them are the setting nearest to the
# report's: on this page *ours* is measured in it, if nothing else is said. Beside it stand the network as Linklab makes
# it, and each of the three by itself:

# %%
rows = []
for quantity, metric, unit, digits in (
    ("rtt_ms", "rtt_mean_ms", "RTT (ms)", 1), ("throughput_mbps", "throughput_mbps", "TCP (Mbit/s)", 2),
):  # fmt: skip
    for name in (*LINKS, *PATHS):
        ours = [fixed(alone(metric, name, **it).mean, digits) for it in settings[:-1]]
        rows.append((f"{name}, {unit}", fixed(printed_alone[quantity][name], digits), *ours, "-"))
    for (case, test), pairs in tests.items():
        if theirs := printed_of(case, test, quantity):  # no pings in case 5
            of_all, what = (sum, "sum") if quantity == "throughput_mbps" else (fmean, "mean of pairs")
            each = [of_all(shared(metric, pairs, name, **it).mean for name in pairs_of(pairs)) for it in settings]
            rows.append((f"test {case}.{test}, {what}, {unit}", *(fixed(it, digits) for it in (of_all(theirs), *each))))
for at, pairs in sharing.items():
    ours = [fixed(shared("jain_index", pairs, **it).mean, 3) for it in settings]
    rows.append((f"test {named([at])}, Jain's index", fixed(printed_jain[at], 3), *ours))
columns = (
    "number", "report", "all three", "as Linklab makes it", "addresses asked for (ARP)", "segments joined (offload)",
    f"starts {NEAREST['start_offset_s']:g} s apart",
)  # fmt: skip
both, each = (shared("sum_mbps", THREE, **it).count for it in settings[1:3])
table(
    rows, columns,
    f"Means of {both} repeats with all three and as Linklab makes it, and of {each} with one of the three. Test 4.1 is "
    "test 1 of test case 4. A link or pair alone has no other to start after (-): there *all three* is the two others.",
)  # fmt: skip

# %% [markdown]
# *Addresses asked for*: the first of 25 pings waits for ARP on every link of its way. *Segments joined*: segmentation
# is left to the network card, as Linux does by itself, so several TCP segments travel as one packet, and a queue that
# counts packets holds more data. *Starts apart*: one pair starts after the other, as where a person starts each in a
# terminal; each is counted over its own 25 s, so the sum can be more than the link carries. That the report's network
# was so is likely and not known.

# %%
say(f"""
Round trips and sums speak for it, and fairness does not: Jain's index of the report's numbers is above the largest of
our {apart_ms.count} repeats with all three in tests {named(fairer)}. As Linklab makes the network the report's lies
between our least and largest in {len(fair_as_own)} of these {len(fairer)}. So segments were probably joined in the
report's network, and something that was not tried let its flows share more evenly. What is judged unfair on this page
is this setting, and not the report's own numbers.
""")

# %% [markdown]
# ## Test case 1: UDP at a chosen rate

# %%
udp, rows = page["report-udp"], []
losses = {(row["name"], row["asked"]): f"{row['percent']:g} % lost" for row in PUBLISHED["losses"]}
units = {"throughput_mbps": "Mbit/s", "transfer_mib": "MBytes"}
for between in PATHS:
    for asked in udp.select(between=between).levels("asked"):
        arrived, transferred, lost, percent = (
            udp.lookup(metric, between=between, asked=asked).mean
            for metric in ("throughput_mbps", "transfer_mib", "lost_packets", "loss_percent")
        )
        theirs = PUBLISHED.rows("prints", name=between, asked=asked)
        said = [f"{row['value']:g} {units[row['quantity']]}" for row in theirs]
        said += [losses[between, asked]] if (between, asked) in losses else []
        rows.append((
            between, asked, f"{transferred:g}", f"{arrived:g}", f"{lost:g} ({percent:.1f} %)", ", ".join(said),
        ))  # fmt: skip
columns = ("path", "asked of iperf", "iperf: MBytes", "iperf: Mbit/s", "lost", "report")
table(rows, columns, "iperf 2's own digits, at the server: 10 s, datagrams of 1470 bytes, 1512 in a frame.")

# %%
say(f"""
So the report's bandwidths and transfers come out to the digit, and so does its loss from h1 to h4; from h1 to h9 it
lost a little more. What the report's table calls the bandwidth, and its section 4.1 the capacity of a path, is the rate
that was asked for: iperf 2 reads the M of `-b 25M` as 1024 * 1024, and where nothing is lost it prints that rate for
any path. The table's 16.8 belongs to 16M, where the report's text says 15.

Asked for a bottleneck's own rate, iperf sends 1.048576 times as much, and the link passes 1470 of every 1512 bytes of
its rate. So {100 * (1 - 1470 / 1512 / 1.048576):.1f} % are too many, less what the queue holds.

Addresses are known here, as in the report's network from a pair's second run on. In a first run iperf's first datagrams
would wait for them and some would be lost, so that it would print less than the report does.
""")

# %% [markdown]
# ## Test cases 2 and 3: links and paths, one at a time

# %%
rows = [
    (
        it, fixed(floor_ms(it), 0), f"{printed_alone['rtt_ms'][it]:g}", alone("rtt_mean_ms", it),
        fixed(ceiling, 2), f"{printed_alone['throughput_mbps'][it]:g}", alone("throughput_mbps", it),
    )
    for it, ceiling in ceiling_mbps.items()
]  # fmt: skip
columns = (
    "link or path", "RTT: theory (ms)", "RTT: report (ms)", "RTT: ours (ms)", "TCP: ceiling (Mbit/s)",
    "TCP: report (Mbit/s)", "TCP: ours (Mbit/s)",
)  # fmt: skip
table(rows, columns, f"Ours: mean (least to largest) of {apart_ms.count} repeats, or one value where all agree.")


# %%
def compare(axes, found):
    """Draw the report's value and those of our repeats, a line for each name; return them in words."""
    for number, (theirs, ours) in enumerate(found.values()):
        report, repeats = ("report, one run", "ours, each repeat") if number == 0 else ("_", "_")
        axes.plot([theirs], [number], label=report, color=VERMILLION, marker="D", markersize=6, linestyle="none")
        axes.plot(
            ours, [number] * len(ours), label=repeats, color="#0067AD", marker="o", markersize=5, linestyle="none",
            markerfacecolor="white",
        )  # fmt: skip
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    legend(axes, columns=2)


def in_words(found, unit=""):
    return "; ".join(
        f"{name}: report {theirs:.1f}{unit}, ours {fmean(ours):.1f}{unit}" for name, (theirs, ours) in found.items()
    )


def beyond(name, theirs, ours):
    return theirs - floor_ms(name), [it - floor_ms(name) for it in ours.values]


idle = {it: beyond(it, printed_alone["rtt_ms"][it], alone("rtt_mean_ms", it)) for it in (*LINKS, *PATHS)}
loaded = {
    f"{name} (4.{test})": beyond(name, printed_of(4, test, "rtt_ms", name=name)[0], shared("rtt_mean_ms", pairs, name))
    for test, pairs in enumerate(SHARED, 1)
    for name in pairs_of(pairs)
}
words = f"Round trips beyond twice the delays, in ms. {in_words({**idle, **loaded})}."
figure, both = panels(words, 1, 2, height_inches=3.6)
for axes, found, title in zip(both, (idle, loaded), ("idle", "with TCP"), strict=True):
    label_axes(axes, f"RTT beyond the delays (ms), {title}", "", grid="x")
    compare(axes, found)
    axes.set_xlim(left=-1)
caption = "Mean round trips beyond twice the delays, idle (test cases 2 and 3) and while TCP sends (test case 4)."
page.figure("rtt", caption, figure)

# %%
found = {
    it: (
        100 * printed_alone["throughput_mbps"][it] / ceiling,
        [100 * mbps / ceiling for mbps in alone("throughput_mbps", it).values],
    )
    for it, ceiling in ceiling_mbps.items()
}
words = in_words(found, " %")
figure, axes = chart(words, x="share of the goodput ceiling (%)", y="", grid="x", height_inches=3.0)
compare(axes, found)
axes.axvline(100, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
caption = "TCP for 25 s as a share of what headers leave of the slowest link's rate (dotted: all of it)."
page.figure("throughput", caption, figure, f"Throughput by goodput ceiling. {words}.")

# %%
longest = alone("throughput_mbps", "h1-h9")
late = sum(it < 0.99 * longest.high for it in longest.values)
way_frames = rate_mbps("h1-h9") * 1000 * floor_ms("h1-h9") / 8 / 1514
say(f"""
The ceiling is what Ethernet, IPv4 and TCP headers leave of the slowest link's rate: 1448 of each 1514 bytes, since
TCP's timestamps are headers too, and Mininet's links count no frame checksum. A transfer of 25 s stays below it by
slow start, by the wait for the last acknowledgement, and by what it loses when its start overflows a queue.

The path from h1 to h9 has {way_frames:.0f} frames under way at L3's rate, and L3's queue has room for 33 packets. So
much depends on what is lost at the start: repeats have {longest.low:.2f} to {longest.high:.2f} Mbit/s, and {late} of
{longest.count} lie more than 1 % below the largest. (None of these is among the few repeats of a single thing in the
table of explanations.) Where segments are joined the queue holds more than 33 frames. From h1 to h9 and from h7 to h9
the report's throughput lies between ours with joined segments, as here, and with a frame in each packet. From h1
to h4 it lies below both, which nothing that was tried explains.
""")

# %% [markdown]
# ## Test case 4: several pairs at one time

# %%
rows = []
for (case, test), pairs in tests.items():
    for name in pairs_of(pairs):
        rtts, rates = (printed_of(case, test, quantity, name=name) for quantity in ("rtt_ms", "throughput_mbps"))
        rows.append((
            f"{case}.{test}", name, fixed(floor_ms(name), 0), f"{rtts[0]:g}" if rtts else "-",
            shared("rtt_mean_ms", pairs, name), " + ".join(f"{it:g}" for it in rates),
            shared("throughput_mbps", pairs, name),
        ))  # fmt: skip
columns = (
    "case.test", "pair", "idle RTT: theory (ms)", "RTT: report (ms)", "RTT: ours (ms)", "TCP: report (Mbit/s)",
    "TCP: ours (Mbit/s)",
)  # fmt: skip
table(
    rows, columns,
    f"Ours: mean (least to largest) of {apart_ms.count} repeats. In test case 5 the report did not ping (-); ours do, "
    "one packet a second.",
)  # fmt: skip

# %%
found = {
    f"{name} ({case}.{test})": (
        sum(printed_of(case, test, "throughput_mbps", name=name)), shared("throughput_mbps", pairs, name).values,
    )
    for (case, test), pairs in tests.items()
    for name in pairs_of(pairs)
}  # fmt: skip
words = f"Throughput of each pair, in Mbit/s. {in_words(found)}."
figure, axes = chart(words, x="throughput (Mbit/s)", y="", grid="x", height_inches=4.2)
compare(axes, found)
axes.set_xlim(left=0)
caption = "What each pair gets in test cases 4 and 5; in 5.1 h1-h4 has two connections, which are added here."
page.figure("sharing", caption, figure)

# %%
rows = []
for each in PUBLISHED["fairness"]:
    case, test = each["case"], each["test"]
    pairs = tests[case, test]
    rows.append((
        f"{case}.{test}", pairs.replace("+", ", "), f"{each['value']:g}", f"{printed_jain[case, test]:.3f}",
        spread(shared("jain_index", pairs), 3), fixed(sum(printed_of(case, test, "throughput_mbps")), 2),
        shared("sum_mbps", pairs),
    ))  # fmt: skip
columns = (
    "case.test", "pairs", "Jain's index: printed", "of the report's table", "ours", "sum: report (Mbit/s)",
    "sum: ours (Mbit/s)",
)  # fmt: skip
table(rows, columns)

# %%
l2_mbps = ceiling_mbps["L2"]
sums = {
    f"{case}.{test}": (sum(printed_of(case, test, "throughput_mbps")), shared("sum_mbps", pairs).mean)
    for (case, test), pairs in tests.items() if pairs != APART
}  # fmt: skip
theirs, ours = sums["4.2"]
say(f"""
L2 carries {l2_mbps:.2f} Mbit/s of data at one time, and the report's sums are more in tests
{", ".join(it for it, (mbps, _) in sums.items() if mbps > l2_mbps)}. Starts that lie apart explain such sums: who starts
first has the link to itself meanwhile, and who starts last in the end. Half a second is enough but for
the three pairs: of their {theirs - l2_mbps:.2f} Mbit/s more it brings {ours - l2_mbps:.2f}, so the report's starts
probably lay further apart there.

The report explains the longer round trips of its test 4 by router r3, which both pairs cross. Here each of the pairs
also pings and sends alone:
""")

# %%
rows = [
    (
        name, fixed(floor_ms(name), 0),
        *(shared(metric, it, name) for metric in ("rtt_mean_ms", "throughput_mbps") for it in (name, APART)),
    )
    for name in pairs_of(APART)
]  # fmt: skip
columns = (
    "pair", "idle RTT: theory (ms)", "RTT: alone (ms)", "RTT: together (ms)", "TCP: alone (Mbit/s)",
    "TCP: together (Mbit/s)",
)  # fmt: skip
table(rows, columns)

# %% [markdown]
# ## Test case 5: parallel connections

# %%
by_host = {it: shared("throughput_mbps", PARALLEL, it) for it in pairs_of(PARALLEL)}
theirs = [sum(printed_of(5, 1, "throughput_mbps", name=it)) for it in by_host]
printed_index = PUBLISHED.rows("fairness", case=5)[0]["value"]
ours = fmean(jain_index(list(each)) for each in zip(*(it.values for it in by_host.values()), strict=True))
say(f"""
Four connections share L2: two from h1 to h4, one from h2 to h5 and one from h3 to h6. So h1 sends
{by_host["h1-h4"].mean:.1f} Mbit/s where h2 sends {by_host["h2-h5"].mean:.1f} and h3 {by_host["h3-h6"].mean:.1f}. The
report says that its index of {printed_index:g} shows a fair share of the hosts (4.7.2), but that is the connections'.
For the three hosts its own numbers give {jain_index(theirs):.2f}, and ours {ours:.2f} on average.
""")

# %% [markdown]
# ## Where the report contradicts itself

# %%
inconsistencies(PUBLISHED.inconsistencies)

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()

# %% [markdown]
# The report's own numbers: `studies/report/published.toml`.
