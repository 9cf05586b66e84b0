# %% [markdown]
# # What becomes of the time between packets

# %%
from spacing import SPACING

from linklab.study.claims import Finding, compared
from linklab.study.notebook import open_page
from linklab.study.page import say, table

page = open_page("spacing", [SPACING])
change_ms = {
    switch: page["spacing"].lookup("change_ms", number=2, switch=switch, rate_mbps=10, loss_percent=0)
    for switch in page["spacing"].levels("switch")
}
say("Pings leave 10 ms apart, and the time between the first two changes:", table(change_ms.items(), ("switch", "ms")))


# %%
@page.judge("A controller delays a flow's first packet.", about="Mininet")
def first(tables):
    first_ms, later_ms = (
        abs(tables["spacing"].lookup("change_ms", number=number, switch="openflow", rate_mbps=10, loss_percent=0).mean)
        for number in (2, 3)
    )
    return Finding(first_ms > later_ms, f"the first time changes by {first_ms:.2f} ms, the second by {later_ms:.2f} ms")


@page.judge("Real switches change the time between packets.", about="hardware")
def real(tables):
    """needs captures of them"""
    hardware_ms, ours_ms = (
        tables[name].lookup("change_mean_ms", switch="bridge", rate_mbps=100, loss_percent=0).mean
        for name in ("spacing", compared("spacing"))
    )
    return Finding(hardware_ms > ours_ms, f"mean change of {hardware_ms:.4f} ms on hardware, {ours_ms:.4f} ms here")


say(page.claims(), "## Where the numbers come from", page.provenance())
