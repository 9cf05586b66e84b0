"""What a lab process may touch: the one place that writes bubblewrap's command line.

The host's files are there to read, none to write but the lab folder. Everything the lab makes for itself lies on
a tmpfs in a mount namespace of its own, so the kernel removes it with the last process, however that one ends.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from linklab.errors import LabError

PRIVATE = "/run/linklab"  # on a tmpfs of the lab's own; not below /dev, over which some guest kernels mount theirs


def bubblewrap(folder: Path | None, script_fd: int, info_fd: int | None = None, *, privileged: bool) -> list[str]:
    """The words that go before a lab's own command.

    `folder` alone is writable. The script behind `script_fd` stands as `PRIVATE`/init. `privileged` keeps
    root's capabilities for the native kind, whose namespaces must be configured by root. bubblewrap writes the
    process id of the lab's first process, as the host sees it, to `info_fd`.
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
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
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
    if privileged:
        words += ["--cap-add", "ALL", "--tmpfs", "/tmp", "--setenv", "TMPDIR", "/tmp"]
        for place in _own_places():
            words += ["--ro-bind", str(place), str(place)]
    else:
        words += ["--setenv", "TMPDIR", "/dev/shm"]
    if folder is not None:
        words += ["--bind", str(folder), str(folder)]
    return [*words, "--"]


def _own_places() -> list[Path]:
    """Where Linklab and its Python lie, if that is below the /tmp that a native lab does not see."""
    places = {Path(sys.prefix), Path(__file__).resolve().parents[2]}
    return sorted(place for place in places if place.is_relative_to("/tmp"))
