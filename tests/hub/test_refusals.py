"""A real JupyterHub that does not start, and says in one line why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .served import ClassMachine, hub_command

pytestmark = pytest.mark.lab  # its kernel is among what is put in place


@pytest.mark.large
def test_without_tls_the_hub_stays_on_loopback(machine: ClassMachine) -> None:
    refused = machine.run(*hub_command(), "--ip", "0.0.0.0")
    assert refused.returncode == 1
    assert "linklab: the hub would take passwords at " in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_machine_without_a_lab_image_is_one_line(machine: ClassMachine, tmp_path: Path) -> None:
    shutil.move(machine.images, tmp_path / "images")
    try:
        refused = machine.run(*hub_command())
    finally:
        shutil.rmtree(machine.images, ignore_errors=True)
        shutil.move(tmp_path / "images", machine.images)
    assert refused.returncode == 1
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("linklab: ")]
    assert "no lab image" in line
    assert "Traceback" not in refused.stderr
