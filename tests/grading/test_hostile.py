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

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(900)]
_v4: Any = nbformat.v4

LIMITS = Limits(wall_s=900, cell_s=45, disk_mb=16, processes=96)
WAITED_FOR = replace(LIMITS, cell_s=20)
"""For attacks that last until the limit of a cell."""
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


PATCHES = (
    Attack("require", WRONG + "from linklab.grade.result import Result\nResult.require = lambda self: self"),
    Attack(
        "error",
        WRONG + "import linklab.grade.result\nlinklab.grade.result.GradeError.__init__ = lambda *_: None\n"
        "linklab.grade.result.GradeError = Exception",
    ),
    Attack("course", WRONG + "import linklab.course, linklab.network\nlinklab.course.course_network = lambda: None"),
)
"""`variations.CHEATS` has more, which break their kernels."""

SEARCH = f"""
import os
print("SEEN", [place for place in ("OTHERS", "OTHERS/..", "{ROOT}/solutions", "/etc/shadow") if os.path.lexists(place)])
read = lab['r1'].cmd('cat /etc/shadow {ROOT}/solutions/* OTHERS/* /root/.bash* 2>/dev/null')
print("IN LAB", [read.strip()], lab['r1'].cmd('ping -c 1 -W 1 192.0.2.1').count('1 received'), "answers from outside")
"""
UNCAPTURED = """
import os, sys
end = os.stat(f"/proc/{os.getppid()}/fd/2")  # of the driver, outside of what IPython captures
for number in map(int, os.listdir("/proc/self/fd")):
    try:
        if os.path.samestat(os.fstat(number), end):
            for _ in range(12):
                os.write(number, bytes(1_000_000))
            print("WRITTEN WHOLE")
            break
    except OSError:
        pass
"""
OUTSIDE = (
    Attack(
        "solutions",
        HONEST + SEARCH,
        passes=True,
        shows=("SEEN []", "IN LAB [''] 0 answers"),
        hides=("ANSWER-OF-SOMEBODY-ELSE", "BEGIN SOLUTION", "root:"),
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
    Attack("uncaptured output", WRONG + UNCAPTURED, shows=("WRITTEN WHOLE",)),
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
ENDINGS = (
    Attack("exit", WRONG + "import os\nos._exit(3)", shows=("the kernel ended",)),
    Attack("function that exits", "def JUDGED(rtt_ms):\n    import os\n    os._exit(0)\n"),
    Attack("sleep", WRONG + "import time\ntime.sleep(1000)", shows=("s and was interrupted",)),
    Attack("crowd", WRONG + CROWD, shows=("it left more than 24 processes running",)),
)
"""All but the sleep take the kernel with them, and the fourth kernel is the last that a notebook gets."""
ALONE = (
    Attack(
        "builtins", WRONG + "import builtins\nbuiltins.isinstance = lambda *_: True", limits=WAITED_FOR, spoils=True
    ),
    Attack(
        "ipython",
        WRONG + "get_ipython().ast_node_interactivity = 'all'\nget_ipython().run_cell = lambda *_, **__: None",
        limits=WAITED_FOR,
        spoils=True,
    ),
    Attack("forks", WRONG + BOMB, limits=WAITED_FOR),
    Attack("driver", WRONG + "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    Attack("all", WRONG + "import os, signal\nos.kill(-1, signal.SIGKILL)"),
    Attack(
        "stubborn",
        WRONG + "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        limits=WAITED_FOR,
    ),
    Attack("output", WRONG + "while True:\n    print('x' * 1000)"),
    Attack("memory", WRONG + "kept = []\nwhile True:\n    kept.append(bytearray(50_000_000))"),
    Attack("family", WRONG + FAMILY, limits=Limits(wall_s=900, cell_s=45, memory_mb=800)),
    Attack("guest", WRONG + "import os\ndef end(net): os._exit(1)\nlab.call(end)"),
    Attack(
        "busy",
        WRONG + "def spin(net):\n    while True:\n        pass\nlab.call(spin)",
        limits=Limits(wall_s=900, cell_s=50),
    ),
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
SMALL = (
    Attack("mapping", MAPPING, PREDICTED),
    Attack("number", MAPPING + "JUDGED = {'L1': JUDGED, 'L2': 40, 'L3': 20}", PREDICTED),
    Attack("deep", "JUDGED = []\nfor _ in range(100_000):\n    JUDGED = [JUDGED]", PREDICTED),
    Attack("numbers", "JUDGED = {'L1': 10**5000, 'L2': float('nan'), 'L3': float('inf')}", PREDICTED),
    Attack("missing", "JUDGED = 1\ndel JUDGED", PREDICTED),
    Attack("function that leaves", "def JUDGED(rtt_ms):\n    raise SystemExit\n"),
    Attack("function of itself", "def JUDGED(rtt_ms):\n    return JUDGED\n"),
)
LARGE = (
    Attack("large", "JUDGED = {number: number for number in range(3_000_000)}", PREDICTED),
    Attack("long", "JUDGED = {'L1': 'x' * 200_000_000}", PREDICTED),
    Attack("endless", "JUDGED = iter(int, 1)", PREDICTED), Attack("process", "JUDGED = lab.process", PREDICTED),
    Attack("function that prints", "def JUDGED(rtt_ms):\n    print('x' * 10_000_000)\n    return 1\n"),
    Attack(
        "recursion", "import sys\ndef JUDGED(rtt_ms):\n    sys.setrecursionlimit(10**6)\n    return JUDGED(rtt_ms)\n"
    ),
    Attack("loop", "def JUDGED(rtt_ms):\n    while True:\n        pass\n"),
    Attack(
        "descriptors",
        WRONG + "import os\nfor fd in range(3, 1000):\n    try: os.close(fd)\n    except OSError: pass",
    ),
)  # fmt: skip


@pytest.mark.large
def test_what_patches_searches_and_fills_gains_nothing(virtual: Kind, tmp_path: Path) -> None:
    others = tmp_path / "other"
    others.mkdir()
    (others / "work.py").write_text("ANSWER-OF-SOMEBODY-ELSE")
    looking = [replace(attack, source=attack.source.replace("OTHERS", str(others))) for attack in OUTSIDE]
    attacked(tmp_path / "mine", [*looking, *SMALL, *PATCHES])


@pytest.mark.large
def test_what_ends_its_kernel_or_uses_it_up_costs_only_itself(virtual: Kind, tmp_path: Path) -> None:
    attacked(tmp_path, ENDINGS, WAITED_FOR)


@pytest.mark.large
def test_what_is_large_or_endless_costs_only_itself(virtual: Kind, tmp_path: Path) -> None:
    attacked(tmp_path, LARGE)


@pytest.mark.large
@pytest.mark.parametrize("attack", ALONE, ids=lambda attack: attack.name)
def test_an_attack_alone_costs_only_itself(virtual: Kind, tmp_path: Path, attack: Attack) -> None:
    attacked(tmp_path, [attack], attack.limits)


@pytest.mark.large
def test_all_of_a_notebook_ends_when_its_time_is_over(virtual: Kind, tmp_path: Path) -> None:
    kept = (f"{role}-{name}" for name in ("rtt", "throughput", "swing") for role in ("answer", "check"))
    book = changed(without(solution("04"), "imports", *kept), {"answer-swing": "import time\ntime.sleep(1000)"})
    done = judge(book, tmp_path, limits=Limits(wall_s=60, cell_s=600))
    assert done.status("rtt") == "passed"
    assert done.status("throughput") == "passed"
    assert "had run for 60 s" in done.judged.ended
