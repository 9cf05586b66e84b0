"""Fidelity: its verdicts hold on right tables and on no spoilt one, and its busy loops end with who began them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from linklab.study import Measured, Point
from linklab.study.notebook import PageRequest, run_page
from linklab.study.table import StudyTable
from tools.bench.fidelity import CLAIMS, ROWS, STUDY

from .made import BENCHMARKS, made, page_of, verdicts

ROOT = Path(__file__).parents[2]


def right(point: Point) -> list[Measured]:
    """Theory met, and the first lab measured three times."""
    return [
        Measured(metric, value, of=row.name, number=number)
        for number in range(3 if point.repeat == 1 else 1)
        for row in ROWS.values()
        for metric, value in {
            "rtt_mean_ms": row.rtt_floor_ms,
            "lost_pings": 0,
            "tcp_mbps": 0.985 * row.tcp_ceiling_mbps,
            "udp_sent_mbps": row.udp_offered_mbps,
            "udp_mbps": 0.99 * row.udp_offered_mbps,
            "udp_sent_packets": 9000,
            "udp_lost_packets": 0,
        }.items()
    ]


def spoilt(
    metric: str, factor: float, add: float = 0, *, number: int = 0, of: str = "L1", repeat: int = 2
) -> StudyTable:
    """The right table but for one value."""

    def measured(point: Point) -> Sequence[Measured]:
        mine = point["machine"] == "busy" and point.repeat == repeat
        return [
            Measured(metric, it.value * factor + add, of=of, number=number)
            if mine and (it.metric, it.of, it.number) == (metric, of, number)
            else it
            for it in right(point)
        ]

    return made(STUDY, measured)


def test_right_tables_meet_every_claim_and_make_a_page(tmp_path: Path) -> None:
    table = made(STUDY, right)
    assert [verdict for verdict, _ in verdicts(CLAIMS, table, table)] == ["reproduced"] * 5
    text = page_of("fidelity", table, tmp_path)
    assert "largest difference 0.0000 ms, 0 pings lost in 24 rounds" in text
    assert "| again (2) | h1-h9 | UDP (Mbit/s) |" in text


@pytest.mark.parametrize(
    ("table", "claim", "says"),
    [
        (spoilt("rtt_mean_ms", 1, 0.02), 0, "largest difference 0.0200 ms"),
        (spoilt("lost_pings", 1, 1), 0, "1 pings lost"),
        (spoilt("tcp_mbps", 0.99), 1, "L1 97.5"),
        (spoilt("udp_lost_packets", 1, 1), 2, "1 of"),
        (spoilt("udp_sent_mbps", 0.9), 2, "1 times less sent than asked for"),
        (spoilt("tcp_mbps", 1.02, of="h1-h9"), 3, "1 different (h1-h9 TCP)"),
        (spoilt("tcp_mbps", 1.02, of="h1-h9", number=1, repeat=1), 3, "1 different (h1-h9 TCP again (1))"),
    ],
)
def test_a_spoilt_table_meets_one_claim_less(table: StudyTable, claim: int, says: str) -> None:
    found = verdicts(CLAIMS, table, table)
    assert found[claim][0] == "not reproduced"
    assert says in found[claim][1]
    assert sum(verdict == "not reproduced" for verdict, _ in found[:3]) == (claim < 3)


def test_a_part_of_the_points_confirms_nothing_and_another_run_must_agree() -> None:
    idle = made(STUDY, lambda point: right(point) if point["machine"] == "idle" else [])
    assert {verdict for verdict, _ in verdicts(CLAIMS, idle)} == {"not testable here"}
    table = made(STUDY, right)
    assert [verdict for verdict, _ in verdicts(CLAIMS, table, spoilt("tcp_mbps", 1.01))][3:] == [
        "reproduced", "not reproduced",
    ]  # fmt: skip


def test_the_page_in_docs_is_made_of_its_table() -> None:
    docs = ROOT / "docs"
    _, files = run_page(BENCHMARKS / "fidelity_page.py", PageRequest(docs / "studies" / "data"))
    assert files == {"benchmark-fidelity.md": (docs / "benchmark-fidelity.md").read_text("utf-8")}


@pytest.mark.slow
def test_busy_loops_end_with_who_began_them() -> None:
    script = (
        "import time\nfrom tools.bench.fidelity import busy\nwith busy(1):\n print(flush=True)\n time.sleep(1000)\n"
    )
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), str(ROOT)])}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=found) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        loops = [os.pidfd_open(child.pid) for child in psutil.Process(owner.pid).children()]
        assert len(loops) == 4
        owner.kill()
    for loop in loops:
        assert select.select([loop], [], [], 60)[0]
        os.close(loop)
