"""What Lab 16, A page in round trips, asks of a page's parts, and how it is judged; its resolver: `judging`.

Time is counted in round trips to each server. Theory is exact, since the links are fast and computing takes no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.tcp_model import INITIAL_WINDOW_PACKETS
from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import letter
from linklab.grade.measured import measured
from linklab.grade.path_questions import DATA_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.grade.wanted import Field, Wanted, exactly, refuse_another_network, require_result
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab16.networks import CLIENT, NAME_SERVERS, TOP, WWW, ZONE, lookup_ms, lost_object, rtt_ms, web
from linklab.labs.lab16.theory import page_rounds, slow_start_rounds, waiting
from linklab.measure import PageVisit, WebFlow, WebResult

__all__ = ["SIZES", "WAYS", "flow"]

_FOLDER: Final = Path(__file__).parent
ENDS: Final = (CLIENT, WWW)
OBJECTS: Final = 8
PAGE_BYTES: Final = 60_000
"""The first page's only file."""
SIZES: Final = (10_000, 35_000, 80_000, 180_000)
"""Files that are loaded alone, in bytes."""
_WIDE: Final = 30
"""Segments of the larger first window that the student sets."""
WAYS: Final[Mapping[str, tuple[str, int]]] = {
    "HTTP/1.0": ("1.0", 1), "keep-alive": ("1.1", 1), "six": ("1.1", 6), "HTTP/2": ("2", 1), "HTTP/3": ("3", 1),
}  # fmt: skip
"""Ways to load a page: the version of HTTP, and how many connections at a time."""
_SLACK_MS: Final = 5.0
"""What a page takes besides round trips: up to 70 packets on the access link, 0.03 ms each, and programs' questions for
the time, of which QUIC asks hundreds. Measured in trials: 0.02 to 2.1 ms."""
_EARLY_MS: Final = 0.05
_LOCAL_MS: Final = 1.0
"""Upper limit, in ms, of a lookup that the resolver on the client answers by itself."""


def flow(way: str, **more: Any) -> WebFlow:
    """Return the flow that loads the page of eight objects in one of `WAYS`; ``more`` are other fields of a WebFlow."""
    http, connections = WAYS[way]
    return WebFlow(*ENDS, http=http, connections=connections, **more)  # type: ignore[arg-type]


# --- Runs


def _took(rounds: float, more_ms: float = 0.0, why: str = "", source: str = "") -> Expectation:
    """Return the expectation of so many round trips to the web server, and ``more_ms``."""
    right = rounds * rtt_ms(WWW) + more_ms
    return Expectation(
        right, right - _EARLY_MS, right + _SLACK_MS, "ms", why or f"{rounds:g} round trips of {rtt_ms(WWW):g} ms",
        "low", source=source or "RFC 9293, RFC 8446, RFC 9000",
        allowance=f"{_SLACK_MS:g} ms for packets on the access link, and for programs that ask for the time",
    )  # fmt: skip


_HOW: Final = "keep what measure.run returns"


def _result(what: str, given: object, *fields: Field) -> WebResult:
    """Return the result of a page that is loaded on this lab's network, with these fields."""
    result = require_result(what, given, Wanted(WebFlow, ENDS, fields), _HOW)
    refuse_another_network(what, result.origin.network, web())
    return result


def _by_way(way: str) -> tuple[Field, ...]:
    http, connections = WAYS[way]
    return (
        exactly("http", http),
        exactly("connections", connections),
        exactly("by_name", False, "omit by_name=: names are not in question here"),
    )


_ONCE: Final = (exactly("visits", 1, "omit visits="), exactly("early_data", False, "omit early_data="))
_USUAL: Final = (exactly("objects", OBJECTS), exactly("object_bytes", 1000), exactly("base_bytes", 1000))
"""The page of eight objects."""


# --- Names

_LOOKUP_MS: Final = "a resolver that knows nothing asks root, top-level and authoritative server, one after another"


def _lookup() -> list[Value]:
    slips = (
        *(Slip(rtt_ms(server), f"that is {server} alone", _LOOKUP_MS) for server in NAME_SERVERS),
        Slip(max(map(rtt_ms, NAME_SERVERS)), "that is the farthest alone", _LOOKUP_MS),
        Slip(rtt_ms(TOP) + rtt_ms(ZONE), "that leaves out the root", _LOOKUP_MS),
        Slip(lookup_ms() + rtt_ms(WWW), "that asks the web server too", "the authority knows its address"),
    )
    first = stated(lookup_ms(), "ms", "one round trip to each of three servers")
    none = Expectation(0.0, 0.0, _LOCAL_MS, "ms", "the resolver has kept the address", allowance="time of programs")
    kept = Value("kept", "second lookup", none, "who must be asked for what the client knows?")
    return [Value("first", "first lookup", first, _LOOKUP_MS, slips, round_trip=True), kept]


check_glue = letter("Lab 16, a referral", _FOLDER, "glue")
"""Judge the letter: how a resolver learns the address of a server whose name lies in the server's own zone."""


# --- The first page

_PARTS: Final[Mapping[str, tuple[str, float]]] = {
    "name": ("name known", 0), "connected": ("TCP open", 1), "secure": ("TLS ready", 2), "first": ("first byte", 3),
    "page": ("last byte", 2 + slow_start_rounds(PAGE_BYTES)),
}  # fmt: skip
"""The parts of the first page, by their keys: what is there then, after how many round trips to the web server."""


def _first_page() -> list[Value]:
    named_ms, trip_ms = lookup_ms(), rtt_ms(WWW)
    values = []
    for key in ("name", "first", "page"):
        what, rounds = _PARTS[key]
        right = named_ms + rounds * trip_ms
        hint = "first the name, then TCP, then TLS 1.3, then the request: each takes one round trip"
        slips = [
            Slip(rounds * trip_ms, "that leaves out the lookup of the name", hint),
            Slip(right - trip_ms, "that is a round trip less", hint),
            Slip(right + trip_ms, "that is a round trip more", hint),
        ]
        if key == "page":
            step = f"{INITIAL_WINDOW_PACKETS} segments come in the first round trip, twice as many in the next"
            slips.insert(0, Slip(named_ms + 3 * trip_ms, "that is the first byte", step))
        values.append(Value(key, what, stated(right, "ms", hint), hint, slips))
    return values


_PAGE: Final = "Lab 16, the first page"


def _page(given: object) -> Iterator[Check]:
    result = _result(
        "the page", given, exactly("by_name", True, "by_name=True looks the name up first"),
        exactly("base_bytes", PAGE_BYTES), exactly("objects", 0), exactly("http", "2"), *_ONCE,
    )  # fmt: skip
    hints = "was the resolver started anew, so that it had kept nothing? Does it pass its check?"
    for key, (what, rounds) in _PARTS.items():
        why = "three name servers" + (f", then {rounds:g} round trips to the web server" if rounds else "")
        yield measured(what, _parts(result.visits[0])[key], _took(rounds, more_ms=lookup_ms(), why=why), hints)


def _parts(visit: PageVisit) -> dict[str, float]:
    return {"name": visit.name_ms, "connected": visit.connected_ms, "secure": visit.secure_ms,
            "first": visit.first_byte_ms, "page": visit.page_ms}  # fmt: skip


@guarded(_PAGE)
def check_page(given: Any) -> Result:
    """Judge a page of 60,000 bytes over HTTP/2 whose name is looked up first: when each of its parts was there."""
    result = Result(_PAGE, tuple(_page(given)))
    found = _parts(given.visits[0]) if result.passed else {}
    whole = PREDICTIONS.compared(result, "lookup", {"first": found.get("name"), "kept": None})
    return PREDICTIONS.compared(whole, "page", found)


# --- Slow start

_ROUNDS: Final = Trial(
    slow_start_rounds,
    {
        "one byte": (1,),
        "a first window, 14480 bytes": (INITIAL_WINDOW_PACKETS * DATA_BYTES,),
        "a byte more, 14481 bytes": (INITIAL_WINDOW_PACKETS * DATA_BYTES + 1,),
        "three windows, 43440 bytes": (3 * INITIAL_WINDOW_PACKETS * DATA_BYTES,),
        "60000 bytes": (60_000,),
        "1000000 bytes": (1_000_000,),
    },
    (
        "how many segments may be sent in the first round trip, and how many in the next?",
        "count rounds: while less was sent than the file has, add the window, and double it",
        "rounds, window, sent = 0, 10, 0; while sent * 1448 < size_bytes: rounds += 1; sent += window; window *= 2",
    ),
    (
        Formula(lambda size: slow_start_rounds(size, growth=1), "that is without growth", "the window doubles"),
        Formula(lambda size: slow_start_rounds(size, 1), "that begins with one segment", "RFC 6928 allows ten"),
        Formula(lambda size: slow_start_rounds(size, 4), "that begins with four segments", "RFC 6928 allows ten"),
        Formula(lambda size: slow_start_rounds(size) - 1, "that is one round less", "the first window takes one too"),
    ),
)


@guarded("Lab 16, rounds of slow start")
def check_rounds(function: object) -> Sequence[Check]:
    """Judge a function of a file's bytes that returns its round trips from the request on."""
    return [replace(it, description=it.description.partition(": ")[0]) for it in _ROUNDS.checks(function)]


_EIGHTEEN: Final = """\
Eighteen times as many bytes took twice as long: 180,000 bytes take six round trips, 10,000 bytes take three. Two are \
handshakes in both cases, and the window doubles in each of the others."""


@guarded
def check_sizes(runs: object) -> Result:
    """Judge files of `SIZES` that are loaded alone over HTTP/2, and one of them with a first window of 30 segments."""

    def judge(key: Any, given: object) -> Check:
        size, window = (SIZES[1], _WIDE) if key == "initcwnd" else (key, INITIAL_WINDOW_PACKETS)
        what = f"{size} bytes, first window of {window}"
        result = _result(what, given, *_by_way("HTTP/2"), *_ONCE, exactly("objects", 0), exactly("base_bytes", size))
        expected = _took(2 + slow_start_rounds(size, window), source="RFC 6928, RFC 5681")
        begins = f"ip route on www says it; {INITIAL_WINDOW_PACKETS} where it says nothing"
        hint = f"with which window did the server begin? {begins}"
        return measured(what, result.visits[0].base_ms, expected, (hint, f"theory: {expected.explanation}"))

    example = f"{{{SIZES[0]}: measure.run(lab, measure.WebFlow(...)), ...}}"
    result = asked_each("Lab 16, files of four sizes", runs, (*SIZES, "initcwnd"), judge, example)
    if not result.passed:
        return result
    *others, last = result.checks
    return replace(result, checks=(*others, replace(last, explanation=_EIGHTEEN)))


# --- Ways to load a page

_SLOWEST: Final = "count the handshakes of each connection (2 round trips; QUIC 1), and one round trip for each request"


def _ways() -> list[Value]:
    values = []
    for way, (http, connections) in WAYS.items():
        right = page_rounds(http, connections, OBJECTS)
        hints: Hints = (_SLOWEST, "the objects are known when the base file is there: then who waits for whom?")
        slips = (
            Slip(right - 1, "that is one round trip less", _SLOWEST),
            Slip(right + 1, "that is one round trip more", _SLOWEST),
            Slip(OBJECTS + 1, "that is one for each file", _SLOWEST),
            Slip((OBJECTS + 1) * 2, "that is two for each file", "TLS takes a round trip besides TCP's"),
        )
        values.append(Value(way, f"page by {way}", stated(right, "round trips", _SLOWEST), hints, slips))
    return values


@guarded
def check_ways(runs: Any) -> Result:
    """Judge the page of eight objects in each of `WAYS`: how many round trips it took."""

    def judge(way: Any, given: object) -> Check:
        what = f"page by {way}"
        result = _result(what, given, *_by_way(way), *_ONCE, *_USUAL)
        return measured(what, result.page_ms, _took(page_rounds(*WAYS[way], OBJECTS)))

    example = '{"HTTP/1.0": measure.run(lab, lab16.flow("HTTP/1.0")), ...}'
    result = asked_each("Lab 16, five ways", runs, WAYS, judge, example)
    found = {way: runs[way].page_ms / rtt_ms(WWW) for way in WAYS} if result.passed else {}
    return PREDICTIONS.compared(result, "ways", found)


# --- A second visit


@guarded
def check_warm(runs: object) -> Result:
    """Judge second visits: over HTTP/2 with early data, and over HTTP/3, for which the lab's curl has none."""

    def judge(way: Any, given: object) -> Iterator[Check]:
        early = way == "HTTP/2"
        what = f"second visit by {way}"
        result = _result(
            what, given, *_by_way(way), exactly("visits", 2, "visits=2 loads the page twice"),
            exactly("early_data", early, f"early_data={early}"), *_USUAL,
        )  # fmt: skip
        rounds = page_rounds(*WAYS[way], OBJECTS, warm=early)
        yield measured(
            what, result.page_ms, _took(rounds, source="RFC 8446, sections 2.2 and 2.3; RFC 9001, section 4")
        )

    return asked_each("Lab 16, a second visit", runs, ("HTTP/2", "HTTP/3"), judge, '{"HTTP/2": ..., "HTTP/3": ...}')


check_early = letter("Lab 16, early data", _FOLDER, "early")
"""Judge the letter: which requests a server may take from early data."""


# --- A lost packet


def late_objects(visit: PageVisit) -> tuple[int, ...]:
    """Return the objects that came half a round trip or more after one round trip, by number."""
    late_ms = visit.base_ms + 1.5 * rtt_ms(WWW)
    return tuple(sorted(it.number for it in visit.objects if it.loaded_ms > late_ms))


def _loss() -> list[Value]:
    lost, values = lost_object(), []
    for way in ("HTTP/2", "HTTP/3"):
        right = len(waiting(WAYS[way][0], lost, OBJECTS))
        hint = "which bytes may the receiver hand to the browser while a packet is missing?"
        other = len(waiting("3" if way == "HTTP/2" else "2", lost, OBJECTS))
        slips = (
            Slip(OBJECTS, "that is all objects", "those before the lost one are complete"),
            Slip(other, "that is the other version's", hint),
            Slip(OBJECTS - lost, "that leaves out the lost one", "the lost object waits too"),
            Slip(0, "that is none", "the lost one must be sent again"),
        )
        values.append(Value(way, f"objects that wait, {way}", stated(right, "", hint), hint, slips))
    return values


@guarded
def check_loss(runs: Any) -> Result:
    """Judge the page with one lost packet, over HTTP/2 and HTTP/3: which objects waited, and for how long."""

    def judge(way: Any, given: object) -> Iterator[Check]:
        what, lost = f"objects that wait, {way}", lost_object()
        visit = _result(what, given, *_by_way(way), *_ONCE, *_USUAL).visits[0]
        late, right = late_objects(visit), waiting(WAYS[way][0], lost, OBJECTS)
        expected, found = _numbers(right), _numbers(late)
        if late != right:
            hints: Hints = (
                "call lab16.lose_object(lab) right before each of both runs: it loses one packet of the next page",
                f"object {lost} must be lost, and nothing else: is the page the usual one?",
            )
            reason = "nothing was lost" if not late else f"{found} came late"
            yield Check.failing(what, reason, hints, expected, found)
            return
        yield Check.passing(what, expected, found)
        waited = [it.loaded_ms - visit.base_ms for it in visit.objects if it.number in late]
        why = "one round trip, and one more until the packet is sent again"
        yield measured(
            f"the last of them, {way}", max(waited), _took(2, why=why, source="RFC 6675; RFC 9002, section 6.1")
        )

    result = asked_each("Lab 16, a lost packet", runs, ("HTTP/2", "HTTP/3"), judge, '{"HTTP/2": ..., "HTTP/3": ...}')
    visits = {way: runs[way].visits[0] for way in ("HTTP/2", "HTTP/3")} if result.passed else {}
    return PREDICTIONS.compared(result, "loss", {way: float(len(late_objects(it))) for way, it in visits.items()})


def _numbers(objects: Sequence[int]) -> str:
    return f"object{'s'[: len(objects) - 1]} {', '.join(map(str, objects))}" if objects else "none"


PREDICTIONS: Final = Predictions("Lab 16", {"lookup": _lookup, "page": _first_page, "ways": _ways, "loss": _loss})


# --- A claim to test


def _slower(given: object) -> Check:
    what = "what the run shows"
    result = require_result(what, given, Wanted(WebFlow, ENDS, (*_by_way("HTTP/2"), *_ONCE, *_USUAL)), _HOW)
    state = result.origin.network
    face = None if state is None else state.interface("r1", "r1-eth1")
    tenth_mbps = (web().link("r1-r2").rate_mbps or 0.0) / 10
    rate_mbps = face.shape.rate_mbps if face is not None else None
    if rate_mbps is None or rate_mbps > 1.01 * tenth_mbps:
        reason, tenth = "the access link is no tenth of its rate", f"{tenth_mbps:g} Mbit/s"
        hint = f"start another lab, slow, with lab16.web({tenth_mbps:g}), and load the page there"
        raise Refuse(what, reason, hint, tenth, f"{rate_mbps} Mbit/s")
    refuse_another_network(what, state, web(rate_mbps))
    page_ms, trips_ms = result.page_ms or 0.0, page_rounds("2", 1, OBJECTS) * rtt_ms(WWW)
    return contradicts(
        "with a tenth of the rate the page takes at least twice as long",
        f"with {rate_mbps:g} Mbit/s the page took {page_ms:.4g} ms, and its round trips take {trips_ms:g} ms",
        is_wrong=page_ms < 2 * trips_ms,
        step="load the page of eight objects over HTTP/2, as lab16.flow('HTTP/2') does",
    )


check_claim = claim("Lab 16, a claim to test", _FOLDER, _slower)
"""Judge the number of the wrong sentence on pages, and the run that shows it."""
