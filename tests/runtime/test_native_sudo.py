"""A native lab that an ordinary user starts goes through sudo, which hands on three files, and is not theirs to end."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.backends import native as native_kind
from tests.conftest import lab_processes, wait_for_none_left

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]
USER = 1234
PATIENCE_S = 60.0

# What sudo is for whoever starts it: the command runs as root, in no family of theirs, with three files.
_SUDO = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
    asked.connect({place!r})
    socket.send_fds(asked, [json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()], [0, 1, 2])
    asked.shutdown(socket.SHUT_WR)
    for file in (0, 1):  # the caller's end of a pipe must close with the command's
        os.close(file)
    os._exit(int(asked.recv(16) or b"1"))
"""

_NOTEBOOK = """\
import os, sys
from pathlib import Path
from linklab.runtime.backends import native
from linklab.runtime.client import LabProcess

def busy(context, mark):
    import os
    os.close(os.open(mark, os.O_CREAT | os.O_WRONLY))
    while True:
        pass

folder = Path(sys.argv[1])
kind = native()
assert kind.sudo
lab = LabProcess.spawn(kind, folder)
if sys.argv[2] == "busy":
    lab.call(busy, str(folder / "mark"))
print(lab.call(lambda context: __import__("os").getuid()), lab.kernel_release, flush=True)
lab.stop()
"""


def _serve(listener: socket.socket) -> None:
    """Runs what the stand-ins for sudo ask for, as root and as children of this process."""
    while True:
        try:
            asked, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_run_as_root, args=(asked,), daemon=True).start()


def _run_as_root(asked: socket.socket) -> None:
    with asked:
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        while rest := asked.recv(1 << 20):
            message += rest
        (option, *words), environment, folder = json.loads(message)
        assert option == "-n"
        try:
            process = subprocess.Popen(
                words, stdin=files[0], stdout=files[1], stderr=files[2], env=environment, cwd=folder
            )
        finally:
            for file in files:
                os.close(file)
        with suppress(OSError):
            asked.send(str(process.wait() & 0xFF).encode())


@pytest.fixture
def start_notebook(lab_folder: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a notebook of an ordinary user, with a native lab whose folder is `lab_folder`."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the stand-in for sudo asks this process to run what it was given")
    for program in ("bwrap", "unshare"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    os.chown(lab_folder, USER, USER)
    closed = [folder for folder in lab_folder.parents if not folder.stat().st_mode & 0o001]
    for parent in closed:
        parent.chmod(parent.stat().st_mode | 0o001)
    notebooks: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        os.chmod(folder, 0o755)
        place = f"{folder}/socket"
        listener.bind(place)
        os.chmod(place, 0o666)
        listener.listen()
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        sudo = Path(folder, "sudo")
        sudo.write_text(_SUDO.format(python=os.path.realpath(sys.executable), place=place))
        sudo.chmod(0o755)

        def start(what: str) -> subprocess.Popen[str]:
            notebook = subprocess.Popen(
                [sys.executable, "-c", _NOTEBOOK, str(lab_folder), what],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder},
                cwd="/",
                user=USER,
                group=USER,
                extra_groups=(),
            )
            notebooks.append(notebook)
            return notebook

        yield start
        for notebook in notebooks:
            notebook.kill()
            notebook.communicate()
        listener.shutdown(socket.SHUT_RDWR)
    for parent in closed:
        parent.chmod(parent.stat().st_mode & ~0o001)


def test_a_native_lab_starts_behind_sudo(start_notebook: Callable[[str], subprocess.Popen[str]]) -> None:
    said, trouble = start_notebook("ask").communicate(timeout=PATIENCE_S)
    assert said.split() == ["0", os.uname().release], trouble


@pytest.mark.parametrize("victim", ["notebook", "supervisor"])
def test_a_busy_lab_behind_sudo_ends_with_its_notebook(
    start_notebook: Callable[[str], subprocess.Popen[str]], lab_folder: Path, victim: str
) -> None:
    """Whatever is killed, even the process between the two, no loop of root's is left when the notebook is gone."""
    before = lab_processes()
    notebook = start_notebook("busy")
    deadline = time.monotonic() + PATIENCE_S
    while not (lab_folder / "mark").exists() and time.monotonic() < deadline:
        assert notebook.poll() is None, notebook.communicate()
        time.sleep(0.02)
    assert (lab_folder / "mark").stat().st_uid == USER, "what a lab writes is the user's and not root's"
    if victim == "supervisor":
        (supervisor,) = (pid for pid, words in lab_processes().items() if "supervisor.py" in words.split("{")[0])
        os.kill(supervisor, 9)
    notebook.kill()
    notebook.wait()
    left = wait_for_none_left(before, patience_s=20)
    for pid in left:  # not to compute for ever where this test fails
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
    assert left == {}


@pytest.mark.skipif(shutil.which("sudo") is None, reason="this machine has no sudo")
@pytest.mark.skipif(os.geteuid() == 0, reason="root needs no sudo")
def test_a_native_lab_starts_behind_the_machines_own_sudo(lab_folder: Path) -> None:
    try:
        native_kind()
    except LabError as error:
        pytest.skip(str(error))
    words = [sys.executable, "-c", _NOTEBOOK, str(lab_folder), "ask"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.startswith("0 ")


def test_where_there_is_no_sudo_one_line_says_what_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="needs root or passwordless sudo: say kind='guest', which needs neither"):
        native_kind()
