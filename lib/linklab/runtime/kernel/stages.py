"""The stages of a build, each leaving one result in the work folder of one source package.

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

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from linklab.runtime.kernel.cache import version_key
from linklab.runtime.kernel.config import missing_options, patches
from linklab.runtime.kernel.process import ProgramFailed, Programs
from linklab.runtime.kernel.source import Candidate

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
# What a kernel without a patch of ours is like.
_WITHOUT = {
    "clock": "labs will be slower, and their last digits may differ",
    "random": "a lab's seed will not reach its kernel's own random numbers",
}
_TAKEN = "patches.taken"
_TAR = re.compile(r"^-.* (\./usr/src/(?:\S*/)?linux-source-[0-9.]+\.tar\.(xz|bz2|gz))$")
_UNPACKERS = {"xz": "xz", "bz2": "bzip2", "gz": "gzip"}
_COMPILED = re.compile(r"^\s+(?:CC|AS|LDS?|AR)\s+(?:\[\S+\]\s+)?\S+\.o$")
_DOWNLOADED = re.compile(r"^dlstatus:\d+:([0-9.]+):")


class Unfit(Exception):
    """This source cannot give a kernel for labs; another one may."""


def begun(work: Path, config_hash: str) -> list[Candidate]:
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
                self.report(f"{self.candidate.package} does not take {name}.patch: {_WITHOUT[name]}", UNPACK_AT)
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
        # Names of the user and the machine stay out of the kernel's banner.
        names = ["KBUILD_BUILD_USER=linklab", "KBUILD_BUILD_HOST=linklab"]
        return ["make", "-C", str(self._tree), "ARCH=um", f"O={self._out}", *names, *targets]
