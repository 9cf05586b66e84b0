"""Where a kernel's source comes from: packages ``linux-source-*`` that apt can offer, newest first.

Three places are asked. *Machine*: what the machine's own lists of packages offer. *Backports*: on Debian, the
backports of its release and of the next one, because ``seccomp=on`` (Linux 6.16) makes a lab several times
faster. *Own sources*: the machine's own archives with lists fetched afresh, for a machine where ``apt-get
update`` never ran. The latter two use lists of their own below the cache folder, so they need no root and
change nothing on the machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel.cache import version_key
from linklab.runtime.kernel.process import ProgramFailed, Programs, find_program

SECCOMP_SINCE = (6, 16)
DEBIAN_RELEASES = ("bullseye", "bookworm", "trixie", "forky", "duke")
_PACKAGE = re.compile(r"^linux-source-(\d+(?:\.\d+)+)$")
_KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
_TARGETS = "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)"


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


@dataclass(frozen=True)
class Candidate:
    """A source package on offer. ``size_bytes`` is what it weighs to download."""

    package: str
    version: str
    size_bytes: int
    apt: Apt = Apt()

    @property
    def series(self) -> tuple[int, ...]:
        """``linux-source-6.12`` gives (6, 12)."""
        return series_of(self.package)


def series_of(package: str) -> tuple[int, ...]:
    match = _PACKAGE.match(package)
    return version_key(match[1]) if match else ()


def parse_search(text: str) -> list[str]:
    """The source packages named in the output of ``apt-cache search``."""
    names = (line.split(" ", 1)[0] for line in text.splitlines())
    return [name for name in names if _PACKAGE.match(name)]


def parse_show(text: str, apt: Apt) -> list[Candidate]:
    """The candidates described in the output of ``apt-cache show``."""
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(Package|Version|Size): *(.+)$", stanza, re.MULTILINE))
        if _PACKAGE.match(fields.get("Package", "")) and "Version" in fields:
            found.append(Candidate(fields["Package"], fields["Version"], int(fields.get("Size", 0)), apt))
    return found


def newest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Newest series first; of one series, what was found first (the machine's own) stays first, without
    repeats.
    """
    unique: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        unique.setdefault((candidate.package, candidate.version), candidate)
    return sorted(unique.values(), key=lambda candidate: candidate.series, reverse=True)


def archive_uri(targets: str, codename: str) -> str | None:
    """The address of the distribution's main archive, from ``apt-get indextargets`` in the format
    ``_TARGETS``.
    """
    for line in targets.splitlines():
        kind, _, rest = line.partition("|")
        uri, _, release = rest.partition("|")
        if kind == "Packages" and release.strip() == codename and uri:
            return uri
    return None


def backports_suites(codename: str) -> list[str]:
    """The backports of a Debian release and of the next one; empty for a name that is not Debian's."""
    if codename not in DEBIAN_RELEASES:
        return []
    place = DEBIAN_RELEASES.index(codename)
    return [f"{name}-backports" for name in DEBIAN_RELEASES[place : place + 2]]


def read_os_release(path: Path = Path("/etc/os-release")) -> tuple[str, str]:
    """The distribution's ID and code name: ``("debian", "bookworm")``."""
    try:
        fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', path.read_text("utf-8"), re.MULTILINE))
    except OSError:
        fields = {}
    return fields.get("ID", ""), fields.get("VERSION_CODENAME", "")


def private_settings(folder: Path, sources: str | None) -> Path:
    """Writes an apt configuration with lists of its own, and gives its path.

    ``sources``: the archives in deb822 format; None for the machine's own.
    """
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
    ]
    if sources is not None:
        (folder / "sources.d" / "linklab.sources").write_text(sources, "utf-8")
        lines += ['Dir::Etc::SourceList "/dev/null";', f'Dir::Etc::SourceParts "{folder}/sources.d";']
    settings = folder / "apt.conf"
    settings.write_text("\n".join(lines) + "\n", "utf-8")
    return settings


@dataclass
class Sources:
    """Finds candidates; remembers what was asked of the archives, so that nothing is asked twice."""

    programs: Programs
    folder: Path
    say: Callable[[str], None]
    keyrings: Path = Path("/usr/share/keyrings")

    def candidates(self) -> list[Candidate]:
        """All source packages on offer, newest first. Raises `LabError` when there are none."""
        for program in ("apt-get", "apt-cache"):
            if find_program(program) is None:
                raise LabError(
                    "the kernel's source comes from apt, and this machine has none: "
                    "name a kernel built elsewhere in LINKLAB_KERNEL, or use vagrant up"
                )
        found = self._offered(Apt())
        if not any(candidate.series >= SECCOMP_SINCE for candidate in found):
            found += self._backports()
        return newest_first(found) or self.fresh_candidates()

    def fresh_candidates(self) -> list[Candidate]:
        """What the machine's archives offer by lists fetched now. Raises `LabError` when that is nothing."""
        self.say("asking the machine's archives for the kernel's source")
        apt = Apt(private_settings(self.folder / "machine", None))
        failure = self._update(apt)
        found = newest_first(self._offered(apt))
        if not found:
            reason = f" ({failure.reason})" if failure else ""
            raise LabError(
                f"the machine's archives give no package linux-source-*{reason}: check the network and "
                "/etc/apt/sources.list, then run linklab kernel build again"
            )
        return found

    def _offered(self, apt: Apt) -> list[Candidate]:
        here = self.folder.parent
        try:
            search = self._lines(apt.words("apt-cache", "search", "--names-only", "^linux-source-[0-9.]+$"), here)
            names = parse_search("\n".join(search))
            if not names:
                return []
            return parse_show(
                "\n".join(self._lines(apt.words("apt-cache", "show", "--no-all-versions", *names), here)), apt
            )
        except ProgramFailed:
            return []

    def _backports(self) -> list[Candidate]:
        distribution, codename = read_os_release()
        suites = backports_suites(codename) if distribution == "debian" else []
        keyring = next((self.keyrings / name for name in _KEYRINGS if (self.keyrings / name).is_file()), None)
        uri = self._archive_uri(codename) if suites and keyring else None
        if not uri:
            return []
        self.say(f"asking {' and '.join(suites)} for a newer kernel's source")
        found: list[Candidate] = []
        for suite in suites:
            stanza = f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\nSigned-By: {keyring}\n"
            apt = Apt(private_settings(self.folder / suite, stanza))
            self._update(apt)
            found += self._offered(apt)
        return found

    def _archive_uri(self, codename: str) -> str | None:
        for apt in (Apt(), Apt(private_settings(self.folder / "machine", None))):
            if apt.settings:
                self._update(apt)
            targets = self._lines(apt.words("apt-get", "indextargets", "--format", _TARGETS), self.folder.parent)
            if uri := archive_uri("\n".join(targets), codename):
                return uri
        return None

    def _update(self, apt: Apt) -> ProgramFailed | None:
        """Fetches a view's lists. One archive out of reach is no reason to give up the others."""
        try:
            self.programs.run(apt.words("apt-get", "-q", "update"), self.folder.parent)
        except ProgramFailed as failure:
            return failure
        return None

    def _lines(self, command: Sequence[str], folder: Path) -> list[str]:
        lines: list[str] = []
        self.programs.run(command, folder, lines.append)
        return lines
