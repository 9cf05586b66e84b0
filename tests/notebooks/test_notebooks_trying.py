"""Trying a simpleperf that misbehaves from a notebook. The solution of Lab 02 tries one that is right."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import linklab
from linklab.errors import LinklabError
from linklab.labs.lab02 import trying
from linklab.labs.lab02.sends import cost_of_sends
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook's folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_that_says_no_is_no_error_of_the_notebook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "labs" / "simpleperf.py", folder)
    trying.loopback("-t 1")
    assert capsys.readouterr().out.count("step 1 is still to do") == 2


def test_a_client_without_end_is_ended(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "simpleperf.py").write_text("import time\ntime.sleep(3600)\n")
    monkeypatch.setattr(trying, "_START_S", 0.1)
    monkeypatch.setattr(trying, "LIMIT_S", 0.1)
    trying.loopback()
    assert "the client still ran after 0.1 s" in capsys.readouterr().out


def test_without_the_file_it_says_so(folder: Path) -> None:
    with pytest.raises(LinklabError, match=r"no simpleperf\.py next to this notebook"):
        trying.loopback()


def test_a_call_costs_more_than_its_bytes() -> None:
    """The processor's time, side by side: it does not depend on what else the machine does."""
    assert cost_of_sends(100_000).call_us < 50 * cost_of_sends(1000).call_us


@pytest.mark.lab
def test_a_program_that_runs_on_in_the_lab_is_ended(
    virtual: Kind, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "simpleperf.py").write_text("import time\nprint('on')\ntime.sleep(3600)\n")
    with linklab.start(TWO_HOSTS, folder=folder) as lab:
        trying.alone(lab, "h1")
        said = capsys.readouterr().out
        assert "on\nthe program still ran after 60 s, so it was ended\n(exit status " in said
        assert lab["h1"].cmd("grep -ls '[s]impleperf' /proc/[0-9]*/cmdline") == ""
