"""Write an image as one file, a tar.xz of ``image.json``, two kernels and ``root``: equal images give equal bytes."""

from __future__ import annotations

import io
import lzma
import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.image import tree
from linklab.runtime.image.tree import MAX_BYTES, NAME
from linklab.runtime.kernel import QEMU_KERNEL, USER_MODE_KERNEL

# Branches of x86-64 programs are packed better when their targets are absolute.
_FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def pack(folder: Path, path: Path, progress: Callable[[float], None] = lambda part: None) -> str:
    """Write the image in ``folder`` to one file, which is there once it is whole; return its SHA-256.

    ``progress`` hears which part is done, from 0 to 1. Raises `LabError` where the file cannot be written, or comes
    out larger than `MAX_BYTES`; for a folder, before anything is packed.
    """
    if os.path.isdir(path):  # False, and no error, for a name that the system refuses
        raise LabError(f"{path} is a folder: name a file in it, as {path / NAME}")
    whole, done = sum(path.lstat().st_size for path in tree.everything(folder)), 0
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with (
            lzma.open(part, "wb", filters=_FILTERS) as packer,
            tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, mode, data in _members(folder):
                member = tarfile.TarInfo(name)
                member.mtime, member.mode = tree.MOMENT, stat.S_IMODE(mode)
                if stat.S_ISDIR(mode):
                    member.type = tarfile.DIRTYPE
                elif stat.S_ISLNK(mode):
                    member.type, member.linkname = tarfile.SYMTYPE, data.decode()
                else:
                    member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
                done += member.size
                progress(min(done / whole, 1))
        if part.stat().st_size > MAX_BYTES:
            size = part.stat().st_size / 1e6
            raise LabError(
                f"the image packs to {size:.0f} MB, more than {MAX_BYTES / 1e6:.0f}: leave out more packages"
            )
        digest = sha256(part.read_bytes()).hexdigest()
        part.replace(path)
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror or error}): name a file elsewhere") from error
    finally:
        with suppress(OSError):  # where it could not be made
            part.unlink(missing_ok=True)
    return digest


def _members(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield all that an image has, in one order, by name, with the mode and the bytes."""
    yield "image.json", stat.S_IFREG | 0o644, (folder / "image.json").read_bytes()
    for kernel, mode in ((USER_MODE_KERNEL, 0o755), (QEMU_KERNEL, 0o644)):
        yield kernel, stat.S_IFREG | mode, (folder / kernel).read_bytes()
    yield tree.ROOT, stat.S_IFDIR | 0o755, b""
    for name, mode, data in tree.contents(folder):
        yield f"{tree.ROOT}/{name}", mode, data
