"""virtlogd and libvirtd of the trial's own, inside its namespaces, with every file of theirs in the trial's folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.vagrant.namespaces import NAME_SERVER
from tests.vagrant.needs import TrialError
from tests.vagrant.programs import output_of

_READY_LIMIT_S = 120.0
_STATE = ("/var/lib/libvirt", "/var/cache/libvirt", "/var/log/libvirt", "/run/libvirt")
_QEMU = """
# As root, because libvirt's own user may read neither the trial's folder nor /dev/kvm everywhere: what libvirt cannot
# open it probes anew at every call, two minutes each time.
user = "root"
group = "root"
security_driver = "none"
remember_owner = 0
namespaces = []
cgroup_controllers = []
"""
_LIBVIRTD = """
auth_unix_ro = "none"
auth_unix_rw = "none"
"""


def isolate(folder: Path) -> None:
    """Puts the trial's own folders and settings where libvirt looks for them; this mount namespace alone sees it."""
    settings = folder / "etc-libvirt"
    shutil.rmtree(settings, ignore_errors=True)
    shutil.copytree("/etc/libvirt", settings, symlinks=True)
    # The host's machines and networks are none of the trial's business.
    for name in ("qemu", "storage"):
        shutil.rmtree(settings / name, ignore_errors=True)
    for name, text in (("qemu.conf", _QEMU), ("libvirtd.conf", _LIBVIRTD)):
        (settings / name).write_text(text)
    bind(settings, Path("/etc/libvirt"))
    for place in map(Path, _STATE):
        own = folder / str(place).strip("/").replace("/", "-")
        # `shutil` would copy what is in them; the folders alone, with their owners, are what libvirt expects.
        own.mkdir(parents=True, exist_ok=True)
        place.mkdir(parents=True, exist_ok=True)
        for name in ("boot", "dnsmasq", "images", "qemu"):
            (own / name).mkdir(exist_ok=True)
        bind(own, place)
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {NAME_SERVER}\n")
    bind(resolver, Path("/etc/resolv.conf"))
    # The one that is there shows the interfaces of the namespace it was mounted in.
    output_of("mount", "-t", "sysfs", "sysfs", "/sys")
    output_of("ip", "link", "set", "lo", "up")


def bind(source: Path, target: Path) -> None:
    """Shows `source` at `target` within this mount namespace."""
    output_of("mount", "--bind", str(source), str(target.resolve()))


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """Both daemons, from when libvirt answers until the end of the block."""
    programs: list[subprocess.Popen[bytes]] = []
    try:
        for name in ("virtlogd", "libvirtd"):
            with (folder / f"{name}.log").open("wb") as log:
                words = [name, "--pid-file", str(folder / f"{name}.pid")]
                programs.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        await_libvirt(programs[-1], folder / "libvirtd.log")
        yield
    finally:
        for program in reversed(programs):
            program.terminate()
        for program in programs:
            try:
                program.wait(timeout=20)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


def await_libvirt(program: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until libvirt answers; raises `TrialError` with its last words when it ends instead."""
    deadline = time.monotonic() + _READY_LIMIT_S
    while time.monotonic() < deadline:
        if program.poll() is not None:
            lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            raise TrialError(f"libvirtd ended: {lines[-1]}")
        answer = subprocess.run(["virsh", "-c", "qemu:///system", "version"], capture_output=True, check=False)
        if answer.returncode == 0:
            return
        time.sleep(0.5)
    raise TrialError(f"libvirtd did not answer within {_READY_LIMIT_S:.0f} s; its log: {log}")


def leftovers() -> list[str]:
    """The machines that libvirt knows, running or not."""
    return output_of("virsh", "-c", "qemu:///system", "list", "--all", "--name").split()


def listens(port: int, address: str = "127.0.0.1") -> bool:
    """Whether somebody takes connections there."""
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex((address, port)) == 0
