"""Step many: several clients at once, restarts, and peers that do not play by the rules."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from linklab.programs.simpleperf import trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.dialect import Talk, shown
from linklab.programs.simpleperf.evidence import Take
from linklab.programs.simpleperf.judge_transfer import needs
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown

KEYS = keys_of("many")
LONG_S = 8
_IN_USE: Final = re.compile(r"address (?:is )?already in use|Errno 98|EADDRINUSE", re.I)
_OF_GARBAGE: Final = re.compile(r"Decode|invalid literal for int|could not convert string|^struct\.error")
_ANSWER_S = 6.0
_DATA_BYTES = 3000
# Bytes in an order that no text has; a server may try to decode them.
_GARBAGE: Final = bytes((number * 151 + 97) % 256 for number in range(1500))
_LEAVES, _RESETS, _ENDS, _RANDOM, _SILENT = (
    "a client that leaves at once",
    "a client that resets its connection",
    "a client that ends without the end message",
    "a client that sends random bytes",
    "a client that stays silent",
)


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why[0], needs=why[1])
        return
    concurrent = _concurrent(session)
    yield concurrent
    yield _restart(session)
    # before the peers that may send a server into an endless loop: after too many of those nothing is tried any more
    ends = list(_ends(session))
    if Mistake.ONE_CLIENT_ONLY in concurrent.candidates[:1]:
        yield from all_unknown(KEYS[2:4], "needs a server that goes on after its first client", needs="concurrent")
    else:
        yield from _abrupt(session, concurrent.passed)
    yield from ends


def _concurrent(session: Session) -> ConformanceCheck:
    """The second client is served while the first one sends: the relay sees who is answered when."""
    take = session.pair("two clients", [(0.0, ["-t", str(LONG_S)]), (2.0, ["-t", "1"])], relay=session.paced())
    expected = f"the second client, there from 2 s to 3 s, is served before the first ends, which sends for {LONG_S} s"
    found = trouble.breach(take)
    if found is not None:
        return failed("concurrent", found.mistake, found.reason, expected, quotes=found.quotes)
    if len(take.tried) < 2:
        found = trouble.of(take)
        reason = found.reason if found else "the second client did not connect"
        return failed(
            "concurrent",
            found.mistake if found else Mistake.NO_CONNECTION,
            reason,
            expected,
            quotes=found.quotes if found else (),
        )
    talking = [one for one in take.tried if one.carried or one.refused]
    first, second = sorted(talking if len(talking) > 1 else take.tried, key=lambda one: one.came_s)[:2]
    crashed = trouble.crash(take.server)
    if second.refused or (not take.alive and second.acknowledged_s is None):
        ended = "" if take.alive else f"; the server ended and said: {take.server.last_words()}"
        reason = f"while the first client sent, the second one was refused{ended}"
        alone: tuple[Mistake, ...] = (Mistake.ONE_CLIENT_ONLY, Mistake.REFUSES, Mistake.ONE_AT_A_TIME)
        if crashed is not None and crashed.mistake is Mistake.TRACEBACK:
            return failed("concurrent", (Mistake.TRACEBACK, *alone), crashed.reason, expected, quotes=crashed.quotes)
        return failed("concurrent", alone, reason, expected)
    if second.acknowledged_s is None:
        reason = "the second client was never answered"
        return failed("concurrent", (Mistake.ONE_AT_A_TIME, Mistake.ONE_CLIENT_ONLY), reason, expected)
    found_text = f"the first sent until {first.sent_s:.1f} s, the second was answered at {second.acknowledged_s:.1f} s"
    if second.acknowledged_s >= first.sent_s:
        reason = "the second client was answered only when the first had ended"
        return failed("concurrent", Mistake.ONE_AT_A_TIME, reason, expected, found_text)
    if first.acknowledged_s is None:
        reason = "the second client was served, and the first was not answered any more"
        mistakes = (crashed.mistake, Mistake.CLIENTS_MIXED) if crashed else (Mistake.CLIENTS_MIXED,)
        return failed("concurrent", mistakes, reason, expected, found_text, crashed.quotes if crashed else ())
    return passed("concurrent", expected, found_text)


def _restart(session: Session) -> ConformanceCheck:
    stay = session.replay(0.0, [["sleep", 2.0], ["close"]])
    again_s = [(4.0, ["-t", "1"])]
    take = session.pair("restart", again_s, others=[stay, {"kind": "restart", "at_s": 1.0}], relay=session.paced())
    expected = "it listens again, and serves a client"
    again = take.record["restarted"]
    found = trouble.breach(take)
    if found is not None or again is None:
        mistake, reason = (found.mistake, found.reason) if found else (Mistake.CRASH, "it could not be started anew")
        return failed("restart", mistake, reason, expected, quotes=found.quotes if found else ())
    said = take.server.last_words()
    if not again["listening"]:
        in_use = [line for line in take.server.said if _IN_USE.search(line)]
        said = in_use[-1] if in_use else said
        # it listened on this port before
        other = take.server.traceback and not in_use
        mistakes = (Mistake.TRACEBACK, Mistake.NO_REUSEADDR) if other else (Mistake.NO_REUSEADDR, Mistake.CRASH)
        reason = f"started again on its port it does not listen, and said: {said}"
        return failed("restart", mistakes, reason, expected, "it does not", [said])
    if not take.connections or take.main.acknowledged_s is None:
        found = trouble.of(take)
        said = take.client.last_words() if take.clients else said
        reason = found.reason if found else f"it listens, and a client of it said: {said}"
        return failed("restart", found.mistake if found else Mistake.CRASH, reason, expected, quotes=[said])
    return passed("restart", expected)


def _abrupt_acts(session: Session, names: Sequence[str]) -> list[dict[str, Any]]:
    talk = session.dialect.talks["-t"]
    hello = session.hello(talk.stream.start, talk.greeting)
    data = talk.stream.again(30_000)
    plans: dict[str, list[list[Any]]] = {
        # not at once: on virtual time no time at all would pass, as it cannot elsewhere
        _LEAVES: [["sleep", 0.05], ["close"]],
        _RESETS: [*hello, ["send", data, 1], ["sleep", 0.2], ["reset"]],
        _ENDS: [*hello, ["send", data, 1], ["sleep", 0.2], ["close"]],
        _RANDOM: [["send", _GARBAGE, 1], ["sleep", 0.2], ["close"]],
        _SILENT: [["sleep", 8.0], ["close"]],
    }
    return [session.replay(0.5 * number, plans[name]) for number, name in enumerate(names)]


def _abrupt_take(session: Session, names: Sequence[str]) -> Take:
    key = "abrupt peers" if len(names) > 1 else names[0]
    clients = [(0.5 * len(names) + 1.0, ["-t", "1"])]
    return session.pair(key, clients, others=_abrupt_acts(session, names), relay=session.paced(), limit_s=20.0)


def _outlived(take: Take) -> bool:
    """Whether an ordinary client was served afterwards, as the relay saw."""
    return not take.stalled and any(one.acknowledged_s is not None for one in take.connections)


def _abrupt(session: Session, threads: bool) -> Iterator[ConformanceCheck]:
    # A server that serves one client at a time has been told so: a silent client would only say it again.
    every = (_LEAVES, _RESETS, _ENDS, _RANDOM, _SILENT)
    names = every if threads else every[:-1]
    take = _abrupt_take(session, names)
    expected = "it runs on, and an ordinary client is served"
    takes = [take]
    if _outlived(take) and take.alive:
        yield passed("abrupt", expected)
    else:
        for name in names:
            culprit = _abrupt_take(session, [name])
            takes.append(culprit)
            if not _outlived(culprit) or not culprit.alive:
                yield _blamed(culprit, name, expected)
                break
        else:
            yield _blamed(take, "several such clients", expected)
    every_hurt = [error for one in takes if one.has_server for error in one.server.errors]
    # random bytes are no text and no number: nothing that a client of this program would send
    hurt = next((error for error in every_hurt if not _OF_GARBAGE.search(error.line)), None)
    if hurt is not None:
        reason = f"the server, when its client left abruptly: {hurt.line}"
        mistakes = (Mistake.ABRUPT_CLIENT, Mistake.TRACEBACK)
        yield failed("quiet", mistakes, reason, "no traceback", hurt.line, hurt.quotes)
    elif every_hurt:
        yield passed("quiet", "no traceback", every_hurt[0].line, Mistake.TRACEBACK)
    elif takes[-1].stalled:
        yield unknown("quiet", "the server had to be stopped", needs="abrupt")
    else:
        yield passed("quiet", "no traceback")


def _blamed(take: Take, name: str, expected: str) -> ConformanceCheck:
    if take.stalled:
        if not take.by or "server" in take.by:
            reason = f"{name}: the server used the processor without end"
            return failed("abrupt", (Mistake.SPINS, Mistake.ENDLESS), reason, expected)
        return failed("abrupt", (Mistake.ENDLESS,), f"{name}: the next client used the processor without end", expected)
    found = trouble.breach(take)
    if found is not None:
        return failed(
            "abrupt", (found.mistake, Mistake.SPINS), f"{name}: {found.reason}", expected, quotes=found.quotes
        )
    if not take.alive:
        said = take.server.traceback or take.server.last_words()
        reason = f"{name}: the server ended; it said: {said}"
        died = (Mistake.ABRUPT_CLIENT, Mistake.TRACEBACK) if take.server.traceback else (Mistake.ABRUPT_CLIENT,)
        return failed("abrupt", (*died, Mistake.ONE_CLIENT_ONLY), reason, expected, "it ended", [said])
    silent = (Mistake.SILENT_CLIENT, Mistake.ONE_AT_A_TIME, Mistake.ABRUPT_CLIENT)
    mistakes = silent if name == _SILENT else (Mistake.ABRUPT_CLIENT, Mistake.SPINS)
    said = take.client.last_words() if take.clients else "nothing"
    return failed("abrupt", mistakes, f"{name}: the next client was not served; it said: {said}", expected)


def _ends(session: Session) -> Iterator[ConformanceCheck]:
    """The end message glued to data, byte by byte, and within the data: a scene each."""
    talk = session.dialect.talks["-t"]
    end = talk.stream.end
    if not end:
        why = "the end message could not be told from the data"
        yield from all_unknown(("glued", "pieces"), why, "send an end message that is no multiple of 1000 bytes: BYE")
        return
    hello = session.hello(talk.stream.start, talk.greeting)
    data = talk.stream.again(_DATA_BYTES)
    listen: list[Any] = ["receive", _ANSWER_S, len(talk.answer) or 1]
    glued = _one_peer(session, "an end message glued to data", [*hello, ["send", data + end, 1], listen])
    apart: list[list[Any]] = [*hello, ["send", data, 1], ["sleep", 0.1]]
    for number in range(len(end)):
        apart += [["send", end[number : number + 1], 1], ["sleep", 0.1]]
    pieces = _one_peer(session, "an end message in pieces", [*apart, listen])
    early = [*hello, ["send", data[:500] + end + data[500:2000], 1], ["receive", 0.5, 1]]
    inside = _one_peer(session, "an end message within the data", [*early, ["send", data[2000:] + end, 1], listen])
    expected = "the acknowledgement"
    yield _ended("glued", glued, talk, expected)
    if not _answer(glued) and not _answer(pieces):
        yield unknown("pieces", "needs an acknowledgement when the end message comes in one write", needs="glued")
        return
    yield _ended("pieces", pieces, talk, expected, Mistake.END_IN_DATA if _early(inside, len(hello)) else None)


def _one_peer(session: Session, key: str, steps: list[list[Any]]) -> Take:
    return session.pair(key, [], others=[session.replay(0.0, steps)])


def _ended(key: str, take: Take, talk: Talk, expected: str, advice: Mistake | None = None) -> ConformanceCheck:
    """Whether the server answered."""
    answer = _answer(take)
    if answer:
        return passed(key, expected, shown(answer), advice)
    mistake = Mistake.END_GLUED if key == "glued" else Mistake.END_IN_PIECES
    how = "in one write with data" if key == "glued" else "byte by byte"
    found = trouble.breach(take) or (trouble.crash(take.server) if take.has_server else None)
    also = () if found is None else (found.mistake,)
    reason = f"the end message {talk.stream.end!r} came {how}, and no acknowledgement within {_ANSWER_S:g} s"
    if found is not None:
        reason += f"; {found.reason}"
    return failed(key, (mistake, *also), reason, expected, "nothing", found.quotes if found else ())


def _answer(take: Take) -> bytes:
    """What the server said last to the peer; a server that never listened said nothing."""
    steps = take.peers[0] if take.peers else []
    return base64.b64decode(steps[-1].get("data", "")) if steps and steps[-1]["step"] == "receive" else b""


def _early(take: Take, hello: int) -> bool:
    """Whether the server answered, or was gone, before the data had ended; ``hello`` steps come before."""
    steps = take.peers[0] if take.peers else []
    heard = next((step for step in steps[1 + hello :] if step["step"] == "receive"), {})
    return bool(heard.get("data")) or bool(heard.get("end")) or "error" in heard
