"""Wrong arguments: whether a program takes them is seen from what it does, and only then from what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path
from typing import Final

import pytest

from linklab.programs import submission
from linklab.programs.place import LoopbackPlace
from linklab.programs.simpleperf import judge_arguments
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session

RIGHT: Final = """
import argparse, ipaddress, socket, sys

def port(text):
    if not text.isdigit() or not 1024 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("the port must be from 1024 to 65535")
    return int(text)

def address(text):
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no address") from None

def seconds(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError("seconds above 0")
    return int(text)

def amount(text):
    if not text.rstrip("KMB").isdigit():
        raise argparse.ArgumentTypeError("an amount such as 10MB")
    return text

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--server", action="store_true")
    parser.add_argument("-c", "--client", action="store_true")
    parser.add_argument("-b", "--bind", type=address, default="127.0.0.1")
    parser.add_argument("-I", "--serverip", type=address, default="127.0.0.1")
    parser.add_argument("-p", "--port", type=port, default=8088)
    parser.add_argument("-f", "--format", choices=["B", "KB", "MB"], default="MB")
    parser.add_argument("-t", "--time", type=seconds, default=25)
    parser.add_argument("-i", "--interval", type=seconds)
    parser.add_argument("-P", "--parallel", type=int, choices=range(1, 6), default=1)
    parser.add_argument("-n", "--num", type=amount)
    args = parser.parse_args()
    if args.server == args.client:
        sys.exit("Error: you must run either in server or client mode")
    if args.server:
        serve(args)
    else:
        send(args)

def serve(args):
    with socket.create_server((args.bind, args.port)) as listening:
        while True:
            listening.accept()

def send(args):
    try:
        connections = [socket.create_connection((args.serverip, args.port)) for _ in range(int(args.parallel))]
    except OSError as error:
        sys.exit(f"Error: cannot connect to server {args.serverip} port {args.port}: {error}")
    rate = 1 / int(args.time)
    for one in connections:
        one.sendall(b"BYE")
        one.recv(100)

main()
"""

Judge = Callable[..., ConformanceCheck]


@pytest.fixture
def judge(tmp_path: Path, nothing_left: None) -> Iterator[Judge]:
    """Judges one check of the right program after some replacements in its text."""
    places = []

    def judged(key: str, *edits: tuple[str, str]) -> ConformanceCheck:
        text = RIGHT
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (tmp_path / "simpleperf.py").write_text(text)
        program = submission.read(tmp_path / "simpleperf.py")
        places.append(LoopbackPlace(program))
        session = Session(program, places[-1], lambda _: None)
        (found,) = (check for check in judge_arguments.checks(session, [key]))
        return found

    yield judged
    for place in places:
        place.close()


ANY_PORT: Final = ("not 1024 <= int(text) <= 65535", "False")
ANY_SECONDS: Final = ('"--time", type=seconds', '"--time"')
ANY_PARALLEL: Final = ("choices=range(1, 6), ", "")
ANY_FORMAT: Final = ('choices=["B", "KB", "MB"], ', "")
ANY_ADDRESS: Final = ('"--serverip", type=address', '"--serverip"')
BOTH: Final = ("if args.server == args.client:", "if not args.server and not args.client:")


def test_a_right_program_passes(judge: Judge) -> None:
    for key in ("modes", "ports", "addresses", "times", "no-server", "help"):
        found = judge(key)
        assert (found.outcome, found.mistake) == ("passed", ""), found.reason


@pytest.mark.parametrize(
    ("key", "edits", "reason"),
    [
        # what it says and how it ends afterwards does not count
        ("parallels", [ANY_PARALLEL, ("rate = 1", 'sys.exit("wrong -P"); rate = 1')], "it connects to 127.0.0.1:8088"),
        ("formats", [ANY_FORMAT, ("rate = 1", "sys.exit(0); rate = 1")], "it connects to 127.0.0.1:8088"),
        ("times", [ANY_SECONDS], "it connects to 127.0.0.1:8088"),  # and divides by zero
        ("modes", [BOTH, ("if args.server:", "if not args.client:")], "it connects to 127.0.0.1:8088"),
        ("modes", [BOTH], "it listens on 127.0.0.1:8088"),
    ],
)
def test_who_does_it_has_taken_the_argument(judge: Judge, key: str, edits: list[tuple[str, str]], reason: str) -> None:
    found = judge(key, *edits)
    (group,) = (group for group in judge_arguments.GROUPS if group.key == key)
    assert found.outcome == "failed"
    assert found.candidates == (group.accepted,)
    assert reason in found.reason
    assert found.reason.startswith("python3 simpleperf.py -")


def test_a_low_port_is_seen_to_be_taken(judge: Judge) -> None:
    found = judge("ports", ANY_PORT)
    assert found.mistake == Mistake.PORT_RANGE.title
    assert found.reason.startswith("python3 simpleperf.py -s -p 80: it ")


@pytest.mark.parametrize(
    ("said", "mistake", "outcome"),
    [
        # the resolver's words, in one line that names the value: refused, if late
        ('f"Error: {args.serverip}: {error}"', Mistake.ADDRESS_UNCHECKED, "passed"),
        ('f"Error: {error}"', Mistake.ADDRESS_UNCHECKED, "failed"),
        ('"Error: wrong input"', Mistake.UNNAMED, "failed"),
        ("1", Mistake.NO_MESSAGE, "failed"),
    ],
)
def test_an_address_that_only_the_resolver_refuses(judge: Judge, said: str, mistake: Mistake, outcome: str) -> None:
    told = 'f"Error: cannot connect to server {args.serverip} port {args.port}: {error}"'
    found = judge("addresses", ANY_ADDRESS, (told, said))
    assert (found.outcome, found.mistake) == (outcome, mistake.title), found.reason


def test_a_traceback_is_a_traceback_and_its_line_is_quoted(judge: Judge) -> None:
    found = judge(
        "formats",
        ANY_FORMAT,
        ("    if args.server:\n", '    {"B", "KB", "MB"}.remove(args.format)\n    if args.server:\n'),
    )
    assert found.mistake == Mistake.TRACEBACK.title
    assert found.quotes == ("KeyError: 'GB'",)
    assert found.reason == "python3 simpleperf.py -c -I 127.0.0.1 -p 8088 -t 1 -f GB: KeyError: 'GB'"


def test_status_zero_and_no_end_have_their_names(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "alone", partialmethod(Session.alone, limit_s=3.0))
    refused = '    if args.format == "GB":\n        print("wrong --format"); '
    rest = "\n    if args.server:\n"
    ends = judge("formats", ANY_FORMAT, ("    if args.server:\n", f"{refused}sys.exit(0){rest}"))
    assert ends.mistake == Mistake.STATUS_ZERO.title
    assert ends.quotes == ("wrong --format",)
    waits = judge("formats", ANY_FORMAT, ("    if args.server:\n", f"{refused}import time; time.sleep(99){rest}"))
    assert waits.candidates == (Mistake.ACCEPTED, Mistake.NO_END)


REFUSES_FORMAT: Final = "    if args.server:\n"


@pytest.mark.parametrize(
    ("says", "mistakes"),
    [
        ("print('The format is valid'); sys.exit(0)", (Mistake.ACCEPTED, Mistake.STATUS_ZERO)),
        ("print('Error: wrong format'); sys.exit(0)", (Mistake.STATUS_ZERO, Mistake.ACCEPTED)),
        ("print('format GB: could not connect'); sys.exit(0)", (Mistake.ACCEPTED, Mistake.STATUS_ZERO)),
        # its whole help names every argument, and so none
        ("parser.print_help(); sys.exit(1)", (Mistake.UNNAMED,)),
        ("print('-f  format\\n-t  time\\n-p  port', file=sys.stderr); sys.exit(1)", (Mistake.UNNAMED,)),
        ("sys.exit('reunited information')", (Mistake.UNNAMED,)),
        ("sys.exit('-f: choose another one')", ()),
        ("sys.exit('unknown units')", ()),
    ],
)
def test_a_message_refuses_the_argument_by_name(judge: Judge, says: str, mistakes: tuple[Mistake, ...]) -> None:
    refuses = f"    if args.format == 'GB':\n        {says}\n"
    found = judge("formats", ANY_FORMAT, (REFUSES_FORMAT, refuses + REFUSES_FORMAT))
    assert found.candidates == mistakes, found.reason
    if "is valid" in says:
        assert found.reason.endswith('it ends with status 0, and says "The format is valid"')


def test_warnings_usage_and_stamps_are_not_the_message(judge: Judge) -> None:
    warns = "    if args.server == args.client:\n        import warnings\n"
    logged = 'print("2026-01-01 12:00:00,123 ERROR -s or -c, please", file=sys.stderr)'
    late = 'warnings.warn("this is old", DeprecationWarning)'
    edits = [
        ("    if args.server == args.client:\n", warns),
        ('sys.exit("Error: you must run either in server or client mode")', f"{logged}; {late}; sys.exit(2)"),
        ("import argparse, ", "import warnings; warnings.simplefilter('always')\nimport argparse, "),
    ]
    found = judge("modes", *edits)
    assert found.outcome == "passed", found.reason
    assert found.found == "2026-01-01 12:00:00,123 ERROR -s or -c, please"
    # argparse's own usage alone names no argument
    silent = judge(
        "formats",
        ANY_FORMAT,
        (
            "    if args.server:\n",
            '    if args.format == "GB":\n        parser.print_usage(sys.stderr); sys.exit(2)\n    if args.server:\n',
        ),
    )
    assert silent.mistake == Mistake.NO_MESSAGE.title


@pytest.mark.parametrize("flags", [("-h",), ("--help",), ("-h", "--help")])
def test_help_may_be_a_programs_own_and_name_long_flags(judge: Judge, flags: tuple[str, ...]) -> None:
    named = " ".join(judge_arguments.FLAGS.values())
    own = f"    if sys.argv[1] in {flags}:\n        print({named!r}); sys.exit(0)\n    args = parser.parse_args()\n"
    found = judge(
        "help", ("ArgumentParser()", "ArgumentParser(add_help=False)"), ("    args = parser.parse_args()\n", own)
    )
    assert found.outcome == "passed", found.reason


def test_no_help_is_told(judge: Judge) -> None:
    found = judge("help", ("ArgumentParser()", "ArgumentParser(add_help=False)"))
    assert found.mistake == Mistake.NO_HELP.title
