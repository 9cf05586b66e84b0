"""``linklab up``: JupyterLab on this machine's loopback, with its token, ended by Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import html
import http.client
import importlib.util
import os
import secrets
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from urllib.parse import quote

import psutil

from linklab.errors import LabError
from linklab.jupyter_server import TOKEN_VARIABLE
from linklab.signals import dropped, interrupted_once

LOOPBACK = "127.0.0.1"
FIRST_NOTEBOOK = "00-start-here.ipynb"
_START_LIMIT_S = 120.0
_MIN_FREE_MB = 200
_POLL_S = 0.1
_REDIRECT = """\
<!DOCTYPE html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={url}">
<title>Linklab</title>
<a href="{url}">The labs</a>
"""


def up(folder: Path, port: int, *, browser: bool = True) -> int:
    """Run JupyterLab until Ctrl-C, SIGTERM or SIGHUP, and return 0 once it and its kernels are gone.

    Raises `LabError` with one line where it cannot start, and where it ends by itself with a failure.
    """
    _check_folder(folder)
    _check_port(port)
    if importlib.util.find_spec("jupyterlab") is None:
        raise LabError("JupyterLab is not installed for this Python: make lab installs what is missing")
    token = secrets.token_hex(24)
    redirect = folder / f".linklab-open-{port}.html"
    server = _start(folder, port, token)
    said = _Log(server)
    with interrupted_once():
        try:
            _wait_until_up(server, said, port, token)
            url = _address(folder, port, token)
            print(f"\nThe labs are open at\n\n    {url}\n\nCtrl-C ends them.", flush=True)
            if browser and _has_display():
                _open_browser(redirect, url)
            while server.poll() is None:
                said.read(show_warnings=True)
        except KeyboardInterrupt:
            print("\nClosing the labs.", flush=True)
            return 0
        finally:
            with dropped():
                _end(server)
                with contextlib.suppress(OSError):  # a lab may have put something else there
                    redirect.unlink(missing_ok=True)
    if server.returncode != 0:
        raise LabError(f"JupyterLab ended with status {server.returncode}: {said.last_line()}")
    return 0


def _start(folder: Path, port: int, token: str) -> subprocess.Popen[bytes]:
    # -P: a student's file may be called like one of Python's modules
    words = [sys.executable, "-P", "-m", "linklab.jupyter_server", str(os.getpid()), "--no-browser"]
    words += [f"--ServerApp.ip={LOOPBACK}", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    words += [f"--ServerApp.root_dir={folder}", "--PasswordIdentityProvider.hashed_password="]
    words += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if os.geteuid() == 0:
        words.append("--allow-root")
    return subprocess.Popen(
        words,
        cwd=folder,  # where its terminals open
        env=os.environ | {TOKEN_VARIABLE: token},
        start_new_session=True,  # Ctrl-C is ours to hear, and the server's kernels are to end in order
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _address(folder: Path, port: int, token: str) -> str:
    page = f"/lab/tree/{quote(FIRST_NOTEBOOK)}" if (folder / FIRST_NOTEBOOK).is_file() else "/lab"
    return f"http://{LOOPBACK}:{port}{page}?token={token}"


def _open_browser(redirect: Path, url: str) -> None:
    """Open the page through a file that leads there: `url` holds the token, and every user can read command lines.

    Jupyter's own such file (``use_redirect_file``) lies in a hidden folder of the user's home or in /tmp. A browser
    from a snap, as Ubuntu has it, may not read there, but other users can. Ours lies among the labs.
    """
    said = f"{redirect.parent} keeps no file from other users, and the address holds a token"
    try:
        redirect.unlink(missing_ok=True)  # of labs that were killed
        number = os.open(redirect, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        print(f"linklab: open the address yourself: {redirect}: {error.strerror}", file=sys.stderr)
        return
    with open(number, "w", encoding="utf-8") as file:
        private = not os.fstat(number).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        if private:
            file.write(_REDIRECT.format(url=html.escape(url)))
    if private:
        webbrowser.open(redirect.as_uri())
    else:
        redirect.unlink()
        print(f"linklab: open the address yourself: {said}", file=sys.stderr)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise LabError(f"there is no folder {folder}: say another with --folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LabError(f"{folder} cannot be written, and notebooks save what you do: say another with --folder")
    if shutil.disk_usage(folder).free < _MIN_FREE_MB * 1_000_000:
        raise LabError(f"less than {_MIN_FREE_MB} MB are free where {folder} lies: make room and run it again")


def _check_port(port: int) -> None:
    if not 1024 <= port <= 65535:
        raise LabError(f"port {port} is not between 1024 and 65535: say another with --port")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise LabError(f"port {port} is taken, perhaps by labs already open: say another with --port") from None


class _Log:
    """The server's output. Its kernels write there too, so the end of the stream is not the end of the server."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdout is not None
        self._pipe = server.stdout.fileno()
        self._rest, self._last, self._open = b"", b"", True
        os.set_blocking(self._pipe, False)

    def read(self, *, show_warnings: bool = False) -> None:
        """Wait for a moment, and read what the server said; ``show_warnings`` prints its warnings and errors."""
        if not self._open:
            time.sleep(_POLL_S)
            return
        # a short wait, because the server may end while a kernel holds the pipe
        if not select.select([self._pipe], [], [], 1.0 if show_warnings else _POLL_S)[0]:
            return
        data = os.read(self._pipe, 65536)
        self._open = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._last = line
            if show_warnings and line.startswith((b"[W", b"[E", b"[C")):
                print(line.decode(errors="replace"), file=sys.stderr)

    def last_line(self) -> str:
        """Return the last line that the server said."""
        return (self._rest or self._last).decode(errors="replace").strip() or "it said nothing"


def _wait_until_up(server: subprocess.Popen[bytes], said: _Log, port: int, token: str) -> None:
    """Return once the server answers. Raises `LabError` with what it said last if it ends."""
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        said.read()
        if server.poll() is not None:
            said.read()
            raise LabError(f"JupyterLab did not start: {said.last_line()}")
        if _answers(port, token):
            return
    raise LabError(f"JupyterLab did not answer within {_START_LIMIT_S:g} s: {said.last_line()}")


def _answers(port: int, token: str) -> bool:
    # http.client and not urllib: a proxy of the environment has no business here
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/api/status", headers={"Authorization": f"token {token}"})
        return connection.getresponse().status == 200
    return False


def _end(server: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, which ends its kernels, and end what is left of both; a lab ends with its kernel."""
    kernels = psutil.Process(server.pid).children() if server.poll() is None else []
    for number, patience_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        if server.poll() is None:
            server.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(patience_s)
    for kernel in kernels:
        with contextlib.suppress(psutil.NoSuchProcess):
            kernel.kill()
    psutil.wait_procs(kernels, 5)


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME"))
