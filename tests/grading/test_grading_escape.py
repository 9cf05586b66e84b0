"""Code that has left the sandbox around a simpleperf: as root of its guest, and as the guest's kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from linklab.grade.simpleperf import submission
from linklab.grade.simpleperf.loopback import LoopbackPlace
from linklab.grade.simpleperf.place import LabPlace
from linklab.grade.simpleperf.submission import Submission
from linklab.lab import Lab
from linklab.runtime import process_tree
from linklab.runtime.backends import Kind
from tests.grading.judging import ROOT

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300)]

FILES_AT_MOST = 200


@pytest.fixture(scope="module")
def hidden(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of an instructor's machine that a submission has no business with."""
    secret = tmp_path_factory.mktemp("instructor") / "secret"
    secret.write_text("an instructor's own\n")
    folders = [secret.parent, ROOT / "solutions", ROOT / "tests", Path("/root"), Path.home()]
    found = [Path("/etc/shadow"), *(path for folder in folders for path in _some_files(folder))]
    assert virtual.image is not None
    return [str(path) for path in found if path.exists() and virtual.image.folder not in path.parents]


def _some_files(folder: Path) -> list[Path]:
    """Files below a folder, as many as a test has time for; none of one that is not there or not ours to read."""
    return list(islice((Path(at, name) for at, _, names in os.walk(folder) for name in names), FILES_AT_MOST))


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Submission:
    """A program."""
    program = tmp_path_factory.mktemp("submission") / "simpleperf.py"
    program.write_text("print('hello')\n")
    return submission.read(program)


@pytest.fixture(scope="module")
def guest(virtual: Kind, handed_in: Submission) -> Iterator[Lab]:
    """The guest in which a judge tries a simpleperf."""
    place = LabPlace(handed_in)
    yield place._started()
    place.close()


def test_the_guests_root_finds_nothing_of_this_machines_people(guest: Lab, hidden: list[str]) -> None:
    def found(net: object, paths: list[str]) -> list[str]:
        import os

        return [path for path in paths if os.path.lexists(path)]

    assert len(hidden) > 10
    assert guest.call(found, hidden) == []


def test_the_guests_kernel_sees_nothing_of_them_either(guest: Lab, hidden: list[str]) -> None:
    root = f"/proc/{guest.process.group_pid}/root"
    assert os.path.isdir(f"{root}/run/linklab/image/usr/bin")
    assert [path for path in hidden if os.path.lexists(root + path)] == []


def test_the_guests_kernel_has_no_right_to_change_that(guest: Lab) -> None:
    """Who may mount, make disks or open files by their number sees all disks, whatever view bubblewrap has made."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{guest.process.group_pid}/status").read_text().splitlines()
    )
    chown, dac_override, fowner = 1 << 0, 1 << 1, 1 << 3  # linux/capability.h
    for name in ("CapEff", "CapPrm", "CapInh", "CapBnd"):
        assert int(status[name], 16) & ~(chown | dac_override | fowner) == 0, name
    assert status["NoNewPrivs"].strip() == "1"


def test_what_plays_on_loopback_sees_nothing_of_them(handed_in: Submission, hidden: list[str]) -> None:
    """There a judge tries a program's arguments, and a program that makes no progress in a guest."""
    place = LoopbackPlace(handed_in)
    try:
        # the probe of the sandbox may not yet be quite gone: its root is the sandbox's
        roots = [f"/proc/{process.pid}/root" for process in process_tree.below(place._process.pid)]
        roots = [root for root in roots if os.path.isdir(f"{root}/run/trial/files")]
        assert roots
        assert [root + path for root in roots for path in hidden if os.path.lexists(root + path)] == []
    finally:
        place.close()
