"""``linklab study``: what it lists and shows, its exit status, and one line for each mistake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.study import catalogue, studies

from . import pretend


@pytest.fixture
def made_up(pretended: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The study of these tests is in the catalogue."""
    found = {**studies(), "made-up": pretend.STUDY}
    monkeypatch.setattr(catalogue, "studies", lambda: found)


def test_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(studies())
    assert len({line.index(it.title) for line, it in zip(listed, studies().values(), strict=True)}) == 1
    assert main(["study", "show", "mtu"]) == 0
    said = capsys.readouterr().out
    assert "230 points: 59 combinations, each measured up to 10 times" in said
    assert "rates: 10/10, 100/10, 100/100" in said
    assert "jitter_mean_ms (ms): mean" in said
    assert main(["study", "show", "mtu", "--short"]) == 0
    assert "mtu-short" in capsys.readouterr().out


def test_run_says_how_far_it_is_and_goes_on(made_up: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", "made-up", "--jobs", "1", "--output", str(tmp_path / "results")]
    assert main([*words, "--only", "size=1", "--only", "kind=a"]) == 0
    said = capsys.readouterr().out
    assert "2 points to measure" in said
    assert "2 of 2: size=1 kind=a, repeat 2" in said
    assert f"{tmp_path}/results/made-up.csv (6 rows)" in said
    assert main(words) == 0
    assert "2 of 12 points are done already" in capsys.readouterr().out
    assert len(pretend.CALLS) == 12
    assert main([*words, "--again"]) == 0
    assert len(pretend.CALLS) == 24


def test_the_short_form_has_a_folder_and_a_table_of_its_own(
    made_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "made-up", "--short"]) == 0
    assert (tmp_path / "study-results" / "made-up-short" / "made-up-short.csv").exists()
    assert "2 points to measure" in capsys.readouterr().out


def test_a_failed_point_is_in_the_status_and_on_standard_error(
    made_up: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend.FAIL_AT.add((2, 1))
    assert main(["study", "run", "made-up", "--output", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("FAILED: the queue was full: make it longer") == 2
    assert captured.err.splitlines() == [
        f"linklab: size=2 kind={kind}, repeat 1 failed: the queue was full: make it longer" for kind in "ab"
    ]
    pretend.FAIL_AT.clear()
    assert main(["study", "run", "made-up", "--output", str(tmp_path)]) == 0


def test_ctrl_c_keeps_what_is_done(
    made_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(lab: object) -> None:
        raise KeyboardInterrupt

    output = tmp_path / "results"
    assert main(["study", "run", "made-up", "--output", str(output), "--only", "size=1"]) == 0
    capsys.readouterr()
    monkeypatch.setattr(pretend.PretendLab, "state", interrupted)
    assert main(["study", "run", "made-up", "--output", str(output)]) == 130
    assert "the same command goes on from there" in capsys.readouterr().out
    assert len((output / "made-up.csv").read_text().splitlines()) == 1 + 12


def test_at_a_terminal_a_bar_moves_and_failures_stay_above_it(
    made_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    pretend.FAIL_AT.add((2, 1))
    assert main(["study", "run", "made-up", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "12 points to measure" in said
    assert "size=2 kind=a, repeat 1 FAILED: the queue was full: make it longer" in said
    assert "12 of 12, 2 failed" in said
