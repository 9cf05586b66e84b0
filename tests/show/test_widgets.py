"""The widgets' script is what its sources make."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linklab.show.widgets.page import FOLDER, SCRIPT, STYLE

BUILDER = FOLDER / "src" / "node_modules" / ".bin" / "esbuild"


@pytest.mark.skipif(not BUILDER.exists(), reason="needs esbuild: make widgets")
def test_the_script_is_what_its_sources_make(tmp_path: Path) -> None:
    made = tmp_path / SCRIPT.name
    build = ["npm", "run", "--silent", "bundle", "--", f"--outfile={made}"]
    subprocess.run(build, cwd=FOLDER / "src", check=True)
    assert made.read_bytes() == SCRIPT.read_bytes()
    assert made.with_suffix(".css").read_bytes() == STYLE.read_bytes()
