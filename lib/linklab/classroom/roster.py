"""Who is in the class, and the secret that the students' networks are derived from."""

from __future__ import annotations

import codecs
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.network import Network
from linklab.network.variants import SHORTEST_SECRET_BYTES, normalised, variants

TWO_OF_ONE_NAME: Final = "write `ID = NUMBER` with the platform's number of each, as in `kim.lee.2 = 12345`"
_LONGEST_BYTES: Final = 100
_MAKE: Final = "make one with `head -c 32 /dev/urandom | base64 > FILE`, and keep it until the course is graded"


def read_students(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the students' ids in a file, one a line, without empty lines and those that begin with ``#``.

    Behind an id and ``=`` may stand other names and numbers by which downloads know the student, with commas between
    them: two people of one name are told apart so. An id becomes the name of a folder. Raises LinklabError, with the
    line, for one that cannot, for what stands for two students, and for a file that holds none or cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    owners: dict[str, str] = {}
    for number, row in enumerate(_text(_read(path, "the list of students")).splitlines(), 1):
        student, _, others = (each.strip() for each in row.partition("="))
        if not row.strip() or student.startswith("#"):
            continue
        found[student] = tuple(name for each in others.split(",") if (name := each.strip()))
        for name in (student, *found[student]):
            if (trouble := trouble_with(name)) is not None:
                raise LinklabError(f"{path}, line {number}: {name!r} {trouble}")
            if normalised(name) in owners:
                raise LinklabError(
                    f"{path}, line {number}: {name!r} lists somebody twice, who is {owners[normalised(name)]!r} above "
                    f"(blanks and case do not count); two people of one name need an id each: {TWO_OF_ONE_NAME}"
                )
            owners[normalised(name)] = student
    if not found:
        raise LinklabError(f"{path} lists no student: write one id a line")
    return found


def _text(data: bytes) -> str:
    """Return a list's text; Windows' programs save it in UTF-16, with a mark at its beginning."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return data.decode("utf-16" if data.startswith(marks) else "utf-8-sig", errors="replace")


def trouble_with(student: str) -> str | None:
    """Return why an id cannot be the name of a folder; None if it can."""
    if not student:
        return "is no id: write one before the ="
    if student in (".", "..") or student.startswith((".", "-")):
        return "begins with a dot or a hyphen: choose another id"
    if re.search(r";|\t|,(?! )", student):
        return "looks like columns of a table: write one id a line, and nothing else"
    if "\ufffd" in student or "\0" in student:
        return "holds what is no text in UTF-8: save the list as UTF-8"
    if "/" in student or "\\" in student or not student.isprintable():
        return "holds a slash, or what cannot be printed: choose another id"
    if len(student.encode()) > _LONGEST_BYTES:
        return f"has more than {_LONGEST_BYTES} bytes: choose a shorter id"
    return None


def read_secret(path: Path) -> bytes:
    """Return the course secret in a file, without blanks and line ends around it.

    Says on standard error if others on this machine may read it, and if an editor has put a byte order mark before it,
    with which it gives other networks. Raises LinklabError for a file that cannot be read, or holds less than 16 bytes.
    """
    if not path.exists():
        raise LinklabError(f"there is no course secret {path}: {_MAKE}")
    secret = _read(path, "the course secret").strip()
    if secret.startswith(codecs.BOM_UTF8):
        print(f"linklab: {path} begins with a byte order mark, which an editor put there: it counts", file=sys.stderr)
    if len(secret) < SHORTEST_SECRET_BYTES:
        raise LinklabError(f"{path} holds {len(secret)} bytes, and {SHORTEST_SECRET_BYTES} is the least: {_MAKE}")
    if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        print(f"linklab: others on this machine may read {path}: chmod 600 {path}", file=sys.stderr)
    return secret


def networks_of(students: Path, secret: Path) -> Mapping[str, Network]:
    """Return each student's network, by id, in the list's order.

    Raises LinklabError as the two readers do, and NetworkError where two students would have one network.
    """
    return variants(read_students(students), read_secret(secret))


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LinklabError(f"{path}, {what}, cannot be read: {error.strerror}") from None
