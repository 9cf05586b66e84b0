"""The example of docs/studies/your-own.md: run in labs, and made of captures of a test elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.runtime.backends import Kind
from linklab.study import Study, catalogue
from linklab.study.catalogue import with_own_levels
from linklab.study.table import read_table

FILE = Path(__file__).parents[2] / "docs" / "studies" / "own" / "spacing.py"
DATA = Path(__file__).parent / "data"
"""``spacing-sent.pcap`` and ``spacing-received.pcap``: 30 pings of a lab in real time, 100 Mbit/s, 64 bytes of each."""


def spacing() -> Study:
    return catalogue.study_by_name(f"{FILE}:SPACING")


def test_captures_of_the_example_become_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = ["--sent", str(DATA / "spacing-sent.pcap"), "--received", str(DATA / "spacing-received.pcap")]
    levels = ["--set", "switch=bridge", "rate_mbps=100", "loss_percent=0"]
    assert main(["study", "import", f"{FILE}:SPACING", *levels, *files, "--output", "mine.csv"]) == 0
    with Path("mine.csv").open() as file:
        rows = list(csv.DictReader(file))
    single = {row["metric"]: float(row["value"]) for row in rows if not row["number"]}
    assert single == {"sent_packets": 30, "lost_percent": 0, "change_mean_ms": pytest.approx(0.00205, abs=1e-5)}
    assert [int(row["number"]) for row in rows if row["number"]] == list(range(2, 31))


def test_a_page_without_a_table_says_which_study_of_its_file_to_carry_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for page in (FILE.with_name("spacing_page.py"), f"{FILE}:SPACING"):
        assert main(["study", "page", str(page)]) == 1
        assert capsys.readouterr().err == (
            f"linklab: study-results has no table spacing.csv: linklab study run {FILE}:SPACING\n"
        )


@pytest.mark.large
@pytest.mark.lab
def test_the_example_is_carried_out_with_levels_of_ones_own(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [f"{FILE}:SPACING", "--short", "--set", "rate_mbps=1", "loss_percent=0"]
    assert main(["study", "run", *words]) == 0
    assert main(["study", "page", *words]) == 0
    (path,) = Path("study-results/pages").glob("spacing-short-own-1-0-*.md")
    assert "| openflow |" in path.read_text()
    own = with_own_levels(spacing().short_form(), {"rate_mbps": ["1"], "loss_percent": ["0"]})
    assert read_table(own, Path("study-results")).lookup("lost_percent", switch="bridge").same == 0
