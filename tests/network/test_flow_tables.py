"""Flow tables as data, from what ovs-ofctl prints."""

from __future__ import annotations

import pytest

from linklab.errors import LinklabError
from linklab.network.flow_tables import FlowRule, questions, read_rules

PRINTED = """\
 cookie=0x0, duration=2.5s, table=0, n_packets=3, n_bytes=238, priority=0 actions=CONTROLLER:65535
 cookie=0x0, duration=1.1s, table=0, n_packets=7, n_bytes=686, idle_timeout=10, priority=1,in_port=1,\
dl_dst=00:00:00:00:00:02 actions=output:2
 cookie=0x0, duration=1.1s, table=0, n_packets=1, n_bytes=74, hard_timeout=30, priority=9,tcp,tp_dst=80 actions=drop
 cookie=0x0, duration=1.1s, table=0, n_packets=0, n_bytes=0, priority=5,ip,nw_dst=10.0.0.9 \
actions=mod_dl_dst:00:00:00:00:00:02,mod_nw_dst:10.0.0.2,ct(commit,nat(src=10.0.0.1)),FLOOD
"""


def test_each_rule_has_its_match_actions_counters_and_timeouts() -> None:
    drop, rewrite, learned, ask = read_rules("OFPST_FLOW reply (OF1.3) (xid=0x2):\n" + PRINTED)
    assert ask == FlowRule(0, {}, ("CONTROLLER:65535",), packets=3, size_bytes=238)
    assert learned.match == {"in_port": "1", "dl_dst": "00:00:00:00:00:02"}
    assert (learned.outputs, learned.idle_timeout_s, learned.packets) == (("2",), 10, 7)
    assert (drop.match, drop.actions, drop.hard_timeout_s) == ({"tcp": "", "tp_dst": "80"}, (), 30)
    assert rewrite.actions[2:] == ("ct(commit,nat(src=10.0.0.1))", "FLOOD")
    assert rewrite.outputs == ("FLOOD",)


def test_open_vswitch_s_own_rules_are_left_out() -> None:
    """Those that ``bridge/dump-flows`` prints besides."""
    printed = """\
duration=3s, n_packets=3, n_bytes=126, in_port=1,actions=output:2
table_id=1, duration=3s, n_packets=0, n_bytes=0, priority=3,arp,actions=drop
duration=4s, n_packets=0, n_bytes=0, priority=180008,tcp,actions=NORMAL
table_id=254, duration=4s, n_packets=0, n_bytes=0, priority=0,reg0=0x1,actions=controller(reason=)
"""
    assert read_rules(printed) == (
        FlowRule(32768, {"in_port": "1"}, ("output:2",), packets=3, size_bytes=126),
        FlowRule(3, {"arp": ""}, (), table=1),
    )


def test_frames_that_went_to_the_controller_are_counted() -> None:
    rules = read_rules(PRINTED)
    assert [rule.asks for rule in rules] == [False, False, False, True]
    assert questions(rules) == 3


@pytest.mark.parametrize("printed", ["ovs-ofctl: h1 is not a bridge or a socket\n", "duration=1s, table=0\n"])
def test_what_is_no_rule_is_named(printed: str) -> None:
    with pytest.raises(LinklabError, match="this is no flow table: "):
        read_rules(printed)
