"""The files of an image while it is put together, in memory.

No program of the image's is run for them and no file system is asked, so they are the same on every computer: also
where names that differ in capitals alone are one name, and where links cannot be made.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.image.tree import MOMENT, ROOT

MERGED = ("bin", "sbin", "lib", "lib64")
"""Folders of ``/`` that are links to those of ``/usr``."""
_LINKS_AT_MOST = 40


@dataclass
class File:
    """A file's bytes, and whether it is a program."""

    data: bytes
    executable: bool = False


class Contents(dict[str, File | str | None]):
    """Files by their path below the root: a `File`, a text for what a symbolic link leads to, None for a folder."""

    def __init__(self) -> None:
        """Make a root with nothing but the links of `MERGED`."""
        super().__init__()
        for name in MERGED:
            self.folder(f"usr/{name}")
            self[name] = f"usr/{name}"

    def real(self, name: str) -> str:
        """Return a path without links on its way. Raises `LabError` where they lead in a circle."""
        waiting, real, links = name.split("/"), "", 0
        while waiting:
            part = waiting.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                real = real.rpartition("/")[0]
                continue
            here = f"{real}/{part}".lstrip("/")
            target = self.get(here)
            if isinstance(target, str):
                links += 1
                if links > _LINKS_AT_MOST:
                    raise LabError(f"the links of {name} lead in a circle: a package is damaged")
                real = "" if target.startswith("/") else real
                waiting = target.split("/") + waiting
            else:
                real = here
        return real

    def has(self, name: str) -> bool:
        """Return True where a path, with all its links followed, leads to a file or a folder."""
        real = self.real(name)
        return real == "" or real in self

    def file(self, name: str) -> File | None:
        """Return the file that a path leads to, or None where it leads to none."""
        found = self.get(self.real(name))
        return found if isinstance(found, File) else None

    def folder(self, name: str) -> str:
        """Make a folder and those that it lies in; return its path without links. Raises `LabError` where a file is."""
        real = self.real(name)
        parts = real.split("/") if real else []
        for count in range(1, len(parts) + 1):
            if self.setdefault("/".join(parts[:count])) is not None:
                raise LabError(f"a package holds {name}, which is a file in another: it is damaged")
        return real

    def put(self, name: str, entry: File | str | None) -> None:
        """Put a file, a link or a folder (None) into its place; it replaces a file or a link.

        Raises `LabError` for a name that leads out of the root, and for a file where a folder lies or the other way
        round.
        """
        if name.startswith("/") or ".." in name.split("/"):
            raise LabError(f"a package holds {name}, which leads out of the image: it is damaged")
        if entry is None:
            self.folder(name)
            return
        above, _, leaf = name.rpartition("/")
        path = f"{self.folder(above)}/{leaf}".lstrip("/")
        if path in self and self[path] is None:
            raise LabError(f"a package holds {name}, which is a folder in another: it is damaged")
        self[path] = entry

    def text(self, name: str, text: str) -> None:
        """Put a text file into its place."""
        self.put(name, File(text.encode()))

    def take(self, archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, target: str | None = None) -> None:
        """Put one member of an archive into its place, without owner, setuid or device. ``target``: where the file lies
        that a hard link is another name of. Raises `LabError` as `put`, and where that file is missing.
        """
        if member.isdir():
            self.put(name, None)
        elif member.issym():
            self.put(name, member.linkname)
        elif member.isreg():
            content = archive.extractfile(member)
            assert content is not None
            self.put(name, File(content.read(), bool(member.mode & 0o111)))
        elif member.islnk():
            found = self.get(target or "")
            if not isinstance(found, File):
                raise LabError(f"a package holds {name}, which links to {target}, which it lacks: it is damaged")
            self.put(name, found)

    def merge(self, other: Contents) -> None:
        """Put all that another has into its place here. Raises `LabError` as `put`."""
        for name, entry in other.items():
            self.put(name, entry)

    def below(self, folder: str) -> list[str]:
        """Return the paths of all that lies in a folder and in those in it, in order."""
        return sorted(path for path in self if path.startswith(f"{folder}/"))

    def remove(self, name: str) -> None:
        """Remove a file, a link, or a folder with all that lies in it; what is not there may be removed too."""
        for path in [name, *self.below(name)]:
            self.pop(path, None)

    def write(self, root: Path) -> None:
        """Write all of it as a folder."""
        root.mkdir()
        for name in sorted(self):
            path, entry = root / name, self[name]
            if entry is None:
                path.mkdir()
            elif isinstance(entry, str):
                path.symlink_to(entry)
            else:
                path.write_bytes(entry.data)
                path.chmod(0o755 if entry.executable else 0o644)

    def write_archive(self, path: Path) -> None:
        """Write all of it as an archive, for computers whose folders cannot hold it."""
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(self, key=lambda name: name.split("/")):
                member, entry = tarfile.TarInfo(f"{ROOT}/{name}"), self[name]
                member.mtime, member.mode, data = MOMENT, 0o644, b""
                if entry is None:
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                elif isinstance(entry, str):
                    member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, entry
                else:
                    data, member.mode = entry.data, 0o755 if entry.executable else 0o644
                member.size = len(data)
                archive.addfile(member, BytesIO(data))
