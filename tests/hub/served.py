"""A machine for a class that exists only while the tests look: its users, its homes, its kit, and JupyterHub on it.

It is this machine in a mount and a process namespace. There, and only there, the system knows the students, and the
kit lies where they can read it. All ends with the namespace's first process, however the tests end.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
USERS = {"ada": 64401, "bob": 64402}
"""Numbers that no system gives away by itself."""
PASSWORD = "a password of the tests"
_START_LIMIT_S = 120.0
# Homes come last: this repository, its environment and the tests' folder may lie in one that is hidden then.
_INSIDE = """
set -eu
stage=$1 venv=$2
shift 2
mount --bind "$venv" "$stage/srv/venv"
mount --rbind "$stage/srv" /srv
for name in passwd group shadow; do mount --bind "$stage/etc/$name" "/etc/$name"; done
mount -t tmpfs -o mode=0755 tmpfs /var/lib
mkdir /var/lib/linklab
mount --bind "$stage/place" /var/lib/linklab
cd /srv/kit
mount --bind "$stage/home" /home
exec "$@"
"""


def missing() -> str | None:
    """What this machine lacks for it; None where nothing is missing."""
    if os.geteuid() != 0:
        return "needs root, as a hub does: sudo make test"
    if shutil.which("configurable-http-proxy") is None:
        return "needs JupyterHub's proxy: sudo apt-get install node-configurable-http-proxy"
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        return f"needs a Python that every user can read, and this one lies in {sys.base_prefix}: make test"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"needs the right to make namespaces (CAP_SYS_ADMIN): {tried.stderr.strip()}"
    ordinary = ["setpriv", f"--reuid={USERS['ada']}", f"--regid={USERS['ada']}", "--clear-groups"]
    bubblewrap = ["bwrap", "--ro-bind", "/", "/"] if shutil.which("bwrap") else ["unshare", "--user"]
    tried = subprocess.run([*ordinary, *bubblewrap, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"needs namespaces that ordinary users may make: {tried.stderr.strip()}"
    return None


class ClassMachine:
    """The machine, laid out in a folder. `home` holds the homes, `images` lab images, `log` is what the hub says."""

    def __init__(self, stage: Path, image: Path) -> None:
        self.stage, self.home, self.log = stage, stage / "home", stage / "hub.log"
        for name in ("etc", "home", "place", "srv", "srv/kit", "srv/venv"):
            (stage / name).mkdir()
            (stage / name).chmod(0o755)
        for part in ("lib", "hub", "solutions", "labs", "studies"):
            shutil.copytree(ROOT / part, stage / "srv" / "kit" / part, ignore=shutil.ignore_patterns("*.pyc.*"))
            (stage / "srv" / "kit" / part).chmod(0o755)
        self.images = stage / "place" / "cache" / "linklab" / "image"
        shutil.copytree(image, self.images / image.name, symlinks=True)
        for name, line in (
            ("passwd", "{name}:x:{number}:{number}::/home/{name}:/bin/bash"),
            ("group", "{name}:x:{number}:"),
            ("shadow", "{name}:!:19000:0:99999:7:::"),
        ):
            lines = [line.format(name=name, number=number) for name, number in USERS.items()]
            own = Path("/etc", name)
            (stage / "etc" / name).write_text("\n".join([own.read_text().rstrip("\n"), *lines, ""]))
            (stage / "etc" / name).chmod(own.stat().st_mode & 0o777)
        for name, number in USERS.items():
            (self.home / name).mkdir()
            (self.home / name).chmod(0o755)  # as older systems make them
            os.chown(self.home / name, number, number)

    def words(self, *command: str) -> list[str]:
        """The words that run a command there."""
        apart = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child=KILL"]
        venv = str(Path(sys.prefix).resolve())
        return [*apart, "--mount-proc", "bash", "-c", _INSIDE, "inside", str(self.stage), venv, *command]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command there to its end, as root."""
        return subprocess.run(
            self.words(*command), env=_environment(), capture_output=True, text=True, timeout=600, check=False
        )

    def as_user(self, inside: int, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as a student, beside process `inside` of a running hub."""
        number = USERS[name]
        words = ["nsenter", f"--target={inside}", "--mount", "--pid", "setpriv", f"--reuid={number}"]
        words += [f"--regid={number}", "--clear-groups", *command]
        return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


class Hub:
    """JupyterHub with the kit's configuration on a `ClassMachine`, on free ports; passwords are the tests' own."""

    def __init__(self, machine: ClassMachine) -> None:
        self.machine = machine
        port, api_port, hub_port = (free_port() for _ in range(3))
        self.port, self.address = port, f"http://127.0.0.1:{port}"
        with machine.log.open("wb") as log:
            self.process = subprocess.Popen(
                machine.words(
                    *hub_command(),
                    *("--JupyterHub.authenticator_class=dummy", f"--DummyAuthenticator.password={PASSWORD}"),
                    *(f"--port={port}", f"--JupyterHub.hub_port={hub_port}"),
                    f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{api_port}",
                ),
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> None:
        """Waits until it answers. Fails with the end of what it said."""
        deadline = time.monotonic() + _START_LIMIT_S
        while not self._answers():
            said = self.machine.log.read_text(errors="replace")[-3000:]
            assert self.process.poll() is None, f"the hub ended: {said}"
            assert time.monotonic() < deadline, f"the hub does not answer: {said}"
            time.sleep(0.1)

    def _answers(self) -> bool:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as asked, suppress(OSError):
            asked.request("GET", "/hub/health")
            return asked.getresponse().status == 200
        return False

    def processes_of(self, name: str) -> list[Process]:
        """What runs of a student's here, the oldest first; what runs on another such machine beside is not among it."""
        everything = _processes()

        def here(process: Process | None) -> bool:
            while process is not None and process.pid != self.process.pid:
                process = everything.get(int(process.status["PPid"]))
            return process is not None

        mine = [process for process in everything.values() if str(USERS[name]) in process.status["Uid"].split()]
        return sorted(filter(here, mine), key=lambda process: process.start_ticks)

    def end(self) -> None:
        """Ends the first process of the namespace, and with it all others, those of the students too."""
        for child in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)  # unshare returns once it is gone, which is after all the others
        self.process.wait()


def hub_command() -> list[str]:
    """JupyterHub as `make hub` starts it."""
    return ["/srv/venv/bin/python", "-m", "jupyterhub", "-f", "hub/jupyterhub_config.py"]


@dataclass(frozen=True)
class Process:
    """A process by its number on this machine: its command line, what /proc/PID/status says, and when it began.

    Numbers tell no order: they begin anew from below once the highest was given.
    """

    pid: int
    words: str
    status: dict[str, str]
    start_ticks: int

    def is_there(self) -> bool:
        """Whether it still runs; another one may have its number meanwhile, but not for the same user."""
        now = _processes().get(self.pid)
        return now is not None and now.status["Uid"] == self.status["Uid"]


def _processes() -> dict[int, Process]:
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                lines = (folder / "status").read_text().splitlines()
                status = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                # the name before may hold spaces and brackets; see proc(5), field 22
                start_ticks = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
                found[int(folder.name)] = Process(int(folder.name), words, status, start_ticks)
    return found


def listening(name: str) -> list[str]:
    """The TCP addresses on which a student's processes wait for others, as the kernel writes them."""
    tables = [Path("/proc/net", table).read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [row.split() for table in tables for row in table]
    return [row[1] for row in rows if row[3] == "0A" and row[7] == str(USERS[name])]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"PYTHONPATH": "/srv/kit/lib", "LC_ALL": "C.UTF-8"}
