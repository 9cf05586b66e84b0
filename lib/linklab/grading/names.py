"""Makes names that others chose into text for people, and into names of files."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 120
_PLAIN: Final = re.compile(r"[^\w.-]+")


def cleaned(name: str, longest: int = _LONGEST) -> str:
    """Return a name in one line for people.

    What cannot be printed (escape sequences, line ends, directions) is replaced, and blanks of other widths become
    plain ones.
    """
    shown = "".join(letter if letter.isprintable() else _in_place_of(letter) for letter in name).strip()
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def cleaned_lines(text: str, longest: int) -> str:
    """Return text for people, each of its lines as `cleaned` returns it."""
    return "\n".join(cleaned(line, longest) for line in text.splitlines())


def _in_place_of(letter: str) -> str:
    return " " if unicodedata.category(letter) == "Zs" else "\ufffd"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names in a line, and how many more there are."""
    all_of_them = list(names)
    more = len(all_of_them) - most
    return ", ".join(all_of_them[:most]) + (f" and {more} more" if more > 0 else "")


def folder_of(student: str) -> str:
    """Return the name of a student's folder: plain characters, and no two students' alike, even where case is lost.

    An id has the same name in each run. A name that differs from its id carries a part of the id's digest.
    """
    plain = _PLAIN.sub("_", student.encode(errors="replace").decode()).strip("._-")[:60]
    digest = hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest()[:8]
    return plain if plain and plain == student == plain.casefold() else f"{plain or 'student'}-{digest}"
