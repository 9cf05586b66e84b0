"""Where bubblewrap comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime import bwrap
from linklab.runtime.kernel import runs_user_mode_linux


@pytest.mark.skipif(not runs_user_mode_linux(), reason="the image's programs do not run on this machine")
def test_the_images_bubblewrap_is_started_where_its_user_can_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    shown = Path("/readable/image")
    words = bwrap.for_program(Path("/home"), "/usr/bin/python3", image=shown)
    assert Path(words[0]).is_relative_to(shown)
    assert str(shown / "root/usr/bin/bwrap") in words
