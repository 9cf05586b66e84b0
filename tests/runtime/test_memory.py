"""A lab whose memory is full: the program that takes it is ended and one line says so, and the lab goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab import Lab
from linklab.errors import LabError
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import GUEST_MEMORY_MB, Kind, guest_memory_mb

GROW = "python3 -c 'kept = []\nwhile True: kept.append(bytearray(1_000_000))'"
SEVERAL = (
    "for each in 1 2 3 4 5 6; do python3 -c 'kept = bytearray(40_000_000); import time; time.sleep(5)' & done; wait"
)
SAID = "the lab ran out of its 192 MB of memory and ended python3: let programs in it use less, or set LINKLAB_GUEST"


@pytest.fixture
def lab(virtual: Kind, lab_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A lab of little memory, which is soon full."""
    monkeypatch.setenv("LINKLAB_GUEST_MB", "192")
    with linklab.start(TWO_HOSTS, folder=lab_folder) as lab:
        yield lab


def works(lab: Lab) -> bool:
    return "3 received" in lab["h1"].cmd("ping -c 3 10.0.0.2")


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("command", [GROW, SEVERAL], ids=["one", "several"])
def test_a_program_that_takes_all_memory_is_ended(
    lab: Lab, capsys: pytest.CaptureFixture[str], command: str, nothing_left: None
) -> None:
    for _ in range(2):
        lab["h1"].cmd(command)
        lines = capsys.readouterr().err.splitlines()
        assert lines
        assert all(line.startswith(SAID) for line in lines)
        assert works(lab)
    assert capsys.readouterr().err == "", "it is said once"


@pytest.mark.lab
def test_files_cannot_take_all_memory(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("/tmp", "/dev/shm", "/run"):
        assert "No space left on device" in lab["h1"].cmd(f"head -c 2000000000 /dev/zero > {place}/full")
    assert works(lab), "though all of them are full at once"
    assert lab["h2"].cmd("python3 -c 'print(len(bytearray(10_000_000)))'").strip() == "10000000"
    assert capsys.readouterr().err == ""


@pytest.mark.lab
def test_a_lab_that_dies_of_it_says_so(lab: Lab) -> None:
    def grow(net: Any) -> None:
        kept = []
        while True:
            kept.append(bytearray(1_000_000))

    with pytest.raises(
        LabError, match=r"^the lab ran out of its 192 MB of memory and ended: .* start a new one with linklab"
    ):
        lab.call(grow)
    assert not lab.process.running


def test_a_small_machine_gets_what_nobody_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKLAB_GUEST_MB", raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 4096)  # pages, and bytes of each
    assert guest_memory_mb() == GUEST_MEMORY_MB


@pytest.mark.parametrize("wish", ["0", "much", "-5", "127", "", "99999999"])
def test_memory_that_is_none(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    monkeypatch.setenv("LINKLAB_GUEST_MB", wish)
    with pytest.raises(LabError, match=f"^LINKLAB_GUEST_MB is '{wish}': set it to a whole number of MB"):
        guest_memory_mb()
