"""What the trial needs of this machine, found out before an hour is spent: one line for what is missing."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

from linklab.errors import LabError, LinklabError
from linklab.runtime.image.find import find_image
from tests.vagrant.architecture import Architecture

PROGRAMS = {
    "vagrant": "vagrant",
    "libvirtd": "libvirt-daemon-system",
    "virtlogd": "libvirt-daemon-system",
    "virsh": "libvirt-clients",
    "dnsmasq": "dnsmasq-base",
    "iptables": "iptables",
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "slirp4netns": "slirp4netns",
    "ssh": "openssh-client",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}
"""Each program that the trial starts, and the package that brings it."""
FOREIGN_PROGRAMS = {"qemu-system-aarch64": "qemu-system-arm", "qemu-aarch64-static": "qemu-user-static"}
"""For a box of arm64 too: what plays the machine, and what runs its programs while the box is made."""
FOREIGN_FORMAT = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")
FREE_DISK_GB = 12
"""Root file system, image, box, the copy that Vagrant unpacks, and the machine's own disk."""
FREE_MEMORY_MB = 5000
"""The project's Vagrantfile gives the machine 4096 MB."""
SUITES = {"bookworm": "12", "trixie": "13"}


class TrialError(LinklabError):
    """The trial cannot be made here, or it found something that does not work."""


def missing(folder: Path, architecture: Architecture) -> Iterator[str]:
    """What the trial lacks on this machine, a line each; `folder` is where its files are to lie."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        yield f"the box is made for x86-64 by Debian's tools, and this is {platform.system()} on {platform.machine()}"
        return
    if os.geteuid() != 0:
        yield "a box is made and a network namespace is set up by root: sudo make test-vagrant"
    programs = PROGRAMS | (FOREIGN_PROGRAMS if architecture.foreign else {})
    lacking = {package for program, package in programs.items() if shutil.which(program, path=_path()) is None}
    if lacking:
        yield f"programs are missing: sudo apt-get install {' '.join(sorted(lacking))}"
    elif not any(Path("/usr/share/rubygems-integration").glob("*/gems/vagrant-libvirt-*")):
        yield "Vagrant's provider for libvirt is missing: sudo apt-get install vagrant-libvirt"
    if architecture.foreign and not FOREIGN_FORMAT.exists():
        yield (
            f"the kernel does not know how programs of {architecture.name} run: mount -t binfmt_misc binfmt_misc "
            f"{FOREIGN_FORMAT.parent}, then update-binfmts --enable qemu-aarch64 (package binfmt-support)"
        )
    free_gb = shutil.disk_usage(folder).free / 1e9
    if free_gb < FREE_DISK_GB:
        yield f"{folder} has {free_gb:.1f} GB free and {FREE_DISK_GB} GB are needed: name another one by --folder"
    free_mb = _available_mb()
    if free_mb < FREE_MEMORY_MB:
        yield f"{free_mb} MB of memory are free and {FREE_MEMORY_MB} MB are needed: end other programs"
    if not Path("/dev/net/tun").exists():
        yield "/dev/net/tun is missing, so no virtual machine gets a network: modprobe tun"
    try:
        find_image()
    except LabError as error:
        yield str(error)


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _available_mb() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    raise TrialError("/proc/meminfo does not say how much memory is free")
