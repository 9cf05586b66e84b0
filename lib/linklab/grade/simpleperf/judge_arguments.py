"""Step arguments: wrong ones are refused in one line, with a status that says so; help is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from linklab.grade.simpleperf import trouble
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Printed
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed

FLAGS: Final = {
    "-s": "--server",
    "-c": "--client",
    "-b": "--bind",
    "-p": "--port",
    "-f": "--format",
    "-I": "--serverip",
    "-t": "--time",
    "-i": "--interval",
    "-P": "--parallel",
    "-n": "--num",
}
KEYS = ("modes", "ports", "addresses", "formats", "times", "parallels", "amounts", "interval-text", "no-server", "help")


@dataclass(frozen=True)
class Group:
    """Wrong words for one argument. ``names``: what a message that names it may say; ``accepted``: if it is taken."""

    key: str
    commands: tuple[tuple[str, ...], ...]
    names: str
    accepted: Mistake


_CLIENT = ("-c", "-I", "127.0.0.1", "-t", "1")
GROUPS: Final = (
    Group("modes", ((), ("-s", "-c")), r"server|client|mode|-s\b|-c\b", Mistake.MODES),
    Group(
        "ports",
        (("-s", "-p", "80"), ("-s", "-p", "70000"), (*_CLIENT, "-p", "abc")),
        r"port|-p\b",
        Mistake.PORT_RANGE,
    ),
    Group(
        "addresses",
        (("-c", "-t", "1", "-I", "300.1.1.1"), ("-s", "-b", "nonsense")),
        r"address|\bip|serverip|bind|-I\b|-b\b|host",
        Mistake.ADDRESS_UNCHECKED,
    ),
    Group("formats", ((*_CLIENT, "-f", "GB"),), r"format|unit|-f\b", Mistake.ACCEPTED),
    Group(
        "times",
        (("-c", "-I", "127.0.0.1", "-t", "0"), ("-c", "-I", "127.0.0.1", "-t", "soon")),
        r"time|second|duration|-t\b",
        Mistake.ACCEPTED,
    ),
    Group(
        "parallels",
        ((*_CLIENT, "-P", "0"), (*_CLIENT, "-P", "6")),
        r"parallel|connection|-P\b",
        Mistake.PARALLEL_RANGE,
    ),
    Group("amounts", ((*_CLIENT, "-n", "10XB"),), r"num|amount|size|bytes|unit|-n\b", Mistake.ACCEPTED),
    Group("interval-text", ((*_CLIENT, "-i", "often"),), r"interval|-i\b", Mistake.ACCEPTED),
)
# What the network says: then the argument had been taken.
_NETWORK: Final = re.compile(
    r"refused|Errno 111|(?:can|could)(?: ?not|n't) connect|no .*server (?:at|on|there)|unable to connect"
    r"|permission denied|Errno 13|(?:can|could)(?: ?not|n't) bind|cannot assign|Errno 99"
    r"|name or service|Errno -2|gaierror",
    re.I,
)
_REFUSAL: Final = re.compile(r"invalid|\bmust\b|not (?:a|an|in|valid|allowed)\b|between|out of range|\brange\b", re.I)


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    first = session.takes.get("transfer")
    if first is not None and trouble.breach(first):
        yield from all_unknown(KEYS, "needs a program that keeps to its limits: see the step transfer")
        return
    for group in GROUPS:
        yield _group(session, group)
    yield _no_server(session)
    yield _help(session)


def _group(session: Session, group: Group) -> ConformanceCheck:
    expected = "a line that names the argument, status not 0"
    said = []
    for words in group.commands:
        command = " ".join(words) or "no arguments"
        take = session.alone(f"arguments: {command}", words)
        broken = trouble.breach(take)
        program = take.client if take.clients else None
        if broken or program is None:
            mistake, reason = broken or (Mistake.CRASH, "it could not be run")
            return failed(group.key, mistake, f"{command}: {reason}", expected)
        wrong = refusal(program, words, group)
        if wrong is not None:
            return failed(group.key, wrong[0], f"{command}: {wrong[1]}", expected, program.last_words())
        said.append(program.last_words(80))
    return passed(group.key, expected, said[0])


def refusal(program: Printed, words: tuple[str, ...], group: Group) -> tuple[Mistake, str] | None:
    """What is wrong with how a program refused wrong arguments, or None."""
    if not program.ended:
        return group.accepted, f"it runs as if nothing were wrong ({program.stopped})"
    if program.traceback:
        return Mistake.TRACEBACK, program.traceback
    text = program.text
    value = words[-1] if words else ""
    named = bool(re.search(group.names, text, re.I)) or (bool(value) and not value.startswith("-") and value in text)
    if _NETWORK.search(text) and not _REFUSAL.search(text) and group.key != "modes":
        return group.accepted, f"it asks the network, which says: {program.last_words()}"
    if not text:
        if program.status == 0:
            return group.accepted, "it ends with status 0 and says nothing"
        return Mistake.NO_MESSAGE, f"it ends with status {program.status} and says nothing"
    if program.status == 0:
        return Mistake.STATUS_ZERO, f"status 0; it said: {program.last_words()}"
    if not named:
        return Mistake.UNNAMED, f"it said: {program.last_words()}"
    return None


def _no_server(session: Session) -> ConformanceCheck:
    expected = "a line that says so, status not 0"
    words = ("-c", "-I", session.place.server, "-p", "6999", "-t", "1")
    take = session.alone("no server there", words, limit_s=60.0)
    program = take.client if take.clients else None
    broken = trouble.breach(take)
    if broken or program is None:
        mistake, reason = broken or (Mistake.CRASH, "it could not be run")
        return failed("no-server", mistake, reason, expected)
    said = program.last_words()
    if not program.ended:
        return failed("no-server", Mistake.NO_END, "it had to be stopped", expected, said)
    if program.traceback:
        return failed("no-server", Mistake.TRACEBACK, program.traceback, expected, said)
    if program.status == 0:
        return failed("no-server", Mistake.STATUS_ZERO, f"status 0; it said: {said}", expected, said)
    if not program.text:
        return failed("no-server", Mistake.NO_MESSAGE, "it says nothing", expected, said)
    return passed("no-server", expected, said)


def _help(session: Session) -> ConformanceCheck:
    expected = "status 0, and every flag"
    take = session.alone("help", ("-h",))
    if not take.clients or not take.client.ended:
        mistake, reason = trouble.breach(take) or (Mistake.NO_HELP, "-h does not end")
        return failed("help", mistake, reason, expected)
    program = take.client
    missing = [short for short, long in FLAGS.items() if not re.search(rf"(?<![\w-]){short}\b|{long}\b", program.text)]
    if program.traceback:
        return failed("help", Mistake.TRACEBACK, program.traceback, expected)
    if missing:
        return failed("help", Mistake.NO_HELP, f"-h does not name {', '.join(missing)}", expected)
    if program.status != 0:
        return failed("help", Mistake.NO_HELP, f"-h ends with status {program.status}", expected)
    return passed("help", expected)
