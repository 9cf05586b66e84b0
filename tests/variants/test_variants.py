"""Graders tell mistakes apart on personal variants, and the file of a variant is what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import linklab
from linklab import course
from linklab.analysis import (
    Load,
    experiment,
    full_queue_rtt,
    full_queue_share_ms,
    loaded_rtt,
    max_min_shares,
    measured_path,
    tcp_throughput,
    unloaded_rtt,
)
from linklab.analysis.sharing import direction_of
from linklab.errors import LinklabError
from linklab.grade.check import Refuse
from linklab.grade.measured import ping_check
from linklab.grade.questions import Value
from linklab.labs import load
from linklab.network import COURSE, Network, bottleneck, expected_state, path
from linklab.network.variants import (
    variant,
    variants,
)
from tests.grade.made_runs import pinged

SECRET = b"a course secret of some length"


STUDENTS = tuple(f"s{number}" for number in range(500))


PREDICTIONS = {
    "lab03": ("ceilings", "check_hidden"),
    "lab04": ("rtt", "throughput"),
    "lab05": ("rtt", "throughput", "loaded_prediction", "check_bdp", "check_after_loss"),
    "lab06": ("shares", "highest", "new_rtt"),
    "lab07": ("shares",),
    "lab11": ("loss", "between", "queues"),
    "lab12": ("bloat",),
    "lab13": ("share", "check_numbers", "check_shares"),
}
"""Checks and predictions of numbers that are computed from the network, by lab."""


def predicted(network: Network, lab: str) -> list[Value]:
    """The numbers that a lab asks for on that network."""
    module = load(lab)
    with course.using(network):
        return [question for name in PREDICTIONS[lab] for question in _asked(module, name)]


def _asked(module: Any, name: str) -> Sequence[Value]:
    """What a check asks, or a prediction."""
    found = getattr(module, name)({}).questions if name.startswith("check_") else module.rules.PREDICTIONS.asked(name)
    return cast("Sequence[Value]", found)


def passes(question: Value, number: float) -> bool:
    return all(check.passed for check in question.checks(number))


@pytest.fixture(scope="module")
def class_of_500() -> dict[str, Network]:
    return variants(STUDENTS, SECRET)


PATHS = {("h1", "h4"): "L2", ("h1", "h9"): "L3", ("h7", "h9"): "L3", ("h8", "h9"): "L3", ("r1", "r2"): "L1"}


LOADS = {
    "two": ((Load("h1", "h4"), Load("h2", "h5")), ("L2", "L2")),
    "three": ((Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")), ("L2", "L2", "L2")),
    "crossing": ((Load("h1", "h4"), Load("h7", "h9")), ("L2", "L2")),
    "apart": ((Load("h1", "h4"), Load("h8", "h9")), ("L2", "L3")),
    "eight": ((Load("h1", "h4", 8), Load("h2", "h5"), Load("h3", "h6")), ("L2", "L2", "L2")),
}


@pytest.mark.large
@pytest.mark.slow
def test_every_path_and_combination_keeps_its_bottleneck(class_of_500: dict[str, Network]) -> None:
    for network in [COURSE, *class_of_500.values()][:30]:
        assert {ends: bottleneck(path(network, *ends)).label for ends in PATHS} == PATHS
        for loads, links in LOADS.values():
            shares = max_min_shares(network, loads)
            assert tuple(share.bottleneck.link.label for share in shares) == links


@pytest.mark.slow
@pytest.mark.parametrize("lab", PREDICTIONS)
def test_right_numbers_pass_and_no_misconception_does_on_any_variant(
    class_of_500: dict[str, Network], lab: str
) -> None:
    for network in (COURSE, *list(class_of_500.values())[:25]):
        for question in predicted(network, lab):
            right = question.expected.value
            assert passes(question, right), (network.name, question)
            passed = [slip for slip in question.all_slips if passes(question, slip.value)]
            assert passed == [], (network.name, right, question.what)


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("ends", PATHS)
def test_what_looks_right_beside_a_transfer_and_is_wrong_lies_outside_on_any_variant(
    class_of_500: dict[str, Network], ends: tuple[str, str]
) -> None:
    for network in (COURSE, *list(class_of_500.values())[:20]):
        path = measured_path(network, *ends)
        link, idle_ms = bottleneck(path.forward), path.rtt_floor_ms
        rate, rtt = tcp_throughput(path), unloaded_rtt(path)
        nominal, full_ms = link.rate_mbps or 0.0, full_queue_share_ms(link)
        for wrong in (nominal, rate.value / 8, 8 * rate.value, rate.value / 2, 0.7 * nominal):
            assert not rate.holds(wrong), (network.name, ends, wrong, str(rate))
        for wrong in (idle_ms / 2, 2 * idle_ms, idle_ms / 1000, idle_ms + 1, idle_ms - link.delay_ms):
            assert not rtt.holds(wrong), (network.name, ends, wrong, str(rtt))
        # the queue on top of its link's delay, in both directions, and the other links' queues besides
        others = sum(full_queue_share_ms(it) for it in path.forward.links if it.rate_mbps)
        if ends in (("h1", "h4"), ("r1", "r2")):  # beside which labs let students ping; on h1-h9 the queue may be empty
            assert not loaded_rtt(path).holds(idle_ms)
        for loaded in (loaded_rtt(path), full_queue_rtt(path)):
            wrong_ms = [idle_ms + full_ms + link.delay_ms, idle_ms + 2 * full_ms]
            wrong_ms += [idle_ms + others] if others > 1.2 * full_ms else []
            for wrong in wrong_ms:
                assert not loaded.holds(wrong), (network.name, ends, wrong, str(loaded))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_one_flow_s_share_is_never_the_sum_nor_nothing_on_any_variant(
    class_of_500: dict[str, Network], name: str
) -> None:
    loads, _ = LOADS[name]
    for network in (COURSE, *list(class_of_500.values())[:20]):
        found = experiment(network, loads, judged=15)
        for one in found.loads:
            whole = found.sums[direction_of(one.share.bottleneck)]
            assert not whole.holds(one.share.bottleneck.link.rate_mbps or 0.0)
            if one.share.rivals > one.load.connections:
                assert not whole.holds(one.share.total_mbps)
                assert not one.total.holds(0.2)
                assert not one.total.holds(0.99 * whole.high)


def test_a_file_says_which_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = variant("ada", SECRET)
    text = course.write_variant(network, tmp_path).read_text()
    assert course.read_variant(tmp_path / course.FILE) == network
    assert SECRET.decode() not in text
    assert "ada" not in text
    assert set(json.loads(text)) == {"format", "name", "links", "subnets"}
    assert linklab.course_network() == COURSE
    monkeypatch.chdir(tmp_path)
    assert linklab.course_network() == network
    course.write_variant(variant("bob", SECRET), tmp_path)
    assert linklab.course_network() == network, "the first answer is kept"
    monkeypatch.setenv(course.VARIABLE, "")
    assert linklab.course_network() == COURSE
    with course.using(variant("cyd", SECRET)):
        assert linklab.course_network() == variant("cyd", SECRET)
        assert course.is_variant()
    assert not course.is_variant()


def test_a_named_file_counts_before_the_folder_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    course.write_variant(variant("ada", SECRET), tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(course.VARIABLE, str(course.write_variant(variant("bob", SECRET), tmp_path / "elsewhere")))
    assert linklab.course_network() == variant("bob", SECRET)
    monkeypatch.setenv(course.VARIABLE, str(tmp_path / "none.json"))
    with pytest.raises(LinklabError, match="cannot be read"):
        linklab.course_network()


@pytest.mark.parametrize("change", ["{", "[]", "easier", "format", "missing", "address"])
def test_a_file_that_was_changed_is_refused_and_not_passed_over(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads(course.variant_text(variant("ada", SECRET)))
    if change == "easier":
        data["links"]["L2"]["rate_mbps"] = 100
    elif change == "format":
        data["format"] = 2
    elif change == "missing":
        del data["subnets"]["A"]
    elif change == "address":
        data["subnets"]["A"] = data["subnets"]["B"]
    (tmp_path / course.FILE).write_text(change if change in ("{", "[]") else json.dumps(data))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LinklabError, match="take the file that you were given"):
        linklab.course_network()


def test_who_grades_sees_whose_file_it_is(tmp_path: Path) -> None:
    ada, bob = variant("ada", SECRET), variant("bob", SECRET)
    assert course.differs_from(ada, tmp_path) == "linklab-variant.json is missing"
    assert course.differs_from(COURSE, tmp_path) is None
    course.write_variant(bob, tmp_path)
    assert course.differs_from(bob, tmp_path) is None
    assert bob.name in (course.differs_from(ada, tmp_path) or "")
    (tmp_path / course.FILE).write_text("{}")
    assert "not one that was given out" in (course.differs_from(ada, tmp_path) or "")


@pytest.mark.slow
@pytest.mark.parametrize("lab", PREDICTIONS)
def test_a_neighbour_s_numbers_fail(class_of_500: dict[str, Network], lab: str) -> None:
    """What is right on one student's network, handed in by others: some of it is refused."""
    some = list(class_of_500.values())[:5]
    for mine in some[:3]:
        questions = predicted(mine, lab)
        theirs = [[one.expected.value for one in predicted(other, lab)] for other in some if other != mine]
        # two may have the same L2, which is all that Lab 07 asks for; nobody has it in common with all
        assert not all(passes(*each) for numbers in theirs for each in zip(questions, numbers, strict=True)), mine.name


def test_a_measurement_on_another_network_is_refused(class_of_500: dict[str, Network]) -> None:
    mine, other, *_ = class_of_500.values()
    with course.using(mine):
        floor = measured_path(mine, "r1", "r2").rtt_floor_ms
        good = ping_check("L1", pinged("r1-r2", floor, state=expected_state(mine)), ("r1", "r2"))
        assert good.passed, good
        for network in (other, COURSE):
            with pytest.raises(Refuse, match="measured on another network: h1-eth0 had"):
                ping_check("L1", pinged("r1-r2", floor, state=expected_state(network)), ("r1", "r2"))
