"""Building a lab's two kernels: find the source, fetch, unpack, change, and compile each.

Every stage leaves a result that the next run finds, so a build that was interrupted, killed or run out of
power goes on where it was. A stage's result gets its final name only once it is whole.

The source is a package ``linux-source-*`` that apt can offer, the newest first. Three places are asked. *Machine*:
what the machine's own lists of packages offer. *Backports*: on Debian, the backports of its release and of the next
one, because ``seccomp=on`` (Linux 6.16) makes a lab several times faster. *Own sources*: the machine's own archives
with lists fetched afresh, for a machine where ``apt-get update`` never ran. The latter two use lists of their own
below the cache folder, so they need no root and change nothing on the machine.

The cache folder, ``linklab/kernel`` in the user's cache folder, holds:

| name           | what it is                                                                     |
| -------------- | ------------------------------------------------------------------------------ |
| ``<hash>/``    | a finished kernel and its ``kernel.json``; the hash is `kernel_hash`'s          |
| ``work/``      | what an unfinished build keeps                                                 |
| ``apt/``       | lists of packages, fetched apart from the machine's own                        |
| ``build.log``  | everything that apt, tar and make said                                         |

The stages, each leaving one result in the work folder of one source package:

| file       | whole when it is there                                       |
| ---------- | ------------------------------------------------------------ |
| ``begun.json`` | which source package and version, for which kernels       |
| ``source.deb`` | the package, its hash checked by apt                      |
| ``tree/``  | the unpacked source, with Linklab's changes to it            |
| ``patches.taken`` | the names of the changes that it took                 |
| ``out/``   | the objects of each kernel; make itself knows which are whole |
| ``linux``, ``vmlinuz-qemu`` | the kernels                                  |
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeVar

from platformdirs import user_cache_dir

from linklab.errors import LabError
from linklab.runtime.kernel.config import FLAVOURS, PATCHES, USER_MODE, WITHOUT, Flavour, missing_options, patch_text
from linklab.runtime.kernel.programs import ProgramFailed, Programs, find_program

Progress = Callable[[str, float], None]
Say = Callable[[str], None]
Used = TypeVar("Used")

# Debian's package for each program that a build runs; the ones that every Debian has are left out.
TOOLS = {
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "gcc": "gcc",
    "make": "make",
    "strip": "binutils",
    "xz": "xz-utils",
    "bzip2": "bzip2",
}
HEADERS = {"/usr/include/stdio.h": "libc6-dev", "/usr/include/gelf.h": "libelf-dev"}
"""Debian's package for each library that programs of the build are compiled with; libelf is objtool's."""
# Measured for 7.3: package 167 MB, source 570 MB, objects 140 MB for each kernel; and some air.
NEEDED_BYTES = 1200 * 10**6
NEEDED_AFTER_UNPACKING_BYTES = 450 * 10**6
_FULL_BYTES = 20 * 10**6

SECCOMP_SINCE = (6, 16)
DEBIAN_RELEASES = ("bullseye", "bookworm", "trixie", "forky", "duke")
_PACKAGE = re.compile(r"^linux-source-(\d+(?:\.\d+)+)$")
_KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
_TARGETS = "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)"

# Share of the whole at which each stage begins, after the CPU time it takes.
FETCH_AT, UNPACK_AT, COMPILE_AT = 0.01, 0.04, 0.08
# Two thirds of the source are drivers, architectures and texts that no kernel of a lab compiles. Kconfig and
# the makefiles of all of them are read, so those stay.
NEVER_COMPILED = (
    *(f"*/drivers/{name}/*.[ch]" for name in ("gpu", "media", "staging", "scsi", "infiniband", "accel", "usb")),
    *(f"*/drivers/net/{name}/*.[ch]" for name in ("ethernet", "wireless")),
    "*/sound/*.[ch]",
    "*/arch/[!ux]*/*.[a-zA-Z]*",
    "*/Documentation/*.[a-z]*",
    "*/tools/testing/*",
    "*/tools/perf/*",
)
_TAKEN = "patches.taken"
_TAR = re.compile(r"^-.* (\./usr/src/(?:\S*/)?linux-source-[0-9.]+\.tar\.(xz|bz2|gz))$")
_UNPACKERS = {"xz": "xz", "bz2": "bzip2", "gz": "gzip"}
_COMPILED = re.compile(r"^\s+(?:CC|AS|LDS?|AR)\s+(?:\[\S+\]\s+)?\S+\.o$")
_DOWNLOADED = re.compile(r"^dlstatus:\d+:([0-9.]+):")

_BUILT = "Thu Jan 1 00:00:00 UTC 1970"
_ELSEWHERE = "set XDG_CACHE_HOME to a folder you may write to"
RECORD_FORMAT = 1


class Unfit(LabError):
    """This source cannot give kernels for labs; another one may."""


def cache_folder() -> Path:
    """Return the folder that holds all kernels of this user (it need not exist)."""
    return Path(user_cache_dir("linklab")) / "kernel"


@dataclass(frozen=True)
class Record:
    """``kernel.json``: what a finished kernel was made from."""

    source: str  # "linux-source-6.12"
    source_version: str  # the package's version
    kernel_version: str  # what uname -r says
    config_hash: str
    compiler: str
    patches: tuple[str, ...]  # which of Linklab's patches it has

    def write(self, path: Path) -> None:
        """Write this as ``kernel.json``."""
        document = {"linklab_kernel": RECORD_FORMAT, **asdict(self)}
        path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """Return the record, or None where there is none that this version of Linklab understands."""
        try:
            document = json.loads(path.read_text("utf-8"))
            if document["linklab_kernel"] != RECORD_FORMAT:
                return None
            document["patches"] = tuple(document["patches"])
            return cls(**{field.name: document[field.name] for field in fields(cls)})
        except (OSError, ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True)
class Kernel:
    """A kernel that is there."""

    flavour: Flavour
    path: Path
    record: Record


Kernels = tuple[Kernel, ...]
"""One of each flavour, in their order, of one source."""


def finished_kernels() -> Kernels | None:
    """Return the kernels in the cache: those with most of Linklab's changes, then the newest. None where there are none
    of the present configuration that were made of one source.
    """
    found: dict[tuple[str, str], dict[str, Kernel]] = {}
    hashes = {flavour: flavour.configuration_hash() for flavour in FLAVOURS}
    for path in cache_folder().glob("*/kernel.json"):
        record = Record.read(path)
        for flavour, config_hash in hashes.items():
            file = path.with_name(flavour.file)
            if record and record.config_hash == config_hash and file.is_file():
                of_source = found.setdefault((record.source, record.source_version), {})
                of_source[flavour.name] = Kernel(flavour, file, record)
    whole = [tuple(kernels[flavour.name] for flavour in FLAVOURS) for kernels in found.values() if len(kernels) == 2]

    def rank(kernels: Kernels) -> tuple[int, tuple[int, ...], str]:
        made = kernels[0].record
        return sum(len(each.record.patches) for each in kernels), version_key(made.kernel_version), made.source_version

    return max(whole, key=rank, default=None)


def version_key(version: str) -> tuple[int, ...]:
    """Return what orders kernel versions: ``"6.12.3+deb"`` gives ``(6, 12, 3)``."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def build_kernels(
    use: Callable[[Kernels], Used],
    lock: int,
    progress: Progress,
    say: Say,
    *,
    jobs: int | None = None,
    low_priority: bool = False,
    keep: bool = False,
) -> Used:
    """Build both kernels, give them to ``use``, keep them in the cache, and return what ``use`` has made of them.

    ``use`` raises `Unfit` where labs do not run on these kernels: then those of the next source are built. ``lock`` is
    the file descriptor of the build's lock, which all its programs hold too. ``progress`` is called with what is being
    done and the fraction done, from 0 to 1; ``say`` with single remarks, one line each. ``keep``: keep source and
    objects.

    Raises `LabError`: no source, no tools, no space, no network, or nothing that compiles and is of use.
    """
    folder = ensure_folder(cache_folder())
    check_tools()
    check_place(folder)
    unpacked = any((folder / "work").glob("*/tree"))
    check_space(folder, NEEDED_AFTER_UNPACKING_BYTES if unpacked else NEEDED_BYTES)
    try:
        with (folder / "build.log").open("w", encoding="utf-8", buffering=1) as log:
            programs = Programs(log, low_priority, (lock,))
            used = Build(folder, programs, jobs or len(os.sched_getaffinity(0)), progress, say).first_that_works(use)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(folder) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise LabError(f"cannot write to {folder} ({error.strerror}): {_ELSEWHERE}") from error
        raise
    if not keep:
        shutil.rmtree(folder / "work", ignore_errors=True)
        shutil.rmtree(folder / "apt", ignore_errors=True)
    return used


def check_machine() -> None:
    """Raises `LabError` where user-mode Linux cannot run at all."""
    if platform.system() != "Linux":
        raise LabError("a lab in user mode needs Linux: use vagrant up on this machine")
    if platform.machine() != "x86_64":
        raise LabError(f"user-mode Linux exists for x86-64 only, and this is {platform.machine()}: use vagrant up")


def check_tools() -> None:
    """Raises `LabError` naming the packages of all programs and libraries that are missing."""
    packages = {package for program, package in TOOLS.items() if find_program(program) is None}
    packages |= {package for header, package in HEADERS.items() if not Path(header).is_file()}
    if packages:
        raise LabError(f"building the lab image needs more tools: sudo apt-get install {' '.join(sorted(packages))}")


def check_place(folder: Path) -> None:
    """Raises `LabError` for a folder whose name the kernel's makefiles cannot cope with, or whose disk is
    mounted so that nothing on it can be run.
    """
    if re.search(r"[\s:'\"$#%]", str(folder)):
        raise LabError(f"no kernel can be built in {folder}, for the signs in its name: set XDG_CACHE_HOME to another")
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise LabError(f"{folder} is mounted noexec: set XDG_CACHE_HOME to a folder where programs may run")


def check_space(folder: Path, needed_bytes: int, free_bytes: int | None = None) -> None:
    """Raises `LabError` when less than this is free."""
    free_bytes = shutil.disk_usage(folder).free if free_bytes is None else free_bytes
    if free_bytes < needed_bytes:
        raise LabError(
            f"building the lab's kernels needs {needed_bytes / 1e9:.1f} GB for a while, and {folder} has "
            f"{free_bytes / 1e9:.1f} GB free: free some, or set XDG_CACHE_HOME to a folder with more"
        )


def full(folder: Path) -> LabError:
    """What to say when the disk is full after all."""
    needed = f"free {NEEDED_AFTER_UNPACKING_BYTES / 1e9:.1f} GB"
    return LabError(
        f"the disk of {folder} is full: {needed} and run linklab image build again; it goes on where it was"
    )


@dataclass
class Build:
    """One run: tries the candidates in order until kernels compile and are of use."""

    folder: Path
    programs: Programs
    jobs: int
    report: Progress
    say: Say

    def first_that_works(self, use: Callable[[Kernels], Used]) -> Used:
        """Return what ``use`` makes of the first kernels that it does not call `Unfit`, and keep those."""
        self.report("looking for the kernel's source", 0.0)
        failures: list[str] = []
        tried: set[tuple[str, str]] = set()
        for candidates in (self._candidates, self._fresh_candidates):
            for candidate in candidates():
                if (candidate.package, candidate.version) in tried:
                    continue
                tried.add((candidate.package, candidate.version))
                if failures:
                    self.say(f"{failures[-1]}; trying {candidate.package}")
                try:
                    kernels = self._make(candidate)
                    used = use(kernels)
                except (ProgramFailed, Unfit) as failure:
                    self._raise_if_full(failure)
                    failures.append(f"{candidate.package} {candidate.version}: {failure}")
                    continue
                for kernel in kernels:
                    publish(kernel, self.folder)
                return used
        raise LabError(f"no kernel could be built ({failures[-1]}): see {self.folder / 'build.log'}")

    def _candidates(self) -> list[Candidate]:
        # Where one was begun no archive is asked again, so a build goes on without a network too.
        return begun_builds(self.folder / "work") or self._sources().candidates()

    def _fresh_candidates(self) -> list[Candidate]:
        """A second look, after nothing of the first worked: lists on the machine may be older than its
        archives.
        """
        try:
            sources = self._sources()
            return [*sources.candidates(), *sources.fresh_candidates()]
        except LabError:
            return []

    def _sources(self) -> Sources:
        folder = self.folder / "apt"
        folder.mkdir(exist_ok=True)
        return Sources(self.programs, folder, lambda message: self.report(message, 0.0))

    def _make(self, candidate: Candidate) -> Kernels:
        """Return the kernels of one source; one that is in the cache is not built again."""
        made = {flavour.name: self._in_cache(flavour, candidate) for flavour in FLAVOURS}
        left = sum(flavour.objects for flavour in FLAVOURS if made[flavour.name] is None)
        work = Work(self.folder / "work" / work_name(candidate), candidate, self.programs, self.report)
        work.begin()
        work.fetch()
        work.unpack()
        share = COMPILE_AT
        kernels = []
        for flavour in FLAVOURS:
            kernel = made[flavour.name]
            if kernel is None:
                work.configure(flavour)
                end = share + flavour.objects / left * (1 - COMPILE_AT)
                kernel = work.compile(flavour, self.jobs, share, end)
                share = end
            kernels.append(kernel)
        return tuple(kernels)

    def _in_cache(self, flavour: Flavour, candidate: Candidate) -> Kernel | None:
        path = self.folder / kernel_hash(candidate, flavour) / flavour.file
        record = Record.read(path.with_name("kernel.json"))
        return Kernel(flavour, path, record) if record and path.is_file() else None

    def _raise_if_full(self, failure: Exception) -> None:
        """A full disk is no fault of the source, and the next one would meet it too."""
        if "No space left" in str(failure) or shutil.disk_usage(self.folder).free < _FULL_BYTES:
            raise full(self.folder) from failure


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
                    "the kernel's source comes from apt, and this machine has none: name an image built elsewhere in "
                    "LINKLAB_IMAGE, or use vagrant up"
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
                "/etc/apt/sources.list, then run linklab image build again"
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


def work_name(candidate: Candidate) -> str:
    """Return the name of a source's work folder: one for each version and for what Linklab makes of it."""
    return _hash(candidate, " ".join(flavour.configuration_hash() for flavour in FLAVOURS))


def kernel_hash(candidate: Candidate, flavour: Flavour) -> str:
    """Return the name of a kernel's folder: one for each source package, version and configuration.

    The compiler is left out on purpose. Virtual time counts events and not instructions, so the same source
    gives the same measurements whatever compiled it, and an update of gcc must not cost every student a new
    build.
    """
    return _hash(candidate, flavour.configuration_hash())


def _hash(candidate: Candidate, configuration: str) -> str:
    return hashlib.sha256(f"{candidate.package} {candidate.version} {configuration}".encode()).hexdigest()[:16]


def begun_builds(work: Path) -> list[Candidate]:
    """Return the candidates that an earlier run fetched in whole for these configurations, newest first."""
    found: list[Candidate] = []
    for path in work.glob("*/begun.json"):
        try:
            document = json.loads(path.read_text("utf-8"))
            candidate = Candidate(document["package"], document["version"], document["size_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if path.parent.name == work_name(candidate) and (path.parent / "source.deb").is_file():
            found.append(candidate)
    return newest_first(found)


def downloaded_percent(line: str) -> float | None:
    """What a line of apt's status says of the download, in percent; None for other lines."""
    match = _DOWNLOADED.match(line)
    return float(match[1]) if match else None


def is_object(line: str) -> bool:
    """True for a line in which make says that it makes one object."""
    return _COMPILED.match(line) is not None


def tar_in_listing(listing: str) -> tuple[str, str] | None:
    """The source archive in a listing by ``dpkg-deb -c``, and the program that unpacks it.

    Debian has it in ``/usr/src``, Ubuntu in a folder below with a symbolic link to it.
    """
    for line in listing.splitlines():
        if match := _TAR.match(line):
            return match[1], _UNPACKERS[match[2]]
    return None


@dataclass
class Work:
    """The work folder of one candidate."""

    folder: Path
    candidate: Candidate
    programs: Programs
    report: Progress

    @property
    def _tree(self) -> Path:
        return self.folder / "tree"

    def _out(self, flavour: Flavour) -> Path:
        return self.folder / "out" / flavour.file

    def begin(self) -> None:
        """Make the folder, and note what it is for."""
        self.folder.mkdir(parents=True, exist_ok=True)
        candidate = self.candidate
        note = {"package": candidate.package, "version": candidate.version, "size_bytes": candidate.size_bytes}
        (self.folder / "begun.json").write_text(json.dumps(note), "utf-8")

    def fetch(self) -> None:
        """Fetches the package by apt, which checks its hash against the signed lists."""
        package = self.folder / "source.deb"
        if package.is_file():
            return
        megabytes = self.candidate.size_bytes / 1e6
        message = f"fetching {self.candidate.package} {self.candidate.version} ({megabytes:.0f} MB)"
        self.report(message, FETCH_AT)

        def on_line(line: str) -> None:
            percent = downloaded_percent(line)
            if percent is not None:
                self.report(message, FETCH_AT + percent / 100 * (UNPACK_AT - FETCH_AT))

        # A half-fetched file bears its final name already, and so lies in a folder of its own until it is
        # whole.
        part = self.folder / "fetching"
        part.mkdir(exist_ok=True)
        name = f"{self.candidate.package}={self.candidate.version}"
        command = self.candidate.apt.words("apt-get", "-qq", "-o", "APT::Status-Fd=1", "download", name)
        self.programs.run(command, part, on_line)
        fetched = next(part.glob("*.deb"), None)
        if fetched is None:
            raise Unfit("apt-get download gave no package")
        fetched.rename(package)
        shutil.rmtree(part)

    def unpack(self) -> None:
        """Unpack what a lab's kernel can need of the source, and make Linklab's changes to it."""
        if self._tree.is_dir():
            return
        self.report(f"unpacking {self.candidate.package}", UNPACK_AT)
        listing: list[str] = []
        self.programs.run(["dpkg-deb", "-c", "source.deb"], self.folder, listing.append)
        archive = tar_in_listing("\n".join(listing))
        if archive is None:
            raise Unfit("its package holds no source archive")
        path, unpacker = archive
        part = self.folder / "unpacking"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        excluded = " ".join(f"--exclude='{pattern}'" for pattern in NEVER_COMPILED)
        pipeline = (
            f"set -o pipefail; dpkg-deb --fsys-tarfile source.deb | tar -xO '{path}' | {unpacker} -dc | "
            f"tar -x --no-same-owner -C unpacking --strip-components=1 {excluded}"
        )
        self.programs.run(["bash", "-c", pipeline], self.folder)
        self._patch(part)
        part.rename(self._tree)

    def _patch(self, tree: Path) -> None:
        """Make Linklab's changes to the source, and note which it took.

        One that it does not fit is left out, and said, where kernels are good all the same; else raises `Unfit`.
        """
        words = ["patch", "--batch", "--forward", "--no-backup-if-mismatch", "--strip=1"]
        taken = []
        for name in PATCHES:
            patch = self.folder / f"{name}.patch"
            patch.write_text(patch_text(name), "utf-8")
            try:
                self.programs.run([*words, f"--input={patch}", "--dry-run"], tree)
            except ProgramFailed as failure:
                if name not in WITHOUT:
                    raise Unfit(f"does not take {name}.patch, without which no lab runs on QEMU") from failure
                self.report(f"{self.candidate.package} does not take {name}.patch: {WITHOUT[name]}", UNPACK_AT)
                continue
            self.programs.run([*words, f"--input={patch}"], tree)
            taken.append(name)
        (self.folder / _TAKEN).write_text("\n".join(taken), "utf-8")

    def patches(self, flavour: Flavour) -> tuple[str, ...]:
        """Return the names of the changes that the source took and that are this kernel's."""
        taken = (self.folder / _TAKEN).read_text("utf-8").split()
        return tuple(name for name in flavour.patches if name in taken)

    def configure(self, flavour: Flavour) -> None:
        """Make the kernel's ``.config``. Raises `Unfit` naming the options that this source lacks."""
        text = flavour.configuration_text()
        result = self._out(flavour) / ".config"
        if not result.is_file():
            result.parent.mkdir(parents=True, exist_ok=True)
            asked = self.folder / f"{flavour.file}.config"
            asked.write_text(text, "utf-8")
            self.programs.run(self._make_words(flavour, f"KCONFIG_ALLCONFIG={asked}", "allnoconfig"), self.folder)
        missing = missing_options(text, result.read_text("utf-8"))
        if missing:
            result.unlink()
            raise Unfit(f"this source lacks options that labs need: {' '.join(missing)}")

    def compile(self, flavour: Flavour, jobs: int, begin: float, end: float) -> Kernel:
        """Compile a kernel; ``begin`` and ``end`` say which share of the whole that is."""
        message = f"compiling {flavour.name} from {self.candidate.package}"
        out = self._out(flavour)
        done = sum(1 for _ in out.rglob("*.o"))

        def on_line(line: str) -> None:
            nonlocal done
            if is_object(line):
                done += 1
                self.report(message, begin + min(done / flavour.objects, 1.0) * (end - begin))

        self.report(message, begin)
        self.programs.run(self._make_words(flavour, f"-j{jobs}", *flavour.words, flavour.target), self.folder, on_line)
        path = self.folder / flavour.file
        part = path.with_name(f"{path.name}.new")
        shutil.copyfile(out / flavour.made, part)
        part.chmod(0o755)
        if flavour is USER_MODE:
            self.programs.run(["strip", str(part)], self.folder)
        part.rename(path)
        record = Record(
            source=self.candidate.package,
            source_version=self.candidate.version,
            kernel_version=(out / "include/config/kernel.release").read_text("utf-8").strip(),
            config_hash=flavour.configuration_hash(),
            compiler=self._compiler(flavour),
            patches=self.patches(flavour),
        )
        return Kernel(flavour, path, record)

    def _compiler(self, flavour: Flavour) -> str:
        """The compiler, as the kernel's build noted it."""
        text = (self._out(flavour) / ".config").read_text("utf-8")
        match = re.search(r'^CONFIG_CC_VERSION_TEXT="(.*)"$', text, re.MULTILINE)
        return match[1] if match else ""

    def _make_words(self, flavour: Flavour, *targets: str) -> list[str]:
        # The kernel's banner names no user and no machine, but Linklab and what it changed.
        names = ["KBUILD_BUILD_USER=linklab", f"KBUILD_BUILD_HOST={'+'.join(self.patches(flavour)) or 'none'}"]
        names += ["KBUILD_BUILD_VERSION=1", f"KBUILD_BUILD_TIMESTAMP={_BUILT}"]  # the same bytes each time
        return ["make", "-C", str(self._tree), f"ARCH={flavour.arch}", f"O={self._out(flavour)}", *names, *targets]


def ensure_folder(folder: Path) -> Path:
    """Makes a folder with its parents; raises `LabError` where that is not allowed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LabError(f"cannot make the folder {folder} ({reason}): {_ELSEWHERE}") from error
    return folder


def publish(kernel: Kernel, folder: Path) -> None:
    """Put a kernel into the cache. Whoever looks meanwhile sees none of it or all of it: its record comes last."""
    candidate = Candidate(kernel.record.source, kernel.record.source_version, 0)
    place = folder / kernel_hash(candidate, kernel.flavour)
    if kernel.path.parent == place:
        return
    fresh, described = place / f"{kernel.flavour.file}.new", place / "kernel.json.new"
    try:
        place.mkdir(exist_ok=True)
        shutil.copy2(kernel.path, fresh)
        kernel.record.write(described)
        fresh.replace(place / kernel.flavour.file)
        described.replace(place / "kernel.json")
    except OSError:
        for part in (fresh, described):
            part.unlink(missing_ok=True)
        with suppress(OSError):
            place.rmdir()
        raise
