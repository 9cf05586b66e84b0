"""Step arguments: wrong ones are refused in one line, with a status that says so; help is there.

Whether a program takes a wrong argument is not for its words to say: where it would connect stands a listener, and the
kernel is asked whether it listens itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from linklab.programs.simpleperf import trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.evidence import Printed, Take
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed

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
KEYS = keys_of("arguments")


@dataclass(frozen=True)
class Group:
    """Commands that are wrong in one argument.

    ``names`` are the words by one of which a message names it, beside the value; ``accepted`` is the mistake of who
    takes it.
    """

    key: str
    commands: tuple[tuple[str, ...], ...]
    names: str
    accepted: Mistake


_DEFAULT: Final = ("127.0.0.1", 8088)
_CLIENT: Final = ("-c", "-I", "127.0.0.1", "-p", "8088", "-t", "1")
GROUPS: Final = (
    Group("modes", ((), ("-s", "-c")), r"server|client|mode|-s|-c", Mistake.MODES),
    Group(
        "ports",
        (("-s", "-p", "80"), ("-s", "-p", "70000"), ("-c", "-I", "127.0.0.1", "-t", "1", "-p", "abc")),
        r"port(?:number)?|-p",
        Mistake.PORT_RANGE,
    ),
    Group(
        "addresses",
        (("-c", "-t", "1", "-p", "8088", "-I", "300.1.1.1"), ("-s", "-b", "nonsense")),
        r"(?:ip)?address|ip(?:v4)?|serverip|bind|-I|-b|host(?:name)?",
        Mistake.ADDRESS_UNCHECKED,
    ),
    Group("formats", ((*_CLIENT, "-f", "GB"),), r"format|unit|-f", Mistake.ACCEPTED),
    Group(
        "times",
        ((*_CLIENT[:-1], "0"), (*_CLIENT[:-1], "soon")),
        r"time|second|duration|-t",
        Mistake.ACCEPTED,
    ),
    Group(
        "parallels",
        ((*_CLIENT, "-P", "0"), (*_CLIENT, "-P", "6")),
        r"parallel(?:ism)?|connection|-P",
        Mistake.PARALLEL_RANGE,
    ),
    # without -t: some refuse the two beside each other
    Group(
        "amounts", ((*_CLIENT[:-2], "-n", "10XB"),), r"num(?:ber)?|amount|size|byte|unit|-n|n[- ]flag", Mistake.ACCEPTED
    ),
    Group("interval-text", ((*_CLIENT, "-i", "often"),), r"interval|-i", Mistake.ACCEPTED),
)
_OPTION: Final = re.compile(r"^[ \t]*-{1,2}\w.*(?:\n[ \t]{8,}\S.*)*", re.M)
_A_LIST: Final = 3
_REFUSES: Final = re.compile(
    r"error|\b(?:in|not )valid\b|wrong|illegal|must|should|not|\bno\b|n't\b|only|between|expect|need|requir|please"
    r"|unsupported|unknown|missing|out of range|choose|bad\b|too ",
    re.I,
)
"""What a line says that refuses something."""
_HELPFUL: Final = "status 0, and every flag"
# A port that is kept from ordinary users, or nobody at another port than the one named: it was tried all the same.
_TRIED: Final = re.compile(r"permission denied|Errno 13\b|connection refused|Errno 111\b", re.I)
# What a resolver or a socket says of a value that the program passed on to it.
_BY_THE_NETWORK: Final = re.compile(
    r"Errno|gaierror|name or service|nodename nor servname|name resolution|no address associated|getaddrinfo"
    r"|0-65535|cannot assign|illegal ip|(?:can|could)(?: ?not|n't) (?:connect|bind)|unable to|failed to",
    re.I,
)


def checks(session: Session, keys: Sequence[str] = KEYS) -> Iterator[ConformanceCheck]:
    """The checks of this step, or some of them."""
    first = session.takes.get("transfer")
    if first is not None and trouble.breach(first):
        yield from all_unknown(keys, "needs a program that keeps to its limits: see the step transfer")
        return
    judges = {group.key: partial(_group, group=group) for group in GROUPS} | {"no-server": _no_server, "help": _help}
    yield from (judges[key](session) for key in keys)


def _group(session: Session, group: Group) -> ConformanceCheck:
    expected = "a line that names the argument, status not 0"
    said, advice = [], None
    for words in group.commands:
        command = _typed(session, words)
        # what it does tells more than what it says where it can do nothing
        for take in sorted(_takes(session, words), key=lambda take: not _did(take)):
            broken = _broken(take)
            if broken is not None:
                return failed(group.key, broken.mistake, f"{command}: {broken.reason}", expected, quotes=broken.quotes)
            wrong = refusal(take, words, group)
            if wrong is not None:
                did, said_last = _did(take), take.client.last_words()
                quotes = [take.client.traceback or said_last] if take.client.text and not did else []
                found = f"it {did}" if did else said_last
                return failed(group.key, wrong.mistakes, f"{command}: {wrong.reason}", expected, found, quotes)
            said.append(take.client.last_words(80))
            if _BY_THE_NETWORK.search(_naming(take.client, words, group)):
                advice = group.accepted
    return passed(group.key, expected, said[0], advice)


def _typed(session: Session, words: Sequence[str]) -> str:
    """The command, as a student would type it."""
    return shlex.join(["python3", session.submission.name, *words])


def _takes(session: Session, words: Sequence[str]) -> Iterator[Take]:
    """Yield the scenes of a command. A listener would be in the way of a program that listens where it stands."""
    command = " ".join(words)
    if "-s" in words or not words:
        yield session.alone(f"arguments: {command or 'none'}", words)
    if "-c" in words or not words:
        yield session.alone(f"arguments: {command or 'none'}, and a listener", words, listeners=[_DEFAULT])


def _broken(take: Take) -> trouble.Trouble | None:
    """Why nothing can be said of a scene of one program, or None."""
    found = trouble.breach(take)
    return found if found or take.clients else trouble.Trouble(Mistake.CRASH, "it could not be run")


@dataclass(frozen=True)
class Wrong:
    """What is wrong with how wrong arguments were taken: any of the mistakes would explain it."""

    mistakes: tuple[Mistake, ...]
    reason: str


def refusal(take: Take, words: Sequence[str], group: Group) -> Wrong | None:
    """Return what is wrong with how a program took wrong arguments, or None if it refused them well."""
    program = take.client
    did = _did(take)
    if did:
        return Wrong((group.accepted,), f"it {did}, as if nothing were wrong")
    if not program.ended:
        return Wrong((group.accepted, Mistake.NO_END), "it does not come to an end")
    if program.traceback:
        return Wrong((Mistake.TRACEBACK, group.accepted), program.traceback)
    said = program.last_words()
    naming = _naming(program, words, group)
    if program.status == 0:
        # who asked the network has taken the value, and so has who only says what it was
        refused = _REFUSES.search(naming) and not _TRIED.search(program.text) and not _BY_THE_NETWORK.search(naming)
        mistakes = (Mistake.STATUS_ZERO, group.accepted) if refused else (group.accepted, Mistake.STATUS_ZERO)
        return Wrong(mistakes, f"it ends with status 0, and says {_quoted(naming if refused else said)}")
    if _TRIED.search(program.text):
        return Wrong((group.accepted,), f"it asks the network, which refuses: {_quoted(said)}")
    if naming:
        return None
    if not program.said:
        return Wrong((Mistake.NO_MESSAGE,), f"it ends with status {program.status}, and says nothing")
    by_network = (group.accepted,) if _BY_THE_NETWORK.search(said) else ()
    return Wrong((*by_network, Mistake.UNNAMED), f"the message does not say which argument is wrong: {_quoted(said)}")


def _did(take: Take) -> str:
    """What a program did with the network, or ""."""
    for act in take.record["acts"]:
        for address, port in act.get("listening", []):
            return f"listens on {address}:{port}"
    for one in take.record["listeners"]:
        if one["connections"]:
            return f"connects to {one['address']}:{one['port']}"
    return ""


def _naming(program: Printed, words: Sequence[str], group: Group) -> str:
    """Return the last line that names the argument or its value, or ""."""
    value = words[-1] if words and not words[-1].startswith("-") else ""
    # how a program is used says which mode is missing, but not which value is wrong
    lines = program.said if words else program.text.splitlines()
    listed = _listed(program.text) if words else frozenset()
    names = re.compile(rf"(?<![A-Za-z])(?:{group.names})(?:e?s)?(?![A-Za-z])", re.I)
    for line in reversed(lines):
        if line.strip() in listed:
            continue
        if names.search(line) or (value and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", line)):
            return line[:160]
    return ""


def _listed(text: str) -> frozenset[str]:
    """Return the lines of a list of options: who prints its whole help says of no argument that it is wrong."""
    found = _OPTION.findall(text)
    return (
        frozenset(line.strip() for one in found for line in one.splitlines()) if len(found) >= _A_LIST else frozenset()
    )


def _quoted(line: str) -> str:
    return "nothing" if line == "nothing" else f'"{line}"'


def _no_server(session: Session) -> ConformanceCheck:
    expected = "a line that says so, status not 0"
    words = ("-c", "-I", session.addresses.server, "-p", "6999", "-t", "1")
    command = _typed(session, words)
    take = session.alone("no server there", words, limit_s=60.0)
    broken = _broken(take)
    if broken is not None:
        return failed("no-server", broken.mistake, f"{command}: {broken.reason}", expected, quotes=broken.quotes)
    program = take.client
    said = program.last_words()
    wrong: tuple[Mistake, str] | None = None
    if not program.ended:
        wrong = Mistake.NO_END, "it does not come to an end"
    elif program.traceback:
        wrong = Mistake.TRACEBACK, program.traceback
    elif program.status == 0:
        wrong = Mistake.STATUS_ZERO, f"it ends with status 0, and says {_quoted(said)}"
    elif not program.said:
        wrong = Mistake.NO_MESSAGE, f"it ends with status {program.status}, and says nothing"
    if wrong is None:
        return passed("no-server", expected, said)
    quotes = [program.traceback or said] if program.text else []
    return failed("no-server", wrong[0], f"{command}, where nothing listens: {wrong[1]}", expected, said, quotes)


def _help(session: Session) -> ConformanceCheck:
    wrong = _unhelpful(session, "-h")
    if wrong is not None and _unhelpful(session, "--help") is None:
        wrong = None
    return wrong or passed("help", _HELPFUL)


def _unhelpful(session: Session, flag: str) -> ConformanceCheck | None:
    """The check that fails because of what a program says when it is asked for help, or None."""
    command = _typed(session, [flag])
    take = session.alone(f"help: {flag}", (flag,))
    broken = _broken(take)
    if broken is not None:
        return failed("help", broken.mistake, f"{command}: {broken.reason}", _HELPFUL, quotes=broken.quotes)
    program = take.client
    missing = [
        short for short, long in FLAGS.items() if not re.search(rf"(?<![\w-])(?:{short}|{long})\b", program.text)
    ]
    if not program.ended:
        return failed("help", Mistake.NO_HELP, f"{command}: it does not come to an end", _HELPFUL)
    if program.traceback:
        return failed(
            "help", Mistake.TRACEBACK, f"{command}: {program.traceback}", _HELPFUL, quotes=[program.traceback]
        )
    if missing:
        return failed("help", Mistake.NO_HELP, f"{command}: it does not name {', '.join(missing)}", _HELPFUL)
    if program.status != 0:
        return failed("help", Mistake.NO_HELP, f"{command}: it ends with status {program.status}", _HELPFUL)
    return None
