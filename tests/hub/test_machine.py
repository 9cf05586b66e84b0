"""One machine for a class: what root puts in place, whose labs a student gets, and what is refused."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab.classroom.release import MANIFEST
from linklab.errors import LinklabError
from linklab.hub import machine
from linklab.hub.machine import hand_out, prepare

ROOT = Path(__file__).parents[2]
root_alone = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as a hub does: sudo make test")


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kit and a lab image that everybody can read, as far as anybody looks at them."""
    folder = tmp_path / "kit"
    folder.mkdir()
    for name in ("solutions", "labs"):
        shutil.copytree(ROOT / name, folder / name)
        (folder / name).chmod(0o755)
    (folder / ".git").write_text("gitdir: elsewhere\n")
    monkeypatch.setattr(machine, "find_image", lambda: SimpleNamespace(folder=Path("/usr")))
    # the environment of these tests may lie in a folder for its owner alone
    monkeypatch.setattr(sys, "prefix", "/usr")
    monkeypatch.setattr(machine, "__file__", "/usr/lib/x/y")
    return folder


@pytest.mark.slow
@root_alone
def test_root_puts_everything_in_place_and_closes_what_students_must_not_read(kit: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    found = prepare(place, kit)
    assert stat.S_IMODE(found.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((kit / "solutions").stat().st_mode) == 0o700
    assert stat.S_IMODE((kit / ".git").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((kit / "labs").stat().st_mode) == 0o755
    assert {path.name for path in found.labs.iterdir()} == {MANIFEST, *os.listdir(ROOT / "labs")}
    assert "socket" not in found.simpleperf.read_text(), "it runs, and cannot be read"
    done = subprocess.run([sys.executable, found.simpleperf, "--help"], capture_output=True, text=True, check=True)
    assert "--server" in done.stdout
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    assert prepare(place, kit) == found
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


@pytest.mark.slow
@root_alone
def test_a_kit_that_students_cannot_reach_is_refused(
    kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    (closed / "venv").mkdir(parents=True)
    tmp_path.parent.chmod(0o755)
    closed.chmod(0o700)
    monkeypatch.setattr(sys, "prefix", str(closed / "venv"))
    with pytest.raises(LinklabError, match=r"students cannot reach .*, because .* is closed to them: put the kit"):
        prepare(tmp_path / "place", kit)


@root_alone
def test_each_gets_the_network_that_is_the_own_and_closed_to_others(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match="there are no labs in"):
        hand_out(tmp_path, "nobody")
    (tmp_path / MANIFEST).write_text('{"networks": {}}')
    assert hand_out(tmp_path, "nobody") == tmp_path
    (tmp_path / MANIFEST).write_text('{"networks": {"Nobody": "course-1", "eve-who-has-no-account": "course-2"}}')
    for name in ("Nobody", "eve-who-has-no-account"):
        (tmp_path / name).mkdir()
    own = hand_out(tmp_path, "nobody")
    assert (own.name, stat.S_IMODE(own.stat().st_mode), own.owner()) == ("Nobody", 0o500, "nobody")
    with pytest.raises(LinklabError, match=r"for 2 students.* none of them is called bob"):
        hand_out(tmp_path, "bob")
    with pytest.raises(LinklabError, match="no user eve-who-has-no-account: sudo adduser"):
        hand_out(tmp_path, "eve-who-has-no-account")
