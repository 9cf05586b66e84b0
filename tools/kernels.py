"""``make kernels``: compile the lab's two kernels anew, and prove that they are those that Linklab carries.

Both lie packed beside their configurations and patches in ``lib/linklab/runtime/kernel``, with a manifest that says
what each was made of. They are compiled in a root file system of Debian's packages, pinned in ``tools/kernels.lock``,
by an ordinary user under bubblewrap: nothing of this machine enters, so the same bytes come out everywhere.

After a change of a configuration or a patch, or of the source (``lock``), ``write`` replaces kernels and manifest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from packaging.version import Version

from linklab.errors import LabError, LinklabError
from linklab.runtime import bwrap
from linklab.runtime.kernel import manifest
from tools.image import debian
from tools.image.contents import MERGED, Contents
from tools.image.kernels import FLAVOURS, FOLDER, PATCHES, USER_MODE, Flavour, missing_options, patch_text

LOCK: Final = Path(__file__).with_suffix(".lock")
WORK: Final = Path(__file__).parents[1] / "build" / "kernels"
_BACKPORTS: Final = f"{debian.RELEASE.name}-backports"
"""The suite of the source: from 6.16 on (``seccomp=on``) a lab is several times faster than with the release's own."""
_TOOLS: Final = """
base-files bash bc binutils bison coreutils dash diffutils findutils flex gcc grep gzip libc6-dev libelf-dev make mawk
patch perl sed tar xz-utils
"""
"""What compiles a kernel. libelf is objtool's, perl the build scripts', bc's are the constants of time."""
_LINUX: Final = re.compile(r"linux-source-[\d.]+$")
_BUILT: Final = "Thu Jan 1 00:00:00 UTC 1970"


def main() -> int:
    """Do what the command line asks; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernels", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "action", nargs="?", default="check", choices=["check", "write", "lock"],
        help="check: compile, and compare with what is carried; write: replace that; lock: pin the newest packages",
    )  # fmt: skip
    action = parser.parse_args().action
    try:
        if action == "lock":
            _lock()
            return 0
        made = compiled()
        if action == "write":
            _write(made)
        return _compare(made)
    except LinklabError as error:
        print(error, file=sys.stderr)
        return 1


def _lock() -> None:
    """Pin the newest versions of the tools, and the newest source of Linux, in `LOCK`."""
    base, folder = debian.newest_archive(), WORK / "apt"
    wanted = debian.Wanted(_TOOLS.split(), [], set())
    packages = [*debian.fetch_index(base, folder).resolve(wanted), _newest_linux(base, folder)]
    debian.write_lock(packages, LOCK)
    print(f"{LOCK}: {len(packages)} packages, {sum(package.size for package in packages) / 1e6:.0f} MB")


def _newest_linux(base: str, folder: Path) -> debian.Package:
    index = debian.listed(base, _BACKPORTS, folder / _BACKPORTS)
    return index.latest(max(filter(_LINUX.match, index.packages), key=lambda name: Version(name.rpartition("-")[2])))


def compiled() -> dict[str, bytes]:
    """Compile both kernels; return each kernel's bytes by its file's name.

    Raises `LabError` where a package cannot be fetched, a patch does not fit, an option is missing, or a compile fails.
    """
    packages = debian.pinned(LOCK.read_text("utf-8"))
    for name in ("root", "work"):
        shutil.rmtree(WORK / name, ignore_errors=True)
    (WORK / "work").mkdir(parents=True)
    bases = [base for base in (debian.archive(), debian.snapshot(LOCK.read_text("utf-8"))) if base]
    contents = Contents()
    with ThreadPoolExecutor(8) as pool:
        for package, content in zip(packages, pool.map(lambda each: debian.fetch(each, bases), packages), strict=True):
            if package == source():
                (WORK / "work" / "source.deb").write_bytes(content)
            else:
                _unpack(package.name, content, contents)
    for name in ("proc", "dev", "tmp", "build"):
        contents.folder(name)
    contents.put("usr/bin/awk", "mawk")
    contents.write(WORK / "root")
    _inside(
        f"ar p source.deb data.tar.xz | tar -xJO ./usr/src/{source().name}.tar.xz | "
        "(mkdir tree; tar -xJ --no-same-owner -C tree --strip-components=1)"
    )
    for patch in PATCHES:
        (WORK / "work" / f"{patch}.patch").write_text(patch_text(patch), "utf-8")
        _inside(f"patch --batch --forward --no-backup-if-mismatch --strip=1 --directory=tree <{patch}.patch")
    return {flavour.file: _kernel(flavour) for flavour in FLAVOURS}


def source() -> debian.Package:
    """Return the package with Linux's source in `LOCK`."""
    return next(each for each in debian.pinned(LOCK.read_text("utf-8")) if each.name.startswith("linux-source-"))


def _compiler() -> debian.Package:
    """Return the package of the compiler itself; ``gcc`` only names it."""
    return max(
        (each for each in debian.pinned(LOCK.read_text("utf-8")) if _is_compiler(each.name)), key=lambda each: each.size
    )


def _is_compiler(name: str) -> bool:
    return name.startswith("gcc-") and name.removeprefix("gcc-").partition("-")[0].isdigit()


def _unpack(name: str, content: bytes, contents: Contents) -> None:
    """Put all files of a package into their places, those of ``/bin`` and its like below ``/usr``."""

    def place(path: str) -> str:
        path = path.removeprefix("./").rstrip("/")
        return f"usr/{path}" if path.partition("/")[0] in MERGED else path

    with debian.opened(name, content) as (_, archive):
        for member in archive:
            path = place(member.name)
            if path not in ("", ".") and not member.isdev() and path.removeprefix("usr/") not in MERGED:
                contents.take(archive, member, path, place(member.linkname))


def _kernel(flavour: Flavour) -> bytes:
    out = WORK / "work" / flavour.file
    out.mkdir()
    (out / "asked").write_text(flavour.configuration_text(), "utf-8")
    names = f"KBUILD_BUILD_USER=linklab KBUILD_BUILD_HOST={'+'.join(flavour.patches)} KBUILD_BUILD_VERSION=1"
    make = f"make -C tree ARCH={flavour.arch} O=/build/{flavour.file} {names} KBUILD_BUILD_TIMESTAMP='{_BUILT}'"
    _inside(f"{make} KCONFIG_ALLCONFIG=/build/{flavour.file}/asked allnoconfig")
    if missing := missing_options(flavour.configuration_text(), (out / ".config").read_text("utf-8")):
        raise LabError(f"{source().name} lacks options that labs need: {' '.join(missing)}")
    words = " ".join(f"'{word}'" for word in flavour.words)
    _inside(f"{make} -j{len(os.sched_getaffinity(0))} {words} {flavour.target}")
    if flavour is USER_MODE:
        _inside(f"strip {flavour.file}/{flavour.made}")
    return (out / flavour.made).read_bytes()


def _inside(command: str) -> None:
    """Run a shell's command in the root, where it may write to ``/build`` alone. Raises `LabError` where it fails."""
    print(f"$ {command}", flush=True)
    confined: list[str | Path] = [
        *bwrap.program("what a compiler runs"),
        "--unshare-all",
        "--die-with-parent",
        "--ro-bind",
        WORK / "root",
        "/",
        "--dev",
        "/dev",
    ]
    confined += [
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--bind",
        WORK / "work",
        "/build",
        "--chdir",
        "/build",
        "--clearenv",
    ]
    confined += ["--setenv", "PATH", "/usr/sbin:/usr/bin", "--setenv", "LC_ALL", "C"]
    with (WORK / "log").open("a", encoding="utf-8") as log:
        done = subprocess.run(
            [*confined, "bash", "-o", "pipefail", "-c", command], stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        raise LabError(f"{command.split()[0]} failed: see the end of {WORK / 'log'}")


def _write(made: dict[str, bytes]) -> None:
    """Replace the kernels and the manifest in `FOLDER`."""
    for name, content in made.items():
        (FOLDER / f"{name}.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    linux, compiler = source(), _compiler()
    release = (WORK / "work" / USER_MODE.file / "include/config/kernel.release").read_text("utf-8").strip()
    about = {
        "version": release,
        "source": {"package": linux.name, "version": linux.version, "sha256": linux.sha256},
        "compiler": {"package": compiler.name, "version": compiler.version},
        "licence": "GPL-2.0-only",
        "kernels": {
            flavour.file: {
                "configuration": flavour.configuration_hash(),
                "sha256": hashlib.sha256(made[flavour.file]).hexdigest(),
            }
            for flavour in FLAVOURS
        },
    }
    (FOLDER / "kernels.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _compare(made: dict[str, bytes]) -> int:
    """Say of each kernel whether it is the carried one; return the exit status."""
    carried, wrong = manifest()["kernels"], 0
    for name, content in made.items():
        digest = hashlib.sha256(content).hexdigest()
        same = digest == carried[name]["sha256"]
        wrong += not same
        print(f"{name}: {digest}, {'the bytes that are carried' if same else 'NOT those that are carried'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
