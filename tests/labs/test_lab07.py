"""Lab 07's counted connections, and shares by any key; runs and numbers: `test_recorded`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.labs.lab07 import rules as lab07
from linklab.measure import Repeats
from tests.grade.made_runs import together, transfer

from .refused import Table, refused

HEAD = "State Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n"
ROW = "ESTAB 0      502456      10.0.0.2:4994{0}     10.0.5.2:5201\n\t cubic rtt:79.9/0.5 cwnd:136 ssthresh:112\n"
THREE = HEAD + "".join(ROW.format(number) for number in range(3))
OTHERS = "FIN-WAIT-1 0 1 10.0.0.2:49900 10.0.5.2:5201\nESTAB 0 0 10.0.0.2:49901 10.0.5.3:5201\n"
FAIR_MBPS = {count: 28.6 / (count + 2) for count in lab07.CONNECTIONS}
RUNS = {
    count: together(
        *[transfer("h1-h4", [rate] * min(4, count)) for _ in range(max(1, count // 4))],
        transfer("h2-h5", rate),
        transfer("h3-h6", rate),
    )
    for count, rate in FAIR_MBPS.items()
}
PERCENT = {count: 100 * count / (count + 2) for count in FAIR_MBPS}
MEASURED = together(transfer("h1-h4", [8.0775, 6.44]), transfer("h2-h5", 6.89), transfer("h3-h6", 7.1575))
REPEATED = Repeats((MEASURED,) * 3, ())
BY_CONNECTION, BY_HOST = [8.0775, 6.44, 6.89, 7.1575], [14.5175, 6.89, 7.1575]
WRONG: Table = {
    lab07.check_connections: [
        (HEAD, 3, "not the output of ss -tin"),
        (OTHERS, 3, "ss shows 0 connections"),
        (HEAD + ROW.format(1) * 2, 3, "ss shows 2 connections"),
        (THREE.replace("cwnd", "wnd"), 3, "no cwnd"),
        (THREE, 2, "connections that carry data"),
        (THREE, 4, "too much"),
    ],
    lab07.check_experiment: [
        (RUNS, {count: share / 0.956 for count, share in PERCENT.items()}, "too much"),
    ],
    lab07.check_parts: [
        ([[8.0775, 6.44], [6.89], [7.1575]], BY_HOST, REPEATED, "this has a list, a list, a list"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


@pytest.mark.parametrize(
    "said",
    [THREE + OTHERS, THREE.replace("ESTAB ", ""), THREE.replace("10.0.5.2:5201", "[::ffff:10.0.5.2]:5201")],
)
def test_two_connections_with_data_are_three(said: str) -> None:
    result = lab07.check_connections(said, 3)
    assert result.passed, str(result)
    assert "control connection" in result.checks[1].explanation


def test_numbers_may_be_rounded_as_the_text_rounds_them() -> None:
    by_connection, by_host = ([round(rate, 1) for rate in rates] for rates in (BY_CONNECTION, BY_HOST))
    assert lab07.check_parts(by_connection, by_host, REPEATED).passed
    assert lab07.check_experiment(RUNS, {count: round(share) for count, share in PERCENT.items()}).passed


@pytest.mark.parametrize("kind", [int, str, float])
def test_shares_may_stand_under_numbers_and_texts(kind: Callable[[int], object]) -> None:
    assert lab07.check_experiment(RUNS, {kind(count): share for count, share in PERCENT.items()}).passed
