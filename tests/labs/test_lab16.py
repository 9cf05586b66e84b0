"""Lab 16's checks on answers: right ones, and wrong ones that look right; its theory, and a resolver in a lab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.course import course_network, using
from linklab.labs import NOTHING
from linklab.labs.lab16 import figures, judging, theory
from linklab.labs.lab16 import rules as lab16
from linklab.labs.lab16.names import serve_names, zones
from linklab.labs.lab16.networks import NAME_SERVERS, lose_object, lost_object, other_web, rtt_ms, web
from linklab.labs.lab16.resolving import start_resolver
from linklab.measure import Origin, PageVisit, WebFlow, WebObject, WebResult, run
from linklab.network import expected_state
from linklab.network.variants import variant, variants
from linklab.notebooks.source import read_source
from linklab.runtime.backends import Kind
from tests.labs.predicted import commit

from .refused import Table, refused, refuses

ROOT = Path(__file__).parents[2]
VARIANT = variant("ada", b"a course secret for trials")
ORIGIN = Origin("t", "7", expected_state(web()))
TRIP_MS = 80.0
LOST = 4


def page(
    flow: WebFlow, rounds: float, *, late: tuple[int, ...] = (), before_ms: float = 0.0, origin: Origin = ORIGIN
) -> WebResult:
    """A page whose last byte comes after so many round trips, and whose late objects come one round trip later."""
    hands = theory.HANDSHAKES[flow.http]
    base_ms = before_ms + (rounds - (flow.objects > 0)) * TRIP_MS
    objects = tuple(
        WebObject(number, base_ms, base_ms + (1 + (number in late)) * TRIP_MS + 0.1)
        for number in range(1, flow.objects + 1)
    )
    first_ms = before_ms + (hands + 1) * TRIP_MS
    visit = PageVisit(before_ms, before_ms + TRIP_MS, before_ms + hands * TRIP_MS, first_ms, base_ms + 0.1, objects)
    return WebResult(flow, origin, (visit,) * flow.visits)


PAGE_FLOW = WebFlow("client", "www", http="2", objects=0, base_bytes=60_000, by_name=True)
PAGE = page(PAGE_FLOW, 5, before_ms=150)
WAYS = {way: page(lab16.flow(way), rounds) for way, rounds in zip(lab16.WAYS, (27, 11, 6, 4, 3), strict=True)}


def alone(size: int, rounds: int) -> WebResult:
    """A file of this size, whose last byte comes so many round trips after TLS."""
    return page(WebFlow("client", "www", http="2", objects=0, base_bytes=size), 2 + rounds)


SIZES: dict[Any, WebResult] = {
    size: alone(size, rounds) for size, rounds in zip(lab16.SIZES, (1, 2, 3, 4), strict=True)
} | {"initcwnd": alone(35_000, 1)}
WARM = {
    "HTTP/2": page(lab16.flow("HTTP/2", visits=2, early_data=True), 3),
    "HTTP/3": page(lab16.flow("HTTP/3", visits=2), 3),
}
LOSSY = {
    "HTTP/2": page(lab16.flow("HTTP/2"), 4, late=(4, 5, 6, 7, 8)),
    "HTTP/3": page(lab16.flow("HTTP/3"), 3, late=(4,)),
}
POISON = {"window": 60, "forged": 1500, "chance": 2.289, "lookups": 1.233e6}
SLOW = page(lab16.flow("HTTP/2"), 4, origin=Origin("t", "7", expected_state(web(40))))
FAST = page(lab16.flow("HTTP/2"), 4)


def test_what_theory_expects_passes() -> None:
    for result in (
        lab16.check_page(PAGE),
        lab16.check_sizes(SIZES),
        lab16.check_ways(WAYS),
        lab16.check_warm(WARM),
        lab16.check_loss(LOSSY),
        judging.check_poison(POISON),
        lab16.check_claim(1, SLOW),
    ):
        assert result.passed, str(result)


def test_a_number_rounded_before_the_next_is_computed_costs_nothing() -> None:
    rounded = POISON | {"forged": 1496, "chance": 2.283, "lookups": 1.2367e6}
    assert judging.check_poison(rounded).passed


def test_each_number_of_bytes_has_a_name_of_its_own() -> None:
    names = [it.description for it in lab16.check_rounds(theory.slow_start_rounds).checks]
    assert len({*names}) == len(names)
    assert not any("e+" in name for name in names)


def longer(result: WebResult, ms: float) -> WebResult:
    """The page, if all of it had come so much later."""
    (visit, *_) = result.visits
    times = {name: getattr(visit, name) + ms for name in ("first_byte_ms", "base_ms")}
    objects = tuple(replace(it, asked_ms=it.asked_ms + ms, loaded_ms=it.loaded_ms + ms) for it in visit.objects)
    return replace(result, visits=(replace(visit, objects=objects, **times),) * len(result.visits))


def with_flow(result: WebResult, **fields: Any) -> WebResult:
    """The result of another flow."""
    return replace(result, flow=replace(result.flow, **fields))


def elsewhere(result: WebResult) -> WebResult:
    """The same on somebody else's network."""
    with using(VARIANT):
        return replace(result, origin=Origin("t", "7", expected_state(web())))


WRONG: Table = {
    lab16.check_page: [
        (page(PAGE_FLOW, 5), "name known"),  # a resolver that had kept the address
        (page(PAGE_FLOW, 4, before_ms=150), "last byte"),  # a larger first window
        (page(PAGE_FLOW, 6, before_ms=150), "last byte"),
        (longer(PAGE, 10), "first byte"),
        (with_flow(PAGE, by_name=False), "by_name"),
        (with_flow(PAGE, http="1.1"), "http"),
        (with_flow(PAGE, base_bytes=1000), "base_bytes"),
        (with_flow(PAGE, objects=8), "objects"),
        (elsewhere(PAGE), "another network"),
    ],
    lab16.check_sizes: [
        (SIZES | {10_000: alone(10_000, 2)}, "10000 bytes"),
        (SIZES | {180_000: alone(180_000, 3)}, "180000 bytes"),
        (SIZES | {35_000: alone(35_000, 1)}, "first window of 10"),  # the window is still 30
        (SIZES | {"initcwnd": alone(35_000, 2)}, "first window of 30"),  # the window was not set
        (SIZES | {35_000: SIZES[10_000]}, "base_bytes"),
        ({size: SIZES[size] for size in lab16.SIZES}, "first window of 30"),
    ],
    lab16.check_ways: [
        (WAYS | {"six": WAYS["keep-alive"]}, "connections"),
        (WAYS | {"HTTP/3": WAYS["HTTP/2"]}, "http"),
        (WAYS | {"HTTP/2": page(lab16.flow("HTTP/2"), 5)}, "page by HTTP/2"),
        (WAYS | {"HTTP/1.0": page(lab16.flow("HTTP/1.0"), 18)}, "page by HTTP/1.0"),
        (WAYS | {"HTTP/2": WARM["HTTP/2"]}, "visits"),
        (WAYS | {"HTTP/2": with_flow(WAYS["HTTP/2"], objects=4)}, "objects"),
        (WAYS | {"HTTP/3": elsewhere(WAYS["HTTP/3"])}, "another network"),
    ],
    lab16.check_warm: [
        (WARM | {"HTTP/2": WAYS["HTTP/2"]}, "visits=2"),
        (WARM | {"HTTP/2": page(lab16.flow("HTTP/2", visits=2), 3)}, "early_data"),
        (WARM | {"HTTP/2": page(lab16.flow("HTTP/2", visits=2, early_data=True), 4)}, "second visit by HTTP/2"),
        (WARM | {"HTTP/3": page(lab16.flow("HTTP/3", visits=2), 2)}, "second visit by HTTP/3"),
    ],
    lab16.check_loss: [
        (LOSSY | {"HTTP/2": WAYS["HTTP/2"]}, "nothing was lost"),
        (LOSSY | {"HTTP/3": page(lab16.flow("HTTP/3"), 3, late=(4, 5))}, "objects 4, 5 came late"),
        (LOSSY | {"HTTP/2": page(lab16.flow("HTTP/2"), 4, late=(3, 4, 5, 6, 7, 8))}, "came late"),
        (LOSSY | {"HTTP/2": page(lab16.flow("HTTP/2"), 4, late=(4,))}, "object 4 came late"),
        (LOSSY | {"HTTP/3": LOSSY["HTTP/2"]}, "http"),
    ],
    judging.check_poison: [
        (POISON | {"window": 150}, "the whole lookup"),
        (POISON | {"window": 30}, "one direction"),
        (POISON | {"forged": 12_000}, "eight times"),
        (POISON | {"chance": 0.02289}, "share of 1"),
        (POISON | {"lookups": 43.69}, "by the id alone"),
        (POISON | {"window": 150, "forged": 3750}, "follows from your window"),
        (POISON | {"forged": 3750, "chance": 5.722}, "follows from your forged"),
        (POISON | {"forged": 3750, "lookups": 4.934e5}, "follows from your forged"),
    ],
}
test_wrong_answers_that_look_right = refused(WRONG)


def test_a_claim_is_shown_by_a_slow_link_and_by_nothing_else() -> None:
    twofold = longer(SLOW, 4 * TRIP_MS)
    for given, says in (
        (FAST, "no tenth of its rate"),
        (twofold, "so it is true here that"),
        (LOSSY["HTTP/3"], "http"),
    ):
        refuses(lab16.check_claim, (1, given), says)
    assert not lab16.check_claim(2, SLOW).passed


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("lookup", {"first": 75, "kept": 0}, "one direction"),
        ("lookup", {"first": 60, "kept": 0}, "nszone alone"),
        ("page", {"name": 150, "first": 240, "page": 550}, "leaves out the lookup"),
        ("page", {"name": 150, "first": 390, "page": 390}, "that is the first byte"),
    ],
)
def test_a_prediction_that_is_off_is_told_why(name: str, given: Mapping[str, float], says: str) -> None:
    commit(lab16.PREDICTIONS, name, given)
    assert says in " ".join(it.said for it in lab16.check_page(PAGE).surprises)


def test_a_kept_address_may_be_predicted_to_take_a_millisecond() -> None:
    commit(lab16.PREDICTIONS, "lookup", {"first": 150, "kept": 1})
    (kept,) = [it for it in lab16.check_page(PAGE).surprises if it.what == "second lookup"]
    assert kept.said == "as theory says"


# --- Theory


def test_a_file_takes_rounds_by_the_logarithm_of_its_size() -> None:
    sizes = {1: 1, 14_480: 1, 14_481: 2, 43_440: 2, 43_441: 3, 1_000_000: 7}
    assert {size: theory.slow_start_rounds(size) for size in sizes} == sizes


def test_a_page_takes_handshakes_and_requests() -> None:
    assert [theory.page_rounds(*way, 8) for way in lab16.WAYS.values()] == [27, 11, 6, 4, 3]
    assert [theory.page_rounds(*way, 0) for way in lab16.WAYS.values()] == [3, 3, 3, 3, 2]
    assert theory.page_rounds("2", 1, 8, warm=True) == 3


def test_each_students_network_has_distances_of_its_own_and_loses_an_object_with_three_behind_it() -> None:
    for network in variants([f"student {number}" for number in range(30)], b"a course secret for trials").values():
        with using(network):
            assert len(web().hosts) == 5
            assert all(rtt_ms(server) >= 2 * course_network().link("L1").delay_ms for server in NAME_SERVERS)
            assert 2 <= lost_object() <= 5
            addresses = {host: web().address_of(host) for host in (*NAME_SERVERS, "www")}
            assert addresses["nstop"] in zones(addresses)["nsroot"][1]


def test_a_resolver_with_another_text_meets_servers_at_other_addresses() -> None:
    met = [
        {network.address_of(host) for host in ("nsroot", "nstop", "nszone", "nssub", "www")}
        for network in (other_web("one"), other_web("two"), other_web("one"))
    ]
    assert met[0] == met[2]
    assert not met[0] & met[1]
    assert not met[0] & {web().address_of(host) for host in (*NAME_SERVERS, "www")}


def test_tables_show_what_is_measured_already() -> None:
    assert figures.page_table(dict.fromkeys(WAYS)) == NOTHING
    assert figures.object_table(dict.fromkeys(LOSSY)) == NOTHING
    assert "HTTP/3" in str(figures.page_table(WAYS | {"six": None}))
    assert "160" in str(figures.object_table(LOSSY))


# --- A resolver


def solved(cell: str) -> str:
    """The text that a cell of the solution assigns."""
    (text,) = [
        it.text for it in read_source(ROOT / "solutions/16-page-in-round-trips.py") if it.cell_id == f"answer-{cell}"
    ]
    kept = [line for line in text.partition("### STARTER")[0].splitlines() if "###" not in line]
    kept += text.partition("### END SOLUTION")[2].splitlines()
    return "\n".join(kept).partition('"""')[2].partition('"""')[0]


FITS, RESOLVE = solved("fits"), solved("resolver")


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ("", "no method fits"),
        ("L2", "no method fits"),
        (FITS, "no method resolve"),
        (FITS + "  x", "line "),
        (FITS + "\n    def resolve(self, name):\n        return None\n", "asks nobody"),
    ],
)
def test_what_is_no_resolver_is_refused_before_a_lab_starts(methods: str, says: str) -> None:
    refuses(judging.check_resolver, (methods,), says)


def changed(old: str, new: str) -> str:
    """The solution's methods with one change."""
    methods = FITS + RESOLVE
    assert old in methods
    return methods.replace(old, new)


ID, QUESTION = "answer.id == query.id", "answer.question == query.question"
FIRST, WHOM, KEEPS, AFTER, OTHER, NOBODY = (
    "first question", "whom it asks", "what it keeps", "after the TTL", "another name", "a name that nobody has"
)  # fmt: skip
OTHER_ID, OTHER_NAME, OTHER_TYPE = (
    "an answer with another id", "an answer for another name", "an answer of another type"
)  # fmt: skip
ADDRESSES = tuple(map(web().address_of, NAME_SERVERS))
WRITTEN_IN = f"""
    def resolve(self, name):
        address, end_s = self.kept.get(name, (None, 0))
        if time.monotonic() < end_s:
            return address, end_s - time.monotonic()
        for server in {ADDRESSES}:
            answer = self.ask(server, name)
            for address, ttl in addresses(answer.answer) if answer else ():
                self.kept[name] = address, time.monotonic() + ttl
                return address, ttl
"""
FOOLED: dict[str, tuple[str, str, set[str]]] = {
    "it believes all": (
        changed(f"{ID} and {QUESTION}", "True"), "believes the forged", {OTHER_ID, OTHER_NAME, OTHER_TYPE}
    ),
    "it compares no id": (changed(f"{ID} and ", ""), "believes the forged", {OTHER_ID}),
    "it compares no question": (changed(f" and {QUESTION}", ""), "believes the forged", {OTHER_NAME, OTHER_TYPE}),
    "it compares no type": (
        changed(QUESTION, "answer.question[0].name == query.question[0].name"), "believes the forged", {OTHER_TYPE}
    ),
    "it refuses all": (changed(ID, "False"), "waits for an answer that fits", {FIRST}),
    "it has the servers written in": (FITS + WRITTEN_IN, "where no name server is", {FIRST}),
    "it keeps nothing": (changed("self.kept[name] = ", "unused = "), "asks again after", {KEEPS}),
    "it keeps for ever": (changed("time.monotonic() + ttl", "time.monotonic() + 1e9"), "left after", {KEEPS, AFTER}),
    "it keeps from its question on": (
        changed("time.monotonic() + ttl", "time.monotonic() - 0.15 + ttl"), "before the TTL", {KEEPS}
    ),
    "it tells the whole TTL": (
        changed("return address, end_s - time.monotonic()", "return address, 7"), "left after", {KEEPS}
    ),
    "it tells what is left as a negative number": (
        changed("end_s - time.monotonic()", "time.monotonic() - end_s"), "0 s are left after", {KEEPS}
    ),
    "it tells nothing of what it keeps": (
        changed("return address, end_s - time.monotonic()", "return None"), "finds no address", {KEEPS}
    ),
    "it cannot read what it keeps": (
        changed("return address, end_s - time.monotonic()", "return end_s[0]"), "raises TypeError", {KEEPS}
    ),
    "it keeps one address for all names": (
        RESOLVE.replace("self.kept.get(name", "self.kept.get(0").replace("self.kept[name]", "self.kept[0]") + FITS,
        "keeps for another name",
        {OTHER, NOBODY},
    ),
    "it returns the address alone": (
        changed("return address, ttl", "return address"), "raises TypeError: resolve returns", {FIRST}
    ),
    "it asks the root alone": (changed("next((address for", "0 and next((address for"), "it asks nsroot", {FIRST}),
    "it asks for a shorter name": (
        changed("self.ask(server, name)", "self.ask(server, name.partition('.')[2])"), "no address", {FIRST}
    ),
    "it raises where no glue is": (
        changed("next((address for address, _ in addresses(answer.additional)), None)",
                "addresses(answer.additional)[0][0]"),
        "raises IndexError", {NOBODY},
    ),
    "it goes on without end": (
        changed("next((address for address, _ in addresses(answer.additional)), None)",
                "next((address for address, _ in addresses(answer.additional)), ROOT)"),
        "questions", {NOBODY},
    ),
}  # fmt: skip


@pytest.mark.lab
@pytest.mark.large
def test_a_resolver_that_looks_right_is_refused_for_its_cause(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(other_web("any"), folder=tmp_path) as lab:
        serve_names(lab, judging.TTL_S)
        later = changed("server = ROOT", f"server = {lab['nszone'].address!r}")
        fooled = FOOLED | {"it knows who serves the zone": (later, "it asks nszone, nssub", {WHOM})}
        for name, (methods, says, rows) in fooled.items():
            failures = [it for it in judging.judged(lab, methods) if not it.passed]
            causes = {it.description for it in failures if "not judged yet" not in it.reason}
            assert causes == rows, (name, failures)
            assert says in " ".join(f"{it.description}: {it.reason}; {it.hint}" for it in failures), (name, failures)
            assert all(it.hint for it in failures), name


@pytest.mark.lab
@pytest.mark.large
@pytest.mark.parametrize("name", ["it has the servers written in", "it compares no type", "it raises where no glue is"])
def test_a_resolver_that_looks_right_is_refused_where_students_are_judged(virtual: Kind, name: str) -> None:
    methods, _, (row,) = FOOLED[name]
    assert row in {it.description for it in judging.check_resolver(methods).checks if not it.passed}


@pytest.mark.lab
@pytest.mark.large
def test_a_line_that_is_no_python_is_named_where_the_resolver_starts(virtual: Kind, tmp_path: Path) -> None:
    methods = FITS + "        return (\n"
    with linklab.start(web(), folder=tmp_path) as lab, pytest.raises(linklab.LabError) as refusal:
        start_resolver(lab, methods)
    assert f"line {len(methods.splitlines())} of your methods" in str(refusal.value)


@pytest.mark.lab
def test_a_resolver_is_judged_by_its_packets(virtual: Kind) -> None:
    result = judging.check_resolver(FITS + RESOLVE)
    assert result.passed, str(result)


@pytest.mark.lab
def test_a_page_takes_what_theory_says_and_the_same_each_time(virtual: Kind, tmp_path: Path) -> None:
    def measured() -> list[PageVisit]:
        with linklab.start(web(), folder=tmp_path) as lab:
            serve_names(lab)
            start_resolver(lab, FITS + RESOLVE)
            found = [run(lab, PAGE_FLOW), *(run(lab, lab16.flow(way)) for way in lab16.WAYS)]
            for way in ("HTTP/2", "HTTP/3"):
                lose_object(lab)
                found.append(run(lab, lab16.flow(way)))
        assert lab16.check_page(found[0]).passed
        assert lab16.check_ways(dict(zip(lab16.WAYS, found[1:6], strict=True))).passed
        assert lab16.check_loss({"HTTP/2": found[6], "HTTP/3": found[7]}).passed
        return [it.visits[0] for it in found]

    assert measured() == measured()
