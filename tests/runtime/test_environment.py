"""What programs in a lab find in their environment."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

import linklab
from linklab.measure import SimpleperfFlow, run
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind


@pytest.mark.lab
def test_a_lab_has_a_name(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=lab_folder) as lab:
        assert lab["h1"].cmd("hostname") == lab["h1"].cmd("cat /etc/hostname") != ""


@pytest.mark.lab
def test_a_program_may_import_packages_that_lie_elsewhere_than_where_python_puts_them(
    virtual: Kind, nothing_left: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `pip install --target`: the folder that Python would use is not even there."""
    usual = sysconfig.get_paths()
    monkeypatch.setattr(sysconfig, "get_paths", lambda: usual | {"purelib": str(tmp_path / "nowhere")})
    program = tmp_path / "simpleperf.py"
    program.write_text("import prettytable\nraise SystemExit(f'found {prettytable.PrettyTable.__name__}')\n")
    found = pytest.raises(linklab.LinklabError, match="found PrettyTable")
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab, found:
        run(lab, SimpleperfFlow("h1", "h2", 1, program=program))
