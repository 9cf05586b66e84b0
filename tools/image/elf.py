"""A program's library without the further libraries that the image leaves out.

Debian's ffmpeg is linked with some 200 libraries, for codecs, screens and sound that no lab uses: three quarters of an
image. The dynamic linker starts no program while one of them is missing, so the names of the missing ones are taken out
of ffmpeg's own libraries. A function of theirs is then one that returns 0: when ffmpeg starts it asks some of them what
they can do, and when it opens a file whether it is of their kind. It works as ever, and ends with an error or a signal
where it is asked for a codec that the image leaves out.

The layout is that of "System V Application Binary Interface", chapters 4 and 5, and "Linux Standard Base Core",
chapter 10.7 (versions of symbols).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linklab.errors import LabError

_DYNSYM, _LOAD, _DYNAMIC = 11, 1, 2
_NULL, _NEEDED, _STRTAB, _SONAME, _VERSYM, _VERNEED, _VERNEEDNUM = 0, 1, 5, 14, 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
_WEAK, _ANY_VERSION = 2, 1
_SHARED = 3
_GLOBAL_FUNCTION, _HIDDEN = 1 << 4 | 2, 2
_EXECUTABLE, _CODE = 1, 4
_PAGE = 4096
_RETURN_0 = b"\x31\xc0\xc3"
"""``xor eax, eax; ret``"""


@dataclass
class _Library:
    """A shared library for x86-64 in memory, with what its dynamic section says."""

    data: bytearray

    def __post_init__(self) -> None:
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("it is no program for x86-64")
        programs, sections = struct.unpack_from("<QQ", self.data, 32)
        size, count, section_size, section_count = struct.unpack_from("<HHHH", self.data, 54)
        headers = [struct.unpack_from("<IIQQQQ", self.data, programs + number * size) for number in range(count)]
        self._loads: list[tuple[int, int, int]] = [
            (address, offset, length) for kind, _, offset, address, _, length in headers if kind == _LOAD
        ]
        self._code = [
            (programs + number * size, offset, address, length)
            for number, (kind, flags, offset, address, _, length) in enumerate(headers)
            if kind == _LOAD and flags & _EXECUTABLE
        ]
        self.dynamic_at, self.dynamic_size = next((each[2], each[5]) for each in headers if each[0] == _DYNAMIC)
        self.dynamic = dict(self.entries())
        rows = [struct.unpack_from("<IIQQQQ", self.data, sections + n * section_size) for n in range(section_count)]
        self._code_section = next(number for number, row in enumerate(rows) if row[2] & _CODE)
        self.symbols_at, self.symbols_size = next((row[4], row[5]) for row in rows if row[1] == _DYNSYM)

    def entries(self) -> Iterator[tuple[int, int]]:
        """Yield the dynamic section's tags with their values."""
        for at in range(self.dynamic_at, self.dynamic_at + self.dynamic_size, 16):
            tag, value = struct.unpack_from("<QQ", self.data, at)
            if tag == _NULL:
                return
            yield tag, value

    def offset(self, address: int) -> int:
        """Return where in the file this address of memory is."""
        return next(address - start + offset for start, offset, size in self._loads if start <= address < start + size)

    def text(self, index: int) -> str:
        """Return a name in the table of names."""
        start = self.offset(self.dynamic[_STRTAB]) + index
        return self.data[start : self.data.index(0, start)].decode()

    def needed(self) -> list[str]:
        """Return the libraries that it is linked with."""
        return [self.text(value) for tag, value in self.entries() if tag == _NEEDED]

    def exports(self) -> set[str]:
        """Return the names that it has for others."""
        return {name for at, name, section in self._symbols() if section and self.data[at + 5] & 3 != _HIDDEN}

    def _symbols(self) -> Iterator[tuple[int, str, int]]:
        """Yield where each symbol stands, its name, and the number of its section: 0 for one of another library."""
        for at in range(self.symbols_at + 24, self.symbols_at + self.symbols_size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", self.data, at)
            yield at, self.text(name), section

    def _add_code(self) -> tuple[int, int]:
        """Append a function that returns 0 to the code, where the file has room up to the next page; return a section
        of code, and the function's address.
        """
        at, offset, address, size = self._code[-1]
        end = offset + size
        if end % _PAGE + len(_RETURN_0) > _PAGE or any(self.data[end : end + len(_RETURN_0)]):
            raise ValueError("there is no room for a function behind its code")
        self.data[end : end + len(_RETURN_0)] = _RETURN_0
        struct.pack_into("<QQ", self.data, at + 32, size + len(_RETURN_0), size + len(_RETURN_0))
        return self._code_section, address + size

    def drop(self, names: set[str], provided: set[str]) -> None:
        """Take these libraries out, the versions of their symbols, and the duty to find what is undefined.

        What is not ``provided`` by others becomes a function of this library's that returns 0. It is hidden, and a
        hidden symbol is never looked up.
        """
        entries = [(tag, value) for tag, value in self.entries() if tag != _NEEDED or self.text(value) not in names]
        lost, versions = self._drop_versions(names)
        entries = [(tag, versions.get(tag, value)) for tag, value in entries]
        entries += [(_NULL, 0)] * (self.dynamic_size // 16 - len(entries))
        for number, entry in enumerate(entries):
            struct.pack_into("<QQ", self.data, self.dynamic_at + number * 16, *entry)
        code, address = self._add_code()
        for number, (at, name, section) in enumerate(self._symbols(), 1):
            info = self.data[at + 4]
            if section == 0 and name not in provided and info >> 4 != _WEAK:
                struct.pack_into("<BBHQ", self.data, at + 4, _GLOBAL_FUNCTION, _HIDDEN, code, address)
            if _VERSYM in self.dynamic:
                version_at = self.offset(self.dynamic[_VERSYM]) + number * 2
                if struct.unpack_from("<H", self.data, version_at)[0] & 0x7FFF in lost:
                    struct.pack_into("<H", self.data, version_at, _ANY_VERSION)

    def _drop_versions(self, names: set[str]) -> tuple[set[int], dict[int, int]]:
        """Unlink what is needed of these libraries' versions; return their numbers, and tags with new values."""
        lost: set[int] = set()
        if _VERNEED not in self.dynamic:
            return lost, {}
        start = self.dynamic[_VERNEED]
        kept: list[int] = []
        address = start
        while True:
            at = self.offset(address)
            _, count, file, aux, following = struct.unpack_from("<HHIII", self.data, at)
            if self.text(file) in names:
                for _ in range(count):
                    number, step = struct.unpack_from("<H4xI", self.data, at + aux + 6)
                    lost.add(number)
                    aux += step
            else:
                kept.append(address)
            if not following:
                break
            address += following
        if not kept:
            raise ValueError("it would need nothing any more")
        for here, there in zip(kept, [*kept[1:], None], strict=True):
            struct.pack_into("<I", self.data, self.offset(here) + 12, there - here if there is not None else 0)
        return lost, {_VERNEED: kept[0], _VERNEEDNUM: len(kept)}


def own_name(data: bytes) -> str | None:
    """Return the name that a library calls itself; empty where it has none, and None for what is no library."""
    try:
        library = _Library(bytearray(data))
        if struct.unpack_from("<H", data, 16)[0] != _SHARED:
            return None
        return next((library.text(value) for tag, value in library.entries() if tag == _SONAME), "")
    except (ValueError, StopIteration, struct.error, KeyError):
        return None


def drop_missing(name: str, data: bytes, find: Callable[[str], bytes | None]) -> bytes:
    """Return a library without those that ``find`` does not find. Raises `LabError` for another file, and one that
    cannot do without.
    """
    library = _read(name, data)
    there = {needed: find(needed) for needed in library.needed()}
    missing = [needed for needed, content in there.items() if content is None]
    if missing:
        found = {needed: content for needed, content in there.items() if content is not None}
        provided = {exported for needed, content in found.items() for exported in _read(needed, content).exports()}
        try:
            library.drop(set(missing), provided)
        except (ValueError, struct.error) as error:
            raise LabError(f"{name} cannot do without {', '.join(missing)} ({error}): mend packages.txt") from error
    return bytes(library.data)


def _read(name: str, data: bytes) -> _Library:
    try:
        return _Library(bytearray(data))
    except (ValueError, StopIteration, struct.error, KeyError) as error:
        raise LabError(f"{name} is no library that can be read ({error or 'damaged'})") from error
