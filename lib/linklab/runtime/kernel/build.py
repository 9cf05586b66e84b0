"""Building a lab's two kernels: fetch a source, unpack, change, and compile each.

Every stage leaves a result that the next run finds, so a build that was interrupted, killed or run out of
power goes on where it was. A stage's result gets its final name only once it is whole.

The cache folder, ``linklab/kernel`` in the user's cache folder, holds:

| name           | what it is                                                                     |
| -------------- | ------------------------------------------------------------------------------ |
| ``<hash>/``    | a finished kernel and its ``kernel.json``; the hash is `kernel_hash`'s          |
| ``work/``      | what an unfinished build keeps                                                 |
| ``build.log``  | everything that tar, patch and make said                                       |

The stages, each leaving one result in the work folder of one source package:

| file       | whole when it is there                                       |
| ---------- | ------------------------------------------------------------ |
| ``source.deb`` | the package                                               |
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
from collections.abc import Callable, Iterable
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

# Debian's package for each program that a build runs; the ones that every Linux has are left out.
TOOLS = {
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "gcc": "gcc",
    "make": "make",
    "strip": "binutils",
    "xz": "xz-utils",
}
HEADERS = {"/usr/include/stdio.h": "libc6-dev", "/usr/include/gelf.h": "libelf-dev"}
"""Debian's package for each library that programs of the build are compiled with; libelf is objtool's."""
# Measured for 7.3: package 167 MB, source 570 MB, objects 140 MB for each kernel; and some air.
NEEDED_BYTES = 1200 * 10**6
NEEDED_AFTER_UNPACKING_BYTES = 450 * 10**6
_FULL_BYTES = 20 * 10**6

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
_COMPILED = re.compile(r"^\s+(?:CC|AS|LDS?|AR)\s+(?:\[\S+\]\s+)?\S+\.o$")

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
class Source:
    """A package of Debian with Linux's source.

    ``fetch`` puts it into a folder and returns its path; it calls back with the part done, from 0 to 1. It raises
    `Unfit` where the archive has the package no longer, and `LabError` where none can be fetched.
    """

    package: str  # "linux-source-7.3"
    version: str
    fetch: Callable[[Path, Callable[[float], None]], Path]


@dataclass(frozen=True)
class Kernel:
    """A kernel that is there."""

    flavour: Flavour
    path: Path
    record: Record


Kernels = tuple[Kernel, ...]
"""One of each flavour, in their order, of one source."""


def finished_kernels(package: str, version: str) -> Kernels | None:
    """Return the kernels of a source and of the present configuration in the cache, or None where one is missing."""
    found = [finished_kernel(package, version, flavour) for flavour in FLAVOURS]
    kernels = tuple(kernel for kernel in found if kernel is not None)
    return kernels if len(kernels) == len(found) else None


def finished_kernel(package: str, version: str, flavour: Flavour) -> Kernel | None:
    """Return one of those kernels, or None where it is missing."""
    path = cache_folder() / kernel_hash(package, version, flavour) / flavour.file
    record = Record.read(path.with_name("kernel.json"))
    return Kernel(flavour, path, record) if record and path.is_file() else None


def build_kernels(
    sources: Iterable[Source],
    use: Callable[[Kernels], Used],
    lock: int,
    progress: Progress,
    say: Say,
    *,
    jobs: int | None = None,
    low_priority: bool = False,
    keep: bool = False,
) -> Used:
    """Build both kernels of the first source that serves, give them to ``use``, keep them in the cache, and return what
    ``use`` has made of them.

    ``use`` raises `Unfit` where labs do not run on these kernels: then those of the next source are built. ``lock`` is
    the file descriptor of the build's lock, which all its programs hold too. ``progress`` is called with what is being
    done and the fraction done, from 0 to 1; ``say`` with single remarks, one line each. ``keep``: keep source and
    objects.

    Raises `LabError`: no tools, no space, no network, or nothing that compiles and is of use.
    """
    folder = ensure_folder(cache_folder())
    check_tools()
    check_place(folder)
    unpacked = any((folder / "work").glob("*/tree"))
    check_space(folder, NEEDED_AFTER_UNPACKING_BYTES if unpacked else NEEDED_BYTES)
    try:
        with (folder / "build.log").open("w", encoding="utf-8", buffering=1) as log:
            programs = Programs(log, low_priority, (lock,))
            build = Build(folder, programs, jobs or len(os.sched_getaffinity(0)), progress, say)
            used = build.first_that_works(sources, use)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(folder) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise LabError(f"cannot write to {folder} ({error.strerror}): {_ELSEWHERE}") from error
        raise
    if not keep:
        shutil.rmtree(folder / "work", ignore_errors=True)
    return used


def check_machine() -> None:
    """Raises `LabError` where no lab image can be built and booted."""
    if platform.system() != "Linux":
        raise LabError("a lab image is built on Linux: name one built elsewhere in LINKLAB_IMAGE, or use vagrant up")
    if platform.machine() != "x86_64":
        raise LabError(
            f"a lab image is built on x86-64, and this is {platform.machine()}: name one built elsewhere in "
            "LINKLAB_IMAGE, or use vagrant up"
        )


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
    """One run: tries sources in order until kernels compile and are of use."""

    folder: Path
    programs: Programs
    jobs: int
    report: Progress
    say: Say

    def first_that_works(self, sources: Iterable[Source], use: Callable[[Kernels], Used]) -> Used:
        """Return what ``use`` makes of the first kernels that it does not call `Unfit`, and keep those."""
        failures: list[str] = []
        for source in sources:
            if failures:
                self.say(f"{failures[-1]}; trying {source.package} {source.version}")
            try:
                kernels = self._make(source)
                used = use(kernels)
            except (ProgramFailed, Unfit) as failure:
                self._raise_if_full(failure)
                failures.append(f"{source.package} {source.version}: {failure}")
                continue
            for kernel in kernels:
                publish(kernel, self.folder)
            return used
        raise LabError(f"no kernel could be built ({failures[-1]}): see {self.folder / 'build.log'}")

    def _make(self, source: Source) -> Kernels:
        """Return the kernels of one source; one that is in the cache is not built again."""
        if there := finished_kernels(source.package, source.version):
            return there
        made = {flavour.name: finished_kernel(source.package, source.version, flavour) for flavour in FLAVOURS}
        left = sum(flavour.objects for flavour in FLAVOURS if made[flavour.name] is None)
        work = Work(self.folder / "work" / work_name(source), source, self.programs, self.report)
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

    def _raise_if_full(self, failure: Exception) -> None:
        """A full disk is no fault of the source, and the next one would meet it too."""
        if "No space left" in str(failure) or shutil.disk_usage(self.folder).free < _FULL_BYTES:
            raise full(self.folder) from failure


def work_name(source: Source) -> str:
    """Return the name of a source's work folder: one for each version and for what Linklab makes of it."""
    return _hash(source.package, source.version, " ".join(flavour.configuration_hash() for flavour in FLAVOURS))


def kernel_hash(package: str, version: str, flavour: Flavour) -> str:
    """Return the name of a kernel's folder: one for each source package, version and configuration.

    The compiler is left out on purpose. Virtual time counts events and not instructions, so the same source
    gives the same measurements whatever compiled it, and an update of gcc must not cost every student a new
    build.
    """
    return _hash(package, version, flavour.configuration_hash())


def _hash(package: str, version: str, configuration: str) -> str:
    return hashlib.sha256(f"{package} {version} {configuration}".encode()).hexdigest()[:16]


def is_object(line: str) -> bool:
    """True for a line in which make says that it makes one object."""
    return _COMPILED.match(line) is not None


@dataclass
class Work:
    """The work folder of one source."""

    folder: Path
    source: Source
    programs: Programs
    report: Progress

    @property
    def _tree(self) -> Path:
        return self.folder / "tree"

    def _out(self, flavour: Flavour) -> Path:
        return self.folder / "out" / flavour.file

    def fetch(self) -> None:
        """Fetch the package."""
        package = self.folder / "source.deb"
        if package.is_file():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        message = f"fetching {self.source.package} {self.source.version}"
        self.report(message, FETCH_AT)

        def on_part(part: float) -> None:
            self.report(message, FETCH_AT + part * (UNPACK_AT - FETCH_AT))

        self.source.fetch(self.folder, on_part).rename(package)

    def unpack(self) -> None:
        """Unpack what a lab's kernel can need of the source, and make Linklab's changes to it."""
        if self._tree.is_dir():
            return
        self.report(f"unpacking {self.source.package}", UNPACK_AT)
        part = self.folder / "unpacking"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        excluded = " ".join(f"--exclude='{pattern}'" for pattern in NEVER_COMPILED)
        pipeline = (
            f"set -o pipefail; ar p source.deb data.tar.xz | tar -xJO './usr/src/{self.source.package}.tar.xz' | "
            f"tar -xJ --no-same-owner -C unpacking --strip-components=1 {excluded}"
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
                    raise Unfit(f"does not take {name}.patch, without which no lab runs") from failure
                self.report(f"{self.source.package} does not take {name}.patch: {WITHOUT[name]}", UNPACK_AT)
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
        message = f"compiling {flavour.name} from {self.source.package}"
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
            source=self.source.package,
            source_version=self.source.version,
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
    place = folder / kernel_hash(kernel.record.source, kernel.record.source_version, kernel.flavour)
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
