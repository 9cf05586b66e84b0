"""Hostile programs are stopped, named, and harm nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from linklab.programs import simpleperf
from linklab.runtime.backends import Kind

from ...simpleperf.programs.make import Program, programs

NAMED: Final = {
    "loops": "it computes without end",
    "forks": "it computes without end",  # the lab ends it before anybody has counted its processes
    "fills-memory": "it fills memory",
    "fills-disk": "it fills the disk",
    "writes-outside": "it writes outside its folder",
    "deletes": "it deletes or changes files",
    "reads-secrets": "the server does not listen",
    "prints-gigabytes": "it prints without end",
    "opens-sockets": "it opens sockets or files without end",
    "ignores-sigterm": "the server does not listen",
    "daemon": "the server does not listen",
    "never-reads": "the client sends no data",
}
DAILY: Final = {"fills-memory", "forks", "writes-outside", "deletes", "reads-secrets", "daemon"}
"""What make test tries."""
MARK: Final = "linklab-hostile-mark"


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(one, marks=() if one.name in DAILY else pytest.mark.large, id=one.name)
        for one in programs("hostile")
    ],
)
def test_it_is_stopped_and_named(hostile: Program, virtual: Kind, tmp_path: Path, nothing_left: None) -> None:
    program, outside = tmp_path / "program", tmp_path / "outside"
    program.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("nobody must read this")
    report = simpleperf.check(hostile.write(program, outside), ["transfer"])
    failed = [check.reason for check in report.whole.checks if check.outcome == "failed"]
    assert any(reason.startswith(NAMED[hostile.name]) for reason in failed), str(report)
    assert sorted(os.listdir(tmp_path / "outside")) == ["secret"]
    assert "nobody must read this" not in str(report)
    # the checked file is as it was: only a copy has run
    text = (tmp_path / "program" / "simpleperf.py").read_text()
    assert text == hostile.text.replace("@OUTSIDE@", str(tmp_path / "outside"))
    for folder in (Path.home(), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), tmp_path, Path("/")):
        assert not (folder / MARK).exists()
