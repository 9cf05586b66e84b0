"""Linklab's own simpleperf, sealed: it runs, and does not show its text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from linklab.measure.reference import sealed


def test_a_sealed_program_runs_and_shows_nothing_of_its_text(tmp_path: Path) -> None:
    program = tmp_path / "greet.py"
    program.write_text(
        '"""Secret one."""\ndef greet():\n    """Secret two."""\n    return "hello"  # secret three\nprint(greet())\n'
    )
    closed = tmp_path / "sealed.py"
    closed.write_text(sealed(program))
    said = subprocess.run([sys.executable, closed], capture_output=True, text=True, check=True).stdout
    assert said == "hello\n"
    assert "greet" not in closed.read_text()
    unpacked = subprocess.run(
        [sys.executable, "-c", closed.read_text().replace("exec(", "print(")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "greet" in unpacked
    assert "ecret" not in unpacked
