"""Debian's packages for an image: which ones, pinned by their checksums, fetched from an archive, and read.

``packages.txt`` says what is wanted and what is left out, ``packages.lock`` what that comes to: one a line, with its
version, its path in the archive, its size in bytes and its SHA-256. Nothing of the machine's own dpkg is used. What the
archive has no longer Debian's snapshot archive has, which keeps all there ever was.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import IO, NamedTuple

from linklab.errors import LabError
from tools.image.download import download


class Release(NamedTuple):
    """A release of Debian."""

    name: str
    number: str


RELEASE, BEFORE = Release("trixie", "13"), Release("bookworm", "12")
LOCK = "packages.lock"
_OLDER, _LEFT_OUT = f"== of Debian {BEFORE.number} ==", "== left out =="
_HEAD = (
    "# Made by `python -m tools.image lock` from packages.txt: name, version, path, size in bytes, SHA-256.\n"
    "# On {:%Y%m%dT%H%M%SZ}: the moment by which Debian's snapshot archive is asked.\n"
)
_KEYRINGS = tuple(
    Path("/usr/share/keyrings", name) for name in ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
)
_SNAPSHOT = "http://snapshot.debian.org/archive/debian"
_SOURCES = Path("/etc/apt/sources.list")
_ARCHIVE = re.compile(
    r"^(?:deb\s(?:\[[^]]*\]\s*)?|URIs:).*?\b((?:https?://|file:///)\S+/debian)/?(?=\s|$)", re.MULTILINE
)
_SET_ARCHIVE = "set LINKLAB_DEBIAN to the address of a mirror of Debian (the folder with dists and pool in it)"


@dataclass(frozen=True)
class Package:
    """One version of a package: ``path`` is below the archive's address, ``size`` in bytes."""

    name: str
    version: str
    path: str
    size: int
    sha256: str


class Gone(Exception):
    """The archive no longer has this version of a package."""


@dataclass(frozen=True)
class Wanted:
    """What ``packages.txt`` says: the packages, those of them that are of the release before, and those left out."""

    names: list[str]
    older: list[str]
    left_out: set[str]


def wanted(text: str | None = None) -> Wanted:
    """Return what ``packages.txt`` says."""
    text = text if text is not None else files(__package__).joinpath("packages.txt").read_text("utf-8")
    above, _, below = text.partition(_LEFT_OUT)
    above, _, older = above.partition(_OLDER)

    def names(part: str) -> list[str]:
        return [line.split()[0] for line in part.splitlines() if line.strip() and not line.startswith("#")]

    return Wanted(names(above) + names(older), names(older), set(names(below)))


def lock_text() -> str:
    """Return ``packages.lock``."""
    return files(__package__).joinpath(LOCK).read_text("utf-8")


def pinned(text: str | None = None) -> list[Package]:
    """Return the packages of ``packages.lock``. Raises `LabError` where that is damaged."""
    found = []
    for line in (lock_text() if text is None else text).splitlines():
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if len(words) != 5 or not words[3].isdigit() or not re.fullmatch("[0-9a-f]{64}", words[4]):
            raise LabError(f"packages.lock is damaged ({line}): install Linklab again")
        found.append(Package(words[0], words[1], words[2], int(words[3]), words[4]))
    return found


def write_lock(packages: Sequence[Package], path: Path) -> None:
    """Write packages as a ``packages.lock``."""
    lines = [" ".join(map(str, astuple(package))) + "\n" for package in sorted(packages, key=lambda each: each.name)]
    path.write_text(_HEAD.format(datetime.now(UTC)) + "".join(lines), "utf-8")


def archive() -> str | None:
    """Return the address of a Debian archive: ``LINKLAB_DEBIAN``, or else that of this machine's apt, or None.

    Raises `LabError` for what is no address.
    """
    if named := os.environ.get("LINKLAB_DEBIAN"):
        if not re.match(r"(https?|file)://", named):
            raise LabError(f"LINKLAB_DEBIAN is {named}, which is no address: {_SET_ARCHIVE}")
        return named.rstrip("/")
    for path in [_SOURCES, *sorted(_SOURCES.with_suffix(".list.d").glob("*"))]:
        if path.is_file() and (found := _ARCHIVE.search(path.read_text("utf-8", "replace"))):
            return found[1]
    return None


def newest_archive() -> str:
    """Return the address of an archive that has the newest packages. Raises `LabError` where none is known."""
    if (address := archive()) is None:
        raise LabError(f"this machine's apt knows no archive of Debian: {_SET_ARCHIVE}")
    return address


def snapshot(text: str | None = None) -> str:
    """Return the address of the archive as it was when ``packages.lock`` was made."""
    dated = re.search(r"^# On (\d{8}T\d{6}Z)", lock_text() if text is None else text, re.MULTILINE)
    place = os.environ.get("LINKLAB_DEBIAN_SNAPSHOT", _SNAPSHOT).rstrip("/")
    return f"{place}/{dated[1]}" if dated else place


def fetch(package: Package, bases: Sequence[str], on_bytes: Callable[[int], None] = lambda count: None) -> bytes:
    """Return a package's file out of the first of these archives that has it.

    ``on_bytes`` hears how many bytes have come, again and again. Raises `Gone` where none has it, and `LabError` where
    nothing comes or something else does.
    """
    for base in bases:
        try:
            return download(f"{base}/{package.path}", package.sha256, on_bytes)
        except FileNotFoundError:
            pass
        except LabError:
            if base is bases[0]:
                raise
            break  # it is the archive of what is gone, and it does not answer
    raise Gone(f"no archive has {package.name} {package.version}")


@dataclass(frozen=True)
class Index:
    """What the archive's newest list of a release says of all packages: their fields by name."""

    packages: dict[str, dict[str, str]]
    release: Release = RELEASE

    def latest(self, name: str) -> Package:
        """Return the newest version of a package. Raises `LabError` where there is none."""
        fields = self.packages.get(name)
        if fields is None:
            raise LabError(
                f"Debian {self.release.number} has no package {name}: "
                "run python -m tools.image lock with a corrected packages.txt"
            )
        return Package(name, fields["Version"], fields["Filename"], int(fields["Size"]), fields["SHA256"])

    def resolve(self, wanted: Wanted) -> list[Package]:
        """Return the wanted packages and all that they depend on, without those that are left out and what only they
        need.

        The first of several alternatives counts, unless one is there already. Raises `LabError` where nobody has one.
        """
        providers: dict[str, list[str]] = {}
        for name, fields in self.packages.items():
            for provided in _dependencies(fields.get("Provides", "")):
                providers.setdefault(provided[0], []).append(name)
        found: dict[str, Package] = {}
        waiting = list(wanted.names)
        while waiting:
            name = waiting.pop(0)
            if name in found or name in wanted.left_out:
                continue
            found[name] = self.latest(name)
            fields = self.packages[name]
            for alternatives in _dependencies(f"{fields.get('Pre-Depends', '')},{fields.get('Depends', '')}"):
                real = [
                    each
                    for alternative in alternatives
                    for each in ([alternative] if alternative in self.packages else providers.get(alternative, []))
                ]
                if not real:
                    raise LabError(
                        f"{name} needs {' or '.join(alternatives)}, which Debian {self.release.number} does not have"
                    )
                settled = [each for each in real if each in found or each in wanted.left_out or each in wanted.names]
                waiting.append((settled or real)[0])
        return sorted(found.values(), key=lambda package: package.name)


def _dependencies(field: str) -> list[list[str]]:
    """Return the names in a field like ``Depends``, with the alternatives of each."""
    groups = [[re.sub(r"[:(\[].*", "", name).strip() for name in group.split("|")] for group in field.split(",")]
    return [names for names in groups if names[0]]


def read_index(text: str) -> Index:
    """Read an archive's list of packages; of several versions of one package the first counts."""
    packages: dict[str, dict[str, str]] = {}
    for stanza in text.split("\n\n"):
        fields = read_fields(stanza)
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
    return Index(packages)


def read_fields(text: str) -> dict[str, str]:
    """Return the fields of a description of a package, each with its first line."""
    return dict(re.findall(r"^([A-Za-z0-9-]+): *(.*)$", text, re.MULTILINE))


def fetch_index(base: str, folder: Path) -> Index:
    """Fetch the newest list of Debian's packages by apt, with lists of its own in ``folder``; apt checks the signature.
    Those that ``packages.txt`` wants of the release before are listed as that has them.

    Raises `LabError` where this machine has no apt or no key of Debian, the archive does not answer, or the release
    before lacks one of them.
    """
    index = listed(base, RELEASE.name, folder)
    if older := wanted().older:
        before = Index(listed(base, BEFORE.name, folder / BEFORE.name).packages, BEFORE)
        for name in older:
            before.latest(name)
            index.packages[name] = before.packages[name]
    return index


def listed(base: str, suite: str, folder: Path) -> Index:
    """Fetch one suite's list of packages. Raises `LabError` as `fetch_index` does."""
    keyring = next((path for path in _KEYRINGS if path.is_file()), None)
    if keyring is None or shutil.which("apt-get") is None:
        raise LabError("the newest packages are found with apt: sudo apt-get install apt debian-archive-keyring")
    stanza = (
        f"Types: deb\nURIs: {base}\nSuites: {suite}\nComponents: main\nArchitectures: amd64\nSigned-By: {keyring}\n"
    )
    folder.mkdir(parents=True, exist_ok=True)
    apt = Apt(private_settings(folder, stanza))
    for words in (apt.words("apt-get", "-q", "--error-on=any", "update"), apt.words("apt-cache", "dumpavail")):
        done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}, check=False)
        if done.returncode != 0:
            telling = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or [f"{words[0]} failed"]
            raise LabError(f"the packages of Debian ({suite}) cannot be listed ({telling[0]}): check the network")
    return read_index(done.stdout)


@dataclass(frozen=True)
class Apt:
    """One view of the archives: the machine's own, or one by ``settings``, an apt configuration of ours."""

    settings: Path | None = None

    def words(self, program: str, *arguments: str) -> list[str]:
        """A command line of ``apt-get`` or ``apt-cache`` in this view."""
        words = [program]
        if self.settings:
            words += ["-c", str(self.settings)]
        if os.geteuid() == 0:
            # The user _apt, that fetches otherwise, cannot write to root's cache. Signatures count as ever.
            words += ["-o", "APT::Sandbox::User=root"]
        return [*words, *arguments]


def private_settings(folder: Path, sources: str) -> Path:
    """Write an apt configuration with lists of its own, and return its path. ``sources`` names archives, in deb822."""
    for part in ("lists/partial", "cache/archives/partial", "sources.d"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lines = [
        f'Dir::State::Lists "{folder}/lists";',
        f'Dir::Cache "{folder}/cache";',
        'Dir::State::status "/dev/null";',
        'Acquire::Languages "none";',
        'Acquire::Retries "2";',
        'Acquire::http::Timeout "30";',
        'Acquire::https::Timeout "30";',
        # The machine's hooks refresh other programs' indexes after an update. This update is none of theirs.
        *(f"#clear APT::Update::{hook};" for hook in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")),
        'Dir::Etc::SourceList "/dev/null";',
        f'Dir::Etc::SourceParts "{folder}/sources.d";',
    ]
    (folder / "sources.d" / "linklab.sources").write_text(sources, "utf-8")
    settings = folder / "apt.conf"
    settings.write_text("\n".join(lines) + "\n", "utf-8")
    return settings


@contextmanager
def opened(name: str, content: bytes) -> Iterator[tuple[dict[str, str], tarfile.TarFile]]:
    """Give the fields of a package, and its files as an archive to be read from its begin to its end.

    Raises `LabError` where it is damaged, or compressed in a way that Debian 13 does not use.
    """
    file = io.BytesIO(content)
    try:
        parts = _parts(file)
        fields = _control(file, parts["control.tar"])
        offset, size, packed = parts["data.tar"]
        file.seek(offset)
        with tarfile.open(fileobj=_Part(file, size), mode=f"r|{packed}") as data:  # type: ignore[call-overload]
            yield fields, data
    except (tarfile.TarError, EOFError, KeyError, ValueError) as error:
        raise LabError(f"{name} is no package of Debian, or damaged ({error})") from error


class _Part:
    """A stretch of a file, for tarfile to read."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


def _parts(file: IO[bytes]) -> dict[str, tuple[int, int, str]]:
    """Return where the parts of a package's file (an ``ar`` archive) are: offset, size, how compressed."""
    if file.read(8) != b"!<arch>\n":
        raise ValueError("it does not begin as one")
    parts = {}
    while len(header := file.read(60)) == 60:
        name, size = header[:16].decode("ascii").strip().rstrip("/"), int(header[48:58])
        stem, _, suffix = name.rpartition(".")
        if suffix == "tar":
            stem, suffix = name, ""
        if stem.endswith(".tar") and suffix not in ("", "xz", "gz"):
            raise ValueError(f"{name} is compressed by another program than xz")
        parts[stem] = (file.tell(), size, suffix)
        file.seek(size + size % 2, 1)
    return parts


def _control(file: IO[bytes], part: tuple[int, int, str]) -> dict[str, str]:
    file.seek(part[0])
    with tarfile.open(fileobj=_Part(file, part[1]), mode=f"r|{part[2]}") as control:  # type: ignore[call-overload]
        for member in control:
            if Path(member.name).name == "control" and (content := control.extractfile(member)):
                return read_fields(content.read().decode("utf-8"))
    raise ValueError("it does not say what it is")
