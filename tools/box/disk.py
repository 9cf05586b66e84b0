"""A disk that starts by itself, of a folder with a file system in it; no loop device, nothing is mounted.

GRUB's loader is made for this one purpose: it reads ``/boot/grub/grub.cfg`` from the disk that it lies on. A PC's BIOS
(libvirt, VirtualBox) finds it before the first partition, UEFI (arm64) in a small partition of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.box.programs import BoxError, run
from tools.box.system import Architecture

DISK_GB: Final = 10
_MIB: Final = 1024 * 1024
_ESP_MIB: Final = 16
_MODULES: Final = ("part_msdos", "ext2", "normal", "linux", "test")


def make_disk(root: Path, disk: Path, architecture: Architecture, log: Path) -> None:
    """Write the folder `root` to the file `disk`, a raw disk of `DISK_GB` of which only what is used takes room."""
    uefi = architecture.loader.endswith("-efi")
    first = 1 + (_ESP_MIB if uefi else 0)
    table = "label: dos\n" + (f"start=1MiB, size={_ESP_MIB}MiB, type=ef\n" if uefi else "")
    with disk.open("wb") as opened:
        opened.truncate(DISK_GB * 1024 * _MIB)
    run("sfdisk", "--quiet", disk, text=f"{table}start={first}MiB, type=83, bootable\n", log=log)
    size = f"{(DISK_GB * 1024 - first) * 1024}k"
    words = ("mke2fs", "-q", "-F", "-t", "ext4", "-L", "linklab", "-E", f"offset={first * _MIB}")
    run(*words, "-d", root, disk, size, log=log)
    loader = _loader(root, architecture, partition=2 if uefi else 1, log=log)
    if uefi:
        _to_esp(disk, loader, log)
    else:
        _to_boot_sector(disk, root / "usr/lib/grub" / architecture.loader / "boot.img", loader)


def _loader(root: Path, architecture: Architecture, partition: int, log: Path) -> Path:
    """Make GRUB's program, by the system's own GRUB; it looks for its settings on `partition` of the disk it is on."""
    made = Path("tmp/linklab-loader")
    modules = _MODULES if architecture.loader.endswith("-efi") else ("biosdisk", *_MODULES)
    words = ["grub-mkimage", "-O", architecture.loader, "-o", f"/{made}", "-p", f"(,msdos{partition})/boot/grub"]
    run("chroot", root, *words, *modules, log=log)
    return (root / made).rename(root.with_name("loader"))


def _to_esp(disk: Path, loader: Path, log: Path) -> None:
    """Put the program where UEFI looks on a disk that it knows nothing of: /EFI/BOOT of a FAT partition."""
    image = f"{disk}@@1M"
    run("mformat", "-i", image, "-T", str(_ESP_MIB * 2048), "::", log=log)
    run("mmd", "-i", image, "::/EFI", "::/EFI/BOOT", log=log)
    run("mcopy", "-i", image, loader, "::/EFI/BOOT/BOOTAA64.EFI", log=log)


def _to_boot_sector(disk: Path, boot: Path, loader: Path) -> None:
    """Put GRUB's first 440 bytes into the boot sector, and the program that they read into the sectors behind it."""
    core = loader.read_bytes()
    if len(core) > _MIB - 512:
        raise BoxError(f"GRUB's loader has {len(core)} bytes, and there is room for {_MIB - 512} before the partition")
    with disk.open("r+b") as opened:
        opened.write(boot.read_bytes()[:440])
        opened.seek(512)
        opened.write(core)
