"""The VLANs of a live interface against the expected ones."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.network.difference import Difference
from linklab.network.shape_causes import Pair
from linklab.network.vlans import Membership


def vlans(pair: Pair) -> Iterator[Difference]:
    """The one difference of an interface's VLANs, if there is one."""
    want, have = pair.want.vlans, pair.have.vlans
    if want is None or want == have:
        return
    found = have or Membership()
    cause = _cause(pair.want.name, want, found)
    yield Difference(pair.node, pair.want.name, "VLAN", str(want), str(found), cause)


def _cause(name: str, want: Membership, have: Membership) -> str:
    if want.tagged and not want.untagged:
        lacking = sorted(set(want.tagged) - set(have.tagged))
        if lacking:
            return f"the trunk lacks VLAN {', '.join(map(str, lacking))}: its frames do not pass"
        if have.untagged is not None:
            return f"frames without a tag go to VLAN {have.untagged}: a trunk is to have none"
        more = sorted(set(have.tagged) - set(want.tagged))
        return f"the trunk lets VLAN {', '.join(map(str, more))} pass besides"
    if have.tagged:
        return "it is a trunk: an access port has one VLAN, and no tags"
    if have.untagged is None:
        return f"it is in no VLAN: put it into VLAN {want.untagged}"
    return f"it is an access port of the wrong VLAN: whoever is behind {name} hears VLAN {have.untagged} instead"
