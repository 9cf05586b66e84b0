"""The box's file system: Debian's packages, a user vagrant, and Linklab installed by its own ``provision.sh``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.runtime.image.find import find_image
from tools.box.programs import copy_kit, run

HERE: Final = Path(__file__).resolve().parent
_SUITE: Final = "trixie"
_PACKAGES: Final = (
    *("initramfs-tools", "zstd", "kmod", "udev", "systemd-sysv", "systemd-resolved", "dbus", "libpam-systemd"),
    *("openssh-server", "sudo", "rsync", "ca-certificates", "iproute2", "netbase"),
    # `sudo mn --test pingall` wants a switch that runs, and programs that Debian's mininet only recommends.
    *("mininet", "openvswitch-switch", "iputils-ping", "ethtool", "procps"),
)
_LEFT_OUT: Final = (
    *("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*/LC_MESSAGES/*"),
    *("path-exclude=/usr/share/doc/*", "path-include=/usr/share/doc/*/copyright"),
)


@dataclass(frozen=True)
class Architecture:
    """A processor by Debian's `name`; `loader` is GRUB's name of how that machine starts, `packages` are its own."""

    name: str
    loader: str
    packages: tuple[str, ...]


ARCHITECTURES: Final = {
    "amd64": Architecture("amd64", "i386-pc", ("linux-image-amd64", "grub-pc-bin")),
    # open-vm-tools: VMware's shared folders
    "arm64": Architecture("arm64", "arm64-efi", ("linux-image-arm64", "grub-efi-arm64-bin", "open-vm-tools")),
}


def make_root(root: Path, work: Path, architecture: Architecture) -> None:
    """Make the file system in the new folder `root`; `work` holds the kit's copy and the log.

    A foreign architecture needs an emulator of single programs (Debian's qemu-user-static with binfmt-support) that
    heeds a program's setuid bit, or sudo would not work in it.
    """
    kit, log = work / "kit", work / "box.log"
    copy_kit(kit)
    overlay = HERE / "overlay"
    # In a mount namespace of its own, so that nothing stays mounted below `root`, however this ends.
    words: list[str | Path] = ["unshare", "--mount", "mmdebstrap", "--mode=root", "--variant=apt"]
    words += [f"--architectures={architecture.name}", f"--include={','.join((*architecture.packages, *_PACKAGES))}"]
    words += [f"--dpkgopt={line}" for line in _LEFT_OUT]
    # Before the kernel's package makes its first initrd, or that one would hold every module there is.
    words += [f'--essential-hook=cp -R --no-preserve=ownership {overlay}/. "$1"']
    words += [f'--customize-hook={HERE / "customise.sh"} "$1" {kit} {find_image().folder}']
    run(*words, _SUITE, root, overlay / "etc/apt/sources.list.d/debian.sources", log=log)
