"""Every command's beginning and end: Ctrl-C at any moment, and users without a home."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.cli import main

from .terminal import one_line

_INTERRUPTED_AT_IMPORT = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[-1]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
module, sys.argv[:] = sys.argv[-1], ["linklab", *sys.argv[1:]]
sys.argv.append(module)
runpy.run_module("linklab", run_name="__main__")
"""
"""Presses Ctrl-C when a module begins to load, whose name is the last word: argparse takes it for a notebook."""


@pytest.mark.parametrize(
    "module", ["linklab.signals", "linklab.cli", "rich.console", "linklab.headless.cli", "nbformat"]
)
def test_ctrl_c_while_a_command_loads_is_one_line(module: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", _INTERRUPTED_AT_IMPORT, "run", module]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "linklab: interrupted\n")


def test_ctrl_c_while_python_ends_changes_nothing(tmp_path: Path) -> None:
    code = (
        "import atexit, os, runpy, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "sys.argv[:] = ['linklab', '--version']\n"
        "runpy.run_module('linklab', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [["image", "path"], ["up", "--no-browser"], ["shell", "--network", "two-hosts"]])
def test_a_user_without_a_home_is_told_in_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LINKLAB_IMAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert main(words) == 1
    assert "set HOME to a folder you may write to" in one_line(capsys.readouterr().err)


def test_the_doctor_tells_a_user_without_a_home_what_to_do(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to be a user whom nobody knows")
    environment = {name: text for name, text in os.environ.items() if name != "HOME" and not name.startswith("XDG_")}
    code = "import os; os.setgid(54321); os.setuid(54321); from linklab.cli import main; print(main(['doctor']))"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "1"
    assert "set HOME" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr
