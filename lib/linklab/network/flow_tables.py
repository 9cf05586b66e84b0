"""A switch's flow table as data: what ``ovs-ofctl dump-flows`` or ``ovs-appctl bridge/dump-flows`` prints, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError

DUMP: Final = "ovs-appctl revalidator/wait && ovs-ofctl -O OpenFlow13 --no-names dump-flows"
"""The command that prints a switch's table, with numbers for ports; the switch's name comes behind it.

It waits until rules have counted what the kernel forwarded: Open vSwitch adds that up about twice a second."""
_COUNTED: Final = (
    "cookie", "duration", "table", "table_id", "n_packets", "n_bytes", "idle_timeout", "hard_timeout", "priority",
    "idle_age", "hard_age", "reset_counts", "importance", "send_flow_rem",
)  # fmt: skip
_OWN_TABLE, _MOST_PRIORITY = 254, 0xFFFF
"""Open vSwitch's own rules, which ``bridge/dump-flows`` prints, are in this table, or above OpenFlow's priorities."""
_PORTS: Final = ("CONTROLLER", "FLOOD", "ALL", "NORMAL", "IN_PORT", "LOCAL")
_ACTION: Final = re.compile(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+")
"""Commas within parentheses, also within two pairs of them, belong to an action."""


@dataclass(frozen=True)
class FlowRule:
    """One rule of a flow table: which frames it matches, what it does with them, and how many it has met.

    ``match`` has the fields as Open vSwitch names them (``{"in_port": "1", "dl_dst": "00:..."}``); a protocol such as
    ``tcp`` has an empty value. ``actions`` is empty for a rule that drops. Timeouts are in seconds, 0 for none.
    """

    priority: int
    match: Mapping[str, str]
    actions: tuple[str, ...]
    packets: int = 0
    size_bytes: int = 0
    idle_timeout_s: float = 0.0
    hard_timeout_s: float = 0.0
    table: int = 0

    @property
    def outputs(self) -> tuple[str, ...]:
        """The ports to which it sends frames, as texts (``"2"``, ``"FLOOD"``, ``"CONTROLLER"``, ``"NORMAL"``)."""
        names = (action.removeprefix("output:").partition(":")[0] for action in self.actions)
        return tuple(name for name in names if name.isdigit() or name in _PORTS)

    @property
    def asks(self) -> bool:
        """Whether it sends frames to the controller."""
        return "CONTROLLER" in self.outputs


def read_rules(printed: str) -> tuple[FlowRule, ...]:
    """Return the rules that a switch's dump printed, the highest priority first, without Open vSwitch's own.

    Raises LinklabError for a line that is no rule, as where the switch cannot be reached.
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    rules = [_rule(line) for line in lines if not line.startswith(("OFPST_FLOW", "NXST_FLOW"))]
    given = [rule for rule in rules if rule.table != _OWN_TABLE and rule.priority <= _MOST_PRIORITY]
    return tuple(sorted(given, key=lambda rule: (rule.table, -rule.priority)))


def questions(rules: Iterable[FlowRule]) -> int:
    """Return how many frames a switch has sent to its controller, by the counters of the rules that send them there."""
    return sum(rule.packets for rule in rules if rule.asks)


def _rule(line: str) -> FlowRule:
    head, found, actions = line.partition("actions=")
    if not found:
        raise LinklabError(f"this is no flow table: {line}")
    fields: dict[str, str] = {}
    for part in head.split(","):
        name, _, value = part.strip().partition("=")
        if name:
            fields[name] = value
    every = tuple(action.strip() for action in _ACTION.findall(actions))
    return FlowRule(
        priority=int(fields.get("priority", 32768)),
        match={name: value for name, value in fields.items() if name not in _COUNTED},
        actions=() if every == ("drop",) else every,
        packets=int(fields.get("n_packets", 0)),
        size_bytes=int(fields.get("n_bytes", 0)),
        idle_timeout_s=float(fields.get("idle_timeout", 0)),
        hard_timeout_s=float(fields.get("hard_timeout", 0)),
        table=int(fields.get("table", fields.get("table_id", 0))),
    )
