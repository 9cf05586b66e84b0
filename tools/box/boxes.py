"""Vagrant boxes of one disk for each provider, and their catalogue, which names addresses and checksums."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any, Final

from linklab import __version__
from tools.box.disk import DISK_GB, make_disk
from tools.box.programs import BoxError, require, run
from tools.box.system import HERE, Architecture, make_root

PROVIDERS: Final = {"amd64": ("libvirt", "virtualbox"), "arm64": ("vmware_desktop",)}
"""The providers that a release has boxes for. VirtualBox needs guest additions on arm64, which Debian does not have."""
CATALOGUE: Final = "box.json"
NAME: Final = "linklab"
_PROGRAMS: Final = {
    **{"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "sfdisk": "fdisk", "qemu-img": "qemu-utils"},
    **{"mformat": "mtools", "unshare": "util-linux"},
}


def make_boxes(architecture: Architecture, providers: Sequence[str], folder: Path) -> list[Path]:
    """Make a box for each of `providers` in `folder`; return their paths. Needs root and the network.

    Raises `BoxError` with the failing program's last words.
    """
    require(_PROGRAMS)
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="linklab-box-", dir="/var/tmp"))
    try:
        log, root, disk = work / "box.log", work / "root", work / "disk.raw"
        make_root(root, work, architecture)
        make_disk(root, disk, architecture, log)
        return [_pack(disk, provider, architecture, folder, log) for provider in providers]
    finally:
        shutil.rmtree(work)


def _pack(disk: Path, provider: str, architecture: Architecture, folder: Path, log: Path) -> Path:
    """Make the provider's box of a raw disk: an archive with the disk in its format and what describes the machine."""
    parts = disk.with_name(provider)
    parts.mkdir()
    about: dict[str, object] = {"provider": provider, "architecture": architecture.name}
    match provider:
        case "libvirt":
            about |= {"format": "qcow2", "virtual_size": DISK_GB}
            run("qemu-img", "convert", "-c", "-O", "qcow2", disk, parts / "box.img", log=log)
        case "virtualbox":
            run(*_CONVERT, "subformat=streamOptimized", disk, parts / "disk.vmdk", log=log)
            (parts / "box.ovf").write_text(ovf((parts / "disk.vmdk").stat().st_size, disk.stat().st_size))
        case "vmware_desktop":
            run(*_CONVERT, "subformat=monolithicSparse", disk, parts / "disk.vmdk", log=log)
            shutil.copyfile(HERE / "box.vmx", parts / "linklab.vmx")
        case _:
            raise BoxError(f"no box is made for {provider}")
    (parts / "metadata.json").write_text(json.dumps(about) + "\n")
    shutil.copyfile(HERE / "Vagrantfile.box", parts / "Vagrantfile")
    box = folder / f"{NAME}-{__version__}-{provider}-{architecture.name}.box"
    # The disks of libvirt and VirtualBox are compressed already.
    packing = {"mode": "w:gz", "compresslevel": 6} if provider == "vmware_desktop" else {"mode": "w"}
    with tarfile.open(box, **packing) as archive:
        for part in sorted(parts.iterdir()):
            archive.add(part, part.name)
    shutil.rmtree(parts)
    return box


_CONVERT: Final = ("qemu-img", "convert", "-O", "vmdk", "-o")


def ovf(size: int, capacity: int) -> str:
    """Return VirtualBox's description of the machine, whose disk's file has `size` bytes, and the disk `capacity`."""
    return Template((HERE / "box.ovf").read_text("utf-8")).substitute(size=size, capacity=capacity)


def catalogue(boxes: Sequence[Path], address: str) -> dict[str, Any]:
    """Return Vagrant's catalogue of these boxes, which lie at `address`, each with its checksum."""
    return {
        "name": NAME,
        "description": "Debian with Linklab in it",
        "versions": [{"version": __version__, "providers": [_entry(box, address) for box in sorted(boxes)]}],
    }


def _entry(box: Path, address: str) -> dict[str, object]:
    provider, _, architecture = box.stem.removeprefix(f"{NAME}-{__version__}-").rpartition("-")
    with box.open("rb") as opened:
        checksum = hashlib.file_digest(opened, "sha256").hexdigest()
    return {
        "name": provider,
        "architecture": architecture,
        "default_architecture": True,
        "url": f"{address.rstrip('/')}/{box.name}",
        "checksum_type": "sha256",
        "checksum": checksum,
    }


def write_catalogue(folder: Path, address: str, target: Path) -> None:
    """Write the catalogue of all boxes in `folder` to the file `target`. Raises `BoxError` where there are none."""
    boxes = list(folder.glob(f"{NAME}-{__version__}-*.box"))
    if not boxes:
        raise BoxError(f"{folder} has no box of Linklab {__version__}: make box")
    target.write_text(json.dumps(catalogue(boxes, address), indent=2) + "\n", "utf-8")
