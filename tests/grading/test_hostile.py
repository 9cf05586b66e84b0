"""Notebooks that want more than to be judged: attacks between honest answers of Lab 04.

Whatever an attack does, its own check may fail; the verdicts of the others are as they would be without it, nothing is
left running, and nothing is changed outside. Where they can, attacks are cells of one notebook, and so meet what those
before them have left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.grading.verdict import Limits
from linklab.runtime.backends import Kind
from tests.grading.judging import ROOT, changed, judge, solution, without
from tests.grading.searching import search

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(900)]
_v4: Any = nbformat.v4

LIMITS = Limits(wall_s=900, cell_s=45, disk_mb=16, processes=96)
BEGIN = ("from linklab import course_network, lab04, start", "lab = start(course_network())")
HONEST = str(next(each.source for each in solution("04").cells if each.id == "answer-summary")).replace(
    "def summary(", "def JUDGED("
)
WRONG = "JUDGED = None\n"
SUMMARY, PREDICTED = "lab04.check_summary(JUDGED)", "lab04.check_predicted(JUDGED)"


@dataclass(frozen=True)
class Attack:
    """An answer's source, in which JUDGED is the name that is judged, and what has to come of it."""

    name: str
    source: str
    check: str = SUMMARY
    passes: bool = False
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    limits: Limits = LIMITS
    spoils: bool = False
    """Whether it breaks its own kernel for the answers after it, as it may."""


def attacked(folder: Path, attacks: Sequence[Attack], limits: Limits = LIMITS) -> None:
    """Judge the attacks in one notebook, an honest answer before and after them, and assert what came of each."""
    honest = Attack("honest", HONEST, passes=True)
    after = () if any(attack.spoils for attack in attacks) else (honest,)
    book = _v4.new_notebook(cells=[_v4.new_code_cell(each, id=f"begin-{n}") for n, each in enumerate(BEGIN)])
    for number, attack in enumerate(rows := (honest, *attacks, *after)):
        named = f"judged_{number}"
        book.cells.append(_v4.new_code_cell(attack.source.replace("JUDGED", named), id=f"answer-{number}"))
        told = {"grade": True, "solution": False, "points": 1, "grade_id": f"check-{number}"}
        check = attack.check.replace("JUDGED", named) + ".require()"
        book.cells.append(_v4.new_code_cell(check, id=f"check-{number}", metadata={"nbgrader": told}))
    done = judge(book, folder, limits=limits)
    assert done.judged.ended == ""
    statuses = [(attack.name, done.status(str(number)) == "passed") for number, attack in enumerate(rows)]
    assert statuses == [(attack.name, attack.passes) for attack in rows], done.why()
    for number, attack in enumerate(rows):
        said = done.shown(f"answer-{number}")
        assert [words for words in attack.shows if words not in said] == [], (attack.name, said)
        assert [words for words in attack.hides if words in said] == [], (attack.name, said)
    for path in (folder / "lab.ipynb", folder / "verdict.json"):
        text = path.read_text("utf-8")
        assert [words for words in ("\\u001b", "\x1b", "\\u009b", "\x9b") if words in text] == []
    assert not Path("/tmp/owned").exists()


def chosen(attacks: Sequence[Attack], *names: str) -> list[Attack]:
    """The attacks of those names."""
    by_name = {attack.name: attack for attack in attacks}
    return [by_name[name] for name in names]


def alone(*attacks: Attack) -> pytest.MarkDecorator:
    """Parameters: each of the attacks in a notebook of its own."""
    return pytest.mark.parametrize("attack", [pytest.param(each, id=each.name) for each in attacks])


PATCHES = (
    Attack(
        "check",
        WRONG + "import linklab.labs.lab04 as lab04\nlab04.check_summary = lambda *_: __import__('types')"
        ".SimpleNamespace(require=lambda: None)",
    ),
    Attack(
        "require",
        WRONG + "from linklab.grade.result import Result\nResult.require = lambda self: self\nResult.passed = True",
    ),
    Attack("passed", WRONG + "from linklab.grade import check\ncheck.Check.passed = property(lambda self: True)"),
    Attack(
        "error",
        WRONG + "import linklab.grade.result\nlinklab.grade.result.GradeError.__init__ = lambda *_: None\n"
        "linklab.grade.result.GradeError = Exception",
    ),
    Attack(
        "mime",
        WRONG + "from linklab.record import RESULT_MIME\nfrom IPython.display import display\n"
        "from linklab.grade.check import Check\n"
        "from linklab.grade.result import Result\n"
        "won = Result('Lab 04', (Check.passing('all', 'all'),)).to_json()\n"
        "display({RESULT_MIME: {'linklab': '1'} | won}, raw=True)",
    ),
    Attack(
        "answer",
        WRONG + 'import linklab.grading.answer as answer\nanswer.values.to_text = lambda *_: \'{"$": "judged"}\'',
        spoils=True,
    ),
    Attack("course", WRONG + "import linklab.course, linklab.network\nlinklab.course.course_network = lambda: None"),
    Attack("builtins", WRONG + "import builtins\nbuiltins.isinstance = lambda *_: True", spoils=True),
    Attack(
        "ipython",
        WRONG + "get_ipython().ast_node_interactivity = 'all'\nget_ipython().run_cell = lambda *_, **__: None",
        spoils=True,
    ),
)

_PLACES = ["OTHERS", "OTHERS/..", str(ROOT / "solutions"), "/root", str(Path.home()), "/etc/shadow"]
OUTSIDE = (
    Attack(
        "solutions",
        HONEST + "\n" + search('["### BEGIN " + "SOLUTION", "ANSWER-OF-" + "SOMEBODY-ELSE"]', _PLACES)
        + f"\nread = lab['r1'].cmd('cat /etc/shadow {ROOT}/solutions/* OTHERS/* /root/.bash* 2>/dev/null')\n"
        "print('IN LAB', [read.strip()])\n",
        passes=True,
        # Linklab's own source names the marks that it looks for, and is there to be read
        shows=("SEEN []", "IN LAB ['']"),
        hides=("ANSWER-OF-SOMEBODY-ELSE", "simpleperf.py.starter", "/solutions/", "root:"),
    ),
    Attack(
        "network",
        HONEST + """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
    print("OUTSIDE")
except OSError as error:
    print("REFUSED")
print(lab["r1"].cmd("ping -c 1 -W 1 192.0.2.1").count("1 received"), "from the lab")
""",
        passes=True,
        shows=("REFUSED", "0 from the lab"),
    ),
    Attack(
        "escape sequences",
        "JUDGED = {'L1': '\\x1b[2J', 'L2': '\\x1b]0;x\\x07'}\n"
        "print('\\x1b]0;owned\\x07\\x1b[2J\\x9b31mred')\nraise ValueError('\\x1b[31m')",
        PREDICTED,
        shows=("red",),
    ),
    Attack(
        "full disk",
        WRONG + """
import itertools
for folder in (".", "/tmp", "/dev/shm"):
    try:
        for number in itertools.count():
            with open(f"{folder}/fill{number}", "wb") as file:
                file.write(bytes(1_000_000))
    except OSError as error:
        print("FULL", folder, number < 100)
""",
        shows=("FULL . True", "FULL /tmp True", "FULL /dev/shm True"),
    ),
)  # fmt: skip

BOMB = """
import os
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""
CROWD = """
import os, time
for _ in range(30):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
"""
FAMILY = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(300_000_000)
        kept[::4096] = b'x' * len(kept[::4096])
        time.sleep(60)
time.sleep(60)
"""
ENDS = (
    Attack("crowd", WRONG + CROWD, shows=("it left more than 24 processes running",)),
    Attack("forks", WRONG + BOMB, limits=Limits(wall_s=900, cell_s=20, processes=96)),
    Attack("exit", WRONG + "import os\nos._exit(3)", shows=("the kernel ended",)),
    Attack("driver", WRONG + "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    Attack("all", WRONG + "import os, signal\nos.kill(-1, signal.SIGKILL)"),
    Attack("sleep", WRONG + "import time\ntime.sleep(1000)", shows=("s and was interrupted",)),
    Attack("stubborn", WRONG + "while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
    Attack("output", WRONG + "while True:\n    print('x' * 1000)"),
    Attack("memory", WRONG + "kept = []\nwhile True:\n    kept.append(bytearray(50_000_000))"),
    Attack("family", WRONG + FAMILY, limits=Limits(wall_s=900, cell_s=45, memory_mb=800)),
    Attack(
        "descriptors",
        WRONG + "import os\nfor fd in range(3, 1000):\n    try: os.close(fd)\n    except OSError: pass",
    ),
    Attack("guest", WRONG + "import os\ndef end(net): os._exit(1)\nlab.call(end)"),
    Attack(
        "busy",
        WRONG + "def spin(net):\n    while True:\n        pass\nlab.call(spin)",
        limits=Limits(wall_s=900, cell_s=50),
    ),
)
FUNCTIONS = tuple(
    Attack(f"function-{name}", f"def JUDGED(rtt_ms):\n    {body}\n")
    for name, body in (
        ("exit", "import os\n    os._exit(0)"),
        ("system-exit", "raise SystemExit"),
        ("loop", "while True:\n        pass"),
        ("function", "return JUDGED"),
        ("output", "print('x' * 10_000_000)\n    return 1"),
        ("recursion", "import sys\n    sys.setrecursionlimit(10**6)\n    return JUDGED(rtt_ms)"),
    )
)

MAPPING = """
import os
class Hostile(dict):
    def __reduce__(self): return (os.system, ("touch /tmp/owned",))
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def to_json(self): return {}
    def __float__(self): return 20.0
    def __iter__(self): raise SystemExit
    def items(self): return [("L1", self), ("L2", self), ("L3", self)]
JUDGED = Hostile(L1=20, L2=40, L3=20)
"""
VALUES = tuple(
    Attack(f"value-{name}", source, PREDICTED)
    for name, source in (
        ("mapping", MAPPING),
        ("number", MAPPING + "JUDGED = {'L1': JUDGED, 'L2': 40, 'L3': 20}"),
        ("deep", "JUDGED = []\nfor _ in range(100_000):\n    JUDGED = [JUDGED]"),
        ("numbers", "JUDGED = {'L1': 10**5000, 'L2': float('nan'), 'L3': float('inf')}"),
        ("large", "JUDGED = {number: number for number in range(3_000_000)}"),
        ("long", "JUDGED = {'L1': 'x' * 200_000_000}"),
        ("endless", "JUDGED = iter(int, 1)"),
        ("missing", "JUDGED = 1\ndel JUDGED"),
        ("process", "JUDGED = lab.process"),
    )
)


@pytest.fixture
def others(tmp_path: Path) -> str:
    """The folder of another submission, next to the one that is judged."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "work.py").write_text("ANSWER-OF-SOMEBODY-ELSE")
    return str(folder)


def looking_at(attack: Attack, others: str) -> Attack:
    """The attack, with the path of another submission where it names one."""
    return replace(attack, source=attack.source.replace("OTHERS", others))


def test_what_patches_forges_searches_and_fills_gains_nothing(virtual: Kind, tmp_path: Path, others: str) -> None:
    values = chosen(VALUES, "value-mapping", "value-number", "value-deep", "value-numbers", "value-missing")
    patches = chosen(PATCHES, "check", "require", "passed", "error", "mime", "course")
    functions = chosen(FUNCTIONS, "function-system-exit", "function-function")
    attacks = [looking_at(attack, others) for attack in (*OUTSIDE[:2], *values, *functions, *patches, *OUTSIDE[2:])]
    attacked(tmp_path / "mine", attacks)


@pytest.mark.large
def test_what_ends_its_kernel_or_uses_it_up_costs_only_itself(virtual: Kind, tmp_path: Path) -> None:
    """All but the sleep take the kernel with them, and the fourth kernel is the last that a notebook gets."""
    attacks = [*chosen(ENDS, "exit"), *chosen(FUNCTIONS, "function-exit"), *chosen(ENDS, "sleep", "crowd")]
    attacked(tmp_path, attacks, replace(LIMITS, cell_s=20))


@pytest.mark.large
def test_what_is_large_or_endless_costs_only_itself(virtual: Kind, tmp_path: Path) -> None:
    values = chosen(VALUES, "value-large", "value-long", "value-endless", "value-process")
    functions = chosen(FUNCTIONS, "function-output", "function-recursion", "function-loop")
    attacked(tmp_path, [*values, *functions, *chosen(ENDS, "descriptors")])


@pytest.mark.large
@alone(
    *chosen(PATCHES, "answer", "builtins", "ipython"),
    *chosen(ENDS, "forks", "driver", "all", "stubborn", "output", "memory", "family", "guest", "busy"),
)
def test_an_attack_alone_costs_only_itself(virtual: Kind, tmp_path: Path, others: str, attack: Attack) -> None:
    attacked(tmp_path / "mine", [looking_at(attack, others)], attack.limits)


@pytest.mark.large
def test_all_of_a_notebook_ends_when_its_time_is_over(virtual: Kind, tmp_path: Path) -> None:
    kept = (f"{role}-{name}" for name in ("rtt", "throughput", "swing") for role in ("answer", "check"))
    book = changed(without(solution("04"), "imports", *kept), {"answer-swing": "import time\ntime.sleep(1000)"})
    done = judge(book, tmp_path, limits=Limits(wall_s=60, cell_s=600))
    assert done.status("rtt") == "passed"
    assert done.status("throughput") == "passed"
    assert "had run for 60 s" in done.judged.ended
