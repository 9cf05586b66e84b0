"""``linklab check FILE --lab 13``: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.programs import reliable
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT

FINISHED = str(ROOT / "solutions" / "reliable.py")
STARTER = str(ROOT / "labs" / "reliable.py")


@pytest.mark.lab
def test_a_table_a_page_and_json(virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, page = tmp_path / "report.json", tmp_path / "report.html"
    words = ["check", FINISHED, "--lab", "13", "--step", "timeouts", "--json", str(data), "--html", str(page)]
    assert main(words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    count = len(reliable.checks.STEPS["timeouts"])
    assert f"reliable.py, timeouts: {count} of {count} points" in printed
    assert "\u2713 passed: the timeout doubles while nothing comes" in printed
    report = json.loads(data.read_text())
    assert (report["linklab_reliable"], report["outcome"], list(report["steps"])) == (3, "passed", ["timeouts"])
    assert "<title>reliable.py: reliable checks</title>" in page.read_text()
    assert "the timeout doubles while nothing comes" in page.read_text()


@pytest.mark.lab
def test_a_failed_check_is_status_1_with_a_hint(virtual: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", STARTER, "--lab", "13", "--step", "stop-and-wait"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "\u2717 failed: a file arrives where nothing is lost" in printed
    assert "step 1 is still to do" in printed
    assert "lost and repeated datagrams do no harm" in printed
    assert "waits for: a file arrives where nothing is lost (mend that one first)" in printed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--step", "transfer"], "no step is called 'transfer': choose one of stop-and-wait"),
        (["--json", "nowhere/report.json"], "there is no folder"),
    ],
)
def test_what_cannot_be_checked_is_one_line(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reliable, "LabPlace", lambda *_: pytest.fail("a program was run"))
    assert main(["check", FINISHED, "--lab", "13", *more]) == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert "\n" not in error
