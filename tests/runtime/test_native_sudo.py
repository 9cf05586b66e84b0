"""A native lab that an ordinary user starts goes through sudo, which hands on three files and no more."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.kinds import Kind
from linklab.runtime.kinds import native as native_kind
from linklab.runtime.process import LabProcess

pytestmark = pytest.mark.lab

# What sudo does to files (its closefrom is 3); to become root is left out.
_SUDO = """#!/bin/bash
shift
for file in /proc/$$/fd/*; do
    number=${file##*/}
    ((number < 3 || number == 255)) || eval "exec $number>&-"
done
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the stand-in for sudo only pretends to become it")
def test_a_native_lab_starts_behind_sudo(native: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text(_SUDO)
    sudo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    process = LabProcess.spawn(replace(native, sudo=True), None)
    try:
        assert process.running
        assert process.kernel_release == os.uname().release
    finally:
        process.stop()


def test_where_there_is_no_sudo_one_line_says_what_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="needs root or passwordless sudo: say kind='guest', which needs neither"):
        native_kind()
