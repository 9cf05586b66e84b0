"""Every shell script is clean, the Vagrantfile is valid, and `make` tells what it can do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.install.machine import REPOSITORY

_SHELL = re.compile(rb"^#!.*[ /](ba|da)?sh( |$)|^# shellcheck shell=")
_NOT_OURS = {".git", ".venv", ".vagrant", "build", "__pycache__", "node_modules"}


def shell_files() -> list[Path]:
    """All files whose first line says that they are shell."""
    found = []
    for folder, folders, names in os.walk(REPOSITORY):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in names:
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as opened:
                if _SHELL.match(opened.readline(200).rstrip()):
                    found.append(path)
    return sorted(found)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="needs shellcheck: sudo apt-get install shellcheck")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(
        ["shellcheck", *map(str, shell_files())], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_alone_lists_every_target() -> None:
    done = subprocess.run(["make"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    listed = re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE)
    assert listed == [
        *("help", "lab", "hub", "test", "test-quick", "test-vagrant", "box", "docs"),
        *("bench", "studies", "networks", "check", "doctor", "notebooks", "release-check", "kernels", "clean"),
    ]


needs_vagrant = pytest.mark.skipif(
    shutil.which("vagrant") is None, reason="needs Vagrant: sudo apt-get install vagrant"
)


def _validate(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """`vagrant validate` on a copy, so that the repository gets no .vagrant; no hypervisor is asked."""
    shutil.copy(REPOSITORY / "Vagrantfile", folder)
    return subprocess.run(
        ["vagrant", "validate", "--ignore-provider"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_vagrant
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "LINKLAB_BOX": "example/box",
            "LINKLAB_MEMORY_MB": "2048",
            "LINKLAB_CPUS": "1",
            "LINKLAB_PORT": "9999",
            "LINKLAB_FREE_GB": "0",
        },
    ],
)
def test_vagrant_accepts_the_vagrantfile(tmp_path: Path, settings: dict[str, str]) -> None:
    done = _validate(tmp_path, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "validated successfully" in done.stdout


@needs_vagrant
@pytest.mark.parametrize(
    ("name", "value"),
    [("LINKLAB_PORT", "80"), ("LINKLAB_CPUS", "two"), ("LINKLAB_MEMORY_MB", "4 GB"), ("LINKLAB_FREE_GB", "-1")],
)
def test_a_wrong_setting_is_one_line(tmp_path: Path, name: str, value: str) -> None:
    done = _validate(tmp_path, **{name: value})
    assert done.returncode != 0
    assert f"linklab: {name}={value} is not a whole number from" in done.stderr
