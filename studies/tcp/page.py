# %% [markdown]
# # TCP versions through the switches
#
# **This is not of the switches paper, but what its future work asks for** (section 6: "different versions of TCP [15]
# when passing through the studied switch solutions"). Each sender of the paper's fairness testbed (4.2.3; our
# [figures 25 to 28](switches.md#shares-at-the-bottleneck)) has a TCP connection in place of its datagrams: hosts in one
# VLAN send to t1 in another, the switch routes between them, and all fill t1's link of 10 Mbit/s. The paper has two or
# three senders. Ours are four of one version, h1 to h4, on the Linux bridge and on Open vSwitch in the kernel (ovs), or
# BBR (h1) beside CUBIC (h2), on the bridge alone.

# %%
from linklab.show.chart import BLACK, BLUE, VERMILLION, dots, label_axes, legend, panels
from linklab.study.claims import by_repeat
from linklab.study.notebook import open_page
from linklab.study.page import fixed, say, spread, table
from studies.tcp.judges import (
    CEILING_MBPS,
    CLAIMS,
    LINKS,
    NAMES,
    QUEUES,
    cubic_percent,
    furthest_percent,
    idle_rtt_ms,
    model_percent,
    of_four,
)
from studies.tcp.study import KERNEL, KNOWN, LATER, STUDIES, TCP, TOGETHER, VERSIONS

page = open_page("tcp", STUDIES, CLAIMS)
tcp = page["tcp"]
KINDS = {"bridge": "Linux bridge", "ovs": "Open vSwitch"}
four_s, two_s = TCP.factors["duration_s"]
settings = [(version, kind, TOGETHER) for version in VERSIONS for kind in KERNEL]
mixed = [(queue, link) for queue in QUEUES for link in LINKS]
say(f"""
Unless another condition is named, links are cables of 10 Mbit/s (headers, preamble and gap count), every port's queue
holds 100 packets, and senders start together, by iperf3 with Linux's own versions of TCP, on **virtual time**. An idle
round trip of a full segment takes {idle_rtt_ms(100):.1f} ms, or {idle_rtt_ms(1000):.1f} ms where senders' links are ten
times as fast. Four senders run for {four_s} s, BBR beside CUBIC for {two_s} s; the last two thirds count. Every number
is of ten runs, each with a seed of its own.

## What theory expects

- *Shares.* Reno's senders (RFC 5681) add alike and cut alike, so they come to equal shares (D. Chiu, R. Jain, 1989);
  CUBIC's do where round trips are equal (RFC 9438), BBR's when they empty the queue together (N. Cardwell and others,
  2016). Vegas keeps two to four packets of each in the queue (L. Brakmo, L. Peterson, 1995), so one may get twice what
  another gets. How even a run of {four_s} s is, none of them says.
- *Sum.* A queue that holds more than the path does is not empty after a window is halved (G. Appenzeller, I. Keslassy,
  N. McKeown, 2004), so the link stays full: {CEILING_MBPS:.3f} Mbit/s of data.
- *BBR beside CUBIC* (R. Ware and others, IMC 2019). Of a queue of q packets, X times what the path holds, CUBIC keeps
  1/2 - 1/(2X) - 4/q, and as much of the link. Every 10 s BBR is silent until a full queue is empty, for 200 ms and for
  a round trip, and all is CUBIC's. That is {model_percent(100, 100):.0f} % with 100 packets and
  {model_percent(10, 100):.0f} % with 10; {model_percent(100, 1000):.0f} and {model_percent(10, 1000):.0f} % where
  senders' links are ten times as fast. This model knows rates and no single packets.
- *Switches.* On virtual time a switch in the kernel takes no time, so its kind should matter to a flow's first packets
  alone: about these Open vSwitch asks its program in user space. A Vegas sender takes the shortest round trip that it
  has seen for the path's own; one that never saw the queue empty keeps more packets in it than the others do (R. La, J.
  Walrand, V. Anantharam, 1999).

## What we find
""")

# %%
page.claims()


# %%
def h3_mbps(*setting):
    return spread(of_four(tcp, "share_mbps", *setting, of="h3"), 3)


say(f"""
*Evenly* is that no share is more than 10 % off a quarter. This and the other thresholds are our own. A claim is
*reproduced* if it holds in more than half of all repeats that there could be, by the interval (Clopper and Pearson;
Welch's for a difference), for both switches or queues, and *not reproduced* if not.

**BBR is even in every run, Reno and CUBIC in few or none, and Vegas by how its senders start.** Together on the bridge
Vegas is the most even of all; on Open vSwitch h3 gets {h3_mbps("vegas", "ovs")} Mbit/s. Where each has sent for a
second before, so that the switch knows the flows, h3 gets {h3_mbps("vegas", "ovs", KNOWN)}; on the bridge, where it
starts 50 ms after the others, {h3_mbps("vegas", "bridge", LATER)}. So we take it for the doing of the first packets,
whose times were not looked at: a sender that a switch seems to favour may be the one that came last. With Reno and
CUBIC ten runs do not tell whether the kind of switch matters.

**Links that are all alike, as the paper's are, turn BBR beside CUBIC round.** With a queue of 10 packets the model
leaves BBR nearly all. With senders' links ten times as fast BBR gets it, and CUBIC keeps
{cubic_percent(tcp, 10, 1000).mean:.0f} %; with links alike CUBIC keeps {cubic_percent(tcp, 10, 100).mean:.0f} %. The
shorter round trip is in the model, so we take it for a phase effect (S. Floyd, V. Jacobson, 1992), as with
[our senders of datagrams](switches.md#shares-at-the-bottleneck): CUBIC's packets would come just when a slot of the
full queue is free, and BBR's, which leave by a clock, when none is. Single packets were not looked at.
""")

# %%
drawing, (evenness, beside) = panels(
    "Left, how far the furthest of four shares is from a quarter, in each run; the numbers stand in the claims. Right, "
    "CUBIC's share beside BBR: "
    + "; ".join(
        f"{queue} packets, {LINKS[link]} {spread(cubic_percent(tcp, queue, link), 2)} % (model "
        f"{model_percent(queue, link):.0f} %)"
        for queue, link in mixed
    ),
    1, 2,
)  # fmt: skip
styles = {"bridge": (BLUE, "o"), "ovs": (VERMILLION, "s")}
for version, kind, start in settings:
    at = VERSIONS.index(version) + 0.3 * (KERNEL.index(kind) - 0.5)
    label = KINDS[kind] if version == VERSIONS[0] else ""
    dots(evenness, at, furthest_percent(tcp, version, kind, start).values, *styles[kind], label)
evenness.set_xticks(range(len(VERSIONS)), [NAMES[it] for it in VERSIONS])
label_axes(evenness, "four senders of a version, started together", "share furthest from a quarter (% off)")
evenness.set_ylim(bottom=0)
legend(evenness, columns=1)
for number, (queue, link) in enumerate(mixed):
    dots(beside, number, cubic_percent(tcp, queue, link).values, BLUE, "o", "" if number else "a run")
    model = model_percent(queue, link)
    beside.plot([number - 0.3, number + 0.3], [model] * 2, color=BLACK, label="" if number else "model")
beside.set_xticks(range(len(mixed)), [f"{queue},\n{'alike' if link == 100 else 'faster'}" for queue, link in mixed])
beside.set_ylim(0, 103)
label_axes(beside, "queue (packets), senders' links", "CUBIC's share beside BBR (%)")
legend(beside)
page.figure("shares", "Left: four senders, queue of 100 packets, links alike. Right: BBR beside CUBIC.", drawing)


# %%
def by_size(setting):
    """Each run's largest to least share, as means over the runs."""
    runs = by_repeat([of_four(tcp, "share_mbps", *setting, of=f"h{number}") for number in (1, 2, 3, 4)])
    ordered = (sorted(run, reverse=True) for run in runs)
    return " / ".join(fixed(sum(it) / len(runs), 2) for it in zip(*ordered, strict=True))


rows = [
    (NAMES[version], KINDS[kind], start, by_size((version, kind, start)),
     spread(of_four(tcp, "retransmitted_segments", version, kind, start), 3))
    for version, kind, start in [*settings, ("vegas", "ovs", KNOWN), ("vegas", "bridge", LATER)]
]  # fmt: skip
table(
    rows,
    ("four of", "switch", "start", "largest to least share (Mbit/s)", f"segments sent again in {four_s} s"),
    "Means of ten runs, with the least and the largest. Where h3 starts later its time ends later too, so its row need "
    "not add up to what the link carries. Why Reno sends more again on Open vSwitch was not looked into.",
)

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
