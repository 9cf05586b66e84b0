"""A Vagrant box from Debian's packages alone, as `vagrant package` would make one of a machine of libvirt's."""

from __future__ import annotations

import json
import secrets
import shutil
import tarfile
from pathlib import Path

from linklab.runtime.image.find import find_image
from tests.vagrant import accelerator
from tests.vagrant.architecture import Architecture
from tests.vagrant.foreign import native_python
from tests.vagrant.guest_settings import (
    ADDED_AUTHORITIES,
    apt_transport,
    debian_sources,
    own_suite,
    pip_settings,
)
from tests.vagrant.installed import install
from tests.vagrant.needs import TrialError
from tests.vagrant.programs import output_of, remove_tree, run

HERE = Path(__file__).resolve().parent
DISK_GB = 10
_PACKAGES = (
    *("initramfs-tools", "zstd", "kmod", "udev"),
    *("systemd-sysv", "systemd-resolved", "dbus", "libpam-systemd"),
    *("openssh-server", "sudo", "python3", "rsync", "ca-certificates", "iproute2", "netbase"),
)
_NETWORK = """[Match]
Name=e*
[Network]
DHCP=ipv4
[DHCPv4]
# libvirt knows a machine by its hardware address.
ClientIdentifier=mac
"""


def make_box(
    suite: str, folder: Path, architecture: Architecture, emulate: bool = False, project: Path | None = None
) -> Path:
    """Makes a box in `folder` and gives its path; what is there already stays.

    `emulate` leaves KVM out even where it works. With `project`, Linklab is installed in it. Needs root.
    Raises `TrialError` with the failing program's last words.
    """
    kind = f"{'-arm64' if architecture.foreign else ''}{'-installed' if project else ''}"
    box = folder / f"linklab-{suite}{kind}.box"
    if box.exists():
        return box
    root, parts = folder / f"root-{suite}", folder / f"box-{suite}"
    for old in (root, parts):
        remove_tree(old)
    parts.mkdir(parents=True)
    try:
        kernel, initrd = make_root(suite, root, folder, architecture)
        for source, name in ((kernel, "vmlinuz"), (initrd, "initrd.img")):
            shutil.copyfile(source, parts / name)
        if architecture.foreign:
            chosen = accelerator.ARM64
        else:
            chosen = accelerator.EMULATION if emulate else accelerator.choose(parts / "vmlinuz", parts / "initrd.img")
        # pip reads its settings when it installs, so they may wait until it is known how fast the machine will be.
        compiles = chosen is accelerator.KVM or (bool(project) and not architecture.foreign)
        listed = output_of("python3", "-m", "pip", "config", "list")
        (root / "etc/pip.conf").write_text(pip_settings(listed, compiles=compiles))
        if project:
            install_in(root, project, suite, folder, architecture)
        make_image(root, parts / "box.img")
        (parts / "Vagrantfile").write_text(vagrantfile(chosen, architecture))
        about = {"provider": "libvirt", "format": "qcow2", "virtual_size": DISK_GB}
        (parts / "metadata.json").write_text(json.dumps(about) + "\n")
        fresh = box.with_suffix(".new")
        with tarfile.open(fresh, "w:gz", compresslevel=1) as archive:
            for part in sorted(parts.iterdir()):
                archive.add(part, part.name)
        fresh.rename(box)
    finally:
        for old in (root, parts):
            remove_tree(old)
    return box


def vagrantfile(chosen: accelerator.Accelerator, architecture: Architecture) -> str:
    """The box's own Vagrantfile."""
    text = (HERE / "Vagrantfile.box").read_text("utf-8")
    for word, value in (
        ("ARCHITECTURE", architecture.name),
        ("CONSOLE", architecture.console),
        ("DRIVER", chosen.driver),
        ("CPU_MODE", chosen.cpu_mode),
        ("CPU_MODEL", chosen.cpu_model),
    ):
        text = text.replace(f"@{word}@", value)
    return text


def install_in(root: Path, project: Path, suite: str, folder: Path, architecture: Architecture) -> None:
    """Puts Linklab into the file system `root`. One of another processor is helped by this machine's own Python."""
    log = folder / "install.log"
    if not architecture.foreign:
        install(root, project, log, architecture, None)
        return
    sources, options, _ = archives(suite, folder)
    with native_python(suite, folder, sources, options, log) as python:
        install(root, project, log, architecture, python)


def archives(suite: str, folder: Path) -> tuple[Path, list[str], str]:
    """How mmdebstrap reaches Debian's archives: a file of sources, its words for it, and the same as apt's settings."""
    sources = folder / f"{suite}.sources"
    sources.write_text(debian_sources(Path("/etc/apt"), own_suite(), suite))
    transport = apt_transport(output_of("apt-config", "dump"))
    return sources, [f"--aptopt={line}" for line in transport.splitlines()], transport


def make_root(suite: str, root: Path, folder: Path, architecture: Architecture) -> tuple[Path, Path]:
    """Debian in the folder `root`, with a user vagrant; gives the paths of its kernel and of its initrd."""
    sources, options, transport = archives(suite, folder)
    overlay = folder / f"overlay-{suite}"
    shutil.rmtree(overlay, ignore_errors=True)
    try:
        lay_out(overlay, sources.read_text(), transport)
        packages = ",".join((f"linux-image-{architecture.name}", *_PACKAGES))
        words = ["mmdebstrap", "--mode=root", "--variant=apt", f"--include={packages}", *options]
        words += [f"--architectures={architecture.name}"]
        # Before the kernel's package makes its first initrd, or that one holds every module there is.
        early = 'mkdir -p "$1/etc/initramfs-tools/conf.d" && echo MODULES=list >"$1/etc/initramfs-tools/conf.d/linklab"'
        words += [
            f"--essential-hook={early}",
            f'--customize-hook={HERE / "customise.sh"} "$1" {overlay} {architecture.console}',
        ]
        run(folder / "mmdebstrap.log", *words, suite, str(root), str(sources))
    finally:
        shutil.rmtree(overlay, ignore_errors=True)
    (root / "etc/machine-id").write_text(secrets.token_hex(16) + "\n")
    return newest(root / "boot", "vmlinuz-*"), newest(root / "boot", "initrd.img-*")


def lay_out(overlay: Path, sources: str, transport: str) -> None:
    """Writes the files that are laid over a plain Debian."""
    texts = {
        "etc/apt/sources.list.d/debian.sources": sources,
        "etc/apt/apt.conf.d/90transport": transport,
        # dpkg waits for the disk after each file otherwise, for a machine that lives an hour.
        "etc/dpkg/dpkg.cfg.d/unsafe-io": "force-unsafe-io\n",
        "etc/ssh/sshd_config.d/vagrant.conf": "UseDNS no\n",
        "etc/sudoers.d/vagrant": "vagrant ALL=(ALL) NOPASSWD: ALL\n",
        "etc/systemd/network/20-all.network": _NETWORK,
        "etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
        "etc/hostname": "debian\n",
        "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 debian\n::1 localhost\n",
        "home/vagrant/.ssh/authorized_keys": public_key(),
    }
    for name, text in texts.items():
        path = overlay / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    authorities = overlay / str(ADDED_AUTHORITIES).lstrip("/")
    if ADDED_AUTHORITIES.is_dir():
        shutil.copytree(ADDED_AUTHORITIES, authorities)
    # A legal cache of the user's: what linklab-image.service would build there, made on this machine.
    image = find_image().folder
    shutil.copytree(image, overlay / "home/vagrant/.cache/linklab/image" / image.name, symlinks=True)


def public_key() -> str:
    """The well-known key of Vagrant boxes, as Debian's package ships it."""
    found = sorted(Path("/usr/share").glob("rubygems-integration/*/gems/vagrant-*/keys/vagrant.pub"))
    if not found:
        raise TrialError("Debian's package vagrant ships no keys/vagrant.pub: sudo apt-get install --reinstall vagrant")
    return found[-1].read_text()


def make_image(root: Path, image: Path) -> None:
    """One file system without partitions, as qcow2."""
    raw = image.with_suffix(".raw")
    try:
        with raw.open("wb") as opened:
            opened.truncate(DISK_GB * 1024**3)
        log = image.with_suffix(".log")
        run(log, "mke2fs", "-q", "-F", "-t", "ext4", "-d", str(root), str(raw))
        run(log, "qemu-img", "convert", "-O", "qcow2", str(raw), str(image))
        log.unlink()
    finally:
        raw.unlink(missing_ok=True)


def newest(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise TrialError(f"the box's root file system has no {folder.name}/{pattern}")
    return found[-1]
