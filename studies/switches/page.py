# %% [markdown]
# # Switches: kinds of switch, VLANs and shares
#
# Figures 13 to 28 of F. Sans and E. Gamess, "Analytical Performance Evaluation of Different Switch Solutions" (2013),
# measured anew on the Linux bridge and on Open vSwitch with the kernel's datapath, with one in user space, and with a
# learning OpenFlow controller. The paper prints no numbers, only curves, so each figure of ours stands with what the
# paper's text says. Its switches were hardware (a Cisco Catalyst 3750) and PCs (Open vSwitch 1.10.0 on Debian 7.0,
# LiSA 2.0.1 on CentOS 6.3). Those are not here, and the paper prints no number of theirs: what is about them is not
# testable here, and is judged on your own numbers with `linklab study page switches --beside mine.csv`, in which the
# Cisco switch is called `cisco`.
#
# ## How it was measured
#
# All but the cost of a packet runs on **virtual time**, on which computing takes no time: the clock of a lab's Linux
# moves when all of its programs wait. A round trip is serialisation and queueing: every frame occupies each link for
# all its bytes (66 beside a datagram's payload: headers, checksum, preamble and gap; on the trunk 4 more), and is
# passed on only when it is there whole. **What a switch needs to hand a packet on is not in these times.** That kinds
# of switch are alike here says that they forward alike, not that they are equally fast: such findings are *decided by
# construction*.
#
# Open vSwitch in user space is another matter. Its process sleeps until a packet comes, and the kernel wakes sleepers
# a little late. While it is awake it reads its ports one after the other, so packets that come meanwhile leave in the
# ports' order, whichever came first; at the higher rate that decides which of them finds a slot in a full queue. It
# is awake for as long as its questions for the time move the lab's clock, and not for as long as it computes: **its
# shares and losses at 100 Mbit/s are to be read with that in mind**, and no verdict rests on them.
#
# Links serialise as cables do (`overhead_bytes=24` of a link). Mininet's own links are token buckets
# (`--set link=token-bucket`): a frame that comes alone passes at once. Queues hold 100 packets; the paper does not say
# what its own were. Where chance has a part (throughput, shares, loaded round trips) every kind of switch has random
# numbers of its own, from several seeds (1, 2, ... of the bridge, 101, ... and 201, ... of Open vSwitch's two kinds).
#
# The paper's PC1 to PC4 are h1 to h4, and its T is t1. The additional flow and the exchanges go from PC1 to PC2 within
# a VLAN, and from PC1 to PC3 between VLANs. A round trip is the time of 100 exchanges, one after the other, divided by
# their number, after two that do not count; beside other traffic of 50. Datagrams of the fairness testbed carry 1470
# bytes, as iperf's do unless it is told otherwise; the paper does not say.
#
# ## What the paper found, and what we measured

# %%
from math import ceil

from linklab.network import path
from linklab.network.catalogue import dual_stack
from linklab.network.theory import serialisation_ms
from linklab.show.chart import BLACK, BLUE, BLUISH_GREEN, ORANGE, chart, label_axes, legend, level, panels, told_apart
from linklab.study.claims import compared
from linklab.study.declare import OPENFLOW
from linklab.study.notebook import open_page
from linklab.study.page import fixed, inconsistencies, say, significant, spread, table
from studies.switches.judges import CLAIMS, FIGURES, PUBLISHED
from studies.switches.study import (
    FASTER,
    KERNEL,
    NONE,
    STUDIES,
    USER,
    ends_of,
    ip_version,
    load_of,
    network_of,
)
from studies.switches.theory import additional_theory_mbps, loaded_rtt_theory_ms, rtt_theory_ms, shares_theory_mbps

page = open_page("switches", STUDIES, CLAIMS)
kinds = {
    "bridge": "Linux bridge",
    "ovs": "Open vSwitch, kernel",
    USER: "Open vSwitch, user space",
    OPENFLOW: "Open vSwitch, learning controller",
    NONE: "no switch, one cable",
}


def name_of(switch):
    return kinds.get(switch, switch)


def ranged(values, digits):
    mean, low, high = (fixed(it, digits) for it in (values.mean, values.low, values.high))
    return mean if low == high else f"{mean} ({low} to {high})"


def with_text(quantity, show):
    """Each of the paper's figures of a quantity: what its text says, and our figure and table."""
    return say(*(
        block
        for it in FIGURES
        if it.quantity == quantity
        for block in (f"**Figure {it.number}** ({it.setting}). The paper: {it.says}", *show(it))
    ))  # fmt: skip


page.claims()

# %% [markdown]
# What is said of software switches is judged in the setting nearest to the paper's: kinds in the kernel, as both of its
# own were, on links that serialise as cables do, by the means of five seeds where chance has a part. In brackets stands
# the setting of the number that decides: switch, testbed, communication, rate in Mbit/s and payload in bytes, but for
# what is compared; of shares switch, rate, offers, the senders' links and queue (both offers and links in percent of
# the rate, the queue in packets), and *dithered*, which is out of step. *The whole bottleneck* is its rate with
# headers, checksum, preamble and gap.
#
# The paper measured hardware alone. *either* marks what an emulation can show as well: our tables judge it, and your
# own of hardware next to them (`linklab study page switches --beside mine.csv`).

# %%
page.how_judged()

# %% [markdown]
# ## Round-trip times

# %%
STEP_US = 0.25  # of a lab's clock, on which all of its timers end
ASKING_US = 1.0


def on_the_clock_ms(testbed, communication, rate_mbps, payload_bytes, protocol):
    """Theory's round trip as a lab's clock counts it: each link's time ends on a step, and the programs take some."""
    network, ends = dual_stack(network_of(testbed, rate_mbps)), ends_of(communication)
    version = ip_version(protocol)
    hops = [hop for it in (ends, ends[::-1]) for hop in path(network, *it, ip_version=version).hops]
    each_us = (1000 * serialisation_ms(network, hop.link, payload_bytes, version) for hop in hops)
    return (sum(STEP_US * ceil(round(it / STEP_US, 6)) for it in each_us) + ASKING_US) / 1000


in_kernel = {
    (switch, *at): values.mean
    for (switch, *at), values in page["switches-rtt"]
    .each("rtt_mean_ms", "switch", "testbed", "communication", "rate_mbps", "payload_bytes", "protocol")
    .items()
    if switch in KERNEL
}
off_us = max(1000 * abs(it - on_the_clock_ms(*at)) for (_, *at), it in in_kernel.items())
over_us = [1000 * (it - rtt_theory_ms(*at)) for (_, *at), it in in_kernel.items()]
say(f"""
*Theory* is serialisation alone: payload and headers over each link of the way there and of the way back, four links
behind one switch and eight by the router on a stick. Kinds in the kernel take {min(over_us):.1f} to {max(over_us):.1f}
us more, at either rate and over either way. These are the clock's: timers end on its steps of {STEP_US} us, so each
link takes as many whole steps; and {ASKING_US:g} us goes to the programs that exchange, whose questions to the clock
and waits take a step each. So counted, all {len(in_kernel)} round trips of these kinds come out within {off_us:.2f} us.
""")


# %%
def measured(figure):
    """What was measured for a figure by kind of switch and payload, the hardware's numbers after ours."""
    rtt = figure.quantity == "rtt"
    study, metric = ("switches-rtt", "rtt_mean_ms") if rtt else ("switches-throughput", "additional_mbps")
    levels = {"testbed": figure.testbed, "communication": figure.communication, "rate_mbps": figure.rate_mbps}
    levels |= {"protocol": "ipv4"} if rtt else {}
    curves = {}
    for name, whose in ((study, ""), (compared(study), " (hardware)")):
        if name in page.tables and len(page[name].select(**levels)):
            for (switch, payload), values in page[name].each(metric, "switch", "payload_bytes", **levels).items():
                curves.setdefault(name_of(switch) + whose, {})[payload] = values
    return curves


def by_payload(figure):
    """Curves of one of the paper's figures, and their numbers."""
    curves, rtt = measured(figure), figure.quantity == "rtt"
    what, unit, digits, of = (
        ("round trip", "ms", 3, rtt_theory_ms) if rtt else ("additional flow", "Mbit/s", 2, additional_theory_mbps)
    )
    payloads = sorted({payload for curve in curves.values() for payload in curve})
    theory = {it: of(figure.testbed, figure.communication, figure.rate_mbps, it) for it in payloads}
    means = {name: [it.mean for it in curve.values()] for name, curve in curves.items()}
    told = (f"{name} {min(each):.{digits}f} to {max(each):.{digits}f}" for name, each in means.items())
    alt_text = f"{what.capitalize()} in {unit} by payload, {figure.setting}: {'; '.join(told)}"

    drawing, axes = chart(alt_text, x="UDP payload (bytes)", y=f"{what} ({unit})")
    for name, curve, style in told_apart(curves, markers=True):
        apart = [[it.mean - it.low for it in curve.values()], [it.high - it.mean for it in curve.values()]]
        axes.errorbar(list(curve), means[name], apart, label=name, capsize=3, **style)
    axes.plot(payloads, list(theory.values()), color=BLACK, linestyle=(0, (1, 2)), linewidth=1.2, label="theory")
    note = ""
    if not rtt:
        offered = load_of(figure.testbed, figure.rate_mbps)["additional_mbps"]
        level(axes, offered, f"offered: {offered:g}")
        counts = sorted({values.count for curve in curves.values() for values in curve.values()})
        note = f"Mean of {' or '.join(map(str, counts))} seeds, with the least and the largest."
    axes.set_xticks(payloads)
    axes.set_ylim(bottom=0)
    legend(axes)
    yield page.figure(f"figure-{figure.number}", f"Our figure {figure.number}: {figure.setting}.", drawing)

    rows = [
        (it, fixed(theory[it], digits), *(ranged(c[it], digits) if it in c else "" for c in curves.values()))
        for it in payloads
    ]
    yield table(rows, ("payload (bytes)", f"theory ({unit})", *(f"{name} ({unit})" for name in curves)), note)


with_text("rtt", by_payload)

# %%
learning = {
    "switch": OPENFLOW, "testbed": "l3-switch", "communication": "intra-vlan", "rate_mbps": 100, "protocol": "ipv4",
    "payload_bytes": 1440,
}  # fmt: skip
most, least = (page["switches-rtt"].lookup(it, **learning).mean for it in ("rtt_max_ms", "rtt_min_ms"))
say(f"""
With a **learning controller** the first packets of a flow, and the requests for addresses before them, go to the
controller and come back: with 1440 bytes at 100 Mbit/s the longest exchange took {most:.3f} ms, and the shortest
{least:.3f} ms, as with the other switches. Such a controller knows of no VLANs, so it is measured within one.
""")

# %% [markdown]
# ### IPv6
#
# The paper's tool exchanges IPv4 or IPv6 packets (section 4.1), and its figures do not say which. Theory says that
# IPv6's header, 20 bytes longer, adds its serialisation on every link, and nothing else: 64 us over four links at 10
# Mbit/s, and 6.4 at 100, of which the clock's steps make 6 or 7.

# %%
factors = ("testbed", "communication", "rate_mbps", "payload_bytes")
ipv6, ipv4 = (
    page["switches-rtt"].each("rtt_mean_ms", "switch", *factors, protocol=protocol) for protocol in ("ipv6", "ipv4")
)
switches = [switch for switch in dict.fromkeys(key[0] for key in ipv6) if switch != OPENFLOW]
first = switches[0]
rows = [
    (
        *key, fixed(rtt_theory_ms(*key, "ipv6"), 3),
        *(fixed(ipv6[switch, *key].mean, 3) if (switch, *key) in ipv6 else "" for switch in switches),
        fixed(1000 * (ipv6[first, *key].mean - ipv4[first, *key].mean), 1),
    )
    for switch, *key in ipv6
    if switch == first
]  # fmt: skip
columns = (
    "testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "theory (ms)",
    *(f"{name_of(it)} (ms)" for it in switches), f"{name_of(first)}: more than IPv4 (us)",
)  # fmt: skip
table(rows, columns)

# %% [markdown]
# ### Beside other traffic
#
# Whether the paper's round trips had background traffic beside them it does not say: its section 4.1 has two hosts
# alone, but section 5.1.1 varies the payload of the additional flow, which is the one beside the background. So here is
# the round trip while each host sends the background of sections 4.2.1 and 4.2.2. The mean has to lie
# between the idle round trip and that of packets which come at random instants (M/G/1 at each output port:
# serialisation and the Pollaczek-Khinchine mean wait), because constant rates come more regularly. The exchanges' own
# packets are not in that theory: on the trunk of the router on a stick, which the background nearly fills and each
# exchange passes four times, they make the round trip longer than it.

# %%
loaded = page["switches-loaded"]
longest = loaded.each("rtt_max_ms", "switch", *factors)
rows = [
    (
        name_of(switch), *key, fixed(rtt_theory_ms(*key), 3), ranged(values, 3),
        fixed(loaded_rtt_theory_ms(*key), 3), fixed(longest[switch, *key].high, 3),
    )
    for (switch, *key), values in loaded.each("rtt_mean_ms", "switch", *factors).items()
]  # fmt: skip
columns = (
    "switch", "testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "idle, theory (ms)", "loaded, mean (ms)",
    "random arrivals, theory (ms)", "loaded, longest (ms)",
)  # fmt: skip
table(rows, columns, f"Mean of {next(iter(longest.values())).count} seeds, with the least and the largest.")

# %% [markdown]
# ## Throughput of the additional flow
#
# *Theory* shares each full link in proportion: of everything that is offered to it, with headers, rate / offered
# passes, and what one link drops is not offered to the next. Open vSwitch in user space takes a computer long, so it
# was measured with the smallest and the largest payload alone: its cells between them are empty.

# %%
with_text("throughput", by_payload)

# %% [markdown]
# ## Shares at the bottleneck
#
# Senders were paced in two ways. *Out of step*: every packet leaves at a random instant of its turn, so the rate is
# exact and no two senders keep step, as with PCs. *In exact step*: every packet leaves at the instant that the rate
# asks for. A full queue takes whichever packet comes when a slot is free, and senders in step meet it in the same
# order for ever: one gets all that it sends, another nearly nothing. S. Floyd and V. Jacobson described that in 1992
# as phase effects. It happens on every kind of switch, and looks like what the paper saw of the Cisco switch: the
# switch need not be unfair for it, senders in step are enough.
#
# In the figures *OVS* is Open vSwitch in the kernel and *user* the one in user space; bars are senders out of step,
# diamonds the same senders in step.


# %%
def shares_of(study, figure):
    """What each sender gets in Mbit/s, by kind of switch and setting."""
    found = {}
    for sender in range(1, figure.senders + 1):
        by_run = page[study].each(
            "share_mbps", "switch", "offered_percent", of=f"h{sender}", rate_mbps=figure.rate_mbps,
            sender_link_percent=100,
        )  # fmt: skip
        for (switch, setting), values in by_run.items():
            if setting in figure.offered_percent:
                found.setdefault(switch, {}).setdefault(setting, []).append(values)
    return found


def draw_shares(figure, loose, stepped):
    """Bars of senders out of step with their range, diamonds of the same ones in step, lines in proportion."""
    settings = [it for it in figure.offered_percent if all(it in kind for kind in loose.values())]
    count = figure.senders
    wide = 0.86 / (len(loose) * (count + 0.6))
    alt_text = f"Shares in Mbit/s, {figure.setting}; the numbers stand in the table below it"
    drawing, axes = chart(alt_text, x="", y="share at t1 (Mbit/s)", height_inches=4.0)
    ticks = {}
    for kind, switch in enumerate(loose):
        starts = [number - 0.43 + kind * (count + 0.6) * wide for number in range(len(settings))]
        short = {"ovs": "OVS", USER: "user"}.get(switch, switch)
        ticks |= {start + count * wide / 2: short for start in starts}
        for sender, (colour, hatch) in enumerate(((BLUE, ""), (ORANGE, "///"), (BLUISH_GREEN, "..."))[:count]):
            at = [start + (sender + 0.5) * wide for start in starts]
            got = [loose[switch][setting][sender] for setting in settings]
            fair = [shares_theory_mbps(setting, figure.rate_mbps)[sender] for setting in settings]
            errors = ([it.mean - it.low for it in got], [it.high - it.mean for it in got])
            axes.bar(at, [it.mean for it in got], 0.92 * wide, yerr=errors, color=colour, hatch=hatch, capsize=2,
                     edgecolor="white", label="" if kind else f"h{sender + 1}")  # fmt: skip
            axes.hlines(fair, [it - wide / 2 for it in at], [it + wide / 2 for it in at], color=BLACK, linewidth=1.6,
                        label="" if kind or sender else "in proportion")  # fmt: skip
            if all(setting in stepped.get(switch, {}) for setting in settings):
                axes.plot(at, [stepped[switch][setting][sender].mean for setting in settings], marker="D",
                          markersize=5, color="white", markeredgecolor=BLACK, linestyle="",
                          label="" if kind or sender else "in exact step")  # fmt: skip
    axes.set_xticks(list(ticks), list(ticks.values()), fontsize=7)
    axes.set_xticks(range(len(settings)), [f"\n{figure.offered(it)}" for it in settings], minor=True)
    axes.tick_params(axis="x", which="minor", length=0)
    legend(axes, columns=count + 2)
    return page.figure(f"figure-{figure.number}", f"Our figure {figure.number}: {figure.setting}.", drawing)


def in_proportion(percent, rate_mbps):
    return " / ".join(map(significant, shares_theory_mbps(percent, rate_mbps)))


def by_offer(figure):
    """Shares of one of the paper's figures, and their numbers."""
    loose, stepped = (shares_of(study, figure) for study in ("switches-fairness", "switches-step"))
    yield draw_shares(figure, loose, stepped)
    rows = [
        (figure.offered(percent), in_proportion(percent, figure.rate_mbps), *(
            " / ".join(spread(it, 3) for it in found.get(switch, {}).get(percent, ()))
            for switch in loose
            for found in (loose, stepped)
        ))
        for percent in figure.offered_percent
    ]  # fmt: skip
    names = [text for switch in loose for text in (name_of(switch), f"{name_of(switch)}, in step")]
    seeds = max(it.count for kind in loose.values() for shares in kind.values() for it in shares)
    note = f"Payload that arrives: mean of {seeds} seeds, with the least and the largest; in step, one run."
    yield table(rows, ("offered (Mbit/s)", "in proportion", *names), note)


with_text("shares", by_offer)

# %% [markdown]
# Out of step the slower of two senders still gets less than its share, because the faster one's own link is nearly
# full: its packets follow each other at the bottleneck's own pace, each just when a slot is free. Where the senders'
# links are ten times as fast, their packets come at random instants, and shares come close to proportion:

# %%
fairness, at = page["switches-fairness"], {"switch": "bridge", "sender_link_percent": FASTER}
rows = []
for percent, rate_mbps in fairness.each("bottleneck_mbps", "offered_percent", "rate_mbps", **at):
    run = {"offered_percent": percent, "rate_mbps": rate_mbps, "switch": "bridge"}
    got = [
        " / ".join(
            spread(fairness.lookup("share_mbps", of=f"h{sender}", sender_link_percent=link_percent, **run), 3)
            for sender in range(1, percent.count("/") + 2)
        )
        for link_percent in (100, FASTER)
    ]
    rows.append((percent, in_proportion(percent, rate_mbps), *got))
columns = (
    "offered (% of the rate)", "in proportion (Mbit/s)", "links of that rate (Mbit/s)",
    "links ten times as fast (Mbit/s)",
)  # fmt: skip
table(rows, columns)

# %% [markdown]
# ## The flat round trip
#
# Serialisation alone makes a round trip grow with its payload, on every kind of switch. So something in the paper's
# PCs must have hidden that. Its cards (Intel PRO/1000) have a driver, e1000e, which at 10 and 100 Mbit/s allows each
# card 4000 interrupts a second: none within 250 us of the one before (Linux,
# drivers/net/ethernet/intel/e1000e/netdev.c, `e1000_set_itr`). We tried that: a program takes over two ports of the
# bridge and holds its interrupts back.

# %%
by_cards = {}
measured_ms = page["switches-interrupts"].each("rtt_mean_ms", "rate_mbps", "cards", "payload_bytes")
for (rate, cards, payload), values in measured_ms.items():
    by_cards.setdefault(rate, {}).setdefault(cards, {})[payload] = values.mean
cards = list(next(iter(by_cards.values())))
rates = " and ".join(map(str, by_cards))
alt_text = f"Round trip by payload with {', '.join(cards)} network cards, at {rates} Mbit/s"
drawing, all_axes = panels(alt_text, 1, len(by_cards))
for axes, (rate, curves) in zip(all_axes, by_cards.items(), strict=True):
    for label, curve, style in told_apart(curves, markers=True):
        axes.plot(list(curve), list(curve.values()), label=label, **style)
    axes.set_ylim(bottom=0)
    label_axes(axes, f"UDP payload (bytes), {rate} Mbit/s", "round trip (ms)")
    legend(axes)
page.figure("interrupts", "A PC as a switch, with its cards' interrupts held back.", drawing)

# %%
rows = [
    (rate, payload, *(fixed(curves[it][payload], 3) for it in cards))
    for rate, curves in by_cards.items()
    for payload in curves[cards[0]]
]
table(rows, ("rate (Mbit/s)", "payload (bytes)", *(f"{it} (ms)" for it in cards)))

# %% [markdown]
# *Throttled*: a counter starts with each interrupt, as Intel's manuals have it. A round trip then grows half as fast,
# and is no longer proportional to the payload. *Ticking*: interrupts come at fixed instants an interval apart, those
# of the second card in between. A round trip is then a whole number of ticks, the same for ranges of payloads. At 10
# Mbit/s a frame takes longer than a tick, and the steps are hardly seen. **That is the paper's picture, but no
# proof**: what its cards did is not known, their phases are ours, and a host's own card holds interrupts back as well.
#
# ## What a packet costs the processor
#
# What virtual time leaves out can be counted: the processor time that the whole lab uses for a datagram, with a switch
# on its path and without. **This depends on the machine** and on what else it does. The lab's kernel runs as an
# ordinary process (user-mode Linux), where a change between programs costs far more than on bare metal: the order of
# the kinds means more than the numbers.

# %%
cost_us = page["switches-cost"].each("cpu_us_per_packet", "switch", "communication", "payload_bytes")
bare_us = {payload: values for (switch, _, payload), values in cost_us.items() if switch == NONE}
rows = [
    (
        name_of(switch), communication, payload, fixed(values.mean, 0),
        "" if switch == NONE else fixed(values.mean - bare_us[payload].mean, 0),
    )
    for (switch, communication, payload), values in cost_us.items()
]  # fmt: skip
machine = page["switches-cost"].about["machine"]
apart_us = max(values.high - values.low for values in bare_us.values())
columns = ("switch", "communication", "payload (bytes)", "CPU per datagram (us)", "more than without (us)")
table(
    rows, columns,
    f"Mean of {next(iter(bare_us.values())).count} repeats on a machine with an {machine['processor']} of "
    f"{machine['cores']} cores. Without a switch they lie up to {apart_us:.0f} us apart: less is no difference.",
)  # fmt: skip

# %% [markdown]
# ## Where the paper contradicts itself

# %%
inconsistencies(PUBLISHED.inconsistencies)

# %% [markdown]
# ## Where the numbers come from

# %%
done = (
    f"{name} {it.about['points_done']} of {it.about['points']}"
    for name, it in page.ours.items()
    if "points_done" in it.about
)
measured_points = ", ".join(done) or "unknown"
say(f"""
Points that were measured of each study (a setting and a repeat each): {measured_points}. What is missing is measured
by the commands below, which go on where they ended.
""")

# %%
page.provenance()
