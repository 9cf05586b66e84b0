"""What is asked of a program for reliable transport, step by step, and judged by what passed the relay.

Times are held to theory (`linklab.analysis.arq`) for the program's own packets: how long they take on the link follows
from the sizes that were seen, and what a loss costs from the program's own timeout.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from linklab.grade.check import Check
from linklab.grade.seeding import seeds
from linklab.programs.engine.datagrams import Weather
from linklab.programs.reliable.place import Scene, Session, packet_ms
from linklab.programs.reliable.wire import Transfer

MOST_BYTES: Final = 1200
"""Payload of a datagram: what every path carries whole (RFC 9000, section 14)."""
_SLOWER: Final = 1.15
"""A program may take so much longer than theory: its own computing costs no virtual time, its sleeping does."""
_ROUNDS: Final = 4
"""Round trips that a program may spend on greeting and farewell."""
_STRAY: Final = 2
_FIRST_S: Final = 1.0
"""RFC 6298's first timeout, and its least."""
_GIVE_UP_S: Final = 150.0
_SHORT_S: Final = 3.0
_EARLY_S: Final = 7.5
_SMALL: Final = 3000
_LARGE: Final = 330_000
_USUAL: Final = 60_000
_BREACHES: Final = {
    "deleted": "files in its folder were gone afterwards",
    "changed": "the file that was to be sent was changed",
    "outside": "files of it were found outside of its folder",
    "cpu": "it used the processor without end",
    "output": "it printed more than 512 kB",
    "processes": "it was held at 64 processes and threads",
    "memory": "it took more than 192 MB",
}


@dataclass(frozen=True)
class Asked:
    """One check: its words, and what judges it."""

    what: str
    judge: Callable[[Session, str], Check]

    def waiting(self) -> Check:
        """Return it as a check that cannot be made yet."""
        return Check(self.what, "inconclusive", "it is tried when the first transfer works", "mend that one first")


def checks(session: Session, step: str) -> Iterator[Check]:
    """Yield the checks of a step. Without a first transfer that works the others wait."""
    first, *others = STEPS[step]
    found = first.judge(session, first.what)
    yield found
    for asked in others:
        yield asked.judge(session, asked.what) if found.passed else asked.waiting()


def _content(size: int) -> bytes:
    """Return bytes that nobody can know beforehand, with zeros and ends of lines at both ends."""
    (seed,) = seeds(f"reliable {size}", 1, 2**32)
    edge = b"\0\r\n\0"
    inside = random.Random(seed).randbytes(max(0, size - 2 * len(edge)))
    return (edge + inside + edge)[:size] if size >= 2 * len(edge) else (b"\0" + inside + edge)[:size]


# --- What may be wrong with any transfer


def _wrong(transfer: Transfer) -> tuple[str, str] | None:
    """Return what is wrong with a transfer, and what to do; None where every byte arrived once and both ended well."""
    if transfer.stalled:
        return "it computed on and on, and had to be stopped", "wait with a timeout of the socket, not in a loop"
    for program in transfer.programs:
        for breach in program.breaches:
            return f"the {program.side}: {_BREACHES.get(breach, breach)}", "keep to what the command line names"
    if transfer.flooded:
        return "it sent more than 20,000 datagrams", "send again after a timeout alone, and wait longer each time"
    got, wanted = transfer.got, transfer.content
    said = "; ".join(f"the {it.side} said: {it.said}" for it in transfer.programs if it.said)
    behind = f" ({said})" if said else ""
    if got is None:
        return f"the receiver wrote no file{behind}", "receive PORT FILE writes what arrives to FILE"
    if got != wanted:
        late = "".join(
            f", and the {it.side} was still at it when it was stopped" for it in transfer.programs[:1] if it.stopped
        )
        return f"{_difference(got, wanted)}{late}{behind}", _hint(got, wanted)
    for program in transfer.programs:
        if program.stopped:
            ever = "each side must know when it is done: the receiver a few seconds after the last packet it heard"
            return f"all bytes arrived, but the {program.side} did not come to an end", ever
        if program.status != 0:
            why = "status 0 says that the whole file has arrived: who has the last acknowledgement to send must stay"
            return f"all bytes arrived, but the {program.side} ended with status {program.status}{behind}", why
    return None


def _difference(got: bytes, wanted: bytes) -> str:
    same = next((at for at, (one, two) in enumerate(zip(got, wanted, strict=False)) if one != two), None)
    if not got:
        return f"none of the {len(wanted)} bytes arrived"
    if same is None and len(got) < len(wanted):
        return f"only the first {len(got)} of {len(wanted)} bytes arrived"
    if same is None:
        return f"{len(got) - len(wanted)} bytes too many stand behind the file"
    return f"{len(got)} of {len(wanted)} bytes arrived, and from byte {same} on they are others"


def _hint(got: bytes, wanted: bytes) -> str:
    if len(got) > len(wanted):
        return "a repeat must not be written again: how does the receiver know it?"
    if len(got) < len(wanted):
        return "which packet was never sent again, or taken for an old one? Who ended too early?"
    return "packets must be written by their number, not in the order of their arrival"


def _transfers(
    what: str, session: Session, scenes: dict[str, Scene], hint: str = "", expected: str = "every byte once, in order"
) -> Check:
    """Judge transfers by their bytes and ends alone; the first that fails is told."""
    for name, scene in scenes.items():
        wrong = _wrong(session.play(name, scene))
        if wrong is not None:
            return Check.failing(what, f"{name}: {wrong[0]}", (wrong[1], hint) if hint else wrong[1], expected)
    return Check.passing(what, expected, f"{len(scenes)} transfers" if len(scenes) > 1 else "as expected")


# --- Scenes


def _clean(session: Session, window: int, size: int = _USUAL) -> Transfer:
    return session.play(f"window {window}, nothing lost", Scene(_content(size), window))


def _cycle_s(transfer: Transfer) -> float:
    """From sending a packet to its acknowledgement, on an empty link."""
    answers = [one.size for one in transfer.down]
    answer_ms = packet_ms(sum(answers) / len(answers)) if answers else 0.0
    return (packet_ms(transfer.mean_bytes) + transfer.rtt_ms + answer_ms) / 1000


def _theory_s(transfer: Transfer, packets: int) -> float:
    """How long so many packets take with the transfer's window, where nothing is lost."""
    return packets * max(_cycle_s(transfer) / transfer.window, packet_ms(transfer.mean_bytes) / 1000)


def _silence(session: Session) -> Transfer:
    weather = Weather(silent_from=25, silent_s=8.0)
    return session.play("nothing passes for 8 s", Scene(_content(_USUAL), weather=weather))


def _timeout_s(session: Session) -> float:
    """The program's own timeout on the near path, as it was seen; the RFC's least where it was not."""
    gaps = _silence(session).gaps_s()
    return gaps[0] if gaps else _FIRST_S


def _data_bytes(transfer: Transfer) -> int:
    """How much of the file a full packet carries, as far as it can be told from the sizes alone; else 1000."""
    if not transfer.up:
        return 1000
    full, many = Counter(one.size for one in transfer.up).most_common(1)[0]
    tails = [one.size for one in transfer.up if one.size < full]
    size = len(transfer.content)
    found = [full - size / many, *((many * full + tail - size) / (many + 1) for tail in tails)]
    headers = [int(it) for it in found if it == int(it) and 0 <= it <= 64]
    return full - headers[0] if headers else 1000


def share_percent(session: Session, window: int) -> float:
    """Return which part of the time the link carried packets in a transfer without loss, in percent."""
    transfer = _clean(session, window)
    return packet_ms(transfer.mean_bytes) * len(transfer.up) / 10 / max(transfer.took_s, 1e-9)


# --- The checks


def _arrives(session: Session, what: str) -> Check:
    transfer = _clean(session, 1)
    wrong = _wrong(transfer)
    if wrong is not None:
        return Check.failing(what, *wrong, "every byte once, in order")
    return Check.passing(what, "every byte once, in order", f"{len(transfer.up)} datagrams")


def _small(session: Session, what: str) -> Check:
    largest = max(one.size for one in (*_clean(session, 1).up, *_clean(session, 1).down))
    expected = f"at most {MOST_BYTES} bytes of payload"
    if largest > MOST_BYTES:
        return Check.failing(what, f"one has {largest} bytes", "cut the file into smaller pieces", expected)
    return Check.passing(what, expected, f"{largest} bytes")


def _one_at_a_time(session: Session, what: str) -> Check:
    transfer = _clean(session, 1)
    close = [late for early, late in pairwise(transfer.up) if (late.s - early.s) * 1000 < 0.95 * transfer.rtt_ms]
    expected = f"a round trip ({transfer.rtt_ms:g} ms) between two packets"
    if len(close) > _STRAY:
        first = close[0].s - transfer.up[0].s
        reason = f"{len(close)} packets left before an acknowledgement could have come, the first after {first:.3f} s"
        return Check.failing(what, reason, "with WINDOW 1 the next packet waits for the acknowledgement", expected)
    return Check.passing(what, expected)


def _no_repeats(session: Session, what: str, window: int = 1) -> Check:
    transfer = _clean(session, window)
    most = max(_STRAY, len(transfer.up) // 10)
    expected = f"at most {most} repeats"
    if transfer.repeats > most:
        reason = f"{transfer.repeats} of {len(transfer.up)} packets were repeats, and nothing was lost"
        hint = "the timeout must be longer than the round trip, queueing included: measure it (RFC 6298)"
        return Check.failing(what, reason, hint, expected, str(transfer.repeats))
    return Check.passing(what, expected, str(transfer.repeats))


def _share(session: Session, what: str, window: int = 1) -> Check:
    transfer = _clean(session, window)
    wrong = _wrong(transfer)
    if wrong is not None:
        return Check.failing(what, f"window {window}: {wrong[0]}", wrong[1])
    theory_s = _theory_s(transfer, len(transfer.up))
    most_s = _SLOWER * theory_s + _ROUNDS * transfer.rtt_ms / 1000
    share = share_percent(session, window)
    expected = f"{theory_s:.2f} s, {share * transfer.took_s / theory_s:.0f} % of the link"
    found = f"{transfer.took_s:.2f} s, {share:.0f} %"
    if transfer.took_s > most_s:
        formula = "min(1, W / (1 + 2a))" if window > 1 else "L/R / (RTT + L/R)"
        hint = ("who waits, and for what? Send as soon as the window allows", f"theory: {formula} of the link")
        return Check.failing(what, "that is slower than theory allows", hint, expected, found)
    least_s = 0.9 * theory_s - 2 * transfer.rtt_ms / 1000
    if transfer.took_s < least_s:
        reason = f"that is faster than a window of {window} can be"
        return Check.failing(what, reason, "count what is sent and not acknowledged yet", expected, found)
    return Check.passing(what, expected, found)


def _within_window(session: Session, what: str) -> Check:
    window = 4
    weather = Weather(silent_from=25, silent_s=_SHORT_S)
    transfer = session.play("window 4, nothing passes for 3 s", Scene(_content(_USUAL), window, weather=weather))
    begun_s = transfer.record["datagrams"]["silent_s"] if transfer.record["datagrams"] else None
    if begun_s is None:
        return Check.failing(what, "it sent fewer than 25 packets", "60 kB need more: see the sizes")
    at_first = [one for one in transfer.up if begun_s <= one.s <= begun_s + transfer.rtt_ms / 1000]
    # a program may write something new into each repeat, but repeats nothing within a round trip
    sent = {one.digest for one in transfer.up if begun_s <= one.s < begun_s + _SHORT_S}
    sent = min(sent, {one.digest for one in at_first}, key=len)
    expected = f"{window} packets"
    if len(sent) > window:
        reason = f"{len(sent)} different packets were sent while nothing was acknowledged"
        return Check.failing(what, reason, "count what is sent and not acknowledged yet", expected, str(len(sent)))
    wrong = _wrong(transfer)
    if wrong is not None:
        return Check.failing(what, f"after the silence: {wrong[0]}", wrong[1], expected)
    return Check.passing(what, expected, str(len(sent)))


def _loss(session: Session, what: str) -> Check:
    scenes = {
        f"one in twenty lost each way, some twice, seed {seed}": Scene(
            _content(_USUAL), weather=Weather(loss=0.05, twice=0.05, seed=seed)
        )
        for seed in (1, 2)
    }
    return _transfers(what, session, scenes, "what if an acknowledgement is lost, and the packet comes again?")


def _sizes(session: Session, what: str, window: int = 1) -> Check:
    data = _data_bytes(_clean(session, window))
    weather = Weather(loss=0.02, twice=0.1, late=0.05 if window > 1 else 0.0, late_s=0.05, seed=3)
    sizes = {"an empty file": 0, "a file of one byte": 1, f"a file of {data} bytes": data}
    sizes |= {f"a file of {2 * data} bytes": 2 * data, f"a file of {_LARGE} bytes": _LARGE}
    scenes = {
        f"{name}, window {window}": Scene(_content(size), window, weather=weather) for name, size in sizes.items()
    }
    return _transfers(what, session, scenes, "sizes that fill packets exactly, and numbers that grow large, are traps")


def _ends(session: Session, what: str, window: int = 1) -> Check:
    plain = session.play(f"a small file, window {window}", Scene(_content(_SMALL), window))
    wrong = _wrong(plain)
    if wrong is not None:
        return Check.failing(what, f"a small file: {wrong[0]}", wrong[1])
    up, down = len(plain.up), len(plain.down)
    losing: dict[str, dict[str, list[int]]] = {
        "the first packet is lost": {"up": [1]},
        "the first answer is lost": {"down": [1]},
        "the last packet is lost": {"up": [up]},
        "the last but one packet is lost": {"up": [up - 1]},
        "the last answer is lost": {"down": [down]},
        "the last but one answer is lost": {"down": [down - 1]},
        "the last two answers are lost": {"down": [down - 1, down]},
    }
    scenes = {
        f"{name}, window {window}": Scene(_content(_SMALL), window, weather=Weather(lost=lost))
        for name, lost in losing.items()
    }
    hint = "the receiver must answer repeats for some seconds when it has all (as TCP does in TIME-WAIT)"
    return _transfers(what, session, scenes, hint, "both sides end with status 0")


def _gives_up(session: Session, what: str) -> Check:
    transfer = session.play("nobody receives", Scene(_content(_SMALL), nobody=True, limit_s=_GIVE_UP_S))
    (sender,) = transfer.programs or (None,)
    expected = f"status 1 after about 30 s, {_GIVE_UP_S:g} s at most"
    if sender is None or transfer.stalled or transfer.flooded:
        return Check.failing(what, *(_wrong(transfer) or ("it was lost", "try it again")), expected)
    if sender.stopped:
        return Check.failing(what, "it tries for ever", "give up when nothing was heard for 30 s", expected)
    if sender.status == 0:
        return Check.failing(what, "it says 0: all has arrived", "0 is for what was acknowledged", expected, "status 0")
    if transfer.took_s < _EARLY_S:
        reason = f"it gave up {transfer.took_s:.1f} s after its first packet"
        return Check.failing(what, reason, "an outage of 8 s is no end: 30 s of silence are", expected)
    return Check.passing(what, expected, f"status {sender.status}, {len(transfer.up)} packets")


def _backs_off(session: Session, what: str) -> Check:
    transfer = _silence(session)
    gaps = transfer.gaps_s()
    shown = ", ".join(f"{gap:.2f}" for gap in gaps[:8]) + (" ..." if len(gaps) > 8 else "") + " s"
    expected = "each gap twice the one before (RFC 6298, rule 5.5)"
    if len(gaps) < 2:
        reason = f"it sent {len(gaps) + bool(transfer.up)} packets in 8 s of silence"
        return Check.failing(what, reason, "send again after a timeout: about one round trip, 1 s at most", expected)
    if any(late < 1.5 * early for early, late in pairwise(gaps)):
        return Check.failing(what, "the gaps do not grow", "double the timeout whenever it expires", expected, shown)
    wrong = _wrong(transfer)
    if wrong is not None:
        return Check.failing(what, f"after the silence: {wrong[0]}", wrong[1], expected, shown)
    return Check.passing(what, expected, shown)


def _measured(session: Session, what: str) -> Check:
    transfer = _silence(session)
    gaps, cycle_s = transfer.gaps_s(), _cycle_s(_clean(session, 1))
    most_s = max(4 * cycle_s, 1.1 * _FIRST_S)
    expected = f"{cycle_s:.3f} to {most_s:.2f} s"
    if not gaps or not cycle_s <= gaps[0] * 1.02 <= most_s * 1.02:
        found = f"{gaps[0]:.3f} s" if gaps else "nothing sent again"
        reason = f"after 24 round trips of {cycle_s:.3f} s the timeout is not near them"
        return Check.failing(what, reason, "SRTT + max(G, 4 * RTTVAR), at most raised to 1 s", expected, found)
    return Check.passing(what, expected, f"{gaps[0]:.3f} s")


def _karn(session: Session, what: str) -> Check:
    content = _content(_USUAL // 4)
    near = session.play("a quarter of it", Scene(content))
    far = session.play("a round trip of 1.5 s", Scene(content, path="far"))
    for transfer in (near, far):
        wrong = _wrong(transfer)
        if wrong is not None:
            return Check.failing(what, f"{transfer.name}: {wrong[0]}", wrong[1])
    most = len(near.up) + 2 * _STRAY
    expected = f"{most} packets at most: {len(near.up)}, and the first ones twice"
    if len(far.up) > most:
        reason = f"it sent {len(far.up)} packets, and nothing was lost"
        hint = (
            "the round trip is 1.5 s, the first timeout 1 s: the timeout must learn from it",
            "an acknowledgement of a packet that was sent twice says nothing of the round trip (Karn). Keep the "
            "doubled timeout until a packet that was sent once is acknowledged (RFC 6298, sections 3 and 5)",
        )
        return Check.failing(what, reason, hint, expected, str(len(far.up)))
    return Check.passing(what, expected, str(len(far.up)))


def _cost_of_loss(session: Session, what: str, window: int = 1) -> Check:
    loss = 0.05 if window == 1 else 0.03
    name = f"window {window}, {100 * loss:g} % lost each way"
    transfer = session.play(name, Scene(_content(2 * _USUAL), window, weather=Weather(loss=loss, seed=4)))
    wrong = _wrong(transfer)
    if wrong is not None:
        return Check.failing(what, f"{name}: {wrong[0]}", wrong[1])
    lost = sum(not one.passed for one in (*transfer.up, *transfer.down))
    packets = len({one.digest for one in transfer.up})
    waits_s = _waits_s(transfer, _timeout_s(session)) if window == 1 else 2 * lost * _timeout_s(session)
    theory_s = _theory_s(transfer, packets) + waits_s
    most_s = _SLOWER * (theory_s + lost * _cycle_s(transfer))
    # go-back-N: a window again for each packet lost, one for each acknowledgement; three standard deviations of chance
    by_chance = loss * packets + 3 * math.sqrt(loss * packets)
    most = round(1.2 * (packets + by_chance * (window + 1)))
    expected = f"about {theory_s:.1f} s, {most_s:.1f} s at most, and {most} packets"
    found = f"{transfer.took_s:.1f} s, {len(transfer.up)} packets"
    if transfer.took_s > most_s:
        hint = "a loss costs one timeout: does yours grow, or wait for something else?"
        return Check.failing(what, f"{lost} losses cost more than a timeout each", hint, expected, found)
    if len(transfer.up) > most:
        hint = "after a timeout go-back-N sends one window again, selective repeat one packet"
        return Check.failing(what, "it repeats more than the losses explain", hint, expected, found)
    return Check.passing(what, expected, found)


def _waits_s(transfer: Transfer, timeout_s: float) -> float:
    """Return what the losses of stop-and-wait cost: a timeout each, which doubles while one follows the other.

    A doubled timeout stays until a packet is acknowledged that was sent once (Karn).
    """
    cost_s, doubled, repeated = 0.0, 0, False
    for one, is_answer in sorted(
        [*((it, False) for it in transfer.up), *((it, True) for it in transfer.down)], key=lambda it: it[0].s
    ):
        if not one.passed:
            cost_s += timeout_s * 2**doubled
            doubled, repeated = doubled + 1, True
        elif is_answer:
            doubled, repeated = doubled if repeated else 0, False
    return cost_s


def _rough(session: Session, what: str) -> Check:
    scenes = {
        f"window 8: lost, twice and overtaken, seed {seed}": Scene(
            _content(_USUAL), 8, weather=Weather(loss=0.05, twice=0.05, late=0.1, late_s=0.03, seed=seed)
        )
        for seed in (5, 6)
    }
    return _transfers(what, session, scenes, "a packet that comes before its turn must wait, or come again")


def _numbers(session: Session, what: str) -> Check:
    scenes = {
        f"window {window}: no answer passes for 1 s": Scene(
            _content(_USUAL), window, weather=Weather(silent_from=25, silent_s=1.0, silent=("down",))
        )
        for window in (4, 8)
    }
    hint = "after it the whole window comes again: with too few numbers it looks like the next one"
    return _transfers(what, session, scenes, hint)


def _in_window(judge: Callable[[Session, str, int], Check], window: int) -> Callable[[Session, str], Check]:
    return lambda session, what: judge(session, what, window)


STEPS: Final[dict[str, tuple[Asked, ...]]] = {
    "stop-and-wait": (
        Asked("a file arrives where nothing is lost", _arrives),
        Asked("its datagrams are not too large", _small),
        Asked("with WINDOW 1 one packet is on its way at a time", _one_at_a_time),
        Asked("it is as fast as stop-and-wait can be", _share),
        Asked("lost and repeated datagrams do no harm", _loss),
        Asked("files of every size arrive", _sizes),
        Asked("both sides end well, whatever is lost at the beginning and at the end", _ends),
    ),
    "timeouts": (
        Asked("a file arrives where nothing is lost", _arrives),
        Asked("nothing is sent again where nothing is lost", _no_repeats),
        Asked("the timeout is near the round trip", _measured),
        Asked("the timeout doubles while nothing comes", _backs_off),
        Asked("the timeout learns a long round trip", _karn),
        Asked("a loss costs a timeout, and no more", _cost_of_loss),
        Asked("the sender gives up where nobody is", _gives_up),
    ),
    "window": (
        Asked("a file arrives where nothing is lost", _arrives),
        Asked("a window of 8 has its share of the link", _in_window(_share, 8)),
        Asked("a window of 32 fills the link", _in_window(_share, 32)),
        Asked("nothing is sent again where nothing is lost, window 32", _in_window(_no_repeats, 32)),
        Asked("no more than WINDOW packets are on their way", _within_window),
        Asked("loss, repeats and overtaking do no harm", _rough),
        Asked("old packets are not taken for new ones", _numbers),
        Asked("files of every size arrive, window 16", _in_window(_sizes, 16)),
        Asked("both sides end well with a window too", _in_window(_ends, 8)),
        Asked("a loss in a window costs a timeout, and no more", _in_window(_cost_of_loss, 8)),
    ),
}
"""The steps of Lab 13's program, and the checks of each; the first one of a step must pass for the others."""
