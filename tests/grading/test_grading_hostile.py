"""Notebooks that want more than to be judged. Each is Lab 04's solution, cut short, with one cell that does harm.

Whatever it does, its own check may fail; the verdicts of the others are as they would be without it, nothing is left
running, and nothing is changed outside.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linklab.grading.model import Limits
from linklab.runtime.backends import Kind
from tests.grading.judging import ROOT, Verdicts, changed, judge, solution, without
from tests.grading.searching import search
from tests.thorough import some_cases

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(900)]

KEPT = (
    "imports", "start", "answer-rtt", "check-rtt", "answer-throughput", "check-throughput", "answer-swing",
    "check-swing", "answer-summary", "check-summary",
)  # fmt: skip
WRONG = 'rtt_ms = lab04.predict("rtt", None)\n'
LIMITS = Limits(wall_s=900, cell_s=45, disk_mb=16, processes=96)


def judged(folder: Path, sources: dict[str, str], limits: Limits = LIMITS, **files: Path) -> Verdicts:
    """The short notebook with other sources."""
    return judge(changed(without(solution("04"), *KEPT), sources), folder, limits=limits, files=files)


def test_the_short_notebook_passes_unharmed(virtual: Kind, tmp_path: Path) -> None:
    done = judged(tmp_path, {})
    assert done.failed == [], done.why()
    assert done.judged.notes == ()


@pytest.mark.parametrize(
    "harm",
    some_cases(
        [
            "import linklab.labs.lab04 as lab04\nlab04.check_predicted = lambda *_: __import__('types')"
            ".SimpleNamespace(require=lambda: None)",
            "from linklab.grade.result import Result\nResult.require = lambda self: self\nResult.passed = True",
            "from linklab.grade import check\ncheck.Check.passed = property(lambda self: True)",
            "import linklab.grade.result\nlinklab.grade.result.GradeError.__init__ = lambda *_: None\n"
            "linklab.grade.result.GradeError = Exception",
            "from linklab.record import RESULT_MIME\nfrom IPython.display import display\n"
            "from linklab.grade.check import Check\n"
            "from linklab.grade.result import Result\n"
            "won = Result('Lab 04', (Check.passing('all', 'all'),)).to_json()\n"
            "display({RESULT_MIME: {'linklab': '1'} | won}, raw=True)",
            'import linklab.grading.answer as answer\nanswer.values.to_text = lambda *_: \'{"$": "judged"}\'',
            "import linklab.course, linklab.network\nlinklab.course.course_network = lambda: None",
            "import builtins\nbuiltins.isinstance = lambda *_: True",
            "get_ipython().ast_node_interactivity = 'all'\nget_ipython().run_cell = lambda *_, **__: None",
        ],
        ["check", "require", "passed", "error", "mime", "answer", "course", "builtins", "ipython"],
        "check",
        "mime",
    ),
)
def test_patched_checks_and_forged_results_gain_nothing(virtual: Kind, tmp_path: Path, harm: str) -> None:
    done = judged(tmp_path, {"answer-rtt": WRONG + harm})
    assert done.status("rtt") == "failed", done.why()
    assert "passed" not in {cell.status for cell in done.judged.cells if cell.cell_id == "check-rtt"}


def test_it_finds_no_solution_and_no_other_submission(virtual: Kind, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "work.py").write_text("ANSWER-OF-SOMEBODY-ELSE")
    words = '["### BEGIN " + "SOLUTION", "ANSWER-OF-" + "SOMEBODY-ELSE"]'
    places = [str(ROOT / "solutions"), str(tmp_path), str(other), "/root", str(Path.home()), "/etc/shadow"]
    code = (
        f"{search(words, places)}\n"
        f"print('IN LAB', lab['r1'].cmd('cat /etc/shadow {ROOT}/solutions/* {other}/* /root/.bash* 2>/dev/null'))\n"
    )
    done = judged(tmp_path / "mine", {"answer-swing": _solved("answer-swing") + "\n" + code})
    said = done.shown("answer-swing")
    # Linklab's own source names the marks that it looks for, and is there to be read
    assert "ANSWER-OF-SOMEBODY-ELSE" not in said
    assert "simpleperf.py.starter" not in said
    assert "SEEN []" in said
    assert "/solutions/" not in said
    assert "IN LAB \\n" in said or "IN LAB  \\n" in said
    assert done.failed == [], done.why()


def test_a_network_outside_is_not_there(virtual: Kind, tmp_path: Path) -> None:
    code = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
    print("OUTSIDE")
except OSError as error:
    print("REFUSED")
print(lab["r1"].cmd("ping -c 1 -W 1 192.0.2.1").count("1 received"), "from the lab")
"""
    done = judged(tmp_path, {"answer-swing": _solved("answer-swing") + code})
    said = done.shown("answer-swing")
    assert "REFUSED" in said
    assert "0 from the lab" in said
    assert done.failed == [], done.why()


BOMB = """
import os
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""


@pytest.mark.parametrize(
    ("harm", "limits"),
    some_cases(
        [
            (BOMB, Limits(wall_s=900, cell_s=20, processes=96)),
            ("import os\nos._exit(3)", LIMITS),
            ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", LIMITS),
            ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", LIMITS),
            ("import os, signal\nos.kill(-1, signal.SIGKILL)", LIMITS),
            ("while True:\n    pass", LIMITS),
            ("while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass", LIMITS),
            ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass", LIMITS),
            ("while True:\n    print('x' * 1000)", LIMITS),
            ("kept = []\nwhile True:\n    kept.append(bytearray(50_000_000))", LIMITS),
            ("import os\nfor _ in range(8):\n    if os.fork() == 0:\n        kept = bytearray(300_000_000)\n"
             "        kept[::4096] = b'x' * len(kept[::4096])\n        import time\n        time.sleep(60)\n"
             "import time\ntime.sleep(60)", Limits(wall_s=900, cell_s=45, memory_mb=800)),
            ("import os\nfor fd in range(3, 1000):\n    try: os.close(fd)\n    except OSError: pass", LIMITS),
            ("lab.call(lambda net: __import__('os')._exit(1))", LIMITS),
            ("def spin(net):\n    while True:\n        pass\nlab.call(spin)", Limits(wall_s=900, cell_s=60)),
        ],
        ["forks", "exit", "kill", "driver", "all", "loop", "stubborn", "deaf", "output", "memory", "family",
         "descriptors", "guest", "busy"],
        "forks", "exit",
    ),
)  # fmt: skip
def test_what_it_ends_or_uses_up_costs_only_itself(virtual: Kind, tmp_path: Path, harm: str, limits: Limits) -> None:
    done = judged(tmp_path, {"answer-rtt": WRONG + harm}, limits)
    assert done.failed == ["rtt"], done.why()
    assert done.judged.ended == ""


def test_a_full_disk_costs_only_itself(virtual: Kind, tmp_path: Path) -> None:
    free = os.statvfs("/tmp").f_bavail
    harm = """
import itertools
for folder in (".", "/tmp", "/dev/shm"):
    try:
        for number in itertools.count():
            with open(f"{folder}/fill{number}", "wb") as file:
                file.write(bytes(1_000_000))
    except OSError as error:
        print("FULL", folder, number)
"""
    done = judged(tmp_path, {"answer-rtt": WRONG + harm})
    assert done.shown("answer-rtt").count("FULL") == 3
    assert done.failed == ["rtt"], done.why()
    assert abs(os.statvfs("/tmp").f_bavail - free) * os.statvfs("/tmp").f_frsize < 100_000_000


def test_escape_sequences_come_nowhere(virtual: Kind, tmp_path: Path) -> None:
    harm = "print('\\x1b]0;owned\\x07\\x1b[2J\\x9b31mred')\nraise ValueError('\\x1b[31m')"
    done = judged(tmp_path, {"answer-rtt": "rtt_ms = {'L1': '\\x1b[2J', 'L2': '\\x1b]0;x\\x07'}\n" + harm})
    for path in (tmp_path / "judged").iterdir():
        text = path.read_text("utf-8")
        assert "\\u001b" not in text
        assert "\x1b" not in text
        assert "\\u009b" not in text
    assert done.failed == ["rtt"], done.why()


@pytest.mark.parametrize(
    ("body", "others"),
    some_cases(
        [
            ("import os\n    os._exit(0)", []),
            ("raise SystemExit", []),
            ("while True:\n        pass", []),
            ("return summary", []),
            ("print('x' * 10_000_000)\n    return 1", []),
            ("import sys\n    sys.setrecursionlimit(10**6)\n    return summary(rtt_ms)", []),
        ],
        ["exit", "system-exit", "loop", "function", "output", "recursion"],
        "exit",
    ),
)
def test_a_function_that_the_judge_calls_costs_only_its_own_check(
    virtual: Kind, tmp_path: Path, body: str, others: list[str]
) -> None:
    # first of all cells, so that others come after it
    order = without(solution("04"), *KEPT)
    cells = {cell.id: cell for cell in order.cells}
    order.cells = [cells[name] for name in ("imports", "start", *KEPT[8:], *KEPT[2:8])]
    done = judge(changed(order, {"answer-summary": f"def summary(rtt_ms):\n    {body}\n"}), tmp_path, limits=LIMITS)
    assert done.failed == ["summary", *others], done.why()


HOSTILE = """
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
rtt_ms = Hostile(L1=20, L2=40, L3=20)
"""


@pytest.mark.parametrize(
    "source",
    some_cases(
        [
            HOSTILE,
            HOSTILE + "rtt_ms = {'L1': rtt_ms, 'L2': 40, 'L3': 20}",
            "rtt_ms = []\nfor _ in range(100_000):\n    rtt_ms = [rtt_ms]",
            "rtt_ms = {'L1': 10**5000, 'L2': float('nan'), 'L3': float('inf')}",
            "rtt_ms = {number: number for number in range(3_000_000)}",
            "rtt_ms = {'L1': 'x' * 200_000_000}",
            "rtt_ms = iter(int, 1)",
            "del rtt_ms",
            "rtt_ms = lab.process",
        ],
        ["mapping", "number", "deep", "numbers", "large", "long", "endless", "missing", "process"],
        "mapping",
        "deep",
    ),
)
def test_odd_values_fail_their_own_check_alone(virtual: Kind, tmp_path: Path, source: str) -> None:
    done = judged(tmp_path, {"answer-rtt": source})
    assert done.failed == ["rtt"], done.why()
    assert not Path("/tmp/owned").exists()


@pytest.mark.thorough
def test_a_made_up_result_is_noticed(virtual: Kind, tmp_path: Path) -> None:
    book = without(solution("04"), "imports", "answer-pings", "check-pings")
    made = """
from linklab.measure import Origin, PingResult
from linklab.measure import PingFlow
origin = Origin("ping", "virtual", "6")
pings = {name: PingResult(PingFlow(a, b, count=25), origin, (rtt,) * 25, rtt, rtt, rtt, 0.0, 0, 0)
         for name, a, b, rtt in (("L1", "r1", "r2", 20.0), ("L2", "r2", "r3", 40.0), ("L3", "r3", "r4", 20.0))}
"""
    done = judge(changed(book, {"answer-pings": made}), tmp_path)
    assert any("no lab was ever asked" in note for note in done.judged.notes)


@pytest.mark.thorough
def test_a_result_of_real_time_is_refused(virtual: Kind, tmp_path: Path) -> None:
    book = without(solution("04"), "imports", "answer-pings", "check-pings")
    made = """
from linklab.measure import Origin, PingResult
from linklab.measure import PingFlow
pings = {"L1": PingResult(PingFlow("r1", "r2"), Origin("ping", "real", "6"), (20.0,), 20.0, 20.0, 20.0, 0.0, 0, 0)}
"""
    done = judge(changed(book, {"answer-pings": made}), tmp_path)
    assert done.failed == ["pings"]
    assert "graded on virtual time" in done.why()


@pytest.mark.thorough
def test_all_of_a_notebook_ends_when_its_time_is_over(virtual: Kind, tmp_path: Path) -> None:
    done = judged(tmp_path, {"answer-swing": "import time\ntime.sleep(1000)"}, Limits(wall_s=30, cell_s=600))
    assert done.status("rtt") == "passed"
    assert done.status("throughput") == "passed"
    assert "had run for 30 s" in done.judged.ended


def _solved(cell: str) -> str:
    return str(next(each.source for each in solution("04").cells if each.id == cell)) + "\n"
