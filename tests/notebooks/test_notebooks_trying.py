"""Trying a simpleperf from a notebook: on loopback, between hosts, and what its rows say."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.errors import LinklabError
from linklab.lab import Lab
from linklab.labs.lab02 import trying
from linklab.labs.lab02.sends import cost_of_sends
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT

REFERENCE = """\
-------------------------------------------------------------
A simpleperf client connecting to server 10.0.5.2, port 8088
-------------------------------------------------------------
Client 10.0.0.2:1111 connected with 10.0.5.2 port 8088
Client 10.0.0.2:2222 connected with 10.0.5.2 port 8088
ID               Interval     Transfer   Bandwidth
10.0.0.2:1111    0.0 - 1.0    2 MB       16.38 Mbps
10.0.0.2:2222    0.0 - 1.0    1 MB       6.14 Mbps
10.0.0.2:1111    1.0 - 2.2    3 MB       12.29 Mbps
10.0.0.2:2222    1.0 - 2.1    1 MB       8.19 Mbps
--------------------------------------------------------
10.0.0.2:1111    0.0 - 2.2    5 MB       14.00 Mbps
10.0.0.2:2222    0.0 - 2.1    2 MB       7.25 Mbps
"""
SO_FAR = REFERENCE[: REFERENCE.index("10.0.0.2:1111    1.0")]


@pytest.mark.parametrize(
    ("text", "rates", "total_mbps"),
    [
        (REFERENCE, {"10.0.0.2:1111": [16.38, 12.29], "10.0.0.2:2222": [6.14, 8.19]}, 21.25),
        (SO_FAR, {"10.0.0.2:1111": [16.38], "10.0.0.2:2222": [6.14]}, 22.52),  # the program has not ended yet
        ("simpleperf: step 1 is still to do", {}, None),
    ],
)
def test_intervals_and_totals_are_read(text: str, rates: dict[str, list[float]], total_mbps: float | None) -> None:
    found = trying.intervals(text.splitlines())
    assert {name: [sample.throughput_mbps for sample in samples] for name, samples in found.items()} == rates
    assert all(samples[0].start_s == 0 and samples[0].end_s in (1, 2) for samples in found.values())
    assert trying.total_mbps(text.splitlines()) == (total_mbps and pytest.approx(total_mbps))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook's folder with the finished program."""
    shutil.copy(ROOT / "solutions" / "simpleperf.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_on_loopback_both_sides_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trying.loopback("-n 1MB")
    client, server = capsys.readouterr().out.split("--- the server said:")
    assert client.startswith("$ python3 simpleperf.py -s -b 127.0.0.1 -p ")
    assert client.count("1 MB") == server.count("1 MB") == 1


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


def test_without_the_file_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LinklabError, match=r"no simpleperf\.py next to this notebook"):
        trying.loopback()


def test_a_call_costs_more_than_its_bytes() -> None:
    """The processor's time, side by side: it does not depend on what else the machine does."""
    assert cost_of_sends(100_000).call_us < 50 * cost_of_sends(1000).call_us


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two hosts, and the finished program in their folder."""
    shared = tmp_path_factory.mktemp("trying")
    shutil.copy(ROOT / "solutions" / "simpleperf.py", shared)
    (shared / "endless.py").write_text("import time\nprint('on')\ntime.sleep(3600)\n")
    with linklab.start(TWO_HOSTS, folder=shared) as running:
        yield running


@pytest.mark.lab
def test_each_server_has_a_port_of_its_own_unless_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    with trying.serving(lab, "h2") as one, trying.serving(lab, "h2") as two:
        assert one.port != two.port
    with trying.serving(lab, "h2", port=9000) as told:
        assert told.port == 9000
        assert "Mbps" in "".join(told.client("h1", "-n 100KB"))
    assert "-p 9000" in capsys.readouterr().out


@pytest.mark.lab
def test_a_program_that_runs_on_in_the_lab_is_ended(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "FILE", "endless.py")
    trying.alone(lab, "h1")
    said = capsys.readouterr().out
    assert "on\nthe program still ran after 60 s, so it was ended\n(exit status " in said
    assert lab["h1"].cmd("grep -ls '[e]ndless' /proc/[0-9]*/cmdline") == ""
