"""Grading by an ordinary user, where bubblewrap alone may make user namespaces, as on Ubuntu 24.04."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from linklab.runtime.image.find import run_inside
from tests.grading.judging import LIMIT_S, ROOT, lay_work, read_verdicts, solution, without
from tests.grading.sandbox import FORKS, confined

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

USER = 64300
ONLY_BUBBLEWRAP = Path(__file__).with_name("only_bubblewrap.py")


@pytest.fixture(scope="module")
def ordinary(virtual: Kind) -> Iterator[tuple[Path, list[str], dict[str, str]]]:
    """A folder of an ordinary user, the words before their commands, and their environment."""
    assert virtual.image is not None
    with tempfile.TemporaryDirectory(prefix="linklab-test-", dir="/tmp") as place:
        folder = Path(place)
        shutil.copytree(virtual.image.folder, folder / "image", symlinks=True)  # root's own cache is closed to others
        words = [sys.executable, str(ONLY_BUBBLEWRAP)]
        if os.geteuid() == 0:
            words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *words]
            for path in (folder, *folder.rglob("*")):
                os.chown(path, USER, USER, follow_symlinks=False)
        if shutil.which("bwrap") is None:
            _put_bubblewrap(folder)
        environment = {"LINKLAB_IMAGE": str(folder / "image"), "HOME": place}
        package = Path(sys.modules["linklab"].__file__ or "").parents[1]
        environment |= {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(package)}
        tried = subprocess.run([*words[:-2], sys.executable, "-c", "import linklab"], env=environment, check=False)
        if tried.returncode:
            pytest.skip("this checkout or its Python is closed to other users")
        yield folder, words, environment


def _put_bubblewrap(folder: Path) -> None:
    """Put a program of this name into the folder, as a distribution's package would: that of the lab image."""
    loader, *words = run_inside(folder / "image/root", "/usr/bin/bwrap")
    named = folder / "loader" / "bwrap"  # a program is known by the name of its file
    named.parent.mkdir(mode=0o755)
    named.hardlink_to(Path(loader).resolve())
    script = folder / "bwrap"
    script.write_text(f'#!/bin/sh\nexec {shlex.join([str(named), *words])} "$@"\n')
    script.chmod(0o755)


@pytest.mark.large
def test_a_lab_and_a_simpleperf_are_judged(ordinary: tuple[Path, list[str], dict[str, str]]) -> None:
    folder, words, environment = ordinary
    book = without(solution("04"), "imports", "answer-rtt", "check-rtt", "answer-pings", "check-pings")
    book.cells += without(solution("02"), "check-transfer").cells
    book.cells[0].source += "\nfrom linklab import lab02, simpleperf"
    work = lay_work(book, folder / "work", files={"simpleperf.py": ROOT / "solutions" / "simpleperf.py"})
    for path in (work.folder, *work.folder.rglob("*")):
        os.chown(path, folder.stat().st_uid, folder.stat().st_gid)
    done = subprocess.run(
        [*words, sys.executable, "-P", "-m", "linklab.grading.judge", str(work.folder)],
        capture_output=True, text=True, env=environment, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "was refused a user namespace" not in done.stderr
    verdicts = read_verdicts(work)
    assert verdicts.failed == [], verdicts.why()
    assert verdicts.judged.for_the_instructor == ()


BESIDE_GUESTS = """
import atexit
guests = [subprocess.Popen(["sleep", "900"]) for _ in range(100)]
atexit.register(lambda: [guest.kill() for guest in guests])
"""


def test_its_labs_do_not_count_as_a_submissions_processes(
    ordinary: tuple[Path, list[str], dict[str, str]],
) -> None:
    """For an ordinary user guests are processes of the same user as the submission's, and a guest has many."""
    _, words, environment = ordinary
    assert 30 <= confined(FORKS, first=BESIDE_GUESTS, before=words, environment=environment) <= 40
