"""An image as one file, a tar.xz of ``image.json``, two kernels and ``root``: the same bytes of the same image."""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.image import tree
from linklab.runtime.kernel.config import FLAVOURS, runs_user_mode_linux

SUFFIX = ".tar.xz"
MAX_BYTES = 60 * 10**6
"""What a packed image may have: a package on PyPI, and a student's patience, bear no more."""
# Branches of x86-64 programs are packed better when their targets are absolute.
_FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
_CHUNK = 1 << 20


def pack(folder: Path, path: Path, progress: Callable[[float], None] = lambda part: None) -> str:
    """Write the image in ``folder`` to one file, which is there once it is whole; return its SHA-256.

    ``progress`` hears which part is done, from 0 to 1. Raises `LabError` where the file cannot be written, or comes
    out larger than `MAX_BYTES`; for a folder, before anything is packed.
    """
    if os.path.isdir(path):  # False, and no error, for a name that the system refuses
        raise LabError(f"{path} is a folder: name a file in it, as {path / f'image{SUFFIX}'}")
    whole, done = tree.size_bytes(folder), 0
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with (
            lzma.open(part, "wb", filters=_FILTERS) as packer,
            tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for each in tree.everything(folder):
                member = archive.gettarinfo(str(each), str(each.relative_to(folder)))
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                member.mtime = tree.MOMENT
                if member.isreg():
                    with each.open("rb") as file:
                        archive.addfile(member, file)
                    done += member.size
                    progress(done / whole)
                else:
                    archive.addfile(member)
        if part.stat().st_size > MAX_BYTES:
            size = part.stat().st_size / 1e6
            raise LabError(
                f"the image packs to {size:.0f} MB, more than {MAX_BYTES / 1e6:.0f}: leave out more packages"
            )
        digest = checksum(part)
        part.replace(path)
    except OSError as error:
        raise LabError(f"{path} cannot be written ({error.strerror or error}): name a file elsewhere") from error
    finally:
        with contextlib.suppress(OSError):  # where it could not be made
            part.unlink(missing_ok=True)
    return digest


def unpack(path: Path, folder: Path) -> None:
    """Unpack an image's file into a folder, which is made. Raises `LabError` where the file is damaged or no image.

    Where no guest looks into its root, which QEMU's have in their memory, that becomes one archive: macOS takes names
    for the same that differ in capitals alone, and nine pairs of files do.
    """
    folder.mkdir()
    apart = not runs_user_mode_linux()
    known = ("image.json", *(flavour.file for flavour in FLAVOURS), tree.ROOT)
    try:
        with (
            lzma.open(path) as packed,
            tarfile.open(fileobj=packed, mode="r|") as archive,
            tarfile.open(folder / tree.ROOT_ARCHIVE, "w") if apart else contextlib.nullcontext() as root,
        ):
            for member in archive:
                top = member.name.partition("/")[0]
                if top not in known:
                    raise LabError(
                        f"{path} is no lab image (it holds {member.name}): name a file of linklab image pack"
                    )
                if root is not None and top == tree.ROOT:
                    if member.name != top:
                        root.addfile(member, archive.extractfile(member) if member.isreg() else None)
                elif member.islnk():
                    tree.link(folder, member.name, member.linkname)
                elif not member.isdev():
                    tree.put(archive, member, folder, member.name)
            while packed.read(_CHUNK):  # to its end, where its own checksum is
                pass
    except FileNotFoundError as error:
        raise LabError(f"there is no file {path}: name one that linklab image pack has made") from error
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise LabError(f"{path} is damaged, or no lab image ({error}): fetch it again") from error
    tree.make_alike(folder)


def checksum(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
