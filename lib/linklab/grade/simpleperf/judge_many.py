"""Step many: several clients at once, restarts, and peers that do not play by the rules."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from linklab.grade.simpleperf import trouble
from linklab.grade.simpleperf.judge_transfer import needs
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Take
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed, unknown

KEYS = ("concurrent", "restart", "abrupt", "quiet", "glued", "pieces")
LONG_S = 8
_IN_USE: Final = re.compile(r"Address already in use|Errno 98|EADDRINUSE", re.I)
_ANSWER_S = 6.0
# Bytes in an order that no text has; a server may try to decode them.
_GARBAGE: Final = bytes((number * 151 + 97) % 256 for number in range(1500))
_GARBAGE_NAMES = (
    "a client that leaves at once",
    "a client that resets its connection",
    "a client that ends without the end message",
    "a client that sends random bytes",
    "a client that stays silent",
)


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why)
        return
    concurrent = _concurrent(session)
    yield concurrent
    yield _restart(session)
    if concurrent.mistake == Mistake.ONE_CLIENT_ONLY.title:
        yield from all_unknown(KEYS[2:], "needs a server that goes on after its first client")
        return
    yield from _abrupt(session, concurrent.passed)
    yield from _ends(session)


def _concurrent(session: Session) -> ConformanceCheck:
    take = session.pair("two clients", [(0.0, ["-t", str(LONG_S)]), (2.0, ["-t", "1"])], relay=session.paced())
    expected = f"the second client, there from 2 s to 3 s, ends before the first, which sends for {LONG_S} s"
    if len(take.clients) < 2 or take.stalled:
        mistake, reason = trouble.breach(take) or (Mistake.CRASH, "no second client")
        return failed("concurrent", mistake, reason, expected)
    first, second = take.clients
    if not take.alive and not (second.ended and second.status == 0):
        reason = f"the server ended: {take.server.last_words()}"
        crashed = trouble.crash(take.server)
        mistake = crashed[0] if crashed and crashed[0] is Mistake.TRACEBACK else Mistake.ONE_CLIENT_ONLY
        return failed("concurrent", mistake, reason, expected)
    if not second.ended:
        return failed("concurrent", Mistake.ONE_AT_A_TIME, "the second client never ends", expected)
    first_end = first.record["ended_s"] or float("inf")
    found = f"the first ended at {first_end:.1f} s, the second at {second.record['ended_s']:.1f} s"
    if second.status != 0:
        reason = f"the second client ended with status {second.status} and said: {second.last_words()}"
        mistake = Mistake.TRACEBACK if second.traceback else Mistake.ONE_AT_A_TIME
        return failed("concurrent", mistake, reason, expected, found)
    if second.record["ended_s"] >= first_end:
        return failed("concurrent", Mistake.ONE_AT_A_TIME, "the second client had to wait", expected, found)
    return passed("concurrent", expected, found)


def _restart(session: Session) -> ConformanceCheck:
    stay = session.replay(0.0, [["sleep", 2.0], ["close"]])
    take = session.pair("restart", [(4.0, ["-t", "1"])], others=[stay, {"kind": "restart", "at_s": 1.0}])
    expected = "it listens again"
    again = take.record["restarted"]
    if again is None or take.stalled:
        mistake, reason = trouble.breach(take) or (Mistake.CRASH, "it could not be started a second time")
        return failed("restart", mistake, reason, expected)
    if not again["listening"]:
        said = take.server.last_words()
        in_use = _IN_USE.search(take.server.text) or take.server.ended
        return failed("restart", Mistake.NO_REUSEADDR if in_use else Mistake.CRASH, said, expected, "it does not")
    if not take.client.ended or take.client.status != 0:
        return failed(
            "restart", Mistake.CRASH, f"a client of the new server said: {take.client.last_words()}", expected
        )
    return passed("restart", expected)


def _abrupt_acts(session: Session, names: Sequence[str]) -> list[dict[str, Any]]:
    data = session.dialect.stream(30_000)[:30_000]
    plans: dict[str, list[list[Any]]] = {
        _GARBAGE_NAMES[0]: [["close"]],
        _GARBAGE_NAMES[1]: [["send", data, 1], ["sleep", 0.2], ["reset"]],
        _GARBAGE_NAMES[2]: [["send", data, 1], ["sleep", 0.2], ["close"]],
        _GARBAGE_NAMES[3]: [["send", _GARBAGE, 1], ["sleep", 0.2], ["close"]],
        _GARBAGE_NAMES[4]: [["sleep", 8.0], ["close"]],
    }
    return [session.replay(0.5 * number, plans[name]) for number, name in enumerate(names)]


def _abrupt_take(session: Session, names: Sequence[str]) -> Take:
    key = "abrupt peers" if len(names) > 1 else names[0]
    return session.pair(key, [(0.5 * len(names) + 1.0, ["-t", "1"])], others=_abrupt_acts(session, names), limit_s=20.0)


def _outlived(take: Take) -> bool:
    return not take.stalled and take.alive and bool(take.clients) and take.client.status == 0


def _abrupt(session: Session, threads: bool) -> Iterator[ConformanceCheck]:
    # A server that serves one client at a time has been told so: a silent client would only say it again.
    names = _GARBAGE_NAMES if threads else _GARBAGE_NAMES[:-1]
    take = _abrupt_take(session, names)
    expected = "it runs on, and an ordinary client is served"
    takes = [take]
    if _outlived(take):
        yield passed("abrupt", expected)
    else:
        culprit = None
        for name in names:
            culprit = _abrupt_take(session, [name])
            takes.append(culprit)
            if not _outlived(culprit):
                yield _blamed(culprit, name, expected)
                break
        else:
            yield _blamed(take, "several such clients", expected)
    hurt = next((one.server.traceback for one in takes if one.has_server and one.server.traceback), "")
    if "Decode" in hurt:  # random bytes are no text: nothing that a client of this program would send
        yield passed("quiet", "no traceback", hurt, Mistake.TRACEBACK)
    elif hurt:
        yield failed("quiet", Mistake.TRACEBACK, f"the server: {hurt}", "no traceback")
    elif takes[-1].stalled:
        yield unknown("quiet", "the server had to be stopped")
    else:
        yield passed("quiet", "no traceback")


def _blamed(take: Take, name: str, expected: str) -> ConformanceCheck:
    if take.stalled:
        return failed("abrupt", Mistake.SPINS, f"{name}: the server used the processor without end", expected)
    if not take.alive:
        said = take.server.traceback or take.server.last_words()
        return failed(
            "abrupt", Mistake.ABRUPT_CLIENT, f"{name}: the server ended; it said: {said}", expected, "it ended"
        )
    mistake = Mistake.SILENT_CLIENT if name == _GARBAGE_NAMES[-1] else Mistake.ABRUPT_CLIENT
    said = take.client.last_words() if take.clients else "nothing"
    return failed("abrupt", mistake, f"{name}: the next client was not served; it said: {said}", expected)


def _ends(session: Session) -> Iterator[ConformanceCheck]:
    end = session.dialect.end
    if not end:
        yield from all_unknown(("glued", "pieces"), "the end message could not be told from the data")
        return
    stream = session.dialect.stream(3000)
    glued = [["send", stream, 1], ["receive", _ANSWER_S, len(session.dialect.answer) or 1]]
    pieces: list[list[Any]] = [["send", stream[: -len(end)], 1], ["sleep", 0.1]]
    for number in range(len(end)):
        pieces += [["send", end[number : number + 1], 1], ["sleep", 0.1]]
    pieces.append(["receive", _ANSWER_S, len(session.dialect.answer) or 1])
    inside: list[list[Any]] = [
        ["send", stream[:500] + end + stream[500:2000], 1],
        ["receive", 0.5, 1],
        ["send", stream[2000:], 1],
        ["receive", _ANSWER_S, len(session.dialect.answer) or 1],
    ]
    acts = [session.replay(0.0, glued), session.replay(None, pieces, 0), session.replay(None, inside, 1)]
    take = session.pair("end messages", [], server=["-f", "B"], others=acts)
    if not take.listening or len(take.peers) < 3 or take.stalled:
        mistake, reason = trouble.breach(take) or (Mistake.CRASH, "the server could not be tried")
        yield failed("glued", mistake, reason)
        yield unknown("pieces", "the server could not be tried")
        return
    answers = [_answer(steps) for steps in take.peers]
    expected = "the acknowledgement"
    if answers[0]:
        yield passed("glued", expected, _shown(answers[0]))
    else:
        yield failed("glued", Mistake.END_GLUED, "no acknowledgement came", expected, "nothing")
    if answers[1]:
        early = _early(take.peers[2])
        yield passed("pieces", expected, _shown(answers[1]), Mistake.END_IN_DATA if early else None)
    elif answers[0]:
        yield failed("pieces", Mistake.END_IN_PIECES, "no acknowledgement came", expected, "nothing")
    else:
        yield unknown("pieces", "needs an acknowledgement when the end message comes in one write")


def _answer(steps: Sequence[dict[str, Any]]) -> bytes:
    return base64.b64decode(steps[-1].get("data", "")) if steps and steps[-1]["step"] == "receive" else b""


def _early(steps: Sequence[dict[str, Any]]) -> bool:
    """Whether the server answered, or was gone, before the data had ended."""
    heard = next((step for step in steps if step["step"] == "receive"), {})
    return bool(heard.get("data")) or bool(heard.get("end")) or "error" in heard


def _shown(answer: bytes) -> str:
    return answer.decode(errors="backslashreplace")[:60]
