"""What tc printed, captured from iproute2 6.1 (Debian 12), and what it means."""

from __future__ import annotations

import pytest

from linklab.network import Shape

from .tc import shape_of

HTB_AND_NETEM = [
    '[{"kind":"htb","handle":"5:","root":true,"refcnt":2,"options":{"r2q":10,"default":"0x1",'
    '"direct_packets_stat":0,"direct_qlen":1000}},{"kind":"netem","handle":"10:","parent":"5:1","options":'
    '{"limit":67,"delay":{"delay":0.01,"jitter":0,"correlation":0},"loss-random":{"loss":0.015,"correlation":0},'
    '"ecn":false,"gap":0}}]',
    "class htb 5:1 root leaf 10: prio 0 rate 40Mbit ceil 40Mbit burst 15Kb cburst 51600b ",
]
HFSC = [
    '[{"kind":"hfsc","handle":"5:","root":true,"refcnt":2,"options":{default 1 }}]',
    "class hfsc 5: root ",
    "class hfsc 5:1 parent 5: sc m1 0bit d 0us m2 40Mbit ul m1 0bit d 0us m2 40Mbit ",
]
TBF = ['[{"kind":"tbf","handle":"5:","root":true,"refcnt":2,"options":{"rate":5000000,"burst":15000,"lat":3000}}]']
NETEM_ONLY = [
    '[{"kind":"netem","handle":"10:","root":true,"options":{"limit":1000,"delay":{"delay":0.0025,"jitter":0,'
    '"correlation":0},"ecn":false,"gap":0}}]'
]
NOTHING = ['[{"kind":"noqueue","handle":"0:","root":true,"refcnt":2,"options":{}}]']


@pytest.mark.parametrize(
    ("lines", "shape"),
    [
        (HTB_AND_NETEM, Shape(rate_mbps=40, delay_ms=10, loss_percent=1.5, queue_packets=67)),
        (HFSC, Shape(rate_mbps=40)),
        (TBF, Shape(rate_mbps=40)),
        (NETEM_ONLY, Shape(delay_ms=2.5, queue_packets=1000)),
        (NOTHING, Shape()),
        ([], Shape()),
        (["class htb 5:1 root leaf 10: prio 0 rate 9500Kbit ceil 1Gbit burst 15Kb "], Shape(rate_mbps=9.5)),
    ],
)
def test_shapes(lines: list[str], shape: Shape) -> None:
    assert shape_of(lines) == shape


def test_what_is_not_tcs_is_refused() -> None:
    with pytest.raises(ValueError, match="Cannot find device"):
        shape_of(["Cannot find device h1-eth0"])
