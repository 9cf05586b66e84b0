"""The machine's own file system outside of it: the same Debian and the same Linklab on this machine's processor."""

from __future__ import annotations

from pathlib import Path

from tests.vagrant.needs import TrialError
from tests.vagrant.programs import mounted_below, output_of, run

# bubblewrap makes user namespaces, which the kernel refuses in a chroot: the file system becomes the root instead.
_ENTER = """set -e
mount --rbind /dev "$1/dev"
mount --rbind /sys "$1/sys"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
mkdir -p "$1/mnt/outside"
cd "$1"
pivot_root . mnt/outside
umount --lazy /mnt/outside
exec su --login vagrant --command "cd /vagrant && $2"
"""


def run_on_disk(disk: Path, folder: Path, project: Path, command: str) -> None:
    """Runs a command as the user vagrant in a copy of the disk of a machine that is off, with `project` as /vagrant.

    Raises `TrialError` with the command's last words.
    """
    if not disk.exists():
        raise TrialError(f"there is no disk {disk}: make the machine first (step up)")
    raw, root = folder / "disk.raw", folder / "disk"
    root.mkdir(exist_ok=True)
    try:
        output_of("qemu-img", "convert", "-O", "raw", str(disk), str(raw))
        output_of("mount", "-o", "loop", str(raw), str(root))
        output_of("mount", "--bind", str(project), str(root / "vagrant"))
        apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "bash", "-c", _ENTER, "bash")
        run(folder / "outside.log", *apart, str(root), command)
    finally:
        for place in reversed(mounted_below(root)):
            output_of("umount", place)
        raw.unlink(missing_ok=True)
