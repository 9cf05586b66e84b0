"""Run labs within a container's own walls, where bubblewrap may make no namespaces.

A container of a cloud or of a JupyterHub holds one student and nothing else, and most forbid what bubblewrap needs.
There guests run as ordinary processes of the container: where ``LINKLAB_CONFINEMENT=container`` says so, and, which is
told in one line, where bubblewrap finds no namespaces and nothing says otherwise. A guest is confined all the same: it
is a kernel of its own, without a network device, with an overlay over the files that it sees. What bubblewrap adds is
missing: who is root in a guest can reach the files that the container's user may write. So graded
labs, whose code nobody trusts, are refused.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime import bwrap

VARIABLE = "LINKLAB_CONFINEMENT"
_WORDS = ("bubblewrap", "container")
_PLACES = ("/dev/shm", "/tmp", "/var/tmp")
_MB = 1024 * 1024


def chosen() -> bool:
    """Return True where labs rely on a container's walls: the environment says so, or bubblewrap can make none.

    Raises `LabError` for another word in the environment.
    """
    word = os.environ.get(VARIABLE)
    if word is None:
        return _without_walls() is not None
    if word not in _WORDS:
        raise LabError(f"{VARIABLE} is {word!r}: say {' or '.join(_WORDS)}, or unset it")
    return word == _WORDS[1]


@cache
def _without_walls() -> str | None:
    """Return why bubblewrap can make no namespaces here, and say so once; None where it can, or is missing."""
    try:
        why = bwrap.refusal()
    except LabError:
        return None  # it is told where a lab asks for it
    if why is not None:
        print(
            f"bubblewrap can make no namespaces here ({why}), so labs run as in a container: what is root in a guest "
            f"may reach your files. linklab doctor says what mends it; {VARIABLE}=container takes this line away",
            file=sys.stderr,
        )
    return why


def own_folder(memory_mb: int, *, untrusted: bool) -> tuple[Path, str] | None:
    """Return a new folder for one lab's own files, and that of its memory; None where bubblewrap gives it both.

    Raises `LabError` where the container has no room for a guest's memory, and for a lab of `untrusted` code.
    """
    if not chosen():
        return None
    if untrusted:
        why = f"{VARIABLE} is container" if VARIABLE in os.environ else f"it does not work here ({_without_walls()})"
        raise LabError(
            f"labs of untrusted code need bubblewrap, and {why}: grade on a machine, "
            "or in a container that may make namespaces with that variable unset"
        )
    memory = memory_place(memory_mb)
    return Path(tempfile.mkdtemp(prefix="linklab-")), memory


def link_parts(folder: Path, options: str, parts: Mapping[str, Path]) -> None:
    """Put links to what a guest is made of into its folder, and its options."""
    for name, path in parts.items():
        (folder / name).symlink_to(path)
    (folder / "options.json").write_text(options, "utf-8")


def memory_place(memory_mb: int) -> str:
    """Return the folder for the file that is a guest's memory: the first with room for it whose files may be run.

    Docker mounts /dev/shm noexec and gives it 64 MB; a file on disk does as well, and is as slow as the disk where the
    machine is short of memory. Raises `LabError` where there is none.
    """
    for place in _PLACES:
        if _room_mb(place) >= memory_mb and _may_run(place):
            return place
    raise LabError(
        f"no room for a guest's {memory_mb} MB of memory in {', '.join(_PLACES)} (with execution allowed): "
        f"give the container --tmpfs /dev/shm:exec,size={2 * memory_mb}m"
    )


def _room_mb(place: str) -> float:
    try:
        found = os.statvfs(place)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize / _MB


def _may_run(place: str) -> bool:
    """Return whether a file in `place` can be mapped as code, by doing so: user-mode Linux does the same."""
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()
    except OSError:
        return False
    return True
