"""What theory expects of bonded trunks and of a priority class, and judges of our own claims about them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from linklab.network import goodput_ceiling_mbps, path
from linklab.network.theory import hop_datagram_bytes
from linklab.published import Claim, Threshold
from linklab.study.claims import Claims, Quantity, Tables, by_thresholds, numbered
from linklab.study.declare import Point
from linklab.units import transmission_ms
from studies.switches.study import additional, background, load_of
from studies.switches.theory import additional_theory_mbps
from studies.trunks.study import (
    EVERYWHERE,
    HASHED,
    NOWHERE,
    PRIORITY,
    SWITCH,
    TRUNK_MBPS,
    TRUNKS,
    priority_testbed,
    trunks,
)

ONE_MBPS: Final = goodput_ceiling_mbps(path(trunks(Point(TRUNKS.name, ())), "h1", "t1"))
"""What one trunk carries of data."""
LOAD: Final = load_of("l3-switch", TRUNK_MBPS)
_FULL_PERCENT: Final = 95
_WHOLE_PERCENT: Final = 99
_PATH: Final = path(priority_testbed(Point(PRIORITY.name, ())), "h1", "h2")


def expected_trunks(connections: int) -> float:
    """Return how many of two trunks connections use on average, where a hash puts each on either with equal chance."""
    return 2 * (1 - 0.5**connections)


def sum_percent(tables: Tables, bond: str, connections: int, trunks_: int) -> Any:
    """Return what all connections carry, in percent of what so many trunks do, for each repeat."""
    found = tables[TRUNKS.name].lookup("sum_mbps", bond=bond, connections=connections)
    return numbered({bond: found}, lambda _, mbps: 100 * mbps / (trunks_ * ONE_MBPS))


def _on_a_link(payload_bytes: int) -> tuple[float, float, float, float]:
    """Return of the first link that both meet what the background and the additional flow take of it, as shares of its
    rate, and how long a packet of each takes, in ms.
    """
    mine, hop = additional(LOAD, "intra-vlan", payload_bytes), _PATH.hops[0]
    taken = []
    for flow, count in ((background(LOAD)[0], 3), (mine, 1)):
        each_bytes = hop_datagram_bytes(hop, flow.payload_bytes)
        share = count * flow.rate_mbps / flow.payload_bytes * each_bytes / TRUNK_MBPS
        taken += [share, transmission_ms(each_bytes, TRUNK_MBPS)]
    return taken[0], taken[2], taken[1], taken[3]


def flow_theory_mbps(where: str, payload_bytes: int) -> float:
    """Return what is left of the additional flow: a full queue without priority lets ``rate / offered`` pass."""
    theirs, mine, _, _ = _on_a_link(payload_bytes)
    offered_mbps: float = LOAD["additional_mbps"]
    if where == NOWHERE:
        return additional_theory_mbps("l3-switch", "intra-vlan", TRUNK_MBPS, payload_bytes)
    return offered_mbps if where == EVERYWHERE else offered_mbps / (theirs + mine)


def priority_rtt_theory_ms(payload_bytes: int) -> float:
    """Return the mean round trip of a ping in the class, where priority is everywhere: the waits at four ports.

    A. Cobham, "Priority Assignment in Waiting Line Problems" (1954), for packets at random instants: what is left of
    the packet in service, over one less the class's own load, ``W = W0 / (1 - load)``. On the way there the queue of
    the background never runs empty, on the way back the background takes its share. A lone frame leaves at once.
    """
    theirs, mine, their_ms, my_ms = _on_a_link(payload_bytes)
    there_ms = (mine * my_ms + (1 - mine) * their_ms) / 2 / (1 - mine)
    back_ms = theirs * their_ms / 2
    return 2 * (there_ms + back_ms)


def _flow_percent(where: str, tables: Tables) -> Any:
    found = tables[PRIORITY.name].each("additional_mbps", "payload_bytes", priority=where)
    each = {f"{payload} bytes": values for (payload,), values in found.items()}
    return numbered(each, lambda _, mbps: 100 * mbps / LOAD["additional_mbps"])


def _rtt_percent(tables: Tables) -> Any:
    found = tables[PRIORITY.name].each("rtt_mean_ms", "payload_bytes", priority=EVERYWHERE)
    each = {str(payload): values for (payload,), values in found.items()}
    return numbered(each, lambda payload, ms: 100 * ms / priority_rtt_theory_ms(int(payload)))


_ASKED_OF: Final[Mapping[str, Quantity]] = {
    "one connection, of one trunk (%)": lambda tables: sum_percent(tables, HASHED, 1, 1),
    "two connections, of both trunks (%)": lambda tables: sum_percent(tables, HASHED, 2, 2),
    "four connections, of both trunks (%)": lambda tables: sum_percent(tables, HASHED, 4, 2),
    "one connection by round-robin, of both trunks (%)": lambda tables: sum_percent(tables, "round-robin", 1, 2),
    "additional flow, of what it offers, priority in the switch (%)": partial(_flow_percent, SWITCH),
    "additional flow, of what it offers, priority everywhere (%)": partial(_flow_percent, EVERYWHERE),
    "round trip in the class, of Cobham's mean (%)": _rtt_percent,
}


def _claim(name: str, says: str, test: str, quantity: str, relation: Any, threshold: float, why: str = "") -> Claim:
    by = Threshold(quantity, relation, threshold, f"{{:.1f}} % at {'most' if relation == '<=' else 'least'} ({{}})")
    return Claim(name, says, "ours", "either", test, by_construction=why, thresholds=(by,))


_SUM: Final = "sum of the data"
_ARRIVES: Final = "data that arrive"
_CLAIMS: Final = (
    _claim("trunks-one", "One connection gets no more than one trunk carries, by layers 3 and 4.", _SUM,
           "one connection, of one trunk (%)", "<=", 101, "frames of a conversation keep to one trunk"),
    _claim("trunks-two", f"Two connections fill {_FULL_PERCENT} % of both trunks, by layers 3 and 4.", _SUM,
           "two connections, of both trunks (%)", ">=", _FULL_PERCENT),
    _claim("trunks-four", f"Four connections fill {_FULL_PERCENT} % of both trunks, by layers 3 and 4.", _SUM,
           "four connections, of both trunks (%)", ">=", _FULL_PERCENT),
    _claim("trunks-turn", f"One connection fills {_FULL_PERCENT} % of both trunks, by round-robin.", _SUM,
           "one connection by round-robin, of both trunks (%)", ">=", _FULL_PERCENT),
    _claim("priority-switch", f"Priority in the switch alone carries {_WHOLE_PERCENT} % of the flow.", _ARRIVES,
           "additional flow, of what it offers, priority in the switch (%)", ">=", _WHOLE_PERCENT),
    _claim("priority-everywhere", f"Priority in the switch and the hosts carries {_WHOLE_PERCENT} % of it.", _ARRIVES,
           "additional flow, of what it offers, priority everywhere (%)", ">=", _WHOLE_PERCENT,
           "the class offers less than a link carries, and is served first"),
    _claim("priority-wait", "With both, a ping takes no longer than Cobham's mean for random arrivals.",
           "mean of the pings", "round trip in the class, of Cobham's mean (%)", "<=", 100),
)  # fmt: skip
CLAIMS: Final = Claims(_CLAIMS, {it.id: partial(by_thresholds, it.thresholds, _ASKED_OF) for it in _CLAIMS})
