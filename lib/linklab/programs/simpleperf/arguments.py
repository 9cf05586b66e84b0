"""Judge how a simpleperf takes its arguments: right ones are taken, wrong ones refused in one line, and help is there.

Whether a program takes an argument is not for its words to say: where it would connect stands a listener, and the
kernel is asked whether it listens itself. To refuse a wrong value earns points only where a right one is taken: who
does not know a flag refuses it too.

A message names its argument by the flag, the value or an English word for it. In another language it does so if the
program says that line of no other wrong argument.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.programs.checks import Failed, Observed
from linklab.programs.simpleperf.evidence import ProgramRun, Take
from linklab.programs.simpleperf.judges import in_limits
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.session import FORMS, SimpleperfScenes, amount_words

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
_DEFAULT: Final = ("127.0.0.1", 8088)
_CLIENT: Final = ("-c", "-I", "127.0.0.1", "-p", "8088", "-t", "1")
_WITHOUT_T: Final = _CLIENT[:-2]
_SERVER: Final = ("-s", "-b", "127.0.0.1", "-p", "8088")
_ALL: Final = (*_CLIENT, "-f", "KB", "-P", "2", "-i", "1")
"""Right arguments together: who takes them knows each of the flags."""


@dataclass(frozen=True)
class TriedArgument:
    """An argument, and how it is tried.

    ``wrong`` are commands that are wrong in it alone, ``right`` those of which one must be taken. ``names`` are the
    words by one of which a message names it, beside the value; ``accepted`` is the mistake of who takes a wrong one.
    """

    right: tuple[tuple[str, ...], ...]
    wrong: tuple[tuple[str, ...], ...]
    names: str
    accepted: Mistake = Mistake.ACCEPTED


MODES: Final = TriedArgument((_ALL, _CLIENT), ((), ("-s", "-c")), r"server|client|mode|-s|-c", Mistake.MODES)
PORTS: Final = TriedArgument(
    (_SERVER,),
    (("-s", "-p", "80"), ("-s", "-p", "70000"), ("-c", "-I", "127.0.0.1", "-t", "1", "-p", "abc")),
    r"port(?:number)?|-p",
    Mistake.PORT_RANGE,
)
ADDRESSES: Final = TriedArgument(
    (_SERVER,),
    (("-c", "-t", "1", "-p", "8088", "-I", "300.1.1.1"), ("-s", "-b", "nonsense")),
    r"(?:ip)?address|ip(?:v4)?|serverip|bind|-I|-b|host(?:name)?",
    Mistake.ADDRESS_UNCHECKED,
)
FORMATS: Final = TriedArgument((_ALL, (*_CLIENT, "-f", "KB")), ((*_CLIENT, "-f", "GB"),), r"format|unit|-f")
TIMES: Final = TriedArgument(
    (_ALL, _CLIENT), ((*_CLIENT[:-1], "0"), (*_CLIENT[:-1], "soon")), r"time|second|duration|-t"
)
PARALLELS: Final = TriedArgument(
    (_ALL, (*_CLIENT, "-P", "2")),
    ((*_CLIENT, "-P", "0"), (*_CLIENT, "-P", "6")),
    r"parallel(?:ism)?|connection|-P",
    Mistake.PARALLEL_RANGE,
)
# without -t: some refuse the two beside each other
AMOUNTS: Final = TriedArgument(
    tuple((*_WITHOUT_T, *amount_words(form, 10, "MB")) for form in FORMS),
    ((*_WITHOUT_T, "-n", "10XB"),),
    r"num(?:ber)?|amount|size|byte|unit|-n|n[- ]flag",
)
INTERVALS: Final = TriedArgument((_ALL, (*_CLIENT, "-i", "1")), ((*_CLIENT, "-i", "often"),), r"interval|-i")
_ARGUMENTS: Final = (MODES, PORTS, ADDRESSES, FORMATS, TIMES, PARALLELS, AMOUNTS, INTERVALS)
_OPTION: Final = re.compile(r"^[ \t]*-{1,2}\w.*(?:\n[ \t]{8,}\S.*)*", re.M)
_A_LIST: Final = 3
_REFUSES: Final = re.compile(
    r"error|\b(?:in|not )valid\b|wrong|illegal|must|should|not|\bno\b|n't\b|only|between|expect|need|requir|please"
    r"|unsupported|unknown|missing|out of range|choose|bad\b|too ",
    re.I,
)
"""What a line says that refuses something."""
# A port that is kept from ordinary users, or nobody at another port than the one named: it was tried all the same.
_TRIED: Final = re.compile(r"permission denied|Errno 13\b|connection refused|Errno 111\b", re.I)
# What a resolver or a socket says of a value that the program passed on to it.
_BY_THE_NETWORK: Final = re.compile(
    r"Errno|gaierror|name or service|nodename nor servname|name resolution|no address associated|getaddrinfo"
    r"|0-65535|cannot assign|illegal ip|(?:can|could)(?: ?not|n't) (?:connect|bind)|unable to|failed to",
    re.I,
)


def judge_of(argument: TriedArgument) -> Callable[[SimpleperfScenes], Observed]:
    """Return the judge of an argument: is a right value taken, and each wrong one refused in a line that names it?"""

    def judge(session: SimpleperfScenes) -> Observed:
        return _refused(session, argument) or _judge_wrong(session, argument)

    commands = ", ".join(f"`{shlex.join(words)}`" if words else "no argument" for words in argument.wrong)
    judge.__doc__ = f"Run what is wrong: {commands}. A right value must be taken, too."
    return judge


def _refused(session: SimpleperfScenes, argument: TriedArgument) -> Observed | None:
    """Return the verdict on a program that takes no right value; None if it takes one."""
    if any(_is_taken(session, words) for words in argument.right):
        return None
    words = argument.right[-1]
    take = in_limits(next(_takes(session, words)), f"{_typed(session, words)}: ")
    said = take.client.traceback or take.client.last_words()
    reason = f"{_typed(session, words)}: it neither listens nor connects, and says {_quoted(said)}"
    return fails(Mistake.FLAG_REFUSED, reason, "right arguments are taken")


def _is_taken(session: SimpleperfScenes, words: Sequence[str]) -> bool:
    """Return whether a program does something with the network when it is called so."""
    return any(map(_did, _takes(session, words)))


def _judge_wrong(session: SimpleperfScenes, argument: TriedArgument) -> Observed:
    expected = "a line that names the argument, and a status that is not 0"
    said, advice = [], None
    for words in argument.wrong:
        command = _typed(session, words)
        # what it does tells more than what it says where it can do nothing
        for take in sorted(_takes(session, words), key=lambda take: not _did(take)):
            in_limits(take, f"{command}: ", expected)
            mistake, reason = refusal(take, words, argument) or (None, "")
            if mistake is Mistake.UNNAMED and _is_said_of_it_alone(session, take.client.last_words(), argument):
                mistake = None
            if mistake is not None:
                quotes = take.client.errors[-1].quotes if mistake is Mistake.TRACEBACK else ()
                return fails(mistake, f"{command}: {reason}", expected, quotes)
            said.append(take.client.last_words(80))
            if _BY_THE_NETWORK.search(_naming(take.client, words, argument.names)):
                advice = argument.accepted
    return passes(expected, said[0], advice)


def _typed(session: SimpleperfScenes, words: Sequence[str]) -> str:
    """Return the command, as a student would type it."""
    return shlex.join(["python3", session.program.name, *words])


def _takes(session: SimpleperfScenes, words: Sequence[str]) -> Iterator[Take]:
    """Yield the scenes of a command. A listener would be in the way of a program that listens where it stands."""
    command = " ".join(words)
    if "-s" in words or not words:
        yield session.alone(f"arguments: {command or 'none'}", words)
    if "-c" in words or not words:
        yield session.alone(f"arguments: {command or 'none'}, and a listener", words, listeners=[_DEFAULT])


def refusal(take: Take, words: Sequence[str], argument: TriedArgument) -> tuple[Mistake, str] | None:
    """Return what is wrong with how a program took wrong arguments, and what shows it; None if it refused them well.

    It hangs on nothing but what the program did, whether and how it ended, and what it said.
    """
    program = take.client
    did = _did(take)
    if did:
        return argument.accepted, f"it {did}, as if nothing were wrong"
    if not program.ended:
        return Mistake.NO_END, f"it had to be stopped ({program.stopped})"
    if program.traceback:
        return Mistake.TRACEBACK, program.traceback
    said = program.last_words()
    naming = _naming(program, words, argument.names)
    if program.status == 0:
        # who asked the network has taken the value, and so has who only says what it was
        refused = _REFUSES.search(naming) and not _TRIED.search(program.text) and not _BY_THE_NETWORK.search(naming)
        shown = _quoted(naming if refused else said)
        return (
            (Mistake.STATUS_ZERO, f"the line {shown} is right, but the exit status is 0")
            if refused
            else (argument.accepted, f"it ends with status 0, and says {shown}")
        )
    if _TRIED.search(program.text):
        return argument.accepted, f"it asks the network, which refuses: {_quoted(said)}"
    if naming:
        return None
    if not program.said:
        return Mistake.NO_MESSAGE, f"it ends with status {program.status}, and says nothing"
    is_by_network = bool(_BY_THE_NETWORK.search(said))
    reason = f"the message does not say which argument is wrong: {_quoted(said)}"
    return argument.accepted if is_by_network else Mistake.UNNAMED, reason


def _is_said_of_it_alone(session: SimpleperfScenes, line: str, argument: TriedArgument) -> bool:
    """Return whether a program says something else of every other wrong argument."""
    others = [other.wrong[0] for other in _ARGUMENTS if other is not argument]
    return all(line != take.client.last_words() for words in others for take in _takes(session, words))


def _did(take: Take) -> str:
    """What a program did with the network, or ""."""
    for act in take.record["acts"]:
        for address, port in act.get("listening", []):
            return f"listens on {address}:{port}"
    for one in take.record["listeners"]:
        if one["connections"]:
            return f"connects to {one['address']}:{one['port']}"
    return ""


def _naming(program: ProgramRun, words: Sequence[str], names: str) -> str:
    """Return the last line that names the argument or its value, or ""."""
    value = words[-1] if words and not words[-1].startswith("-") else ""
    # how a program is used says which mode is missing, but not which value is wrong
    lines = program.said if words else program.text.splitlines()
    listed = _listed(program.text) if words else frozenset()
    pattern = re.compile(rf"(?<![A-Za-z])(?:{names})(?:e?s)?(?![A-Za-z])", re.I)
    for line in reversed(lines):
        if line.strip() in listed:
            continue
        if pattern.search(line) or (value and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", line)):
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


def no_server(session: SimpleperfScenes) -> Observed:
    """Run a client to a port where nothing listens."""
    words = ("-c", "-I", session.addresses.server, "-p", "6999", "-t", "1")
    command = f"{_typed(session, words)}, where nothing listens: "
    expected = "a line that says so, and a status that is not 0"
    program = _ended(session.alone("no server there", words, limit_s=60.0), command, expected, Mistake.NO_END)
    if program.status == 0:
        reason = f"{command}it says {_quoted(program.last_words())}, but ends with status 0"
        return fails(Mistake.STATUS_ZERO, reason, expected)
    if not program.said:
        return fails(Mistake.NO_MESSAGE, f"{command}it ends with status {program.status}, and says nothing", expected)
    # who never connects says so anywhere
    return _refused(session, TIMES) or passes(expected, program.last_words())


def _ended(take: Take, command: str, expected: str, endless: Mistake) -> ProgramRun:
    """Return a program that came to its end without a traceback. Raises Failed for any other."""
    program = in_limits(take, command, expected).client
    if not program.ended:
        raise Failed(fails(endless, f"{command}it had to be stopped ({program.stopped})", expected))
    if program.traceback:
        raise Failed(fails(Mistake.TRACEBACK, f"{command}{program.traceback}", expected, program.errors[-1].quotes))
    return program


def helps(session: SimpleperfScenes) -> Observed:
    """Run -h, or --help: status 0, and every flag is named."""
    failures = []
    for flag in ("-h", "--help"):
        try:
            return _help(session, flag)
        except Failed as wrong:
            failures.append(wrong)
    raise failures[0]


def _help(session: SimpleperfScenes, flag: str) -> Observed:
    command, expected = f"{_typed(session, [flag])}: ", "status 0, and every flag"
    program = _ended(session.alone(f"help: {flag}", (flag,)), command, expected, Mistake.NO_HELP)
    missing = [
        short for short, long in FLAGS.items() if not re.search(rf"(?<![\w-])(?:{short}|{long})\b", program.text)
    ]
    if missing:
        raise Failed(fails(Mistake.NO_HELP, f"{command}it does not name {', '.join(missing)}", expected))
    if program.status != 0:
        raise Failed(fails(Mistake.NO_HELP, f"{command}it ends with status {program.status}", expected))
    return passes(expected)
