"""Lab 07's counted connections and what is said of its predictions; runs and numbers: `test_recorded`."""

from __future__ import annotations

import math

import pytest

from linklab.grade.predictions import remark
from linklab.grade.questions import Value
from linklab.labs.lab07 import rules as lab07
from tests.grade.made_runs import together, transfer

HEAD = "State Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n"
ROW = "ESTAB 0      502456      10.0.0.2:4994{0}     10.0.5.2:5201\n\t cubic rtt:79.9/0.5 cwnd:136 ssthresh:112\n"
THREE = HEAD + "".join(ROW.format(number) for number in range(3))
OTHERS = "FIN-WAIT-1 0 1 10.0.0.2:49900 10.0.5.2:5201\nESTAB 0 0 10.0.0.2:49901 10.0.5.3:5201\n"


@pytest.mark.parametrize(
    "said",
    [
        THREE,
        THREE + OTHERS,
        THREE.replace("ESTAB ", ""),
        THREE.replace("10.0.5.2:5201", "[::ffff:10.0.5.2]:5201"),
    ],
)
def test_two_connections_with_data_are_three(said: str) -> None:
    result = lab07.check_connections(said, 3)
    assert result.passed, str(result)
    assert "control connection" in result.checks[1].explanation


@pytest.mark.parametrize(
    ("said", "counted", "says"),
    [
        (None, 3, "not measured yet"),
        ("", 3, "not measured yet"),
        (7, 3, "no text"),
        (HEAD, 3, "ss shows 0 connections"),
        (HEAD + ROW.format(1) * 2, 3, "ss shows 2 connections"),
        (THREE.replace("cwnd", "wnd"), 3, "no cwnd"),
        (THREE, 2, "those that carry data"),
        (THREE, 4, "too much"),
        (THREE, None, "not filled in yet"),
        (THREE, "3", "is a text"),
    ],
)
def test_what_is_no_count_of_them_is_said(said: object, counted: object, says: str) -> None:
    result = lab07.check_connections(said, counted)
    assert result.outcome == "failed"
    assert any(says in check.reason and check.hint for check in result.checks), str(result)


def test_who_divides_by_host_hears_of_connections() -> None:
    h1, h2 = lab07.PREDICTIONS.asked("shares")  # type: ignore[misc]
    (eight,) = lab07.PREDICTIONS.asked("predicted_parts")  # type: ignore[misc]
    assert isinstance(h1, Value)
    assert isinstance(h2, Value)
    assert isinstance(eight, Value)
    third = 30 * 1448 / 1514 / 3
    assert "a third" in remark(h1, third)[1]
    assert "a third" in remark(h2, third)[1]
    assert "a third" in remark(eight, 33.3)[1]
    assert remark(eight, 80) == ("as theory says", "")


@pytest.mark.parametrize("given", [None, ..., 3, "L2", [1], {}, {"h1": object()}, {8: {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    for name in ("run", "meaning", "predicted"):
        assert not getattr(lab07, f"check_{name}")(given).passed
    assert not lab07.check_experiment(given, given).passed
    assert not lab07.check_parts(given, given, given).passed
    assert not lab07.check_connections(given, given).passed
    assert lab07.predict("shares", given, 50).problems


def test_shares_that_are_no_dictionary_are_said_and_its_keys_may_be_texts() -> None:
    fair = {count: 28.6 / (count + 2) for count in lab07.CONNECTIONS}
    runs = {
        count: together(
            *[transfer("h1-h4", [rate] * min(4, count)) for _ in range(max(1, count // 4))],
            transfer("h2-h5", rate),
            transfer("h3-h6", rate),
        )
        for count, rate in fair.items()
    }
    percent = {count: 100 * count / (count + 2) for count in fair}
    for kind in (int, str, float):
        shares = {kind(count): share for count, share in percent.items()}
        assert lab07.check_experiment(runs, shares).passed
    assert "this is a list, not a dictionary" in str(lab07.check_experiment(runs, list(percent.values())))
    assert "not filled in yet" in str(lab07.check_experiment(runs, {}))
