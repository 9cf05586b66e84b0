# %% [markdown]
# # A flow's first packet, by controller

# %%
from linklab.labs.lab14.rules import QUESTIONS
from linklab.show.chart import lines
from linklab.study.notebook import open_page
from linklab.study.page import say, table
from studies.controllers.judges import CLAIMS, DISTANCE_MS, beyond_ms, waits
from studies.controllers.study import ADDRESSES, CONTROLLERS, EXACT, FRAME_FIRST, PATH, PROACTIVE, STUDIES

page = open_page("controllers", STUDIES, CLAIMS)
measured = page["controllers"]
rows = [1, 3, 5]
asked = {EXACT: 4, ADDRESSES: 3}
"""Frames of the first ping about which each switch asks: ARP request and reply, echo request, and echo reply."""
programs = {
    EXACT: "ovs-testcontroller",
    ADDRESSES: "ovs-testcontroller --wildcards",
    PATH: "os-ken, a program that knows the row: rules, then the frame",
    FRAME_FIRST: "the same: the frame, then rules",
    PROACTIVE: "ovs-testcontroller --with-flows",
}


def wait(controller, switches=3):
    return waits(measured, controller, switches).mean


def questions(controller, switches):
    """How many questions theory expects."""
    per_switch = asked.get(controller)
    return switches * per_switch if per_switch else 0 if controller == PROACTIVE else 1


beyond = beyond_ms(measured)
far = waits(measured, PATH, 5).values
twice = [it for it in far if it > 3 * DISTANCE_MS]
say(f"""
This page repeats nothing of a paper. The packet-size study (2016) leaves OpenFlow equipment and more complex topologies
to future work (its section V), to compare real networks with virtual ones. Here the network is virtual, and what is
compared are controllers: how long a flow's first packet waits depends on the rules that one writes. With the controller
{DISTANCE_MS} ms away and three switches in a row the first ping takes on average {wait(EXACT):.1f} ms longer than those
after it behind Open vSwitch's learning controller, {wait(ADDRESSES):.1f} ms behind the same one with rules for
addresses, {wait(PATH):.1f} ms behind one that writes the rules of the whole path at the first question, and
{wait(PROACTIVE):.2f} ms with rules in advance. **On virtual time computing takes no time**: all of this is how often a
controller is asked. How fast one computes is no part of it.
""")

# %% [markdown]
# ## What theory expects
#
# A frame that matches no rule goes to the controller where a switch is set up so, as here, and the controller answers
# (OpenFlow Switch Specification 1.3, sections 5.4 and 7.4.1). If the controller is *d* away, and Q questions follow
# each other, the first packet waits
#
#     W = 2 d Q
#
# What differs between controllers is Q. In a row of N switches a learning controller answers for the one switch that
# asks. The ping's four frames are an ARP request, its reply (RFC 826), the echo request and the echo reply. A rule that
# matches **every field** fits frames of one kind in one direction, so each switch asks about each frame: Q = 4 N. Where
# rules match **addresses**, the one that the ARP reply brings fits the echo reply as well: Q = 3 N. A controller that
# knows the **whole path** writes rules at all switches, for both directions, at the first question: Q = 1. Rules **in
# advance** leave nothing to ask: Q = 0.
#
# ## What was measured

# %%
cells = []
for controller in CONTROLLERS:
    there = measured.select(controller=controller).levels("switches")
    for switches in there:
        at = {"controller": controller, "switches": switches, "distance_ms": DISTANCE_MS}
        expected = questions(controller, switches)
        cells.append(
            (
                *((controller, programs[controller]) if switches == there[0] else ("", "")), switches, expected,
                measured.lookup("questions", **at), 2 * DISTANCE_MS * expected, measured.lookup("wait_ms", **at),
            )
        )  # fmt: skip
columns = (
    "rules match", "controller", "switches", "questions, theory", "questions, measured", "W, theory (ms)",
    "W, measured (ms)",
)  # fmt: skip
near = {"controller": EXACT, "switches": 3, "distance_ms": 1}
counted = [measured.lookup("wait_ms", controller=it, switches=3, distance_ms=DISTANCE_MS).count for it in programs]
table(
    cells, columns,
    f"The controller is {DISTANCE_MS} ms away. {max(counted)} seeds each, and {min(counted)} for *frame first* and *in "
    "advance*: mean (least to largest), or one value where all agree. `ping` prints three digits, from 100 ms on "
    "whole ones.",
)  # fmt: skip

# %%
drawn = {it: (rows, [wait(it, switches) for switches in rows]) for it in (EXACT, ADDRESSES, PATH, PROACTIVE)}
drawing = lines(
    "How much longer the first ping took", drawn, "switches in a row", "first ping less those after it (ms)",
    markers=True, limits={"ylim": (-5, None)},
)  # fmt: skip
drawing.axes[0].set_xticks(rows)
page.figure("waits", f"A first ping's wait, by what rules match. The controller is {DISTANCE_MS} ms away.", drawing)

# %%
say(f"""
Hosts h1 and h2 have the switches between them, on links without delay or limit. h1 sends four pings, half a second
apart; no host knows the other's address. `tc` delays all that passes between switches and controller, as in Lab 14.
Questions are counted in a capture of that link: the messages *packet in*. With rules for every field, three switches
and the controller {near["distance_ms"]} ms away ({measured.lookup("wait_ms", **near).count} seeds) W is
{measured.lookup("wait_ms", **near).mean:.2f} ms for {measured.lookup("questions", **near).mean:.0f} questions, where
theory expects {2 * near["distance_ms"] * questions(EXACT, near["switches"])} ms.

**A frame can overtake its rules.** Rules for the whole path and the frame leave the controller in the same instant and
take as long, whichever goes first (with three switches {wait(PATH):.2f} ms in {waits(measured, PATH, 3).count} runs and
{wait(FRAME_FIRST):.2f} ms in {waits(measured, FRAME_FIRST, 3).count}). Open vSwitch then carries out the messages of
each switch by themselves. In {len(twice)} of {len(far)} runs with five switches a switch met the frame before its rule
was in its table, and asked once more ({max(far):.1f} ms): in a capture of that run the question leaves after the rule
has arrived.
""")

# %% [markdown]
# ## What we find
#
# The claims are ours: *reproduced* says that one holds here.

# %%
page.claims()

# %%
say(f"""
**How it could come out otherwise.** The first claim fails with a controller that answers for the whole path
({wait(PATH, 1):.1f} ms with one switch, {wait(PATH, 5):.1f} ms with five). The second would fail for a packet that
nobody answers, as the first of a UDP stream: no echo reply comes, and either controller is asked three times a switch.

The third is by construction. A question takes {min(beyond):.3f} to {max(beyond):.3f} ms more than the way there and
back, which is how the lab's kernel wakes switch and controller; one that computes for a millisecond adds it to each
question. Chance has a hand in frames that overtake rules, and else in the last digit that `ping` prints: so the
intervals are narrow, and say nothing of other machines.

The controllers' names matter less than their rules: the learning switch that students write for os-ken in Lab 14
matches addresses as well, and is asked {QUESTIONS} times at two switches; that of POX (`forwarding.l2_learning`,
commit 5f82461, tried with one seed and not in the table) matches every field, and is asked 4 N times. POX is not in
the lab image. A clone of it below your folder is a level like any other, and so is a program of your own
(`openflow:osken-manager mine.py`):

    linklab study run controllers --set "controller=openflow:python3 pox/pox.py forwarding.l2_learning"
""")

# %%
page.how_judged()

# %% [markdown]
# ## Where these numbers come from

# %%
page.provenance()
