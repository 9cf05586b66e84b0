"""An image that came as one file: a tar.xz of ``image.json``, two kernels and ``root``, or a wheel that carries it."""

from __future__ import annotations

import contextlib
import lzma
import tarfile
import zipfile
from pathlib import Path
from typing import IO

from linklab.errors import LabError
from linklab.runtime.image import tree
from linklab.runtime.kernel import KERNELS, runs_user_mode_linux

NAME = "image.tar.xz"
"""The file's name in a wheel."""
PACKAGE = "linklab_image"
MAX_BYTES = 60 * 10**6
"""What a packed image may have: a package on PyPI, and a student's patience, bear no more."""
_CHUNK = 1 << 20


def unpack(content: IO[bytes], folder: Path) -> None:
    """Unpack an image's file into a folder, which is made. Raises `LabError` where the file is damaged or no image.

    Where no guest looks into its root, which QEMU's have in their memory, that becomes one archive: macOS takes names
    for the same that differ in capitals alone, and nine pairs of files do.
    """
    folder.mkdir()
    apart = not runs_user_mode_linux()
    known = ("image.json", *KERNELS, tree.ROOT)
    try:
        with (
            _packed(content) as inner,
            lzma.open(inner) as packed,
            tarfile.open(fileobj=packed, mode="r|") as archive,
            tarfile.open(folder / tree.ROOT_ARCHIVE, "w") if apart else contextlib.nullcontext() as root,
        ):
            for member in archive:
                top = member.name.partition("/")[0]
                if top not in known:
                    raise LabError(f"this is no lab image (it holds {member.name}): name a file of one")
                if root is not None and top == tree.ROOT:
                    if member.name != top:
                        root.addfile(member, archive.extractfile(member) if member.isreg() else None)
                elif not member.isdev():
                    tree.put(archive, member, folder, member.name)
            while packed.read(_CHUNK):  # to its end, where its own checksum is
                pass
    except (tarfile.TarError, lzma.LZMAError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise LabError(f"the lab image's file is damaged, or none ({error}): fetch it again") from error
    tree.make_alike(folder)


def _packed(content: IO[bytes]) -> IO[bytes]:
    """Return the packed image: what a wheel carries, or the content itself."""
    if zipfile.is_zipfile(content):
        return zipfile.ZipFile(content).open(f"{PACKAGE}/{NAME}")
    content.seek(0)
    return content
