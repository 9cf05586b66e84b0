"""What a student meets when something is amiss: one line that says so, nothing half done, and a mend that works."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.vagrant import daemons
from tests.vagrant.namespaces import DEVICE, GATEWAY
from tests.vagrant.needs import TrialError
from tests.vagrant.programs import output_of
from tests.vagrant.trial import INSTALL_LIMIT_S, START_LIMIT_S, Trial
from tests.vagrant.vagrant import address_in

_IMAGES = Path("/var/lib/libvirt/images")
_NOWHERE = "qemu+unix:///system?socket=/nonexistent/libvirt-sock"
# Reserved blocks too, which root may use; apt's lists are gone, so that it has something to write.
_FILL = """set -e
sudo apt-get remove -q -y bubblewrap
sudo rm -rf /var/lib/apt/lists
read -r blocks size < <(stat --file-system --format "%f %S" /)
sudo fallocate --length $((blocks * size - 200 * 1024 * 1024)) /full
sudo dd if=/dev/zero of=/full-to-the-brim bs=1M status=none || true
sudo truncate --size -4M /full-to-the-brim"""
_EMPTY = "sudo rm -f /full /full-to-the-brim"


def _told(said: str, words: str) -> str:
    """The line with these words; raises `TrialError` where there is none."""
    line = next((line.strip() for line in said.splitlines() if words in line), "")
    if not line:
        raise TrialError(f"no line says {words!r}:\n{said[-3000:]}")
    return line


def _up_in_vain(trial: Trial, words: str, *arguments: str, **settings: str) -> str:
    """`vagrant up` that must end with a line with these words and start nothing; gives the line."""
    said = trial.vagrant.run("up", *arguments, limit_s=START_LIMIT_S, fails=True, settings=settings)
    line = _told(said, words)
    if left := daemons.leftovers():
        raise TrialError(f"vagrant up said {line!r}, and left {', '.join(left)}")
    return line


def no_provider(trial: Trial) -> str:
    """libvirt's provider without libvirt, and no hypervisor that Vagrant knows."""
    said = [_up_in_vain(trial, "Failed to connect socket", "--provider=libvirt", LIBVIRT_DEFAULT_URI=_NOWHERE)]
    if shutil.which("VBoxManage"):
        said.append("VirtualBox is here, so there is always a provider")
    else:
        said.append(_up_in_vain(trial, "No usable default provider", VAGRANT_NO_PLUGINS="1"))
    return " / ".join(said)


def port_taken(trial: Trial) -> str:
    """Somebody else has the port."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 8888))
        other.listen()
        return _up_in_vain(trial, "LINKLAB_PORT=", "--provider=libvirt")


def disk_full_outside(trial: Trial) -> str:
    """Too little room where libvirt keeps its disks: not even the box is copied there."""
    output_of("mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(_IMAGES))
    try:
        line = _up_in_vain(trial, "GB free, and the machine needs", "--provider=libvirt")
        if left := [path.name for path in _IMAGES.iterdir()]:
            raise TrialError(f"vagrant up said {line!r}, and left {', '.join(left)}")
    finally:
        output_of("umount", str(_IMAGES))
    return line


@contextmanager
def _full_disk(trial: Trial) -> Iterator[None]:
    """A machine with 4 MB of disk left, and without a package that Linklab needs."""
    try:
        trial.vagrant.ssh(_FILL, START_LIMIT_S)
        yield
    finally:
        trial.vagrant.ssh(_EMPTY, START_LIMIT_S)


def disk_full_inside(trial: Trial) -> str:
    """The machine's own disk is full when something is to be installed; with room again, provisioning mends it."""
    with _full_disk(trial):
        said = trial.vagrant.run("provision", limit_s=INSTALL_LIMIT_S, fails=True)
        line = _told(said, "make room, then run the same command again")
    trial.vagrant.run("provision", limit_s=INSTALL_LIMIT_S)
    trial.vagrant.ssh("bwrap --version", START_LIMIT_S)
    return f"{line} (vagrant provision mended it)"


def up_without_network(trial: Trial) -> str:
    """The way out is cut in the middle of the installation: one line says what to do, and that mends it."""
    cut: list[str] = []

    def hear(line: str) -> None:
        if "installing the Python packages" in line and not cut:
            cut.append(line)
            output_of("ip", "route", "del", "default")

    try:
        said = trial.vagrant.run("up", "--provider=libvirt", limit_s=INSTALL_LIMIT_S, fails=True, hear=hear)
    finally:
        if cut:
            output_of("ip", "route", "add", "default", "via", GATEWAY, "dev", DEVICE)
    line = _told(said, "check the network, then run the same command again")
    trial.vagrant.run("provision", limit_s=INSTALL_LIMIT_S)
    # The address comes after every start; the first one ended before.
    trial.address = address_in(trial.vagrant.run("reload", limit_s=START_LIMIT_S))
    return f"{line} (vagrant provision mended it)"
