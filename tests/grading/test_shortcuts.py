"""Ways to the points without the work: prevented, or noted for the instructor (the table in docs/sandbox.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from linklab.grading.printed import Printed
from linklab.grading.shortcuts import shortcuts
from linklab.grading.similarity import programs_alike
from linklab.grading.store import handed_in_before
from linklab.measure import Origin, PingFlow, PingResult
from linklab.measure.program_file import sealed
from linklab.runtime.backends import Kind
from tests.grading.conftest import PretendedClass
from tests.grading.judging import ROOT, changed, judge, solution
from tests.grading.made_class import LAB, added, cell, put, solved, source, write

WORDS = "The queue fills up, and each packet waits behind all the others, so that pings take far longer than before."
SIMPLEPERF = ROOT / "solutions" / "simpleperf.py"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (
            "from linklab.analysis.packets import train_rate_mbps as estimate",
            "linklab.analysis.packets.train_rate_mbps",
        ),
        ("import linklab.grade.values", "linklab.grade.values"),
        ("import linklab\nestimate = linklab.analysis.packets.train_rate_mbps", "linklab.analysis"),
        ("from linklab.labs.lab08.functions import bandwidth", "linklab.labs.lab08.functions.bandwidth"),
        ("def f(x): pass\nf.__code__ = g.__code__", "__code__"),
        ("setattr(f, '__code__', code)", "__code__"),
        ("tag = next(it for it in 'abcd' if lab10.check_tag(it).passed)", "check_tag()"),
        ("exec('import linklab')", "exec()"),
        ("f = __import__('linklab.analysis.packets')", "__import__()"),
        ("import os, shutil\nshutil.copy(os.environ['LINKLAB_SIMPLEPERF'], 'simpleperf.py')", "LINKLAB_SIMPLEPERF"),
        ("%time 1\nfrom linklab.guest.topo import NetworkTopo\n", "linklab.guest.topo.NetworkTopo"),
        ("import linklab\nprint(open(linklab.__file__))", "linklab.__file__"),
        ("ask = lab10.check_tag\ntag = next(it for it in 'abcd' if ask(it).passed)", "check_tag"),
        ("tag = next(it for it in 'abcd' if getattr(lab10, 'check_tag')(it).passed)", "check_tag"),
        ("ask = vars(lab10)['check_' 'tag']", "vars(lab10)"),
        ("rto = lab13.rules.rto_s", "lab13.rules"),
        ("window = lab13.trying.window_of_both()", "lab13.trying"),
        ("lab13?\nfrom linklab.analysis.arq import rto_s as rto", "linklab.analysis.arq.rto_s"),
        ("%time from linklab.analysis.arq import rto_s as rto", "linklab.analysis.arq.rto_s"),
        ("files = !ls\nfrom linklab.analysis.arq import rto_s as rto", "linklab.analysis.arq.rto_s"),
        ("import cloudpickle\nsummary = cloudpickle.loads(bytes.fromhex('00'))", "cloudpickle.loads"),
        ("from types import FunctionType\nf = FunctionType(code, globals())", "FunctionType()"),
        ("from linklab.network import static_routes", "linklab.network.static_routes"),
        ("f.__code__ = g.__code__\nx = " + "1 + " * 900 + "1", "__code__"),
        ("from linklab import network as net\nbdp = net.bdp_packets(net.path(it, 'h1', 'h4'))", "bdp_packets"),
    ],
)
def test_what_is_no_students_to_use_is_noted(code: str, what: str) -> None:
    (note,) = shortcuts([("answer-train", code)])
    assert note.startswith("answer-train uses ")
    assert what in note


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\nprint(subprocess.check_output(['date']))",
        "import lab13\nhelp(lab13)\nprint(dir(lab13))\nlab06.figures.throughput_figure(runs['two'])\nlab13?",
        "import pickle\nwith open('mine', 'rb') as file:\n    runs = pickle.load(file)",
        "from linklab.network import COURSE, goodput_ceiling_mbps, path",
    ],
)
def test_of_honest_code_nothing_is_noted(code: str) -> None:
    assert shortcuts([("answer-train", code)]) == []


@pytest.mark.parametrize("lab", [f"{number:02d}" for number in range(16)])
def test_of_the_kits_own_answers_nothing_is_noted(lab: str) -> None:
    cells = [(one.id, one.source) for one in solution(lab).cells if one.metadata.get("nbgrader", {}).get("solution")]
    assert shortcuts(cells) == []


def _pings(*rtt_ms: float) -> PingResult:
    mean = sum(rtt_ms) / len(rtt_ms)
    origin = Origin("ping", "6")
    return PingResult(PingFlow("h1", "h2"), origin, rtt_ms, min(rtt_ms), mean, max(rtt_ms), 0.0, 0, 0)


def test_numbers_that_no_lab_has_printed_are_named() -> None:
    printed = Printed()
    printed.hear({"event": "64 bytes from 10.0.0.3: icmp_seq=1 ttl=64 time=20.057 ms\n"})
    printed.hear({"value": {"end": {"sum": {"bits_per_second": 9541234.5}}}})
    assert printed.unseen({"L1": _pings(20.057, 20.057)}) == []
    assert printed.unseen({"L1": _pings(20.1, 20.3)}) == ["ping h1-h2: RTT mean 20.2 ms"]
    assert printed.unseen({"L1": 20.06, "L2": 9.54}, is_measured=True) == []
    assert printed.unseen({"L1": 20.0}, is_measured=True) == ["20"] or printed.unseen(20.02, is_measured=True) == [
        "20.02"
    ]
    assert printed.unseen(20.02) == [], "a number that is no measurement"


PINGED = "25 packets transmitted, 25 received\\nrtt min/avg/max/mdev = 20.104/21.205/23.306/0.407 ms"


def test_what_another_lab_printed_is_named() -> None:
    printed = Printed()
    printed.hear({"value": "64 bytes from 10.0.1.2: icmp_seq=1 ttl=64 time=20.104 ms, and 25 more"})
    assert len(printed.unseen(PINGED)) == 1
    assert printed.unseen({"h1-h4": [(PINGED, 1)]}) != []
    printed.hear({"value": [20104.0, 21205.0, 23306.0, 407.0]})
    assert len(printed.unseen(PINGED)) == 1, "in another unit"
    printed.hear({"value": PINGED})
    assert printed.unseen(PINGED) == []
    assert printed.unseen("the queue of 100 packets, 20 ms, fills at 20.72 Mbit/s") == [], "a sentence"


def test_many_numbers_that_no_lab_has_printed_are_named() -> None:
    printed = Printed()
    windows = [*range(10, 130, 3)]
    assert len(printed.unseen(windows)) == 1
    assert len(printed.unseen([(0.05 * number, number) for number in windows])) == 1
    assert printed.unseen(windows[:5]) == [], "a few"
    printed.hear({"value": " ".join(f"cwnd:{number}" for number in windows)})
    assert printed.unseen(windows) == []
    assert printed.unseen([(0.05123 * number, number) for number in windows]) == [], "with times of the lab's clock"


def test_linklabs_own_program_is_named_though_it_is_packed() -> None:
    found = programs_alike("simpleperf.py", {"ada": sealed(SIMPLEPERF), "kit": SIMPLEPERF.read_text("utf-8")}, "")
    assert [group.students for group in found] == [("ada", "kit")]


def test_two_earlier_terms_in_folders_of_the_same_name_are_both_compared(tmp_path: Path) -> None:
    terms = [tmp_path / "class-2024" / "graded", tmp_path / "class-2025" / "graded"]
    for term in terms:
        write(term / "judged" / "ada" / "02-simpleperf" / "files", {"simpleperf.py": SIMPLEPERF.read_bytes()})
    assert [whose for term in terms for whose, _, _ in handed_in_before(term)] == [f"{term}/ada" for term in terms]


def test_of_what_is_copied_from_the_labs_own_cells_nothing_is_noted(group: PretendedClass) -> None:
    check = source(cell(solved(), "check-measured-rtt"))
    group.hand_in("ada", added(solved(), "check-measured-rtt", f"print(measured_rtt_ms)\n{check}"))
    group.hand_in("max", added(solved(), "check-measured-rtt", f"for measured_rtt_ms in range(90):\n    {check}"))
    looks = {one.student: one.labs[LAB].looks for one in group.grade().students}
    assert looks["ada"] == ()
    assert "uses check_measured_rtt()" in looks["max"][0]


def test_work_of_an_earlier_term_is_named(group: PretendedClass) -> None:
    group.hand_in("zoe", put(solved(), reflect_queue=WORDS))
    write(group.source / "zoe", {"simpleperf.py": SIMPLEPERF.read_bytes()})
    group.grade()
    last_term = group.output.rename(group.output.with_name("spring"))
    write(group.source / "ada", {path.name: path.read_bytes() for path in (group.source / "zoe").iterdir()})
    for path in (group.source / "zoe").iterdir():
        path.unlink()
    (group.source / "zoe").rmdir()
    group.order = replace(group.order, earlier=(last_term,))
    groups = {one.what: one.students for one in group.grade().alike}
    assert set(groups["simpleperf.py"]) == {"ada", f"{last_term}/zoe", "(the kit's own solution)"}
    assert groups[f"{LAB}, reflect-queue"] == (f"{last_term}/zoe", "ada")


THEORY = """
from linklab.labs.lab01 import rules
from linklab.network import path, rtt_floor_ms
measured_rtt_ms = {name: rtt_floor_ms(path(network, *ends)) for name, ends in rules.RTT_PAIRS.items()}
"""


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("start", ["lab = linklab.start(network)", "lab = linklab.start(network).state()"])
def test_lab_01_wants_a_network_of_the_students_own(virtual: Kind, tmp_path: Path, start: str) -> None:
    cells = {
        "start": f"import linklab\n{start}",
        "answer-routes": "",
        "answer-forwarding": "",
        "answer-measured": THEORY,
    }
    book = changed(solution("01"), cells)
    done = judge(book, tmp_path)
    assert {"nodes", "links", "forwarding", "routes"} <= set(done.failed), done.why()
    assert done.judged.open_points == sum(one.max_points for one in done.judged.cells if one.kind == "free text")
    assert any("has printed the numbers of" in note for note in done.judged.notes), done.judged.notes


@pytest.mark.lab
@pytest.mark.slow
def test_a_program_that_the_notebook_writes_is_noted(virtual: Kind, tmp_path: Path) -> None:
    copied = "import os, shutil\nshutil.copy(os.environ['LINKLAB_SIMPLEPERF'], 'reliable.py')"
    book = changed(solution("13"), {"imports": copied})
    book.cells = [one for one in book.cells if one.id in ("imports", "check-stop-and-wait")]
    done = judge(book, tmp_path)
    assert any("reliable.py was not handed in like this" in note for note in done.judged.notes), done.judged.notes
