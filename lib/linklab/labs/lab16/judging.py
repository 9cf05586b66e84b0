"""A student's resolver, judged by the packets that it sends in a lab of the check's own; and how it can be deceived."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from linklab import lab as labs
from linklab.course import course_network
from linklab.errors import LabError
from linklab.files import temporary_folder
from linklab.grade.check import Check, Hints, Refuse, a_kind, listed
from linklab.grade.questions import Slip, Value, asked, is_missing, stated
from linklab.grade.result import Result, guarded
from linklab.lab import Lab
from linklab.labs.lab16.names import NAME, serve_names
from linklab.labs.lab16.networks import NAME_SERVERS, WWW, ZONE, lookup_ms, rtt_ms, web
from linklab.labs.lab16.resolving import FORGED, Asked, head, questions, start_resolver
from linklab.runtime import container

__all__ = ["forger_mbps"]

TTL_S: Final = 7
_MARGIN_S: Final = 0.01
_OTHER: Final = f"mail.{NAME.partition('.')[2]}"
_NOBODY: Final = f"nobody.{NAME.partition('.')[2]}"


@guarded("Lab 16, a resolver")
def check_resolver(methods: object) -> Iterator[Check]:
    """Judge a resolver by its packets: whom it asks, in which order, until when it keeps answers, which it believes."""
    if not isinstance(methods, str):
        reason = "not written yet" if is_missing(methods) else f"this is {a_kind(methods)}"
        raise Refuse("the resolver", reason, "give the text with your two methods: lab16.check_resolver(mine)")
    _refuse_unwritten(methods)
    with (
        temporary_folder() as folder,
        labs.start(web(), folder=folder, untrusted=not container.chosen(), traced=True) as lab,
    ):
        serve_names(lab, TTL_S)
        yield from judged(lab, methods)


def judged(lab: Lab, methods: str) -> Iterator[Check]:
    """Judge a resolver in a lab of this network, whose name servers let the web server's address be kept for 7 s."""
    try:
        resolver = start_resolver(lab, methods)
    except LabError as error:
        raise Refuse("the resolver", str(error), "run the cell that starts it, and mend what it says") from None
    steps = [(NAME, None, 1), (NAME, 0, TTL_S / 2), (NAME, 0, TTL_S - _MARGIN_S),
             (NAME, 0, TTL_S + _MARGIN_S), (_OTHER, 3, 1), (_NOBODY, 4, 1)]  # fmt: skip
    first, half, before, after, other, nobody = questions(lab, steps)
    said = resolver.output.strip().splitlines()
    yield _finds("first question", first, WWW, said)
    yield from _order(first)
    yield from _keeps(half, before, after, said)
    yield _finds("another name", other, ZONE, said)
    yield _gives_up(nobody)
    for kind, what in (("id", "an answer with another id"), ("question", "an answer to another question")):
        (fooled,) = questions(lab, [(NAME, None, 2 * TTL_S)], kind)
        yield _believes(what, kind, fooled)


def _refuse_unwritten(methods: str) -> None:
    """Refuse a text that is no Python, or lacks one of the two methods, before a lab is started for it."""
    try:
        written = {it.name for it in ast.walk(ast.parse(head() + methods)) if isinstance(it, ast.FunctionDef)}
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


def _found(asked: Asked) -> str:
    return listed(address for address, _ in asked.found or ()) or "no address"


def _finds(what: str, asked: Asked, server: str, said: Sequence[str]) -> Check:
    expected, found = web().address_of(server), _found(asked)
    if found == expected:
        return Check.passing(what, expected, found)
    hint = (
        f"it printed: {said[-1]}" if said else "follow each referral: addresses(answer.additional) has the next server"
    )
    if asked.found and len(asked.sent) < 1:
        hint = "it answers with what it keeps for another name: keep each address under its own name"
    return Check.failing(what, f"the resolver finds {found}", hint, expected, found)


def _order(first: Asked) -> Iterator[Check]:
    what, expected = "whom it asks", ", ".join(NAME_SERVERS)
    found = ", ".join(first.servers)
    names = {it.name for it in first.sent}
    if first.servers != [*NAME_SERVERS]:
        hints: Hints = (
            "a resolver that knows nothing begins at the root, and each answer says whom to ask next",
            "ask ROOT first; while there is no answer, ask the server of the additional section the same question",
        )
        yield Check.failing(what, f"it asks {found or 'nobody'}", hints, expected, found or "nobody")
    elif names != {NAME}:
        yield Check.failing(what, f"it asks for {listed(sorted(names))}", "ask each server for the whole name", NAME)
    else:
        yield Check.passing(what, expected, found)


def _keeps(half: Asked, before: Asked, after: Asked, said: Sequence[str]) -> Iterator[Check]:
    what, expected = "what it keeps", f"nobody is asked for {TTL_S} s"
    left = (half.found or ((None, TTL_S),))[0][1]
    if half.sent:
        hints: Hints = ("an answer may be kept for its TTL", "self.kept[name] = address, time.monotonic() + ttl")
        yield Check.failing(what, f"it asks again after {TTL_S / 2:g} s", hints, expected, "asks again")
    elif before.sent:
        hints = ("from when on does the TTL count?", "take time.monotonic() when the answer is there, not before")
        reason = f"it asks again {1000 * _MARGIN_S:g} ms before the TTL ends"
        yield Check.failing(what, reason, hints, expected, "asks too early")
    elif left > TTL_S / 2 + 1:
        hints = ("whoever asks keeps it as well, and must not keep it for longer than you",
                 "return the seconds that are left: the end minus time.monotonic()")  # fmt: skip
        yield Check.failing(
            what, f"{left:g} s are left after {TTL_S / 2:g} of {TTL_S} s", hints, expected, f"{left:g} s"
        )
    else:
        yield Check.passing(what, expected)
    what, expected = "after the TTL", f"asks anew {1000 * _MARGIN_S:g} ms later, and {ZONE} at last"
    if not after.sent or after.servers[-1] != ZONE:
        hints = ("after the TTL nothing is known of the address", "compare the end that you kept with time.monotonic()")
        reason = f"it asks {listed(after.servers, ', ') or 'nobody'}"
        yield Check.failing(what, reason, hints, expected, reason)
    else:
        yield _finds(what, after, WWW, said)


def _gives_up(nobody: Asked) -> Check:
    what, expected = "a name that nobody has", "no address"
    if nobody.found:
        found = _found(nobody)
        return Check.failing(
            what, f"the resolver answers {found}", "return None where no address is found", expected, found
        )
    if len(nobody.sent) > 2 * len(NAME_SERVERS):
        hint = "an answer without an address and without a referral is the end: return None"
        return Check.failing(what, f"it sends {len(nobody.sent)} questions", hint, expected, "it goes on asking")
    return Check.passing(what, expected)


def _believes(what: str, kind: str, fooled: Asked) -> Check:
    expected, found = web().address_of(WWW), _found(fooled)
    if found == expected:
        return Check.passing(what, f"is not believed: {expected}", found)
    hints: Hints = (
        "whoever guesses when you ask can send an answer: by what is the right one known?",
        "compare answer.id with query.id" if kind == "id" else "compare answer.question with query.question",
    )
    reason = f"it believes the forged {FORGED}" if found == FORGED else f"the resolver finds {found}"
    return Check.failing(what, reason, hints, expected, found)


# --- Forged answers

_IDS: Final = 2**16
_PORTS: Final = 28_232
"""Ports that Linux chooses from: 32768 to 60999 (``net.ipv4.ip_local_port_range``)."""
_FORGED_BYTES: Final = 100


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
    values = (
        Value("window", "how long forged answers count", stated(window_ms, "ms", window),
              (window, f"how far is {ZONE}?", "the round trip to the last name server"),
              (Slip(lookup_ms(), "that is the whole lookup", f"the forger names {ZONE} as the sender"),),
              round_trip=True),
        Value("forged", "forged answers", stated(count, "packets", per), (per, f"{rate_mbps:g} Mbit/s for the window",
              "rate * window / 800 bits")),
        Value("chance", "chance by the id alone", stated(chance, "%", each), (each, "65536 ids",
              "100 * forged / 65536")),
        Value("lookups", "lookups by id and port", stated(rare, "", lookups), (lookups, "and forged pairs a lookup",
              "65536 * 28232 / forged"), (Slip(_IDS / count, "that is by the id alone", lookups),
              Slip(_PORTS / count, "that is by the port alone", lookups))),
    )  # fmt: skip
    example = '{"window": ..., "forged": ..., "chance": ..., "lookups": ...}'
    return asked("Lab 16, forged answers", answers, values, example)
