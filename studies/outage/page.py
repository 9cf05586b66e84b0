# %% [markdown]
# # A film over a ring in which a cable fails

# %%
from linklab.measure import Clip
from linklab.show.chart import lines
from linklab.study.notebook import open_page
from linklab.study.page import say, table
from studies.outage.judges import CLAIMS, REACTION_MS
from studies.outage.study import (
    BFD,
    BFD_MS,
    BFD_MULTIPLIER,
    CUT_S,
    DETECTIONS,
    NAMES,
    QUICK,
    STATIC,
    STEP_S,
    STUDIES,
    USUAL,
    cut_s,
)

page = open_page("outage", STUDIES, CLAIMS)
outage = page["outage"]


def of(metric, routing):
    return outage.lookup(metric, routing=routing)


film = Clip(duration_s=10)
gap, spoilt = ({it: of(metric, it) for it in NAMES} for metric in ("gap_ms", "spoilt_pictures"))
say(f"""
This page repeats nothing of a paper. The multimedia study (2015) names routing protocols as a further case for its
comparison of real and virtual networks, and more complex topologies as future work (its section 5). Here the network is
virtual, and what is compared are ways of routing. A film of {film.duration_s:g} s crosses Lab 15's ring, and a cable on
its path fails for {CUT_S} s without any interface noticing. On average nothing arrives for {gap[STATIC].mean:.0f} ms
with static routes, for {gap[QUICK].mean:.0f} ms with OSPF (Hellos every second, dead after two), and for
{gap[BFD].mean:.0f} ms with BFD besides. Of {film.frames} pictures {spoilt[STATIC].mean:.0f}, {spoilt[QUICK].mean:.0f}
and {spoilt[BFD].mean:.0f} are spoilt: what is damaged stays so until the next keyframe. So OSPF spares
more than it shortens the gap ({spoilt[STATIC].mean / spoilt[QUICK].mean:.1f} times fewer pictures are spoilt than with
static routes, in a gap {gap[STATIC].mean / gap[QUICK].mean:.1f} times shorter), and BFD less
({spoilt[QUICK].mean / spoilt[BFD].mean:.1f} times fewer than with OSPF, in a gap
{gap[QUICK].mean / gap[BFD].mean:.1f} times shorter).
""")

# %% [markdown]
# ## What theory expects
#
# A static route stays as it is: the gap lasts as long as the failure. OSPF sends a Hello each *hello interval*, and
# declares a neighbour down when none came for one *dead interval* (RFC 2328, sections 9.5 and 10.5). The last Hello
# came at most one hello interval before the failure, so detection takes
#
#     dead - hello  to  dead
#
# BFD's control packets come each interval I, and M missing ones end the session (RFC 5880, section 6.8.4):
#
#     (M - 1) I  to  M I
#
# Routers then announce and compute within milliseconds. The gap is longer than detection by the time between two
# packets of the film. With OSPF's usual intervals of 10 s and 40 s (RFC 2328, appendix C.3) a failure as short as this
# one is over before anybody notices.
#
# **Pictures** that are due in the gap stand still. Those after it are damaged until the next keyframe, which comes two
# seconds later at most: most pictures say only what changed since the one before.
#
# ## What was measured

# %%
cells = []
for routing, name in NAMES.items():
    found = DETECTIONS.get(routing)
    expected = f"{found.low_ms:.0f} to {found.high_ms:.0f}" if found else f"{1000 * CUT_S:.0f}, the failure"
    still = gap[routing].mean / 1000 * film.frames_per_s
    cells.append((name, expected, gap[routing], of("lost_packets", routing), f"{still:.0f}", spoilt[routing]))
columns = (
    "routing", "theory: detection or failure (ms)", "longest gap (ms)", "packets lost", "pictures due in the mean gap",
    "pictures spoilt",
)  # fmt: skip
moments = [cut_s(repeat) for repeat in range(1, outage.study.repeats + 1)]
table(
    cells, columns,
    f"Mean (least to largest) of {gap[BFD].count} failures at as many moments of one film, which has {film.frames} "
    f"pictures. BFD gives up after {BFD_MULTIPLIER} missing packets, {BFD_MS} ms apart. A spoilt picture is not, bit "
    f"for bit, as it was sent. The sender fills each packet, where little changes with several pictures: two packets "
    f"of the film are {of('spacing_ms', BFD).high:.0f} ms apart at most, and how many a gap holds depends on the film.",
)  # fmt: skip

# %%
drawn = {NAMES[it]: (moments, [ms / 1000 for ms in gap[it].values]) for it in (STATIC, QUICK, BFD)}
bounds = {
    "OSPF, dead interval": DETECTIONS[QUICK].high_ms / 1000,
    "OSPF, dead less hello": DETECTIONS[QUICK].low_ms / 1000,
}
drawing = lines(
    "Longest gap between two packets, by the moment of the failure", drawn, "cable fails, since the film began (s)",
    "longest gap (s)", bounds, markers=True,
)  # fmt: skip
page.figure("gap", "A film's gap, by when the cable fails. OSPF's usual intervals give what static routes do.", drawing)

# %%
say(f"""
The film is Lab 09's, at {film.frames_per_s} pictures a second, sent at its own pace (RTP) from h1 to h3 by r1, r2 and
r3; the links between the five routers have 5 ms of delay and no limit of rate. The cable r1-r2 loses all frames for
{CUT_S} s, from {moments[0]:g} s on in the first repeat and {1000 * STEP_S:.0f} ms later in each further one, so that
failures spread over a whole hello interval. Where one falls between two Hellos is what chance has in a gap; for
pictures, what the film shows just then is chance too. Both routers watch the cable, and the first that notices counts.
Routers rest for ten seconds before the film begins: after a computation FRR waits up to 5 s before the next (Lab 15).
""")

# %% [markdown]
# ## What we find
#
# The claims are ours: *reproduced* says that one holds here.

# %%
page.claims()

# %%
pairs = list(zip(spoilt[QUICK].values, spoilt[BFD].values, strict=True))
alike = sum(one == other for one, other in pairs)
say(f"""
**How it could come out otherwise.** The first claim would fail without that rest: where routers have just computed, a
gap outlasts detection by more than {REACTION_MS} ms. The second fails with OSPF's usual
intervals, whose gap is {gap[USUAL].mean:.0f} ms on average where that of static routes is {gap[STATIC].mean:.0f}, and
for every failure that is shorter than detection. The third depends on keyframes: at
{alike} of {len(pairs)} moments as many pictures are spoilt with BFD as without, since both gaps end before the same
keyframe. Keyframes that are farther apart make that more frequent.

What it does not say: a cable whose interfaces lose their carrier is noticed at once by the routers at its ends, and
needs neither Hellos nor BFD. A failure that makes the film silent for more than three seconds cannot be measured so:
the receiver takes it for the film's end.
""")

# %%
page.how_judged()

# %% [markdown]
# ## Where these numbers come from

# %%
page.provenance()
