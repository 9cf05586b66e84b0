"""Where no lab starts, the site says why in one line, and is not built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_an_image_one_line_says_so(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sphinx", "-q", "-d", str(tmp_path / "trees"), "-c", "docs"]
    done = subprocess.run(
        [*words, ".", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"LINKLAB_IMAGE": str(tmp_path / "gone")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "linklab: the site's examples are run in labs, and none starts here: "
        f"LINKLAB_IMAGE names {tmp_path / 'gone'}, and there is no such file or folder: correct it or unset it"
    ]
    assert not (tmp_path / "site" / "docs").exists()
