"""Lay labs, an installed Linklab's or released ones, into a student's folder, and renew them there.

No work of a student is lost. A hidden file in the folder has the checksum of each file as it was laid down. A newer
file replaces one that still has that checksum. A file that the student has changed stays, and the newer one is laid
beside it under a name with Linklab's version. A file that the student has removed is laid down again: whoever wants to
begin a notebook anew removes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from linklab import __version__
from linklab.errors import LabError
from linklab.files import write_whole

CARRIED: Final = Path(__file__).parent / "carried" / "labs"
"""In a wheel alone; a clone has ``labs/``."""
FOLDER: Final = "linklab-labs"
"""The folder that labs go into, below the present one, unless the user names another."""
RECORD: Final = ".linklab-labs.json"


@dataclass
class Laid:
    """What `lay` did, by the files' names: new ones, those that were replaced, and for those that the student has
    changed the name under which the newer one was laid beside.
    """

    new: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)

    def lines(self, folder: Path) -> list[str]:
        """Return it in words, one line for each thing to know; none where nothing was done."""
        lines = []
        if self.new:
            lines.append(f"{_files(len(self.new))} laid into {folder}")
        if self.renewed:
            lines.append(f"{_files(len(self.renewed))} in {folder} renewed, which you had not changed")
        for name, other in self.beside.items():
            lines.append(f"{name} has your changes and stays; that of Linklab {__version__} is {other}")
        return lines


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def carried() -> dict[str, bytes]:
    """Return the files that this Linklab carries, by name; none in a clone."""
    # pip compiles what ends with .py, into a folder there
    files = (path for path in sorted(CARRIED.iterdir()) if path.is_file()) if CARRIED.is_dir() else ()
    return {path.name: path.read_bytes() for path in files}


def folder_for(named: Path | None) -> tuple[Path, bool]:
    """Return which folder of labs to open, and whether to lay down there what this Linklab carries.

    ``named`` is what the command says. A folder that is neither empty nor ours is left as it is.
    """
    if not CARRIED.is_dir():
        return named or (Path("labs") if Path("labs").is_dir() else Path()), False
    folder = named or (Path() if Path(RECORD).is_file() else Path(FOLDER))
    ours = named is None or (folder / RECORD).is_file() or not folder.exists() or not any(folder.iterdir())
    return folder, ours


def lay(folder: Path, files: Mapping[str, bytes]) -> Laid:
    """Lay files, by their paths, into a folder, which is made for its owner alone where it is missing; return what was
    done.

    Raises `LabError` where the folder cannot be made or written, or the record there is damaged.
    """
    laid = Laid()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = _read_record(folder / RECORD)
        for name, data in files.items():
            _lay_one(folder, name, data, before.get(name), laid)
        record = {name: _sum(data) for name, data in files.items()}
        if record != before:
            write_whole(folder / RECORD, json.dumps({"files": record}, indent=1).encode() + b"\n")
    except OSError as error:
        raise LabError(
            f"the labs cannot be laid into {folder} ({error.strerror}): name another folder with --folder"
        ) from error
    return laid


def _lay_one(folder: Path, name: str, data: bytes, before: str | None, laid: Laid) -> None:
    """Lay down one file. ``before`` is the checksum of the one that was laid, or offered, last."""
    path = folder / name
    if not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        laid.new.append(name)
        return
    now = _sum(path.read_bytes()) if path.is_file() and not path.is_symlink() else "no file of ours"
    if now == _sum(data) or before == _sum(data):
        return
    if now == before:
        write_whole(path, data)
        laid.renewed.append(name)
        return
    other = _name_beside(folder, name, data)
    write_whole(folder / other, data)
    laid.beside[name] = other


def _name_beside(folder: Path, name: str, data: bytes) -> str:
    """Return ``NAME-VERSION.SUFFIX``, with a number where that is another file already."""
    stem, suffix = name.removesuffix(Path(name).suffix), Path(name).suffix
    number = 1
    while True:
        other = f"{stem}-{__version__}{f'-{number}' if number > 1 else ''}{suffix}"
        path = folder / other
        if not os.path.lexists(path) or (path.is_file() and path.read_bytes() == data):
            return other
        number += 1


def _read_record(path: Path) -> dict[str, str]:
    try:
        files = json.loads(path.read_text("utf-8"))["files"]
        if not isinstance(files, dict):
            raise ValueError
        return files
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} is damaged: remove it (files that you have changed stay as they are)") from error


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
