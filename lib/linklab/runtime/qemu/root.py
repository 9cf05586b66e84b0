"""Write the guest's files as an initramfs: the lab image's root, Linklab's own modules, and the first program.

The same files give the same bytes, on every computer.
"""

from __future__ import annotations

import importlib.util
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import linklab
from linklab.errors import LabError
from linklab.guest.init import LIBRARY, PACKAGES
from linklab.runtime.backends import ENVIRONMENT
from linklab.runtime.image.find import package_files, sent_files
from linklab.runtime.image.tree import contents
from linklab.runtime.qemu.machine import ROOT_PERCENT

_PACKAGES: Final = ("prettytable", "tabulate", "wcwidth")
"""What students' simpleperfs import. In a guest of user-mode Linux all that is installed is there to be read."""
_EMPTY: Final = ("dev", "proc", "sys", "run", "tmp")
"""Folders that the guest mounts something on."""
_PAGE_BYTES: Final = 4096
_TRAILER: Final = "TRAILER!!!"


def guest_files() -> Iterator[tuple[str, Path, str]]:
    """Yield the files that a guest has beside the image's, in a fixed order: Linklab, and the packages that students'
    programs import. Each with its path there, its path here, and its state, which is another when it has changed.
    """
    yield from _files(LIBRARY, Path(linklab.__file__).parent, sent_files())
    for name in _PACKAGES:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            package = Path(found.origin).parent
            yield from _files(PACKAGES, package, package_files(package))


def _files(place: str, package: Path, files: list[tuple[str, int, int]]) -> Iterator[tuple[str, Path, str]]:
    for name, size_bytes, time_ns in files:
        yield f"{place.lstrip('/')}/{package.name}/{name}", package / name, f"{size_bytes} {time_ns}"


def write_initramfs(image: Path, memory: Path, memory_bytes: int) -> tuple[int, int]:
    """Write an initramfs with the files of the image in ``image``, and what makes them a lab's, to the middle of a
    machine's memory; return its address and its size.

    QEMU would have the machine's firmware fetch it byte by byte, which takes half a minute.
    """
    with memory.open("wb") as file:
        file.truncate(memory_bytes)
        start = memory_bytes // 2 & -_PAGE_BYTES
        file.seek(start)
        archive = _Archive(file)
        for name in _EMPTY:
            archive.folder(name)
        archive.device("dev/kmsg", 1, 11)
        for name, mode, data in contents(image):
            if name.partition("/")[0] not in _EMPTY:
                archive.entry(name, mode, data)
        made: set[str] = set()
        for name, path, _ in guest_files():
            for parent in reversed(Path(name).parents):
                folder = parent.as_posix()
                if folder != "." and folder not in made:
                    archive.folder(folder)
                    made.add(folder)
            archive.file(name, 0o644, path.read_bytes())
        archive.file("init", 0o755, first_program().encode())
        archive.end()
        size = file.tell() - start
        if size + size * 100 // ROOT_PERCENT > memory_bytes:  # it is there twice until it is unpacked
            raise LabError("the lab image does not fit into a lab's memory: set LINKLAB_GUEST_MB to more")
        return start, size


def first_program() -> str:
    """Return the script that the kernel starts: the guest's Python, with nothing of the notebook's environment.

    What it prints goes to the kernel's log, which is the console.
    """
    environment = ENVIRONMENT | {"PYTHONPATH": f"{LIBRARY}:/usr/lib/python3/dist-packages"}
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    return f"#!/bin/sh\nexec env -i {settings} python3 -S -m linklab.guest.qemu_agent >/dev/kmsg 2>&1\n"


class _Archive:
    """A cpio archive of the kind "newc". All files are root's, and of no date."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._number = file, 0

    def folder(self, name: str) -> None:
        self.entry(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, mode: int, data: bytes) -> None:
        self.entry(name, stat.S_IFREG | mode, data)

    def device(self, name: str, major: int, minor: int) -> None:
        self.entry(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def end(self) -> None:
        self.entry(_TRAILER, 0, b"")
        self._file.write(bytes(-self._file.tell() % 512))

    def entry(self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> None:
        self._number += 1
        encoded = name.encode() + b"\0"
        fields = (self._number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self._file.write(header + bytes(-len(header) % 4))
        self._file.write(data)
        self._file.write(bytes(-len(data) % 4))
