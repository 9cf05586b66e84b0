"""virtlogd and libvirtd of the trial's own, with every file of theirs in the trial's folder."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

from tools.box.programs import BoxError, run

_READY_LIMIT_S: Final = 120.0
_STATE: Final = ("/var/lib/libvirt", "/var/cache/libvirt", "/var/log/libvirt", "/run/libvirt")
_QEMU: Final = """
# As root, because libvirt's own user may read neither the trial's folder nor /dev/kvm everywhere: what libvirt cannot
# open it probes anew at every call, two minutes each time.
user = "root"
group = "root"
security_driver = "none"
remember_owner = 0
namespaces = []
cgroup_controllers = []
"""
_LIBVIRTD: Final = 'auth_unix_ro = "none"\nauth_unix_rw = "none"\n'


def start(folder: Path) -> None:
    """Start both daemons in this mount namespace, which alone sees their folders; they end with the process namespace.

    Raises `BoxError` where libvirt does not answer.
    """
    settings = folder / "etc-libvirt"
    shutil.copytree("/etc/libvirt", settings, symlinks=True)
    # The host's machines and networks are none of the trial's business.
    for name in ("qemu", "storage"):
        shutil.rmtree(settings / name, ignore_errors=True)
    (settings / "qemu.conf").write_text(_QEMU)
    (settings / "libvirtd.conf").write_text(_LIBVIRTD)
    run("mount", "--bind", settings, "/etc/libvirt")
    for place in map(Path, _STATE):
        own = folder / str(place).strip("/").replace("/", "-")
        for name in ("boot", "dnsmasq", "images", "qemu"):
            (own / name).mkdir(parents=True)
        place.mkdir(parents=True, exist_ok=True)
        run("mount", "--bind", own, place.resolve())
    # The one that is there shows the interfaces of the namespace it was mounted in.
    run("mount", "-t", "sysfs", "sysfs", "/sys")
    run("ip", "link", "set", "lo", "up")
    for name in ("virtlogd", "libvirtd"):
        with (folder / f"{name}.log").open("wb") as log:
            subprocess.Popen([name, "--pid-file", str(folder / f"{name}.pid")], stdout=log, stderr=log)
    deadline = time.monotonic() + _READY_LIMIT_S
    while subprocess.run(["virsh", "-c", "qemu:///system", "version"], capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            said = (folder / "libvirtd.log").read_text(errors="replace").strip()
            raise BoxError(f"libvirtd did not answer within {_READY_LIMIT_S:.0f} s: {said[-500:]}")
        time.sleep(0.5)


def machines() -> list[str]:
    """Return the machines that libvirt knows, running or not."""
    return run("virsh", "-c", "qemu:///system", "list", "--all", "--name").split()
