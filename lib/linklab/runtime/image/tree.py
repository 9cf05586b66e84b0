"""Unpack an image's file, make the modes and times of its files alike, and list its files in one order.

That file is a tar.xz of ``image.json``, two kernels and ``root``, or a wheel that carries it.

Everything works as an ordinary user, and none of it follows a symbolic link out of the image.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from linklab.errors import LabError
from linklab.files import FULL
from linklab.runtime.kernel import KERNELS, runs_user_mode_linux

ROOT, ROOT_ARCHIVE = "root", "root.tar"
NAME = "image.tar.xz"
"""The file's name in a wheel."""
PACKAGE = "linklab_image"
MAX_BYTES = 60 * 10**6
"""What a packed image may have: a package on PyPI, and a student's patience, bear no more."""
_CHUNK = 1 << 20
LIST = ".files"
"""The list of a finished folder's files."""
_END = "end\n"
MOMENT = 1_767_225_600
"""The modification time of every file in an image: 2026-01-01, in seconds since 1970."""


def unpack(content: IO[bytes], folder: Path) -> None:
    """Unpack an image's file into a folder, which is made. Raises `LabError` where the file is damaged or no image.

    Where no guest looks into its root, which QEMU's have in their memory, that becomes one archive: macOS takes names
    for the same that differ in capitals alone, and nine pairs of files do.
    """
    folder.mkdir()
    apart = not runs_user_mode_linux()
    known = ("image.json", *KERNELS, ROOT)
    try:
        with (
            _packed(content) as inner,
            lzma.open(inner) as packed,
            tarfile.open(fileobj=packed, mode="r|") as archive,
            tarfile.open(folder / ROOT_ARCHIVE, "w") if apart else contextlib.nullcontext() as root,
        ):
            for member in archive:
                top = member.name.partition("/")[0]
                if top not in known:
                    raise LabError(f"this is no lab image (it holds {member.name}): name a file of one")
                if root is not None and top == ROOT:
                    if member.name != top:
                        root.addfile(member, archive.extractfile(member) if member.isreg() else None)
                elif not member.isdev():
                    put(archive, member, folder, member.name)
            while packed.read(_CHUNK):  # to its end, where its own checksum is
                pass
    except (tarfile.TarError, lzma.LZMAError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise LabError(f"the lab image's file is damaged, or none ({error}): fetch it again") from error
    make_alike(folder)


def _packed(content: IO[bytes]) -> IO[bytes]:
    """Return the packed image: what a wheel carries, or the content itself."""
    if zipfile.is_zipfile(content):
        return zipfile.ZipFile(content).open(f"{PACKAGE}/{NAME}")
    content.seek(0)
    return content


def put(archive: tarfile.TarFile, member: tarfile.TarInfo, root: Path, name: str) -> None:
    """Write one member of an archive into ``root`` as ``name``, for an ordinary user: no owner, no setuid, no device.

    Raises `LabError` for a name, or a link already there, that would lead out of ``root``, and for a file where a
    folder lies or the other way round.
    """
    path = root / name
    if name.startswith("/") or ".." in Path(name).parts or not _inside(path.parent, root):
        raise LabError(f"an archive holds {member.name}, which leads out of the image: it is damaged")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.isdir():
            if not path.is_dir():
                path.mkdir()
            return
        if path.is_symlink() or path.exists():
            path.unlink()
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise LabError(f"an archive holds {member.name} as a file and as a folder: it is damaged") from error
    if member.issym():
        path.symlink_to(member.linkname)
    elif member.isreg():
        content = archive.extractfile(member)
        assert content is not None
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        path.chmod(0o755 if member.mode & 0o111 else 0o644)


def _inside(path: Path, root: Path) -> bool:
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top + os.sep)


def everything(root: Path) -> Iterator[Path]:
    """Yield all files, links and folders below ``root``, a folder before what is in it, in the order of their names."""
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        path = Path(entry.path)
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from everything(path)


def contents(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield all that is below an image's root, a folder before what is in it, in the order of their names: the path
    there, the mode with what kind of file it is, and the bytes of a file, or of where a link leads.

    The root is the folder `ROOT`, or the archive `ROOT_ARCHIVE` where no guest looks into it.
    """
    if (folder / ROOT_ARCHIVE).is_file():
        with tarfile.open(folder / ROOT_ARCHIVE) as archive:
            for member in archive:
                name = member.name.removeprefix(f"{ROOT}/")
                if member.issym():
                    yield name, stat.S_IFLNK | 0o777, member.linkname.encode()
                elif member.isdir():
                    yield name, stat.S_IFDIR | 0o755, b""
                elif content := archive.extractfile(member):  # of a file, or of what it is another name of
                    yield name, stat.S_IFREG | (0o755 if member.mode & 0o111 else 0o644), content.read()
        return
    for path in everything(folder / ROOT):
        name, mode = path.relative_to(folder / ROOT).as_posix(), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield name, mode, os.readlink(path).encode()
        else:
            yield name, mode, path.read_bytes() if stat.S_ISREG(mode) else b""


def make_alike(root: Path) -> None:
    """Give all files and folders below ``root``, and itself, the modes and the time that they have in every image."""
    for path in [*everything(root), root]:
        if not path.is_symlink():
            executable = path.is_dir() or os.stat(path).st_mode & 0o111
            path.chmod(0o755 if executable else 0o644)
        os.utime(path, (MOMENT, MOMENT), follow_symlinks=False)


def move_into_place(made: Path, place: Path) -> bool:
    """List a folder's files, and rename it to its final name; return False, and remove it, where another was quicker.

    The list has each file's and link's checksum, size and name, a line each; - and 0 for what is empty and for folders.
    Its last line says that it is whole.
    """
    lines = []
    for path in everything(made):
        size = _size(path.lstat())
        lines.append(f"{_sum(path) if size else '-'} {size} {path.relative_to(made)}\n")
    (made / LIST).write_text("".join([*lines, _END]), "utf-8")
    try:
        made.rename(place)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        shutil.rmtree(made, ignore_errors=True)
        return False
    return True


def ensure_whole(place: Path, lock: AbstractContextManager[object], make: Callable[[], object]) -> None:
    """Have a folder made, under a lock, unless it is there whole; a damaged one is removed first."""
    if damaged(place):
        with lock:
            if damaged(place):  # else another process has just made it
                shutil.rmtree(place, ignore_errors=True)
                make()


def damaged(place: Path, *, sums: bool = False) -> str | None:
    """Return the first file of a folder that is not as it was listed, None where all are; with ``sums`` they are read.

    A folder that has no list is damaged in that.
    """
    try:
        text = (place / LIST).read_text("utf-8")
        there = dict(_sizes(place))
    except (OSError, ValueError):
        return LIST
    if not text.endswith(_END):  # a power cut leaves files without content
        return LIST
    for line in text.removesuffix(_END).splitlines():
        digest, size, name = line.split(" ", 2)
        if there.get(name) != int(size):
            return name
        if sums and int(size) and _sum(place / name) != digest:
            return name
    return None


def _sum(path: Path) -> str:
    """Return the SHA-256 of a file, which may be larger than the memory, or of where a link leads."""
    if path.is_symlink():
        return hashlib.sha256(os.readlink(path).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sizes(folder: Path, below: str = "") -> Iterator[tuple[str, int]]:
    for entry in os.scandir(folder / below):
        yield f"{below}{entry.name}", _size(entry.stat(follow_symlinks=False))
        if entry.is_dir(follow_symlinks=False):
            yield from _sizes(folder, f"{below}{entry.name}/")


def _size(status: os.stat_result) -> int:
    return 0 if stat.S_ISDIR(status.st_mode) else status.st_size


def full(error: OSError, folder: Path, needed_bytes: int) -> OSError | LabError:
    """Return the error to raise for an OSError while an image was written to ``folder``."""
    if error.errno in FULL:
        return LabError(
            f"the disk of {folder} is full: free {needed_bytes / 1e9:.1f} GB, "
            "or set XDG_CACHE_HOME to a folder with more"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return LabError(f"cannot write to {folder} ({error.strerror}): set XDG_CACHE_HOME to a folder you may write to")
    return error
