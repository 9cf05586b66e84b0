"""The step `arguments`: right values are taken, wrong ones refused in a line that names the flag, and help is there.

Whether a program takes an argument is not for its words to say: where it would connect stands a listener, and the
kernel is asked whether it listens itself. To refuse a wrong value earns points only where a right one is taken: who
does not know a flag refuses it too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from linklab.programs.checks import Failed, Observed, WaitsFor, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import PlayedScene, ProgramRun, RunAlone
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.session import DEFAULT_S, SimpleperfScenes
from linklab.programs.simpleperf.transfer import connects, listens
from linklab.programs.simpleperf.trouble import breach, limit_met
from linklab.programs.simpleperf.verdicts import in_limits, of_trouble

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
_CLIENT: Final = "-c -I 127.0.0.1 -p 8088"
_SERVER: Final = "-s -b 127.0.0.1 -p 1024", "-s -b 127.0.0.255 -p 65535"
_LEAST: Final = "-c -I 127.0.0.1 -p 1024 -t 1 -f B -P 1 -i 1 -n 1B"
_MOST: Final = "-c -I 127.0.0.255 -p 65535 -t 25 -f MB -P 5 -i 1 -n 10MB"
_ALL: Final = (_LEAST, _MOST, *_SERVER)
"""Right commands with the least and the greatest value of each flag."""
_DEFAULT_S: Final = (DEFAULT_S - 0.1, DEFAULT_S + 2.0)
"""How long a client without -t may be seen to send, with what waits in buffers in the end."""
_ACCEPTED: Final = Mistake(
    "a wrong argument is accepted",
    "check its value before you open a socket; if it is wrong, print one line that names the argument, and exit with a "
    "status that is not 0",
)
_REFUSED: Final = Mistake(
    "a right argument is refused", "take every flag with the values that it may have, as -h lists them"
)
_UNNAMED: Final = Mistake(
    "the message does not name the argument", "name the flag in the last line that you print, and say what is wrong"
)


@check("modes", points=2)
def modes(session: SimpleperfScenes) -> Observed:
    """exactly one of -s and -c is required"""
    unchecked = Mistake(
        "the mode is not checked",
        "exactly one of -s and -c must be given: otherwise print one line that says so, and exit with a status that is "
        "not 0",
    )
    return _judged(session, [f"{_CLIENT} -t 1"], {"": ("-s", "-c"), "-s -c": ("-s", "-c")}, unchecked)


@check("ports", points=2)
def ports(session: SimpleperfScenes) -> Observed:
    """-p takes only ports from 1024 to 65535"""
    commands = [f"-s -p {port}" for port in (1023, 65536)]
    commands += [f"-c -I 127.0.0.1 -t 1 -p {port}" for port in (1023, 65536, "abc")]
    right = [*_SERVER, "-c -I 127.0.0.1 -t 1 -p 1024", "-c -I 127.0.0.1 -t 1 -p 65535"]
    any_port = Mistake(
        "ports out of range are accepted",
        "before you open a socket, refuse ports below 1024 and above 65535 in one line that names -p",
    )
    return _judged(session, right, dict.fromkeys(commands, ("-p",)), any_port)


@check("addresses", points=2)
def addresses(session: SimpleperfScenes) -> Observed:
    """-I and -b take only IPv4 addresses"""
    wrong = {"-c -t 1 -p 8088 -I 127.0.0.256": ("-I",), "-s -b nonsense": ("-b",)}
    right = [f"-s -p 8088 -b 127.0.0.{number}" for number in (1, 255)]
    right += [f"-c -t 1 -p 8088 -I 127.0.0.{number}" for number in (1, 255)]
    unchecked = Mistake(
        "addresses are not checked",
        "ipaddress.IPv4Address(text) raises ValueError for a bad one: catch it, and print one line that names the flag",
    )
    return _judged(session, right, wrong, unchecked)


@check("formats")
def formats(session: SimpleperfScenes) -> Observed:
    """-f takes only B, KB or MB"""
    right = [f"{_CLIENT} -t 1 -f {unit}" for unit in ("B", "KB", "MB")]
    return _judged(session, right, {f"{_CLIENT} -t 1 -f GB": ("-f",)})


@check("times")
def times(session: SimpleperfScenes) -> Observed:
    """-t takes only a number above 0, and is 25 where it is not given

    The relay sees how long data comes without -t: 24.9 to 27 s.
    """
    wrong = {f"{_CLIENT} -t 0": ("-t",), f"{_CLIENT} -t soon": ("-t",)}
    judged = _judged(session, [f"{_CLIENT} -t 1"], wrong)
    return judged if judged.reason else _default_time(session) or judged


def _default_time(session: SimpleperfScenes) -> Observed | None:
    """Return the verdict on a client that without -t refuses to run, or sends for another time; None where it is right,
    or where no transfer works anyway.
    """
    default = Mistake("the default of -t is another one", f"keep the starter's parser: without -t it is {DEFAULT_S} s")
    expected = f"without -t it sends for {DEFAULT_S} s"
    plain, scene = session.transfer(), session.no_answer()
    if not plain.connections or plain.main.acknowledged_s is None or breach(scene):
        return None
    if not scene.tried:
        return fails(default, f"without -t it does not connect, and says {_quoted(scene.client_said)}", expected)
    one = scene.main
    is_over = one.says_bye or not scene.client.ended
    sent_s = one.data_s - one.began_s
    if not is_over or _DEFAULT_S[0] <= sent_s <= _DEFAULT_S[1]:
        return None
    return fails(default, f"without -t its data came for {sent_s:.1f} s", expected)


@check("parallels", points=2)
def parallels(session: SimpleperfScenes) -> Observed:
    """-P takes only 1 to 5"""
    any_number = Mistake(
        "-P out of range is accepted",
        "refuse what is below 1 or above 5 in one line that names -P: in argparse choices=range(1, 6) does so",
    )
    wrong = {f"{_CLIENT} -t 1 -P 0": ("-P",), f"{_CLIENT} -t 1 -P 6": ("-P",)}
    return _judged(session, [f"{_CLIENT} -t 1 -P 1", f"{_CLIENT} -t 1 -P 5"], wrong, any_number)


@check("amounts")
def amounts(session: SimpleperfScenes) -> Observed:
    """-n takes only an amount above 0"""
    right = [f"{_CLIENT} -n 1B", f"{_CLIENT} -n 10MB"]
    return _judged(session, right, {f"{_CLIENT} -n 0B": ("-n",), f"{_CLIENT} -n 10XB": ("-n",)})


@check("interval-text")
def interval_text(session: SimpleperfScenes) -> Observed:
    """-i takes only a number above 0"""
    wrong = {f"{_CLIENT} -t 1 -i 0": ("-i",), f"{_CLIENT} -t 1 -i often": ("-i",)}
    return _judged(session, [f"{_CLIENT} -t 1 -i 1"], wrong)


def _judged(
    session: SimpleperfScenes,
    right: Sequence[str],
    wrong: Mapping[str, tuple[str, ...]],
    accepted: Mistake = _ACCEPTED,
) -> Observed:
    """Judge a flag: is each right command taken, and each wrong one refused in a line that names one of its flags?

    ``accepted`` is the mistake of who takes a wrong one.
    """
    if refused := _refused(session, right):
        return refused
    expected = "a last line that names the flag, and a status that is not 0"
    flags = {_words(command): flags for command, flags in wrong.items()}
    runs = _runs(session, f"arguments: {', '.join(command or 'none' for command in wrong)}", flags)
    # what it does tells more than what it says where it can do nothing
    for run in sorted(runs, key=lambda run: not run.did):
        if fault := _fault(run, flags[run.command], accepted):
            mistake, reason = fault
            quotes = run.program.errors[-1].quotes if mistake is mistakes.TRACEBACK else ()
            return fails(mistake, f"{_typed(session, run.command)}: {reason}", expected, quotes)
    return passes(expected, runs[0].program.last_words())


def _refused(session: SimpleperfScenes, right: Sequence[str]) -> Observed | None:
    """Return the verdict on a program that does not take one of these commands; None if it takes them.

    Who takes all flags together, with their least and their greatest values, takes each. Raises WaitsFor where the
    program does not listen or connect whatever it is told, which is a check of its own.
    """
    if all(run.did for run in _runs(session, "right arguments", map(_words, _ALL))):
        return None
    for run in _runs(session, f"arguments: {', '.join(right)}", map(_words, right)):
        if run.did:
            continue
        for first in (listens, connects):
            if first(session).reason:
                raise WaitsFor(first.key)
        said = run.program.traceback or run.program.last_words()
        reason = f"{_typed(session, run.command)}: it neither listens nor connects, and says {_quoted(said)}"
        return fails(_REFUSED, reason, "right arguments are taken")
    return None


def _runs(session: SimpleperfScenes, key: str, commands: Iterable[tuple[str, ...]]) -> list[RunAlone]:
    """Run the program with each of these commands. Raises Failed if one met a limit."""
    scene, runs = session.alone(key, list(commands))
    for run in runs:
        if found := limit_met([run.program]):
            raise Failed(of_trouble(found, f"{_typed(session, run.command)}: "))
    in_limits(scene, f"{key}: ")
    return runs


def _words(command: str) -> tuple[str, ...]:
    return tuple(shlex.split(command))


def _fault(run: RunAlone, flags: tuple[str, ...], accepted: Mistake) -> tuple[Mistake, str] | None:
    """Return what is wrong with how a program took wrong arguments, and what shows it; None if it refused them well."""
    program = run.program
    if run.did:
        return accepted, f"it {run.did}, as if nothing were wrong"
    if not program.ended:
        return mistakes.NO_END, f"it had to be stopped ({program.stopped})"
    if program.traceback:
        return mistakes.TRACEBACK, program.traceback
    said = program.last_words()
    if not program.said and program.status != 0:
        return mistakes.NO_MESSAGE, f"it ends with status {program.status}, and says nothing"
    is_named = any(_names(said, flag) for flag in flags)
    if program.status == 0:
        mistake = mistakes.STATUS_ZERO if is_named else accepted
        return mistake, f"it says {_quoted(said)}, and ends with status 0"
    return None if is_named else (_UNNAMED, f"its last line names no flag such as {flags[0]}: {_quoted(said)}")


def _names(text: str, flag: str) -> bool:
    """Return whether a text has a flag, by its letter, its long form or the name in that."""
    long = FLAGS[flag]
    return bool(re.search(rf"(?<![\w-])(?:{flag}|(?i:{long}|{long[2:]}))(?![\w-])", text))


def _typed(session: SimpleperfScenes, words: tuple[str, ...]) -> str:
    """Return the command, as a student would type it."""
    return shlex.join(["python3", session.program.name, *words])


def _quoted(line: str) -> str:
    return "nothing" if line == "nothing" else f'"{line}"'


@check("no-server")
def no_server(session: SimpleperfScenes) -> Observed:
    """if no server listens, the client prints one line and exits with a status other than 0"""
    words = _words(f"{_CLIENT} -t 1")
    command = f"{_typed(session, words)}, where nothing listens: "
    expected = "a line that says so, and a status that is not 0"
    program = _ended(_alone(session, "nobody listens", words), command, expected, mistakes.NO_END)
    if program.status == 0:
        reason = f"{command}it says {_quoted(program.last_words())}, but ends with status 0"
        return fails(mistakes.STATUS_ZERO, reason, expected)
    if not program.said:
        reason = f"{command}it ends with status {program.status}, and says nothing"
        return fails(mistakes.NO_MESSAGE, reason, expected)
    # who never connects says so anywhere
    return _refused(session, [f"{_CLIENT} -t 1"]) or passes(expected, program.last_words())


@check("no-answer", needs=["ends"])
def no_answer(session: SimpleperfScenes) -> Observed:
    """if the server closes without ACK: BYE, the client exits with a status other than 0

    The relay closes the connection when the answer comes.
    """
    context, expected = "BYE was not acknowledged, and the connection closed: ", "a status that is not 0"
    scene = in_limits(session.no_answer(), context, expected)
    if not scene.tried:
        raise WaitsFor(times.key)
    program = _ended((scene, scene.client), context, expected, mistakes.NO_END)
    if program.status == 0:
        taken = Mistake(
            "a transfer without acknowledgement counts as done",
            "recv() that returns b'' is no ACK: BYE: print a line that says so, no row, and exit with a status that is "
            "not 0",
        )
        return fails(
            taken, f"{context}the client says {_quoted(program.last_words())}, and ends with status 0", expected
        )
    return passes(expected, f"status {program.status}")


@check("help")
def helps(session: SimpleperfScenes) -> Observed:
    """-h explains the arguments

    Status 0, and every flag is named.
    """
    command, expected = f"{_typed(session, ('-h',))}: ", "status 0, and every flag"
    no_help = Mistake("no help", "argparse prints help for -h if each argument has help=...")
    program = _ended(_alone(session, "help", ("-h",)), command, expected, no_help)
    missing = [
        short for short, long in FLAGS.items() if not re.search(rf"(?<![\w-])(?:{short}|{long})\b", program.text)
    ]
    if missing:
        return fails(no_help, f"{command}it does not name {', '.join(missing)}", expected)
    if program.status != 0:
        return fails(no_help, f"{command}it ends with status {program.status}", expected)
    return passes(expected)


def _alone(session: SimpleperfScenes, key: str, words: tuple[str, ...]) -> tuple[PlayedScene, ProgramRun]:
    """Run a command where nobody listens."""
    scene, runs = session.alone(key, [words], nobody=True)
    return scene, runs[0].program


def _ended(played: tuple[PlayedScene, ProgramRun], command: str, expected: str, endless: Mistake) -> ProgramRun:
    """Return a program of a scene that came to its end without a traceback. Raises Failed for any other."""
    scene, program = played
    in_limits(scene, command, expected)
    if not program.ended:
        raise Failed(fails(endless, f"{command}it had to be stopped ({program.stopped})", expected))
    if program.traceback:
        raise Failed(fails(mistakes.TRACEBACK, f"{command}{program.traceback}", expected, program.errors[-1].quotes))
    return program
