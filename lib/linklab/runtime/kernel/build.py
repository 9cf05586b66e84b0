"""Building the lab's kernel: find the source, fetch, unpack, configure, compile, verify, publish.

Every stage leaves a result that the next run finds, so a build that was interrupted, killed or run out of
power goes on where it was. A stage's result gets its final name only once it is whole.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel import cache, stages
from linklab.runtime.kernel.config import configuration_hash, configuration_text
from linklab.runtime.kernel.find import inspect_kernel
from linklab.runtime.kernel.process import ProgramFailed, Programs, find_program
from linklab.runtime.kernel.source import Candidate, Sources
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
    folder = cache.ensure_folder(cache.cache_folder())
    options = Options(jobs, low_priority, keep, source)
    waiting = False
    while True:
        with cache.build_lock(folder) as lock:
            if lock is not None:
                return _finished(folder, options) or _build(folder, lock, options, progress, say)
        if not waiting:
            say("another process is building the kernel: waiting for it")
            waiting = True
        if status := cache.Status.read(folder):
            progress(status.message, status.fraction)
        time.sleep(_WAIT_S)


def _finished(folder: Path, options: Options) -> Path | None:
    for path, record in cache.finished_kernels(folder, configuration_hash(configuration_text())):
        if options.source in (None, record.source):
            return path
    return None


def _build(folder: Path, lock: int, options: Options, progress: Progress, say: Say) -> Path:
    check_tools()
    check_place(folder)
    unpacked = any((folder / "work").glob("*/tree"))
    check_space(folder, NEEDED_AFTER_UNPACKING_BYTES if unpacked else NEEDED_BYTES)
    status = cache.StatusFile(folder)

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
                except (ProgramFailed, stages.Unfit) as failure:
                    self._raise_if_full(failure)
                    failures.append(f"{candidate.package} {candidate.version}: {failure}")
        raise LabError(f"no kernel could be built ({failures[-1]}): see {self.folder / 'build.log'}")

    def _candidates(self) -> list[Candidate]:
        config_hash = configuration_hash(configuration_text())
        begun = stages.begun(self.folder / "work", config_hash)
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
        name = cache.kernel_hash(candidate.package, candidate.version, config_hash)
        work = stages.Work(self.folder / "work" / name, candidate, self.programs, self.report)
        started = time.monotonic()
        work.begin(config_hash)
        work.fetch()
        work.unpack()
        work.configure(text)
        jobs = self.options.jobs or len(os.sched_getaffinity(0))
        objects = work.compile(jobs)
        self.report(f"booting Linux {work.release()} to verify it", 0.98)
        seccomp = verified_seccomp(work.kernel)
        record = cache.Record(
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
        return cache.publish(work.kernel, record, self.folder, name)

    def _raise_if_full(self, failure: Exception) -> None:
        """A full disk is no fault of the source, and the next one would meet it too."""
        if "No space left" in str(failure) or shutil.disk_usage(self.folder).free < _FULL_BYTES:
            raise full(self.folder) from failure


def verified_seccomp(kernel: Path) -> bool:
    """Verifies a kernel as it will be started: by seccomp if it can and the machine lets it, otherwise by
    ptrace.

    Raises `stages.Unfit` when it works neither way.
    """
    ways = (True, False) if inspect_kernel(kernel).seccomp else (False,)
    failure: KernelUnfit | None = None
    for seccomp in ways:
        try:
            verify_kernel(kernel, seccomp)
            return seccomp
        except KernelUnfit as error:
            failure = failure or error
    raise stages.Unfit(f"does not boot: {failure}")
