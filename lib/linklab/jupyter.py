"""``linklab up``: JupyterLab on this machine's loopback, with its token, ended by Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from pathlib import Path

from linklab.errors import LabError

LOOPBACK = "127.0.0.1"
_START_LIMIT_S = 120.0
_MIN_FREE_MB = 200


def up(folder: Path, port: int, *, address: str = LOOPBACK, browser: bool = True) -> int:
    """Runs JupyterLab until Ctrl-C or SIGTERM; its exit status. Raises `LabError` with one line where it cannot."""
    if not folder.is_dir():
        raise LabError(f"there is no folder {folder}: run linklab up in the folder that holds labs/, or say --folder")
    if shutil.disk_usage(folder).free < _MIN_FREE_MB * 1_000_000:
        raise LabError(f"less than {_MIN_FREE_MB} MB are free where {folder} lies: make room and run it again")
    _check_port(address, port)
    words = [sys.executable, "-m", "jupyter", "lab", "--no-browser", f"--ServerApp.ip={address}"]
    words += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    # An empty token would let every user of this machine in; a password set elsewhere would hide the token.
    words += ["--IdentityProvider.token=" + _token(), "--PasswordIdentityProvider.hashed_password="]
    if os.geteuid() == 0:
        words.append("--allow-root")
    server = subprocess.Popen(
        words, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        url = _wait_until_up(server, address, port)
        print(f"\nThe labs are open at\n\n    {url}\n\nStart with 00-start-here. Ctrl-C ends everything.", flush=True)
        if browser and _has_display():
            webbrowser.open(url)
        _follow(server)
        return server.wait()
    except KeyboardInterrupt:
        print("\nClosing the labs.", flush=True)
        return 0
    finally:
        _end(server)


_secret = ""


def _token() -> str:
    """A new random token per start, or LINKLAB_TOKEN's (a service keeps its address over restarts)."""
    global _secret
    _secret = _secret or os.environ.get("LINKLAB_TOKEN") or os.urandom(24).hex()
    return _secret


def _check_port(address: str, port: int) -> None:
    if not 1024 <= port <= 65535:
        raise LabError(f"port {port} is not between 1024 and 65535: say another with --port")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            raise LabError(f"port {port} is taken, perhaps by labs already open: say another with --port") from None


def _wait_until_up(server: subprocess.Popen[bytes], address: str, port: int) -> str:
    """The address to open, once the server answers. Raises `LabError` with what it said last if it ends."""
    host = LOOPBACK if address == "0.0.0.0" else address
    assert server.stdout is not None
    os.set_blocking(server.stdout.fileno(), False)
    deadline, said = time.monotonic() + _START_LIMIT_S, b""
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError, TypeError):
            said += os.read(server.stdout.fileno(), 65536)
        if server.poll() is not None:
            tail = said.decode(errors="replace").strip().splitlines()
            raise LabError(f"JupyterLab did not start: {tail[-1] if tail else 'it said nothing'}")
        request = urllib.request.Request(
            f"http://{host}:{port}/api/status", headers={"Authorization": f"token {_token()}"}
        )
        with contextlib.suppress(OSError, ValueError):
            # no proxy: this address is on this machine
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=5) as answer:
                json.load(answer)
                return f"http://{host}:{port}/lab?token={_token()}"
        time.sleep(0.1)
    raise LabError(f"JupyterLab did not answer within {_START_LIMIT_S:g} s")


def _follow(server: subprocess.Popen[bytes]) -> None:
    """Reads what the server says until it ends, and shows its warnings only."""
    assert server.stdout is not None
    os.set_blocking(server.stdout.fileno(), True)
    for line in server.stdout:
        if line.startswith((b"[W", b"[E", b"[C")):
            sys.stderr.write(line.decode(errors="replace"))


def _end(server: subprocess.Popen[bytes]) -> None:
    """Asks the server to end, which ends its kernels; a lab ends with its kernel."""
    for number, patience_s in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
        if server.poll() is not None:
            return
        server.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(patience_s)


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME"))
