"""Traces of changing links: mahimahi's files, models with a seed, capacity over a window, the bound above a sender."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.network.traces import (
    KINDS,
    Bound,
    Trace,
    capacity_bytes,
    generated,
    omniscient,
    read_trace,
    write_trace,
)

THREE = Trace("three", (0, 5, 5, 10))


@pytest.mark.parametrize(
    ("instants_ms", "said"),
    [
        ((), r"is empty"),
        ((5, 4), r"instant 2 .* is 4 ms, after 5 ms"),
        ((0, 0), r"ends at 0 ms"),
        ((-1, 5), r"instant 1 .* is -1"),
        ((1.5,), r"instant 1 .* is 1\.5"),
    ],
)
def test_what_is_no_trace_is_refused(instants_ms: tuple[int, ...], said: str) -> None:
    with pytest.raises(MeasurementError, match=said):
        Trace("bad", instants_ms)


def test_a_file_of_mahimahi_is_read_and_written_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "driving.up"
    file.write_text("0\n5\n5\n10\n")
    trace = read_trace(file)
    assert trace == Trace("driving.up", (0, 5, 5, 10))
    write_trace(trace, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"5\nsix\n", r"line 2"), (b"5\n\n6\n", r"line 2"), (b"", r"empty"), (b"\xff\n", r"no text")],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "trace"
    file.write_bytes(content)
    with pytest.raises(MeasurementError, match=said):
        read_trace(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"cannot be read"):
        read_trace(tmp_path / "none")


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "packets"),
    [
        (0, 1, 1),
        (0, 5, 1),
        (5, 6, 2),
        (0, 10, 3),
        # the end of one period is the start of the next, and both have a packet there
        (10, 11, 2),
        (0, 11, 5),
        (11, 21, 4),
        (15, 16, 2),
        (1000, 1100, 40),
        (3.5, 3.6, 0),
    ],
)
def test_capacity_counts_the_instants_of_a_window_in_every_repetition(
    from_ms: float, to_ms: float, packets: int
) -> None:
    assert capacity_bytes(THREE, from_ms, to_ms) == 1500 * packets


@pytest.mark.parametrize("end_ms", [0, 1, 10, 10.5, 25])
def test_instants_are_those_that_are_counted(end_ms: float) -> None:
    trace = Trace("from the beginning", (0, 3, 3, 10))
    assert len(trace.until(end_ms)) == trace.before(end_ms)
    assert trace.until(25) == [0, 3, 3, 10, 10, 13, 13, 20, 20, 23, 23]


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_trace_has_its_length_and_depends_on_its_seed_alone(kind: str) -> None:
    trace = generated(kind, 1, 30)
    assert trace.period_ms == 30_000
    assert generated(kind, 1, 30) == trace
    assert generated(kind, 2, 30).opportunities_ms != trace.opportunities_ms
    assert 1 < trace.mean_mbps < 12


def test_the_hand_over_of_a_satellite_has_a_gap_every_15_seconds() -> None:
    instants_ms = generated("satellite", 1, 60).opportunities_ms
    gaps_ms = [one for one, other in itertools.pairwise(instants_ms) if other - one >= 200]
    assert len(gaps_ms) == 4
    assert all(abs(other - one - 15_000) < 5 for one, other in itertools.pairwise(gaps_ms))


@pytest.mark.parametrize(("kind", "seconds"), [("wifi", 30), ("steady", 0), ("steady", 3601)])
def test_what_no_model_can_give_is_refused(kind: str, seconds: int) -> None:
    with pytest.raises(MeasurementError, match=r"choose"):
        generated(kind, 1, seconds)


def test_who_knows_the_trace_uses_all_of_it_and_waits_for_nothing() -> None:
    assert omniscient(Trace("even", (1,)), 40) == Bound(12.0, 20.0)
    assert omniscient(Trace("even", (1,)), 40, 1000, 3000) == Bound(12.0, 20.0)
