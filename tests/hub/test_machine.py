"""One machine for a class: what root puts in place, and what is refused before the hub starts."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.classroom.release import MANIFEST
from linklab.errors import LinklabError
from linklab.guest import init
from linklab.hub import machine
from linklab.hub.machine import hand_out, require_shared_paths, set_up, shared_paths
from linklab.runtime.image.find import Image, ImageManifest

ROOT = Path(__file__).parents[2]
root_alone = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as a hub does: sudo make test")


def an_image(folder: Path, kernel: str) -> Image:
    """A lab image, as far as anybody looks at it who does not boot it."""
    (folder / "root/usr/bin").mkdir(parents=True)
    (folder / "root/usr/bin/python3.13").write_text("")
    (folder / "root/usr/lib/linklab").mkdir(parents=True)
    shutil.copy(init.__file__, folder / "root/usr/lib/linklab/init.py")
    (folder / "linux").write_text(kernel)
    (folder / "vmlinuz-qemu").write_text(kernel)
    about = ImageManifest(kernel, "13 (trixie)", "3.13", {"version": "7.3.4"}, (), ())
    (folder / "image.json").write_text(about.text())
    return Image(folder, about)


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kit that everybody can read, and a lab image, as far as anybody looks at them."""
    folder = tmp_path / "kit"
    folder.mkdir()
    for name in ("solutions", "labs"):
        shutil.copytree(ROOT / name, folder / name)
        (folder / name).chmod(0o755)
    (folder / ".git").write_text("gitdir: elsewhere\n")
    monkeypatch.setenv("LINKLAB_IMAGE", str(an_image(tmp_path / "image", "first").folder))
    # pytest's folders are for their owner alone, and so may be the one that these tests lie in
    monkeypatch.setattr(machine, "_first_unreachable", lambda path: None)
    return folder


@pytest.mark.slow
@root_alone
def test_root_puts_everything_in_place_once(kit: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    said = list(set_up(place, kit))
    found = require_shared_paths(place, kit)
    assert stat.S_IMODE(found.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((kit / "solutions").stat().st_mode) == 0o700
    assert stat.S_IMODE((kit / ".git").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((kit / "labs").stat().st_mode) == 0o755
    assert {path.name for path in found.labs.iterdir()} == {MANIFEST, *os.listdir(ROOT / "labs")}
    assert len(said) == 4
    assert list(set_up(place, kit)) == []
    assert "socket" not in found.simpleperf.read_text(), "it runs, and cannot be read"
    done = subprocess.run([sys.executable, found.simpleperf, "--help"], capture_output=True, text=True, check=True)
    assert "--server" in done.stdout


@pytest.mark.slow
@root_alone
def test_an_image_that_was_built_anew_replaces_the_old_one(
    kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [an_image(tmp_path / "built1", "first"), an_image(tmp_path / "built2", "second")]
    monkeypatch.setattr(machine, "find_image", lambda: found[0])
    monkeypatch.delenv("LINKLAB_IMAGE")
    place = tmp_path / "place"
    assert len(list(set_up(place, kit))) == 5
    image = shared_paths(place).image
    running = image.resolve()
    assert (image / "linux").read_text() == "first"
    assert list(set_up(place, kit)) == []
    found.pop(0)
    assert list(set_up(place, kit)) == [f"the lab image for all students is {image}"]
    assert (image / "linux").read_text() == "second"
    assert (running / "linux").read_text() == "first", "who runs the old one keeps it"
    assert stat.S_IMODE(image.parent.joinpath("images").stat().st_mode) == 0o755
    assert list(set_up(place, kit)) == []


@pytest.mark.slow
@root_alone
def test_each_thing_that_is_missing_is_one_line(kit: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    list(set_up(place, kit))
    found = shared_paths(place)
    (kit / "solutions").chmod(0o755)
    with pytest.raises(LinklabError, match=r"students can read .*/solutions: sudo chmod go-rwx"):
        require_shared_paths(place, kit)
    for remove, says in (
        (found.state.rmdir, f"no folder for the hub at {found.state}: sudo make hub"),
        (found.simpleperf.unlink, "no simpleperf for students who have none"),
        ((found.labs / MANIFEST).unlink, "no release of labs"),
        ((found.image / "image.json").unlink, "no lab image for the students' labs"),
    ):
        remove()
        with pytest.raises(LinklabError, match=says):
            require_shared_paths(place, kit)


@root_alone
def test_labs_that_are_a_students_own_are_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"networks": {"nobody": "course-1", "eve-who-has-no-account": "course-2"}}')
    for name in ("nobody", "eve-who-has-no-account"):
        (tmp_path / name).mkdir()
    own = hand_out(tmp_path, "nobody")
    assert stat.S_IMODE(own.stat().st_mode) == 0o500
    assert own.owner() == "nobody"
    with pytest.raises(LinklabError, match="no user eve-who-has-no-account: sudo adduser"):
        hand_out(tmp_path, "eve-who-has-no-account")
