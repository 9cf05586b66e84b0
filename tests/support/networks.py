"""Networks with VLANs and with a tunnel, which several tests look at."""

from __future__ import annotations

from linklab.network.catalogue import l3_switch, mtu_gre, router_on_a_stick

L3, STICK = l3_switch(10), router_on_a_stick(10)
"""Two VLANs: a switch that routes between them, and a router on a stick."""
GRE = mtu_gre()
"""Two Mininet networks that a GRE tunnel joins."""
