"""Building the kernel of a lab on QEMU: ``python -m linklab.runtime.qemu.kernel SOURCE TARGET``.

SOURCE is the tree that `linklab.runtime.kernel.build` unpacks and keeps with ``linklab kernel build --keep``; it is
copied, because this kernel has other changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.runtime.kernel.config import configuration_text as uml_text
from linklab.runtime.kernel.config import missing_options

PATCHES: Final = ("random", "rest", "copy")
_USER_MODE_ONLY: Final = frozenset(
    f"CONFIG_{name}"
    for name in ("UML_TIME_TRAVEL_SUPPORT", "STATIC_LINK", "HOSTFS", "STDERR_CONSOLE", "SSL", "NULL_CHAN", "PTY_CHAN")
)
_NO_STRING_INSTRUCTIONS: Final = "unrolled_loop:256:noalign,libcall:-1:noalign"
"""They are thought to be slow in QEMU, which was not measured apart: see copy.patch."""
_COMPILER_WORDS: Final = (
    f"KCFLAGS=-mmemset-strategy={_NO_STRING_INSTRUCTIONS} -mmemcpy-strategy={_NO_STRING_INSTRUCTIONS}"
)
_NAMES: Final = (
    "KBUILD_BUILD_USER=linklab",
    f"KBUILD_BUILD_HOST={'+'.join(PATCHES)}",
    "KBUILD_BUILD_TIMESTAMP=2026-01-01",
)
_KERNEL: Final = files("linklab.runtime.kernel")


def configuration_text() -> str:
    """Return the configuration: all that a lab in user mode has, and what a processor of its own needs."""
    return _KERNEL.joinpath("qemu.config").read_text("utf-8") + "\n" + uml_text()


def build(source: Path, target: Path, folder: Path) -> None:
    """Build the kernel from a source tree in ``folder``, which is made, and copy it to ``target``.

    Raises `LabError` where the source lacks an option, does not take a change, or does not compile.
    """
    tree, out = folder / "tree", folder / "out"
    if not tree.is_dir():
        shutil.copytree(source, folder / "copy", symlinks=True)
        for name in PATCHES:
            _patch(folder / "copy", name)
        (folder / "copy").rename(tree)
    out.mkdir(exist_ok=True)
    asked = folder / "linklab.config"
    asked.write_text(configuration_text(), "utf-8")
    _make(tree, out, f"KCONFIG_ALLCONFIG={asked}", "allnoconfig")
    resulting = (out / ".config").read_text("utf-8")
    missing = [name for name in missing_options(configuration_text(), resulting) if name not in _USER_MODE_ONLY]
    if missing:
        raise LabError(f"this kernel source lacks {' '.join(missing)}: take another one")
    _make(tree, out, f"-j{len(os.sched_getaffinity(0))}", _COMPILER_WORDS, "bzImage")
    shutil.copyfile(out / "arch/x86/boot/bzImage", target)


def _patch(tree: Path, name: str) -> None:
    """Make one of Linklab's changes; one that was made already stays."""
    text = _KERNEL.joinpath(f"{name}.patch").read_bytes()
    words = ["patch", "--batch", "--no-backup-if-mismatch", "--strip=1", "--silent"]
    made = subprocess.run([*words, "--reverse", "--dry-run"], input=text, cwd=tree, capture_output=True, check=False)
    if made.returncode == 0:
        return
    done = subprocess.run([*words, "--forward"], input=text, cwd=tree, capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"this kernel source does not take {name}.patch: {done.stdout.decode(errors='replace').strip()}")


def _make(tree: Path, out: Path, *words: str) -> None:
    command = ["make", "-s", "-C", str(tree), f"O={out}", "ARCH=x86_64", *_NAMES, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if "rror" in line][-1:] or done.stderr.splitlines()[-1:]
        raise LabError(f"the kernel does not compile: {' '.join(last)} (it needs gcc, flex, bison, bc and libelf-dev)")


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[2] + ".work"))
