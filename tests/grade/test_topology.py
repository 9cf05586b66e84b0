"""The right network passes all checks; each wrong one fails those that depend on the mistake, and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.grade import GradeError, Result
from linklab.labs.lab01 import rules as lab01
from tests.states import PLAN, change

from .failures import also_wrong
from .fake_lab import FakeLab, without_route
from .wrong_networks import WRONG

CHECKS: dict[str, Callable[[FakeLab], Result]] = {
    "nodes": lab01.check_nodes,
    "addresses": lab01.check_addresses,
    "links": lab01.check_links,
    "forwarding": lab01.check_forwarding,
    "routes": lab01.check_routes,
    "reachability": lab01.check_reachability,
}


def failed(result: Result) -> tuple[str, ...]:
    return tuple(check.description for check in result.checks if check.outcome == "failed")


@pytest.mark.parametrize("name", CHECKS)
def test_the_course_network_passes(name: str) -> None:
    result = CHECKS[name](FakeLab(PLAN))
    assert result.require() is result
    assert result.points == result.max_points > 0
    assert not [check for check in result.checks if check.reason or check.hint]


def _message(result: Result) -> str:
    with pytest.raises(GradeError) as caught:
        result.require()
    return str(caught.value)


def _messages(check: Callable[[], Result]) -> list[str]:
    """What is said after none, one and two other wrong answers."""
    said = []
    for number in range(3):
        result = check()
        said.append(_message(result))
        also_wrong(result, number)
    return said


_COMMANDS = ("ip route add", "ip route replace", "sysctl -w")


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_network_fails_the_right_checks_only(case: str, name: str) -> None:
    wrong = WRONG[case]
    result = CHECKS[name](FakeLab(wrong.state))
    if name == wrong.check:
        assert failed(result) == wrong.fails
        said = _messages(lambda: CHECKS[name](FakeLab(wrong.state)))
        assert any(wrong.says in message for message in said), "for the third wrong answer at the latest"
        first, *_, last = ([command for command in _COMMANDS if command in message] for message in said)
        assert not first, "no command for the first wrong answer"
        assert bool(last) == (name in ("routes", "forwarding"))
    else:
        assert (not result.passed) == (name in wrong.also), str(result)


def test_a_failed_ping_is_explained_by_the_router_at_fault() -> None:
    lab = FakeLab(WRONG["missing route"].state)
    result = lab01.check_reachability(lab)
    assert failed(result) == ("subnets A and I: h1, h2, h3 with h9", "subnets C and I: h7 with h9")
    check = next(check for check in result.checks if not check.passed)
    assert check.reason == "the request from h1 to h9 is lost (and 2 more): r2 has no route to 10.0.7.0/24"
    assert "must r2 send packets for 10.0.7.0/24" in check.hint
    _, second, third = _messages(lambda: lab01.check_reachability(lab))
    assert "ip route get 10.0.7.2" in second
    assert "on r2, ip route add 10.0.7.0/24 via 10.0.3.2" in third
    assert ("h1", "ping -n -c 1 -w 1 10.0.7.2") in lab.commands
    assert ("h1", "ping -n -c 1 -w 2 10.0.4.2") in lab.commands


def test_a_ping_that_is_answered_counts_whatever_the_tables_say() -> None:
    lab = FakeLab(WRONG["missing route"].state)
    lab.owner = lambda start, target: "h9"  # type: ignore[method-assign]
    lab.owner_reaches = lambda *_: True  # type: ignore[method-assign]
    assert lab01.check_reachability(lab).passed


def test_a_lost_answer_is_told_from_a_lost_request() -> None:
    # h9's own table is right for the way back; the request of h1 arrives and r4 drops the answer.
    state = without_route(PLAN, "r4", "10.0.0.0/24")
    text = str(lab01.check_reachability(FakeLab(state)))
    assert "the answer from h9 to h1 is lost (and 2 more): r4 has no route to 10.0.0.0/24" in text


def test_pings_through_a_router_that_does_not_forward_name_it() -> None:
    text = str(lab01.check_reachability(FakeLab(WRONG["forwarding off"].state)))
    assert "the request from h1 to h7 is lost (and 2 more): r2 is on the path and does not forward" in text
    assert "within subnet E: h4, h5, h6 (all pings answered)" in text


def test_a_ping_that_is_lost_on_right_tables_points_to_the_links() -> None:
    lossy = FakeLab(PLAN)
    lossy.owner_reaches = lambda *_: False  # type: ignore[method-assign]
    result = lab01.check_reachability(lossy)
    assert result.points == 0
    assert result.checks[0].reason.startswith("h1 gets no answer from h2 (and 2 more): all routes and")


@pytest.mark.parametrize(
    "output",
    [
        "ping: connect: Network is unreachable\n",
        "bash: ping: command not found\n",
        "",
        "9 packets transmitted, 1 received\n" * 2,
    ],
)
def test_output_that_is_no_summary_is_no_answer(output: str) -> None:
    lab = FakeLab(PLAN, silence=output)
    lab.owner_reaches = lambda *_: False  # type: ignore[method-assign]
    result = lab01.check_reachability(lab)
    assert result.points == 0
    assert "ping did not run, it said: " in result.checks[0].reason


def test_every_pair_of_hosts_is_pinged_once() -> None:
    lab = FakeLab(PLAN)
    lab01.check_reachability(lab)
    assert len(lab.commands) == len(set(lab.commands)) == 9 * 8 // 2


def test_a_host_whose_interface_is_down_is_told_so() -> None:
    result = lab01.check_routes(change(PLAN, "h1-eth0", up=False))
    assert failed(result) == ("routes of h1",)
    assert "h1 has no address on an interface that is up, so h1 cannot reach h2" in str(result)
    said = _messages(lambda: lab01.check_routes(change(PLAN, "h1-eth0", up=False)))
    assert "or set its interface up" in said[-1]
