"""Where bubblewrap comes from."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil
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


def test_ctrl_c_leaves_no_child_of_a_bubblewrap_that_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its child waits for it, and does not die with it before it has asked for that."""
    program, child = tmp_path / "bwrap", tmp_path / "child"
    program.write_text(f"#!/bin/sh\nsleep 1000 & echo $! > {child}.new\nmv {child}.new {child}\nwait\n")
    program.chmod(0o755)

    def interrupted(*_: object, **__: object) -> None:
        while not child.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(bwrap, "program", lambda _: [str(program)])
    monkeypatch.setattr("subprocess.Popen.communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bwrap.refusal()
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(child.read_text())).wait(60)
