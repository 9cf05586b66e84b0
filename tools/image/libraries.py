"""Which libraries there are: ``/etc/ld.so.cache`` as glibc's ldconfig writes it, and the links that it makes.

Without the cache programs look into a folder for each kind of processor first. How many that are depends on the
computer's, and each takes time by the clock of a lab. The format is that of glibc 2.41 (``elf/cache.c``,
``elf/stringtable.c``, ``sysdeps/generic/dl-cache.h``), for x86-64 and without libraries for some processors alone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from linklab.errors import LabError
from tools.image import elf
from tools.image.contents import Contents, File

CACHE = "etc/ld.so.cache"
CONFIG = "etc/ld.so.conf"
PROGRAM = "usr/sbin/ldconfig"
_BUILT_IN = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib")
_MAGIC, _LITTLE_ENDIAN = b"glibc-ld.so.cache1.1", 2
_LIBC6_X86_64 = 0x0303
_HEADER, _ENTRY = struct.Struct("<20sIIB3xI12x"), struct.Struct("<iIIIQ")
_EXTENSION, _EXTENSION_MAGIC, _GENERATOR = struct.Struct("<IIIIII"), 0xEAA42174, 0
_GENERATED_BY = re.compile(rb"ldconfig \([^)\0]+\) [a-z]+ release version [0-9.]+")
_NAME = re.compile(r"^(lib|ld-).*\.so|^ld\.so")


def list_libraries(contents: Contents) -> None:
    """Do what ``ldconfig`` does, which is removed: write the cache, and link names that libraries call themselves.

    Raises `LabError` where there is no ldconfig, whose version the cache tells.
    """
    program = contents.file(PROGRAM)
    generator = _GENERATED_BY.search(program.data) if program is not None else None
    if generator is None:
        raise LabError(f"the packages of the lab image hold no {PROGRAM} that is known: mend libraries.py")
    found: list[tuple[str, str]] = []  # a library's own name, and its path, in the cache's order
    known: set[str] = set()
    for folder in [*_configured(contents), *_BUILT_IN]:
        if (real := contents.real(folder)) not in known and contents.get(real, "") is None:
            known.add(real)
            found += [(name, f"{folder}/{name}") for name in _in_folder(contents, real)]
    found.sort(key=lambda item: _order(item[0]), reverse=True)
    contents.put(CACHE, File(_packed(found, generator[0])))
    contents.remove(PROGRAM)


def _configured(contents: Contents) -> list[str]:
    file = contents.file(CONFIG)
    lines = file.data.decode().splitlines() if file is not None else []
    return [line.rstrip("/") for line in lines if line.startswith("/")]


def _in_folder(contents: Contents, folder: str) -> Iterator[str]:
    """Yield the names that libraries in a folder call themselves, and link those to the files that lack them."""
    chosen: dict[str, tuple[str, bool]] = {}
    for path in contents.below(folder):
        name = path.removeprefix(f"{folder}/")
        if "/" in name or not _NAME.match(name) or contents[path] is None:
            continue
        file = contents.file(path)
        own = elf.own_name(file.data) if file is not None else None
        if own is None:
            continue
        own = own or name
        is_link = isinstance(contents[path], str)
        if is_link and (own == name or (name.endswith(".so") and own.startswith(name))):
            own = name
        elif is_link:
            is_link = False
        before = chosen.get(own)
        newer = before is None or (before[1] and not is_link)
        if newer or (before is not None and before[1] == is_link and _order(before[0]) < _order(name)):
            chosen[own] = (name, is_link)
    for own, (name, is_link) in chosen.items():
        if not is_link and contents.file(f"{folder}/{own}") is not contents.file(f"{folder}/{name}"):
            contents.put(f"{folder}/{own}", name)
    yield from chosen


def _order(name: str) -> list[tuple[int, int]]:
    """Return what to sort names by: numbers in them count as numbers, and come after all other letters."""
    parts = re.findall(r"\d+|\D", name)
    return [(1, int(part)) if part.isdigit() else (0, ord(part)) for part in parts]


def _packed(found: list[tuple[str, str]], generator: bytes) -> bytes:
    """Return the cache of libraries: each with its own name, and its path."""
    start = _HEADER.size + _ENTRY.size * len(found)
    strings, places = _strings({text for pair in found for text in pair})
    entries = [_ENTRY.pack(_LIBC6_X86_64, start + places[name], start + places[path], 0, 0) for name, path in found]
    extension = -(-(start + len(strings)) // 4) * 4
    content = _HEADER.pack(_MAGIC, len(found), len(strings), _LITTLE_ENDIAN, extension) + b"".join(entries) + strings
    content = content.ljust(extension, b"\0")
    at = extension + _EXTENSION.size
    return content + _EXTENSION.pack(_EXTENSION_MAGIC, 1, _GENERATOR, 0, at, len(generator)) + generator


def _strings(texts: set[str]) -> tuple[bytes, dict[str, int]]:
    """Return texts with an end each, and where each begins: one that another ends with lies in that one."""
    places: dict[str, int] = {}
    content, before = bytearray(), ""
    for text in sorted(texts, key=lambda text: text[::-1], reverse=True):
        if before.endswith(text):
            places[text] = places[before] + len(before) - len(text)
        else:
            places[text] = len(content)
            content += text.encode() + b"\0"
        before = text
    return bytes(content), places
