"""What tools print, read: rows with units, and no row where it is another text. The labs' tests have whole outputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.labs.printed import Queue, Transfer, connections, pings, queues, round_trips_ms, setting, transfers

UDP = "[  5]   0.00-3.08   sec  10.5 MBytes  28.6 Mbits/sec  0.470 ms  946/8544 (11%)  receiver"
TCP = "[  7]   0.00-25.08  sec  29.0 MBytes  980 Kbits/sec   58             sender"
SS = """ESTAB 0 269328 10.0.1.2:6000 10.0.4.2:5201
\t bbr rtt:36.681/3.9 cwnd:132 rcv_ssthresh:42242 bbr:(bw:19bps,mrtt:20) retrans:1/135 send 41686105bps
FIN-WAIT-1 0 1 10.0.0.2:49900 10.0.5.2:5201
\t cubic cwnd:7
"""


def test_rows_have_units() -> None:
    assert transfers(f"{TCP}\n{UDP}") == [
        Transfer("sender", 25.08, 0.98, None, None),
        Transfer("receiver", 3.08, 28.6, 946, 8544),
    ]
    printed = (
        "qdisc netem 10: parent 5:1 limit 100 delay 20ms\n Sent 9 bytes 7 pkt (dropped 3, x)\n backlog 137Kb 91p r"
    )
    assert queues(f"qdisc htb 5: root\n Sent 1 bytes 2 pkt (dropped 9, x)\n backlog 0b 0p r\n{printed}") == [
        Queue(100, 7, 3, 91)
    ]
    assert (setting("codel 8: limit 1000p target 5ms", "target"), setting("red 8: max 2Kb", "max")) == (5, 2048)
    assert setting("codel 8: target 500us", "target") == 0.5
    assert round_trips_ms("icmp_seq=1 ttl=61 time=79.9 ms\ntime 2003ms") == [79.9]


def test_a_connection_has_what_ss_says_of_it_and_one_that_closes_is_none() -> None:
    (one,) = connections(SS)
    assert (one.peer, one.number("cwnd"), one.number("rtt"), one.number("rtt", 1)) == ("10.0.4.2", 132, 36.681, 3.9)
    assert (one.number("retrans", 1), one.number("ssthresh"), one.number("minrtt")) == (135, None, None)


@pytest.mark.parametrize("read", [transfers, pings, queues, connections])
def test_another_text_has_no_rows_and_a_huge_one_is_read_at_once(read: Callable[[str], list[object]]) -> None:
    for text in ("", "bash: iperf3: command not found\n", "PING (1.1) " * 20_000, "0.00-1.0 sec 1" * 20_000):
        assert read(text) == []
