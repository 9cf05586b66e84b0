# %% [markdown]
# # Benchmark: fidelity
#
# On virtual time a lab measures its own network, whatever the machine does meanwhile. Each repeat is a fresh lab of the
# course network, on an idle and on a busy machine; its first is measured again twice.

# %%
from linklab.study.notebook import open_page
from linklab.study.page import fixed, table
from tools.bench.fidelity import (
    CLAIMS,
    COMPARED,
    LOOPS_PER_CORE,
    ROWS,
    STUDY,
    UDP_SHARE,
    agreement,
    rounds_of,
    values_of,
)

page = open_page("benchmark-fidelity", [STUDY], CLAIMS)
fidelity = page["fidelity"]


def least_to_largest(values, digits):
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}..{high}"


page.claims()

# %% [markdown]
# ## Against theory, idle and busy

# %%
rows = []
for row in ROWS.values():
    for machine in fidelity.levels("machine"):
        rtt_ms, tcp_mbps, udp_mbps, lost = (
            values_of(fidelity.select(machine=machine), metric, row) for metric in (*COMPARED, "udp_lost_packets")
        )
        rows.append((
            row.name, machine, len(tcp_mbps), fixed(row.rtt_floor_ms, 0), least_to_largest(rtt_ms, 3),
            fixed(row.tcp_ceiling_mbps, 3), least_to_largest(tcp_mbps, 3),
            f"{min(tcp_mbps) / row.tcp_ceiling_mbps:.1%}", fixed(row.udp_offered_mbps, 3),
            least_to_largest(udp_mbps, 3), fixed(sum(lost), 0),
        ))  # fmt: skip
columns = (
    "from, to", "machine", "repeats", "RTT theory (ms)", "RTT mean (ms)", "TCP ceiling (Mbit/s)", "TCP (Mbit/s)",
    "lowest / ceiling", "UDP offered (Mbit/s)", "UDP (Mbit/s)", "UDP packets lost",
)  # fmt: skip
note = (
    f"Least to largest of the repeats. Busy: {LOOPS_PER_CORE} endless loops on every core. Rates are of the "
    "payload at the receiver, over the receiver's own time: slow start lowers TCP's, and the path's delay UDP's. "
    f"UDP's frames fill {UDP_SHARE:.0%} of the bottleneck."
)
table(rows, columns, note)

# %% [markdown]
# ## The same three digits

# %%
rows = []
for number in rounds_of([fidelity]):
    for row in ROWS.values():
        for metric, heading in COMPARED.items():
            if values := values_of(fidelity, metric, row, number):
                found, lab = agreement(values), "fresh" if number == 0 else f"again ({number})"
                rounded = " / ".join(f"{it:#.3g}" for it in found.rounded)
                rows.append((
                    lab, row.name, heading, len(values), least_to_largest(values, 4), rounded, f"{found.spread:.3f}",
                    found.sameness,
                ))  # fmt: skip
columns = ("lab", "from, to", "quantity", "values", "least to largest", "to three digits", "spread", "sameness")
note = (
    "Spread: largest less smallest, in units of the third digit. same: all values round to one number. edge: they "
    "round to two, but lie within a tenth of the third digit's unit, so that they differ by where the edge of the "
    "rounding falls. different: anything else."
)
table(rows, columns, note)

# %% [markdown]
# ## Where the numbers come from

# %%
page.provenance()
