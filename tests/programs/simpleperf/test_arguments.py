"""Arguments: whether a program takes them is seen from what it does, and only then from what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from linklab.programs import submission
from linklab.programs.checks import Failed, Observed
from linklab.programs.place import LoopbackPlace
from linklab.programs.simpleperf.arguments import FLAGS
from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.session import SimpleperfScenes

from .played import mistake_of

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

Judge = Callable[..., Observed]


@pytest.fixture
def judge(tmp_path: Path, nothing_left: None) -> Iterator[Judge]:
    """Judges one check of the right program after some replacements in its text."""
    places = []

    def judged(key: str, *edits: tuple[str, str]) -> Observed:
        text = RIGHT
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (tmp_path / "simpleperf.py").write_text(text)
        program = submission.read(tmp_path / "simpleperf.py")
        places.append(LoopbackPlace(program))
        try:
            return ITEMS[key].judge(SimpleperfScenes(program, places[-1], lambda _: None))
        except Failed as wrong:
            return wrong.observed

    yield judged
    for place in places:
        place.close()


ANY_PORT: Final = ("not 1024 <= int(text) <= 65535", "False")
ANY_SECONDS: Final = ('"--time", type=seconds', '"--time"')
ANY_PARALLEL: Final = ("choices=range(1, 6), ", "")
ANY_FORMAT: Final = ('choices=["B", "KB", "MB"], ', "")
ANY_ADDRESS: Final = ('"--serverip", type=address', '"--serverip"')
BOTH: Final = ("if args.server == args.client:", "if not args.server and not args.client:")
STARTS: Final = "    if args.server:\n"


@pytest.mark.parametrize("key", ["modes", "ports", "addresses", "formats", "times", "parallels", "no-server", "help"])
def test_a_right_program_passes(judge: Judge, key: str) -> None:
    found = judge(key)
    assert (found.reason, found.hint) == ("", "")


@pytest.mark.parametrize(
    ("key", "edits", "mistake", "reason"),
    [
        # what it says and how it ends afterwards does not count
        (
            "parallels",
            [ANY_PARALLEL, ("rate = 1", 'sys.exit("wrong -P"); rate = 1')],
            Mistake.PARALLEL_RANGE,
            "it connects to 127.0.0.1:8088",
        ),
        ("times", [ANY_SECONDS], Mistake.ACCEPTED, "it connects to 127.0.0.1:8088"),  # and divides by zero
        ("modes", [BOTH], Mistake.MODES, "it listens on 127.0.0.1:8088"),
        ("ports", [ANY_PORT], Mistake.PORT_RANGE, "python3 simpleperf.py -s -p 80: it "),
    ],
)
def test_who_does_it_has_taken_the_argument(
    judge: Judge, key: str, edits: list[tuple[str, str]], mistake: Mistake, reason: str
) -> None:
    found = judge(key, *edits)
    assert mistake_of(found.reason) is mistake
    assert reason in found.reason


def test_to_refuse_a_wrong_value_earns_nothing_where_the_flag_is_not_known(judge: Judge) -> None:
    parallel = next(line for line in RIGHT.splitlines() if '"--parallel"' in line)
    found = judge("parallels", (f"{parallel}\n", ""), ("int(args.parallel)", "1"))
    assert mistake_of(found.reason) is Mistake.FLAG_REFUSED
    assert "unrecognized arguments: -P 2" in found.reason
    assert judge("times", (f"{parallel}\n", ""), ("int(args.parallel)", "1")).reason == ""


@pytest.mark.parametrize(
    ("says", "mistake"),
    [
        ("print('The format is valid'); sys.exit(0)", Mistake.ACCEPTED),
        ("print('Error: wrong format'); sys.exit(0)", Mistake.STATUS_ZERO),
        ("print('format GB: could not connect'); sys.exit(0)", Mistake.ACCEPTED),
        ("raise KeyError('GB')", Mistake.TRACEBACK),
        ("sys.exit(1)", Mistake.NO_MESSAGE),
        # argparse's own usage alone, and its whole help, name no argument
        ("parser.print_usage(sys.stderr); sys.exit(2)", Mistake.NO_MESSAGE),
        ("parser.print_help(); sys.exit(1)", Mistake.UNNAMED),
        ("print('-f  format\\n-t  time\\n-p  port', file=sys.stderr); sys.exit(1)", Mistake.UNNAMED),
        ("sys.exit('reunited information')", Mistake.UNNAMED),
        ("sys.exit('-f: choose another one')", None),
        ("sys.exit('unknown units')", None),
        # a long message comes to its end
        ("print('x' * 1_000_000); sys.exit('unknown units')", None),
    ],
)
def test_the_same_end_and_words_have_the_same_verdict(judge: Judge, says: str, mistake: Mistake | None) -> None:
    told = f"    if args.format == 'GB' or args.time == '0':\n        {says}\n{STARTS}"
    found = judge("formats", ANY_FORMAT, ANY_SECONDS, (STARTS, told))
    assert mistake_of(found.reason) is mistake, found.reason


def test_a_line_that_is_said_of_no_other_argument_names_its_own_in_any_language(judge: Judge) -> None:
    found = judge("modes", ("Error: you must run either in server or client mode", "Erro: escolha um dos modos"))
    assert (found.reason, found.found) == ("", "Erro: escolha um dos modos")


def test_an_address_that_only_the_resolver_refuses_is_a_hint_where_the_line_names_it(judge: Judge) -> None:
    told = 'f"Error: cannot connect to server {args.serverip} port {args.port}: {error}"'
    late = judge("addresses", ANY_ADDRESS, (told, 'f"Error: {args.serverip}: {error}"'))
    assert (late.reason, mistake_of(str(late.hint))) == ("", Mistake.ADDRESS_UNCHECKED)
    unnamed = judge("addresses", ANY_ADDRESS, (told, 'f"Error: {error}"'))
    assert mistake_of(unnamed.reason) is Mistake.ADDRESS_UNCHECKED


def test_warnings_and_stamps_are_not_the_message(judge: Judge) -> None:
    logged = 'print("2026-01-01 12:00:00,123 ERROR -s or -c, please", file=sys.stderr)'
    late = 'warnings.warn("this is old", DeprecationWarning)'
    found = judge(
        "modes",
        ('sys.exit("Error: you must run either in server or client mode")', f"{logged}; {late}; sys.exit(2)"),
        ("import argparse, ", "import warnings; warnings.simplefilter('always')\nimport argparse, "),
    )
    assert (found.reason, found.found) == ("", "2026-01-01 12:00:00,123 ERROR -s or -c, please")


@pytest.mark.parametrize(("flags", "is_help"), [(("-h",), True), (("--help",), True), (("--usage",), False)])
def test_help_may_be_a_programs_own_and_name_long_flags(judge: Judge, flags: tuple[str, ...], is_help: bool) -> None:
    named = " ".join(FLAGS.values())
    own = f"    if sys.argv[1] in {flags}:\n        print({named!r}); sys.exit(0)\n    args = parser.parse_args()\n"
    found = judge(
        "help", ("ArgumentParser()", "ArgumentParser(add_help=False)"), ("    args = parser.parse_args()\n", own)
    )
    assert mistake_of(found.reason) is (None if is_help else Mistake.NO_HELP)
