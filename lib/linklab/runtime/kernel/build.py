"""Building the lab's kernel: find the source, fetch, unpack, configure, compile, verify, publish.

Every stage leaves a result that the next run finds, so a build that was interrupted, killed or run out of
power goes on where it was. A stage's result gets its final name only once it is whole.

The source is a package ``linux-source-*`` that apt can offer, the newest first. Three places are asked. *Machine*:
what the machine's own lists of packages offer. *Backports*: on Debian, the backports of its release and of the next
one, because ``seccomp=on`` (Linux 6.16) makes a lab several times faster. *Own sources*: the machine's own archives
with lists fetched afresh, for a machine where ``apt-get update`` never ran. The latter two use lists of their own
below the cache folder, so they need no root and change nothing on the machine.

The stages, each leaving one result in the work folder of one source package:

| file       | whole when it is there                                       |
| ---------- | ------------------------------------------------------------ |
| ``begun.json`` | which source package, version and configuration           |
| ``source.deb`` | the package, its hash checked by apt                      |
| ``tree/``  | the unpacked source, with Linklab's changes to it            |
| ``patches.taken`` | the names of the changes that it took                 |
| ``out/``   | the objects; make itself knows which are whole               |
| ``linux``  | the stripped kernel                                          |
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel.config import WITHOUT, configuration_hash, configuration_text, missing_options, patches
from linklab.runtime.kernel.find import (
    Record,
    Status,
    build_is_running,
    cache_folder,
    find_kernel,
    finished_kernels,
    inspect_kernel,
    version_key,
)
from linklab.runtime.kernel.programs import ProgramFailed, Programs, find_program
from linklab.runtime.kernel.verify import KernelUnfit, verify_kernel

Progress = Callable[[str, float], None]
Say = Callable[[str], None]

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
    "ip": "iproute2",
    "tc": "iproute2",
}
_C_LIBRARY = Path("/usr/include/stdio.h")
# Measured for 7.3: package 167 MB, source 570 MB, objects 140 MB; and some
# air.
NEEDED_BYTES = 1100 * 10**6
NEEDED_AFTER_UNPACKING_BYTES = 350 * 10**6
_FULL_BYTES = 20 * 10**6
_WAIT_S = 0.5

SECCOMP_SINCE = (6, 16)
DEBIAN_RELEASES = ("bullseye", "bookworm", "trixie", "forky", "duke")
_PACKAGE = re.compile(r"^linux-source-(\d+(?:\.\d+)+)$")
_KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
_TARGETS = "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)"

# What make compiles for this configuration; one or two more or less from release to release. It only feeds
# the bar.
EXPECTED_OBJECTS = 1290
# Share of the whole at which each stage begins, after the CPU time it takes.
FETCH_AT, UNPACK_AT, COMPILE_AT, COMPILED_AT = 0.02, 0.08, 0.14, 0.97
# Two thirds of the source are drivers, architectures and texts that no user-mode kernel compiles. Kconfig and
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
_STATUS_INTERVAL_S = 0.5
_ELSEWHERE = "set XDG_CACHE_HOME to a folder you may write to"


@dataclass(frozen=True)
class Options:
    """How to build. ``source``: insist on this package (``"linux-source-6.12"``). ``keep``: keep source and
    objects.
    """

    jobs: int | None = None
    low_priority: bool = False
    keep: bool = False
    source: str | None = None


def build_kernel(
    progress: Progress,
    jobs: int | None = None,
    low_priority: bool = False,
    *,
    keep: bool = False,
    source: str | None = None,
    say: Say = lambda line: None,
) -> Path:
    """Builds the kernel for virtual time, and gives its path; a kernel that is there already is not built
    again.

    ``progress`` is called with what is being done and the fraction done, from 0 to 1; ``say`` with single
    remarks, one line each. While another process builds, this one waits and reports the other's progress.

    Raises `LabError`: no source, no tools, no space, no network, or nothing that compiles and boots.
    """
    check_machine()
    folder = ensure_folder(cache_folder())
    options = Options(jobs, low_priority, keep, source)
    waiting = False
    while True:
        with build_lock(folder) as lock:
            if lock is not None:
                return _finished(folder, options) or _build(folder, lock, options, progress, say)
        if not waiting:
            say("another process is building the kernel: waiting for it")
            waiting = True
        if status := Status.read(folder):
            progress(status.message, status.fraction)
        time.sleep(_WAIT_S)


def _finished(folder: Path, options: Options) -> Path | None:
    for path, record in finished_kernels(folder, configuration_hash(configuration_text())):
        if options.source in (None, record.source):
            return path
    return None


def _build(folder: Path, lock: int, options: Options, progress: Progress, say: Say) -> Path:
    check_tools()
    check_place(folder)
    unpacked = any((folder / "work").glob("*/tree"))
    check_space(folder, NEEDED_AFTER_UNPACKING_BYTES if unpacked else NEEDED_BYTES)
    status = StatusFile(folder)

    def report(message: str, fraction: float) -> None:
        status.write(message, fraction)
        progress(message, fraction)

    try:
        with (folder / "build.log").open("w", encoding="utf-8", buffering=1) as log:
            programs = Programs(log, options.low_priority, (lock,))
            build = Build(folder, programs, options, report, say)
            path = build.first_that_works()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(folder) from error
        raise
    finally:
        status.remove()
    if not options.keep:
        shutil.rmtree(folder / "work", ignore_errors=True)
        shutil.rmtree(folder / "apt", ignore_errors=True)
    progress("the kernel is ready", 1.0)
    return path


def check_machine() -> None:
    """Raises `LabError` where user-mode Linux cannot run at all."""
    if platform.system() != "Linux":
        raise LabError("a lab in user mode needs Linux: use vagrant up on this machine")
    if platform.machine() != "x86_64":
        raise LabError(f"user-mode Linux exists for x86-64 only, and this is {platform.machine()}: use vagrant up")


def check_tools() -> None:
    """Raises `LabError` naming the packages of all programs that are missing."""
    packages = {package for program, package in TOOLS.items() if find_program(program) is None}
    if not _C_LIBRARY.is_file():
        packages.add("libc6-dev")
    if packages:
        raise LabError(f"building the kernel needs more tools: sudo apt-get install {' '.join(sorted(packages))}")


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
            f"building the kernel needs {needed_bytes / 1e9:.1f} GB for a while, and {folder} has "
            f"{free_bytes / 1e9:.1f} GB free: free some, or set XDG_CACHE_HOME to a folder with more"
        )


def full(folder: Path) -> LabError:
    """What to say when the disk is full after all."""
    needed = f"free {NEEDED_AFTER_UNPACKING_BYTES / 1e9:.1f} GB"
    return LabError(
        f"the disk of {folder} is full: {needed} and run linklab kernel build again; it goes on where it was"
    )


@dataclass
class Build:
    """One run: tries the candidates in order until a kernel compiles and boots."""

    folder: Path
    programs: Programs
    options: Options
    report: Progress
    say: Say

    def first_that_works(self) -> Path:
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
                    return self._make(candidate)
                except (ProgramFailed, Unfit) as failure:
                    self._raise_if_full(failure)
                    failures.append(f"{candidate.package} {candidate.version}: {failure}")
        raise LabError(f"no kernel could be built ({failures[-1]}): see {self.folder / 'build.log'}")

    def _candidates(self) -> list[Candidate]:
        config_hash = configuration_hash(configuration_text())
        begun = begun_builds(self.folder / "work", config_hash)
        if self.options.source is None and begun:
            # No archive is asked again, so a build goes on without a network too.
            return begun
        return self._chosen(self._sources().candidates)

    def _fresh_candidates(self) -> list[Candidate]:
        """A second look, after nothing of the first worked: lists on the machine may be older than its
        archives.
        """
        try:
            sources = self._sources()
            return self._chosen(lambda: [*sources.candidates(), *sources.fresh_candidates()])
        except LabError:
            return []

    def _sources(self) -> Sources:
        folder = self.folder / "apt"
        folder.mkdir(exist_ok=True)
        return Sources(self.programs, folder, lambda message: self.report(message, 0.01))

    def _chosen(self, offered: Callable[[], list[Candidate]]) -> list[Candidate]:
        candidates = offered()
        chosen = [candidate for candidate in candidates if self.options.source in (None, candidate.package)]
        if not chosen:
            names = ", ".join(candidate.package for candidate in candidates)
            raise LabError(f"{self.options.source} is not on offer: choose one of {names}")
        return chosen

    def _make(self, candidate: Candidate) -> Path:
        text = configuration_text()
        config_hash = configuration_hash(text)
        name = kernel_hash(candidate.package, candidate.version, config_hash)
        work = Work(self.folder / "work" / name, candidate, self.programs, self.report)
        started = time.monotonic()
        work.begin(config_hash)
        work.fetch()
        work.unpack()
        work.configure(text)
        jobs = self.options.jobs or len(os.sched_getaffinity(0))
        objects = work.compile(jobs)
        self.report(f"booting Linux {work.release()} to verify it", 0.98)
        seccomp = verified_seccomp(work.kernel)
        record = Record(
            source=candidate.package,
            source_version=candidate.version,
            kernel_version=work.release(),
            config_hash=config_hash,
            seccomp=seccomp,
            verified=True,
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
            build_seconds=round(time.monotonic() - started, 1),
            size_bytes=work.kernel.stat().st_size,
            compiler=work.compiler(),
            objects=objects,
            patches=work.patches(),
        )
        return publish(work.kernel, record, self.folder, name)

    def _raise_if_full(self, failure: Exception) -> None:
        """A full disk is no fault of the source, and the next one would meet it too."""
        if "No space left" in str(failure) or shutil.disk_usage(self.folder).free < _FULL_BYTES:
            raise full(self.folder) from failure


def verified_seccomp(kernel: Path) -> bool:
    """Verifies a kernel as it will be started: by seccomp if it can and the machine lets it, otherwise by
    ptrace.

    Raises `Unfit` when it works neither way.
    """
    ways = (True, False) if inspect_kernel(kernel).seccomp else (False,)
    failure: KernelUnfit | None = None
    for seccomp in ways:
        try:
            verify_kernel(kernel, seccomp)
            return seccomp
        except KernelUnfit as error:
            failure = failure or error
    raise Unfit(f"does not boot: {failure}")


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


class Unfit(Exception):
    """This source cannot give a kernel for labs; another one may."""


def begun_builds(work: Path, config_hash: str) -> list[Candidate]:
    """The candidates that an earlier run fetched in whole for this configuration, newest first."""
    found: list[Candidate] = []
    for path in work.glob("*/begun.json"):
        try:
            document = json.loads(path.read_text("utf-8"))
            candidate = Candidate(document["package"], document["version"], document["size_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if document.get("config_hash") == config_hash and (path.parent / "source.deb").is_file():
            found.append(candidate)
    return sorted(found, key=lambda candidate: version_key(candidate.package.rpartition("-")[2]), reverse=True)


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
    report: Callable[[str, float], None]

    @property
    def kernel(self) -> Path:
        return self.folder / "linux"

    @property
    def _tree(self) -> Path:
        return self.folder / "tree"

    @property
    def _out(self) -> Path:
        return self.folder / "out"

    def begin(self, config_hash: str) -> None:
        """Makes the folder, and notes what it is for."""
        self.folder.mkdir(parents=True, exist_ok=True)
        candidate = self.candidate
        note = {
            "package": candidate.package,
            "version": candidate.version,
            "size_bytes": candidate.size_bytes,
            "config_hash": config_hash,
        }
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
        """Unpacks what a user-mode kernel can need of the source."""
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
        """Make Linklab's changes to the source, and note which it took. One that it does not fit is left out, and
        said: the kernel is good all the same.
        """
        words = ["patch", "--batch", "--forward", "--no-backup-if-mismatch", "--strip=1"]
        taken = []
        for name, text in patches().items():
            patch = self.folder / f"{name}.patch"
            patch.write_text(text, "utf-8")
            try:
                self.programs.run([*words, f"--input={patch}", "--dry-run"], tree)
            except ProgramFailed:
                self.report(f"{self.candidate.package} does not take {name}.patch: {WITHOUT[name]}", UNPACK_AT)
                continue
            self.programs.run([*words, f"--input={patch}"], tree)
            taken.append(name)
        (self.folder / _TAKEN).write_text("\n".join(taken), "utf-8")

    def patches(self) -> tuple[str, ...]:
        """Return the names of Linklab's patches that the source took."""
        return tuple((self.folder / _TAKEN).read_text("utf-8").split())

    def configure(self, text: str) -> None:
        """Makes the kernel's ``.config``. Raises `Unfit` naming the options that this source lacks."""
        result = self._out / ".config"
        if not result.is_file():
            self._out.mkdir(exist_ok=True)
            configuration = self.folder / "linklab.config"
            configuration.write_text(text, "utf-8")
            self.programs.run(self._make_words(f"KCONFIG_ALLCONFIG={configuration}", "allnoconfig"), self.folder)
        missing = missing_options(text, result.read_text("utf-8"))
        if missing:
            result.unlink()
            raise Unfit(f"this source lacks options that labs need: {' '.join(missing)}")

    def compile(self, jobs: int) -> int:
        """Compiles and strips the kernel; gives the number of its objects."""
        message = f"compiling {self.candidate.package}"
        done = sum(1 for _ in self._out.rglob("*.o"))

        def on_line(line: str) -> None:
            nonlocal done
            if is_object(line):
                done += 1
                share = min(done / EXPECTED_OBJECTS, 1.0)
                self.report(message, COMPILE_AT + share * (COMPILED_AT - COMPILE_AT))

        self.report(message, COMPILE_AT)
        self.programs.run(self._make_words(f"-j{jobs}", "linux"), self.folder, on_line)
        part = self.folder / "linux.new"
        self.programs.run(["strip", "-o", str(part), str(self._out / "linux")], self.folder)
        part.rename(self.kernel)
        return sum(1 for _ in self._out.rglob("*.o"))

    def release(self) -> str:
        """What ``uname -r`` will say."""
        return (self._out / "include/config/kernel.release").read_text("utf-8").strip()

    def compiler(self) -> str:
        """The compiler, as the kernel's build noted it."""
        match = re.search(r'^CONFIG_CC_VERSION_TEXT="(.*)"$', (self._out / ".config").read_text("utf-8"), re.MULTILINE)
        return match[1] if match else ""

    def _make_words(self, *targets: str) -> list[str]:
        # The kernel's banner names no user and no machine, but Linklab and what it changed (`find.inspect_kernel`).
        names = ["KBUILD_BUILD_USER=linklab", f"KBUILD_BUILD_HOST={'+'.join(self.patches()) or 'none'}"]
        names += ["KBUILD_BUILD_VERSION=1", f"KBUILD_BUILD_TIMESTAMP={_BUILT}"]  # the same bytes each time
        return ["make", "-C", str(self._tree), "ARCH=um", f"O={self._out}", *names, *targets]


def ensure_folder(folder: Path) -> Path:
    """Makes a folder with its parents; raises `LabError` where that is not allowed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LabError(f"cannot make the folder {folder} ({reason}): {_ELSEWHERE}") from error
    return folder


def kernel_hash(package: str, package_version: str, config_hash: str) -> str:
    """The name of a kernel's folder: one per source package, version and configuration.

    The compiler is left out on purpose. Virtual time counts events and not instructions, so the same source
    gives the same measurements whatever compiled it, and an update of gcc must not cost every student a new
    build.
    """
    return hashlib.sha256(f"{package} {package_version} {config_hash}".encode()).hexdigest()[:16]


class StatusFile:
    """Writes ``status.json`` for those who watch, twice a second at most, and removes it at the end."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "status.json"
        self._fresh = self._path.with_suffix(".new")
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._written = ("", 0.0)

    def write(self, message: str, fraction: float) -> None:
        now = time.monotonic()
        if message == self._written[0] and now - self._written[1] < _STATUS_INTERVAL_S:
            return
        self._written = (message, now)
        text = json.dumps(asdict(Status(os.getpid(), message, fraction, self._started_at)))
        with suppress(OSError):  # of a full disk the build's own files tell
            self._fresh.write_text(text, "utf-8")
            self._fresh.replace(self._path)

    def remove(self) -> None:
        for path in (self._fresh, self._path):
            path.unlink(missing_ok=True)


@contextmanager
def build_lock(folder: Path) -> Iterator[int | None]:
    """Gives the lock's file descriptor, or None when another build holds it. Never waits.

    A program started with this descriptor holds the lock as well. So it is free only once the last compiler
    of a build that was killed has ended, and no two builds ever write to the same objects.
    Raises `LabError` where the folder cannot be written.
    """
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise LabError(f"cannot write to {folder} ({error.strerror}): {_ELSEWHERE}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield lock
    finally:
        os.close(lock)


def publish(built: Path, record: Record, folder: Path, name: str) -> Path:
    """Put a verified kernel in its place, and return its path.

    Whoever looks meanwhile sees none of it or all of it. Where it replaces one of the same source and configuration,
    there is a whole kernel at each moment: its record comes last, and says the same of both but for how they were made.
    """
    place = folder / name
    parts = {place / part: place / f"{part}.new" for part in ("linux", "kernel.json")}
    kernel, description = parts
    try:
        place.mkdir(exist_ok=True)
        shutil.copy2(built, parts[kernel])
        record.write(parts[description])
        for part, fresh in parts.items():
            fresh.replace(part)
    except OSError:
        for fresh in parts.values():
            fresh.unlink(missing_ok=True)
        with suppress(OSError):  # one that it was to replace stays
            place.rmdir()
        raise
    return kernel


def background_log() -> Path:
    """What a build in the background says: one line per five percent, and the reason when it fails."""
    return cache_folder() / "background.log"


def start_background_build() -> bool:
    """Starts ``linklab kernel build --background`` apart from this process, and returns at once.

    False, and nothing is started, when there is a kernel already or when a build runs. The build outlives
    this process; `build_is_running` and ``linklab kernel status`` tell how far it is. Raises `LabError` when
    the cache folder cannot be written.
    """
    folder = ensure_folder(cache_folder())
    if build_is_running(folder):
        return False
    try:
        find_kernel("virtual")
        return False
    except LabError:
        pass
    # setsid --fork leaves at once and its child belongs to init, so that no zombie stays with a notebook's
    # kernel.
    command = ["setsid", "--fork", sys.executable, "-m", "linklab", "kernel", "build", "--background"]
    with background_log().open("w", encoding="utf-8") as log:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise LabError(f"the kernel's build could not be started ({error}): run linklab kernel build") from error
    return True
