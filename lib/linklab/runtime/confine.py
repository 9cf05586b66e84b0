"""What a lab process may touch: the one place that writes bubblewrap's command line.

The host's files are there to read, none to write but the lab folder. Everything the lab makes for itself lies on
a tmpfs in a mount namespace of its own, so the kernel removes it with the last process, however that one ends.
A lab whose code nobody trusts gets a `narrow` view: of the host's files only what a lab is made of.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.native import Ids, closed_folders
from linklab.runtime.sandbox import system_programs

PRIVATE = "/run/linklab"  # on a tmpfs of the lab's own; not below /dev, over which some guest kernels mount theirs
_SETTINGS = (
    "alternatives", "ld.so.cache", "localtime", "nsswitch.conf", "hosts", "passwd", "group", "protocols", "services",
    "ethertypes", "iproute2", "openvswitch", "fonts", "mime.types",
)  # fmt: skip
"""Of /etc: what programs need to work, and nothing that is anybody's secret."""
_MB = 1024 * 1024
_ROOM_MB = 64
_EMPTY = ("/etc", "/home", "/root", "/sys", "/mnt", "/var/lib", "/var/log")


def bubblewrap(
    folder: Path | None,
    script_fd: int,
    info_fd: int | None = None,
    *,
    native: Ids | None = None,
    narrow: Iterable[Path] | None = None,
    guest_mb: int = 0,
) -> list[str]:
    """The words that go before a lab's own command.

    `folder` alone is writable. The script behind `script_fd` stands as `PRIVATE`/init. `native` says who a native lab
    is; its first process (`linklab.runtime.native`) keeps root's capabilities to make its namespaces. bubblewrap writes
    the process id of the lab's first process, as the host sees it, to `info_fd`.
    With `narrow` the lab sees the system's programs, those paths (its kernel, say), `folder` and Linklab with its
    Python, and no other file of the host; then its memory, which is a file, may take `guest_mb`.
    Raises `LabError` where bubblewrap is missing.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise LabError("bubblewrap is missing, which keeps a lab off your files: sudo apt-get install bubblewrap")
    words = [
        program,
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--as-pid-1",
    ]
    words += ["--ro-bind", "/", "/"] if narrow is None else [*system_view(), *own_view(narrow)]
    words += ["--dev", "/dev", "--proc", "/proc"]
    if narrow is not None:  # what a guest may fill is memory of the host
        words += ["--size", str((guest_mb + _ROOM_MB) * _MB), "--tmpfs", "/dev/shm", "--size", str(_ROOM_MB * _MB)]
    words += ["--tmpfs", "/run"]
    words += [
        "--dir",
        f"{PRIVATE}/fs",
        "--perms",
        "0755",
        "--ro-bind-data",
        str(script_fd),
        f"{PRIVATE}/init",
    ]
    if info_fd is not None:
        words += ["--info-fd", str(info_fd)]
    if native is not None:
        words += ["--cap-add", "ALL", "--dev-bind-try", "/dev/net/tun", "/dev/net/tun", "--setenv", "TMPDIR", "/tmp"]
        words += _opened(native, folder)
    else:
        words += ["--setenv", "TMPDIR", "/dev/shm"]
    if folder is not None:
        words += ["--bind", str(folder), str(folder)]
    if narrow is not None:
        words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--"]


def system_view() -> list[str]:
    """bubblewrap's words for the system's programs and settings alone, in a root that is empty otherwise."""
    words = system_programs()
    for place in _EMPTY:
        words += ["--dir", place]
    for place in ("/tmp", "/var/tmp"):
        words += ["--perms", "1777", "--dir", place]
    words += ["--symlink", "/run", "/var/run"]
    for name in _SETTINGS:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words


def own_view(more: Iterable[Path] = ()) -> list[str]:
    """bubblewrap's words for Linklab and its Python, where they lie here, and for some paths besides."""
    places = [Path(__file__).resolve().parents[1], *more]
    places += [Path(prefix) for prefix in {sys.prefix, sys.base_prefix} if not Path(prefix).is_relative_to("/usr")]
    return [word for place in places for word in ("--ro-bind", str(place.resolve()), str(place))]


def through_sudo(script_fd: int, script: str) -> list[str]:
    """The words before those of `bubblewrap` where sudo runs it: sudo closes every file but the first three.

    A shell behind it opens `script_fd` anew, for the text that stands in the words themselves.
    """
    shell = f'text=$1; shift; exec "$@" {script_fd}<<<"$text"'
    return ["sudo", "-n", "bash", "-c", shell, "linklab", script]


def _opened(native: Ids, folder: Path | None) -> list[str]:
    """A /tmp of a native lab's own, and what lies below this machine's /tmp or a folder closed to the lab's root, and
    is needed all the same: Linklab, its Python and all that the notebook's Python finds.
    """
    needed = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix)} | {Path(__file__).resolve().parents[2]}
    needed |= {Path(entry).absolute() for entry in sys.path if entry and Path(entry).exists()}
    hidden = [Path("/tmp"), *closed_folders([*needed, *([folder] if folder else [])], native)]
    words = [word for place in hidden for word in ("--tmpfs", str(place))]

    def below(place: Path) -> list[Path]:
        """The folders on the way to a place that are hidden: bubblewrap would make them for root alone."""
        return [parent for parent in reversed(place.parents) if any(closed in parent.parents for closed in hidden)]

    for place in sorted(needed):
        if any(closed in place.parents for closed in hidden):
            words += [word for parent in below(place) for word in ("--dir", str(parent))]
            words += ["--ro-bind", str(place), str(place)]
    if folder is not None:
        words += [word for parent in below(folder) for word in ("--dir", str(parent))]
    return words
