"""What somebody sets for all commands and notebooks: in the environment, or in a file ``linklab.toml``.

The setting ``labs_path`` is the variable ``LINKLAB_LABS_PATH``, or ``labs_path = ["../my-labs"]`` in the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from platformdirs import user_config_path

from linklab.errors import LinklabError

FILE: Final = "linklab.toml"
NAMES: Final = ("labs_path", "hints")
"""All settings there are."""


@dataclass(frozen=True)
class Setting:
    """A value that was set: a text from the environment, what TOML makes of it from a file.

    ``source`` names the variable or the file, for messages. Paths in the value are relative to ``folder``.
    """

    value: Any
    source: str
    folder: Path


def setting(name: str) -> Setting | None:
    """Return the value that is set under ``name``, or None where nobody has set it.

    The environment wins, where an empty text is a value too; then the file in the present folder; then the files in
    the folders above it, the nearest first, if they belong to the owner of the present folder; then the file in the
    user's configuration folder. Raises LinklabError for a file that is no TOML or sets what is no setting.
    """
    variable = f"LINKLAB_{name.upper()}"
    if variable in os.environ:
        return Setting(os.environ[variable], variable, Path.cwd())
    for path in _files():
        values = _read(path)
        if name in values:
            return Setting(values[name], str(path), path.parent)
    return None


def number(name: str) -> int | None:
    """Return a setting that is a whole number above 0, or None where nobody has set it.

    Raises LinklabError for another value, and as `setting`.
    """
    told = setting(name)
    text = str(told.value) if told is not None else ""
    if told is None or not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise LinklabError(f"{told.source} says {name} = {told.value!r}: write a whole number above 0")
    return int(text)


def _files() -> Iterator[Path]:
    here = Path.cwd()
    owner = here.stat().st_uid
    for folder in (here, *here.parents):
        path = folder / FILE
        # a file that somebody else has put into /tmp must not name code that is run
        if path.is_file() and (folder == here or path.stat().st_uid == owner):
            yield path
    path = user_config_path("linklab") / FILE
    if path.is_file():
        yield path


def _read(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LinklabError(f"{path} is no TOML ({error}): write lines as hints = 2") from None
    unknown = sorted(set(values) - set(NAMES))
    if unknown:
        raise LinklabError(f"{path} sets {unknown[0]}, which is no setting: the settings are {', '.join(NAMES)}")
    return values
