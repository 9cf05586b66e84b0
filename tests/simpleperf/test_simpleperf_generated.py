"""The generated programs prove themselves over loopback, without the check: right ones transfer what they say, and
each mistake shows.
"""

from __future__ import annotations

import ast
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from linklab.programs.simpleperf.checks import ITEMS
from linklab.programs.simpleperf.mistakes import Mistake

from ..thorough import some
from . import generated
from .generated import Generated
from .generated.choices import DIMENSIONS, FORBIDDEN, covering, pairs_of, possible_pairs
from .generated.driver import Done, Driven, driven, run, unused_port
from .generated.mistakes import BY_NAME, FAULTS
from .runner import LOOPBACK

RIGHT = {program.name: program for program in generated.right()}
_SPREAD = [name for number, name in enumerate(RIGHT) if number % 40 == 3]
_HELLO_BYTES = 200
"""At most what a client says before its data, and the end message."""


def test_there_are_enough() -> None:
    assert len(generated.right()) >= 120
    assert len(generated.wrong()) >= 200
    assert len({program.name for program in (*generated.right(), *generated.wrong())}) >= 320


def test_each_pair_of_choices_occurs_in_a_right_program() -> None:
    found = {pair for program in generated.right() for pair in pairs_of(dict(program.choices))}
    assert found == possible_pairs()
    assert not found & FORBIDDEN
    assert all(list(program.choices) == list(DIMENSIONS) for program in generated.right())


def test_the_same_seed_gives_the_same_choices() -> None:
    assert covering(10, 3) == covering(10, 3)
    assert covering(10, 3) != covering(10, 4)


@pytest.mark.slow
@pytest.mark.parametrize("each", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_each_file_is_python(each: int) -> None:
    """Of one program in so many."""
    for program in (*generated.right(), *generated.wrong())[::each]:
        assert next(iter(program.files)) == "simpleperf.py"
        for name, data in program.files.items():
            ast.parse(data, f"{program.name}/{name}")


@pytest.mark.slow
def test_each_mistake_changes_its_program_and_occurs_twice() -> None:
    times: Counter[str] = Counter()
    for program in generated.wrong():
        times.update(fault.name for fault in program.mistakes)
        for fault in program.mistakes:
            without = tuple(other for other in program.mistakes if other is not fault)
            assert Generated("without", program.choices, without).files != program.files, (program.name, fault.name)
    assert set(times) == set(BY_NAME)
    assert min(times.values()) >= 2


def test_checks_and_causes_are_known() -> None:
    for fault in FAULTS:
        assert fault.keys & set(ITEMS), fault.name
        assert fault.keys <= set(ITEMS), fault.name
        assert fault.causes, fault.name
        assert fault.causes <= set(Mistake.__members__), fault.name


@pytest.mark.parametrize("name", some(RIGHT, *_SPREAD))
def test_a_right_program_transfers(name: str, tmp_path: Path) -> None:
    program = RIGHT[name]
    with driven(program, tmp_path) as each:
        _well(each.client(*each.amount(300, "KB")), 1, 300_000)
        _well(each.client(*each.amount(1500, "B"), "-P", "2"), 2, 1500)
        _well(each.client("-i", "1", "-t", "2"), 1)
        refused = run(each.path, "-c", "-I", LOOPBACK, "-p", unused_port(), "-t", "1")
        assert refused.status != 0
        assert "Traceback" not in refused.output + refused.errors
        assert run(each.path, "-h").status == 0
        assert each.server.process.poll() is None
        assert each.server.errors == ""


def _well(done: Done, connections: int, amount: int | None = None) -> None:
    """Assert that a client did what it was told."""
    errors = [line for line in done.errors.splitlines() if "Warning" not in line]
    assert (done.status, errors) == (0, []), done
    assert len(done.carried) == connections
    for one in done.carried:
        if amount is None:
            assert one.size > 100_000
        else:
            assert amount < one.size <= amount + _HELLO_BYTES


@pytest.mark.parametrize("name", some(RIGHT, _SPREAD[0]))
def test_a_right_program_refuses_what_is_wrong(name: str, tmp_path: Path) -> None:
    path = RIGHT[name].write(tmp_path)
    for words in (
        "", "-s -c", "-s -p 80", "-s -p 70000", "-c -p x", "-c -I 300.1.1.1", "-s -b x", "-c -f GB", "-c -t 0",
        "-c -t x", "-c -P 0", "-c -P 6", "-c -n 10XB", "-c -i often",
    ):  # fmt: skip
        done = run(path, *words.split(), patience_s=10)
        assert not done.late, words
        assert done.status != 0, words
        assert "Traceback" not in done.output + done.errors, words
        assert done.output + done.errors, words


def _traceback(done: Done) -> bool:
    return "Traceback" in done.errors


def _one_after_the_other(done: Done) -> bool:
    return all(one.last_s <= other.first_s for one, other in zip(done.carried, done.carried[1:], strict=False))


def _waits(each: Driven) -> bool:
    """Return True if a client does not end while another one, which is silent, is connected."""
    with socket.create_connection((LOOPBACK, each.server.port)):
        time.sleep(0.5)
        return each.client("-t", "1", patience_s=4).late


def _after_leaving(each: Driven) -> None:
    with socket.create_connection((LOOPBACK, each.server.port)) as first:
        first.sendall(b"START\n" + b"x" * 5000)
    time.sleep(1)


def _ends_when_one_leaves(each: Driven) -> bool:
    _after_leaving(each)
    return each.server.process.poll() is not None


def _traceback_when_one_leaves(each: Driven) -> bool:
    _after_leaving(each)
    return "Traceback" in each.server.errors


def _argument(words: str, shows: Callable[[Done], bool]) -> Callable[[Driven], bool]:
    """Return what runs the program with these words, FREE a port of nobody's, and tells whether the mistake shows."""
    return lambda each: shows(run(each.path, *words.replace("FREE", unused_port()).split(), patience_s=3))


def _rates(output: str) -> list[float]:
    """Return what looks like a rate of Mbit/s, whatever its row looks like."""
    return [float(found) for found in re.findall(r"(\d+(?:\.\d+)?) (?:Mbps|Mbit/s|Mb/s|Mbits/sec|MBps)", output)]


def _goes_on(done: Done) -> bool:
    """Return True if a wrong argument did not end the program with a message at once: it runs, or tried to connect."""
    return done.late or done.status == 0 or "connect" in done.output + done.errors


SHOWS: dict[str, Callable[[Driven], bool]] = {
    # without -t, which some refuse next to -n: it goes on for 25 s
    "num-ignored": lambda each: each.client(*each.amount(300, "KB"), patience_s=4).late,
    "num-whole-mb": lambda each: each.client(*each.amount(300, "KB")).size >= 1_000_000,
    "num-binary": lambda each: each.client(*each.amount(300, "KB")).size >= 307_200,
    "num-chunks": lambda each: each.client(*each.amount(1500, "B")).size >= 2000,
    "num-chunks-1024": lambda each: each.client(*each.amount(1500, "B")).size >= 2048,
    "num-refused": lambda each: each.client(*each.amount(300, "KB")).status != 0,
    "interval-refused": lambda each: each.client("-t", "1", "-i", "1").status != 0,
    "unnamed": _argument("-c -P 9", lambda done: "-P" not in done.output + done.errors),
    "crash-num": lambda each: _traceback(each.client(*each.amount(300, "KB"))),
    "crash-interval": lambda each: _traceback(each.client("-t", "2", "-i", "1")),
    "crash-parallel": lambda each: _traceback(each.client("-t", "1", "-P", "2")),
    "parallel-ignored": lambda each: len(each.client("-t", "1", "-P", "2").carried) == 1,
    "parallel-shared": lambda each: len(each.client("-t", "1", "-P", "2", patience_s=5).carried) == 1,
    "parallel-in-turn": lambda each: _one_after_the_other(each.client("-t", "1", "-P", "2")),
    "parallel-one-worker": lambda each: _one_after_the_other(each.client("-t", "1", "-P", "2")),
    "chunk-1024": lambda each: each.client(*each.amount(300, "KB")).size >= 300_000 * 1.023,
    "status-not-zero": lambda each: each.client("-t", "1").status == 1,
    "never-ends": lambda each: each.client("-t", "1", patience_s=4).late,
    "never-acknowledges": lambda each: each.client("-t", "1", patience_s=4).status != 0,
    "never-acknowledges-open": lambda each: each.client("-t", "1", patience_s=4).status != 0,
    "no-client-row": lambda each: not _rates(each.client("-t", "1").output),
    "one-at-a-time": _waits,
    "joins-thread": _waits,
    "one-client-only": lambda each: each.client("-t", "1").status == 0 and each.server.process.wait(5) is not None,
    "abrupt-dies": _ends_when_one_leaves,
    "abrupt-traceback": _traceback_when_one_leaves,
    "both-modes": _argument("-s -c", _goes_on),
    "neither-mode": _argument("-p FREE", _goes_on),
    "low-port-accepted": _argument("-c -t 1 -p 80", _goes_on),
    "any-port": _argument("-c -t 1 -p 70000", _goes_on),
    "traceback-on-port": _argument("-c -p x", _traceback),
    "address-unchecked": _argument("-s -b x", _traceback),
    "address-replaced": _argument("-s -b x -p FREE", _goes_on),
    "any-format": _argument("-c -t 1 -f GB -p FREE", _goes_on),
    "traceback-on-format": _argument("-c -t 1 -f GB", _traceback),
    "zero-time-accepted": _argument("-c -t 0 -p FREE", _goes_on),
    "traceback-on-time": _argument("-c -t x", _traceback),
    "parallel-unlimited": _argument("-c -P 6 -p FREE", _goes_on),
    "parallel-clamped": _argument("-c -P 0 -p FREE", _goes_on),
    "parallel-assert": _argument("-c -P 0", _traceback),
    "bad-num-accepted": _argument("-c -n 10XB -p FREE", _goes_on),
    "traceback-on-num": _argument("-c -n 10XB", _traceback),
    "any-interval": _argument("-c -i often -p FREE", _goes_on),
    "traceback-on-interval": _argument("-c -i often", _traceback),
    "no-server-traceback": _argument("-c -p FREE", _traceback),
    "no-server-status-zero": _argument("-c -p FREE", lambda done: done.status == 0),
    "status-zero": _argument("-c -P 9", lambda done: done.status == 0),
    "no-message": _argument("-s -c", lambda done: not done.output + done.errors),
    "no-help": _argument("-h", lambda done: done.status != 0),
}
"""By mistake, what shows it cheaply from outside. The others are numbers in rows, which only the check reads."""


def _alone(names: Iterable[str]) -> dict[str, Generated]:
    """Return a program by each mistake that it alone makes."""
    found = {program.mistakes[0].name: program for program in generated.wrong() if len(program.mistakes) == 1}
    return {name: found[name] for name in names}


@pytest.mark.parametrize(
    "name",
    some(SHOWS, "num-binary", "parallel-in-turn", "abrupt-traceback", "any-"),
)
def test_a_mistake_shows(name: str, tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    program = _alone([name])[name]
    twin = Generated("right", program.choices, ())
    for each, folder, shown in ((program, wrong, True), (twin, right, False)):
        folder.mkdir()
        with driven(each, folder) as running:
            if name == "one-client-only" and not shown:
                continue  # its server never ends
            assert SHOWS[name](running) == shown, each.choices
