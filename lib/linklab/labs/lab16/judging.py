"""A student's resolver, judged by the packets that it sends in a lab of the check's own; and how it can be deceived."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from linklab import lab as labs
from linklab.course import course_network
from linklab.errors import LabError
from linklab.files import temporary_folder
from linklab.grade.check import Check, Hints, Refuse, a_kind, listed
from linklab.grade.questions import Slip, Value, as_number, asked, is_missing, stated
from linklab.grade.result import Result, guarded
from linklab.lab import Lab
from linklab.labs.lab16.names import DEEP_NAME, FORGED_NAMES, NAME, serve_names
from linklab.labs.lab16.networks import NAME_SERVERS, SUB, WWW, ZONE, lookup_ms, other_web, rtt_ms
from linklab.labs.lab16.resolving import FORGED, WAIT_S, Asked, Step, head, questions, start_resolver
from linklab.runtime import container

__all__ = ["forger_mbps"]

TTL_S: Final = 7
_MARGIN_S: Final = 0.01
_OTHER: Final = f"mail.{NAME.partition('.')[2]}"
_NOBODY: Final = f"nobody.{NAME.partition('.')[2]}"
_CHAIN: Final = (*NAME_SERVERS, SUB)
"""The name servers that a resolver which knows nothing asks for `DEEP_NAME`."""
_FIRST: Final = "first question"
_FOLLOWS: Final = (
    "a resolver that knows nothing begins at the root, and each answer says whom to ask next",
    "ask ROOT first; while there is no answer, ask the server of the additional section the same question",
)
"""Hints on whom to ask."""
_FORGERIES: Final[Mapping[str, tuple[str, str]]] = {
    "id": ("an answer with another id", "compare answer.id with query.id"),
    "name": ("an answer for another name", "compare answer.question with query.question"),
    "type": ("an answer of another type", "compare the whole answer.question with query.question: name and type"),
}
"""What is wrong with a forged answer, and how to know it."""


@guarded("Lab 16, a resolver")
def check_resolver(methods: object) -> Iterator[Check]:
    """Judge a resolver by its packets: whom it asks, in which order, until when it keeps answers, which it believes."""
    if not isinstance(methods, str):
        reason = "not written yet" if is_missing(methods) else f"this is {a_kind(methods)}"
        raise Refuse("the resolver", reason, "give the text with your two methods: lab16.check_resolver(mine)")
    _refuse_unwritten(methods)
    with (
        temporary_folder() as folder,
        labs.start(other_web(methods), folder=folder, untrusted=not container.chosen(), traced=True) as lab,
    ):
        serve_names(lab, TTL_S)
        yield from judged(lab, methods)


def judged(lab: Lab, methods: str) -> Iterator[Check]:
    """Judge a resolver in a lab of `other_web`, whose name servers let the web server's address be kept for 7 s."""
    steps = [(DEEP_NAME, None, 1), (DEEP_NAME, 0, TTL_S / 2), (DEEP_NAME, 0, TTL_S - _MARGIN_S),
             (DEEP_NAME, 0, TTL_S + _MARGIN_S), (_OTHER, 3, 1), (_NOBODY, 4, 1)]  # fmt: skip
    first, half, before, after, other, nobody = _scene(lab, methods, steps)
    www, zone = lab[WWW].address, lab[ZONE].address
    if _found(first) != www:
        yield from _lost(first, www)
        return
    yield Check.passing(_FIRST, www, www)
    yield _order(first)
    yield _keeps(half, before)
    yield _forgets(half, before, after, www)
    yield _finds("another name", other, zone)
    yield _gives_up(nobody)
    forge = dict(zip(FORGED_NAMES, _FORGERIES, strict=True))
    fooled = _scene(
        lab, methods, [(name, number - 1 if number else None, 1) for number, name in enumerate(forge)], forge
    )
    for kind, it in zip(forge.values(), fooled, strict=True):
        yield _believes(kind, it, www)


def _scene(lab: Lab, methods: str, steps: Sequence[Step], forge: Mapping[str, str] | None = None) -> list[Asked]:
    """Ask a resolver that is started anew: what it did with earlier questions changes nothing here."""
    try:
        start_resolver(lab, methods)
    except LabError as error:
        raise Refuse("the resolver", str(error), "run the cell that starts it, and mend what it says") from None
    return questions(lab, steps, forge)


def _refuse_unwritten(methods: str) -> None:
    """Refuse a text that is no Python, or lacks one of the two methods, before a lab is started for it."""
    try:
        written = {it.name: it for it in ast.walk(ast.parse(head() + methods)) if isinstance(it, ast.FunctionDef)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line - head().count(chr(10))} of your methods: " if line else ""
        said = getattr(error, "msg", str(error))
        raise Refuse("the resolver", f"{where}{said}", "mend this line first: it is no Python yet") from None
    for name in ("fits", "resolve"):
        if name not in written:
            raise Refuse(
                "the resolver", f"it has no method {name}", f"write def {name}(self, ...), indented by 4 blanks"
            )
    if all(isinstance(it, ast.Pass | ast.Return) for it in written["resolve"].body):
        raise Refuse("the resolver", "resolve asks nobody yet", "write it: it begins with self.ask(ROOT, name)")


def _found(asked: Asked) -> str:
    return listed(address for address, _ in asked.found or ()) or "no address"


def _lost(first: Asked, expected: str) -> Iterator[Check]:
    """Judge a resolver that does not find an address at its first question: all else follows from this."""
    found, asked = _found(first), listed(first.servers, ", ") or "nobody"
    strange = next((it for it in first.servers if it not in _CHAIN), None)
    reason, hints = f"the resolver finds {found}; it asks {asked}", _FOLLOWS
    if strange is not None:
        reason = f"it asks {strange}, where no name server is"
        hints = ("all addresses are others here: by what does your resolver learn whom to ask?",
                 "begin at ROOT; addresses(answer.additional) has the next server's address")  # fmt: skip
    elif first.raised:
        reason = f"{reason}; then it raises {first.raised}"
        hints = ("an exception ends resolve before it has the address: which line raises it?",
                 "run the cell that starts your resolver: the traceback stands below the table")  # fmt: skip
    elif first.got_s - first.asked_s > WAIT_S:
        reason = f"{reason}, and waits for an answer that fits until {WAIT_S} s are over"
        hints = ("the right answer came: does fits say so?", "the right one has answer.id == query.id")
    yield Check.failing(_FIRST, reason, hints, expected, found)
    whats = ("whom it asks", "what it keeps", "after the TTL", "another name", "a name that nobody has",
             *(what for what, _ in _FORGERIES.values()))  # fmt: skip
    for what in whats:
        yield _follows(what, "it must find an address first")


def _follows(what: str, cause: str) -> Check:
    """Return the check of what cannot be judged while something else is wrong."""
    return Check.failing(what, f"not judged yet: {cause}", "mend the other row, then run this again")


def _finds(what: str, asked: Asked, expected: str) -> Check:
    found = _found(asked)
    if found == expected:
        return Check.passing(what, expected, found)
    hint = "follow each referral: addresses(answer.additional) has the next server"
    if asked.found and not asked.sent:
        hint = "it answers with what it keeps for another name: keep each address under its own name"
    reason = f"it raises {asked.raised}" if asked.raised else f"the resolver finds {found}"
    return Check.failing(what, reason, hint, expected, found)


def _order(first: Asked) -> Check:
    what, expected = "whom it asks", ", ".join(_CHAIN)
    found = ", ".join(first.servers)
    names = {it.name for it in first.sent}
    if first.servers != [*_CHAIN]:
        return Check.failing(what, f"it asks {found or 'nobody'}", _FOLLOWS, expected, found or "nobody")
    if names != {DEEP_NAME}:
        hint = "ask each server for the whole name"
        return Check.failing(what, f"it asks for {listed(sorted(names))}", hint, DEEP_NAME)
    return Check.passing(what, expected, found)


def _keeps(half: Asked, before: Asked) -> Check:
    what, expected = "what it keeps", f"nobody is asked for {TTL_S} s"
    for asked_again in (half, before):
        if asked_again.raised or not (asked_again.found or asked_again.sent):
            found = f"raises {asked_again.raised}" if asked_again.raised else "finds no address"
            hint = "what does resolve do with an address that it has kept?"
            return Check.failing(what, f"asked again, it {found}", hint, expected, found)
    if half.sent:
        hints: Hints = ("an answer may be kept for its TTL", "self.kept[name] = address, time.monotonic() + ttl")
        return Check.failing(what, f"it asks again after {TTL_S / 2:g} s", hints, expected, "asks again")
    if before.sent:
        hints = ("from when on does the TTL count?", "take time.monotonic() when the answer is there, not before")
        reason = f"it asks again {1000 * _MARGIN_S:g} ms before the TTL ends"
        return Check.failing(what, reason, hints, expected, "asks too early")
    left_s = next((ttl_s for _, ttl_s in half.found or ()), 0.0)
    if abs(left_s - TTL_S / 2) > 1:
        hints = ("whoever asks keeps it as well, and must not keep it for longer than you",
                 "return the seconds that are left: the end minus time.monotonic()")  # fmt: skip
        reason = f"{left_s:g} s are left after {TTL_S / 2:g} of {TTL_S} s"
        return Check.failing(what, reason, hints, expected, f"{left_s:g} s")
    return Check.passing(what, expected)


def _forgets(half: Asked, before: Asked, after: Asked, www: str) -> Check:
    what, expected = "after the TTL", f"asks anew {1000 * _MARGIN_S:g} ms later, and {SUB} at last"
    if before.sent and not half.sent:
        return _follows(what, "it asks anew too early")
    if not after.raised and (not after.sent or after.servers[-1] != SUB):
        hints = ("after the TTL nothing is known of the address", "compare the end that you kept with time.monotonic()")
        reason = f"it asks {listed(after.servers, ', ') or 'nobody'}"
        return Check.failing(what, reason, hints, expected, reason)
    return _finds(what, after, www)


def _gives_up(nobody: Asked) -> Check:
    what, expected = "a name that nobody has", "no address"
    end = "an answer without an address and without a referral is the end: return None"
    if nobody.found:
        found = _found(nobody)
        return Check.failing(
            what, f"the resolver answers {found}", "return None where no address is found", expected, found
        )
    if nobody.raised:
        hints = ("what do the sections of the last answer hold here?", end)
        return Check.failing(what, f"it raises {nobody.raised}", hints, expected, nobody.raised)
    if len(nobody.sent) > 2 * len(_CHAIN):
        return Check.failing(what, f"it sends {len(nobody.sent)} questions", end, expected, "it goes on asking")
    return Check.passing(what, expected)


def _believes(kind: str, fooled: Asked, expected: str) -> Check:
    what, step = _FORGERIES[kind]
    found = _found(fooled)
    if found == expected:
        return Check.passing(what, f"is not believed: {expected}", found)
    hints: Hints = (
        "whoever guesses when you ask can send an answer: what of your question must the right one have?",
        step,
    )
    reason = f"it believes the forged {FORGED}" if found == FORGED else f"the resolver finds {found}"
    if fooled.raised:
        reason = f"it raises {fooled.raised}"
    return Check.failing(what, reason, hints, expected, found)


# --- Forged answers

_IDS: Final = 2**16
_PORTS: Final = 28_232
"""Ports that Linux chooses from: 32768 to 60999 (``net.ipv4.ip_local_port_range``)."""
_FORGED_BYTES: Final = 100
_ROUNDED: Final = 0.02
"""A number this near to the right one, relative to it, is taken for a rounded one."""


def forger_mbps() -> float:
    """Return the rate at which forged answers arrive, in Mbit/s: that of the course network's L3."""
    return course_network().link("L3").rate_mbps or 0.0


@guarded
def check_poison(answers: object) -> Result:
    """Judge how long a resolver can be deceived, by how many answers, and with which chance."""
    rate_mbps = forger_mbps()
    window_ms = rtt_ms(ZONE)
    count = rate_mbps * 1000 * window_ms / (8 * _FORGED_BYTES)
    chance, rare = 100 * count / _IDS, _IDS * _PORTS / count
    window = "from the question to the right answer: after that nothing is believed any more"
    per = "an answer has 8 * 100 bits: how many fit into the window at this rate?"
    each = "each forged answer has another id: how large a part of all ids is that?"
    lookups = "id and port must both be right, so there are 65536 * 28232 pairs"
    given_ms, given = (_given(answers, key) for key in ("window", "forged"))
    values = (
        Value("window", "how long forged answers count", stated(window_ms, "ms", window),
              (window, f"how far is {ZONE}?", "the round trip to the last name server"),
              (Slip(lookup_ms(), "that is the whole lookup", f"the forger names {ZONE} as the sender"),),
              round_trip=True),
        Value("forged", "forged answers", stated(count, "packets", per), (per, f"{rate_mbps:g} Mbit/s for the window",
              "rate * window / 800 bits"), _consequence("window", given_ms, window_ms, count * given_ms / window_ms)),
        Value("chance", "chance by the id alone", stated(chance, "%", each), (each, "65536 ids",
              "100 * forged / 65536"), _consequence("forged", given, count, chance * given / count)),
        Value("lookups", "lookups by id and port", stated(rare, "", lookups), (lookups, "and forged pairs a lookup",
              "65536 * 28232 / forged"), (*_consequence("forged", given, count, rare * count / (given or 1)),
              Slip(_IDS / count, "that is by the id alone", lookups),
              Slip(_PORTS / count, "that is by the port alone", lookups))),
    )  # fmt: skip
    example = '{"window": ..., "forged": ..., "chance": ..., "lookups": ...}'
    return asked("Lab 16, forged answers", answers, values, example)


def _given(answers: object, key: str) -> float:
    """Return a number that a student gave; NaN where there is none."""
    return as_number(answers.get(key)) if isinstance(answers, Mapping) else math.nan


def _consequence(key: str, given: float, right: float, value: float) -> tuple[Slip, ...]:
    """Return the slip of a number that is computed rightly from a wrong one, which stands under ``key``."""
    if math.isnan(given) or abs(given / right - 1) < _ROUNDED:
        return ()
    return (Slip(value, f"that follows from your {key}", f"mend {key} first, and compute this again"),)
