"""Read settings for all commands and notebooks from the environment, or from a file ``linklab.toml``.

The setting ``hints`` is the variable ``LINKLAB_HINTS``, or ``hints = 2`` in the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.files import config_folder, present_folder

FILE: Final = "linklab.toml"
NAMES: Final = ("hints", "image")
"""All settings there are."""


@dataclass(frozen=True)
class Setting:
    """A value that was set: a text from the environment, what TOML makes of it from a file.

    ``source`` names the variable or the file, for messages. Paths in the value are relative to ``folder``.
    """

    value: Any
    source: str
    folder: Path


def setting(name: str, look_in: Path | None = None) -> Setting | None:
    """Return the value that is set under ``name``, or None where nobody has set it.

    The environment wins, where an empty text is a value too; then the file in ``look_in`` (else the present folder);
    then the files in the folders above it, the nearest first; then the file in the user's configuration folder. A file
    counts only if it belongs to this process's user or to root. Raises LinklabError for a file that cannot be read, is
    no TOML, or sets what is no setting.
    """
    variable = f"LINKLAB_{name.upper()}"
    if variable in os.environ:
        return Setting(os.environ[variable], variable, present_folder() or Path("/"))
    for path in _files(look_in.resolve() if look_in is not None else present_folder()):
        values = _read(path)
        if name in values:
            return Setting(values[name], str(path), path.parent)
    return None


def image(look_in: Path | None = None) -> str:
    """Return the setting ``image``, which names the lab image, with a path made absolute; empty where it is not set.

    Raises LinklabError as `setting`, and for a value that is no text.
    """
    told = setting("image", look_in)
    if told is None:
        return ""
    if not isinstance(told.value, str):
        raise LinklabError(f"{told.source} says image = {told.value!r}: write a path in quotes")
    try:
        return str(told.folder / Path(told.value).expanduser()) if told.value else ""
    except RuntimeError:
        raise LinklabError(
            f"{told.source} says image = {told.value!r}, a user's home that does not exist: name it in full"
        ) from None


def hand_on_image(root: Path | None = None) -> None:
    """Name the lab image in this process's environment, so that what it starts finds the same one in any folder.

    With a kit's ``root`` it is that kit's, whatever lies in the present folder. Raises LinklabError as `image`.
    """
    if (found := image(root)) or root is not None:
        os.environ["LINKLAB_IMAGE"] = found


def number(name: str, look_in: Path | None = None) -> int | None:
    """Return a setting that is a whole number above 0, or None where nobody has set it.

    Raises LinklabError for another value, and as `setting`.
    """
    told = setting(name, look_in)
    text = str(told.value) if told is not None else ""
    if told is None or not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise LinklabError(f"{told.source} says {name} = {told.value!r}: write a whole number above 0")
    return int(text)


def _files(nearest: Path | None) -> Iterator[Path]:
    folders = (nearest, *nearest.parents) if nearest is not None else ()
    return filter(_counts, (folder / FILE for folder in (*folders, config_folder())))


def _counts(path: Path) -> bool:
    """Return whether the file exists and is this user's or root's: a stranger's in /tmp must not name code that is
    run."""
    try:
        return path.is_file() and path.lstat().st_uid in (os.geteuid(), 0)
    except OSError:
        return False


def _read(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LinklabError(f"{path} cannot be read ({error.strerror}): make it readable, or remove it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LinklabError(f"{path} is no TOML ({error}): write lines as hints = 2") from None
    unknown = sorted(set(values) - set(NAMES))
    if unknown:
        raise LinklabError(f"{path} sets {unknown[0]}, which is no setting: the settings are {', '.join(NAMES)}")
    return values
