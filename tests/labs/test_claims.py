"""Claims to test: the number and the run are judged, in this order, and neither gives the other away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.analysis import full_queue_share_ms, tcp_throughput
from linklab.course import using
from linklab.grade import Check, Result
from linklab.grade.check import Refuse
from linklab.grade.choices import SEALED, seal
from linklab.grade.path_questions import path_between
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab04 import rules as lab04
from linklab.labs.lab05 import rules as lab05
from linklab.labs.lab06 import rules as lab06
from linklab.labs.lab07 import rules as lab07
from linklab.measure import Run, UdpFlow, UdpResult
from linklab.network import Network, NetworkState, expected_state
from linklab.network.variants import variants
from tests.grade.made_runs import origin, pinged, together, transfer

from .refused import refuses

PARAGRAPH = """
[claim]
question = "the wrong sentence"
right = "2"
hints = ["think"]
told = "the reply waits"
[claim.options]
1 = ""
2 = ""
[claim.remarks]
1 = "you measured it"
"""
Claim = Callable[[object, object], Result]


def _shown(run: object) -> Check:
    if not isinstance(run, float):
        raise Refuse("the run", "this is another run", "measure L1")
    return contradicts("the ping takes 20 ms", f"{run:g} ms", is_wrong=run > 25, step="fill the queue")


@pytest.fixture
def check(tmp_path: Path) -> Claim:
    (tmp_path / SEALED).write_text(seal(PARAGRAPH), "utf-8")
    return claim("a claim", tmp_path, _shown)


@pytest.mark.parametrize(
    ("sentence", "run", "says"),
    [
        (1, 30.0, "you measured it"),
        (3, 30.0, "is none of 1, 2"),
        (None, 30.0, "not answered yet"),
        (2, None, "this is another run"),
        (2, 20.0, "so it is true here that the ping takes 20 ms"),
    ],
)
def test_a_wrong_number_or_run_fails_and_says_why(check: Claim, sentence: object, run: object, says: str) -> None:
    refuses(check, (sentence, run), says)


@pytest.mark.parametrize("sentence", [2, 2.0, "2", " 2 "])
def test_the_right_number_and_a_run_that_shows_it_pass_and_open_the_explanation(check: Claim, sentence: object) -> None:
    result = check(sentence, 30.0)
    assert result.passed, str(result)
    assert [it.explanation for it in result.checks] == ["", "the reply waits"]


def test_of_the_run_nothing_is_said_while_the_number_is_wrong(check: Claim) -> None:
    assert len(check(1, 30.0).checks) == 1


NETWORKS = list(variants([f"student {number}" for number in range(20)], b"a course secret for trials").values())


def _pings_against(state: NetworkState, share: float) -> Run:
    """Pings over L1 against a transfer: some take this share of a full queue longer than on the idle link."""
    path = path_between("r1", "r2", state)
    rtt_ms = path.rtt_floor_ms + share * full_queue_share_ms(path.forward.links[0])
    return together(pinged("r2-r1", [rtt_ms] * 25, 1, state=state), transfer("r1-r2", 36.0, state=state))


def _several(ends: tuple[str, str], state: NetworkState, times_one: float) -> Run:
    """Five connections that get so many times what theory expects of one."""
    mbps = times_one * tcp_throughput(path_between(*ends, state)).value
    return together(transfer("-".join(ends), [mbps / 5] * 5, state=state))


def _stream_beside(state: NetworkState, tcp_mbps: float) -> Run:
    """A UDP stream of 20 Mbit/s next to a TCP flow of so much, over L2."""
    flow = UdpFlow("h2", "h5", 20, 25)
    stream = UdpResult(flow, origin(state), 19.9, 20, 25, 43000, 42700, 0, 0.7, (), ())
    return together(transfer("h1-h4", tcp_mbps, state=state), stream)


@pytest.mark.large
@pytest.mark.slow  # TCP's model computes
@pytest.mark.parametrize("network", NETWORKS, ids=[each.name for each in NETWORKS])
def test_on_students_own_networks_a_run_shows_the_wrong_sentence_or_not(network: Network) -> None:
    state, another = expected_state(network), NETWORKS[NETWORKS.index(network) - 1]
    with using(another):
        theirs = _pings_against(expected_state(another), 0.9)
    with using(network):
        cases: tuple[tuple[Claim, int, Callable[[NetworkState], Run], Run], ...] = (
            (lab04.check_claim, 5, lambda at: _pings_against(at, 0.9), _pings_against(state, 0.1)),
            (lab05.check_claim, 4, lambda at: _several(("h1", "h9"), at, 1.05), _several(("h1", "h9"), state, 0.98)),
            (lab06.check_claim, 3, lambda at: _stream_beside(at, 9.0), _stream_beside(state, 19.0)),
            (lab07.check_claim, 5, lambda at: _several(("h1", "h4"), at, 1.0), _several(("h1", "h4"), state, 1.2)),
        )
        for check, sentence, shows, holds in cases:
            result = check(sentence, shows(state))
            assert result.passed, str(result)
            refuses(check, (sentence, holds), "so it is true here that")
            assert not check(sentence + 1, shows(state)).passed
        refuses(lab04.check_claim, (5, theirs), "this was measured on another network")
