"""Bonded trunks and a priority class: what theory says, and made-up tables of which claims come out either way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.runtime.backends import Kind
from linklab.study import Measured, run
from linklab.study.claims import judged
from linklab.study.table import StudyTable
from studies.trunks.judges import CLAIMS, ONE_MBPS, expected_trunks, flow_theory_mbps, priority_rtt_theory_ms
from studies.trunks.study import BONDS, EVERYWHERE, HASHED, NOWHERE, PRIORITY, SWITCH, TRUNKS

from ..study import tables as made


def tables(
    full_of_twenty: int = 20, round_robin: float = 1.96, switch_mbps: float = 3, wait: float = 0.9
) -> dict[str, StudyTable]:
    """Made-up tables: in how many runs several connections fill both trunks, how many trunks one connection fills in
    turn, what priority in the switch leaves of the flow, and a round trip as a part of theory's.
    """
    bonds: list[tuple[dict[str, Any], int, list[Measured]]] = []
    classes: list[tuple[dict[str, Any], int, list[Measured]]] = []
    for repeat in range(1, 21):
        for bond in BONDS:
            for count in (1, 2, 3, 4):
                full = bond == "round-robin" or (bond == HASHED and count > 1 and repeat <= full_of_twenty)
                used = round_robin if bond == "round-robin" else 1.99 if full else 1
                mbps = Measured("sum_mbps", used * ONE_MBPS + 1e-3 * repeat)
                bonds.append(({"bond": bond, "connections": count}, repeat, [mbps]))
        for where in (NOWHERE, SWITCH, EVERYWHERE):
            mbps = Measured("additional_mbps", 3 if where == EVERYWHERE else switch_mbps - 1e-3 * repeat)
            rtt_ms = Measured("rtt_mean_ms", wait * priority_rtt_theory_ms(1440) + 1e-3 * repeat)
            classes.append(({"priority": where, "payload_bytes": 1440}, repeat, [mbps, rtt_ms]))
    return {TRUNKS.name: made.table(TRUNKS, bonds), PRIORITY.name: made.table(PRIORITY, classes)}


def test_half_of_the_runs_leave_a_claim_open() -> None:
    found = judged(CLAIMS, tables(full_of_twenty=10))
    assert next(it.verdict for it in found if it.claim.id == "trunks-two") == "open"


def test_theory_is_that_of_the_formulas() -> None:
    assert [expected_trunks(count) for count in (1, 2, 4)] == [1, 1.5, 1.875]
    # of 10 Mbit/s the background takes 8.49, and 3 Mbit/s in datagrams of 1440 bytes 3.1375
    assert flow_theory_mbps(SWITCH, 1440) == pytest.approx(3 * 10 / (8.49 + 3.1375))
    # a frame of the class takes 1.2048 ms, one of the background 0.4528
    there_ms = (0.31375 * 1.2048 + 0.68625 * 0.4528) / 2 / 0.68625
    assert priority_rtt_theory_ms(1440) == pytest.approx(2 * (there_ms + 0.849 * 0.4528 / 2))


@pytest.mark.large
@pytest.mark.lab
def test_dealt_out_in_turn_one_connection_uses_both_trunks_and_by_a_hash_one(virtual: Kind, tmp_path: Path) -> None:
    levels = TRUNKS.with_levels(bond=(HASHED, "round-robin"), connections=(1,))
    found = run(replace(levels, belongs=None, repeats=1), tmp_path).each("sum_mbps", "bond")
    assert found[HASHED,].mean < 1.01 * ONE_MBPS < 1.8 * ONE_MBPS < found["round-robin",].mean
